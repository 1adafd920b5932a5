//! An intent's second axis (docs/spec/forge.md): whether it was approved, and
//! how far the work on it is. No status of it is stored. What happened is, and
//! the status is a fold of that and of the tasks and children.

use serde::{Deserialize, Serialize};

use crate::codes::coded_enum;
use crate::task;

/// How far an intent was let go (docs/spec/forge.md, approval axis).
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Stage {
    /// It was requested.
    #[default]
    Proposed,
    /// It may be worked on.
    Approved,
    /// It is worked on.
    Executing,
    /// It is not wanted.
    Rejected,
}

coded_enum! {
    /// The status that Forge shows of an intent. `rejected` is not among
    /// its words; it is what an intent has become that a person turned down.
    pub enum ApprovalStatus {
        /// It was requested.
        Proposed = 1 => "proposed",
        /// It may be worked on.
        Approved = 2 => "approved",
        /// It is worked on.
        Executing = 3 => "executing",
        /// All of it is done.
        Done = 4 => "done",
        /// Some of it failed.
        Blocked = 5 => "blocked",
        /// All of it failed.
        Error = 6 => "error",
        /// It is not wanted.
        Rejected = 7 => "rejected",
        /// It was abandoned.
        Cancelled = 8 => "cancelled",
    }
}

impl ApprovalStatus {
    /// How it counts to the intent that it is a part of.
    pub fn standing(self) -> Option<Standing> {
        match self {
            ApprovalStatus::Proposed | ApprovalStatus::Approved | ApprovalStatus::Executing => {
                Some(Standing::Open)
            }
            ApprovalStatus::Done => Some(Standing::Done),
            ApprovalStatus::Error => Some(Standing::Failed),
            ApprovalStatus::Blocked => Some(Standing::Blocked),
            ApprovalStatus::Rejected | ApprovalStatus::Cancelled => Some(Standing::CalledOff),
        }
    }
}

/// How a part of an intent, a task or a child, counts to the whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// It is not settled.
    Open,
    /// It is done.
    Done,
    /// It failed, all of it.
    Failed,
    /// It failed in part, or was called off with what it waited for.
    Blocked,
    /// It is not wanted any more, and counts only where nothing else does.
    CalledOff,
}

impl task::State {
    /// How the task counts to its intent; not at all, if another one took its place.
    pub fn standing(&self) -> Option<Standing> {
        if self.superseded_by.is_some() {
            return None;
        }
        match self.status {
            task::Status::Draft | task::Status::Running => Some(Standing::Open),
            task::Status::Done => Some(Standing::Done),
            task::Status::Failed => Some(Standing::Failed),
            task::Status::Cancelled if self.is_stranded => Some(Standing::Blocked),
            task::Status::Cancelled => Some(Standing::CalledOff),
            task::Status::Absent => None,
        }
    }
}

/// The parts of an intent, counted by their state (docs/spec/forge.md, Intent, status).
///
/// ```
/// use annals_domain::intent::{ApprovalStatus, PartsTally, Standing};
/// let mut parts = PartsTally::default();
/// parts.add(Some(Standing::Done));
/// parts.add(Some(Standing::Failed));
/// assert_eq!(parts.status(), ApprovalStatus::Blocked);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PartsTally {
    /// Parts that are not settled.
    pub open: u32,
    /// Parts that are done.
    pub done: u32,
    /// Parts that failed.
    pub failed: u32,
    /// Parts that failed in part, or were called off with what they waited for.
    pub blocked: u32,
    /// Parts that are not wanted any more.
    pub called_off: u32,
    /// Whether it was ever split into intents of their own.
    pub is_decomposed: bool,
}

impl PartsTally {
    fn count(&mut self, standing: Standing) -> &mut u32 {
        match standing {
            Standing::Open => &mut self.open,
            Standing::Done => &mut self.done,
            Standing::Failed => &mut self.failed,
            Standing::Blocked => &mut self.blocked,
            Standing::CalledOff => &mut self.called_off,
        }
    }

    /// Counts a part in, unless it does not count.
    pub fn add(&mut self, standing: Option<Standing>) {
        if let Some(standing) = standing {
            let count = self.count(standing);
            *count = count.saturating_add(1);
        }
    }

    /// Counts a part out, unless it does not count.
    pub fn remove(&mut self, standing: Option<Standing>) {
        if let Some(standing) = standing {
            let count = self.count(standing);
            *count = count.saturating_sub(1);
        }
    }

    /// The parts without those that are open, unless nothing else happened to any.
    #[must_use]
    pub fn without_open(self) -> PartsTally {
        let counts = [self.done, self.failed, self.blocked, self.called_off];
        match counts == [0; 4] {
            true => self,
            false => PartsTally { open: 0, ..self },
        }
    }

    /// The status of an executing intent with these parts (docs/spec/forge.md): while
    /// there are none, or any is open, it is executing; else done, if all of them
    /// are; error, if all failed; and blocked otherwise. One whose tasks and children were
    /// all called off is blocked: it does not go on without a person's decision.
    pub fn status(&self) -> ApprovalStatus {
        let settled = [self.done, self.failed, self.blocked];
        let had_parts = self.is_decomposed || self.called_off > 0;
        if self.open > 0 || (settled == [0; 3] && !had_parts) {
            return ApprovalStatus::Executing;
        }
        match settled.map(|count| count > 0) {
            [true, false, false] => ApprovalStatus::Done,
            [false, true, false] => ApprovalStatus::Error,
            _ => ApprovalStatus::Blocked,
        }
    }
}
