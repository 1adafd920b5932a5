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
    let repo = RepoRef::new(removed(), or_removed(facts.repo.as_ref()));
    let item = WorkItemRef::new(or_removed(facts.work_item.as_ref()));
    let branch_name = or_removed(facts.branch.as_ref());
    match facts.kind {
        CommandKind::CreateBranch => {
            CommandBody::CreateBranch(CreateBranch::new(repo, branch_name))
        }
        CommandKind::ApplyPatch => CommandBody::ApplyPatch(ApplyPatch::new(repo, removed())),
        CommandKind::RunTests => CommandBody::RunTests(RunTests::new(repo)),
        CommandKind::Commit => CommandBody::Commit(commit(repo)),
        CommandKind::Push => CommandBody::Push(Push::new(repo, branch_name)),
        CommandKind::GetDiff => CommandBody::GetDiff(GetDiff::new(repo).with_reference(removed())),
        CommandKind::TransitionTicket => CommandBody::TransitionTicket(TransitionTicket::new(
            item,
            or_removed(facts.state.as_ref()),
        )),
        CommandKind::Comment => CommandBody::Comment(Comment::new(item, removed())),
        CommandKind::SetAssignee => CommandBody::SetAssignee(SetAssignee::new(item, removed())),
        CommandKind::UploadArtifact => CommandBody::UploadArtifact(upload()),
        CommandKind::RequestApproval => {
            CommandBody::RequestApproval(RequestApproval::new(removed(), facts.actions.clone()))
        }
        CommandKind::QueryBacklog => CommandBody::QueryBacklog(QueryBacklog::new()),
        CommandKind::QueryWorkItem => CommandBody::QueryWorkItem(QueryWorkItem::new(item)),
        CommandKind::SpawnSession => CommandBody::SpawnSession(SpawnSession::new(config())),
        CommandKind::LinkPlanNode => CommandBody::LinkPlanNode(LinkPlanNode::new(removed())),
    }
}

fn commit(repo: RepoRef) -> Commit {
    Commit::new(repo, removed(), vec![removed()])
}

fn upload() -> UploadArtifact {
    UploadArtifact::new(removed(), removed(), Base64Bytes::default())
}

/// A configuration of which nothing is known. It must have some id.
fn config() -> SessionConfig {
    SessionConfig::new(
        SessionId(Uuid::nil()),
        PolicyProfile::new(removed()),
        RepoRef::new(removed(), removed()),
        WorkspaceRef::new(removed()),
        removed(),
    )
}
