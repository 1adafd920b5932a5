//! `import claude`: recorded sessions of Claude Code as intents, runs, tool
//! calls, patch sets and context frames.
//!
//! A session (`sessionId`) becomes one Task, Run, Plan and pipeline, under the
//! Intent that its first prompt is; each later prompt is an Intent that refines
//! the one before. Side chains are sub-tasks with runs, plans and pipelines of
//! their own. Nobody decided: runs stay Patching, patch sets Proposed. The
//! table stands in `map.rs`.
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

mod append;
mod calls;
mod compare;
mod edit;
mod error;
mod fields;
mod files;
mod ids;
mod importer;
mod line;
mod map;
mod read;
mod remark;
mod said;
mod same;
mod session;
mod spoken;
#[cfg(test)]
mod tests;
mod tool;
mod unit;
mod usage;
mod uses;
mod written;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use annals::Annals;
use futures::StreamExt;

use crate::reading;
pub use crate::report::{ImportReport, Progress};
use crate::secrets::Secrets;
pub use error::ClaudeImportError;
pub use ids::{ChainIds, ToolIds, intent as intent_id};

use importer::Importer;
use read::{News, Reader};

/// How to import recordings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClaudeOptions {
    /// The sessions are over: record the tool calls that wait for a result,
    /// as errors. They stay errors; of a result that is read later there is a
    /// frame.
    pub ended: bool,
    /// What is taken out of the lines before they are read; the standard set by
    /// default.
    pub secrets: Secrets,
}

/// Imports the recording at `path`, or all `*.jsonl` files in that folder and
/// below, in time order; what else is there is named in the report. `progress`
/// is called after each line, in bytes.
///
/// It reads on a thread of its own, which takes secrets out of what comes next, parses it and counts
/// its tokens while what came before is recorded; it needs no particular async runtime.
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
    let count_ahead = Arc::new(AtomicBool::new(false));
    let reader = Reader {
        secrets: options.secrets.clone(),
        names: annals.log().id_secret().await?,
        count_ahead: Arc::clone(&count_ahead),
    };
    let news = read::start(path, reader)?;
    let source = format!("claude {}", path.display());
    let importer = Importer::new(annals, options, count_ahead, source);
    match record(importer, news, progress).await? {
        Some(report) => Ok(report),
        None => Err(ClaudeImportError::Interrupted {
            path: path.to_owned(),
        }),
    }
}

/// Records what is read, in the order in which it comes; nothing, if that ended too early.
async fn record(
    mut importer: Importer<'_>,
    mut news: reading::News<News, ClaudeImportError>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<ImportReport>, ClaudeImportError> {
    let mut total = 0;
    while let Some(received) = news.next().await {
        match received? {
            News::Found { bytes, others } => {
                total = bytes;
                others.report(&mut importer.report);
            }
            News::File(file) => importer.begin_file(&file),
            News::Lines(lines) => {
                for line in lines {
                    let done = line.done;
                    importer.line(line).await?;
                    // A file may have grown since its length was asked for.
                    let total = total.max(done);
                    progress(Progress { done, total });
                }
            }
            News::FileEnd => importer.end_file().await?,
            News::End => return importer.end().await.map(Some),
        }
    }
    Ok(None)
}
