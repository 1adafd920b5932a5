//! What becomes of each field of a line: every JSON path is kept, inferred
//! from or lost.
//!
//! A table says it for the paths that the importer uses; a path in it is
//! counted as a whole, with all below it. What no table names is lost, and
//! counted at its leaves.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::report::Fields;

/// How deep objects and lists are looked into; what is deeper counts as one.
const DEPTH: usize = 32;

/// The longest key that a path has, in characters; longer ones are cut.
const KEY: usize = 80;

/// What becomes of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is in the log as it was.
    Kept,
    /// Something in the log follows from it.
    Inferred,
    /// It is not in the log.
    Lost,
    /// It is counted elsewhere.
    Apart,
}

/// What becomes of paths. Those that stand nowhere are lost.
pub(crate) type Table = &'static [(&'static str, Fate)];

use Fate::{Apart, Inferred, Kept, Lost};

/// A line of which only the type is looked at.
pub(crate) const NOTHING: Table = &[];

/// Counts the fields of `json`, which stands at `path` ("" is the whole line),
/// by a table. The paths in `lost` are lost, whatever the table says.
pub(crate) fn count(json: &str, path: &str, table: Table, lost: &[&str], fields: &mut Fields) {
    let mut path = path.to_owned();
    let mut reader = serde_json::Deserializer::from_str(json);
    let walk = Walk {
        path: &mut path,
        table,
        lost,
        fields,
        depth: 0,
    };
    // The text was read before: it is JSON. Every key is a text.
    let _ = walk.deserialize(&mut reader);
}

struct Walk<'a> {
    path: &'a mut String,
    table: Table,
    lost: &'a [&'a str],
    fields: &'a mut Fields,
    depth: usize,
}

impl Walk<'_> {
    /// What becomes of the path that it is at, if that is decided here.
    fn fate(&self) -> Option<Fate> {
        if self.lost.contains(&self.path.as_str()) {
            return Some(Lost);
        }
        let found = self.table.iter().find(|(path, _)| path == self.path);
        let decided = found.map(|(_, fate)| *fate);
        decided.or((self.depth >= DEPTH).then_some(Lost))
    }

    fn leaf(&mut self) {
        let path = if self.path.is_empty() {
            "(the whole line)"
        } else {
            self.path.as_str()
        };
        self.fields.lost(path, 1);
    }

    fn below(&mut self) -> Walk<'_> {
        Walk {
            path: self.path,
            table: self.table,
            lost: self.lost,
            fields: self.fields,
            depth: self.depth + 1,
        }
    }

    fn enter(&mut self, key: &str) -> usize {
        let length = self.path.len();
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.extend(key.chars().take(KEY));
        length
    }
}

/// A key, borrowed from the text unless it has escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.fate() {
            None => return deserializer.deserialize_any(self),
            Some(Kept) => self.fields.kept(self.path),
            Some(Inferred) => self.fields.inferred(self.path),
            Some(Lost) => self.fields.lost(self.path, 1),
            Some(Apart) => {}
        }
        IgnoredAny::deserialize(deserializer).map(|_| ())
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let mut empty = true;
        while let Some(Key(key)) = map.next_key()? {
            empty = false;
            let length = self.enter(&key);
            map.next_value_seed(self.below())?;
            self.path.truncate(length);
        }
        if empty {
            self.leaf();
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        let length = self.path.len();
        self.path.push_str("[]");
        let mut empty = true;
        while list.next_element_seed(self.below())?.is_some() {
            empty = false;
        }
        self.path.truncate(length);
        if empty {
            self.leaf();
        }
        Ok(())
    }

    fn visit_unit<E>(mut self) -> Result<(), E> {
        self.leaf();
        Ok(())
    }

    fn visit_bool<E>(mut self, _: bool) -> Result<(), E> {
        self.leaf();
        Ok(())
    }

    fn visit_i64<E>(mut self, _: i64) -> Result<(), E> {
        self.leaf();
        Ok(())
    }

    fn visit_u64<E>(mut self, _: u64) -> Result<(), E> {
        self.leaf();
        Ok(())
    }

    fn visit_f64<E>(mut self, _: f64) -> Result<(), E> {
        self.leaf();
        Ok(())
    }

    fn visit_str<E>(mut self, _: &str) -> Result<(), E> {
        self.leaf();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    const CALL: Table = &[
        ("message.content[].type", Kept),
        ("message.content[].input", Kept),
    ];
    const WHOLE: Table = &[("message.content[]", Kept)];

    use super::*;
    use crate::report::ImportReport;

    fn counted(json: &str, path: &str, table: Table, lost: &[&str]) -> Vec<String> {
        let mut fields = Fields::default();
        count(json, path, table, lost, &mut fields);
        let mut report = ImportReport::default();
        fields.report(&mut report);
        let mut all = Vec::new();
        for (fate, list) in [
            ("kept", report.fields_kept),
            ("inferred", report.fields_inferred),
            ("lost", report.fields_lost),
        ] {
            let text = |field: crate::FieldCount| format!("{fate} {} {}", field.path, field.count);
            all.extend(list.into_iter().map(text));
        }
        all
    }

    #[test]
    fn every_path_is_counted_once_and_by_the_table() {
        let table: Table = &[("a", Kept), ("b.c", Inferred), ("d", Apart)];
        let json =
            r#"{"a":{"x":[1,2]},"b":{"c":1,"e":null},"d":[5],"f":[{"g":1.5},{"g":"x"},{}],"h":[]}"#;
        let expected = [
            "kept a 1",
            "inferred b.c 1",
            "lost b.e 1",
            "lost f[] 1",
            "lost f[].g 2",
            "lost h 1",
        ];
        assert_eq!(counted(json, "", table, &[]), expected);
    }

    #[test]
    fn what_was_too_large_is_lost_whatever_the_table_says() {
        let json = r#"{"type":"tool_use","input":{"a":{"b":1}}}"#;
        let path = "message.content[]";
        let counts = counted(json, path, CALL, &["message.content[].input"]);
        let expected = [
            "kept message.content[].type 1",
            "lost message.content[].input 1",
        ];
        assert_eq!(counts, expected);
        assert_eq!(
            counted("{}", path, WHOLE, &[]),
            ["kept message.content[] 1"]
        );
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
        let counts = counted(&deep, "x", NOTHING, &[]);
        assert_eq!(counts, [format!("lost x{} 1", "[]".repeat(DEPTH))]);
        let odd = format!(r#"{{"{}":1}}"#, "k".repeat(1_000));
        assert_eq!(
            counted(&odd, "", NOTHING, &[]),
            [format!("lost {} 1", "k".repeat(KEY))]
        );
        assert_eq!(counted("{}", "", NOTHING, &[]), ["lost (the whole line) 1"]);
    }
}
