//! A document of fields and a list of messages, read as far as it is whole: it may be cut anywhere.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// So many fields a document has at most, but for its list: each may be kept by itself.
const FIELDS: usize = 10_000;

/// A document as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct Document<'a> {
    /// Its fields but for the list.
    pub(crate) fields: Vec<(String, &'a RawValue)>,
    /// The values of the list.
    pub(crate) list: Vec<&'a RawValue>,
    /// Whether it has the list, or at least the beginning of it.
    pub(crate) has_list: bool,
    /// Whether the list is there to its end.
    pub(crate) has_whole_list: bool,
    /// Why it could not be read to its end.
    pub(crate) bad: Option<serde_json::Error>,
}

impl<'a> Document<'a> {
    /// Reads an object of which the field `list` is a list.
    pub(crate) fn read(text: &'a str, list: &str) -> Document<'a> {
        let mut document = Document::default();
        let mut reader = serde_json::Deserializer::from_str(text);
        let filling = Filling {
            document: &mut document,
            list,
        };
        let read = filling.deserialize(&mut reader);
        document.bad = read.and_then(|()| reader.end()).err();
        document
    }

    /// A field as what it is expected to be; what is something else is as if it were not there.
    pub(crate) fn field<T: Deserialize<'a>>(&self, name: &str) -> Option<T> {
        let (_, value) = self.fields.iter().find(|(field, _)| field == name)?;
        serde_json::from_str(value.get()).ok()
    }
}

struct Filling<'d, 'a> {
    document: &'d mut Document<'a>,
    list: &'d str,
}

impl<'a> DeserializeSeed<'a> for Filling<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for Filling<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == self.list {
                if self.document.has_list {
                    return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
                }
                self.document.has_list = true;
                map.next_value_seed(Values(&mut self.document.list))?;
                self.document.has_whole_list = true;
            } else if self.document.fields.len() >= FIELDS {
                return Err(A::Error::custom(format_args!("more than {FIELDS} fields")));
            } else {
                let value = map.next_value()?;
                self.document.fields.push((key, value));
            }
        }
        Ok(())
    }
}

struct Values<'d, 'a>(&'d mut Vec<&'a RawValue>);

impl<'a> DeserializeSeed<'a> for Values<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'a> Visitor<'a> for Values<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(value) = list.next_element()? {
            self.0.push(value);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_document_is_read_as_far_as_it_is_whole() {
        let whole = r#"{"a":"x","list":[{"n":1},{"n":2}],"b":7}"#;
        let read = Document::read(whole, "list");
        assert!(read.bad.is_none() && read.has_list);
        assert_eq!(read.list.len(), 2);
        assert_eq!(read.field::<String>("a").as_deref(), Some("x"));
        assert_eq!(read.field::<u64>("b"), Some(7));
        assert_eq!(read.field::<u64>("a"), None);
        for cut in 0..whole.len() {
            let read = Document::read(whole.get(..cut).unwrap(), "list");
            assert!(read.bad.is_some(), "{cut}");
            let ends = [24, 32].into_iter().filter(|end| *end <= cut);
            assert_eq!(read.list.len(), ends.count(), "{cut}");
            assert_eq!(read.has_whole_list, cut > 32, "{cut}");
        }
    }

    #[test]
    fn what_is_not_a_document_is_named() {
        for (text, expected) in [
            ("[1]", "invalid type: sequence, expected a JSON object"),
            (
                r#"{"list":5}"#,
                "invalid type: integer `5`, expected a list",
            ),
            (r#"{"list":[],"list":[1]}"#, "duplicate field `list`"),
            (r#"{"list":[]} x"#, "trailing characters"),
            (
                &format!("{{{}", "\"\":0,".repeat(10_001)),
                "more than 10000 fields",
            ),
        ] {
            let read = Document::read(text, "list");
            let said = read.bad.unwrap().to_string();
            assert!(said.starts_with(expected), "{said}");
            assert!(read.list.is_empty());
        }
    }
}
