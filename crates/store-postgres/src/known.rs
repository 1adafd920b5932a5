//! What a group of appends must know of the log before anything of it is decided: asked behind the lock of the
//! log's head, in the same round trip.

use std::collections::{HashMap, HashSet};

use annals_event_log::store_support::{BatchRow, referenced_blobs};
use annals_event_log::{BatchId, Digest, Prepared, Version};
use chrono::{DateTime, Utc};
use futures::try_join;
use tokio_postgres::Row;

use crate::batches;
use crate::durability::Durability;
use crate::failure::Failure;
use crate::head::{Head, unsigned};
use crate::migrate;
use crate::outcome::Failed;
use crate::queue::Work;
use crate::sessions::{Parameters, Session};
use crate::shared::Shared;

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
    shared: &Shared,
    session: &Session,
    asked: &Asked,
) -> Result<Known, Failed> {
    let (sql, log, seen) = (&shared.sql, shared.log, shared.watermark.get());
    let streams: Vec<&str> = asked.streams.iter().map(String::as_str).collect();
    let batches: Vec<BatchId> = asked.batches.iter().copied().collect();
    let blobs: Vec<&[u8]> = asked.blobs.iter().map(|digest| &digest.0[..]).collect();
    let (lock, known) = try_join!(
        session.prepare_cached(&sql.lock_head),
        session.prepare_cached(&sql.known),
    )?;
    let of_log: Parameters<'_> = &[&log, &shared.log_id];
    let of_asked: Parameters<'_> = &[&log, &batches, &streams, &blobs];
    let ((), head, rows, ()) = try_join!(
        async {
            Ok(session
                .batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED")
                .await?)
        },
        async { Ok::<_, Failed>(session.query_opt(&lock, of_log).await?) },
        async { Ok(session.query(&known, of_asked).await?) },
        demand_durable(shared, session),
    )?;
    let head = shared.demand_there(head)?;
    demand_version(&head)?;
    let head = Head::read(&head)?;
    shared.demand_onward(seen, head.position.0)?;
    Ok(read(shared, head, &rows)?)
}

/// Reads what the statement `known` gives.
fn read(shared: &Shared, head: Head, rows: &[Row]) -> Result<Known, Failure> {
    let mut now = None;
    let (mut versions, mut batches, mut blobs) =
        <(HashMap<_, _>, HashMap<_, _>, HashMap<_, _>)>::default();
    for row in rows {
        match row.try_get::<_, i32>(0)? {
            0 => {
                let (clock, is_end): (i64, i64) = (row.try_get(2)?, row.try_get(3)?);
                if is_end != 1 {
                    return Err(Failure::damaged(
                        "the records do not end where the head says",
                    ));
                }
                now = Some(time(clock)?);
            }
            1 => {
                let (batch, row) = batches::read(row, 1)?;
                batches.insert(batch, row);
            }
            2 => {
                versions.insert(row.try_get(6)?, Version(unsigned(row.try_get(2)?)?));
            }
            3 => {
                let size = unsigned(row.try_get(2)?)?;
                blobs.insert(batches::digest(row.try_get(5)?)?, size);
            }
            kind => return Err(Failure::damaged(format!("unknown kind of row: {kind}"))),
        }
    }
    Ok(Known {
        head,
        now: shared.demand_there(now)?,
        versions,
        batches,
        blobs,
    })
}

/// Demands, of who asks for it, that this server keeps what it acknowledges: it may be another one than the log was
/// opened at, and its settings can be changed while it runs.
async fn demand_durable(shared: &Shared, session: &Session) -> Result<(), Failed> {
    if !shared.settings.require_synchronous {
        return Ok(());
    }
    let risks = Durability::read(session).await?.risks();
    match risks.is_empty() {
        true => Ok(()),
        false => {
            let reasons = risks.join("; ");
            Err(Failure::NotDurable { reasons }.into())
        }
    }
}

/// Demands that the schema is the one that this program knows.
fn demand_version(head: &Row) -> Result<(), Failure> {
    let found: i64 = head.try_get(8)?;
    match found == migrate::KNOWN {
        true => Ok(()),
        false => Err(Failure::Migrated {
            found,
            known: migrate::KNOWN,
        }),
    }
}

fn time(microseconds: i64) -> Result<DateTime<Utc>, Failure> {
    let time = DateTime::from_timestamp_micros(microseconds);
    time.ok_or_else(|| Failure::damaged("the server's clock shows no time"))
}
