//! How a session is set up (docs/spec/contracts.md, SessionConfig).

use annals_domain::SessionId;
use annals_domain::session::{
    PolicyProfile, RepoRef, SessionConfig, StoredConfig, StoredRepo, WorkItemRef, WorkspaceRef,
};
use serde::Serialize;

use crate::{Entry, Text};

/// How a session is set up. Its policy serialises as Contracts v1.1's JSON.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SessionConfigView {
    /// The session that it was begun by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
    /// The node of that session's plan that it works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_node: Option<String>,
    /// What it may do.
    pub policy: PolicyProfile,
    /// The repository that it works on.
    pub repo: RepoView,
    /// The root of its workspace.
    pub workspace: Text,
    /// The ticket that it works on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_item: Option<WorkItemRefView>,
    /// Which agent works in it.
    pub agent_profile: Text,
}

/// A repository (docs/spec/contracts.md, RepoRef).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RepoView {
    /// Its name.
    pub name: Text,
    /// Where it is.
    pub path: Text,
}

/// A ticket in another system (docs/spec/contracts.md, WorkItemRef).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkItemRefView {
    /// Its id there.
    pub id: String,
    /// Which system it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_hint: Option<Text>,
}

impl RepoView {
    pub(super) fn read(repo: &StoredRepo, entry: &Entry) -> RepoView {
        RepoView {
            name: entry.text(repo.name),
            path: entry.text(repo.path),
        }
    }
}

impl SessionConfigView {
    pub(super) fn read(config: &StoredConfig, entry: &Entry) -> SessionConfigView {
        let work_item = config.work_item.as_ref().map(|item| WorkItemRefView {
            id: item.id.clone(),
            provider_hint: entry.optional_text(item.provider_hint),
        });
        SessionConfigView {
            parent: config.parent,
            plan_node: config.plan_node.clone(),
            policy: config.policy.policy(),
            repo: RepoView::read(&config.repo, entry),
            workspace: entry.text(config.workspace),
            work_item,
            agent_profile: entry.text(config.agent_profile),
        }
    }

    /// The configuration of this session as Contracts v1.1 has it. Content that was
    /// removed is `[removed]` there.
    pub fn to_config(&self, session: SessionId) -> SessionConfig {
        SessionConfig::new(
            session,
            self.policy.clone(),
            RepoRef::new(self.repo.name.to_string(), self.repo.path.to_string()),
            WorkspaceRef::new(self.workspace.to_string()),
            self.agent_profile.to_string(),
        )
        .with_parent_session_id(self.parent.map(|parent| parent.0))
        .with_plan_node_id(self.plan_node.clone())
        .with_work_item(self.work_item.as_ref().map(|item| {
            WorkItemRef::new(item.id.clone())
                .with_provider_hint(item.provider_hint.as_ref().map(Text::to_string))
        }))
    }
}
