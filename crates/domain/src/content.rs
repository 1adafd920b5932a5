//! Content that comes with a command and stays in the log: diffs, reports, outputs, what was seen.

use std::collections::BTreeSet;
use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Refusal;
use crate::refusal::not_blank;

/// Bytes of a part's name and of its MIME type, at most.
const LONGEST_NAME: usize = 255;
/// Parts of one command, at most. An event holds 10,000 pieces, and a part takes four.
const MOST_PARTS: usize = 1_000;

/// Content given with a command: a JSON text, or, for bytes that are not UTF-8,
/// `{"base64": "..."}` or `{"hex": "..."}`.
///
/// ```
/// use annals_domain::Payload;
/// let text: Payload = serde_json::from_str(r#""ok\n""#)?;
/// let bytes: Payload = serde_json::from_str(r#"{"base64": "b2sK"}"#)?;
/// assert_eq!(text, bytes);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Payload(pub Vec<u8>);

impl Payload {
    /// The MIME type of content that nothing else is known of.
    pub fn likely_type(&self) -> &'static str {
        match std::str::from_utf8(&self.0) {
            Ok(_) => "text/plain; charset=utf-8",
            Err(_) => "application/octet-stream",
        }
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.0.len())
    }
}

impl Serialize for Payload {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => serializer.collect_map([("hex", hex::encode(&self.0))]),
        }
    }
}

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Payload, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            deny_unknown_fields,
            expecting = "expected a text, {\"base64\": \"...\"} or {\"hex\": \"...\"}"
        )]
        enum Form {
            Text(String),
            Base64 { base64: String },
            Hex { hex: String },
        }
        match Form::deserialize(deserializer)? {
            Form::Text(text) => Ok(Payload(text.into_bytes())),
            Form::Hex { hex: digits } => hex::decode(digits).map(Payload).map_err(D::Error::custom),
            Form::Base64 { base64 } => {
                let bytes = STANDARD.decode(base64).map(Payload);
                bytes.map_err(|error| D::Error::custom(format!("invalid base64: {error}")))
            }
        }
    }
}

impl JsonSchema for Payload {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Payload".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "anyOf": [
            { "type": "string" },
            { "type": "object", "properties": { "base64": { "type": "string" } },
              "required": ["base64"], "additionalProperties": false },
            { "type": "object", "properties": { "hex": { "type": "string" } },
              "required": ["hex"], "additionalProperties": false },
        ] })
    }
}

/// One part of a report or of a tool's output, to be kept in this log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ContentPart {
    /// What it is called among the parts of its object: `stdout`, `junit.xml`; not blank.
    #[setters(skip)]
    pub name: String,
    /// The MIME type, without a `name`; left out, `text/plain; charset=utf-8` for UTF-8 and
    /// `application/octet-stream` for other bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The content: a text, or `{"base64": "..."}`.
    #[setters(skip)]
    pub content: Payload,
}

impl ContentPart {
    /// A part of what is known to be text, or not.
    pub fn new(name: impl Into<String>, content: impl Into<Vec<u8>>) -> ContentPart {
        ContentPart {
            name: name.into(),
            content_type: None,
            content: Payload(content.into()),
        }
    }

    /// The MIME type that is stored, which has the name as its parameter, so that the name goes
    /// wherever the reference goes.
    pub fn named_type(&self) -> String {
        let content_type = self.content_type.as_deref();
        let content_type = content_type.unwrap_or_else(|| self.content.likely_type());
        let name = self.name.replace('\\', "\\\\").replace('"', "\\\"");
        format!("{content_type}; name=\"{name}\"")
    }

    fn check(&self, field: &'static str) -> Result<(), Refusal> {
        not_blank(field, &self.name)?;
        check_line(field, "a name", &self.name)?;
        let Some(content_type) = &self.content_type else {
            return Ok(());
        };
        not_blank(field, content_type)?;
        check_line(field, "a content type", content_type)?;
        let mut parameters = content_type.split(';').skip(1);
        if parameters.any(|text| text.trim().to_ascii_lowercase().starts_with("name=")) {
            let reason = "a content type must not have a name: the part's name is added to it";
            return Err(Refusal::invalid(field, reason));
        }
        Ok(())
    }
}

fn check_line(field: &'static str, what: &str, text: &str) -> Result<(), Refusal> {
    if text.len() > LONGEST_NAME || text.chars().any(char::is_control) {
        let reason = format!(
            "{what} is one line of at most {LONGEST_NAME} bytes, and {} bytes were given",
            text.len()
        );
        return Err(Refusal::invalid(field, reason));
    }
    Ok(())
}

/// Checks that each part has a name of its own, and that they fit into an event.
pub(crate) fn check_parts(field: &'static str, parts: &[ContentPart]) -> Result<(), Refusal> {
    if parts.len() > MOST_PARTS {
        let reason = format!(
            "at most {MOST_PARTS} parts fit, and {} were given",
            parts.len()
        );
        return Err(Refusal::invalid(field, reason));
    }
    let mut names = BTreeSet::new();
    for part in parts {
        part.check(field)?;
        if !names.insert(part.name.as_str()) {
            let reason = format!("two parts have the name {:?}", part.name);
            return Err(Refusal::invalid(field, reason));
        }
    }
    Ok(())
}

/// The name in a MIME type that [`ContentPart::named_type`] made.
///
/// ```
/// use annals_domain::{ContentPart, part_name};
/// let part = ContentPart::new("std\"out", "ok");
/// assert_eq!(part_name(&part.named_type()).as_deref(), Some("std\"out"));
/// assert_eq!(part_name("text/plain"), None);
/// ```
pub fn part_name(content_type: &str) -> Option<String> {
    let (_, quoted) = content_type.rsplit_once("; name=\"")?;
    let quoted = quoted.strip_suffix('"')?;
    let mut name = String::new();
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => name.push(characters.next()?),
            '"' => return None,
            other => name.push(other),
        }
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_text_base64_or_hex() {
        let good = [
            r#""a\u0000b""#,
            r#"{"base64":"YQBi"}"#,
            r#"{"hex":"610062"}"#,
        ];
        for json in good {
            let read: Payload = serde_json::from_str(json).expect(json);
            assert_eq!(read, Payload(b"a\0b".to_vec()), "{json}");
        }
        let bad = [
            r#"{"base64":"*"}"#,
            r#"{"hex":"6"}"#,
            r#"{"base64":"YQ==","hex":"61"}"#,
            "7",
            "{}",
        ];
        for json in bad {
            assert!(serde_json::from_str::<Payload>(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_parts_name_goes_with_its_type_and_comes_back() {
        for name in ["stdout", "a; name=\"b", "back\\slash", "größe.xml", "\""] {
            let part = ContentPart::new(name, "x");
            assert_eq!(part_name(&part.named_type()).as_deref(), Some(name));
        }
        let typed = ContentPart {
            content_type: Some("application/xml".into()),
            ..ContentPart::new("junit.xml", "<x/>")
        };
        assert_eq!(typed.named_type(), "application/xml; name=\"junit.xml\"");
    }
}
