//! Content as a view shows it: there, or removed for good.

use std::fmt;

use annals_domain::{Json, REMOVED};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A text of an object.
///
/// It serialises as itself, or as `{"removed":true}`.
///
/// ```
/// use annals_projections::Text;
/// assert_eq!(serde_json::to_string(&Text::from("a"))?, r#""a""#);
/// assert_eq!(serde_json::to_string(&Text::Removed)?, r#"{"removed":true}"#);
/// assert_eq!(Text::Removed.to_string(), "[removed]");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Text {
    /// The text.
    Present(String),
    /// There was one; it was removed for good.
    Removed,
}

impl Text {
    /// The text, unless it was removed.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Text::Present(text) => Some(text),
            Text::Removed => None,
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text::Present(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text::Present(text)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str().unwrap_or(REMOVED))
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Text::Present(text) => serializer.serialize_str(text),
            Text::Removed => serialize_removed(serializer),
        }
    }
}

/// Free JSON of an object.
///
/// It serialises as the very text that it came as, or as `{"removed":true}`.
#[derive(Debug, Clone, PartialEq)]
pub enum JsonText {
    /// The JSON.
    Present(Json),
    /// There was some; it was removed for good.
    Removed,
}

impl JsonText {
    /// The JSON, unless it was removed.
    pub fn json(&self) -> Option<&Json> {
        match self {
            JsonText::Present(json) => Some(json),
            JsonText::Removed => None,
        }
    }

    /// Its text, unless it was removed.
    pub(crate) fn text(&self) -> Option<&str> {
        self.json().map(Json::text)
    }

    /// A field of it, if it is an object that has the field.
    pub(crate) fn field(&self, name: &str) -> Option<serde_json::Value> {
        let object: serde_json::Value = serde_json::from_str(self.json()?.text()).ok()?;
        object.get(name).cloned()
    }
}

impl fmt::Display for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.json().map_or(REMOVED, Json::text))
    }
}

impl Serialize for JsonText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            JsonText::Present(json) => json.serialize(serializer),
            JsonText::Removed => serialize_removed(serializer),
        }
    }
}

/// Content of a shape of its own: there, or removed for good.
///
/// It serialises as itself, or as `{"removed":true}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removable<T> {
    /// The content.
    Present(T),
    /// There was some; it was removed for good.
    Removed,
}

impl<T> Removable<T> {
    /// The content, unless it was removed.
    pub fn present(&self) -> Option<&T> {
        match self {
            Removable::Present(content) => Some(content),
            Removable::Removed => None,
        }
    }

    /// A part of the content, which was removed with it.
    pub(crate) fn map<U>(&self, part: impl FnOnce(&T) -> U) -> Removable<U> {
        match self {
            Removable::Present(content) => Removable::Present(part(content)),
            Removable::Removed => Removable::Removed,
        }
    }
}

impl From<Removable<String>> for Text {
    fn from(text: Removable<String>) -> Text {
        match text {
            Removable::Present(text) => Text::Present(text),
            Removable::Removed => Text::Removed,
        }
    }
}

impl<T: Serialize> Serialize for Removable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Removable::Present(content) => content.serialize(serializer),
            Removable::Removed => serialize_removed(serializer),
        }
    }
}

fn serialize_removed<S: Serializer>(serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry("removed", &true)?;
    map.end()
}
