//! What is left after a crash: a torn end of the write-ahead log is forgiven,
//! anything else is refused; and the stored bytes are those of the description.

use std::fs;
use std::path::{Path, PathBuf};

use annals_event_log::{Digest, EventLog, Position, Query, ReadModels, Record, Rows, Version};
use annals_store_rocks::{OpenError, RocksLog};
use bytes::Bytes;
use futures::executor::block_on;

use crate::support::{
    all, append, at, batch, close, event, fingerprint, new_log, options, raw, tables,
};

/// The write-ahead log that holds the last appends.
fn wal(path: &Path) -> PathBuf {
    let entries = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let logs = entries.filter(|path| path.extension().is_some_and(|e| e == "log"));
    logs.max_by_key(|path| fs::metadata(path).unwrap().len())
        .expect("a write-ahead log")
}

/// A closed log of three appends, and its write-ahead log's length after each.
fn three_appends() -> (tempfile::TempDir, PathBuf, Vec<usize>) {
    let (home, path, log) = new_log();
    let mut ends = Vec::new();
    for n in 1..=3 {
        append(&log, "run-1", n * 10);
        ends.push(fs::metadata(wal(&path)).unwrap().len() as usize);
    }
    close(log);
    (home, path, ends)
}

#[test]
fn a_torn_tail_is_forgiven_where_nothing_of_it_was_acknowledged() {
    let (_home, path, ends) = three_appends();
    let content = fs::read(wal(&path)).unwrap();
    // The machine stopped in the middle of the third group: it is on the disk
    // in part, and WATERMARK does not know it.
    fs::write(wal(&path), &content[..(ends[1] + ends[2]) / 2]).unwrap();
    fs::remove_file(path.join("WATERMARK")).unwrap();
    let log = RocksLog::open(&path, &options()).expect("a torn tail is forgiven");
    assert_eq!(log.watermark(), Position(30));
    assert_eq!(all(&log).len(), 30);
    append(&log, "run-1", 5);
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
    close(log);
    let log = RocksLog::open(&path, &options()).expect("and it opens again");
    assert_eq!(log.watermark(), Position(35));
}

#[test]
fn a_log_that_lost_acknowledged_records_is_refused() {
    let (_home, path, ends) = three_appends();
    let content = fs::read(wal(&path)).unwrap();
    fs::write(wal(&path), &content[..(ends[1] + ends[2]) / 2]).unwrap();
    let error = RocksLog::open(&path, &options()).expect_err("60 records were acknowledged");
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("60 records were acknowledged, but it ends at 30"),
        "{text}"
    );
}

#[test]
fn a_corruption_within_the_write_ahead_log_is_refused() {
    let (_home, path, ends) = three_appends();
    let file = wal(&path);
    let mut content = fs::read(&file).unwrap();
    let middle = (ends[0] + ends[1]) / 2;
    content[middle] ^= 0xff;
    fs::write(&file, &content).unwrap();
    let before = fingerprint(&path);
    let error = RocksLog::open(&path, &options()).expect_err("a group in the middle is damaged");
    assert!(matches!(error, OpenError::Corrupt { .. }), "{error:?}");
    let after = fingerprint(&path);
    for (file, digest) in &before {
        assert_eq!(
            after.get(file),
            Some(digest),
            "{} was altered",
            file.display()
        );
    }
    content[middle] ^= 0xff;
    fs::write(&file, &content).unwrap();
    let log = RocksLog::open(&path, &options()).expect("the refusal has destroyed nothing");
    assert_eq!(log.watermark(), Position(60));
}

#[test]
fn every_acknowledged_group_is_synced() {
    let home = tempfile::tempdir().unwrap();
    let count = |sync: bool| {
        let options = options().with_sync(sync).with_statistics(true);
        let log = RocksLog::create(&home.path().join(sync.to_string()), &options).unwrap();
        let before = log.wal_syncs();
        for _ in 0..20 {
            append(&log, "run-1", 1);
        }
        log.wal_syncs() - before
    };
    let synced = count(true);
    assert!(
        synced >= 20,
        "20 groups, one after the other, were synced {synced} times"
    );
    assert_eq!(count(false), 0, "without sync the count shows it");
}

