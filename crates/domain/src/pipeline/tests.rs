//! Given, when, then for context pipelines; the window against document 001.

use std::sync::Arc;

use super::*;
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
    }
}

fn push(kind: FrameKind) -> PushFrame {
    PushFrame {
        pipeline: ID,
        kind,
        summary: "what".into(),
        data: None,
        token_estimate: None,
    }
}

fn occupancy(given: &Given) -> Occupancy {
    match given.loaded(stream(StreamKind::Pipeline, 1)).state {
        AnyState::Pipeline(state) => match *state {
            State::Open(occupancy) => occupancy,
            State::Absent => panic!("the pipeline is absent"),
        },
        other => panic!("{other:?} is no pipeline"),
    }
}

fn ids<T>(window: &Window<T>) -> Vec<u64> {
    window.iter().map(|(id, _)| id.0).collect()
}

// Document 001's own tests.

#[test]
fn a_new_window_is_empty_and_unlimited() {
    let window: Window<()> = Window::new(0);
    assert!(window.is_empty());
    assert_eq!((window.len(), window.max_frames()), (0, 0));
    assert_eq!(window.next_frame_id(), FrameId(0));
    assert_eq!(window.total_token_estimate(), 0);
}

#[test]
fn frames_get_numbers_in_order_and_are_found_by_them() {
    let mut window = Window::new(0);
    let auth = window.push(
        &FrameKind::StepSummary,
        Some(200),
        "Completed auth refactor",
    );
    let change = window.push(&FrameKind::CodeChange, None, "Modified 3 files");
    let save = window.push(&FrameKind::Checkpoint, None, "User save-point");
    assert_eq!(
        [auth.frame_id, change.frame_id, save.frame_id].map(|id| id.0),
        [0, 1, 2]
    );
    assert_eq!(window.len(), 3);
    assert_eq!(
        window.frame_by_id(FrameId(0)),
        Some(&"Completed auth refactor")
    );
    assert_eq!(window.frame_by_id(FrameId(1)), Some(&"Modified 3 files"));
    assert_eq!(window.frame_by_id(FrameId(2)), Some(&"User save-point"));
    assert_eq!(window.frame_by_id(FrameId(3)), None);
}

#[test]
fn the_oldest_frame_goes_and_a_checkpoint_stays() {
    let mut window = Window::new(3);
    let save = window
        .push(&FrameKind::Checkpoint, None, "save-point")
        .frame_id;
    let step = window
        .push(&FrameKind::StepSummary, None, "step 1")
        .frame_id;
    window.push(&FrameKind::StepSummary, None, "step 2");
    assert_eq!(window.len(), 3);
    let pushed = window.push(&FrameKind::CodeChange, None, "code change");
    assert_eq!(pushed.evicted, [step]);
    assert_eq!(window.frame_by_id(save), Some(&"save-point"));
    assert_eq!(window.frame_by_id(step), None);
    let left: Vec<&str> = window.iter().map(|(_, frame)| *frame).collect();
    assert_eq!(left, ["save-point", "step 2", "code change"]);
}

#[test]
fn tokens_are_summed_over_the_frames_that_have_an_estimate() {
    let mut window = Window::new(0);
    window.push(&FrameKind::StepSummary, Some(100), "s1");
    window.push(&FrameKind::StepSummary, Some(250), "s2");
    window.push(&FrameKind::Checkpoint, None, "cp");
    assert_eq!(window.total_token_estimate(), 350);
}

#[test]
fn the_seed_frame_stays() {
    let mut window = Window::new(2);
    let seed = window
        .push(&FrameKind::IntentAnalysis, None, "analysis")
        .frame_id;
    let step = window
        .push(&FrameKind::StepSummary, None, "step 1")
        .frame_id;
    assert_eq!(window.len(), 2);
    assert_eq!(
        window
            .push(&FrameKind::CodeChange, None, "code change")
            .evicted,
        [step]
    );
    assert_eq!(window.frame_by_id(seed), Some(&"analysis"));
    assert_eq!(ids(&window), [0, 2]);
}

// What its text and its code say beyond them.

#[test]
fn only_two_kinds_are_protected() {
    for kind in FrameKind::LISTED {
        let expected = matches!(kind, FrameKind::IntentAnalysis | FrameKind::Checkpoint);
        assert_eq!(kind.is_protected(), expected, "{kind}");
    }
    assert!(!FrameKind::Other("checkpoint".into()).is_protected());
}

#[test]
fn a_lower_limit_evicts_at_the_next_push_as_many_as_it_takes() {
    let mut window = Window::new(0);
    for n in 0..6 {
        window.push(&FrameKind::ToolCall, Some(1), n);
    }
    window.set_max_frames(2);
    assert_eq!(window.len(), 6);
    let pushed = window.push(&FrameKind::ToolCall, Some(10), 6);
    assert_eq!(pushed.evicted, [0, 1, 2, 3, 4].map(FrameId));
    assert_eq!(ids(&window), [5, 6]);
    assert_eq!(window.total_token_estimate(), 11);
}

#[test]
fn a_pushed_frame_may_itself_go_and_keeps_its_number() {
    let mut window = Window::new(1);
    window.push(&FrameKind::IntentAnalysis, Some(5), "seed");
    let pushed = window.push(&FrameKind::StepSummary, Some(7), "step");
    assert_eq!(
        pushed,
        Pushed {
            frame_id: FrameId(1),
            evicted: vec![FrameId(1)]
        }
    );
    assert_eq!(window.next_frame_id(), FrameId(2));
    assert_eq!((ids(&window), window.total_token_estimate()), (vec![0], 5));
}

