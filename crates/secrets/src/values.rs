//! The values of secrets that were found, and where another text repeats them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, Input, MatchKind};

use super::{Hit, MARKER};

/// Bytes of the shortest part of a value that is looked for.
const SHORTEST: usize = 4;
/// Bytes from which on a part is also looked for within words, as in `mysql -pVALUE`: fewer if it is no word itself.
const WITHIN_WORDS: usize = 16;
const WITHIN_WORDS_MIXED: usize = 8;
/// Bytes of the longest value whose beginning is looked for before an ellipsis.
const LONGEST_CUT: usize = 512;
/// Characters that markup may take out of a value.
const MARKUP: [char; 4] = ['\\', '*', '`', '~'];
/// The sign of a text that was cut.
const ELLIPSIS: char = '…';

/// Values of secrets, each with its kind. `Debug` prints their number.
///
/// ```
/// use annals_secrets::{SecretValues, Secrets};
/// let secrets = Secrets::standard();
/// let mut values = SecretValues::default();
/// values.add(&secrets.redact("password=Env9Passw0rd33").hits);
/// let found = values.finder().find("export 'Env9Passw0rd33' and Env9Pas…");
/// assert_eq!(found.iter().map(|it| it.range.clone()).collect::<Vec<_>>(), [8..22, 28..35]);
/// ```
#[derive(Clone, Default)]
pub struct SecretValues {
    /// The kinds by value.
    kinds: BTreeMap<Box<str>, Arc<str>>,
}

/// A place of a text that has a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundValue {
    /// The bytes of the text.
    pub range: Range<usize>,
    /// The kind of the secret.
    pub kind: Arc<str>,
    /// The number of the value, by which it is counted once.
    pub value: usize,
}

/// A search for values. `Debug` prints their number.
pub struct ValueFinder {
    /// The kinds of the values, by number.
    kinds: Vec<Arc<str>>,
    /// The parts, each with the number of its value.
    parts: Vec<(Box<str>, usize)>,
    search: Option<AhoCorasick>,
    /// Parts by their first bytes.
    by_beginning: HashMap<Box<[u8]>, Vec<usize>>,
}

impl fmt::Debug for SecretValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretValues({})", self.kinds.len())
    }
}

impl fmt::Debug for ValueFinder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ValueFinder({})", self.kinds.len())
    }
}

impl SecretValues {
    /// Adds the values of hits.
    pub fn add(&mut self, hits: &[Hit]) {
        for hit in hits {
            let value = hit.secret.trim().into();
            self.kinds
                .entry(value)
                .or_insert_with(|| Arc::clone(&hit.kind));
        }
    }

    /// A search for all of them.
    pub fn finder(&self) -> ValueFinder {
        let kinds = self.kinds.values().map(Arc::clone).collect();
        let mut parts: Vec<(Box<str>, usize)> = Vec::new();
        for (number, value) in self.kinds.keys().enumerate() {
            parts.extend(parts_of(value).into_iter().map(|part| (part, number)));
        }
        let mut by_beginning: HashMap<Box<[u8]>, Vec<usize>> = HashMap::new();
        for (at, (part, _)) in parts.iter().enumerate() {
            let beginning = part.as_bytes().get(..SHORTEST).unwrap_or_default();
            by_beginning.entry(beginning.into()).or_default().push(at);
        }
        let texts = parts.iter().map(|(part, _)| part.as_bytes());
        let search = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(texts);
        ValueFinder {
            kinds,
            search: search.ok().filter(|_| !parts.is_empty()),
            parts,
            by_beginning,
        }
    }
}

/// The parts of a value as a page may show them: its lines, without characters that are hidden or that markup takes out.
fn parts_of(value: &str) -> BTreeSet<Box<str>> {
    let plain = without_markers(value);
    let is_end = |c: char| c.is_control() || !(c.is_ascii() || c.is_alphanumeric());
    let mut parts = BTreeSet::new();
    for part in plain.split(is_end) {
        let part = part.trim();
        for part in [part.to_owned(), part.replace(MARKUP, "")] {
            if part.len() >= SHORTEST {
                parts.insert(part.into());
            }
        }
    }
    parts
}

/// A value with line ends in the place of markers that an earlier search left in it.
fn without_markers(value: &str) -> String {
    let mut plain = String::new();
    let mut rest = value;
    while let Some((before, behind)) = rest.split_once(MARKER) {
        plain.push_str(before);
        plain.push('\n');
        rest = behind.split_once(']').map_or("", |(_, behind)| behind);
    }
    plain.push_str(rest);
    plain
}

