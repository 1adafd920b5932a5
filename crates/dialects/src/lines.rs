//! The lines of a text, numbered, one at a time, in bounded memory.
//!
//! A line is given as soon as it is there, so a writer that waits for an answer
//! before its next line gets one. A line over the limit is skipped
//! without being held, and those after it are still read.

use std::io::{self, BufRead, Read as _};

use annals_event_log::{Classification, Classified, ErrorClass};

/// The most bytes of a recording's line. What a line holds must fit into a batch.
pub(crate) const LINE_LIMIT: usize = 64 * 1024 * 1024;

/// What some editors put before a text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes of a line over the limit that are skipped in search of its end.
const MOST_SKIPPED: u64 = 2 << 30;

/// Why there is a line, but not its bytes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The line has more bytes than are held at once. It was skipped.
    #[error("it has more than {limit} bytes, the most that is read; split it or leave it out")]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The text cannot be read any further. No line follows.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
}

/// What helps where the system could not read.
pub(crate) fn of_system(kind: io::ErrorKind) -> ErrorClass {
    match kind {
        io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            ErrorClass::Unavailable
        }
        _ => ErrorClass::Failed,
    }
}

impl Classified for LineError {
    fn classify(&self) -> Classification {
        use ErrorClass::Invalid;
        match self {
            LineError::TooLong { .. } => Invalid.code("too_large"),
            LineError::Unreadable(error) => of_system(error.kind()).code("input"),
        }
    }
}

/// One line of a text.
#[derive(Debug)]
pub struct Line {
    /// Its number, from 1.
    pub number: u64,
    /// Its bytes without the line's end (`\n` or `\r\n`), and without a byte
    /// order mark at the text's beginning.
    pub bytes: Result<Vec<u8>, LineError>,
    /// The line's end: `\n`, `\r\n`, or nothing at the text's end; `\n` of a line that was skipped.
    pub end: &'static str,
    /// Whether a byte order mark was before it.
    pub has_mark: bool,
}

impl Line {
    /// Whether it holds nothing but white space.
    pub fn is_blank(&self) -> bool {
        matches!(&self.bytes, Ok(bytes) if bytes.trim_ascii().is_empty())
    }
}

/// Reads lines of at most `limit` bytes.
///
/// ```
/// use annals_dialects::lines::Lines;
/// let numbers: Vec<u64> = Lines::new(&b"one\n\nthree"[..], 100)
///     .filter(|line| !line.is_blank())
///     .map(|line| line.number)
///     .collect();
/// assert_eq!(numbers, [1, 3]);
/// ```
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    limit: usize,
    number: u64,
    bytes_read: u64,
    ended: bool,
    end: &'static str,
}

impl<R: BufRead> Lines<R> {
    /// The lines of a text.
    pub fn new(reader: R, limit: usize) -> Lines<R> {
        Lines {
            reader,
            limit,
            number: 0,
            bytes_read: 0,
            ended: false,
            end: "",
        }
    }

    /// The lines behind so many others of the text, which were read before.
    pub(crate) fn behind(number: u64, reader: R, limit: usize) -> Lines<R> {
        Lines {
            number,
            ..Lines::new(reader, limit)
        }
    }

