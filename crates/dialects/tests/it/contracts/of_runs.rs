//! What a session's stream shows of the runs that are attached to it.

use annals::{Annals, Request};
use annals_dialects::contracts::{Commands, Style, export};
use annals_domain::{ActorRef, Command, SessionId};
use annals_event_log::Position;
use futures::executor::block_on;
use serde_json::{Value, json};
use uuid::Uuid;

const fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(0xa_0000_0000_0000 + number)
}

const PLAN: Uuid = uuid(1);
const RUN: Uuid = uuid(2);
const FIRST: Uuid = uuid(3);
const SECOND: Uuid = uuid(4);
const SESSION: Uuid = uuid(5);

fn execute(annals: &Annals, name: &str, fields: Value) {
    let command = Command::from_json(name, &fields.to_string()).expect("a command");
    let request = Request::new(ActorRef::human("ada"), command);
    block_on(annals.execute(request)).expect("it is done");
}

/// A session whose run executes a plan; the first of its steps has its task.
fn story(steps: &[Value]) -> Annals {
    let annals = block_on(Annals::open("memory:")).expect("a log");
    execute(
        &annals,
        "create_task",
        json!({ "id": FIRST, "title": "write the parser" }),
    );
    execute(
        &annals,
        "create_plan",
        json!({ "id": PLAN, "steps": steps }),
    );
    execute(
        &annals,
        "create_run",
        json!({ "id": RUN, "task": FIRST, "plan": PLAN }),
    );
    let config = json!({
        "sessionId": SESSION,
        "policy": { "name": "any" },
        "repo": { "name": "app", "path": "/app" },
        "workspace": { "path": "/work" },
        "agentProfile": "coder",
    });
    execute(&annals, "create_session", json!({ "config": config }));
    annals
}

/// The objects of one kind of the session's stream.
fn shown(annals: &Annals, kind: &str) -> Vec<Value> {
    let mut objects = Vec::new();
    let done: Result<(), annals::LoadError> = block_on(export(
        annals,
        SessionId(SESSION),
        Commands::Adopted,
        Position(u64::MAX),
        |shown| {
            let text = shown.object.write(Style::Compact).expect("JSON");
            let object: Value = serde_json::from_str(&text).expect("JSON");
            if object["kind"] == kind {
                objects.push(object);
            }
            Ok(())
        },
    ));
    done.expect("the stream");
    objects
}

/// The plans of the session's stream: each node's id, title and dependencies.
fn plans(annals: &Annals) -> Vec<Value> {
    let short = |node: &Value| json!([node["id"], node["title"], node["dependsOn"]]);
    let plan = |object: &Value| -> Value {
        let nodes = object["plan"]["nodes"].as_array().expect("nodes");
        nodes.iter().map(short).collect()
    };
    shown(annals, "PlanUpdated").iter().map(plan).collect()
}

/// The artifacts of the session's stream.
fn artifacts(annals: &Annals) -> Vec<Value> {
    let objects = shown(annals, "ArtifactAvailable");
    objects.iter().map(|it| it["artifact"].clone()).collect()
}

/// A session with its run, which is patching.
fn patching() -> Annals {
    let annals = story(&[json!({ "description": "parse", "task": FIRST })]);
    let attach = json!({ "session": SESSION, "run": RUN });
    execute(&annals, "attach_run", attach);
    execute(&annals, "start_patching", json!({ "run": RUN }));
    annals
}

