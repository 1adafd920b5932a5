//! What was altered in the database leaves the log by no way as if it were right, and nothing is made of it.

use annals::OpenOptions;
use annals::event_log::{Position, ReadError};
use annals::store_rocks::{Options, RocksLog};
use annals_dialects::verbatim::{self, VerbatimExportError};
use futures::executor::block_on;
use rocksdb::IteratorMode;
use tempfile::TempDir;

use crate::support::{raw, run_with_calls};

fn log() -> (TempDir, String) {
    let home = tempfile::tempdir().unwrap();
    let url = home.path().join("log").display().to_string();
    let annals = block_on(annals::Annals::open(&url)).unwrap();
    run_with_calls(&annals, 3);
    block_on(annals.close());
    (home, url)
}

/// What an export says is wrong.
fn export(url: &str) -> Result<(), String> {
    let annals = OpenOptions::new().read_only(true).open(url).unwrap();
    let mut out = Vec::new();
    let mut progress = |_| {};
    let exported = verbatim::export(&annals, Position(1), &mut out, &mut progress);
    let exported = block_on(exported);
    block_on(annals.close());
    match exported {
        Ok(_) => Ok(()),
        Err(VerbatimExportError::Read(ReadError::Corrupt { reason })) => Err(reason),
        Err(other) => panic!("{other}"),
    }
}

/// Alters a byte of the first chunk, the first one of six for which `is_it`.
fn alter(url: &str, is_it: impl Fn(&[u8]) -> bool) {
    let db = raw(url);
    let records = db.cf_handle("records").unwrap();
    let first = db.iterator_cf(records, IteratorMode::Start).next();
    let (key, mut chunk) = first.unwrap().unwrap();
    let at = chunk.windows(6).position(is_it).unwrap();
    chunk[at] ^= 1;
    db.put_cf(records, key, chunk).unwrap();
}

/// A file that an import refuses is not called an export: it may go unnoticed until the log is gone.
#[test]
fn an_altered_payload_is_not_exported() {
    let (_home, url) = log();
    export(&url).unwrap();
    // A title, and not an actor, a worker: that is the header's.
    alter(&url, |bytes| {
        bytes.starts_with(b"work") && !bytes.ends_with(b"er")
    });
    let reason = export(&url).unwrap_err();
    assert!(reason.starts_with("the payload of record 1 "), "{reason}");
}

/// Of an altered header the tree is the only witness.
#[test]
fn an_altered_header_is_not_exported_and_no_tree_is_made_of_it() {
    let (_home, url) = log();
    alter(&url, |bytes| bytes == b"worker");
    let reason = export(&url).unwrap_err();
    assert!(reason.starts_with("the header of record 1 "), "{reason}");
    let path = std::path::Path::new(&url);
    let rebuild = || RocksLog::rebuild_indexes(path, &Options::default(), &mut |_, _| {});
    let error = rebuild().unwrap_err().to_string();
    assert!(error.contains("the record at 1: its header"), "{error}");
    // Also where the tree's right edge is lost.
    let db = raw(&url);
    db.delete_cf(db.cf_handle("meta").unwrap(), "tree").unwrap();
    drop(db);
    let error = rebuild().unwrap_err().to_string();
    assert!(error.contains("the record at 1: its header"), "{error}");
}
