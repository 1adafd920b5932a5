//! The core types of Contracts v1.1, each to be read and written by itself.

use std::borrow::Cow;
use std::cell::RefCell;

use annals_domain::session::{
    Artifact, PolicyProfile, RateLimits, RepoRef, SessionConfig, TaskNode, TaskPlan,
    WorkItemDetails, WorkItemRef, WorkItemSummary, WorkspaceRef,
};
use annals_domain::{CommandId, SessionId};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::error::ContractsError;
use super::fields::{Fields, Read, Tally, node_id};
use super::writing::{Style, to_text};
use crate::FieldCount;
use crate::nesting::depth;

/// The most levels of nesting; System.Text.Json reads no JSON that has more.
const MAX_DEPTH: usize = 64;

/// What was read from a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed<T> {
    /// The value.
    pub value: T,
    /// Properties that nothing reads, by their paths (`plan.nodes[].colour`).
    pub unknown: Vec<FieldCount>,
}

impl<T> Parsed<T> {
    /// Reads a value and counts what it did not read.
    pub(super) fn counted(read: impl FnOnce(&Tally) -> Read<T>) -> Read<Parsed<T>> {
        let tally = RefCell::default();
        let value = read(&tally)?;
        let unknown = tally.into_inner().into_lost();
        Ok(Parsed { value, unknown })
    }
}

/// A text without the mark that some editors put before it.
pub(super) fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The object that a text is, unless it is nested too deep.
pub(super) fn fields<'a>(text: &'a str, tally: &'a Tally) -> Read<Fields<'a>> {
    let depth = depth(text);
    if depth > MAX_DEPTH {
        let limit = MAX_DEPTH;
        return Err(ContractsError::TooDeep { depth, limit });
    }
    Fields::of(text, tally)
}

/// How a core type is read and written. Of this crate's types alone.
mod shape {
    use super::{Cow, Fields, Read, Serialize};

    pub trait Shape: Serialize + Clone {
        fn read(fields: &mut Fields<'_>) -> Read<Self>;

        /// The value as it is written.
        fn written(&self) -> Cow<'_, Self> {
            Cow::Borrowed(self)
        }
    }
}

pub(super) use shape::Shape;

/// A core type of Contracts v1.1: what its commands, events and configurations are
/// made of.
pub trait CoreType: Shape {
    /// Its name there.
    const NAME: &'static str;
}

/// Reads a value of a core type from its JSON.
///
/// ```
/// use annals_dialects::contracts;
/// use annals_domain::session::PolicyProfile;
/// let text = r#"{"name":"strict","maxFilesPerCommit":20,"color":"red"}"#;
/// let profile = contracts::read::<PolicyProfile>(text)?;
/// assert_eq!(profile.value.max_files_per_commit, Some(20));
/// assert_eq!(profile.unknown[0].path, "color");
/// # Ok::<(), contracts::ContractsError>(())
/// ```
///
/// # Errors
/// [`ContractsError`], naming the property.
pub fn read<T: CoreType>(text: &str) -> Result<Parsed<T>, ContractsError> {
    Parsed::counted(|tally| {
        let mut fields = fields(unmarked(text), tally)?;
        let value = T::read(&mut fields)?;
        fields.end();
        Ok(value)
    })
}

/// Writes a value of a core type as JSON.
///
/// # Errors
/// serde_json's; no value of these types gives one.
pub fn write<T: CoreType>(value: &T, style: Style) -> Result<String, serde_json::Error> {
    to_text(&*value.written(), style)
}

macro_rules! core_types {
    ($($name:ident,)+) => {
        $(impl CoreType for $name { const NAME: &'static str = stringify!($name); })+

        /// The names of the core types.
        pub const CORE_TYPES: &[&str] = &[$($name::NAME,)+];
    };
}

core_types! {
    RepoRef, WorkspaceRef, WorkItemRef, WorkItemSummary, WorkItemDetails, Correlation, Artifact,
    TaskNode, TaskPlan, RateLimits, PolicyProfile, SessionConfig,
}

/// What a command or an event belongs to (docs/spec/contracts.md, Correlation).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Correlation {
    /// The session.
    #[serde(rename = "sessionId")]
    pub session: SessionId,
    /// The command.
    #[serde(rename = "commandId", skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandId>,
    /// The command that led to it.
    #[serde(rename = "parentCommandId", skip_serializing_if = "Option::is_none")]
    pub parent: Option<CommandId>,
    /// The node of a plan. A GUID is written in lower case.
    #[serde(
        rename = "planNodeId",
        skip_serializing_if = "Option::is_none",
        serialize_with = "write_node_id"
    )]
    pub plan_node: Option<String>,
}

impl Correlation {
    /// That of an event which belongs to no command.
    pub(super) fn of_session(session: SessionId) -> Correlation {
        Correlation {
            session,
            command: None,
            parent: None,
            plan_node: None,
        }
    }
}

fn write_node_id<S: Serializer>(id: &Option<String>, serializer: S) -> Result<S::Ok, S::Error> {
    id.as_deref().map(node_id).serialize(serializer)
}

impl Shape for Correlation {
    fn read(fields: &mut Fields<'_>) -> Read<Correlation> {
        Ok(Correlation {
            session: fields.guid("sessionId")?,
            command: fields.optional_guid("commandId")?,
            parent: fields.optional_guid("parentCommandId")?,
            plan_node: fields.optional_node_id("planNodeId")?,
        })
    }
}

