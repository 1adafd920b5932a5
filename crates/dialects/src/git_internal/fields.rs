//! A JSON object, read field by field: by name, in any order, nothing dropped
//! unsaid.
//!
//! What is wrong is named by its place (`steps[3].description`), and every
//! field is counted as kept or, where nothing reads it, as lost, by its path
//! (`steps[].colour`).

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;

use annals_domain::{Json, Ordered, Pairs, cut};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::report::{self, below};

/// The bytes of a key that a path shows; it is cut beyond them.
const KEY: usize = 80;

/// Why an object cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub(super) struct FieldError {
    /// The field.
    pub(super) place: String,
    /// What is wrong with it.
    pub(super) reason: String,
}

pub(super) type Read<T> = Result<T, FieldError>;

/// A JSON object that is being read.
pub(super) struct Fields<'a> {
    /// Where it is, for people: `steps[3]`.
    place: String,
    /// What it is, for counting: `steps[]`.
    path: String,
    left: Vec<(String, &'a RawValue)>,
    tally: &'a RefCell<report::Fields>,
}

impl<'a> Fields<'a> {
    /// The object that a text is.
    pub(super) fn of(text: &'a str, tally: &'a RefCell<report::Fields>) -> Read<Fields<'a>> {
        Fields::parse(text, String::new(), String::new(), tally)
    }

    fn parse(
        text: &'a str,
        place: String,
        path: String,
        tally: &'a RefCell<report::Fields>,
    ) -> Read<Fields<'a>> {
        match serde_json::from_str::<Pairs<&'a RawValue>>(text) {
            Ok(Pairs(left)) => Ok(Fields {
                place,
                path,
                left,
                tally,
            }),
            Err(error) => Err(FieldError {
                place: if place.is_empty() {
                    "the object".to_owned()
                } else {
                    place
                },
                reason: error.to_string(),
            }),
        }
    }

    /// What is wrong with a field.
    pub(super) fn wrong(&self, name: &str, reason: impl fmt::Display) -> FieldError {
        FieldError {
            place: below(&self.place, name),
            reason: reason.to_string(),
        }
    }

    /// A field's text. A field that is null is as good as absent.
    fn take(&mut self, names: &[&str]) -> Read<Option<&'a str>> {
        Ok(self.take_any(names)?.filter(|text| *text != "null"))
    }

    /// A field's text, under any of its names; the first one is today's.
    fn take_any(&mut self, names: &[&str]) -> Read<Option<&'a str>> {
        let mut found = None;
        for name in names {
            while let Some(at) = self.left.iter().position(|(field, _)| field == name) {
                if found.is_some() {
                    return Err(self.wrong(name, "duplicate field"));
                }
                found = Some(self.left.remove(at).1.get());
                self.tally.borrow_mut().kept(&below(&self.path, names[0]));
            }
        }
        Ok(found)
    }

    /// A field that may be absent.
    pub(super) fn optional<T: DeserializeOwned>(&mut self, names: &[&str]) -> Read<Option<T>> {
        let Some(text) = self.take(names)? else {
            return Ok(None);
        };
        serde_json::from_str(text)
            .map(Some)
            .map_err(|error| self.wrong(names[0], error))
    }

    /// A field that must be there.
    pub(super) fn required<T: DeserializeOwned>(&mut self, names: &[&str]) -> Read<T> {
        self.optional(names)?
            .ok_or_else(|| self.wrong(names[0], "it is missing"))
    }

    /// A field, or what stands for its absence.
    pub(super) fn or_default<T: DeserializeOwned + Default>(&mut self, names: &[&str]) -> Read<T> {
        Ok(self.optional(names)?.unwrap_or_default())
    }

    /// A text that must not be blank.
    pub(super) fn not_blank(&mut self, names: &[&str]) -> Read<String> {
        let text: String = self.required(names)?;
        if text.trim().is_empty() {
            return Err(self.wrong(names[0], "it must not be blank"));
        }
        Ok(text)
    }

    /// Free JSON, as its text without insignificant white space. That it is
    /// null is something else than its absence: git-internal writes both.
    pub(super) fn json(&mut self, names: &[&str]) -> Read<Option<Json>> {
        match self.take_any(names)? {
            Some(text) => self.free(names[0], text).map(Some),
            None => Ok(None),
        }
    }

    fn free(&self, name: &str, text: &str) -> Read<Json> {
        let json = Json::readable(text).map_err(|error| self.wrong(name, error))?;
        Ok(json.compact())
    }

    /// A number that may be absent. A float that is not a number (NaN, an infinity) is
    /// written as null, and is NaN here.
    pub(super) fn float(&mut self, names: &[&str]) -> Read<Option<f64>> {
        let Some(text) = self.take_any(names)? else {
            return Ok(None);
        };
        let number: Option<f64> =
            serde_json::from_str(text).map_err(|error| self.wrong(names[0], error))?;
        Ok(Some(number.unwrap_or(f64::NAN)))
    }

    /// An object in a field.
    pub(super) fn object<T>(
        &mut self,
        names: &[&str],
        read: impl FnOnce(&mut Fields<'a>) -> Read<T>,
    ) -> Read<Option<T>> {
        let Some(text) = self.take(names)? else {
            return Ok(None);
        };
        let (place, path) = (below(&self.place, names[0]), below(&self.path, names[0]));
        let mut inner = Fields::parse(text, place, path, self.tally)?;
        let value = read(&mut inner)?;
        inner.end();
        Ok(Some(value))
    }

    /// A list of objects; one that is absent is empty.
    pub(super) fn list<T>(
        &mut self,
        names: &[&str],
        mut read: impl FnMut(&mut Fields<'a>) -> Read<T>,
    ) -> Read<Vec<T>> {
        let Some(text) = self.take(names)? else {
            return Ok(Vec::new());
        };
        let items: Vec<&'a RawValue> =
            serde_json::from_str(text).map_err(|error| self.wrong(names[0], error))?;
        let path = below(&self.path, names[0]) + "[]";
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.into_iter().enumerate() {
            let place = format!("{}[{index}]", below(&self.place, names[0]));
            let mut inner = Fields::parse(item.get(), place, path.clone(), self.tally)?;
            values.push(read(&mut inner)?);
            inner.end();
        }
        Ok(values)
    }

    /// A map with any keys; one that is absent is empty.
    pub(super) fn map(&mut self, name: &str) -> Read<Ordered<String>> {
        let pairs = self.optional::<Pairs<String>>(&[name])?;
        let pairs = pairs.unwrap_or(Pairs(Vec::new()));
        Ok(self.last_of_each(&below(&self.path, name), pairs))
    }

    /// All that is left, as names and free JSON.
    pub(super) fn rest(&mut self) -> Read<Ordered<Json>> {
        let mut pairs = Vec::with_capacity(self.left.len());
        for (name, value) in std::mem::take(&mut self.left) {
            let json = self.free(&name, value.get())?;
            pairs.push((name, json));
        }
        let rest = self.last_of_each(&self.path, Pairs(pairs));
        for _ in &rest.0 {
            self.tally.borrow_mut().kept(&below(&self.path, "*"));
        }
        Ok(rest)
    }

    /// The pairs of a map at `path`. Of duplicate keys the last value counts, and
    /// the others are lost.
    fn last_of_each<V>(&self, path: &str, pairs: Pairs<V>) -> Ordered<V> {
        let mut keys = HashSet::new();
        for (key, _) in &pairs.0 {
            if !keys.insert(key.as_str()) {
                self.lost(path, key);
            }
        }
        pairs.into()
    }

    /// Counts what nothing has read.
    pub(super) fn end(self) {
        for (name, _) in &self.left {
            self.lost(&self.path, name);
        }
    }

    /// Counts the value of a key as lost. A key may be as long as the object.
    fn lost(&self, path: &str, key: &str) {
        let path = below(path, cut(key, KEY));
        self.tally.borrow_mut().lost(&path, 1);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn read<T>(text: &str, read: impl FnOnce(&mut Fields<'_>) -> Read<T>) -> Read<T> {
        let tally = RefCell::default();
        let mut fields = Fields::of(text, &tally)?;
        read(&mut fields)
    }

    #[test]
    fn what_is_wrong_is_named_by_its_place() {
        let steps = |fields: &mut Fields<'_>| {
            fields.list(&["steps"], |step| step.required::<String>(&["d", "e"]))
        };
        let error = |text| read(text, steps).unwrap_err().to_string();
        assert_eq!(
            error(r#"{"steps":[{"d":"x"},{}]}"#),
            "steps[1].d: it is missing"
        );
        assert!(error(r#"{"steps":[{"d":1}]}"#).starts_with("steps[0].d: invalid type"));
        assert_eq!(
            error(r#"{"steps":[{"d":"x","e":"y"}]}"#),
            "steps[0].e: duplicate field"
        );
        assert!(error("[]").starts_with("the object: invalid type"));
        assert_eq!(
            read(r#"{"steps":[{"e":"y"}]}"#, steps),
            Ok(vec!["y".into()])
        );
    }

    #[test]
    fn fields_are_counted_as_kept_or_lost() {
        let tally = RefCell::default();
        let mut fields = Fields::of(r#"{"a":1,"b":[{"c":2,"d":3},{"d":4}]}"#, &tally).unwrap();
        fields.required::<u8>(&["a"]).unwrap();
        fields
            .list(&["b"], |item| item.optional::<u8>(&["c"]))
            .unwrap();
        fields.end();
        let mut report = crate::ImportReport::default();
        tally.into_inner().report(&mut report);
        let counts = |fields: &[crate::FieldCount]| -> Vec<(String, u64)> {
            let pair = |field: &crate::FieldCount| (field.path.clone(), field.count);
            fields.iter().map(pair).collect()
        };
        let expected = [("a", 1), ("b", 1), ("b[].c", 1)].map(|(path, n)| (path.to_owned(), n));
        assert_eq!(counts(&report.fields_kept), expected);
        assert_eq!(counts(&report.fields_lost), [("b[].d".to_owned(), 2)]);
    }

    #[test]
    fn a_key_that_is_repeated_in_a_map_loses_its_first_values() {
        let tally = RefCell::default();
        let text = r#"{"m":{"b":"1","a":"2","b":"3","b":"4"},"x":1,"x":2,"y":3}"#;
        let mut fields = Fields::of(text, &tally).unwrap();
        let map = fields.map("m").unwrap();
        assert_eq!(map.get("b").map(String::as_str), Some("4"));
        assert_eq!(fields.map("absent").unwrap().0, []);
        assert_eq!(fields.rest().unwrap().0.len(), 2);
        fields.end();
        let mut report = crate::ImportReport::default();
        tally.into_inner().report(&mut report);
        let counts = |fields: Vec<crate::FieldCount>| -> Vec<String> {
            let text = |field: crate::FieldCount| format!("{} {}", field.path, field.count);
            fields.into_iter().map(text).collect()
        };
        assert_eq!(counts(report.fields_kept), ["* 2", "m 1"]);
        assert_eq!(counts(report.fields_lost), ["m.b 2", "x 1"]);
    }

    #[test]
    fn free_json_keeps_its_text_without_white_space() {
        let text = "{\"j\": { \"b\" : 1.50,\n\"a\": [ \"x y\\\" \", 1e2 ] } }";
        let json = read(text, |fields| fields.json(&["j"])).unwrap().unwrap();
        assert_eq!(json.text(), r#"{"b":1.50,"a":["x y\" ",1e2]}"#);
        let null = read(r#"{"j":null}"#, |f| f.json(&["j"])).unwrap();
        assert_eq!(null.map(|json| json.text().to_owned()), Some("null".into()));
        assert_eq!(read("{}", |f| f.json(&["j"])), Ok(None));
        assert!(read(r#"{"j":"\ud800"}"#, |f| f.json(&["j"])).is_err());
        assert!(read(r#"{"j":1e999}"#, |f| f.json(&["j"])).is_err());
    }
}
