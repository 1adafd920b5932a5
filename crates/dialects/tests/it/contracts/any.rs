//! Any object of the contracts, of every kind alike.

use annals_dialects::contracts::{
    ArtifactAvailable, BacklogQueried, CommandAccepted, CommandCompleted, CommandRejected,
    ConflictDetected, ContractCommand, ContractEvent, Correlation, EventBody, Foreign, Object,
    PlanUpdated, SessionStatusChanged, Throttled, WorkItemQueried,
};
use annals_domain::session::{
    ApplyPatch, Artifact, ArtifactKind, Base64Bytes, CommandBody, CommandResult, Comment, Commit,
    CreateBranch, GetDiff, LinkPlanNode, PolicyProfile, Push, QueryBacklog, QueryWorkItem,
    RateLimits, RepoRef, RequestApproval, RunTests, SessionConfig, SessionStatus, SetAssignee,
    SpawnSession, TaskNode, TaskPlan, TimeSpan, TransitionTicket, UploadArtifact, WorkItemDetails,
    WorkItemRef, WorkItemSummary, WorkspaceRef,
};
use annals_domain::{CommandId, Json, Ordered, SessionId, Timestamp};
use chrono::DateTime;
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use uuid::Uuid;

/// Characters of every class, and any other.
fn text() -> impl Strategy<Value = String> {
    let odd = "\0\u{8}\t\n\u{b}\u{c}\r\u{1f} \"'&+<>\\/`\u{7f}\u{a0}\u{ad}é\u{378}\u{2028}漢\u{e000}\u{feff}\u{ffff}\u{1f680}";
    let odd: Vec<char> = odd.chars().collect();
    let c = prop_oneof![3 => select(odd), 3 => prop::char::range(' ', '~'), 1 => any::<char>()];
    vec(c, 0..8).prop_map(String::from_iter)
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..3)
}

fn uuid() -> impl Strategy<Value = Uuid> {
    any::<u128>().prop_map(Uuid::from_u128)
}

fn command_id() -> impl Strategy<Value = CommandId> {
    uuid().prop_map(CommandId)
}

fn node_id() -> impl Strategy<Value = String> {
    prop_oneof![text(), uuid().prop_map(|id| id.to_string())]
}

fn repo() -> impl Strategy<Value = RepoRef> {
    (text(), text()).prop_map(|(name, path)| RepoRef::new(name, path))
}

fn item() -> impl Strategy<Value = WorkItemRef> {
    (text(), of(text()))
        .prop_map(|(id, provider_hint)| WorkItemRef::new(id).with_provider_hint(provider_hint))
}

fn summary() -> impl Strategy<Value = WorkItemSummary> {
    (text(), text(), text(), of(text())).prop_map(|(id, title, status, assignee)| {
        WorkItemSummary::new(id, title, status).with_assignee(assignee)
    })
}

fn details() -> impl Strategy<Value = WorkItemDetails> {
    (summary(), text(), texts()).prop_map(|(of, description, tags)| {
        WorkItemDetails::new(of.id, of.title, description, of.status)
            .with_assignee(of.assignee)
            .with_tags(tags)
    })
}

fn artifact() -> impl Strategy<Value = Artifact> {
    let kind = select(ArtifactKind::ALL);
    let all = (kind, text(), of(text()), of(text()), of(text()), of(text()));
    all.prop_map(
        |(kind, name, inline_text, path_hint, download_uri, content_type)| {
            Artifact::new(kind, name)
                .with_inline_text(inline_text)
                .with_path_hint(path_hint)
                .with_download_uri(download_uri)
                .with_content_type(content_type)
        },
    )
}

fn node() -> impl Strategy<Value = TaskNode> {
    let all = (
        text(),
        text(),
        texts(),
        of(item()),
        of(text()),
        of(text()),
        texts(),
    );
    all.prop_map(
        |(id, title, depends_on, work_item, agent_hint, suggested_branch, tags)| {
            TaskNode::new(id, title)
                .with_depends_on(depends_on)
                .with_work_item(work_item)
                .with_agent_hint(agent_hint)
                .with_suggested_branch(suggested_branch)
                .with_tags(tags)
        },
    )
}

