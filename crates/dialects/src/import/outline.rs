//! What is at the top of a document, also where its beginning is all that there is of it.

use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, de};
use serde_json::value::RawValue;

use super::members::Members;

/// How deep a document is looked into: its members, and theirs.
const DEPTH: usize = 3;

/// A value as far as its beginning shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    /// Whether it is a list. Its members are those of its first element.
    pub(crate) is_list: bool,
    /// Its text, if it is one.
    pub(crate) text: Option<String>,
    members: Vec<(String, Outline)>,
}

impl Outline {
    /// The outline of what begins like this.
    pub(crate) fn of(json: &str) -> Outline {
        let mut outline = Outline::default();
        let mut reader = serde_json::Deserializer::from_str(json);
        let look = Look {
            outline: &mut outline,
            depth: 0,
        };
        // What came before the cut is known.
        let _ = look.deserialize(&mut reader);
        outline
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.member(name).is_some()
    }

    pub(crate) fn member(&self, name: &str) -> Option<&Outline> {
        let found = self.members.iter().find(|(member, _)| member == name);
        found.map(|(_, outline)| outline)
    }

    /// The text of a member.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.member(name)?.text.as_deref()
    }
}

/// Bytes of a value that the outline of a line has as it is.
const SHORT: usize = 64 * 1024;

/// A line of JSON in which each long value is empty: it has the members by which formats are recognized.
pub(crate) fn outline_of_line(line: &str) -> String {
    outline_of(line.trim(), DEPTH)
}

fn outline_of(value: &str, depth: usize) -> String {
    if value.len() <= SHORT {
        return value.to_owned();
    }
    let members = match depth {
        0 => Members::default(),
        _ => Members::read(value).unwrap_or_default(),
    };
    match value.as_bytes().first() {
        Some(b'{') => {
            let member = |(name, raw): (&str, &RawValue)| {
                let name = serde_json::Value::from(name);
                format!("{name}:{}", outline_of(raw.get(), depth - 1))
            };
            let members: Vec<String> = members.iter().map(member).collect();
            format!("{{{}}}", members.join(","))
        }
        Some(b'[') => "[]".to_owned(),
        Some(b'"') => "\"\"".to_owned(),
        _ => "null".to_owned(),
    }
}

struct Look<'a> {
    outline: &'a mut Outline,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Look<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.depth <= DEPTH {
            true => deserializer.deserialize_any(self),
            false => deserializer.deserialize_ignored_any(IgnoredAny).map(|_| ()),
        }
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.outline.members.push((key, Outline::default()));
            let Some((_, outline)) = self.outline.members.last_mut() else {
                return Ok(());
            };
            let depth = self.depth + 1;
            map.next_value_seed(Look { outline, depth })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.outline.is_list = true;
        let (outline, depth) = (self.outline, self.depth);
        if list.next_element_seed(Look { outline, depth })?.is_some() {
            while list.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
        self.outline.text = Some(text.chars().take(200).collect());
        Ok(())
    }

    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_before_a_cut_is_known() {
        let text =
            r#" {"format":"x-1","list":[{"a":1,"b":"y"},{"c":2}],"deep":{"e":{"f":{"g":{"h":1"#;
        let outline = Outline::of(text);
        assert_eq!(outline.text("format"), Some("x-1"));
        let list = outline.member("list").cloned().unwrap_or_default();
        assert!(list.is_list && list.has("a") && !list.has("c"));
        assert_eq!(list.text("b"), Some("y"));
        assert!(outline.has("deep"));
        let list = Outline::of(r#"[{"role":"system","content":"You"#);
        assert!(list.is_list && list.has("content"));
        assert_eq!(list.text("role"), Some("system"));
        assert_eq!(Outline::of("no json"), Outline::default());
    }

    #[test]
    fn a_list_of_lists_ends() {
        let deep = "[".repeat(100_000);
        assert!(Outline::of(&deep).is_list);
    }
}
