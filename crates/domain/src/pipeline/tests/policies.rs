//! The other policies compared with plain forms of them, and what texts make of them.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::ids;
use crate::FrameId;
use crate::pipeline::*;

/// A window in its plainest form: a list that is searched for the next to go.
struct Plain {
    policy: EvictionPolicy,
    max_frames: u32,
    /// Number, kind, tokens, and when it came or was used last.
    frames: Vec<(u64, FrameKind, u64, u64)>,
    next: u64,
    clock: u64,
    gone: Vec<u64>,
}

impl Plain {
    fn new() -> Plain {
        Plain {
            policy: EvictionPolicy::default(),
            max_frames: 0,
            frames: Vec::new(),
            next: 0,
            clock: 0,
            gone: Vec::new(),
        }
    }

    fn tokens(&self) -> u64 {
        self.frames.iter().map(|(_, _, tokens, _)| tokens).sum()
    }

    fn of_kind(&self, kind: &FrameKind) -> usize {
        self.frames
            .iter()
            .filter(|(_, it, _, _)| it == kind)
            .count()
    }

    /// The index of the frame that goes next.
    fn next_to_go(&self) -> Option<usize> {
        let evictable =
            |(_, kind, _, _): &(u64, FrameKind, u64, u64)| !self.policy.protected().contains(kind);
        let oldest = || self.frames.iter().position(evictable);
        let (len, tokens) = (self.frames.len(), self.tokens());
        match &self.policy {
            EvictionPolicy::MaxFrames(_) if self.max_frames == 0 => None,
            EvictionPolicy::MaxFrames(_) if len <= self.max_frames as usize => None,
            EvictionPolicy::MaxFrames(_) => oldest(),
            EvictionPolicy::TokenBudget(policy) if tokens <= policy.max_tokens => None,
            EvictionPolicy::TokenBudget(_) => oldest(),
            EvictionPolicy::RollingSummary(policy) => {
                let summary = if self.gone.is_empty() {
                    0
                } else {
                    policy.summary_tokens
                };
                if tokens + summary <= policy.max_tokens {
                    None
                } else {
                    oldest()
                }
            }
            EvictionPolicy::LeastRecentlyUsed(policy) => {
                let frames = policy.max_frames.is_some_and(|limit| len > limit as usize);
                let tokens = policy.max_tokens.is_some_and(|limit| tokens > limit);
                let candidates = self
                    .frames
                    .iter()
                    .enumerate()
                    .filter(|(_, it)| evictable(it));
                let longest_ago = candidates.min_by_key(|(_, (_, _, _, touched))| *touched);
                (frames || tokens).then_some(longest_ago?.0)
            }
            EvictionPolicy::KindQuotas(policy) => self.frames.iter().position(|frame| {
                let keep = policy.quota_of(&frame.1);
                evictable(frame) && keep.is_some_and(|keep| self.of_kind(&frame.1) > keep as usize)
            }),
            EvictionPolicy::Unlimited(_) => None,
        }
    }

    fn push(&mut self, kind: FrameKind, tokens: u64) -> Vec<u64> {
        self.clock += 1;
        self.frames.push((self.next, kind, tokens, self.clock));
        self.next += 1;
        let mut evicted = Vec::new();
        while let Some(index) = self.next_to_go() {
            let (id, ..) = self.frames.remove(index);
            self.gone.push(id);
            evicted.push(id);
        }
        evicted
    }

    /// The frames that it had of these.
    fn drop_frames(&mut self, ids: &[u64]) -> Vec<u64> {
        let went = |(id, ..): &mut (u64, FrameKind, u64, u64)| ids.contains(id);
        let gone = self.frames.extract_if(.., went);
        gone.map(|(id, ..)| id).collect()
    }

    fn touch(&mut self, id: u64) -> bool {
        let held = self.frames.iter_mut().find(|(held, ..)| *held == id);
        let Some((_, _, _, touched)) = held else {
            return false;
        };
        self.clock += 1;
        *touched = self.clock;
        true
    }
}

/// What says that these were dropped, as far as they are below `next`.
fn dropped(numbers: &[u64], next: u64) -> FramesDropped {
    let numbers: BTreeSet<u64> = numbers.iter().copied().filter(|id| *id < next).collect();
    let ranges: FrameRanges = numbers.into_iter().map(FrameId).collect();
    FramesDropped::new(&ranges, FrameId(next))
}

#[derive(Debug, Clone)]
enum Step {
    Push(FrameKind, u64),
    Use(u64),
    Policy(EvictionPolicy),
    Limit(u32),
    /// These numbers, as far as they were given.
    Drop(Vec<u64>),
    DropAll,
}

fn kinds() -> impl Strategy<Value = FrameKind> {
    let mut kinds = FrameKind::LISTED.to_vec();
    kinds.push(FrameKind::Other("note".into()));
    proptest::sample::select(kinds)
}

