//! The state of a context pipeline: what its decider needs to know.

use super::{Event, Occupancy};

/// Whether a pipeline is there, and how full its window is. The state is as
/// small for a long pipeline as for an empty one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// It does not exist.
    #[default]
    Absent,
    /// It takes frames.
    Open(Occupancy),
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
        Event::Created(event) => *state = State::Open(Occupancy::new(event.max_frames)),
        Event::Adopted(event) => {
            if let Some(object) = &event.object {
                let next = object.next_frame_id;
                *state = State::Open(Occupancy::starting_at(next, object.max_frames));
            }
            if let State::Open(occupancy) = state {
                for frame in &event.frames {
                    occupancy.adopt(frame.frame_id, &frame.kind);
                }
            }
        }
        Event::FramePushed(event) => {
            if let State::Open(occupancy) = state {
                occupancy.push(&event.kind);
            }
        }
        Event::MaxFramesSet(event) => {
            if let State::Open(occupancy) = state {
                occupancy.set_max_frames(event.max_frames);
            }
        }
        Event::FramesUsed(_)
        | Event::GlobalSummarySet(_)
        | Event::MetadataSet(_)
        | Event::Sealed(_) => {}
    }
}