#[test]
fn protected_frames_alone_stay_over_the_limit() {
    let mut window = Window::new(1);
    for kind in [
        FrameKind::Checkpoint,
        FrameKind::IntentAnalysis,
        FrameKind::Checkpoint,
    ] {
        assert_eq!(window.push(&kind, None, ()).evicted, []);
    }
    assert_eq!(window.len(), 3);
}

#[test]
fn token_sums_do_not_overflow() {
    let mut window = Window::new(2);
    window.push(&FrameKind::ToolCall, Some(u64::MAX), ());
    window.push(&FrameKind::ToolCall, Some(u64::MAX), ());
    assert_eq!(window.total_token_estimate(), u64::MAX);
    window.push(&FrameKind::ToolCall, Some(3), ());
    window.push(&FrameKind::ToolCall, Some(4), ());
    assert_eq!(window.total_token_estimate(), 7);
}

/// Document 001's eviction, in its own plain form: a list that is searched.
#[derive(Default)]
struct Model {
    max_frames: usize,
    next: u64,
    frames: Vec<(u64, bool, u64)>,
}

impl Model {
    fn push(&mut self, kind: &FrameKind, tokens: Option<u64>) -> u64 {
        let protected = matches!(kind, FrameKind::Checkpoint | FrameKind::IntentAnalysis);
        self.frames
            .push((self.next, protected, tokens.unwrap_or(0)));
        self.next += 1;
        while self.max_frames > 0 && self.frames.len() > self.max_frames {
            match self.frames.iter().position(|(_, protected, _)| !protected) {
                Some(position) => self.frames.remove(position),
                None => break,
            };
        }
        self.next - 1
    }
}

#[derive(Debug, Clone)]
enum Step {
    Push(FrameKind, Option<u64>),
    Limit(u32),
}

fn steps() -> impl proptest::strategy::Strategy<Value = Vec<Step>> {
    use proptest::prelude::*;
    let kind = proptest::sample::select(FrameKind::LISTED);
    let step = prop_oneof![
        5 => (kind, proptest::option::of(0..1_000_u64)).prop_map(|(k, t)| Step::Push(k, t)),
        1 => (0..6_u32).prop_map(Step::Limit),
    ];
    proptest::collection::vec(step, 0..50)
}

proptest::proptest! {
    #[test]
    fn the_window_does_what_document_001_does(steps in steps()) {
        let mut model = Model::default();
        let (mut window, mut count) = (Window::new(0), Occupancy::new(0));
        for step in steps {
            match step {
                Step::Limit(max) => {
                    model.max_frames = max as usize;
                    window.set_max_frames(max);
                    count.set_max_frames(max);
                }
                Step::Push(kind, tokens) => {
                    let before = ids(&window);
                    let expected = model.push(&kind, tokens);
                    let pushed = window.push(&kind, tokens, ());
                    let admitted = count.push(&kind);
                    assert_eq!((pushed.frame_id.0, admitted.frame_id.0), (expected, expected));
                    assert_eq!(pushed.evicted.len() as u64, admitted.evicted);
                    let gone = |id: &u64| model.frames.iter().all(|(left, _, _)| left != id);
                    let evicted: Vec<FrameId> =
                        before.into_iter().chain([expected]).filter(gone).map(FrameId).collect();
                    assert_eq!(pushed.evicted, evicted);
                }
            }
            assert_eq!(ids(&window), model.frames.iter().map(|(id, _, _)| *id).collect::<Vec<_>>());
            assert_eq!(window.len() as u64, count.len());
            assert_eq!(window.next_frame_id(), count.next_frame_id());
            let tokens: u64 = model.frames.iter().map(|(_, _, tokens)| tokens).sum();
            assert_eq!(window.total_token_estimate(), tokens);
        }
    }
}

// The decider.

#[test]
fn a_pipeline_is_created_once_and_unlimited_by_default() {
    let emitted = Given::new()
        .decide(CreatePipeline {
            id: Some(ID),
            max_frames: None,
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
        token_estimate: Some(120),
    };
    let emitted = given.decide(frame).expect("accepted");
    let expected = FramePushed {
        frame_id: FrameId(1),
        kind: FrameKind::ToolCall,
        summary: Slot(0),
        data: Some(Slot(1)),
        token_estimate: Some(120),
    };
    assert_eq!(events(&emitted), [AnyEvent::Pipeline(expected.into())]);
    assert_eq!(
        texts(&emitted),
        [vec!["ran the tests", r#"{"b": 1.0, "a": []}"#]]
    );
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
    assert_eq!(occupancy(&given).len(), 1);
}

#[test]
fn the_last_number_is_never_given_away() {
    let decide = |next| {
        let mut full = Occupancy::new(0);
        full.next_frame_id = FrameId(next);
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
    assert_eq!(occupancy(&given).len(), 5);
    given.execute(push(FrameKind::Checkpoint));
    assert_eq!(
        (occupancy(&given).len(), occupancy(&given).next_frame_id().0),
        (2, 6)
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

#[test]
fn nothing_is_done_to_a_pipeline_that_is_not_there() {
    let commands: [Command; 3] = [
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
