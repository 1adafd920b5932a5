//! Finds secrets in texts and JSON, and replaces them by markers.
//!
//! [`Secrets`] is a set of patterns. [`Secrets::standard`] has the formats of well-known keys, from
//! `rules.toml`. Each secret becomes a marker such as `[redacted:github-token]`, and is returned as
//! a [`Hit`] with its kind and place. A marker depends on the pattern alone, so the same source
//! always gives the same result.
//!
//! JSON is searched string by string, keys included, as its reader sees them. The result is the
//! same JSON except for the markers.
//!
//! A secret is found as it is written, or as the base64 of a text. Encrypted secrets and secrets
//! cut in pieces are not found.
//!
//! | Module | Contents |
//! | --- | --- |
//! | `rules`, `standard` | the standard set as data, and the fragments of its expressions |
//! | `gate`, `keywords`, `line` | keywords and hints: where a pattern is searched at all |
//! | `pattern`, `check` | one pattern, and the test of what it matches |
//! | `json`, `veiled`, `encoded` | JSON strings, texts with invisible characters, base64 |
//! | `key`, `key_file`, `table` | private keys, key stores, tables: no expression finds them |
//! | `redactions` | secrets removed, by kind and place |
//! | `values` | where another text repeats secrets that were found |

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "tests may be long"))]

mod check;
mod encoded;
mod gate;
mod json;
mod key;
mod key_file;
mod keywords;
mod line;
mod pattern;
mod redactions;
mod rules;
mod standard;
mod table;
mod values;
mod veiled;

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use regex::bytes::{RegexSet, RegexSetBuilder};
use serde::Serialize;

use gate::{Candidate, Gate};
pub use json::{is_name, is_value};
pub use key::KeyLines;
use pattern::Pattern;
pub use pattern::SecretPatternError;
pub use redactions::{RedactedKind, RedactedPlace, Redactions};
pub use values::{FoundValue, SecretValues, ValueFinder};

/// Beginning of every marker.
pub const MARKER: &str = "[redacted:";

/// Signs that end an unquoted value, or a quoted one.
const SIGNS: [char; 15] = [
    '"', '\'', '`', '\\', '{', '}', '<', '>', '(', ')', '[', ']', '&', ';', ',',
];

/// The bytes of the longest value of a key that is taken for one word.
const MOST_WORD: usize = 512;

/// How often a text is looked through again in which something was found.
const MOST_TIMES: usize = 8;

/// Bytes that the search for keys may take, of each thread.
const KEY_BYTES: usize = 4 * 1024 * 1024;

/// The most keys that are kept with what was found in them, and the bytes of the longest.
const MOST_KEYS: usize = 4_096;
const LONGEST_KEY: usize = 64;

static STANDARD_SET: LazyLock<Secrets> =
    LazyLock::new(|| Secrets::of(pattern::standard().unwrap_or_default()));

/// A secret that was found. `Debug` leaves its value out.
#[derive(Clone, PartialEq, Eq)]
pub struct Hit {
    /// What it is.
    pub kind: Arc<str>,
    /// The line that it begins in, from 1 in the text.
    pub line: u64,
    /// Where in the JSON it is, as `message.content[0].text`; empty in other texts.
    pub field: String,
    /// The text that was taken out.
    pub secret: Box<str>,
}

impl fmt::Debug for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Hit");
        shown.field("kind", &self.kind).field("line", &self.line);
        shown.field("field", &self.field).finish_non_exhaustive()
    }
}

/// A kind of secrets that a set finds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecretKind {
    /// Its name.
    pub kind: String,
    /// What it matches.
    pub matches: String,
}

/// A text without its secrets, and what they were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<T> {
    /// The text.
    pub content: T,
    /// What was taken out, in the text's order.
    pub hits: Vec<Hit>,
}

/// A place in a text, from its first byte to behind its last, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    start: usize,
    end: usize,
    /// The number of the pattern.
    pattern: usize,
}

