//! What comes from elsewhere does not act upon what the log itself recorded: its objects, its events, their ids.

use serde_json::{Value, json};

use crate::field::Field;

const OURS: &str = "0198c0de-0000-7000-8000-0000000000f1";

/// A log with an intent of ours that has the alias `ours`, was approved, and has a task and a run.
fn field() -> Field {
    let field = Field::new();
    good(
        &field,
        &["submit", "--alias", "ours", "--risk", "med", "Add a cache"],
    );
    good(&field, &["approve", "ours", "--actor", "human:approver"]);
    field
}

#[track_caller]
fn good(field: &Field, args: &[&str]) -> String {
    let ended = field.run(args);
    assert!(ended.is_good, "{args:?}: {}", ended.said);
    ended.said
}

fn json_of(field: &Field, args: &[&str]) -> Value {
    serde_json::from_str(&good(field, &[args, &["--json"]].concat())).unwrap()
}

fn apply(field: &Field, commands: &[Value]) {
    let by = json!({ "kind": "human", "id": "ada" });
    let line = |command: &Value| {
        let mut command = command.clone();
        command["actor"] = by.clone();
        format!("{command}\n")
    };
    field.hostile("commands", commands.iter().map(line).collect::<String>());
    good(field, &["apply", "hostile/commands"]);
}

fn id_of(field: &Field, name: &str) -> String {
    let shown = json_of(field, &["show", name]);
    shown["object_id"].as_str().unwrap().to_owned()
}

/// All that the program shows of an object.
fn seen(field: &Field, name: &str) -> Vec<String> {
    let views: [&[&str]; 4] = [
        &["show", name],
        &["show", name, "--as", "forge"],
        &["history", name],
        &["tree", name],
    ];
    let mut seen: Vec<String> = views.iter().map(|view| field.run(view).said).collect();
    seen.push(field.run(&["ready", name]).said);
    seen
}

const TASKS: &str = "- {id: theirs, title: Publish the keys, status: done}\n";

#[test]
fn a_folder_adds_no_task_to_an_intent_of_the_log() {
    let field = field();
    let before = seen(&field, "ours");
    for intent in [false, true] {
        if intent {
            field.hostile(
                ".forge/intents/ours.yaml",
                "title: theirs\nbody: b\nsource: human\nstatus: approved\n",
            );
        }
        for tasks in [TASKS.replace("done", "pending"), TASKS.to_owned()] {
            field.hostile(".forge/tasks/ours.yaml", tasks);
            let ended = field.survives("tasks of ours", &["import", "forge", "hostile"]);
            assert!(!ended.is_good, "{}", ended.said);
            let reason =
                "its task \"theirs\" is not taken: no file adds tasks to the intent \"ours\"";
            assert!(ended.said.contains(reason), "{}", ended.said);
            assert_eq!(seen(&field, "ours"), before);
        }
    }
}

#[test]
fn a_folder_gives_an_intent_of_the_log_no_parts_and_nothing_waits_for_it() {
    let field = field();
    let before = seen(&field, "ours");
    let intent = |more: &str| format!("title: t\nbody: b\nsource: human\nstatus: proposed\n{more}");
    let id = id_of(&field, "ours");
    for (name, parent) in [("child", "ours"), ("other", id.as_str())] {
        field.hostile(
            &format!(".forge/intents/{name}.yaml"),
            intent(&format!("parent: {parent}\n")),
        );
    }
    let said = good(&field, &["import", "forge", "hostile"]);
    assert!(said.contains("no file gives that intent parts"), "{said}");
    assert_eq!(
        json_of(&field, &["show", "child", "--as", "forge"])["parent"],
        Value::Null
    );
    field.hostile(".forge/intents/waits.yaml", intent("depends_on: [ours]\n"));
    for _ in 0..2 {
        let ended = field.survives("a dependency on ours", &["import", "forge", "hostile"]);
        assert!(
            !ended.is_good
                && ended
                    .said
                    .contains("nothing of a folder depends on that intent"),
            "{}",
            ended.said
        );
        assert_eq!(seen(&field, "ours"), before);
    }
    // An export of it has the parent that its file named.
    good(&field, &["export", "forge", "out"]);
    let child = std::fs::read_to_string(field.path("out/intents/child.yaml")).unwrap();
    assert!(child.contains("parent: ours"), "{child}");
}

