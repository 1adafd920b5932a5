//! What happens to a task.

use derive_new::new;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;
use uuid::Uuid;

use crate::codes::{coded_enum, open_enum};
use crate::event::{Touched, events};
use crate::metadata::{MetadataSet, Sealed, subject};
use crate::pieces::{JsonPiece, Slot};
use crate::redaction::Redacted;
use crate::{AdoptedHeader, EvidenceId, IntentId, Kind, RunId, StoredActor, TaskId};

coded_enum! {
    /// How much work a task is (docs/spec/forge.md, Task, complexity).
    pub enum Complexity {
        /// Little.
        Low = 1 => "low",
        /// More.
        Med = 2 => "med",
        /// Much.
        High = 3 => "high",
    }
}

coded_enum! {
    /// What a review came to (docs/spec/forge.md, Review Result, verdict).
    pub enum ReviewVerdict {
        /// It is good.
        Approved = 1 => "approved",
        /// It is not.
        Rejected = 2 => "rejected",
    }
}

open_enum! {
    /// What kind of work a task is (docs/spec/git-internal.md, GoalType).
    pub enum GoalType as tagged {
        /// New behaviour.
        Feature = 1 => "feature",
        /// Wrong behaviour fixed.
        Bugfix = 2 => "bugfix",
        /// The same behaviour, better built.
        Refactor = 3 => "refactor",
        /// Documentation.
        Docs = 4 => "docs",
        /// Speed or size.
        Perf = 5 => "perf",
        /// Tests.
        Test = 6 => "test",
        /// Upkeep.
        Chore = 7 => "chore",
        /// How it is built.
        Build = 8 => "build",
        /// Continuous integration.
        Ci = 9 => "ci",
        /// Layout of the code.
        Style = 10 => "style",
    }
}

coded_enum! {
    /// The status that an adopted task had.
    pub enum TaskStatus {
        /// Defined.
        Draft = 1 => "draft",
        /// Being worked on.
        Running = 2 => "running",
        /// Done.
        Done = 3 => "done",
        /// Given up.
        Failed = 4 => "failed",
        /// Not wanted any more.
        Cancelled = 5 => "cancelled",
    }
}

events! {
    /// An event of a task's stream.
    pub enum Event {
        Created = "task.created" v 1,
        ConstraintAdded = "task.constraint_added" v 1,
        CriterionAdded = "task.criterion_added" v 1,
        DependencyAdded = "task.dependency_added" v 1,
        RunAdded = "task.run_added" v 1,
        Started = "task.started" v 1,
        Done = "task.done" v 1,
        Failed = "task.failed" v 1,
        Cancelled = "task.cancelled" v 2,
        MetadataSet = "task.metadata_set" v 1,
        Sealed = "task.sealed" v 2,
        Adopted = "task.adopted" v 1,
        Planned = "task.planned" v 1,
        ReviewRecorded = "task.review_recorded" v 1,
        Superseded = "task.superseded" v 1,
        Redacted = "task.redacted" v 1,
    }
}

/// The work was defined; the task is a Draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    /// Short summary, under 100 characters.
    pub title: Slot,
    /// Extended context.
    pub description: Option<Slot>,
    /// Work classification.
    pub goal: Option<GoalType>,
    /// Hard rules that the solution must satisfy.
    pub constraints: Vec<Slot>,
    /// Testable success conditions.
    pub acceptance_criteria: Vec<Slot>,
    /// Who requested the work.
    pub requester: Option<StoredActor>,
    /// The task that this one is a part of.
    pub parent: Option<TaskId>,
    /// The intent that it comes from.
    pub intent: Option<IntentId>,
    /// Tasks that must be done first.
    pub dependencies: Vec<TaskId>,
}

