//! A session as JSON.

use annals_domain::RunId;
use annals_domain::session::TaskPlan;
use serde::{Serialize, Serializer};

use super::{
    CommandCounts, CommandView, ConflictView, OpenCommandView, PendingApprovalView, PlanNodeView,
    QueuedCommandView, SessionArtifactView, SessionConfigView, SessionView,
};
use crate::{HeaderView, Removable, Status, Text, WorkItemView};

/// The fields, in their order.
#[derive(Serialize)]
struct Shown<'a> {
    #[serde(flatten)]
    header: &'a HeaderView,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<&'a SessionConfigView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_expiry_seconds: Option<u64>,
    pause_after_failures: u32,
    failures: u32,
    pending_approvals: Vec<PendingApprovalView>,
    granted_actions: Vec<String>,
    queue: Vec<QueuedCommandView>,
    open_commands: Vec<OpenCommandView>,
    counts: &'a CommandCounts,
    last_commands: Vec<&'a CommandView>,
    earlier_commands: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<&'a Removable<TaskPlan>>,
    plan_nodes: Vec<PlanNodeView>,
    artifacts: &'a [SessionArtifactView],
    conflicts: &'a [ConflictView],
    runs: &'a [RunId],
    work_items: Vec<&'a WorkItemView>,
}

impl Serialize for SessionView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let shown = Shown {
            header: &self.header,
            status: Status::from(self.status()).word(),
            reason: self.reason.as_ref(),
            config: self.config.as_ref(),
            approval_expiry_seconds: self.approval_expiry_seconds(),
            pause_after_failures: self.pause_after_failures(),
            failures: self.failures(),
            pending_approvals: self.pending_approvals(),
            granted_actions: self.granted_actions(),
            queue: self.queue(),
            open_commands: self.open_commands(),
            counts: self.counts(),
            last_commands: self.last_commands().collect(),
            earlier_commands: self.earlier_commands(),
            plan: self.plan.content(),
            plan_nodes: self.plan.nodes(),
            artifacts: &self.artifacts,
            conflicts: &self.conflicts,
            runs: &self.runs,
            work_items: self.work_items.values().collect(),
        };
        shown.serialize(serializer)
    }
}
