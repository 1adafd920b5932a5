//! Content that is stored and that no record refers to.
//!
//! Digests are taken in ranges, and the records are read once for each range, so that
//! memory is bounded however much content there is.

use std::collections::HashMap;

use annals::Annals;
use annals::event_log::{Content, Digest, Position, Query};
use annals::store_rocks::RocksLog;

use crate::error::CliError;
use crate::progress;

/// Blobs of a range: some 30 MB of memory.
const RANGE: usize = 250_000;
/// Blobs that are asked for at once.
const PAGE: usize = 10_000;

/// How much of it there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Orphans {
    pub(super) blobs: u64,
    /// Before compression.
    pub(super) bytes: u64,
}

pub(super) async fn find(annals: &Annals, rocks: &RocksLog) -> Result<Orphans, CliError> {
    let bar = progress::bar("comparing content", Some(annals.position().0));
    let mut orphans = Orphans::default();
    let mut from = Some(Digest([0; 32]));
    while let Some(first) = from {
        let mut range = HashMap::new();
        from = take(rocks, first, &mut range)?;
        let mut at = Position(1);
        // Content that came while it was looked for is named by records behind those.
        while !range.is_empty() && at <= annals.position() {
            let page = annals.log().read(Query::all(at)).await?;
            let pieces = page.records.iter().flat_map(|record| record.content());
            for digest in pieces.filter_map(|piece| Content::blob(&piece)) {
                range.remove(&digest);
            }
            at = page
                .records
                .last()
                .map_or(Position(u64::MAX), |record| record.position().next());
            bar.set_position(at.0);
        }
        orphans.blobs += range.len() as u64;
        orphans.bytes += range.values().sum::<u64>();
    }
    bar.finish_and_clear();
    Ok(orphans)
}

/// Takes the blobs from `first` on, as many as are a range, with their sizes; where the
/// next range begins.
fn take(
    rocks: &RocksLog,
    first: Digest,
    range: &mut HashMap<Digest, u64>,
) -> Result<Option<Digest>, CliError> {
    let mut from = Some(first);
    while let Some(first) = from.filter(|_| range.len() < RANGE) {
        let blobs = rocks.stored_blobs(first, PAGE)?;
        from = match blobs.last() {
            Some(last) if blobs.len() == PAGE => after(last.digest),
            _ => None,
        };
        range.extend(blobs.into_iter().map(|blob| (blob.digest, blob.size)));
    }
    Ok(from)
}

/// The digest behind one, as numbers go.
fn after(digest: Digest) -> Option<Digest> {
    let mut next = digest.0;
    for byte in next.iter_mut().rev() {
        let (sum, overflows) = byte.overflowing_add(1);
        *byte = sum;
        if !overflows {
            return Some(Digest(next));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_digest_is_the_next_number() {
        let mut carried = [0; 32];
        carried[31] = 0xff;
        let mut expected = [0; 32];
        expected[30] = 1;
        assert_eq!(after(Digest(carried)), Some(Digest(expected)));
        assert_eq!(after(Digest([0xff; 32])), None);
    }
}
