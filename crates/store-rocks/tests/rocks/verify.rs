//! Verification: a sound log is sound, and each kind of damage is found and named.

use annals_event_log::{
    Content, Digest, EventLog, NewEvent, PiecesOf, Position, Prepared, Query, ReadError,
    ReadModels, Record, Redaction, Version,
};
use annals_store_rocks::{Fault, Finding, OpenError, RocksLog, VerifyReport};
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;
use rocksdb::DB;

use crate::support::{
    append, at, batch, close, copy_of, damage, event, event_with_blob, new_log, options, raw,
    tables,
};

/// What is in the log of these tests.
const RECORDS: u64 = 410;

/// Makes a log, damages it without our code, and verifies it.
fn verify_after(damage: impl FnOnce(&DB, Digest)) -> VerifyReport {
    let (_home, path, log) = new_log();
    for n in 0..20 {
        append(&log, &format!("run-{}", n % 3), 20);
    }
    let (with_blob, blob) = event_with_blob("run-blob", &[1; 50_000]);
    let digest = blob.digest();
    let mut other = event("task-1");
    other.event_type = "test.other".into();
    block_on(log.append(batch(vec![with_blob, other], vec![blob]))).unwrap();
    append(&log, "run-0", 8);
    close(log);
    let db = raw(&path);
    damage(&db, digest);
    drop(db);
    let log = RocksLog::open(&path, &options()).expect("it opens");
    let mut last = Position::START;
    let report = log
        .verify(&mut |position| last = position)
        .expect("it can be read");
    assert_eq!(
        (report.watermark, last),
        (Position(RECORDS), Position(RECORDS))
    );
    report
}

/// Makes a log of four batches, takes a chunk or an index entry out of it, and
/// says what reading the whole log and one stream gives.
fn read_after(damage: impl FnOnce(&DB)) -> [Result<usize, ReadError>; 2] {
    let (_home, path, log) = new_log();
    for _ in 0..4 {
        append(&log, "run-0", 5);
    }
    close(log);
    let db = raw(&path);
    damage(&db);
    drop(db);
    let log = RocksLog::open(&path, &options()).expect("it opens");
    let stream = "run-0".parse().expect("a stream's name");
    [Query::all(Position(1)), Query::stream(stream, Version(1))]
        .map(|query| block_on(log.read(query)).map(|page| page.records.len()))
}

#[test]
fn a_reader_is_not_shown_a_log_with_a_gap() {
    let [all, stream] = read_after(|_| {});
    assert_eq!((all.ok(), stream.ok()), (Some(20), Some(20)));
    let [all, _] = read_after(|db| {
        let (key, _) = chunk_of(db, 6);
        db.delete_cf(db.cf_handle("records").unwrap(), key).unwrap();
    });
    assert!(matches!(all, Err(ReadError::Corrupt { .. })), "{all:?}");
    for first in [1, 11] {
        let [_, stream] = read_after(|db| {
            db.delete_cf(db.cf_handle("streams").unwrap(), entry("run-0", first))
                .unwrap();
        });
        assert!(
            matches!(stream, Err(ReadError::Corrupt { .. })),
            "{first}: {stream:?}"
        );
    }
}

/// The only finding, which damage of one kind must give.
fn only(report: &VerifyReport) -> &Finding {
    assert_eq!(report.total_findings, 1, "{:#?}", report.findings);
    &report.findings[0]
}

/// The chunk that holds a position: its key and its bytes.
fn chunk_of(db: &DB, position: u64) -> (Vec<u8>, Vec<u8>) {
    let mut iterator = db.raw_iterator_cf(db.cf_handle("records").unwrap());
    iterator.seek_for_prev(position.to_be_bytes());
    let (key, value) = iterator.item().expect("a chunk");
    (key.to_vec(), value.to_vec())
}

fn entry(name: &str, number: u64) -> Vec<u8> {
    [name.as_bytes(), &[0], &number.to_be_bytes()].concat()
}

#[test]
fn a_sound_log_is_sound() {
    let report = verify_after(|_, _| {});
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!((report.records, report.streams), (RECORDS, 5));
    assert_eq!((report.batches, report.blobs), (22, 1));
    assert!(report.chunks >= 22);
}

