//! The Merkle tree over a log's headers (RFC 6962, section 2.1; SHA-256).
//!
//! Leaf `position - 1` is the record at that position:
//!
//! ```text
//! leaf(header)      SHA-256(0x00, header)
//! node(left, right) SHA-256(0x01, left, right)
//! ```
//!
//! A store keeps, with the records and in the same write, the hashes of the levels
//! 0, 8, 16 and so on, once each, and the [`Frontier`]. Everything else follows from
//! these: the root of any size, and every proof.

use crate::{Digest, EventLog, ReadError};

/// The levels of which the hashes are kept are the multiples of this. A hash of a
/// level between them is made of at most 128 that are kept.
pub const STEP: u8 = 8;

/// Levels that a tree can have: a log has fewer than 2^63 records.
pub const LEVELS: u8 = 64;

/// The most leaves that a tree can have.
const MOST_LEAVES: u64 = u64::MAX >> 1;

/// Bytes of a header that are usual: the fixed ones and a few short texts.
const USUAL_HEADER: usize = 319;

/// The hash of a leaf.
pub fn leaf(header: &[u8]) -> Digest {
    // Blocks that stand in one place are hashed in one go.
    let mut joined = [0x00; 1 + USUAL_HEADER];
    let length = 1 + header.len();
    match joined.get_mut(1..length) {
        Some(place) => place.copy_from_slice(header),
        None => return Digest::of_parts([&[0x00], header]),
    }
    Digest::of(joined.get(..length).unwrap_or_default())
}

/// The hash of a node over its two halves.
pub fn node(left: Digest, right: Digest) -> Digest {
    let mut joined = [0x01; 65];
    if let Some((left_half, right_half)) = joined
        .split_first_mut()
        .and_then(|(_, halves)| halves.split_at_mut_checked(32))
    {
        left_half.copy_from_slice(&left.0);
        right_half.copy_from_slice(&right.0);
    }
    Digest::of(&joined)
}

/// The root of a tree without leaves.
pub fn empty() -> Digest {
    Digest::of(b"")
}

/// A hash that is kept, and its place: the leaves below it are those from
/// `index << level` on, `1 << level` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// The level: 0 for leaves.
    pub level: u8,
    /// The number within the level, from 0.
    pub index: u64,
    /// The hash.
    pub hash: Digest,
}

/// The root over a power of two of hashes; none over none.
pub fn complete(mut hashes: Vec<Digest>) -> Option<Digest> {
    while hashes.len() > 1 {
        let (pairs, _) = hashes.as_chunks::<2>();
        hashes = pairs
            .iter()
            .map(|[left, right]| node(*left, *right))
            .collect();
    }
    hashes.pop()
}

/// The root over the largest complete subtrees, from left to right.
fn over_peaks(peaks: &[Digest]) -> Digest {
    let both = |right, left| node(left, right);
    peaks
        .iter()
        .rev()
        .copied()
        .reduce(both)
        .unwrap_or_else(empty)
}

/// The right edge of a tree: the hashes of its largest complete subtrees from left
/// to right, one for each bit of its size. It is all that is needed to go on.
///
/// ```
/// use annals_event_log::tree::{Frontier, leaf, node};
/// let mut frontier = Frontier::default();
/// for header in [b"a", b"b", b"c"] {
///     frontier.push(leaf(header), |_| {});
/// }
/// let left = node(leaf(b"a"), leaf(b"b"));
/// assert_eq!(frontier.root(), node(left, leaf(b"c")));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    peaks: Vec<Digest>,
}

impl Frontier {
    /// How many leaves there are.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Adds a leaf. `keep` is told each hash that is to be kept, the leaf's first.
    pub fn push(&mut self, leaf: Digest, mut keep: impl FnMut(Kept)) {
        let (mut level, mut index, mut hash) = (0_u8, self.size, leaf);
        loop {
            if level.is_multiple_of(STEP) {
                keep(Kept { level, index, hash });
            }
            if index & 1 == 0 {
                break;
            }
            // Where the index is odd, its left neighbour is the last peak.
            let Some(left) = self.peaks.pop() else { break };
            hash = node(left, hash);
            (level, index) = (level + 1, index >> 1);
        }
        self.peaks.push(hash);
        self.size += 1;
    }

    /// The root of the tree.
    pub fn root(&self) -> Digest {
        over_peaks(&self.peaks)
    }

    /// As a store writes it: the size, 8 bytes big-endian, and the hashes.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = self.size.to_be_bytes().to_vec();
        self.peaks
            .iter()
            .for_each(|peak| bytes.extend_from_slice(&peak.0));
        bytes
    }

    /// Reads what [`Frontier::encode`] wrote; nothing else is one.
    pub fn decode(bytes: &[u8]) -> Option<Frontier> {
        let (size, hashes) = bytes.split_first_chunk::<8>()?;
        let size = u64::from_be_bytes(*size);
        let (hashes, rest) = hashes.as_chunks::<32>();
        let is_whole = rest.is_empty()
            && hashes.len() as u64 == u64::from(size.count_ones())
            && size <= MOST_LEAVES;
        is_whole.then(|| Frontier {
            size,
            peaks: hashes.iter().map(|hash| Digest(*hash)).collect(),
        })
    }
}

/// The largest complete subtrees of a tree of `size` leaves, from left to right: the
/// level of each and its number within the level.
pub fn peaks(size: u64) -> impl Iterator<Item = (u8, u64)> {
    let levels = (0..LEVELS).rev();
    let there = levels.filter(move |level| size & (1 << level) != 0);
    // What stands before it are whole trees of higher levels.
    there.map(move |level| (level, (size >> level) & !1))
}

/// The right edge over a log's first `size` records, from the hashes that are kept.
///
/// # Errors
/// [`ReadError`], and [`ReadError::Corrupt`] where hashes are missing: also if the
/// log ends before `size`.
pub async fn frontier(log: &dyn EventLog, size: u64) -> Result<Frontier, ReadError> {
    let mut edge = Frontier {
        size,
        peaks: Vec::new(),
    };
    for (level, index) in peaks(size) {
        edge.peaks.push(subtree(log, level, index).await?);
    }
    Ok(edge)
}

/// The root of a log's first `size` records, from the hashes that are kept.
///
/// # Errors
/// As [`frontier`].
pub async fn root(log: &dyn EventLog, size: u64) -> Result<Digest, ReadError> {
    Ok(frontier(log, size).await?.root())
}

/// The hash of a complete subtree.
///
/// # Errors
/// [`ReadError`], and [`ReadError::Corrupt`] where hashes are missing.
pub async fn subtree(log: &dyn EventLog, level: u8, index: u64) -> Result<Digest, ReadError> {
    let below = level - level % STEP;
    let count = 1_usize << (level - below);
    let first = index.checked_mul(count as u64);
    let first = first.ok_or_else(|| ReadError::Corrupt {
        reason: format!("no tree has a node {index} of level {level}"),
    })?;
    let hashes = log.tree_hashes(below, first, count).await?;
    if hashes.len() != count {
        let reason = format!(
            "{count} hashes of level {below} from {first} on were asked for, and {} are there",
            hashes.len()
        );
        return Err(ReadError::Corrupt { reason });
    }
    complete(hashes).ok_or_else(|| ReadError::Corrupt {
        reason: "a subtree has no hash".to_owned(),
    })
}

#[cfg(test)]
mod tests;
