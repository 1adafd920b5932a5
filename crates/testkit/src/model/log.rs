//! The model of a log: a list of records and a few maps, searched from one end to
//! the other.

use std::collections::{BTreeMap, BTreeSet};

use annals_event_log::store_support::{PAGE_BYTES, PAGE_LIMIT};
use annals_event_log::{
    Append, Appended, BatchId, BatchStatus, Blob, Content, Digest, Direction, Epoch, Expected,
    PiecesOf, Position, Query, Redaction, Source, Stats, StreamHead, StreamName, Version,
};
use bytes::Bytes;
use chrono::{DateTime, Utc};

use super::form::flaws;
use super::record::ModelRecord;
use super::verdict::{Reason, Verdict};
use crate::rfc6962;

/// What is kept of a batch.
#[derive(Debug, Clone)]
pub(super) struct Batch {
    pub(super) appended: Appended,
    /// `None` where it is known for any request: copied, or redacted.
    request: Option<Bytes>,
    /// Whether it was copied, and may go on where it ends.
    pub(super) copied: bool,
}

/// One read model.
#[derive(Debug, Clone, Default)]
pub(super) struct Model {
    pub(super) checkpoint: Position,
    pub(super) rows: BTreeMap<Bytes, Bytes>,
}

/// What a log must be, said as plainly as possible.
#[derive(Debug, Clone, Default)]
pub struct ModelLog {
    pub(super) records: Vec<ModelRecord>,
    pub(super) batches: BTreeMap<BatchId, Batch>,
    pub(super) blobs: BTreeMap<Digest, Bytes>,
    pub(super) rows: BTreeMap<String, Model>,
    /// Moved by each redaction.
    pub(super) epoch: Epoch,
}

impl ModelLog {
    /// An empty log.
    pub fn new() -> ModelLog {
        ModelLog::default()
    }

    /// The records, by position.
    pub fn records(&self) -> &[ModelRecord] {
        &self.records
    }

    /// Up to where there are records.
    pub fn watermark(&self) -> Position {
        Position(self.records.len() as u64)
    }

    /// The version of a stream's last record.
    pub fn head(&self, stream: &StreamName) -> Version {
        let of_stream = |record: &&ModelRecord| record.event.stream == *stream;
        Version(self.records.iter().filter(of_stream).count() as u64)
    }

    /// What is right to answer to an append.
    pub fn judge(&self, append: &Append) -> Verdict<Appended> {
        let mut refuse = flaws(append);
        let pieces = append.events.iter().flat_map(|event| &event.content);
        let false_references = self.false_references(pieces, &append.blobs);
        let (by_itself, by_the_log): (Vec<Reason>, Vec<Reason>) =
            false_references.partition(|reason| {
                let digests = append.blobs.iter().map(Blob::digest);
                matches!(reason, Reason::BlobSize { digest, .. } if digests.clone().any(|it| it == *digest))
            });
        refuse.extend(by_itself);
        if let Some(batch) = self.batches.get(&append.batch) {
            let Appended { first, last, .. } = batch.appended;
            let id = append.batch;
            let refused = match &batch.request {
                Some(request) if *request == append.request => None,
                Some(_) => Some(Reason::IdempotencyMismatch { batch: id }),
                None => Some(Reason::RequestUnverifiable {
                    batch: id,
                    first,
                    last,
                }),
            };
            if let Some(reason) = refused {
                refuse.push(reason);
                return Verdict {
                    accept: None,
                    refuse,
                };
            }
            // The first answer, or what is wrong with the append itself.
            return Verdict {
                accept: Some(batch.appended.again()),
                refuse,
            };
        }
        refuse.extend(by_the_log);
        for expectation in &append.expectations {
            let actual = self.head(&expectation.stream);
            let holds = match expectation.expected {
                Expected::Any => true,
                Expected::NoStream => actual == Version::NONE,
                Expected::Exists => actual != Version::NONE,
                Expected::Exactly(version) => actual == version,
            };
            if !holds {
                refuse.push(Reason::Conflict {
                    stream: expectation.stream.clone(),
                    expected: expectation.expected,
                    actual,
                });
            }
        }
        let (first, count) = (self.watermark().next(), append.events.len() as u64);
        let last = Position((first.0 + count).saturating_sub(1));
        Verdict::new(Appended::new(first, last), refuse)
    }

