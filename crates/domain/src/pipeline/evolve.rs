//! The state of a context pipeline: what its decider needs to know; and its
//! window, for those who need that too.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Event, EvictionPolicy, FrameFacts, Tally, Window};
use crate::FrameId;

/// Whether a pipeline is there, and what its decider knows of it. The state is
/// as small for a long pipeline as for an empty one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// It does not exist.
    #[default]
    Absent,
    /// It takes frames.
    Open(Open),
}

/// A pipeline that takes frames.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// The number that the next frame gets.
    pub next_frame_id: FrameId,
    /// The policy in force.
    pub policy: Arc<EvictionPolicy>,
    /// How many frames the window holds, and the pipeline's own limit.
    pub tally: Tally,
}

impl Open {
    /// A pipeline without frames, under git-internal's policy.
    pub fn new(next_frame_id: FrameId, max_frames: u32) -> Open {
        Open {
            next_frame_id,
            policy: Arc::default(),
            tally: Tally::new(max_frames),
        }
    }

    /// The frame has its number; none at or below it is given away any more.
    fn number(&mut self, frame_id: FrameId) {
        let after = FrameId(frame_id.0.saturating_add(1));
        self.next_frame_id = self.next_frame_id.max(after);
    }
}

impl State {
    /// Whether it does not exist.
    pub fn is_absent(&self) -> bool {
        *self == State::Absent
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event) {
    match event {
        Event::Created(event) => *state = State::Open(Open::new(FrameId(0), event.max_frames)),
        Event::Adopted(event) => {
            if let Some(object) = &event.object {
                *state = State::Open(Open::new(object.next_frame_id, object.max_frames));
            }
            if let State::Open(open) = state {
                for frame in &event.frames {
                    open.number(frame.frame_id);
                    open.tally.adopt(&frame.kind);
                }
            }
        }
        Event::FramePushed(event) => {
            if let State::Open(open) = state {
                open.number(event.frame_id);
                open.tally.push(&event.kind);
            }
        }
        Event::FramesDropped(event) => {
            if let State::Open(open) = state {
                open.tally.drop_frames(event.all);
            }
        }
        Event::MaxFramesSet(event) => {
            if let State::Open(open) = state {
                open.tally.set_max_frames(event.max_frames);
            }
        }
        Event::EvictionPolicySet(event) => {
            if let State::Open(open) = state {
                let policy = event.policy();
                open.tally.set_policy(&policy);
                open.policy = Arc::new(policy.in_force());
            }
        }
        Event::FramesUsed(_)
        | Event::GlobalSummarySet(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_)
        | Event::Sealed(_) => {}
    }
}

/// Folds one event into the pipeline's window, without the frames' content.
/// There is none before the pipeline is.
pub fn evolve_window(window: &mut Option<Window<()>>, event: &Event) {
    evolve_window_with(window, event, |_, _| {});
}

/// The same, giving each frame that goes to `evicted`, behind the number of the
/// frame whose push it had to make room for; none where it was dropped.
pub fn evolve_window_with(
    window: &mut Option<Window<()>>,
    event: &Event,
    mut evicted: impl FnMut(Option<FrameId>, FrameFacts),
) {
    match (event, window) {
        (Event::Created(event), window) => *window = Some(Window::new(event.max_frames)),
        (Event::Adopted(event), window) => {
            if let Some(object) = &event.object {
                let window = window.insert(Window::new(object.max_frames));
                window.skip_to(object.next_frame_id);
            }
            for frame in &event.frames {
                if let Some(window) = window {
                    window.adopt(frame.frame_id, &frame.kind, frame.token_estimate, ());
                }
            }
        }
        (Event::FramePushed(event), Some(window)) => {
            window.skip_to(event.frame_id);
            window.push_with(&event.kind, event.token_estimate, (), |facts, ()| {
                evicted(Some(event.frame_id), facts);
            });
        }
        (Event::FramesUsed(event), Some(window)) => {
            for frame in &event.frames {
                window.touch(*frame);
            }
        }
        (Event::FramesDropped(event), Some(window)) => {
            window.drop_frames(event, |facts, ()| evicted(None, facts));
        }
        (Event::MaxFramesSet(event), Some(window)) => window.set_max_frames(event.max_frames),
        (Event::EvictionPolicySet(event), Some(window)) => window.set_policy(event.policy()),
        (
            Event::FramePushed(_)
            | Event::FramesUsed(_)
            | Event::FramesDropped(_)
            | Event::MaxFramesSet(_)
            | Event::EvictionPolicySet(_),
            None,
        )
        | (
            Event::GlobalSummarySet(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_),
            _,
        ) => {}
    }
}
