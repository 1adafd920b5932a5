//! Secrets in the strings of a JSON text.
//!
//! The text is walked once, string by string, and only what a secret takes is
//! replaced: numbers, spaces, other escapes and what is not JSON stay to the byte. A
//! string is searched as its reader will see it; a key may be the label of its value.

use std::borrow::Cow;
use std::sync::Arc;

use super::key::{self, KeyLines};
use super::{
    Hit, Label, Redacted, Search, Secrets, Span, encoded, joined, lines, until_nothing_is_found,
    untouched, veiled,
};

/// How deep JSON within JSON is looked through.
const MOST_WITHIN: usize = 3;
/// Bytes of a word before a secret in a list.
const MOST_SCHEME: usize = 16;

/// How deep containers are told apart in paths. What is deeper is searched too.
const MOST_DEPTH: usize = 256;

/// A container that is open.
enum Open {
    Object {
        key: Arc<Label>,
        is_key_next: bool,
        /// What `name` or `key` has in it, which is the label of `value`.
        name: Label,
    },
    Array {
        index: usize,
        /// The string before, which may be the scheme of the next one.
        before: String,
    },
}

impl Secrets {
    /// Takes the secrets out of the strings and keys of a JSON text, as they are
    /// without escapes. From the first byte that is not JSON on, the text is left as it is.
    pub fn redact_json<'t>(&self, text: &'t str) -> Redacted<Cow<'t, str>> {
        let search = Search {
            veiled: veiled::may_be(text.as_bytes()),
            encoded: encoded::may_be(text.as_bytes()),
        };
        if self.is_none() {
            return untouched(Cow::Borrowed(text));
        }
        until_nothing_is_found(text, |text| redact_at(self, search, text, 0))
    }
}

/// Takes the secrets out of a text that is so deep in other JSON.
fn redact_at<'t>(
    secrets: &Secrets,
    search: Search,
    text: &'t str,
    depth: usize,
) -> Redacted<Cow<'t, str>> {
    let mut walk = Walk {
        secrets,
        search,
        depth,
        text,
        open: Vec::new(),
        deeper: 0,
        line: 1,
        key_in: None,
        out: String::new(),
        copied: 0,
        hits: Vec::new(),
    };
    walk.all();
    if walk.hits.is_empty() {
        return Redacted {
            content: Cow::Borrowed(text),
            hits: Vec::new(),
        };
    }
    walk.out
        .push_str(text.get(walk.copied..).unwrap_or_default());
    Redacted {
        content: Cow::Owned(walk.out),
        hits: walk.hits,
    }
}

struct Walk<'a, 't> {
    secrets: &'a Secrets,
    search: Search,
    /// How deep this is in other JSON.
    depth: usize,
    text: &'t str,
    open: Vec<Open>,
    /// Containers beyond [`MOST_DEPTH`].
    deeper: usize,
    line: u64,
    /// The depth of the list that has a private key over many strings, and how far it
    /// is.
    key_in: Option<(usize, KeyLines)>,
    out: String,
    copied: usize,
    hits: Vec<Hit>,
}

