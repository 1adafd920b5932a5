//! Intents and tasks in Forge's words.
//!
//! The status of an intent, and what other objects are called, are not in its own
//! stream: the code that folds the view fills them in.

use annals_domain::intent::{
    self, ApprovalStatus, Approver, FlowStep, Risk, RiskBasis, Source, TypeBasis, WorkType,
    title_and_body,
};
use annals_domain::task::{self, Complexity, ReviewVerdict, Status};
use annals_domain::{AnyEvent, IntentId, ObservationId, RunId, TaskId, Timestamp};
use serde::{Serialize, Serializer};

use crate::{Entry, Text};

/// A question about an intent, with its answer if it has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Clarification {
    /// What is asked.
    pub question: Text,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Text>,
}

/// An intent in Forge's words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ForgeIntentView {
    /// What it is called: its alias, or else its id.
    pub id: String,
    /// The first paragraph of the request.
    pub title: Text,
    /// The rest of it.
    pub body: Text,
    /// What kind of work it is.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub work_type: Option<WorkType>,
    /// What kind of work it was taken for when its risk was said.
    #[serde(skip)]
    risk_of: Option<WorkType>,
    /// Where it comes from. One that was never put on this axis is a person's.
    pub source: Source,
    /// How risky it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Where it is in its life.
    pub status: ApprovalStatus,
    /// What the intent is called that it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// When it was proposed.
    pub created_at: Timestamp,
    /// Its labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<Text>,
    /// What was asked about it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clarifications: Vec<Clarification>,
    /// What the intents are called that must be done first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Whether a question has no answer.
    #[serde(skip_serializing_if = "is_false")]
    pub needs_clarification: bool,
    /// The steps that it goes through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<FlowStep>,
    /// What decided the type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub type_basis: Option<TypeBasis>,
    /// What decided the risk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_basis: Option<RiskBasis>,
    /// The word that did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_word: Option<Text>,
    /// Who approved it: an actor, or the system by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<Approver>,
    /// Why; of the system's own approval what decided the risk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Text>,
    /// What else was said about what to do, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<Text>,
    /// Why it was turned down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Text>,
    /// What else another system knows of it, as JSON.
    #[serde(skip)]
    pub extra: Option<Text>,
    /// The intent that it is a part of.
    #[serde(skip)]
    pub child_of: Option<IntentId>,
    /// Intents that must be done first.
    #[serde(skip)]
    pub dependencies: Vec<IntentId>,
    /// What was noticed that led to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation: Option<ObservationId>,
    /// Its tasks, those that others took the place of among them.
    #[serde(skip)]
    pub tasks: Vec<TaskId>,
    /// The intents that it was split into.
    #[serde(skip)]
    pub children: Vec<IntentId>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_false(value: &bool) -> bool {
    !value
}

/// A part of a text, unless it was removed.
fn part(text: &Text, which: fn(&str) -> &str) -> Text {
    match text {
        Text::Present(text) => Text::Present(which(text).to_owned()),
        Text::Removed => Text::Removed,
    }
}

