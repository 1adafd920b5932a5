//! The words for where an object is in its life, as git-internal has them, and
//! Contracts v1.1 for sessions, in the manner of git-internal.

use annals_domain::Kind;
use annals_domain::intent::IntentStatus;
use annals_domain::plan::StepStatus;
use annals_domain::run::{ApplyStatus, CallStatus, RunStatus, ToolStatus};
use annals_domain::session::SessionStatus;
use annals_domain::task::TaskStatus;

macro_rules! statuses {
    ($($variant:ident = $code:literal, $word:literal;)+) => {
        /// Where an object is in its life. Kinds share words, not lives.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "the words say it")]
        pub enum Status { $($variant,)+ }

        impl Status {
            /// All of them.
            pub const ALL: &'static [Status] = &[$(Status::$variant,)+];

            /// The word for it.
            pub fn word(self) -> &'static str {
                match self { $(Status::$variant => $word,)+ }
            }

            /// The number in rows and keys; 0 stands for no status.
            pub(super) fn code(self) -> u8 {
                match self { $(Status::$variant => $code,)+ }
            }
        }
    };
}

statuses! {
    Draft = 1, "draft";
    Active = 2, "active";
    Completed = 3, "completed";
    Cancelled = 4, "cancelled";
    Running = 5, "running";
    Done = 6, "done";
    Failed = 7, "failed";
    Created = 8, "created";
    Patching = 9, "patching";
    Validating = 10, "validating";
    Proposed = 11, "proposed";
    Applied = 12, "applied";
    Rejected = 13, "rejected";
    Reverted = 14, "reverted";
    Ok = 15, "ok";
    Error = 16, "error";
    Open = 17, "open";
    Finalized = 18, "finalized";
    Paused = 19, "paused";
    NeedsApproval = 20, "needs_approval";
    Unknown = 21, "unknown";
    Processed = 22, "processed";
    Requested = 23, "requested";
    Denied = 24, "denied";
}

impl Status {
    /// The statuses that objects of a kind can have; none if the kind has no
    /// status.
    pub fn of(kind: Kind) -> &'static [Status] {
        match kind {
            Kind::Intent => &[
                Status::Draft,
                Status::Active,
                Status::Completed,
                Status::Cancelled,
            ],
            Kind::Task => &[
                Status::Draft,
                Status::Running,
                Status::Done,
                Status::Failed,
                Status::Cancelled,
            ],
            Kind::Run => &[
                Status::Created,
                Status::Patching,
                Status::Validating,
                Status::Completed,
                Status::Failed,
            ],
            Kind::PatchSet => &[
                Status::Proposed,
                Status::Applied,
                Status::Rejected,
                Status::Reverted,
            ],
            Kind::ToolInvocation => &[
                Status::Requested,
                Status::Denied,
                Status::Running,
                Status::Ok,
                Status::Error,
            ],
            Kind::ContextSnapshot => &[Status::Open, Status::Finalized],
            Kind::Observation => &[Status::Open, Status::Processed],
            Kind::Session => &[
                Status::Unknown,
                Status::Running,
                Status::Paused,
                Status::NeedsApproval,
                Status::Error,
                Status::Completed,
            ],
            Kind::Plan
            | Kind::Evidence
            | Kind::Decision
            | Kind::Provenance
            | Kind::ContextPipeline => &[],
        }
    }

    /// The status as that of a tool call, if it is one.
    pub(super) fn of_call(self) -> Option<CallStatus> {
        let mut all = CallStatus::ALL.iter().copied();
        all.find(|status| Status::from(*status) == self)
    }

    pub(super) fn from_code(code: u8) -> Option<Status> {
        Status::ALL
            .iter()
            .copied()
            .find(|status| status.code() == code)
    }
}

impl From<IntentStatus> for Status {
    fn from(status: IntentStatus) -> Status {
        match status {
            IntentStatus::Draft => Status::Draft,
            IntentStatus::Active => Status::Active,
            IntentStatus::Completed => Status::Completed,
            IntentStatus::Cancelled => Status::Cancelled,
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

impl From<RunStatus> for Status {
    fn from(status: RunStatus) -> Status {
        match status {
            RunStatus::Created => Status::Created,
            RunStatus::Patching => Status::Patching,
            RunStatus::Validating => Status::Validating,
            RunStatus::Completed => Status::Completed,
            RunStatus::Failed => Status::Failed,
        }
    }
}

impl From<ApplyStatus> for Status {
    fn from(status: ApplyStatus) -> Status {
        match status {
            ApplyStatus::Proposed => Status::Proposed,
            ApplyStatus::Applied => Status::Applied,
            ApplyStatus::Rejected => Status::Rejected,
            ApplyStatus::Reverted => Status::Reverted,
        }
    }
}

impl From<ToolStatus> for Status {
    fn from(status: ToolStatus) -> Status {
        match status {
            ToolStatus::Ok => Status::Ok,
            ToolStatus::Error => Status::Error,
        }
    }
}

impl From<CallStatus> for Status {
    fn from(status: CallStatus) -> Status {
        match status {
            CallStatus::Requested => Status::Requested,
            CallStatus::Denied => Status::Denied,
            CallStatus::Running => Status::Running,
            CallStatus::Ok => Status::Ok,
            CallStatus::Error => Status::Error,
        }
    }
}

impl From<SessionStatus> for Status {
    fn from(status: SessionStatus) -> Status {
        match status {
            SessionStatus::Unknown => Status::Unknown,
            SessionStatus::Running => Status::Running,
            SessionStatus::Paused => Status::Paused,
            SessionStatus::NeedsApproval => Status::NeedsApproval,
            SessionStatus::Error => Status::Error,
            SessionStatus::Completed => Status::Completed,
        }
    }
}

/// The number of a step's status in rows.
pub(super) fn step_code(status: StepStatus) -> u8 {
    match status {
        StepStatus::Pending => 1,
        StepStatus::Progressing => 2,
        StepStatus::Completed => 3,
        StepStatus::Failed => 4,
        StepStatus::Skipped => 5,
    }
}

/// The status of a step from its number.
pub(super) fn step_status(code: u8) -> Option<StepStatus> {
    StepStatus::ALL
        .iter()
        .copied()
        .find(|status| step_code(*status) == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_code_and_a_word_of_its_own_and_a_kind() {
        for (number, status) in (1..).zip(Status::ALL) {
            assert_eq!(
                (status.code(), Status::from_code(number)),
                (number, Some(*status))
            );
            let same = Status::ALL
                .iter()
                .filter(|other| other.word() == status.word());
            assert_eq!(same.count(), 1, "{status:?}");
            assert!(
                Kind::ALL
                    .iter()
                    .any(|kind| Status::of(*kind).contains(status))
            );
        }
        assert_eq!(Status::from_code(0), None);
        for status in StepStatus::ALL {
            assert_eq!(step_status(step_code(*status)), Some(*status));
        }
    }
}
