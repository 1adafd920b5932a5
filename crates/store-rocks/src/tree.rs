//! The Merkle tree on the disk: runs of hashes, the frontier, and making both for a
//! log that was written without them.
//!
//! A run is consecutive hashes of one level under the number of the first: leaves
//! come in groups, and one key for many of them is what makes them cheap.

use annals_event_log::store_support::clamp_limit;
use annals_event_log::tree::{self, Frontier, Headers, Kept, LEVELS, STEP};
use annals_event_log::{Altered, Digest, Position, ReadError};
use bytes::Bytes;
use rocksdb::WriteBatch;

use crate::columns::Columns;
use crate::db::{Db, synced};
use crate::error::corrupt;
use crate::read::View;
use crate::{chunk, keys};

/// Hashes of a run, at most: 32 KiB.
const RUN: usize = 1_024;

/// Headers that are hashed together: many, and not more than stay in the cache of one
/// processor together with what the writer needs.
const TOGETHER: usize = 256;

/// Records whose hashes are made in one write, where they are made afterwards.
const BACKFILL: usize = 16_384;

/// The tree that a writer goes on with.
#[derive(Debug, Default)]
pub(crate) struct OpenTree {
    frontier: Frontier,
    /// Headers that are not hashed yet.
    headers: Headers,
    /// Leaves that are not in the group's write yet.
    leaves: Vec<u8>,
    /// Hashes of higher levels, the same.
    above: Vec<Kept>,
}

impl OpenTree {
    /// One that goes on behind these leaves.
    pub(crate) fn new(frontier: Frontier) -> OpenTree {
        OpenTree {
            frontier,
            ..OpenTree::default()
        }
    }

    /// How many leaves there are, with those that wait.
    fn size(&self) -> u64 {
        self.frontier.size() + self.headers.len() as u64
    }

    /// Adds a record's header.
    pub(crate) fn push(&mut self, header: &[u8]) {
        self.headers.push(header);
        if self.headers.len() >= TOGETHER {
            self.hash_waiting();
        }
    }

    /// Adds the leaves of the headers that wait.
    fn hash_waiting(&mut self) {
        let OpenTree {
            frontier,
            headers,
            leaves,
            above,
        } = self;
        frontier.extend(&headers.leaves(), |kept| match kept.level {
            0 => leaves.extend_from_slice(&kept.hash.0),
            _ => above.push(kept),
        });
    }

    /// Bytes that wait.
    pub(crate) fn bytes(&self) -> usize {
        self.leaves.len() + self.headers.bytes()
    }

    /// Puts what waits into a write, with the frontier.
    pub(crate) fn write(&mut self, columns: &Columns<'_>, write: &mut WriteBatch) {
        self.hash_waiting();
        if self.leaves.is_empty() {
            return;
        }
        let waiting = self.leaves.len() / size_of::<Digest>();
        let mut first = self.frontier.size() - waiting as u64;
        for run in self.leaves.chunks(RUN * size_of::<Digest>()) {
            write.put_cf(columns.tree, keys::tree(0, first), run);
            first += (run.len() / size_of::<Digest>()) as u64;
        }
        for Kept { level, index, hash } in self.above.drain(..) {
            write.put_cf(columns.tree, keys::tree(level, index), hash.0);
        }
        write.put_cf(columns.meta, keys::META_TREE, self.frontier.encode());
        self.leaves.clear();
    }
}

/// The header of an encoded record.
pub(crate) fn header_of(record: &[u8]) -> &[u8] {
    let header = record.split_first_chunk::<2>().and_then(|(len, rest)| {
        let len = usize::from(u16::from_be_bytes(*len));
        rest.get(..len)
    });
    // What the writer stages is a record.
    header.unwrap_or_default()
}

/// The frontier as it is stored; that of an empty tree where none is.
pub(crate) fn frontier(db: &Db, columns: &Columns<'_>) -> Result<Frontier, ReadError> {
    match db.get(columns.meta, keys::META_TREE)? {
        None => Ok(Frontier::default()),
        Some(bytes) => Frontier::decode(&bytes)
            .ok_or_else(|| corrupt("the frontier of the tree cannot be read")),
    }
}

/// Why the tree of a log could not be opened.
pub(crate) enum Failure {
    Read(ReadError),
    Write(rocksdb::Error),
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Failure {
        Failure::Read(error)
    }
}

/// The tree of a log that ends at `last`. What an older program wrote without it is
/// made now; so is all of it, where its right edge cannot be read.
pub(crate) fn open(db: &Db, last: Position) -> Result<OpenTree, Failure> {
    let columns = db.columns()?;
    let stored = db.get(columns.meta, keys::META_TREE)?;
    let frontier = match stored.map(|bytes| Frontier::decode(&bytes)) {
        Some(Some(frontier)) => frontier,
        None => Frontier::default(),
        Some(None) => {
            tracing::warn!("the right edge of the tree cannot be read; the tree is rebuilt");
            let mut write = WriteBatch::default();
            let beyond = [u8::MAX; 1 + keys::NUMBER];
            write.delete_range_cf(columns.tree, [].as_slice(), beyond.as_slice());
            write.delete_cf(columns.meta, keys::META_TREE);
            put(db, write)?;
            Frontier::default()
        }
    };
    let size = frontier.size();
    if size > last.0 {
        let reason = format!("the tree has {size} leaves, and the log ends at {last}");
        return Err(corrupt(reason).into());
    }
    let mut tree = OpenTree::new(frontier);
    if size < last.0 {
        tracing::info!(
            from = size + 1,
            to = last.0,
            "making the hashes of the tree"
        );
        backfill(db, &columns, &mut tree)?;
    }
    let size = tree.size();
    if size != last.0 {
        let reason = format!("the log ends at {last}, and its records at {size}");
        return Err(corrupt(reason).into());
    }
    Ok(tree)
}

