//! What the in-memory log holds, and how an append changes it.

use std::collections::{BTreeMap, HashMap, HashSet};

use bytes::Bytes;
use chrono::{DateTime, Utc};

use crate::store_support::{
    BatchRow, Chains, CopyCheck, RequestDigest, check_references, clamp_limit, random_salt,
};
use crate::tree::{Frontier, LEVELS, STEP, leaf};
use crate::{
    AppendError, Appended, BatchId, BatchStatus, Blob, Digest, EncodedEvent, Expectation, IdSecret,
    PiecesOf, Position, Prepared, Record, RedactError, Redaction, StreamName, Version, check_clock,
};

/// The records and the indexes over them. A position is an index plus one; the
/// watermark is the number of records, as nothing is ever staged here.
#[derive(Debug)]
pub(super) struct State {
    pub(super) records: Vec<Record>,
    /// The positions of each stream's records, by version.
    pub(super) streams: BTreeMap<StreamName, Vec<u64>>,
    /// The positions of each event type's records.
    pub(super) types: HashMap<String, Vec<u64>>,
    pub(super) batches: HashMap<BatchId, BatchRow>,
    pub(super) blobs: HashMap<Digest, Bytes>,
    pub(super) id_secret: IdSecret,
    chains: Chains,
    last_recorded_at: DateTime<Utc>,
    frontier: Frontier,
    /// The hashes of the tree's levels 0, 8, 16 and so on.
    hashes: Vec<Vec<Digest>>,
}

impl Default for State {
    fn default() -> State {
        State {
            records: Vec::new(),
            streams: BTreeMap::new(),
            types: HashMap::new(),
            batches: HashMap::new(),
            blobs: HashMap::new(),
            id_secret: IdSecret::random(),
            chains: Chains::default(),
            last_recorded_at: DateTime::<Utc>::MIN_UTC,
            frontier: Frontier::default(),
            hashes: vec![Vec::new(); usize::from(LEVELS / STEP)],
        }
    }
}

/// The heads of streams as they are after the records staged so far.
struct Heads<'a> {
    state: &'a State,
    staged: HashMap<StreamName, Version>,
}

impl Heads<'_> {
    fn get(&self, stream: &StreamName) -> Version {
        self.staged
            .get(stream)
            .copied()
            .unwrap_or_else(|| self.state.head(stream))
    }

    fn set(&mut self, stream: StreamName, version: Version) {
        self.staged.insert(stream, version);
    }
}

impl State {
    pub(super) fn watermark(&self) -> Position {
        Position(self.records.len() as u64)
    }

    pub(super) fn head(&self, stream: &StreamName) -> Version {
        Version(
            self.streams
                .get(stream)
                .map_or(0, |positions| positions.len() as u64),
        )
    }

    pub(super) fn batch(&self, batch: BatchId, request: &[u8]) -> BatchStatus {
        self.batches
            .get(&batch)
            .map_or(BatchStatus::Unknown, |row| row.status(request))
    }

    pub(super) fn tree_hashes(&self, level: u8, first: u64, limit: usize) -> Vec<Digest> {
        let of_level = self.hashes.get(usize::from(level / STEP));
        let hashes = of_level.filter(|_| level.is_multiple_of(STEP));
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        let from = hashes.and_then(|hashes| hashes.get(first..));
        let from = from.into_iter().flatten().copied();
        from.take(clamp_limit(limit)).collect()
    }

    pub(super) fn blob(&self, digest: Digest) -> Option<Bytes> {
        self.blobs.get(&digest).cloned()
    }

    fn blob_size(&self, digest: Digest) -> Option<u64> {
        self.blobs.get(&digest).map(|bytes| bytes.len() as u64)
    }

    /// Makes one append, or changes nothing.
    pub(super) fn append(&mut self, prepared: Prepared) -> Result<Appended, AppendError> {
        let Prepared {
            batch,
            request,
            events,
            expectations,
            blobs,
            required_blobs,
            link,
        } = prepared;
        if let Some(row) = self.batches.get(&batch) {
            return row.answer(batch, &request);
        }
        if let Some(link) = &link {
            self.chains.check(**link)?;
        }
        for reference in required_blobs {
            reference.check(self.blob_size(reference.digest))?;
        }
        self.check_expectations(expectations)?;
        let records = self.stamp_all(events, batch)?;
        let first = self.watermark().next();
        self.store(records, blobs);
        let appended = Appended::new(first, self.watermark());
        if let Some(link) = link {
            self.chains.advance(*link);
        }
        let request = Some(RequestDigest::new(random_salt(), &request));
        self.batches.insert(batch, BatchRow { appended, request });
        Ok(appended)
    }

    /// Removes pieces and blobs with one append, or changes nothing.
    pub(super) fn redact(
        &mut self,
        prepared: Prepared,
        removed: &[PiecesOf],
        blobs: Vec<Digest>,
    ) -> Result<Appended, RedactError> {
        // A repeat is answered; what it removed is gone.
        if self.batches.contains_key(&prepared.batch) {
            return Ok(self.append(prepared)?);
        }
        let blobs: HashSet<Digest> = blobs.into_iter().collect();
        let left = self.without(removed, &blobs)?;
        let appended = self.append(prepared)?;
        for record in left {
            if let Some(row) = self.batches.get_mut(&record.batch_id()) {
                row.request = None;
            }
            let index = usize::try_from(record.position().0).unwrap_or(usize::MAX) - 1;
            if let Some(place) = self.records.get_mut(index) {
                *place = record;
            }
        }
        self.blobs.retain(|digest, _| !blobs.contains(digest));
        self.id_secret = IdSecret::random();
        Ok(appended)
    }

