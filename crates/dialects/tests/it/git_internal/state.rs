//! Objects in states that no decider of ours would lead to, and what follows.

use annals::{Annals, ExecuteError, Request};
use annals_domain::intent::{CancelIntent, CompleteIntent};
use annals_domain::pipeline::{FrameKind, PushFrame};
use annals_domain::plan::{AddStep, CreatePlan, NewStep};
use annals_domain::run::{CreateRun, Decide, DecisionType, RecordUsage, StartValidation};
use annals_domain::snapshot::{AddItem, ContextItemKind, FinalizeSnapshot, NewItem};
use annals_domain::{ActorRef, GitOid, IntentId, PipelineId, PlanId, RunId, SnapshotId, TaskId};
use annals_projections::{ContextPipelineView, IntentView, RunView};
use futures::executor::block_on;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{export, import_text, log};

pub fn id(number: u128) -> Uuid {
    Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0000 | number)
}

/// An object with a header, as JSON.
pub fn object(kind: &str, number: u128, body: Value) -> Value {
    let mut object = json!({
        "object_id": id(number), "object_type": kind, "schema_version": 1,
        "created_at": "2026-01-02T03:04:05Z", "created_by": { "kind": "human", "id": "a" },
    });
    let fields = object.as_object_mut().unwrap();
    fields.extend(body.as_object().unwrap().clone());
    object
}

pub fn lines(objects: &[Value]) -> String {
    objects.iter().map(|object| format!("{object}\n")).collect()
}

fn me() -> ActorRef {
    ActorRef::human("me")
}

pub const COMMIT: &str = "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a";

/// What is said against each object, by the last digit of its id.
fn violations(objects: &[Value]) -> Vec<(u128, String)> {
    let log = log();
    let report = import_text(&log, lines(objects));
    assert_eq!(report.imported, objects.len() as u64, "{report}");
    let number = |id: Uuid| id.as_u128() & 0xffff;
    report
        .violations
        .iter()
        .flat_map(|one| {
            one.violations
                .iter()
                .map(|said| (number(one.object_id), said.clone()))
        })
        .collect()
}

pub fn check(objects: &[Value], expected: &[(u128, &str)]) {
    let found = violations(objects);
    let found: Vec<(u128, &str)> = found
        .iter()
        .map(|(id, said)| (*id, said.as_str()))
        .collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found.0, expected.0, "{found:?}");
        assert!(found.1.contains(expected.1), "{found:?} {expected:?}");
    }
}

pub fn statuses(words: &[&str]) -> Value {
    let entry = |word| json!({ "status": word, "changed_at": "2026-01-02T03:04:05Z" });
    words.iter().map(entry).collect()
}

#[test]
fn nothing_is_said_against_a_good_history() {
    let objects = [
        object(
            "intent",
            1,
            json!({ "prompt": "p", "content": "c", "plan": id(2),
            "statuses": statuses(&["draft", "active", "completed"]) }),
        ),
        object(
            "context_pipeline",
            9,
            json!({ "frames": [], "next_frame_id": 3, "max_frames": 0 }),
        ),
        object(
            "plan",
            2,
            json!({ "pipeline": id(9), "fwindow": [0, 2], "steps": [{
            "description": "d", "iframes": [0, 2], "task": id(3),
            "statuses": statuses(&["pending", "progressing", "completed"]) }] }),
        ),
        object(
            "task",
            3,
            json!({ "title": "t", "intent": id(1), "runs": [id(4)], "status": "done" }),
        ),
        object(
            "run",
            4,
            json!({ "task": id(3), "plan": id(2), "commit": COMMIT,
            "status": "completed", "snapshot": id(10), "patchsets": [id(5)] }),
        ),
        object(
            "patch_set",
            5,
            json!({ "run": id(4), "commit": COMMIT, "format": "git_diff",
            "touched": [], "apply_status": "applied" }),
        ),
        object(
            "evidence",
            6,
            json!({ "run_id": id(4), "patchset_id": id(5), "kind": "test",
            "tool": "cargo" }),
        ),
        object(
            "decision",
            7,
            json!({ "run_id": id(4), "decision_type": "commit",
            "chosen_patchset_id": id(5), "result_commit_sha": COMMIT }),
        ),
        object(
            "provenance",
            8,
            json!({ "run_id": id(4), "provider": "local", "model": "m",
            "token_usage": { "input_tokens": 1, "output_tokens": 2, "total_tokens": 3 } }),
        ),
        object(
            "context_snapshot",
            10,
            json!({ "selection_strategy": "explicit" }),
        ),
        object(
            "tool_invocation",
            11,
            json!({ "run_id": id(4), "tool_name": "bash", "status": "ok" }),
        ),
    ];
    check(&objects, &[]);
}

