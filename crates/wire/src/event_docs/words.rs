//! The enums of all events: their words and the numbers that are stored.

use annals_domain::intent::{
    Approver, FlowStep, IntentStatus, Risk, RiskBasis, Source, TypeBasis, WorkType,
};
use annals_domain::observation::ObservationKind;
use annals_domain::pipeline::{FrameKind, PolicyRule};
use annals_domain::plan::StepStatus;
use annals_domain::run::{
    ApplyStatus, ChangeType, DecisionType, DiffFormat, EvidenceKind, RunStatus, ToolStatus,
};
use annals_domain::session::{
    ArtifactKind, CommandKind, CommandResult, RejectionRule, SessionStatus, TokenSource,
};
use annals_domain::settings::Setting;
use annals_domain::snapshot::{ContextItemKind, SelectionStrategy};
use annals_domain::task::{Complexity, GoalType, ReviewVerdict, TaskStatus};
use annals_domain::{ActorKind, Dialect, Visibility};

/// One enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocabulary {
    /// What it says, and of what.
    pub name: &'static str,
    /// The fields that use it.
    pub fields: &'static str,
    /// Whether any other word is allowed too; it is stored with the number 0.
    pub open: bool,
    /// The numbers and their words.
    pub words: Vec<(u16, String)>,
}

macro_rules! closed {
    ($name:ident, $fields:literal) => {
        Vocabulary {
            name: stringify!($name),
            fields: $fields,
            open: false,
            words: $name::ALL
                .iter()
                .map(|v| (v.code(), v.as_str().to_owned()))
                .collect(),
        }
    };
}

macro_rules! open {
    ($name:ident, $fields:literal) => {
        Vocabulary {
            name: stringify!($name),
            fields: $fields,
            open: true,
            words: $name::LISTED
                .iter()
                .map(|v| (v.code(), v.as_str().to_owned()))
                .collect(),
        }
    };
}

/// Every enum that an event has.
pub fn vocabularies() -> Vec<Vocabulary> {
    vec![
        closed!(Visibility, "`visibility`"),
        closed!(StepStatus, "`status` of a step"),
        open!(ActorKind, "`kind` of an actor"),
        open!(GoalType, "`goal`"),
        closed!(ToolStatus, "`status` of a tool call"),
        closed!(DiffFormat, "`format`"),
        closed!(ChangeType, "`change_type`"),
        open!(EvidenceKind, "`kind` of evidence"),
        open!(DecisionType, "`decision_type`"),
        closed!(SelectionStrategy, "`strategy`"),
        open!(ContextItemKind, "`kind` of an item"),
        open!(FrameKind, "`kind` of a frame"),
        closed!(Dialect, "`dialect`"),
        closed!(IntentStatus, "`status` of an adopted intent"),
        closed!(TaskStatus, "`status` of an adopted task"),
        closed!(RunStatus, "`status` of an adopted run"),
        closed!(ApplyStatus, "`apply_status` of an adopted patch set"),
        closed!(PolicyRule, "`rule` of an eviction policy"),
        closed!(CommandKind, "`kind` of a command"),
        closed!(ArtifactKind, "`kind` of an artifact"),
        closed!(CommandResult, "`outcome` of a command"),
        closed!(SessionStatus, "`status` of a session, as recorded"),
        open!(RejectionRule, "`rule` of a rejection"),
        closed!(TokenSource, "`token` of an accepted command"),
        closed!(Source, "`source` of an intent"),
        open!(WorkType, "`work_type`"),
        closed!(Risk, "`risk`"),
        closed!(FlowStep, "`flow`"),
        closed!(TypeBasis, "`type_basis`"),
        closed!(RiskBasis, "`risk_basis`"),
        closed!(Approver, "`by` of an approval"),
        closed!(ReviewVerdict, "`verdict` of a review"),
        closed!(Complexity, "`complexity`"),
        closed!(Setting, "`setting`"),
        closed!(ObservationKind, "`kind` of an observation"),
    ]
}
