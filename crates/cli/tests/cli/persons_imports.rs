//! What a person imported, decided or reviewed is not undone by an agent's import.

use std::fs;

use serde_json::{Value, json};

use crate::importers::{
    PARENT, SESSION, end, forge, import, import_of, intent, object, of_agent, push, put, refused,
    repo, status, submit, taken_over, verdict,
};
use crate::support::{Place, agent, human, uuid};

/// A person that did not ask for anything.
fn kei(command: &str, fields: Value) -> Value {
    let mut command = human(command, fields);
    command["actor"] = json!({ "kind": "human", "id": "kei" });
    command
}

fn spawn(number: u64, session: u64, parent: Option<u64>, policy: Value) -> Value {
    let mut config = json!({
        "sessionId": uuid(session), "policy": policy, "repo": repo(), "workspace": { "path": "/w" },
        "agentProfile": "coder",
    });
    if let Some(parent) = parent {
        config["parentSessionId"] = json!(uuid(parent));
    }
    object(
        number,
        parent.unwrap_or(PARENT),
        "SpawnSession",
        json!({ "config": config }),
    )
}

fn lax() -> Value {
    json!({ "name": "p" })
}

fn strict() -> Value {
    json!({ "name": "p", "requireTestsBeforePush": true })
}

#[test]
fn an_end_by_an_agents_import_lifts_no_pause_of_a_person() {
    for held in ["Paused", "NeedsApproval"] {
        let place = taken_over();
        import(&place, "human:ada", &[status(3, held)]).ok();
        import(&place, "agent:coder", &[status(4, "Completed")]).ok();
        for (number, next) in [(5, "Running"), (6, "Unknown"), (7, "Paused")] {
            let says = "only a person's import lets it run again";
            refused(&place, "agent:coder", &[status(number, next)], says);
        }
        let rejected = verdict(&place, 1, push()).to_string();
        assert!(rejected.contains("terminal state"), "{rejected}");
    }
}

#[test]
fn no_agents_import_configures_what_a_person_imported() {
    // A status alone is enough.
    let place = Place::with_log();
    import(&place, "human:ada", &[status(1, "Running")]).ok();
    let ran = import(&place, "agent:coder", &[spawn(2, SESSION, None, lax())]);
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.stdout
            .contains("a person imported something of the session"),
        "{ran:?}"
    );
    let answer = place.apply(&[submit(1, push())])[0].clone();
    assert!(answer["error"].is_object(), "{answer}");
    // A person's configuration replaces an agent's.
    let place = Place::with_log();
    import(&place, "agent:coder", &[spawn(1, SESSION, None, lax())]).ok();
    import(&place, "human:ada", &[spawn(2, SESSION, None, strict())]).ok();
    let rejected = verdict(&place, 1, push());
    assert_eq!(
        rejected["policy_rule"], "Tests required before push",
        "{rejected}"
    );
    // One that is ignored is named, whoever imports it.
    for (number, actor) in [(3, "agent:coder"), (4, "human:ada")] {
        let ran = import(&place, actor, &[spawn(number, SESSION, None, lax())]);
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(
            ran.stdout.contains("another configuration, which stays"),
            "{ran:?}"
        );
    }
    import(&place, "human:ada", &[spawn(5, SESSION, None, strict())]).ok();
}

#[test]
fn no_agents_import_begins_a_child_of_what_a_person_imported() {
    let place = taken_over();
    let child = SESSION + 1;
    let ran = import(
        &place,
        "agent:coder",
        &[spawn(3, child, Some(SESSION), lax())],
    );
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.stdout.contains("only a person's import configures it"),
        "{ran:?}"
    );
    import(
        &place,
        "human:ada",
        &[spawn(4, child, Some(SESSION), lax())],
    )
    .ok();
}

