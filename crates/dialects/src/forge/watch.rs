//! Notices drafts as people write them, and intents as agents do.
//!
//! The system says when a folder changes; the folder is looked at every now and
//! then, too, for some file systems say nothing. A draft is ready once it stayed as
//! it is for a moment: its writer may not have finished.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use notify::RecursiveMode;

use super::drafts::{DraftFile, drafts, is_hidden};
use super::folder::{Folder, ForgeFolderError, Part, Place, files};
use super::import::IntentEntry;
use crate::changes::Changes;
use crate::others::Others;

/// For how long a draft stays as it is before it is ready.
const QUIET: Duration = Duration::from_millis(500);

/// After how long the folder is looked at although the system reported no change.
const PATIENCE: Duration = Duration::from_secs(5);

/// What tells two states of a file apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

fn stamp(place: &Place) -> Option<Stamp> {
    let (bytes, modified) = place.stamp()?;
    Some(Stamp { bytes, modified })
}

/// A file that was seen.
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
    /// The same of intents.
    pub intents: Vec<IntentEntry>,
    /// After how long to look again, if nothing changes before.
    pub again: Duration,
}

/// Watches the drafts and the intents of a folder.
#[derive(Debug)]
pub struct DraftWatch {
    folder: Folder,
    seen: HashMap<PathBuf, Seen>,
    changes: Changes,
}

impl DraftWatch {
    /// Begins to watch the `.forge/` folder that a path means. The folders for drafts
    /// and intents are made if they are not there.
    ///
    /// # Errors
    /// [`ForgeFolderError`].
    pub fn start(path: &Path) -> Result<DraftWatch, ForgeFolderError> {
        let folder = Folder::find(path)?;
        folder.make_part(Part::Drafts)?;
        folder.make_part(Part::Intents)?;
        let parts = [folder.drafts(), folder.intents()];
        let parts = parts.iter().map(PathBuf::as_path);
        let changes = Changes::of(parts, RecursiveMode::NonRecursive);
        let changes = changes.map_err(|error| ForgeFolderError::Unwatched {
            path: folder.root().to_owned(),
            reason: error.to_string(),
        })?;
        Ok(DraftWatch {
            folder,
            seen: HashMap::new(),
            changes,
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Waits until something changed in the folders for drafts and intents.
    pub async fn changed(&mut self) {
        self.changes.next().await;
    }

    /// The drafts and intents that are ready at a moment. Each is given once, until it
    /// changes.
    ///
    /// # Errors
    /// [`ForgeFolderError::Unreadable`].
    pub fn ready(&mut self, now: Instant) -> Result<Ready, ForgeFolderError> {
        let drafts = drafts(&self.folder, &mut Others::default())?;
        let intents = intents(&self.folder)?;
        let mut look = Look {
            now,
            before: std::mem::take(&mut self.seen),
            seen: HashMap::new(),
            again: PATIENCE,
        };
        let drafts = drafts.into_iter();
        let drafts = drafts.filter(|draft| look.is_ready(&draft.place)).collect();
        let intents = intents.into_iter();
        let intents = intents.filter(|it| look.is_ready(it.place())).collect();
        self.seen = look.seen;
        Ok(Ready {
            drafts,
            intents,
            again: look.again,
        })
    }

    /// Lets a draft be given again, since nothing became of it.
    pub fn forget(&mut self, draft: &DraftFile) {
        self.forget_path(draft.path());
    }

    /// Lets an intent be given again, since nothing became of it.
    pub fn forget_intent(&mut self, intent: &IntentEntry) {
        self.forget_path(intent.path());
    }

    fn forget_path(&mut self, path: &Path) {
        if let Some(seen) = self.seen.get_mut(path) {
            seen.is_given = false;
        }
    }
}

/// The files of intents. Hidden files and links do not count.
fn intents(folder: &Folder) -> Result<Vec<IntentEntry>, ForgeFolderError> {
    let Some(part) = folder.part(Part::Intents)? else {
        return Ok(Vec::new());
    };
    let found = files(&part, ".yaml", &mut Others::default())?.into_iter();
    let found = found.filter(|file| !is_hidden(file.path()));
    Ok(found.map(IntentEntry).collect())
}

/// One look at the folders.
struct Look {
    now: Instant,
    before: HashMap<PathBuf, Seen>,
    seen: HashMap<PathBuf, Seen>,
    /// After how long to look again.
    again: Duration,
}

impl Look {
    /// Whether a file stayed as it is for a moment, and was not given so.
    fn is_ready(&mut self, place: &Place) -> bool {
        let Some(stamp) = stamp(place) else {
            return false;
        };
        let before = self.before.remove(place.path());
        let mut one = before.filter(|seen| seen.stamp == stamp).unwrap_or(Seen {
            stamp,
            since: self.now,
            is_given: false,
        });
        let quiet = self.now.saturating_duration_since(one.since);
        let is_ready = quiet >= QUIET && !one.is_given;
        if quiet < QUIET {
            self.again = self.again.min(QUIET - quiet);
        }
        one.is_given |= is_ready;
        self.seen.insert(place.path().to_owned(), one);
        is_ready
    }
}