    /// The bytes of all lines so far, their ends and those skipped included.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    fn read(&mut self) -> Option<Result<Vec<u8>, LineError>> {
        let mut bytes = Vec::new();
        self.end = "";
        // One more than the limit for the line's end, one more to see that
        // there is none.
        let most = (self.limit as u64).saturating_add(2);
        let mut head = self.reader.by_ref().take(most);
        if let Err(error) = head.read_until(b'\n', &mut bytes) {
            return Some(Err(error.into()));
        }
        if bytes.is_empty() {
            return None;
        }
        self.bytes_read += bytes.len() as u64;
        self.end = match bytes.as_slice() {
            [.., b'\r', b'\n'] => "\r\n",
            [.., b'\n'] => "\n",
            _ => "",
        };
        let ended = !self.end.is_empty();
        bytes.truncate(bytes.len() - self.end.len());
        if bytes.len() <= self.limit {
            return Some(Ok(bytes));
        }
        drop(bytes);
        if !ended {
            let mut rest = self.reader.by_ref().take(MOST_SKIPPED);
            match rest.skip_until(b'\n') {
                // A device may give the same byte for ever.
                Ok(_) if rest.limit() == 0 => {
                    let error = io::Error::other("a line of more than 2 GiB does not end");
                    return Some(Err(error.into()));
                }
                Ok(skipped) => {
                    self.bytes_read += skipped as u64;
                    self.end = "\n";
                }
                Err(error) => return Some(Err(error.into())),
            }
        }
        Some(Err(LineError::TooLong { limit: self.limit }))
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        if self.ended {
            return None;
        }
        let Some(mut bytes) = self.read() else {
            self.ended = true;
            return None;
        };
        self.ended = matches!(bytes, Err(LineError::Unreadable(_)));
        self.number += 1;
        let mut has_mark = false;
        if let Ok(bytes) = &mut bytes
            && self.number == 1
            && bytes.starts_with(BYTE_ORDER_MARK)
        {
            bytes.drain(..BYTE_ORDER_MARK.len());
            has_mark = true;
        }
        Some(Line {
            number: self.number,
            bytes,
            end: self.end,
            has_mark,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::BufReader;

    use super::*;

    fn texts(bytes: &[u8], limit: usize) -> Vec<(u64, Option<String>)> {
        // A small buffer, so that lines span several of its fillings.
        let reader = BufReader::with_capacity(3, bytes);
        Lines::new(reader, limit)
            .map(|line| {
                let text = line.bytes.ok();
                (
                    line.number,
                    text.map(|bytes| String::from_utf8(bytes).unwrap()),
                )
            })
            .collect()
    }

    fn text(number: u64, text: &str) -> (u64, Option<String>) {
        (number, Some(text.to_owned()))
    }

    #[test]
    fn lines_are_numbered_and_stripped() {
        let expected = [text(1, "one"), text(2, ""), text(3, "three")];
        assert_eq!(texts(b"\xef\xbb\xbfone\n\nthree", 100), expected);
        assert_eq!(texts(b"one\r\n\r\nthree\n", 100), expected);
        assert_eq!(texts(b"", 100), []);
    }

    #[test]
    fn a_text_is_its_lines_with_their_ends() {
        for text in [
            "",
            "a",
            "a\n",
            "\r\n\na\rb\r\n",
            "\u{feff}a\r\n\u{feff}b\n\n",
            "\r",
        ] {
            let lines = Lines::new(text.as_bytes(), 100);
            let whole: Vec<u8> = lines
                .flat_map(|line| {
                    let mark = if line.has_mark { BYTE_ORDER_MARK } else { b"" };
                    [mark, &line.bytes.unwrap(), line.end.as_bytes()].concat()
                })
                .collect();
            assert_eq!(String::from_utf8(whole).unwrap(), text);
        }
    }

    #[test]
    fn a_line_over_the_limit_is_skipped_and_the_next_one_read() {
        let expected = [text(1, "abc"), (2, None), text(3, "abc"), (4, None)];
        assert_eq!(texts(b"abc\nabcd\nabc\nabcdefgh", 3), expected);
        assert_eq!(texts(b"abc\r\nabcd\r\nabc\r\nabcdefgh\r\n", 3), expected);
        assert_eq!(texts(b"abc", 3), [text(1, "abc")]);
    }

    #[test]
    fn all_bytes_are_counted_skipped_ones_too() {
        let mut lines = Lines::new(&b"ab\nabcdefgh\r\nabc"[..], 3);
        assert_eq!(lines.by_ref().count(), 3);
        assert_eq!(lines.bytes_read(), 16);
    }

    #[test]
    fn nothing_is_read_after_a_failure() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("gone"))
            }
        }
        let mut lines = Lines::new(BufReader::new(b"one\n".chain(Broken)), 100);
        assert!(lines.next().unwrap().bytes.is_ok());
        let failed = lines.next().unwrap();
        assert_eq!(failed.number, 2);
        assert!(matches!(failed.bytes, Err(LineError::Unreadable(_))));
        assert!(lines.next().is_none());
    }
}
