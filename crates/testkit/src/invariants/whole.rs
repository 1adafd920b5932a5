//! Checks of what is kept in addition to the records: heads, indexes, tree, blobs, counts.

use std::collections::{BTreeMap, HashMap, HashSet};

use annals_event_log::store_support::PAGE_LIMIT;
use annals_event_log::{
    BatchId, Content, Digest, Position, Query, Record, Store, StreamName, Version, tree,
};

use super::read::{each, must};
use super::violation::{Check, Invariant, Violation};
use crate::rfc6962;

fn differs(invariant: Invariant, expected: String, found: String) -> Result<(), Violation> {
    if expected == found {
        return Ok(());
    }
    Err(Violation {
        invariant,
        position: None,
        expected,
        found,
    })
}

#[derive(Default)]
pub(super) struct Heads {
    heads: BTreeMap<StreamName, Version>,
}

impl Check for Heads {
    fn record(&mut self, record: &Record) -> Result<(), Violation> {
        self.heads.insert(record.stream_name(), record.version());
        Ok(())
    }

    fn end(&mut self, log: &dyn Store, _: Position) -> Result<(), Violation> {
        let show = |name: &StreamName, version| format!("stream {name} at version {version}");
        for (name, version) in &self.heads {
            let found = must(|| format!("the head of {name}"), log.head(name))?;
            differs(Invariant::Heads, show(name, *version), show(name, found))?;
        }
        let mut expected = self.heads.iter();
        let mut after: Option<StreamName> = None;
        loop {
            let what = || format!("the streams after {after:?}");
            let listed = must(what, log.streams("", after.as_ref(), PAGE_LIMIT))?;
            let Some(last) = listed.last() else { break };
            after = Some(last.name.clone());
            for found in &listed {
                let expected = expected.next();
                let expected = expected
                    .map_or("no further stream".to_owned(), |(name, version)| {
                        show(name, *version)
                    });
                let listed = show(&found.name, found.version);
                differs(Invariant::Heads, expected, listed)?;
            }
        }
        match expected.next() {
            None => Ok(()),
            Some((name, version)) => differs(
                Invariant::Heads,
                format!("{} in the list of streams", show(name, *version)),
                "the end of the list".to_owned(),
            ),
        }
    }
}

/// The positions of a stream's or a type's records, and all records' digests.
#[derive(Default)]
pub(super) struct Indexes {
    streams: HashMap<StreamName, Vec<u64>>,
    types: HashMap<String, Vec<u64>>,
    records: Vec<Digest>,
}

impl Indexes {
    pub(super) fn streams(&self) -> u64 {
        self.streams.len() as u64
    }

    pub(super) fn event_types(&self) -> u64 {
        self.types.len() as u64
    }

    /// Demands that a query gives the records at these positions.
    fn check(
        &self,
        log: &dyn Store,
        query: &Query,
        positions: impl Iterator<Item = u64>,
    ) -> Result<(), Violation> {
        let wrong = |position: Option<u64>, expected: String, found: String| {
            Err(Violation {
                invariant: Invariant::Indexes,
                position: position.map(Position),
                expected: format!("{expected} from {:?}, {:?}", query.source, query.direction),
                found,
            })
        };
        let mut expected = positions;
        each(log, query, |record| {
            let Some(position) = expected.next() else {
                let at = record.position().0;
                return wrong(
                    Some(at),
                    "no further record".to_owned(),
                    format!("{record:?}"),
                );
            };
            let index = usize::try_from(position.saturating_sub(1)).unwrap_or(usize::MAX);
            let same = self.records.get(index) == Some(&Digest::of(record.as_bytes()));
            match same {
                true => Ok(()),
                false => wrong(
                    Some(position),
                    format!("the record at {position}"),
                    format!("{record:?}"),
                ),
            }
        })?;
        match expected.next() {
            None => Ok(()),
            Some(position) => wrong(
                Some(position),
                format!("the record at {position}"),
                "the end".to_owned(),
            ),
        }
    }
}

impl Check for Indexes {
    fn record(&mut self, record: &Record) -> Result<(), Violation> {
        let position = record.position().0;
        let of_stream = self.streams.entry(record.stream_name()).or_default();
        of_stream.push(position);
        match self.types.get_mut(record.event_type()) {
            Some(of_type) => of_type.push(position),
            None => {
                let name = record.event_type().to_owned();
                self.types.insert(name, vec![position]);
            }
        }
        self.records.push(Digest::of(record.as_bytes()));
        Ok(())
    }

    fn end(&mut self, log: &dyn Store, _: Position) -> Result<(), Violation> {
        let from_end = |query: Query| query.backward().starting_at(u64::MAX);
        let of_streams = self.streams.iter().map(|(name, positions)| {
            let query = Query::stream(name.clone(), Version(1));
            (query, positions)
        });
        let of_types = self.types.iter().map(|(name, positions)| {
            let query = Query::event_type(name.clone(), Position(1));
            (query, positions)
        });
        for (query, positions) in of_streams.chain(of_types) {
            let query = query.limit(PAGE_LIMIT);
            self.check(log, &query, positions.iter().copied())?;
            self.check(log, &from_end(query), positions.iter().rev().copied())?;
        }
        let what = || "what the store keeps beside the records".to_owned();
        match must(what, log.check_tables())?.first() {
            None => Ok(()),
            Some(fault) => Err(Violation {
                invariant: Invariant::Indexes,
                position: None,
                expected: what(),
                found: fault.clone(),
            }),
        }
    }
}

