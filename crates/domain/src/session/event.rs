//! What happens to a session.

use serde::{Deserialize, Serialize};
use smallvec::smallvec;
use uuid::Uuid;

use super::{ArtifactKind, CommandKind, CommandResult, SessionStatus};
use crate::adopted::Dialect;
use crate::codes::{coded_enum, open_enum};
use crate::event::{Touched, events};
use crate::metadata::{MetadataSet, subject};
use crate::pieces::Slot;
use crate::redaction::Redacted;
use crate::{CommandId, Kind, RunId, SessionId, TaskId, Timestamp};

open_enum! {
    /// The rule by which a command was rejected (docs/spec/contracts.md, PolicyRule).
    pub enum RejectionRule as bare {
        /// Its kind is not among those that are allowed.
        NotInWhitelist = 1 => "Command not in whitelist",
        /// Its kind is among those that are forbidden.
        InBlacklist = 2 => "Command in blacklist",
        /// The branch is protected.
        ProtectedBranch = 3 => "Protected branch",
        /// The commit names too many paths.
        TooManyFiles = 4 => "Too many files in commit",
        /// No tests have passed since the last change.
        TestsRequired = 5 => "Tests required before push",
        /// The ticket may not take that step.
        TransitionNotAllowed = 6 => "Work item transition not allowed",
        /// The approval was denied.
        ApprovalDenied = 7 => "Approval denied",
        /// The request was not answered in time.
        ApprovalExpired = 8 => "Approval expired",
    }
}

coded_enum! {
    /// The bucket that an accepted command took a token from.
    pub enum TokenSource {
        /// None: there is no limit for it, or another system accepted it.
        None = 1 => "none",
        /// The session's own.
        Session = 2 => "session",
        /// The one of its kind, which sessions share.
        Shared = 3 => "shared",
    }
}

events! {
    /// An event of a session's stream.
    pub enum Event {
        /// It was created; it runs.
        Created = "session.created" v 2,
        /// It was taken over from another system.
        Adopted = "session.adopted" v 2,
        /// No command is accepted until it is resumed.
        Paused = "session.paused" v 1,
        /// Commands are judged again.
        Resumed = "session.resumed" v 1,
        /// An approval is requested.
        ApprovalRequired = "session.approval_required" v 1,
        /// It was approved.
        Approved = "session.approved" v 1,
        /// The approval was denied.
        ApprovalDenied = "session.approval_denied" v 1,
        /// The request was not answered in time.
        ApprovalExpired = "session.approval_expired" v 1,
        /// It was aborted.
        Aborted = "session.aborted" v 1,
        /// It is over.
        Completed = "session.completed" v 1,
        /// A command was given.
        CommandReceived = "session.command_received" v 2,
        /// A command waits for an approval.
        CommandQueued = "session.command_queued" v 1,
        /// A command was accepted.
        CommandAccepted = "session.command_accepted" v 1,
        /// A command was rejected.
        CommandRejected = "session.command_rejected" v 1,
        /// A command came too early.
        Throttled = "session.throttled" v 1,
        /// An accepted command ended.
        CommandCompleted = "session.command_completed" v 1,
        /// A command met a conflict.
        ConflictDetected = "session.conflict_detected" v 1,
        /// A command made something.
        ArtifactAvailable = "session.artifact_available" v 1,
        /// The plan was replaced.
        PlanUpdated = "session.plan_updated" v 1,
        /// A node of the plan became a task.
        PlanNodeLinked = "session.plan_node_linked" v 1,
        /// A backlog was read.
        BacklogQueried = "session.backlog_queried" v 1,
        /// A ticket was read.
        WorkItemQueried = "session.work_item_queried" v 1,
        /// A run goes on in the session.
        RunAttached = "session.run_attached" v 1,
        /// Another system says which status it is in.
        StatusRecorded = "session.status_recorded" v 1,
        /// Another system's object of an unknown kind.
        ForeignRecorded = "session.foreign_recorded" v 1,
        /// Visibility, tags or external ids were set.
        MetadataSet = "session.metadata_set" v 1,
        /// Content of events in this stream was removed.
        Redacted = "session.redacted" v 1,
    }
}

/// What an event belongs to (docs/spec/contracts.md, Correlation), in addition to its session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correlation {
    /// The command.
    pub command: Option<CommandId>,
    /// The command that led to it.
    pub parent: Option<CommandId>,
    /// The node of a plan.
    pub plan_node: Option<String>,
}

