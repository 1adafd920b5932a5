//! Replays compared with what was recorded, and with a search of all choices.

use std::collections::{BTreeSet, HashMap};

use annals_domain::pipeline::{
    Adopted, AdoptedFrame, AdoptedPipeline, Created, Event, EvictionPolicy, EvictionPolicySet,
    Evictor, Excess, FrameFacts, FrameKind, FramePushed, FrameRanges, FramesUsed, MaxFramesSet,
    Totals,
};
use annals_domain::{AdoptedHeader, FrameId, Pieces, PlanId, StreamKind, StreamRef};
use futures::executor::block_on;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::testing::{Story, id, stream};
use crate::{ContextPipelineView, Fold, ObjectView};

const PIPELINE: u8 = 1;
/// The number of the first frame that is pushed behind adopted ones.
const NEXT: u64 = 10;

/// What can happen, in its shortest form.
#[derive(Debug, Clone)]
enum Happens {
    Push(FrameKind, Option<u64>),
    /// A frame by how far back it is, so that most uses are of real ones.
    Use(Vec<u64>, bool),
    Limit(u32),
    Policy(EvictionPolicy),
}

fn own() -> StreamRef {
    stream(StreamKind::Pipeline, id(PIPELINE))
}

fn pipeline() -> PipelineId {
    PipelineId(id(PIPELINE))
}

/// A history of a pipeline: a limit, frames that it was adopted with, and what
/// happened then.
#[derive(Debug, Clone)]
struct Told {
    max_frames: u32,
    adopted: Vec<(u64, FrameKind)>,
    happens: Vec<Happens>,
}

impl Told {
    /// The number that the first pushed frame gets.
    fn next(&self) -> u64 {
        match self.adopted.is_empty() {
            true => 0,
            false => NEXT,
        }
    }

    fn story(&self) -> Story {
        let mut story = Story::new();
        let mut next = 0;
        if self.adopted.is_empty() {
            let created = Created {
                max_frames: self.max_frames,
            };
            story.push(own(), |_| Event::from(created));
        } else {
            next = NEXT;
            story.push(own(), |pieces| Event::from(self.adoption(pieces)));
        }
        for happens in &self.happens {
            story.push(own(), |pieces| event(happens, &mut next, pieces));
        }
        story
    }

    fn adoption(&self, pieces: &mut Pieces) -> Adopted {
        let frame = |(number, kind): &(u64, FrameKind)| AdoptedFrame {
            frame_id: FrameId(*number),
            kind: kind.clone(),
            summary: pieces.text("adopted"),
            data: None,
            created_at: crate::testing::time(0),
            token_estimate: Some(3),
        };
        let frames: Vec<AdoptedFrame> = self.adopted.iter().map(frame).collect();
        Adopted {
            object: Some(AdoptedPipeline {
                header: adopted_header(),
                next_frame_id: FrameId(NEXT),
                max_frames: self.max_frames,
                global_summary: None,
            }),
            frames,
        }
    }
}

fn adopted_header() -> Box<AdoptedHeader> {
    let sample = annals_wire::sample::samples()
        .into_iter()
        .find_map(|sample| match sample.event {
            annals_domain::AnyEvent::Pipeline(Event::Adopted(event)) => event.object,
            _ => None,
        });
    let mut header = sample.expect("an example").header;
    // Its pieces are not here.
    header.tags.clear();
    header.external_ids.clear();
    header.violations.clear();
    header.created_by.display_name = None;
    header.created_by.auth_context = None;
    header
}

fn event(happens: &Happens, next: &mut u64, pieces: &mut Pieces) -> Event {
    match happens {
        Happens::Push(kind, token_estimate) => {
            let frame_id = FrameId(*next);
            *next += 1;
            FramePushed {
                frame_id,
                kind: kind.clone(),
                summary: pieces.text("what"),
                data: None,
                content: None,
                token_estimate: *token_estimate,
            }
            .into()
        }
        Happens::Use(back, inferred) => {
            let frames: BTreeSet<u64> = back
                .iter()
                .filter_map(|back| next.checked_sub(*back))
                .collect();
            FramesUsed {
                plan: PlanId(id(9)),
                step: 0,
                frames: frames.into_iter().map(FrameId).collect(),
                inferred: *inferred,
            }
            .into()
        }
        Happens::Limit(max_frames) => MaxFramesSet {
            max_frames: *max_frames,
        }
        .into(),
        Happens::Policy(policy) => EvictionPolicySet::new(policy).into(),
    }
}

