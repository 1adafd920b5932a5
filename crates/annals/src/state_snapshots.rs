//! Folding an aggregate's state, from a snapshot of it where its stream is long.
//!
//! ```text
//! events   1 ...... 900 │ 901 ... 1,500
//!          in the snapshot   folded now; where they outgrow the state, a new snapshot is kept
//! ```
//!
//! Snapshots are rows of the read model [`MODEL`], whose name has the version of their layout: rows of another
//! layout are another model. They save time, and are never trusted over the log: one
//! that was made by another version of the folds, that does not fit the record at its version, or that is not
//! what was written is not taken; a redaction drops all of them; [`Index::verify_states`] folds each state again
//! from the log and compares.

use std::ops::ControlFlow;

use annals_domain::{AnyEvent, AnyState, Loaded, STATES_VERSION, StreamRef};
use annals_event_log::tree::leaf;
use annals_event_log::{
    CommitError, Digest, ModelCheckpoint, Position, Query, ReadError, Record, Store, Version,
};
use annals_projections::origin_of;
use annals_wire::{decode_row, encode_row, stream_name};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::stream_events::each_event;
use crate::{Index, LoadError};

/// The read model: for each long stream, by its name, the state of its aggregate. The number is the version of
/// [`Snapshot`] as it is stored: another layout is another model, and this one's name goes to [`OLDER`].
const MODEL: &str = "states.2";
/// Models of older layouts. Nothing reads them; they are dropped by the first snapshot of this layout.
const OLDER: [&str; 1] = ["states"];
/// Events of a stream that are folded without a look at snapshots, and that a snapshot saves at least.
const LONG: usize = 256;
/// How many times as large as the snapshot the records must be that it saves reading.
const OUTGROWS: usize = 4;
/// Bytes of a row: of a state that is larger there is no snapshot.
const LARGEST: usize = 512 * 1024;
/// Rows that are verified at a time.
const ROWS: usize = 8;
/// Findings that a report holds; the rest are only counted.
const MAX_FINDINGS: usize = 100;

/// A state as it is kept.
#[derive(Serialize, Deserialize)]
struct Snapshot {
    /// The version of the folds that made it.
    folds: u16,
    /// The version of the last event in the state.
    version: u64,
    /// The leaf of that event's record in the log's tree: whether this is of this history.
    record: [u8; 32],
    /// Whether all of this is what was written.
    check: [u8; 8],
    /// The state as JSON, whose form the types of events share with commands and views.
    state: String,
}

/// The events behind a state that was taken from a snapshot, as far as they were folded.
#[derive(Default)]
struct Tail {
    events: usize,
    bytes: usize,
    last: Option<(Position, Digest)>,
}

impl Snapshot {
    fn of(stream: StreamRef, loaded: &Loaded, record: Digest) -> Option<Snapshot> {
        let snapshot = Snapshot {
            folds: STATES_VERSION,
            version: loaded.version,
            record: record.0,
            check: [0; 8],
            state: json(&loaded.state)?,
        };
        Some(Snapshot {
            check: snapshot.check(stream),
            ..snapshot
        })
    }

    /// The first bytes of the digest of all that it says.
    fn check(&self, stream: StreamRef) -> [u8; 8] {
        let name = stream_name(stream);
        let mut all = Vec::with_capacity(128 + self.state.len());
        for part in [
            name.as_str().as_bytes(),
            &self.folds.to_be_bytes(),
            &self.version.to_be_bytes(),
            &self.record,
            self.state.as_bytes(),
        ] {
            all.extend_from_slice(&(part.len() as u64).to_be_bytes());
            all.extend_from_slice(part);
        }
        let mut check = [0; 8];
        check.copy_from_slice(&Digest::of(&all).0[..8]);
        check
    }

    /// The state; `None` where it is not what was written.
    fn state(&self, stream: StreamRef) -> Option<AnyState> {
        if self.check != self.check(stream) {
            return None;
        }
        let mut reader = serde_json::Deserializer::from_str(&self.state);
        let state = AnyState::deserialize(stream.kind, &mut reader).ok()?;
        reader.end().ok().map(|()| state)
    }
}

/// A state as text; `None` where it has no such form. So far every state has one.
fn json(state: &AnyState) -> Option<String> {
    let mut text = Vec::new();
    state
        .serialize(&mut serde_json::Serializer::new(&mut text))
        .ok()?;
    String::from_utf8(text).ok()
}

/// The state of an aggregate, folded from its events.
pub(crate) async fn fold(log: &dyn Store, stream: StreamRef) -> Result<Loaded, LoadError> {
    fold_long(log, stream, LONG).await
}

