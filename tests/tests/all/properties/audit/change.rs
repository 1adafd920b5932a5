//! How an object may change: along its matrix, and never in what is fixed.

use std::fmt::Debug;

use annals::projections::{
    ContextItem, ContextPipelineView, ContextSnapshotView, IntentView, ObjectView, ObservationView,
    PatchSetView, PlanView, ProvenanceView, RunView, SessionView, TaskView, ToolInvocationView,
};

type Matrix = &'static [(&'static str, &'static str)];

const INTENT: Matrix = &[
    ("draft", "active"),
    ("draft", "cancelled"),
    ("active", "completed"),
    ("active", "cancelled"),
];
const TASK: Matrix = &[
    ("draft", "running"),
    ("draft", "failed"),
    ("draft", "cancelled"),
    ("running", "done"),
    ("running", "failed"),
    ("running", "cancelled"),
];
const RUN: Matrix = &[
    ("created", "patching"),
    ("created", "failed"),
    ("patching", "validating"),
    ("patching", "failed"),
    ("validating", "completed"),
    ("validating", "failed"),
];
const PATCH_SET: Matrix = &[
    ("proposed", "applied"),
    ("proposed", "rejected"),
    ("applied", "reverted"),
];
/// Sources may disagree on how a call ended; what was denied may be allowed, and may begin all the same.
const CALL: Matrix = &[
    ("requested", "denied"),
    ("requested", "running"),
    ("requested", "ok"),
    ("requested", "error"),
    ("denied", "requested"),
    ("denied", "running"),
    ("denied", "ok"),
    ("denied", "error"),
    ("running", "ok"),
    ("running", "error"),
    ("ok", "error"),
    ("error", "ok"),
];
const SESSION: Matrix = &[
    ("Running", "Paused"),
    ("Running", "NeedsApproval"),
    ("Running", "Error"),
    ("Running", "Completed"),
    ("Paused", "Running"),
    ("Paused", "NeedsApproval"),
    ("Paused", "Error"),
    ("Paused", "Completed"),
    ("NeedsApproval", "Running"),
    ("NeedsApproval", "Paused"),
    ("NeedsApproval", "Error"),
    ("NeedsApproval", "Completed"),
];
const STEP: Matrix = &[
    ("pending", "progressing"),
    ("pending", "failed"),
    ("pending", "skipped"),
    ("progressing", "completed"),
    ("progressing", "failed"),
];

fn along(matrix: Matrix, from: &str, to: &str) {
    assert!(
        from == to || matrix.contains(&(from, to)),
        "{from} -> {to} is not a transition"
    );
}

/// Lists only grow at their end.
fn grows<T: PartialEq + Debug>(before: &[T], after: &[T]) {
    assert!(after.starts_with(before), "{before:?} became {after:?}");
}

/// Checks what an object became; `before` is none for a new one.
pub fn check(before: Option<&ObjectView>, after: &ObjectView) {
    if let ObjectView::Provenance(view) = after {
        totals_add_up(view);
    }
    let Some(before) = before else {
        return starts(after);
    };
    let (old, new) = (before.header(), after.header());
    assert_eq!(
        (old.object_id, old.object_type),
        (new.object_id, new.object_type)
    );
    assert_eq!(
        (old.created_at, &old.created_by),
        (new.created_at, &new.created_by)
    );
    match (before, after) {
        (ObjectView::Intent(old), ObjectView::Intent(new)) => intent(old, new),
        (ObjectView::Plan(old), ObjectView::Plan(new)) => plan(old, new),
        (ObjectView::Task(old), ObjectView::Task(new)) => task(old, new),
        (ObjectView::Run(old), ObjectView::Run(new)) => run(old, new),
        (ObjectView::PatchSet(old), ObjectView::PatchSet(new)) => patch_set(old, new),
        (ObjectView::ToolInvocation(old), ObjectView::ToolInvocation(new)) => call(old, new),
        (ObjectView::Provenance(old), ObjectView::Provenance(new)) => {
            let usage =
                |view: &ProvenanceView| view.token_usage.map_or(0, |used| used.total_tokens);
            assert!(usage(old) <= usage(new));
            let (mut old, mut new) = (old.clone(), new.clone());
            (old.header, old.token_usage) = (new.header.clone(), None);
            new.token_usage = None;
            assert_eq!(old, new, "a provenance changes in nothing but the tokens");
        }
        (ObjectView::ContextSnapshot(old), ObjectView::ContextSnapshot(new)) => snapshot(old, new),
        (ObjectView::ContextPipeline(old), ObjectView::ContextPipeline(new)) => pipeline(old, new),
        (ObjectView::Session(old), ObjectView::Session(new)) => session(old, new),
        (ObjectView::Observation(old), ObjectView::Observation(new)) => observation(old, new),
        _ => never_changes(before, after),
    }
}

