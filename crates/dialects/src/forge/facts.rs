//! What a folder's files say, as events: facts that no decider judges.

use annals::domain::intent::{
    self, Activated, AdoptedStatus, Approved, Approver, ClarificationAnswered,
    ClarificationRequested, Classified, Decomposed, ExecutionStarted, ListedType, Rejected, Risk,
    RiskBasis, TakenIn, TaskAdded, TypeBasis, WorkType, risk_in_words,
};
use annals::domain::task::{self, AdoptedTask, Planned, ReviewRecorded};
use annals::domain::{
    ActorRef, AdoptedHeader, AnyEvent, Dialect, Emitted, IntegrityHash, IntentId, Pieces,
    StoredActor, TaskId, Timestamp, Visibility,
};

use super::intent::{Clarification, ForgeIntent};
use super::recorded::kept;
use super::remains::Remains;
use super::render;
use super::review::ForgeReview;
use super::task::ForgeTask;
use super::words::{IntentStatus, TaskStatus};

/// The version of the header and of the types that adopted objects are shown with.
const VERSION: u32 = 1;

/// Who takes files over, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Taking<'a> {
    pub(super) actor: &'a ActorRef,
    pub(super) at: Timestamp,
}

impl Taking<'_> {
    fn header(self, created_at: Timestamp, text: &str, pieces: &mut Pieces) -> Box<AdoptedHeader> {
        Box::new(AdoptedHeader {
            dialect: Dialect::Forge,
            header_version: VERSION,
            schema_version: VERSION,
            created_at,
            updated_at: created_at,
            created_by: StoredActor::store(self.actor, pieces),
            visibility: Visibility::Private,
            tags: Vec::new(),
            external_ids: Vec::new(),
            checksum: None,
            digest: IntegrityHash::of(text.as_bytes()),
            violations: Vec::new(),
        })
    }
}

/// An intent with what its file leaves to others.
pub(super) struct IntentFacts<'a> {
    pub(super) id: IntentId,
    pub(super) intent: &'a ForgeIntent,
    pub(super) remains: &'a Remains,
    pub(super) created_at: Timestamp,
    pub(super) child_of: Option<IntentId>,
    pub(super) depends_on: Vec<IntentId>,
    /// Whether it has tasks or children that say whether it is done.
    pub(super) has_parts: bool,
    pub(super) rules: FileRules,
}

/// What the log's settings make of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileRules {
    /// Whether the system approved it, since its author declared a low risk.
    pub(super) goes_on: bool,
    /// By which type's flow one goes that is not listed.
    pub(super) unknown_type: ListedType,
}

pub(super) fn emitted(id: IntentId, event: impl Into<intent::Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: id.stream(),
        event: AnyEvent::Intent(event.into()),
        pieces,
    }
}