/// A policy profile inside an event's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPolicy {
    /// Its name.
    pub name: String,
    /// The kinds of commands that may be given.
    pub whitelist: Option<Vec<String>>,
    /// The kinds of commands that may not be given.
    pub blacklist: Option<Vec<String>>,
    /// Branches that are protected.
    pub protected_branches: Vec<String>,
    /// How many paths a commit may name.
    pub max_files_per_commit: Option<u32>,
    /// Whether tests must have passed before a push.
    pub require_tests_before_push: bool,
    /// Whether tests count that a filter chose.
    pub filtered_tests_count: bool,
    /// Whether pushes need an approval.
    pub require_approval_for_push: bool,
    /// The steps that tickets may take.
    pub transitions: Option<Vec<String>>,
    /// How often commands may be given.
    pub limits: Option<StoredLimits>,
}

/// Rate limits inside an event's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredLimits {
    /// How many a minute.
    pub calls_per_minute: Option<u32>,
    /// How many at once.
    pub burst: Option<u32>,
    /// How many a minute of one kind, in the order given.
    pub per_command_caps: Option<Vec<(String, u32)>>,
}

/// A repository inside an event's structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredRepo {
    /// Its name.
    pub name: Slot,
    /// Where it is.
    pub path: Slot,
}

/// A ticket inside an event's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredWorkItem {
    /// Its id.
    pub id: String,
    /// Which system it is of.
    pub provider_hint: Option<Slot>,
}

/// A session's configuration inside an event's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredConfig {
    /// The session that it was begun by.
    pub parent: Option<SessionId>,
    /// The node of that session's plan.
    pub plan_node: Option<String>,
    /// What it may do.
    pub policy: StoredPolicy,
    /// The repository.
    pub repo: StoredRepo,
    /// The workspace's path.
    pub workspace: Slot,
    /// The ticket that it works on.
    pub work_item: Option<StoredWorkItem>,
    /// Which agent works in it.
    pub agent_profile: Slot,
}

/// The session was created; it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// How it is set up.
    pub config: StoredConfig,
    /// After how many seconds a pending approval expires; none is never.
    pub approval_expiry_seconds: Option<u64>,
    /// After how many failures in a row it pauses; 0 is never.
    pub pause_after_failures: u32,
}

/// The session was taken over from another system, whose verdicts are recorded
/// as they were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Adopted {
    /// The format that it came in.
    pub dialect: Dialect,
    /// How it is set up, where that is known.
    pub config: Option<StoredConfig>,
}

/// No command is accepted until the session is resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paused {
    /// Why, in the words of who paused it.
    pub reason: Option<Slot>,
    /// How many failures in a row paused it; none where a command did.
    pub failures: Option<u32>,
}

/// Commands are judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// Why.
    pub reason: Option<Slot>,
}

/// An approval is requested; or, once another one was answered, is
/// still requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequired {
    /// The command that asks for it: a RequestApproval, or the first push that
    /// waits.
    pub request: CommandId,
    /// What it is to allow.
    pub actions: Vec<String>,
    /// Whether a RequestApproval asks, and not a push that needs it.
    pub explicit: bool,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
}

/// It was approved. The approval holds until the session ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Approved {
    /// The command that requested it; none where another system knows.
    pub request: Option<CommandId>,
    /// What is allowed now.
    pub actions: Vec<String>,
    /// Why.
    pub reason: Option<Slot>,
}

/// An approval was denied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalDenied {
    /// The command that requested it; none where another system knows.
    pub request: Option<CommandId>,
    /// Why.
    pub reason: Slot,
}

/// An approval was not answered in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalExpired {
    /// The command that requested the approval.
    pub request: CommandId,
}

/// The session was aborted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Aborted {
    /// Why.
    pub reason: Option<Slot>,
}

/// The session is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    /// Why.
    pub reason: Option<Slot>,
}

/// What the gate looks at in a command. The command itself is content; this
/// stays when that is removed, but for names, so that it can be judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandFacts {
    /// What it is.
    pub kind: CommandKind,
    /// The path of the repository.
    pub repo: Option<String>,
    /// The branch that is created or pushed; of a commit, the one that the repository is on, if
    /// the caller said it.
    pub branch: Option<String>,
    /// How many files a commit changes, if the caller said it.
    pub files: Option<u32>,
    /// Whether tests are run that a filter chooses.
    pub filtered: bool,
    /// The ticket that takes a step.
    pub work_item: Option<String>,
    /// The state that it is to be in.
    pub state: Option<String>,
    /// The actions that an approval is requested for.
    pub actions: Vec<String>,
}

