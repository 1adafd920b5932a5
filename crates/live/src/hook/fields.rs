//! The fields of a hook's JSON, each as it is written, without secrets.

use annals_dialects::import::{JsonFields, RedactedFields, RedactedText};

use super::unreadable::UnreadableHook;

/// The most characters of a value that is shown in short.
const SHOWN: usize = 200;

/// The most names of fields that are listed.
const NAMED: usize = 20;

/// The fields of an object, by their names.
#[derive(Debug)]
pub(super) struct Fields<'a>(RedactedFields<'a>);

/// What a text is that is not a JSON object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NotAnObject {
    Empty,
    Other,
}

impl NotAnObject {
    /// The words for it.
    fn as_str(self) -> &'static str {
        match self {
            NotAnObject::Empty => "it is empty",
            NotAnObject::Other => "it is not a JSON object",
        }
    }
}

impl From<NotAnObject> for UnreadableHook {
    fn from(found: NotAnObject) -> UnreadableHook {
        match found {
            NotAnObject::Empty => UnreadableHook::Empty,
            NotAnObject::Other => UnreadableHook::NotAnObject,
        }
    }
}

/// The fields of a text as it came, with its secrets; else what is wrong with it.
pub(super) fn as_it_came(text: &str) -> Result<JsonFields<'_>, UnreadableHook> {
    object(text)?;
    JsonFields::read(text).map_err(UnreadableHook::Json)
}

/// Whether a text may be an object; else what it is.
fn object(text: &str) -> Result<(), NotAnObject> {
    match text.trim_start() {
        "" => Err(NotAnObject::Empty),
        text if text.starts_with('{') => Ok(()),
        _ => Err(NotAnObject::Other),
    }
}

/// The first of some fields that is there and a text with something in it, or the first text of a list.
pub(super) fn first(fields: &JsonFields<'_>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| fields.text(name))
}

impl<'a> Fields<'a> {
    /// The fields of a text that is one object; else what is wrong with it.
    pub(super) fn read(text: &'a RedactedText) -> Result<Fields<'a>, RedactedText> {
        object(text).map_err(|found| RedactedText::from(found.as_str()))?;
        text.fields()
            .map(Fields)
            .map_err(|error| unreadable(&error))
    }

    /// A value as JSON; nothing, where it is null.
    pub(super) fn json(&self, name: &str) -> Option<RedactedText> {
        self.0.json(name)
    }

    /// The first of some fields that is there and a text with something in it, or the first text of a list.
    pub(super) fn first(&self, names: &[&str]) -> Option<RedactedText> {
        names.iter().find_map(|name| self.0.text(name))
    }

    /// Values in short, for people: texts as they are and all else as JSON.
    pub(super) fn shown(&self, names: &[&str]) -> Option<RedactedText> {
        let show = |name: &&str| Some(self.0.shown(name)?.part(short)).filter(|it| !it.is_empty());
        let shown: Vec<RedactedText> = names.iter().filter_map(show).collect();
        (!shown.is_empty()).then(|| RedactedText::joined(&shown, ", "))
    }

    /// The names of fields that are in none of the lists.
    pub(super) fn unknown(&self, common: &[&str], own: &[&str]) -> Vec<RedactedText> {
        let is_known = |name: &str| common.contains(&name) || own.contains(&name);
        let names = self.0.names().filter(|name| !is_known(name));
        names.take(NAMED).collect()
    }
}

/// A text without the spaces around it, as far as it is shown.
fn short(text: &str) -> &str {
    let text = text.trim();
    let cut = text.char_indices().nth(SHOWN).map(|(at, _)| at);
    cut.and_then(|at| text.get(..at)).unwrap_or(text)
}

/// What is wrong with JSON, and where.
fn unreadable(error: &serde_json::Error) -> RedactedText {
    let what = match error.is_eof() {
        true => "it cannot be read as JSON: it ends early, at line ",
        false => "it cannot be read as JSON: it is malformed at line ",
    };
    let [line, column] = [error.line(), error.column()].map(|it| RedactedText::from(it as u64));
    RedactedText::joined(&[what.into(), line, " column ".into(), column], "")
}
