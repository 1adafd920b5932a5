//! The cases whose work is done on threads of its own: those of the store, and an import. Whole
//! processes are counted: one that does the work once, and one that does it more often.

use std::path::Path;
use std::sync::Arc;

use annals::Annals;
use annals_benches::{batch, event, payloads, stream};
use annals_dialects::claude::{self, ClaudeOptions};
use annals_event_log::memory::MemoryLog;
use annals_event_log::{Append, EventLog, Position, Query, Version};
use annals_store_rocks::{Options, RocksLog};
use bytes::Bytes;
use futures::executor::block_on;
use uuid::Uuid;

use crate::case::{Case, Way};
use crate::texts;

/// Events of a batch.
const BATCH: usize = 1_000;
/// Streams whose records lie between each other.
const STREAMS: usize = 100;
/// Records of each of them.
const OF_STREAM: usize = 100;

pub(crate) fn all() -> Vec<Case> {
    let whole = |name, prepare, work, more| Case {
        name,
        way: Way::Whole {
            prepare,
            work,
            more,
        },
    };
    let nothing: fn(&Path) = |_| {};
    vec![
        whole("claude_import_20", nothing, import, 4),
        // Few enough that nothing is written to tables when the log closes.
        whole("store_append_1000", nothing, append, 4),
        whole("store_page_1000", fill, page, 60),
        whole("store_stream_100", fill, one_stream, 40),
    ]
}

/// Lines of a recording.
const LINES: usize = 20;

/// Lines of a recording of Claude Code into a log in memory.
fn import(folder: &Path, times: usize) {
    std::fs::create_dir(folder).expect("a new folder");
    let recording = texts::recording(times * LINES);
    std::fs::write(folder.join("session.jsonl"), recording).expect("a file");
    let annals = Annals::over(Arc::new(MemoryLog::new(Uuid::from_u128(1))));
    let options = ClaudeOptions::default();
    let imported = block_on(claude::import(&annals, folder, &options, &mut |_| {}));
    let report = imported.expect("a recording");
    assert!(report.events_made > (times * LINES) as u64, "{report}");
}

/// Nothing is synced: the count is not one of what the disk does.
fn options() -> Options {
    Options::default()
        .with_sync(false)
        .with_log_id(Uuid::from_u128(1))
        .with_read_threads(1)
}

/// Blocks are read and decompressed each time.
fn without_cache() -> Options {
    options().with_cache_bytes(0)
}

/// Batches of a thousand events.
fn append(folder: &Path, times: usize) {
    let log = RocksLog::create(folder, &options()).expect("a new log");
    let payloads = payloads(BATCH);
    for done in 0..times {
        let append = batch(&stream(0), (done * BATCH) as u64, &payloads);
        block_on(log.append(append)).expect("a batch");
    }
    block_on(log.close());
}

/// A log of ten thousand events in tables, each next to those of other streams.
fn fill(folder: &Path) {
    let log = RocksLog::create(folder, &options()).expect("a new log");
    let payloads = payloads(STREAMS);
    for round in 0..OF_STREAM {
        let events = payloads.iter().enumerate();
        let append = Append {
            batch: Uuid::from_u128(1 + round as u128),
            request: Bytes::new(),
            events: events
                .map(|(number, payload)| event(&stream(number), payload))
                .collect(),
            expectations: Vec::new(),
            blobs: Vec::new(),
        };
        block_on(log.append(append)).expect("a batch");
    }
    // So much is written to tables when it closes.
    block_on(log.close());
}

/// A page of the log.
fn page(folder: &Path, times: usize) {
    let log = RocksLog::open(folder, &without_cache()).expect("the log");
    for _ in 0..times {
        let page = block_on(log.read(Query::all(Position(2_001)).limit(BATCH)));
        assert_eq!(page.expect("a page").records.len(), BATCH);
    }
    block_on(log.close());
}

/// A stream, whose records lie in as many chunks.
fn one_stream(folder: &Path, times: usize) {
    let log = RocksLog::open(folder, &without_cache()).expect("the log");
    for _ in 0..times {
        let page = block_on(log.read(Query::stream(stream(42), Version(1))));
        assert_eq!(page.expect("a page").records.len(), OF_STREAM);
    }
    block_on(log.close());
}
