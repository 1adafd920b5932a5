//! What the benchmarks share: payloads, logs with real syncs, and raw RocksDB
//! next to them.
//!
//! [`guard`] counts instructions instead of measuring time.
//!
//! Everything else runs on the disk that holds the temporary directory
//! (`ANNALS_BENCH_DIR` names another place). On tmpfs a sync costs nothing and
//! the numbers mean nothing.

pub mod guard;
pub mod watched;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use annals_event_log::{
    Actor, Append, Expectation, Expected, NewEvent, Position, Query, Store, StreamName, Version,
};
use annals_store_rocks::{Options, RocksLog};
use bytes::Bytes;
use chrono::DateTime;
use rand::rngs::StdRng;
use rand::{RngCore, SeedableRng};
use rocksdb::{DB, DBCompressionType, WriteBatch, WriteOptions};
use tempfile::TempDir;
use uuid::Uuid;

/// Bytes of a payload.
pub const PAYLOAD: usize = 300;

/// A directory on a real disk, gone when it is dropped.
///
/// # Errors
/// When it cannot be made.
pub fn directory() -> std::io::Result<TempDir> {
    match std::env::var_os("ANNALS_BENCH_DIR") {
        Some(parent) => tempfile::tempdir_in(parent),
        None => tempfile::tempdir(),
    }
}

/// The time in the middle; nothing for no times.
pub fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// In milliseconds.
pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// What some work gave, and how long it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let done = work();
    (start.elapsed(), done)
}

/// The median of several times.
pub fn typical(times: usize, mut ask: impl FnMut()) -> Duration {
    median((0..times).map(|_| timed(&mut ask).0).collect())
}

/// A number that an environment variable sets.
pub fn setting<T: FromStr>(name: &str, otherwise: T) -> T {
    let set = std::env::var(name).ok();
    set.and_then(|n| n.parse().ok()).unwrap_or(otherwise)
}

/// The program next to the running benchmark, if it was built.
pub fn program() -> Option<PathBuf> {
    let bench = std::env::current_exe().ok()?;
    let mut places = bench.ancestors().map(|folder| folder.join("annals"));
    places.find(|path| path.is_file())
}

/// `count` payloads that do not compress, the same in every run.
pub fn payloads(count: usize) -> Vec<Bytes> {
    let mut rng = StdRng::seed_from_u64(7);
    let mut payload = || {
        let mut bytes = vec![0; PAYLOAD];
        rng.fill_bytes(&mut bytes);
        Bytes::from(bytes)
    };
    (0..count).map(|_| payload()).collect()
}

/// A new id, as cheap as can be: making random ones is the caller's business
/// and not what is measured.
pub fn new_id() -> Uuid {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    Uuid::from_u64_pair(0x0198_0000_0000_7000, NEXT.fetch_add(1, Ordering::Relaxed))
}

/// An event with a payload for its structure.
pub fn event(stream: &StreamName, payload: &Bytes) -> NewEvent {
    NewEvent {
        stream: stream.clone(),
        id: new_id(),
        event_type: "bench.appended".into(),
        schema_version: 1,
        occurred_at: DateTime::from_timestamp(1_700_000_000, 0).unwrap_or_default(),
        actor: Actor {
            kind: "agent".into(),
            id: "bench".into(),
            display_name: None,
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: payload.clone(),
        content: Vec::new(),
    }
}

/// A batch of payloads to one stream, whose version is checked.
pub fn batch(stream: &StreamName, version: u64, payloads: &[Bytes]) -> Append {
    let expected = Expected::Exactly(Version(version));
    Append {
        batch: new_id(),
        request: Bytes::new(),
        events: payloads
            .iter()
            .map(|payload| event(stream, payload))
            .collect(),
        expectations: vec![Expectation {
            stream: stream.clone(),
            expected,
        }],
        blobs: Vec::new(),
    }
}

/// The stream of a client.
pub fn stream(client: usize) -> StreamName {
    let name = format!("bench-{client}");
    // A word, a hyphen and digits: always a stream's name.
    name.parse().unwrap_or_else(|error| unreachable!("{error}"))
}

/// A new log with the default settings: every append is synced.
///
/// # Errors
/// When it cannot be created.
pub fn log(directory: &TempDir) -> Result<RocksLog, annals_store_rocks::OpenError> {
    log_with(directory, true)
}

/// The same, with the Merkle tree or without it.
///
/// # Errors
/// When it cannot be created.
pub fn log_with(
    directory: &TempDir,
    tree: bool,
) -> Result<RocksLog, annals_store_rocks::OpenError> {
    let options = Options::default().with_tree(tree);
    RocksLog::create(&directory.path().join("log"), &options)
}

/// Raw RocksDB with the same compression.
///
/// # Errors
/// RocksDB's.
pub fn raw(directory: &TempDir) -> Result<DB, rocksdb::Error> {
    let mut options = rocksdb::Options::default();
    options.create_if_missing(true);
    options.set_compression_type(DBCompressionType::Lz4);
    DB::open(&options, directory.path().join("raw"))
}

/// Write options that sync, as the log's do.
pub fn synced() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.set_sync(true);
    options
}

/// A raw batch of payloads under consecutive keys.
pub fn raw_batch(first: u64, payloads: &[Bytes]) -> WriteBatch {
    let mut batch = WriteBatch::default();
    for (key, payload) in (first..).zip(payloads) {
        batch.put(key.to_be_bytes(), payload);
    }
    batch
}

/// Reads a whole log and counts its records.
///
/// # Errors
/// The log's.
pub async fn scan(log: &dyn Store) -> Result<u64, annals_event_log::ReadError> {
    let mut count = 0;
    let mut next = Some(1);
    while let Some(from) = next {
        let page = log.read(Query::all(Position(from)).limit(10_000)).await?;
        count += page.records.len() as u64;
        next = page.next;
    }
    Ok(count)
}

/// Where the benchmarks' directories are.
pub fn place() -> PathBuf {
    directory()
        .map(|directory| directory.path().to_path_buf())
        .unwrap_or_default()
}
