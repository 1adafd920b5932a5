//! Where `apply` finds its lines: a file, or standard input.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use annals_dialects::lines::Lines;

use crate::error::CliError;

/// The most bytes of a line: more than any command may have.
pub(super) const MAX_LINE: usize = 128 * 1024 * 1024;

/// Opens a file, or standard input for `-`.
pub(super) fn open(path: &Path) -> Result<Lines<Box<dyn BufRead>>, CliError> {
    let reader: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(std::io::stdin().lock())
    } else {
        let file = File::open(path);
        let file = file.map_err(|source| CliError::input(path, source))?;
        Box::new(BufReader::new(file))
    };
    Ok(Lines::new(reader, MAX_LINE))
}
