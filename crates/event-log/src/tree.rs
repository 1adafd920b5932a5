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

mod bulk;

use bulk::Messages;

use crate::{Digest, ReadError, Store};

/// The levels of which the hashes are kept are the multiples of this. A hash of a
/// level between them is made of at most 128 that are kept.
pub const STEP: u8 = 8;

/// Levels that a tree can have: a log has fewer than 2^63 records.
pub const LEVELS: u8 = 64;

/// The most leaves that a tree can have.
const MOST_LEAVES: u64 = u64::MAX >> 1;

/// Bytes of messages, at most, whose memory is kept for others.
const MOST_KEPT: usize = 1024 * 1024;

/// Bytes of a header that are usual: the fixed ones and a few short texts.
const USUAL_HEADER: usize = 319;

/// The hash of a leaf.
pub fn leaf(header: &[u8]) -> Digest {
    // Contiguous blocks are hashed in one go.
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

/// Headers whose leaves are hashed together, in less time than [`leaf`] takes for each.
///
/// ```
/// use annals_event_log::tree::{Headers, leaf};
/// let mut headers = Headers::default();
/// headers.push(b"a");
/// headers.push(b"b");
/// assert_eq!(headers.leaves(), [leaf(b"a"), leaf(b"b")]);
/// assert_eq!(headers.leaves(), []);
/// ```
#[derive(Debug, Default)]
pub struct Headers(Messages);

impl Headers {
    /// Adds a header.
    pub fn push(&mut self, header: &[u8]) {
        self.0.push(&[&[0x00], header]);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes that wait to be hashed.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The hashes of their leaves; afterwards there are no headers any more.
    pub fn leaves(&mut self) -> Vec<Digest> {
        let leaves = self.0.digests().collect();
        self.0.clear(MOST_KEPT);
        leaves
    }
}

/// The root over a power of two of hashes; `None` over no hashes.
pub fn complete(mut hashes: Vec<Digest>) -> Option<Digest> {
    let mut nodes = Messages::with_room(hashes.len() / 2, 1 + 2 * size_of::<Digest>());
    while hashes.len() > 1 {
        for [left, right] in hashes.as_chunks().0 {
            nodes.push(&[&[0x01], &left.0, &right.0]);
        }
        hashes.clear();
        hashes.extend(nodes.digests());
        nodes.clear(MOST_KEPT);
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

    /// Adds a leaf. `keep` is called with each hash that is to be kept, the leaf's first.
    pub fn push(&mut self, leaf: Digest, mut keep: impl FnMut(Kept)) {
        keep(Kept {
            level: 0,
            index: self.size,
            hash: leaf,
        });
        self.push_subtree(0, leaf, keep);
    }

    /// Adds leaves, as [`Frontier::push`] does for each, in less time.
    pub fn extend(&mut self, leaves: &[Digest], mut keep: impl FnMut(Kept)) {
        let level = 0;
        for (index, hash) in (self.size..).zip(leaves.iter().copied()) {
            keep(Kept { level, index, hash });
        }
        let mut rest = leaves;
        while let Some(most) = rest.len().checked_ilog2() {
            // As high as it may be here, and below the next level that is kept.
            let level = most
                .min(self.size.trailing_zeros())
                .min(u32::from(STEP) - 1);
            let (subtree, behind) = rest.split_at(1 << level);
            if let Some(top) = complete(subtree.to_vec()) {
                self.push_subtree(level as u8, top, &mut keep);
            }
            rest = behind;
        }
    }

    /// Adds a complete subtree of a level, where whole subtrees of that level end.
    /// `keep` is called with each hash above it that is to be kept.
    fn push_subtree(&mut self, mut level: u8, top: Digest, mut keep: impl FnMut(Kept)) {
        let (added, mut index, mut hash) = (1 << level, self.size >> level, top);
        while index & 1 == 1 {
            // Where the index is odd, its left neighbour is the last peak.
            let Some(left) = self.peaks.pop() else { break };
            hash = node(left, hash);
            (level, index) = (level + 1, index >> 1);
            if level.is_multiple_of(STEP) {
                keep(Kept { level, index, hash });
            }
        }
        self.peaks.push(hash);
        self.size += added;
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
    // Before it are whole trees of higher levels.
    there.map(move |level| (level, (size >> level) & !1))
}

/// The right edge over a log's first `size` records, from the hashes that are kept.
///
/// # Errors
/// [`ReadError`], and [`ReadError::Corrupt`] where hashes are missing: also if the
/// log ends before `size`.
pub async fn frontier(log: &dyn Store, size: u64) -> Result<Frontier, ReadError> {
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
pub async fn root(log: &dyn Store, size: u64) -> Result<Digest, ReadError> {
    Ok(frontier(log, size).await?.root())
}

/// The hash of a complete subtree.
///
/// # Errors
/// [`ReadError`], and [`ReadError::Corrupt`] where hashes are missing.
pub async fn subtree(log: &dyn Store, level: u8, index: u64) -> Result<Digest, ReadError> {
    let below = level - level % STEP;
    let count = 1_usize << (level - below);
    let first = index.checked_mul(count as u64);
    let first = first.ok_or_else(|| ReadError::Corrupt {
        reason: format!("no tree has a node {index} of level {level}"),
    })?;
    let hashes = log.tree_hashes(below, first, count).await?;
    if hashes.len() != count {
        let reason = format!(
            "expected {count} hashes of level {below} from {first} on, found {}",
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
