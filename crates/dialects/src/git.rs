//! `import git`: a repository's history as intents, tasks, runs and decisions.
//!
//! Every commit that HEAD reaches becomes an Intent (its subject and body), a Task, a Run whose baseline is the first
//! parent, a PatchSet with the diff, and a Commit Decision that names the commit itself; the table is in `map.rs`. What
//! else its header says is evidence of the run (`header.rs`). A commit is one batch, whose key and whose objects' ids
//! follow from the commit's id: importing again, or from another clone, adds only what is new.
//!
//! The diff is against the first parent, with git's default algorithm, three
//! lines of context and renames from 50 % similarity on; it is what `git diff`
//! prints, but for the percentage of a rename with changes, which each program
//! measures its own way. Binary files are as in `git diff --binary`, each side
//! whole (`binary.rs`), so that `git apply` takes the diff. Attributes (`.gitattributes`) and configuration, the
//! user's and the repository's, are not looked at.
//!
//! A repository may come from anywhere. Its files are opened without following
//! links (`place.rs`, `head.rs`, `loose.rs`), its packs by way of a private folder
//! (`stand_in.rs`), and each object is what its id says (`objects.rs`). What
//! cannot be read of a commit is named in the report, and the rest goes on.

mod binary;
mod changes;
mod commit;
mod diff;
mod error;
mod head;
mod header;
pub(crate) mod loose;
mod map;
mod objects;
mod own_files;
mod patch;
mod person;
mod place;
pub(crate) mod project;
mod read;
mod remark;
mod shown;
mod stand_in;
mod tally;
mod under_way;
mod walk;

use std::path::Path;

use annals::{Annals, ExecuteError};
use annals_event_log::AppendError;
use futures::StreamExt;
use gix::ObjectId;

pub use crate::report::{FieldCount, ImportReport, Progress};
pub use error::GitImportError;
pub use map::CommitIds;
pub use person::person;
pub use read::GitOptions;

use read::{Prepared, ReadEvent};
use tally::Tally;

/// Imports the history of the repository at `path`, or in the nearest folder
/// above it, oldest commit first. `progress` is called after each commit.
///
/// It reads on a thread of its own and needs no particular async runtime.
/// Dropping the future stops it between two commits; what was imported stays,
/// and the next import goes on from there.
///
/// # Errors
/// [`GitImportError`].
pub async fn import(
    annals: &Annals,
    path: &Path,
    options: &GitOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<ImportReport, GitImportError> {
    let mut events = read::start(path, options, annals.log().clone())?;
    let mut report = ImportReport {
        source: format!("git {}", path.display()),
        ..ImportReport::default()
    };
    let mut tally = Tally::default();
    let (mut total, mut skipped) = (0, 0);
    while let Some(received) = events.next().await {
        match received? {
            ReadEvent::Found { commits, shallow } => {
                total = commits;
                report.shallow = shallow;
            }
            ReadEvent::AlreadyThere => report.already_there += 1,
            ReadEvent::Broken { commit, reason } => {
                skipped += 1;
                report.add_broken(&named(commit), 0, reason);
            }
            ReadEvent::Commit(prepared) => {
                let is_there = execute(annals, *prepared, &mut report, &mut tally).await?;
                skipped += u64::from(!is_there);
            }
            ReadEvent::End => {
                report.notes = tally.remarks.sentences();
                tally.fields.report(&mut report);
                return Ok(report.without_secrets(&options.secrets));
            }
        }
        report.records_read = report.imported + report.already_there + skipped;
        progress(Progress {
            done: report.records_read,
            total,
        });
    }
    Err(GitImportError::Interrupted {
        path: path.to_owned(),
    })
}

/// A commit as the report names it.
fn named(commit: ObjectId) -> String {
    format!("commit {commit}")
}

/// Records a commit; whether it is in the log now.
async fn execute(
    annals: &Annals,
    prepared: Prepared,
    report: &mut ImportReport,
    tally: &mut Tally,
) -> Result<bool, GitImportError> {
    let Prepared {
        commit,
        key,
        requests,
        broken,
        share: _share,
        tally: ours,
    } = prepared;
    match annals.execute_batch(Some(key), requests).await {
        // Another import of the same commit came in between.
        Err(ExecuteError::KeyReused { .. } | ExecuteError::KeyUnverifiable { .. }) => {
            report.already_there += 1
        }
        Err(source) if is_of_commit(&source) => {
            let reason = format!("it was not imported: {source}");
            report.add_broken(&named(commit), 0, reason);
            return Ok(false);
        }
        Err(source) => {
            return Err(GitImportError::Execute {
                commit: commit.to_string(),
                source: Box::new(source),
            });
        }
        Ok(outcome) if outcome.repeated => report.already_there += 1,
        Ok(outcome) => {
            report.imported += 1;
            report.events_made += outcome
                .outcomes
                .iter()
                .map(|o| o.events as u64)
                .sum::<u64>();
            tally.fields.add(&ours.fields);
            tally.remarks.merge(ours.remarks);
            report.redacted.merge(ours.redacted);
            if let Some(reason) = broken {
                report.add_broken(&named(commit), 0, reason);
            }
        }
    }
    Ok(true)
}

/// Whether a commit is refused for what it is: the next one may be taken. Its ids may be those of objects
/// that came into the log another way, as anyone can compute which ones a commit will have.
fn is_of_commit(error: &ExecuteError) -> bool {
    match error {
        ExecuteError::Refused { .. } | ExecuteError::Request(_) | ExecuteError::Encode(_) => true,
        ExecuteError::Append(error) => matches!(
            error,
            AppendError::TooLarge { .. } | AppendError::Invalid { .. }
        ),
        _ => false,
    }
}