impl Walk<'_, '_> {
    fn all(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            at += 1;
            match byte {
                b'\n' => self.line += 1,
                b'{' => self.begin(Open::Object {
                    key: Arc::default(),
                    is_key_next: true,
                    name: Label::default(),
                }),
                b'[' => self.begin(Open::Array {
                    index: 0,
                    before: String::new(),
                }),
                b'}' | b']' => self.end(),
                b',' => self.next(),
                b'"' => {
                    let end = string_end(bytes, at);
                    self.string(at, end);
                    self.line += lines(bytes.get(at..end).unwrap_or_default());
                    at = end + 1;
                }
                _ => {}
            }
        }
    }

    fn begin(&mut self, container: Open) {
        if self.open.len() < MOST_DEPTH {
            self.open.push(container);
        } else {
            self.deeper += 1;
        }
    }

    fn end(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else {
            self.open.pop();
        }
        // The list is over, and what was begun in it.
        let depth = self.open.len();
        self.key_in.take_if(|(list, _)| *list > depth);
    }

    fn next(&mut self) {
        match self.open.last_mut() {
            Some(_) if self.deeper > 0 => {}
            Some(Open::Object { is_key_next, .. }) => *is_key_next = true,
            Some(Open::Array { index, .. }) => *index += 1,
            None => {}
        }
    }

    /// Looks through the string between two offsets.
    fn string(&mut self, start: usize, end: usize) {
        let raw = self.text.get(start..end).unwrap_or_default();
        let is_key = self.deeper == 0
            && matches!(
                self.open.last(),
                Some(Open::Object {
                    is_key_next: true,
                    ..
                })
            );
        if is_key && let Some(known) = self.secrets.plain_key(raw) {
            return self.begin_value(known);
        }
        let string = Unescaped::of(raw);
        let spans = self.spans(&string.text, is_key);
        if is_key {
            let key = self.redacted_key(&string.text, &spans);
            let key = Arc::new(self.secrets.label(key));
            if spans.is_empty() && raw == string.text {
                self.secrets.keep_plain_key(&key);
            }
            self.begin_value(key);
        }
        if !is_key {
            self.name(&string.text);
        }
        if let Some(json) = self.within(&string.text, &spans) {
            self.replace(start, end, &json);
            return;
        }
        for span in spans {
            let taken = string.text.get(span.start..span.end).unwrap_or_default();
            let line_ends = taken.bytes().filter(|byte| *byte == b'\n').count();
            let from = start + string.raw(span.start);
            let to = start + string.raw(span.end);
            let before = self.text.get(self.copied..from).unwrap_or_default();
            self.out.push_str(before);
            self.out.push_str(self.secrets.marker(span.pattern));
            self.out.push_str(&"\\n".repeat(line_ends));
            self.copied = to;
            let path = self.path();
            let hit = self
                .secrets
                .hit(span.pattern, self.line, path, taken.as_bytes());
            self.hits.push(hit);
        }
    }

    /// Makes a key that of the next value.
    fn begin_value(&mut self, next: Arc<Label>) {
        if let Some(Open::Object {
            key, is_key_next, ..
        }) = self.open.last_mut()
        {
            *key = next;
            *is_key_next = false;
        }
    }

    /// The text of a string that is JSON itself, without the secrets that only its own escapes
    /// hide; nothing where there are none.
    fn within(&mut self, text: &str, spans: &[Span]) -> Option<String> {
        let is_json = text.contains('\\') && text.trim_start().starts_with(['{', '[']);
        if !is_json || self.depth >= MOST_WITHIN {
            return None;
        }
        let plain = self.secrets.without(text, spans.to_vec());
        let within = redact_at(self.secrets, self.search, &plain.content, self.depth + 1);
        if within.hits.is_empty() {
            return None;
        }
        for hit in plain.hits.into_iter().chain(within.hits) {
            let (line, field) = (self.line, self.path());
            self.hits.push(Hit { line, field, ..hit });
        }
        serde_json::to_string(&within.content).ok()
    }

    /// Puts JSON in the place of a string between two offsets, its quotes included.
    fn replace(&mut self, start: usize, end: usize, json: &str) {
        let before = self.text.get(self.copied..start.saturating_sub(1));
        self.out.push_str(before.unwrap_or_default());
        self.out.push_str(json);
        self.copied = (end + 1).min(self.text.len());
    }

    fn spans(&mut self, text: &str, is_key: bool) -> Vec<Span> {
        let mut spans = self.secrets.spans_of(text.as_bytes(), self.search);
        if !is_key {
            spans.extend(self.labelled(text));
            spans.extend(self.line_of_key(text));
        }
        let mut spans = joined(spans);
        for span in &mut spans {
            span.start = super::floor(text, span.start);
            span.end = super::ceil(text, span.end);
        }
        spans
    }

    /// What is found if the value follows its key, also where it is one of a list, or has a
    /// name of its own such as `value`.
    fn labelled(&mut self, text: &str) -> Vec<Span> {
        if self.deeper > 0 {
            return Vec::new();
        }
        let mut spans = Vec::new();
        let open = self.open.iter().rev();
        let mut scheme = "";
        for container in open {
            match container {
                Open::Array { before, .. } => {
                    scheme = before;
                    continue;
                }
                Open::Object { key, name, .. } => {
                    spans.extend(self.behind(key, scheme, text));
                    if !is_value(&key.text) {
                        break;
                    }
                    spans.extend(self.behind(name, scheme, text));
                }
            }
        }
        if let Some(Open::Array { before, .. }) = self.open.last_mut() {
            *before = if text.len() <= MOST_SCHEME {
                text.to_owned()
            } else {
                String::new()
            };
        }
        spans
    }

    /// What is found behind a label, with the word before it and without.
    fn behind(&self, label: &Label, scheme: &str, text: &str) -> Vec<Span> {
        let mut spans = self.secrets.behind(label, "", text);
        if !scheme.is_empty() {
            spans.extend(self.secrets.behind(label, scheme, text));
        }
        spans
    }

    /// Remembers a value that is the name of another one.
    fn name(&mut self, text: &str) {
        if self.deeper > 0 {
            return;
        }
        if let Some(Open::Object { key, name, .. }) = self.open.last_mut()
            && is_name(&key.text)
        {
            *name = self.secrets.label(text.to_owned());
        }
    }

    /// What is a line of a private key that an earlier string of the list began, or
    /// the same key of an earlier object of it.
    fn line_of_key(&mut self, text: &str) -> Option<Span> {
        let pattern = self.secrets.key_pattern()?;
        let (depth, field) = match self.open.as_slice() {
            _ if self.deeper > 0 => return None,
            [.., Open::Array { .. }] => (self.open.len(), ""),
            [.., Open::Array { .. }, Open::Object { key, .. }] => {
                (self.open.len() - 1, key.text.as_str())
            }
            _ => return None,
        };
        // A key of a list around this one goes on behind it.
        let key = self.key_in.take_if(|(list, _)| *list == depth);
        if key.is_none() && !key::may_begin(text) {
            return None;
        }
        let (_, mut lines) = key.unwrap_or_default();
        let found = lines.next(field, text);
        if lines.is_open() {
            self.key_in = Some((depth, lines));
        }
        let (start, end) = found?;
        Some(Span {
            start,
            end,
            pattern,
        })
    }

    fn redacted_key(&self, text: &str, spans: &[Span]) -> String {
        match spans {
            [] => text.to_owned(),
            [first, ..] => self.secrets.marker(first.pattern).to_owned(),
        }
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for container in &self.open {
            match container {
                Open::Object { key, .. } => {
                    if !path.is_empty() {
                        path.push('.');
                    }
                    path.push_str(&key.text);
                }
                Open::Array { index, .. } => path.push_str(&format!("[{index}]")),
            }
        }
        path
    }
}

