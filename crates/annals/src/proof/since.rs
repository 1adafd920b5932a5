//! Checking what is new since a checkpoint, and that nothing older has changed.

use std::collections::{HashMap, HashSet};

use annals_event_log::{
    Content, Digest, Position, Query, ReadError, Record, Store, StreamName, UnnamedRemovals,
    Version, record_at, tree,
};
use chrono::{DateTime, Utc};

use super::{ProofError, ProofMismatch, TreeHead};
use crate::{Proofs, named_removals};

/// Findings that a report holds; the rest are only counted.
const MOST_FINDINGS: usize = 100;
/// Blobs that are remembered as checked; one that is named again much later is
/// checked again.
const REMEMBERED_BLOBS: usize = 100_000;
/// Records read at once.
const PAGE: usize = 1_000;

/// What was found in the records after a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinceReport {
    /// The checkpoint, of which the log still is.
    pub from: TreeHead,
    /// The log as it is now.
    pub to: TreeHead,
    /// Records that were read.
    pub records: u64,
    /// What is wrong: the first hundred findings.
    pub findings: Vec<Finding>,
    /// How many findings there are in all.
    pub total_findings: u64,
}

impl SinceReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.total_findings == 0
    }

    /// Adds what the store itself finds.
    fn add_tables(&mut self, wrong: impl IntoIterator<Item = String>) {
        for reason in wrong {
            self.total_findings += 1;
            if self.findings.len() < MOST_FINDINGS {
                let (position, fault) = (None, Fault::Tables { reason });
                self.findings.push(Finding { position, fault });
            }
        }
    }
}

/// Something that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The record; `None` for the log as a whole.
    pub position: Option<Position>,
    /// What is wrong.
    pub fault: Fault,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.position {
            Some(position) => write!(f, "at position {position}: {}", self.fault),
            None => write!(f, "{}", self.fault),
        }
    }
}

/// Ways in which what is new can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Positions are missing or occur twice.
    #[error("position {expected} was expected here")]
    Gap {
        /// The position that should come next.
        expected: Position,
    },
    /// A stream's versions are not dense.
    #[error("its version in {stream} is {found}, {expected} was expected")]
    Version {
        /// The stream.
        stream: StreamName,
        /// The version that should come next.
        expected: Version,
        /// What the record says.
        found: Version,
    },
    /// Times run backward.
    #[error("it was recorded before the record before it")]
    RecordedAt,
    /// A record's structure or content is not what its header says.
    #[error("its payload is not what its header says")]
    Digest,
    /// A blob is missing or was altered.
    #[error("the blob {digest} is missing, or is not what its digest says")]
    Blob {
        /// The blob.
        digest: Digest,
    },
    /// Content was removed, and no event names it as removed.
    #[error("content was removed (pieces {}), and no redaction of the log names it", numbers(.pieces))]
    Removed {
        /// The record's removed pieces.
        pieces: Vec<u16>,
    },
    /// The stored hash of a record is not that of its header.
    #[error("the stored hash is not that of its header")]
    Leaf,
    /// What the store keeps beside the records does not fit them.
    #[error("{reason}")]
    Tables {
        /// What does not fit.
        reason: String,
    },
    /// The tree's other hashes are not those of the records.
    #[error("the stored hashes come to the root {stored}, the records to {found}")]
    Root {
        /// What the stored hashes come to.
        stored: Digest,
        /// What the records come to.
        found: Digest,
    },
}