/// A key of JSON or YAML as the label of its value.
#[derive(Debug, Clone, Default)]
struct Label {
    text: String,
    /// Patterns that take it as their label.
    patterns: Vec<usize>,
}

/// What else is looked for in a text than what it says as it is.
#[derive(Debug, Clone, Copy)]
struct Search {
    /// Secrets with something between their letters.
    veiled: bool,
    /// The base64 of texts.
    encoded: bool,
}

/// Patterns by which secrets are found. A copy of it costs nothing.
///
/// ```
/// use annals_secrets::Secrets;
/// let secrets = Secrets::standard().with("acme=ACME-[0-9]{8}")?;
/// let redacted = secrets.redact("the key is ACME-12345678.");
/// assert_eq!(redacted.content, "the key is [redacted:acme].");
/// assert_eq!(redacted.hits[0].kind.as_ref(), "acme");
/// # Ok::<(), annals_secrets::SecretPatternError>(())
/// ```
#[derive(Clone)]
pub struct Secrets(Arc<Set>);

struct Set {
    patterns: Vec<Pattern>,
    gate: Gate,
    /// Patterns for which a key is a label, and what such a key has.
    labelled: Vec<usize>,
    keys: Option<RegexSet>,
    /// Keys without secrets that were searched before: a recording repeats few keys.
    plain_keys: RwLock<HashMap<Box<str>, Arc<Label>>>,
    markers: Vec<String>,
}

impl Default for Secrets {
    /// The standard set.
    fn default() -> Secrets {
        Secrets::standard()
    }
}

impl PartialEq for Secrets {
    fn eq(&self, other: &Secrets) -> bool {
        self.0.patterns == other.0.patterns
    }
}

impl Eq for Secrets {}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = self.0.patterns.iter().map(|pattern| &pattern.kind);
        f.debug_list().entries(kinds).finish()
    }
}

impl Secrets {
    /// The formats of well-known keys.
    pub fn standard() -> Secrets {
        STANDARD_SET.clone()
    }

    /// Returns `true` if it has no patterns.
    fn is_none(&self) -> bool {
        self.0.patterns.is_empty()
    }

    /// No pattern: everything stays as it is.
    pub fn none() -> Secrets {
        Secrets::of(Vec::new())
    }

    fn of(patterns: Vec<Pattern>) -> Secrets {
        let marker = |pattern: &Pattern| format!("{MARKER}{}]", pattern.kind);
        let by_label = |(index, pattern): (usize, &Pattern)| pattern.by_label.then_some(index);
        let labelled = patterns.iter().enumerate().filter_map(by_label).collect();
        let keys = patterns.iter().filter(|pattern| pattern.by_label);
        Secrets(Arc::new(Set {
            gate: Gate::of(&patterns),
            labelled,
            keys: key_set(keys.map(|pattern| pattern.key.as_ref())),
            plain_keys: RwLock::default(),
            markers: patterns.iter().map(marker).collect(),
            patterns,
        }))
    }

    /// This set and a pattern: a regular expression, or `NAME=` and one. Its group
    /// `secret` is what goes, if it has one; or else all that it matches.
    ///
    /// # Errors
    /// [`SecretPatternError`].
    pub fn with(&self, pattern: &str) -> Result<Secrets, SecretPatternError> {
        let mut patterns = self.0.patterns.clone();
        patterns.push(Pattern::custom(pattern)?);
        Ok(Secrets::of(patterns))
    }

