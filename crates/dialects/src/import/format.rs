//! What a format of recordings is: by what its files are recognized, and how they are read.

use annals_domain::Timestamp;
use annals_event_log::IdSecret;

use super::bad_line::BadLine;
use super::database::{Row, Tables};
use super::members::Members;
use super::redacted::{RedactedText, whole_characters};
use super::splices;
use crate::lines::BYTE_ORDER_MARK;
use crate::transcript::agent::Agent;
use crate::transcript::item::Read;

/// A format of recordings.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) agent: &'static Agent,
    /// The agent's name for people.
    pub(crate) title: &'static str,
    /// How the names of files end that are looked for in a folder, without the dot.
    pub(crate) endings: &'static [&'static str],
    /// Why an import of this format leaves a file with another ending alone.
    pub(crate) unwanted: &'static str,
    /// Why an import of another format leaves a file of this one alone.
    pub(crate) left: &'static str,
    pub(crate) recognizes: fn(&Head<'_>) -> bool,
    pub(crate) format: fn() -> Box<dyn Format>,
}

impl Kind {
    pub(super) fn has_ending(&self, name: &str) -> bool {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        ending.is_some_and(|ending| {
            let is_it = |known: &&str| known.eq_ignore_ascii_case(ending);
            self.endings.iter().any(is_it)
        })
    }
}

/// The beginning of a file, by which its format is recognized.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'a> {
    /// The file's name.
    pub(crate) name: &'a str,
    /// Its first bytes, as far as they are UTF-8.
    pub(crate) text: &'a str,
    /// Its first bytes.
    pub(crate) bytes: &'a [u8],
    /// Whether that is all of it.
    pub(crate) is_all: bool,
}

impl<'a> Head<'a> {
    /// The JSON objects on its lines, one or several on each, as far as they are whole.
    pub(crate) fn objects(
        &self,
    ) -> impl Iterator<Item = serde_json::Map<String, serde_json::Value>> {
        let bytes = self.bytes.strip_prefix(BYTE_ORDER_MARK);
        let lines = bytes
            .unwrap_or(self.bytes)
            .split_inclusive(|it| *it == b'\n');
        lines.flat_map(|line| {
            // The last one may be cut off here.
            let has_end = self.is_all || line.ends_with(b"\n");
            let objects = splices::objects(line, has_end).into_iter();
            let object = |range| object(line.get(range)?);
            objects.filter_map(object)
        })
    }
}

/// An object as importers read it: with a replacement for each half of a surrogate pair.
fn object(bytes: &[u8]) -> Option<serde_json::Map<String, serde_json::Value>> {
    if let Ok(object) = serde_json::from_slice(bytes) {
        return Some(object);
    }
    let whole = whole_characters(std::str::from_utf8(bytes).ok()?)?;
    serde_json::from_str(&whole).ok()
}

/// A format of recordings: from what a file has to entries. It may remember what it read before.
pub(crate) trait Format: Send {
    /// The sessions are over: what a program left open is as it will be.
    fn ended(&mut self) {}

    /// A file begins that lies in `folders`, the innermost one last. It is told before [`Self::begin`].
    fn within(&mut self, folders: &[String]) {
        let _ = folders;
    }

    /// A file begins, whose name without its ending is `stem`.
    fn begin(&mut self, stem: &str) {
        let _ = stem;
    }

    /// What the file next to a recording has, of which [`super::formats::companion`] has the name. It is told behind
    /// [`Self::begin`].
    fn accompanied(&mut self, companion: &RedactedText) {
        let _ = companion;
    }

    /// Whether a file is one document. Otherwise it has lines.
    fn is_document(&self, head: &Head<'_>) -> bool {
        let _ = head;
        false
    }

    /// Whether an object within a damaged line is a whole record, and not a part of the record that was cut off before it.
    fn is_record(&self, record: &Members<'_>) -> bool {
        let _ = record;
        false
    }

    /// What a line says. A line without a name gets one that follows from `names`.
    fn line(&mut self, text: RedactedText, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine>;

    /// What a document says: the number of each message from 1, and what it is.
    fn document(
        &mut self,
        text: RedactedText,
        names: Option<&IdSecret>,
    ) -> Result<Vec<Numbered>, BadLine> {
        let reads = self.line(text, names)?;
        Ok(reads.into_iter().map(|read| (1, Ok(read))).collect())
    }

    /// The tables of its databases; none if its files are none.
    fn tables(&self) -> Option<&'static Tables> {
        None
    }

    /// What a row of a database says.
    fn row(&mut self, row: Row, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        let _ = (row, names);
        Ok(Vec::new())
    }

    /// What was held until the file ended.
    fn end(&mut self) -> Vec<Read> {
        Vec::new()
    }
}

/// A message of a document by its number from 1, or what is wrong with it.
pub(crate) type Numbered = (u64, Result<Read, BadLine>);

/// A time as RFC 3339 writes it.
pub(crate) fn time(text: &str) -> Option<Timestamp> {
    let time = chrono::DateTime::parse_from_rfc3339(text).ok()?;
    Timestamp::in_range(time.to_utc())
}

/// A time in milliseconds since 1970.
pub(crate) fn at_millis(milliseconds: f64) -> Option<Timestamp> {
    if !milliseconds.is_finite() || milliseconds.abs() > 1e15 {
        return None;
    }
    #[allow(clippy::cast_possible_truncation, reason = "it is in range")]
    let time = chrono::DateTime::from_timestamp_millis(milliseconds as i64)?;
    Timestamp::in_range(time)
}

/// The companions of an agent's recordings: files next to them that have more about them.
pub(crate) struct Companions {
    pub(crate) kind: &'static Kind,
    /// The name of a recording's companion, by the name of the recording without its ending.
    pub(crate) name: fn(&str) -> Option<String>,
    /// The name, without its ending, of the recording of the sub-agent that called this one, by the companion's text.
    pub(crate) caller: fn(&str) -> Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written with another year cannot be read again.
    #[test]
    fn times_in_no_year_that_can_be_written_are_none() {
        for bad in [
            "9999-12-31T23:59:59-01:00",
            "0000-01-01T00:00:00+01:00",
            "10000-01-01T00:00:00Z",
        ] {
            assert_eq!(time(bad), None, "{bad}");
        }
        for good in ["9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z"] {
            assert_eq!(time(good).unwrap_or(Timestamp::EPOCH).to_string(), good);
        }
        // The year 10000, and the year -1.
        assert_eq!(at_millis(253_402_300_800_000.0), None);
        assert_eq!(at_millis(-62_198_755_200_000.0), None);
        assert!(at_millis(253_402_300_799_000.0).is_some());
    }
}
