//! Following the recordings of all agents at once, behind the import.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use annals::{Annals, Classified as _};
use annals_dialects::BrokenRecord;
use annals_dialects::import::{self, GrowingRecordings, ImportOptions};
use annals_dialects::watch::RecordingWatch;
use annals_live::ledger::LedgerDue;
use annals_live::{Listener, Spool};
use futures::FutureExt as _;
use futures::future::select_all;

use crate::agents::AgentFolder;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::signals::Signals;

/// After how long a log is tried again that could not be written to.
const LATER: Duration = Duration::from_secs(5);

/// The share of the time in which one recording is imported at most: one that is read as a whole each time, as a
/// database is, may take minutes.
const SHARE: u32 = 20;

/// Folders of recordings that grow.
pub(super) struct FollowedFolders {
    folders: Vec<FollowedFolder>,
    /// Folders that are not there: an agent makes its own with its first session.
    missing: Vec<AgentFolder>,
}

struct FollowedFolder {
    agent: &'static str,
    path: PathBuf,
    watch: RecordingWatch,
    /// When recordings are imported again at the earliest.
    pauses: HashMap<PathBuf, Instant>,
}

impl FollowedFolders {
    /// Begins to watch the folders of agents. What is there now is left to the import.
    pub(super) fn watch(all: &[AgentFolder], context: &Context) -> FollowedFolders {
        let mut followed = FollowedFolders {
            folders: Vec::new(),
            missing: all.to_vec(),
        };
        followed.watch_new(context);
        for folder in &mut followed.folders {
            folder.watch.skip_present();
        }
        followed
    }

    /// Begins to watch folders that were missing.
    fn watch_new(&mut self, context: &Context) {
        let is_there = |folder: &AgentFolder| folder.path.is_dir();
        let (there, missing) = self.missing.drain(..).partition(is_there);
        self.missing = missing;
        let there: Vec<AgentFolder> = there;
        for AgentFolder { agent, path } in there {
            let Some((agent, endings)) = agent.and_then(|it| Some((it, import::endings(it).ok()?)))
            else {
                continue;
            };
            match RecordingWatch::start(&path, endings) {
                Ok(watch) => self.folders.push(FollowedFolder {
                    agent,
                    path,
                    watch,
                    pauses: HashMap::new(),
                }),
                Err(error) => {
                    let error = CliError::input(&path, error);
                    context.output.warn(&format!("{error}; it is not followed"));
                }
            }
        }
    }

    /// The agents that are followed.
    pub(super) fn agents(&self) -> Vec<&'static str> {
        let mut agents: Vec<&str> = self.folders.iter().map(|it| it.agent).collect();
        agents.dedup();
        agents
    }

    /// Imports what comes to the recordings, and takes in what hooks report, until interrupted.
    pub(super) async fn follow(
        &mut self,
        annals: &Annals,
        options: &ImportOptions,
        signals: &mut Signals,
        context: &Context,
    ) -> Result<(), CliError> {
        let mut growing = Vec::new();
        let mut bell = Listener::new(Spool::of(&context.log)?);
        loop {
            let _ = bell.hang();
            self.watch_new(context);
            for folder in self.folders.iter().skip(growing.len()) {
                growing.push(GrowingRecordings::new(annals, folder.agent, options)?);
            }
            let mut again = LATER;
            for (folder, growing) in self.folders.iter_mut().zip(&mut growing) {
                // A database is read as a whole, which may take long.
                let next = tokio::select! {
                    next = folder.take(growing, context) => next,
                    () = signals.next() => return Ok(()),
                };
                again = again.min(next);
            }
            context.keep_ledger(annals, LedgerDue::IfBehind).await;
            let pause = tokio::time::sleep(again);
            tokio::pin!(pause);
            loop {
                tokio::select! {
                    () = &mut pause => break,
                    () = changed(&mut self.folders) => break,
                    () = bell.rung() => context.take_in(annals),
                    () = failed(annals) => return Err(store_failed(context)),
                    () = signals.next() => return Ok(()),
                }
            }
        }
    }
}

impl FollowedFolder {
    /// Imports what is ready; returns after how long to look again.
    async fn take(&mut self, growing: &mut GrowingRecordings<'_>, context: &Context) -> Duration {
        // A folder that went may come back.
        let Ok(ready) = self.watch.ready(Instant::now()) else {
            return LATER;
        };
        let mut again = ready.again;
        for path in import::in_time_order(ready.paths) {
            let now = Instant::now();
            let pause = self.pauses.get(&path);
            let pause = pause.map(|until| until.saturating_duration_since(now));
            if let Some(pause) = pause.filter(|pause| !pause.is_zero()) {
                self.watch.forget(&path);
                again = again.min(pause);
                continue;
            }
            self.import(&path, growing, context).await;
            let took = now.elapsed();
            self.pauses.insert(path, now + took * SHARE);
        }
        again
    }

    /// Imports what came to a recording.
    async fn import(
        &mut self,
        path: &Path,
        growing: &mut GrowingRecordings<'_>,
        context: &Context,
    ) {
        let grown = growing.grown(path, &mut |_| {}).await;
        let shown = path.strip_prefix(&self.path).unwrap_or(path).display();
        match grown {
            Ok(report) => {
                for BrokenRecord { line, reason, .. } in &report.broken {
                    context.output.warn(&format!("{shown}:{line}: {reason}"));
                }
            }
            // What is wrong with the file is so until it changes.
            Err(error) if error.is_retryable() || error.is_of_log() => self.watch.forget(path),
            // Agents keep other files there, too.
            Err(error) if error.is_no_recording() => {}
            Err(error) => context.output.warn(&format!("{shown}: {error}")),
        }
    }
}

/// Waits until something changed in one of the folders.
async fn changed(folders: &mut [FollowedFolder]) {
    if folders.is_empty() {
        return std::future::pending().await;
    }
    let changes = folders
        .iter_mut()
        .map(|it| it.watch.changed().boxed_local());
    select_all(changes).await;
}

/// Waits until the log takes nothing any more. A client finds the next owner with its next call.
async fn failed(annals: &Annals) {
    match annals.is_owner() {
        true => annals.unshared().await,
        false => std::future::pending().await,
    }
}

fn store_failed(context: &Context) -> CliError {
    let log = context.shown_log();
    let message = format!("the store of {log} has failed, and was closed");
    CliError::new(ErrorClass::Unavailable, "store_failed", message)
        .hint("look for a full disk or a folder that was moved, and start it again")
}