fn protected() -> impl Strategy<Value = Vec<FrameKind>> {
    prop_oneof![
        2 => Just(protected_by_default()),
        1 => proptest::collection::vec(kinds(), 0..3),
    ]
}

fn policies() -> impl Strategy<Value = EvictionPolicy> {
    let limit = || proptest::option::of(1..8_u32);
    prop_oneof![
        (proptest::option::of(0..8_u32), protected()).prop_map(|(max_frames, protected)| {
            EvictionPolicy::MaxFrames(MaxFrames {
                max_frames,
                protected,
            })
        }),
        (1..60_u64, protected()).prop_map(|(max_tokens, protected)| {
            EvictionPolicy::TokenBudget(TokenBudget {
                max_tokens,
                protected,
            })
        }),
        (20..60_u64, 1..20_u64, protected()).prop_map(|(max_tokens, summary_tokens, protected)| {
            EvictionPolicy::RollingSummary(RollingSummary {
                max_tokens,
                summary_tokens,
                protected,
            })
        }),
        (limit(), proptest::option::of(1..60_u64), protected()).prop_map(
            |(max_frames, max_tokens, protected)| {
                EvictionPolicy::LeastRecentlyUsed(LeastRecentlyUsed {
                    max_frames,
                    max_tokens: max_tokens.or(max_frames.is_none().then_some(30)),
                    protected,
                })
            }
        ),
        (
            proptest::collection::vec((kinds(), 0..4_u32), 0..3),
            limit(),
            protected()
        )
            .prop_map(|(quotas, others, protected)| {
                let mut seen = BTreeSet::new();
                let quota = |(kind, keep)| KindQuota { kind, keep };
                let quotas: Vec<KindQuota> = quotas
                    .into_iter()
                    .filter(|(kind, _)| !protected.contains(kind) && seen.insert(kind.clone()))
                    .map(quota)
                    .collect();
                let others = others.or(quotas.is_empty().then_some(2));
                EvictionPolicy::KindQuotas(KindQuotas {
                    quotas,
                    others,
                    protected,
                })
            }),
        Just(EvictionPolicy::unlimited()),
    ]
}

fn histories() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        20 => (kinds(), 0..20_u64).prop_map(|(kind, tokens)| Step::Push(kind, tokens)),
        10 => (0..60_u64).prop_map(Step::Use),
        1 => policies().prop_map(Step::Policy),
        1 => (0..8_u32).prop_map(Step::Limit),
        2 => proptest::collection::vec(0..60_u64, 0..8).prop_map(Step::Drop),
        1 => Just(Step::DropAll),
    ];
    (policies(), proptest::collection::vec(step, 0..80)).prop_map(|(first, mut steps)| {
        steps.insert(0, Step::Policy(first));
        steps
    })
}

proptest! {
    #[test]
    fn every_policy_does_what_its_plain_form_does(steps in histories()) {
        let (mut window, mut plain) = (Window::new(0), Plain::new());
        let mut tally = Tally::new(0);
        for step in steps {
            match step {
                Step::Push(kind, tokens) => {
                    let evicted = plain.push(kind.clone(), tokens);
                    let pushed = window.push(&kind, Some(tokens), ());
                    tally.push(&kind);
                    let ours: Vec<u64> = pushed.evicted.iter().map(|id| id.0).collect();
                    prop_assert_eq!(ours, evicted);
                }
                Step::Use(id) => prop_assert_eq!(window.touch(FrameId(id)), plain.touch(id)),
                Step::Policy(policy) => {
                    plain.max_frames = policy.own_max_frames().unwrap_or(plain.max_frames);
                    let goes_on = matches!(
                        (&plain.policy, &policy),
                        (EvictionPolicy::RollingSummary(_), EvictionPolicy::RollingSummary(_))
                    );
                    if !goes_on {
                        plain.gone.clear();
                    }
                    plain.policy = policy.clone();
                    prop_assert_eq!(policy.check(), Ok(()));
                    tally.set_policy(&policy);
                    window.set_policy(policy);
                }
                Step::Drop(_) | Step::DropAll => {
                    let numbers = match step {
                        Step::Drop(some) => some,
                        _ => (0..plain.next).collect(),
                    };
                    let event = dropped(&numbers, plain.next);
                    let gone = plain.drop_frames(&numbers);
                    let mut ours = Vec::new();
                    window.drop_frames(&event, |facts, ()| ours.push(facts.id.0));
                    tally.drop_frames(event.all);
                    prop_assert_eq!(ours, gone);
                }
                Step::Limit(max_frames) => {
                    plain.max_frames = max_frames;
                    window.set_max_frames(max_frames);
                    tally.set_max_frames(max_frames);
                }
            }
            let left: Vec<u64> = plain.frames.iter().map(|(id, ..)| *id).collect();
            prop_assert_eq!(ids(&window), left);
            prop_assert_eq!(window.total_token_estimate(), plain.tokens());
            prop_assert_eq!(window.max_frames(), plain.max_frames);
            if let Some(len) = tally.len() {
                prop_assert_eq!(len, window.len() as u64);
            }
            if let EvictionPolicy::RollingSummary(_) = plain.policy {
                let ranges = window.rolled_up().map(|it| it.frames.clone()).unwrap_or_default();
                let named: Vec<u64> = ranges.as_slice().iter().flat_map(|(a, b)| a.0..=b.0).collect();
                prop_assert_eq!(&named, &plain.gone);
            }
        }
    }

    #[test]
    fn a_policy_survives_its_event_and_its_json(policy in policies()) {
        prop_assert_eq!(&EvictionPolicySet::new(&policy).policy(), &policy);
        let json = serde_json::to_string(&policy).expect("it is written");
        let read: EvictionPolicy = serde_json::from_str(&json).expect("it is read");
        prop_assert_eq!(read, policy);
    }
}