/// Reads a log as `docs/storage-format.md` describes it, without our code but
/// for the record's own.
/// The number and the length of a log's newest write-ahead log.
fn newest_write_ahead_log(path: &Path) -> (u64, u64) {
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let logs = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        let number = name.strip_suffix(".log")?.parse().unwrap();
        Some((number, entry.metadata().unwrap().len()))
    });
    logs.max().unwrap()
}

#[test]
fn the_stored_bytes_are_as_described() {
    let (_home, path, log) = new_log();
    let mut second = event("task-1");
    second.event_type = "test.second".into();
    let events = vec![event("run-1"), second, event("run-1")];
    let first = batch(events, Vec::new());
    let id = first.batch;
    block_on(log.append(first)).unwrap();
    let records = all(&log);
    let log_id = log.log_id();
    close(log);

    assert_eq!(
        fs::read_to_string(path.join("ANNALS")).unwrap(),
        format!("annals log, format 1\n{log_id}\n")
    );
    let watermark = fs::read(path.join("WATERMARK")).unwrap();
    assert_eq!(
        (watermark.len(), &watermark[..8]),
        (72, &3_u64.to_be_bytes()[..])
    );
    let newest = newest_write_ahead_log(&path);
    assert_eq!(watermark[16..24], newest.0.to_be_bytes());
    assert_eq!(watermark[24..32], newest.1.to_be_bytes());
    let covered = [&watermark[..8], &watermark[16..32]].concat();
    assert_eq!(watermark[32..40], Digest::of(&covered).0[..8]);

    let db = raw(&path);
    let get = |family: &str, key: &[u8]| {
        db.get_cf(db.cf_handle(family).expect(family), key)
            .unwrap()
            .expect("the key is there")
    };
    let chunk = get("records", &1_u64.to_be_bytes());
    assert_eq!(chunk[0], 2);
    let mut rest = &chunk[1..];
    for expected in &records {
        let (length, behind) = rest.split_first_chunk::<4>().unwrap();
        let (short, behind) = behind.split_at(u32::from_be_bytes(*length) as usize);
        // The structure is behind the header, the pieces behind the structure; these records have none.
        let header = usize::from(u16::from_be_bytes([short[0], short[1]]));
        let structure = &short[2 + header - 56 + 4..short.len() - 2];
        let (structure, content) = (Digest::of(structure).0, Digest::of(b"").0);
        assert_eq!(
            short[2 + 111..2 + 119],
            [&structure[..4], &content[..4]].concat()
        );
        let record = [&short[..2 + 111], &structure, &content, &short[2 + 119..]].concat();
        assert_eq!(record, expected.as_bytes()[..]);
        assert_eq!(&Record::decode(record.into()).unwrap(), expected);
        rest = behind;
    }
    assert!(rest.is_empty());

    let one = 1_u64.to_be_bytes();
    let numbers = |count: u32, index: u32| [count.to_be_bytes(), index.to_be_bytes()].concat();
    let run = |count, index| [one.to_vec(), numbers(count, index)].concat();
    assert_eq!(get("streams", &[b"run-1\0", &one[..]].concat()), run(2, 0));
    assert_eq!(get("streams", &[b"task-1\0", &one[..]].concat()), run(1, 1));
    assert_eq!(
        get("types", &[b"test.happened\0", &one[..]].concat()),
        numbers(2, 0)
    );
    assert_eq!(
        get("types", &[b"test.second\0", &one[..]].concat()),
        numbers(1, 1)
    );
    let row = get("batches", id.as_bytes());
    assert_eq!((row.len(), row[0]), (73, 1));
    assert_eq!(&row[49..65], [one, 3_u64.to_be_bytes()].concat());
    let check = Digest::of(&[id.as_bytes(), &row[..65]].concat());
    assert_eq!(row[65..], check.0[..8]);
    assert_eq!(get("meta", b"format"), 1_u32.to_be_bytes());
    assert_eq!(get("meta", b"log_id"), log_id.as_bytes());
    let created = get("meta", b"created_at");
    let check = Digest::of(&[log_id.as_bytes(), &created[..12]].concat());
    assert_eq!((created.len(), &created[12..]), (20, &check.0[..8]));
    let counts: Vec<u8> = [3_u64, 2, 1, 0, 0]
        .iter()
        .flat_map(|n| n.to_be_bytes())
        .collect();
    assert_eq!(get("meta", b"counts"), counts);

    // RFC 6962, by the plainest means: SHA-256 over a byte and what follows.
    let hash = |prefix: u8, parts: &[&[u8]]| Digest::of(&[&[prefix][..], &parts.concat()].concat());
    let leaves: Vec<Digest> = records
        .iter()
        .map(|record| hash(0, &[record.header_bytes()]))
        .collect();
    let run: Vec<u8> = leaves.iter().flat_map(|leaf| leaf.0).collect();
    assert_eq!(get("tree", &[0; 9]), run);
    let left = hash(1, &[&leaves[0].0, &leaves[1].0]);
    let frontier = [&3_u64.to_be_bytes()[..], &left.0, &leaves[2].0].concat();
    assert_eq!(get("meta", b"tree"), frontier);
}