    /// What is left of the records that lose pieces.
    fn without(
        &self,
        removed: &[PiecesOf],
        blobs: &HashSet<Digest>,
    ) -> Result<Vec<Record>, RedactError> {
        let of: HashMap<Position, &[u16]> = removed
            .iter()
            .map(|from| (from.position, from.pieces.as_slice()))
            .collect();
        let beyond = removed
            .iter()
            .find(|from| from.position == Position::START || from.position > self.watermark());
        if let Some(from) = beyond {
            return Err(RedactError::NoPiece {
                position: from.position,
                piece: from.pieces.first().copied().unwrap_or_default(),
            });
        }
        let mut left = Vec::new();
        for record in &self.records {
            let pieces = of.get(&record.position()).copied().unwrap_or_default();
            Redaction::check_record(record, pieces, blobs)?;
            if !pieces.is_empty() {
                left.push(record.without(pieces)?);
            }
        }
        Ok(left)
    }

    fn check_expectations(&self, expectations: Vec<Expectation>) -> Result<(), AppendError> {
        for Expectation { stream, expected } in expectations {
            let actual = self.head(&stream);
            if !expected.holds(actual) {
                return Err(AppendError::Conflict {
                    stream,
                    expected,
                    actual,
                });
            }
        }
        Ok(())
    }

    fn stamp_all(
        &self,
        events: Vec<EncodedEvent>,
        batch: BatchId,
    ) -> Result<Vec<Record>, AppendError> {
        // A clock that was set back must not turn the order of times around.
        let now = crate::now();
        check_clock(now, self.last_recorded_at)?;
        let recorded_at = now.max(self.last_recorded_at);
        let mut heads = Heads {
            state: self,
            staged: HashMap::new(),
        };
        let mut position = self.watermark();
        let mut records = Vec::with_capacity(events.len());
        for mut event in events {
            position = position.next();
            let version = heads.get(&event.stream).next();
            let bytes = Bytes::copy_from_slice(event.stamp(position, version, recorded_at));
            let record = Record::decode(bytes).map_err(crate::ReadError::from)?;
            let as_asked = record.position() == position
                && record.version() == version
                && record.recorded_at() == recorded_at
                && record.batch_id() == batch
                && record.stream() == event.stream.as_str()
                && record.event_type() == event.event_type
                && record.verify().is_ok();
            if !as_asked {
                let reason = format!("record {position} reads back differently: {record:?}");
                return Err(AppendError::Corrupt { reason });
            }
            heads.set(event.stream, version);
            records.push(record);
        }
        Ok(records)
    }

    /// Copies records verbatim, or changes nothing.
    pub(super) fn append_records(
        &mut self,
        records: Vec<Record>,
        blobs: Vec<Blob>,
    ) -> Result<Appended, AppendError> {
        let (Some(first), Some(last)) = (records.first(), records.last()) else {
            return Err(AppendError::Invalid {
                reason: "it has no records".into(),
            });
        };
        let appended = Appended::new(first.position(), last.position());
        let rows = self.check_copy(&records)?;
        check_references::<AppendError>(&records, &blobs, |digest| Ok(self.blob_size(digest)))?;
        self.store(records, blobs);
        self.batches.extend(rows);
        Ok(appended)
    }

    fn check_copy(&self, records: &[Record]) -> Result<HashMap<BatchId, BatchRow>, AppendError> {
        let mut check = CopyCheck::new(self.watermark(), self.last_recorded_at);
        let mut heads = Heads {
            state: self,
            staged: HashMap::new(),
        };
        let mut rows: HashMap<BatchId, BatchRow> = HashMap::new();
        for record in records {
            let stream = record.stream_name();
            check.record(record, heads.get(&stream))?;
            heads.set(stream, record.version());
            let id = record.batch_id();
            let known = rows.get(&id).or_else(|| self.batches.get(&id)).copied();
            rows.insert(id, BatchRow::copied(known, record)?);
        }
        Ok(rows)
    }

    /// The only place where the log grows. It cannot fail: its caller has
    /// checked everything.
    fn store(&mut self, records: Vec<Record>, blobs: Vec<Blob>) {
        for blob in blobs {
            self.blobs
                .entry(blob.digest())
                .or_insert_with(|| blob.bytes().clone());
        }
        for record in records {
            let position = record.position().0;
            self.streams
                .entry(record.stream_name())
                .or_default()
                .push(position);
            self.types
                .entry(record.event_type().to_owned())
                .or_default()
                .push(position);
            self.last_recorded_at = record.recorded_at();
            let hashes = &mut self.hashes;
            self.frontier.push(leaf(record.header_bytes()), |kept| {
                if let Some(level) = hashes.get_mut(usize::from(kept.level / STEP)) {
                    level.push(kept.hash);
                }
            });
            self.records.push(record);
        }
    }
}
