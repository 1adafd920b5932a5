//! The view of a task (docs/spec/git-internal.md, Task).

use annals_domain::task::{Adopted, Event, GoalType, Status};
use annals_domain::{ActorRef, AnyEvent, IntentId, RunId, TaskId};
use serde::{Serialize, Serializer};

use crate::views::Project;
use crate::{Entry, HeaderView, Text};

/// A unit of work, stable across retries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskView {
    /// The common header.
    #[serde(flatten)]
    pub header: HeaderView,
    /// Short summary.
    pub title: Text,
    /// Extended context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Text>,
    /// Work classification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal: Option<GoalType>,
    /// Hard rules that the solution must satisfy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Text>,
    /// Testable success conditions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acceptance_criteria: Vec<Text>,
    /// Who requested the work. A display name or auth context that was removed
    /// is `[removed]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requester: Option<ActorRef>,
    /// The task that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<TaskId>,
    /// The intent that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<IntentId>,
    /// Its execution attempts, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunId>,
    /// Tasks that must be done first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<TaskId>,
    #[serde(serialize_with = "status_name")]
    status: Status,
    /// Why it failed or was cancelled; not part of the JSON.
    #[serde(skip)]
    pub reason: Option<Text>,
}

fn status_name<S: Serializer>(status: &Status, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(status.name())
}

impl TaskView {
    /// Its status now.
    pub fn status(&self) -> Status {
        self.status
    }

    fn ends(&mut self, status: Status, reason: Option<Text>) {
        self.status = status;
        self.reason = reason;
    }
}

impl TaskView {
    fn adopt(header: HeaderView, event: &Adopted, entry: &Entry) -> Option<TaskView> {
        let object = event.object.as_ref()?;
        let requester = object.requester.as_ref();
        let mut view = TaskView {
            header,
            title: entry.text(object.title),
            description: entry.optional_text(object.description),
            goal: object.goal.clone(),
            constraints: Vec::new(),
            acceptance_criteria: Vec::new(),
            requester: requester.map(|actor| entry.stored_actor(actor)),
            parent: object.parent,
            intent: object.intent,
            runs: Vec::new(),
            dependencies: Vec::new(),
            status: object.status.into(),
            reason: None,
        };
        view.adopt_lists(event, entry);
        Some(view)
    }

    fn adopt_lists(&mut self, event: &Adopted, entry: &Entry) {
        self.constraints.extend(entry.texts(&event.constraints));
        self.acceptance_criteria
            .extend(entry.texts(&event.acceptance_criteria));
        self.runs.extend(&event.runs);
        self.dependencies.extend(&event.dependencies);
    }
}

impl Project for TaskView {
    fn create(header: HeaderView, entry: &Entry) -> Option<TaskView> {
        let event = match &entry.event {
            AnyEvent::Task(Event::Created(event)) => event,
            AnyEvent::Task(Event::Adopted(event)) => return TaskView::adopt(header, event, entry),
            _ => return None,
        };
        Some(TaskView {
            header,
            title: entry.text(event.title),
            description: entry.optional_text(event.description),
            goal: event.goal.clone(),
            constraints: entry.texts(&event.constraints),
            acceptance_criteria: entry.texts(&event.acceptance_criteria),
            requester: event
                .requester
                .as_ref()
                .map(|actor| entry.stored_actor(actor)),
            parent: event.parent,
            intent: event.intent,
            runs: Vec::new(),
            dependencies: event.dependencies.clone(),
            status: Status::Draft,
            reason: None,
        })
    }

    fn evolve(&mut self, entry: &Entry) {
        let AnyEvent::Task(event) = &entry.event else {
            return;
        };
        match event {
            Event::ConstraintAdded(event) => self.constraints.push(entry.text(event.constraint)),
            Event::CriterionAdded(event) => {
                self.acceptance_criteria.push(entry.text(event.criterion));
            }
            Event::DependencyAdded(event) => self.dependencies.push(event.dependency),
            Event::RunAdded(event) => self.runs.push(event.run),
            Event::Started(_) => self.status = Status::Running,
            Event::Done(_) => self.status = Status::Done,
            Event::Failed(event) => self.ends(Status::Failed, entry.optional_text(event.reason)),
            Event::Cancelled(event) => {
                self.ends(Status::Cancelled, entry.optional_text(event.reason));
            }
            Event::Adopted(event) => self.adopt_lists(event, entry),
            // git-internal has nothing of these.
            Event::Planned(_)
            | Event::ReviewRecorded(_)
            | Event::Superseded(_)
            | Event::Created(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
    }
}