#[test]
fn a_flipped_byte_in_a_record_is_found() {
    let report = verify_after(|db, _| {
        let (key, mut chunk) = chunk_of(db, 41);
        // The last byte of the structure: the number of pieces follows it.
        let at = chunk.len() - 3;
        chunk[at] ^= 1;
        db.put_cf(db.cf_handle("records").unwrap(), key, chunk)
            .unwrap();
    });
    let finding = only(&report);
    assert_eq!(finding.fault, Fault::Digest);
    assert_eq!(
        finding.position,
        Some(Position(55)),
        "the last record of that chunk"
    );
    assert_eq!(finding.stream.as_deref(), Some("run-2"));
    assert!(
        finding.to_string().contains("record 55 of run-2"),
        "{finding}"
    );
}

#[test]
fn a_chunk_that_is_cut_off_is_found() {
    let report = verify_after(|db, _| {
        let (key, mut chunk) = chunk_of(db, 41);
        chunk.truncate(chunk.len() - 1);
        db.put_cf(db.cf_handle("records").unwrap(), key, chunk)
            .unwrap();
    });
    let malformed = |f: &Finding| matches!(f.fault, Fault::Malformed { .. });
    assert!(
        report.findings.iter().any(malformed),
        "{:#?}",
        report.findings
    );
}

#[test]
fn a_missing_chunk_is_found() {
    let report = verify_after(|db, _| {
        let (key, _) = chunk_of(db, 41);
        db.delete_cf(db.cf_handle("records").unwrap(), key).unwrap();
    });
    let gap = |f: &Finding| {
        f.fault
            == Fault::Gap {
                expected: Position(41),
            }
    };
    assert!(report.findings.iter().any(gap), "{:#?}", report.findings);
    let surplus = |f: &Finding| {
        f.fault
            == Fault::Surplus {
                name: "streams",
                entry: "run-2 from version 1 on".into(),
            }
    };
    assert!(
        report.findings.iter().any(surplus),
        "{:#?}",
        report.findings
    );
}

#[test]
fn a_deleted_entry_of_the_stream_index_is_found() {
    let report = verify_after(|db, _| {
        db.delete_cf(db.cf_handle("streams").unwrap(), entry("task-1", 1))
            .unwrap();
    });
    let finding = only(&report);
    assert_eq!(finding.fault, Fault::StreamIndex);
    assert_eq!(finding.stream.as_deref(), Some("task-1"));
    assert_eq!(finding.position, Some(Position(402)));
}

#[test]
fn an_entry_that_fits_no_record_is_found() {
    let report = verify_after(|db, _| {
        let run = [
            &5_u64.to_be_bytes()[..],
            &1_u32.to_be_bytes(),
            &0_u32.to_be_bytes(),
        ]
        .concat();
        db.put_cf(db.cf_handle("streams").unwrap(), entry("task-9", 1), run)
            .unwrap();
    });
    assert_eq!(
        only(&report).fault,
        Fault::Surplus {
            name: "streams",
            entry: "task-9 from version 1 on".into()
        }
    );
}

#[test]
fn a_deleted_entry_of_the_type_index_is_found() {
    let report = verify_after(|db, _| {
        db.delete_cf(db.cf_handle("types").unwrap(), entry("test.other", 401))
            .unwrap();
    });
    assert_eq!(
        only(&report).fault,
        Fault::TypeIndex {
            event_type: "test.other".into()
        }
    );
}

#[test]
fn a_deleted_batch_is_found() {
    let report = verify_after(|db, _| {
        let batches = db.cf_handle("batches").unwrap();
        let mut iterator = db.raw_iterator_cf(batches);
        iterator.seek_to_first();
        db.delete_cf(batches, iterator.key().unwrap()).unwrap();
    });
    assert!(
        matches!(only(&report).fault, Fault::Batch { .. }),
        "{:#?}",
        report.findings
    );
}

#[test]
fn a_missing_blob_is_found() {
    let mut missing = None;
    let report = verify_after(|db, digest| {
        missing = Some(digest);
        db.delete_cf(db.cf_handle("blobs").unwrap(), digest.0)
            .unwrap();
    });
    let finding = only(&report);
    assert_eq!(
        finding.fault,
        Fault::MissingBlob {
            digest: missing.unwrap()
        }
    );
    assert_eq!(finding.position, Some(Position(401)));
}

