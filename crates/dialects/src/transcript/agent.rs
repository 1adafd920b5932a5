//! What is known of an agent before any recording of it is read: its names, and what its tools do
//! with files.

use serde_json::value::RawValue;

use super::counts::COUNTS;
use super::edit::{FileUse, Patch};

/// An agent whose recordings are imported.
#[derive(Debug)]
pub(crate) struct Agent {
    /// What ids and external ids are named after. Logs hold them, so that it never changes.
    pub(crate) key: &'static str,
    /// The id of the agent and of its program as actors.
    pub(crate) actor: &'static str,
    /// Who serves its models, where its recordings do not say so.
    pub(crate) provider: &'static str,
    /// The environment's name for the version of its program.
    pub(crate) version_key: &'static str,
    /// The name that its recordings give to the model of a message that no model made.
    pub(crate) no_model: &'static str,
    /// The paths of a message's tokens, for the report, in the order of [`Usage::totals`](super::item::Usage).
    pub(crate) token_paths: [&'static str; COUNTS],
    /// The paths of a [`super::item::Setting`], for the report.
    pub(crate) setting_paths: [&'static str; 3],
    /// The paths of a line's time and session.
    pub(crate) time_path: &'static str,
    pub(crate) session_path: &'static str,
    /// What a call does with files, by its tool's name and its input. It depends on nothing else.
    pub(crate) files: fn(&str, Option<&RawValue>) -> Vec<FileUse>,
    /// Whether a tool changes files, also where its input names none.
    pub(crate) edits: fn(&str) -> bool,
    /// What the recording has of an edit's result, by the details of the result.
    pub(crate) patch: fn(Option<&RawValue>) -> Patch,
    /// What of a text in a user's line a person asked for, and whether a text begins with what the
    /// program puts before it. Prompts that older versions recorded are compared by them.
    pub(crate) asked: fn(&str) -> Option<&str>,
    pub(crate) begins_beside: fn(&str) -> bool,
}
