//! The fields of a hook's JSON, each as it is written.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// The most characters of a value that is shown in short.
const SHOWN: usize = 200;

/// The most names of fields that are listed.
const NAMED: usize = 20;

/// The fields of an object, by their names.
#[derive(Debug)]
pub(super) struct Fields<'a>(BTreeMap<String, &'a RawValue>);

impl<'a> Fields<'a> {
    /// The fields of a text that is one object; else what is wrong with it.
    pub(super) fn read(text: &'a str) -> Result<Fields<'a>, String> {
        if text.trim().is_empty() {
            return Err("it is empty".to_owned());
        }
        if !text.trim_start().starts_with('{') {
            return Err("it is not a JSON object".to_owned());
        }
        let read: Result<BTreeMap<String, &RawValue>, _> = serde_json::from_str(text);
        match read {
            Ok(fields) => Ok(Fields(fields)),
            Err(error) => Err(format!("it cannot be read as JSON: {error}")),
        }
    }

    /// A value as it is written; nothing, where it is null.
    pub(super) fn raw(&self, name: &str) -> Option<&'a RawValue> {
        let raw = self.0.get(name).copied()?;
        (raw.get() != "null").then_some(raw)
    }

    /// The first of some fields that is there and a text with something in it, or the first text of a list.
    pub(super) fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.text(name))
    }

    fn text(&self, name: &str) -> Option<String> {
        let raw = self.raw(name)?.get();
        let text = serde_json::from_str(raw).ok().or_else(|| {
            let list: Vec<String> = serde_json::from_str(raw).ok()?;
            list.into_iter().next()
        })?;
        Some(text).filter(|text: &String| !text.trim().is_empty())
    }

    /// Values in short, for people: texts as they are and all else as JSON.
    pub(super) fn shown(&self, names: &[&str]) -> Option<String> {
        let show = |name: &&str| {
            let raw = self.raw(name)?.get();
            let text: Result<String, _> = serde_json::from_str(raw);
            let text = text.unwrap_or_else(|_| raw.to_owned());
            let text = text.trim();
            let cut = text.char_indices().nth(SHOWN).map(|(at, _)| at);
            let text = cut.and_then(|at| text.get(..at)).unwrap_or(text);
            (!text.is_empty()).then(|| text.to_owned())
        };
        let shown: Vec<String> = names.iter().filter_map(show).collect();
        (!shown.is_empty()).then(|| shown.join(", "))
    }

    /// The names of fields that are in none of the lists.
    pub(super) fn unknown(&self, common: &[&str], own: &[&str]) -> Vec<String> {
        let is_known = |name: &str| common.contains(&name) || own.contains(&name);
        let names = self.0.keys().filter(|name| !is_known(name));
        names.take(NAMED).cloned().collect()
    }
}
