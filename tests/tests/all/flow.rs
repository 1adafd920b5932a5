//! git-internal's end-to-end flow, through the public API, over every
//! store: with a retry under a revised plan, a sub-task that a step spawns, a
//! rejected patch set, and a rollback by a run of its own.

use std::sync::Arc;

use annals::domain::intent::{CompleteIntent, CreateIntent};
use annals::domain::pipeline::FrameKind;
use annals::domain::plan::{LinkStepFrames, SetStepStatus, SpawnStepTask, StepStatus};
use annals::domain::run::{
    ChangeType, CreateRun, Decide, DecisionType, DiffFormat, EvidenceKind, Payload,
    ProposePatchSet, RecordEvidence, RecordProvenance, RecordToolInvocation, RejectPatchSet,
    StartPatching, StartValidation, TokenUsage, ToolStatus, TouchedFile,
};
use annals::domain::snapshot::{FinalizeSnapshot, OpenSnapshot, SelectionStrategy};
use annals::domain::{
    ActorRef, Command, GitOid, IntentId, PatchSetId, PlanId, RunId, SnapshotId, TaskId,
};
use annals::projections::{
    ContextPipelineView, ContextSnapshotView, DecisionView, EvidenceView, IntentView, PatchSetView,
    PlanView, ProvenanceView, RunView, TaskView, ToolInvocationView,
};
use annals::{Annals, At, Outcome, Request};
use futures::executor::block_on;
use serde_json::json;
use uuid::Uuid;

use crate::stores::{Logs, over_each_store, server, url};

over_each_store! {
    the_whole_flow,
}

fn oid(digit: char) -> GitOid {
    digit.to_string().repeat(40).parse().expect("a commit id")
}

struct Story {
    annals: Annals,
    agent: ActorRef,
}

impl Story {
    async fn command(&self, command: impl Into<Command>) -> Outcome {
        let request = Request::new(self.agent.clone(), command);
        self.annals
            .execute(request)
            .await
            .expect("an accepted command")
    }

    async fn run(&self, id: RunId) -> RunView {
        self.annals.get(id).await.expect("a run")
    }

    async fn task(&self, id: TaskId) -> TaskView {
        self.annals.get(id).await.expect("a task")
    }

    async fn patch_set(&self, id: PatchSetId) -> PatchSetView {
        self.annals.get(id).await.expect("a patch set")
    }

    async fn propose(&self, run: RunId, path: &str) -> PatchSetId {
        let touched = TouchedFile::new(path, ChangeType::Modify)
            .with_lines_added(3)
            .with_lines_deleted(1);
        let proposal = ProposePatchSet::new(run, DiffFormat::Unified)
            .with_diff(Payload(
                format!("--- a/{path}\n+++ b/{path}\n").into_bytes(),
            ))
            .with_touched(vec![touched])
            .with_rationale("the smallest change".to_owned());
        self.annals
            .by(&self.agent)
            .propose(proposal)
            .await
            .expect("a patch set")
    }
}

/// Steps 1 to 4: intent, pipeline, plan with a step that spawns a sub-task.
async fn prepare(story: &Story) -> (IntentId, PlanId, TaskId) {
    let human = ActorRef::human("alice");
    let intent = story
        .annals
        .by(&human)
        .submit("Add pagination")
        .await
        .expect("an intent");
    let draft: IntentView = story.annals.get(intent).await.expect("an intent");
    assert_eq!((draft.content.is_some(), draft.statuses.len()), (false, 1));
    let me = story.annals.by(&story.agent);
    me.analyze(intent, "GET /users takes offset and limit")
        .await
        .expect("an analysis");
    let pipeline = me
        .open_pipeline("GET /users takes offset and limit", 8)
        .await
        .expect("a pipeline");
    let plan = me
        .plan(intent, ["Add the parameters", "Document them"])
        .await
        .expect("a plan");
    let task = me
        .task(intent, "Paginate GET /users")
        .await
        .expect("a task");

    let frame = me
        .push_frame(pipeline, FrameKind::StepSummary, "parameters added")
        .await
        .expect("a frame");
    let window: ContextPipelineView = story.annals.get(pipeline).await.expect("a pipeline");
    assert_eq!(window.next_frame_id.0, 2);
    let spawn = SpawnStepTask::new(plan, 1, "Document it")
        .with_intent(intent)
        .with_parent(task);
    let sub_task = TaskId(story.command(spawn).await.id.expect("the sub-task's id"));
    assert_eq!(story.task(sub_task).await.parent, Some(task));
    let steps: PlanView = story.annals.get(plan).await.expect("a plan");
    assert_eq!(steps.steps[1].task, Some(sub_task));
    let unlinked = LinkStepFrames::new(plan, 0).with_oframes(vec![frame]);
    let refused = story
        .annals
        .execute(Request::new(story.agent.clone(), unlinked))
        .await;
    assert!(
        refused.is_err(),
        "the plan has no pipeline: its steps have no frames"
    );
    (intent, plan, task)
}