fn kinds() -> impl Strategy<Value = FrameKind> {
    prop_oneof![
        1 => Just(FrameKind::IntentAnalysis),
        1 => Just(FrameKind::Checkpoint),
        4 => Just(FrameKind::ToolCall),
        3 => Just(FrameKind::CodeChange),
    ]
}

fn happens(policies: bool) -> impl Strategy<Value = Happens> {
    let push = (kinds(), proptest::option::of(0..9_u64));
    let push = push.prop_map(|(kind, tokens)| Happens::Push(kind, tokens));
    let uses = (proptest::collection::vec(1..9_u64, 1..4), any::<bool>());
    let uses = uses.prop_map(|(back, inferred)| Happens::Use(back, inferred));
    let policy = prop_oneof![
        (1..5_u32).prop_map(EvictionPolicy::least_recently_used),
        (1..20_u64).prop_map(EvictionPolicy::token_budget),
        (5..20_u64).prop_map(|tokens| EvictionPolicy::rolling_summary(tokens, 4)),
        (0..3_u32).prop_map(|keep| {
            EvictionPolicy::kind_quotas([(FrameKind::ToolCall, keep)], Some(2))
        }),
        (0..5_u32).prop_map(EvictionPolicy::max_frames),
        Just(EvictionPolicy::unlimited()),
    ];
    prop_oneof![
        8 => push,
        6 => uses,
        1 => (0..5_u32).prop_map(Happens::Limit),
        u32::from(policies) => policy.prop_map(Happens::Policy),
    ]
}

fn told(policies: bool, length: usize) -> impl Strategy<Value = Told> {
    let adopted = prop_oneof![
        3 => Just(Vec::new()),
        // In any order, and numbers may occur twice.
        1 => proptest::collection::vec((NEXT - 4..NEXT, kinds()), 1..4),
    ];
    let happens = proptest::collection::vec(happens(policies), 0..length);
    (0..5_u32, adopted, happens).prop_map(|(max_frames, adopted, happens)| Told {
        max_frames,
        adopted,
        happens,
    })
}

