//! The state of a task: what its decider needs to know.

use serde::{Deserialize, Serialize};

use super::{Adopted, Event, GoalType, ReviewVerdict, TaskStatus};
use crate::{ActorKind, IntentId, Origin, RunId, TaskId};

/// Where a task is in its life (docs/spec/git-internal.md, Task status transitions).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// It does not exist.
    #[default]
    Absent,
    /// Defined, never run.
    Draft,
    /// At least one run began.
    Running,
    /// A run's commit was accepted.
    Done,
    /// Given up.
    Failed,
    /// Not wanted any more.
    Cancelled,
}

impl Status {
    /// The status as git-internal writes it.
    pub fn name(self) -> &'static str {
        match self {
            Status::Absent => "absent",
            Status::Draft => "draft",
            Status::Running => "running",
            Status::Done => "done",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }
}

/// What the decider knows of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Where it is in its life.
    pub status: Status,
    /// Whether a person created it.
    pub is_a_persons: bool,
    /// The intent that it comes from.
    pub intent: Option<IntentId>,
    /// Tasks that must be done first, without repetition.
    pub dependencies: Vec<TaskId>,
    /// What kind of work it is.
    pub goal: Option<GoalType>,
    /// The task that it is a part of.
    pub parent: Option<TaskId>,
    /// The attempts, oldest first.
    pub runs: Vec<RunId>,
    /// Whether it was called off because a task that it waited for was.
    pub is_stranded: bool,
    /// How many reviews rejected the work.
    pub rejections: u32,
    /// Whether a person gave one of them, or gave the task up.
    pub is_rejected_by_a_person: bool,
    /// Whether an import brought one of them before any attempt.
    pub is_rejected_without_a_run: bool,
    /// The task that took its place.
    pub superseded_by: Option<TaskId>,
    /// The task whose place it took.
    pub supersedes: Option<TaskId>,
}

impl State {
    /// Whether it does not exist.
    pub fn is_absent(&self) -> bool {
        self.status == Status::Absent
    }

    /// The attempt that was begun last.
    pub fn last_run(&self) -> Option<RunId> {
        self.runs.last().copied()
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event, origin: &Origin<'_>) {
    match event {
        Event::Created(created) => {
            state.status = Status::Draft;
            state.is_a_persons = origin.is_person();
            state.intent = created.intent;
            state.goal.clone_from(&created.goal);
            state.parent = created.parent;
            state.dependencies.clone_from(&created.dependencies);
        }
        Event::DependencyAdded(added) => state.dependencies.push(added.dependency),
        Event::Adopted(event) => adopt(state, event),
        Event::Started(_) => state.status = Status::Running,
        Event::Done(_) => state.status = Status::Done,
        Event::Failed(_) => {
            state.status = Status::Failed;
            state.is_rejected_by_a_person |= origin.is_persons;
        }
        Event::Cancelled(cancelled) => {
            state.status = Status::Cancelled;
            state.is_stranded = cancelled.dependency.is_some();
        }
        Event::RunAdded(added) => state.runs.push(added.run),
        Event::ReviewRecorded(review) => {
            if review.verdict == ReviewVerdict::Rejected {
                state.rejections = state.rejections.saturating_add(1);
                state.is_rejected_without_a_run |= state.runs.is_empty();
                state.is_rejected_by_a_person |= origin.is_persons;
            }
        }
        Event::Planned(planned) => state.supersedes = state.supersedes.or(planned.supersedes),
        Event::Superseded(superseded) => state.superseded_by = Some(superseded.by),
        Event::ConstraintAdded(_)
        | Event::CriterionAdded(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_)
        | Event::Sealed(_) => {}
    }
}

fn adopt(state: &mut State, event: &Adopted) {
    if let Some(object) = &event.object {
        *state = State {
            status: object.status.into(),
            is_a_persons: object.header.created_by.kind == ActorKind::Human,
            intent: object.intent,
            goal: object.goal.clone(),
            parent: object.parent,
            ..State::default()
        };
    }
    state.runs.extend(&event.runs);
    for dependency in &event.dependencies {
        if !state.dependencies.contains(dependency) {
            state.dependencies.push(*dependency);
        }
    }
}

impl From<TaskStatus> for Status {
    fn from(status: TaskStatus) -> Status {
        match status {
            TaskStatus::Draft => Status::Draft,
            TaskStatus::Running => Status::Running,
            TaskStatus::Done => Status::Done,
            TaskStatus::Failed => Status::Failed,
            TaskStatus::Cancelled => Status::Cancelled,
        }
    }
}