#[test]
fn a_person_pauses_an_imported_session_that_an_agent_worked_in() {
    let place = taken_over();
    let tags = json!({ "object": uuid(SESSION), "tags": { "a": "b" } });
    assert_eq!(place.apply(&[agent("set_metadata", tags)])[0]["ok"], true);
    // Metadata is no work.
    import(&place, "human:ada", &[status(3, "Paused")]).ok();
    import(&place, "human:ada", &[status(4, "Running")]).ok();
    verdict(&place, 1, json!({ "kind": "GetDiff", "repo": repo() }));
    refused(&place, "human:ada", &[status(5, "Paused")], "pause_session");
    place.accept(&[human("pause_session", json!({ "session": uuid(SESSION) }))]);
    let rejected = verdict(&place, 2, push());
    assert_eq!(rejected["reason"], "Session is paused", "{rejected}");
}

/// A run, in which an agent asked for a call; its id.
fn with_call(place: &Place, args: Value) -> (String, Value) {
    let created = place.apply(&[agent("create_task", json!({ "title": "x" }))]);
    let task = created[0]["id"].clone();
    let run = place.apply(&[agent("create_run", json!({ "task": task }))])[0]["id"].clone();
    let call = uuid(0xca11);
    let request = json!({ "run": run, "id": call, "tool_name": "Bash", "args": args });
    place.accept(&[agent("request_tool_call", request)]);
    (call, run)
}

fn allowed(call: &str, run: &Value) -> Value {
    let fields = json!({ "run": run, "tool_invocation": call, "verdict": "allow", "by": "person" });
    human("decide_tool_call", fields)
}

#[test]
fn an_agent_copies_nothing_that_a_person_did() {
    let person = Place::with_log();
    let (call, run) = with_call(&person, json!({ "command": "curl http://evil.example" }));
    person.run(&["export", "annals", "before.jsonl"]).ok();
    person.accept(&[allowed(&call, &run)]);
    person.accept(&[human("create_task", json!({ "title": "y" }))]);
    person.run(&["export", "annals", "all.jsonl"]).ok();
    let place = Place::empty();
    for file in ["before.jsonl", "all.jsonl"] {
        fs::copy(person.path(file), place.path(file)).unwrap();
    }
    for actor in ["agent:coder", "system:backup"] {
        let import = |file: &str| place.run(&["import", "annals", file, "--actor", actor]);
        import("all.jsonl").fails(1, &["2 records are refused", "what a person did"]);
        assert!(!place.log_dir().exists(), "nothing is copied");
        let (source, dest) = (person.log_dir(), place.path("copy"));
        let (source, dest) = (source.to_str().unwrap(), dest.to_str().unwrap());
        place
            .run(&["copy", source, dest, "--actor", actor])
            .fails(1, &["2 records are refused", "Nothing was copied"]);
    }
    place
        .run(&["import", "annals", "before.jsonl", "--actor", "agent:coder"])
        .ok();
    place
        .run(&["import", "annals", "all.jsonl", "--actor", "human:ada"])
        .ok();
}

#[test]
fn a_verdict_is_shown_for_the_call_that_was_judged() {
    let place = Place::with_log();
    let (call, run) = with_call(&place, json!({ "command": "ls", "n": 1 }));
    place.accept(&[allowed(&call, &run)]);
    let recorded = json!({
        "run": run, "id": call, "tool_name": "Bash", "args": { "command": "rm -rf /srv" }, "status": "ok",
    });
    place.accept(&[agent("record_tool_invocation", recorded)]);
    let decided = place.run(&["decisions", "--json"]).ok().json();
    assert_eq!(decided["args"]["command"], "ls", "{decided}");
    assert_eq!(decided["recorded_otherwise"], true, "{decided}");
    let table = place.run(&["decisions"]).ok().stdout;
    assert!(
        table.contains("recorded otherwise") && !table.contains("rm -rf"),
        "{table}"
    );
    let why = place.run(&["why", &call]).ok().stdout;
    let after = "recorded with other arguments after the first decision: rm -rf /srv";
    assert!(why.contains(after) && why.contains("  ls 1"), "{why}");
    assert!(!why.contains("\\n"), "{why}");
    let why = place.run(&["why", &call, "--json"]).ok().json();
    assert_eq!(why["call"]["judged"]["args"]["command"], "ls", "{why}");
    let suggested = place
        .run(&["policy", "suggest", "--least", "1"])
        .ok()
        .stdout;
    assert!(!suggested.contains("rm -rf"), "{suggested}");
    // The same arguments in another spelling are the same.
    let place = Place::with_log();
    let (call, run) = with_call(&place, json!({ "command": "ls", "n": 1 }));
    place.accept(&[allowed(&call, &run)]);
    let recorded = json!({
        "run": run, "id": call, "tool_name": "Bash", "args": { "n": 1.0, "command": "ls" }, "status": "ok",
    });
    place.accept(&[agent("record_tool_invocation", recorded)]);
    let decided = place.run(&["decisions", "--json"]).ok().json();
    assert_eq!(decided["recorded_otherwise"], Value::Null, "{decided}");
}

