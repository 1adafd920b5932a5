//! The arithmetic of a token bucket.

use serde::{Deserialize, Serialize};

use chrono::{DateTime, TimeDelta, Utc};

use crate::Timestamp;

/// One token. In these units a bucket gets `per_minute` each nanosecond.
const TOKEN: u128 = 60_000_000_000;
/// Nanoseconds in a tick, the least that the contracts' times can tell apart.
const TICK: u128 = 100;

/// How much a bucket holds, and how fast it is refilled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// How many tokens it holds.
    pub capacity: u32,
    /// How many it gets a minute.
    pub per_minute: u32,
}

/// What was in a bucket when a token was taken last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// In 60,000,000,000ths of a token.
    content: u128,
    at: Timestamp,
}

/// The latest time that the contracts can say: what "never" is answered by.
pub fn latest() -> Timestamp {
    let time = DateTime::<Utc>::from_timestamp(253_402_300_799, 999_999_900);
    time.unwrap_or(DateTime::<Utc>::MAX_UTC).into()
}

/// Nanoseconds from one time to a later one; 0 if it is not later.
fn between(from: Timestamp, to: Timestamp) -> u128 {
    let (from, to) = (from.to_utc(), to.to_utc());
    let seconds = i128::from(to.timestamp()) - i128::from(from.timestamp());
    let nanos = i128::from(to.timestamp_subsec_nanos()) - i128::from(from.timestamp_subsec_nanos());
    u128::try_from(seconds * 1_000_000_000 + nanos).unwrap_or(0)
}

impl Limit {
    fn full(self) -> u128 {
        u128::from(self.capacity) * TOKEN
    }

    /// What is in the bucket at a time, in units.
    fn content(self, level: Option<Level>, now: Timestamp) -> u128 {
        let Some(level) = level else {
            return self.full();
        };
        let refilled = between(level.at, now).saturating_mul(u128::from(self.per_minute));
        level.content.saturating_add(refilled).min(self.full())
    }

    /// How many whole tokens are in the bucket at a time.
    pub fn tokens(self, level: Option<Level>, now: Timestamp) -> u32 {
        u32::try_from(self.content(level, now) / TOKEN).unwrap_or(u32::MAX)
    }

    /// Whether a token can be taken now.
    ///
    /// # Errors
    /// From when on one can be taken, to the tick of 100 ns; [`latest`] if never.
    pub fn check(self, level: Option<Level>, now: Timestamp) -> Result<(), Timestamp> {
        let content = self.content(level, now);
        if content >= TOKEN {
            return Ok(());
        }
        if self.per_minute == 0 || self.capacity == 0 {
            return Err(latest());
        }
        // While the clock is behind the last token, nothing is refilled.
        let from = level.map_or(now, |level| level.at.max(now));
        let wait = (TOKEN - content).div_ceil(u128::from(self.per_minute));
        Err(after(from, wait))
    }

    /// What is in the bucket once a token was taken. None is taken from an
    /// empty one.
    #[must_use]
    pub fn take(self, level: Option<Level>, now: Timestamp) -> Level {
        Level {
            content: self.content(level, now).saturating_sub(TOKEN),
            at: level.map_or(now, |level| level.at.max(now)),
        }
    }
}

/// A time so many nanoseconds later, up to the next tick.
fn after(from: Timestamp, nanos: u128) -> Timestamp {
    let subsecond = u128::from(from.to_utc().timestamp_subsec_nanos());
    let odd = (subsecond + nanos) % TICK;
    let nanos = if odd == 0 { nanos } else { nanos + TICK - odd };
    let delta = i64::try_from(nanos).ok().map(TimeDelta::nanoseconds);
    let time = delta.and_then(|delta| from.to_utc().checked_add_signed(delta));
    time.map_or_else(latest, Timestamp::from).min(latest())
}
