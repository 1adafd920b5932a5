//! Text without its secrets, as a type: parsers and what is told of sessions that go on take nothing else, and only
//! this module makes it: by looking for secrets, and of parts of what was looked through.

mod fields;

use std::borrow::Cow;
use std::ops::Deref;

use memchr::memmem;
use serde::{Serialize, Serializer};
use uuid::Uuid;

pub use self::fields::{JsonFields, RedactedFields};
use crate::secrets::{Hit, KeyLines, Redacted, Secrets};

/// Text that was looked through for secrets before anything else read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedText(String);

/// Bytes that are not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not UTF-8 from byte {byte} on")]
pub struct NotUtf8 {
    /// The first byte that is not, from 1.
    byte: usize,
}

impl RedactedText {
    /// JSON without its secrets, and the secrets that it had.
    ///
    /// # Errors
    /// [`NotUtf8`].
    pub fn json(bytes: Vec<u8>, secrets: &Secrets) -> Result<(RedactedText, Vec<Hit>), NotUtf8> {
        match RedactedLine::of(bytes, secrets) {
            Ok(line) => Ok((line.text, line.hits)),
            Err((error, _)) => Err(error),
        }
    }

    /// Plain text without its secrets, and the secrets that it had.
    pub fn plain(text: &str, secrets: &Secrets) -> (RedactedText, Vec<Hit>) {
        let Redacted { content, hits } = secrets.redact(text);
        (RedactedText(content.into_owned()), hits)
    }

    /// A part of it: its beginning, say, or what is between its spaces.
    #[must_use]
    pub fn part(&self, part: impl for<'t> FnOnce(&'t str) -> &'t str) -> RedactedText {
        RedactedText(part(&self.0).to_owned())
    }

    /// Texts behind each other, with something between each two.
    pub fn joined(parts: &[RedactedText], between: &'static str) -> RedactedText {
        let parts: Vec<&str> = parts.iter().map(RedactedText::as_str).collect();
        RedactedText(parts.join(between))
    }

    /// A line that is not JSON, without the secrets of any text, and those secrets: a line of a private key,
    /// too, that lines before it began. Nothing, if a secret could not be seen in it: some write each character
    /// with a NUL next to it.
    pub(crate) fn not_json(
        &self,
        keys: &mut KeyLines,
        secrets: &Secrets,
    ) -> Option<(RedactedText, Vec<Hit>)> {
        if self.0.contains('\0') {
            return None;
        }
        let line = secrets.redact_line(keys, "", &self.0);
        let (line, mut hits) = match &line {
            Some(Redacted { content, hits }) => (content.as_ref(), hits.clone()),
            None => (self.0.as_str(), Vec::new()),
        };
        let (text, found) = RedactedText::plain(line, secrets);
        hits.extend(found);
        Some((text, hits))
    }

    /// Whether it is one JSON object or list.
    pub(crate) fn is_json_of_parts(&self) -> bool {
        self.0.trim_start().starts_with(['{', '[']) && self.is_json()
    }

    /// Whether it is one JSON value.
    pub fn is_json(&self) -> bool {
        serde_json::from_str::<serde::de::IgnoredAny>(&self.0).is_ok()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text.
    pub fn into_string(self) -> String {
        self.0
    }

    /// A JSON text with U+FFFD for every half of a surrogate pair. JavaScript
    /// writes such halves where it cuts a text within a character.
    pub fn whole_characters(self) -> RedactedText {
        RedactedText(whole_characters(&self.0).unwrap_or(self.0))
    }

    /// Returns `true` if [`RedactedText::whole_characters`] replaces something.
    pub(crate) fn has_half_characters(&self) -> bool {
        whole_characters(&self.0).is_some()
    }
}

/// A line without its secrets.
pub(crate) struct RedactedLine {
    pub(crate) text: RedactedText,
    /// The secrets that it had.
    pub(crate) hits: Vec<Hit>,
    /// The line as it was, if it had secrets.
    before: Option<String>,
}

