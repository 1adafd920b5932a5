//! The Merkle tree on the disk: made for a log that has none, and checked.

use annals_event_log::tree::{Frontier, Kept, leaf, root};
use annals_event_log::{Digest, EventLog, Position};
use annals_store_rocks::{Fault, RocksLog, VerifyReport};
use futures::executor::block_on;
use rocksdb::{DB, IteratorMode};

use crate::support::{all, append, batch, close, event, new_log, options, raw};

/// Records of these tests: a hash of the level 8 among them, and single ones.
const RECORDS: usize = 700;

fn fill(log: &RocksLog) {
    for _ in 0..50 {
        append(log, "run-1", 1);
    }
    let events = (50..RECORDS).map(|_| event("run-2")).collect();
    block_on(log.append(batch(events, Vec::new()))).unwrap();
}

/// The tree of a log's records, made here.
fn made(log: &RocksLog) -> (Frontier, Vec<Kept>) {
    let (mut frontier, mut kept) = (Frontier::default(), Vec::new());
    for record in all(log) {
        frontier.push(leaf(record.header_bytes()), |it| kept.push(it));
    }
    (frontier, kept)
}

fn assert_tree(log: &RocksLog) {
    let (frontier, kept) = made(log);
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!(report.root, Some(frontier.root()));
    assert_eq!(report.tree, report.records);
    let size = log.watermark().0;
    assert_eq!(block_on(root(log, size)).unwrap(), frontier.root());
    for it in kept {
        let found = block_on(log.tree_hashes(it.level, it.index, 1)).unwrap();
        assert_eq!(found, [it.hash]);
    }
}

/// Takes the tree out of a log, as if it had been written without one.
fn strip(db: &DB) {
    let tree = db.cf_handle("tree").unwrap();
    for entry in db.iterator_cf(tree, IteratorMode::Start) {
        db.delete_cf(tree, entry.unwrap().0).unwrap();
    }
    db.delete_cf(db.cf_handle("meta").unwrap(), b"tree")
        .unwrap();
}

#[test]
fn a_log_that_was_written_without_a_tree_gets_it_when_it_is_opened() {
    let (_home, path, log) = new_log();
    fill(&log);
    close(log);
    let db = raw(&path);
    strip(&db);
    drop(db);
    // A reader says what is to be done.
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    let refused = block_on(root(&reader, 700)).unwrap_err().to_string();
    assert!(
        refused.contains("when it is opened for writing"),
        "{refused}"
    );
    // Nothing is wrong with it.
    let report = reader.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!((report.tree, report.root.is_some()), (0, true));
    close(reader);
    let log = RocksLog::open(&path, &options()).unwrap();
    assert_tree(&log);
    append(&log, "run-1", 3);
    assert_tree(&log);
}

#[test]
fn what_an_older_program_added_gets_its_hashes_when_it_is_opened() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 300);
    close(log);
    let without = options().with_tree(false);
    let log = RocksLog::open(&path, &without).unwrap();
    fill(&log);
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!((report.records, report.tree), (1_000, 300));
    close(log);
    let log = RocksLog::open(&path, &options()).unwrap();
    assert_eq!(log.watermark(), Position(1_000));
    assert_tree(&log);
    close(log);
    // Once is enough.
    let log = RocksLog::open(&path, &options()).unwrap();
    assert_tree(&log);
}

#[test]
fn a_tree_that_is_longer_than_its_log_is_refused() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 3);
    close(log);
    let mut frontier = Frontier::default();
    (0..4_u8).for_each(|n| frontier.push(leaf(&[n]), |_| {}));
    let db = raw(&path);
    let meta = db.cf_handle("meta").unwrap();
    db.put_cf(meta, b"tree", frontier.encode()).unwrap();
    drop(db);
    let refused = RocksLog::open(&path, &options()).err().unwrap().to_string();
    assert!(refused.contains("the tree has 4 leaves"), "{refused}");
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    let report = reader.verify(&mut |_| {}).unwrap();
    assert_eq!(only(&report), Fault::Frontier);
}

#[test]
fn a_long_log_gets_its_tree_in_several_writes() {
    let (_home, path, log) = new_log();
    for size in [2_000, 9_000, 6_999, 1] {
        let events = (0..size).map(|_| event("run-1")).collect();
        block_on(log.append(batch(events, Vec::new()))).unwrap();
    }
    assert_tree(&log);
    close(log);
    let db = raw(&path);
    strip(&db);
    drop(db);
    let log = RocksLog::open(&path, &options()).unwrap();
    assert_eq!(log.watermark(), Position(18_000));
    assert_tree(&log);
}

#[test]
fn a_right_edge_that_cannot_be_read_is_rebuilt() {
    let (_home, path, log) = new_log();
    fill(&log);
    close(log);
    let db = raw(&path);
    db.put_cf(db.cf_handle("meta").unwrap(), b"tree", b"no edge")
        .unwrap();
    drop(db);
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    assert!(!reader.verify(&mut |_| {}).unwrap().is_sound());
    close(reader);
    let log = RocksLog::open(&path, &options()).unwrap();
    assert_tree(&log);
}

