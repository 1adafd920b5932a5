//! Notices drafts as people write them.
//!
//! The system says when a folder changes; the folder is looked at every now and
//! then, too, for some file systems say nothing. A draft is ready once it stayed as
//! it is for a moment: whoever writes it may not have finished.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use futures::StreamExt;
use futures::channel::mpsc;
use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::drafts::{DraftFile, drafts};
use super::folder::{Folder, ForgeFolderError, Part};
use crate::others::Others;

/// For how long a draft stays as it is before it is ready.
const QUIET: Duration = Duration::from_millis(500);

/// After how long the folder is looked at although nobody said that it changed.
const PATIENCE: Duration = Duration::from_secs(5);

/// What tells two states of a file apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

fn stamp(draft: &DraftFile) -> Option<Stamp> {
    let (bytes, modified) = draft.place.stamp()?;
    Some(Stamp { bytes, modified })
}

/// A draft that was seen.
#[derive(Debug)]
struct Seen {
    stamp: Stamp,
    since: Instant,
    /// Whether it was given away just so.
    is_given: bool,
}

/// What is ready, and when to look again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    /// Drafts that stayed as they are for a moment, each state of one once.
    pub drafts: Vec<DraftFile>,
    /// After how long to look again, if nothing changes before.
    pub again: Duration,
}

/// Whether something may be another than it was. To look at a folder is none: who
/// looks because something changed would look for ever.
fn is_change(event: &notify::Result<notify::Event>) -> bool {
    let kind = match event {
        Ok(event) => event.kind,
        // Something was missed.
        Err(_) => return true,
    };
    !kind.is_access() || kind == EventKind::Access(AccessKind::Close(AccessMode::Write))
}

/// Watches the drafts of a folder.
#[derive(Debug)]
pub struct DraftWatch {
    folder: Folder,
    seen: HashMap<PathBuf, Seen>,
    changes: mpsc::Receiver<()>,
    // It watches for as long as it is there.
    _watcher: RecommendedWatcher,
}

impl DraftWatch {
    /// Begins to watch the drafts of the `.forge/` folder that a path means. The
    /// folder for drafts is made if it is not there.
    ///
    /// # Errors
    /// [`ForgeFolderError`].
    pub fn start(path: &Path) -> Result<DraftWatch, ForgeFolderError> {
        let folder = Folder::find(path)?;
        folder.make_part(Part::Drafts)?;
        let of_drafts = folder.drafts();
        let (mut tell, changes) = mpsc::channel(1);
        let unwatched = |error: notify::Error| ForgeFolderError::Unwatched {
            path: of_drafts.clone(),
            reason: error.to_string(),
        };
        let mut watcher = notify::recommended_watcher(move |event| {
            if is_change(&event) {
                // A full channel says already that something changed.
                let _ = tell.try_send(());
            }
        })
        .map_err(unwatched)?;
        watcher
            .watch(&of_drafts, RecursiveMode::NonRecursive)
            .map_err(unwatched)?;
        Ok(DraftWatch {
            folder,
            seen: HashMap::new(),
            changes,
            _watcher: watcher,
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Waits until something changed in the folder for drafts.
    pub async fn changed(&mut self) {
        if self.changes.next().await.is_none() {
            // Nobody says anything any more: whoever waits looks now and then.
            futures::future::pending::<()>().await;
        }
    }

    /// The drafts that are ready at a moment. Each is given once, until it changes.
    ///
    /// # Errors
    /// [`ForgeFolderError::Unreadable`].
    pub fn ready(&mut self, now: Instant) -> Result<Ready, ForgeFolderError> {
        let found = drafts(&self.folder, &mut Others::default())?;
        let mut seen = std::mem::take(&mut self.seen);
        let mut ready = Ready {
            drafts: Vec::new(),
            again: PATIENCE,
        };
        for draft in found {
            let Some(stamp) = stamp(&draft) else {
                continue;
            };
            let before = seen.remove(draft.path()).filter(|seen| seen.stamp == stamp);
            let mut one = before.unwrap_or(Seen {
                stamp,
                since: now,
                is_given: false,
            });
            let quiet = now.saturating_duration_since(one.since);
            let path = draft.path().to_owned();
            if quiet < QUIET {
                ready.again = ready.again.min(QUIET - quiet);
            } else if !one.is_given {
                one.is_given = true;
                ready.drafts.push(draft);
            }
            self.seen.insert(path, one);
        }
        Ok(ready)
    }

    /// Lets a draft be given again, since nothing became of it.
    pub fn forget(&mut self, draft: &DraftFile) {
        if let Some(seen) = self.seen.get_mut(draft.path()) {
            seen.is_given = false;
        }
    }
}
