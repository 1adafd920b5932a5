//! What an intent waits for.

use annals_domain::intent::{ApprovalStatus, Risk};

use super::row::IntentCounts;

/// What an intent waits for. Each is a list of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Waits {
    /// An approval; with the risk that asks for it, or none if that is not known.
    Approval(Option<Risk>),
    /// An answer.
    Answer,
    /// A person who looks at what failed in part.
    Blocked,
    /// A person who looks at what failed.
    Error,
    /// Other intents, of which some may have been turned down, tasks that may never be done, or
    /// what it is a part of, which may have ended.
    Dependency,
}

impl Waits {
    /// All of them.
    pub(super) const ALL: [Waits; 8] = [
        Waits::Approval(None),
        Waits::Approval(Some(Risk::Low)),
        Waits::Approval(Some(Risk::Med)),
        Waits::Approval(Some(Risk::High)),
        Waits::Answer,
        Waits::Blocked,
        Waits::Error,
        Waits::Dependency,
    ];

    /// The number in keys.
    pub(super) fn code(self) -> u8 {
        match self {
            Waits::Approval(None) => 1,
            Waits::Approval(Some(Risk::Low)) => 2,
            Waits::Approval(Some(Risk::Med)) => 3,
            Waits::Approval(Some(Risk::High)) => 4,
            Waits::Answer => 5,
            Waits::Blocked => 6,
            Waits::Error => 7,
            Waits::Dependency => 8,
        }
    }
}

/// What an intent waits for, if it does: the rule of the inbox (docs/spec/forge.md). `settled` is its status without what
/// is open of it.
pub(super) fn waits(
    counts: &IntentCounts,
    status: ApprovalStatus,
    settled: ApprovalStatus,
) -> Option<Waits> {
    if !counts.is_taken_in {
        return None;
    }
    match settled {
        ApprovalStatus::Blocked => return Some(Waits::Blocked),
        ApprovalStatus::Error => return Some(Waits::Error),
        _ => {}
    }
    let asked = counts.unanswered > 0;
    match status {
        ApprovalStatus::Proposed | ApprovalStatus::Approved | ApprovalStatus::Executing
            if asked =>
        {
            Some(Waits::Answer)
        }
        ApprovalStatus::Proposed => Some(Waits::Approval(counts.risk())),
        ApprovalStatus::Approved if counts.dependencies > 0 => Some(Waits::Dependency),
        ApprovalStatus::Approved | ApprovalStatus::Executing
            if counts.waiting > 0 || counts.is_part =>
        {
            Some(Waits::Dependency)
        }
        ApprovalStatus::Approved
        | ApprovalStatus::Executing
        | ApprovalStatus::Blocked
        | ApprovalStatus::Error
        | ApprovalStatus::Done
        | ApprovalStatus::Rejected
        | ApprovalStatus::Cancelled => None,
    }
}
