//! Policies at work on a recorded history, and what is counted of each.

use annals_domain::pipeline::{EvictionPolicy, Evictor, FrameRanges, Rules, Window};
use annals_domain::{FrameId, PipelineId};
use annals_event_log::Position;

use super::candidate::{Candidate, CandidateKind};
use super::history::{Frame, History, Step};
use super::report::{Held, PipelineReplay, PolicyReplay, WindowAt};

/// What was recorded and the candidates, side by side.
pub(super) struct Trials<'a> {
    pipeline: PipelineId,
    recorded: Trial<Rules>,
    candidates: Vec<(&'a str, AtWork<'a>)>,
}

/// A candidate at work.
enum AtWork<'a> {
    /// A policy of ours; whether it brings its own limit of frames with it.
    Policy {
        policy: &'a EvictionPolicy,
        trial: Trial<Rules>,
    },
    Custom {
        make: &'a (dyn Fn() -> Box<dyn Evictor + Send> + Sync),
        trial: Trial<Box<dyn Evictor + Send>>,
    },
}

/// The name of what was recorded.
const RECORDED: &str = "recorded";

impl<'a> Trials<'a> {
    pub(super) fn new(pipeline: PipelineId, candidates: &'a [Candidate<'_>]) -> Trials<'a> {
        let at_work = |candidate: &'a Candidate<'_>| {
            let at_work = match &candidate.kind {
                CandidateKind::Policy(policy) => AtWork::Policy {
                    policy,
                    trial: Trial::new(Window::with_policy(policy.clone(), 0)),
                },
                CandidateKind::Custom(make) => AtWork::Custom {
                    make: *make,
                    trial: Trial::new(Window::with_evictor(make())),
                },
            };
            (candidate.name.as_str(), at_work)
        };
        Trials {
            pipeline,
            recorded: Trial::new(Window::new(0)),
            candidates: candidates.iter().map(at_work).collect(),
        }
    }

    pub(super) fn fold(&mut self, step: &Step<'_>) {
        match step {
            Step::Begun {
                max_frames,
                next_frame_id,
            } => {
                let window = Window::new(*max_frames);
                self.recorded.begin(window, *next_frame_id);
            }
            Step::Dropped(event) => {
                let evictions = &mut self.recorded.evictions;
                self.recorded
                    .window
                    .drop_frames(event, |_, ()| *evictions += 1);
            }
            Step::Limit(max_frames) => self.recorded.window.set_max_frames(*max_frames),
            Step::Policy(policy) => self.recorded.window.set_policy((*policy).clone()),
            Step::Adopted(_) | Step::Pushed(_) | Step::Used { .. } => self.recorded.fold(step),
        }
        for (_, candidate) in &mut self.candidates {
            candidate.fold(step);
        }
    }

    /// Gives every window as a step found it.
    pub(super) fn show(&self, step: &Step<'_>, show: &mut dyn FnMut(WindowAt<'_>)) {
        let Step::Used {
            position,
            plan,
            step,
            frames,
            ..
        } = step
        else {
            return;
        };
        self.each_window(*position, Some((*plan, *step)), frames, show);
    }

    /// Gives every window as the history leaves it.
    pub(super) fn show_end(&self, position: Position, show: &mut dyn FnMut(WindowAt<'_>)) {
        self.each_window(position, None, &[], show);
    }

    fn each_window(
        &self,
        position: Position,
        step: Option<(annals_domain::PlanId, u32)>,
        used: &[FrameId],
        show: &mut dyn FnMut(WindowAt<'_>),
    ) {
        let recorded = (RECORDED, self.recorded.shown(used));
        let candidates = self.candidates.iter().map(|(name, candidate)| {
            let shown = match candidate {
                AtWork::Policy { trial, .. } => trial.shown(used),
                AtWork::Custom { trial, .. } => trial.shown(used),
            };
            (*name, shown)
        });
        for (policy, shown) in std::iter::once(recorded).chain(candidates) {
            show(WindowAt {
                pipeline: self.pipeline,
                policy,
                position,
                step,
                frames: shown.frames,
                summarised: shown.summarised,
                missed: shown.missed,
            });
        }
    }

    pub(super) fn report(&self, history: &History) -> PipelineReplay {
        let [
            pushes,
            uses,
            inferred_uses,
            unknown_uses,
            frames_without_estimate,
        ] = history.counts();
        let mut policies = vec![self.recorded.report(RECORDED, None, uses)];
        for (name, candidate) in &self.candidates {
            policies.push(match candidate {
                AtWork::Policy { policy, trial } => trial.report(name, Some(policy), uses),
                AtWork::Custom { trial, .. } => trial.report(name, None, uses),
            });
        }
        PipelineReplay {
            pipeline: self.pipeline,
            first_position: history.first(),
            last_position: history.last(),
            pushes,
            uses,
            inferred_uses,
            unknown_uses,
            frames_without_estimate,
            policies,
        }
    }
}

impl AtWork<'_> {
    fn fold(&mut self, step: &Step<'_>) {
        let limit = match step {
            Step::Limit(max_frames) | Step::Begun { max_frames, .. } => Some(*max_frames),
            Step::Policy(policy) => policy.own_max_frames(),
            Step::Adopted(_) | Step::Pushed(_) | Step::Used { .. } | Step::Dropped(_) => None,
        };
        match self {
            AtWork::Policy { policy, trial } => {
                if let Step::Begun { next_frame_id, .. } = step {
                    let window = Window::with_policy((*policy).clone(), 0);
                    trial.begin(window, *next_frame_id);
                }
                // A limit that the candidate brings with it holds throughout.
                if let Some(limit) = limit.filter(|_| policy.own_max_frames().is_none()) {
                    trial.window.set_max_frames(limit);
                }
                trial.fold(step);
            }
            AtWork::Custom { make, trial } => {
                if let Step::Begun { next_frame_id, .. } = step {
                    trial.begin(Window::with_evictor(make()), *next_frame_id);
                }
                if let Some(limit) = limit {
                    trial.window.set_max_frames(limit);
                }
                trial.fold(step);
            }
        }
    }
}

