//! The lines that `apply` reads, one at a time: who waits for an answer before
//! writing the next line is answered.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use crate::error::CliError;

/// The most bytes of a line: more than any command may have.
pub(super) const MAX_LINE: u64 = 128 * 1024 * 1024;
/// What some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A source of lines.
pub(super) struct Input {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    lines: u64,
}

/// One line that was read.
pub(super) struct Read {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Its bytes without the line's end; `None` for a line over [`MAX_LINE`].
    pub(super) text: Option<Vec<u8>>,
}

impl Input {
    /// Opens a file, or standard input for `-`.
    pub(super) fn open(path: &Path) -> Result<Input, CliError> {
        let reader: Box<dyn BufRead> = if path == Path::new("-") {
            Box::new(std::io::stdin().lock())
        } else {
            let file = File::open(path);
            let file = file.map_err(|source| CliError::Input {
                path: path.to_owned(),
                source,
            })?;
            Box::new(BufReader::new(file))
        };
        Ok(Input {
            path: path.to_owned(),
            reader,
            lines: 0,
        })
    }

    /// The next line, as soon as it is there.
    pub(super) fn next(&mut self) -> Result<Option<Read>, CliError> {
        let mut text = Vec::new();
        let read = self
            .reader
            .by_ref()
            .take(MAX_LINE + 1)
            .read_until(b'\n', &mut text);
        read.map_err(|source| CliError::Input {
            path: self.path.clone(),
            source,
        })?;
        if text.is_empty() {
            return Ok(None);
        }
        self.lines += 1;
        let number = self.lines;
        if text.last() == Some(&b'\n') {
            text.pop();
        } else if text.len() as u64 > MAX_LINE {
            self.skip_line()?;
            return Ok(Some(Read { number, text: None }));
        }
        if number == 1 && text.starts_with(BYTE_ORDER_MARK) {
            text.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Some(Read {
            number,
            text: Some(text),
        }))
    }

    fn skip_line(&mut self) -> Result<(), CliError> {
        self.reader
            .skip_until(b'\n')
            .map(|_| ())
            .map_err(|source| CliError::Input {
                path: self.path.clone(),
                source,
            })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn lines_are_numbered_and_stripped() {
        let bytes = b"\xef\xbb\xbfone\n\nthree".as_slice();
        let mut input = Input {
            path: "-".into(),
            reader: Box::new(bytes),
            lines: 0,
        };
        let mut lines = Vec::new();
        while let Some(Read { number, text }) = input.next().unwrap() {
            lines.push((number, String::from_utf8(text.unwrap()).unwrap()));
        }
        assert_eq!(
            lines,
            [
                (1, "one".to_owned()),
                (2, String::new()),
                (3, "three".to_owned())
            ]
        );
    }
}
