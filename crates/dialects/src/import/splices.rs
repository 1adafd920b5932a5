//! Damaged lines: whole records next to bytes that are none.
//!
//! A writer that is killed within a record leaves it cut off, and the next record follows on the same line. Two writers at
//! once do the same. A power cut leaves NUL bytes in place of what was written. A whole record on such a line is read;
//! everything else is named by its bytes.

use std::fmt;
use std::ops::Range;

use serde::de::IgnoredAny;

/// The most records of a line: that of a recording that has lost all its line ends.
const RECORDS: usize = 100_000;

/// Looking for records reads so many times the length of the line, at most. Unclosed objects are read again from each brace.
const PASSES: usize = 32;

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A whole record.
    Record(Range<usize>),
    /// Bytes that are no record.
    Lost(LostBytes),
}

/// Bytes of a line that are no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LostBytes {
    range: Range<usize>,
    /// Whether they are NUL bytes, and blanks.
    is_nul: bool,
    /// Whether the line has no record.
    is_whole_line: bool,
}

impl LostBytes {
    /// Returns `true` if they are NUL bytes.
    pub(crate) fn is_nul(&self) -> bool {
        self.is_nul
    }
}

impl fmt::Display for LostBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = self.range;
        let first = start + 1;
        let rest = match self.is_whole_line {
            true => "nothing of the line was read",
            false => "the whole records of the line were read",
        };
        match self.is_nul {
            true => write!(
                f,
                "bytes {first} to {end} of the line are NUL, and what was written there is lost; {rest}"
            ),
            false => write!(
                f,
                "bytes {first} to {end} of the line are a part of a record, which is lost; {rest}"
            ),
        }
    }
}

/// The whole records of a damaged line, and the bytes between them.
///
/// An object is a record if nothing but blanks and NUL bytes is between it and the record before, or the line's beginning.
/// Behind other bytes it may be within a record that was cut off: there `is_record` decides, and a comma or a closing bracket
/// behind it.
pub(crate) fn pieces(line: &[u8], is_record: impl Fn(Range<usize>) -> bool) -> Vec<Piece> {
    let (mut pieces, mut from, mut at) = (Vec::new(), 0, 0);
    let mut left = line.len().saturating_mul(PASSES);
    let mut records = 0;
    while let Some(start) = next_brace(line, at)
        && records < RECORDS
        && left > 0
    {
        let (end, is_whole) = object(line.get(start..).unwrap_or_default());
        left = left.saturating_sub(end);
        let range = start..start + end;
        if !is_whole {
            at = start + 1;
            continue;
        }
        // What is within it is a part of it.
        at = range.end;
        let is_within = || continues(line.get(range.end..).unwrap_or_default());
        if is_blank(line, from..start) || (!is_within() && is_record(range.clone())) {
            pieces.extend(lost(line, from..start));
            from = range.end;
            records += 1;
            pieces.push(Piece::Record(range));
        }
    }
    pieces.extend(lost(line, from..line.len()));
    if let [Piece::Lost(all)] = pieces.as_mut_slice() {
        all.is_whole_line = true;
    }
    pieces
}

/// The objects on a line of a file whose format is not known yet: those from its beginning on, and those with which a damaged
/// line ends. A line without an end is cut off here.
pub(crate) fn objects(line: &[u8], has_end: bool) -> Vec<Range<usize>> {
    let first = line.iter().find(|byte| !is_filling(**byte));
    if first != Some(&b'{') {
        return Vec::new();
    }
    if !has_end {
        return first_objects(line);
    }
    let is_last = |range: Range<usize>| is_blank(line, range.end..line.len());
    let records = pieces(line, is_last).into_iter();
    let record = |piece| match piece {
        Piece::Record(range) => Some(range),
        Piece::Lost(_) => None,
    };
    records.filter_map(record).collect()
}

/// Returns `true` if a list or an object goes on.
fn continues(behind: &[u8]) -> bool {
    let next = behind.trim_ascii_start().first();
    matches!(next, Some(b',' | b']' | b'}'))
}

/// The objects from a line's beginning on.
fn first_objects(line: &[u8]) -> Vec<Range<usize>> {
    let (mut found, mut from) = (Vec::new(), 0);
    while let Some(start) = next_brace(line, from)
        && is_blank(line, from..start)
    {
        let (end, is_whole) = object(line.get(start..).unwrap_or_default());
        if !is_whole {
            break;
        }
        from = start + end;
        found.push(start..from);
    }
    found
}

/// The place of the next brace with which an object with members may begin.
fn next_brace(line: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = line.get(at..)?;
        let brace = at + memchr::memchr(b'{', rest)?;
        let inner = line.get(brace + 1..).unwrap_or_default().trim_ascii_start();
        if inner.starts_with(b"\"") {
            return Some(brace);
        }
        at = brace + 1;
    }
}

/// How many bytes of a text an object has that begins there, and whether it is whole.
fn object(text: &[u8]) -> (usize, bool) {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => {
            let end = values.byte_offset();
            let is_text = text
                .get(..end)
                .is_some_and(|text| std::str::from_utf8(text).is_ok());
            (end, is_text)
        }
        // A line has no line ends, so that the column counts its bytes.
        Some(Err(error)) => (error.column().max(1), false),
        None => (text.len(), false),
    }
}