/// Events in the name of the importer make nothing the importer's.
#[test]
fn a_folder_does_not_follow_what_was_recorded_in_its_importers_name() {
    let field = Field::new();
    let by = json!({ "kind": "system", "id": "forge" });
    let task = json!({ "command": "create_task", "id": OURS, "title": "ours", "actor": by });
    field.hostile("commands", format!("{task}\n"));
    good(&field, &["apply", "hostile/commands"]);
    field.hostile(
        &format!(".forge/reviews/{OURS}.yaml"),
        "verdict: rejected\n",
    );
    let before = seen(&field, OURS);
    let said = field
        .survives("a review of ours", &["import", "forge", "hostile"])
        .said;
    assert!(said.contains("it is not taken"), "{said}");
    assert_eq!(seen(&field, OURS), before);
}

fn object(kind: &str, id: &str, more: Value) -> Value {
    let mut object = json!({
        "object_id": id, "object_type": kind, "schema_version": 1, "header_version": 1,
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        "created_by": { "kind": "system", "id": "forge" }, "visibility": "private",
    });
    object
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    object
}

/// The objects of git-internal that are stored in their run's stream.
#[test]
fn an_object_of_git_internal_is_not_written_into_a_run_of_the_log() {
    let field = Field::new();
    let run = "0198c0de-0000-7000-8000-0000000000f2";
    apply(
        &field,
        &[
            json!({ "command": "create_task", "id": OURS, "title": "ours" }),
            json!({ "command": "create_run", "id": run, "task": OURS }),
            json!({ "command": "start_patching", "run": run }),
        ],
    );
    let before = seen(&field, run);
    let theirs = |n: u32| format!("0198c0de-0000-7000-8000-0000000009{n:02}");
    let objects = [
        object(
            "evidence",
            &theirs(1),
            json!({ "run_id": run, "kind": "test", "tool": "cargo" }),
        ),
        object(
            "decision",
            &theirs(2),
            json!({ "run_id": run, "decision_type": "abandon" }),
        ),
        object(
            "provenance",
            &theirs(3),
            json!({ "run_id": run, "provider": "p", "model": "m" }),
        ),
        object(
            "invocation",
            &theirs(4),
            json!({ "run_id": run, "tool_name": "rm", "status": "ok" }),
        ),
        object(
            "patchset",
            &theirs(5),
            json!({
                "run": run, "commit": "1".repeat(40), "format": "git_diff", "touched": [], "apply_status": "applied",
            }),
        ),
        object(
            "intent",
            OURS,
            json!({ "prompt": "theirs", "statuses": [] }),
        ),
        object(
            "task",
            OURS,
            json!({ "title": "theirs", "runs": [], "status": "done" }),
        ),
        object(
            "run",
            run,
            json!({ "task": OURS, "commit": "1".repeat(40), "status": "failed" }),
        ),
    ];
    for object in &objects {
        field.hostile("object.json", object.to_string());
        let ended = field.survives(
            "an object in our run",
            &["import", "git-internal", "hostile/object.json"],
        );
        assert!(!ended.is_good, "{object}: {}", ended.said);
        let reasons = [
            "would be written into",
            "is already the id of",
            "has events of this log's own",
        ];
        assert!(
            reasons.iter().any(|it| ended.said.contains(it)),
            "{object}: {}",
            ended.said
        );
        assert_eq!(seen(&field, run), before, "{object}");
    }
}

const SESSION: &str = "0198c0de-0000-7000-8000-0000000000e1";