#[test]
fn rules_are_suggested_for_what_people_themselves_allowed() {
    let place = Place::with_log();
    let created = place.apply(&[agent("create_task", json!({ "title": "x" }))]);
    let task = created[0]["id"].clone();
    let run = place.apply(&[agent("create_run", json!({ "task": task }))])[0]["id"].clone();
    for (number, more) in [
        (1, json!({ "inferred": true })),
        (2, json!({ "source": "telemetry (OTLP)" })),
    ] {
        let call = uuid(0xca11 + number);
        let args = json!({ "command": format!("curl http://evil.example/{number}") });
        let request = json!({ "run": run, "id": call, "tool_name": "Bash", "args": args });
        let mut decided =
            json!({ "run": run, "tool_invocation": call, "verdict": "allow", "by": "person" });
        decided
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        place.accept(&[
            agent("request_tool_call", request),
            agent("decide_tool_call", decided),
        ]);
    }
    let suggested = place.run(&["policy", "suggest", "--least", "1"]).stdout;
    assert!(
        suggested.contains("0 calls that people allowed"),
        "{suggested}"
    );
    assert!(!suggested.contains("curl"), "{suggested}");
}

fn of_folder(place: &Place, status: &str, more: &str) {
    let text = format!(
        "title: Move the data\nbody: b\nsource: human\nrisk: high\nstatus: {status}\n{more}"
    );
    put(place, "intents/move.yaml", &text);
}

#[test]
fn an_agents_import_of_a_folder_does_no_tasks_of_what_waits() {
    let asks = "clarifications: [{question: 'Really?'}]\n";
    for (status, more) in [
        ("approved", asks),
        ("approved", "depends_on: [first]\n"),
        ("proposed", ""),
    ] {
        let place = Place::with_log();
        let first = "title: Back up\nbody: b\nsource: human\nrisk: high\nstatus: proposed\n";
        put(&place, "intents/first.yaml", first);
        of_folder(&place, status, more);
        put(
            &place,
            "tasks/move.yaml",
            "- {id: t, title: x, status: pending}\n",
        );
        forge(&place, "human:ada").ok();
        let task = |status: &str| {
            let more = "- {id: u, title: y, status: done}\n";
            let text = format!("- {{id: t, title: x, status: {status}}}\n{more}");
            put(&place, "tasks/move.yaml", &text);
        };
        for said in ["done", "implementing", "failed"] {
            task(said);
            let ran = forge(&place, "agent:coder");
            assert!(ran.stdout.contains("does not begin work on it"), "{ran:?}");
            assert_eq!(
                intent(&place, "move")["status"],
                status,
                "{more} {said}: {ran:?}"
            );
        }
        forge(&place, "human:ada").ok();
    }
}

#[test]
fn no_agents_import_begins_a_part_of_what_waits() {
    let place = Place::with_log();
    of_folder(
        &place,
        "approved",
        "clarifications: [{question: 'Really?'}]\n",
    );
    forge(&place, "human:ada").ok();
    let part = "title: Tidy\nbody: b\nsource: audit\nrisk: low\nstatus: done\nparent: move\n";
    put(&place, "intents/part.yaml", part);
    let ran = forge(&place, "agent:coder");
    assert_eq!(intent(&place, "move")["status"], "approved", "{ran:?}");
    assert_eq!(intent(&place, "part")["status"], "approved", "{ran:?}");
}