fn replayed(
    story: &Story,
    candidates: &[Candidate<'_>],
    options: ReplayOptions<'_>,
) -> PipelineReplay {
    block_on(replay(&story.log, pipeline(), candidates, options)).expect("it is replayed")
}

fn view_at(story: &Story, last: u64) -> Option<ContextPipelineView> {
    let mut fold = Fold::new(annals_domain::Kind::ContextPipeline, id(PIPELINE));
    for entry in story.entries() {
        if entry.position.0 <= last {
            fold.apply(&entry);
        }
    }
    match fold.view()? {
        ObjectView::ContextPipeline(view) => Some(view),
        other => panic!("{other:?}"),
    }
}

fn numbers(ranges: &FrameRanges) -> Vec<u64> {
    ranges
        .as_slice()
        .iter()
        .flat_map(|(first, last)| first.0..=last.0)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, rng_seed: RngSeed::Fixed(20_260_102), ..ProptestConfig::default() })]

    #[test]
    fn a_rebuilt_window_is_the_live_one_at_every_position(told in told(true, 40)) {
        let story = told.story();
        let before = story.records();
        // The live window: one view that takes each event as it comes.
        let mut live = Fold::new(annals_domain::Kind::ContextPipeline, id(PIPELINE));
        for entry in story.entries() {
            live.apply(&entry);
            let last = entry.position;
            let rebuilt = view_at(&story, last.0).expect("it has begun");
            let Some(ObjectView::ContextPipeline(now)) = live.peek() else {
                panic!("it has begun");
            };
            prop_assert_eq!(&rebuilt, now);
            let mut shown = Vec::new();
            let mut keep = |window: WindowAt<'_>| {
                if window.step.is_none() && window.policy == "recorded" {
                    shown = numbers(&window.frames);
                }
            };
            let options = ReplayOptions {
                through: Some(last),
                windows: Some(&mut keep),
                ..ReplayOptions::default()
            };
            let other = [Candidate::policy("other", EvictionPolicy::least_recently_used(2))];
            let counted = replayed(&story, &other, options);
            let held: Vec<u64> = now.frames().map(|frame| frame.frame_id.0).collect();
            prop_assert_eq!(shown, held);
            let row = &counted.policies[0];
            prop_assert_eq!(row.evictions as usize, now.evicted.len());
            let tokens = now.total_token_estimate();
            let summary = now.rolling_summary().map_or(0, |it| it.token_estimate);
            prop_assert_eq!(row.tokens.end, tokens + summary);
            prop_assert_eq!(row.frames.end as usize, now.window.len());
        }
        prop_assert!(story.records() == before, "a replay writes nothing");
    }

    #[test]
    fn the_recorded_policy_as_a_candidate_does_what_was_recorded(told in told(false, 60)) {
        let story = told.story();
        let candidates = [Candidate::policy("again", EvictionPolicy::default())];
        let options = ReplayOptions { optimum: true, ..ReplayOptions::default() };
        let answer = replayed(&story, &candidates, options);
        let [recorded, again] = &answer.policies[..] else { panic!("two rows") };
        prop_assert_eq!(&recorded.frames, &again.frames);
        prop_assert_eq!(&recorded.tokens, &again.tokens);
        prop_assert_eq!(
            (recorded.evictions, recorded.misses, recorded.inferred_misses),
            (again.evictions, again.misses, again.inferred_misses)
        );
        prop_assert_eq!(&recorded.optimum, &again.optimum);
    }

    #[test]
    fn the_optimum_is_what_a_search_of_all_choices_finds(
        told in told(false, 16),
        limit in 1..4_u32,
        quota in 0..3_u32,
    ) {
        let pushes = told.happens.iter().filter(|it| matches!(it, Happens::Push(..))).count();
        prop_assume!(pushes <= 12);
        let story = told.story();
        let quotas = EvictionPolicy::kind_quotas([(FrameKind::ToolCall, quota)], Some(1));
        let candidates = [
            Candidate::policy("limits", EvictionPolicy::default()),
            Candidate::policy("oldest", EvictionPolicy::max_frames(limit)),
            Candidate::policy("lru", EvictionPolicy::least_recently_used(limit)),
            Candidate::policy("quotas", quotas.clone()),
            Candidate::policy("free", EvictionPolicy::unlimited()),
        ];
        let options = ReplayOptions { optimum: true, ..ReplayOptions::default() };
        let answer = replayed(&story, &candidates, options);
        for row in &answer.policies {
            let Some(Yardstick::Exact { misses }) = row.optimum else {
                let numbers: BTreeSet<u64> = told.adopted.iter().map(|(id, _)| *id).collect();
                prop_assert_eq!(&row.name, "quotas");
                prop_assert!(numbers.len() < told.adopted.len(), "{:?}", row.optimum);
                continue;
            };
            prop_assert!(misses <= row.misses, "{} misses {}, the optimum {}", row.name, row.misses, misses);
            let rule = match row.name.as_str() {
                "recorded" | "limits" => Rule::Limits,
                "oldest" | "lru" => Rule::Frames(limit),
                "quotas" => Rule::Kinds(quotas.clone()),
                _ => Rule::Free,
            };
            prop_assert_eq!(misses, Search::new(&told, rule).fewest(), "{}", row.name);
        }
    }

    #[test]
    fn the_guess_for_tokens_is_never_below_what_is_possible(
        told in told(false, 16),
        tokens in 1..30_u64,
    ) {
        let pushes = told.happens.iter().filter(|it| matches!(it, Happens::Push(..))).count();
        prop_assume!(pushes <= 12);
        let candidates = [Candidate::policy("tokens", EvictionPolicy::token_budget(tokens))];
        let options = ReplayOptions { optimum: true, ..ReplayOptions::default() };
        let answer = replayed(&told.story(), &candidates, options);
        let guess = answer.policies[1].optimum.clone();
        let Some(Yardstick::Heuristic { misses }) = guess else {
            panic!("{guess:?}");
        };
        let fewest = Search::new(&told, Rule::Tokens(tokens)).fewest();
        prop_assert!(fewest <= misses, "the guess misses {}, at least {} must", misses, fewest);
        let above = answer.policies[1].misses as i64 - misses as i64;
        prop_assert_eq!(answer.policies[1].above_optimum, Some(above));
        if fewest == 0 && answer.policies[0].tokens.peak <= tokens && told.max_frames == 0 {
            prop_assert_eq!(misses, 0, "all had room");
        }
    }
}

/// What a search may keep.
enum Rule {
    /// So many frames, as the limits were recorded.
    Limits,
    Frames(u32),
    Kinds(EvictionPolicy),
    Tokens(u64),
    Free,
}