fn limits() -> impl Strategy<Value = RateLimits> {
    let caps = of(btree_map(text(), any::<u32>(), 0..3));
    (of(any::<u32>()), of(any::<u32>()), caps).prop_map(|(calls_per_minute, burst, caps)| {
        RateLimits::new()
            .with_calls_per_minute(calls_per_minute)
            .with_burst(burst)
            .with_per_command_caps(caps.map(Ordered::from_iter))
    })
}

fn policy() -> impl Strategy<Value = PolicyProfile> {
    let lists = (of(texts()), of(texts()), texts(), of(texts()));
    let others = (
        text(),
        of(any::<u32>()),
        any::<(bool, bool)>(),
        any::<bool>(),
        of(limits()),
    );
    (lists, others).prop_map(|(lists, others)| {
        PolicyProfile::new(others.0)
            .with_command_whitelist(lists.0)
            .with_command_blacklist(lists.1)
            .with_protected_branches(lists.2)
            .with_max_files_per_commit(others.1)
            .with_require_tests_before_push(others.2.0)
            .with_filtered_tests_count(others.2.1)
            .with_require_approval_for_push(others.3)
            .with_allowed_work_item_transitions(lists.3)
            .with_limits(others.4)
    })
}

fn config() -> impl Strategy<Value = SessionConfig> {
    let ids = (uuid(), of(uuid()), of(node_id()));
    let rest = (policy(), repo(), text(), of(item()), text());
    (ids, rest).prop_map(|(ids, (policy, repo, path, work_item, agent_profile))| {
        SessionConfig::new(
            SessionId(ids.0),
            policy,
            repo,
            WorkspaceRef::new(path),
            agent_profile,
        )
        .with_parent_session_id(ids.1)
        .with_plan_node_id(ids.2)
        .with_work_item(work_item)
    })
}

/// Times to the tick of 100 ns, as they are read.
fn time() -> impl Strategy<Value = Timestamp> {
    let seconds = prop_oneof![
        -62_135_596_800_i64..=253_402_300_799,
        1_700_000_000_i64..1_800_000_000
    ];
    (seconds, 0..10_000_000_u32).prop_map(|(seconds, ticks)| {
        DateTime::from_timestamp(seconds, ticks * 100)
            .unwrap()
            .into()
    })
}

fn correlation() -> impl Strategy<Value = Correlation> {
    let all = (uuid(), of(command_id()), of(command_id()), of(node_id()));
    all.prop_map(|(session, command, parent, plan_node)| Correlation {
        session: SessionId(session),
        command,
        parent,
        plan_node,
    })
}

fn code_command() -> impl Strategy<Value = CommandBody> {
    let timeout = of(any::<i64>().prop_map(TimeSpan::from_ticks));
    prop_oneof![
        (repo(), text(), of(text())).prop_map(|(repo, branch_name, from_ref)| CreateBranch::new(
            repo,
            branch_name
        )
        .with_from_ref(from_ref)
        .into()),
        (repo(), text())
            .prop_map(|(repo, patch_content)| ApplyPatch::new(repo, patch_content).into()),
        (repo(), of(text()), timeout).prop_map(|(repo, filter, timeout)| RunTests::new(repo)
            .with_filter(filter)
            .with_timeout(timeout)
            .into()),
        (repo(), text(), texts(), any::<bool>()).prop_map(
            |(repo, message, include_paths, amend)| Commit::new(repo, message, include_paths)
                .with_amend(amend)
                .into()
        ),
        (repo(), text()).prop_map(|(repo, branch_name)| Push::new(repo, branch_name).into()),
        (repo(), text())
            .prop_map(|(repo, reference)| GetDiff::new(repo).with_reference(reference).into()),
    ]
}

