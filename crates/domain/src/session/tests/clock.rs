//! Limits of time go by the log's clock; the time that a caller gives is near it.

use super::*;
use crate::settings::{SetSetting, Setting};

fn limited() -> Stage {
    Stage::under(PolicyProfile {
        limits: Some(RateLimits {
            calls_per_minute: Some(1),
            ..RateLimits::default()
        }),
        ..anything()
    })
}

impl Stage {
    /// It is `now` by the log's clock, and callers say that it is `at`; both in seconds.
    fn told(&self, at: i64, now: i64) -> Stage {
        let given = self.given.clone();
        let given = given
            .at(at_millis(at * 1_000))
            .decided_at(at_millis(now * 1_000));
        Stage { given }
    }
}

#[test]
fn a_caller_gets_no_more_tokens_by_other_times() {
    let mut stage = limited();
    let mut accepted = 0;
    for (number, at) in [0, 60, 120, 180, 240, 300, -300, -60]
        .into_iter()
        .enumerate()
    {
        stage = stage.told(1_000 + at, 1_000);
        let said = stage.when(submit(number as u128 + 1, get_diff()));
        accepted += usize::from(said.concat().contains("accepted"));
    }
    assert_eq!(accepted, 1);
    // A minute later there is one more, by the clock alone.
    let mut later = stage.told(1_000, 1_060);
    assert!(
        later
            .when(submit(20, get_diff()))
            .concat()
            .contains("accepted")
    );
}

#[test]
fn a_time_far_from_the_clock_is_refused_by_the_gate() {
    let stage = limited().after(submit(1, request_approval(&["x"])));
    let commands: [Command; 4] = [
        submit(2, get_diff()).into(),
        approve().into(),
        deny("no").into(),
        expire().into(),
    ];
    for command in commands {
        for away in [301, -301, 2_000_000_000] {
            let stage = stage.told(1_000 + away, 1_000);
            stage.check_invalid(command.clone(), "at", "too far from the log's clock");
        }
        for away in [300, -300, 0] {
            let stage = stage.told(1_000 + away, 1_000);
            assert!(
                stage.given.decide(command.clone()).is_ok(),
                "{command:?} {away}"
            );
        }
    }
    let wider = SetSetting {
        setting: Setting::ClockSkew,
        value: "3600".into(),
    };
    let stage = stage.after(wider).told(1_000 + 3_600, 1_000);
    assert!(stage.given.decide(submit(2, get_diff())).is_ok());
}

#[test]
fn an_approval_expires_by_the_clock() {
    let asking = Stage::of(CreateSession {
        approval_expiry_seconds: Some(60),
        ..create(SESSION, anything())
    });
    let mut asking = asking.told(300, 0);
    asking.when(submit(1, request_approval(&["x"])));
    assert_eq!(
        asking.session().pending[0].expires_at,
        Some(at_millis(60_000))
    );
    // A caller neither lets it expire early nor answers it late.
    let mut early = asking.told(320, 30);
    assert!(early.when(expire()).is_empty());
    let late = asking.told(-200, 61);
    late.check_invalid(approve(), "request", "expired at");
}

#[test]
fn what_the_gate_decides_occurs_when_it_is_decided() {
    let stage = limited().told(1_200, 1_000);
    let emitted = stage.given.decide(submit(1, get_diff())).unwrap();
    let meta = stage.given.meta();
    for one in &emitted {
        assert_eq!(meta.time_of(&one.event), at_millis(1_000_000));
    }
    let paused = stage.given.decide(pause()).unwrap();
    assert_eq!(meta.time_of(&paused[0].event), at_millis(1_200_000));
}