impl RedactedLine {
    /// A line of JSON without its secrets; the line as it was, if it is not text.
    pub(crate) fn of(
        bytes: Vec<u8>,
        secrets: &Secrets,
    ) -> Result<RedactedLine, (NotUtf8, Vec<u8>)> {
        let text = String::from_utf8(bytes).map_err(|error| {
            let byte = error.utf8_error().valid_up_to() + 1;
            (NotUtf8 { byte }, error.into_bytes())
        })?;
        let Redacted { content, hits } = secrets.redact_json(&text);
        let (text, before) = match content {
            Cow::Owned(content) => (content, Some(text)),
            Cow::Borrowed(_) => (text, None),
        };
        Ok(RedactedLine {
            text: RedactedText(text),
            hits,
            before,
        })
    }

    /// The line's bytes as they were, for another look at them. They have secrets.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.before.unwrap_or(self.text.0).into_bytes()
    }
}

/// What this program says itself, which knows no secrets.
impl From<&'static str> for RedactedText {
    fn from(text: &'static str) -> RedactedText {
        RedactedText(text.to_owned())
    }
}

/// A name that this program gave.
impl From<Uuid> for RedactedText {
    fn from(name: Uuid) -> RedactedText {
        RedactedText(name.to_string())
    }
}

/// How many there are of something.
impl From<u64> for RedactedText {
    fn from(number: u64) -> RedactedText {
        RedactedText(number.to_string())
    }
}

/// It reads as any text does. There is no way back: what is made of the text is none of its own kind.
impl Deref for RedactedText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

/// What is read again is looked through again: there is no `Deserialize`.
impl Serialize for RedactedText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// The text with whole characters alone; nothing, if it has no others.
pub(super) fn whole_characters(text: &str) -> Option<String> {
    let is_escape = |at: usize, halves: [u8; 2]| {
        let Some([b'\\', b'u', d, half, rest @ ..]) = text.as_bytes().get(at..at + 6) else {
            return false;
        };
        d.eq_ignore_ascii_case(&b'd')
            && (halves[0]..=halves[1]).contains(&half.to_ascii_lowercase())
            && rest.iter().all(u8::is_ascii_hexdigit)
    };
    let (high, low) = ([b'8', b'b'], [b'c', b'f']);
    let has = |escape: &[u8]| memmem::find(text.as_bytes(), escape).is_some();
    if !has(br"\ud") && !has(br"\uD") {
        return None;
    }
    let mut whole = String::new();
    let mut rest = 0;
    let mut at = 0;
    while let Some(found) = text.get(at..).and_then(|left| left.find('\\')) {
        at += found;
        if is_escape(at, high) && is_escape(at + 6, low) {
            at += 12;
        } else if is_escape(at, high) || is_escape(at, low) {
            whole.push_str(text.get(rest..at).unwrap_or_default());
            whole.push_str("\\ufffd");
            at = (at + 6).min(text.len());
            rest = at;
        } else {
            at += 2;
        }
    }
    if rest == 0 {
        return None;
    }
    whole.push_str(text.get(rest..).unwrap_or_default());
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_characters_are_replaced() {
        let whole = |text: &str| {
            RedactedText(text.to_owned())
                .whole_characters()
                .into_string()
        };
        assert_eq!(whole(r#""a\ud83d\ude00""#), r#""a\ud83d\ude00""#);
        assert_eq!(whole(r#""a\ud83d""#), r#""a\ufffd""#);
        assert_eq!(whole(r#""\uDE00\ud83dx""#), r#""\ufffd\ufffdx""#);
        // A backslash that is escaped begins nothing.
        assert_eq!(whole(r#""\\ud83d""#), r#""\\ud83d""#);
        assert_eq!(whole("\\ud8\\"), "\\ud8\\");
    }
}
