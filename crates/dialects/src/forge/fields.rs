//! A mapping of a file, read field by field.
//!
//! Null is as good as nothing. What is wrong is named by its line and its place
//! (`tasks[1].depends_on[0]`). What nothing has read is kept.

use super::data::{Entry, Extra, Node, Scalar, Value};
use super::error::{ForgeError, Place, Read, shown};
use super::words::{Word, nearest};
use crate::report::below;
use annals_domain::UnknownWord;
use annals_domain::intent::{ListedType, WorkType};

/// What to do where a text is something else.
const QUOTE: &str = "put a text in quotes, or after `|` if it has several lines";

/// What to do where a list is something else.
const LIST: &str = "write each item after `- ` on a line of its own, or all of them in `[ ]`";

/// What to do where a mapping is something else.
const MAPPING: &str = "write `key: value` lines";

/// How deep a value of a key that is not known may be nested. It is kept as JSON,
/// whose readers stop at 128, and each level takes three of them there.
pub const MOST_KEPT: usize = 32;

/// A mapping that is being read.
pub(super) struct Fields {
    at: Place,
    left: Vec<Entry>,
}

fn wrong_type(at: Place, expected: &'static str, node: Node, remedy: &'static str) -> ForgeError {
    let found = node.what();
    match node.value {
        Value::Wrong(error) => *error,
        Value::Scalar(_) | Value::List(_) | Value::Map(_) => ForgeError::Type {
            at,
            expected,
            found,
            remedy,
        },
    }
}

/// The text that a node is. A value without quotes is its spelling: a text
/// field of `012` is "012".
pub(super) fn text_of(at: Place, node: Node) -> Read<String> {
    match node.value {
        Value::Scalar(scalar) if !scalar.is_null() => Ok(scalar.into_string()),
        _ => Err(wrong_type(at, "a text", node, QUOTE)),
    }
}

/// The items of a list, each with its place.
pub(super) fn items_of(at: &Place, node: Node) -> Read<Vec<(Place, Node)>> {
    let Value::List(nodes) = node.value else {
        return Err(wrong_type(at.clone(), "a list", node, LIST));
    };
    let nodes = nodes.into_iter().enumerate();
    let placed = nodes.map(|(index, item)| {
        let path = format!("{}[{index}]", at.path);
        (
            Place {
                line: item.line,
                path,
            },
            item,
        )
    });
    Ok(placed.collect())
}

fn not_blank(at: Place, text: String) -> Read<String> {
    if text.trim().is_empty() {
        return Err(ForgeError::Blank { at });
    }
    Ok(text)
}

impl Fields {
    /// The mapping that a node is.
    pub(super) fn of(at: Place, node: Node) -> Read<Fields> {
        match node.value {
            Value::Map(left) => Ok(Fields { at, left }),
            _ => Err(wrong_type(at, "a mapping", node, MAPPING)),
        }
    }

    /// Where a field is or would be.
    pub(super) fn place(&self, name: &str, line: Option<u64>) -> Place {
        Place {
            line: line.or(self.at.line),
            path: below(&self.at.path, name),
        }
    }

    /// Whether there is such a field, and it is neither null nor an empty list.
    pub(super) fn has(&self, name: &str) -> bool {
        let is_nothing = |node: &Node| match &node.value {
            Value::List(items) => items.is_empty(),
            _ => is_null(node),
        };
        let mut entries = self.left.iter();
        entries.any(|entry| entry.key.as_str() == name && !is_nothing(&entry.value))
    }

    /// A field's value with its place, unless it is null or absent.
    pub(super) fn take(&mut self, name: &str) -> Option<(Place, Node)> {
        let index = self
            .left
            .iter()
            .position(|entry| entry.key.as_str() == name)?;
        let Entry { value, .. } = self.left.remove(index);
        (!is_null(&value)).then(|| (self.place(name, value.line), value))
    }

    fn there<T>(&self, name: &str, value: Option<T>) -> Read<T> {
        let missing = || ForgeError::Missing {
            at: self.place(name, None),
        };
        value.ok_or_else(missing)
    }

    /// A text that may be absent.
    pub(super) fn optional_text(&mut self, name: &str) -> Read<Option<String>> {
        let taken = self.take(name);
        taken.map(|(at, node)| text_of(at, node)).transpose()
    }

    /// A text.
    pub(super) fn text(&mut self, name: &str) -> Read<String> {
        let value = self.optional_text(name)?;
        self.there(name, value)
    }