/// The same, where a stream is long that has more than so many events.
async fn fold_long(log: &dyn Store, stream: StreamRef, long: usize) -> Result<Loaded, LoadError> {
    // Most streams are short, and end on this page.
    let first = Query::stream(stream_name(stream), Version(1)).limit(long);
    let first = log.read(first).await?;
    let mut loaded = Loaded::absent(stream.kind);
    if first.next.is_none() {
        for record in &first.records {
            evolve(&mut loaded, record, &annals_wire::decode(record)?.event);
        }
        return Ok(loaded);
    }
    // Before anything else is read: what a redaction removes meanwhile is kept nowhere.
    let checkpoint = log.checkpoint(MODEL).await.ok();
    if let Some(taken) = take(log, stream).await? {
        loaded = taken;
    }
    let tail = go_on(log, stream, &mut loaded).await?;
    if let Some(checkpoint) = checkpoint
        && tail.events >= long
        && let Err(error) = keep(log, stream, checkpoint, &loaded, &tail).await
    {
        tracing::debug!(%error, "no snapshot of a state is kept");
    }
    Ok(loaded)
}

fn evolve(loaded: &mut Loaded, record: &Record, event: &AnyEvent) {
    loaded.state.evolve(event, &origin_of(record));
    loaded.version = record.version().0;
}

/// The state of a snapshot that is of this log and of these folds.
async fn take(log: &dyn Store, stream: StreamRef) -> Result<Option<Loaded>, LoadError> {
    let name = stream_name(stream);
    let row = match log.get(MODEL, name.as_str().as_bytes()).await {
        Ok(Some(row)) => row,
        // Where rows cannot be read, the records say the same.
        Ok(None) | Err(ReadError::Corrupt { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let Some(snapshot) = current(&row) else {
        return Ok(None);
    };
    let at = Query::stream(name, Version(snapshot.version)).limit(1);
    let page = log.read(at).await?;
    let is_of_this = |record: &Record| {
        record.version() == Version(snapshot.version)
            && leaf(record.header_bytes()) == Digest(snapshot.record)
    };
    let fits = page.records.first().is_some_and(is_of_this);
    let state = snapshot.state(stream).filter(|_| fits);
    Ok(state.map(|state| Loaded {
        version: snapshot.version,
        state,
    }))
}

/// The snapshot in a row; `None` where another version of the folds made it.
fn current(row: &[u8]) -> Option<Snapshot> {
    let snapshot: Snapshot = decode_row(row).ok()?;
    (snapshot.folds == STATES_VERSION && snapshot.version > 0).then_some(snapshot)
}

/// Folds the events behind a state into it.
async fn go_on(log: &dyn Store, stream: StreamRef, loaded: &mut Loaded) -> Result<Tail, LoadError> {
    let (mut tail, mut last) = (Tail::default(), None);
    each_event(log, stream, loaded.version + 1, |record, event| {
        evolve(loaded, record, event);
        tail.events += 1;
        tail.bytes += record.encoded_len();
        last = Some(record.clone());
        ControlFlow::Continue(())
    })
    .await?;
    tail.last = last.map(|record| (record.position(), leaf(record.header_bytes())));
    Ok(tail)
}

/// Keeps a snapshot where the events that were folded outgrew the state: what snapshots cost is then in
/// proportion to the events.
async fn keep(
    log: &dyn Store,
    stream: StreamRef,
    checkpoint: ModelCheckpoint,
    loaded: &Loaded,
    tail: &Tail,
) -> Result<(), CommitError> {
    let Some((position, record)) = tail.last else {
        return Ok(());
    };
    let most = LARGEST.min(tail.bytes / OUTGROWS);
    let snapshot = Snapshot::of(stream, loaded, record);
    let row = snapshot.and_then(|snapshot| encode_row(&snapshot).ok());
    let Some(row) = row.filter(|row| row.len() <= most) else {
        return Ok(());
    };
    // The first one, of a log that an older program may have written to.
    if checkpoint.position == Position::START {
        drop_older(log).await?;
    }
    let key = Bytes::from(stream_name(stream).as_str().to_owned());
    let position = checkpoint.position.max(position);
    log.commit(MODEL, checkpoint, vec![(key, Some(row.into()))], position)
        .await
}

/// Drops all snapshots, of every layout.
pub(crate) async fn drop_all(log: &dyn Store) -> Result<(), CommitError> {
    drop_older(log).await?;
    log.drop_model(MODEL).await
}

/// Drops snapshots of older layouts.
async fn drop_older(log: &dyn Store) -> Result<(), CommitError> {
    for model in OLDER {
        log.drop_model(model).await?;
    }
    Ok(())
}

/// What [`Index::verify_states`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatesReport {
    /// Snapshots of states that were compared with what the log gives.
    pub compared: u64,
    /// Those that were not, because nothing takes them: another version made them.
    pub unused: u64,
    /// Those that were not, because they are of events behind the position up to which readers see the log: a writer
    /// ended before it published its last records, and the next opening for writing settles it.
    pub ahead: u64,
    /// What is wrong, at most 100 findings.
    pub findings: Vec<StateFault>,
    /// How many findings there are in all.
    pub total_findings: u64,
}

/// A snapshot that is not what the log gives.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the snapshot of {stream} is not the state that the log gives: {reason}")]
pub struct StateFault {
    /// The stream, or what the row has in its place.
    pub stream: String,
    /// What is wrong.
    pub reason: String,
}

impl StatesReport {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.total_findings == 0
    }

    fn find(&mut self, stream: &str, reason: String) {
        self.total_findings += 1;
        if self.findings.len() < MAX_FINDINGS {
            let stream = stream.to_owned();
            self.findings.push(StateFault { stream, reason });
        }
    }
}

impl Index<'_> {
    /// Folds each aggregate of which a snapshot is kept again from the log, and compares. While a redaction
    /// goes on, nothing is compared: it drops all snapshots at its end.
    ///
    /// # Errors
    /// [`LoadError`]. What is wrong with a snapshot is a finding of the report, not an error.
    pub async fn verify_states(self) -> Result<StatesReport, LoadError> {
        let log = self.annals.log.as_ref();
        let epoch = log.checkpoint(MODEL).await?.epoch;
        if self.annals.contents().unfinished_redaction()?.is_some() {
            return Ok(StatesReport::default());
        }
        let report = self.compare_states(log).await?;
        // Content that went meanwhile explains what differs; the snapshots have gone with it, or will.
        let is_over = self.annals.contents().unfinished_redaction()?.is_none()
            && log.checkpoint(MODEL).await?.epoch == epoch;
        match report.is_sound() || is_over {
            true => Ok(report),
            false => Ok(StatesReport::default()),
        }
    }

    async fn compare_states(self, log: &dyn Store) -> Result<StatesReport, LoadError> {
        let (mut report, mut after) = (StatesReport::default(), None::<Bytes>);
        let is_ahead = log.checkpoint(MODEL).await?.position > log.watermark();
        loop {
            let rows = match log.scan(MODEL, &[], after.as_deref(), ROWS).await {
                Ok(rows) => rows,
                Err(ReadError::Corrupt { reason }) => {
                    report.find(MODEL, reason);
                    return Ok(report);
                }
                Err(error) => return Err(error.into()),
            };
            for (key, row) in &rows {
                let name = String::from_utf8_lossy(key);
                verify_row(log, &name, row, is_ahead, &mut report).await?;
            }
            match rows.last() {
                Some((key, _)) => after = Some(key.clone()),
                None => return Ok(report),
            }
        }
    }
}

