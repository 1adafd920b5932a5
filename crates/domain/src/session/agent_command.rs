//! The commands that agents give (docs/spec/contracts.md, Commands): what the gate judges.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Base64Bytes, CommandKind, RepoRef, SessionConfig, TimeSpan, WorkItemRef};
use crate::CommandId;

/// Where the fields of a command of some kind are not what they should be, and
/// what is wrong there.
fn misread<T: DeserializeOwned>(fields: Value) -> Option<(String, serde_json::Error)> {
    let error = serde_path_to_error::deserialize::<_, T>(fields).err()?;
    error.path().iter().next()?;
    let path = error.path().to_string();
    Some((path, error.into_inner()))
}

macro_rules! bodies {
    ($($(#[$meta:meta])* $name:ident { $($(#[$fmeta:meta])* $field:ident: $type:ty,)* })+) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
            #[setters(prefix = "with_", into)]
            #[serde(rename_all = "camelCase", deny_unknown_fields)]
            #[non_exhaustive]
            pub struct $name { $($(#[$fmeta])* pub $field: $type,)* }

            impl From<$name> for CommandBody {
                fn from(body: $name) -> CommandBody {
                    CommandBody::$name(body)
                }
            }
        )+

        /// What a command asks for. In JSON the field `kind` says which it is.
        ///
        /// ```
        /// use annals_domain::session::{CommandBody, Push, RepoRef};
        /// let read: CommandBody = serde_json::from_str(r#"{
        ///     "kind": "Push", "repo": {"name": "app", "path": "/src/app"}, "branchName": "HEAD:main"
        /// }"#)?;
        /// assert_eq!(read, Push::new(RepoRef::new("app", "/src/app"), "HEAD:main").into());
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "kind")]
        #[allow(clippy::large_enum_variant, reason = "made once and passed on")]
        pub enum CommandBody { $($(#[$meta])* $name($name),)+ }

        impl CommandBody {
            /// What the command is.
            pub fn kind(&self) -> CommandKind {
                match self { $(CommandBody::$name(_) => CommandKind::$name,)+ }
            }

            /// Where in such an object something is wrong, and what. serde says of a
            /// tagged enum only what.
            pub(crate) fn misread(mut object: Value) -> Option<(String, serde_json::Error)> {
                let kind = object.as_object_mut()?.remove("kind")?;
                match kind.as_str()?.parse().ok()? {
                    $(CommandKind::$name => misread::<$name>(object),)+
                }
            }
        }
    };
}

fn head() -> String {
    "HEAD".to_owned()
}

bodies! {
    /// Creates a branch.
    CreateBranch {
        /// The repository.
        #[setters(skip)]
        repo: RepoRef,
        /// The new branch.
        #[new(into)]
        #[setters(skip)]
        branch_name: String,
        /// Where it begins.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from_ref: Option<String>,
    }
    /// Applies a patch to the workspace.
    ApplyPatch {
        /// The repository.
        #[setters(skip)]
        repo: RepoRef,
        /// The patch.
        #[new(into)]
        #[setters(skip)]
        patch_content: String,
    }
    /// Runs tests.
    RunTests {
        /// The repository.
        #[setters(skip)]
        repo: RepoRef,
        /// Which tests.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<String>,
        /// How long they may take.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout: Option<TimeSpan>,
    }
    /// Commits.
    Commit {
        /// The repository.
        #[setters(skip)]
        repo: RepoRef,
        /// The message.
        #[new(into)]
        #[setters(skip)]
        message: String,
        /// The files, folders or patterns.
        #[setters(skip)]
        include_paths: Vec<String>,
        /// Whether it replaces the last commit.
        #[new(default)]
        #[setters(into = false)]
        #[serde(default)]
        amend: bool,
    }
    /// Pushes a branch.
    Push {
        /// The repository.
        #[setters(skip)]
        repo: RepoRef,
        /// The branch, or what git would take as a refspec: rules are about its destination.
        #[new(into)]
        #[setters(skip)]
        branch_name: String,
    }
    /// Asks for a difference.
    GetDiff {
        /// The repository.
        #[setters(skip)]
        repo: RepoRef,
        /// From where; HEAD, if it is left out.
        #[new(value = "head()")]
        #[serde(default = "head", rename = "ref")]
        reference: String,
    }
    /// Puts a ticket into another state.
    TransitionTicket {
        /// The ticket.
        #[setters(skip)]
        item: WorkItemRef,
        /// The state.
        #[new(into)]
        #[setters(skip)]
        state: String,
    }
    /// Comments on a ticket.
    Comment {
        /// The ticket.
        #[setters(skip)]
        item: WorkItemRef,
        /// The comment.
        #[new(into)]
        #[setters(skip)]
        body: String,
    }
    /// Assigns a ticket.
    SetAssignee {
        /// The ticket.
        #[setters(skip)]
        item: WorkItemRef,
        /// Who gets it.
        #[new(into)]
        #[setters(skip)]
        assignee: String,
    }
    /// Stores a file.
    UploadArtifact {
        /// Its name.
        #[new(into)]
        #[setters(skip)]
        name: String,
        /// Its media type.
        #[new(into)]
        #[setters(skip)]
        content_type: String,
        /// Its content.
        #[setters(skip)]
        content: Base64Bytes,
        /// Where it is in the workspace.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path_hint: Option<String>,
    }
    /// Asks for an approval.
    RequestApproval {
        /// What for.
        #[new(into)]
        #[setters(skip)]
        reason: String,
        /// What is to be allowed: kinds of commands, or words of one's own.
        #[setters(skip)]
        required_actions: Vec<String>,
    }
    /// Asks for tickets.
    QueryBacklog {
        /// Which ones.
        #[new(default)]
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<String>,
    }
    /// Asks for one ticket.
    QueryWorkItem {
        /// The ticket.
        #[setters(skip)]
        item: WorkItemRef,
    }
    /// Reserved: begins another session.
    SpawnSession {
        /// The session.
        #[setters(skip)]
        config: SessionConfig,
    }
    /// Reserved: binds a session to a node of a plan.
    LinkPlanNode {
        /// The node.
        #[new(into)]
        #[setters(skip)]
        plan_node_id: String,
    }
}

/// A command as the gate gets it: what it asks for, its id, and what it belongs
/// to.
#[derive(Debug, Clone, PartialEq, Eq, new, Setters)]
#[setters(prefix = "with_", into)]
#[non_exhaustive]
pub struct AgentCommand {
    /// Its id. A session's command of one id has one verdict.
    #[setters(skip)]
    pub id: CommandId,
    /// The command that led to it.
    #[new(default)]
    pub parent: Option<CommandId>,
    /// The node of a plan.
    #[new(default)]
    pub plan_node: Option<String>,
    /// The branch that the repository of a commit is on, as the caller sees it.
    #[new(default)]
    pub branch: Option<String>,
    /// The files that a commit changes, as the caller sees them.
    #[new(default)]
    pub files: Option<Vec<String>>,
    /// What it asks for.
    #[new(into)]
    #[setters(skip)]
    pub body: CommandBody,
}