    /// A text that may be absent but not blank.
    pub(super) fn optional_name(&mut self, name: &str) -> Read<Option<String>> {
        let Some((at, node)) = self.take(name) else {
            return Ok(None);
        };
        not_blank(at.clone(), text_of(at, node)?).map(Some)
    }

    /// A text that is not blank.
    pub(super) fn name(&mut self, name: &str) -> Read<String> {
        let value = self.optional_name(name)?;
        self.there(name, value)
    }

    /// The id of what a file or an answer is about, which is known already: it may
    /// be left out, and it may not be another.
    pub(super) fn known_id(&mut self, name: &str, expected: &str) -> Read<String> {
        if let Some((at, node)) = self.take(name) {
            let found = text_of(at.clone(), node)?;
            if found != expected {
                return Err(ForgeError::Elsewhere {
                    at,
                    found: shown(&found),
                    expected: shown(expected),
                });
            }
        }
        Ok(expected.to_owned())
    }

    /// True or false, which may be absent.
    pub(super) fn optional_flag(&mut self, name: &str) -> Read<Option<(Place, bool)>> {
        let Some((at, node)) = self.take(name) else {
            return Ok(None);
        };
        let flag = match &node.value {
            Value::Scalar(scalar) => scalar.as_bool(),
            _ => None,
        };
        match flag {
            Some(flag) => Ok(Some((at, flag))),
            None => Err(wrong_type(
                at,
                "true or false",
                node,
                "write one of the two, unquoted",
            )),
        }
    }

    /// A word that may be absent.
    pub(super) fn optional_word<T: Word>(&mut self, name: &str) -> Read<Option<T>> {
        let Some((at, node)) = self.take(name) else {
            return Ok(None);
        };
        let word = text_of(at.clone(), node)?;
        let unknown = || ForgeError::Word {
            at,
            word: shown(&word),
            known: T::known(),
            nearest: nearest(&word, T::known()).map(str::to_owned),
        };
        T::of(&word).ok_or_else(unknown).map(Some)
    }

    /// A type of work, which may be absent: any word, but for a listed one in other
    /// letters.
    pub(super) fn optional_type(&mut self, name: &str) -> Read<Option<WorkType>> {
        let Some((at, node)) = self.take(name) else {
            return Ok(None);
        };
        let word = text_of(at.clone(), node)?;
        let slip = |error: UnknownWord| ForgeError::Word {
            at,
            nearest: nearest(&word, ListedType::ALL.iter().map(|it| it.as_str()))
                .map(str::to_owned),
            word: shown(&word),
            known: error.known.to_vec(),
        };
        word.parse().map_err(slip).map(Some)
    }

    /// A word.
    pub(super) fn word<T: Word>(&mut self, name: &str) -> Read<T> {
        let value = self.optional_word(name)?;
        self.there(name, value)
    }

    /// Items with their places; none where they are absent.
    pub(super) fn items(&mut self, name: &str) -> Read<Vec<(Place, Node)>> {
        match self.take(name) {
            Some((at, node)) => items_of(&at, node),
            None => Ok(Vec::new()),
        }
    }

    /// Texts; none where they are absent.
    pub(super) fn texts(&mut self, name: &str) -> Read<Vec<String>> {
        let items = self.items(name)?.into_iter();
        items.map(|(at, node)| text_of(at, node)).collect()
    }

    /// Labels: a list, or one word.
    pub(super) fn labels(&mut self, name: &str) -> Read<Vec<String>> {
        let Some((at, node)) = self.take(name) else {
            return Ok(Vec::new());
        };
        if matches!(node.value, Value::Scalar(_)) {
            let text = not_blank(at.clone(), text_of(at.clone(), node)?)?;
            if text.contains([',', '、', '，']) {
                let text = shown(&text);
                return Err(ForgeError::CommaLabels { at, text });
            }
            return Ok(vec![text]);
        }
        let label = |(at, node): (Place, Node)| not_blank(at.clone(), text_of(at, node)?);
        items_of(&at, node)?.into_iter().map(label).collect()
    }

    /// What nothing has read.
    pub(super) fn extra(self) -> Read<Extra> {
        let pair = |Entry { key, value }: Entry| {
            let line = value.line;
            let data = value.into_data()?;
            match data.is_deeper_than(MOST_KEPT) {
                true => Err(ForgeError::TooDeep {
                    line,
                    limit: MOST_KEPT,
                }),
                false => Ok((key, data)),
            }
        };
        let pairs: Read<Vec<(Scalar, _)>> = self.left.into_iter().map(pair).collect();
        pairs.map(Extra)
    }
}

fn is_null(node: &Node) -> bool {
    matches!(&node.value, Value::Scalar(scalar) if scalar.is_null())
}