#[test]
fn a_changed_blob_is_found() {
    let report = verify_after(|db, digest| {
        db.put_cf(db.cf_handle("blobs").unwrap(), digest.0, b"something else")
            .unwrap();
    });
    assert!(
        matches!(only(&report).fault, Fault::ChangedBlob { .. }),
        "{:#?}",
        report.findings
    );
}

#[test]
fn wrong_counts_are_found() {
    let report = verify_after(|db, _| {
        let meta = db.cf_handle("meta").unwrap();
        let mut counts = db.get_cf(meta, b"counts").unwrap().unwrap();
        counts[15] += 1;
        db.put_cf(meta, b"counts", counts).unwrap();
    });
    let fault = Fault::Counts {
        what: "streams",
        counted: 6,
        found: 5,
    };
    assert_eq!(only(&report).fault, fault);
}

#[test]
fn a_damaged_block_of_any_table_is_a_finding() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 50);
    let (with_blob, blob) = event_with_blob("run-blob", &[1; 5_000]);
    block_on(log.append(batch(vec![with_blob], vec![blob]))).unwrap();
    let row = (Bytes::from("key"), Some(Bytes::from("row")));
    block_on(log.commit("model", at(0), vec![row], Position(1))).unwrap();
    log.compact();
    close(log);
    let mut verified = 0;
    for table in tables(&path) {
        let copy = copy_of(&path);
        // Every table begins with its first block of data.
        damage(&copy.path().join(&table), |_| 8..16);
        match RocksLog::open(copy.path(), &options()) {
            Err(error) => assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}"),
            Ok(log) => {
                let report = log.verify(&mut |_| ()).expect("damage is reported");
                assert!(!report.is_sound(), "{table} is damaged");
                verified += 1;
            }
        }
    }
    assert!(verified >= 4, "streams, batches, types, models: {verified}");
}

/// Records of a batch's first chunk; the second one has the other five.
const FIRST_CHUNK: u64 = 15;

/// A log of 30 batches of 20 records in three streams.
fn thirty() -> (tempfile::TempDir, std::path::PathBuf) {
    let (home, path, log) = new_log();
    for n in 0..30 {
        append(&log, &format!("run-{}", n % 3), 20);
    }
    close(log);
    (home, path)
}

#[test]
fn what_is_behind_a_position_is_checked_by_itself() {
    let (_home, path) = thirty();
    let log = RocksLog::open(&path, &options()).unwrap();
    let whole = log.verify(&mut |_| {}).unwrap();
    for after in [0, 1, 19, 20, 21, 255, 256, 257, 300, 511, 512, 599, 600] {
        let mut last = Position(after);
        let report = log
            .verify_from(Position(after), &mut |position| last = position)
            .unwrap();
        assert!(report.is_sound(), "{after}: {:#?}", report.findings);
        // From the beginning of the chunk that the next record is in.
        let (batch, place) = match after {
            600 => (580, 19),
            _ => (after - after % 20, after % 20),
        };
        let begin = batch + if place < FIRST_CHUNK { 0 } else { FIRST_CHUNK };
        assert_eq!(
            (report.after.0, report.records),
            (begin, 600 - begin),
            "{after}"
        );
        assert_eq!(report.batches, (600 - begin).div_ceil(20));
        assert_eq!((report.root, last), (whole.root, Position(600)), "{after}");
        assert_eq!((report.tree, report.unreferenced_blobs), (600, None));
    }
}

