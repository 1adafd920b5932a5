//! Why a command is refused.

use uuid::Uuid;

use crate::folding::is_blank;
use crate::{Kind, PatchSetId, RunId};

/// Why a command is refused. A refused command changes nothing; repeating it
/// unchanged helps only after something else has changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The object is not there.
    #[error("there is no {kind} {id}; create it first, or check the id")]
    NotFound {
        /// What was looked for.
        kind: Kind,
        /// Its id.
        id: Uuid,
    },
    /// No object of any kind has the id.
    #[error("no object has the id {id}; check it, or look with `annals log`")]
    Unknown {
        /// The id.
        id: Uuid,
    },
    /// The id is taken.
    #[error("{kind} {id} exists already; leave the id out to get a new one")]
    Exists {
        /// What has the id.
        kind: Kind,
        /// The id.
        id: Uuid,
    },
    /// The object's state does not allow it (dialect table of transitions).
    #[error("{kind} {id} is {state}: {asked} is allowed only when it is {allowed}")]
    Transition {
        /// What was to change.
        kind: Kind,
        /// Its id.
        id: Uuid,
        /// The state that it is in.
        state: String,
        /// What was asked.
        asked: &'static str,
        /// The states in which that is allowed.
        allowed: &'static str,
    },
    /// A field has a value that is not allowed.
    #[error("{field} is not valid: {reason}")]
    Invalid {
        /// The field, named as in the command.
        field: &'static str,
        /// What is wrong, and what is expected.
        reason: String,
    },
    /// This actor may not ask for it; another one may.
    #[error("not permitted: {reason}")]
    NotPermitted {
        /// Who may, and why not this one.
        reason: String,
    },
    /// The run has one already.
    #[error("run {run} has its {kind} already, {existing}; a run has at most one")]
    OnlyOne {
        /// What there is only one of.
        kind: Kind,
        /// The run.
        run: RunId,
        /// The one that is there.
        existing: Uuid,
    },
    /// The patch set belongs to another run, or to none.
    #[error(
        "patch set {patch_set} is not one of run {run}; name a patch set that this run proposed"
    )]
    ForeignPatchSet {
        /// The patch set.
        patch_set: PatchSetId,
        /// The run that was to use it.
        run: RunId,
    },
    /// The link would close a cycle.
    #[error(
        "{kind} {id} cannot have {asked}, for that would close a cycle: {}",
        join(path)
    )]
    Cycle {
        /// The kind of the objects in the cycle.
        kind: Kind,
        /// The object that was to get the link.
        id: Uuid,
        /// The requested link.
        asked: &'static str,
        /// The cycle, from the object back to itself.
        path: Vec<Uuid>,
    },
}

fn join(path: &[Uuid]) -> String {
    let ids: Vec<String> = path.iter().map(Uuid::to_string).collect();
    ids.join(" -> ")
}

impl Refusal {
    /// A value that is not allowed.
    pub fn invalid(field: &'static str, reason: impl Into<String>) -> Refusal {
        Refusal::Invalid {
            field,
            reason: reason.into(),
        }
    }

    /// A stable word for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::NotFound { .. } => "not_found",
            Refusal::Unknown { .. } => "not_found",
            Refusal::Exists { .. } => "exists",
            Refusal::Transition { .. } => "transition",
            Refusal::Invalid { .. } => "invalid",
            Refusal::NotPermitted { .. } => "not_permitted",
            Refusal::OnlyOne { .. } => "only_one",
            Refusal::ForeignPatchSet { .. } => "foreign_patch_set",
            Refusal::Cycle { .. } => "cycle",
        }
    }
}

/// Demands that a text has a character that a reader sees.
pub(crate) fn not_blank(field: &'static str, text: &str) -> Result<(), Refusal> {
    if is_blank(text) {
        return Err(Refusal::invalid(field, "it must not be blank"));
    }
    Ok(())
}