fn lost(line: &[u8], range: Range<usize>) -> Option<Piece> {
    let bytes = line.get(range.clone()).unwrap_or_default();
    if bytes.trim_ascii().is_empty() {
        return None;
    }
    let is_nul = bytes.iter().all(|byte| is_filling(*byte));
    Some(Piece::Lost(LostBytes {
        range,
        is_nul,
        is_whole_line: false,
    }))
}

fn is_blank(line: &[u8], range: Range<usize>) -> bool {
    let bytes = line.get(range).unwrap_or_default();
    bytes.iter().all(|byte| is_filling(*byte))
}

/// Whether nothing was written: a blank, or a NUL byte.
fn is_filling(byte: u8) -> bool {
    byte == 0 || byte.is_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces of a line of which objects with an id are records: `+` before a record, `-` before lost bytes.
    fn pieces_of(line: &str) -> Vec<String> {
        let is_record = |range| {
            let record: &str = line.get(range).unwrap_or_default();
            record.starts_with("{\"id\"")
        };
        let shown = |piece| match piece {
            Piece::Record(range) => format!("+{}", line.get(range).unwrap_or_default()),
            Piece::Lost(lost) => format!("-{}", line.get(lost.range).unwrap_or_default()),
        };
        let pieces = pieces(line.as_bytes(), is_record);
        pieces.into_iter().map(shown).collect()
    }

    #[test]
    fn whole_records_are_found_between_damaged_ones() {
        for (line, expected) in [
            (
                r#"{"a":1}{"b":"}{"}"#,
                &[r#"+{"a":1}"#, r#"+{"b":"}{"}"#][..],
            ),
            (r#" {"a":1} {"b":2} "#, &[r#"+{"a":1}"#, r#"+{"b":2}"#]),
            // Cut off at a value, within a text, and behind an object of its own.
            (
                r#"{"a":[{"id":{"id":2}"#,
                &[r#"-{"a":[{"id":"#, r#"+{"id":2}"#],
            ),
            (r#"{"a":"x {"id":2}"#, &[r#"-{"a":"x "#, r#"+{"id":2}"#]),
            (
                r#"{"a":{"b":1}{"id":2}"#,
                &[r#"-{"a":{"b":1}"#, r#"+{"id":2}"#],
            ),
            (
                r#"{"a":"{\"id\":1}{"id":2}"#,
                &[r#"-{"a":"{\"id\":1}"#, r#"+{"id":2}"#],
            ),
            (
                r#"{"a":[{"id":1},{"id":2}],{"b"#,
                &[r#"-{"a":[{"id":1},{"id":2}],{"b"#],
            ),
            // Before what was cut off, and between two parts.
            (r#"{"a":1}{"b"#, &[r#"+{"a":1}"#, r#"-{"b"#]),
            (r#"{"a":1} x"#, &[r#"+{"a":1}"#, "- x"]),
            (
                r#"{"a":{"id":1}tail"}{"c"{"id":2}"#,
                &[
                    r#"-{"a":"#,
                    r#"+{"id":1}"#,
                    r#"-tail"}{"c""#,
                    r#"+{"id":2}"#,
                ],
            ),
            ("\0\0 {\"b\":1}\0", &["-\0\0 ", "+{\"b\":1}", "-\0"]),
            ("no json", &["-no json"]),
            ("[1,{\"a\":1}]", &["-[1,{\"a\":1}]"]),
            ("", &[]),
        ] {
            assert_eq!(pieces_of(line), expected, "{line}");
        }
    }

    #[test]
    fn a_text_that_is_cut_within_a_character_loses_no_record() {
        let line = b"{\"a\":\"\xe6\x97{\"id\":\"\xe6\x97\xa5\"}";
        let pieces = pieces(line, |_| true);
        assert!(matches!(&pieces[..], [Piece::Lost(_), Piece::Record(range)] if *range == (8..20)));
    }

    #[test]
    fn lost_bytes_are_named() {
        let shown = |line: &[u8]| {
            let pieces = pieces(line, |_| false).into_iter();
            let lost = pieces.filter_map(|piece| match piece {
                Piece::Lost(lost) => Some(lost.to_string()),
                Piece::Record(_) => None,
            });
            lost.collect::<Vec<_>>()
        };
        assert_eq!(
            shown(b"{\"a\":1}{\"b"),
            [
                "bytes 8 to 10 of the line are a part of a record, which is lost; the whole records of the line were read"
            ]
        );
        assert_eq!(
            shown(b"\0\0"),
            [
                "bytes 1 to 2 of the line are NUL, and what was written there is lost; nothing of the line was read"
            ]
        );
    }

    #[test]
    fn objects_that_never_end_take_no_long_time() {
        let deep = "{\"a\":".repeat(200_000);
        assert_eq!(pieces(deep.as_bytes(), |_| true).len(), 1);
    }

    #[test]
    fn the_objects_of_an_unknown_format_are_those_at_either_end_of_a_line() {
        let of = |line: &str, has_end| {
            let found = objects(line.as_bytes(), has_end).into_iter();
            found
                .map(|range| line.get(range).unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        };
        let line = r#"{"a":1}{"b":{"c":1},{"d":1}"#;
        assert_eq!(of(line, true), [r#"{"a":1}"#, r#"{"d":1}"#]);
        assert_eq!(of(line, false), [r#"{"a":1}"#]);
        assert_eq!(of("\0\0{\"a\":1}", false), ["{\"a\":1}"]);
        assert_eq!(of("text {\"a\":1}", true), [""; 0]);
    }
}