    /// The kinds that it finds, each once, in their order.
    pub fn kinds(&self) -> Vec<SecretKind> {
        let mut kinds: Vec<SecretKind> = Vec::new();
        for pattern in &self.0.patterns {
            let kind = SecretKind {
                kind: pattern.kind.to_string(),
                matches: pattern.about.to_string(),
            };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        kinds
    }

    /// Takes the secrets out of a text. It has as many lines as before.
    pub fn redact<'t>(&self, text: &'t str) -> Redacted<Cow<'t, str>> {
        until_nothing_is_found(text, |text| self.without(text, self.spans(text.as_bytes())))
    }

    /// Like [`redact`](Secrets::redact), for a value whose key may be the label of a secret.
    pub fn redact_value<'t>(&self, key: &str, text: &'t str) -> Redacted<Cow<'t, str>> {
        let mut spans = self.spans(text.as_bytes());
        spans.extend(self.behind(&self.label(key.to_owned()), "", text));
        self.without(text, joined(spans))
    }

    /// Takes out a string of a list that is a line of a private key which an earlier string began.
    /// Returns `None` if it is not one. `field` is the string's key in an object of the list.
    pub fn redact_line<'t>(
        &self,
        lines: &mut KeyLines,
        field: &str,
        text: &'t str,
    ) -> Option<Redacted<Cow<'t, str>>> {
        let pattern = self.key_pattern()?;
        let (start, end) = lines.next(field, text)?;
        let span = Span {
            start,
            end,
            pattern,
        };
        Some(self.without(text, vec![span]))
    }

    fn without<'t>(&self, text: &'t str, mut spans: Vec<Span>) -> Redacted<Cow<'t, str>> {
        for span in &mut spans {
            span.start = floor(text, span.start);
            span.end = ceil(text, span.end);
        }
        if spans.is_empty() {
            return untouched(Cow::Borrowed(text));
        }
        let (mut content, mut copied) = (String::with_capacity(text.len()), 0);
        for span in &spans {
            content.push_str(text.get(copied..span.start).unwrap_or_default());
            let taken = text.get(span.start..span.end).unwrap_or_default();
            content.push_str(self.marker(span.pattern));
            content.extend(taken.bytes().filter(|byte| *byte == b'\n').map(char::from));
            copied = span.end;
        }
        content.push_str(text.get(copied..).unwrap_or_default());
        Redacted {
            content: Cow::Owned(content),
            hits: self.hits(text.as_bytes(), &spans),
        }
    }

    /// The same for bytes that need not be UTF-8.
    pub fn redact_bytes<'t>(&self, bytes: &'t [u8]) -> Redacted<Cow<'t, [u8]>> {
        let spans = self.spans(bytes);
        if spans.is_empty() {
            return untouched(Cow::Borrowed(bytes));
        }
        let (mut content, mut copied) = (Vec::with_capacity(bytes.len()), 0);
        for span in &spans {
            content.extend_from_slice(bytes.get(copied..span.start).unwrap_or_default());
            let taken = bytes.get(span.start..span.end).unwrap_or_default();
            content.extend_from_slice(self.marker(span.pattern).as_bytes());
            content.extend(taken.iter().filter(|byte| **byte == b'\n'));
            copied = span.end;
        }
        content.extend_from_slice(bytes.get(copied..).unwrap_or_default());
        Redacted {
            content: Cow::Owned(content),
            hits: self.hits(bytes, &spans),
        }
    }

    /// Which pattern finds private keys, if one does.
    fn key_pattern(&self) -> Option<usize> {
        let mut patterns = self.0.patterns.iter();
        patterns.position(|pattern| pattern.finds_keys())
    }

    fn marker(&self, pattern: usize) -> &str {
        let marker = self.0.markers.get(pattern);
        marker.map_or(MARKER, String::as_str)
    }

    fn spans(&self, text: &[u8]) -> Vec<Span> {
        let all = Search {
            veiled: true,
            encoded: true,
        };
        self.spans_of(text, all)
    }

    /// Where a text has secrets, in order; no two overlap. They are also found where codes of a terminal, invisible
    /// characters or the escapes of a URL are between their letters, and in base64, if that is to be looked for.
    fn spans_of(&self, text: &[u8], search: Search) -> Vec<Span> {
        let lines = in_lines(text);
        let mut spans = self.find(&self.0.gate.candidates(&lines), &lines);
        if search.veiled
            && let Some(plain) = veiled::unveiled(text)
        {
            let hidden = self.find(&self.0.gate.candidates(&plain.text), &plain.text);
            spans.extend(hidden.into_iter().map(|span| Span {
                start: plain.start(span.start),
                end: plain.end(span.end),
                ..span
            }));
            spans = joined(spans);
        }
        if search.encoded {
            let encoded = encoded::texts(text);
            if !encoded.is_empty() {
                spans.extend(encoded.iter().filter_map(|part| self.encoded(part)));
                spans = joined(spans);
            }
        }
        spans
    }

    /// Where these patterns find something in a text, in order; no two overlap.
    fn find(&self, candidates: &[Candidate], text: &[u8]) -> Vec<Span> {
        let mut spans = Vec::new();
        for candidate in candidates {
            let pattern = candidate.pattern;
            let Some(searched) = self.0.patterns.get(pattern) else {
                continue;
            };
            let found = searched.find_near(text, &candidate.hits).into_iter();
            spans.extend(found.map(|(start, end)| Span {
                start,
                end,
                pattern,
            }));
        }
        // What an earlier import took out is not a secret.
        spans.retain(|span| {
            let taken = text.get(span.start..span.end).unwrap_or_default();
            let before = text.get(..span.start).unwrap_or_default();
            let marker = MARKER.as_bytes();
            !taken.starts_with(marker) && !before.ends_with(marker)
        });
        self.joined_but_last(spans)
    }

    /// Spans in order, without those of patterns that give way to others.
    fn joined_but_last(&self, spans: Vec<Span>) -> Vec<Span> {
        let is_last = |span: &Span| {
            let pattern = self.0.patterns.get(span.pattern);
            pattern.is_some_and(|pattern| pattern.is_last)
        };
        let (last, first): (Vec<Span>, Vec<Span>) = spans.into_iter().partition(is_last);
        let mut found = joined(first);
        let is_free = |span: &Span| {
            let at = found.partition_point(|it| it.end <= span.start);
            found.get(at).is_none_or(|it| it.start >= span.end)
        };
        let free: Vec<Span> = last.into_iter().filter(is_free).collect();
        if free.is_empty() {
            return found;
        }
        found.extend(free);
        joined(found)
    }

    /// The whole of an encoded text that has a secret; it is named after the first one.
    fn encoded(&self, part: &encoded::Encoded) -> Option<Span> {
        let found = self.find(&self.0.gate.candidates(&part.text), &part.text);
        let pattern = found.first()?.pattern;
        Some(Span {
            start: part.start,
            end: part.end,
            pattern,
        })
    }

    /// Returns a key that has no secret itself, if it is known to have none.
    fn plain_key(&self, text: &str) -> Option<Arc<Label>> {
        let known = self.0.plain_keys.read();
        let known = known.unwrap_or_else(PoisonError::into_inner);
        known.get(text).map(Arc::clone)
    }

    /// Keeps a key that has no secret itself.
    fn keep_plain_key(&self, key: &Arc<Label>) {
        let known = self.0.plain_keys.write();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        if key.text.len() <= LONGEST_KEY && known.len() < MOST_KEYS {
            known.insert(key.text.as_str().into(), Arc::clone(key));
        }
    }

    /// Finds the patterns that take a key as their label.
    fn label(&self, text: String) -> Label {
        let patterns = match &self.0.keys {
            _ if text.is_empty() => Vec::new(),
            Some(keys) => {
                let found = keys.matches(text.as_bytes()).into_iter();
                let found = found.filter_map(|at| self.0.labelled.get(at).copied());
                found.collect()
            }
            None => self.0.labelled.clone(),
        };
        Label { text, patterns }
    }

    /// Where a value has secrets that its key is the label of. `scheme` is a word before it, such as
    /// `Bearer`.
    fn behind(&self, label: &Label, scheme: &str, value: &str) -> Vec<Span> {
        if label.patterns.is_empty() {
            return Vec::new();
        }
        let key = &label.text;
        let space = if scheme.is_empty() { "" } else { " " };
        let before = format!("{key}\": \"{scheme}{space}");
        // What would end a value elsewhere is a part of it here.
        let is_word = value.len() <= MOST_WORD && check::is_word(value.as_bytes());
        let word = match is_word {
            true => value.replace(SIGNS, "_"),
            false => value.to_owned(),
        };
        let text = format!("{before}{word}\"");
        let whole = label.patterns.iter().map(|pattern| Candidate {
            pattern: *pattern,
            hits: Rc::new(vec![(0, text.len())]),
        });
        let whole: Vec<Candidate> = whole.collect();
        let spans = self.find(&whole, text.as_bytes());
        let inside = |offset: usize| offset.saturating_sub(before.len()).min(value.len());
        let spans = spans.into_iter().map(|span| Span {
            start: inside(span.start),
            end: match is_word {
                true => value.len(),
                false => inside(span.end),
            },
            ..span
        });
        spans.filter(|span| span.start < span.end).collect()
    }

    fn hits(&self, text: &[u8], spans: &[Span]) -> Vec<Hit> {
        let (mut line, mut counted) = (1, 0);
        let hit = |span: &Span| {
            let before = text.get(counted..span.start).unwrap_or_default();
            line += lines(before);
            counted = span.start;
            let taken = text.get(span.start..span.end).unwrap_or_default();
            self.hit(span.pattern, line, String::new(), taken)
        };
        spans.iter().map(hit).collect()
    }

    fn hit(&self, pattern: usize, line: u64, field: String, taken: &[u8]) -> Hit {
        let kind = self.0.patterns.get(pattern);
        Hit {
            kind: kind.map_or_else(|| "".into(), |pattern| Arc::clone(&pattern.kind)),
            line,
            field,
            secret: String::from_utf8_lossy(taken).into(),
        }
    }
}

