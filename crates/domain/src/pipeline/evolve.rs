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

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event) {
    match event {
        Event::Created(event) => *state = State::Open(Occupancy::new(event.max_frames)),
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
