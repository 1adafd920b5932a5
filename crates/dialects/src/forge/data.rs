//! What a file says, as data: for the keys that this module does not know and
//! keeps (docs/spec/forge.md: "unknown keys are kept").
//!
//! YAML decides by the spelling of an unquoted scalar what it is, and its versions
//! do so differently: `012`, `yes`, `1e3` or `2024-01-01` may be texts or not. So
//! nothing is decided here. What may be other than a text keeps its spelling and is
//! written without quotes again, so that every reader reads what was there.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::error::{ForgeError, Read, shown};

/// A scalar.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scalar {
    /// A text.
    Text(String),
    /// What was written without quotes and may be a number, a date, true, false or null:
    /// its spelling.
    Bare(String),
}

impl Scalar {
    /// The scalar that a spelling without quotes is. Nothing at all is null, for
    /// which `~` is written.
    pub(super) fn bare(spelling: String) -> Scalar {
        if spelling.is_empty() {
            Scalar::Bare("~".to_owned())
        } else if may_mean_something(&spelling) {
            Scalar::Bare(spelling)
        } else {
            Scalar::Text(spelling)
        }
    }

    /// Its text, or its spelling.
    pub fn as_str(&self) -> &str {
        match self {
            Scalar::Text(text) | Scalar::Bare(text) => text,
        }
    }

    /// Its text, or its spelling.
    pub(super) fn into_string(self) -> String {
        match self {
            Scalar::Text(text) | Scalar::Bare(text) => text,
        }
    }

    /// Whether it is null: nothing at all, `~` or `null` without quotes.
    pub fn is_null(&self) -> bool {
        matches!(self, Scalar::Bare(text)
            if matches!(text.as_str(), "~" | "null" | "Null" | "NULL"))
    }

    /// Whether it is true or false by YAML 1.2, which `yes` and `no` are not.
    pub fn as_bool(&self) -> Option<bool> {
        let Scalar::Bare(text) = self else {
            return None;
        };
        match text.as_str() {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        }
    }
}

/// Whether a spelling without quotes may be something else than a text, in any
/// version of YAML. Numbers, times, nulls and the like are of these characters
/// alone and do not begin with a letter, the words apart.
fn may_mean_something(spelling: &str) -> bool {
    if spelling.starts_with(|first: char| first.is_ascii_alphabetic()) {
        return is_word(spelling);
    }
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b".+-_:~=< ".contains(&byte);
    // What could not be written without quotes again is a text for every reader.
    let unwritable = spelling.contains(": ")
        || spelling.starts_with([':', ' '])
        || spelling.starts_with("- ")
        || spelling.ends_with([':', ' '])
        || matches!(spelling, "-" | "---" | "...");
    spelling.bytes().all(known) && !unwritable
}

/// Whether a word is true, false or null in some version of YAML.
pub(super) fn is_word(text: &str) -> bool {
    const WORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];
    WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// A value: a scalar, a list or a mapping in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Data {
    /// A scalar.
    Scalar(Scalar),
    /// A list.
    List(Vec<Data>),
    /// A mapping without duplicate keys.
    Map(Vec<(Scalar, Data)>),
}

impl Data {
    /// Whether lists and mappings are nested in it more often than this.
    pub(super) fn is_deeper_than(&self, limit: usize) -> bool {
        let below = |data: &Data| limit == 0 || data.is_deeper_than(limit - 1);
        match self {
            Data::Scalar(_) => false,
            Data::List(items) => items.iter().any(below) || limit == 0,
            Data::Map(pairs) => pairs.iter().any(|(_, data)| below(data)) || limit == 0,
        }
    }

    /// A text.
    pub(super) fn text(text: impl Into<String>) -> Data {
        Data::Scalar(Scalar::Text(text.into()))
    }
}

/// The keys that are not known, in their order, with what they have.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Extra(pub Vec<(Scalar, Data)>);

impl Extra {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a key has.
    pub fn get(&self, key: &str) -> Option<&Data> {
        let mut pairs = self.0.iter();
        pairs
            .find(|(name, _)| name.as_str() == key)
            .map(|(_, data)| data)
    }
}

/// A value of a text that is being read, with its line.
#[derive(Debug)]
pub(super) struct Node {
    /// The line, from 1; none in JSON that an agent answered.
    pub(super) line: Option<u64>,
    pub(super) value: Value,
}