#[test]
fn histories_that_no_rule_allows_are_adopted_and_said() {
    check(
        &[
            object(
                "intent",
                1,
                json!({ "prompt": " ", "statuses": statuses(&["completed", "draft"]) }),
            ),
            object(
                "plan",
                2,
                json!({ "fwindow": [3, 1], "steps": [{ "description": "d",
                "iframes": [1, 1], "statuses": [] }] }),
            ),
            object(
                "task",
                3,
                json!({ "title": "x".repeat(100), "status": "done" }),
            ),
        ],
        &[
            (1, "prompt: it is blank"),
            (1, "statuses: the first one is completed"),
            (1, "statuses: completed -> draft is no transition"),
            (2, "fwindow: [3, 1] is no range"),
            (2, "fwindow: it is a range of no pipeline"),
            (2, "steps[0].statuses: there is none"),
            (2, "steps[0].iframes: 1 stands there twice"),
            (2, "steps[0].iframes: they are frames of no pipeline"),
            (3, "title: it has 100 characters"),
            (3, "status: it is done without a run"),
        ],
    );
}

#[test]
fn links_to_nobody_and_to_other_kinds_are_said() {
    check(
        &[
            object(
                "task",
                1,
                json!({ "title": "t", "intent": id(2), "status": "draft" }),
            ),
            object(
                "evidence",
                2,
                json!({ "run_id": id(99), "kind": "test", "tool": "t" }),
            ),
            object(
                "run",
                3,
                json!({ "task": id(1), "commit": COMMIT, "status": "created" }),
            ),
        ],
        &[
            (
                1,
                "intent: 0198c0de-0000-7000-8000-000000000002 is of the kind evidence, not intent",
            ),
            (
                2,
                "run_id: there is no run 0198c0de-0000-7000-8000-000000000063",
            ),
            (3, "task: the task's runs do not have this one"),
        ],
    );
}

#[test]
fn cycles_are_said_and_do_no_harm() {
    let task = |number, parent, dependency| {
        object(
            "task",
            number,
            json!({ "title": "t", "parent": id(parent),
            "dependencies": [id(dependency)], "status": "draft" }),
        )
    };
    let objects = [
        task(1, 2, 3),
        task(2, 1, 1),
        task(3, 3, 2),
        object(
            "intent",
            4,
            json!({
        "prompt": "p", "parent": id(4), "statuses": statuses(&["draft"]) }),
        ),
    ];
    let found = violations(&objects);
    let said = |number| found.iter().filter(|(id, _)| *id == number).count();
    assert_eq!(
        (said(1), said(2), said(3), said(4)),
        (2, 2, 2, 1),
        "{found:#?}"
    );
    assert!(
        found[1].1.contains("they lead back to the task"),
        "{found:#?}"
    );
}

#[test]
fn a_circle_of_any_length_is_said() {
    let intent = |number: u128| {
        let parent = id(if number == 1_500 { 1 } else { number + 1 });
        let fields = json!({ "prompt": "p", "parent": parent, "statuses": statuses(&["draft"]) });
        object("intent", number, fields)
    };
    let log = log();
    let all: Vec<_> = (1..=1_500).map(intent).collect();
    let report = import_text(&log, lines(&all));
    assert_eq!(report.violations_count, 1_500);
    let said = &report.violations[0].violations;
    assert!(
        said[0].contains("in a circle among 1500 objects"),
        "{said:?}"
    );
}

#[test]
fn a_decision_names_no_short_commit() {
    let fields = json!({ "run_id": id(2), "decision_type": "abandon",
        "result_commit_sha": "0123456789012345678901234567890123456789" });
    let found = violations(&[object("decision", 1, fields)]);
    let said = "result_commit_sha: it is a SHA-1, not a SHA-256";
    assert!(found.iter().any(|(_, it)| it == said), "{found:#?}");
}

