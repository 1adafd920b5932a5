//! The text of recordings as `--keep-raw` keeps it: without its secrets, in parts.
//!
//! A part has as many bytes as a log takes well, counted from the file's beginning. A recording that
//! has grown since it was kept so has the same parts, but for the last one.

use annals_domain::cut;
use annals_event_log::Digest;
use sha2::{Digest as _, Sha256};

use super::redacted::RedactedText;
use crate::secrets::KeyLines;

/// The bytes of a part at most. It ends behind a line, or within one that is longer.
const PART: usize = 1024 * 1024;

/// So many lines are remembered that are not kept as they were.
const CHANGED: usize = 1_000;

/// A part of a recording's text.
#[derive(Debug)]
pub(crate) struct RawPart {
    text: String,
    digest: Digest,
}

impl RawPart {
    fn of(text: String) -> RawPart {
        let digest = Digest::of(text.as_bytes());
        RawPart { text, digest }
    }

    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

/// A recording of which all parts were read.
#[derive(Debug)]
pub(crate) struct RawFile {
    /// Its path below what was imported, its parts separated by slashes, without secrets.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// The SHA-256 of its text without its secrets, in hex digits.
    pub(crate) sha256: String,
    pub(crate) parts: Vec<Digest>,
    /// The first 1,000 lines that are left out: too long, not in UTF-8, or with a NUL.
    pub(crate) changed: Vec<u64>,
}

/// The text of the file that is read.
#[derive(Debug, Default)]
pub(crate) struct RawText {
    name: String,
    rest: String,
    bytes: u64,
    sum: Sha256,
    parts: Vec<Digest>,
    changed: Vec<u64>,
    keys: KeyLines,
    /// Parts that were not taken yet.
    ready: Vec<RawPart>,
}

impl RawText {
    pub(crate) fn of(name: String) -> RawText {
        RawText {
            name,
            ..RawText::default()
        }
    }

    /// More of its text.
    pub(crate) fn add(&mut self, text: &RedactedText) {
        self.add_plain(text.as_str());
    }

    /// The end of a line, or blanks: what no secret is in.
    pub(crate) fn add_end(&mut self, end: &'static str) {
        self.add_plain(end);
    }

    /// A line of blanks.
    pub(crate) fn add_blanks(&mut self, bytes: &[u8]) {
        // Those of ASCII are UTF-8.
        self.add_plain(std::str::from_utf8(bytes).unwrap_or_default());
    }

    /// How far a private key is whose lines are not JSON.
    pub(crate) fn keys(&mut self) -> &mut KeyLines {
        &mut self.keys
    }

    /// A line that is left out.
    pub(crate) fn changed(&mut self, line: u64) {
        if self.changed.len() < CHANGED {
            self.changed.push(line);
        }
    }

    fn add_plain(&mut self, text: &str) {
        self.rest.push_str(text);
        while self.rest.len() >= PART {
            let most = cut(&self.rest, PART).len();
            // Behind a line, so that a secret that is found later is in one part.
            let lines = self.rest.get(..most).and_then(|part| part.rfind('\n'));
            let rest = self.rest.split_off(lines.map_or(most, |at| at + 1));
            let part = std::mem::replace(&mut self.rest, rest);
            self.end_part(part);
        }
    }

    fn end_part(&mut self, part: String) {
        self.bytes += part.len() as u64;
        self.sum.update(part.as_bytes());
        let part = RawPart::of(part);
        self.parts.push(part.digest);
        self.ready.push(part);
    }

    /// The parts that are complete since this was asked last.
    pub(crate) fn take(&mut self) -> Vec<RawPart> {
        std::mem::take(&mut self.ready)
    }

    /// The last part, and what is to be known of the whole. A file without text is not kept.
    pub(crate) fn end(mut self) -> (Vec<RawPart>, Option<RawFile>) {
        let rest = std::mem::take(&mut self.rest);
        if !rest.is_empty() {
            self.end_part(rest);
        }
        let file = RawFile {
            name: self.name,
            bytes: self.bytes,
            sha256: hex::encode(self.sum.finalize()),
            parts: self.parts,
            changed: self.changed,
        };
        let is_empty = file.parts.is_empty();
        (self.ready, (!is_empty).then_some(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(pieces: &[&str]) -> (Vec<String>, RawFile) {
        let mut raw = RawText::of("a.jsonl".into());
        let mut parts = Vec::new();
        for piece in pieces {
            raw.add_plain(piece);
            parts.extend(raw.take());
        }
        let (last, file) = raw.end();
        parts.extend(last);
        let texts = parts.into_iter().map(RawPart::into_text);
        (texts.collect(), file.expect("it has text"))
    }

    #[test]
    fn a_text_is_all_its_parts_however_it_comes() {
        let text = "é\n".repeat(PART);
        let (parts, file) = kept(&[&text]);
        assert_eq!(parts.concat(), text);
        assert!(parts.iter().all(|part| part.len() <= PART));
        assert_eq!(file.bytes, text.len() as u64);
        assert_eq!(file.sha256, hex::encode(Sha256::digest(&text)));
        let (in_pieces, same) = kept(&text.split_inclusive('\n').collect::<Vec<_>>());
        assert_eq!(in_pieces, parts);
        assert_eq!((same.sha256, same.parts), (file.sha256, file.parts));
    }

    #[test]
    fn a_text_that_grew_has_the_same_parts_but_for_the_last() {
        let text = "line\n".repeat(PART / 2);
        let (before, _) = kept(&[&text]);
        let (after, _) = kept(&[&text, "more\n"]);
        assert_eq!(before.len(), after.len());
        assert_eq!(before[..before.len() - 1], after[..after.len() - 1]);
    }

    #[test]
    fn an_empty_file_is_not_kept() {
        let (parts, file) = RawText::of("a".into()).end();
        assert!(parts.is_empty() && file.is_none());
    }
}
