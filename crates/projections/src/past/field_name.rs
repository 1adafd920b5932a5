//! A place as people write it: a JSON Pointer, or names with dots between them.

use std::fmt;
use std::str::FromStr;

use annals_event_log::{Classification, Classified, ErrorClass};
use serde_json::Value;

use super::identity::Identity;
use super::place::{Place, Step};

/// Characters of a text that is quoted in an error.
const QUOTED: usize = 80;

/// A place in a document as people write it: `/statuses/2/reason` (a JSON Pointer, RFC 6901), `statuses.2.reason` or
/// `statuses[2].reason`. An element of a list that has an id can be named by it: `frames[frame_id=7].summary`.
///
/// ```
/// use annals_projections::past::FieldName;
/// use serde_json::json;
///
/// let document = json!({ "frames": [{ "frame_id": 7, "summary": "read" }] });
/// for name in ["/frames/0/summary", "frames.0.summary", "frames[0].summary", "frames[frame_id=7].summary"] {
///     let place = name.parse::<FieldName>()?.place(&document).ok_or("there is such a field")?;
///     assert_eq!(place.to_string(), "frames[frame_id=7].summary");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldName {
    text: String,
    parts: Vec<Part>,
}

/// A part of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// A field's name, or an element's number.
    Name(String),
    /// What an element is called.
    Called(Step),
}

/// A text that does not name a field.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid field {text:?}: {reason}. Expected a JSON Pointer such as /statuses/0/status, or names such as statuses[0].status"
)]
pub struct InvalidFieldName {
    text: String,
    reason: &'static str,
}

impl Classified for InvalidFieldName {
    fn classify(&self) -> Classification {
        ErrorClass::Invalid.code("invalid_field")
    }
}

impl FieldName {
    /// The place that it names in a document: elements of lists by what they are called, where they are called
    /// something. `None` where the document has no such place.
    pub fn place(&self, document: &Value) -> Option<Place> {
        let (mut place, mut value) = (Place::ROOT, document);
        for part in &self.parts {
            let step = part.step(value)?;
            value = step.find(value)?;
            place = place.then(step);
        }
        Some(place)
    }

    /// The value that it names in a document.
    pub fn find<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.parts.iter().try_fold(document, |value, part| {
            let step = match (part, value) {
                (Part::Name(name), Value::Array(_)) => Step::Index(number(name)?),
                (Part::Name(name), _) => return value.get(name),
                (Part::Called(step), _) => step.clone(),
            };
            step.find(value)
        })
    }

    /// The name of the document's own field that it is in; `None` for the whole document.
    pub fn top(&self) -> Option<&str> {
        match self.parts.first()? {
            Part::Name(name) => Some(name),
            Part::Called(_) => None,
        }
    }
}

/// The number of an element. As in a JSON Pointer it has no zeros before it.
fn number(name: &str) -> Option<usize> {
    let digits = name.bytes().all(|byte| byte.is_ascii_digit());
    let is_short = name == "0" || !name.starts_with('0');
    (digits && is_short).then(|| name.parse().ok()).flatten()
}

impl Part {
    fn step(&self, value: &Value) -> Option<Step> {
        match (self, value) {
            (Part::Called(step), _) => Some(step.clone()),
            (Part::Name(name), Value::Array(list)) => {
                let index = number(name)?;
                let identity = Identity::of(&[list.as_slice()]);
                let id = identity.ids(list).and_then(|ids| ids.get(index).cloned());
                match id {
                    Some(id) => Some(identity.step(index, &id)),
                    None => Some(Step::Index(index)),
                }
            }
            (Part::Name(name), _) => Some(Step::Field(name.clone())),
        }
    }
}

impl fmt::Display for FieldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for FieldName {
    type Err = InvalidFieldName;

    fn from_str(text: &str) -> Result<FieldName, InvalidFieldName> {
        let parts = match text.strip_prefix('/') {
            Some(pointer) => from_pointer(pointer),
            None => from_names(text),
        };
        let parts = parts.map_err(|reason| InvalidFieldName {
            text: text.chars().take(QUOTED).collect(),
            reason,
        })?;
        let text = text.to_owned();
        Ok(FieldName { text, parts })
    }
}

fn from_pointer(pointer: &str) -> Result<Vec<Part>, &'static str> {
    let part = |part: &str| {
        let mut rest = part;
        while let Some(at) = rest.find('~') {
            rest = rest.get(at + 1..).unwrap_or_default();
            if !rest.starts_with(['0', '1']) {
                return Err("a ~ is written ~0 in a JSON Pointer, and a / in a name ~1");
            }
        }
        Ok(Part::Name(part.replace("~1", "/").replace("~0", "~")))
    };
    pointer.split('/').map(part).collect()
}

fn from_names(text: &str) -> Result<Vec<Part>, &'static str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let (part, behind) = in_brackets(inside)?;
            parts.push(part);
            rest = match behind.strip_prefix('.') {
                Some("") => return Err("a name is missing behind the last dot"),
                Some(behind) => behind,
                None => behind,
            };
            continue;
        }
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if name.is_empty() {
            return Err("a name is missing");
        }
        parts.push(Part::Name(name.to_owned()));
        rest = match behind.strip_prefix('.') {
            Some("") => return Err("a name is missing behind the last dot"),
            Some(behind) => behind,
            None => behind,
        };
    }
    match parts.is_empty() {
        true => Err("it is empty"),
        false => Ok(parts),
    }
}

/// What is in brackets, and what is behind them: a number, `key=JSON`, `=JSON` or a quoted name.
fn in_brackets(inside: &str) -> Result<(Part, &str), &'static str> {
    const OPEN: &str = "a bracket is not closed";
    if inside.starts_with('"') {
        let (name, behind) = json_before_bracket(inside)?;
        return match name {
            Value::String(name) => Ok((Part::Name(name), behind)),
            _ => Err("a quoted name is a text"),
        };
    }
    let end = inside.find([']', '=']).ok_or(OPEN)?;
    let (name, behind) = inside.split_at(end);
    let Some(value) = behind.strip_prefix('=') else {
        let behind = behind.get(1..).unwrap_or_default();
        return Ok((Part::Name(name.to_owned()), behind));
    };
    let (id, behind) = match json_before_bracket(value) {
        Ok((id, behind)) => (id.to_string(), behind),
        // A word without quotes is a text.
        Err(_) => {
            let (word, behind) = value.split_once(']').ok_or(OPEN)?;
            (Value::from(word).to_string(), behind)
        }
    };
    let step = match name {
        "" => Step::Element(id),
        key => Step::Item {
            key: key.to_owned(),
            id,
        },
    };
    Ok((Part::Called(step), behind))
}

/// JSON up to a bracket, and what is behind that.
fn json_before_bracket(text: &str) -> Result<(Value, &str), &'static str> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next().and_then(Result::ok);
    let rest = text.get(values.byte_offset()..).unwrap_or_default();
    match (value, rest.strip_prefix(']')) {
        (Some(value), Some(behind)) => Ok((value, behind)),
        _ => Err("expected JSON and a closing bracket"),
    }
}
