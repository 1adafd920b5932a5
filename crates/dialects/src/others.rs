//! What a folder has and an import does not look into.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::report::{ImportReport, NAMED, PassedOver};

/// Why a link is left alone.
pub(crate) const LINK: &str = "it is a link, and what it names is only read where it is";
/// Why a socket or a device is left alone.
pub(crate) const NO_FILE: &str = "it is neither a file nor a folder";

/// Files and links beside those that are read.
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
