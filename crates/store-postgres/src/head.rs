//! The row that says where a log ends.

use std::sync::atomic::Ordering;

use annals_event_log::Position;
use annals_event_log::tree::Frontier;
use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use crate::failure::Failure;
use crate::outcome::Failed;
use crate::sessions::Session;
use crate::shared::Shared;

/// Ends a transaction that locked the head and found stored what it was to store. The commit that stored it may have
/// been cut short while it waited for standbys, by the end of its connection or of the server: then it is there, and
/// could vanish still. Where there are standbys to wait for, this one writes as well, and waits for all before it.
pub(crate) async fn confirm(shared: &Shared, session: &Session) -> Result<(), Failed> {
    if !waits_for_standbys(shared, session).await? {
        return Ok(session.batch_execute("ROLLBACK").await?);
    }
    commit_a_write(shared, session).await
}

/// Commits the transaction with a write of its own: its wait for standbys is one for all before it.
async fn commit_a_write(shared: &Shared, session: &Session) -> Result<(), Failed> {
    let touch = session.prepare_cached(&shared.sql.touch_head).await?;
    let row = session.query_opt(&touch, &[&shared.log]).await?;
    let position = unsigned(shared.demand_there(row)?.try_get(0)?)?;
    let warnings = session.warnings();
    let committed = session.batch_execute("COMMIT").await;
    committed.map_err(Failed::at_commit)?;
    session.demand_no_warning(warnings)?;
    shared.confirmed(position);
    Ok(())
}

/// Has all up to a position confirmed, where this process does not know that it is.
pub(crate) async fn confirm_up_to(
    shared: &Shared,
    session: &Session,
    position: Position,
) -> Result<(), Failed> {
    let is_known = position.0 <= shared.confirmed.load(Ordering::Acquire);
    if is_known || !waits_for_standbys(shared, session).await? {
        return Ok(());
    }
    session
        .batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        .await?;
    // To repeat it is safe, whatever became of it.
    let confirmed = commit_a_write(shared, session).await;
    Ok(confirmed.map_err(|failed| failed.failure)?)
}

async fn waits_for_standbys(shared: &Shared, session: &Session) -> Result<bool, Failed> {
    let ask = session
        .prepare_cached(&shared.sql.waits_for_standbys)
        .await?;
    Ok(session.query_one(&ask, &[]).await?.try_get(0)?)
}

/// Where a log ends, and what it counts.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub(crate) position: Position,
    pub(crate) recorded_at: DateTime<Utc>,
    pub(crate) frontier: Frontier,
    pub(crate) streams: i64,
    pub(crate) batches: i64,
    pub(crate) blobs: i64,
    pub(crate) blob_bytes: i64,
}

impl Head {
    /// The head of a log that has just been created. Its last record was taken before all others.
    pub(crate) fn empty() -> Head {
        Head {
            position: Position::START,
            recorded_at: DateTime::<Utc>::MIN_UTC,
            frontier: Frontier::default(),
            streams: 0,
            batches: 0,
            blobs: 0,
            blob_bytes: 0,
        }
    }

    /// Reads what the statement `lock_head` gives.
    pub(crate) fn read(row: &Row) -> Result<Head, Failure> {
        let position = unsigned(row.try_get(0)?)?;
        if position == 0 {
            return Ok(Head::empty());
        }
        let nanos = u32::try_from(row.try_get::<_, i64>(2)?).ok();
        let recorded_at = nanos
            .and_then(|nanos| DateTime::from_timestamp(row.try_get(1).ok()?, nanos))
            .ok_or_else(|| Failure::damaged("the head has no valid time"))?;
        let frontier = Frontier::decode(row.try_get(3)?)
            .filter(|frontier| frontier.size() == position)
            .ok_or_else(|| Failure::damaged("the head's frontier is not that of its position"))?;
        let head = Head {
            position: Position(position),
            recorded_at,
            frontier,
            streams: row.try_get(4)?,
            batches: row.try_get(5)?,
            blobs: row.try_get(6)?,
            blob_bytes: row.try_get(7)?,
        };
        head.demand_counts()?;
        Ok(head)
    }
}

impl Head {
    /// Demands counts that the next one can go on from.
    pub(crate) fn demand_counts(&self) -> Result<(), Failure> {
        match self.can_count() {
            true => Ok(()),
            false => Err(Failure::damaged(
                "the head counts more than there can be, or less than nothing",
            )),
        }
    }

    /// Whether its counts are such as a log with this end can have, and can be added to.
    fn can_count(&self) -> bool {
        let end = signed(self.position.0);
        let each = [self.streams, self.batches]
            .iter()
            .all(|count| (0..=end).contains(count));
        each && [self.blobs, self.blob_bytes]
            .iter()
            .all(|count| (0..MOST).contains(count))
    }
}

/// More blobs, and bytes of them, than there can be.
const MOST: i64 = i64::MAX / 2;

/// A number as the log counts.
pub(crate) fn unsigned(number: i64) -> Result<u64, Failure> {
    u64::try_from(number).map_err(|_| Failure::damaged(format!("{number} is less than 0")))
}

/// A number as PostgreSQL counts; no log comes near the largest.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