fn backfill(db: &Db, columns: &Columns<'_>, tree: &mut OpenTree) -> Result<(), Failure> {
    let mut iterator = db.iterate_once(columns.records);
    iterator.seek_for_prev(keys::record(Position(tree.size() + 1)));
    let mut write = WriteBatch::default();
    while let Some((key, value)) = iterator.item() {
        let first = keys::number(key).unwrap_or_default();
        let expected = tree.size() + 1;
        if first == 0 || first > expected {
            let reason = format!("a chunk with record {expected} was expected at {first}");
            return Err(corrupt(reason).into());
        }
        one_chunk(first, &Bytes::copy_from_slice(value), tree)?;
        if tree.leaves.len() >= BACKFILL * size_of::<Digest>() {
            tree.write(columns, &mut write);
            put(db, std::mem::take(&mut write))?;
        }
        iterator.next();
    }
    db.check(&iterator)?;
    tree.write(columns, &mut write);
    put(db, write)
}

/// Adds the records of a chunk that are not in the tree.
fn one_chunk(first: u64, content: &Bytes, tree: &mut OpenTree) -> Result<(), ReadError> {
    for (position, place) in (first..).zip(chunk::places(content)?) {
        let expected = tree.size() + 1;
        if position < expected {
            continue;
        }
        let wrong = |reason: String| corrupt(format!("the record at {expected}: {reason}"));
        let place = place.map_err(|error| wrong(error.to_string()))?;
        let record = place.record(content);
        let record = record.map_err(|error| wrong(error.to_string()))?;
        if record.position().0 != expected {
            return Err(wrong(format!(
                "it says that it is at {}",
                record.position()
            )));
        }
        // A leaf of what was altered would pass for what was appended from then on.
        if record.verify().is_err() {
            return Err(wrong(Altered::Payload.to_string()));
        }
        tree.push(record.header_bytes());
    }
    Ok(())
}

/// Synced: a log must not be left with a long tail that may be torn in the middle.
fn put(db: &Db, write: WriteBatch) -> Result<(), Failure> {
    let written = db.rocks.write_opt(write, &synced(true));
    written.map_err(Failure::Write)
}

/// Hashes of a level, from number `first` on.
pub(crate) fn hashes(
    view: &View<'_>,
    level: u8,
    first: u64,
    limit: usize,
) -> Result<Vec<Digest>, ReadError> {
    if level >= LEVELS || !level.is_multiple_of(STEP) {
        return Ok(Vec::new());
    }
    let left = (view.watermark.0 >> level).saturating_sub(first);
    let left = usize::try_from(left).unwrap_or(usize::MAX);
    let count = left.min(clamp_limit(limit));
    if count == 0 {
        return Ok(Vec::new());
    }
    let stored = stored(view, level, first, count)?;
    let numbered = (first..).zip(stored);
    numbered
        .map(|(number, hash)| hash.ok_or_else(|| missing(level, number)))
        .collect()
}

fn missing(level: u8, number: u64) -> ReadError {
    corrupt(format!(
        "hash {number} of level {level} of the tree is missing; a log that an older program wrote \
         gets its tree when it is opened for writing"
    ))
}

/// So many hashes of a level, from number `first` on; `None` for each that is not
/// there.
pub(crate) fn stored(
    view: &View<'_>,
    level: u8,
    first: u64,
    count: usize,
) -> Result<Vec<Option<Digest>>, ReadError> {
    let mut hashes = vec![None; count];
    let end = first.saturating_add(count as u64);
    let bounds = (
        keys::tree(level, 0).to_vec(),
        keys::tree(level, end).to_vec(),
    );
    let mut iterator = view.db.iterate(view.columns.tree, Some(bounds));
    // The run that the first one may be in.
    iterator.seek_for_prev(keys::tree(level, first));
    if !iterator.valid() {
        view.db.check(&iterator)?;
        iterator.seek_to_first();
    }
    while let Some((key, value)) = iterator.item() {
        let (run, rest) = value.as_chunks::<32>();
        if let Some((_, number)) = keys::split_tree(key).filter(|_| rest.is_empty()) {
            for (number, hash) in (number..).zip(run) {
                let at = number.checked_sub(first);
                let at = at.and_then(|at| usize::try_from(at).ok());
                if let Some(place) = at.and_then(|at| hashes.get_mut(at)) {
                    *place = Some(Digest(*hash));
                }
            }
        }
        iterator.next();
    }
    view.db.check(&iterator)?;
    Ok(hashes)
}

/// The right edge of the tree over the first `size` records, from the hashes that are
/// stored.
pub(crate) fn frontier_at(view: &View<'_>, size: u64) -> Result<Frontier, ReadError> {
    let mut bytes = size.to_be_bytes().to_vec();
    for (level, index) in tree::peaks(size) {
        let below = level - level % STEP;
        let count = 1_usize << (level - below);
        let first = index << (level - below);
        let stored = (first..).zip(stored(view, below, first, count)?);
        let hashes = stored
            .map(|(number, hash)| hash.ok_or_else(|| missing(below, number)))
            .collect::<Result<Vec<Digest>, ReadError>>()?;
        bytes.extend(tree::complete(hashes).into_iter().flat_map(|peak| peak.0));
    }
    Frontier::decode(&bytes).ok_or_else(|| corrupt("the frontier of the tree cannot be made"))
}