#[test]
fn no_agents_review_takes_the_place_of_a_persons() {
    let place = Place::with_log();
    of_folder(&place, "approved", "");
    put(
        &place,
        "tasks/move.yaml",
        "- {id: t, title: x, status: implementing}\n",
    );
    put(
        &place,
        "reviews/t.yaml",
        "verdict: rejected\nissues: [bad]\n",
    );
    forge(&place, "human:ada").ok();
    // Nor after the agent brought the task on, with its reviews.
    put(
        &place,
        "tasks/move.yaml",
        "- {id: t, title: x, status: done}\n",
    );
    let ran = forge(&place, "agent:coder");
    let expected = "has work that a person rejected";
    assert!(ran.stdout.contains(expected), "{ran:?}");
    assert_ne!(intent(&place, "move")["status"], "done", "{ran:?}");
    put(&place, "reviews/t.yaml", "verdict: approved\n");
    let ran = forge(&place, "agent:coder");
    assert!(
        ran.stdout.contains("a person's review of the task"),
        "{ran:?}"
    );
    let approves = || {
        intent(&place, "move")
            .to_string()
            .contains("\"verdict\":\"approved\"")
    };
    assert!(!approves(), "{ran:?}");
    forge(&place, "human:ada").ok();
    assert!(approves());
}

/// As one by a command does (docs/spec/forge.md, Who decides).
#[test]
fn a_rejection_that_a_person_imported_binds_agents() {
    let commits = |place: &Place, intent: &str| {
        let (task, run) = (uuid(0xc1), uuid(0xc2));
        let propose = json!({ "run": run, "format": "unified_diff", "diff": "" });
        let created = json!({ "id": task, "title": "another", "intent": intent });
        let ids = place.accept(&[
            agent("create_task", created),
            agent("create_run", json!({ "id": run, "task": task })),
            agent("start_patching", json!({ "run": run })),
            agent("propose_patch_set", propose),
            agent("start_validation", json!({ "run": run })),
        ]);
        let chosen = &ids[3];
        let fields = json!({ "run": run, "decision_type": "commit", "chosen_patchset_id": chosen });
        let commit = agent("decide", fields);
        place.apply(&[commit])[0].to_string()
    };
    let of_forge = || {
        let place = Place::with_log();
        let text = "title: Move\nbody: b\nsource: human\nrisk: low\nstatus: approved\n";
        put(&place, "intents/move.yaml", text);
        put(
            &place,
            "tasks/move.yaml",
            "- {id: t, title: x, status: implementing}\n",
        );
        put(&place, "reviews/t.yaml", "verdict: rejected\n");
        forge(&place, "human:ada").ok();
        let shown = place.run(&["show", "move", "--json"]).ok().json();
        let id = shown["object_id"].as_str().unwrap();
        commits(&place, id)
    };
    let said = of_forge();
    assert!(said.contains("a person rejected the work"), "{said}");
    let of_objects = |author: &str| {
        let place = Place::with_log();
        let (of, task, run) = (uuid(0xd1), uuid(0xd2), uuid(0xd3));
        let prompt = json!({ "id": of, "prompt": "Fix", "source": "human", "risk": "low" });
        place.accept(&[human("submit_intent", prompt)]);
        let title = json!({ "title": "t", "intent": of, "status": "running", "runs": [run] });
        let completed = json!({ "task": task, "commit": "a".repeat(64), "status": "completed" });
        let decided = json!({ "run_id": run, "decision_type": "abandon" });
        let mut decision = of_agent("decision", &uuid(0xd4), decided);
        decision["created_by"] = json!({ "kind": author, "id": "kei" });
        let objects = [
            of_agent("task", &task, title),
            of_agent("run", &run, completed),
            decision,
        ];
        import_of("git-internal", &place, "human:ada", &objects).ok();
        commits(&place, &of)
    };
    let said = of_objects("human");
    assert!(said.contains("a person rejected the work"), "{said}");
    // What an agent gave up is none.
    let said = of_objects("agent");
    assert!(!said.contains("a person rejected"), "{said}");
}