/// Steps 5 to 9, failing: the first run, its records and its Retry decision.
async fn first_run(story: &Story, plan: PlanId, task: TaskId) -> RunId {
    let me = story.annals.by(&story.agent);
    let run = me
        .start_run(task, Some(plan), Some(oid('a')))
        .await
        .expect("a run");
    assert_eq!(story.task(task).await.status().name(), "running");
    let open = OpenSnapshot::new(SelectionStrategy::Heuristic);
    let snapshot = SnapshotId(story.command(open).await.id.expect("a snapshot"));
    story
        .command(FinalizeSnapshot::new(snapshot).with_summary("nothing yet".to_owned()))
        .await;
    story
        .command(annals::domain::run::AttachSnapshot::new(run, snapshot))
        .await;
    let snapshot: ContextSnapshotView = story.annals.get(snapshot).await.expect("a snapshot");
    assert!(snapshot.items.is_empty());
    let provenance = me
        .provenance(
            RecordProvenance::new(run, "local", "small")
                .with_temperature(0.25)
                .with_token_usage(TokenUsage::new(70, 30).with_total_tokens(100)),
        )
        .await
        .expect("a provenance");
    let provenance: ProvenanceView = story.annals.get(provenance).await.expect("a provenance");
    assert_eq!(provenance.token_usage.expect("usage").total_tokens, 100);
    let tool = me
        .tool(
            RecordToolInvocation::new(run, "bash", ToolStatus::Error)
                .with_args(annals::domain::Json::parse(r#"{"cmd": "cargo test"}"#).expect("JSON"))
                .with_duration_ms(1_250)
                .with_result_summary("1 failed".to_owned()),
        )
        .await
        .expect("a tool invocation");
    let tool: ToolInvocationView = story.annals.get(tool).await.expect("a tool invocation");
    assert_eq!(tool.run_id, run);

    let rejected = story.propose(run, "src/api.rs").await;
    story
        .command(RejectPatchSet::new(rejected).with_reason("wrong file".to_owned()))
        .await;
    assert_eq!(
        story.patch_set(rejected).await.status().as_str(),
        "rejected"
    );
    let open = story.propose(run, "src/users.rs").await;
    me.validate(run).await.expect("validation");
    me.fail_run(run, "the tests do not compile")
        .await
        .expect("a failure");
    me.decide(Decide::new(run, DecisionType::Retry))
        .await
        .expect("a retry");
    let failed = story.run(run).await;
    assert_eq!(
        (failed.status().name(), failed.patchsets.clone()),
        ("failed", vec![rejected, open])
    );
    assert_eq!(
        story.patch_set(open).await.status().as_str(),
        "rejected",
        "a retry rejects what is open"
    );
    assert_eq!(story.task(task).await.status().name(), "running");
    run
}

/// Steps 5 to 9 again: the second run under a revised plan, committed.
async fn second_run(
    story: &Story,
    intent: IntentId,
    plan: PlanId,
    task: TaskId,
) -> (RunId, PatchSetId) {
    let me = story.annals.by(&story.agent);
    let revised = me
        .revise(intent, Some(plan), ["Add the parameters, compiling"])
        .await
        .expect("a plan");
    let progressing = SetStepStatus::new(revised, 0, StepStatus::Progressing);
    story.command(progressing).await;
    let run = me
        .start_run(task, Some(revised), Some(oid('a')))
        .await
        .expect("a run");
    let patch_set = story.propose(run, "src/users.rs").await;
    me.validate(run).await.expect("validation");
    let evidence = me
        .evidence(
            RecordEvidence::new(run, EvidenceKind::Test, "cargo")
                .with_patchset_id(patch_set)
                .with_command_line("cargo test".to_owned())
                .with_exit_code(0),
        )
        .await
        .expect("evidence");
    let evidence: EvidenceView = story.annals.get(evidence).await.expect("evidence");
    assert_eq!(
        (evidence.patchset_id, evidence.exit_code),
        (Some(patch_set), Some(0))
    );
    let decision = me
        .commit(run, patch_set, Some(oid('b')))
        .await
        .expect("a decision");
    let decision: DecisionView = story.annals.get(decision).await.expect("a decision");
    assert_eq!(decision.chosen_patchset_id, Some(patch_set));
    assert_eq!(story.run(run).await.plan, Some(revised));
    (run, patch_set)
}

/// A run of its own that reverts the applied patch set.
async fn roll_back(story: &Story, task: TaskId, patch_set: PatchSetId) {
    let plain = Request::new(story.agent.clone(), CreateRun::new(task));
    assert!(
        story.annals.execute(plain).await.is_err(),
        "a done task takes only a run that reverts"
    );
    let create = CreateRun::new(task).with_reverts(patch_set);
    let run = RunId(story.command(create).await.id.expect("a run"));
    story.command(StartPatching::new(run)).await;
    story.command(StartValidation::new(run)).await;
    let decision = story
        .command(Decide::new(run, DecisionType::Rollback))
        .await;
    let decision: DecisionView = story
        .annals
        .get(decision.id.expect("an id").into())
        .await
        .expect("a decision");
    assert_eq!(decision.chosen_patchset_id, Some(patch_set));
    let reverted = story.patch_set(patch_set).await;
    assert_eq!(
        serde_json::to_value(&reverted).expect("JSON")["apply_status"],
        json!("rejected")
    );
    assert_eq!(reverted.status().as_str(), "reverted");
    assert_eq!(story.run(run).await.status().name(), "completed");
    assert_eq!(story.task(task).await.status().name(), "done");
}

fn the_whole_flow(logs: &dyn Logs) {
    let log = logs.open();
    let story = Story {
        annals: Annals::over(Arc::clone(&log)),
        agent: ActorRef::agent("coder"),
    };
    let (run, then) = block_on(told(&story));
    let end = story.annals.position();
    block_on(story.annals.close());

    // Nothing of it was only in memory.
    let annals = Annals::over(logs.reopen(log));
    assert_eq!(annals.position(), end);
    let reopened: RunView = block_on(annals.get(run)).expect("the run");
    assert_eq!(reopened, then);
    block_on(annals.close());
}

/// The whole story; the run that was committed, as it is at the end.
async fn told(story: &Story) -> (RunId, RunView) {
    let (intent, plan, task) = prepare(story).await;
    let failed = first_run(story, plan, task).await;
    let (run, patch_set) = second_run(story, intent, plan, task).await;
    assert_eq!(
        story.run(failed).await.plan,
        Some(plan),
        "a run's plan never changes"
    );
    assert_eq!(story.task(task).await.runs, vec![failed, run]);
    assert_eq!(story.task(task).await.status().name(), "done");
    assert_eq!(
        story.patch_set(patch_set).await.status().as_str(),
        "applied"
    );
    let me = story.annals.by(&story.agent);
    let open = me.complete(intent, "merged").await.expect_err("a task");
    assert!(open.to_string().contains("is draft"), "{open}");
    let complete = CompleteIntent::new(intent)
        .with_reason("merged".to_owned())
        .with_abandon_open(true);
    story.command(complete).await;
    roll_back(story, task, patch_set).await;

    let done: IntentView = story.annals.get(intent).await.expect("an intent");
    assert_eq!(done.commit, Some(oid('b')));
    let statuses: Vec<&str> = done
        .statuses
        .iter()
        .map(|entry| entry.status.as_str())
        .collect();
    assert_eq!(statuses, ["draft", "active", "completed"]);
    let end = story.annals.position();
    let then: RunView = story
        .annals
        .get_at(run, At::Position(end))
        .await
        .expect("the run");
    assert_eq!(then, story.run(run).await);
    (run, then)
}

/// A log is made where there is none, and found again, by what names it.
fn a_log_is_found_again_at(url: &str) {
    let agent = ActorRef::agent("coder");
    let annals = block_on(Annals::open(url)).expect("a new log");
    let intent = block_on(annals.by(&agent).submit("p")).expect("an intent");
    let id = annals.log().log_id();
    block_on(annals.close());
    let annals = block_on(Annals::open(url)).expect("it opens again");
    assert_eq!(annals.log().log_id(), id);
    let view: IntentView = block_on(annals.get(intent)).expect("the intent");
    assert_eq!(view.header.object_id, intent.0);
    block_on(annals.close());
}

#[test]
fn a_log_in_a_folder_is_found_again_by_its_path() {
    let home = tempfile::tempdir().expect("a directory");
    a_log_is_found_again_at(&home.path().join("log").to_string_lossy());
}

#[test]
fn a_log_on_postgres_is_found_again_by_its_url() {
    if let Some(server) = server() {
        a_log_is_found_again_at(&url(server));
    }
}

#[test]
fn a_new_id_is_of_version_7_and_one_that_is_given_of_any() {
    block_on(async {
        let annals = Annals::open("memory:").await.expect("a log");
        let agent = ActorRef::agent("coder");
        let made = annals.by(&agent).submit("p").await.expect("an intent");
        assert_eq!(made.0.get_version_num(), 7);
        for version in [1_u8, 4, 5] {
            let given = Uuid::from_u128((u128::from(version) << 76) | (1_u128 << 63));
            assert_eq!(given.get_version_num(), usize::from(version));
            let create = CreateIntent::new("p").with_id(IntentId(given));
            let request = Request::new(agent.clone(), create);
            annals.execute(request).await.expect("it is accepted");
            let view: IntentView = annals.get(IntentId(given)).await.expect("an intent");
            assert_eq!(view.header.object_id, given);
        }
        annals.close().await;
    });
}