/// One policy at work, and what is counted of it.
struct Trial<E> {
    window: Window<(), E>,
    pushes: u64,
    frames: Measure,
    tokens: Measure,
    evictions: u64,
    over_limit: u64,
    misses: u64,
    inferred_misses: u64,
}

/// A peak and a sum.
#[derive(Default)]
struct Measure {
    peak: u128,
    sum: u128,
}

impl Measure {
    fn take(&mut self, held: u128) {
        self.peak = self.peak.max(held);
        self.sum = self.sum.saturating_add(held);
    }

    fn held(&self, pushes: u64, end: u128) -> Held {
        let whole = |held: u128| u64::try_from(held).unwrap_or(u64::MAX);
        let mean = if pushes == 0 {
            0.0
        } else {
            // It is at most the peak, however large that is.
            (self.sum as f64 / pushes as f64).min(u64::MAX as f64)
        };
        Held {
            peak: whole(self.peak.max(end)),
            mean,
            end: whole(end),
        }
    }
}

/// A window as it is shown.
struct Shown {
    frames: FrameRanges,
    summarised: FrameRanges,
    missed: Vec<FrameId>,
}

impl<E: Evictor> Trial<E> {
    fn new(window: Window<(), E>) -> Trial<E> {
        Trial {
            window,
            pushes: 0,
            frames: Measure::default(),
            tokens: Measure::default(),
            evictions: 0,
            over_limit: 0,
            misses: 0,
            inferred_misses: 0,
        }
    }

    fn begin(&mut self, window: Window<(), E>, next: FrameId) {
        self.window = window;
        self.window.skip_to(next);
    }

    fn fold(&mut self, step: &Step<'_>) {
        match step {
            Step::Adopted(frame) => {
                self.window.adopt(frame.id, frame.kind, frame.tokens, ());
            }
            Step::Pushed(frame) => self.push(frame),
            Step::Used {
                frames, inferred, ..
            } => {
                for frame in *frames {
                    if !self.window.touch(*frame) {
                        self.misses += 1;
                        self.inferred_misses += u64::from(*inferred);
                    }
                }
            }
            Step::Begun { .. } | Step::Dropped(_) | Step::Limit(_) | Step::Policy(_) => {}
        }
    }

    fn push(&mut self, frame: &Frame<'_>) {
        self.window.skip_to(frame.id);
        let evictions = &mut self.evictions;
        self.window
            .push_with(frame.kind, frame.tokens, (), |_, ()| *evictions += 1);
        self.pushes += 1;
        self.over_limit += u64::from(self.window.excess().is_some());
        let (frames, tokens) = self.held();
        self.frames.take(frames);
        self.tokens.take(tokens);
    }

    fn held(&self) -> (u128, u128) {
        let totals = self.window.totals();
        let summary = self.window.rolled_up().map_or(0, |rolled| rolled.tokens);
        let tokens = totals.tokens + u128::from(summary);
        (u128::from(totals.frames), tokens)
    }

    fn shown(&self, used: &[FrameId]) -> Shown {
        let summarised = self.window.rolled_up().map(|rolled| rolled.frames.clone());
        let missed = |frame: &&FrameId| self.window.frame_by_id(**frame).is_none();
        Shown {
            frames: self.window.iter().map(|(id, ())| id).collect(),
            summarised: summarised.unwrap_or_default(),
            missed: used.iter().filter(missed).copied().collect(),
        }
    }

    fn report(&self, name: &str, policy: Option<&EvictionPolicy>, uses: u64) -> PolicyReplay {
        let (frames, tokens) = self.held();
        PolicyReplay {
            name: name.to_owned(),
            policy: policy.cloned(),
            frames: self.frames.held(self.pushes, frames),
            tokens: self.tokens.held(self.pushes, tokens),
            evictions: self.evictions,
            pushes_over_limit: self.over_limit,
            uses,
            misses: self.misses,
            inferred_misses: self.inferred_misses,
            optimum: None,
            above_optimum: None,
        }
    }
}
