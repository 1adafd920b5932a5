//! The state of an intent: what its decider needs to know.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Adopted, Classified, Event, IntentStatus, Risk, RiskBasis, Source, Stage, TakenIn};
use crate::{By, IntentId, Origin, PlanId, TaskId};

/// Where an intent is in its life (docs/spec/git-internal.md, Intent status transitions).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Life {
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

impl Life {
    /// The state's name as git-internal writes it.
    pub fn name(self) -> &'static str {
        match self {
            Life::Absent => "absent",
            Life::Draft { .. } => "draft",
            Life::Active => "active",
            Life::Completed => "completed",
            Life::Cancelled => "cancelled",
        }
    }

    /// Whether it is neither finished nor abandoned.
    pub fn is_open(self) -> bool {
        matches!(self, Life::Draft { .. } | Life::Active)
    }
}

/// What the decider knows of an intent: its place on both axes, and what it is
/// made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Where it is in its life.
    pub life: Life,
    /// Who asked for it.
    pub asked_by: Option<By>,
    /// How far it was let go.
    pub stage: Stage,
    /// Whether it was put on Forge's axis: proposed there, or judged,
    /// approved, turned down or asked about.
    pub is_taken_in: bool,
    /// Where it comes from, if it was.
    pub source: Option<Source>,
    /// How risky it is, if anything said so.
    pub risk: Option<Risk>,
    /// What decided the risk.
    pub risk_basis: Option<RiskBasis>,
    /// How many questions were asked.
    pub questions: u32,
    /// The numbers of those that have no answer.
    pub unanswered: BTreeSet<u32>,
    /// The intent that it is a part of.
    pub child_of: Option<IntentId>,
    /// Intents that must be done first.
    pub depends_on: Vec<IntentId>,
    /// The intents that it was split into.
    pub children: Vec<IntentId>,
    /// Its tasks.
    pub tasks: Vec<TaskId>,
    /// Its plan: the latest revision.
    pub plan: Option<PlanId>,
}

impl State {
    /// Whether it does not exist.
    pub fn is_absent(&self) -> bool {
        self.life == Life::Absent
    }

    /// Whether a person has to answer before it goes on.
    pub fn needs_clarification(&self) -> bool {
        !self.unanswered.is_empty()
    }

    fn take_in(&mut self, event: &TakenIn) {
        self.is_taken_in = true;
        self.source = Some(event.source);
        self.child_of = event.child_of;
        self.depends_on.clone_from(&event.depends_on);
    }

    fn classify(&mut self, event: &Classified) {
        self.is_taken_in = true;
        if event.risk.is_some() {
            self.risk = event.risk;
            self.risk_basis = event.risk_basis;
        }
    }

    fn ask(&mut self, questions: usize) {
        self.is_taken_in = true;
        for _ in 0..questions {
            self.unanswered.insert(self.questions);
            self.questions = self.questions.saturating_add(1);
        }
    }

    fn answer(&mut self, question: u32) {
        let was_waiting = self.unanswered.remove(&question);
        if was_waiting && self.unanswered.is_empty() && self.stage == Stage::Executing {
            self.stage = Stage::Approved;
        }
    }
}

/// The state that an adopted intent's last status puts it into.
fn adopted(event: &Adopted) -> Life {
    match event.status() {
        IntentStatus::Draft => Life::Draft {
            analyzed: event.content.is_some(),
        },
        IntentStatus::Active => Life::Active,
        IntentStatus::Completed => Life::Completed,
        IntentStatus::Cancelled => Life::Cancelled,
    }
}

/// Folds one event into the state.
pub fn evolve(state: &mut State, event: &Event, origin: &Origin<'_>) {
    match event {
        Event::Submitted(_) => {
            state.life = Life::Draft { analyzed: false };
            state.asked_by = Some(origin.by());
        }
        Event::Analyzed(_) => {
            if let Life::Draft { analyzed } = &mut state.life {
                *analyzed = true;
            }
        }
        Event::Activated(_) => state.life = Life::Active,
        Event::Adopted(event) => {
            state.life = adopted(event);
            state.plan = event.plan;
        }
        Event::Completed(_) => state.life = Life::Completed,
        Event::Cancelled(_) => state.life = Life::Cancelled,
        Event::TakenIn(event) => state.take_in(event),
        Event::Classified(event) => state.classify(event),
        Event::Approved(_) => {
            state.is_taken_in = true;
            state.stage = Stage::Approved;
        }
        Event::Rejected(_) => {
            // git-internal has no word for it but this one (docs/events.md).
            state.is_taken_in = true;
            state.stage = Stage::Rejected;
            state.life = Life::Cancelled;
        }
        Event::ExecutionStarted(_) => state.stage = Stage::Executing,
        Event::ClarificationRequested(event) => state.ask(event.questions.len()),
        Event::ClarificationAnswered(event) => state.answer(event.question),
        Event::Decomposed(event) => state.children.extend(&event.children),
        Event::TaskAdded(event) => state.tasks.push(event.task),
        Event::RerunRequested(_) => state.stage = Stage::Approved,
        Event::PlanSelected(event) => state.plan = Some(event.plan),
        Event::CommitRecorded(_)
        | Event::Instructed(_)
        | Event::MetadataSet(_)
        | Event::Redacted(_)
        | Event::Sealed(_) => {}
    }
}
