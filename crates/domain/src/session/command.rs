//! What can be asked of a session.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Artifact, CommandBody, CommandResult, RepoRef, SessionConfig, TaskPlan, WorkItemDetails,
    WorkItemSummary,
};
use crate::{CommandId, RunId, SessionId, TaskId};

macro_rules! commands {
    ($($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident: $type:ty,)* })+) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
            #[serde(deny_unknown_fields)]
            #[non_exhaustive]
            pub struct $name { $($(#[$fmeta])* pub $field: $type,)* }
        )+
    };
}

commands! {
    /// Creates a session; it runs.
    #[derive(Setters)]
    #[setters(prefix = "with_", into)]
    CreateSession {
        /// How it is set up (docs/spec/contracts.md, SessionConfig); its sessionId must be new.
        #[setters(skip)]
        config: SessionConfig,
        /// After how many seconds an unanswered approval expires; left out,
        /// never.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval_expiry_seconds: Option<u64>,
        /// After how many failures in a row the session pauses; 3 if it is left out, and
        /// 0 is never.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pause_after_failures: Option<u32>,
    }
    /// Gives an agent's command to the session's gate, which accepts, rejects or
    /// throttles it, or lets it wait for an approval. In each case the verdict is
    /// recorded and is the answer; the same command under the same id gets the same
    /// one again.
    #[derive(Setters)]
    #[setters(prefix = "with_", into)]
    SubmitCommand {
        /// The session.
        #[setters(skip)]
        session: SessionId,
        /// The command's id; left out, it gets one.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<CommandId>,
        /// The command that led to it.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<CommandId>,
        /// The node of a plan that it belongs to.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan_node: Option<String>,
        /// Of a Commit: the branch that the repository is on, as the caller sees it. Where the
        /// policy protects branches and the session created none there, it must be said.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// Of a Commit: the files that it changes, as the caller sees them, each under one of its `includePaths`. Where the
        /// policy has `maxFilesPerCommit`, it must be said.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files: Option<Vec<String>>,
        /// The command: its kind and its fields, named as in Contracts v1.1's JSON.
        #[new(into)]
        #[setters(skip)]
        submit: CommandBody,
    }
    /// Approves a request for approval. Approved actions stay so until the session
    /// ends; commands that waited for them are judged, in their order.
    #[derive(Setters)]
    #[setters(prefix = "with_", into)]
    ApproveSession {
        /// The session.
        #[setters(skip)]
        session: SessionId,
        /// The command that asks for it; left out, the oldest one.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<CommandId>,
        /// Why.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Denies a request for approval. All commands that wait are rejected.
    #[derive(Setters)]
    #[setters(prefix = "with_", into)]
    DenySession {
        /// The session.
        #[setters(skip)]
        session: SessionId,
        /// The command that asks for it; left out, the oldest one.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<CommandId>,
        /// Why; the commands are rejected with it.
        #[new(into)]
        #[setters(skip)]
        reason: String,
    }
    /// Lets approvals expire that were not answered in time. The next command does
    /// so too; this is for a clock.
    ExpireApprovals {
        /// The session.
        session: SessionId,
    }
    /// Pauses an open session: commands are rejected until it is resumed. What a person paused, a person resumes.
    #[derive(Setters)]
    #[setters(prefix = "with_", into)]
    PauseSession {
        /// The session.
        #[setters(skip)]
        session: SessionId,
        /// Why.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Resumes a paused session: what was approved meanwhile is judged, and what was not is requested again.
    #[derive(Setters)]
    #[setters(prefix = "with_", into)]
    ResumeSession {
        /// The session.
        #[setters(skip)]
        session: SessionId,
        /// Why.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Aborts a session, for good. Commands that wait are rejected.
    #[derive(Setters)]
    #[setters(prefix = "with_", into)]
    AbortSession {
        /// The session.
        #[setters(skip)]
        session: SessionId,
        /// Why.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Completes a session, for good. Commands that wait are rejected.
    #[derive(Setters)]
    #[setters(prefix = "with_", into)]
    CompleteSession {
        /// The session.
        #[setters(skip)]
        session: SessionId,
        /// Why.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Records how an accepted command ended; once.
    #[derive(Setters)]
    #[setters(prefix = "with_", into)]
    CompleteCommand {
        /// The session.
        #[setters(skip)]
        session: SessionId,
        /// The command.
        #[setters(skip)]
        id: CommandId,
        /// How it ended.
        #[setters(skip)]
        outcome: CommandResult,
        /// What is to be said of it.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The number or word of what went wrong.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error_code: Option<String>,
    }
    /// Records that an accepted command, which has not ended, met a conflict.
    #[derive(Setters)]
    #[setters(prefix = "with_", into)]
    RecordConflict {
        /// The session.
        #[setters(skip)]
        session: SessionId,
        /// The command.
        #[setters(skip)]
        id: CommandId,
        /// The repository.
        #[setters(skip)]
        repo: RepoRef,
        /// What is in conflict.
        #[new(into)]
        #[setters(skip)]
        details: String,
        /// The patch.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        patch_content: Option<String>,
    }
    /// Records what an accepted command made, or what came of the session itself.
    #[derive(Setters)]
    #[setters(prefix = "with_", into)]
    RecordArtifact {
        /// The session.
        #[setters(skip)]
        session: SessionId,
        /// The command, which has not ended or is among the last 256 that did; left out, it is
        /// the session's.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<CommandId>,
        /// What it made.
        #[setters(skip)]
        artifact: Artifact,
    }
    /// Records the tickets that an accepted command, which has not ended, read.
    RecordBacklog {
        /// The session.
        session: SessionId,
        /// The command.
        id: CommandId,
        /// The tickets.
        items: Vec<WorkItemSummary>,
    }
    /// Records the ticket that an accepted command, which has not ended, read.
    RecordWorkItem {
        /// The session.
        session: SessionId,
        /// The command.
        id: CommandId,
        /// The ticket.
        details: WorkItemDetails,
    }
    /// Replaces the session's plan as a whole.
    UpdatePlan {
        /// The session.
        session: SessionId,
        /// The plan: a graph without cycles.
        plan: TaskPlan,
    }
    /// Says which task a node of the session's plan became.
    LinkPlanTask {
        /// The session.
        session: SessionId,
        /// The node.
        #[new(into)]
        node: String,
        /// The task.
        task: TaskId,
    }
    /// Lets a run go on in the session: commands that end from now on are its tool
    /// invocations, until another run is attached.
    AttachRun {
        /// The session.
        session: SessionId,
        /// The run.
        run: RunId,
    }
}
