//! Redaction outside of the log's own files: the spool and the list of imported recordings are searched, and copies that are
//! not are named.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use annals::LogUrl;
use annals_live::{Forgotten, Spool, SpoolError, Unwanted, forget};
use regex::bytes::{NoExpand, Regex};
use serde_json::{Value, json};

use crate::commands::start::{ForgottenImports, forget_imports};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, counted};

/// What stands in the place of removed content.
const MARKER: &str = "[removed]";

/// How the names of copies go on that `annals doctor` makes next to a log.
const COPIES: [&str; 2] = [".tail-", ".replaced-"];

/// What was done outside of the log's own files.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// The folder of the spool, and what it had of the patterns.
    spool: Option<(PathBuf, Forgotten)>,
    /// The file of imported recordings, and what it had of the patterns.
    imports: Option<ForgottenImports>,
    /// Places that may have the content still, and why.
    not_reached: Vec<(PathBuf, String)>,
}

/// Removes what the patterns find from the spool, and looks for copies of the log.
pub(super) fn clean(patterns: &[Regex], dry_run: bool, context: &Context) -> Outside {
    let mut outside = Outside::default();
    if let Ok(LogUrl::Rocks(log)) = context.log.parse() {
        outside.not_reached.extend(copies(&log));
    }
    outside.clean_imports(patterns, dry_run, context);
    let Ok(spool) = Spool::of(&context.log) else {
        return outside;
    };
    let path = spool.path().to_owned();
    let unusable = spool.unusable().into_iter();
    let unusable = unusable.map(|(path, error)| (path, error.to_string()));
    outside.not_reached.extend(unusable);
    match search(&spool, patterns, dry_run) {
        Ok(Searched::Whole(forgotten)) => {
            let unsearched = forgotten
                .unsearched
                .iter()
                .map(|it| (path.clone(), it.clone()));
            outside.not_reached.extend(unsearched);
            outside.spool = Some((path, forgotten));
        }
        Ok(Searched::Empty) => {}
        Ok(Searched::NoPattern(files)) => {
            let files = counted(files, "event", "events");
            let hint = format!("{files} that wait or were put aside; --pattern searches them");
            outside.not_reached.push((path, hint));
        }
        Err(error) => outside.not_reached.push((path, error.to_string())),
    }
    outside
}

/// What a search of the spool came to.
enum Searched {
    /// All of it was searched.
    Whole(Forgotten),
    /// It has no event.
    Empty,
    /// It has events, and nothing says what to look for.
    NoPattern(u64),
}

fn search(spool: &Spool, patterns: &[Regex], dry_run: bool) -> Result<Searched, SpoolError> {
    if patterns.is_empty() {
        let state = spool.state()?;
        let elsewhere = spool.elsewhere()?.into_iter();
        let elsewhere: usize = elsewhere.map(|(_, waiting)| waiting).sum();
        let files = (state.waiting + state.bad + elsewhere) as u64;
        return Ok(match files {
            0 => Searched::Empty,
            files => Searched::NoPattern(files),
        });
    }
    let is_in = |bytes: &[u8]| patterns.iter().any(|pattern| pattern.is_match(bytes));
    let without = |text: &str| {
        let bytes = patterns.iter().fold(text.as_bytes().to_vec(), |bytes, it| {
            it.replace_all(&bytes, NoExpand(MARKER.as_bytes()))
                .into_owned()
        });
        String::from_utf8_lossy(&bytes).into_owned()
    };
    let unwanted = Unwanted {
        is_in: &is_in,
        without: &without,
    };
    Ok(Searched::Whole(forget(spool, &unwanted, dry_run)))
}

