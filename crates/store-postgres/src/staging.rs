//! Appends put one behind the other on what is known of the log: what is refused, and what is written. Nothing here
//! talks to the server.

use std::collections::HashMap;

use annals_event_log::store_support::{
    BatchRow, Chains, CopyCheck, RequestDigest, check_references, place_of,
};
use annals_event_log::tree::{Headers, STEP};
use annals_event_log::{
    AppendError, Appended, BatchId, Blob, Expectation, Link, Position, Prepared, Record,
    StreamName, Version, check_clock,
};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::head::{Head, signed};
use crate::known::Known;
use crate::rows::{NewRecord, Rows};
use crate::uploads::Names;

/// A group while it is put together.
pub(crate) struct Staging<'a> {
    known: Known,
    /// When the group's records are taken.
    recorded_at: DateTime<Utc>,
    /// How far chains were before the group.
    chains: &'a Chains,
    /// What of the group's content is in the object store.
    objects: &'a Names,
    /// How far this group brings them.
    ends: HashMap<Uuid, u64>,
    links: Vec<Link>,
    rows: Rows,
    headers: Headers,
}

/// A group that is ready to be written.
pub(crate) struct Staged {
    pub(crate) head: Head,
    pub(crate) rows: Rows,
    /// The links of chains that were made, in their order.
    pub(crate) links: Vec<Link>,
}

