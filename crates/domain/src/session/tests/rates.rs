//! Rate limits: token buckets of sessions and of kinds (dialects, B, Rate). The
//! arithmetic alone has its tests next to it, in `bucket`.

use super::*;
use crate::{Dependence, Ordered};

fn limits(calls_per_minute: Option<u32>, burst: Option<u32>) -> RateLimits {
    RateLimits {
        calls_per_minute,
        burst,
        per_command_caps: None,
    }
}

fn under(limits: RateLimits) -> PolicyProfile {
    PolicyProfile {
        limits: Some(limits),
        ..anything()
    }
}

fn capped(caps: &[(&str, u32)]) -> RateLimits {
    let caps: Ordered<u32> = caps
        .iter()
        .map(|(kind, cap)| ((*kind).to_owned(), *cap))
        .collect();
    RateLimits {
        per_command_caps: Some(caps),
        ..RateLimits::default()
    }
}

fn throttled(until: &str) -> String {
    format!("Rate limit exceeded: 1970-01-01T{until}")
}

const NEVER: &str = "Rate limit exceeded: 9999-12-31T23:59:59.999999900Z";

/// How many commands are accepted at once, at a second.
fn at_once(stage: &mut Stage, second: i64, first: u128) -> usize {
    stage.at(second);
    let numbers = first..first + 50;
    let verdict = |number| stage.given.try_execute(submit(number, get_diff())).unwrap();
    let accepted = numbers
        .map(verdict)
        .filter(|emitted| Verdict::among(emitted).is_some_and(|(_, _, v)| v.is_accepted()));
    accepted.count()
}

#[test]
fn a_bucket_starts_full_with_the_burst_or_else_the_calls_per_minute() {
    let mut burst = Stage::under(under(limits(Some(6), Some(9))));
    assert_eq!(at_once(&mut burst, 0, 1), 9);
    let mut without = Stage::under(under(limits(Some(6), None)));
    assert_eq!(at_once(&mut without, 0, 1), 6);
    let mut unlimited = Stage::under(under(limits(None, Some(2))));
    assert_eq!(at_once(&mut unlimited, 0, 1), 50);
}

#[test]
fn it_is_refilled_continuously_at_the_calls_per_minute() {
    // One each ten seconds, and never more than two.
    let mut stage = Stage::under(under(limits(Some(6), Some(2))));
    assert_eq!(at_once(&mut stage, 0, 100), 2);
    assert_eq!(at_once(&mut stage, 9, 200), 0);
    assert_eq!(at_once(&mut stage, 10, 300), 1);
    assert_eq!(at_once(&mut stage, 25, 400), 1);
    // Half a token was left.
    assert_eq!(at_once(&mut stage, 30, 500), 1);
    assert_eq!(at_once(&mut stage, 3_600, 600), 2);
}

#[test]
fn the_retry_time_is_exact() {
    let mut stage = Stage::under(under(limits(Some(60), Some(1))));
    stage.at_millis(250).when(submit(1, get_diff()));
    stage.at_millis(500);
    assert_eq!(stage.verdict(get_diff()), throttled("00:00:01.250Z"));
    stage.at_millis(1_249);
    assert_eq!(stage.verdict(get_diff()), throttled("00:00:01.250Z"));
    stage.at_millis(1_250);
    assert_eq!(stage.verdict(get_diff()), "CommandAccepted");
}

#[test]
fn a_rate_of_zero_never_refills_and_answers_the_latest_time() {
    let mut stage = Stage::under(under(limits(Some(0), Some(1))));
    stage.when(submit(1, get_diff()));
    assert_eq!(stage.at(1_000_000).verdict(get_diff()), NEVER);
    let none = Stage::under(under(limits(Some(0), None)));
    assert_eq!(none.verdict(get_diff()), NEVER);
    let no_room = Stage::under(under(limits(Some(60), Some(0))));
    assert_eq!(no_room.verdict(get_diff()), NEVER);
}

