//! Collecting blobs that no record refers to: marked from the records, swept by the
//! writer.
//!
//! ```text
//! blobs in the order of their digests, a bounded number at a time
//!   mark    those that records up to here refer to
//!   sweep   on the writer's thread: those that later records refer to stay, and the
//!           rest is deleted in one synced write
//! ```
//!
//! An append that brings such a blob along, or refers to it, is written before the sweep
//! or after it: after it the blob is no longer there, and is stored again or
//! refused like any that is not.

use std::collections::BTreeMap;

use annals_event_log::{
    AppendError, Classification, Classified, Content, Digest, Position, ReadError,
};
use bytes::Bytes;
use rocksdb::WriteBatch;

use crate::db::Db;
use crate::purge::PurgeError;
use crate::read::View;
use crate::writer::Groups;
use crate::{blobs, chunk, error, keys};

/// Blobs that are looked for at once: 12 MiB of memory.
const AT_ONCE: usize = 256 * 1024;
/// Digests that a report names; the rest are only counted.
const NAMED: usize = 100;

/// Blobs that no record refers to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Orphans {
    /// How many.
    pub blobs: u64,
    /// Their content's bytes, before compression.
    pub bytes: u64,
    /// The first hundred of them.
    pub digests: Vec<Digest>,
}

impl Orphans {
    pub(crate) fn add(&mut self, more: &BTreeMap<Digest, u64>) {
        self.blobs += more.len() as u64;
        self.bytes += more.values().sum::<u64>();
        let room = NAMED.saturating_sub(self.digests.len());
        self.digests.extend(more.keys().take(room).copied());
    }
}

/// Why blobs were not collected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectError {
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The writer could not delete them.
    #[error(transparent)]
    Write(#[from] AppendError),
    /// They are deleted, but their room was not given back.
    #[error(transparent)]
    Purge(#[from] PurgeError),
}

impl Classified for CollectError {
    fn classify(&self) -> Classification {
        match self {
            CollectError::Read(error) => error.classify().of("collection_failed"),
            CollectError::Write(error) => error.classify().of("collection_failed"),
            CollectError::Purge(error) => error.classify().of("collection_failed"),
        }
    }
}

/// The next blobs behind a digest, with their lengths.
pub(crate) fn after(
    view: &View<'_>,
    last: Option<Digest>,
) -> Result<BTreeMap<Digest, u64>, ReadError> {
    let from = last.unwrap_or(Digest([0; 32]));
    let found = blobs::take(view, from, AT_ONCE)?.into_iter();
    let behind = found.filter(|blob| Some(blob.digest) != last);
    Ok(behind.map(|blob| (blob.digest, blob.size)).collect())
}

/// Takes out what records behind `seen` refer to, up to `end`; `progress` is called
/// with each chunk's last position.
pub(crate) fn mark(
    db: &Db,
    blobs: &mut BTreeMap<Digest, u64>,
    (seen, end): (Position, Position),
    progress: &mut dyn FnMut(Position),
) -> Result<(), ReadError> {
    if seen >= end || blobs.is_empty() {
        return Ok(());
    }
    let mut iterator = db.iterate_once(db.columns()?.records);
    iterator.seek_for_prev(keys::record(seen.next()));
    let mut last = Position::START;
    while let Some((key, value)) = iterator.item() {
        let first = keys::number(key).unwrap_or_default();
        if first > end.0 {
            break;
        }
        let records = chunk::records_from(first, &Bytes::copy_from_slice(value))?;
        for (position, record) in (first..).zip(&records) {
            for digest in record.content().iter().filter_map(Content::blob) {
                blobs.remove(&digest);
            }
            last = Position(position);
        }
        progress(last);
        iterator.next();
    }
    db.check(&iterator)?;
    if last < end {
        return Err(error::corrupt(format!(
            "the log ends at {last}, and was at {end}"
        )));
    }
    Ok(())
}

impl Groups<'_> {
    /// Deletes blobs that no record up to `seen` refers to, except for those that later
    /// ones do; those that were deleted. Nothing is staged when it begins.
    pub(crate) fn sweep(
        &mut self,
        mut blobs: BTreeMap<Digest, u64>,
        seen: Position,
    ) -> Result<BTreeMap<Digest, u64>, AppendError> {
        mark(
            self.db,
            &mut blobs,
            (seen, self.staging.last()),
            &mut |_| {},
        )?;
        if blobs.is_empty() {
            return Ok(blobs);
        }
        let digests: Vec<Digest> = blobs.keys().copied().collect();
        let (columns, mut write) = (self.db.columns()?, WriteBatch::default());
        let mut counts = *self.staging.counts_mut();
        blobs::delete_blobs(self.db, &columns, &digests, &mut counts, &mut write)?;
        *self.staging.counts_mut() = counts;
        self.write_alone(write)?;
        Ok(blobs)
    }
}