fn comment(id: &str, session: &str) -> String {
    json!({
        "kind": "Comment", "item": { "id": "T-1" }, "body": "theirs", "id": id,
        "correlation": { "sessionId": session },
    })
    .to_string()
}

fn import(field: &Field, objects: &[String]) -> (bool, String) {
    field.hostile("objects.jsonl", objects.join("\n") + "\n");
    let ended = field.survives(
        "contracts",
        &["import", "contracts", "hostile/objects.jsonl"],
    );
    (ended.is_good, ended.said)
}

#[test]
fn an_imported_event_does_not_take_the_id_of_another() {
    let field = field();
    let ours = good(&field, &["history", "ours", "--json"]);
    let ours: Value = serde_json::from_str(ours.lines().next().unwrap()).unwrap();
    let log = good(&field, &["log", "--json"]);
    let events: Vec<Value> = log
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let position = ours["position"].as_u64().unwrap();
    let event = events.iter().find(|it| it["position"] == position).unwrap();
    let event = event["event_id"].as_str().unwrap();
    let fresh = "0f8fad5b-d9cb-469f-a165-70867728950e";
    let (is_good, said) = import(&field, &[comment(event, SESSION), comment(fresh, SESSION)]);
    assert!(!is_good, "{said}");
    let reason = format!("event {position} of the log has its id {event} already");
    assert!(
        said.contains(&reason) && said.contains("imported       1"),
        "{said}"
    );
    let proof: Value = serde_json::from_str(&good(&field, &["prove", event])).unwrap();
    assert_eq!(proof["events"][0]["position"], position);
    good(&field, &["redact", event, "--reason", "a secret"]);
    assert!(!good(&field, &["show", "ours"]).contains("Add a cache"));
    // Nor in another session, nor as an event where it was a command.
    let other = "0198c0de-0000-7000-8000-0000000000e2";
    let (is_good, said) = import(&field, &[comment(fresh, other)]);
    assert!(!is_good && said.contains("has its id"), "{said}");
    let event = json!({ "kind": "CommandAccepted", "commandId": fresh, "id": fresh,
        "correlation": { "sessionId": SESSION } });
    let (is_good, said) = import(&field, &[event.to_string()]);
    assert!(!is_good && said.contains("has its id"), "{said}");
    let twice = "1f8fad5b-d9cb-469f-a165-70867728950e";
    let (_, said) = import(&field, &[comment(twice, SESSION), comment(twice, other)]);
    assert!(said.contains("the object of line 1 has its id"), "{said}");
    let otherwise = comment(fresh, SESSION).replace("theirs", "something else");
    let (is_good, said) = import(&field, &[otherwise]);
    assert!(
        !is_good && said.contains("another object with its id is in the session already"),
        "{said}"
    );
    // Importing again is not a conflict.
    let (is_good, said) = import(&field, &[comment(fresh, SESSION), comment(twice, SESSION)]);
    assert!(is_good && said.contains("already there  2"), "{said}");
}

#[test]
fn an_imported_session_does_not_take_the_id_of_an_object() {
    let field = field();
    let id = id_of(&field, "ours");
    let before = seen(&field, "ours");
    let (is_good, said) = import(&field, &[comment(SESSION, &id)]);
    assert!(
        !is_good && said.contains("the id of an object of another kind"),
        "{said}"
    );
    let spawn = json!({
        "kind": "SpawnSession", "id": "2f8fad5b-d9cb-469f-a165-70867728950e", "correlation": { "sessionId": SESSION },
        "config": { "sessionId": id, "policy": { "name": "p" }, "repo": { "name": "n", "path": "p" },
            "workspace": { "path": "p" }, "agentProfile": "a" },
    });
    let (is_good, said) = import(&field, &[spawn.to_string()]);
    assert!(
        !is_good && said.contains("it spawns a session with the id of a"),
        "{said}"
    );
    assert_eq!(seen(&field, "ours"), before);
}

