//! What was taken out of a source, by kind and place.

use std::fmt;

use serde::Serialize;

use super::Hit;

/// How many places of a kind are named; the others are only counted.
const NAMED: usize = 20;

/// How many places of a kind are shown to people on its line.
const SHOWN: usize = 5;

/// The most characters of a field's path. Keys may be as long as their writer likes.
const PATH: usize = 200;

/// Where a secret was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RedactedPlace {
    /// The file; of a repository `COMMIT:PATH`, or the commit.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// What it is in: a JSON path, or a part of a commit; empty for a file's text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

impl fmt::Display for RedactedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        match self.field.as_str() {
            "" => Ok(()),
            field => write!(f, " ({field})"),
        }
    }
}

/// Secrets of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RedactedKind {
    /// What they are.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// The first 20 places, in the order in which they were read.
    pub places: Vec<RedactedPlace>,
}

/// What was taken out, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Redactions(Vec<RedactedKind>);

impl Redactions {
    /// The kinds, in the order of their names.
    pub fn kinds(&self) -> &[RedactedKind] {
        &self.0
    }

    /// Whether nothing was.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many secrets there were.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|kind| kind.count).sum()
    }

    /// Counts a secret.
    pub fn add(&mut self, kind: &str, place: RedactedPlace) {
        self.count_in(kind, 1, [place]);
    }

    /// Counts the hits in a text that begins in this line of a file.
    pub fn add_hits(&mut self, file: &str, first_line: u64, hits: &[Hit]) {
        for hit in hits {
            let place = RedactedPlace {
                file: file.to_owned(),
                line: first_line + hit.line.saturating_sub(1),
                field: shortened(&hit.field),
            };
            self.add(&hit.kind, place);
        }
    }

    /// Names the files in another way, such as without the secrets that are in their names.
    #[must_use]
    pub fn with_files(mut self, named: impl Fn(&str) -> String) -> Redactions {
        let places = self.0.iter_mut().flat_map(|kind| &mut kind.places);
        places.for_each(|place| place.file = named(&place.file));
        self
    }

    /// Counts what is in another one.
    pub fn merge(&mut self, other: Redactions) {
        for kind in other.0 {
            self.count_in(&kind.kind, kind.count, kind.places);
        }
    }

    fn count_in(
        &mut self,
        kind: &str,
        count: u64,
        places: impl IntoIterator<Item = RedactedPlace>,
    ) {
        let found = self.0.binary_search_by(|it| it.kind.as_str().cmp(kind));
        let index = found.unwrap_or_else(|index| {
            let kind = RedactedKind {
                kind: kind.to_owned(),
                count: 0,
                places: Vec::new(),
            };
            self.0.insert(index, kind);
            index
        });
        if let Some(kind) = self.0.get_mut(index) {
            kind.count += count;
            let room = NAMED.saturating_sub(kind.places.len());
            kind.places.extend(places.into_iter().take(room));
        }
    }
}

fn shortened(path: &str) -> String {
    match path.char_indices().nth(PATH) {
        Some((end, _)) => format!("{}...", path.get(..end).unwrap_or_default()),
        None => path.to_owned(),
    }
}

impl fmt::Display for RedactedKind {
    /// `3 github-token: a.jsonl:17 (message.content), ...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = self.places.iter().take(SHOWN);
        let shown: Vec<String> = shown.map(ToString::to_string).collect();
        write!(f, "{} {}: {}", self.count, self.kind, shown.join(", "))?;
        match self.count.saturating_sub(shown.len() as u64) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}
