//! What happens to an intent on its second axis (docs/spec/forge.md).

use derive_new::new;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FlowStep, Risk, Source, WorkType};
use crate::codes::coded_enum;
use crate::pieces::{JsonPiece, Slot};
use crate::{IntentId, ObservationId, TaskId};

coded_enum! {
    /// What decided the type of an intent.
    pub enum TypeBasis {
        /// Who proposed it said so.
        Declared = 1 => "declared",
        /// A label names it.
        Label = 2 => "label",
        /// A keyword in the text.
        Keyword = 3 => "keyword",
        /// Its source.
        Source = 4 => "source",
        /// Nothing did.
        Default = 5 => "default",
        /// An agent or a person who looked at it.
        Judged = 6 => "judged",
    }
}

coded_enum! {
    /// What decided the risk of an intent.
    pub enum RiskBasis {
        /// A keyword for a high risk in the text or in a label.
        HighWord = 1 => "high_word",
        /// The type has it.
        Type = 2 => "type",
        /// Who proposed it said so.
        Declared = 3 => "declared",
        /// An agent or a person who looked at it.
        Judged = 4 => "judged",
    }
}

impl RiskBasis {
    /// Whether an agent or a person said it, and not a rule.
    pub fn is_judgement(self) -> bool {
        matches!(self, RiskBasis::Declared | RiskBasis::Judged)
    }
}

/// A risk and what decided it, in words: the reason of the system's own approval.
///
/// ```
/// use annals_domain::intent::{Risk, RiskBasis, WorkType, risk_in_words};
/// let by_rule = risk_in_words(Risk::Low, RiskBasis::Type, Some(&WorkType::Fix), None);
/// assert_eq!(by_rule, "risk low by rule (type fix)");
/// let own = WorkType::Other("docs".into());
/// let by_setting = risk_in_words(Risk::Med, RiskBasis::Type, Some(&own), None);
/// assert_eq!(by_setting, "risk med by rule (type docs, as classification.unknown_type)");
/// assert_eq!(risk_in_words(Risk::Low, RiskBasis::Declared, None, None), "risk low (declared)");
/// ```
pub fn risk_in_words(
    risk: Risk,
    basis: RiskBasis,
    work_type: Option<&WorkType>,
    word: Option<&str>,
) -> String {
    match (basis, work_type, word) {
        (RiskBasis::Type, Some(WorkType::Other(own)), _) => {
            let by = "classification.unknown_type";
            format!("risk {risk} by rule (type {own}, as {by})")
        }
        (RiskBasis::Type, Some(work_type), _) => format!("risk {risk} by rule (type {work_type})"),
        (RiskBasis::HighWord, _, Some(word)) => format!("risk {risk} by rule (word {word:?})"),
        (RiskBasis::Type | RiskBasis::HighWord, _, _) => format!("risk {risk} by rule"),
        (RiskBasis::Declared | RiskBasis::Judged, _, _) => format!("risk {risk} ({basis})"),
    }
}

coded_enum! {
    /// Who let an intent go on.
    pub enum Approver {
        /// The actor of the command.
        Actor = 1 => "actor",
        /// The system itself, since the risk needs no approval by a person.
        System = 2 => "system",
    }
}

/// The intent was put on Forge's axis: it is proposed, and comes from
/// somewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakenIn {
    /// Where it comes from.
    pub source: Source,
    /// The intent that it is a part of (docs/spec/forge.md: `parent`).
    pub child_of: Option<IntentId>,
    /// Intents that must be done first.
    pub depends_on: Vec<IntentId>,
    /// What was noticed that led to it.
    pub observation: Option<ObservationId>,
    /// Its labels.
    pub labels: Vec<Slot>,
    /// What else another system knows of it.
    #[schemars(with = "Option<JsonPiece>")]
    pub extra: Option<Slot>,
}

/// What kind of work it is and how risky, by rule or by an actor's judgement. What is absent stays
/// as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Classified {
    /// The kind of work.
    pub work_type: Option<WorkType>,
    /// What decided that.
    pub type_basis: Option<TypeBasis>,
    /// The label or word that did.
    pub type_word: Option<Slot>,
    /// The steps that it goes through.
    pub flow: Vec<FlowStep>,
    /// How risky it is.
    pub risk: Option<Risk>,
    /// What decided that.
    pub risk_basis: Option<RiskBasis>,
    /// The word that did.
    pub risk_word: Option<Slot>,
    /// Why.
    pub reason: Option<Slot>,
}

/// The intent may be worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approved {
    /// Who let it go on.
    pub by: Approver,
    /// Why.
    pub reason: Option<Slot>,
}

/// The intent is not wanted; in git-internal's words it is Cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
pub struct Rejected {
    /// Why.
    pub reason: Option<Slot>,
}

/// More was said about what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Instructed {
    /// What was said.
    pub instruction: Slot,
}

/// Work on the intent began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExecutionStarted {}

/// It needs an answer before it goes on. Questions are numbered from 0 in the order in which they
/// are asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClarificationRequested {
    /// What is asked.
    pub questions: Vec<Slot>,
}

/// A question was answered. The last answer lets an executing intent go back to
/// approved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClarificationAnswered {
    /// The number of the question.
    pub question: u32,
    /// The answer.
    pub answer: Slot,
}

/// The intent was split into intents of their own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decomposed {
    /// The children.
    pub children: Vec<IntentId>,
}

/// A task belongs to the intent. It is in this stream so that a decision that depends on all tasks
/// of an intent is guarded against another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskAdded {
    /// The task.
    pub task: TaskId,
}

/// What failed is tried again: each failed task is replaced by a new one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RerunRequested {
    /// The tasks that failed.
    pub superseded: Vec<TaskId>,
}
