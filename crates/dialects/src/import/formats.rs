//! The formats of recordings: one line each, and which of them a file has.

use super::compressed::{is_compressed, plain_name};
use super::error::ImportError;
use super::format::{Companions, Head, Kind};
use crate::lines::BYTE_ORDER_MARK;
use crate::{
    atif, claude, codex, copilot, copilot_chat, cursor, gemini, opencode, openhands, swe_agent,
};

/// All formats. A file is of the first one that recognizes it.
pub(crate) static FORMATS: [&Kind; 10] = [
    &atif::KIND,
    &claude::KIND,
    &codex::KIND,
    &copilot::KIND,
    &copilot_chat::KIND,
    &cursor::KIND,
    &gemini::KIND,
    &opencode::KIND,
    &openhands::KIND,
    &swe_agent::KIND,
];

/// The formats whose recordings have companions.
pub(super) static COMPANIONS: [Companions; 1] = [Companions {
    kind: &claude::KIND,
    name: claude::companion,
    caller: claude::caller,
}];

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

/// The format of an agent's recordings.
pub(crate) fn named(key: &str) -> Result<&'static Kind, ImportError> {
    let named = FORMATS.into_iter().find(|kind| kind.agent.key == key);
    named.ok_or_else(|| ImportError::UnknownAgent {
        agent: key.to_owned(),
        known: FORMATS.map(|kind| kind.agent.key).join(", "),
    })
}

/// The format of a file by its beginning.
pub(crate) fn of(head: &Head<'_>) -> Option<&'static Kind> {
    FORMATS.into_iter().find(|kind| (kind.recognizes)(head))
}

/// Returns `true` if a file of this name may be a recording of a format, or of any. Compressed databases are not read.
pub(crate) fn is_wanted(kind: Option<&Kind>, name: &str) -> bool {
    let plain = plain_name(name);
    if is_compressed(name) && is_database(plain) {
        return false;
    }
    match kind {
        Some(kind) => kind.has_ending(plain),
        None => FORMATS.iter().any(|kind| kind.has_ending(plain)),
    }
}

/// Endings of compressed files that are not decompressed.
const COMPRESSED: [&str; 8] = [".gz", ".xz", ".bz2", ".lz4", ".lzma", ".br", ".zip", ".7z"];

/// Whether a file of this name is a recording by its name alone: `*.json` may be anything.
pub(crate) fn is_recording_by_name(kind: Option<&Kind>, name: &str) -> bool {
    let is_json = plain_name(name).to_ascii_lowercase().ends_with(".json");
    is_wanted(kind, name) && !is_json
}

/// Returns `true` if a file of this name is a compressed recording that is not decompressed. `*.json.gz` is one only where
/// recordings of a format are looked for that end so.
pub(crate) fn is_compressed_recording(kind: Option<&Kind>, name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let inner = COMPRESSED.iter().find_map(|it| name.strip_suffix(it));
    // A database is read in place, so that one in Zstandard is not read, either.
    let database =
        || Some(plain_name(&name)).filter(|inner| inner.len() < name.len() && is_database(inner));
    let Some(inner) = inner.or_else(database) else {
        return false;
    };
    is_wanted(kind, inner) && (kind.is_some() || !inner.ends_with(".json"))
}

/// Returns `true` for the name of a database.
fn is_database(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".db")
}

/// What is looked for in a folder, for people.
pub(crate) fn wanted(kind: Option<&Kind>) -> String {
    let Some(kind) = kind else {
        return "recording".to_owned();
    };
    let endings: Vec<String> = kind.endings.iter().map(|it| format!("*.{it}")).collect();
    format!("{} file", endings.join(" or "))
}