/// A text in which NUL ends a line, as it does in the environment of a process.
fn in_lines(text: &[u8]) -> Cow<'_, [u8]> {
    match text.contains(&0) {
        false => Cow::Borrowed(text),
        true => {
            let lines = text.iter();
            Cow::Owned(
                lines
                    .map(|byte| if *byte == 0 { b'\n' } else { *byte })
                    .collect(),
            )
        }
    }
}

/// What keys have that are labels, all at once. They are of ASCII, in any case.
fn key_set<'a>(keys: impl Iterator<Item = &'a str>) -> Option<RegexSet> {
    let mut set = RegexSetBuilder::new(keys);
    set.unicode(false).dfa_size_limit(KEY_BYTES).build().ok()
}

/// Takes secrets out until none is found: where one is gone, what was around it may be read in
/// another way. Each time has as many lines as before.
fn until_nothing_is_found<'t>(
    text: &'t str,
    redact: impl for<'r> Fn(&'r str) -> Redacted<Cow<'r, str>>,
) -> Redacted<Cow<'t, str>> {
    let mut redacted = redact(text);
    for _ in 0..MOST_TIMES {
        if redacted.hits.is_empty() {
            break;
        }
        let Redacted { content, hits } = redact(&redacted.content);
        if hits.is_empty() {
            break;
        }
        let content = content.into_owned();
        redacted.content = Cow::Owned(content);
        redacted.hits.extend(hits);
    }
    redacted
}

fn untouched<T>(content: T) -> Redacted<T> {
    let hits = Vec::new();
    Redacted { content, hits }
}

/// How many lines end in a text.
fn lines(text: &[u8]) -> u64 {
    text.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Spans in order. Those that overlap are one, by the name of that which begins
/// first, or is first in the set.
fn joined(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| (span.start, span.pattern, span.end));
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match joined.last_mut() {
            Some(last) if span.start < last.end => last.end = last.end.max(span.end),
            _ => joined.push(span),
        }
    }
    joined
}

/// The character's beginning that an offset is in.
fn floor(text: &str, mut offset: usize) -> usize {
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    offset
}

/// The character's end that an offset is in.
fn ceil(text: &str, mut offset: usize) -> usize {
    while offset < text.len() && !text.is_char_boundary(offset) {
        offset += 1;
    }
    offset
}

#[cfg(test)]
mod tests;
