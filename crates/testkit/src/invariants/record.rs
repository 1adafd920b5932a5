//! Checks that go from record to record: density, times, digests, batches.

use std::collections::{HashMap, HashSet};

use annals_event_log::{BatchId, BatchStatus, Position, Query, Record, Store, StreamName, Version};
use chrono::{DateTime, Utc};

use super::read::must;
use super::violation::{Check, Invariant, Violation};

/// Versions in each stream; that positions are dense is seen while reading.
#[derive(Default)]
pub(super) struct Dense {
    heads: HashMap<StreamName, Version>,
}

impl Check for Dense {
    fn record(&mut self, record: &Record) -> Result<(), Violation> {
        let head = self.heads.entry(record.stream_name()).or_default();
        if record.version() != head.next() {
            return Err(Violation {
                invariant: Invariant::DenseVersions,
                position: Some(record.position()),
                expected: format!("version {} of {}", head.next(), record.stream()),
                found: format!("version {}", record.version()),
            });
        }
        *head = record.version();
        Ok(())
    }

    fn end(&mut self, log: &dyn Store, end: Position) -> Result<(), Violation> {
        let what = || "the page behind the last record".to_owned();
        let behind = must(what, log.read(Query::all(end.next()).limit(1)))?;
        match behind.records.first() {
            Some(record) if log.watermark() <= end => Err(Violation {
                invariant: Invariant::DensePositions,
                position: Some(record.position()),
                expected: format!("nothing, as the watermark is {end}"),
                found: format!("{record:?}"),
            }),
            _ => Ok(()),
        }
    }
}

#[derive(Default)]
pub(super) struct Times {
    last: Option<DateTime<Utc>>,
}

impl Check for Times {
    fn record(&mut self, record: &Record) -> Result<(), Violation> {
        let before = self.last.replace(record.recorded_at());
        match before {
            Some(before) if record.recorded_at() < before => Err(Violation {
                invariant: Invariant::Times,
                position: Some(record.position()),
                expected: format!("recorded at {before:?} or later"),
                found: format!("{:?}", record.recorded_at()),
            }),
            _ => Ok(()),
        }
    }

    fn end(&mut self, _: &dyn Store, _: Position) -> Result<(), Violation> {
        Ok(())
    }
}

pub(super) struct Digests;

impl Check for Digests {
    fn record(&mut self, record: &Record) -> Result<(), Violation> {
        record.verify().map_err(|actual| Violation {
            invariant: Invariant::Digests,
            position: Some(record.position()),
            expected: format!("{:?}", record.digests()),
            found: format!("{actual:?}"),
        })
    }

    fn end(&mut self, _: &dyn Store, _: Position) -> Result<(), Violation> {
        Ok(())
    }
}

#[derive(Default)]
pub(super) struct Batches {
    /// Each batch with its first and last position, in their order.
    list: Vec<(BatchId, Position, Position)>,
    seen: HashSet<BatchId>,
}

impl Batches {
    pub(super) fn count(&self) -> u64 {
        self.list.len() as u64
    }
}

impl Check for Batches {
    fn record(&mut self, record: &Record) -> Result<(), Violation> {
        let (batch, position) = (record.batch_id(), record.position());
        match self.list.last_mut() {
            Some((current, _, last)) if *current == batch => *last = position,
            _ if self.seen.insert(batch) => self.list.push((batch, position, position)),
            _ => {
                return Err(Violation {
                    invariant: Invariant::Batches,
                    position: Some(position),
                    expected: format!("the records of batch {batch} one after the other"),
                    found: "another one of it, behind records of other batches".to_owned(),
                });
            }
        }
        Ok(())
    }

    fn end(&mut self, log: &dyn Store, _: Position) -> Result<(), Violation> {
        for (batch, first, last) in &self.list {
            let what = || format!("the status of batch {batch}");
            let status = must(what, log.batch(*batch, b""))?;
            let holds = match status {
                BatchStatus::Known(known)
                | BatchStatus::Mismatch(known)
                | BatchStatus::Unverifiable(known) => (known.first, known.last) == (*first, *last),
                BatchStatus::Unknown => false,
            };
            if !holds {
                return Err(Violation {
                    invariant: Invariant::Batches,
                    position: Some(*first),
                    expected: format!("batch {batch} known, from {first} to {last}"),
                    found: format!("{status:?}"),
                });
            }
        }
        Ok(())
    }
}