impl ForgeIntentView {
    fn new(id: IntentId, prompt: &Text, created_at: Timestamp) -> ForgeIntentView {
        ForgeIntentView {
            id: id.to_string(),
            title: part(prompt, |text| title_and_body(text).0),
            body: part(prompt, |text| title_and_body(text).1),
            work_type: None,
            risk_of: None,
            source: Source::Human,
            risk: None,
            status: ApprovalStatus::Proposed,
            parent: None,
            created_at,
            labels: Vec::new(),
            clarifications: Vec::new(),
            depends_on: Vec::new(),
            needs_clarification: false,
            flow: Vec::new(),
            type_basis: None,
            risk_basis: None,
            risk_word: None,
            approved_by: None,
            approval: None,
            instructions: Vec::new(),
            rejection: None,
            extra: None,
            child_of: None,
            dependencies: Vec::new(),
            observation: None,
            tasks: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Folds the next entry of the intent's stream into a view that may not be
    /// there yet.
    pub fn apply(view: &mut Option<ForgeIntentView>, id: IntentId, entry: &Entry) {
        let AnyEvent::Intent(event) = &entry.event else {
            return;
        };
        match (&mut *view, event) {
            (None, intent::Event::Submitted(event)) => {
                let prompt = entry.text(event.prompt);
                *view = Some(ForgeIntentView::new(id, &prompt, entry.occurred_at));
            }
            (None, intent::Event::Adopted(event)) => {
                let prompt = entry.text(event.prompt);
                let created_at = event.header.created_at;
                *view = Some(ForgeIntentView::new(id, &prompt, created_at));
            }
            // It was taken over again: what happened to it here stays.
            (Some(view), intent::Event::Adopted(event)) => {
                let prompt = entry.text(event.prompt);
                let fresh = ForgeIntentView::new(id, &prompt, event.header.created_at);
                (view.title, view.body) = (fresh.title, fresh.body);
                view.created_at = fresh.created_at;
            }
            (Some(view), event) => view.evolve(event, entry),
            (None, _) => {}
        }
    }

    fn evolve(&mut self, event: &intent::Event, entry: &Entry) {
        use intent::Event;
        match event {
            Event::TakenIn(event) => {
                self.source = event.source;
                self.child_of = event.child_of;
                self.dependencies.clone_from(&event.depends_on);
                self.observation = event.observation;
                self.labels = entry.texts(&event.labels);
                self.extra = entry.optional_text(event.extra);
            }
            Event::Classified(event) => self.classify(event, entry),
            Event::Approved(event) => {
                self.approved_by = Some(event.by);
                self.approval = entry.optional_text(event.reason);
            }
            Event::Rejected(event) => self.rejection = entry.optional_text(event.reason),
            Event::Instructed(event) => self.instructions.push(entry.text(event.instruction)),
            Event::ClarificationRequested(event) => {
                let questions = entry.texts(&event.questions).into_iter();
                self.clarifications
                    .extend(questions.map(|question| Clarification {
                        question,
                        answer: None,
                    }));
            }
            Event::ClarificationAnswered(event) => {
                let number = usize::try_from(event.question).unwrap_or(usize::MAX);
                if let Some(clarification) = self.clarifications.get_mut(number) {
                    clarification.answer = Some(entry.text(event.answer));
                }
            }
            Event::Decomposed(event) => self.children.extend(&event.children),
            Event::TaskAdded(event) => self.tasks.push(event.task),
            Event::Submitted(_)
            | Event::Adopted(_)
            | Event::Analyzed(_)
            | Event::Activated(_)
            | Event::PlanSelected(_)
            | Event::CommitRecorded(_)
            | Event::Completed(_)
            | Event::Cancelled(_)
            | Event::ExecutionStarted(_)
            | Event::RerunRequested(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
        let open = self.clarifications.iter().any(|it| it.answer.is_none());
        self.needs_clarification = open;
    }

    fn classify(&mut self, event: &intent::Classified, entry: &Entry) {
        if event.work_type.is_some() {
            self.work_type.clone_from(&event.work_type);
            self.type_basis = event.type_basis;
            self.flow.clone_from(&event.flow);
        }
        if event.risk.is_some() {
            self.risk = event.risk;
            self.risk_basis = event.risk_basis;
            self.risk_word = entry.optional_text(event.risk_word);
            self.risk_of.clone_from(&self.work_type);
        }
    }

    /// How risky it is and what decided that, in words, if anything says so.
    pub fn risk_in_words(&self) -> Option<String> {
        let word = self.risk_word.as_ref().and_then(Text::as_str);
        let (risk, basis) = (self.risk?, self.risk_basis?);
        Some(intent::risk_in_words(
            risk,
            basis,
            self.risk_of.as_ref(),
            word,
        ))
    }

    /// The questions that have no answer, with their numbers.
    pub fn open_questions(&self) -> impl Iterator<Item = (usize, &Text)> {
        let numbered = self.clarifications.iter().enumerate();
        numbered
            .filter(|(_, it)| it.answer.is_none())
            .map(|(number, it)| (number, &it.question))
    }
}

/// The word that Forge has for a task's status. `cancelled` is not among
/// its words.
pub fn forge_status(status: Status) -> &'static str {
    match status {
        Status::Absent | Status::Draft => "pending",
        Status::Running => "implementing",
        Status::Done => "done",
        Status::Failed => "failed",
        Status::Cancelled => "cancelled",
    }
}

/// What a reviewer said of a task's work (docs/spec/forge.md, Review Result).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReviewView {
    /// What it came to.
    pub verdict: ReviewVerdict,
    /// What is wrong.
    pub issues: Vec<Text>,
    /// What could be better.
    pub suggestions: Vec<Text>,
    /// The attempt that was reviewed, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    /// What else another system knows of it, as JSON.
    #[serde(skip)]
    pub extra: Option<Text>,
}

/// A task in Forge's words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ForgeTaskView {
    /// What it is called: its name within its intent, or else its id.
    pub id: String,
    /// Short summary.
    pub title: Text,
    /// What its intent is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent_id: Option<String>,
    /// Where it is in its life.
    #[serde(serialize_with = "status_word")]
    pub status: Status,
    /// How much work it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complexity: Option<Complexity>,
    /// How it is to be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Text>,
    /// The files that matter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relevant_files: Vec<Text>,
    /// What is to be done, one after the other.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub implementation_steps: Vec<Text>,
    /// What else there is to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Text>,
    /// What the tasks are called that must be done first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// What reviewers said, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reviews: Vec<ReviewView>,
    /// Why it failed or was called off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
    /// The failed task whose place it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<TaskId>,
    /// The task that took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<TaskId>,
    /// The task that it waited for, if it was called off with that one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub called_off_with: Option<TaskId>,
    /// What else another system knows of it, as JSON.
    #[serde(skip)]
    pub extra: Option<Text>,
    /// Its intent.
    #[serde(skip)]
    pub intent: Option<IntentId>,
    /// Tasks that must be done first.
    #[serde(skip)]
    pub dependencies: Vec<TaskId>,
    /// What it is called within its intent, if it was given a name.
    #[serde(skip)]
    pub alias: Option<Text>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn status_word<S: Serializer>(status: &Status, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(forge_status(*status))
}

impl ForgeTaskView {
    fn new(id: TaskId, title: Text) -> ForgeTaskView {
        ForgeTaskView {
            id: id.to_string(),
            title,
            intent_id: None,
            status: Status::Draft,
            complexity: None,
            plan: None,
            relevant_files: Vec::new(),
            implementation_steps: Vec::new(),
            context: None,
            depends_on: Vec::new(),
            reviews: Vec::new(),
            reason: None,
            supersedes: None,
            superseded_by: None,
            called_off_with: None,
            extra: None,
            intent: None,
            dependencies: Vec::new(),
            alias: None,
        }
    }

    /// Folds the next entry of the task's stream into a view that may not be there
    /// yet.
    pub fn apply(view: &mut Option<ForgeTaskView>, id: TaskId, entry: &Entry) {
        let AnyEvent::Task(event) = &entry.event else {
            return;
        };
        match (&mut *view, event) {
            (None, task::Event::Created(event)) => {
                let mut created = ForgeTaskView::new(id, entry.text(event.title));
                created.intent = event.intent;
                created.dependencies.clone_from(&event.dependencies);
                *view = Some(created);
            }
            (_, task::Event::Adopted(event)) if event.object.is_some() => {
                *view = event.object.as_ref().map(|object| {
                    let mut adopted = ForgeTaskView::new(id, entry.text(object.title));
                    adopted.intent = object.intent;
                    adopted.status = object.status.into();
                    adopted.dependencies.clone_from(&event.dependencies);
                    adopted
                });
            }
            (Some(view), event) => view.evolve(event, entry),
            (None, _) => {}
        }
    }

    fn evolve(&mut self, event: &task::Event, entry: &Entry) {
        use task::Event;
        match event {
            Event::Planned(event) => self.planned(event, entry),
            Event::DependencyAdded(event) => self.dependencies.push(event.dependency),
            Event::Started(_) => self.status = Status::Running,
            Event::Done(_) => self.status = Status::Done,
            Event::Failed(event) => {
                self.status = Status::Failed;
                self.reason = entry.optional_text(event.reason);
            }
            Event::Cancelled(event) => {
                self.status = Status::Cancelled;
                self.reason = entry.optional_text(event.reason);
                self.called_off_with = event.dependency;
            }
            Event::ReviewRecorded(event) => self.reviews.push(ReviewView {
                verdict: event.verdict,
                issues: entry.texts(&event.issues),
                suggestions: entry.texts(&event.suggestions),
                run: event.run,
                extra: entry.optional_text(event.extra),
            }),
            Event::Superseded(event) => self.superseded_by = Some(event.by),
            Event::Adopted(event) => self.dependencies.extend(&event.dependencies),
            Event::Created(_)
            | Event::ConstraintAdded(_)
            | Event::CriterionAdded(_)
            | Event::RunAdded(_)
            | Event::MetadataSet(_)
            | Event::Redacted(_)
            | Event::Sealed(_) => {}
        }
    }

    fn planned(&mut self, event: &task::Planned, entry: &Entry) {
        self.alias = entry.optional_text(event.alias);
        if let Some(Text::Present(alias)) = &self.alias {
            self.id.clone_from(alias);
        }
        self.complexity = event.complexity;
        self.plan = entry.optional_text(event.plan);
        self.relevant_files = entry.texts(&event.relevant_files);
        self.implementation_steps = entry.texts(&event.implementation_steps);
        self.context = entry.optional_text(event.context);
        self.supersedes = event.supersedes;
        self.extra = entry.optional_text(event.extra);
    }
}

/// An intent in Forge's words, with its tasks and children.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ForgeView {
    /// The intent.
    #[serde(flatten)]
    pub intent: ForgeIntentView,
    /// Its tasks, in the order in which they were added.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<ForgeTaskView>,
    /// The intents that it was split into.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<ForgeChildView>,
}

/// An intent that another one was split into, in short.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ForgeChildView {
    /// What it is called: its alias, or else its id.
    pub id: String,
    /// Its title.
    pub title: Text,
    /// What kind of work it is.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub work_type: Option<WorkType>,
    /// Where it is.
    pub status: ApprovalStatus,
    /// What the intents are called that must be done first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

impl From<ForgeIntentView> for ForgeChildView {
    fn from(intent: ForgeIntentView) -> ForgeChildView {
        ForgeChildView {
            id: intent.id,
            title: intent.title,
            work_type: intent.work_type,
            status: intent.status,
            depends_on: intent.depends_on,
        }
    }
}

impl ForgeView {
    /// An intent with its tasks and children.
    pub fn new(
        intent: ForgeIntentView,
        tasks: Vec<ForgeTaskView>,
        children: Vec<ForgeChildView>,
    ) -> ForgeView {
        ForgeView {
            intent,
            tasks,
            children,
        }
    }
}
