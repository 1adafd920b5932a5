//! Given, when, then for context pipelines.

use std::sync::Arc;

use crate::pipeline::*;
use crate::testing::{Given, events, json, stream, texts};
use crate::{
    AnyEvent, AnyState, Command, DecideError, Dependence, FrameId, Kind, Loaded, PipelineId,
    Refusal, Slot, StreamKind, World,
};

const ID: PipelineId = PipelineId(uuid::Uuid::from_u128(1));

fn create(max_frames: u32) -> CreatePipeline {
    CreatePipeline {
        id: Some(ID),
        max_frames: Some(max_frames),
        policy: None,
    }
}

fn push(kind: FrameKind) -> PushFrame {
    PushFrame {
        pipeline: ID,
        kind,
        summary: "what".into(),
        data: None,
        content: None,
        token_estimate: None,
    }
}

fn open(given: &Given) -> Open {
    match given.loaded(stream(StreamKind::Pipeline, 1)).state {
        AnyState::Pipeline(state) => match &*state {
            State::Open(open) => open.clone(),
            State::Absent => panic!("the pipeline is absent"),
        },
        other => panic!("expected a pipeline, found {other:?}"),
    }
}

#[test]
fn a_pipeline_is_created_once_and_unlimited_by_default() {
    let emitted = Given::new()
        .decide(CreatePipeline {
            id: Some(ID),
            max_frames: None,
            policy: None,
        })
        .expect("accepted");
    assert_eq!(
        events(&emitted),
        [AnyEvent::Pipeline(Created { max_frames: 0 }.into())]
    );
    let refusal = Given::new()
        .command(create(3))
        .decide(create(3))
        .expect_err("it exists");
    assert_eq!(
        refusal,
        Refusal::Exists {
            kind: Kind::ContextPipeline,
            id: ID.0
        }
    );
}

