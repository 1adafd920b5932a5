//! A writer before the terminal, for what comes in pieces.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::json::json_after;
use crate::lines_after;

/// A writer that passes on what [`lines()`](crate::lines()) or [`json()`](crate::json()) makes of it, regardless of how it is split.
/// What is not valid UTF-8 is written as U+FFFD.
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    shown: fn(&str, Option<char>) -> Cow<'_, str>,
    /// The last character that was passed on.
    last: Option<char>,
    /// The first bytes of a character whose others come with the next piece.
    begun: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// A writer of text of many lines.
    pub fn lines(out: W) -> Writer<W> {
        Writer::of(out, lines_after)
    }

    /// A writer of JSON.
    pub fn json(out: W) -> Writer<W> {
        Writer::of(out, json_after)
    }

    fn of(out: W, shown: fn(&str, Option<char>) -> Cow<'_, str>) -> Writer<W> {
        Writer {
            out,
            shown,
            last: None,
            begun: Vec::new(),
        }
    }
}

/// How many bytes at the end begin a character that is not whole.
fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.len().saturating_sub(3);
    let tail = bytes.get(last..).unwrap_or_default();
    let Some(at) = tail.iter().rposition(|byte| byte & 0xc0 != 0x80) else {
        return 0;
    };
    let have = tail.len() - at;
    let wants = match tail.get(at) {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        _ => 1,
    };
    if have < wants { have } else { 0 }
}

impl<W: Write> Write for Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun.extend_from_slice(bytes);
        let whole = self.begun.len() - unfinished(&self.begun);
        let text = String::from_utf8_lossy(self.begun.get(..whole).unwrap_or_default());
        let shown = (self.shown)(&text, self.last);
        self.out.write_all(shown.as_bytes())?;
        self.last = text.chars().next_back().or(self.last);
        self.begun.drain(..whole);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::json;

    #[test]
    fn a_writer_escapes_the_same_for_any_split_of_its_input() {
        let text = "{\"é\u{9b}🦀\u{fe0f}\": [1, \"\u{fe0f}\u{e0041}\u{200b}日\u{2028}\u{7f}\"]}\n";
        for size in 1..=text.len() {
            let mut writer = Writer::json(Vec::new());
            for piece in text.as_bytes().chunks(size) {
                writer.write_all(piece).unwrap();
            }
            assert_eq!(
                String::from_utf8(writer.out).unwrap(),
                json(text),
                "by {size}"
            );
        }
    }

    #[test]
    fn what_is_no_utf_8_is_not_passed_on() {
        let mut writer = Writer::json(Vec::new());
        writer.write_all(b"\"a\x9bb\xc2\"").unwrap();
        writer.write_all(b"\x80\n").unwrap();
        let shown = String::from_utf8(writer.out).unwrap();
        assert_eq!(shown, "\"a\u{fffd}b\u{fffd}\"\u{fffd}\n");
    }
}
