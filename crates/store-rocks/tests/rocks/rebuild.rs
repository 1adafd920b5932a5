//! The indexes are rebuilt from the records, regardless of what became of them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use annals_event_log::Classified;
use annals_event_log::{BatchStatus, EventLog, Position, Query, ReadError, Version};
use annals_store_rocks::{OpenError, RebuildError, RebuildReport, RebuildStep, RocksLog};
use futures::executor::block_on;
use proptest::prelude::*;
use proptest::sample::Index;
use rocksdb::{DB, IteratorMode};

use crate::flips::{flip, made, plans};
use crate::support::{append, batch, close, event, new_log, options, raw};

/// Column families that are made from the records.
const INDEXES: [&str; 4] = ["streams", "types", "batches", "tree"];

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

fn entries(db: &DB, family: &str) -> Entries {
    let column = db.cf_handle(family).unwrap();
    let entries = db.iterator_cf(column, IteratorMode::Start);
    entries
        .map(Result::unwrap)
        .map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect()
}

/// The hashes of the tree by level. Where one run ends and the next one begins follows from
/// the groups that they were written in, which records do not say.
fn hashes(tree: &Entries) -> BTreeMap<u8, Vec<u8>> {
    let mut levels: BTreeMap<u8, Vec<u8>> = BTreeMap::new();
    for (key, run) in tree {
        levels.entry(key[0]).or_default().extend(run);
    }
    levels
}

fn rebuild(path: &Path) -> Result<RebuildReport, RebuildError> {
    RocksLog::rebuild_indexes(path, &options(), &mut |_, _| {})
}

fn assert_sound(path: &Path) {
    let log = RocksLog::open_reader(path, &options()).unwrap();
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!(report.tree, report.records);
    close(log);
}

/// What is done to an entry.
#[derive(Debug, Clone, Copy)]
enum Damage {
    Delete,
    Flip { of_key: bool },
}

fn damages() -> impl Strategy<Value = Damage> {
    prop_oneof![
        Just(Damage::Delete),
        any::<bool>().prop_map(|of_key| Damage::Flip { of_key }),
    ]
}

