//! Projections that are killed at every call, and must end with the same rows.
//!
//! A projection folds the log into a read model: it reads from its checkpoint on and
//! commits rows and checkpoint together. What goes wrong in them is nearly always the
//! same: an event is counted twice, or left out, when the process ended between two
//! calls, or the fold keeps something in memory that a new process does not have.
//!
//! [`check_resumable`] finds both. It catches a projection up in one go, then kills it
//! before and after the effect of its first call, its second, and so on, each time
//! resuming with a new handle, and demands the same rows and checkpoint every time.
//! Then it lets the log grow batch by batch with the projection behind it. The front
//! page of the crate has an example.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use annals_event_log::store_support::PAGE_LIMIT;
use annals_event_log::{Append, EventLog, Position, ReadError, Row, memory::MemoryLog};
use futures::executor::block_on;
use uuid::Uuid;

use crate::through::{Hook, Through};

/// A process that ends at one of its calls to the log.
#[derive(Debug)]
struct Killed {
    calls: AtomicU64,
    /// The number of the call, and whether it has its effect before the end.
    at: u64,
    after_effect: bool,
}

impl Killed {
    fn dead() -> ReadError {
        ReadError::Unavailable {
            source: "the process was killed".into(),
        }
    }
}

impl Hook for Killed {
    fn before(&self) -> Result<(), ReadError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        match number > self.at || (number == self.at && !self.after_effect) {
            true => Err(Killed::dead()),
            false => Ok(()),
        }
    }

    fn after(&self) -> Result<(), ReadError> {
        // The call before this one was that which is to be the last.
        match self.calls.load(Ordering::SeqCst) > self.at {
            true => Err(Killed::dead()),
            false => Ok(()),
        }
    }
}

/// What a projection that is resumed does otherwise than one that is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotResumable {
    /// It failed although nothing was wrong.
    #[error("the projection failed {when}: {error}")]
    Failed {
        /// When.
        when: String,
        /// Its error.
        error: String,
    },
    /// It came back without an error, and is not at the end of the log.
    #[error("the projection is at {checkpoint} {when}; the log ends at {end}")]
    Behind {
        /// When.
        when: String,
        /// Its checkpoint.
        checkpoint: Position,
        /// The log's end.
        end: Position,
    },
    /// Its rows are others than those that it makes in one go.
    #[error("the row {key} is {found} {when}; in one go it is {expected}")]
    Differs {
        /// When.
        when: String,
        /// The first row that differs.
        key: String,
        /// What it is in one go.
        expected: String,
        /// What it is.
        found: String,
    },
}

/// How thoroughly a projection was killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumed {
    /// How often it was killed and resumed.
    pub kills: u64,
    /// How many rows it made.
    pub rows: usize,
}

/// Demands that a projection comes to the same rows however it is killed.
///
/// `catch_up` folds the log into the read model `model` until it is at the end, as a
/// process does that has just started: it gets nothing but the log.
///
/// # Errors
/// [`NotResumable`], with the first kill that shows it.
pub fn check_resumable<E: std::fmt::Display>(
    model: &str,
    history: &[Append],
    catch_up: impl Fn(&dyn EventLog) -> Result<(), E>,
) -> Result<Resumed, NotResumable> {
    let run = |log: &dyn EventLog, when: &str| {
        catch_up(log).map_err(|error| failed(when, &error))?;
        rows_at_end(log, model, when)
    };
    let whole = run(&*filled(history)?, "in one go")?;
    let mut kills = 0;
    for at in 0.. {
        let mut ended_before = false;
        for after_effect in [false, true] {
            let log = filled(history)?;
            let killed = Through::new(
                Arc::clone(&log),
                Killed {
                    calls: AtomicU64::new(0),
                    at,
                    after_effect,
                },
            );
            // What it makes of its end is its own affair.
            let _ = catch_up(&killed);
            ended_before |= killed.hook().calls.load(Ordering::SeqCst) <= at;
            let how = if after_effect { "after" } else { "before" };
            let when = format!("when killed {how} the effect of call {at} and resumed");
            same(&whole, &run(&*log, &when)?, &when)?;
            kills += 1;
        }
        if ended_before {
            break;
        }
    }
    let log = filled(&[])?;
    for append in history {
        put(&*log, append)?;
        run(&*log, "behind a growing log")?;
    }
    let when = "behind a growing log";
    same(&whole, &run(&*log, when)?, when)?;
    let rows = whole.len();
    Ok(Resumed { kills, rows })
}

fn failed(when: &str, error: &impl std::fmt::Display) -> NotResumable {
    NotResumable::Failed {
        when: when.to_owned(),
        error: error.to_string(),
    }
}

fn filled(history: &[Append]) -> Result<Arc<dyn EventLog>, NotResumable> {
    let log = MemoryLog::new(Uuid::from_u128(1));
    history.iter().try_for_each(|append| put(&log, append))?;
    Ok(Arc::new(log))
}

fn put(log: &dyn EventLog, append: &Append) -> Result<(), NotResumable> {
    let appended = block_on(log.append(append.clone()));
    appended.map(|_| ()).map_err(|error| {
        let batch = append.batch;
        failed(
            &format!("as batch {batch} of the history was refused"),
            &error,
        )
    })
}

fn rows_at_end(log: &dyn EventLog, model: &str, when: &str) -> Result<Vec<Row>, NotResumable> {
    let unread = |error| failed(when, &error);
    let checkpoint = block_on(log.checkpoint(model)).map_err(unread)?.position;
    let end = log.watermark();
    if checkpoint != end {
        return Err(NotResumable::Behind {
            when: when.to_owned(),
            checkpoint,
            end,
        });
    }
    let mut rows: Vec<Row> = Vec::new();
    loop {
        let after = rows.last().map(|(key, _)| key.clone());
        let more = log.scan(model, b"", after.as_deref(), PAGE_LIMIT);
        let more = block_on(more).map_err(unread)?;
        if more.is_empty() {
            return Ok(rows);
        }
        rows.extend(more);
    }
}

fn same(expected: &[Row], found: &[Row], when: &str) -> Result<(), NotResumable> {
    let length = expected.len().max(found.len());
    let places = (0..length).map(|at| (expected.get(at), found.get(at)));
    let Some((expected, found)) = places.into_iter().find(|(one, other)| one != other) else {
        return Ok(());
    };
    let key = expected.or(found).map(|(key, _)| format!("{key:?}"));
    let show = |row: Option<&Row>| match row {
        Some((key, value)) => format!("{key:?} = {value:?}"),
        None => "not there".to_owned(),
    };
    Err(NotResumable::Differs {
        when: when.to_owned(),
        key: key.unwrap_or_default(),
        expected: show(expected),
        found: show(found),
    })
}
