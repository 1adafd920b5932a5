//! The texts within JSON: what a person would read of it.

use std::fmt::{self, Write as _};

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// How deep JSON is looked for within the texts of JSON.
const WITHIN: u32 = 3;

/// Characters from which on a text in base64 is taken for data.
const DATA: usize = 256;

/// Adds the texts and numbers of a JSON value to `out`, each on a line of its own; without the names of fields. A text
/// that is JSON again, an object or a list, is read as such; one of base64 is left out. What is no JSON is added as
/// it is.
pub(crate) fn add_json(json: &str, out: &mut String) {
    add(json, WITHIN, out);
}

fn add(json: &str, within: u32, out: &mut String) {
    let before = out.len();
    let mut parser = serde_json::Deserializer::from_str(json);
    let read = Texts { out, within }.deserialize(&mut parser);
    if read.and_then(|()| parser.end()).is_err() {
        out.truncate(before);
        add_line(json, out);
    }
}

fn add_line(text: &str, out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
    out.push_str(text);
}

fn is_data(text: &str) -> bool {
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte);
    text.len() >= DATA && text.bytes().all(is_base64)
}

/// Reads a value, and adds its texts.
struct Texts<'o> {
    out: &'o mut String,
    within: u32,
}

impl Texts<'_> {
    fn again(&mut self) -> Texts<'_> {
        Texts {
            out: self.out,
            within: self.within,
        }
    }

    fn number(self, number: impl fmt::Display) {
        add_line("", self.out);
        let _ = write!(self.out, "{number}");
    }
}

impl<'de> DeserializeSeed<'de> for Texts<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Texts<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.number(number);
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.number(number);
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.number(number);
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        let may_be_json = self.within > 0 && text.trim_start().starts_with(['{', '[']);
        if may_be_json {
            add(text, self.within - 1, self.out);
        } else if !is_data(text) {
            add_line(text, self.out);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self.again())?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut fields: A) -> Result<(), A::Error> {
        while fields.next_key::<serde::de::IgnoredAny>()?.is_some() {
            fields.next_value_seed(self.again())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> String {
        let mut out = String::new();
        add_json(json, &mut out);
        out
    }

    #[test]
    fn texts_and_numbers_are_lines() {
        let data = "QUJD".repeat(100);
        for (json, expected) in [
            (r#""one\ntwo""#.to_owned(), "one\ntwo"),
            (
                r#"{"command":"go test ./...","timeout":60,"x":[true,null,-1.5]}"#.to_owned(),
                "go test ./...\n60\n-1.5",
            ),
            (
                r#"{"arguments":"{\"cmd\":[\"ls\",\"-l\"]}"}"#.to_owned(),
                "ls\n-l",
            ),
            (r#"["{broken", "[x"]"#.to_owned(), "{broken\n[x"),
            ("not JSON {".to_owned(), "not JSON {"),
            (format!(r#"{{"type":"image","data":"{data}"}}"#), "image"),
            (String::new(), ""),
        ] {
            assert_eq!(of(&json), expected, "{json}");
        }
        let deep = format!("{}1{}", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(of(&deep), deep);
    }
}
