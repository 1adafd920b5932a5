//! `new` and JSON leave out the same fields, and mean the same by it.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use uuid::Uuid;

use super::Command;
use crate::alias::ReserveAlias;
use crate::intent::*;
use crate::metadata::{Seal, SetMetadata};
use crate::observation::{ObservationKind, ProcessObservation, RecordObservation};
use crate::pipeline::{
    CreatePipeline, DropFrames, EvictionPolicy, FrameKind, PushFrame, SetEvictionPolicy,
    SetGlobalSummary, SetMaxFrames,
};
use crate::plan::*;
use crate::run::*;
use crate::session::*;
use crate::settings::{BudgetPeriod, RemoveBudget, SetBudget, SetSetting, Setting};
use crate::snapshot::*;
use crate::task::{
    AddAcceptanceCriterion, AddConstraint, AddDependency, CancelTask, CreateTask, FailTask,
    RecordReview, ReviewVerdict,
};
use crate::{GitOid, IntentId, Json, SessionId};

const ID: Uuid = Uuid::from_u128(7);

fn commit() -> GitOid {
    "1".repeat(40).parse().unwrap()
}

fn json() -> Json {
    Json::parse("{}").unwrap()
}

fn repo() -> RepoRef {
    RepoRef::new("app", "/app")
}

fn config() -> SessionConfig {
    let policy = PolicyProfile::new("careful");
    SessionConfig::new(SessionId(ID), policy, repo(), WorkspaceRef::new("/"), "a")
}

fn of_intents() -> Vec<Command> {
    let id = IntentId(ID);
    vec![
        CreateIntent::new("do").into(),
        AnalyzeIntent::new(id, "it").into(),
        ActivateIntent::new(id).into(),
        SelectPlan::new(id, ID.into()).into(),
        RecordCommit::new(id, commit()).into(),
        CompleteIntent::new(id).into(),
        CancelIntent::new(id).into(),
        SubmitIntent::new("do", Source::Human).into(),
        JudgeIntent::new(id).into(),
        ApproveIntent::new(id).into(),
        RejectIntent::new(id).into(),
        InstructIntent::new(id, "so").into(),
        StartExecution::new(id).into(),
        RequestClarification::new(id, vec!["why".to_owned()]).into(),
        AnswerClarification::new(id, "so").into(),
        RecordAnalysis::new(id).into(),
        RerunIntent::new(id).into(),
        RecordObservation::new(ObservationKind::Epiphany, "it").into(),
        ProcessObservation::new(ID.into()).into(),
    ]
}

fn of_plans_and_tasks() -> Vec<Command> {
    let (plan, task) = (ID.into(), ID.into());
    vec![
        CreatePlan::new().into(),
        AddStep::new(plan, NewStep::new("do")).into(),
        SetStepStatus::new(plan, 0, StepStatus::Progressing).into(),
        LinkStepFrames::new(plan, 0).into(),
        SpawnStepTask::new(plan, 0, "do").into(),
        RecordStepOutput::new(plan, 0, json()).into(),
        CreateTask::new("do").into(),
        AddConstraint::new(task, "so").into(),
        AddAcceptanceCriterion::new(task, "so").into(),
        AddDependency::new(task, task).into(),
        RecordReview::new(task, ReviewVerdict::Approved).into(),
        FailTask::new(task).into(),
        CancelTask::new(task).into(),
    ]
}

fn of_runs() -> Vec<Command> {
    let (run, patch_set) = (ID.into(), ID.into());
    vec![
        CreateRun::new(ID.into()).into(),
        AttachSnapshot::new(run, ID.into()).into(),
        StartPatching::new(run).into(),
        StartValidation::new(run).into(),
        RecordToolInvocation::new(run, "sh", ToolStatus::Ok).into(),
        RequestToolCall::new(run, "sh").into(),
        DecideToolCall::new(run, ID.into(), ToolVerdict::Deny, ToolDecider::Rule).into(),
        BeginToolCall::new(run, ID.into()).into(),
        EndToolCall::new(run, ID.into(), ToolStatus::Ok).into(),
        ProposePatchSet::new(run, DiffFormat::Unified).into(),
        ApplyPatchSet::new(patch_set).into(),
        RejectPatchSet::new(patch_set).into(),
        OverrideRationale::new(patch_set).into(),
        RecordEvidence::new(run, EvidenceKind::Test, "make").into(),
        RecordProvenance::new(run, "p", "m").into(),
        RecordUsage::new(run, 1, 2).into(),
        RecordMetrics::new(run, json()).into(),
        Decide::new(run, DecisionType::Abandon).into(),
        RecordResultCommit::new(ID.into(), commit()).into(),
        FailRun::new(run, "so").into(),
    ]
}

fn of_others() -> Vec<Command> {
    let (snapshot, pipeline) = (ID.into(), ID.into());
    let item = NewItem::new(ContextItemKind::File, "a");
    vec![
        OpenSnapshot::new(SelectionStrategy::Explicit).into(),
        AddItem::new(snapshot, item).into(),
        AttachBlob::new(snapshot, 0, commit()).into(),
        FinalizeSnapshot::new(snapshot).into(),
        CreatePipeline::new().into(),
        PushFrame::new(pipeline, FrameKind::ToolCall, "so").into(),
        DropFrames::new(pipeline).into(),
        SetMaxFrames::new(pipeline, 1).into(),
        SetEvictionPolicy::new(pipeline, EvictionPolicy::default()).into(),
        SetGlobalSummary::new(pipeline).into(),
        SetSetting::new(Setting::MaxReviewRetries, "1").into(),
        SetBudget::new(1, BudgetPeriod::Day).into(),
        RemoveBudget::new(BudgetPeriod::Day).into(),
        SetMetadata::new(ID).into(),
        Seal::new(ID).into(),
        ReserveAlias::new(ID, "a").into(),
    ]
}

