//! `import claude`: recorded sessions of Claude Code as intents, runs, tool
//! calls, patch sets and context frames.
//!
//! A session (`sessionId`) becomes one Task, Run, Plan and pipeline, under the
//! Intent that its first prompt is; each later prompt is an Intent that refines
//! the one before. Side chains are sub-tasks with runs, plans and pipelines of
//! their own. No decision is recorded: runs
//! stay Patching, patch sets Proposed.
//!
//! **Once, however often and in however many pieces it is read.** What belongs
//! together is one batch, whose key and whose objects' ids follow from what
//! the recording calls it: the line's `uuid`, the tool use's `id`, the
//! message's `id`. A batch is made when nothing can be added to it any more: a
//! tool call with its result, or when the next prompt and the message after it
//! show that none will come. A call that still waits is counted, and recorded
//! when a later import reads its result. Only a message's tokens, which grow
//! from line to line, are recorded as soon as a file ends; if it grows, the
//! difference is recorded on top, so that the totals are right.
//!
//! What is known is compared with what the recording says of it now (`compare.rs`, `same.rs`): another
//! content under a known name is named in the report, and the first stays.
//!
//! Two things are not in the recording, and are marked so: how many tokens a
//! frame takes is estimated (`tokens.rs`), and that an edit used the newest
//! result about its file is inferred (`uses.rs`) and recorded before the edit.
//!
//! So a recording that was imported while it grew has the same objects, frames
//! and totals as one that was imported at once; only the number and places of
//! `run.usage_recorded` may differ.

mod fields;
mod line;
mod program;
#[cfg(test)]
mod tests;
mod tools;
mod written;

use std::path::Path;

use annals::Annals;
use annals_event_log::IdSecret;

use crate::import::bad_line::BadLine;
use crate::import::formats::{Head, Kind};
use crate::import::redacted::RedactedText;
use crate::import::{self, Format};
pub use crate::import::{ImportError as ClaudeImportError, ImportOptions as ClaudeOptions};
pub use crate::report::{ImportReport, Progress};
use crate::transcript::item::Read;
pub use crate::transcript::{ChainIds, Ids, ToolIds};
use tools::AGENT;

/// The ids of what is imported.
pub fn ids() -> Ids {
    Ids::of(AGENT.key)
}

/// Claude Code's recordings.
pub(crate) static KIND: Kind = Kind {
    agent: &AGENT,
    title: "Claude Code",
    endings: &["jsonl"],
    unwanted: "its name does not end with .jsonl",
    left: "it is a recording of Claude Code",
    recognizes,
    format: || Box::new(Claude::default()),
};

/// Its lines name their session in `sessionId`, or are summaries.
fn recognizes(head: &Head<'_>) -> bool {
    let is_own = |line: serde_json::Map<String, serde_json::Value>| {
        let has = |name: &str| line.contains_key(name);
        has("type") && (has("sessionId") || has("leafUuid") || has("parentUuid"))
    };
    head.objects().take(50).any(is_own)
}

#[derive(Default)]
struct Claude {
    program: program::Program,
}

impl Format for Claude {
    fn line(&mut self, text: RedactedText, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        Ok(vec![line::parse(text, names, &mut self.program)?])
    }
}

/// Imports the recording at `path`, or all `*.jsonl` files in that folder and
/// below, in time order; what else is there is named in the report. `progress`
/// is called after each line, in bytes.
///
/// It reads on threads of its own: one takes secrets out of what comes next and parses it, one counts
/// its tokens, while what came before is recorded; it needs no particular async runtime.
/// Dropping the future stops it between two batches; what was imported stays,
/// and the next import goes on from there. Lines that cannot be read are named
/// in the report, and the others are read.
///
/// # Errors
/// [`ClaudeImportError`].
pub async fn import(
    annals: &Annals,
    path: &Path,
    options: &ClaudeOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport, ClaudeImportError> {
    import::import(annals, path, &KIND, None, options, progress).await
}
