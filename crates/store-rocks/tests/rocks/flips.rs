//! Any single bit that is flipped in anything that is stored is found, and its place named.
//!
//! Bits are flipped by RocksDB itself, so that its checksums are right and only ours can
//! find it, and then in the bytes of its files.

use std::fs;
use std::path::Path;

use annals_event_log::memory::MemoryLog;
use annals_event_log::{
    Append, Blob, Content, EventLog, NewEvent, Position, Query, ReadModels, Record,
};
use annals_store_rocks::{Fault, Finding, OpenError, RocksLog, VerifyReport};
use bytes::{BufMut, Bytes, BytesMut};
use futures::executor::block_on;
use proptest::prelude::*;
use proptest::sample::Index;
use rocksdb::{DB, IteratorMode};
use tempfile::TempDir;
use uuid::Uuid;

use crate::support::{at, batch, close, copy_of, event, options, raw};

/// All column families that hold something.
const FAMILIES: [&str; 8] = [
    "records", "streams", "types", "batches", "blobs", "tree", "models", "meta",
];

/// What an event has in addition to its structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Inline(u8),
    Blob(u8),
    Attachment(u8),
    Removed(u8),
}

/// An event in a few words: its stream, its type, its pieces.
type Sketch = (u8, u8, Vec<Piece>);

/// A log in a few words: batches that are copied into it, batches that are appended, and where
/// the copy is cut in two.
#[derive(Debug, Clone)]
pub struct Plan {
    copied: Vec<Vec<Sketch>>,
    appended: Vec<Vec<Sketch>>,
    /// Where the copy is cut, if it has so many records.
    cut: usize,
    rows: u8,
}

pub fn plans() -> impl Strategy<Value = Plan> {
    let piece = prop_oneof![
        any::<u8>().prop_map(Piece::Inline),
        (0..3_u8).prop_map(Piece::Blob),
        (0..3_u8).prop_map(Piece::Attachment),
        any::<u8>().prop_map(Piece::Removed),
    ];
    let sketch = (0..4_u8, 0..3_u8, prop::collection::vec(piece, 0..3));
    let batches =
        |most| prop::collection::vec(prop::collection::vec(sketch.clone(), 1..5), 1..most);
    (batches(4), batches(6), 0..12_usize, 1..4_u8).prop_map(|(copied, appended, cut, rows)| Plan {
        copied,
        appended,
        cut,
        rows,
    })
}

/// A blob: the odd ones are large enough for a blob file.
fn blob(number: u8) -> Blob {
    let size = if number % 2 == 1 { 6_000 } else { 300 };
    Blob::new(vec![number; size])
}

fn piece_of(piece: Piece) -> Content {
    let of = |number| (blob(number).digest(), blob(number).bytes().len() as u64);
    match piece {
        // What is removed was inline before.
        Piece::Inline(byte) | Piece::Removed(byte) => Content::Inline {
            salt: [byte; 16],
            bytes: vec![byte; 20].into(),
        },
        Piece::Blob(number) => {
            let (salt, (digest, size)) = ([7; 16], of(number));
            Content::Blob { salt, digest, size }
        }
        Piece::Attachment(number) => {
            let (salt, (digest, size)) = ([8; 16], of(number));
            Content::Attachment { salt, digest, size }
        }
    }
}

fn event_of((stream, kind, pieces): &Sketch) -> NewEvent {
    NewEvent {
        event_type: format!("test.type{kind}").into(),
        content: pieces.iter().copied().map(piece_of).collect(),
        ..event(&format!("run-{stream}"))
    }
}

fn append_of(sketches: &[Sketch]) -> Append {
    let events = sketches.iter().map(event_of).collect();
    batch(events, (0..3).map(blob).collect())
}