#[test]
fn a_large_batch_spans_chunks_and_is_read_back_by_every_index() {
    let (_home, path, log) = new_log();
    let names = ["run-a", "run-b", "run-c"];
    let events = (0..3_000).map(|n| event(names[n % 7 % 3])).collect();
    block_on(log.append(batch(events, Vec::new()))).unwrap();
    close(log);
    {
        let db = raw(&path);
        let chunks = db.iterator_cf(
            db.cf_handle("records").unwrap(),
            rocksdb::IteratorMode::Start,
        );
        let sizes: Vec<usize> = chunks.map(|chunk| chunk.unwrap().1.len()).collect();
        assert!(sizes.len() > 10, "{sizes:?}");
        assert!(sizes.iter().all(|size| *size <= 64 * 1024), "{sizes:?}");
    }
    let log = RocksLog::open(&path, &options()).unwrap();
    let report = log.verify(&mut |_| {}).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    let records = all(&log);
    assert_eq!(records.len(), 3_000);
    // A large page is decoded by several threads; it must not show.
    for limit in [2_000, 2_999, 10_000] {
        let query = Query::all(Position(1)).limit(limit);
        let page = block_on(log.read(query.clone())).unwrap();
        assert_eq!(
            page.records,
            records[..limit.min(3_000)],
            "forward, {limit} records"
        );
        assert_eq!(page.next, (limit < 3_000).then_some(limit as u64 + 1));
        let from = query.backward().starting_at(u64::MAX);
        let page = block_on(log.read(from)).unwrap();
        let expected: Vec<_> = records.iter().rev().take(limit).cloned().collect();
        assert_eq!(page.records, expected, "backward, {limit} records");
        assert_eq!(page.next, (limit < 3_000).then(|| 3_000 - limit as u64));
    }
    for name in names {
        let query = Query::stream(name.parse().unwrap(), Version(1));
        let page = block_on(log.read(query.limit(10_000))).unwrap();
        let expected: Vec<_> = records
            .iter()
            .filter(|r| r.stream() == name)
            .cloned()
            .collect();
        assert_eq!(page.records, expected);
    }
}

#[test]
fn what_an_interrupted_bulk_commit_left_is_removed() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 3);
    close(log);
    // The process was killed between writing the table and handing it over.
    for name in ["rows.new", "rows-0198c0de.new"] {
        fs::write(path.join(name), "half a table").unwrap();
    }
    let left = RocksLog::examine(&path).leftovers;
    assert_eq!(left.len(), 2, "{left:?}");
    let log = RocksLog::open(&path, &options()).expect("it opens");
    assert_eq!(unfinished(&path), [""; 0]);
    let commit = log.commit("model", at(0), many_rows("first"), Position(3));
    block_on(commit).expect("a bulk commit");
    assert_eq!(unfinished(&path), [""; 0], "it became a table");
    close(log);
    let log = RocksLog::open(&path, &options()).expect("it opens again");
    assert_eq!(
        block_on(log.checkpoint("model")).unwrap().position,
        Position(3)
    );
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
}

