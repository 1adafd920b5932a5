//! `session.created`, version 2 to 3: the path of the repository and the agent are compared by rules.

use annals_domain::session::{Created, StoredConfig, StoredPolicy, StoredRepo, StoredWorkItem};
use annals_domain::{SessionId, Slot};
use serde::{Deserialize, Serialize};

use super::Step;

/// A configuration as version 2 has it, of this event and of `session.adopted`.
#[derive(Serialize, Deserialize)]
pub(super) struct StoredConfigV2 {
    pub(super) parent: Option<SessionId>,
    pub(super) plan_node: Option<String>,
    pub(super) policy: StoredPolicy,
    pub(super) repo: StoredRepo,
    pub(super) workspace: Slot,
    pub(super) work_item: Option<StoredWorkItem>,
    pub(super) agent_profile: Slot,
}

impl From<StoredConfigV2> for StoredConfig {
    fn from(old: StoredConfigV2) -> StoredConfig {
        StoredConfig {
            parent: old.parent,
            plan_node: old.plan_node,
            policy: old.policy,
            repo: old.repo,
            // They are content there, which no fold sees.
            repo_path: None,
            workspace: old.workspace,
            work_item: old.work_item,
            agent_profile: old.agent_profile,
            agent: None,
        }
    }
}

/// The shape of version 2.
#[derive(Serialize, Deserialize)]
pub(super) struct CreatedV2 {
    pub(super) config: StoredConfigV2,
    pub(super) approval_expiry_seconds: Option<u64>,
    pub(super) pause_after_failures: u32,
}

pub(super) const STEP: Step<CreatedV2, Created> = Step::new("session.created", 2, |old| Created {
    config: old.config.into(),
    approval_expiry_seconds: old.approval_expiry_seconds,
    pause_after_failures: old.pause_after_failures,
});
