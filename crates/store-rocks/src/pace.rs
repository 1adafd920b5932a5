//! How an open database keeps up with another process that writes.
//!
//! RocksDB's secondary takes the newest state of which it finds all files, and reports nothing of a newer one. It
//! finds none where its list of files names a blob file that is gone and no other one is in use, or one with a
//! higher number is gone: the content is missing in its view then. So its tables are compared with those of the newest
//! state, and where they differ, that state is opened for reading as it is.
//!
//! What it took from a write-ahead log stays in its memory until another one brings something for the same column family,
//! and hides a newer form that has come by a table. So where a table has come, it is opened again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::folder::{files, read_file};
use crate::sync::{Mutex, PoisonError};

/// Which manifest there is, and how long it is.
pub(crate) type Manifest = (Vec<u8>, u64);

/// It changes whenever a table comes or goes.
pub(crate) fn manifest(path: &Path) -> Manifest {
    let current = read_file(&path.join("CURRENT")).unwrap_or_default();
    let manifest = path.join(String::from_utf8_lossy(&current).trim());
    let length = fs::metadata(manifest).map_or(0, |found| found.len());
    (current, length)
}

/// How an open database keeps up with a writer.
pub(crate) enum Pace {
    /// It is the writer's, or no process writes.
    Alone,
    /// RocksDB follows the writer.
    Follows(Mutex<Checked>),
    /// It stays as the log was in this state. To move on, it is opened again.
    Fixed(State),
}

/// What is known of a view that follows.
#[derive(Debug)]
pub(crate) struct Checked {
    /// The list of files with which the view's tables were compared last; `None` if they differed.
    manifest: Option<Manifest>,
    /// Whether the log was ever seen to have blob files: before the view was opened, or since.
    has_blob_files: bool,
    /// The tables that the view was opened with.
    opened: Tables,
}

/// The tables that a view had with a list of files.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) with: Manifest,
    pub(crate) names: BTreeSet<String>,
}

/// The files that a state is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) manifest: Manifest,
    /// The write-ahead logs and their lengths.
    logs: Vec<(String, u64)>,
}

impl State {
    /// The state of the files in a folder.
    pub(crate) fn of(folder: &Path) -> State {
        let length = |name: &String| fs::metadata(folder.join(name)).map_or(0, |found| found.len());
        let logs = files(folder, "log").unwrap_or_default();
        State {
            manifest: manifest(folder),
            logs: logs
                .into_iter()
                .map(|name| (name.clone(), length(&name)))
                .collect(),
        }
    }
}

/// Returns `true` if there are blob files in a folder.
pub(crate) fn has_blob_files(folder: &Path) -> bool {
    files(folder, "blob").is_ok_and(|found| !found.is_empty())
}

impl Pace {
    /// A view that follows and has the tables of this list of files; `None` if it has not.
    pub(crate) fn follows(
        manifest: Option<Manifest>,
        has_blob_files: bool,
        opened: Tables,
    ) -> Pace {
        Pace::Follows(Mutex::new(Checked {
            manifest,
            has_blob_files,
            opened,
        }))
    }

    /// Returns `true` if tables have come since the view was opened: they may have newer forms of what it has in its
    /// memory. `now` are those of the view, for which it is asked where the list of files was another one before or
    /// after it was brought forward.
    pub(crate) fn has_other_tables<E>(
        &self,
        (before, after): (&Manifest, &Manifest),
        now: impl FnOnce() -> Result<BTreeSet<String>, E>,
    ) -> Result<bool, E> {
        let Pace::Follows(checked) = self else {
            return Ok(false);
        };
        let mut checked = checked.lock().unwrap_or_else(PoisonError::into_inner);
        if checked.opened.with == *before && before == after {
            return Ok(false);
        }
        let have_come = !now()?.is_subset(&checked.opened.names);
        if !have_come {
            // It has the tables of this list at least.
            checked.opened.with = before.clone();
        }
        Ok(have_come)
    }

    /// Returns `true` if the writer has gone on since a fixed state was opened.
    pub(crate) fn is_behind(&self, folder: &Path) -> bool {
        matches!(self, Pace::Fixed(state) if *state != State::of(folder))
    }

    /// Returns `true` if the view's tables must be compared with those of this list of files.
    pub(crate) fn is_unchecked(&self, folder: &Path, manifest: &Manifest) -> bool {
        let Pace::Follows(checked) = self else {
            return false;
        };
        let mut checked = checked.lock().unwrap_or_else(PoisonError::into_inner);
        checked.has_blob_files |= has_blob_files(folder);
        match &checked.manifest {
            None => true,
            Some(compared) => checked.has_blob_files && compared != manifest,
        }
    }

    /// Notes that the view's tables are those of this list of files.
    pub(crate) fn compared(&self, manifest: Manifest) {
        if let Pace::Follows(checked) = self {
            let mut checked = checked.lock().unwrap_or_else(PoisonError::into_inner);
            checked.manifest = Some(manifest);
        }
    }
}