impl Proofs<'_> {
    /// Reads what is new since a checkpoint and checks it: positions and versions are
    /// dense, digests fit, blobs are there, a redaction names what was removed, the stored hashes are those of the
    /// headers. The log of the checkpoint must be the beginning of this one; what it
    /// covers is not read again. Of a log in a folder that no process writes, the records behind its
    /// watermark are checked, too. `progress` is called with how far it has come.
    ///
    /// # Errors
    /// [`ProofError::ProofMismatch`] if the checkpoint does not fit the log. What is wrong
    /// with the new records is a finding of the report, not an error.
    pub async fn check_since(
        self,
        checkpoint: &TreeHead,
        progress: impl FnMut(Position),
    ) -> Result<SinceReport, ProofError> {
        self.check(checkpoint).await?;
        let to = self.head(None).await?;
        // Also proven as any other verifier would demand it.
        self.consistency(checkpoint, &to).await?;
        let mut report = self.check_between(checkpoint.clone(), to, progress).await?;
        report.add_tables(self.damage_behind()?);
        Ok(report)
    }

    /// Reads the whole log and checks it, in the same way: the records, their content, and the stored hashes, and what
    /// the store itself compares with them ([`EventLog::check_tables`](annals_event_log::EventLog::check_tables)).
    ///
    /// # Errors
    /// [`ProofError`]. What is wrong with the records is a finding of the report, not an error.
    pub async fn check_whole(
        self,
        progress: impl FnMut(Position),
    ) -> Result<SinceReport, ProofError> {
        let (from, to) = (self.head(Some(0)).await?, self.head(None).await?);
        let mut report = self.check_between(from, to, progress).await?;
        report.add_tables(self.annals.log.check_tables().await?);
        Ok(report)
    }

    async fn check_between(
        self,
        from: TreeHead,
        to: TreeHead,
        mut progress: impl FnMut(Position),
    ) -> Result<SinceReport, ProofError> {
        let log = self.annals.log.as_ref();
        let mut check = Check::start(log, &from, &to).await?;
        let mut next = Some(check.expected.0).filter(|from| *from <= to.size);
        while let Some(from) = next {
            let page = log.read(Query::all(Position(from)).limit(PAGE)).await?;
            let records = page.records.iter();
            let records: Vec<&Record> = records
                .take_while(|record| record.position().0 <= to.size)
                .collect();
            check.page(Position(from), &records).await?;
            progress(Position(from));
            next = page.next.filter(|next| *next <= to.size);
        }
        self.strike_out_later(&mut check.removals, to.size).await?;
        Ok(check.end(from, to))
    }

    /// Returns the damage of the records behind the watermark, of a log in a folder that no process writes.
    pub(super) fn damage_behind(self) -> Result<Option<String>, ReadError> {
        let behind = self.annals.rocks().map(|rocks| rocks.behind());
        let damage = behind.transpose()?.flatten().and_then(|(_, it)| it);
        Ok(damage.map(|it| it.to_string()))
    }

    /// Strikes out what is named by redactions behind a position: they were made meanwhile, or are behind the watermark.
    async fn strike_out_later(
        self,
        removals: &mut UnnamedRemovals,
        after: u64,
    ) -> Result<(), ReadError> {
        if let Some(rocks) = self.annals.rocks().filter(|_| !removals.is_empty()) {
            let mut each = |record: &Record| removals.strike_out(&named_removals(record));
            return rocks.each_behind(Position(after), &mut each);
        }
        let mut next = Some(after + 1);
        while let Some(from) = next.filter(|_| !removals.is_empty()) {
            let page = self.annals.log.read(Query::all(Position(from))).await?;
            for record in &page.records {
                removals.strike_out(&named_removals(record));
            }
            next = page.next;
        }
        Ok(())
    }
}

fn numbers(pieces: &[u16]) -> String {
    let numbers: Vec<String> = pieces.iter().map(u16::to_string).collect();
    numbers.join(", ")
}

/// A check under way.
pub(super) struct Check<'a> {
    log: &'a dyn Store,
    after: Position,
    expected: Position,
    frontier: tree::Frontier,
    recorded_at: Option<DateTime<Utc>>,
    versions: HashMap<StreamName, Version>,
    blobs: HashSet<Digest>,
    removals: UnnamedRemovals,
    records: u64,
    findings: Vec<Finding>,
    total_findings: u64,
}

