//! What remains of a command whose content was removed: what the gate looked at.

use annals_domain::SessionId;
use annals_domain::session::{
    ApplyPatch, Base64Bytes, CommandBody, CommandFacts, CommandKind, Comment, Commit, CreateBranch,
    GetDiff, LinkPlanNode, PolicyProfile, Push, QueryBacklog, QueryWorkItem, RepoRef,
    RequestApproval, RunTests, SessionConfig, SetAssignee, SpawnSession, TransitionTicket,
    UploadArtifact, WorkItemRef, WorkspaceRef,
};
use annals_projections::Text;
use uuid::Uuid;

/// What is written in place of a text that was removed.
pub(super) fn removed() -> String {
    Text::Removed.to_string()
}

fn or_removed(fact: Option<&String>) -> String {
    fact.cloned().unwrap_or_else(removed)
}

/// A command as far as its facts tell it. It is one that the contracts can read.
pub(super) fn remains(facts: &CommandFacts) -> CommandBody {
    let repo = RepoRef {
        name: removed(),
        path: or_removed(facts.repo.as_ref()),
    };
    let item = WorkItemRef {
        id: or_removed(facts.work_item.as_ref()),
        provider_hint: None,
    };
    let branch_name = or_removed(facts.branch.as_ref());
    match facts.kind {
        CommandKind::CreateBranch => CommandBody::CreateBranch(CreateBranch {
            repo,
            branch_name,
            from_ref: None,
        }),
        CommandKind::ApplyPatch => CommandBody::ApplyPatch(ApplyPatch {
            repo,
            patch_content: removed(),
        }),
        CommandKind::RunTests => CommandBody::RunTests(RunTests {
            repo,
            filter: None,
            timeout: None,
        }),
        CommandKind::Commit => CommandBody::Commit(commit(repo)),
        CommandKind::Push => CommandBody::Push(Push { repo, branch_name }),
        CommandKind::GetDiff => CommandBody::GetDiff(GetDiff {
            repo,
            reference: removed(),
        }),
        CommandKind::TransitionTicket => CommandBody::TransitionTicket(TransitionTicket {
            item,
            state: or_removed(facts.state.as_ref()),
        }),
        CommandKind::Comment => CommandBody::Comment(Comment {
            item,
            body: removed(),
        }),
        CommandKind::SetAssignee => CommandBody::SetAssignee(SetAssignee {
            item,
            assignee: removed(),
        }),
        CommandKind::UploadArtifact => CommandBody::UploadArtifact(upload()),
        CommandKind::RequestApproval => CommandBody::RequestApproval(RequestApproval {
            reason: removed(),
            required_actions: facts.actions.clone(),
        }),
        CommandKind::QueryBacklog => CommandBody::QueryBacklog(QueryBacklog { filter: None }),
        CommandKind::QueryWorkItem => CommandBody::QueryWorkItem(QueryWorkItem { item }),
        CommandKind::SpawnSession => CommandBody::SpawnSession(SpawnSession { config: config() }),
        CommandKind::LinkPlanNode => CommandBody::LinkPlanNode(LinkPlanNode {
            plan_node_id: removed(),
        }),
    }
}

fn commit(repo: RepoRef) -> Commit {
    Commit {
        repo,
        message: removed(),
        include_paths: vec![removed()],
        amend: false,
    }
}

fn upload() -> UploadArtifact {
    UploadArtifact {
        name: removed(),
        content_type: removed(),
        content: Base64Bytes::default(),
        path_hint: None,
    }
}

/// A configuration of which nothing is known. It must have some id.
fn config() -> SessionConfig {
    SessionConfig {
        session_id: SessionId(Uuid::nil()),
        parent_session_id: None,
        plan_node_id: None,
        policy: PolicyProfile {
            name: removed(),
            ..PolicyProfile::default()
        },
        repo: RepoRef {
            name: removed(),
            path: removed(),
        },
        workspace: WorkspaceRef { path: removed() },
        work_item: None,
        agent_profile: removed(),
    }
}