#[test]
fn damage_behind_a_position_is_found_and_what_is_before_it_is_taken_as_it_is() {
    let (_home, path) = thirty();
    let db = raw(&path);
    let records = db.cf_handle("records").unwrap();
    let streams = db.cf_handle("streams").unwrap();
    let from = |after| {
        let log = RocksLog::open_reader(&path, &options()).unwrap();
        let report = log.verify_from(Position(after), &mut |_| {}).unwrap();
        close(log);
        report
    };
    let (key, sound) = chunk_of(&db, 301);
    let mut chunk = sound.clone();
    let at = chunk.len() - 3;
    chunk[at] ^= 1;
    db.put_cf(records, &key, chunk).unwrap();
    let report = from(250);
    assert_eq!(only(&report).fault, Fault::Digest);
    assert_eq!(report.findings[0].position, Some(Position(315)));
    assert!(from(320).is_sound(), "it is not looked at");
    db.put_cf(records, &key, sound).unwrap();
    assert!(from(250).is_sound());
    // A stream's state before that is taken from the index: here its last entry is gone.
    let before = entry("run-0", 96);
    let run = db.get_cf(streams, &before).unwrap().unwrap();
    db.delete_cf(streams, &before).unwrap();
    let report = from(300);
    let expected = Fault::Version {
        expected: 96,
        found: 101,
    };
    assert_eq!(only(&report).fault, expected);
    assert_eq!(report.findings[0].position, Some(Position(301)));
    db.put_cf(streams, &before, run).unwrap();
    // And the tree's state from its hashes.
    let tree = db.cf_handle("tree").unwrap();
    let first = [&[0][..], &280_u64.to_be_bytes()].concat();
    let mut run = db.get_cf(tree, &first).unwrap().unwrap();
    run[0] ^= 1;
    db.put_cf(tree, &first, &run).unwrap();
    let report = from(300);
    assert!(!report.is_sound(), "the root is another one");
}

#[test]
fn a_reader_that_stands_still_sees_nothing_of_what_comes() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 5);
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    assert_eq!(reader.stand_still().unwrap(), Position(5));
    append(&log, "run-1", 5);
    assert_eq!(reader.watermark(), Position(5));
    let report = reader.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!(report.records, 5);
    assert_eq!(log.stand_still().unwrap(), Position(10), "a writer goes on");
    let other = RocksLog::open_reader(&path, &options()).unwrap();
    assert_eq!(other.watermark(), Position(10));
}

#[test]
fn a_log_in_a_temporary_folder_goes_with_its_last_handle() {
    let log = RocksLog::temporary(&options()).unwrap();
    let row = (Bytes::from("key"), Some(Bytes::from("row")));
    block_on(log.commit("model", at(0), vec![row], Position::START)).unwrap();
    let row = block_on(log.get("model", b"key")).unwrap();
    assert_eq!(row.as_deref(), Some(&b"row"[..]));
    close(log.clone());
    drop(log);
}

#[test]
fn what_the_log_says_of_itself_is_checked() {
    for (key, value, says) in [
        (&b"created_at"[..], &[1; 20][..], "created_at"),
        (b"other", b"value", "other"),
    ] {
        let report = verify_after(|db, _| {
            db.put_cf(db.cf_handle("meta").unwrap(), key, value)
                .unwrap();
        });
        let entry = says.to_owned();
        assert_eq!(only(&report).fault, Fault::Meta { entry });
    }
    let report = verify_after(|db, _| db.put(b"key", b"value").unwrap());
    let fault = &only(&report).fault;
    assert!(
        matches!(
            fault,
            Fault::Surplus {
                name: "default",
                ..
            }
        ),
        "{fault}"
    );
    let report = verify_after(|db, _| {
        let stray = [9; 32];
        db.put_cf(db.cf_handle("blobs").unwrap(), stray, b"x")
            .unwrap();
    });
    let fault = &only(&report).fault;
    assert!(matches!(fault, Fault::ChangedBlob { .. }), "{fault}");
}

/// As a program wrote it that did not compare what an event says of a blob with the blob.
#[test]
fn a_false_size_of_a_blob_is_found() {
    let (_home, path, log) = new_log();
    let (honest, blob) = event_with_blob("run-blob", &[1; 5_000]);
    let digest = blob.digest();
    block_on(log.append(batch(vec![honest.clone()], vec![blob]))).unwrap();
    close(log);
    let (said, salt) = (4_999, [3; 16]);
    let lying = NewEvent {
        content: vec![Content::Blob {
            salt,
            digest,
            size: said,
        }],
        ..honest
    };
    let mut prepared = Prepared::new(batch(vec![lying], Vec::new())).unwrap();
    let now = DateTime::from_timestamp(1_700_000_000, 0).unwrap();
    let record = prepared.events[0].stamp(Position(1), Version(1), now);
    let length = u32::try_from(record.len()).unwrap().to_be_bytes();
    let chunk = [&[1], &length[..], record].concat();
    let db = raw(&path);
    let records = db.cf_handle("records").unwrap();
    db.put_cf(records, 1_u64.to_be_bytes(), chunk).unwrap();
    drop(db);
    let log = RocksLog::open_reader(&path, &options()).unwrap();
    let report = log.verify(&mut |_| {}).unwrap();
    let expected = Fault::BlobSize {
        digest,
        said,
        found: 5_000,
    };
    let named = |finding: &&Finding| finding.fault == expected;
    let found = report.findings.iter().find(named);
    assert_eq!(found.and_then(|found| found.position), Some(Position(1)));
}

