//! Projections that are killed at every call, and must end with the same rows.
//!
//! A projection folds the log into a read model: it reads from its checkpoint on and
//! commits rows and checkpoint together. What goes wrong in them is nearly always one of
//! three things: an event is counted twice, or left out, when the process ended between two
//! calls; the fold keeps something in memory that a new process does not have; or content
//! that was removed from the log while it was folded comes back in a row.
//!
//! [`check_resumable`] finds all three. It catches a projection up in one go, then
//!
//! 1. kills it before and after the effect of its first call, its second, and so on, each
//!    time resuming with a new handle, and demands the same rows and checkpoint every time;
//! 2. removes the content that it has read (of many pieces the newest 1000) right before its
//!    first call, its second, and so on, and behind its last one, resumes it, and demands
//!    the rows that it makes in one go of the log as it is then;
//! 3. lets the log grow batch by batch with the projection behind it.
//!
//! The front page of the crate has an example.
//!
//! # What the projection under test must do
//!
//! - Return when the log says that it is closed. A killed process makes no further calls,
//!   and the test simulates that by answering each call with `Closed` (of
//!   [`ReadError`], [`CommitError`](annals_event_log::CommitError) and the others), which
//!   no retry helps. One that goes on calling all the same panics after a while.
//! - Pass over events that it does not know. A redaction is an event, too: of Annals'
//!   objects `<kind>.redacted` in the object's stream, as `annals log redact` has it, and of
//!   all else `testkit.redacted` in the stream `testkit-redaction`.
//! - Take [`Content::Removed`](annals_event_log::Content::Removed), and a blob that is not
//!   there any more, for what they are: content that is gone.

#![allow(
    clippy::panic,
    reason = "this is test code that other crates' tests call; a projection that never returns panics"
)]

mod closed;
mod original;
mod redacting;
mod redaction;

use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use annals_event_log::store_support::PAGE_LIMIT;
use annals_event_log::{Append, Position, ReadError, Row, Store};
use futures::executor::block_on;

use crate::through::{Hook, Through};
use closed::closed;
use original::Original;
use redacting::{Outcome, Redacting};

/// A process that ends at one of its calls to the log.
#[derive(Debug)]
struct Killed {
    calls: AtomicU64,
    /// The number of the call, and whether it has its effect before the end.
    at: u64,
    after_effect: bool,
}

impl Hook for Killed {
    fn before(&self) -> Result<(), ReadError> {
        let number = self.calls.fetch_add(1, Ordering::SeqCst);
        match number > self.at || (number == self.at && !self.after_effect) {
            true => Err(closed(number - self.at)),
            false => Ok(()),
        }
    }

