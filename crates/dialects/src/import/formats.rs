//! The formats of recordings: one line each, and which of them a file has.

use super::Format;
use crate::lines::BYTE_ORDER_MARK;
use crate::transcript::agent::Agent;
use crate::{atif, claude, codex, copilot, gemini, opencode, openhands, swe_agent};

/// All formats. A file is of the first one that recognizes it.
pub(crate) static FORMATS: [&Kind; 8] = [
    &atif::KIND,
    &claude::KIND,
    &codex::KIND,
    &copilot::KIND,
    &gemini::KIND,
    &opencode::KIND,
    &openhands::KIND,
    &swe_agent::KIND,
];

/// A format of recordings.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) agent: &'static Agent,
    /// The agent's name for people.
    pub(crate) title: &'static str,
    /// How the names of files end that are looked for in a folder, without the dot.
    pub(crate) endings: &'static [&'static str],
    /// Why an import of this format leaves a file with another ending alone.
    pub(crate) unwanted: &'static str,
    /// Why an import of another format leaves a file of this one alone.
    pub(crate) left: &'static str,
    pub(crate) recognizes: fn(&Head<'_>) -> bool,
    pub(crate) format: fn() -> Box<dyn Format>,
}

impl Kind {
    fn has_ending(&self, name: &str) -> bool {
        let ending = name.rsplit_once('.').map(|(_, ending)| ending);
        ending.is_some_and(|ending| {
            let is_it = |known: &&str| known.eq_ignore_ascii_case(ending);
            self.endings.iter().any(is_it)
        })
    }
}

/// The beginning of a file, by which its format is recognized.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Head<'a> {
    /// The file's name.
    pub(crate) name: &'a str,
    /// Its first bytes, as far as they are UTF-8.
    pub(crate) text: &'a str,
    /// Its first bytes.
    pub(crate) bytes: &'a [u8],
    /// Whether that is all of it.
    pub(crate) is_all: bool,
}

impl<'a> Head<'a> {
    /// The JSON objects on its lines, one or several on each, as far as they are whole.
    pub(crate) fn objects(
        &self,
    ) -> impl Iterator<Item = serde_json::Map<String, serde_json::Value>> {
        let lines = self.text.lines().map(str::trim);
        lines.flat_map(|line| {
            let values = serde_json::Deserializer::from_str(line).into_iter();
            values.map_while(Result::ok)
        })
    }
}

/// Bytes as far as they are UTF-8, without a byte order mark before them.
pub(crate) fn text(bytes: &[u8]) -> &str {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let whole = bytes.get(..error.valid_up_to()).unwrap_or_default();
            std::str::from_utf8(whole).unwrap_or_default()
        }
    }
}

/// The format with this key.
pub(crate) fn by_key(key: &str) -> Option<&'static Kind> {
    FORMATS.into_iter().find(|kind| kind.agent.key == key)
}

/// The format of a file by its beginning.
pub(crate) fn of(head: &Head<'_>) -> Option<&'static Kind> {
    FORMATS.into_iter().find(|kind| (kind.recognizes)(head))
}

/// Whether a file of this name may be a recording: of one format, or of any.
pub(crate) fn is_wanted(kind: Option<&Kind>, name: &str) -> bool {
    match kind {
        Some(kind) => kind.has_ending(name),
        None => FORMATS.iter().any(|kind| kind.has_ending(name)),
    }
}

/// What is looked for in a folder, for people.
pub(crate) fn wanted(kind: Option<&Kind>) -> String {
    let Some(kind) = kind else {
        return "recording".to_owned();
    };
    let endings: Vec<String> = kind.endings.iter().map(|it| format!("*.{it}")).collect();
    format!("{} file", endings.join(" or "))
}
