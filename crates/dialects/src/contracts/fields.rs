//! A JSON object of the contracts, read property by property.
//!
//! As in System.Text.Json, the case of a property's name does not matter, of two
//! with one name the last one counts, and null is as good as nothing. What is
//! wrong is named by its place (`plan.nodes[3].title`); what nothing reads is
//! counted by its path (`plan.nodes[].colour`).

use std::cell::RefCell;
use std::str::FromStr;

use annals_domain::session::{Base64Bytes, TimeSpan};
use annals_domain::{Ordered, Pairs, Timestamp, UnknownWord, cut};
use serde_json::error::Category;
use serde_json::value::RawValue;
use uuid::Uuid;

use super::error::{ContractsError, PropertyProblem};
use super::time;
use crate::report::{self, below};

/// The bytes of a name that a path shows, and of a value that an error shows; it
/// is cut beyond them.
const SHOWN: usize = 80;

/// The length of a GUID with hyphens, in bytes.
const GUID: usize = 36;

pub type Read<T> = Result<T, ContractsError>;

/// Where properties are counted as read or as unknown.
pub type Tally = RefCell<report::Fields>;

/// A JSON object that is being read.
pub struct Fields<'a> {
    /// Where it is, for people: `plan.nodes[3]`.
    place: String,
    /// What it is, for counting: `plan.nodes[]`.
    path: String,
    left: Vec<(String, &'a RawValue)>,
    tally: &'a Tally,
}

/// What a JSON value is, by how it begins.
fn what(text: &str) -> &'static str {
    match text.as_bytes().first() {
        Some(b'"') => "a text",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    }
}

fn wrong_type(expected: &'static str, text: &str) -> PropertyProblem {
    PropertyProblem::Type {
        expected,
        found: what(text),
    }
}

fn text_of(value: &str) -> Result<String, PropertyProblem> {
    if !value.starts_with('"') {
        return Err(wrong_type("a text", value));
    }
    // The value is a JSON string; it is not a text only if it has half of a surrogate pair.
    serde_json::from_str(value).map_err(|_| PropertyProblem::HalfSurrogate)
}

fn number_of(value: &str) -> Result<u32, PropertyProblem> {
    if what(value) != "a number" {
        return Err(wrong_type("a whole number", value));
    }
    serde_json::from_str(value).map_err(|_| PropertyProblem::Number {
        text: cut(value, SHOWN).to_owned(),
    })
}

fn guid_of(value: &str) -> Result<Uuid, PropertyProblem> {
    let text = text_of(value)?;
    guid(&text).ok_or_else(|| PropertyProblem::Guid {
        text: cut(&text, SHOWN).to_owned(),
    })
}

/// A GUID in the one form that Contracts v1.1 has for it, in either case.
fn guid(text: &str) -> Option<Uuid> {
    // System.Text.Json does not accept a GUID without hyphens or in braces.
    (text.len() == GUID).then(|| Uuid::try_parse(text).ok())?
}

/// The id of a node of a plan: a text, and in lower case where that is a GUID.
pub(super) fn node_id(text: &str) -> String {
    guid(text).map_or_else(|| text.to_owned(), |id| id.to_string())
}

fn array<'a, T>(
    value: &'a str,
    mut item: impl FnMut(usize, &'a str) -> Read<T>,
    wrong: impl FnOnce(PropertyProblem) -> ContractsError,
) -> Read<Vec<T>> {
    let items = serde_json::from_str::<Vec<&'a RawValue>>(value);
    let items = items.map_err(|_| wrong(wrong_type("an array", value)))?;
    let items = items.into_iter().enumerate();
    items.map(|(index, text)| item(index, text.get())).collect()
}

