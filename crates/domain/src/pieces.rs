//! Content outside of an event's structure: numbered pieces that can be removed.
//!
//! An event's structure holds what a fold needs. Prompts, summaries, paths,
//! arguments and other free text are *pieces*: the structure only holds their
//! numbers ([`Slot`]). `evolve` is given the structure and never the pieces, so
//! that removing them cannot change any fold. Only names, which rules compare, are
//! pieces that a fold sees ([`crate::AnyEvent::each_name`]).

use std::fmt;

use schemars::JsonSchema;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::Ordered;

/// The number of a piece of content within its event, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(pub u16);

impl JsonSchema for Slot {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        content_schema(
            "text",
            "A text.",
            &schemars::json_schema!({ "type": "string" }),
        )
    }
}

/// In schemas a [`Slot`] whose piece is free JSON: `#[schemars(with = "JsonPiece")]`.
pub(crate) enum JsonPiece {}

impl JsonSchema for JsonPiece {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        content_schema("JSON", "Free JSON.", &true.into())
    }
}

/// In schemas a [`Slot`] whose piece is an attachment: bytes that readers fetch only when they
/// request them by name. `#[schemars(with = "BytesPiece")]`.
pub(crate) enum BytesPiece {}

impl JsonSchema for BytesPiece {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Bytes".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        content_schema("bytes", "Bytes, which are fetched by name.", &false.into())
    }
}

/// A piece where events are shown: itself, or what is said of one that is fetched by name or that
/// was removed.
fn content_schema(title: &str, meaning: &str, itself: &schemars::Schema) -> schemars::Schema {
    schemars::json_schema!({
        "title": title,
        "description": meaning,
        "x-part": "content",
        "anyOf": [
            itself,
            { "type": "object", "description": "Content that is fetched by name.",
              "properties": { "digest": { "type": "string" }, "size": { "type": "integer" } },
              "required": ["digest", "size"] },
            { "type": "object", "description": "Content that was removed.",
              "properties": { "removed": { "const": true } }, "required": ["removed"] },
        ],
    })
}

/// One piece of content as a decider gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPiece {
    /// The content.
    pub bytes: Vec<u8>,
    /// Whether readers fetch it only when they request it by name (a diff, a report)
    /// and not as part of the event.
    pub attachment: bool,
}

/// The pieces of one event, collected while its structure is built.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pieces {
    list: Vec<NewPiece>,
}

impl Pieces {
    /// No pieces yet.
    pub fn new() -> Pieces {
        Pieces::default()
    }

    fn push(&mut self, bytes: Vec<u8>, attachment: bool) -> Slot {
        // More than 65,535 pieces cannot be appended: the log allows 10,000 an
        // event and refuses the batch. The number saturates until then.
        let slot = Slot(u16::try_from(self.list.len()).unwrap_or(u16::MAX));
        self.list.push(NewPiece { bytes, attachment });
        slot
    }

    /// Adds a text.
    pub fn text(&mut self, text: impl Into<String>) -> Slot {
        self.push(text.into().into_bytes(), false)
    }

    /// Adds a text if there is one.
    pub fn optional_text(&mut self, text: Option<&str>) -> Option<Slot> {
        text.map(|text| self.text(text))
    }

    /// Adds each of several texts.
    pub fn texts<T: AsRef<str>>(&mut self, texts: &[T]) -> Vec<Slot> {
        texts.iter().map(|text| self.text(text.as_ref())).collect()
    }

    /// Adds free JSON in its [compact](Json::compact) form: the same that it has after an export
    /// and an import, so that hashes of it stay the same.
    pub fn json(&mut self, json: &Json) -> Slot {
        self.text(json.compact_text())
    }

    /// Adds free JSON if there is any.
    pub fn optional_json(&mut self, json: Option<&Json>) -> Option<Slot> {
        json.map(|json| self.json(json))
    }

    /// Adds content that readers fetch only when they request it by name.
    pub fn attachment(&mut self, bytes: Vec<u8>) -> Slot {
        self.push(bytes, true)
    }

    /// The pieces, by their numbers.
    pub fn into_list(self) -> Vec<NewPiece> {
        self.list
    }

    /// The pieces, by their numbers.
    pub fn list(&self) -> &[NewPiece] {
        &self.list
    }

    /// The text of a piece; `None` if there is no such piece, or it is not text.
    pub(crate) fn text_of(&self, slot: Slot) -> Option<String> {
        let piece = self.list().get(usize::from(slot.0))?;
        String::from_utf8(piece.bytes.clone()).ok()
    }
}

