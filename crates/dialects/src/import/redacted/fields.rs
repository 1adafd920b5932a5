//! The fields of a JSON object, each as it is written, and of a text without secrets those without secrets.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::RedactedText;

/// The fields of a JSON object, by their names.
#[derive(Debug)]
pub struct JsonFields<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> JsonFields<'a> {
    /// The fields of a text that is one object.
    ///
    /// # Errors
    /// Those of JSON that cannot be read, or is something else.
    pub fn read(text: &'a str) -> serde_json::Result<JsonFields<'a>> {
        serde_json::from_str(text).map(JsonFields)
    }

    /// A value as it is written; nothing, where it is null.
    pub fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let raw = self.0.get(name).copied()?;
        (raw.get() != "null").then_some(raw)
    }

    /// A text with something in it, or the first text of a list.
    pub fn text(&self, name: &str) -> Option<String> {
        let raw = self.raw(name)?.get();
        let text = serde_json::from_str(raw).ok().or_else(|| {
            let list: Vec<String> = serde_json::from_str(raw).ok()?;
            list.into_iter().next()
        })?;
        Some(text).filter(|text: &String| !text.trim().is_empty())
    }
}

/// The fields of a JSON object without its secrets, by their names.
#[derive(Debug)]
pub struct RedactedFields<'a>(JsonFields<'a>);

impl RedactedText {
    /// The fields of a text that is one JSON object.
    ///
    /// # Errors
    /// Those of JSON that cannot be read, or is something else.
    pub fn fields(&self) -> serde_json::Result<RedactedFields<'_>> {
        JsonFields::read(&self.0).map(RedactedFields)
    }
}

impl RedactedFields<'_> {
    /// A value as JSON; nothing, where it is null.
    pub fn json(&self, name: &str) -> Option<RedactedText> {
        let raw = self.0.raw(name)?;
        Some(RedactedText(raw.get().to_owned()))
    }

    /// A text with something in it, or the first text of a list.
    pub fn text(&self, name: &str) -> Option<RedactedText> {
        self.0.text(name).map(RedactedText)
    }

    /// A value for people: a text as it is, and all else as JSON.
    pub fn shown(&self, name: &str) -> Option<RedactedText> {
        let json = self.json(name)?;
        let text = serde_json::from_str(&json).ok().map(RedactedText);
        Some(text.unwrap_or(json))
    }

    /// The names of the fields, in their order.
    pub fn names(&self) -> impl Iterator<Item = RedactedText> {
        self.0.0.keys().cloned().map(RedactedText)
    }
}
