//! Which blobs there are, and deleting some.

use std::collections::BTreeSet;

use annals_event_log::store_support::clamp_limit;
use annals_event_log::{Digest, ReadError};
use rocksdb::WriteBatch;

use crate::columns::Columns;
use crate::db::Db;
use crate::error::corrupt;
use crate::keys;
use crate::read::View;
use crate::rows::Counts;

/// A blob that is stored, whether or not a record refers to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredBlob {
    /// The SHA-256 of its content.
    pub digest: Digest,
    /// Its bytes, before compression.
    pub size: u64,
}

/// Blobs in the order of their digests, from `from` on, as many as a page may have.
pub(crate) fn list(
    view: &View<'_>,
    from: Digest,
    limit: usize,
) -> Result<Vec<StoredBlob>, ReadError> {
    take(view, from, clamp_limit(limit))
}

/// The same, at most `count`, which is not 0.
pub(crate) fn take(
    view: &View<'_>,
    from: Digest,
    count: usize,
) -> Result<Vec<StoredBlob>, ReadError> {
    let mut iterator = view.db.iterate_once(view.columns.blobs);
    iterator.seek(from.0);
    let mut blobs = Vec::new();
    while let Some((key, value)) = iterator.item() {
        let digest = key.try_into().map(Digest);
        let digest = digest.map_err(|_| corrupt("the key of a blob is not a digest"))?;
        blobs.push(StoredBlob {
            digest,
            size: value.len() as u64,
        });
        // Before the next one is read, which can be large.
        if blobs.len() == count {
            return Ok(blobs);
        }
        iterator.next();
    }
    view.db.check(&iterator)?;
    Ok(blobs)
}

/// Puts the deletion of blobs into a write, with the counts after it.
pub(crate) fn delete_blobs(
    db: &Db,
    columns: &Columns<'_>,
    digests: &[Digest],
    counts: &mut Counts,
    write: &mut WriteBatch,
) -> Result<(), ReadError> {
    // A caller may name one twice; it is there once.
    let digests: BTreeSet<Digest> = digests.iter().copied().collect();
    for digest in &digests {
        let Some(blob) = db.get(columns.blobs, &digest.0)? else {
            continue;
        };
        counts.blobs = counts.blobs.saturating_sub(1);
        counts.blob_bytes = counts.blob_bytes.saturating_sub(blob.len() as u64);
        write.delete_cf(columns.blobs, digest.0);
    }
    if !digests.is_empty() {
        write.put_cf(columns.meta, keys::META_COUNTS, counts.encode());
    }
    Ok(())
}