/// A record without one of its pieces.
fn without(record: &Record, sketch: &Sketch) -> Record {
    let content = record.content();
    let keeps = |piece: &Piece| !matches!(piece, Piece::Removed(_));
    if sketch.2.iter().all(keeps) {
        return record.clone();
    }
    let bytes = record.as_bytes();
    let structure = 2 + record.header_bytes().len() + 4 + record.structure().len();
    let mut out = BytesMut::from(&bytes[..structure]);
    out.put_u16(u16::try_from(content.len()).unwrap());
    for (piece, sketched) in content.iter().zip(&sketch.2) {
        match (keeps(sketched), piece) {
            (true, Content::Inline { salt, bytes }) => {
                out.put_u8(1);
                out.put_slice(salt);
                out.put_u32(u32::try_from(bytes.len()).unwrap());
                out.put_slice(bytes);
            }
            (true, Content::Blob { salt, digest, size })
            | (true, Content::Attachment { salt, digest, size }) => {
                out.put_u8(2 + u8::from(matches!(piece, Content::Attachment { .. })));
                out.put_slice(salt);
                out.put_slice(&digest.0);
                out.put_u64(*size);
            }
            _ => {
                out.put_u8(4);
                out.put_slice(&piece.salted_digest().0);
            }
        }
    }
    Record::decode(out.freeze()).unwrap()
}

/// Makes the log of a plan.
pub fn made(plan: &Plan) -> (TempDir, RocksLog) {
    let home = tempfile::tempdir().unwrap();
    let log = RocksLog::create(&home.path().join("log"), &options()).unwrap();
    let source = MemoryLog::new(Uuid::from_u128(9));
    for sketches in &plan.copied {
        block_on(source.append(append_of(sketches))).unwrap();
    }
    let records = block_on(source.read(Query::all(Position(1))))
        .unwrap()
        .records;
    let sketches = plan.copied.iter().flatten();
    let records: Vec<Record> = records
        .iter()
        .zip(sketches)
        .map(|(record, sketch)| without(record, sketch))
        .collect();
    let (one, two) = records.split_at(plan.cut.min(records.len()));
    for part in [one, two].into_iter().filter(|part| !part.is_empty()) {
        let blobs = (0..3).map(blob).collect();
        block_on(log.append_records(part.to_vec(), blobs)).unwrap();
    }
    for sketches in &plan.appended {
        block_on(log.append(append_of(sketches))).unwrap();
    }
    let row = |n: u8| (Bytes::from(vec![n; 3]), Some(Bytes::from(vec![n; 5])));
    let rows = (0..plan.rows).map(row).collect();
    let end = log.watermark();
    block_on(log.commit("test.model", at(0), rows, end)).unwrap();
    (home, log)
}

/// What became of a log with a flipped bit.
#[derive(Debug)]
enum Found {
    Refused(OpenError),
    Report(VerifyReport),
}

fn look(path: &Path) -> Found {
    match RocksLog::open_reader(path, &options()) {
        Err(error) => Found::Refused(error),
        Ok(log) => {
            let report = log.verify(&mut |_| {}).unwrap();
            close(log);
            Found::Report(report)
        }
    }
}

pub fn flip(bytes: &[u8], bit: Index) -> Vec<u8> {
    let mut flipped = bytes.to_vec();
    let bit = bit.index(bytes.len() * 8);
    flipped[bit / 8] ^= 1 << (bit % 8);
    flipped
}

/// Whether a finding says where a flipped entry is.
fn names(family: &str, key: &[u8], as_key: &[u8], finding: &Finding) -> bool {
    let name = || {
        let name = &key[..key.len() - 9];
        String::from_utf8_lossy(name).into_owned()
    };
    let words = finding.to_string();
    match (family, &finding.fault) {
        // A chunk that went elsewhere is missed at its place, and else the record is named.
        ("records", _) => {
            finding.position.is_some() || matches!(finding.fault, Fault::Watermark { .. })
        }
        ("streams", _) => words.contains(&name()),
        ("types", Fault::TypeIndex { event_type }) => *event_type == name(),
        ("batches", Fault::Batch { batch }) => batch.as_bytes() == key,
        ("blobs", Fault::ChangedBlob { digest } | Fault::MissingBlob { digest }) => {
            // One that nothing refers to is not missed, and has another digest than its key.
            digest.0 == key || digest.0 == as_key
        }
        ("tree", Fault::Tree { level, .. }) => *level == key[0],
        ("models", Fault::Model { model, .. }) => {
            key.starts_with(model.as_bytes()) || as_key.starts_with(model.as_bytes())
        }
        ("models", Fault::Surplus { name, .. }) => *name == "models",
        ("meta", Fault::Meta { entry }) => words.contains(entry),
        ("meta", Fault::Counts { .. }) => key == b"counts",
        ("meta", Fault::Frontier | Fault::Surplus { name: "tree", .. }) => key == b"tree",
        _ => false,
    }
}

