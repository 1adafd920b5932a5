//! What happens to a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;
use uuid::Uuid;

use super::{ArtifactKind, CommandKind, CommandResult, SessionStatus};
use crate::adopted::Dialect;
use crate::codes::{coded_enum, open_enum};
use crate::event::{Touched, events};
use crate::metadata::{MetadataSet, subject};
use crate::pieces::{BytesPiece, JsonPiece, Slot};
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
        /// The repository is another one than the session's.
        OtherRepository = 9 => "Another repository",
        /// The session that this one was begun by is paused or over.
        ParentClosed = 10 => "Parent session closed",
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
        Created = "session.created" v 3,
        Adopted = "session.adopted" v 3,
        Paused = "session.paused" v 1,
        Resumed = "session.resumed" v 1,
        ApprovalRequired = "session.approval_required" v 1,
        Approved = "session.approved" v 1,
        ApprovalDenied = "session.approval_denied" v 1,
        ApprovalExpired = "session.approval_expired" v 1,
        Aborted = "session.aborted" v 1,
        Completed = "session.completed" v 1,
        CommandReceived = "session.command_received" v 2,
        CommandQueued = "session.command_queued" v 1,
        CommandAccepted = "session.command_accepted" v 1,
        CommandRejected = "session.command_rejected" v 1,
        Throttled = "session.throttled" v 1,
        CommandCompleted = "session.command_completed" v 1,
        ConflictDetected = "session.conflict_detected" v 1,
        ArtifactAvailable = "session.artifact_available" v 1,
        PlanUpdated = "session.plan_updated" v 1,
        PlanNodeLinked = "session.plan_node_linked" v 1,
        BacklogQueried = "session.backlog_queried" v 1,
        WorkItemQueried = "session.work_item_queried" v 1,
        RunAttached = "session.run_attached" v 1,
        StatusRecorded = "session.status_recorded" v 1,
        ForeignRecorded = "session.foreign_recorded" v 1,
        MetadataSet = "session.metadata_set" v 1,
        Redacted = "session.redacted" v 1,
    }
}

/// What an event belongs to (docs/spec/contracts.md, Correlation), in addition to its session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "correlation")]
pub struct Correlation {
    /// The command.
    pub command: Option<CommandId>,
    /// The command that led to it.
    pub parent: Option<CommandId>,
    /// The node of a plan.
    pub plan_node: Option<String>,
}

/// A policy profile inside an event's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "policy profile")]
pub struct StoredPolicy {
    /// Its name.
    pub name: String,
    /// The kinds of commands that may be given; absent, all.
    pub whitelist: Option<Vec<String>>,
    /// The kinds of commands that may not be given.
    pub blacklist: Option<Vec<String>>,
    /// Branches that are not to be created, committed to or pushed.
    pub protected_branches: Vec<String>,
    /// How many files a commit may change.
    pub max_files_per_commit: Option<u32>,
    /// Whether tests must have passed since the last change before a push.
    pub require_tests_before_push: bool,
    /// Whether tests that a filter chose count, too.
    pub filtered_tests_count: bool,
    /// Whether a push needs an approval.
    pub require_approval_for_push: bool,
    /// The steps that tickets may take, each as `From->To`; absent, any.
    pub transitions: Option<Vec<String>>,
    /// How often commands may be given.
    pub limits: Option<StoredLimits>,
}

/// Rate limits inside an event's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "limits")]
pub struct StoredLimits {
    /// How many commands a minute; absent, any number.
    pub calls_per_minute: Option<u32>,
    /// How many at once; absent, as many.
    pub burst: Option<u32>,
    /// How many a minute of one kind, for all sessions together whose profiles have the same name
    /// and limits, in the order given.
    pub per_command_caps: Option<Vec<(String, u32)>>,
}

/// A repository inside an event's structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "repository")]
pub struct StoredRepo {
    /// Its name.
    pub name: Slot,
    /// Where it is.
    pub path: Slot,
}

/// A ticket inside an event's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "ticket")]
pub struct StoredWorkItem {
    /// Its id.
    pub id: String,
    /// Which system it is of.
    pub provider_hint: Option<Slot>,
}

/// A session's configuration inside an event's structure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "configuration")]
pub struct StoredConfig {
    /// The session that it was begun by.
    pub parent: Option<SessionId>,
    /// The node of that session's plan.
    pub plan_node: Option<String>,
    /// What it may do.
    pub policy: StoredPolicy,
    /// The repository.
    pub repo: StoredRepo,
    /// The path of the repository, which those of its commands are compared with; absent before version 3.
    pub repo_path: Option<String>,
    /// The path of its workspace.
    pub workspace: Slot,
    /// The ticket that it works on.
    pub work_item: Option<StoredWorkItem>,
    /// Which agent works in it.
    pub agent_profile: Slot,
    /// The agent, whose sessions share their rate; absent before version 3.
    pub agent: Option<String>,
}

/// The session was created; it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Created {
    /// How it is set up.
    pub config: StoredConfig,
    /// After how many seconds an unanswered approval expires; absent, never.
    pub approval_expiry_seconds: Option<u64>,
    /// After how many failures in a row it pauses; 0 is never.
    pub pause_after_failures: u32,
}

/// The session was taken over from another system, whose verdicts are recorded as they were; or
/// more of one taken over before came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Adopted {
    /// The format that it came in.
    pub dialect: Dialect,
    /// How it is set up, where that is known.
    pub config: Option<StoredConfig>,
}