impl IntentFacts<'_> {
    /// What happened to it, as far as its file says.
    pub(super) fn events(&self, taking: Taking<'_>) -> Vec<Emitted> {
        let mut events = vec![self.adopted(taking), self.taken_in()];
        // What the file does not have was not judged, and no rule is applied here.
        let (work_type, risk) = (self.intent.work_type.clone(), self.intent.risk);
        events.extend(classified(self.id, work_type, risk, self.rules));
        events.extend(questions(self.id, self.intent));
        events.extend(self.stage());
        events
    }

    fn adopted(&self, taking: Taking<'_>) -> Emitted {
        let mut pieces = Pieces::new();
        let status = match self.intent.status {
            IntentStatus::Cancelled => Some(intent::IntentStatus::Cancelled),
            // Nothing else says so.
            IntentStatus::Done if !self.has_parts => Some(intent::IntentStatus::Completed),
            _ => None,
        };
        let text = match self.rules.goes_on {
            true => render::intent(&ForgeIntent {
                status: IntentStatus::Proposed,
                ..self.intent.clone()
            }),
            false => render::intent(self.intent),
        };
        let header = taking.header(self.created_at, &text, &mut pieces);
        let adopted = intent::Adopted {
            header,
            prompt: pieces.text(prompt(&self.intent.title, &self.intent.body)),
            content: None,
            parent: None,
            commit: None,
            plan: None,
            statuses: status
                .map(|status| AdoptedStatus {
                    status,
                    changed_at: self.created_at,
                    reason: None,
                })
                .into_iter()
                .collect(),
        };
        emitted(self.id, adopted, pieces)
    }

    fn taken_in(&self) -> Emitted {
        let mut pieces = Pieces::new();
        let taken_in = TakenIn {
            source: self.intent.source,
            child_of: self.child_of,
            depends_on: self.depends_on.clone(),
            observation: None,
            labels: pieces.texts(&self.intent.labels),
            extra: pieces.optional_json(self.remains.to_json().as_ref()),
        };
        emitted(self.id, taken_in, pieces)
    }

    /// How far it was let go.
    fn stage(&self) -> Vec<Emitted> {
        let id = self.id;
        match self.intent.status {
            IntentStatus::Proposed | IntentStatus::Cancelled => Vec::new(),
            IntentStatus::Approved => vec![self.approved(), activated(id)],
            // It is adopted as completed.
            IntentStatus::Done => vec![
                self.approved(),
                emitted(id, ExecutionStarted {}, Pieces::new()),
            ],
            IntentStatus::Rejected => {
                vec![emitted(id, Rejected::new(None), Pieces::new())]
            }
            IntentStatus::Executing | IntentStatus::Blocked | IntentStatus::Error => {
                let started = emitted(id, ExecutionStarted {}, Pieces::new());
                vec![self.approved(), activated(id), started]
            }
        }
    }

    fn approved(&self) -> Emitted {
        approved(self.id, self.intent.risk.filter(|_| self.rules.goes_on))
    }
}

/// That an intent was approved: by the system, where a risk that its author
/// declared is given.
pub(super) fn approved(id: IntentId, declared: Option<Risk>) -> Emitted {
    let mut pieces = Pieces::new();
    let reason = declared.map(|risk| risk_in_words(risk, RiskBasis::Declared, None, None));
    let approved = Approved {
        by: match declared {
            Some(_) => Approver::System,
            None => Approver::Actor,
        },
        reason: pieces.optional_text(reason.as_deref()),
    };
    emitted(id, approved, pieces)
}

/// That work on what was approved may begin.
pub(super) fn activated(id: IntentId) -> Emitted {
    emitted(id, Activated { reason: None }, Pieces::new())
}

/// That a file says a type or a risk.
pub(super) fn classified(
    id: IntentId,
    work_type: Option<WorkType>,
    risk: Option<Risk>,
    rules: FileRules,
) -> Option<Emitted> {
    if work_type.is_none() && risk.is_none() {
        return None;
    }
    let flow = work_type.as_ref().map(|it| it.flow(rules.unknown_type));
    let classified = Classified {
        type_basis: work_type.as_ref().map(|_| TypeBasis::Declared),
        work_type,
        type_word: None,
        flow: flow.unwrap_or_default().to_vec(),
        risk,
        risk_basis: risk.map(|_| RiskBasis::Declared),
        risk_word: None,
        reason: None,
    };
    Some(emitted(id, classified, Pieces::new()))
}

/// The request that a title and a body are.
pub(super) fn prompt(title: &str, body: &str) -> String {
    if body.is_empty() {
        return title.to_owned();
    }
    format!("{title}\n\n{body}")
}

/// What was asked and answered. It comes before work begins: the last answer would
/// take an executing intent back.
fn questions(id: IntentId, intent: &ForgeIntent) -> Vec<Emitted> {
    let answered = (0..).zip(&intent.clarifications);
    let answered = answered.filter(|(_, asked)| asked.is_answered());
    asked(id, &intent.clarifications)
        .into_iter()
        .chain(answered.map(|(number, asked)| self::answered(id, number, asked)))
        .collect()
}

