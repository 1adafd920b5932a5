//! git-internal's window: its own tests, what its text says beyond them, and its
//! algorithm compared with ours.

use super::ids;
use crate::FrameId;
use crate::pipeline::*;

// git-internal's own tests.

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

/// git-internal's eviction, in its own plain form: a list that is searched.
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

/// Histories whose windows hold 0 to 300 frames, with any share of protected
/// ones and IntentAnalysis anywhere.
fn histories() -> impl proptest::strategy::Strategy<Value = Vec<Step>> {
    use proptest::prelude::*;
    let limit = prop_oneof![1 => Just(0), 2 => 1..20_u32, 2 => 1..=300_u32];
    (limit, 0..=100_u32, 0..30_u32).prop_flat_map(|(first, protected, changes)| {
        let limits = prop_oneof![
            Just(Step::Limit(first)),
            (0..=300_u32).prop_map(Step::Limit)
        ];
        let protected_kind =
            proptest::sample::select(vec![FrameKind::IntentAnalysis, FrameKind::Checkpoint]);
        let other_kind = proptest::sample::select(vec![
            FrameKind::StepSummary,
            FrameKind::CodeChange,
            FrameKind::SystemState,
            FrameKind::ErrorRecovery,
            FrameKind::ToolCall,
            FrameKind::Other("checkpoint".into()),
        ]);
        let kind = prop_oneof![
            protected => protected_kind,
            100 - protected => other_kind,
        ];
        let push = (kind, proptest::option::of(0..1_000_u64));
        let push = push.prop_map(|(kind, tokens)| Step::Push(kind, tokens));
        let step = prop_oneof![changes => limits, 300 => push];
        let begin = Step::Limit(first);
        proptest::collection::vec(step, 0..700).prop_map(move |mut steps| {
            steps.insert(0, begin.clone());
            steps
        })
    })
}

proptest::proptest! {
    #[test]
    fn the_window_does_what_document_001_does(steps in histories()) {
        let mut model = Model::default();
        let (mut window, mut count) = (Window::new(0), Tally::new(0));
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
                    count.push(&kind);
                    assert_eq!(pushed.frame_id.0, expected);
                    let left: std::collections::BTreeSet<u64> =
                        model.frames.iter().map(|(id, _, _)| *id).collect();
                    let evicted: Vec<FrameId> = before
                        .into_iter()
                        .chain([expected])
                        .filter(|id| !left.contains(id))
                        .map(FrameId)
                        .collect();
                    assert_eq!(pushed.evicted, evicted);
                }
            }
            assert_eq!(ids(&window), model.frames.iter().map(|(id, _, _)| *id).collect::<Vec<_>>());
            assert_eq!(Some(window.len() as u64), count.len());
            assert_eq!(window.next_frame_id(), FrameId(model.next));
            for id in 0..=model.next {
                let held = model.frames.binary_search_by_key(&id, |(held, _, _)| *held).is_ok();
                assert_eq!(window.frame_by_id(FrameId(id)).is_some(), held);
            }
            let tokens: u64 = model.frames.iter().map(|(_, _, tokens)| tokens).sum();
            assert_eq!(window.total_token_estimate(), tokens);
        }
    }
}
