//! Rows of batches: what is kept of each for its repeats.

use annals_event_log::store_support::{BatchRow, RequestDigest};
use annals_event_log::{Appended, BatchId, Digest, Position};
use tokio_postgres::Row;

use crate::failure::Failure;
use crate::head::unsigned;

/// Reads a row that has a batch's id in one column, and what is kept of it in the next ones.
pub(crate) fn read(row: &Row, id: usize) -> Result<(BatchId, BatchRow), Failure> {
    let batch: BatchId = row.try_get(id)?;
    let (first, last) = (
        unsigned(row.try_get(id + 1)?)?,
        unsigned(row.try_get(id + 2)?)?,
    );
    let salt: Option<&[u8]> = row.try_get(id + 3)?;
    let digest: Option<&[u8]> = row.try_get(id + 4)?;
    let request = match (salt, digest) {
        (None, None) => None,
        (Some(salt), Some(digest)) => {
            let salt = salt.try_into().ok();
            let digest = digest.try_into().ok();
            let request = salt.zip(digest).map(|(salt, digest)| RequestDigest {
                salt,
                digest: Digest(digest),
            });
            Some(request.ok_or_else(|| malformed(batch))?)
        }
        _ => return Err(malformed(batch)),
    };
    let appended = Appended::new(Position(first), Position(last));
    Ok((batch, BatchRow { appended, request }))
}

fn malformed(batch: BatchId) -> Failure {
    Failure::damaged(format!(
        "the row of batch {batch} has no request digest of its form"
    ))
}

/// A digest of 32 bytes.
pub(crate) fn digest(bytes: &[u8]) -> Result<Digest, Failure> {
    let digest = bytes.try_into().map(Digest);
    digest.map_err(|_| Failure::damaged("a digest has not 32 bytes"))
}
