//! The files beside a log: whether agents' events that wait can be taken in, and the list of imported recordings.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use annals_live::Spool;

use super::{Check, State};
use crate::commands::start::{check_imports, imports_beside};
use crate::context::Context;

/// A check for each spool of the log that cannot be used.
pub(super) fn checks(url: &str, log: &Path) -> Vec<Check> {
    let Ok(spool) = Spool::of(url) else {
        return Vec::new();
    };
    let mut checks = Vec::new();
    if let Err(error) = spool.state()
        && !is_of_owner(spool.path(), log)
    {
        let remedy = format!(
            "agents' events are lost that must wait: move {} away, or give it to the user whose agents use the log",
            spool.path().display()
        );
        checks.push(Check::new("spool", State::Problem, error.to_string()).remedy(remedy));
    }
    let others = spool.unusable().into_iter().map(|(path, error)| {
        let what = format!("events may wait under another name of the log: {error}");
        let remedy = format!(
            "give {} to the user whose agents use the log, or remove it if it is not needed",
            path.display()
        );
        Check::new("spool", State::Problem, what).remedy(remedy)
    });
    checks.extend(others);
    checks
}

/// A check of the list of imported recordings, if it is of no use or others can read it.
pub(super) fn imports(context: &Context) -> Option<Check> {
    let path = imports_beside(context)?;
    let found = check_imports(&path)?;
    let path = path.display();
    let remedy = format!(
        "remove {path}, or give it to its user alone (chmod go= {path}): without it the next start reads all recordings again"
    );
    let what = format!("the list of imported recordings {path}: {found}");
    Some(Check::new("imports", State::Note, what).remedy(remedy))
}

/// Whether a folder is the spool of the log's own user, who is another one than this.
fn is_of_owner(spool: &Path, log: &Path) -> bool {
    let (Ok(spool), Ok(log)) = (fs::symlink_metadata(spool), fs::metadata(log)) else {
        return false;
    };
    spool.is_dir() && spool.uid() == log.uid() && spool.mode() & 0o077 == 0
}