#[test]
fn totals_that_do_not_add_up_stay_as_they_are() {
    let tokens = json!({ "input_tokens": 1, "output_tokens": 2, "total_tokens": 7 });
    let provenance = object(
        "provenance",
        1,
        json!({ "run_id": id(2), "provider": "p",
        "model": "m", "token_usage": tokens }),
    );
    let log = log();
    let report = import_text(&log, lines(&[provenance]));
    let said = &report.violations[0].violations;
    assert!(said[0].contains("it is 7, not the sum 3"), "{said:?}");
    assert!(export(&log)[0].json.contains("\"total_tokens\":7"));
}

fn execute(log: &Annals, command: impl Into<annals_domain::Command>) -> Result<(), ExecuteError> {
    let executed = block_on(log.execute(Request::new(me(), command)));
    executed.map(|_| ())
}

/// From the adopted state on, our deciders apply; what was kept as a fact of
/// the other system ends with our first event.
#[test]
fn our_rules_apply_from_there_on() {
    let log = log();
    let sealed = json!({ "prompt": "p", "checksum": COMMIT, "updated_at": "2026-02-02T03:04:05Z",
        "schema_version": 7, "statuses": statuses(&["completed", "draft"]) });
    let objects = [
        object("intent", 1, sealed),
        object(
            "run",
            2,
            json!({ "task": id(3), "commit": COMMIT, "status": "patching" }),
        ),
        object("task", 3, json!({ "title": "t", "status": "running" })),
        object(
            "context_pipeline",
            4,
            json!({ "next_frame_id": 2, "max_frames": 1, "frames": [
            { "frame_id": 7, "kind": "checkpoint", "summary": "s", "created_at": "2026-01-02T03:04:05Z" },
            { "frame_id": 1, "kind": "tool_call", "summary": "s", "created_at": "2026-01-02T03:04:05Z" },
        ] }),
        ),
    ];
    import_text(&log, lines(&objects));
    let intent = IntentId(id(1));
    let cancel = CancelIntent::new(intent);
    execute(&log, cancel.clone()).unwrap();
    let view: IntentView = block_on(log.get(intent)).unwrap();
    assert_eq!(view.statuses.len(), 3);
    assert_eq!(
        (view.header.schema_version, view.header.checksum),
        (1, None)
    );
    let refused = execute(&log, cancel).unwrap_err().to_string();
    assert!(refused.contains("cancelled"));

    let run = RunId(id(2));
    execute(&log, StartValidation::new(run)).unwrap();
    execute(&log, Decide::new(run, DecisionType::Abandon)).unwrap();
    let view: RunView = block_on(log.get(run)).unwrap();
    assert_eq!(view.status().name(), "completed");

    let pipeline = PipelineId(id(4));
    let push = PushFrame::new(pipeline, FrameKind::ToolCall, "new");
    execute(&log, push).unwrap();
    let view: ContextPipelineView = block_on(log.get(pipeline)).unwrap();
    let numbers: Vec<u64> = view.frames().map(|frame| frame.frame_id.0).collect();
    // 8 is new, since 7 was there; the checkpoint is protected, the rest goes.
    assert_eq!((numbers, view.next_frame_id.0), (vec![7], 9));
}

