//! git-internal's objects, in and out.

mod bad_input;
mod folder;
mod long;
mod pieces;
mod repeat;
mod revisions;
mod round_trip;
mod state;
mod violations;
pub(crate) mod writer;

use std::path::{Path, PathBuf};

use annals::Annals;
use annals::event_log::Row;
use annals::projections::Catalogue;
use annals_dialects::ImportReport;
use annals_dialects::git_internal::{self, Rendered, each_object};
use annals_dialects::secrets::Secrets;
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
    block_on(git_internal::import(
        annals,
        path,
        &Secrets::standard(),
        &mut |_| {},
    ))
    .unwrap()
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

/// Every row of the catalogue, as it is stored.
fn catalogue(annals: &Annals) -> Vec<Row> {
    block_on(annals.index().rebuild(&mut |_| {})).unwrap();
    let log = annals.log().as_ref();
    let model = block_on(Catalogue::new().model(log)).unwrap();
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let after = rows.last().map(|(key, _)| key.clone());
        let page = block_on(log.scan(&model, b"", after.as_deref(), 1_000)).unwrap();
        if page.is_empty() {
            return rows;
        }
        rows.extend(page);
    }
}

fn text(all: &[Rendered]) -> String {
    all.iter().map(|one| one.json.clone() + "\n").collect()
}
