//! What happens to an intent.

use derive_new::new;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;
use uuid::Uuid;

use super::{
    Approved, ClarificationAnswered, ClarificationRequested, Classified, Decomposed,
    ExecutionStarted, Instructed, Rejected, RerunRequested, TakenIn, TaskAdded,
};
use crate::codes::coded_enum;
use crate::event::{Touched, events};
use crate::metadata::{MetadataSet, Sealed, subject};
use crate::pieces::Slot;
use crate::redaction::Redacted;
use crate::{AdoptedHeader, GitOid, IntentId, Kind, PlanId, Timestamp};

coded_enum! {
    /// The status that git-internal's JSON shows (docs/spec/git-internal.md, Intent status
    /// transitions).
    pub enum IntentStatus {
        /// The prompt is recorded.
        Draft = 1 => "draft",
        /// It was interpreted and work is going on.
        Active = 2 => "active",
        /// All work on it is finished.
        Completed = 3 => "completed",
        /// It was abandoned.
        Cancelled = 4 => "cancelled",
    }
}

impl IntentStatus {
    /// Whether an intent in this status may go to that one.
    pub fn may_become(self, to: IntentStatus) -> bool {
        match self {
            IntentStatus::Draft => matches!(to, IntentStatus::Active | IntentStatus::Cancelled),
            IntentStatus::Active => {
                matches!(to, IntentStatus::Completed | IntentStatus::Cancelled)
            }
            IntentStatus::Completed | IntentStatus::Cancelled => false,
        }
    }
}

events! {
    /// An event of an intent's stream.
    pub enum Event {
        Submitted = "intent.submitted" v 1,
        Analyzed = "intent.analyzed" v 1,
        Activated = "intent.activated" v 1,
        PlanSelected = "intent.plan_selected" v 1,
        CommitRecorded = "intent.commit_recorded" v 1,
        Completed = "intent.completed" v 1,
        Cancelled = "intent.cancelled" v 1,
        MetadataSet = "intent.metadata_set" v 1,
        Sealed = "intent.sealed" v 2,
        Adopted = "intent.adopted" v 1,
        TakenIn = "intent.taken_in" v 1,
        Classified = "intent.classified" v 2,
        Approved = "intent.approved" v 1,
        Rejected = "intent.rejected" v 1,
        Instructed = "intent.instructed" v 1,
        ExecutionStarted = "intent.execution_started" v 1,
        ClarificationRequested = "intent.clarification_requested" v 1,
        ClarificationAnswered = "intent.clarification_answered" v 1,
        Decomposed = "intent.decomposed" v 1,
        TaskAdded = "intent.task_added" v 1,
        RerunRequested = "intent.rerun_requested" v 1,
        Redacted = "intent.redacted" v 1,
    }
}

/// The user's request was recorded; the intent is a Draft.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Submitted {
    /// The intent that this one refines (docs/spec/git-internal.md: `parent`).
    pub refines: Option<IntentId>,
    /// The request, verbatim.
    pub prompt: Slot,
}

/// The request was interpreted; this replaces an earlier interpretation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Analyzed {
    /// The structured interpretation.
    pub content: Slot,
}

/// Work may begin; the intent is Active.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Activated {
    /// Why.
    pub reason: Option<Slot>,
}

/// A plan revision became the current one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanSelected {
    /// The plan.
    pub plan: PlanId,
}

/// The resulting git commit was recorded; the last one wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitRecorded {
    /// The commit.
    pub commit: GitOid,
}

/// All work on the intent is finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
pub struct Completed {
    /// Why.
    pub reason: Option<Slot>,
}

/// The intent was abandoned before completion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
pub struct Cancelled {
    /// Why.
    pub reason: Option<Slot>,
}

/// The intent was taken over from another system, as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Adopted {
    /// Its common header.
    pub header: Box<AdoptedHeader>,
    /// The request, verbatim.
    pub prompt: Slot,
    /// The structured interpretation.
    pub content: Option<Slot>,
    /// The intent that it refines.
    pub parent: Option<IntentId>,
    /// The resulting git commit.
    pub commit: Option<GitOid>,
    /// The latest plan revision.
    pub plan: Option<PlanId>,
    /// Every status that it had, oldest first.
    pub statuses: Vec<AdoptedStatus>,
}

impl Adopted {
    /// The status that it had last; one without any is a Draft.
    pub fn status(&self) -> IntentStatus {
        let last = self.statuses.last();
        last.map_or(IntentStatus::Draft, |last| last.status)
    }
}

/// One status of an adopted intent's history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "status")]
pub struct AdoptedStatus {
    /// The status.
    pub status: IntentStatus,
    /// Since when.
    pub changed_at: Timestamp,
    /// Why.
    pub reason: Option<Slot>,
}

fn touches(event: &Event, id: Uuid) -> Touched {
    match event {
        Event::MetadataSet(event) => subject(event.kind, event.object),
        Event::Redacted(event) => event.touched().into(),
        Event::Sealed(event) => subject(event.kind, event.object),
        // What belongs to an intent does not change it.
        Event::TaskAdded(_) => Touched::new(),
        Event::Submitted(_)
        | Event::Analyzed(_)
        | Event::Activated(_)
        | Event::PlanSelected(_)
        | Event::CommitRecorded(_)
        | Event::Completed(_)
        | Event::Cancelled(_)
        | Event::Adopted(_)
        | Event::TakenIn(_)
        | Event::Classified(_)
        | Event::Approved(_)
        | Event::Rejected(_)
        | Event::Instructed(_)
        | Event::ExecutionStarted(_)
        | Event::ClarificationRequested(_)
        | Event::ClarificationAnswered(_)
        | Event::Decomposed(_)
        | Event::RerunRequested(_) => smallvec![(Kind::Intent, id)],
    }
}