impl Shape for RepoRef {
    fn read(fields: &mut Fields<'_>) -> Read<RepoRef> {
        Ok(RepoRef::new(fields.text("name")?, fields.text("path")?))
    }
}

impl Shape for WorkspaceRef {
    fn read(fields: &mut Fields<'_>) -> Read<WorkspaceRef> {
        Ok(WorkspaceRef::new(fields.text("path")?))
    }
}

impl Shape for WorkItemRef {
    fn read(fields: &mut Fields<'_>) -> Read<WorkItemRef> {
        Ok(WorkItemRef::new(fields.text("id")?)
            .with_provider_hint(fields.optional_text("providerHint")?))
    }
}

impl Shape for WorkItemSummary {
    fn read(fields: &mut Fields<'_>) -> Read<WorkItemSummary> {
        Ok(WorkItemSummary::new(
            fields.text("id")?,
            fields.text("title")?,
            fields.text("status")?,
        )
        .with_assignee(fields.optional_text("assignee")?))
    }
}

impl Shape for WorkItemDetails {
    fn read(fields: &mut Fields<'_>) -> Read<WorkItemDetails> {
        Ok(WorkItemDetails::new(
            fields.text("id")?,
            fields.text("title")?,
            fields.text("description")?,
            fields.text("status")?,
        )
        .with_assignee(fields.optional_text("assignee")?)
        .with_tags(fields.texts("tags")?))
    }
}

impl Shape for Artifact {
    fn read(fields: &mut Fields<'_>) -> Read<Artifact> {
        Ok(Artifact::new(fields.word("kind")?, fields.text("name")?)
            .with_inline_text(fields.optional_text("inlineText")?)
            .with_path_hint(fields.optional_text("pathHint")?)
            .with_download_uri(fields.optional_text("downloadUri")?)
            .with_content_type(fields.optional_text("contentType")?))
    }
}

impl Shape for TaskNode {
    fn read(fields: &mut Fields<'_>) -> Read<TaskNode> {
        Ok(TaskNode::new(fields.text("id")?, fields.text("title")?)
            .with_depends_on(fields.texts("dependsOn")?)
            .with_work_item(fields.optional_object("workItem", WorkItemRef::read)?)
            .with_agent_hint(fields.optional_text("agentHint")?)
            .with_suggested_branch(fields.optional_text("suggestedBranch")?)
            .with_tags(fields.texts("tags")?))
    }
}

impl Shape for TaskPlan {
    fn read(fields: &mut Fields<'_>) -> Read<TaskPlan> {
        Ok(TaskPlan::new(fields.list("nodes", TaskNode::read)?))
    }
}

impl Shape for RateLimits {
    fn read(fields: &mut Fields<'_>) -> Read<RateLimits> {
        Ok(RateLimits::new()
            .with_calls_per_minute(fields.optional_number("callsPerMinute")?)
            .with_burst(fields.optional_number("burst")?)
            .with_per_command_caps(fields.optional_numbers("perCommandCaps")?))
    }
}

impl Shape for PolicyProfile {
    fn read(fields: &mut Fields<'_>) -> Read<PolicyProfile> {
        Ok(PolicyProfile::new(fields.text("name")?)
            .with_command_whitelist(fields.optional_texts("commandWhitelist")?)
            .with_command_blacklist(fields.optional_texts("commandBlacklist")?)
            .with_protected_branches(fields.texts("protectedBranches")?)
            .with_max_files_per_commit(fields.optional_number("maxFilesPerCommit")?)
            .with_require_tests_before_push(fields.flag("requireTestsBeforePush")?)
            .with_filtered_tests_count(fields.flag("filteredTestsCount")?)
            .with_require_approval_for_push(fields.flag("requireApprovalForPush")?)
            .with_allowed_work_item_transitions(
                fields.optional_texts("allowedWorkItemTransitions")?,
            )
            .with_limits(fields.optional_object("limits", RateLimits::read)?))
    }
}

impl Shape for SessionConfig {
    fn read(fields: &mut Fields<'_>) -> Read<SessionConfig> {
        Ok(SessionConfig::new(
            fields.guid("sessionId")?,
            fields.object("policy", PolicyProfile::read)?,
            fields.object("repo", RepoRef::read)?,
            fields.object("workspace", WorkspaceRef::read)?,
            fields.text("agentProfile")?,
        )
        .with_parent_session_id(fields.optional_guid("parentSessionId")?)
        .with_plan_node_id(fields.optional_node_id("planNodeId")?)
        .with_work_item(fields.optional_object("workItem", WorkItemRef::read)?))
    }

    fn written(&self) -> Cow<'_, SessionConfig> {
        match &self.plan_node_id {
            None => Cow::Borrowed(self),
            Some(id) => Cow::Owned(self.clone().with_plan_node_id(node_id(id))),
        }
    }
}

/// A command or an event as it is written: what it says, then what all have.
#[derive(Serialize)]
pub(super) struct Whole<'a, B> {
    #[serde(flatten)]
    pub(super) body: &'a B,
    pub(super) id: Uuid,
    pub(super) correlation: &'a Correlation,
    pub(super) kind: &'static str,
}