/// Plans and tasks that came are work on the intent that they came with, in any order,
/// and its line of revisions goes on from its end alone.
#[test]
fn imported_plans_and_tasks_are_work_on_the_intents_that_they_came_with() {
    let log = log();
    let plan = |number, previous: Option<u128>, task: Option<u128>| {
        let step =
            json!({ "description": "d", "task": task.map(id), "statuses": statuses(&["pending"]) });
        object(
            "plan",
            number,
            json!({ "previous": previous.map(id), "steps": [step] }),
        )
    };
    let intent = |number, plan, last: &[&str]| {
        let body =
            json!({ "prompt": "p", "content": "c", "plan": id(plan), "statuses": statuses(last) });
        object("intent", number, body)
    };
    let task = |number, of: Option<u128>| {
        let body = json!({ "title": "t", "status": "draft", "intent": of.map(id) });
        object("task", number, body)
    };
    let objects = [
        plan(12, Some(11), None),
        intent(1, 12, &["draft", "active"]),
        plan(11, None, Some(21)),
        task(21, None),
        task(22, Some(1)),
        intent(2, 13, &["draft", "active", "cancelled"]),
        plan(13, None, Some(23)),
        task(23, None),
    ];
    import_text(&log, lines(&objects));
    let refused = |command: annals_domain::Command| {
        let name = command.name();
        let refused = execute(&log, command).expect_err(name);
        refused.to_string()
    };
    // Of the cancelled one nothing begins.
    let run = CreateRun::new(TaskId(id(23)));
    assert!(refused(run.into()).contains("cancelled"));
    let step = AddStep::new(PlanId(id(13)), NewStep::new("more"));
    assert!(refused(step.into()).contains("cancelled"));
    // The active one is completed after its tasks.
    let complete = CompleteIntent::new(IntentId(id(1)));
    let said = refused(complete.clone().into());
    for number in [21, 22] {
        assert!(said.contains(&id(number).to_string()), "{number}: {said}");
    }
    // Its line goes on from the end, and not from another plan that follows the same one.
    let ours = PlanId(id(14));
    let revise = |new: u128, previous: u128| {
        CreatePlan::default()
            .with_id(PlanId(id(new)))
            .with_previous(PlanId(id(previous)))
    };
    assert!(refused(revise(14, 11).into()).contains(&id(12).to_string()));
    execute(&log, revise(14, 12)).unwrap();
    let view: IntentView = block_on(log.get(IntentId(id(1)))).unwrap();
    assert_eq!(view.plan, Some(ours));
    import_text(&log, lines(&[plan(15, Some(12), None)]));
    let said = refused(revise(16, 15).into());
    assert!(said.contains(&ours.to_string()), "{said}");
    execute(&log, revise(16, 14)).unwrap();
    let complete = complete.with_abandon_open(true);
    execute(&log, complete).unwrap();
}

/// Tokens that are used here count on top of those that came, and what comes after them is not written
/// into their run.
#[test]
fn an_adopted_provenance_is_as_it_came() {
    let log = log();
    let run = RunId(id(2));
    let usage = RecordUsage::new(run, 10, 5);
    let tokens = json!({ "input_tokens": 1, "output_tokens": 1, "total_tokens": 2 });
    let provenance = object(
        "provenance",
        1,
        json!({ "run_id": run, "provider": "p",
        "model": "m", "token_usage": tokens }),
    );
    let of_run = json!({ "task": id(3), "commit": COMMIT, "status": "patching" });
    import_text(&log, lines(&[object("run", 2, of_run), provenance.clone()]));
    let json = || block_on(log.view(id(1))).unwrap().to_json().unwrap();
    assert!(json().contains("\"total_tokens\":2"), "{}", json());
    execute(&log, usage).unwrap();
    assert!(json().contains("\"total_tokens\":17"), "{}", json());
    // It is not as it came any more, and is not taken again.
    let again = import_text(&log, lines(&[provenance]));
    assert_eq!((again.imported, again.broken.len()), (0, 1), "{again}");
    let evidence = json!({ "run_id": run, "kind": "test", "tool": "cargo" });
    let report = import_text(&log, lines(&[object("evidence", 4, evidence)]));
    assert!(
        report.broken[0]
            .reason
            .contains("would be written into run-"),
        "{report}"
    );
}

#[test]
fn the_versions_of_an_adopted_object_are_its_own_until_our_first_event() {
    let log = log();
    let fields = json!({ "prompt": "p", "header_version": 3, "schema_version": 7, "statuses": [] });
    import_text(&log, lines(&[object("intent", 1, fields)]));
    let intent = IntentId(id(1));
    let versions = || {
        let view: IntentView = block_on(log.get(intent)).unwrap();
        (view.header.header_version, view.header.schema_version)
    };
    assert_eq!(versions(), (3, 7));
    let reason = None;
    execute(&log, CancelIntent::new(intent).with_reason(reason)).unwrap();
    assert_eq!(versions(), (1, 1));
}

#[test]
fn an_adopted_snapshot_is_open() {
    let log = log();
    let fields = json!({ "selection_strategy": "explicit" });
    import_text(&log, lines(&[object("context_snapshot", 1, fields)]));
    let snapshot = SnapshotId(id(1));
    let item = NewItem::new(ContextItemKind::File, "a").with_blob(GitOid::Sha1([1; 20]));
    let add = AddItem::new(snapshot, item);
    execute(&log, add.clone()).unwrap();
    let summary = None;
    execute(&log, FinalizeSnapshot::new(snapshot).with_summary(summary)).unwrap();
    assert!(execute(&log, add).is_err(), "it is finalized");
}