#[test]
fn a_frame_is_stored_with_its_content_apart() {
    let given = Given::new()
        .command(create(0))
        .command(push(FrameKind::IntentAnalysis));
    let frame = PushFrame {
        pipeline: ID,
        kind: FrameKind::ToolCall,
        summary: "ran the tests".into(),
        data: Some(json(r#"{"b": 1.0, "a": []}"#)),
        content: Some(json(r#""2 passed""#)),
        token_estimate: Some(120),
    };
    let emitted = given.decide(frame).expect("accepted");
    let expected = FramePushed {
        frame_id: FrameId(1),
        kind: FrameKind::ToolCall,
        summary: Slot(0),
        data: Some(Slot(1)),
        content: Some(Slot(2)),
        token_estimate: Some(120),
    };
    assert_eq!(events(&emitted), [AnyEvent::Pipeline(expected.into())]);
    assert_eq!(
        texts(&emitted),
        [vec![
            "ran the tests",
            r#"{"b":1.0,"a":[]}"#,
            r#""2 passed""#
        ]]
    );
}

#[test]
fn the_summary_of_a_frame_may_be_blank() {
    let given = Given::new().command(create(0));
    for summary in ["", " \n"] {
        let frame = PushFrame {
            summary: summary.into(),
            ..push(FrameKind::ToolCall)
        };
        let emitted = given.decide(frame).expect("accepted");
        assert_eq!(texts(&emitted), [[summary]]);
    }
}

#[test]
fn content_goes_with_data_that_can_have_it_as_a_member() {
    let given = Given::new().command(create(0));
    let with = |data: Option<&str>| {
        let frame = PushFrame {
            data: data.map(json),
            content: Some(json("[1]")),
            ..push(FrameKind::ToolCall)
        };
        given.decide(frame)
    };
    assert!(with(None).is_ok() && with(Some("{}")).is_ok());
    for (data, says) in [
        (r#"{"a": 1, "content": null}"#, "already"),
        ("[]", "object"),
        ("null", "object"),
    ] {
        let refusal = with(Some(data)).expect_err(data).to_string();
        assert!(refusal.contains(says), "{data}: {refusal}");
    }
}

#[test]
fn numbers_go_on_after_evictions() {
    let mut given = Given::new().command(create(1));
    for expected in 0..4 {
        let emitted = given.execute(push(FrameKind::StepSummary));
        let [AnyEvent::Pipeline(Event::FramePushed(frame))] = &events(&emitted)[..] else {
            panic!("{emitted:?}");
        };
        assert_eq!(frame.frame_id, FrameId(expected));
    }
    assert_eq!(open(&given).tally.len(), Some(1));
}

#[test]
fn the_last_number_is_never_given_away() {
    let decide = |next| {
        let full = Open::new(FrameId(next), 0);
        let state = AnyState::Pipeline(Arc::new(State::Open(full)));
        let mut world = World::new();
        world.insert_state(
            stream(StreamKind::Pipeline, 1),
            Loaded { version: 1, state },
        );
        Command::from(push(FrameKind::ToolCall)).decide(&mut world, &Given::new().meta())
    };
    assert!(decide(u64::MAX - 1).is_ok());
    let error = decide(u64::MAX).expect_err("no number is left");
    let expected = matches!(
        error,
        DecideError::Refused(Refusal::Invalid {
            field: "pipeline",
            ..
        })
    );
    assert!(expected, "{error}");
}

#[test]
fn the_same_limit_changes_nothing() {
    let given = Given::new().command(create(3));
    let set = |max_frames| SetMaxFrames {
        pipeline: ID,
        max_frames,
    };
    assert_eq!(given.decide(set(3)), Ok(Vec::new()));
    let emitted = given.decide(set(2)).expect("accepted");
    assert_eq!(
        events(&emitted),
        [AnyEvent::Pipeline(MaxFramesSet { max_frames: 2 }.into())]
    );
}

#[test]
fn the_state_follows_the_limit_and_the_pushes() {
    let mut given = Given::new().command(create(0));
    for _ in 0..5 {
        given.execute(push(FrameKind::CodeChange));
    }
    given.execute(SetMaxFrames {
        pipeline: ID,
        max_frames: 2,
    });
    assert_eq!(open(&given).tally.len(), Some(5));
    given.execute(push(FrameKind::Checkpoint));
    assert_eq!(
        (open(&given).tally.len(), open(&given).next_frame_id.0),
        (Some(2), 6)
    );
}

#[test]
fn the_global_summary_is_set_and_taken_away() {
    let given = Given::new().command(create(0));
    let set = |summary: Option<&str>| SetGlobalSummary {
        pipeline: ID,
        summary: summary.map(str::to_owned),
    };
    let emitted = given.decide(set(Some("halfway"))).expect("accepted");
    let expected = GlobalSummarySet {
        summary: Some(Slot(0)),
    };
    assert_eq!(events(&emitted), [AnyEvent::Pipeline(expected.into())]);
    assert_eq!(texts(&emitted), [vec!["halfway"]]);
    let (emitted, guards) = given.decide_guarded(set(None)).expect("accepted");
    assert_eq!(
        events(&emitted),
        [AnyEvent::Pipeline(
            GlobalSummarySet { summary: None }.into()
        )]
    );
    assert_eq!(
        guards,
        [(stream(StreamKind::Pipeline, 1), Dependence::Exists, 1)]
    );
}

#[test]
fn a_frame_kind_is_not_blank() {
    let given = Given::new().command(create(0));
    let refusal = given
        .decide(push(FrameKind::Other(String::new())))
        .expect_err("blank");
    assert!(
        matches!(refusal, Refusal::Invalid { field: "kind", .. }),
        "{refusal}"
    );
    assert!(
        given
            .decide(push(FrameKind::Other("plan_note".into())))
            .is_ok()
    );
}

fn drop_frames(frames: Option<&[u64]>) -> DropFrames {
    let frames = frames.map(|frames| frames.iter().copied().map(FrameId).collect());
    DropFrames {
        pipeline: ID,
        frames,
    }
}

fn dropped(frames: &[(u64, u64)], all: bool) -> AnyEvent {
    let range = |(first, last): &(u64, u64)| StoredRange {
        first: FrameId(*first),
        last: FrameId(*last),
    };
    let frames = frames.iter().map(range).collect();
    AnyEvent::Pipeline(FramesDropped { frames, all }.into())
}

#[test]
fn what_a_program_drops_is_named_in_ranges() {
    let mut given = Given::new().command(create(0));
    assert_eq!(given.decide(drop_frames(None)), Ok(Vec::new()), "no frames");
    for _ in 0..5 {
        given = given.command(push(FrameKind::ToolCall));
    }
    for (frames, expected) in [
        (None, dropped(&[(0, 4)], true)),
        (Some(&[4, 2, 0, 3, 3, 1][..]), dropped(&[(0, 4)], true)),
        (Some(&[3, 1, 0]), dropped(&[(0, 1), (3, 3)], false)),
    ] {
        let emitted = given.decide(drop_frames(frames)).expect("accepted");
        assert_eq!(events(&emitted), [expected]);
    }
    assert_eq!(given.decide(drop_frames(Some(&[]))), Ok(Vec::new()));
    let refusal = given
        .decide(drop_frames(Some(&[5])))
        .expect_err("not pushed");
    assert!(
        matches!(
            refusal,
            Refusal::Invalid {
                field: "frames",
                ..
            }
        ),
        "{refusal}"
    );
}

#[test]
fn dropped_frames_go_at_once_and_protected_ones_too() {
    let mut given = Given::new().command(create(3));
    for kind in [FrameKind::IntentAnalysis, FrameKind::Checkpoint] {
        given = given.command(push(kind));
    }
    let given = given.command(drop_frames(None));
    assert_eq!(open(&given).tally.len(), Some(0));
    assert_eq!(open(&given).next_frame_id, FrameId(2));
    let given = given.command(push(FrameKind::Checkpoint));
    assert_eq!(open(&given).tally.len(), Some(1));
    // Whether a frame was still there is not known from counting.
    let given = given.command(drop_frames(Some(&[2])));
    assert_eq!(open(&given).tally.len(), None);
}

#[test]
fn nothing_is_done_to_a_pipeline_that_is_not_there() {
    let commands: [Command; 4] = [
        drop_frames(None).into(),
        push(FrameKind::ToolCall).into(),
        SetMaxFrames {
            pipeline: ID,
            max_frames: 1,
        }
        .into(),
        SetGlobalSummary {
            pipeline: ID,
            summary: None,
        }
        .into(),
    ];
    for command in commands {
        let missing = Refusal::NotFound {
            kind: Kind::ContextPipeline,
            id: ID.0,
        };
        assert_eq!(Given::new().decide(command), Err(missing));
    }
}

fn with_policy(policy: EvictionPolicy) -> CreatePipeline {
    CreatePipeline {
        policy: Some(policy),
        max_frames: None,
        ..create(0)
    }
}

fn set_policy(policy: EvictionPolicy) -> SetEvictionPolicy {
    SetEvictionPolicy {
        pipeline: ID,
        policy,
    }
}

#[test]
fn a_policy_is_recorded_behind_the_creation() {
    let policy = EvictionPolicy::token_budget(8_000);
    let emitted = Given::new().decide(with_policy(policy.clone()));
    let expected = [
        AnyEvent::Pipeline(Created { max_frames: 0 }.into()),
        AnyEvent::Pipeline(EvictionPolicySet::new(&policy).into()),
    ];
    assert_eq!(events(&emitted.expect("accepted")), expected);
    let emitted = Given::new().decide(with_policy(EvictionPolicy::max_frames(5)));
    let expected = [AnyEvent::Pipeline(Created { max_frames: 5 }.into())];
    assert_eq!(events(&emitted.expect("accepted")), expected, "the default");
}

#[test]
fn a_limit_of_frames_goes_with_document_001s_policy_alone() {
    let both = |policy, max_frames| {
        let command = CreatePipeline {
            policy: Some(policy),
            ..create(max_frames)
        };
        Given::new().decide(command)
    };
    for policy in [
        EvictionPolicy::token_budget(1),
        EvictionPolicy::unlimited(),
        EvictionPolicy::least_recently_used(5),
        EvictionPolicy::max_frames(4),
    ] {
        let refusal = both(policy, 5).expect_err("two limits");
        assert!(
            matches!(
                refusal,
                Refusal::Invalid {
                    field: "policy",
                    ..
                }
            ),
            "{refusal}"
        );
    }
    assert!(both(EvictionPolicy::default(), 5).is_ok());
    assert!(both(EvictionPolicy::max_frames(5), 5).is_ok());
}

#[test]
fn a_policy_is_set_once() {
    let policy = EvictionPolicy::least_recently_used(3);
    let given = Given::new().command(create(7));
    let emitted = given.decide(set_policy(policy.clone())).expect("accepted");
    let expected = [AnyEvent::Pipeline(EvictionPolicySet::new(&policy).into())];
    assert_eq!(events(&emitted), expected);
    let given = given.command(set_policy(policy.clone()));
    assert_eq!(*open(&given).policy, policy);
    assert_eq!(given.decide(set_policy(policy)), Ok(Vec::new()));
    assert_eq!(open(&given).tally.max_frames(), 7);
}

#[test]
fn the_policy_that_is_in_force_is_no_change() {
    let given = Given::new().command(create(7));
    for policy in [EvictionPolicy::default(), EvictionPolicy::max_frames(7)] {
        assert_eq!(given.decide(set_policy(policy)), Ok(Vec::new()));
    }
    let given = given.command(set_policy(EvictionPolicy::max_frames(8)));
    assert_eq!(open(&given).tally.max_frames(), 8);
}

#[test]
fn a_policy_must_make_sense() {
    let given = Given::new().command(create(0));
    for policy in [
        EvictionPolicy::token_budget(0),
        EvictionPolicy::rolling_summary(10, 10),
        EvictionPolicy::least_recently_used(0),
        EvictionPolicy::kind_quotas([], None),
        EvictionPolicy::kind_quotas([(FrameKind::Checkpoint, 1)], None),
        EvictionPolicy::kind_quotas([(FrameKind::ToolCall, 1), (FrameKind::ToolCall, 2)], None),
    ] {
        let refusal = given.decide(set_policy(policy)).expect_err("nonsense");
        assert!(
            matches!(
                refusal,
                Refusal::Invalid {
                    field: "policy",
                    ..
                }
            ),
            "{refusal}"
        );
    }
}

#[test]
fn a_protected_kind_is_not_blank() {
    let given = Given::new().command(create(0));
    for blank in ["", " "] {
        let policy = EvictionPolicy::MaxFrames(MaxFrames {
            max_frames: None,
            protected: vec![FrameKind::Checkpoint, FrameKind::Other(blank.into())],
        });
        let refusal = given.decide(set_policy(policy)).expect_err("blank");
        let said = "protected: a kind must not be blank";
        assert!(refusal.to_string().contains(said), "{refusal}");
    }
}

#[test]
fn a_limit_under_another_policy_waits_for_document_001s() {
    let mut given = Given::new()
        .command(with_policy(EvictionPolicy::unlimited()))
        .command(SetMaxFrames {
            pipeline: ID,
            max_frames: 2,
        });
    for _ in 0..5 {
        given.execute(push(FrameKind::ToolCall));
    }
    assert_eq!(open(&given).tally.len(), Some(5));
    given.execute(set_policy(EvictionPolicy::default()));
    assert_eq!(open(&given).tally.len(), Some(5), "no push yet");
    given.execute(push(FrameKind::ToolCall));
    assert_eq!(open(&given).tally.len(), Some(2));
}
