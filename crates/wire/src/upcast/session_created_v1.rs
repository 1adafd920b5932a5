//! `session.created`, version 1 to 2: tests that a filter chose did not count apart from others.

use annals_domain::session::{StoredLimits, StoredPolicy, StoredRepo, StoredWorkItem};
use annals_domain::{SessionId, Slot};
use serde::Deserialize;

use super::Step;
use super::session_created_v2::{CreatedV2, StoredConfigV2};

/// A policy as version 1 has it.
#[derive(Deserialize)]
struct StoredPolicyV1 {
    name: String,
    whitelist: Option<Vec<String>>,
    blacklist: Option<Vec<String>>,
    protected_branches: Vec<String>,
    max_files_per_commit: Option<u32>,
    require_tests_before_push: bool,
    require_approval_for_push: bool,
    transitions: Option<Vec<String>>,
    limits: Option<StoredLimits>,
}

/// A configuration as version 1 has it, of this event and of `session.adopted`.
#[derive(Deserialize)]
pub(super) struct StoredConfigV1 {
    parent: Option<SessionId>,
    plan_node: Option<String>,
    policy: StoredPolicyV1,
    repo: StoredRepo,
    workspace: Slot,
    work_item: Option<StoredWorkItem>,
    agent_profile: Slot,
}

impl From<StoredConfigV1> for StoredConfigV2 {
    fn from(old: StoredConfigV1) -> StoredConfigV2 {
        StoredConfigV2 {
            parent: old.parent,
            plan_node: old.plan_node,
            policy: StoredPolicy {
                name: old.policy.name,
                whitelist: old.policy.whitelist,
                blacklist: old.policy.blacklist,
                protected_branches: old.policy.protected_branches,
                max_files_per_commit: old.policy.max_files_per_commit,
                require_tests_before_push: old.policy.require_tests_before_push,
                // Tests of that time are not known to be filtered, and count as they did.
                filtered_tests_count: false,
                require_approval_for_push: old.policy.require_approval_for_push,
                transitions: old.policy.transitions,
                limits: old.policy.limits,
            },
            repo: old.repo,
            workspace: old.workspace,
            work_item: old.work_item,
            agent_profile: old.agent_profile,
        }
    }
}

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct CreatedV1 {
    config: StoredConfigV1,
    approval_expiry_seconds: Option<u64>,
    pause_after_failures: u32,
}

pub(super) const STEP: Step<CreatedV1, CreatedV2> =
    Step::new("session.created", 1, |old| CreatedV2 {
        config: old.config.into(),
        approval_expiry_seconds: old.approval_expiry_seconds,
        pause_after_failures: old.pause_after_failures,
    });