impl<'a> Fields<'a> {
    /// The object that a text is.
    pub(super) fn of(text: &'a str, tally: &'a Tally) -> Read<Fields<'a>> {
        let left = serde_json::from_str::<Pairs<&'a RawValue>>(text);
        let Pairs(left) = left.map_err(|error| match error.classify() {
            Category::Data => ContractsError::NotAnObject {
                found: what(text.trim_start()),
            },
            Category::Io | Category::Syntax | Category::Eof => ContractsError::Syntax {
                reason: error.to_string(),
            },
        })?;
        Ok(Fields {
            place: String::new(),
            path: String::new(),
            left,
            tally,
        })
    }

    fn inside(&self, value: &'a str, place: String, path: String) -> Read<Fields<'a>> {
        let wrong = |problem| ContractsError::Property {
            place: place.clone(),
            problem,
        };
        if !value.starts_with('{') {
            return Err(wrong(wrong_type("an object", value)));
        }
        // It is known to be JSON: what may be wrong is the text of a name.
        let Pairs(left) =
            serde_json::from_str(value).map_err(|_| wrong(PropertyProblem::HalfSurrogate))?;
        Ok(Fields {
            place,
            path,
            left,
            tally: self.tally,
        })
    }

    /// What is wrong with a property.
    pub(super) fn wrong(&self, name: &str, problem: impl Into<PropertyProblem>) -> ContractsError {
        ContractsError::Property {
            place: below(&self.place, name),
            problem: problem.into(),
        }
    }

    /// A property's value, unless it is null or absent.
    fn take(&mut self, name: &str) -> Option<&'a str> {
        let (mut found, mut outdone) = (None, 0);
        self.left.retain(|(field, value)| {
            let same = field.eq_ignore_ascii_case(name);
            if same && found.replace(value.get()).is_some() {
                outdone += 1;
            }
            !same
        });
        let value = found?;
        let path = below(&self.path, name);
        let mut tally = self.tally.borrow_mut();
        tally.kept(&path);
        if outdone > 0 {
            tally.lost(&path, outdone);
        }
        (value != "null").then_some(value)
    }

    fn optional<T>(
        &mut self,
        name: &str,
        of: impl FnOnce(&'a str) -> Result<T, PropertyProblem>,
    ) -> Read<Option<T>> {
        let value = self.take(name).map(of).transpose();
        value.map_err(|problem| self.wrong(name, problem))
    }

    fn there<T>(&self, name: &str, value: Option<T>) -> Read<T> {
        value.ok_or_else(|| self.wrong(name, PropertyProblem::Missing))
    }

    /// A text.
    pub(super) fn text(&mut self, name: &str) -> Read<String> {
        let value = self.optional_text(name)?;
        self.there(name, value)
    }

    /// A text that may be absent.
    pub(super) fn optional_text(&mut self, name: &str) -> Read<Option<String>> {
        self.optional(name, text_of)
    }

    /// A GUID.
    pub(super) fn guid<T: From<Uuid>>(&mut self, name: &str) -> Read<T> {
        let value = self.optional_guid(name)?;
        self.there(name, value)
    }

    /// A GUID that may be absent.
    pub(super) fn optional_guid<T: From<Uuid>>(&mut self, name: &str) -> Read<Option<T>> {
        Ok(self.optional(name, guid_of)?.map(T::from))
    }

    /// The id of a node of a plan, which may be absent.
    pub(super) fn optional_node_id(&mut self, name: &str) -> Read<Option<String>> {
        Ok(self.optional_text(name)?.map(|text| node_id(&text)))
    }

    /// True or false; false where it is absent.
    pub(super) fn flag(&mut self, name: &str) -> Read<bool> {
        let value = self.optional(name, |value| match value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(wrong_type("true or false", value)),
        })?;
        Ok(value.unwrap_or(false))
    }

    /// A number of something, which may be absent.
    pub(super) fn optional_number(&mut self, name: &str) -> Read<Option<u32>> {
        self.optional(name, number_of)
    }

    /// A word of an enum.
    pub(super) fn word<T: FromStr<Err = UnknownWord>>(&mut self, name: &str) -> Read<T> {
        let value = self.optional(name, |value| {
            let word = text_of(value)?.parse();
            word.map_err(|error: UnknownWord| {
                let word = cut(&error.word, SHOWN).to_owned();
                PropertyProblem::Word(UnknownWord { word, ..error })
            })
        })?;
        self.there(name, value)
    }

    /// A duration that may be absent.
    pub(super) fn optional_duration(&mut self, name: &str) -> Read<Option<TimeSpan>> {
        self.optional(name, |value| Ok(text_of(value)?.parse()?))
    }

    /// A point in time.
    pub(super) fn time(&mut self, name: &str) -> Read<Timestamp> {
        let value = self.optional(name, |value| Ok(time::read(&text_of(value)?)?))?;
        self.there(name, value)
    }

    /// Bytes in base64.
    pub(super) fn bytes(&mut self, name: &str) -> Read<Base64Bytes> {
        let value = self.optional(name, |value| Ok(Base64Bytes::decode(&text_of(value)?)?))?;
        self.there(name, value)
    }

    /// Texts; none where they are absent.
    pub(super) fn texts(&mut self, name: &str) -> Read<Vec<String>> {
        Ok(self.optional_texts(name)?.unwrap_or_default())
    }

    /// Texts that may be absent, which is something else than that there are none.
    pub(super) fn optional_texts(&mut self, name: &str) -> Read<Option<Vec<String>>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let item = |index, text| {
            text_of(text).map_err(|problem| self.wrong(&format!("{name}[{index}]"), problem))
        };
        array(value, item, |problem| self.wrong(name, problem)).map(Some)
    }

    /// A map from texts to numbers that may be absent. Its keys stay as they are.
    pub(super) fn optional_numbers(&mut self, name: &str) -> Read<Option<Ordered<u32>>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let map = self.inside(value, below(&self.place, name), below(&self.path, name))?;
        let mut numbers = Vec::with_capacity(map.left.len());
        for (key, value) in &map.left {
            let number = number_of(value.get());
            let number = number.map_err(|problem| map.wrong(cut(key, SHOWN), problem))?;
            numbers.push((key.clone(), number));
        }
        Ok(Some(Ordered::from(Pairs(numbers))))
    }

    /// An object in a property.
    pub(super) fn object<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Fields<'a>) -> Read<T>,
    ) -> Read<T> {
        let value = self.optional_object(name, read)?;
        self.there(name, value)
    }

    /// An object in a property that may be absent.
    pub(super) fn optional_object<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Fields<'a>) -> Read<T>,
    ) -> Read<Option<T>> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let mut inner = self.inside(value, below(&self.place, name), below(&self.path, name))?;
        let value = read(&mut inner)?;
        inner.end();
        Ok(Some(value))
    }

    /// Objects; none where they are absent.
    pub(super) fn list<T>(
        &mut self,
        name: &str,
        mut read: impl FnMut(&mut Fields<'a>) -> Read<T>,
    ) -> Read<Vec<T>> {
        let Some(value) = self.take(name) else {
            return Ok(Vec::new());
        };
        let path = below(&self.path, name) + "[]";
        let item = |index, text| {
            let place = format!("{}[{index}]", below(&self.place, name));
            let mut inner = self.inside(text, place, path.clone())?;
            let value = read(&mut inner)?;
            inner.end();
            Ok(value)
        };
        array(value, item, |problem| self.wrong(name, problem))
    }

    /// Counts what nothing has read. A name may be as long as the object.
    pub(super) fn end(self) {
        let mut tally = self.tally.borrow_mut();
        for (name, _) in &self.left {
            tally.lost(&below(&self.path, cut(name, SHOWN)), 1);
        }
    }
}