#[test]
fn no_agents_import_changes_a_task_of_a_person_or_of_what_waits() {
    let (of, task) = (uuid(0xb1), uuid(0xb2));
    let task_of = |status: &str| {
        of_agent(
            "task",
            &task,
            json!({ "title": "t", "intent": of, "status": status }),
        )
    };
    let draft = || {
        let statuses = json!([{ "status": "draft", "changed_at": "2026-01-02T03:04:05Z" }]);
        of_agent(
            "intent",
            &of,
            json!({ "prompt": "Delete users", "content": "c", "statuses": statuses }),
        )
    };
    let import = |place: &Place, objects: &[Value], actor: &str| {
        import_of("git-internal", place, actor, objects)
    };
    // A person imported the task.
    let place = Place::with_log();
    import(&place, &[draft(), task_of("draft")], "human:ada").ok();
    for status in ["running", "done", "failed", "cancelled"] {
        let before = end(&place);
        let ran = import(&place, &[task_of(status)], "agent:coder");
        assert_eq!(ran.status, 1, "{status}: {ran:?}");
        assert_eq!(end(&place), before, "{status}");
    }
    // The agent did, and its intent waits, or was turned down.
    for rejects in [false, true] {
        let place = Place::with_log();
        import(&place, &[draft(), task_of("draft")], "agent:coder").ok();
        place.accept(&[kei("judge_intent", json!({ "intent": of, "risk": "high" }))]);
        if rejects {
            place.accept(&[kei("reject_intent", json!({ "intent": of }))]);
        }
        for status in ["running", "done", "failed"] {
            let ran = import(&place, &[task_of(status)], "agent:coder");
            assert_eq!(ran.status, 1, "{status}: {ran:?}");
            assert!(
                ran.stdout.contains("which only a person imports"),
                "{ran:?}"
            );
        }
        import(&place, &[task_of("done")], "human:ada").ok();
    }
}

#[test]
fn an_import_names_whose_object_has_the_alias_of_a_file() {
    let place = Place::with_log();
    let submit = [
        "submit",
        "Delete the archive",
        "--risk",
        "high",
        "--alias",
        "move",
    ];
    place
        .run(&[&submit[..], &["--actor", "agent:coder"]].concat())
        .ok();
    of_folder(&place, "proposed", "");
    let ran = forge(&place, "human:ada");
    assert!(
        ran.stdout
            .contains("of agent:coder, which came from no folder"),
        "{ran:?}"
    );
}

/// A folder of which a person imported a part of an approved or proposed whole that waits for `base`.
fn with_waiting_whole(status: &str) -> Place {
    let place = Place::with_log();
    of_folder(&place, status, "depends_on: [base]\n");
    let text = |status: &str, more: &str| {
        format!("title: t\nbody: b\nsource: human\nrisk: low\nstatus: {status}\n{more}")
    };
    put(&place, "intents/base.yaml", &text("proposed", ""));
    put(
        &place,
        "intents/part.yaml",
        &text("approved", "parent: move\n"),
    );
    put(
        &place,
        "intents/inner.yaml",
        &text("approved", "parent: part\n"),
    );
    forge(&place, "human:ada").ok();
    place
}

#[test]
fn no_agents_import_begins_or_ends_a_part_that_is_there_of_what_waits() {
    for whole in ["approved", "proposed", "rejected"] {
        let place = with_waiting_whole(whole);
        for (name, parent) in [
            ("part", "parent: move\n"),
            ("inner", "parent: part\n"),
            ("part", ""),
        ] {
            for said in ["executing", "done", "blocked", "error"] {
                let text = format!(
                    "title: t\nbody: b\nsource: human\nrisk: low\nstatus: {said}\n{parent}"
                );
                put(&place, &format!("intents/{name}.yaml"), &text);
                let ran = forge(&place, "agent:coder");
                assert!(
                    ran.stdout.contains("does not begin it"),
                    "{whole} {name} {said}: {ran:?}"
                );
                for (name, status) in [("move", whole), ("part", "approved"), ("inner", "approved")]
                {
                    assert_eq!(intent(&place, name)["status"], status, "{said}: {ran:?}");
                }
            }
        }
    }
    // Nor is one begun whose tasks give it the status of its file.
    let place = with_waiting_whole("approved");
    put(
        &place,
        "tasks/part.yaml",
        "- {id: t, title: x, status: failed}\n",
    );
    forge(&place, "human:ada").ok();
    let part = "title: t\nbody: b\nsource: human\nrisk: high\nstatus: error\nparent: move\n";
    put(&place, "intents/part.yaml", part);
    forge(&place, "agent:coder").ok();
    let history = place.run(&["history", "part", "--json"]).ok().stdout;
    assert!(!history.contains("execution_started"), "{history}");
    // What waits for nothing goes on.
    let place = with_waiting_whole("approved");
    let text = "title: t\nbody: b\nsource: human\nrisk: low\nstatus: done\n";
    put(&place, "intents/base.yaml", text);
    forge(&place, "human:ada").ok();
    put(
        &place,
        "intents/part.yaml",
        &format!("{text}parent: move\n"),
    );
    put(
        &place,
        "intents/inner.yaml",
        &format!("{text}parent: part\n"),
    );
    forge(&place, "agent:coder").ok();
    assert_eq!(intent(&place, "move")["status"], "done");
}

