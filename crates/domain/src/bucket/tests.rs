//! The bucket by given times.

#![allow(clippy::unwrap_used)]

use chrono::{DateTime, TimeDelta};
use proptest::prelude::*;

use super::*;
use crate::Timestamp;
use crate::session::{CommandKind, PolicyProfile, RateLimits};

fn at(nanos: i64) -> Timestamp {
    (DateTime::UNIX_EPOCH + TimeDelta::nanoseconds(nanos)).into()
}

const SECOND: i64 = 1_000_000_000;

#[test]
fn a_bucket_starts_full_and_says_when_the_next_token_comes() {
    let limit = Limit {
        capacity: 2,
        per_minute: 7,
    };
    let first = limit.take(None, at(0));
    assert_eq!(limit.tokens(Some(first), at(0)), 1);
    let second = limit.take(Some(first), at(0));
    // A seventh of a minute, up to the next 100 ns.
    assert_eq!(limit.check(Some(second), at(0)), Err(at(8_571_428_600)));
    assert_eq!(
        limit.check(Some(second), at(SECOND)),
        Err(at(8_571_428_600))
    );
    assert!(limit.check(Some(second), at(8_571_428_571)).is_err());
    assert_eq!(limit.check(Some(second), at(8_571_428_572)), Ok(()));
    // It never holds more than it can.
    assert_eq!(limit.tokens(Some(second), at(3_600 * SECOND)), 2);
}

#[test]
fn never_is_the_latest_time() {
    let empty = |capacity, per_minute| {
        let limit = Limit {
            capacity,
            per_minute,
        };
        let mut level = None;
        for _ in 0..capacity {
            level = Some(limit.take(level, at(0)));
        }
        limit.check(level, at(9 * SECOND)).unwrap_err()
    };
    assert_eq!(empty(3, 0), latest());
    assert_eq!(empty(0, 5), latest());
    assert_eq!(empty(0, 0), latest());
    assert_eq!(latest().to_string(), "9999-12-31T23:59:59.999999900Z");
}

#[test]
fn a_clock_that_goes_backwards_refills_nothing() {
    let limit = Limit {
        capacity: 1,
        per_minute: 60,
    };
    let level = limit.take(None, at(100 * SECOND));
    assert_eq!(
        limit.check(Some(level), at(40 * SECOND)),
        Err(at(101 * SECOND))
    );
    assert_eq!(limit.check(Some(level), at(101 * SECOND)), Ok(()));
}

#[test]
fn a_cap_is_shared_by_profiles_of_one_name_and_the_same_limits() {
    let profile = |name: &str, caps: &[(&str, u32)]| PolicyProfile {
        name: name.into(),
        limits: Some(RateLimits {
            per_command_caps: Some(
                caps.iter()
                    .map(|(kind, cap)| ((*kind).to_owned(), *cap))
                    .collect(),
            ),
            ..RateLimits::default()
        }),
        ..PolicyProfile::default()
    };
    let of = |profile: &PolicyProfile| name_of(profile, CommandKind::Push);
    let a = profile("a", &[("Push", 1), ("Commit", 2)]);
    assert_eq!(of(&a), of(&profile("a", &[("Commit", 2), ("Push", 1)])));
    assert_ne!(of(&a), of(&profile("b", &[("Push", 1), ("Commit", 2)])));
    assert_ne!(of(&a), of(&profile("a", &[("Push", 1)])));
    assert_ne!(of(&a), name_of(&a, CommandKind::Commit));
}

#[test]
fn names_that_read_alike_share_a_bucket() {
    let profile = |name: &str| PolicyProfile {
        name: name.into(),
        ..PolicyProfile::default()
    };
    let of = |agent: &str, name: &str| calls_name(&profile(name), agent);
    for same in ["Coder", "coder ", " CODER", "c\u{200b}oder", "ｃoder"] {
        assert_eq!(of(same, "p"), of("coder", "p"), "{same:?}");
        let cap = |name: &str| name_of(&profile(name), CommandKind::Push);
        assert_eq!(cap(same), cap("coder"), "{same:?}");
    }
    assert_ne!(of("coder 2", "p"), of("coder", "p"));
    assert_ne!(of("coder", "p 2"), of("coder", "p"));
}

proptest! {
    /// Compared with a bucket in fractions that is refilled at each look.
    #[test]
    fn tokens_stay_within_the_bucket_and_the_retry_time_is_exact(
        capacity in 0_u32..8,
        per_minute in 0_u32..200,
        steps in proptest::collection::vec(-5_000_i64..20_000, 1..60),
    ) {
        let limit = Limit { capacity, per_minute };
        let (mut level, mut now) = (None, 0_i64);
        let (mut tokens, mut last) = (f64::from(capacity), None::<i64>);
        for step in steps {
            now += step * 1_000_000;
            let elapsed = last.map_or(0, |last| (now - last).max(0));
            tokens = (tokens + elapsed as f64 * f64::from(per_minute) / 60e9).min(f64::from(capacity));
            last = last.max(Some(now));
            prop_assert!(limit.tokens(level, at(now)) <= capacity);
            match limit.check(level, at(now)) {
                Ok(()) => {
                    prop_assert!(tokens > 1.0 - 1e-6, "{tokens}");
                    level = Some(limit.take(level, at(now)));
                    tokens = (tokens - 1.0).max(0.0);
                }
                Err(retry) => {
                    prop_assert!(tokens < 1.0 + 1e-6, "{tokens}");
                    if retry == latest() {
                        prop_assert!(per_minute == 0 || capacity == 0);
                    } else {
                        prop_assert_eq!(limit.check(level, retry), Ok(()));
                        let before = (retry.to_utc() - TimeDelta::nanoseconds(101)).into();
                        prop_assert!(limit.check(level, before).is_err());
                    }
                }
            }
        }
    }
}