/// Free JSON as the text it came as: key order, number forms and all. It is stored in its
/// compact form ([`Json::compact`]). Where it comes within other JSON, such as a command's, it must be readable
/// ([`Json::readable`]) and at most 120 levels deep: a view has it some levels deeper,
/// and most readers take 127.
///
/// ```
/// use annals_domain::Json;
/// let json: Json = serde_json::from_str(r#"{"b": 1.50, "a": 2}"#)?;
/// assert_eq!(json.text(), r#"{"b": 1.50, "a": 2}"#);
/// // Half of a surrogate pair of UTF-16 is not a character.
/// assert!(serde_json::from_str::<Json>(r#""cut \ud83d""#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Reads JSON from its text. It need not be readable.
    ///
    /// # Errors
    /// serde_json's, when the text has not the form of JSON.
    pub fn parse(text: &str) -> Result<Json, serde_json::Error> {
        Ok(Json(serde_json::from_str(text)?))
    }

    /// Reads JSON that every reader takes: each text is Unicode, each number within the
    /// range of a 64-bit one, and nothing is nested deeper than 127.
    ///
    /// # Errors
    /// serde_json's, when the text is not such JSON.
    pub fn readable(text: &str) -> Result<Json, serde_json::Error> {
        serde_json::from_str::<Depth>(text)?;
        Json::parse(text)
    }

    /// JSON from a value.
    ///
    /// # Errors
    /// serde_json's, when the value has a map whose keys are not texts.
    pub fn from_value<T: Serialize>(value: &T) -> Result<Json, serde_json::Error> {
        Ok(Json(serde_json::value::to_raw_value(value)?))
    }

    /// The text.
    pub fn text(&self) -> &str {
        self.0.get()
    }

    /// The same without white space between its tokens; numbers, strings and the order of members
    /// stay as they are written.
    ///
    /// ```
    /// use annals_domain::Json;
    /// let json = Json::parse("{ \"b\" : 1.50,\n\"a\": \"x \\\" y\" }")?;
    /// assert_eq!(json.compact().text(), r#"{"b":1.50,"a":"x \" y"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn compact(&self) -> Json {
        match RawValue::from_string(self.compact_text()) {
            Ok(compact) => Json(compact),
            // Without white space JSON is JSON.
            Err(_) => self.clone(),
        }
    }

    fn compact_text(&self) -> String {
        let mut out = String::with_capacity(self.text().len());
        let (mut in_string, mut escaped) = (false, false);
        for c in self.text().chars() {
            if in_string {
                out.push(c);
                in_string = escaped || c != '"';
                escaped = !escaped && c == '\\';
            } else if !c.is_ascii_whitespace() {
                out.push(c);
                in_string = c == '"';
            }
        }
        out
    }

    /// Its members in their order, if it is an object.
    pub fn members(&self) -> Option<Ordered<Json>> {
        serde_json::from_str(self.text()).ok()
    }
}

/// Levels of JSON within other JSON.
const MOST_LEVELS: usize = 120;

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Json, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let Depth(depth) = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
        if depth > MOST_LEVELS {
            let error = format!("it is nested {depth} deep, and the most is {MOST_LEVELS}");
            return Err(D::Error::custom(error));
        }
        Ok(Json(raw))
    }
}

/// How deep JSON is nested; what has none has a depth of 0. A raw value is only known
/// to have its form: this reads all of it, and keeps nothing.
struct Depth(usize);

impl<'de> Deserialize<'de> for Depth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Depth, D::Error> {
        deserializer.deserialize_any(Depth(0))
    }
}

impl<'de> Visitor<'de> for Depth {
    type Value = Depth;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Depth, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Depth, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Depth, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Depth, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Depth, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Depth, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Depth, A::Error> {
        let mut most = 0;
        while let Some(Depth(depth)) = items.next_element()? {
            most = most.max(depth);
        }
        Ok(Depth(most + 1))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Depth, A::Error> {
        let mut most = 0;
        while let Some((Depth(_), Depth(depth))) = members.next_entry()? {
            most = most.max(depth);
        }
        Ok(Depth(most + 1))
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Json) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Json {}

impl JsonSchema for Json {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Json".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_what_every_reader_takes() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let good = [
            "null",
            "-0.0",
            "1e308",
            "18446744073709551615",
            "123456789012345678901234567890",
            r#""\ud83d\ude00 \u0000""#,
            r#"{"a": [true, {"": 1}], "a": "again"}"#,
            &nested(120),
        ];
        for text in good {
            let parsed = Json::readable(text).expect(text);
            assert_eq!(parsed.text(), text);
            let read: Json = serde_json::from_str(text).expect(text);
            assert_eq!(read, parsed);
        }
        let bad = [
            "1e999",
            r#""cut \ud83d""#,
            r#""\udc00\ud83d""#,
            r#"{"\ud83d": 1}"#,
            &nested(128),
            &nested(100_000),
        ];
        for text in bad {
            assert!(Json::parse(text).is_ok(), "it has the form: {text:.40}");
            assert!(Json::readable(text).is_err(), "{text:.40}");
            assert!(serde_json::from_str::<Json>(text).is_err(), "{text:.40}");
        }
        for text in ["", "{", "01"] {
            assert!(Json::parse(text).is_err(), "{text}");
        }
        let deep = nested(121);
        assert!(Json::readable(&deep).is_ok());
        let error = serde_json::from_str::<Json>(&deep).expect_err("too deep");
        let says = "it is nested 121 deep, and the most is 120";
        assert!(error.to_string().starts_with(says), "{error}");
        let least = format!(r#"{{"b": [], "a": {}}}"#, nested(119));
        assert!(serde_json::from_str::<Json>(&least).is_ok());
    }
}
