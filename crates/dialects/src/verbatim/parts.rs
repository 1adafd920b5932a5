//! Records put together into parts, each of which one append takes, and none of which ends within a batch.

use std::collections::{HashMap, VecDeque};

use annals_event_log::{Blob, Digest, Record, limits};

/// Records, bytes of records and bytes of blobs from which on a part is handed over.
const PART_RECORDS: usize = 1_000;
const PART_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of records, and again of blobs, of a part with several batches. One batch may have twice as much, which
/// is what an append takes: at worst some hundred MiB are in memory.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// Consecutive records, with the content that came with them.
#[derive(Default)]
pub(super) struct Part {
    pub(super) records: Vec<Record>,
    pub(super) blobs: HashMap<Digest, Blob>,
    record_bytes: usize,
    blob_bytes: usize,
}

impl Part {
    /// Whether one append would take it with one record more, of so many bytes and with so many bytes of content.
    fn has_room_for(&self, record: usize, content: usize) -> bool {
        self.records.len() < limits::BATCH_EVENTS
            && self.record_bytes + record <= limits::BATCH_BYTES
            && self.blob_bytes + content <= limits::BATCH_BYTES
    }

    fn add(&mut self, batch: Part) {
        self.records.extend(batch.records);
        self.blobs.extend(batch.blobs);
        self.record_bytes += batch.record_bytes;
        self.blob_bytes += batch.blob_bytes;
    }
}

/// What was given of a log, and not taken as parts yet.
#[derive(Default)]
pub(super) struct Parts {
    /// Whole batches that are not enough for a part.
    part: Part,
    /// What was given of the batch behind them.
    batch: Part,
    ready: VecDeque<Part>,
}

impl Parts {
    /// Takes the next record, with the content that it is the first to refer to. Afterwards parts may be ready.
    pub(super) fn push(&mut self, record: Record, blobs: Vec<Blob>) {
        let length = record.encoded_len();
        let content = blobs.iter().map(|blob| blob.bytes().len()).sum();
        let last = self.batch.records.last();
        let is_next = last.is_some_and(|last| last.batch_id() != record.batch_id());
        // A batch may refer to blobs of older ones that come with it, and be more than an append takes.
        if is_next || !self.batch.has_room_for(length, content) {
            self.end_batch();
        }
        self.batch.blob_bytes += content;
        self.batch
            .blobs
            .extend(blobs.into_iter().map(|blob| (blob.digest(), blob)));
        self.batch.record_bytes += length;
        self.batch.records.push(record);
    }

    /// A part that is ready.
    pub(super) fn pop(&mut self) -> Option<Part> {
        self.ready.pop_front()
    }

    /// Makes a part ready of the whole batches, where they and so many bytes of content that wait for their record are
    /// too much to be kept.
    pub(super) fn make_room(&mut self, waiting: usize) {
        if self.part.blob_bytes + self.batch.blob_bytes + waiting > MOST_BYTES {
            self.hand_over();
        }
    }

    /// Makes a part ready of all whole batches.
    pub(super) fn hand_over(&mut self) {
        if !self.part.records.is_empty() {
            self.ready.push_back(std::mem::take(&mut self.part));
        }
    }

    /// Takes what was given of a batch for all of it, and makes everything ready.
    pub(super) fn end(&mut self) {
        self.end_batch();
        self.hand_over();
    }

    /// Takes what was given of a batch for all of it.
    fn end_batch(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        let together = self.part.records.len() + batch.records.len();
        if together > limits::BATCH_EVENTS
            || self.part.record_bytes + batch.record_bytes > MOST_BYTES
            || self.part.blob_bytes + batch.blob_bytes > MOST_BYTES
        {
            self.hand_over();
        }
        self.part.add(batch);
        let part = &self.part;
        if part.records.len() >= PART_RECORDS || part.record_bytes + part.blob_bytes >= PART_BYTES {
            self.hand_over();
        }
    }
}