/// Every object begins in the first state of its matrix.
fn starts(object: &ObjectView) {
    match object {
        ObjectView::Intent(view) => assert_eq!(view.status().as_str(), "draft"),
        ObjectView::Task(view) => assert_eq!(view.status().name(), "draft"),
        ObjectView::Run(view) => assert_eq!(view.status().name(), "created"),
        ObjectView::PatchSet(view) => assert_eq!(view.status().as_str(), "proposed"),
        ObjectView::Plan(view) => {
            assert!(
                view.steps
                    .iter()
                    .all(|step| step.status().as_str() == "pending")
            );
        }
        ObjectView::ContextSnapshot(view) => assert!(!view.finalized),
        ObjectView::Session(view) => assert_eq!(view.status().as_str(), "Running"),
        ObjectView::Observation(view) => assert_eq!(view.processed, None),
        _ => {}
    }
}

/// What was noticed stays as it was said; it is settled once.
fn observation(old: &ObservationView, new: &ObservationView) {
    assert!(old.processed.is_none() || old.processed == new.processed);
    let (mut said, mut says) = (old.clone(), new.clone());
    (said.header, said.processed) = (new.header.clone(), None);
    says.processed = None;
    assert_eq!(said, says);
}

fn totals_add_up(view: &ProvenanceView) {
    if let Some(used) = view.token_usage {
        // The views show at most 2^64 - 1 of each.
        let sum = used.input_tokens.saturating_add(used.output_tokens);
        assert_eq!(used.total_tokens, sum);
    }
}

/// More becomes known of a call, and nothing is forgotten.
fn call(old: &ToolInvocationView, new: &ToolInvocationView) {
    assert_eq!((old.run_id, &old.tool_name), (new.run_id, &new.tool_name));
    along(CALL, old.status().as_str(), new.status().as_str());
    grows(&old.life.decisions, &new.life.decisions);
    let stays = |was: bool, is: bool| assert!(!was || is);
    stays(old.args.is_some(), new.args.is_some());
    stays(old.io_footprint.is_some(), new.io_footprint.is_some());
    stays(old.duration_ms.is_some(), new.duration_ms.is_some());
    stays(old.result_summary.is_some(), new.result_summary.is_some());
    stays(!old.artifacts.is_empty(), !new.artifacts.is_empty());
    for (was, is) in [
        (&old.life.requested, &new.life.requested),
        (&old.life.begun, &new.life.begun),
        (&old.life.ended, &new.life.ended),
        (&old.life.invoked, &new.life.invoked),
    ] {
        assert!(was.is_none() || was == is, "{was:?} became {is:?}");
    }
}

/// Evidence and decisions: only the header takes labels; and a decision
/// its commit, once.
fn never_changes(before: &ObjectView, after: &ObjectView) {
    let body = |view: &ObjectView| {
        let mut json = serde_json::to_value(view).expect("JSON");
        let fields = json.as_object_mut().expect("an object");
        for label in [
            "updated_at",
            "visibility",
            "tags",
            "external_ids",
            "checksum",
        ] {
            fields.remove(label);
        }
        json
    };
    let (before, mut after) = (body(before), body(after));
    if before.get("decision_type").is_some() && before.get("result_commit_sha").is_none() {
        after
            .as_object_mut()
            .expect("an object")
            .remove("result_commit_sha");
    }
    assert_eq!(before, after);
}