/// That questions were asked, if there are any.
pub(super) fn asked(id: IntentId, questions: &[Clarification]) -> Option<Emitted> {
    if questions.is_empty() {
        return None;
    }
    let mut pieces = Pieces::new();
    let questions = questions.iter().map(|asked| asked.question.as_str());
    let questions = pieces.texts(&questions.collect::<Vec<_>>());
    Some(emitted(id, ClarificationRequested { questions }, pieces))
}

/// The answer to the question of this number.
pub(super) fn answered(id: IntentId, question: u32, asked: &Clarification) -> Emitted {
    let mut pieces = Pieces::new();
    let answer = pieces.text(asked.answer.as_deref().unwrap_or_default());
    emitted(id, ClarificationAnswered { question, answer }, pieces)
}

/// That tasks belong to an intent is said on its stream, too.
pub(super) fn task_added(intent: IntentId, task: TaskId) -> Emitted {
    emitted(intent, TaskAdded { task }, Pieces::new())
}

/// That an intent was split into others.
pub(super) fn decomposed(parent: IntentId, children: Vec<IntentId>) -> Emitted {
    emitted(parent, Decomposed { children }, Pieces::new())
}

fn of_task(id: TaskId, event: impl Into<task::Event>, pieces: Pieces) -> Emitted {
    Emitted {
        stream: id.stream(),
        event: AnyEvent::Task(event.into()),
        pieces,
    }
}

/// What a file says of a task.
pub(super) fn task(
    id: TaskId,
    intent: IntentId,
    task: &ForgeTask,
    dependencies: Vec<TaskId>,
    taking: Taking<'_>,
) -> Vec<Emitted> {
    let mut pieces = Pieces::new();
    let header = taking.header(taking.at, &render::tasks([task]), &mut pieces);
    let object = AdoptedTask {
        header,
        title: pieces.text(task.title.as_str()),
        description: None,
        goal: None,
        requester: None,
        parent: None,
        intent: Some(intent),
        status: status(task.status),
    };
    let adopted = task::Adopted {
        object: Some(object),
        constraints: Vec::new(),
        acceptance_criteria: Vec::new(),
        runs: Vec::new(),
        dependencies,
    };
    vec![of_task(id, adopted, pieces), planned(id, task)]
}

fn planned(id: TaskId, task: &ForgeTask) -> Emitted {
    let mut pieces = Pieces::new();
    // A task that is named by its id needs no other name.
    let name = Some(task.id.as_str()).filter(|name| *name != id.to_string());
    let planned = Planned {
        alias: pieces.optional_text(name),
        complexity: task.complexity,
        plan: pieces.optional_text(task.plan.as_deref()),
        relevant_files: pieces.texts(&task.relevant_files),
        implementation_steps: pieces.texts(&task.implementation_steps),
        context: pieces.optional_text(task.context.as_deref()),
        supersedes: None,
        extra: pieces.optional_json(kept(&task.extra).as_ref()),
    };
    of_task(id, planned, pieces)
}

fn status(status: TaskStatus) -> task::TaskStatus {
    match status {
        TaskStatus::Pending => task::TaskStatus::Draft,
        TaskStatus::Implementing => task::TaskStatus::Running,
        TaskStatus::Done => task::TaskStatus::Done,
        TaskStatus::Failed => task::TaskStatus::Failed,
        TaskStatus::Cancelled => task::TaskStatus::Cancelled,
    }
}

/// What a review came to. Which run was reviewed no file says.
pub(super) fn review(id: TaskId, review: &ForgeReview) -> Emitted {
    let mut pieces = Pieces::new();
    let recorded = ReviewRecorded {
        run: None,
        evidence: None,
        verdict: review.verdict,
        issues: pieces.texts(&review.issues),
        suggestions: pieces.texts(&review.suggestions),
        extra: pieces.optional_json(kept(&review.extra).as_ref()),
    };
    of_task(id, recorded, pieces)
}
