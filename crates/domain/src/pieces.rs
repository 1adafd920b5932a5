//! Content beside the structure: numbered pieces that can be removed.
//!
//! An event's structure holds what a fold needs. Prompts, summaries, paths,
//! arguments and other free text are *pieces*: the structure only holds their
//! numbers ([`Slot`]). `evolve` is given the structure and never the pieces, so
//! that removing content cannot change any fold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Ordered;

/// The number of a piece of content within its event, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Slot(pub u16);

/// One piece of content as a decider gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPiece {
    /// The content.
    pub bytes: Vec<u8>,
    /// Whether readers fetch it only when asked for by name (a diff, a report)
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

    /// Adds free JSON as its own text.
    pub fn json(&mut self, json: &Json) -> Slot {
        self.text(json.text())
    }

    /// Adds free JSON if there is any.
    pub fn optional_json(&mut self, json: Option<&Json>) -> Option<Slot> {
        json.map(|json| self.json(json))
    }

    /// Adds content that readers fetch only when asked for by name.
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
}

/// Free JSON, kept as the text it came as: key order, number forms and all.
///
/// ```
/// use annals_domain::Json;
/// let json: Json = serde_json::from_str(r#"{"b": 1.50, "a": 2}"#)?;
/// assert_eq!(json.text(), r#"{"b": 1.50, "a": 2}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Reads JSON from its text.
    ///
    /// # Errors
    /// serde_json's, when the text is not JSON.
    pub fn parse(text: &str) -> Result<Json, serde_json::Error> {
        Ok(Json(serde_json::from_str(text)?))
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

    /// Its members in their order, if it is an object.
    pub fn members(&self) -> Option<Ordered<Json>> {
        serde_json::from_str(self.text()).ok()
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
