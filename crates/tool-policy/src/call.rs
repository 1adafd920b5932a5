//! A tool call as an agent asks for it, before anything is known of what it would do.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call of a tool. What is not known is left out; a policy that needs it then asks.
///
/// As JSON it is what `annals policy explain --call` and the tests of policies take.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Call {
    /// The tool, as the agent calls it: `Bash`, `Edit`, `mcp__github__create_issue`.
    pub tool: String,
    /// Its arguments, as the agent gives them.
    #[serde(default)]
    pub args: Value,
    /// The agent: `claude-code`, `codex`.
    #[serde(default = "any_agent")]
    pub agent: String,
    /// The agent's session, by any name that is unique.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The directory that commands run in and relative paths begin at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The directory that the agent works on; left out, it is `cwd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The user's home directory, which `~` and `$HOME` mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
    /// The branch that is checked out in `cwd`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The agent's permission mode: `default`, `acceptEdits`, `plan`, `bypassPermissions`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
}

/// The agent of calls that do not say one.
pub const UNNAMED_AGENT: &str = "agent";

fn any_agent() -> String {
    UNNAMED_AGENT.to_owned()
}

impl Call {
    /// A call of a tool with its arguments, and nothing else known.
    pub fn new(tool: impl Into<String>, args: Value) -> Call {
        Call {
            tool: tool.into(),
            args,
            agent: any_agent(),
            ..Call::default()
        }
    }

    /// By this agent.
    #[must_use]
    pub fn with_agent(mut self, agent: impl Into<String>) -> Call {
        self.agent = agent.into();
        self
    }

    /// In this session.
    #[must_use]
    pub fn with_session(mut self, session: impl Into<Option<String>>) -> Call {
        self.session = session.into();
        self
    }

    /// In this directory.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<Option<String>>) -> Call {
        self.cwd = cwd.into();
        self
    }

    /// On what is in this directory.
    #[must_use]
    pub fn with_workspace(mut self, workspace: impl Into<Option<String>>) -> Call {
        self.workspace = workspace.into();
        self
    }

    /// For a user with this home directory.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<Option<String>>) -> Call {
        self.home = home.into();
        self
    }

    /// With this branch checked out.
    #[must_use]
    pub fn with_branch(mut self, branch: impl Into<Option<String>>) -> Call {
        self.branch = branch.into();
        self
    }

    /// In this permission mode.
    #[must_use]
    pub fn with_mode(mut self, mode: impl Into<Option<String>>) -> Call {
        self.mode = mode.into();
        self
    }

    /// The directory that the agent works on.
    pub(crate) fn root(&self) -> Option<&str> {
        self.workspace.as_deref().or(self.cwd.as_deref())
    }
}
