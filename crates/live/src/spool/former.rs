//! Folders in which events of a log wait beside its spool: those that programs of before used, those of links to the log, and
//! those of names that the log had before.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufReader, Read as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use annals::store_rocks;
use annals_files::Kind;
use serde::Deserialize;
use uuid::Uuid;

use super::{ENTRIES, MOST_OF_ONE, OF, Spool, SpoolError, place, room};

/// A folder beside a log's spool in which events of it wait.
#[derive(Debug)]
pub(crate) struct Former {
    pub(crate) spool: Spool,
    /// Whether another log may have it as its spool now: events of the log alone are taken from there.
    pub(crate) is_shared: bool,
}

impl Spool {
    /// The other folders in which events of a log wait. One that is not this user's own is none ([`Spool::unusable`]).
    pub(crate) fn former(&self, log: Uuid) -> Vec<Former> {
        let others = self.others(log).into_iter();
        let is_there = |former: &Former| matches!(former.spool.open(), Ok(Some(_)));
        others.filter(is_there).collect()
    }

    /// Other folders in which events of the log may wait, and that cannot be used: nothing in them is taken in, or searched.
    pub fn unusable(&self) -> Vec<(PathBuf, SpoolError)> {
        let others = self.others(self.log_id().unwrap_or_default()).into_iter();
        let refused = others.filter_map(|former| {
            let error = former.spool.open().err()?;
            Some((former.spool.path, error))
        });
        refused.collect()
    }

    /// The places of other folders in which events of a log may wait; most of them are not there. The spool of another folder
    /// with the same log is not one of them: a backup or another copy has the id of its original.
    fn others(&self, log: Uuid) -> Vec<Former> {
        let mark = format!("{OF}{log}");
        let siblings = self.log.as_deref().map(|folder| {
            let has_log = |path: PathBuf| {
                !place::is_same(&path, folder) && store_rocks::log_id(&path) == Some(log)
            };
            let is_left = |path: &Path| {
                path.join(&mark).is_file() && !place::logs_of(path).into_iter().any(has_log)
            };
            place::siblings(folder, is_left)
        });
        let siblings = siblings.unwrap_or_default().into_iter();
        let named = self.former.iter().cloned().map(|path| (path, false));
        let all = named.chain(siblings.map(|it| (it.path, it.is_marked)));
        let mut found: Vec<Former> = Vec::new();
        for (path, is_shared) in all {
            let spool = Spool::in_folder(path);
            // By another name it may be the log's own.
            let is_own = place::is_same(&spool.path, &self.path);
            if !is_own && found.iter().all(|it| it.spool.path != spool.path) {
                found.push(Former { spool, is_shared });
            }
        }
        found
    }

    /// Returns `true` if nothing waits for a log, neither in its spool nor in places of before.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn is_idle(&self, log: Uuid) -> Result<bool, SpoolError> {
        if !self.waiting()?.is_empty() {
            return Ok(false);
        }
        for former in self.former(log) {
            if !former.spool.waiting()?.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Where else events of the log wait that is there now, and how many.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn elsewhere(&self) -> Result<Vec<(PathBuf, usize)>, SpoolError> {
        let mut all = Vec::new();
        // Without a log there are the names alone, under which it will be asked for.
        for former in self.former(self.log_id().unwrap_or_default()) {
            let waiting = former.spool.waiting()?.len();
            if waiting > 0 {
                all.push((former.spool.path, waiting));
            }
        }
        Ok(all)
    }

    /// Logs that were at this path before, and how many events in the spool are theirs.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn of_other_logs(&self) -> Result<BTreeMap<Uuid, usize>, SpoolError> {
        let mut found = BTreeMap::new();
        let (Some(dir), own) = (self.open()?, self.log_id()) else {
            return Ok(found);
        };
        let entries = dir.entries_up_to(ENTRIES).map_err(|error| self.io(error))?;
        let marks = entries.iter().filter_map(|entry| {
            let id = entry.name.to_str()?.strip_prefix(OF)?;
            id.parse::<Uuid>().ok()
        });
        if marks.into_iter().all(|id| Some(id) == own) {
            return Ok(found);
        }
        for waiting in self.waiting()? {
            // What cannot be read is put aside when it is taken in.
            let told_for = dir.open_file(&waiting.name).ok().and_then(told_for);
            if let Some(log) = told_for.filter(|log| Some(*log) != own) {
                *found.entry(log).or_default() += 1;
            }
        }
        Ok(found)
    }

    fn in_folder(path: PathBuf) -> Spool {
        Spool {
            path,
            makes_parents: false,
            log: None,
            former: Vec::new(),
        }
    }

    /// Leaves a mark of the log whose events are in the folder, by which it is found when the log has another name. Without it
    /// they are found under the log's name alone.
    pub(super) fn mark(&self, log: Uuid) {
        let mut how = OpenOptions::new();
        how.write(true).create_new(true).mode(0o600);
        let _ = annals_files::open_with(&self.path.join(format!("{OF}{log}")), &mut how);
    }
}

/// The log that an event was told for, and nothing else of it.
fn told_for(file: File) -> Option<Uuid> {
    #[derive(Deserialize)]
    struct ToldFor {
        log: Option<Uuid>,
    }
    let file = BufReader::new(file.take(MOST_OF_ONE));
    let read: Result<ToldFor, _> = serde_json::from_reader(file);
    read.ok()?.log
}

impl Former {
    /// Returns `true` if an event that was told for a log is to be taken in by another one, or by the same.
    pub(crate) fn has(&self, told_for: Option<Uuid>, log: Uuid) -> bool {
        match told_for {
            Some(told_for) => told_for == log,
            None => !self.is_shared,
        }
    }

    /// Forgets the folder, from which all events of a log were taken in: it is removed where it has only what the spool keeps
    /// for itself, and no log uses it.
    pub(crate) fn forget(&self, log: Uuid) {
        let Ok(Some(dir)) = self.spool.open() else {
            return;
        };
        let _ = dir.remove_file(format!("{OF}{log}").as_ref());
        let Ok(entries) = dir.entries_up_to(ENTRIES) else {
            return;
        };
        let is_own =
            |name: &str| name == room::NAME || name == crate::bell::NAME || name.starts_with(OF);
        let is_empty = entries
            .iter()
            .all(|entry| entry.kind != Kind::Dir && entry.name.to_str().is_some_and(is_own));
        let is_used =
            self.is_shared && place::log_of(self.spool.path()).is_some_and(|it| it.exists());
        if is_empty && !is_used {
            for entry in entries {
                let _ = dir.remove_file(&entry.name);
            }
            // What came meanwhile keeps it.
            let _ = fs::remove_dir(self.spool.path());
        }
    }
}
