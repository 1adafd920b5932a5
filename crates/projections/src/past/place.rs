//! Where a value is in a document: by names, and in lists by what an element is called, where it is called something.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// A step from a value to one in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Step {
    /// A field of an object.
    Field(String),
    /// An element of a list by its number, from 0.
    Index(usize),
    /// The first element of a list that is an object whose field has this value.
    Item {
        /// The field.
        key: String,
        /// Its value, as JSON.
        id: String,
    },
    /// The first element of a list that is this text or number.
    Element(String),
}

/// The JSON of a text, a number, true or false, which names an element of a list. Others name none.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(_) | Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

impl Step {
    /// The value that a step leads to.
    pub fn find<'a>(&self, value: &'a Value) -> Option<&'a Value> {
        match self {
            Step::Field(name) => value.as_object()?.get(name),
            Step::Index(index) => value.as_array()?.get(*index),
            Step::Item { .. } | Step::Element(_) => {
                let is_it = |element: &&Value| self.names(element);
                value.as_array()?.iter().find(is_it)
            }
        }
    }

    /// Whether an element of a list is the one that is meant.
    fn names(&self, element: &Value) -> bool {
        match self {
            Step::Item { key, id } => element.get(key).and_then(scalar).as_ref() == Some(id),
            Step::Element(id) => scalar(element).as_ref() == Some(id),
            Step::Field(_) | Step::Index(_) => false,
        }
    }
}

/// Where a value is in a document. Elements of lists that have a name stay where they are while others come and go.
///
/// As text it is what people read and [`FieldName`](super::FieldName) takes: `statuses[2].reason`,
/// `frames[frame_id=7].summary`, `runs["0192..."]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place(pub Vec<Step>);

impl Place {
    /// The whole document.
    pub const ROOT: Place = Place(Vec::new());

    /// Whether it is the whole document.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The value at this place.
    pub fn find<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.0
            .iter()
            .try_fold(document, |value, step| step.find(value))
    }

    pub(super) fn then(&self, step: Step) -> Place {
        let mut steps = self.0.clone();
        steps.push(step);
        Place(steps)
    }
}

/// Whether a name can be written as it is.
fn is_plain(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "_- @:".contains(c);
    !name.is_empty() && name.chars().all(plain) && name.trim() == name
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.0.iter().enumerate() {
            match step {
                Step::Field(name) if is_plain(name) => {
                    let dot = if number == 0 { "" } else { "." };
                    write!(f, "{dot}{name}")?;
                }
                Step::Field(name) => write!(f, "[{}]", Value::from(name.as_str()))?,
                Step::Index(index) => write!(f, "[{index}]")?,
                Step::Item { key, id } => write!(f, "[{key}={id}]")?,
                Step::Element(id) => write!(f, "[={id}]")?,
            }
        }
        Ok(())
    }
}

impl Serialize for Place {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
