//! The closed and open vocabularies of a run's objects.

use crate::codes::{coded_enum, open_enum};

coded_enum! {
    /// How a diff is written (docs/spec/git-internal.md, PatchSet.format).
    pub enum DiffFormat {
        /// A unified diff.
        Unified = 1 => "unified_diff",
        /// A git diff, with its extended headers.
        GitDiff = 2 => "git_diff",
    }
}

coded_enum! {
    /// What became of a patch set (docs/spec/git-internal.md, ApplyStatus, and Reverted,
    /// which git-internal shows as rejected).
    pub enum ApplyStatus {
        /// A candidate.
        Proposed = 1 => "proposed",
        /// Applied.
        Applied = 2 => "applied",
        /// Turned down.
        Rejected = 3 => "rejected",
        /// Applied, and later taken back by a run of its own.
        Reverted = 4 => "reverted",
    }
}

coded_enum! {
    /// What happened to a touched file.
    pub enum ChangeType {
        /// It is new.
        Add = 1 => "add",
        /// Its content changed.
        Modify = 2 => "modify",
        /// It is gone.
        Delete = 3 => "delete",
        /// It has another name.
        Rename = 4 => "rename",
        /// It is a copy of another one.
        Copy = 5 => "copy",
    }
}

coded_enum! {
    /// How a tool call ended (docs/spec/git-internal.md, ToolStatus).
    pub enum ToolStatus {
        /// It worked.
        Ok = 1 => "ok",
        /// It did not.
        Error = 2 => "error",
    }
}

open_enum! {
    /// What a validation step was (docs/spec/git-internal.md, EvidenceKind).
    pub enum EvidenceKind as bare {
        /// Tests were run.
        Test = 1 => "test",
        /// A linter was run.
        Lint = 2 => "lint",
        /// It was built.
        Build = 3 => "build",
        /// A reviewer looked at it (docs/spec/forge.md, Review Result).
        Review = 4 => "review",
    }
}

open_enum! {
    /// The verdict of a run (docs/spec/git-internal.md, Decision types).
    pub enum DecisionType as bare {
        /// Apply the chosen patch set.
        Commit = 1 => "commit",
        /// Save intermediate progress.
        Checkpoint = 2 => "checkpoint",
        /// Give up on the task.
        Abandon = 3 => "abandon",
        /// Make another run of the same task.
        Retry = 4 => "retry",
        /// Revert an applied patch set.
        Rollback = 5 => "rollback",
    }
}

coded_enum! {
    /// What was decided on a tool call that was requested.
    pub enum ToolVerdict {
        /// The call may be made.
        Allow = 1 => "allow",
        /// The call must not be made.
        Deny = 2 => "deny",
        /// Somebody else must decide, mostly a person.
        Ask = 3 => "ask",
    }
}

coded_enum! {
    /// What decided on a tool call.
    pub enum ToolDecider {
        /// A rule, mostly one of a settings or policy file.
        Rule = 1 => "rule",
        /// A program that the agent runs before its tools.
        Hook = 2 => "hook",
        /// A person who was asked.
        Person = 3 => "person",
        /// A model that judges calls.
        Classifier = 4 => "classifier",
        /// The mode that the agent was in, such as one that allows all edits.
        Mode = 5 => "mode",
    }
}

coded_enum! {
    /// How long a decision on a tool call holds.
    pub enum GrantScope {
        /// For this call alone.
        Once = 1 => "once",
        /// For calls like it until the agent's session ends.
        Session = 2 => "session",
        /// For calls like it from then on, in later sessions, too: it was written into the agent's settings.
        Settings = 3 => "settings",
    }
}

impl GrantScope {
    /// Whether other calls can rest on it.
    pub fn is_kept(self) -> bool {
        self != GrantScope::Once
    }
}

coded_enum! {
    /// Where a tool call is in its life.
    pub enum CallStatus {
        /// The agent asked for it, and it has not begun.
        Requested = 1 => "requested",
        /// It was denied, and has not begun.
        Denied = 2 => "denied",
        /// It has begun, and has not ended.
        Running = 3 => "running",
        /// It ended, and worked.
        Ok = 4 => "ok",
        /// It ended, and did not work.
        Error = 5 => "error",
    }
}
