//! The enums of all events: their words and the numbers that are stored.

use serde_json::{Map, Value};

use super::DOCS;
use super::schema::description;

/// One enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    /// Its name in the source and in schemas.
    pub name: String,
    /// What it says, and of what.
    pub meaning: String,
    /// Whether any other word is allowed too; it is stored with the number 0.
    pub open: bool,
    /// The words, by number.
    pub words: Vec<Word>,
}

/// One word of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The number that is stored.
    pub number: u16,
    /// The word that text formats use.
    pub word: String,
    /// What it means.
    pub meaning: String,
}

/// Every enum that an event has, by name.
pub fn vocabularies() -> &'static [Vocabulary] {
    &DOCS.vocabularies
}

/// Whether a definition is that of an enum.
pub(super) fn is_vocabulary(definition: &Value) -> bool {
    forms(definition).any(|form| form.get("x-number").is_some())
}

fn forms(definition: &Value) -> impl Iterator<Item = &Value> {
    let forms = definition.get("anyOf").and_then(Value::as_array);
    forms.into_iter().flatten()
}

/// The enums among definitions.
pub(super) fn read(definitions: &Map<String, Value>) -> Vec<Vocabulary> {
    let enums = definitions.iter().filter(|(_, it)| is_vocabulary(it));
    let vocabulary = |(name, definition): (&String, &Value)| {
        let words: Vec<Word> = forms(definition).filter_map(word).collect();
        Vocabulary {
            name: name.clone(),
            meaning: description(definition),
            open: words.len() < forms(definition).count(),
            words,
        }
    };
    enums.map(vocabulary).collect()
}

fn word(form: &Value) -> Option<Word> {
    Some(Word {
        number: form.get("x-number")?.as_u64()?.try_into().ok()?,
        word: form.get("const")?.as_str()?.to_owned(),
        meaning: description(form),
    })
}
