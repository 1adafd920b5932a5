//! A log to make copies of, the same to the byte: positions, times and salts included.

use std::sync::Arc;

use annals_event_log::store_support::referenced_blobs;
use annals_event_log::{
    AppendError, Blob, Position, Query, ReadError, Record, Store, memory::MemoryLog,
};
use futures::executor::block_on;
use uuid::Uuid;

/// All records of a log, with the blobs that are still there.
///
/// Rows of two runs can only be compared where the runs had the same log. Appending a
/// history twice gives two times of recording; copying gives one.
#[derive(Debug, Default)]
pub(super) struct Original {
    parts: Vec<Part>,
}

/// Records of one batch that are copied in one call.
#[derive(Debug)]
pub(super) struct Part {
    records: Vec<Record>,
    blobs: Vec<Blob>,
    /// Whether the batch ends with it.
    pub(super) ends_batch: bool,
}

impl Part {
    /// Appends it to a log that ends where it begins.
    pub(super) fn append_to(&self, log: &dyn Store) -> Result<(), AppendError> {
        let (records, blobs) = (self.records.clone(), self.blobs.clone());
        block_on(log.append_records(records, blobs)).map(|_| ())
    }
}

impl Original {
    /// Reads all of a log.
    pub(super) fn of(log: &dyn Store) -> Result<Original, ReadError> {
        let mut original = Original::default();
        let mut next = Some(1);
        while let Some(from) = next {
            let page = block_on(log.read(Query::all(Position(from))))?;
            for records in page
                .records
                .chunk_by(|one, other| one.batch_id() == other.batch_id())
            {
                original.add(log, records)?;
            }
            next = page.next;
        }
        Ok(original)
    }

    fn add(&mut self, log: &dyn Store, records: &[Record]) -> Result<(), ReadError> {
        let batch = |records: &[Record]| records.first().map(Record::batch_id);
        if let Some(before) = self.parts.last_mut() {
            before.ends_batch = batch(&before.records) != batch(records);
        }
        let mut blobs = Vec::new();
        for digest in referenced_blobs(records) {
            blobs.extend(block_on(log.blob(digest))?.map(Blob::new));
        }
        self.parts.push(Part {
            records: records.to_vec(),
            blobs,
            ends_batch: true,
        });
        Ok(())
    }

    /// The parts, in the order of the log.
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The records, in the order of the log.
    pub(super) fn records(&self) -> impl Iterator<Item = &Record> {
        self.parts.iter().flat_map(|part| &part.records)
    }

    /// A new log that is a copy, without read models.
    pub(super) fn copy(&self) -> Result<Arc<dyn Store>, AppendError> {
        let log = empty();
        self.parts
            .iter()
            .try_for_each(|part| part.append_to(&*log))?;
        Ok(log)
    }
}

/// A log without records.
pub(super) fn empty() -> Arc<dyn Store> {
    Arc::new(MemoryLog::new(Uuid::from_u128(1)))
}