    fn after(&self) -> Result<(), ReadError> {
        // The call before this one was that which is to be the last.
        match self.calls.load(Ordering::SeqCst) > self.at {
            true => Err(closed(0)),
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
    /// It went on making calls after content was removed, many times as many as it takes to
    /// fold the whole log: it repeats what is refused.
    #[error("the projection has made {calls} calls {when}, and still went on")]
    Endless {
        /// When.
        when: String,
        /// How many.
        calls: u64,
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

/// How thoroughly a projection was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resumed {
    /// How often it was killed and resumed.
    pub kills: u64,
    /// How often content that it had read was removed, and it was resumed; 0 where the
    /// history has no content.
    pub redactions: u64,
    /// How many rows it made.
    pub rows: usize,
}

/// Demands that a projection comes to the same rows however it is killed, and to those of
/// the log as it is where content is removed from it meanwhile.
///
/// `catch_up` folds the log into the read model `model` until it is at the end, as a
/// process does that has just started: it gets nothing but the log. It returns where the
/// log says that it is closed, see [the list](self#what-the-projection-under-test-must-do).
///
/// Rows of other read models are not compared: call this once for each.
///
/// It is called about six times for each call that it makes in one go, each time with a
/// log of its own in memory. A history of a few pages is enough.
///
/// # Errors
/// [`NotResumable`], with the first kill or redaction that shows it.
///
/// # Panics
/// Where `catch_up` makes 10000 more calls to a log that is closed.
pub fn check_resumable<E: Display>(
    model: &str,
    history: &[Append],
    catch_up: impl Fn(&dyn Store) -> Result<(), E>,
) -> Result<Resumed, NotResumable> {
    let original = original::empty();
    for append in history {
        let appended = block_on(original.append(append.clone()));
        let batch = append.batch;
        let when = || format!("as batch {batch} of the history was refused");
        appended.map_err(|error| failed(&when(), &error))?;
    }
    let trial = Trial {
        model,
        original: copied(Original::of(&*original))?,
        catch_up: &|log| catch_up(log).map_err(|error| error.to_string()),
    };
    let log = copied(trial.original.copy())?;
    let whole = trial.run(&*log, "in one go")?;
    let calls = trial.kill(&whole)?;
    let redactions = trial.redact(calls)?;
    trial.grow(&whole)?;
    Ok(Resumed {
        kills: 2 * calls,
        redactions,
        rows: whole.len(),
    })
}

/// A projection and the log that it is tried with.
struct Trial<'a> {
    model: &'a str,
    original: Original,
    catch_up: &'a dyn Fn(&dyn Store) -> Result<(), String>,
}

impl Trial<'_> {
    /// Catches up, with nothing in the way.
    fn run(&self, log: &dyn Store, when: &str) -> Result<Vec<Row>, NotResumable> {
        (self.catch_up)(log).map_err(|error| failed(when, &error))?;
        rows_at_end(log, self.model, when)
    }

    /// Kills it at each of its calls; how many there are.
    fn kill(&self, whole: &[Row]) -> Result<u64, NotResumable> {
        for at in 0.. {
            for after_effect in [false, true] {
                let log = copied(self.original.copy())?;
                let calls = AtomicU64::new(0);
                let killed = Killed {
                    calls,
                    at,
                    after_effect,
                };
                let killed = Through::new(Arc::clone(&log), killed);
                // What it makes of its end is its own affair.
                let _ = (self.catch_up)(&killed);
                if killed.hook().calls.load(Ordering::SeqCst) <= at {
                    return Ok(at);
                }
                let how = if after_effect { "after" } else { "before" };
                let when = format!("when killed {how} the effect of call {at} and resumed");
                same(whole, &self.run(&*log, &when)?, &when)?;
            }
        }
        Ok(u64::MAX)
    }

    /// Removes content that it has read before each of its calls; how often there was some.
    /// In one go it makes so many calls.
    fn redact(&self, calls: u64) -> Result<u64, NotResumable> {
        // It may have to begin again, with some events more.
        let patience = 10 * calls + 1_000;
        let mut redactions = 0;
        for at in 0.. {
            let log = copied(self.original.copy())?;
            let hook = Redacting::new(Arc::clone(&log), &self.original, at, patience);
            let redacting = Through::new(Arc::clone(&log), hook);
            // It may take the refusal for its end, or begin again.
            let _ = (self.catch_up)(&redacting);
            let ended = redacting.hook().ended_before();
            let when = match ended {
                true => "when content was removed behind its last call".to_owned(),
                false => format!("when content that it had read was removed before call {at}"),
            };
            match redacting.hook().outcome() {
                Err(error) => return Err(failed("as content was to be removed", &error)),
                Ok(Outcome::Nothing) => {}
                Ok(Outcome::Endless) => {
                    let calls = patience;
                    return Err(NotResumable::Endless { when, calls });
                }
                Ok(Outcome::Removed) => {
                    let when = format!("{when} and it was resumed");
                    let found = self.run(&*log, &when)?;
                    let left = copied(Original::of(&*log))?;
                    let whole = self.run(&*copied(left.copy())?, "in one go")?;
                    same(&whole, &found, &when)?;
                    redactions += 1;
                }
            }
            if ended {
                break;
            }
        }
        Ok(redactions)
    }

    /// Lets the log grow with the projection behind it.
    fn grow(&self, whole: &[Row]) -> Result<(), NotResumable> {
        let when = "behind a growing log";
        let log = original::empty();
        for part in self.original.parts() {
            copied(part.append_to(&*log))?;
            if part.ends_batch {
                self.run(&*log, when)?;
            }
        }
        same(whole, &self.run(&*log, when)?, when)
    }
}

fn copied<T, E: Display>(made: Result<T, E>) -> Result<T, NotResumable> {
    made.map_err(|error| failed("as its log was copied", &error))
}

fn failed(when: &str, error: &impl Display) -> NotResumable {
    NotResumable::Failed {
        when: when.to_owned(),
        error: error.to_string(),
    }
}

fn rows_at_end(log: &dyn Store, model: &str, when: &str) -> Result<Vec<Row>, NotResumable> {
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
