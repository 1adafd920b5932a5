//! Following the recordings of all agents at once, behind the import.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use annals::{Annals, Classified as _};
use annals_dialects::import::{self, GrowingRecordings, ImportOptions};
use annals_dialects::watch::RecordingWatch;
use annals_live::{Listener, Spool};
use futures::FutureExt as _;
use futures::future::select_all;

use crate::agents::AgentFolder;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::signals::Signals;

/// After how long a log is tried again that could not be written to.
const LATER: Duration = Duration::from_secs(5);

/// Folders of recordings that grow.
pub(super) struct FollowedFolders {
    folders: Vec<(&'static str, PathBuf, RecordingWatch)>,
}

impl FollowedFolders {
    /// Begins to watch those of the folders whose recordings are followed. What is there now is left to the import.
    pub(super) fn watch(folders: &[AgentFolder], context: &Context) -> FollowedFolders {
        let mut watched = Vec::new();
        for folder in folders.iter().filter(|it| it.is_followed) {
            let Some(agent) = folder.agent else {
                continue;
            };
            match RecordingWatch::start(&folder.path, "jsonl") {
                Ok(mut watch) => {
                    watch.skip_present();
                    watched.push((agent, folder.path.clone(), watch));
                }
                Err(error) => {
                    let error = CliError::input(&folder.path, error);
                    context.output.warn(&format!("{error}; it is not followed"));
                }
            }
        }
        FollowedFolders { folders: watched }
    }

    /// The agents that are followed.
    pub(super) fn agents(&self) -> Vec<&'static str> {
        let mut agents: Vec<&str> = self.folders.iter().map(|(agent, ..)| *agent).collect();
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
        for (agent, ..) in &self.folders {
            growing.push(GrowingRecordings::new(annals, agent, options)?);
        }
        let mut bell = Listener::new(Spool::of(&context.log)?);
        loop {
            let _ = bell.hang();
            let mut again = LATER;
            for ((_, folder, watch), growing) in self.folders.iter_mut().zip(&mut growing) {
                let next = taken(folder, watch, growing, context).await?;
                again = again.min(next);
            }
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

/// Imports what is ready in a folder; after how long to look again.
async fn taken(
    folder: &Path,
    watch: &mut RecordingWatch,
    growing: &mut GrowingRecordings<'_>,
    context: &Context,
) -> Result<Duration, CliError> {
    // A folder that went may come back.
    let Ok(ready) = watch.ready(Instant::now()) else {
        return Ok(LATER);
    };
    for path in import::in_time_order(ready.paths) {
        if let Err(error) = growing.grown(&path, &mut |_| {}).await {
            // What is wrong with the file is so until it changes.
            if error.is_retryable() || error.is_of_log() {
                watch.forget(&path);
            } else {
                let path = path.strip_prefix(folder).unwrap_or(&path);
                context.output.warn(&format!("{}: {error}", path.display()));
            }
        }
    }
    Ok(ready.again)
}

/// Waits until something changed in one of the folders.
async fn changed(folders: &mut [(&'static str, PathBuf, RecordingWatch)]) {
    if folders.is_empty() {
        return std::future::pending().await;
    }
    let changes = folders
        .iter_mut()
        .map(|(_, _, watch)| watch.changed().boxed_local());
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
