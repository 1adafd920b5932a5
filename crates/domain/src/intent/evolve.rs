//! The state of an intent: what its decider needs to know.

use super::{Adopted, Event, IntentStatus};

/// Where an intent is in its life (document 000, Intent status transitions).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum State {
    /// It does not exist.
    #[default]
    Absent,
    /// The prompt is recorded.
    Draft {
        /// Whether an interpretation is there.
        analyzed: bool,
    },
    /// Work is going on.
    Active,
    /// All work is finished.
    Completed,
    /// It was abandoned.
    Cancelled,
}

impl State {
    /// Whether it does not exist.
    pub fn is_absent(&self) -> bool {
        *self == State::Absent
    }

    /// The state's name as document 000 writes it.
    pub fn name(&self) -> &'static str {
        match self {
            State::Absent => "absent",
            State::Draft { .. } => "draft",
            State::Active => "active",
            State::Completed => "completed",
            State::Cancelled => "cancelled",
        }
    }
}

/// The state that an adopted intent's last status puts it into.
fn adopted(event: &Adopted) -> State {
    match event.status() {
        IntentStatus::Draft => State::Draft {
            analyzed: event.content.is_some(),
        },
        IntentStatus::Active => State::Active,
        IntentStatus::Completed => State::Completed,
        IntentStatus::Cancelled => State::Cancelled,
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event) {
    match event {
        Event::Submitted(_) => *state = State::Draft { analyzed: false },
        Event::Analyzed(_) => {
            if let State::Draft { analyzed } = state {
                *analyzed = true;
            }
        }
        Event::Activated(_) => *state = State::Active,
        Event::Adopted(event) => *state = adopted(event),
        Event::Completed(_) => *state = State::Completed,
        Event::Cancelled(_) => *state = State::Cancelled,
        Event::PlanSelected(_)
        | Event::CommitRecorded(_)
        | Event::MetadataSet(_)
        | Event::Sealed(_) => {}
    }
}