impl<'a> Check<'a> {
    pub(super) async fn start(
        log: &'a dyn Store,
        checkpoint: &TreeHead,
        to: &TreeHead,
    ) -> Result<Check<'a>, ProofError> {
        let frontier = tree::frontier(log, checkpoint.size).await?;
        if frontier.root() != checkpoint.root {
            return Err(ProofError::ProofMismatch(ProofMismatch::Root {
                size: checkpoint.size,
                expected: checkpoint.root,
                found: frontier.root(),
            }));
        }
        let after = Position(checkpoint.size);
        let mut recorded_at = None;
        if after > Position::START && checkpoint.size < to.size {
            let last = record_at(log, after).await?;
            recorded_at = last.as_ref().map(Record::recorded_at);
        }
        Ok(Check {
            log,
            after,
            expected: after.next(),
            frontier,
            recorded_at,
            versions: HashMap::new(),
            blobs: HashSet::new(),
            removals: UnnamedRemovals::default(),
            records: 0,
            findings: Vec::new(),
            total_findings: 0,
        })
    }

    fn find(&mut self, position: Option<Position>, fault: Fault) {
        self.total_findings += 1;
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(Finding { position, fault });
        }
    }

    pub(super) async fn page(
        &mut self,
        from: Position,
        records: &[&Record],
    ) -> Result<(), ReadError> {
        let first = from.0.saturating_sub(1);
        let stored = self.log.tree_hashes(0, first, records.len()).await?;
        for (record, stored) in records
            .iter()
            .zip(stored.iter().map(Some).chain(std::iter::repeat(None)))
        {
            let position = record.position();
            if position != self.expected {
                let expected = self.expected;
                self.find(Some(position), Fault::Gap { expected });
            }
            self.expected = position.next();
            // What the header of an altered payload was may not be known any more; that it was altered is a
            // finding by itself.
            let leaf = match stored.filter(|_| !record.has_header()) {
                Some(stored) => *stored,
                None => tree::leaf(record.header_bytes()),
            };
            if stored != Some(&leaf) {
                self.find(Some(position), Fault::Leaf);
            }
            self.frontier.push(leaf, |_| {});
            self.records += 1;
            self.record(record).await?;
        }
        Ok(())
    }

    async fn record(&mut self, record: &Record) -> Result<(), ReadError> {
        let position = Some(record.position());
        if record.verify().is_err() {
            self.find(position, Fault::Digest);
        }
        let recorded_at = Some(record.recorded_at());
        if recorded_at < self.recorded_at {
            self.find(position, Fault::RecordedAt);
        }
        self.recorded_at = recorded_at;
        self.version(record).await?;
        self.removals.record(record, named_removals);
        for (number, piece) in record.content().into_iter().enumerate() {
            if let Content::Blob { digest, size, .. } | Content::Attachment { digest, size, .. } =
                piece
            {
                self.blob(record.position(), number, digest, size).await?;
            }
        }
        Ok(())
    }

    /// The version must be the next one of the stream: of what is new, or of what
    /// the checkpoint covers.
    async fn version(&mut self, record: &Record) -> Result<(), ReadError> {
        let (stream, found) = (record.stream_name(), record.version());
        let before = match self.versions.get(&stream) {
            Some(version) => *version,
            None => self.version_before(&stream, found).await?,
        };
        let expected = before.next();
        if found != expected {
            let fault = Fault::Version {
                stream: stream.clone(),
                expected,
                found,
            };
            self.find(Some(record.position()), fault);
        }
        self.versions.insert(stream, found);
        Ok(())
    }

    /// The version of a stream's last record that the checkpoint covers, seen from a
    /// record with this version.
    async fn version_before(
        &self,
        stream: &StreamName,
        found: Version,
    ) -> Result<Version, ReadError> {
        if self.after == Position::START {
            return Ok(Version::NONE);
        }
        let query = Query::stream(stream.clone(), found).backward().limit(2);
        let mut next = Some(query.from);
        while let Some(from) = next {
            let page = self.log.read(query.clone().starting_at(from));
            let page = page.await?;
            let covered = |record: &&Record| record.position() <= self.after;
            if let Some(record) = page.records.iter().find(covered) {
                return Ok(record.version());
            }
            next = page.next;
        }
        Ok(Version::NONE)
    }

    /// Checks the blob that a piece of a record refers to.
    async fn blob(
        &mut self,
        position: Position,
        number: usize,
        digest: Digest,
        size: u64,
    ) -> Result<(), ReadError> {
        if self.blobs.contains(&digest) {
            return Ok(());
        }
        let is_sound = match self.log.blob(digest).await {
            Ok(Some(blob)) => blob.len() as u64 == size && Digest::of(&blob) == digest,
            // A store says so of a blob that was altered: of this one, not of the log.
            Ok(None) | Err(ReadError::Corrupt { .. }) => false,
            Err(error) => return Err(error),
        };
        if is_sound {
            if self.blobs.len() < REMEMBERED_BLOBS {
                self.blobs.insert(digest);
            }
        } else if !self.is_removed(position, number).await? {
            self.find(Some(position), Fault::Blob { digest });
        }
        Ok(())
    }

    /// Whether a piece is gone by now: a redaction may have removed it, and its blob with
    /// it, after the record was read.
    async fn is_removed(&self, position: Position, number: usize) -> Result<bool, ReadError> {
        let record = record_at(self.log, position).await?;
        let record = record.filter(|record| record.position() == position);
        let content = record.as_ref().map(Record::content).unwrap_or_default();
        Ok(matches!(content.get(number), Some(Content::Removed { .. })))
    }

    pub(super) fn end(mut self, from: TreeHead, to: TreeHead) -> SinceReport {
        if self.expected.0 != to.size.saturating_add(1) {
            let expected = self.expected;
            self.find(Some(Position(to.size)), Fault::Gap { expected });
        }
        for of in std::mem::take(&mut self.removals).into_records() {
            let pieces = of.pieces;
            self.find(Some(of.position), Fault::Removed { pieces });
        }
        let found = self.frontier.root();
        if found != to.root {
            let stored = to.root;
            self.find(None, Fault::Root { stored, found });
        }
        SinceReport {
            from,
            to,
            records: self.records,
            findings: self.findings,
            total_findings: self.total_findings,
        }
    }
}