/// The waiting or rejected intent of a person, and the ids of its task and plan.
fn with_intent(rejects: bool) -> (Place, String, String, String) {
    let place = Place::with_log();
    let (of, task, plan) = (uuid(0xb1), uuid(0xb2), uuid(0xb3));
    let prompt = json!({ "id": of, "prompt": "Move the data", "source": "human", "risk": "high" });
    let steps = json!([{ "description": "first" }]);
    place.accept(&[
        human("submit_intent", prompt),
        human(
            "create_task",
            json!({ "id": task, "title": "t", "intent": of }),
        ),
        human("analyze_intent", json!({ "intent": of, "content": "c" })),
        human("activate_intent", json!({ "intent": of })),
        human(
            "create_plan",
            json!({ "id": plan, "intent": of, "steps": steps }),
        ),
        human("select_plan", json!({ "intent": of, "plan": plan })),
    ]);
    if rejects {
        place.accept(&[human("reject_intent", json!({ "intent": of }))]);
    }
    (place, of, task, plan)
}

/// A task of an agent, its run, the patch set that was applied, and the decision to commit it.
fn worked(task: &Value) -> Vec<Value> {
    let (id, run, patch_set) = (uuid(0xd1), uuid(0xd2), uuid(0xd3));
    let mut fields = json!({ "title": "sub", "runs": [run] });
    fields
        .as_object_mut()
        .unwrap()
        .extend(task.as_object().unwrap().clone());
    let ran = json!({ "task": id, "commit": "a".repeat(64), "status": "completed", "patchsets": [patch_set] });
    let patched = json!({ "run": run, "commit": "a".repeat(64), "format": "unified_diff", "apply_status": "applied" });
    let decided =
        json!({ "run_id": run, "decision_type": "commit", "chosen_patchset_id": patch_set });
    vec![
        of_agent("task", &id, fields),
        of_agent("run", &run, ran),
        of_agent("patch_set", &patch_set, patched),
        of_agent("decision", &uuid(0xd4), decided),
    ]
}

/// Demands that an agent may import none of these objects of git-internal, and a person all.
#[track_caller]
fn for_persons(place: &Place, objects: &[Value]) {
    let before = end(place);
    let ran = import_of("git-internal", place, "agent:coder", objects);
    assert_eq!(ran.json()["broken_count"], objects.len(), "{ran:?}");
    assert!(
        ran.stdout.contains("which only a person imports"),
        "{ran:?}"
    );
    assert_eq!(end(place), before);
    import_of("git-internal", place, "human:ada", objects).ok();
}

