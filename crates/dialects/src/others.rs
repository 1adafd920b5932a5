//! What a folder has and an import does not look into.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::report::{ImportReport, NAMED, PassedOver};

/// Why a link is left alone.
pub(crate) const LINK: &str = "it is a link, which is not followed";
/// Why a socket or a device is left alone.
pub(crate) const NO_FILE: &str = "it is neither a file nor a folder";

/// Files and links next to those that are read.
#[derive(Debug, Default)]
pub(crate) struct Others {
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

    /// Adds others, but for those named ones that are not wanted.
    pub(crate) fn add_all(&mut self, others: Others, wanted: impl Fn(&Path) -> bool) {
        self.count += others.count - others.first.len() as u64;
        let wanted = others.first.into_iter().filter(|(path, _)| wanted(path));
        wanted.for_each(|(path, reason)| self.add(path, reason));
        self.unread_count += others.unread_count - others.unread.len() as u64;
        let unread = others.unread.into_iter();
        unread.for_each(|(path, reason)| self.add_unread(path, reason));
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