    /// What pieces say wrongly of blobs, which come with them or are stored.
    fn false_references<'a>(
        &'a self,
        pieces: impl Iterator<Item = &'a Content> + 'a,
        supplied: &'a [Blob],
    ) -> impl Iterator<Item = Reason> + 'a {
        let there = |digest: Digest| {
            let supplied = supplied.iter().find(|blob| blob.digest() == digest);
            supplied.map(Blob::bytes).or(self.blobs.get(&digest))
        };
        pieces.filter_map(move |piece| {
            let (digest, said) = match piece {
                Content::Blob { digest, size, .. } => (*digest, *size),
                Content::Attachment { digest, size, .. } => (*digest, *size),
                Content::Inline { .. } | Content::Removed { .. } => return None,
            };
            let Some(bytes) = there(digest) else {
                return Some(Reason::UnknownBlob { digest });
            };
            let actual = bytes.len() as u64;
            (said != actual).then_some(Reason::BlobSize {
                digest,
                said,
                actual,
            })
        })
    }

    /// Takes an append in that was accepted, and was not a repeat. `recorded_at`
    /// says what the store says of the record at a position.
    pub fn take(&mut self, append: &Append, recorded_at: impl Fn(Position) -> DateTime<Utc>) {
        let first = self.watermark().next();
        for event in &append.events {
            let position = self.watermark().next();
            self.records.push(ModelRecord {
                position,
                version: self.head(&event.stream).next(),
                recorded_at: recorded_at(position),
                batch: append.batch,
                event: event.clone(),
            });
        }
        self.keep_blobs(&append.blobs);
        let batch = Batch {
            appended: Appended::new(first, self.watermark()),
            request: Some(append.request.clone()),
            copied: false,
        };
        self.batches.insert(append.batch, batch);
    }

    pub(super) fn keep_blobs(&mut self, blobs: &[Blob]) {
        let pairs = blobs
            .iter()
            .map(|blob| (blob.digest(), blob.bytes().clone()));
        self.blobs.extend(pairs);
    }

    /// What is right to answer to a copy of records with these blobs.
    pub fn judge_copy(&self, records: &[ModelRecord], blobs: &[Blob]) -> Verdict<Appended> {
        let mut after = self.clone();
        let mut refuse = Vec::new();
        for record in records {
            let known = after.batches.get(&record.batch);
            let goes_on = known
                .is_none_or(|known| known.copied && known.appended.last.next() == record.position);
            let last = after.records.last();
            let fits = record.position == after.watermark().next()
                && record.version == after.head(&record.event.stream).next()
                && last.is_none_or(|last| record.recorded_at >= last.recorded_at);
            if !fits || !goes_on {
                let offered = record.position;
                refuse.push(Reason::NotContiguous { offered });
            }
            after.copy_one(record);
        }
        let pieces = records.iter().flat_map(|record| &record.event.content);
        refuse.extend(self.false_references(pieces, blobs));
        let first = records.first().map_or(Position::START, |one| one.position);
        let last = records.last().map_or(Position::START, |one| one.position);
        if records.is_empty() {
            refuse.push(Reason::Invalid);
        }
        Verdict::new(Appended::new(first, last), refuse)
    }

    fn copy_one(&mut self, record: &ModelRecord) {
        let at = record.position;
        let batch = self.batches.entry(record.batch).or_insert(Batch {
            appended: Appended::new(at, at),
            request: None,
            copied: true,
        });
        batch.appended.last = at;
        self.records.push(record.clone());
    }

    /// Takes a copy in that was accepted.
    pub fn take_copy(&mut self, records: &[ModelRecord], blobs: &[Blob]) {
        records.iter().for_each(|record| self.copy_one(record));
        self.keep_blobs(blobs);
    }

    /// What is right to answer to a redaction whose `seen` is the beginning: the
    /// store looks for what refers to the blobs.
    pub fn judge_redaction(&self, redaction: &Redaction) -> Verdict<Appended> {
        let mut verdict = self.judge(&redaction.append);
        let positions = redaction.removed.iter().map(|from| from.position);
        if !positions.is_sorted_by(|one, next| one < next) {
            verdict.refuse.push(Reason::Invalid);
        }
        verdict.refuse.extend(self.named_by_itself(redaction));
        if self.batches.contains_key(&redaction.append.batch) {
            return verdict;
        }
        for PiecesOf { position, pieces } in &redaction.removed {
            let count = self
                .at(*position)
                .map_or(0, |record| record.event.content.len());
            let missing = pieces.iter().filter(|piece| usize::from(**piece) >= count);
            verdict.refuse.extend(missing.map(|piece| Reason::NoPiece {
                position: *position,
                piece: *piece,
            }));
        }
        for record in &self.records {
            let position = record.position;
            let goes = |number: u16| {
                let from = redaction.removed.iter();
                let mut from = from.filter(|from| from.position == position);
                from.any(|from| from.pieces.contains(&number))
            };
            for (number, piece) in (0..).zip(&record.event.content) {
                let named = piece
                    .blob()
                    .filter(|digest| redaction.blobs.contains(digest));
                if let Some(digest) = named.filter(|_| !goes(number)) {
                    verdict.refuse.push(Reason::StillNamed { digest, position });
                }
            }
        }
        if !verdict.refuse.is_empty() {
            verdict.accept = None;
        }
        verdict
    }

    /// The redaction's own events stay: they must not refer to what goes.
    fn named_by_itself(&self, redaction: &Redaction) -> Vec<Reason> {
        let mut reasons = Vec::new();
        for (position, event) in (self.watermark().next().0..).zip(&redaction.append.events) {
            let named = event.content.iter().filter_map(Content::blob);
            for digest in named.filter(|digest| redaction.blobs.contains(digest)) {
                let position = Position(position);
                reasons.push(Reason::StillNamed { digest, position });
                reasons.push(Reason::UnknownBlob { digest });
                reasons.push(Reason::Invalid);
            }
        }
        reasons
    }

    /// Takes a redaction in that was accepted, and was not a repeat.
    pub fn take_redaction(
        &mut self,
        redaction: &Redaction,
        recorded_at: impl Fn(Position) -> DateTime<Utc>,
    ) {
        for PiecesOf { position, pieces } in &redaction.removed {
            let index = usize::try_from(position.0).unwrap_or(0).saturating_sub(1);
            let Some(record) = self.records.get_mut(index) else {
                continue;
            };
            if let Some(batch) = self.batches.get_mut(&record.batch) {
                batch.request = None;
            }
            for piece in pieces {
                if let Some(piece) = record.event.content.get_mut(usize::from(*piece)) {
                    let salted = piece.salted_digest();
                    *piece = Content::Removed { salted };
                }
            }
        }
        self.take(&redaction.append, recorded_at);
        self.blobs
            .retain(|digest, _| !redaction.blobs.contains(digest));
        self.rows.clear();
        self.epoch = Epoch(self.watermark().0);
    }

    /// What is known of a batch id.
    pub fn batch(&self, batch: BatchId, asked: &[u8]) -> BatchStatus {
        match self.batches.get(&batch) {
            None => BatchStatus::Unknown,
            Some(Batch {
                request, appended, ..
            }) => match request {
                Some(first) if first == asked => BatchStatus::Known(appended.again()),
                Some(_) => BatchStatus::Mismatch(appended.again()),
                None => BatchStatus::Unverifiable(appended.again()),
            },
        }
    }

    /// The record at a position.
    pub fn at(&self, position: Position) -> Option<&ModelRecord> {
        let at = |record: &&ModelRecord| record.position == position;
        self.records.iter().find(at)
    }

    /// The records of a page, and whether there is another one behind it.
    pub fn page(&self, query: &Query) -> (Vec<&ModelRecord>, bool) {
        let place = |record: &ModelRecord| match query.source {
            Source::Stream(_) => record.version.0,
            Source::All | Source::EventType(_) => record.position.0,
        };
        let mut path: Vec<&ModelRecord> = self.records.iter().collect();
        path.retain(|record| match &query.source {
            Source::All => true,
            Source::Stream(stream) => record.event.stream == *stream,
            Source::EventType(event_type) => record.event.event_type == *event_type,
        });
        match query.direction {
            Direction::Forward => path.retain(|record| place(record) >= query.from),
            Direction::Backward => {
                path.retain(|record| place(record) <= query.from);
                path.reverse();
            }
        }
        let mut bytes = 0;
        let fits = |record: &&ModelRecord| {
            bytes += record.bytes().len();
            bytes <= PAGE_BYTES
        };
        let full = path.iter().copied().take_while(fits).count().max(1);
        let count = full.min(query.limit.clamp(1, PAGE_LIMIT));
        let more = path.len() > count;
        path.truncate(count);
        (path, more)
    }

    /// Streams by their names.
    pub fn streams(
        &self,
        prefix: &str,
        after: Option<&StreamName>,
        limit: usize,
    ) -> Vec<StreamHead> {
        let names: BTreeSet<&StreamName> = self
            .records
            .iter()
            .map(|record| &record.event.stream)
            .collect();
        names
            .into_iter()
            .filter(|name| name.as_str().starts_with(prefix))
            .filter(|name| after.is_none_or(|after| name.as_str() > after.as_str()))
            .take(limit.clamp(1, PAGE_LIMIT))
            .map(|name| StreamHead {
                name: name.clone(),
                version: self.head(name),
            })
            .collect()
    }

    fn leaves(&self) -> Vec<Digest> {
        let leaf = |record: &ModelRecord| rfc6962::leaf(&record.header());
        self.records.iter().map(leaf).collect()
    }

    /// Hashes of the tree, from number `first` of a level on.
    pub fn tree_hashes(&self, level: u8, first: u64, limit: usize) -> Vec<Digest> {
        let hashes = rfc6962::level(&self.leaves(), level);
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        let from = hashes.into_iter().skip(first);
        from.take(limit.clamp(1, PAGE_LIMIT)).collect()
    }

    /// The root of the tree over the first `size` records.
    pub fn root(&self, size: usize) -> Digest {
        rfc6962::root(self.leaves().get(..size).unwrap_or_default())
    }

    /// A blob's content.
    pub fn blob(&self, digest: Digest) -> Option<&Bytes> {
        self.blobs.get(&digest)
    }

    /// The counts; of bytes on disk the model knows nothing.
    pub fn stats(&self) -> Stats {
        let names: BTreeSet<&StreamName> = self
            .records
            .iter()
            .map(|record| &record.event.stream)
            .collect();
        Stats {
            position: self.watermark(),
            streams: names.len() as u64,
            batches: self.batches.len() as u64,
            blobs: self.blobs.len() as u64,
            blob_bytes: self.blobs.values().map(|bytes| bytes.len() as u64).sum(),
            bytes: 0,
        }
    }
}