/// What lies next to a log and may have its content: copies that `annals doctor` made, and what interrupted
/// commands left.
fn copies(log: &Path) -> Vec<(PathBuf, String)> {
    let log = log.components().as_path();
    let folder = log.parent().filter(|it| !it.as_os_str().is_empty());
    let name = log.file_name().unwrap_or_default();
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new(".")));
    let entries = entries.into_iter().flatten().flatten();
    let is_copy = |entry: &OsStr| {
        let rest = entry
            .as_encoded_bytes()
            .strip_prefix(name.as_encoded_bytes());
        rest.is_some_and(|rest| COPIES.iter().any(|copy| rest.starts_with(copy.as_bytes())))
    };
    let what = |entry: &OsStr| {
        let path = log.with_file_name(entry);
        let hint = if is_copy(entry) {
            format!(
                "a copy of the log that `annals doctor` made: `annals --log {} log redact ...` searches \
                 it",
                path.display()
            )
        } else if is_backup_work(entry) {
            "a backup or restore of some log that was interrupted, or is being made now: remove it \
             if no process makes it"
                .to_owned()
        } else if annals_files::is_part(entry) {
            "output that was interrupted, or is being written now: remove it if no process writes \
             it"
            .to_owned()
        } else {
            return None;
        };
        Some((path, hint))
    };
    let names = entries.map(|entry| entry.file_name());
    let mut copies: Vec<(PathBuf, String)> = names.filter_map(|entry| what(&entry)).collect();
    copies.sort();
    copies
}

/// Returns `true` for the name of a folder in which a backup is made.
fn is_backup_work(name: &OsStr) -> bool {
    name.as_encoded_bytes()
        .starts_with(annals::store_rocks::BACKUP_WORK.as_bytes())
}

impl Outside {
    /// Takes the names of recordings out of the file beside the log in which a pattern is found.
    fn clean_imports(&mut self, patterns: &[Regex], dry_run: bool, context: &Context) {
        let is_unwanted = |name: &str| patterns.iter().any(|it| it.is_match(name.as_bytes()));
        match forget_imports(context, is_unwanted, dry_run) {
            Ok(Some(imports)) if patterns.is_empty() && imports.names > 0 => {
                let names = counted(imports.names as u64, "path", "paths");
                let hint = format!("{names} of imported recordings; --pattern searches them");
                self.not_reached.push((imports.path, hint));
            }
            Ok(imports) => self.imports = imports,
            Err(unread) => self.not_reached.push(unread),
        }
    }

    /// Prints what was done, and what was not reached.
    pub(super) fn show(&self, dry_run: bool, output: &mut Output) -> Result<(), CliError> {
        if let Some((path, forgotten)) = &self.spool {
            let (clean, remove) = match dry_run {
                true => ("would clean", "would remove"),
                false => ("cleaned", "removed"),
            };
            if forgotten.cleaned > 0 {
                let events = counted(forgotten.cleaned as u64, "queued event", "queued events");
                output.line(&format!("{clean} {events} in {}", path.display()))?;
            }
            if forgotten.removed > 0 {
                let files = counted(forgotten.removed as u64, "file", "files");
                output.line(&format!(
                    "{remove} {files} that were put aside in {}",
                    path.display()
                ))?;
            }
        }
        if let Some(imports) = self.imports.as_ref().filter(|it| it.removed > 0) {
            let remove = if dry_run { "would remove" } else { "removed" };
            let names = counted(imports.removed as u64, "path", "paths");
            let path = imports.path.display();
            output.line(&format!("{remove} {names} of recordings in {path}"))?;
        }
        for (path, reason) in &self.not_reached {
            output.line(&format!("not searched: {}: {reason}", path.display()))?;
        }
        Ok(())
    }

    /// Notes what was not reached beside an error.
    pub(super) fn note(&self, output: &Output) {
        for (path, reason) in &self.not_reached {
            output.note(&format!("not searched: {}: {reason}", path.display()));
        }
    }

    /// Adds it to a report in JSON.
    pub(super) fn add_to(&self, report: &mut Value) {
        let spool = self.spool.as_ref().map(|(path, forgotten)| {
            json!({
                "path": path,
                "cleaned": forgotten.cleaned,
                "removed": forgotten.removed,
            })
        });
        let not_reached = self.not_reached.iter();
        let not_reached =
            not_reached.map(|(path, reason)| json!({ "path": path, "reason": reason }));
        let imports = self.imports.as_ref();
        let imports = imports.map(|it| json!({ "path": it.path, "removed": it.removed }));
        report["imports"] = json!(imports);
        report["spool"] = json!(spool);
        report["not_reached"] = not_reached.collect();
    }
}