#[test]
fn the_plan_of_an_attached_run_is_the_sessions_plan_and_its_tasks_are_nodes() {
    let annals = story(&[
        json!({ "description": "parse", "task": FIRST }),
        json!({ "description": "print" }),
    ]);
    assert_eq!(plans(&annals), Vec::<Value>::new());
    let attach = json!({ "session": SESSION, "run": RUN });
    execute(&annals, "attach_run", attach.clone());
    let attached = json!([[FIRST, "write the parser", []], ["step-1", "print", []]]);
    assert_eq!(plans(&annals), vec![attached.clone()]);
    let spawn = json!({ "plan": PLAN, "step": 1, "id": SECOND, "title": "print it" });
    execute(&annals, "spawn_step_task", spawn);
    execute(
        &annals,
        "add_dependency",
        json!({ "task": SECOND, "dependency": FIRST }),
    );
    let with_task = json!([[FIRST, "write the parser", []], [SECOND, "print it", []]]);
    let after = json!([
        [FIRST, "write the parser", []],
        [SECOND, "print it", [FIRST]]
    ]);
    assert_eq!(
        plans(&annals),
        [attached.clone(), with_task.clone(), after.clone()]
    );
    // The session's own plan counts from here on.
    let own = json!({ "session": SESSION, "plan": { "nodes": [{ "id": "a", "title": "all" }] } });
    execute(&annals, "update_plan", own);
    let step = json!({ "plan": PLAN, "step": { "description": "ship" } });
    execute(&annals, "add_step", step);
    let all = json!([["a", "all", []]]);
    assert_eq!(plans(&annals), [attached, with_task, after, all]);
}

#[test]
fn of_two_steps_with_one_task_the_first_is_its_node() {
    let annals = story(&[
        json!({ "description": "parse", "task": FIRST }),
        json!({ "description": "parse more", "task": FIRST }),
    ]);
    let attach = json!({ "session": SESSION, "run": RUN });
    execute(&annals, "attach_run", attach);
    let step = json!({ "description": "and more", "task": FIRST });
    execute(&annals, "add_step", json!({ "plan": PLAN, "step": step }));
    let first = [FIRST.to_string(), "write the parser".to_owned()];
    let two = json!([[first[0], first[1], []], ["step-1", "parse more", []]]);
    let three = json!([
        [first[0], first[1], []],
        ["step-1", "parse more", []],
        ["step-2", "and more", []]
    ]);
    assert_eq!(plans(&annals), [two, three]);
}

#[test]
fn evidence_and_the_failure_of_an_attached_run_are_artifacts() {
    let annals = patching();
    for (kind, tool, summary) in [
        ("test", "cargo", "2 passed"),
        ("rebase", "git", "both changed a.rs"),
        ("lint", "clippy", "fine"),
    ] {
        let evidence = json!({ "run": RUN, "kind": kind, "tool": tool, "summary": summary });
        execute(&annals, "record_evidence", evidence);
    }
    let failure = json!({ "run": RUN, "error": "no disk" });
    execute(&annals, "fail_run", failure);
    let found = artifacts(&annals);
    assert_eq!(
        found[..2],
        [
            json!({ "kind": "TestResults", "name": "cargo", "inlineText": "2 passed" }),
            json!({ "kind": "TestResults", "name": "clippy", "inlineText": "fine" }),
        ]
    );
    assert_eq!(found.len(), 3);
    assert_eq!(
        (&found[2]["kind"], &found[2]["inlineText"]),
        (&json!("ErrorReport"), &json!("no disk"))
    );
}

#[test]
fn a_patch_stands_in_the_stream_if_it_is_a_text_of_at_most_1_mib() {
    const MIB: usize = 1024 * 1024;
    let annals = patching();
    for diff in [
        json!("+b\n"),
        json!("+".repeat(MIB)),
        json!("+".repeat(MIB + 1)),
        json!({ "hex": "ff00" }),
    ] {
        let patch = json!({ "run": RUN, "format": "unified_diff", "diff": diff });
        execute(&annals, "propose_patch_set", patch);
    }
    let found = artifacts(&annals);
    let length = |it: &Value| it["inlineText"].as_str().map(str::len);
    let lengths: Vec<Option<usize>> = found.iter().map(length).collect();
    assert_eq!(lengths, [Some(3), Some(MIB), None, None]);
    assert!(found.iter().all(|it| it["kind"] == "Patch"));
}
