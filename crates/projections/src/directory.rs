//! The directory: which kind an object has, and which stream holds it.
//!
//! It is a read model, [`rows::MODEL`], whose rows are written rarely, and an
//! overlay in memory of what the rows lack. So it is always up to date, also
//! where the log is open for reading only, and no command waits for its rows.
//!
//! ```text
//! position  1 ........ checkpoint ........ folded
//!             in rows          in overlay
//! ```
//!
//! Only the event that creates an object is looked at, so the work for an
//! object does not grow with its history. Should an id be used twice, which
//! deciders refuse, the first object keeps it.

mod error;
mod overlay;
mod rows;

#[cfg(test)]
mod read_only;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use annals_domain::{Kind, StreamRef};
use annals_event_log::{CommitError, EventLog, Position, Query, Record};
use uuid::Uuid;

pub use error::DirectoryError;
use overlay::Overlay;
use rows::{MODEL, Place};

/// Records that are folded at once.
const PAGE: usize = 1_000;
/// Objects in the overlay beyond which the rows are written.
const OVERLAY_LIMIT: usize = 4_096;
/// Records beyond which they are written too, however few objects there are:
/// what the rows lack is folded at every opening.
const BEHIND_LIMIT: u64 = 50_000;
/// How often a flush starts again because another writer was faster.
const FLUSH_ATTEMPTS: u32 = 4;
/// Digits by which an object can be found at least.
const MIN_SUFFIX: usize = 8;

/// The types of the events that create an object, which is then the first one
/// that they touch.
const CREATING: &[&str] = &[
    "intent.submitted",
    "plan.drafted",
    "task.created",
    "run.created",
    "run.tool_invoked",
    "run.patch_set_proposed",
    "run.evidence_recorded",
    "run.provenance_recorded",
    "run.decision_made",
    "snapshot.opened",
    "pipeline.created",
    "intent.adopted",
    "plan.adopted",
    "task.adopted",
    "run.adopted",
    "run.patch_set_adopted",
    "run.evidence_adopted",
    "run.decision_adopted",
    "run.provenance_adopted",
    "run.tool_invocation_adopted",
    "snapshot.adopted",
    "pipeline.adopted",
];

/// Finds objects by their ids. It can be shared by any number of threads.
#[derive(Debug, Default)]
pub struct Directory {
    /// Held while the overlay is brought forward or written out.
    folding: futures::lock::Mutex<()>,
    /// Never held across an await.
    overlay: Mutex<Overlay>,
}

impl Directory {
    /// Nothing is folded yet; it begins where the log's rows end.
    pub fn new() -> Directory {
        Directory::default()
    }

    fn overlay(&self) -> MutexGuard<'_, Overlay> {
        // Every change of the overlay is whole before the lock is released.
        self.overlay.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Folds in whatever the log has by now, and says up to where.
    ///
    /// # Errors
    /// [`DirectoryError`]. What was folded before it stays.
    pub async fn catch_up(&self, log: &dyn EventLog) -> Result<Position, DirectoryError> {
        let target = log.watermark();
        if let Some(folded) = self.overlay().folded().filter(|folded| *folded >= target) {
            return Ok(folded);
        }
        let _folding = self.folding.lock().await;
        self.fold_to(log, target).await
    }

    /// Where an object is, as of the last [`Directory::catch_up`] or later.
    ///
    /// # Errors
    /// [`DirectoryError`].
    pub async fn find(
        &self,
        log: &dyn EventLog,
        id: Uuid,
    ) -> Result<Option<(Kind, StreamRef)>, DirectoryError> {
        // In this order: objects go from the overlay to the rows, never back.
        let place = self.overlay().place(id);
        match place {
            Some(place) => Ok(Some(place)),
            None => stored_place(log, id).await,
        }
    }

    /// Objects whose ids end with these hex digits, at most `limit`. Hyphens
    /// are ignored, and so is the digits' case.
    ///
    /// # Errors
    /// [`DirectoryError::InvalidSuffix`] for fewer than 8 or more than 32
    /// digits, or for other characters.
    pub async fn by_suffix(
        &self,
        log: &dyn EventLog,
        suffix_hex: &str,
        limit: usize,
    ) -> Result<Vec<(Kind, Uuid)>, DirectoryError> {
        let Some(prefix) = reversed_suffix(suffix_hex) else {
            return Err(DirectoryError::InvalidSuffix {
                suffix: suffix_hex.chars().take(64).collect(),
            });
        };
        let mut found: BTreeMap<String, (Kind, Uuid)> = self.overlay().by_suffix(&prefix, limit);
        for (key, value) in log
            .scan(MODEL, &rows::suffix_key(&prefix), None, limit)
            .await?
        {
            let (reversed, kind, id) = rows::read_suffix(&key, &value)?;
            found.insert(reversed, (kind, id));
        }
        Ok(found.into_values().take(limit).collect())
    }