#[test]
fn a_tree_is_not_made_of_a_log_whose_first_records_are_gone() {
    let (_home, path, log) = new_log();
    fill(&log);
    close(log);
    let db = raw(&path);
    strip(&db);
    db.delete_cf(db.cf_handle("records").unwrap(), 1_u64.to_be_bytes())
        .unwrap();
    drop(db);
    assert!(RocksLog::open(&path, &options()).is_err());
}

/// Makes a log, damages its tree, and verifies it.
fn verify_after(damage: impl FnOnce(&DB)) -> VerifyReport {
    let (_home, path, log) = new_log();
    fill(&log);
    close(log);
    let db = raw(&path);
    damage(&db);
    drop(db);
    let log = RocksLog::open(&path, &options()).unwrap();
    log.verify(&mut |_| {}).unwrap()
}

fn key(level: u8, first: u64) -> Vec<u8> {
    [&[level][..], &first.to_be_bytes()].concat()
}

fn only(report: &VerifyReport) -> Fault {
    assert_eq!(report.total_findings, 1, "{:#?}", report.findings);
    report.findings[0].fault.clone()
}

#[test]
fn any_flipped_bit_of_a_run_or_of_the_frontier_is_found_and_named() {
    for (level, first, at) in [(0, 7, 0), (0, 50, 0), (0, 50, 649), (8, 0, 0), (8, 1, 0)] {
        let report = verify_after(|db| {
            let tree = db.cf_handle("tree").unwrap();
            let mut run = db.get_cf(tree, key(level, first)).unwrap().unwrap();
            run[at * 32 + 31] ^= 0x10;
            db.put_cf(tree, key(level, first), run).unwrap();
        });
        let index = first + at as u64;
        assert_eq!(only(&report), Fault::Tree { level, index });
        let position = Position((index + 1) << level);
        assert_eq!(report.findings[0].position, Some(position));
    }
    let report = verify_after(|db| {
        let meta = db.cf_handle("meta").unwrap();
        let mut frontier = db.get_cf(meta, b"tree").unwrap().unwrap();
        frontier[20] ^= 1;
        db.put_cf(meta, b"tree", frontier).unwrap();
    });
    assert_eq!(only(&report), Fault::Frontier);
}

#[test]
fn hashes_that_are_missing_or_belong_to_no_record_are_found() {
    let report = verify_after(|db| {
        db.delete_cf(db.cf_handle("tree").unwrap(), key(0, 9))
            .unwrap();
    });
    assert_eq!(only(&report), Fault::Tree { level: 0, index: 9 });
    let report = verify_after(|db| {
        let tree = db.cf_handle("tree").unwrap();
        let mut run = db.get_cf(tree, key(0, 50)).unwrap().unwrap();
        run.pop();
        db.put_cf(tree, key(0, 50), run).unwrap();
    });
    assert!(report.total_findings >= 1);
    for surplus in [key(3, 0), key(16, 0), vec![0; 4]] {
        let report = verify_after(|db| {
            db.put_cf(db.cf_handle("tree").unwrap(), &surplus, [0; 32])
                .unwrap();
        });
        let is_surplus = matches!(only(&report), Fault::Surplus { name: "tree", .. });
        assert!(is_surplus, "{surplus:?}: {:?}", report.findings);
    }
}

#[test]
fn an_altered_header_is_found_by_its_leaf_though_its_own_digests_fit() {
    let report = verify_after(|db| {
        let records = db.cf_handle("records").unwrap();
        let first = 1_u64.to_be_bytes();
        let mut chunk = db.get_cf(records, first).unwrap().unwrap();
        // Behind the chunk's format, and the lengths of the record and its header:
        // when it happened, which no other digest covers.
        chunk[1 + 4 + 2 + 29 + 7] ^= 1;
        db.put_cf(records, first, chunk).unwrap();
    });
    let expected = [
        Fault::Tree { level: 0, index: 0 },
        Fault::Tree { level: 8, index: 0 },
        Fault::Frontier,
    ];
    let found: Vec<Fault> = report.findings.iter().map(|it| it.fault.clone()).collect();
    assert_eq!(found, expected, "{:#?}", report.findings);
}

#[test]
fn a_reader_and_a_backup_have_the_tree() {
    let (home, path, log) = new_log();
    fill(&log);
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    let expected: Digest = block_on(root(&log, 700)).unwrap();
    assert_eq!(block_on(root(&reader, 700)).unwrap(), expected);
    append(&log, "run-1", 1);
    let dest = home.path().join("backup");
    log.backup(&dest).unwrap();
    let backup = RocksLog::open(&dest, &options()).unwrap();
    assert_tree(&backup);
    assert_eq!(backup.watermark(), Position(701));
}