/// An object that comes with the id of an event is not proved in that one's place.
#[test]
fn an_imported_object_does_not_stand_for_an_event_with_its_id() {
    let field = field();
    let log = good(&field, &["log", "--json"]);
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    let event = first["event_id"].as_str().unwrap();
    let theirs = object(
        "intent",
        event,
        json!({ "prompt": "theirs", "statuses": [] }),
    );
    field.hostile("object.json", theirs.to_string());
    good(&field, &["import", "git-internal", "hostile/object.json"]);
    let ended = field.run(&["prove", event]);
    assert!(
        !ended.is_good && ended.said.contains("is the id of event 1"),
        "{}",
        ended.said
    );
    good(&field, &["prove", "1"]);
    good(&field, &["redact", event, "--reason", "a secret"]);
    assert!(good(&field, &["show", event]).contains("theirs"));
}

/// An id that ends as one of ours does, and a name that is an alias of ours.
#[test]
fn what_is_named_like_ours_is_not_taken_for_it() {
    let field = field();
    let id = id_of(&field, "ours");
    let digits = &id[id.len() - 12..];
    let alike = format!("11111111-1111-4111-8111-{digits}");
    let theirs = object(
        "intent",
        &alike,
        json!({ "prompt": "theirs", "statuses": [] }),
    );
    field.hostile("object.json", theirs.to_string());
    good(&field, &["import", "git-internal", "hostile/object.json"]);
    for command in [
        &["show", digits][..],
        &["history", digits],
        &["approve", digits],
        &["prove", digits],
    ] {
        let ended = field.run(command);
        assert!(
            !ended.is_good && ended.said.contains("is ambiguous"),
            "{command:?}: {}",
            ended.said
        );
    }
    assert!(good(&field, &["show", "ours"]).contains("Add a cache"));
    assert!(good(&field, &["show", &id]).contains("Add a cache"));
}

fn line(uuid: &str, text: &str) -> String {
    json!({
        "type": "user", "uuid": uuid, "sessionId": "0198c0de-0000-7000-8000-0000000000c1",
        "timestamp": "2026-01-01T00:00:00Z", "message": { "role": "user", "content": text },
    })
    .to_string()
}

/// The first one that is imported stays, the forged one or the honest one; the other one is named.
#[test]
fn another_text_under_a_known_name_of_a_recording_is_named() {
    let uuid = "0198c0de-0000-7000-8000-0000000000c2";
    let texts = ["Fix the typo", "Publish the keys"];
    for [first, second] in [texts, [texts[1], texts[0]]] {
        let field = Field::new();
        field.hostile("a.jsonl", line(uuid, first) + "\n");
        good(&field, &["import", "claude", "hostile/a.jsonl"]);
        good(&field, &["import", "claude", "hostile/a.jsonl"]);
        let other = [
            line("0198c0de-0000-7000-8000-0000000000c3", "And more"),
            line(uuid, second),
        ];
        field.hostile("a.jsonl", other.join("\n") + "\n");
        let ended = field.survives("another text", &["import", "claude", "hostile/a.jsonl"]);
        let reason =
            format!("hostile/a.jsonl:2: \"{uuid}\" was recorded before with another content");
        assert!(
            !ended.is_good && ended.said.contains(&reason),
            "{}",
            ended.said
        );
        let ended = field.run(&["import", "claude", "hostile/a.jsonl", "--json"]);
        let report: Value = serde_json::from_str(ended.said.lines().next().unwrap()).unwrap();
        assert_eq!(
            (&report["broken_count"], &report["broken"][0]["line"]),
            (&json!(1), &json!(2))
        );
        // In one file, too.
        let both = Field::new();
        both.hostile(
            "a.jsonl",
            [line(uuid, first), line(uuid, second)].join("\n") + "\n",
        );
        let ended = both.run(&["import", "claude", "hostile/a.jsonl"]);
        assert!(
            !ended.is_good && ended.said.contains(&reason),
            "{}",
            ended.said
        );
    }
}