/// It was said how to do the work (docs/spec/forge.md, Task).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Planned {
    /// What the task is called within its intent.
    pub alias: Option<Slot>,
    /// How much work it is.
    pub complexity: Option<Complexity>,
    /// How it is to be done.
    pub plan: Option<Slot>,
    /// The files that matter.
    pub relevant_files: Vec<Slot>,
    /// What is to be done, one after the other.
    pub implementation_steps: Vec<Slot>,
    /// What else there is to know.
    pub context: Option<Slot>,
    /// The failed task whose place it takes.
    pub supersedes: Option<TaskId>,
    /// What else another system knows of it.
    #[schemars(with = "Option<JsonPiece>")]
    pub extra: Option<Slot>,
}

/// The work was reviewed (docs/spec/forge.md, Review Result).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewRecorded {
    /// The attempt that was reviewed, if it is known.
    pub run: Option<RunId>,
    /// The evidence that the run has of it.
    pub evidence: Option<EvidenceId>,
    /// What it came to.
    pub verdict: ReviewVerdict,
    /// What is wrong.
    pub issues: Vec<Slot>,
    /// What could be better.
    pub suggestions: Vec<Slot>,
    /// What else another system knows of it.
    #[schemars(with = "Option<JsonPiece>")]
    pub extra: Option<Slot>,
}

/// Another task took its place: it does not count any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Superseded {
    /// The other task.
    pub by: TaskId,
}

/// A hard rule was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConstraintAdded {
    /// The rule.
    pub constraint: Slot,
}

/// A success condition was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CriterionAdded {
    /// The condition.
    pub criterion: Slot,
}

/// A task that must be done first was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DependencyAdded {
    /// The other task.
    pub dependency: TaskId,
}

/// An execution attempt was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunAdded {
    /// The attempt.
    pub run: RunId,
}

/// The first attempt began; the task is Running.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Started {}

/// A run's Commit decision finished the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Done {
    /// The run that did it.
    pub run: RunId,
}

/// The work was given up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Failed {
    /// The run whose Abandon decision gave it up, if it was one.
    pub run: Option<RunId>,
    /// Why.
    pub reason: Option<Slot>,
}

/// The work is not wanted any more.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
pub struct Cancelled {
    /// Why.
    pub reason: Option<Slot>,
    /// The task that it waited for and that was cancelled before, if it was called off with that one.
    #[new(default)]
    pub dependency: Option<TaskId>,
}

/// The task was taken over from another system, as it is; or the lists of the one taken over just
/// before go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Adopted {
    /// The task; absent where its lists go on.
    pub object: Option<AdoptedTask>,
    /// Hard rules that the solution must satisfy.
    pub constraints: Vec<Slot>,
    /// Testable success conditions.
    pub acceptance_criteria: Vec<Slot>,
    /// Its execution attempts, oldest first.
    pub runs: Vec<RunId>,
    /// Tasks that must be done first.
    pub dependencies: Vec<TaskId>,
}

/// What an adopted task has once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "task")]
pub struct AdoptedTask {
    /// Its common header.
    pub header: Box<AdoptedHeader>,
    /// Short summary.
    pub title: Slot,
    /// Extended context.
    pub description: Option<Slot>,
    /// Work classification.
    pub goal: Option<GoalType>,
    /// Who requested the work.
    pub requester: Option<StoredActor>,
    /// The task that it is a part of.
    pub parent: Option<TaskId>,
    /// The intent that it comes from.
    pub intent: Option<IntentId>,
    /// Its status.
    pub status: TaskStatus,
}

fn touches(event: &Event, id: Uuid) -> Touched {
    match event {
        Event::MetadataSet(event) => subject(event.kind, event.object),
        Event::Redacted(event) => event.touched().into(),
        Event::Sealed(event) => subject(event.kind, event.object),
        Event::Created(_)
        | Event::ConstraintAdded(_)
        | Event::CriterionAdded(_)
        | Event::DependencyAdded(_)
        | Event::RunAdded(_)
        | Event::Started(_)
        | Event::Done(_)
        | Event::Failed(_)
        | Event::Cancelled(_)
        | Event::Adopted(_)
        | Event::Planned(_)
        | Event::ReviewRecorded(_)
        | Event::Superseded(_) => smallvec![(Kind::Task, id)],
    }
}