fn of_sessions() -> Vec<Command> {
    let (session, id) = (SessionId(ID), ID.into());
    let details = WorkItemDetails::new("1", "a", "b", "open");
    vec![
        CreateSession::new(config()).into(),
        SubmitCommand::new(session, QueryBacklog::new()).into(),
        ApproveSession::new(session).into(),
        DenySession::new(session, "so").into(),
        ExpireApprovals::new(session).into(),
        PauseSession::new(session).into(),
        ResumeSession::new(session).into(),
        AbortSession::new(session).into(),
        CompleteSession::new(session).into(),
        CompleteCommand::new(session, id, CommandResult::Success).into(),
        RecordConflict::new(session, id, repo(), "so").into(),
        RecordArtifact::new(session, Artifact::new(ArtifactKind::Log, "a")).into(),
        RecordBacklog::new(session, id, Vec::new()).into(),
        RecordWorkItem::new(session, id, details).into(),
        UpdatePlan::new(session, TaskPlan::default()).into(),
        LinkPlanTask::new(session, "a", ID.into()).into(),
        AttachRun::new(session, ID.into()).into(),
    ]
}

fn bodies() -> Vec<CommandBody> {
    let item = || WorkItemRef::new("1");
    vec![
        CreateBranch::new(repo(), "a").into(),
        ApplyPatch::new(repo(), "+a").into(),
        RunTests::new(repo()).into(),
        Commit::new(repo(), "a", Vec::new()).into(),
        Push::new(repo(), "a").into(),
        GetDiff::new(repo()).into(),
        TransitionTicket::new(item(), "done").into(),
        Comment::new(item(), "a").into(),
        SetAssignee::new(item(), "a").into(),
        UploadArtifact::new("a", "text/plain", Base64Bytes::default()).into(),
        RequestApproval::new("so", Vec::new()).into(),
        QueryBacklog::new().into(),
        QueryWorkItem::new(item()).into(),
        SpawnSession::new(config()).into(),
        LinkPlanNode::new("a").into(),
    ]
}

fn object(command: &Command) -> Map<String, Value> {
    let json = serde_json::to_value(command).unwrap();
    json.as_object().unwrap().clone()
}

/// The command is the same one where its JSON leaves out a field that it may leave out.
fn same_without(command: &Command, less: &Map<String, Value>, field: &str) {
    let fields = serde_json::to_string(less).unwrap();
    if let Ok(read) = Command::from_json(command.name(), &fields) {
        assert_eq!(read, *command, "{} without {field}", command.name());
    }
}

#[test]
fn what_new_leaves_out_json_leaves_out() {
    let made = [
        of_intents(),
        of_plans_and_tasks(),
        of_runs(),
        of_others(),
        of_sessions(),
    ]
    .concat();
    let names: BTreeSet<_> = made.iter().map(Command::name).collect();
    assert_eq!(names, Command::NAMES.iter().copied().collect());
    for command in made {
        let whole = object(&command);
        for field in whole.keys() {
            let mut less = whole.clone();
            less.remove(field);
            same_without(&command, &less, field);
        }
    }
}

#[test]
fn what_new_leaves_out_of_an_agents_command_json_leaves_out() {
    let bodies = bodies();
    let kinds: BTreeSet<_> = bodies.iter().map(|body| body.kind().as_str()).collect();
    let all = CommandKind::ALL.iter().map(|kind| kind.as_str());
    assert_eq!(kinds, all.collect());
    for body in bodies {
        let command = Command::from(SubmitCommand::new(SessionId(ID), body));
        let whole = object(&command);
        for field in whole["submit"].as_object().unwrap().keys() {
            let mut less = whole.clone();
            less["submit"].as_object_mut().unwrap().remove(field);
            same_without(&command, &less, field);
        }
    }
}

const SUBMIT: &str = r#"{"session":"00000000-0000-0000-0000-000000000007","submit":{"kind":"GetDiff","repo":{"name":"app","path":"/src/app"}}}"#;

fn given(id: Option<u128>) -> Command {
    let mut fields: Value = serde_json::from_str(SUBMIT).unwrap();
    if let Some(id) = id {
        fields["id"] = Uuid::from_u128(id).to_string().into();
    }
    let fields = fields.to_string();
    Command::from_json("submit_command", &fields).unwrap()
}

#[test]
fn a_command_with_a_key_of_its_own_is_a_batch_by_itself() {
    assert!(given(None).must_be_alone().is_some());
    let create = Command::from_json("create_intent", r#"{"prompt":"p"}"#).unwrap();
    assert_eq!((create.must_be_alone(), create.own_key()), (None, None));
    let new = || Uuid::from_u128(9);
    assert_eq!(create.clone().named(Some(new()), new), create);
}

#[test]
fn a_key_follows_from_the_name_and_the_name_from_the_callers_key() {
    let new = |id: u128| move || Uuid::from_u128(id);
    assert_eq!(given(None).own_key(), None);
    let own = given(Some(5)).own_key().unwrap();
    assert_eq!(own.id, Uuid::from_u128(5));
    // Keys are in the log: another one would give a command a second verdict.
    let pinned = "94973c73-d830-5974-8588-7e172bbd1c21";
    assert_eq!(own.key.to_string(), pinned);
    let caller = Some(Uuid::from_u128(6));
    assert_eq!(given(Some(5)).named(caller, new(9)), given(Some(5)));
    let first = given(None).named(caller, new(8)).own_key();
    assert!(first.is_some() && first == given(None).named(caller, new(9)).own_key());
    let new_one = given(None).named(None, new(9)).own_key().unwrap();
    assert_eq!(new_one.id, Uuid::from_u128(9));
}
