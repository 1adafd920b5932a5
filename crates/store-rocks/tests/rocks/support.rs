//! What the tests share: events, a log in a temporary directory, a look at a
//! directory's bytes, and RocksDB without our code.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use annals_event_log::{
    Actor, Append, Appended, Blob, Content, Digest, EventLog, ModelCheckpoint, NewEvent, Position,
    Query, Record,
};
use annals_store_rocks::{Options, RocksLog};
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;
use rocksdb::DB;
use tempfile::TempDir;
use uuid::Uuid;

/// Options as users have them, but small.
pub fn options() -> Options {
    Options::default().with_cache_bytes(8 * 1024 * 1024)
}

/// A new log in its own directory.
pub fn new_log() -> (TempDir, PathBuf, RocksLog) {
    let home = tempfile::tempdir().expect("a temporary directory");
    let path = home.path().join("log");
    let log = RocksLog::create(&path, &options()).expect("a new log");
    (home, path, log)
}

/// Closes a log and makes sure that the directory is free.
pub fn close(log: RocksLog) {
    block_on(log.close());
}

pub fn event(stream: &str) -> NewEvent {
    NewEvent {
        stream: stream.parse().expect("an allowed name"),
        id: Uuid::new_v4(),
        event_type: "test.happened".into(),
        schema_version: 1,
        occurred_at: DateTime::from_timestamp(1_700_000_000, 0).expect("a time"),
        actor: Actor {
            kind: "agent".into(),
            id: "tester".into(),
            display_name: None,
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: Bytes::from_static(&[b's'; 100]),
        content: Vec::new(),
    }
}

/// An event with a blob, and the blob.
pub fn event_with_blob(stream: &str, content: &[u8]) -> (NewEvent, Blob) {
    let blob = Blob::new(content.to_vec());
    let size = content.len() as u64;
    let piece = Content::Blob {
        salt: [3; 16],
        digest: blob.digest(),
        size,
    };
    (
        NewEvent {
            content: vec![piece],
            ..event(stream)
        },
        blob,
    )
}

pub fn batch(events: Vec<NewEvent>, blobs: Vec<Blob>) -> Append {
    let batch = Uuid::new_v4();
    let request = Bytes::copy_from_slice(batch.as_bytes());
    Append {
        batch,
        request,
        events,
        expectations: Vec::new(),
        blobs,
    }
}

/// Appends `count` events to one stream as one batch.
pub fn append(log: &RocksLog, stream: &str, count: usize) -> Appended {
    let events = (0..count).map(|_| event(stream)).collect();
    block_on(log.append(batch(events, Vec::new()))).expect("the append is accepted")
}

/// A read model's checkpoint in a log that nothing was ever removed from.
pub fn at(position: u64) -> ModelCheckpoint {
    ModelCheckpoint::default().at(Position(position))
}

/// The whole log.
pub fn all(log: &RocksLog) -> Vec<Record> {
    let mut records = Vec::new();
    let mut from = Some(1);
    while let Some(position) = from {
        let page = block_on(log.read(Query::all(Position(position)))).expect("a page");
        records.extend(page.records);
        from = page.next;
    }
    records
}

/// Every file of a directory with the digest of its bytes.
pub fn fingerprint(directory: &Path) -> BTreeMap<PathBuf, Digest> {
    let mut files = BTreeMap::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(next) = directories.pop() {
        for entry in fs::read_dir(&next).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let digest = Digest::of(&fs::read(&path).expect("a file"));
                files.insert(path, digest);
            }
        }
    }
    files
}

/// A log's RocksDB, opened without our code.
pub fn raw(path: &Path) -> DB {
    let options = rocksdb::Options::default();
    let families = DB::list_cf(&options, path).expect("its column families");
    DB::open_cf(&options, path, families).expect("it opens")
}

/// A copy of a log's directory, to be damaged.
pub fn copy_of(path: &Path) -> TempDir {
    let copy = tempfile::tempdir().expect("a temporary directory");
    for entry in fs::read_dir(path).expect("the log's directory") {
        let entry = entry.expect("a file of the log");
        fs::copy(entry.path(), copy.path().join(entry.file_name())).expect("it is copied");
    }
    copy
}

/// The names of RocksDB's tables in a log's directory.
pub fn tables(path: &Path) -> Vec<String> {
    let names = fs::read_dir(path).expect("the log's directory");
    let names = names.map(|entry| entry.expect("a file").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".sst")).collect()
}

/// Turns bits of a file around, at the place that is chosen.
pub fn damage(file: &Path, place: impl FnOnce(&[u8]) -> Range<usize>) {
    let mut content = fs::read(file).expect("the file");
    let place = place(&content);
    for byte in &mut content[place] {
        *byte ^= 0x55;
    }
    fs::write(file, content).expect("the file is written");
}