/// Bytes of which the store itself cannot know what they should be: the rows of a read model,
/// and how far it is folded. The code that folds them compares them (the catalogue's tests do).
/// Their model's name and what kind of entry it is are the store's.
fn is_for_others(family: &str, key: &[u8], of_key: bool, flipped: &[u8]) -> bool {
    let own = b"test.model\0r".len();
    family == "models" && (!of_key || flipped[..own] == key[..own])
}

/// Flips a bit of an entry, verifies, and puts the entry back.
fn check(db: &DB, path: &Path, family: &str, which: Index, of_key: bool, bit: Index) {
    let column = db.cf_handle(family).unwrap();
    let entries: Vec<_> = db
        .iterator_cf(column, IteratorMode::Start)
        .map(Result::unwrap)
        .collect();
    let (key, value) = &entries[which.index(entries.len())];
    let (new_key, new_value) = match of_key {
        true => (flip(key, bit), value.to_vec()),
        false => (key.to_vec(), flip(value, bit)),
    };
    if is_for_others(family, key, of_key, &new_key) {
        return;
    }
    let hidden = db.get_cf(column, &new_key).unwrap();
    db.delete_cf(column, key).unwrap();
    db.put_cf(column, &new_key, new_value).unwrap();
    let found = look(path);
    db.delete_cf(column, &new_key).unwrap();
    if let Some(hidden) = hidden {
        db.put_cf(column, &new_key, hidden).unwrap();
    }
    db.put_cf(column, key, value).unwrap();
    let part = if of_key { "key" } else { "value" };
    match found {
        // A log is refused where its end, its format or its id is not as it should be.
        Found::Refused(OpenError::Corrupt { .. } | OpenError::NewerFormat { .. }) => {}
        Found::Report(report) => assert!(
            report
                .findings
                .iter()
                .any(|found| names(family, key, &new_key, found)),
            "{family}, {part} of {key:?} as {new_key:?}: {:#?}",
            report.findings
        ),
        Found::Refused(error) => panic!("{family}, {part} of {key:?}: {error}"),
    }
}

proptest! {
    // Shrinking would take minutes: a plan is small as it is.
    #![proptest_config(ProptestConfig { cases: 4, max_shrink_iters: 32, ..ProptestConfig::default() })]

    #[test]
    fn any_flipped_bit_of_an_entry_is_found_and_its_place_named(
        plan in plans(),
        flips in prop::collection::vec((any::<Index>(), any::<bool>(), any::<Index>()), 24),
    ) {
        let (home, log) = made(&plan);
        let path = home.path().join("log");
        close(log);
        let db = raw(&path);
        let Found::Report(report) = look(&path) else { panic!("a sound log opens") };
        prop_assert!(report.is_sound(), "{:#?}", report.findings);
        prop_assert_eq!(report.unreferenced_blobs.is_some(), true);
        for ((which, of_key, bit), family) in flips.into_iter().zip(FAMILIES.into_iter().cycle()) {
            check(&db, &path, family, which, of_key, bit);
        }
        // All of them were put back.
        let Found::Report(report) = look(&path) else { panic!("a sound log opens") };
        prop_assert!(report.is_sound(), "{:#?}", report.findings);
    }

    #[test]
    fn any_flipped_bit_of_the_small_files_is_found(
        plan in plans(),
        flips in prop::collection::vec(any::<Index>(), 8),
    ) {
        let (home, log) = made(&plan);
        let path = home.path().join("log");
        close(log);
        let Found::Report(report) = look(&path) else { panic!("a sound log opens") };
        let records = report.records;
        for (name, bit) in ["ANNALS", "WATERMARK"].into_iter().cycle().zip(flips) {
            let file = path.join(name);
            let content = fs::read(&file).unwrap();
            let flipped = flip(&content, bit);
            fs::write(&file, &flipped).unwrap();
            let found = look(&path);
            fs::write(&file, &content).unwrap();
            // Hex digits of the id may be of either case: such a bit carries nothing.
            let is_same = name == "ANNALS" && flipped.eq_ignore_ascii_case(&content) && {
                let words = b"annals log, format 1\n".len();
                flipped[..words] == content[..words]
            };
            // WATERMARK has the position three times, and a closing mark that does not fit is
            // none: the next writer takes no short cut.
            let refused = name == "ANNALS" && !is_same;
            prop_assert_eq!(matches!(found, Found::Refused(_)), refused, "{} {:?}", name, found);
            if let Found::Report(report) = found {
                prop_assert!(report.is_sound() && report.records == records, "{name} {report:?}");
            }
        }
    }

    #[test]
    fn any_flipped_bit_of_the_databases_files_is_found_or_carries_nothing(
        plan in plans(),
        is_flushed: bool,
        flips in prop::collection::vec((any::<Index>(), any::<Index>()), 10),
    ) {
        let (home, log) = made(&plan);
        let path = home.path().join("log");
        if is_flushed {
            log.compact();
        }
        close(log);
        let files: Vec<_> = fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()).collect();
        let is_data = |file: &&std::path::PathBuf| {
            let extension = file.extension().and_then(|extension| extension.to_str());
            matches!(extension, Some("sst" | "blob" | "log")) && fs::metadata(file).unwrap().len() > 0
        };
        let files: Vec<_> = files.iter().filter(is_data).collect();
        let before = everything(&path).unwrap();
        for (which, bit) in flips {
            let copy = copy_of(&path);
            let file = files[which.index(files.len())];
            let flipped = flip(&fs::read(file).unwrap(), bit);
            let name = file.file_name().unwrap();
            fs::write(copy.path().join(name), flipped).unwrap();
            let is_found = match look(copy.path()) {
                Found::Refused(_) => true,
                Found::Report(report) => !report.is_sound(),
            };
            // Tables have bytes that are not looked at: room between blocks, statistics. Where
            // one of them is flipped, all that is stored is read as it was.
            prop_assert!(is_found || everything(copy.path()).as_ref() == Some(&before), "{:?}", name);
        }
    }
}