fn intent(old: &IntentView, new: &IntentView) {
    assert_eq!((&old.prompt, old.parent), (&new.prompt, new.parent));
    along(INTENT, old.status().as_str(), new.status().as_str());
    grows(&old.statuses, &new.statuses);
    // Active without content is what was approved before it was analysed.
    let status = old.status().as_str();
    assert!(status == "active" || old.plan == new.plan);
    // The commit of a decision may be recorded when all is over.
    assert!(matches!(status, "active" | "completed") || old.commit == new.commit);
    assert!(old.content.is_none() || new.content.is_some());
}

fn plan(old: &PlanView, new: &PlanView) {
    let fixed = |view: &PlanView| (view.previous, view.pipeline, view.fwindow);
    assert_eq!(fixed(old), fixed(new));
    assert!(old.intent.is_none() || old.intent == new.intent);
    assert!(new.steps.len() >= old.steps.len());
    for (old, new) in old.steps.iter().zip(&new.steps) {
        along(STEP, old.status().as_str(), new.status().as_str());
        grows(&old.statuses, &new.statuses);
        grows(&old.iframes, &new.iframes);
        grows(&old.oframes, &new.oframes);
        assert_eq!(
            (&old.description, &old.inputs),
            (&new.description, &new.inputs)
        );
        assert!(
            old.task.is_none() || old.task == new.task,
            "a step has at most one task"
        );
    }
}

fn task(old: &TaskView, new: &TaskView) {
    assert_eq!(
        (&old.title, old.parent, old.intent),
        (&new.title, new.parent, new.intent)
    );
    along(TASK, old.status().name(), new.status().name());
    grows(&old.runs, &new.runs);
    grows(&old.dependencies, &new.dependencies);
    grows(&old.constraints, &new.constraints);
    grows(&old.acceptance_criteria, &new.acceptance_criteria);
}

fn run(old: &RunView, new: &RunView) {
    let fixed = |view: &RunView| (view.task, view.plan, view.commit, view.reverts);
    assert_eq!(fixed(old), fixed(new));
    assert_eq!(old.environment, new.environment);
    along(RUN, old.status().name(), new.status().name());
    grows(&old.patchsets, &new.patchsets);
    assert!(old.snapshot.is_none() || old.snapshot == new.snapshot);
}

fn patch_set(old: &PatchSetView, new: &PatchSetView) {
    assert_eq!(
        (old.run, old.commit, old.format),
        (new.run, new.commit, new.format)
    );
    assert_eq!((&old.artifact, &old.touched), (&new.artifact, &new.touched));
    along(PATCH_SET, old.status().as_str(), new.status().as_str());
}

fn snapshot(old: &ContextSnapshotView, new: &ContextSnapshotView) {
    assert_eq!(old.selection_strategy, new.selection_strategy);
    if old.finalized {
        assert!(new.finalized);
        assert_eq!((&old.items, &old.summary), (&new.items, &new.summary));
    }
    assert!(new.items.len() >= old.items.len());
    for (old, new) in old.items.iter().zip(&new.items) {
        assert_eq!(
            (old.index, &old.kind, &old.path),
            (new.index, &new.kind, &new.path)
        );
        assert!(old.blob.is_none() || new.blob.is_some());
    }
    let has_blob = |item: &ContextItem| item.blob.is_some() || item.content.is_some();
    let complete = new.items.iter().all(has_blob);
    assert!(!new.finalized || complete, "finalized without a blob");
}

fn pipeline(old: &ContextPipelineView, new: &ContextPipelineView) {
    assert!(old.next_frame_id <= new.next_frame_id);
    grows(&old.evicted, &new.evicted);
    let numbers: Vec<_> = new.frames().map(|frame| frame.frame_id).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next), "{numbers:?}");
    assert!(numbers.last().is_none_or(|last| *last < new.next_frame_id));
    for frame in new.frames() {
        let known = old.frame_by_id(frame.frame_id);
        let pushed_now = frame.frame_id >= old.next_frame_id;
        assert!(
            pushed_now || known == Some(frame),
            "an evicted frame came back, or one changed"
        );
    }
}

fn session(old: &SessionView, new: &SessionView) {
    assert_eq!(old.config, new.config);
    along(SESSION, old.status().as_str(), new.status().as_str());
    grows(&old.artifacts, &new.artifacts);
    grows(&old.conflicts, &new.conflicts);
}