impl<'a> Staging<'a> {
    /// A group on what is known.
    pub(crate) fn new(known: Known, chains: &'a Chains, objects: &'a Names) -> Staging<'a> {
        // A clock that was set back, or another server's after a fail-over, must not turn the order of times around.
        let recorded_at = known.now.max(known.head.recorded_at);
        Staging {
            known,
            recorded_at,
            chains,
            objects,
            ends: HashMap::new(),
            links: Vec::new(),
            rows: Rows::default(),
            headers: Headers::default(),
        }
    }

    /// The row of a batch, in the log or in this group.
    pub(crate) fn batch(&self, batch: BatchId) -> Option<&BatchRow> {
        self.rows
            .batches
            .get(&batch)
            .or_else(|| self.known.batches.get(&batch))
    }

    /// Puts one append behind the others, or changes nothing.
    pub(crate) fn append(
        &mut self,
        prepared: &mut Prepared,
        request: RequestDigest,
    ) -> Result<Appended, AppendError> {
        let batch = prepared.batch;
        let known = self.batch(batch).copied();
        // The salt is that of this very call: an earlier attempt of it was committed and not answered.
        let own = known.filter(|row| row.request == Some(request));
        if let (Some(row), None) = (known, own) {
            return row.answer(batch, &prepared.request);
        }
        // The server's clock.
        check_clock(self.known.now, self.known.head.recorded_at)?;
        if let Some(link) = prepared.link.as_deref() {
            self.check_link(*link)?;
        }
        let appended = match own {
            Some(row) => row.appended,
            None => self.add(prepared, request)?,
        };
        if let Some(link) = prepared.link.as_deref() {
            self.ends.insert(link.chain, link.number);
            self.links.push(*link);
        }
        Ok(appended)
    }

    fn check_link(&self, link: Link) -> Result<(), AppendError> {
        match self.ends.get(&link.chain) {
            None => self.chains.check(link),
            Some(end) if end.checked_add(1) == Some(link.number) => Ok(()),
            Some(_) => Err(AppendError::BrokenChain { link }),
        }
    }

    fn add(
        &mut self,
        prepared: &mut Prepared,
        request: RequestDigest,
    ) -> Result<Appended, AppendError> {
        for reference in &prepared.required_blobs {
            reference.check(self.known.blobs.get(&reference.digest).copied())?;
        }
        self.check_expectations(&prepared.expectations)?;
        let first = self.known.head.position.next();
        self.add_events(prepared)?;
        let appended = Appended::new(first, self.known.head.position);
        self.add_blobs(&prepared.blobs);
        let request = Some(request);
        self.rows
            .batches
            .insert(prepared.batch, BatchRow { appended, request });
        self.known.head.batches += 1;
        Ok(appended)
    }

    fn check_expectations(&self, expectations: &[Expectation]) -> Result<(), AppendError> {
        for Expectation { stream, expected } in expectations {
            let actual = self.version(stream);
            if !expected.holds(actual) {
                return Err(AppendError::Conflict {
                    stream: stream.clone(),
                    expected: *expected,
                    actual,
                });
            }
        }
        Ok(())
    }

    fn version(&self, stream: &StreamName) -> Version {
        let version = self.known.versions.get(stream.as_str());
        version.copied().unwrap_or(Version::NONE)
    }

    fn add_events(&mut self, prepared: &mut Prepared) -> Result<(), AppendError> {
        for event in &mut prepared.events {
            let position = self.known.head.position.next();
            let version = self.version(&event.stream).next();
            let bytes = Bytes::copy_from_slice(event.stamp(position, version, self.recorded_at));
            if place_of(&bytes) != Some((position, version)) {
                let reason = format!("record {position} reads back differently");
                return Err(AppendError::Corrupt { reason });
            }
            self.headers.push(header(&bytes));
            let record = NewRecord {
                position,
                stream: event.stream.clone(),
                version,
                event_type: event.event_type.clone().into_owned(),
                bytes,
            };
            self.add_record(record);
        }
        self.known.head.recorded_at = self.recorded_at;
        Ok(())
    }

    fn add_record(&mut self, record: NewRecord) {
        let NewRecord {
            position,
            stream,
            version,
            ..
        } = &record;
        if *version == Version::NONE.next() {
            self.known.head.streams += 1;
        }
        self.known.head.position = *position;
        self.known
            .versions
            .insert(stream.as_str().to_owned(), *version);
        self.rows.versions.insert(stream.clone(), *version);
        self.rows.records.push(record);
    }

    fn add_blobs(&mut self, blobs: &[Blob]) {
        for blob in blobs {
            let (digest, size) = (blob.digest(), blob.bytes().len() as u64);
            if self.known.blobs.contains_key(&digest) {
                continue;
            }
            self.known.blobs.insert(digest, size);
            self.known.head.blobs += 1;
            self.known.head.blob_bytes += signed(size);
            // What the log had when content was uploaded, and was removed since, is kept in the database.
            let object = self.objects.get(&digest).cloned();
            self.rows.blobs.push((blob.clone(), object));
        }
    }

    /// Puts copied records behind the others, or changes nothing.
    pub(crate) fn copy(
        &mut self,
        records: &[Record],
        blobs: &[Blob],
    ) -> Result<Appended, AppendError> {
        let (Some(first), Some(last)) = (records.first(), records.last()) else {
            return Err(AppendError::Invalid {
                reason: "it has no records".into(),
            });
        };
        let batches = self.check_copy(records)?;
        check_references::<AppendError>(records, blobs, |digest| {
            Ok(self.known.blobs.get(&digest).copied())
        })?;
        for record in records {
            self.headers.push(record.header_bytes());
            self.add_record(NewRecord {
                position: record.position(),
                stream: record.stream_name(),
                version: record.version(),
                event_type: record.event_type().to_owned(),
                bytes: record.as_bytes().clone(),
            });
        }
        // What comes behind a copy from a clock that is ahead waits for it.
        self.known.head.recorded_at = last.recorded_at();
        self.recorded_at = self.recorded_at.max(last.recorded_at());
        self.add_blobs(blobs);
        let new = batches.keys().filter(|batch| self.batch(**batch).is_none());
        let new = new.count() as u64;
        self.known.head.batches += signed(new);
        self.rows.batches.extend(batches);
        Ok(Appended::new(first.position(), last.position()))
    }

    fn check_copy(&self, records: &[Record]) -> Result<HashMap<BatchId, BatchRow>, AppendError> {
        let mut check = CopyCheck::new(self.known.head.position, self.known.head.recorded_at);
        let mut versions: HashMap<StreamName, Version> = HashMap::new();
        let mut rows: HashMap<BatchId, BatchRow> = HashMap::new();
        for record in records {
            let stream = record.stream_name();
            let version = versions.get(&stream).copied();
            check.record(record, version.unwrap_or_else(|| self.version(&stream)))?;
            versions.insert(stream, record.version());
            let id = record.batch_id();
            let known = rows.get(&id).or_else(|| self.batch(id)).copied();
            rows.insert(id, BatchRow::copied(known, record)?);
        }
        Ok(rows)
    }

    /// Where the log ends with what is staged.
    pub(crate) fn position(&self) -> Position {
        self.known.head.position
    }

    /// Ends the group.
    pub(crate) fn finish(mut self) -> Staged {
        self.rows.leaves = self.headers.leaves();
        let (rows, frontier) = (&mut self.rows, &mut self.known.head.frontier);
        let hashes = &mut rows.hashes;
        frontier.extend(&rows.leaves, |kept| {
            // The leaves are with their records.
            if kept.level >= STEP {
                hashes.push(kept);
            }
        });
        Staged {
            head: self.known.head,
            rows: self.rows,
            links: self.links,
        }
    }
}

/// The header of an encoded record: what its leaf in the tree is made of.
fn header(record: &[u8]) -> &[u8] {
    let (length, rest) = record.split_first_chunk::<2>().unwrap_or((&[0; 2], &[]));
    rest.get(..usize::from(u16::from_be_bytes(*length)))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_whose_clock_cannot_be_right_takes_no_append() {
        let known = Known {
            head: Head::empty(),
            now: "2300-01-01T00:00:00Z".parse().unwrap_or_default(),
            versions: HashMap::new(),
            batches: HashMap::new(),
            blobs: HashMap::new(),
        };
        let (chains, names) = (Chains::default(), Names::new());
        let mut staging = Staging::new(known, &chains, &names);
        let mut prepared = Prepared {
            batch: Uuid::nil(),
            request: Bytes::new(),
            events: Vec::new(),
            expectations: Vec::new(),
            blobs: Vec::new(),
            required_blobs: Vec::new(),
            link: None,
        };
        let request = RequestDigest::new([0; 16], b"");
        let answer = staging.append(&mut prepared, request);
        assert!(
            matches!(answer, Err(AppendError::Clock { .. })),
            "{answer:?}"
        );
    }
}