/// All choices of what to drop after each push, tried one by one.
struct Search<'a> {
    told: &'a Told,
    rule: Rule,
    known: HashMap<(usize, Vec<(u64, FrameKind)>), u64>,
}

impl<'a> Search<'a> {
    fn new(told: &'a Told, rule: Rule) -> Search<'a> {
        Search {
            told,
            rule,
            known: HashMap::new(),
        }
    }

    fn fewest(&mut self) -> u64 {
        let mut frames = Vec::new();
        let mut next = 0;
        if !self.told.adopted.is_empty() {
            frames = self.told.adopted.clone();
            next = self.told.next();
        }
        self.from(0, frames, next, self.told.max_frames)
    }

    /// The tokens of a frame; adopted ones have three.
    fn tokens_of(&self, id: u64) -> u64 {
        let Some(number) = id.checked_sub(self.told.next()) else {
            return 3;
        };
        let mut pushes = self
            .told
            .happens
            .iter()
            .filter_map(|happens| match happens {
                Happens::Push(_, tokens) => Some(tokens.unwrap_or(0)),
                _ => None,
            });
        pushes.nth(number as usize).unwrap_or(0)
    }

    /// Whether a frame was ever in the window.
    fn is_known(&self, id: u64) -> bool {
        id >= self.told.next() || self.told.adopted.iter().any(|(it, _)| *it == id)
    }

    /// The fewest misses from here on, with these frames in the window.
    fn from(
        &mut self,
        index: usize,
        mut held: Vec<(u64, FrameKind)>,
        mut next: u64,
        mut limit: u32,
    ) -> u64 {
        let mut misses = 0;
        for at in index..self.told.happens.len() {
            match &self.told.happens[at] {
                Happens::Limit(max_frames) => limit = *max_frames,
                Happens::Policy(_) => unreachable!("there are none"),
                Happens::Use(back, _) => {
                    let used: BTreeSet<u64> = back
                        .iter()
                        .filter_map(|back| next.checked_sub(*back))
                        .collect();
                    let missed =
                        |id: &&u64| self.is_known(**id) && held.iter().all(|(it, _)| it != *id);
                    misses += used.iter().filter(missed).count() as u64;
                }
                Happens::Push(kind, _) => {
                    held.push((next, kind.clone()));
                    next += 1;
                    let key = (at, held.clone());
                    let rest = match self.known.get(&key) {
                        Some(rest) => *rest,
                        None => {
                            let rest = self.choose(at, &held, next, limit);
                            self.known.insert(key, rest);
                            rest
                        }
                    };
                    return misses + rest;
                }
            }
        }
        misses
    }

    /// Every set of frames that may be kept after a push.
    fn choose(&mut self, at: usize, held: &[(u64, FrameKind)], next: u64, limit: u32) -> u64 {
        let (kept, free): (Vec<_>, Vec<_>) = held
            .iter()
            .cloned()
            .partition(|(_, kind)| kind.is_protected());
        let mut fewest = u64::MAX;
        for choice in 0..1_u32 << free.len() {
            let chosen = free.iter().enumerate();
            let chosen = chosen.filter(|(bit, _)| choice & (1 << bit) != 0);
            let chosen: Vec<_> = chosen.map(|(_, frame)| frame.clone()).collect();
            if !self.fits(&kept, &chosen, limit) {
                continue;
            }
            let mut window = [kept.clone(), chosen].concat();
            window.sort();
            fewest = fewest.min(self.from(at + 1, window, next, limit));
        }
        fewest
    }

    fn fits(&self, kept: &[(u64, FrameKind)], chosen: &[(u64, FrameKind)], limit: u32) -> bool {
        let frames =
            |limit: u32| limit == 0 || chosen.len() <= (limit as usize).saturating_sub(kept.len());
        match &self.rule {
            Rule::Limits => frames(limit),
            Rule::Frames(limit) => frames(*limit),
            Rule::Kinds(EvictionPolicy::KindQuotas(quotas)) => chosen.iter().all(|(_, kind)| {
                let alike = chosen.iter().filter(|(_, it)| it == kind).count();
                quotas
                    .quota_of(kind)
                    .is_none_or(|keep| alike <= keep as usize)
            }),
            Rule::Tokens(max) => {
                let all = kept.iter().chain(chosen);
                let tokens: u64 = all.map(|(id, _)| self.tokens_of(*id)).sum();
                chosen.is_empty() || tokens <= *max
            }
            Rule::Kinds(_) | Rule::Free => true,
        }
    }
}

fn push(kind: FrameKind, tokens: u64) -> Happens {
    Happens::Push(kind, Some(tokens))
}

#[test]
fn what_each_policy_dropped_and_missed_is_counted() {
    let tool = || push(FrameKind::ToolCall, 10);
    let told = Told {
        max_frames: 2,
        adopted: Vec::new(),
        happens: vec![
            push(FrameKind::IntentAnalysis, 5),
            tool(),
            Happens::Use(vec![1], false),
            tool(),
            // Frame 1, which the limit of 2 has dropped, and frame 2.
            Happens::Use(vec![2, 1], true),
            tool(),
        ],
    };
    let story = told.story();
    let candidates = [
        Candidate::policy("three", EvictionPolicy::max_frames(3)),
        Candidate::policy("tokens", EvictionPolicy::token_budget(15)),
    ];
    let answer = replayed(&story, &candidates, ReplayOptions::default());
    assert_eq!(
        (answer.pushes, answer.uses, answer.inferred_uses),
        (4, 3, 2)
    );
    let rows: Vec<_> = answer
        .policies
        .iter()
        .map(|row| {
            (
                row.name.as_str(),
                row.evictions,
                row.misses,
                row.inferred_misses,
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("recorded", 2, 1, 1),
            ("three", 1, 0, 0),
            ("tokens", 2, 1, 1)
        ]
    );
    let three = &answer.policies[1];
    assert_eq!((three.frames.peak, three.frames.end), (3, 3));
    assert!((three.frames.mean - 2.25).abs() < 1e-9);
    assert_eq!((three.tokens.peak, three.tokens.end), (25, 25));
}

#[test]
fn a_policy_of_ones_own_is_tried_like_the_others() {
    /// Keeps nothing.
    struct Nothing(Vec<u64>);
    impl Evictor for Nothing {
        fn admitted(&mut self, frame: &FrameFacts) {
            self.0.push(frame.place);
        }
        fn evicted(&mut self, _: &FrameFacts) {
            self.0.pop();
        }
        fn excess(&self, held: Totals) -> Option<Excess> {
            Excess::over(held, Some(0), None)
        }
        fn next(&self) -> Option<u64> {
            self.0.last().copied()
        }
    }
    let told = Told {
        max_frames: 0,
        adopted: Vec::new(),
        happens: vec![push(FrameKind::Checkpoint, 1), Happens::Use(vec![1], false)],
    };
    let make = || -> Box<dyn Evictor + Send> { Box::new(Nothing(Vec::new())) };
    let candidates = [Candidate::custom("nothing", &make)];
    let options = ReplayOptions {
        optimum: true,
        ..ReplayOptions::default()
    };
    let answer = replayed(&told.story(), &candidates, options);
    let nothing = &answer.policies[1];
    assert_eq!(
        (nothing.evictions, nothing.misses, nothing.frames.end),
        (1, 1, 0)
    );
    let none = Yardstick::None {
        reason: NoYardstick::OwnPolicy,
    };
    assert_eq!(nothing.optimum, Some(none));
}

#[test]
fn frames_that_went_before_an_adoption_are_not_misses() {
    let told = Told {
        max_frames: 0,
        adopted: vec![(NEXT - 1, FrameKind::ToolCall)],
        happens: vec![
            push(FrameKind::ToolCall, 1),
            Happens::Use(vec![1, 2, 5], false),
        ],
    };
    let answer = replayed(&told.story(), &[], ReplayOptions::default());
    assert_eq!((answer.uses, answer.unknown_uses), (2, 1));
    assert_eq!(answer.policies[0].misses, 0);
}

#[test]
fn a_policy_without_sense_is_refused() {
    let told = Told {
        max_frames: 0,
        adopted: Vec::new(),
        happens: Vec::new(),
    };
    let candidates = [Candidate::policy(
        "none",
        EvictionPolicy::least_recently_used(0),
    )];
    let story = told.story();
    let answer = block_on(replay(
        &story.log,
        pipeline(),
        &candidates,
        ReplayOptions::default(),
    ));
    assert!(matches!(answer, Err(ReplayError::InvalidPolicy { name, .. }) if name == "none"));
}

#[test]
fn a_pipeline_that_is_not_there_is_an_error() {
    let story = Story::new();
    let answer = block_on(replay(
        &story.log,
        pipeline(),
        &[],
        ReplayOptions::default(),
    ));
    assert!(matches!(answer, Err(ReplayError::NoPipeline { .. })));
}