#[derive(Default)]
pub(super) struct Tree {
    leaves: Vec<Digest>,
}

impl Tree {
    pub(super) fn root(&self) -> Digest {
        rfc6962::root(&self.leaves)
    }
}

impl Check for Tree {
    fn record(&mut self, record: &Record) -> Result<(), Violation> {
        self.leaves.push(rfc6962::leaf(record.header_bytes()));
        Ok(())
    }

    fn end(&mut self, log: &dyn Store, end: Position) -> Result<(), Violation> {
        for level in (0..tree::LEVELS).step_by(tree::STEP.into()) {
            let expected = rfc6962::level(&self.leaves, level);
            let mut found = Vec::new();
            // One too many is enough: a store that answers the same to every `first` has
            // no end.
            while found.len() <= expected.len() {
                let first = found.len() as u64;
                let what = || format!("the tree's hashes of level {level} from {first}");
                let more = must(what, log.tree_hashes(level, first, PAGE_LIMIT))?;
                if more.is_empty() {
                    break;
                }
                found.extend(more);
            }
            let mut pairs = expected.iter().zip(&found);
            let same = pairs.by_ref().take_while(|(one, other)| one == other);
            let same = same.count();
            if same < expected.len().max(found.len()) {
                let show = |hashes: &[Digest]| {
                    let hash = hashes.get(same);
                    hash.map_or("no hash".to_owned(), |hash| hash.to_string())
                };
                let at = (same as u64).checked_shl(level.into()).map(|n| n + 1);
                return Err(Violation {
                    invariant: Invariant::Tree,
                    position: at.map(Position),
                    expected: format!("{} at level {level}, number {same}", show(&expected)),
                    found: show(&found),
                });
            }
        }
        let root = must(|| "the tree's root".to_owned(), tree::root(log, end.0))?;
        let show = |root: Digest| format!("the root {root} of {end} records");
        differs(Invariant::Tree, show(self.root()), show(root))
    }
}

/// The blobs that records refer to: the first that does, and the size it says.
#[derive(Default)]
pub(super) struct Blobs {
    sizes: HashMap<Digest, (Position, u64)>,
    removed: u64,
}

impl Blobs {
    pub(super) fn referenced(&self) -> u64 {
        self.sizes.len() as u64
    }

    pub(super) fn removed_pieces(&self) -> u64 {
        self.removed
    }
}

fn references(record: &Record) -> impl Iterator<Item = (Digest, u64)> {
    let references = record.content().into_iter();
    let references = references.filter_map(|piece| piece.reference());
    references.map(|reference| (reference.digest, reference.size))
}

impl Check for Blobs {
    fn record(&mut self, record: &Record) -> Result<(), Violation> {
        let removed = |piece: &&Content| matches!(piece, Content::Removed { .. });
        self.removed += record.content().iter().filter(removed).count() as u64;
        let position = record.position();
        for (digest, size) in references(record) {
            let (first, said) = *self.sizes.entry(digest).or_insert((position, size));
            if said != size {
                return Err(Violation {
                    invariant: Invariant::Blobs,
                    position: Some(position),
                    expected: format!("{said} bytes for the blob {digest}, as at {first}"),
                    found: format!("{size}"),
                });
            }
        }
        Ok(())
    }

    fn end(&mut self, log: &dyn Store, _: Position) -> Result<(), Violation> {
        for (digest, (position, size)) in &self.sizes {
            let blob = must(|| format!("the blob {digest}"), log.blob(*digest))?;
            let wrong = |found: String| {
                Err(Violation {
                    invariant: Invariant::Blobs,
                    position: Some(*position),
                    expected: format!("{size} bytes with the digest {digest}"),
                    found,
                })
            };
            match blob {
                None => wrong("no such blob".to_owned())?,
                Some(bytes) if bytes.len() as u64 != *size => {
                    wrong(format!("{} bytes", bytes.len()))?;
                }
                Some(bytes) if Digest::of(&bytes) != *digest => {
                    wrong(format!("the digest {}", Digest::of(&bytes)))?;
                }
                Some(_) => {}
            }
        }
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct Stats {
    streams: HashSet<StreamName>,
    batches: HashSet<BatchId>,
    blobs: HashMap<Digest, u64>,
    unreferenced: u64,
}

impl Stats {
    pub(super) fn unreferenced_blobs(&self) -> u64 {
        self.unreferenced
    }
}

impl Check for Stats {
    fn record(&mut self, record: &Record) -> Result<(), Violation> {
        self.streams.insert(record.stream_name());
        self.batches.insert(record.batch_id());
        self.blobs.extend(references(record));
        Ok(())
    }

    fn end(&mut self, log: &dyn Store, end: Position) -> Result<(), Violation> {
        let stats = must(|| "the counts".to_owned(), log.stats())?;
        let show = |position: Position, streams: u64, batches: u64| {
            format!("position {position}, {streams} streams, {batches} batches")
        };
        let expected = show(end, self.streams.len() as u64, self.batches.len() as u64);
        let found = show(stats.position, stats.streams, stats.batches);
        differs(Invariant::Stats, expected, found)?;
        let (blobs, bytes) = (self.blobs.len() as u64, self.blobs.values().sum::<u64>());
        self.unreferenced = stats.blobs.saturating_sub(blobs);
        if stats.blobs >= blobs && stats.blob_bytes >= bytes {
            return Ok(());
        }
        differs(
            Invariant::Stats,
            format!("at least {blobs} blobs of {bytes} bytes"),
            format!("{} blobs of {} bytes", stats.blobs, stats.blob_bytes),
        )
    }
}