/// What is in a shared bucket.
fn level_of(stage: &Stage, name: &str) -> Option<bucket::Level> {
    match stage.given.loaded(bucket::stream_of(name)).state {
        AnyState::Bucket(state) => state.level,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_accepted_commands_take_a_token() {
    let mut stage = Stage::under(PolicyProfile {
        command_blacklist: Some(words(&["ApplyPatch"])),
        require_approval_for_push: true,
        ..under(limits(Some(1), Some(2)))
    });
    stage.when(submit(1, get_diff()));
    let tokens = |stage: &Stage| {
        let session = stage.session();
        let level = level_of(
            stage,
            &bucket::calls_name(session.policy.as_ref().unwrap(), "coder"),
        );
        session.limit().unwrap().tokens(level, at_millis(0))
    };
    assert_eq!(tokens(&stage), 1);
    stage.when(submit(2, apply_patch()));
    stage.when(submit(3, push("a")));
    assert_eq!(tokens(&stage), 1);
    stage.when(abort());
    stage.when(submit(4, get_diff()));
    assert_eq!(tokens(&stage), 1);
}

#[test]
fn a_clock_that_goes_backwards_refills_nothing() {
    let mut stage = Stage::under(under(limits(Some(60), Some(1))));
    stage.at(100).when(submit(1, get_diff()));
    stage.at(10);
    assert_eq!(stage.verdict(get_diff()), throttled("00:01:41Z"));
    stage.at(101);
    assert_eq!(stage.verdict(get_diff()), "CommandAccepted");
}

#[test]
fn a_command_given_at_an_earlier_time_does_not_turn_the_bucket_back() {
    let mut stage = Stage::under(under(limits(Some(60), Some(3))));
    stage.at(100).when(submit(1, get_diff()));
    stage.at(50).when(submit(2, get_diff()));
    stage.at(50).when(submit(3, get_diff()));
    assert_eq!(stage.verdict(get_diff()), throttled("00:01:41Z"));
}

/// A policy is applied per session and agent (docs/spec/contracts.md, Rate limits): parallel sessions do not multiply the calls.
#[test]
fn the_sessions_of_an_agent_share_their_calls_per_minute() {
    let policy = under(limits(Some(2), None));
    let of_agent = |agent: &str, policy: PolicyProfile| {
        let mut create = create(second(), policy);
        create.config.agent_profile = agent.into();
        create
    };
    let mut stage = Stage::under(policy.clone()).after(of_agent("coder", policy.clone()));
    let accepted = |stage: &mut Stage, command: SubmitCommand| {
        stage.when(command).concat().contains("accepted")
    };
    assert!(accepted(&mut stage, submit(1, get_diff())));
    assert!(accepted(&mut stage, submit_to(second(), 2)));
    assert!(!accepted(&mut stage, submit_to(second(), 3)));
    assert_eq!(stage.verdict(run_tests()), throttled("00:00:30Z"));
    // Another spelling of its name is no other agent, nor is one of the profile's another profile.
    let spelled = |name: &str| PolicyProfile {
        name: name.into(),
        ..policy.clone()
    };
    for same in [
        of_agent("Coder", policy.clone()),
        of_agent("co\u{200b}der ", policy.clone()),
        of_agent("coder", spelled("P ")),
    ] {
        let mut stage = Stage::under(policy.clone()).after(same);
        assert!(accepted(&mut stage, submit(1, get_diff())));
        assert!(accepted(&mut stage, submit_to(second(), 2)));
        assert!(!accepted(&mut stage, submit_to(second(), 3)));
    }
    // Another agent, or a profile of another name or with other limits, has its own.
    let named = PolicyProfile {
        name: "other".into(),
        ..policy.clone()
    };
    for other in [
        of_agent("reviewer", policy.clone()),
        of_agent("coder", named),
        of_agent("coder", under(limits(Some(3), None))),
    ] {
        let mut stage = Stage::under(policy.clone()).after(other);
        assert!(accepted(&mut stage, submit(1, get_diff())));
        assert!(accepted(&mut stage, submit(2, get_diff())));
        assert!(accepted(&mut stage, submit_to(second(), 3)));
    }
}

#[test]
fn a_session_of_which_no_agent_is_known_has_a_bucket_of_its_own() {
    let mut stage = Stage::before(under(limits(Some(1), None)));
    assert_eq!(
        stage.when(submit(1, get_diff())),
        ["1 GetDiff", "1 accepted (session)"]
    );
    assert_eq!(stage.verdict(get_diff()), throttled("00:01:00Z"));
}

// Caps on one kind.

#[test]
fn a_cap_replaces_the_general_bucket_for_its_kind() {
    let mut stage = Stage::under(under(RateLimits {
        calls_per_minute: Some(1),
        burst: Some(1),
        ..capped(&[("GetDiff", 2)])
    }));
    assert_eq!(
        stage.when(submit(1, get_diff())),
        [
            "1 GetDiff",
            "1 accepted (shared)",
            "a token of GetDiff for 1"
        ]
    );
    stage.when(submit(2, get_diff()));
    // The cap is used up; capacity and refill are the cap.
    assert_eq!(stage.verdict(get_diff()), throttled("00:00:30Z"));
    // The general bucket is as full as it was.
    assert_eq!(
        stage.when(submit(3, run_tests())),
        [
            "3 RunTests",
            "3 accepted (shared)",
            "a token of RunTests for 3"
        ]
    );
    assert_eq!(stage.verdict(apply_patch()), throttled("00:01:00Z"));
}

#[test]
fn a_cap_of_zero_is_none() {
    let stage = Stage::under(under(capped(&[("GetDiff", 0)])));
    assert_eq!(stage.verdict(get_diff()), NEVER);
    assert_eq!(stage.verdict(run_tests()), "CommandAccepted");
}

fn second() -> SessionId {
    SessionId(Uuid::from_u128(2))
}

fn submit_to(session: SessionId, number: u128) -> SubmitCommand {
    SubmitCommand {
        session,
        ..submit(number, get_diff())
    }
}

#[test]
fn a_cap_is_shared_by_sessions_whose_profiles_have_one_name_and_the_same_limits() {
    let policy = under(capped(&[("GetDiff", 2), ("Push", 7)]));
    let same = PolicyProfile {
        // The order of the caps and the other rules do not matter.
        limits: Some(capped(&[("Push", 7), ("GetDiff", 2)])),
        protected_branches: words(&["main"]),
        ..anything()
    };
    let mut stage = Stage::under(policy).after(create(second(), same));
    assert_eq!(
        stage.when(submit_to(second(), 1)),
        [
            "1 GetDiff",
            "1 accepted (shared)",
            "a token of GetDiff for 1"
        ]
    );
    stage.when(submit(2, get_diff()));
    assert_eq!(stage.verdict(get_diff()), throttled("00:00:30Z"));
    let refused = stage.when(submit_to(second(), 3));
    assert!(refused[1].starts_with("3 throttled"), "{refused:?}");
}

#[test]
fn profiles_of_other_names_or_limits_share_nothing() {
    let policy = |name: &str, cap| PolicyProfile {
        name: name.into(),
        ..under(capped(&[("GetDiff", cap)]))
    };
    for other in [policy("other", 1), policy("p", 2)] {
        let mut stage = Stage::under(policy("p", 1)).after(create(second(), other));
        stage.when(submit(1, get_diff()));
        assert!(stage.verdict(get_diff()).starts_with("Rate limit"));
        let accepted = stage.when(submit_to(second(), 2));
        assert_eq!(accepted[1], "2 accepted (shared)");
    }
}

#[test]
fn a_queue_that_drains_takes_each_token_of_a_cap_once() {
    let mut stage = Stage::under(PolicyProfile {
        require_approval_for_push: true,
        ..under(capped(&[("Push", 2)]))
    });
    for number in 1..=3 {
        stage.when(submit(number, push("a")));
    }
    // All within one decision: each looks at what the one before left.
    assert_eq!(
        stage.when(approve()),
        [
            r#"approved ["Push"]"#,
            "1 accepted (shared)",
            "a token of Push for 1",
            "2 accepted (shared)",
            "a token of Push for 2",
            "3 throttled: Rate limit exceeded: 1970-01-01T00:00:30Z"
        ]
    );
}

#[test]
fn a_decision_depends_on_the_bucket_that_it_looked_at() {
    let policy = under(capped(&[("GetDiff", 2)]));
    let bucket = bucket::stream_of(&bucket::name_of(&policy, CommandKind::GetDiff));
    let stage = Stage::under(policy);
    let looked_at = |body: CommandBody| {
        let (_, guards) = stage.given.decide_guarded(submit(1, body)).unwrap();
        guards.contains(&(bucket, Dependence::State, 0))
    };
    assert!(looked_at(get_diff()));
    assert!(!looked_at(run_tests()));
    let policy = under(limits(Some(2), None));
    let bucket = bucket::stream_of(&bucket::calls_name(&policy, "coder"));
    let stage = Stage::under(policy);
    let (_, guards) = stage.given.decide_guarded(submit(1, get_diff())).unwrap();
    assert!(guards.contains(&(bucket, Dependence::State, 0)));
}