#[test]
fn a_blob_that_nothing_refers_to_is_no_fault() {
    let (_home, path, log) = new_log();
    let (with_blob, blob) = event_with_blob("run-blob", &[1; 5_000]);
    let stray = annals_event_log::Blob::new(vec![2; 5_000]);
    block_on(log.append(batch(vec![with_blob], vec![blob, stray]))).unwrap();
    close(log);
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    let report = reader.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!((report.blobs, report.unreferenced_blobs), (2, Some(1)));
}

/// Pieces that a record of these tests names: the second event of `run-1` names those of position 1.
fn named(record: &Record) -> Vec<PiecesOf> {
    let is_redaction = record.stream() == "run-1" && record.version() == Version(2);
    is_redaction.then(|| of_first(&[0])).into_iter().collect()
}

fn of_first(pieces: &[u16]) -> PiecesOf {
    PiecesOf {
        position: Position(1),
        pieces: pieces.to_vec(),
    }
}

/// Removes a piece of the first record, with a second event of a stream.
fn removing(log: &RocksLog, stream: &str) {
    let (with_blob, blob) = event_with_blob("run-1", &[1; 5_000]);
    let digest = blob.digest();
    block_on(log.append(batch(vec![with_blob], vec![blob]))).unwrap();
    let redaction = Redaction {
        append: batch(vec![event(stream)], Vec::new()),
        removed: vec![of_first(&[0])],
        blobs: vec![digest],
        seen: log.watermark(),
    };
    block_on(log.redact(redaction)).unwrap();
}

#[test]
fn removed_content_that_no_record_names_is_found() {
    for (stream, is_sound) in [("run-1", true), ("run-2", false)] {
        let (_home, path, log) = new_log();
        removing(&log, stream);
        close(log);
        let options = options().with_named_removals(named);
        let log = RocksLog::open_reader(&path, &options).unwrap();
        for report in [
            log.verify(&mut |_| {}).unwrap(),
            log.verify_from(Position::START, &mut |_| {}).unwrap(),
        ] {
            assert_eq!(report.is_sound(), is_sound, "{:#?}", report.findings);
            if !is_sound {
                let found = only(&report);
                assert_eq!(found.position, Some(Position(1)));
                assert_eq!(found.fault, Fault::Removed { pieces: vec![0] });
            }
        }
    }
}

/// What an interrupted redaction has left is removed only if its record names it.
#[test]
fn an_interrupted_redaction_removes_what_its_record_names() {
    let pending = |said: u64| {
        let parts: [&[u8]; 6] = [
            &[1, 1],
            &said.to_be_bytes(),
            &0_u32.to_be_bytes(),
            &1_u64.to_be_bytes(),
            &1_u16.to_be_bytes(),
            &0_u16.to_be_bytes(),
        ];
        parts.concat()
    };
    let options = options().with_named_removals(named);
    for (said, is_named) in [(2, true), (3, false), (0, false), (9, false)] {
        let (_home, path, log) = new_log();
        append(&log, "run-1", 2);
        append(&log, "run-2", 1);
        close(log);
        let db = raw(&path);
        let meta = db.cf_handle("meta").unwrap();
        db.put_cf(meta, "redaction", pending(said)).unwrap();
        drop(db);
        let reader = RocksLog::open_reader(&path, &options).unwrap();
        let report = reader.verify(&mut |_| {}).unwrap();
        drop(reader);
        let opened = RocksLog::open(&path, &options).map(close);
        if is_named {
            assert!(report.is_sound(), "{:#?}", report.findings);
            opened.unwrap();
        } else {
            let said = Position(said);
            assert_eq!(only(&report).fault, Fault::Pending { said });
            assert!(
                matches!(opened, Err(OpenError::Corrupt { .. })),
                "{opened:?}"
            );
        }
    }
}