/// Returns `true` if a key holds the name of the value next to it, as `name` does.
pub fn is_name(key: &str) -> bool {
    ["name", "key"]
        .iter()
        .any(|it| it.eq_ignore_ascii_case(key))
}

/// Returns `true` if a key holds a value whose name is next to it, as `value` does.
pub fn is_value(key: &str) -> bool {
    key.eq_ignore_ascii_case("value")
}

/// Where the string ends that begins at an offset: its closing quote, or the end of
/// the text.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// A string without escapes, and where its characters are.
struct Unescaped<'t> {
    text: Cow<'t, str>,
    /// Behind each escape: its offset without and with escapes.
    behind: Vec<(usize, usize)>,
}

impl<'t> Unescaped<'t> {
    fn of(raw: &'t str) -> Unescaped<'t> {
        let mut behind = Vec::new();
        if !raw.contains('\\') {
            let text = Cow::Borrowed(raw);
            return Unescaped { text, behind };
        }
        let (mut text, mut at) = (String::with_capacity(raw.len()), 0);
        while let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) {
            let plain = rest.find('\\').unwrap_or(rest.len());
            text.push_str(rest.get(..plain).unwrap_or_default());
            at += plain;
            let Some(escape) = raw.get(at..).filter(|rest| !rest.is_empty()) else {
                break;
            };
            let (character, length) = unescape(escape);
            text.push(character);
            at += length;
            behind.push((text.len(), at));
        }
        Unescaped {
            text: Cow::Owned(text),
            behind,
        }
    }

    /// Where an offset without escapes is with them.
    fn raw(&self, offset: usize) -> usize {
        let after = self.behind.partition_point(|(text, _)| *text <= offset);
        let last = after.checked_sub(1).and_then(|last| self.behind.get(last));
        let (text, raw) = last.copied().unwrap_or_default();
        raw + (offset - text)
    }
}

/// The character that a text's first escape stands for, and its length. Half of a
/// surrogate pair, and what is not an escape, becomes the replacement character.
fn unescape(text: &str) -> (char, usize) {
    let simple = |c: char| (c, 2);
    match text.as_bytes().get(1) {
        Some(b'n') => simple('\n'),
        Some(b't') => simple('\t'),
        Some(b'r') => simple('\r'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(byte @ (b'"' | b'\\' | b'/')) => simple(char::from(*byte)),
        Some(b'u') => hexadecimal(text),
        // The length is that of what is there.
        _ => {
            let next = text.chars().nth(1).map_or(0, char::len_utf8);
            (char::REPLACEMENT_CHARACTER, 1 + next)
        }
    }
}

fn hexadecimal(text: &str) -> (char, usize) {
    let half = |at: usize| {
        let digits = text.get(at..at + 4)?;
        let is_hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hexadecimal.then(|| u16::from_str_radix(digits, 16).ok())?
    };
    let Some(first) = half(2) else {
        return (char::REPLACEMENT_CHARACTER, 2);
    };
    let second = text
        .get(6..8)
        .filter(|escape| *escape == "\\u")
        .and_then(|_| half(8));
    let units = [first, second.unwrap_or_default()];
    match char::decode_utf16(units).next() {
        Some(Ok(character)) => (character, if character.len_utf16() == 2 { 12 } else { 6 }),
        Some(Err(_)) | None => (char::REPLACEMENT_CHARACTER, 6),
    }
}