#[test]
fn no_agents_import_brings_work_by_what_its_task_is_a_part_of() {
    for rejects in [false, true] {
        let (place, _, task, _) = with_intent(rejects);
        for_persons(
            &place,
            &worked(&json!({ "status": "done", "parent": task })),
        );
        // In the order of the names of their files, and through a task between.
        let (place, _, task, _) = with_intent(rejects);
        let between = uuid(0xd5);
        let mut objects = worked(&json!({ "status": "done", "parent": between }));
        objects.reverse();
        import_of("git-internal", &place, "agent:coder", &objects).fails(1, &[]);
        let fields = json!({ "title": "x", "parent": task, "status": "draft" });
        objects.push(of_agent("task", &between, fields));
        let ran = import_of("git-internal", &place, "agent:coder", &objects);
        assert_eq!(ran.json()["broken_count"], 4, "{ran:?}");
    }
    // What is no work is taken, and so is work on no intent, in any order.
    let (place, _, task, _) = with_intent(false);
    let draft = json!({ "title": "x", "parent": task, "status": "draft" });
    import_of(
        "git-internal",
        &place,
        "agent:coder",
        &[of_agent("task", &uuid(0xd6), draft)],
    )
    .ok();
    let mut free = worked(&json!({ "status": "done" }));
    free.reverse();
    import_of("git-internal", &place, "agent:coder", &free).ok();
}

#[test]
fn no_agents_import_brings_work_for_a_task_or_plan_that_is_not_there() {
    let (place, ..) = with_intent(false);
    for_persons(&place, &worked(&json!({ "status": "done" }))[1..]);
    let (place, ..) = with_intent(false);
    let run = json!({ "task": uuid(0xd1), "plan": uuid(0xd7), "commit": "a".repeat(64), "status": "validating" });
    let task = of_agent(
        "task",
        &uuid(0xd1),
        json!({ "title": "x", "status": "running" }),
    );
    import_of("git-internal", &place, "agent:coder", &[task]).ok();
    for_persons(&place, &[of_agent("run", &uuid(0xd2), run)]);
}

#[test]
fn no_agents_import_moves_a_task_with_work_under_an_intent_that_waits() {
    for (rejects, status) in [(false, "done"), (true, "done"), (false, "draft")] {
        let (place, of, task, _) = with_intent(rejects);
        import_of(
            "git-internal",
            &place,
            "agent:coder",
            &worked(&json!({ "status": status })),
        )
        .ok();
        for more in [json!({ "parent": task }), json!({ "intent": of })] {
            let mut moved = more;
            moved["status"] = json!(status);
            let ran = import_of("git-internal", &place, "agent:coder", &worked(&moved)[..1]);
            assert_eq!(ran.json()["broken_count"], 1, "{ran:?}");
        }
        // Nor is a run moved, also one that failed.
        let mut run = worked(&json!({}))[1].clone();
        (run["task"], run["status"]) = (json!(task), json!("failed"));
        let ran = import_of("git-internal", &place, "agent:coder", &[run]);
        assert_eq!(ran.json()["broken_count"], 1, "{ran:?}");
    }
}

fn plan_of_agent(id: u64, previous: &str, step: &Value) -> Value {
    let mut fields = json!({ "steps": [{ "description": "by me" }] });
    if !previous.is_empty() {
        fields["previous"] = json!(previous);
    }
    let step = step.as_object().unwrap().clone();
    fields["steps"][0].as_object_mut().unwrap().extend(step);
    of_agent("plan", &uuid(id), fields)
}

fn statuses(statuses: &[&str]) -> Value {
    let statuses = statuses
        .iter()
        .map(|it| json!({ "status": it, "changed_at": "2026-01-02T03:04:05Z" }));
    json!({ "statuses": statuses.collect::<Vec<_>>() })
}

#[test]
fn no_agents_import_revises_a_plan_that_a_person_made() {
    for status in ["pending", "completed"] {
        let (place, of, _, plan) = with_intent(false);
        let revision = [plan_of_agent(0xd8, &plan, &statuses(&[status]))];
        let ran = import_of("git-internal", &place, "agent:coder", &revision);
        assert!(
            ran.status == 1 && ran.stdout.contains("which only a person imports"),
            "{ran:?}"
        );
        place.accept(&[human("select_plan", json!({ "intent": of, "plan": plan }))]);
        import_of("git-internal", &place, "human:ada", &revision).ok();
    }
    // One's own, and one that was imported, are revised.
    let place = Place::with_log();
    let own = uuid(0xd9);
    let create = agent(
        "create_plan",
        json!({ "id": own, "steps": [{ "description": "x" }] }),
    );
    place.accept(&[create]);
    let pending = statuses(&["pending"]);
    let objects = [
        plan_of_agent(0xda, &own, &pending),
        plan_of_agent(0xdb, &uuid(0xda), &pending),
    ];
    import_of("git-internal", &place, "agent:coder", &objects).ok();
}

