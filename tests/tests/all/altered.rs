//! A payload that was altered in the database: it leaves the log by no way as if it were right.

use annals::OpenOptions;
use annals::event_log::{Position, ReadError};
use annals_dialects::verbatim::{self, VerbatimExportError};
use futures::executor::block_on;
use rocksdb::IteratorMode;

use crate::support::{raw, run_with_calls};

/// A file that an import refuses is not called an export: nobody may notice before the log is gone.
#[test]
fn an_altered_record_is_not_exported() {
    let home = tempfile::tempdir().unwrap();
    let url = home.path().join("log").display().to_string();
    let annals = block_on(annals::Annals::open(&url)).unwrap();
    run_with_calls(&annals, 3);
    block_on(annals.close());
    let export = || {
        let annals = OpenOptions::new().read_only(true).open(&url).unwrap();
        let mut out = Vec::new();
        let mut progress = |_| {};
        let exported = verbatim::export(&annals, Position(1), &mut out, &mut progress);
        let exported = block_on(exported);
        block_on(annals.close());
        exported
    };
    export().unwrap();
    let db = raw(&url);
    let records = db.cf_handle("records").unwrap();
    let (key, mut chunk) = db
        .iterator_cf(records, IteratorMode::Start)
        .next()
        .unwrap()
        .unwrap();
    // And not that of the actor, a worker: it is the header's.
    let is_title = |bytes: &[u8]| bytes.starts_with(b"work") && !bytes.ends_with(b"er");
    let title = chunk.windows(6).position(is_title).unwrap();
    chunk[title] ^= 1;
    db.put_cf(records, key, chunk).unwrap();
    drop(db);
    match export() {
        Err(VerbatimExportError::Read(ReadError::Corrupt { reason })) => {
            assert!(reason.starts_with("the payload of record 1 "), "{reason}");
        }
        other => panic!("{other:?}"),
    }
}
