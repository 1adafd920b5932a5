//! What a folder has and an import does not look into.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::report::{ImportReport, NAMED, PassedOver};

/// Why a link is left alone.
pub(crate) const LINK: &str = "it is a link, which is not followed";
/// Why a socket or a device is left alone.
pub(crate) const NO_FILE: &str = "it is neither a file nor a folder";

/// The most entries of folders that are looked at behind all links of an import.
const LOOKED_AT: usize = 100_000;

/// Files and links next to those that are read.
#[derive(Debug, Default)]
pub(crate) struct Others {
    /// Entries of folders behind links that were looked at.
    looked_at: usize,
    /// How many.
    pub(crate) count: u64,
    /// The first ones by their paths, and why they are left alone.
    first: BTreeMap<PathBuf, &'static str>,
    /// How many look like what is read, and cannot be.
    unread_count: u64,
    /// The first of those, and why they cannot be read.
    unread: BTreeMap<PathBuf, &'static str>,
}

impl Others {
    pub(crate) fn add(&mut self, path: PathBuf, reason: &'static str) {
        self.count += 1;
        name_first(&mut self.first, path, reason);
    }

    /// Adds what looks like something that is read, and cannot be: the import is not complete.
    pub(crate) fn add_unread(&mut self, path: PathBuf, reason: &'static str) {
        self.unread_count += 1;
        name_first(&mut self.unread, path, reason);
    }

    /// Adds a link in the folder that is imported. It is unread if it leads out of the folder to what `is_read` by its
    /// name, or to a folder that has such files.
    pub(crate) fn add_link(
        &mut self,
        folder: &Path,
        link: PathBuf,
        is_read: &dyn Fn(&str) -> bool,
    ) {
        match self.leads_to_unread(folder, &link, is_read) {
            true => self.add_unread(link, LINK),
            false => self.add(link, LINK),
        }
    }

    /// Returns `true` if a link leads to something that would be read if it were in the folder. What lies in the folder is
    /// read as itself.
    fn leads_to_unread(
        &mut self,
        folder: &Path,
        link: &Path,
        is_read: &dyn Fn(&str) -> bool,
    ) -> bool {
        let is_named = || is_read(&name(link));
        let (Ok(target), Ok(home)) = (fs::canonicalize(link), fs::canonicalize(folder)) else {
            return is_named();
        };
        if target.is_dir() {
            return self.has_read(target, &home, is_read);
        }
        is_named() && !(target.starts_with(home) && target.is_file())
    }

    /// Returns `true` if a folder has a file outside of `home` that is read by its name, at any depth, or more entries than
    /// are looked at.
    fn has_read(&mut self, folder: PathBuf, home: &Path, is_read: &dyn Fn(&str) -> bool) -> bool {
        let mut folders = vec![folder];
        while let Some(folder) = folders.pop() {
            let Some(entries) = fs::read_dir(&folder)
                .ok()
                .filter(|_| !folder.starts_with(home))
            else {
                continue;
            };
            for entry in entries.flatten() {
                self.looked_at += 1;
                if self.looked_at > LOOKED_AT {
                    return true;
                }
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() && is_read(&name(&entry.path())) => return true,
                    _ => {}
                }
            }
        }
        false
    }

    /// Adds a pipe, a socket or a device. It is unread if its name is that of something `is_read`.
    pub(crate) fn add_no_file(&mut self, path: PathBuf, is_read: bool) {
        match is_read {
            true => self.add_unread(path, NO_FILE),
            false => self.add(path, NO_FILE),
        }
    }

    /// Adds others, but for those named ones that are not wanted.
    pub(crate) fn add_all(&mut self, others: Others, wanted: impl Fn(&Path) -> bool) {
        self.count += others.count - others.first.len() as u64;
        let wanted = others.first.into_iter().filter(|(path, _)| wanted(path));
        wanted.for_each(|(path, reason)| self.add(path, reason));
        self.unread_count += others.unread_count - others.unread.len() as u64;
        let unread = others.unread.into_iter();
        unread.for_each(|(path, reason)| self.add_unread(path, reason));
    }

    /// Returns the first 100 of those that are unread, each with the reason.
    pub(crate) fn into_unread(self) -> impl Iterator<Item = (PathBuf, &'static str)> {
        self.unread.into_iter()
    }

    /// Names the first ones in a report.
    pub(crate) fn report(self, report: &mut ImportReport) {
        let named = |(path, reason): (PathBuf, &str)| PassedOver {
            file: path.display().to_string(),
            reason: reason.to_owned(),
        };
        report.passed_over_count = self.count;
        report.passed_over = self.first.into_iter().map(named).collect();
        report.broken_count += self.unread_count - self.unread.len() as u64;
        for (path, reason) in self.unread {
            report.add_broken(&path.display().to_string(), 0, reason.to_owned());
        }
    }
}

/// Names something, as long as it is one of the first by their paths.
fn name_first(first: &mut BTreeMap<PathBuf, &'static str>, path: PathBuf, reason: &'static str) {
    first.insert(path, reason);
    if first.len() > NAMED {
        first.pop_last();
    }
}

fn name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
