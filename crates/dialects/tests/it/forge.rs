//! `.forge/` folders: imported, exported, watched.

mod bad_input;
mod brought_on;
mod drafts;
mod exported;
mod registry;
mod round_trip;
mod watched;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annals::event_log::memory::MemoryLog;
use annals::projections::{InboxQuery, InboxReason, ListQuery};
use annals::{Annals, At};
use annals_dialects::ImportReport;
use annals_dialects::forge::{ForgeExportReport, ForgeOptions, ForgeSelection, export, import};
use annals_dialects::secrets::Secrets;
use annals_domain::intent::ApprovalStatus;
use annals_domain::{ActorRef, IntentId, Kind};
use futures::executor::block_on;
use tempfile::TempDir;
use uuid::Uuid;

/// A log in memory.
fn log() -> Annals {
    log_of(1)
}

/// The same of another id.
fn log_of(id: u128) -> Annals {
    Annals::over(Arc::new(MemoryLog::new(Uuid::from_u128(id))))
}

fn author() -> ActorRef {
    ActorRef::human("kei")
}

/// A `.forge/` folder.
struct Forge(TempDir);

impl Forge {
    fn new() -> Forge {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join(".forge")).unwrap();
        Forge(dir)
    }

    /// One with these files.
    fn of(files: &[(&str, &str)]) -> Forge {
        let forge = Forge::new();
        for (path, text) in files {
            forge.put(path, text);
        }
        forge
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, path: &str) -> PathBuf {
        self.0.path().join(".forge").join(path)
    }

    fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        let file = self.file(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn get(&self, path: &str) -> String {
        fs::read_to_string(self.file(path)).unwrap()
    }

    /// The names of the files of a part, sorted.
    fn names(&self, part: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.file(part)) else {
            return Vec::new();
        };
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort();
        names
    }

    fn import(&self, annals: &Annals) -> ImportReport {
        self.import_by(author(), annals)
    }

    fn import_by(&self, author: ActorRef, annals: &Annals) -> ImportReport {
        let options = ForgeOptions::new(author).with_secrets(Secrets::standard());
        let report = block_on(import(annals, self.path(), &options, &mut |_| {})).unwrap();
        check_rows(annals);
        report
    }

    fn export(&self, annals: &Annals) -> ForgeExportReport {
        let selection = ForgeSelection::default();
        block_on(export(annals, self.path(), &selection, &mut |_| {})).unwrap()
    }
}

/// What the catalogue says of every intent is what a fold of its stream, its tasks
/// and its children says, and so is who waits for a person.
fn check_rows(annals: &Annals) {
    let query = ListQuery::new(Kind::Intent).with_limit(1_000);
    let rows = block_on(annals.index().list(&query)).unwrap().rows;
    let inbox = block_on(
        annals
            .inbox()
            .entries(&InboxQuery::default().with_limit(1_000)),
    )
    .unwrap()
    .entries;
    for row in rows {
        let id = IntentId(row.id);
        let computed = block_on(annals.inbox().status_at(id, At::Now)).unwrap();
        assert_eq!(row.approval, Some(computed), "{row:?}");
        let view = block_on(annals.inbox().forge_intent(id, At::Now)).unwrap();
        let waits = match computed {
            ApprovalStatus::Blocked | ApprovalStatus::Error => true,
            ApprovalStatus::Done | ApprovalStatus::Rejected | ApprovalStatus::Cancelled => false,
            ApprovalStatus::Proposed => true,
            ApprovalStatus::Approved => {
                let is_over = |id: &IntentId| {
                    let status = block_on(annals.inbox().status_at(*id, At::Now)).unwrap();
                    matches!(status, ApprovalStatus::Rejected | ApprovalStatus::Cancelled)
                };
                view.needs_clarification || view.dependencies.iter().any(is_over)
            }
            _ => view.needs_clarification,
        };
        let entry = inbox.iter().find(|entry| entry.id() == row.id);
        // A part of what has ended, a task that waits in vain, or something that failed beside what is open: the catalogue's
        // own tests say when.
        let goes_on = matches!(
            computed,
            ApprovalStatus::Approved | ApprovalStatus::Executing
        );
        let has = |reason| entry.is_some_and(|entry| entry.reasons.contains(&reason));
        let other = [
            InboxReason::Dependency,
            InboxReason::Blocked,
            InboxReason::Error,
        ];
        let is_stuck = goes_on && other.into_iter().any(has);
        assert_eq!(entry.is_some(), waits || is_stuck, "{row:?}");
    }
}

/// What is said to be broken: `part/file:line: reason`.
fn broken(report: &ImportReport) -> Vec<String> {
    let broken = report.broken.iter();
    let said = broken.map(|it| format!("{}:{}: {}", short(&it.file), it.line, it.reason));
    said.collect()
}

fn passed_over(report: &ImportReport) -> Vec<String> {
    let passed = report.passed_over.iter();
    passed
        .map(|it| format!("{}: {}", short(&it.file), it.reason))
        .collect()
}

fn violations(report: &ImportReport) -> Vec<String> {
    let against = report.violations.iter();
    let said = against.map(|it| format!("{}:{}: {}", short(&it.file), it.line, it.violations[0]));
    said.collect()
}

/// A path from `.forge` on.
fn short(path: &str) -> &str {
    path.rsplit_once(".forge/").map_or(path, |(_, rest)| rest)
}