/// No command is accepted until the session is resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Paused {
    /// Why, in the words of who paused it.
    pub reason: Option<Slot>,
    /// How many failures in a row paused it; absent where an actor paused it.
    pub failures: Option<u32>,
}

/// Commands are judged again; the count of failures starts again from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Resumed {
    /// Why.
    pub reason: Option<Slot>,
}

/// An approval is requested; or, once another one was answered, is
/// still requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalRequired {
    /// The command that asks for it: a RequestApproval, or the first push that
    /// waits.
    pub request: CommandId,
    /// What it is to allow.
    pub actions: Vec<String>,
    /// Whether a RequestApproval asks, and not a push that needs it.
    pub explicit: bool,
    /// When it expires; absent, never.
    pub expires_at: Option<Timestamp>,
}

/// An approval was given. It holds until the session ends; commands that waited for it are judged
/// next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approved {
    /// The command that asked for it; absent where another system knows.
    pub request: Option<CommandId>,
    /// What is allowed now.
    pub actions: Vec<String>,
    /// Why.
    pub reason: Option<Slot>,
}

/// An approval was denied. All commands that waited were rejected just before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalDenied {
    /// The command that asked for it; absent where another system knows.
    pub request: Option<CommandId>,
    /// Why.
    pub reason: Slot,
}

/// An approval was not answered in time. All commands that waited were rejected just before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ApprovalExpired {
    /// The command that asked for the approval.
    pub request: CommandId,
}

/// The session was aborted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Aborted {
    /// Why.
    pub reason: Option<Slot>,
}

/// The session is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Completed {
    /// Why.
    pub reason: Option<Slot>,
}

/// What the gate looks at in a command. The command itself is content; this
/// stays when that is removed, but for names, so that it can be judged again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "facts")]
pub struct CommandFacts {
    /// What the command is.
    pub kind: CommandKind,
    /// The path of the repository.
    pub repo: Option<String>,
    /// The branch that is created or pushed; of a commit, the one that the repository is on, if
    /// the caller said it.
    pub branch: Option<String>,
    /// How many files a commit changes, by its caller, with those of a commit that it amends; in version 1,
    /// how many paths it names.
    pub files: Option<u32>,
    /// Whether a filter chooses the tests; of a branch that is created, whether it starts from another place than
    /// what is checked out.
    pub filtered: bool,
    /// The ticket that takes a step, or is read.
    pub work_item: Option<String>,
    /// The state that it is to be in.
    pub state: Option<String>,
    /// The actions that an approval is requested for.
    pub actions: Vec<String>,
}

/// A command was given. What became of it is said by the next event on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandReceived {
    /// The command.
    pub command: CommandId,
    /// What the gate looks at.
    pub facts: CommandFacts,
    /// What it belongs to.
    pub correlation: Correlation,
    /// What it asks for, without a file's content.
    #[schemars(with = "JsonPiece")]
    pub body: Slot,
    /// The files that a commit changes, as its caller said them: a list of texts.
    #[schemars(with = "Option<JsonPiece>")]
    pub files: Option<Slot>,
    /// The content of a file that is stored; an attachment.
    #[schemars(with = "Option<BytesPiece>")]
    pub file: Option<Slot>,
}

/// A command waits for an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandQueued {
    /// The command.
    pub command: CommandId,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A command was accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandAccepted {
    /// The command.
    pub command: CommandId,
    /// The bucket that it took a token from.
    pub token: TokenSource,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A command was rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandRejected {
    /// The command.
    pub command: CommandId,
    /// Why.
    pub reason: Slot,
    /// By which rule; absent where the session's status says no.
    pub rule: Option<RejectionRule>,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A command came too early.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Throttled {
    /// What is limited.
    pub scope: Slot,
    /// From when on it may be given.
    pub retry_after: Timestamp,
    /// What it belongs to: the command, above all.
    pub correlation: Correlation,
}

/// An accepted command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanUpdated {
    /// The ids of its nodes, in its order.
    pub nodes: Vec<String>,
    /// The plan.
    #[schemars(with = "JsonPiece")]
    pub plan: Slot,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A node of the plan became a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanNodeLinked {
    /// The node.
    pub node: String,
    /// The task.
    pub task: TaskId,
}

/// A ticket and the state that it is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "ticket")]
pub struct ItemStatus {
    /// Its id.
    pub id: String,
    /// Its state, in its own system's words.
    pub status: String,
}

/// A backlog was read. One that is too long for an event goes on in the next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BacklogQueried {
    /// The tickets, in order, each with its state.
    pub items: Vec<ItemStatus>,
    /// The same tickets with all that was said of them, a list.
    #[schemars(with = "JsonPiece")]
    pub rows: Slot,
    /// Whether the next event goes on with them.
    pub more: bool,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A ticket was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkItemQueried {
    /// The ticket and its state.
    pub item: ItemStatus,
    /// All that was said of it.
    #[schemars(with = "JsonPiece")]
    pub details: Slot,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// A run goes on in the session: commands that end from now on are its tool
/// invocations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunAttached {
    /// The run.
    pub run: RunId,
}

/// Another system says which status the session is in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatusRecorded {
    /// The status.
    pub status: SessionStatus,
    /// Why.
    pub reason: Option<Slot>,
    /// What it belongs to.
    pub correlation: Correlation,
}

/// An object of another system whose kind is not known; it is kept as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignRecorded {
    /// What it calls itself.
    pub kind: String,
    /// The object.
    #[schemars(with = "JsonPiece")]
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