#[test]
fn no_agents_import_brings_a_plan_with_work_under_an_intent_that_waits() {
    // The intent and its plan were imported, and a person judged the intent.
    let waiting = || {
        let place = Place::with_log();
        let (of, plan) = (uuid(0xb1), uuid(0xb3));
        let mut intent = json!({ "prompt": "Delete users", "content": "c", "plan": plan });
        let draft = statuses(&["draft"]).as_object().unwrap().clone();
        intent.as_object_mut().unwrap().extend(draft);
        let objects = [
            of_agent("intent", &of, intent),
            plan_of_agent(0xb3, "", &statuses(&["pending"])),
        ];
        import_of("git-internal", &place, "agent:coder", &objects).ok();
        place.accept(&[kei("judge_intent", json!({ "intent": of, "risk": "high" }))]);
        (place, plan)
    };
    let refused = |place: &Place, object: Value| {
        let ran = import_of("git-internal", place, "agent:coder", &[object]);
        assert!(
            ran.status == 1 && ran.stdout.contains("which only a person imports"),
            "{ran:?}"
        );
    };
    let (place, plan) = waiting();
    let begun = statuses(&["pending", "progressing", "completed"]);
    refused(&place, plan_of_agent(0xda, &plan, &begun));
    refused(&place, plan_of_agent(0xdb, &uuid(0xdc), &begun));
    import_of(
        "git-internal",
        &place,
        "agent:coder",
        &worked(&json!({ "status": "done" })),
    )
    .ok();
    refused(
        &place,
        plan_of_agent(0xda, &plan, &json!({ "task": uuid(0xd1) })),
    );
    // A plan that a run carries out does not come under it later.
    import_of(
        "git-internal",
        &place,
        "agent:coder",
        &[plan_of_agent(0xda, "", &json!({}))],
    )
    .ok();
    let mut run = worked(&json!({}))[1].clone();
    run["plan"] = json!(uuid(0xda));
    import_of("git-internal", &place, "agent:coder", &[run]).ok();
    refused(&place, plan_of_agent(0xda, &plan, &json!({})));
    import_of(
        "git-internal",
        &place,
        "agent:coder",
        &[plan_of_agent(0xdd, &plan, &json!({}))],
    )
    .ok();
}

#[test]
fn an_agent_copies_no_task_of_what_the_log_has() {
    let (person, _, task, _) = with_intent(false);
    person.run(&["export", "annals", "before.jsonl"]).ok();
    let sub = uuid(0xd1);
    place_task(&person, &sub, &task);
    person.run(&["export", "annals", "all.jsonl"]).ok();
    let place = Place::empty();
    for file in ["before.jsonl", "all.jsonl"] {
        fs::copy(person.path(file), place.path(file)).unwrap();
    }
    let import = |file: &str, actor: &str| place.run(&["import", "annals", file, "--actor", actor]);
    import("before.jsonl", "human:ada").ok();
    import("all.jsonl", "agent:coder").fails(1, &["of an object that the log has"]);
    import("all.jsonl", "human:ada").ok();
}

fn place_task(place: &Place, id: &str, parent: &str) {
    let fields = json!({ "id": id, "title": "sub", "parent": parent });
    place.accept(&[agent("create_task", fields)]);
}

#[test]
fn a_copy_into_another_log_names_that_for_its_reason() {
    let (source, place) = (Place::with_log(), Place::with_log());
    let task = uuid(0xd1);
    source.accept(&[
        agent("create_task", json!({ "id": task, "title": "x" })),
        agent("create_run", json!({ "task": task })),
    ]);
    let create = json!({ "title": "z" });
    place.accept(&[human("create_task", create)]);
    source.run(&["export", "annals", "all.jsonl"]).ok();
    fs::copy(source.path("all.jsonl"), place.path("all.jsonl")).unwrap();
    for actor in ["agent:coder", "human:ada"] {
        let says = "the log has another record at position 1";
        place
            .run(&["import", "annals", "all.jsonl", "--actor", actor])
            .fails(1, &[says]);
    }
}