fn other_command() -> impl Strategy<Value = CommandBody> {
    let upload = (text(), text(), vec(any::<u8>(), 0..9), of(text()));
    prop_oneof![
        (item(), text()).prop_map(|(item, state)| TransitionTicket::new(item, state).into()),
        (item(), text()).prop_map(|(item, body)| Comment::new(item, body).into()),
        (item(), text()).prop_map(|(item, assignee)| SetAssignee::new(item, assignee).into()),
        upload.prop_map(
            |(name, content_type, content, path_hint)| UploadArtifact::new(
                name,
                content_type,
                Base64Bytes(content)
            )
            .with_path_hint(path_hint)
            .into()
        ),
        (text(), texts()).prop_map(|(reason, required_actions)| RequestApproval::new(
            reason,
            required_actions
        )
        .into()),
        of(text()).prop_map(|filter| QueryBacklog::new().with_filter(filter).into()),
        item().prop_map(|item| QueryWorkItem::new(item).into()),
        config().prop_map(|config| SpawnSession::new(config).into()),
        node_id().prop_map(|plan_node_id| LinkPlanNode::new(plan_node_id).into()),
    ]
}

fn command() -> impl Strategy<Value = Object> {
    let body = prop_oneof![6 => code_command(), 9 => other_command()];
    (command_id(), correlation(), body).prop_map(|(id, correlation, body)| {
        Object::Command(ContractCommand {
            id,
            correlation,
            body,
        })
    })
}

fn verdict() -> impl Strategy<Value = EventBody> {
    let rejected = (command_id(), text(), of(text()));
    let outcome = select(CommandResult::ALL);
    let completed = (command_id(), outcome, of(text()), of(text()));
    prop_oneof![
        command_id().prop_map(|command_id| CommandAccepted { command_id }.into()),
        rejected.prop_map(|(command_id, reason, policy_rule)| CommandRejected {
            command_id,
            reason,
            policy_rule
        }
        .into()),
        completed.prop_map(
            |(command_id, outcome, message, error_code)| CommandCompleted {
                command_id,
                outcome,
                message,
                error_code
            }
            .into()
        ),
        (text(), time()).prop_map(|(scope, retry_after)| Throttled { scope, retry_after }.into()),
    ]
}

fn of_a_session() -> impl Strategy<Value = EventBody> {
    let status = (select(SessionStatus::ALL), of(text()));
    prop_oneof![
        artifact().prop_map(|artifact| ArtifactAvailable { artifact }.into()),
        (repo(), text(), of(text())).prop_map(|(repo, details, patch_content)| ConflictDetected {
            repo,
            details,
            patch_content
        }
        .into()),
        status.prop_map(|(status, reason)| SessionStatusChanged { status, reason }.into()),
        vec(node(), 0..4).prop_map(|nodes| PlanUpdated {
            plan: TaskPlan::new(nodes)
        }
        .into()),
        vec(summary(), 0..4).prop_map(|items| BacklogQueried { items }.into()),
        details().prop_map(|details| WorkItemQueried { details }.into()),
    ]
}

fn event() -> impl Strategy<Value = Object> {
    let body = prop_oneof![4 => verdict(), 6 => of_a_session()];
    (uuid(), correlation(), body).prop_map(|(id, correlation, body)| {
        Object::Event(ContractEvent {
            id,
            correlation,
            body,
        })
    })
}

fn foreign() -> impl Strategy<Value = Object> {
    ("[A-Z][a-z]{1,8}Ed", text(), uuid()).prop_map(|(kind, said, session)| {
        let raw = serde_json::json!({
            "kind": kind,
            "said": [said],
            "correlation": { "sessionId": session },
        });
        let raw = Json::parse(&raw.to_string()).unwrap();
        Object::Foreign(Foreign { kind, raw })
    })
}

/// Any object.
pub(super) fn object() -> impl Strategy<Value = Object> {
    prop_oneof![15 => command(), 10 => event(), 1 => foreign()]
}