impl ValueFinder {
    /// Returns the places of a text that have a value, or the beginning of one before an ellipsis, in order. No two overlap.
    pub fn find(&self, text: &str) -> Vec<FoundValue> {
        let Some(search) = &self.search else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(hit) = search.find(Input::new(text).range(at..)) {
            let range = hit.range();
            let Some((_, value)) = self.parts.get(hit.pattern().as_usize()) else {
                break;
            };
            let is_long = match text.get(range.clone()) {
                Some(part) if part.contains(|c: char| !c.is_alphabetic()) => {
                    range.len() >= WITHIN_WORDS_MIXED
                }
                _ => range.len() >= WITHIN_WORDS,
            };
            if is_long || is_word(text, &range) {
                at = range.end;
                found.push(self.found(range, *value));
            } else {
                at = next_char(text, range.start);
            }
        }
        let cut = text
            .match_indices(ELLIPSIS)
            .filter_map(|(end, _)| self.cut_before(text, end));
        found.extend(cut);
        found.sort_by_key(|it| (it.range.start, std::cmp::Reverse(it.range.end)));
        let mut end = 0;
        found.retain(|it| {
            let is_free = it.range.start >= end;
            if is_free {
                end = it.range.end;
            }
            is_free
        });
        found
    }

    fn found(&self, range: Range<usize>, value: usize) -> FoundValue {
        let kind = self.kinds.get(value).map(Arc::clone);
        FoundValue {
            range,
            kind: kind.unwrap_or_default(),
            value,
        }
    }

    /// Finds the longest beginning of a value that ends where a text was cut.
    fn cut_before(&self, text: &str, end: usize) -> Option<FoundValue> {
        let bytes = text.as_bytes();
        let first = end.saturating_sub(LONGEST_CUT);
        (first..end.saturating_sub(SHORTEST - 1)).find_map(|start| {
            let beginning = bytes.get(start..start + SHORTEST)?;
            let cut = bytes.get(start..end)?;
            let parts = self.by_beginning.get(beginning)?.iter();
            let (_, value) = parts
                .filter_map(|part| self.parts.get(*part))
                .find(|(part, _)| part.as_bytes().starts_with(cut))?;
            Some(self.found(start..end, *value))
        })
    }
}

/// Returns `true` if no letter or digit is directly before or behind a place.
fn is_word(text: &str, range: &Range<usize>) -> bool {
    let before = text.get(..range.start).unwrap_or_default();
    let behind = text.get(range.end..).unwrap_or_default();
    !before.ends_with(char::is_alphanumeric) && !behind.starts_with(char::is_alphanumeric)
}

/// The beginning of the next character.
fn next_char(text: &str, at: usize) -> usize {
    let behind = text.get(at..).unwrap_or_default();
    at + behind.chars().next().map_or(1, char::len_utf8)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing)]

    use crate::{Hit, SecretValues, Secrets};

    fn shown(text: &str, in_text: &str) -> Vec<String> {
        let mut values = SecretValues::default();
        values.add(&Secrets::standard().redact(text).hits);
        let found = values.finder().find(in_text).into_iter();
        found
            .map(|it| in_text.get(it.range).unwrap().to_owned())
            .collect()
    }

    #[test]
    fn a_value_is_found_whole_by_line_and_cut() {
        let text = "password=Env9Passw0rd33";
        assert_eq!(
            shown(text, "a Env9Passw0rd33, -pEnv9Passw0rd33 Env9…"),
            ["Env9Passw0rd33", "Env9Passw0rd33", "Env9"]
        );
        // A short value may be a part of other words.
        let mut values = SecretValues::default();
        values.add(&[Hit {
            kind: "password".into(),
            line: 1,
            field: String::new(),
            secret: "hunt3r".into(),
        }]);
        let found = values.finder().find("xhunt3r hunt3r");
        assert_eq!((found.len(), found[0].range.start), (1, 8));
        assert!(shown(text, "a password, Env8… and En…").is_empty());
        assert!(shown("nothing here", "nothing here").is_empty());
    }

    #[test]
    fn neither_hits_nor_values_are_printed() {
        let hits = Secrets::standard().redact("password=Env9Passw0rd33").hits;
        assert_eq!(hits.len(), 1);
        assert!(!format!("{hits:?}").contains("Env9"));
    }
}