/// A command was given. What became of it is said by the next event on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandReceived {
    /// The command.
    pub command: CommandId,
    /// What the gate looks at.
    pub facts: CommandFacts,
    /// What it belongs to.
    pub correlation: Correlation,
    /// What it asks for (JSON), but for a file's content.
    pub body: Slot,
    /// The files that a commit changes (JSON: a list of texts), if the caller said it.
    pub files: Option<Slot>,
    /// The content of a file that is stored.
    pub file: Option<Slot>,
}

/// A command waits for an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandQueued {
    /// The command.
    pub command: CommandId,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A command was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandAccepted {
    /// The command.
    pub command: CommandId,
    /// The bucket that it took a token from.
    pub token: TokenSource,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A command was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRejected {
    /// The command.
    pub command: CommandId,
    /// Why.
    pub reason: Slot,
    /// By which rule.
    pub rule: Option<RejectionRule>,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A command came too early.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Throttled {
    /// What is limited.
    pub scope: Slot,
    /// From when on it may be given.
    pub retry_after: Timestamp,
    /// What it belongs to: the command, above all.
    pub correlation: Correlation,
}

/// An accepted command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandCompleted {
    /// The command.
    pub command: CommandId,
    /// How it ended.
    pub outcome: CommandResult,
    /// What is to be said of it.
    pub message: Option<Slot>,
    /// The number or word of what went wrong.
    pub error_code: Option<Slot>,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A command met a conflict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConflictDetected {
    /// The repository.
    pub repo: StoredRepo,
    /// What is in conflict.
    pub details: Slot,
    /// The patch.
    pub patch: Option<Slot>,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A command made something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactAvailable {
    /// What it is.
    pub kind: ArtifactKind,
    /// Its name.
    pub name: Slot,
    /// Its content, where it is a short text.
    pub inline_text: Option<Slot>,
    /// Where it is in the workspace.
    pub path_hint: Option<Slot>,
    /// Where it can be fetched.
    pub download_uri: Option<Slot>,
    /// Its media type.
    pub content_type: Option<Slot>,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// The plan was replaced as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanUpdated {
    /// The ids of its nodes, in its order.
    pub nodes: Vec<String>,
    /// The plan (JSON).
    pub plan: Slot,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A node of the plan became a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanNodeLinked {
    /// The node.
    pub node: String,
    /// The task.
    pub task: TaskId,
}

/// A ticket and the state that it is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemStatus {
    /// Its id.
    pub id: String,
    /// Its state.
    pub status: String,
}

/// A backlog was read. One that is too long for an event goes on in the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BacklogQueried {
    /// The tickets, in order, each with its state.
    pub items: Vec<ItemStatus>,
    /// The same tickets with all that was said of them (JSON, a list).
    pub rows: Slot,
    /// Whether the next event goes on with them.
    pub more: bool,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A ticket was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkItemQueried {
    /// The ticket and its state.
    pub item: ItemStatus,
    /// All that was said of it (JSON).
    pub details: Slot,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A run goes on in the session: commands that end from now on are its tool
/// invocations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunAttached {
    /// The run.
    pub run: RunId,
}

/// Another system says which status the session is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatusRecorded {
    /// The status.
    pub status: SessionStatus,
    /// Why.
    pub reason: Option<Slot>,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// An object of another system whose kind is not known. It is kept as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignRecorded {
    /// What it calls itself.
    pub kind: String,
    /// The object (JSON).
    pub raw: Slot,
}

fn touches(event: &Event, id: Uuid) -> Touched {
    match event {
        Event::MetadataSet(event) => subject(event.kind, event.object),
        Event::Redacted(event) => event.touched().into(),
        Event::Created(_)
        | Event::Adopted(_)
        | Event::Paused(_)
        | Event::Resumed(_)
        | Event::ApprovalRequired(_)
        | Event::Approved(_)
        | Event::ApprovalDenied(_)
        | Event::ApprovalExpired(_)
        | Event::Aborted(_)
        | Event::Completed(_)
        | Event::CommandReceived(_)
        | Event::CommandQueued(_)
        | Event::CommandAccepted(_)
        | Event::CommandRejected(_)
        | Event::Throttled(_)
        | Event::CommandCompleted(_)
        | Event::ConflictDetected(_)
        | Event::ArtifactAvailable(_)
        | Event::PlanUpdated(_)
        | Event::PlanNodeLinked(_)
        | Event::BacklogQueried(_)
        | Event::WorkItemQueried(_)
        | Event::RunAttached(_)
        | Event::StatusRecorded(_)
        | Event::ForeignRecorded(_) => smallvec![(Kind::Session, id)],
    }
}
