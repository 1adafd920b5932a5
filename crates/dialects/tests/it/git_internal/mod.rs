//! git-internal's objects, in and out.

mod bad_input;
mod long;
mod repeat;
mod round_trip;
mod state;
mod writer;

use std::path::{Path, PathBuf};

use annals::Annals;
use annals_dialects::ImportReport;
use annals_dialects::git_internal::{self, Rendered, each_object};
use futures::executor::block_on;
use tempfile::TempDir;

/// A log in memory.
fn log() -> Annals {
    block_on(Annals::open("memory:")).unwrap()
}

/// A folder with one file.
fn file(name: &str, content: impl AsRef<[u8]>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

fn import(annals: &Annals, path: &Path) -> ImportReport {
    block_on(git_internal::import(annals, path, &mut |_| {})).unwrap()
}

/// Imports JSON lines.
fn import_text(annals: &Annals, text: impl AsRef<[u8]>) -> ImportReport {
    let (_folder, path) = file("objects.jsonl", text);
    import(annals, &path)
}

/// Everything that the log has, oldest first.
fn export(annals: &Annals) -> Vec<Rendered> {
    let mut all = Vec::new();
    block_on(each_object(annals, &mut |_| {}, &mut |one| all.push(one))).unwrap();
    all
}

fn text(all: &[Rendered]) -> String {
    all.iter().map(|one| one.json.clone() + "\n").collect()
}
