//! A pipeline's events as the steps that a window goes through.

use std::collections::HashSet;

use annals_domain::pipeline::{Event, EvictionPolicy, FrameKind, FramesDropped};
use annals_domain::{AnyEvent, FrameId, PlanId};
use annals_event_log::Position;

/// What happened to a pipeline's window.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// It begins, empty; what was before, if anything, is gone.
    Begun {
        max_frames: u32,
        next_frame_id: FrameId,
    },
    /// A frame came that evicts none.
    Adopted(Frame<'a>),
    /// A frame was pushed.
    Pushed(Frame<'a>),
    /// A plan's step used frames that are known here.
    Used {
        position: Position,
        plan: PlanId,
        step: u32,
        frames: &'a [FrameId],
        inferred: bool,
    },
    /// The agent's program dropped frames. Only the recorded window loses them: what another
    /// policy would have kept is what is asked of it.
    Dropped(&'a FramesDropped),
    /// The pipeline's own limit was set.
    Limit(u32),
    /// The policy was set.
    Policy(&'a EvictionPolicy),
}

/// A frame as its event has it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) id: FrameId,
    pub(super) kind: &'a FrameKind,
    pub(super) tokens: Option<u64>,
}

/// What is remembered of a history while it is read.
#[derive(Debug, Default)]
pub(super) struct History {
    begun: bool,
    first: Option<Position>,
    last: Position,
    pushes: u64,
    without_estimate: u64,
    uses: u64,
    inferred_uses: u64,
    unknown_uses: u64,
    /// The first frame that was pushed here and not adopted.
    first_pushed: Option<FrameId>,
    /// Frames that were adopted: their pushes are not in the log.
    adopted: HashSet<FrameId>,
}

impl History {
    /// Gives what an event means for the window to `each`.
    pub(super) fn steps(
        &mut self,
        position: Position,
        event: &AnyEvent,
        mut each: impl FnMut(Step<'_>),
    ) {
        let AnyEvent::Pipeline(event) = event else {
            return;
        };
        self.first.get_or_insert(position);
        self.last = position;
        match event {
            Event::Created(event) => {
                self.begin();
                each(Step::Begun {
                    max_frames: event.max_frames,
                    next_frame_id: FrameId(0),
                });
            }
            Event::Adopted(event) => {
                if let Some(object) = &event.object {
                    self.begin();
                    each(Step::Begun {
                        max_frames: object.max_frames,
                        next_frame_id: object.next_frame_id,
                    });
                }
                for frame in &event.frames {
                    self.adopted.insert(frame.frame_id);
                    each(Step::Adopted(self.frame(
                        frame.frame_id,
                        &frame.kind,
                        frame.token_estimate,
                    )));
                }
            }
            Event::FramePushed(event) => {
                self.pushes += 1;
                self.first_pushed.get_or_insert(event.frame_id);
                each(Step::Pushed(self.frame(
                    event.frame_id,
                    &event.kind,
                    event.token_estimate,
                )));
            }
            Event::FramesUsed(event) => {
                let known = |frame: &FrameId| self.knows(*frame);
                let frames: Vec<FrameId> = event.frames.iter().copied().filter(known).collect();
                self.unknown_uses += (event.frames.len() - frames.len()) as u64;
                self.uses += frames.len() as u64;
                self.inferred_uses += if event.inferred {
                    frames.len() as u64
                } else {
                    0
                };
                each(Step::Used {
                    position,
                    plan: event.plan,
                    step: event.step,
                    frames: &frames,
                    inferred: event.inferred,
                });
            }
            Event::FramesDropped(event) => each(Step::Dropped(event)),
            Event::MaxFramesSet(event) => each(Step::Limit(event.max_frames)),
            Event::EvictionPolicySet(event) => each(Step::Policy(&event.policy())),
            Event::GlobalSummarySet(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
    }

    fn begin(&mut self) {
        self.begun = true;
        self.first_pushed = None;
        self.adopted.clear();
    }

    fn frame<'a>(&mut self, id: FrameId, kind: &'a FrameKind, tokens: Option<u64>) -> Frame<'a> {
        self.without_estimate += u64::from(tokens.is_none());
        Frame { id, kind, tokens }
    }

    /// Whether a frame was ever in this window. An adopted pipeline may have
    /// lost frames before, of which nothing is known.
    fn knows(&self, frame: FrameId) -> bool {
        self.first_pushed.is_some_and(|first| frame >= first) || self.adopted.contains(&frame)
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    pub(super) fn first(&self) -> Position {
        self.first.unwrap_or(Position::START)
    }

    pub(super) fn last(&self) -> Position {
        self.last
    }

    /// Pushes, uses, those of them that are inferred, uses of frames that were
    /// never seen here, and frames without a token estimate.
    pub(super) fn counts(&self) -> [u64; 5] {
        [
            self.pushes,
            self.uses,
            self.inferred_uses,
            self.unknown_uses,
            self.without_estimate,
        ]
    }
}