/// What a node is.
#[derive(Debug)]
pub(super) enum Value {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Entry>),
    /// What cannot be read. It is an error only where this value is needed, so
    /// that one bad task of a file does not lose the others.
    Wrong(Box<ForgeError>),
}

/// A key and its value.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) key: Scalar,
    pub(super) value: Node,
}

impl Node {
    /// The value as data, without its lines. Values are nested no deeper than
    /// their readers allow.
    pub(super) fn into_data(self) -> Read<Data> {
        match self.value {
            Value::Scalar(scalar) => Ok(Data::Scalar(scalar)),
            Value::List(nodes) => {
                let items: Read<Vec<Data>> = nodes.into_iter().map(Node::into_data).collect();
                items.map(Data::List)
            }
            Value::Map(entries) => {
                let pair = |Entry { key, value }| Ok((key, value.into_data()?));
                let pairs: Read<Vec<_>> = entries.into_iter().map(pair).collect();
                pairs.map(Data::Map)
            }
            Value::Wrong(error) => Err(*error),
        }
    }

    /// The text that a key of a mapping has.
    pub(super) fn text_at(&self, name: &str) -> Option<&str> {
        let Value::Map(entries) = &self.value else {
            return None;
        };
        let entry = entries.iter().find(|entry| entry.key.as_str() == name)?;
        match &entry.value.value {
            Value::Scalar(scalar) => Some(scalar.as_str()),
            _ => None,
        }
    }

    /// What it is, for people.
    pub(super) fn what(&self) -> &'static str {
        match &self.value {
            Value::Scalar(scalar) if scalar.is_null() => "null",
            Value::Scalar(scalar) if scalar.as_bool().is_some() => "true or false",
            Value::Scalar(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a mapping",
            Value::Wrong(_) => "something that cannot be read",
        }
    }
}

/// Gathers the entries of a mapping and finds a duplicate key.
#[derive(Debug, Default)]
pub(super) struct Entries {
    entries: Vec<Entry>,
    lines: HashMap<String, Option<u64>>,
    wrong: Option<ForgeError>,
}

impl Entries {
    /// Adds an entry; its key is in this line.
    pub(super) fn push(&mut self, key: Scalar, line: Option<u64>, value: Node) {
        match self.lines.insert(key.as_str().to_owned(), line) {
            None => self.entries.push(Entry { key, value }),
            Some(first) => self.refuse(ForgeError::DuplicateKey {
                line,
                first,
                key: shown(key.as_str()),
            }),
        }
    }

    /// Makes the mapping wrong; the first reason counts.
    pub(super) fn refuse(&mut self, error: ForgeError) {
        self.wrong.get_or_insert(error);
    }

    /// The mapping.
    pub(super) fn finish(self) -> Value {
        match self.wrong {
            Some(error) => Value::Wrong(Box::new(error)),
            None => Value::Map(self.entries),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_other_than_a_text_keeps_its_spelling() {
        let odd = [
            "~",
            "null",
            "True",
            "yes",
            "No",
            "on",
            "012",
            "0o7",
            "1e3",
            "1.0",
            "-.inf",
            ".nan",
            "2024-01-01",
            "2024-01-01 10:00:00 +9",
            "190:20:30",
            "1_000",
            "<<",
            "=",
            "+1",
            "-",
        ];
        for text in odd {
            let bare = !matches!(text, "-");
            let scalar = Scalar::bare(text.to_owned());
            assert_eq!(matches!(scalar, Scalar::Bare(_)), bare, "{text:?}");
            assert_eq!(scalar.as_str(), text);
        }
        for text in [
            "text", "題", "nullable", "1 2\n3", "日本", "a: b", "{", "10%",
        ] {
            assert_eq!(Scalar::bare(text.to_owned()), Scalar::Text(text.to_owned()));
        }
    }

    #[test]
    fn null_and_true_are_what_yaml_1_2_says() {
        assert!(Scalar::bare("~".to_owned()).is_null());
        assert!(!Scalar::Text("~".to_owned()).is_null());
        assert_eq!(Scalar::bare("TRUE".to_owned()).as_bool(), Some(true));
        assert_eq!(Scalar::bare("yes".to_owned()).as_bool(), None);
        assert_eq!(Scalar::Text("true".to_owned()).as_bool(), None);
    }
}