/// Files of bulk commits that are not tables yet.
fn unfinished(path: &Path) -> Vec<String> {
    let names = fs::read_dir(path).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".new")).collect()
}

/// Rows enough for a table of their own.
fn many_rows(value: &'static str) -> Rows {
    let key = |n: u32| Bytes::copy_from_slice(&n.to_be_bytes());
    let rows = (0..30_000_u32).map(|n| (key(n), Some(Bytes::from_static(value.as_bytes()))));
    rows.collect()
}

/// RocksDB takes a table over by a second name, and could not remove the first one: the next
/// bulk commit must not write into the live table.
#[test]
fn a_table_that_kept_its_first_name_is_not_written_to() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 3);
    let before = tables(&path);
    block_on(log.commit("first", at(0), many_rows("first"), Position(3))).unwrap();
    let live = tables(&path)
        .into_iter()
        .find(|name| !before.contains(name))
        .expect("a bulk commit makes a table");
    // As it is left where the removal fails, by this program and by older ones.
    let names = ["rows.new", "rows-0198c0de.new"].map(|name| path.join(name));
    let bytes = fs::read(path.join(&live)).unwrap();
    for name in &names {
        fs::hard_link(path.join(&live), name).unwrap();
    }
    block_on(log.commit("second", at(0), many_rows("2"), Position(3))).unwrap();
    let is_same = fs::read(path.join(&live)).unwrap() == bytes;
    assert!(is_same, "the live table was written to");
    close(log);
    let log = RocksLog::open(&path, &options()).expect("it opens");
    assert_eq!(unfinished(&path), [""; 0], "the first names are removed");
    for (model, value) in [("first", "first"), ("second", "2")] {
        let rows = block_on(log.scan(model, b"", None, 10_000)).unwrap();
        assert_eq!(rows.len(), 10_000);
        assert!(rows.iter().all(|(_, row)| row.as_ref() == value.as_bytes()));
    }
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
}

/// Programs before this promise did not sync rows when they closed a log, so a power cut may have
/// taken older rows and left newer ones. Such rows are dropped once, to be folded again.
#[test]
fn rows_that_an_older_program_wrote_are_folded_again_once() {
    let (_home, path, log) = new_log();
    append(&log, "run-1", 3);
    let row = (Bytes::from("a"), Some(Bytes::from("1")));
    let commit = |log: &RocksLog| {
        let rows = vec![row.clone()];
        block_on(log.commit("m", at(0), rows, Position(3))).unwrap();
    };
    commit(&log);
    close(log);
    let log = RocksLog::open(&path, &options()).unwrap();
    assert_eq!(block_on(log.checkpoint("m")).unwrap(), at(3), "they stay");
    close(log);

    let db = raw(&path);
    let meta = db.cf_handle("meta").unwrap();
    db.delete_cf(meta, b"rows_synced").unwrap();
    drop(db);
    let reader = RocksLog::open_reader(&path, &options()).unwrap();
    assert_eq!(block_on(reader.checkpoint("m")).unwrap(), at(0));
    assert_eq!(block_on(reader.get("m", b"a")).unwrap(), None, "unknown");
    let log = RocksLog::open(&path, &options()).unwrap();
    assert_eq!(block_on(log.checkpoint("m")).unwrap(), at(0));
    assert_eq!(block_on(log.get("m", b"a")).unwrap(), None);
    commit(&log);
    assert!(log.verify(&mut |_| {}).unwrap().is_sound());
    append(&log, "run-1", 1);
    assert_eq!(all(&reader).len(), 4);
    assert_eq!(block_on(reader.checkpoint("m")).unwrap(), at(3), "known");
    close(reader);
    close(log);
    let log = RocksLog::open(&path, &options()).unwrap();
    assert_eq!(block_on(log.checkpoint("m")).unwrap(), at(3), "once");
}