async fn verify_row(
    log: &dyn Store,
    name: &str,
    row: &[u8],
    is_ahead: bool,
    report: &mut StatesReport,
) -> Result<(), LoadError> {
    let snapshot = match decode_row::<Snapshot>(row) {
        Ok(snapshot) if snapshot.folds == STATES_VERSION => snapshot,
        Ok(_) => {
            report.unused += 1;
            return Ok(());
        }
        Err(error) => {
            report.find(name, error.to_string());
            return Ok(());
        }
    };
    report.compared += 1;
    let Ok(stream) = name.parse::<StreamRef>() else {
        report.find(name, "no stream has such a name".to_owned());
        return Ok(());
    };
    let (mut loaded, mut last) = (Loaded::absent(stream.kind), None);
    let folded = each_event(log, stream, 1, |record, event| {
        evolve(&mut loaded, record, event);
        last = Some(record.clone());
        match loaded.version < snapshot.version {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    });
    match folded.await {
        Ok(()) => (),
        // A damage of the log is for others to name by its place; what they found must not get lost here.
        Err(LoadError::Read(ReadError::Corrupt { reason })) => {
            report.find(name, format!("the log cannot be read: {reason}"));
            return Ok(());
        }
        Err(LoadError::Decode(error)) => {
            report.find(name, format!("the log cannot be read: {error}"));
            return Ok(());
        }
        Err(error) => return Err(error),
    }
    if is_ahead && loaded.version < snapshot.version {
        report.compared -= 1;
        report.ahead += 1;
        return Ok(());
    }
    let record = last.map(|record| leaf(record.header_bytes()));
    // What was written may be right, and be read as something else.
    let read = snapshot.state(stream).map(|state| format!("{state:?}"));
    if loaded.version != snapshot.version {
        let (of, ends) = (snapshot.version, loaded.version);
        report.find(
            name,
            format!("it is of version {of}, and the stream ends at {ends}"),
        );
    } else if record != Some(Digest(snapshot.record)) {
        report.find(name, "it was made from another record".to_owned());
    } else if json(&loaded.state).as_deref() != Some(snapshot.state.as_str())
        || read != Some(format!("{:?}", loaded.state))
    {
        report.find(name, "it differs".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests;
