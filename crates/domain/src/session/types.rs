//! The small types that commands, results and configurations are made of
//! (docs/spec/contracts.md, Core Types and Artifacts).
//!
//! Their JSON names are those of the contracts, in camelCase.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::codes::coded_enum;

/// A repository (docs/spec/contracts.md, RepoRef).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema, new)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RepoRef {
    /// Its name.
    #[new(into)]
    pub name: String,
    /// Where it is.
    #[new(into)]
    pub path: String,
}

/// The root of a session's workspace (docs/spec/contracts.md, WorkspaceRef).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct WorkspaceRef {
    /// Where it is.
    #[new(into)]
    pub path: String,
}

/// A ticket in another system (docs/spec/contracts.md, WorkItemRef).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct WorkItemRef {
    /// Its id there.
    #[new(into)]
    #[setters(skip)]
    pub id: String,
    /// Which system it is.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_hint: Option<String>,
}

/// A ticket as a backlog lists it (docs/spec/contracts.md, WorkItemSummary).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct WorkItemSummary {
    /// Its id.
    #[new(into)]
    #[setters(skip)]
    pub id: String,
    /// Its title.
    #[new(into)]
    #[setters(skip)]
    pub title: String,
    /// The state that it is in, in its own system's words.
    #[new(into)]
    #[setters(skip)]
    pub status: String,
    /// Who works on it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
}

/// A ticket with all that is known of it (docs/spec/contracts.md, WorkItemDetails).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct WorkItemDetails {
    /// Its id.
    #[new(into)]
    #[setters(skip)]
    pub id: String,
    /// Its title.
    #[new(into)]
    #[setters(skip)]
    pub title: String,
    /// What is to be done.
    #[new(into)]
    #[setters(skip)]
    pub description: String,
    /// The state that it is in, in its own system's words.
    #[new(into)]
    #[setters(skip)]
    pub status: String,
    /// Who works on it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee: Option<String>,
    /// Its tags.
    #[new(default)]
    #[serde(default)]
    pub tags: Vec<String>,
}

coded_enum! {
    /// What an artifact is (docs/spec/contracts.md, Artifacts).
    pub enum ArtifactKind {
        /// A difference between two versions.
        Diff = 1 => "Diff",
        /// A change to apply.
        Patch = 2 => "Patch",
        /// What tests said.
        TestResults = 3 => "TestResults",
        /// A log.
        Log = 4 => "Log",
        /// A plan.
        Plan = 5 => "Plan",
        /// What went wrong.
        ErrorReport = 6 => "ErrorReport",
        /// A conflict.
        Conflict = 7 => "Conflict",
    }
}

/// Something that a command made (docs/spec/contracts.md, Artifact).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct Artifact {
    /// What it is.
    #[setters(skip)]
    pub kind: ArtifactKind,
    /// Its name.
    #[new(into)]
    #[setters(skip)]
    pub name: String,
    /// Its content, where it is a short text.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline_text: Option<String>,
    /// Where it is in the workspace.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hint: Option<String>,
    /// Where it can be fetched.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub download_uri: Option<String>,
    /// Its media type.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
}

coded_enum! {
    /// How a command ended (docs/spec/contracts.md, CommandCompleted).
    pub enum CommandResult {
        /// It did what it was to do.
        Success = 1 => "Success",
        /// It did not.
        Failure = 2 => "Failure",
    }
}

coded_enum! {
    /// Where a session is in its life (docs/spec/contracts.md, SessionStatusChanged).
    pub enum SessionStatus {
        /// Nothing was said of it; only a session that another system kept.
        Unknown = 1 => "Unknown",
        /// Commands are judged.
        Running = 2 => "Running",
        /// No command is accepted until it is resumed.
        Paused = 3 => "Paused",
        /// An approval is requested; commands that need none run.
        NeedsApproval = 4 => "NeedsApproval",
        /// It was aborted.
        Error = 5 => "Error",
        /// It is over.
        Completed = 6 => "Completed",
    }
}

impl SessionStatus {
    /// Whether no command is accepted any more.
    pub fn is_terminal(self) -> bool {
        match self {
            SessionStatus::Error | SessionStatus::Completed => true,
            SessionStatus::Unknown
            | SessionStatus::Running
            | SessionStatus::Paused
            | SessionStatus::NeedsApproval => false,
        }
    }
}
