//! Texts that are read whole, because they are small.

use std::io::{self, Read};
use std::path::Path;

use crate::error::{CliError, ErrorClass};

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

/// The token that a file has in its first line.
pub(crate) fn token(file: &Path) -> Result<String, CliError> {
    let text = annals_files::open(file).and_then(io::read_to_string);
    let text = text.map_err(|error| CliError::input(file, error))?;
    let token = text.lines().next().unwrap_or_default().trim().to_owned();
    if token.is_empty() {
        let message = format!("{} has no token in its first line", file.display());
        return Err(CliError::new(ErrorClass::Invalid, "no_token", message));
    }
    Ok(token)
}
