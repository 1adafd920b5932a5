//! Texts that are read whole, because they are small.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::error::{CliError, ErrorClass};
use crate::output::Output;

/// The most bytes of such a text: 1 MiB.
const LIMIT: u64 = 1024 * 1024;

/// Why a text cannot be read.
#[derive(Debug)]
pub(crate) enum NoText {
    Unreadable(io::Error),
    /// It has more than 1 MiB.
    TooLong,
    /// It is not valid UTF-8 from this byte on, counted from 1.
    NotUtf8 {
        byte: usize,
    },
}

/// Reads a text to its end, without the mark that some editors put before it.
pub(crate) fn read(reader: impl Read) -> Result<String, NoText> {
    let mut bytes = Vec::new();
    reader
        .take(LIMIT + 1)
        .read_to_end(&mut bytes)
        .map_err(NoText::Unreadable)?;
    if bytes.len() as u64 > LIMIT {
        return Err(NoText::TooLong);
    }
    let text = String::from_utf8(bytes).map_err(|error| NoText::NotUtf8 {
        byte: error.utf8_error().valid_up_to() + 1,
    })?;
    Ok(text
        .strip_prefix('\u{feff}')
        .map(str::to_owned)
        .unwrap_or(text))
}

/// The fewest characters of a token: shorter ones can be guessed.
const SHORTEST_TOKEN: usize = 16;

/// The bits of a mode by which others than the owner may read or write.
const OTHERS: u32 = 0o066;

/// The mode of a file that others than its owner can read or write.
pub(crate) fn open_to_others(path: &Path) -> Option<u32> {
    let found = fs::metadata(path).ok().filter(|found| found.is_file())?;
    let mode = found.permissions().mode() & 0o7777;
    (mode & OTHERS != 0).then_some(mode)
}

/// The token that a file has in its first line. A file that others can read or write is named.
pub(crate) fn token(file: &Path, output: &Output) -> Result<String, CliError> {
    if let Some(mode) = open_to_others(file) {
        output.warn(&format!(
            "others can read or change the token in {} (its mode is {mode:04o}): make another one, and run chmod 600 \
             on the file",
            file.display()
        ));
    }
    let text = annals_files::open(file).and_then(io::read_to_string);
    let text = text.map_err(|error| CliError::input(file, error))?;
    let token = text.lines().next().unwrap_or_default().trim().to_owned();
    if token.is_empty() {
        let message = format!("{} has no token in its first line", file.display());
        return Err(CliError::new(ErrorClass::Invalid, "no_token", message));
    }
    if token.chars().count() < SHORTEST_TOKEN {
        let message = format!(
            "the token in {} has fewer than {SHORTEST_TOKEN} characters, and could be guessed; make one with \
             openssl rand -hex 32",
            file.display()
        );
        return Err(CliError::new(ErrorClass::Invalid, "short_token", message));
    }
    Ok(token)
}
