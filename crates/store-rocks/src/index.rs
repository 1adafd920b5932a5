//! Look-ups in the indexes: a stream's head, a batch's row, the counts.

use std::collections::HashSet;

use annals_event_log::store_support::BatchRow;
use annals_event_log::{BatchId, Position, ReadError, StreamName};
use rocksdb::DBRawIterator;

use crate::columns::Columns;
use crate::db::Db;
use crate::error::corrupt;
use crate::keys;
use crate::rows::{self, Counts, Run};

/// The version that comes after the stream's last record before `chunk`, if its entries
/// are right: 1 where it has none.
pub(crate) fn version_after(
    db: &Db,
    columns: &Columns<'_>,
    stream: &str,
    chunk: Position,
) -> Result<u64, ReadError> {
    let before = Position(chunk.0.saturating_sub(1));
    Ok(version_up_to(db, columns, stream, before)?.saturating_add(1))
}

/// The version of a stream's last record, durable or not; 0 for no stream.
pub(crate) fn last_version(
    db: &Db,
    columns: &Columns<'_>,
    stream: &StreamName,
) -> Result<u64, ReadError> {
    version_up_to(db, columns, stream.as_str(), Position(u64::MAX))
}

/// The same as far as `watermark`.
pub(crate) fn version_up_to(
    db: &Db,
    columns: &Columns<'_>,
    stream: &str,
    watermark: Position,
) -> Result<u64, ReadError> {
    let mut iterator = db.iterate(columns.streams, Some(keys::bounds(stream)));
    iterator.seek_to_last();
    while let Some((first_version, run)) = stream_entry(&iterator)? {
        // A group is durable as a whole, and so are its chunks.
        if run.chunk <= watermark {
            return Ok(first_version
                .saturating_add(u64::from(run.count))
                .saturating_sub(1));
        }
        iterator.prev();
    }
    db.check(&iterator)?;
    Ok(0)
}

/// Whether a stream has no records, as far as memory shows without reading from the disk.
pub(crate) fn has_none_in_memory(
    db: &Db,
    columns: &Columns<'_>,
    stream: &str,
) -> Result<bool, ReadError> {
    let mut iterator = db.iterate_in_memory(columns.streams, keys::bounds(stream));
    iterator.seek_to_first();
    match iterator.status() {
        Ok(()) => Ok(iterator.item().is_none()),
        Err(error) if error.kind() == rocksdb::ErrorKind::Incomplete => Ok(false),
        Err(error) => Err(db.read_error(&error)),
    }
}

/// The entry of the stream index that an iterator is at: the first version
/// of a run, and the run. `None` where the iterator has no entry.
fn stream_entry(iterator: &DBRawIterator<'_>) -> Result<Option<(u64, Run)>, ReadError> {
    let Some((key, value)) = iterator.item() else {
        return Ok(None);
    };
    let entry = keys::split_entry(key).zip(Run::decode_stream(value));
    let ((_, version), run) =
        entry.ok_or_else(|| corrupt("an entry of the stream index is malformed"))?;
    Ok(Some((version, run)))
}

/// A batch's row, durable or not.
pub(crate) fn batch_row(
    db: &Db,
    columns: &Columns<'_>,
    batch: BatchId,
) -> Result<Option<BatchRow>, ReadError> {
    match db.get(columns.batches, batch.as_bytes())? {
        None => Ok(None),
        Some(value) => match rows::read_batch(batch, &value) {
            Some(row) => Ok(Some(row)),
            None => Err(corrupt(format!("the row of batch {batch} is malformed"))),
        },
    }
}

/// The counts of the last group.
pub(crate) fn counts(db: &Db, columns: &Columns<'_>) -> Result<Counts, ReadError> {
    match db.get(columns.meta, keys::META_COUNTS)? {
        None => Ok(Counts::default()),
        Some(value) => Counts::decode(&value).ok_or_else(|| corrupt("the counts are malformed")),
    }
}

/// The counts of the records up to `shown`, which may be before the end of the last group. Blobs are those that are stored.
pub(crate) fn counts_up_to(
    db: &Db,
    columns: &Columns<'_>,
    shown: Position,
) -> Result<Counts, ReadError> {
    let mut counts = counts(db, columns)?;
    if counts.position <= shown.0 {
        return Ok(counts);
    }
    let (mut streams, mut batches) = (HashSet::new(), HashSet::new());
    db.each_behind(shown, |record| {
        if !streams.contains(record.stream()) {
            streams.insert(record.stream().to_owned());
        }
        batches.insert(record.batch_id());
    })?;
    let mut new_streams = 0;
    for stream in &streams {
        new_streams += u64::from(version_up_to(db, columns, stream, shown)? == 0);
    }
    counts.position = shown.0;
    counts.streams = counts.streams.saturating_sub(new_streams);
    // A batch is published as a whole.
    counts.batches = counts.batches.saturating_sub(batches.len() as u64);
    Ok(counts)
}
