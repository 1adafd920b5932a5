//! Commands: what an agent asks for (docs/spec/contracts.md, Commands).

use std::borrow::Cow;

use annals_domain::CommandId;
use annals_domain::session::{
    ApplyPatch, CommandBody, CommandKind, Comment, Commit, CreateBranch, GetDiff, LinkPlanNode,
    Push, QueryBacklog, QueryWorkItem, RepoRef, RequestApproval, RunTests, SessionConfig,
    SetAssignee, SpawnSession, TransitionTicket, UploadArtifact, WorkItemRef,
};
use serde::{Serialize, Serializer};

use super::core_type::{Correlation, Shape, Whole};
use super::fields::{Fields, Read, node_id};

/// What GetDiff's `ref` is where it is left out.
const HEAD: &str = "HEAD";

/// A command of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractCommand {
    /// Its id.
    pub id: CommandId,
    /// What it belongs to.
    pub correlation: Correlation,
    /// What it asks for.
    pub body: CommandBody,
}

impl ContractCommand {
    pub(super) fn read(kind: CommandKind, fields: &mut Fields<'_>) -> Read<ContractCommand> {
        let body = read_body(kind, fields)?;
        Ok(ContractCommand {
            id: fields.guid("id")?,
            correlation: fields.object("correlation", Correlation::read)?,
            body,
        })
    }
}

macro_rules! kinds {
    ($($kind:ident,)+) => {
        fn read_body(kind: CommandKind, fields: &mut Fields<'_>) -> Read<CommandBody> {
            Ok(match kind { $(CommandKind::$kind => $kind::read(fields)?.into(),)+ })
        }

        impl Serialize for ContractCommand {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let (id, correlation) = (self.id.0, &self.correlation);
                let kind = self.body.kind().as_str();
                match &self.body {
                    $(CommandBody::$kind(body) => {
                        let body = &*body.written();
                        Whole { body, id, correlation, kind }.serialize(serializer)
                    })+
                }
            }
        }
    };
}

kinds! {
    CreateBranch, ApplyPatch, RunTests, Commit, Push, GetDiff, TransitionTicket, Comment,
    SetAssignee, UploadArtifact, RequestApproval, QueryBacklog, QueryWorkItem, SpawnSession,
    LinkPlanNode,
}

fn repo(fields: &mut Fields<'_>) -> Read<RepoRef> {
    fields.object("repo", RepoRef::read)
}

fn item(fields: &mut Fields<'_>) -> Read<WorkItemRef> {
    fields.object("item", WorkItemRef::read)
}

impl Shape for CreateBranch {
    fn read(fields: &mut Fields<'_>) -> Read<CreateBranch> {
        Ok(CreateBranch::new(repo(fields)?, fields.text("branchName")?)
            .with_from_ref(fields.optional_text("fromRef")?))
    }
}

impl Shape for ApplyPatch {
    fn read(fields: &mut Fields<'_>) -> Read<ApplyPatch> {
        Ok(ApplyPatch::new(repo(fields)?, fields.text("patchContent")?))
    }
}

impl Shape for RunTests {
    fn read(fields: &mut Fields<'_>) -> Read<RunTests> {
        Ok(RunTests::new(repo(fields)?)
            .with_filter(fields.optional_text("filter")?)
            .with_timeout(fields.optional_duration("timeout")?))
    }
}

impl Shape for Commit {
    fn read(fields: &mut Fields<'_>) -> Read<Commit> {
        Ok(Commit::new(
            repo(fields)?,
            fields.text("message")?,
            fields.texts("includePaths")?,
        )
        .with_amend(fields.flag("amend")?))
    }
}

impl Shape for Push {
    fn read(fields: &mut Fields<'_>) -> Read<Push> {
        Ok(Push::new(repo(fields)?, fields.text("branchName")?))
    }
}

impl Shape for GetDiff {
    fn read(fields: &mut Fields<'_>) -> Read<GetDiff> {
        let (repo, reference) = (repo(fields)?, fields.optional_text("ref")?);
        Ok(GetDiff::new(repo).with_reference(reference.unwrap_or_else(|| HEAD.to_owned())))
    }
}

impl Shape for TransitionTicket {
    fn read(fields: &mut Fields<'_>) -> Read<TransitionTicket> {
        Ok(TransitionTicket::new(item(fields)?, fields.text("state")?))
    }
}

impl Shape for Comment {
    fn read(fields: &mut Fields<'_>) -> Read<Comment> {
        Ok(Comment::new(item(fields)?, fields.text("body")?))
    }
}

impl Shape for SetAssignee {
    fn read(fields: &mut Fields<'_>) -> Read<SetAssignee> {
        Ok(SetAssignee::new(item(fields)?, fields.text("assignee")?))
    }
}

impl Shape for UploadArtifact {
    fn read(fields: &mut Fields<'_>) -> Read<UploadArtifact> {
        Ok(UploadArtifact::new(
            fields.text("name")?,
            fields.text("contentType")?,
            fields.bytes("content")?,
        )
        .with_path_hint(fields.optional_text("pathHint")?))
    }
}

impl Shape for RequestApproval {
    fn read(fields: &mut Fields<'_>) -> Read<RequestApproval> {
        Ok(RequestApproval::new(
            fields.text("reason")?,
            fields.texts("requiredActions")?,
        ))
    }
}

impl Shape for QueryBacklog {
    fn read(fields: &mut Fields<'_>) -> Read<QueryBacklog> {
        Ok(QueryBacklog::new().with_filter(fields.optional_text("filter")?))
    }
}

impl Shape for QueryWorkItem {
    fn read(fields: &mut Fields<'_>) -> Read<QueryWorkItem> {
        Ok(QueryWorkItem::new(item(fields)?))
    }
}

impl Shape for SpawnSession {
    fn read(fields: &mut Fields<'_>) -> Read<SpawnSession> {
        Ok(SpawnSession::new(
            fields.object("config", SessionConfig::read)?,
        ))
    }

    fn written(&self) -> Cow<'_, SpawnSession> {
        match self.config.written() {
            Cow::Borrowed(_) => Cow::Borrowed(self),
            Cow::Owned(config) => Cow::Owned(SpawnSession::new(config)),
        }
    }
}

impl Shape for LinkPlanNode {
    fn read(fields: &mut Fields<'_>) -> Read<LinkPlanNode> {
        Ok(LinkPlanNode::new(node_id(&fields.text("planNodeId")?)))
    }

    fn written(&self) -> Cow<'_, LinkPlanNode> {
        Cow::Owned(LinkPlanNode::new(node_id(&self.plan_node_id)))
    }
}