fn damage(db: &DB, family: &str, damage: Damage, which: Index, bit: Index) {
    let column = db.cf_handle(family).unwrap();
    let all: Vec<_> = entries(db, family).into_iter().collect();
    let Some((key, value)) = all.get(which.index(all.len().max(1))) else {
        return;
    };
    db.delete_cf(column, key).unwrap();
    match damage {
        Damage::Delete => {}
        Damage::Flip { of_key: true } => db.put_cf(column, flip(key, bit), value).unwrap(),
        Damage::Flip { of_key: false } => db.put_cf(column, key, flip(value, bit)).unwrap(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn everything_that_was_damaged_is_as_it_was(
        plan in plans(),
        damages in prop::collection::vec((0..4_usize, damages(), any::<Index>(), any::<Index>()), 1..24),
        counts in any::<Index>(),
        edge in any::<Index>(),
    ) {
        let (home, log) = made(&plan);
        let path = home.path().join("log");
        close(log);
        let db = raw(&path);
        let before: Vec<Entries> = INDEXES.iter().map(|family| entries(&db, family)).collect();
        let (records, meta) = (entries(&db, "records"), entries(&db, "meta"));
        for (family, of, which, bit) in damages {
            damage(&db, INDEXES[family], of, which, bit);
        }
        let column = db.cf_handle("meta").unwrap();
        db.put_cf(column, b"counts", flip(&meta[&b"counts"[..]], counts)).unwrap();
        db.put_cf(column, b"tree", flip(&meta[&b"tree"[..]], edge)).unwrap();
        let damaged = entries(&db, "batches");
        drop(db);

        let report = match rebuild(&path) {
            Ok(report) => report,
            // Where both a hash and the right edge are altered, nothing says whether a header is right.
            Err(error) => {
                prop_assert!(error.to_string().contains("one of the two was altered"), "{}", error);
                let db = raw(&path);
                let column = db.cf_handle("meta").unwrap();
                db.put_cf(column, b"tree", &meta[&b"tree"[..]]).unwrap();
                drop(db);
                rebuild(&path).unwrap()
            }
        };
        assert_sound(&path);
        let db = raw(&path);
        let after: Vec<Entries> = INDEXES.iter().map(|family| entries(&db, family)).collect();
        prop_assert_eq!(&after[0], &before[0], "streams");
        prop_assert_eq!(&after[1], &before[1], "types");
        prop_assert_eq!(hashes(&after[3]), hashes(&before[3]), "tree");
        prop_assert_eq!(entries(&db, "records"), records);
        let mut now = entries(&db, "meta");
        let begun = now.remove(&b"rebuilt"[..]);
        prop_assert_eq!(begun, Some(1_u64.to_be_bytes().to_vec()));
        prop_assert_eq!(now, meta);
        // Every row that was not damaged is kept; of the others the request is lost.
        let mut lost = 0;
        for (key, row) in &before[2] {
            let now = &after[2][key];
            match damaged.get(key) {
                Some(kept) if kept == row => prop_assert_eq!(now, row),
                _ => {
                    prop_assert_eq!(now[0], 2);
                    prop_assert_eq!(&now[1..17], &row[row.len() - 24..row.len() - 8]);
                    lost += 1;
                }
            }
        }
        prop_assert_eq!(after[2].len(), before[2].len());
        prop_assert_eq!(report.batches_without_request, lost);
        let surplus = damaged.keys().filter(|key| !before[2].contains_key(*key)).count();
        prop_assert_eq!(report.batches_removed, surplus as u64);
        prop_assert_eq!(report.batches, before[2].len() as u64);
        drop(db);

        // Once more changes nothing, to the byte.
        rebuild(&path).unwrap();
        let db = raw(&path);
        let again: Vec<Entries> = INDEXES.iter().map(|family| entries(&db, family)).collect();
        prop_assert_eq!(again, after);
    }
}

#[test]
fn a_log_that_cannot_be_opened_for_writing_can_be_again() {
    let (_home, path, log) = new_log();
    let (one, two) = (batch(vec![event("run-1")], Vec::new()), event("run-1"));
    let (id, request) = (one.batch, one.request.clone());
    block_on(log.append(one)).unwrap();
    block_on(log.append(batch(vec![two], Vec::new()))).unwrap();
    close(log);
    let db = raw(&path);
    db.put_cf(db.cf_handle("meta").unwrap(), b"counts", b"none")
        .unwrap();
    drop(db);
    let refused = RocksLog::open(&path, &options());
    assert!(matches!(refused, Err(OpenError::Corrupt { .. })));
    let mut steps = Vec::new();
    let report =
        RocksLog::rebuild_indexes(&path, &options(), &mut |step, at| steps.push((step, at)));
    assert_eq!(report.unwrap().batches_without_request, 0);
    let expected = [RebuildStep::Checking, RebuildStep::Making];
    let expected: Vec<_> = expected
        .into_iter()
        .flat_map(|step| [(step, Position(1)), (step, Position(2))])
        .collect();
    assert_eq!(steps, expected);
    let log = RocksLog::open(&path, &options()).unwrap();
    append(&log, "run-1", 1);
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
    // The request of a batch is known as before.
    let known = |request: &[u8]| block_on(log.batch(id, request)).unwrap();
    assert!(matches!(known(&request), BatchStatus::Known(_)));
    assert!(matches!(known(b"another"), BatchStatus::Mismatch(_)));
}

#[test]
fn a_log_is_refused_until_its_indexes_are_whole_again() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 40);
    let open = rebuild(&path).unwrap_err();
    assert!(matches!(open, RebuildError::Open(OpenError::Locked { .. })) && open.is_retryable());
    close(log);
    // As it is left by a process that was killed in the middle.
    let db = raw(&path);
    let meta = db.cf_handle("meta").unwrap();
    db.put_cf(meta, b"rebuilding", []).unwrap();
    db.delete_cf(meta, b"counts").unwrap();
    for family in ["streams", "tree"] {
        let column = db.cf_handle(family).unwrap();
        for key in entries(&db, family).keys() {
            db.delete_cf(column, key).unwrap();
        }
    }
    drop(db);
    for refused in [
        RocksLog::open(&path, &options()),
        RocksLog::open_reader(&path, &options()),
    ] {
        let refused = refused.err().unwrap();
        assert!(
            matches!(refused, OpenError::RebuildInterrupted { .. }),
            "{refused}"
        );
        let words = refused.to_string();
        assert!(words.contains("`annals log rebuild --indexes`"), "{words}");
    }
    rebuild(&path).unwrap();
    assert_sound(&path);
}

/// What a reader answers while the indexes are rebuilt: all of a stream, or that it must
/// try again. Never a part of it.
fn whole_or_retry(reader: &RocksLog, count: usize) -> bool {
    let stream = "run-1".parse().unwrap();
    let page = block_on(reader.read(Query::stream(stream, Version(1)).limit(10_000)));
    let streams = block_on(reader.streams("", None, 10));
    let retry = |error: ReadError| {
        let words = error.to_string();
        assert!(
            error.is_retryable() && words.contains("try again"),
            "{words}"
        );
        false
    };
    let is_whole = match page {
        Ok(page) => {
            assert!(
                page.records.len() >= count,
                "{} of {count}",
                page.records.len()
            );
            true
        }
        Err(error) => retry(error),
    };
    is_whole
        && match streams {
            Ok(streams) => {
                assert_eq!(streams.len(), 1);
                true
            }
            Err(error) => retry(error),
        }
}