/// An entry: its column family, its key, its value.
type Entry = (String, Vec<u8>, Vec<u8>);

/// Every entry of every column family; `None` where one cannot be read.
fn everything(path: &Path) -> Option<Vec<Entry>> {
    let copy = copy_of(path);
    let families = DB::list_cf(&rocksdb::Options::default(), copy.path()).ok()?;
    let db = DB::open_cf(&rocksdb::Options::default(), copy.path(), &families).ok()?;
    let mut all = Vec::new();
    for family in families {
        for entry in db.iterator_cf(db.cf_handle(&family)?, IteratorMode::Start) {
            let (key, value) = entry.ok()?;
            all.push((family.clone(), key.to_vec(), value.to_vec()));
        }
    }
    Some(all)
}

/// Rows that older programs wrote have no check bytes: of such a row the digest of the request
/// and its salt are the only bytes that nothing else in the log can say. Everything else of it
/// is found.
#[test]
fn a_row_without_check_bytes_is_read_and_its_places_are_checked() {
    let plan = Plan {
        copied: vec![vec![(0, 0, Vec::new())]],
        appended: vec![vec![(0, 0, Vec::new()); 2]],
        cut: 0,
        rows: 1,
    };
    let (home, log) = made(&plan);
    let path = home.path().join("log");
    close(log);
    let db = raw(&path);
    let batches = db.cf_handle("batches").unwrap();
    let rows: Vec<_> = db
        .iterator_cf(batches, IteratorMode::Start)
        .map(Result::unwrap)
        .collect();
    for (key, value) in rows {
        let older = &value[..value.len() - 8];
        db.put_cf(batches, &key, older).unwrap();
        // Every byte, and every bit of some.
        for bit in (0..older.len() * 8).step_by(5) {
            let is_of_the_request = older[0] == 1 && (1..49).contains(&(bit / 8));
            if is_of_the_request {
                continue;
            }
            let mut flipped = older.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            db.put_cf(batches, &key, flipped).unwrap();
            let Found::Report(report) = look(&path) else {
                panic!("it opens")
            };
            let named = |found: &Finding| names("batches", &key, &key, found);
            assert!(
                report.findings.iter().any(named),
                "bit {bit}: {:#?}",
                report.findings
            );
        }
        db.put_cf(batches, &key, older).unwrap();
    }
    let Found::Report(report) = look(&path) else {
        panic!("it opens")
    };
    assert!(report.is_sound(), "{:#?}", report.findings);
}
