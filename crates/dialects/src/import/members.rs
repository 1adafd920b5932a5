//! JSON member by member, as far as it is as expected: what is odd is as if it were not there.

use std::collections::BTreeMap;
use std::fmt;

use annals_domain::{Ordered, Pairs};
use serde::de::{DeserializeOwned, DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::{RawValue, to_raw_value};

/// The members of an object. Of a key that is there several times, the last one counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Members<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Members<'a> {
    /// The members of an object.
    pub(crate) fn read(json: &'a str) -> Result<Members<'a>, serde_json::Error> {
        serde_json::from_str(json).map(Members)
    }

    /// The members of an object; none of another value.
    pub(crate) fn of(json: Option<&'a RawValue>) -> Members<'a> {
        let members = json.and_then(|json| Members::read(json.get()).ok());
        members.unwrap_or_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, raw)| (name.as_str(), *raw))
    }

    /// A member, unless it is null.
    pub(crate) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let raw = self.0.get(name).copied();
        raw.filter(|raw| raw.get() != "null")
    }

    /// A member as it is expected.
    pub(crate) fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        serde_json::from_str(self.raw(name)?.get()).ok()
    }

    /// A text that is not blank.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        let text: Option<String> = self.get(name);
        text.filter(|text| !text.trim().is_empty())
    }

    /// A count: whole and not negative.
    pub(crate) fn count(&self, name: &str) -> Option<u64> {
        self.get(name)
    }

    /// The members of a member; none where it is not an object.
    pub(crate) fn within(&self, name: &str) -> Members<'a> {
        Members::of(self.raw(name))
    }

    /// The object without some of its members.
    pub(crate) fn without(&self, names: &[&str]) -> Option<Box<RawValue>> {
        let kept = self.iter().filter(|(name, _)| !names.contains(name));
        to_raw_value(&kept.collect::<BTreeMap<&str, &RawValue>>()).ok()
    }

    /// The elements of a member; none where it is not a list.
    pub(crate) fn list(&self, name: &str) -> Vec<&'a RawValue> {
        let list = self.raw(name).map(|raw| elements(raw.get()).0);
        list.unwrap_or_default()
    }
}

/// A value as JSON of its own.
pub(crate) fn owned(raw: &RawValue) -> Box<RawValue> {
    raw.to_owned()
}

/// An object without some of its members, the others in their order. A value that is not an object
/// stays as it was.
pub(crate) fn without(raw: &RawValue, names: &[&str]) -> Box<RawValue> {
    let all = serde_json::from_str::<Pairs<Box<RawValue>>>(raw.get());
    let less = all.ok().and_then(|Pairs(mut all)| {
        all.retain(|(name, _)| !names.contains(&name.as_str()));
        to_raw_value(&Ordered(all)).ok()
    });
    less.unwrap_or_else(|| raw.to_owned())
}

/// A text as JSON.
pub(crate) fn json_text(text: &str) -> Option<Box<RawValue>> {
    to_raw_value(text).ok()
}

/// The elements of a list up to where it can be read, and why it cannot be read any further.
pub(crate) fn elements(json: &str) -> (Vec<&RawValue>, Option<serde_json::Error>) {
    let mut found = Vec::new();
    let mut reader = serde_json::Deserializer::from_str(json);
    let read = Elements(&mut found).deserialize(&mut reader);
    let end = read.and_then(|()| reader.end());
    (found, end.err())
}

struct Elements<'l, 'a>(&'l mut Vec<&'a RawValue>);

impl<'a> DeserializeSeed<'a> for Elements<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Elements<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(element) = list.next_element::<&'a RawValue>()? {
            self.0.push(element);
        }
        Ok(())
    }
}

/// All texts of a message's content: a text, or a list of texts and of parts that have one.
pub(crate) fn texts(content: Option<&RawValue>) -> Vec<String> {
    #[derive(Deserialize)]
    struct Part {
        #[serde(default)]
        text: Option<String>,
    }
    let Some(content) = content.map(RawValue::get) else {
        return Vec::new();
    };
    if let Ok(text) = serde_json::from_str(content) {
        return vec![text];
    }
    let text = |part: &RawValue| {
        let part = part.get();
        let text = || Some(serde_json::from_str::<Part>(part).ok()?.text);
        serde_json::from_str(part).ok().or_else(|| text().flatten())
    };
    elements(content).0.into_iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_list_is_read_up_to_where_it_is_cut() {
        let cut = |json: &'static str| {
            let (found, error) = elements(json);
            let found: Vec<&str> = found.into_iter().map(RawValue::get).collect();
            (found, error.is_some())
        };
        assert_eq!(cut(r#"[{"a":1}, 2]"#), (vec![r#"{"a":1}"#, "2"], false));
        assert_eq!(cut(r#"[{"a":1}, {"b""#), (vec![r#"{"a":1}"#], true));
        assert_eq!(cut(r#"[1] 2"#), (vec!["1"], true));
        assert_eq!(cut(r#"{"a":1}"#), (vec![], true));
        assert_eq!(cut(""), (vec![], true));
    }

    #[test]
    fn what_is_odd_is_as_if_it_were_not_there() {
        let members = Members::read(r#"{"a":null,"b":5,"c":" ","d":"x","d":"y"}"#).unwrap();
        assert!(members.raw("a").is_none() && members.text("b").is_none());
        assert_eq!(members.get::<u64>("b"), Some(5));
        assert_eq!(members.text("c"), None);
        assert_eq!(members.text("d").as_deref(), Some("y"));
        assert!(members.within("d").is_empty() && members.list("b").is_empty());
        let rest = members.without(&["a", "b", "x"]).unwrap();
        assert_eq!(rest.get(), r#"{"c":" ","d":"y"}"#);
        assert!(Members::read("[1]").is_err());
    }

    #[test]
    fn contents_have_texts_in_several_forms() {
        let texts = |json: &str| {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            texts(Some(&raw))
        };
        assert_eq!(texts(r#""a""#), ["a"]);
        assert_eq!(
            texts(r#"["a",{"text":"b"},{"image_urls":[]},5]"#),
            ["a", "b"]
        );
        assert!(texts("{}").is_empty());
    }

    #[test]
    fn what_is_left_out_leaves_the_others_as_they_were() {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
        let json = r#"{"z":1.50,"a":{"b":[ ]},"m":"x"}"#;
        assert_eq!(
            without(&raw(json), &["m", "q"]).get(),
            r#"{"z":1.50,"a":{"b":[ ]}}"#
        );
        assert_eq!(without(&raw("[1]"), &["a"]).get(), "[1]");
    }
}
