//! What a group of appends must know of the log before anything of it is decided: asked behind the lock of the
//! log's head, in the same round trip.

use std::collections::{HashMap, HashSet};

use annals_event_log::store_support::{BatchRow, referenced_blobs};
use annals_event_log::{BatchId, Digest, Prepared, Version};
use chrono::{DateTime, Utc};
use futures::try_join;

use crate::batches;
use crate::failure::Failure;
use crate::head::{Head, unsigned};
use crate::outcome::Failed;
use crate::queue::Work;
use crate::sessions::{Parameters, Session};
use crate::statements::Statements;

/// What appends ask of a log.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    streams: HashSet<String>,
    batches: HashSet<BatchId>,
    blobs: HashSet<Digest>,
}

impl Asked {
    /// What one append asks.
    pub(crate) fn of(prepared: &Prepared) -> Asked {
        let mut asked = Asked::default();
        asked.add_append(prepared);
        asked
    }

    /// Adds what some work asks.
    pub(crate) fn add(&mut self, work: &Work) {
        match work {
            Work::Append { prepared, .. } => self.add_append(prepared),
            Work::Copy { records, blobs } => {
                self.batches
                    .extend(records.iter().map(|record| record.batch_id()));
                self.streams
                    .extend(records.iter().map(|record| record.stream().to_owned()));
                self.blobs.extend(blobs.iter().map(|blob| blob.digest()));
                self.blobs.extend(referenced_blobs(records));
            }
        }
    }

    fn add_append(&mut self, prepared: &Prepared) {
        self.batches.insert(prepared.batch);
        let written = prepared.events.iter().map(|event| &event.stream);
        let guarded = prepared.expectations.iter().map(|it| &it.stream);
        for stream in written.chain(guarded).map(|stream| stream.as_str()) {
            if !self.streams.contains(stream) {
                self.streams.insert(stream.to_owned());
            }
        }
        self.blobs
            .extend(prepared.blobs.iter().map(|blob| blob.digest()));
        self.blobs
            .extend(prepared.required_blobs.iter().map(|it| it.digest));
    }
}

/// What a log answers, as it is while its head is locked.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) head: Head,
    /// The server's clock.
    pub(crate) now: DateTime<Utc>,
    pub(crate) versions: HashMap<String, Version>,
    pub(crate) batches: HashMap<BatchId, BatchRow>,
    pub(crate) blobs: HashMap<Digest, u64>,
}

/// Begins a transaction, locks the log's head and asks, in one round trip: the server runs one statement
/// after the other, each on what is committed when it begins, which is after the lock was given.
pub(crate) async fn begin(
    session: &Session,
    sql: &Statements,
    log: i64,
    asked: &Asked,
) -> Result<Known, Failed> {
    let streams: Vec<&str> = asked.streams.iter().map(String::as_str).collect();
    let batches: Vec<BatchId> = asked.batches.iter().copied().collect();
    let blobs: Vec<&[u8]> = asked.blobs.iter().map(|digest| &digest.0[..]).collect();
    let (lock, clock, versions, rows, sizes) = try_join!(
        session.prepare_cached(&sql.lock_head),
        session.prepare_cached(&sql.clock),
        session.prepare_cached(&sql.versions),
        session.prepare_cached(&sql.batches),
        session.prepare_cached(&sql.blob_sizes),
    )?;
    let of_log: Parameters<'_> = &[&log];
    let of_streams: Parameters<'_> = &[&log, &streams];
    let of_batches: Parameters<'_> = &[&log, &batches];
    let of_blobs: Parameters<'_> = &[&log, &blobs];
    let ((), head, now, versions, rows, sizes) = try_join!(
        session.batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED"),
        session.query_opt(&lock, of_log),
        session.query_one(&clock, &[]),
        session.query(&versions, of_streams),
        session.query(&rows, of_batches),
        session.query(&sizes, of_blobs),
    )?;
    let head = head.ok_or_else(|| Failure::NoSchema {
        detail: "the row of the log's head is gone".to_owned(),
    })?;
    let mut known = Known {
        head: Head::read(&head)?,
        now: time(now.try_get(0)?)?,
        versions: HashMap::with_capacity(versions.len()),
        batches: HashMap::with_capacity(rows.len()),
        blobs: HashMap::with_capacity(sizes.len()),
    };
    for row in &versions {
        let version = Version(unsigned(row.try_get(1)?)?);
        known.versions.insert(row.try_get(0)?, version);
    }
    for row in &rows {
        let (batch, row) = batches::read(row)?;
        known.batches.insert(batch, row);
    }
    for row in &sizes {
        let size = unsigned(row.try_get(1)?)?;
        known.blobs.insert(batches::digest(row.try_get(0)?)?, size);
    }
    Ok(known)
}

fn time(microseconds: i64) -> Result<DateTime<Utc>, Failure> {
    let time = DateTime::from_timestamp_micros(microseconds);
    time.ok_or_else(|| Failure::damaged("the server's clock shows no time"))
}