#[test]
fn a_policy_that_cannot_be_met_leaves_the_window_over() {
    let mut window = Window::with_policy(EvictionPolicy::token_budget(10), 0);
    window.push(&FrameKind::Checkpoint, Some(30), ());
    window.push(&FrameKind::ToolCall, Some(5), ());
    assert_eq!(ids(&window), [0]);
    assert_eq!(
        window.excess(),
        Some(Excess {
            frames: 0,
            tokens: 20
        })
    );
    assert_eq!(window.goes_next(), None);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_line() {
    let error = |json: &str| {
        let error = serde_json::from_str::<EvictionPolicy>(json).expect_err("nonsense");
        (error.line(), error.to_string())
    };
    for (json, line, word) in [
        ("{\n\"token_budget\": {\n\"max_tokens\": 0}}", 3, "from 1"),
        ("{\n\"token_budget\": {\n\"max_token\": 5}}", 3, "max_token"),
        ("{\"max_frames\":\n {\"max_frames\": -1}}", 2, "-1"),
        ("{\"newest\": {}}", 1, "newest"),
        ("{\"unlimited\": {\"max_frames\": 3}}", 1, "max_frames"),
    ] {
        let (at, text) = error(json);
        assert_eq!(at, line, "{text}");
        assert!(text.contains(word), "{text}");
    }
}

#[test]
fn what_is_null_is_left_out() {
    let json = r#"{"least_recently_used": {"max_frames": null, "max_tokens": 5}}"#;
    let policy: EvictionPolicy = serde_json::from_str(json).expect("it is read");
    assert_eq!(policy.check(), Ok(()));
    assert_eq!(policy.to_string(), "least_recently_used (5 tokens)");
    let json = r#"{"max_frames": {"max_frames": 2, "protected": [{"other": "note"}]}}"#;
    let policy: EvictionPolicy = serde_json::from_str(json).expect("it is read");
    assert_eq!(
        policy.to_string(),
        "max_frames (2 frames; protects other: note)"
    );
}

#[test]
fn an_unknown_field_of_a_kind_is_refused() {
    let json = r#"{"token_budget": {"max_tokens": 5, "protected": [{"other": "a", "b": 1}]}}"#;
    assert!(serde_json::from_str::<EvictionPolicy>(json).is_err());
}

#[test]
fn frames_with_one_number_are_found_one_after_the_other() {
    let mut window = Window::new(2);
    for (id, tokens) in [(5, 1), (5, 2), (3, 4)] {
        window.adopt(FrameId(id), &FrameKind::ToolCall, Some(tokens), tokens);
    }
    assert_eq!(window.frame_by_id(FrameId(5)), Some(&1));
    assert_eq!(window.next_frame_id(), FrameId(6));
    window.push(&FrameKind::ToolCall, None, 8);
    assert_eq!(ids(&window), [3, 6], "5 and 5 went");
    assert_eq!(window.frame_by_id(FrameId(5)), None);
    assert_eq!(window.frame_by_id(FrameId(3)), Some(&4));
    assert!(window.touch(FrameId(6)) && !window.touch(FrameId(5)));
    let mut window = Window::new(3);
    for (kind, frame) in [(FrameKind::ToolCall, 'a'), (FrameKind::Checkpoint, 'b')] {
        window.adopt(FrameId(1), &kind, None, frame);
    }
    window.push(&FrameKind::ToolCall, None, 'c');
    window.push(&FrameKind::ToolCall, None, 'd');
    assert_eq!(ids(&window), [1, 2, 3]);
    assert_eq!(
        window.frame_by_id(FrameId(1)),
        Some(&'b'),
        "the one that is left"
    );
}

#[test]
fn protected_kinds_may_be_none_at_all() {
    let json = r#"{"max_frames": {"max_frames": 1, "protected": []}}"#;
    let policy: EvictionPolicy = serde_json::from_str(json).expect("it is read");
    let mut window = Window::with_policy(policy, 0);
    window.push(&FrameKind::Checkpoint, None, ());
    window.push(&FrameKind::IntentAnalysis, None, ());
    assert_eq!(ids(&window), [1]);
}