#[test]
fn readers_during_a_rebuild_serve_nothing_from_emptied_indexes() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 40);
    let current = RocksLog::open_reader(&path, &options()).unwrap();
    let behind = RocksLog::open_reader(&path, &options()).unwrap();
    assert!(whole_or_retry(&behind, 40));
    append(&log, "run-1", 40);
    close(log);
    assert!(whole_or_retry(&current, 80));
    let mut asked = 0;
    RocksLog::rebuild_indexes(&path, &options(), &mut |step, _| {
        if step == RebuildStep::Checking || asked > 0 {
            return;
        }
        asked += 1;
        // It has all that was published in view, and need not look at what is going on.
        assert!(whole_or_retry(&current, 80), "the view stays as it was");
        // This one must bring its view forward to see what was appended, or counts.
        assert!(!whole_or_retry(&behind, 80));
        block_on(behind.stats()).expect_err("the counts are gone");
        assert!(!whole_or_retry(&behind, 80));
        let refused = RocksLog::open_reader(&path, &options()).unwrap_err();
        let words = refused.to_string();
        assert!(matches!(refused, OpenError::Rebuilding { .. }), "{words}");
        assert!(refused.is_retryable());
        // Once it has seen it, the other one says so, too.
        block_on(current.stats()).expect_err("the counts are gone");
        assert!(!whole_or_retry(&current, 80));
    })
    .unwrap();
    assert_eq!(asked, 1);
    for reader in [current, behind] {
        assert!(whole_or_retry(&reader, 80), "it is done");
        let report = reader.verify(&mut |_| {}).unwrap();
        assert!(report.is_sound(), "{:#?}", report.findings);
        close(reader);
    }
}

/// A reader may come upon a rebuild that was done long ago, in the middle of a read.
#[test]
fn reads_that_a_rebuild_passes_under_are_whole_or_say_so() {
    const ROUNDS: usize = 6;
    let (_home, path, log) = new_log();
    append(&log, "run-1", 2_000);
    close(log);
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reading = || {
            let mut whole = 0;
            while !done.load(Ordering::Acquire) {
                whole += usize::from(whole_or_retry(&reader, 2_000));
            }
            whole
        };
        let readers: Vec<_> = (0..3).map(|_| scope.spawn(reading)).collect();
        for _ in 0..ROUNDS {
            rebuild(&path).unwrap();
            let log = RocksLog::open(&path, &options()).unwrap();
            append(&log, "run-1", 3);
            close(log);
            // Seen by all before the next round.
            while block_on(reader.head(&"run-1".parse().unwrap())).is_err() {}
        }
        done.store(true, Ordering::Release);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });
    assert!(whole_or_retry(&reader, 2_000 + 3 * ROUNDS));
}

/// Regardless of its place among many: they are compared some thousands at a time.
#[test]
fn the_first_header_that_is_not_that_of_its_hash_is_named() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 10_000);
    append(&log, "run-1", 10_000);
    close(log);
    for at in [20_000_u64, 16_385, 16_384, 777] {
        let db = raw(&path);
        let (tree, meta) = (db.cf_handle("tree"), db.cf_handle("meta"));
        let (tree, meta) = (tree.unwrap(), meta.unwrap());
        let mut iterator = db.raw_iterator_cf(tree);
        // The run of leaves that has it.
        let of = [[0].as_slice(), &(at - 1).to_be_bytes()].concat();
        iterator.seek_for_prev(of);
        let (key, run) = iterator.item().unwrap();
        let (key, mut run) = (key.to_vec(), run.to_vec());
        let first = u64::from_be_bytes(key[1..].try_into().unwrap());
        run[32 * (at - 1 - first) as usize] ^= 1;
        db.put_cf(tree, key, run).unwrap();
        db.delete_cf(meta, b"tree").unwrap();
        drop(iterator);
        drop(db);
        let error = rebuild(&path).unwrap_err().to_string();
        let expected = format!("the record at {at}: its header is not that of its hash");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn nothing_is_made_of_records_that_are_damaged() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 3);
    append(&log, "run-2", 3);
    close(log);
    let db = raw(&path);
    let records = db.cf_handle("records").unwrap();
    let first = 1_u64.to_be_bytes();
    let mut chunk = db.get_cf(records, first).unwrap().unwrap();
    let last = chunk.len() - 3;
    chunk[last] ^= 1;
    db.put_cf(records, first, chunk).unwrap();
    let all = |db: &DB| {
        ["records", "streams", "types", "batches", "tree", "meta"].map(|of| entries(db, of))
    };
    let before = all(&db);
    drop(db);
    let refused = rebuild(&path).unwrap_err();
    assert!(matches!(refused, RebuildError::Read(_)) && !refused.is_retryable());
    assert!(refused.to_string().contains("the record at 3"), "{refused}");
    assert_eq!(all(&raw(&path)), before);
}
