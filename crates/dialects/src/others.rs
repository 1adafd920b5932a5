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
}

impl Others {
    pub(crate) fn add(&mut self, path: PathBuf, reason: &'static str) {
        self.count += 1;
        self.first.insert(path, reason);
        if self.first.len() > NAMED {
            self.first.pop_last();
        }
    }

    /// Adds others, but for those named ones that are not wanted.
    pub(crate) fn add_all(&mut self, others: Others, wanted: impl Fn(&Path) -> bool) {
        self.count += others.count - others.first.len() as u64;
        let wanted = others.first.into_iter().filter(|(path, _)| wanted(path));
        wanted.for_each(|(path, reason)| self.add(path, reason));
    }

    /// Names the first ones in a report.
    pub(crate) fn report(self, report: &mut ImportReport) {
        let named = |(path, reason): (PathBuf, &str)| PassedOver {
            file: path.display().to_string(),
            reason: reason.to_owned(),
        };
        report.passed_over_count = self.count;
        report.passed_over = self.first.into_iter().map(named).collect();
    }
}