    /// Writes the overlay out as rows. On a log that is open for reading only
    /// it does nothing.
    ///
    /// # Errors
    /// [`DirectoryError`]; the overlay stays then.
    pub async fn flush(&self, log: &dyn EventLog) -> Result<(), DirectoryError> {
        let _folding = self.folding.lock().await;
        for attempt in 1.. {
            match self.write(log).await {
                Err(DirectoryError::Commit(CommitError::Checkpoint { actual, .. }))
                    if attempt < FLUSH_ATTEMPTS =>
                {
                    self.overlay().rows_moved(actual);
                    self.fold_to(log, log.watermark()).await?;
                }
                result => return result,
            }
        }
        Ok(())
    }

    /// The caller holds `folding`.
    async fn fold_to(
        &self,
        log: &dyn EventLog,
        target: Position,
    ) -> Result<Position, DirectoryError> {
        if self.overlay().folded().is_none() {
            let checkpoint = log.checkpoint(MODEL).await?;
            self.overlay().start(checkpoint);
        }
        loop {
            let folded = self.overlay().folded().unwrap_or(Position::START);
            if folded >= target {
                return Ok(folded);
            }
            let page = log.read(Query::all(folded.next()).limit(PAGE)).await?;
            let Some(last) = page.records.last().map(Record::position) else {
                return Ok(folded);
            };
            let new = self.new_objects(log, &page.records).await?;
            self.overlay().advance(new, last);
            if self.overlay().is_over(OVERLAY_LIMIT, BEHIND_LIMIT) {
                self.write_if_possible(log).await?;
            }
        }
    }

    /// The objects that these records create and that are not known yet.
    async fn new_objects(
        &self,
        log: &dyn EventLog,
        records: &[Record],
    ) -> Result<Vec<(Uuid, Place)>, DirectoryError> {
        let mut new = Vec::new();
        for record in records {
            if let Some((id, place)) = created(record)?
                && self.find(log, id).await?.is_none()
            {
                new.push((id, place));
            }
        }
        Ok(new)
    }

    /// As [`Directory::write`]; but where another writer was faster, the rows
    /// are as good as ours, and folding goes on from what they say.
    async fn write_if_possible(&self, log: &dyn EventLog) -> Result<(), DirectoryError> {
        match self.write(log).await {
            Err(DirectoryError::Commit(CommitError::Checkpoint { actual, .. })) => {
                self.overlay().rows_moved(actual);
                Ok(())
            }
            result => result,
        }
    }

    /// Commits the overlay as rows. The caller holds `folding`, so that the
    /// overlay does not grow meanwhile.
    async fn write(&self, log: &dyn EventLog) -> Result<(), DirectoryError> {
        let Some(pending) = self.overlay().pending() else {
            return Ok(());
        };
        match log
            .commit(MODEL, pending.expected, pending.rows, pending.checkpoint)
            .await
        {
            Ok(()) => self.overlay().written(pending.checkpoint),
            Err(CommitError::ReadOnly) => self.overlay().never_write(),
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

/// The object that a record creates. Records of other types need not be known
/// here, nor even be decodable.
fn created(record: &Record) -> Result<Option<(Uuid, Place)>, DirectoryError> {
    if !CREATING.contains(&record.event_type()) {
        return Ok(None);
    }
    let decoded = annals_wire::decode(record).map_err(|source| DirectoryError::Decode {
        position: record.position(),
        source,
    })?;
    let touched = decoded.event.touches(decoded.stream.id);
    Ok(touched
        .first()
        .map(|(kind, id)| (*id, (*kind, decoded.stream))))
}

async fn stored_place(log: &dyn EventLog, id: Uuid) -> Result<Option<Place>, DirectoryError> {
    let key = rows::id_key(id);
    let value = log.get(MODEL, &key).await?;
    value
        .map(|value| rows::read_place(&key, &value))
        .transpose()
}

/// The digits of a suffix from the last to the first, in lower case.
fn reversed_suffix(suffix: &str) -> Option<String> {
    let digits = suffix.chars().rev().filter(|c| *c != '-');
    let reversed: String = digits.map(|c| c.to_ascii_lowercase()).collect();
    let allowed = (MIN_SUFFIX..=rows::DIGITS).contains(&reversed.len())
        && reversed.bytes().all(|b| b.is_ascii_hexdigit());
    allowed.then_some(reversed)
}
