//! Importers: who they are is in the log, and they bring nothing that they may not do by a command.

use std::fs;
use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::support::{Place, Ran, agent, human, uuid};

pub(crate) const PARENT: u64 = 0x5e_0000_0001;
pub(crate) const SESSION: u64 = 0x5e_0000_0002;
pub(crate) const COMMANDS: u64 = 0xc0_0000_0000;
const OBJECTS: u64 = 0xe0_0000_0000;

pub(crate) fn repo() -> Value {
    json!({ "name": "app", "path": "/src/app" })
}

/// An object of the contracts in a session.
pub(crate) fn object(number: u64, session: u64, kind: &str, fields: Value) -> Value {
    let mut object = fields;
    object["id"] = json!(uuid(OBJECTS + number));
    object["correlation"] = json!({ "sessionId": uuid(session) });
    object["kind"] = json!(kind);
    object
}

/// That another system says which status the session is in.
pub(crate) fn status(number: u64, status: &str) -> Value {
    object(
        number,
        SESSION,
        "SessionStatusChanged",
        json!({ "status": status }),
    )
}

fn accepted(number: u64, command: u64) -> Value {
    let fields = json!({ "commandId": uuid(COMMANDS + command) });
    object(number, SESSION, "CommandAccepted", fields)
}

fn succeeded(number: u64, command: u64) -> Value {
    let fields = json!({ "commandId": uuid(COMMANDS + command), "outcome": "Success" });
    object(number, SESSION, "CommandCompleted", fields)
}

/// Imports objects of the contracts in an actor's name.
pub(crate) fn import(place: &Place, actor: &str, objects: &[Value]) -> Ran {
    import_of("contracts", place, actor, objects)
}

/// Imports objects of a format in an actor's name.
pub(crate) fn import_of(format: &str, place: &Place, actor: &str, objects: &[Value]) -> Ran {
    let lines: Vec<String> = objects.iter().map(|object| format!("{object}\n")).collect();
    fs::write(place.path("objects.jsonl"), lines.concat()).unwrap();
    place.run(&[
        "import",
        format,
        "objects.jsonl",
        "--actor",
        actor,
        "--json",
    ])
}

/// An object of git-internal that an agent created.
pub(crate) fn of_agent(kind: &str, id: &str, fields: Value) -> Value {
    let mut object = json!({
        "object_id": id, "object_type": kind, "header_version": 1, "schema_version": 1,
        "created_at": "2026-01-02T03:04:05Z", "created_by": { "kind": "agent", "id": "coder" },
    });
    let object_fields = object.as_object_mut().unwrap();
    object_fields.extend(fields.as_object().unwrap().clone());
    object
}

/// A session that ada took over with its policy; it runs.
pub(crate) fn taken_over() -> Place {
    let place = Place::with_log();
    let config = json!({
        "sessionId": uuid(SESSION),
        "policy": { "name": "careful", "requireTestsBeforePush": true },
        "repo": repo(),
        "workspace": { "path": "/work" },
        "agentProfile": "coder",
    });
    let spawn = object(1, PARENT, "SpawnSession", json!({ "config": config }));
    import(&place, "human:ada", &[spawn, status(2, "Running")]).ok();
    place
}

pub(crate) fn submit(number: u64, command: Value) -> Value {
    agent(
        "submit_command",
        json!({ "session": uuid(SESSION), "id": uuid(COMMANDS + number), "submit": command }),
    )
}

pub(crate) fn push() -> Value {
    json!({ "kind": "Push", "repo": repo(), "branchName": "HEAD:topic" })
}

/// The verdict on a command that an agent gives.
pub(crate) fn verdict(place: &Place, number: u64, command: Value) -> Value {
    let answers = place.apply(&[submit(number, command)]);
    answers[0]["verdict"].clone()
}

pub(crate) fn end(place: &Place) -> Value {
    place.run(&["stats", "--json"]).ok().json()["position"].clone()
}

/// Demands that an import is refused, line by line, and records nothing.
#[track_caller]
pub(crate) fn refused(place: &Place, actor: &str, objects: &[Value], says: &str) {
    let before = end(place);
    let ran = import(place, actor, objects);
    assert_eq!(ran.status, 1, "{ran:?}");
    let report = ran.json();
    assert_eq!(report["broken_count"], objects.len(), "{report}");
    for broken in report["broken"].as_array().unwrap() {
        let reason = broken["reason"].as_str().unwrap();
        assert!(reason.contains(says), "{reason}");
    }
    assert_eq!(end(place), before, "nothing is recorded");
}

#[test]
fn no_import_changes_the_status_of_a_session_that_this_log_ended_or_paused() {
    for command in ["complete_session", "abort_session", "pause_session"] {
        let place = taken_over();
        place.accept(&[human(command, json!({ "session": uuid(SESSION) }))]);
        for actor in ["agent:coder", "human:ada", "system:contracts"] {
            let says = "this log has events of its own about the session";
            refused(&place, actor, &[status(3, "Running")], says);
        }
        let verdict = verdict(&place, 1, push());
        let rejected = verdict["reason"].as_str().unwrap_or_default();
        assert!(rejected.starts_with("Session is "), "{command}: {verdict}");
    }
}

#[test]
fn no_import_gives_verdicts_or_results_once_the_gate_has_judged() {
    let place = taken_over();
    let rejected = verdict(&place, 1, push());
    assert_eq!(
        rejected["policy_rule"], "Tests required before push",
        "{rejected}"
    );
    let tests = json!({ "repo": repo() });
    let mut run_tests = object(10, SESSION, "RunTests", tests);
    run_tests["id"] = json!(uuid(COMMANDS + 9));
    // The command itself says nothing.
    assert_eq!(import(&place, "agent:coder", &[run_tests]).status, 0);
    let forged = [accepted(11, 1), accepted(12, 9), succeeded(13, 9)];
    let says = "this log's gate judged a command of the session";
    refused(&place, "agent:coder", &forged, says);
    let again = verdict(&place, 2, push());
    assert_eq!(
        again["policy_rule"], "Tests required before push",
        "{again}"
    );
}

#[test]
fn only_a_person_undoes_by_an_import_what_a_person_imported() {
    let place = taken_over();
    import(&place, "human:ada", &[status(3, "Paused")]).ok();
    let says = "the session is Paused by a person's import";
    refused(&place, "agent:coder", &[status(4, "Running")], says);
    import(&place, "human:bob", &[status(5, "Running")]).ok();
    // What an agent brought an agent brings on.
    import(
        &place,
        "agent:coder",
        &[status(6, "Paused"), status(7, "Running")],
    )
    .ok();
}

#[test]
fn no_command_is_given_in_the_name_of_the_importer() {
    let place = taken_over();
    let mut command = submit(1, push());
    command["actor"] = json!({ "kind": "system", "id": "contracts" });
    let answer = &place.apply(&[command])[0];
    assert_eq!(answer["error"]["code"], "not_permitted", "{answer}");
}

#[test]
fn every_importer_is_named_by_what_it_brought() {
    let place = taken_over();
    let events = place.run(&["log", "--json"]).ok().lines();
    assert!(events.len() > 2);
    for event in &events {
        let actor = &event["actor"];
        assert_eq!(
            (&actor["kind"], &actor["id"]),
            (&json!("system"), &json!("contracts"))
        );
        assert_eq!(actor["auth_context"], "imported by human:ada", "{event}");
    }
    let history = place.run(&["history", &uuid(SESSION)]).ok();
    assert!(
        history.stdout.contains("imported by human:ada"),
        "{history:?}"
    );
    let shown = place.run(&["show", &uuid(SESSION)]).ok();
    assert!(shown.stdout.contains("imported by human:ada"), "{shown:?}");
    // An actor without a name imports nothing.
    let before = end(&place);
    import(&place, "human: ", &[status(3, "Paused")]).fails(2, &["--actor"]);
    assert_eq!(end(&place), before);
}

pub(crate) fn forge(place: &Place, actor: &str) -> Ran {
    place.run(&["import", "forge", "forge", "--actor", actor, "--json"])
}

pub(crate) fn put(place: &Place, name: &str, text: &str) {
    let path = place.path("forge").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub(crate) fn intent(place: &Place, alias: &str) -> Value {
    place
        .run(&["show", alias, "--as", "forge", "--json"])
        .ok()
        .json()
}

#[test]
fn an_agents_import_of_a_folder_answers_and_ends_nothing() {
    let place = Place::with_log();
    let text =
        |more: &str| format!("title: Move the data\nbody: b\nsource: human\nrisk: high\n{more}");
    put(
        &place,
        "intents/move.yaml",
        &text("clarifications: [{question: 'When?'}]\n"),
    );
    forge(&place, "human:ada").ok();
    let answered = "clarifications: [{question: 'When?', answer: now}]\n";
    put(&place, "intents/move.yaml", &text(answered));
    let ran = forge(&place, "agent:coder");
    assert_eq!(
        intent(&place, "move")["clarifications"][0]["answer"],
        Value::Null,
        "{ran:?}"
    );
    assert!(ran.stdout.contains("which a person gives"), "{ran:?}");
    for status in ["rejected", "cancelled", "approved"] {
        put(
            &place,
            "intents/move.yaml",
            &text(&format!("status: {status}\n{answered}")),
        );
        let ran = forge(&place, "agent:coder");
        assert_eq!(intent(&place, "move")["status"], "proposed", "{ran:?}");
    }
    put(&place, "intents/move.yaml", &text(answered));
    forge(&place, "human:ada").ok();
    assert_eq!(intent(&place, "move")["clarifications"][0]["answer"], "now");
    let history = place.run(&["history", "move", "--json"]).ok().lines();
    let importers: Vec<&Value> = history
        .iter()
        .map(|it| &it["actor"]["auth_context"])
        .collect();
    assert!(
        importers.iter().all(|it| **it == "imported by human:ada"),
        "{importers:?}"
    );
}

#[test]
fn an_agents_import_of_a_folder_makes_no_failed_task_done() {
    let place = Place::with_log();
    let text = "title: Move the data\nbody: b\nsource: human\nrisk: high\nstatus: approved\n";
    put(&place, "intents/move.yaml", text);
    let task = |status: &str| format!("- {{id: t, title: x, status: {status}}}\n");
    put(&place, "tasks/move.yaml", &task("failed"));
    forge(&place, "human:ada").ok();
    assert_eq!(intent(&place, "move")["status"], "error");
    put(&place, "tasks/move.yaml", &task("done"));
    let ran = forge(&place, "agent:coder");
    assert!(ran.stdout.contains("is failed in the log"), "{ran:?}");
    assert_eq!(intent(&place, "move")["status"], "error");
    forge(&place, "human:ada").ok();
    assert_eq!(intent(&place, "move")["status"], "done");
}

#[test]
fn an_agent_that_watches_a_folder_is_not_taken_for_a_person() {
    let place = Place::with_log();
    let text = "title: Move the data\nbody: b\nsource: human\nrisk: high\nstatus: approved\n";
    put(&place, "intents/move.yaml", text);
    let mut watch = place.command(&[
        "watch",
        "forge",
        "forge",
        "--actor",
        "agent:coder",
        "--json",
    ]);
    let mut watch = watch.spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let taken = lines.next().unwrap().unwrap();
    watch.kill().unwrap();
    watch.wait().unwrap();
    assert!(taken.contains("move"), "{taken}");
    assert_eq!(intent(&place, "move")["status"], "proposed", "{taken}");
}

#[test]
fn an_agent_copies_no_approval_and_nothing_about_what_is_there() {
    let person = Place::with_log();
    let submitted = [
        "submit",
        "Delete the archive",
        "--risk",
        "high",
        "--alias",
        "archive",
    ];
    person
        .run(&[&submitted[..], &["--actor", "agent:planner"]].concat())
        .ok();
    person.run(&["export", "annals", "before.jsonl"]).ok();
    person
        .run(&["approve", "archive", "--actor", "human:ada"])
        .ok();
    person.run(&["export", "annals", "all.jsonl"]).ok();
    let place = Place::empty();
    for file in ["before.jsonl", "all.jsonl"] {
        fs::copy(person.path(file), place.path(file)).unwrap();
    }
    let import = |file: &str, actor: &str| place.run(&["import", "annals", file, "--actor", actor]);
    import("all.jsonl", "agent:coder").fails(
        1,
        &["the approval of an intent", "let a person run the import"],
    );
    assert!(!place.log_dir().exists(), "no log is made");
    // What it may do by a command, it may copy.
    import("before.jsonl", "agent:coder").ok();
    let before = end(&place);
    import("all.jsonl", "agent:coder").fails(1, &["imported by a person"]);
    assert_eq!(end(&place), before);
    let copied = place.run_with(
        &["import", "annals", "-", "--actor", "agent:coder"],
        fs::read(place.path("all.jsonl")).unwrap(),
    );
    copied.fails(1, &["imported by a person"]);
    let (source, dest) = (person.log_dir(), place.log_dir());
    let (source, dest) = (source.to_str().unwrap(), dest.to_str().unwrap());
    place
        .run(&["copy", source, dest, "--actor", "agent:coder"])
        .fails(1, &["Nothing was copied"]);
    assert_eq!(end(&place), before);
    import("all.jsonl", "human:ada").ok();
    assert_eq!(intent(&place, "archive")["status"], "approved");
}

#[test]
fn an_agents_import_reopens_nothing_that_a_person_imported_as_ended() {
    let place = Place::with_log();
    let object = |status: &str| {
        let statuses = json!([{ "status": status, "changed_at": "2026-01-02T03:04:05Z" }]);
        json!({
            "object_id": uuid(0xa1), "object_type": "intent", "header_version": 1, "schema_version": 1,
            "created_at": "2026-01-02T03:04:05Z", "created_by": { "kind": "human", "id": "kei" },
            "prompt": "Add a cache", "statuses": statuses,
        })
    };
    let import =
        |status: &str, actor: &str| import_of("git-internal", &place, actor, &[object(status)]);
    import("cancelled", "human:ada").ok();
    let ran = import("active", "agent:coder");
    assert_eq!(ran.status, 1, "{ran:?}");
    assert!(
        ran.stdout.contains("which only a person replaces"),
        "{ran:?}"
    );
    import("active", "human:bob").ok();
    import("cancelled", "agent:coder").ok();
    import("active", "agent:coder").ok();
    let history = place.run(&["history", &uuid(0xa1), "--json"]).ok().lines();
    assert_eq!(history[0]["actor"]["id"], "kei");
    assert_eq!(history[0]["actor"]["auth_context"], "imported by human:ada");
}

#[test]
fn an_agents_import_rewords_no_intent_that_a_person_imported() {
    let place = Place::with_log();
    let object = |prompt: &str, status: &str| {
        let statuses = json!([{ "status": status, "changed_at": "2026-01-02T03:04:05Z" }]);
        json!({
            "object_id": uuid(0xa1), "object_type": "intent", "header_version": 1, "schema_version": 1,
            "created_at": "2026-01-02T03:04:05Z", "created_by": { "kind": "human", "id": "kei" },
            "prompt": prompt, "statuses": statuses,
        })
    };
    let long = "Add a cache for each of the lists. ".repeat(1_000);
    for prompt in ["Add a cache", &long] {
        let import = |prompt: &str, status: &str, actor: &str| {
            import_of("git-internal", &place, actor, &[object(prompt, status)])
        };
        import(prompt, "draft", "human:ada").ok();
        let ran = import("Remove the cache", "draft", "agent:coder");
        assert_eq!(ran.status, 1, "{ran:?}");
        assert!(
            ran.stdout.contains("an intent with another prompt"),
            "{ran:?}"
        );
        // That work goes on, it may bring, and by that does not make the intent its own.
        import(prompt, "active", "agent:coder").ok();
        let ran = import("Remove the cache", "active", "agent:coder");
        assert_eq!(ran.status, 1, "{ran:?}");
        import("Remove the cache", "active", "human:bob").ok();
    }
}

#[test]
fn an_agents_import_of_a_folder_changes_nothing_under_a_persons_approval() {
    let text = |source: &str, status: &str, risk: &str| {
        format!("title: Move the data\nbody: b\nsource: {source}\nrisk: {risk}\nstatus: {status}\n")
    };
    for source in ["human", "audit"] {
        for status in ["approved", "executing"] {
            let place = Place::with_log();
            put(&place, "intents/move.yaml", &text(source, status, "high"));
            forge(&place, "human:ada").ok();
            let before = intent(&place, "move");
            assert_eq!(before["status"], status);
            for (said, risk) in [
                (status, "low"),
                (status, "med"),
                ("rejected", "high"),
                ("cancelled", "low"),
            ] {
                put(&place, "intents/move.yaml", &text(source, said, risk));
                let ran = forge(&place, "agent:coder");
                assert_eq!(intent(&place, "move"), before, "{said} {risk}: {ran:?}");
            }
            put(&place, "intents/move.yaml", &text(source, status, "low"));
            forge(&place, "human:ada").ok();
            assert_eq!(intent(&place, "move")["risk"], "low");
        }
    }
    // Nor is what was turned down judged again, or what failed turned down.
    let place = Place::with_log();
    put(
        &place,
        "intents/move.yaml",
        &text("audit", "rejected", "high"),
    );
    forge(&place, "human:ada").ok();
    let before = intent(&place, "move");
    put(
        &place,
        "intents/move.yaml",
        &text("audit", "rejected", "low"),
    );
    forge(&place, "agent:coder");
    assert_eq!(intent(&place, "move"), before);
    let place = Place::with_log();
    put(
        &place,
        "intents/move.yaml",
        &text("audit", "approved", "high"),
    );
    put(
        &place,
        "tasks/move.yaml",
        "- {id: t, title: x, status: failed}\n",
    );
    forge(&place, "human:ada").ok();
    assert_eq!(intent(&place, "move")["status"], "error");
    put(
        &place,
        "intents/move.yaml",
        &text("audit", "rejected", "high"),
    );
    forge(&place, "agent:coder");
    assert_eq!(intent(&place, "move")["status"], "error");
}

#[test]
fn an_agents_import_of_a_folder_begins_no_work_that_waits() {
    let place = Place::with_log();
    let text = |status: &str| {
        format!(
            "title: Move the data\nbody: b\nsource: audit\nrisk: high\nstatus: {status}\n\
             clarifications: [{{question: 'When?'}}]\n"
        )
    };
    put(&place, "intents/move.yaml", &text("approved"));
    forge(&place, "human:ada").ok();
    for status in ["executing", "done"] {
        put(&place, "intents/move.yaml", &text(status));
        let ran = forge(&place, "agent:coder");
        assert_eq!(intent(&place, "move")["status"], "approved", "{ran:?}");
    }
}

#[test]
fn an_agents_import_of_a_folder_rewrites_no_task_of_a_person() {
    let place = Place::with_log();
    let text = "title: Move the data\nbody: b\nsource: human\nrisk: high\nstatus: approved\n";
    put(&place, "intents/move.yaml", text);
    let tasks = |title: &str, status: &str| {
        format!(
            "- {{id: t, title: {title}, status: done}}\n- {{id: u, title: {title}, status: {status}}}\n"
        )
    };
    put(&place, "tasks/move.yaml", &tasks("x", "pending"));
    forge(&place, "human:ada").ok();
    let titles = || {
        let tasks = place.run(&["list", "tasks", "--json"]).ok().lines();
        let mut titles: Vec<String> = tasks.iter().map(|it| it["title"].to_string()).collect();
        titles.sort();
        titles
    };
    let before = titles();
    put(
        &place,
        "tasks/move.yaml",
        &tasks("Delete everything", "pending"),
    );
    let ran = forge(&place, "agent:coder");
    assert_eq!(titles(), before, "{ran:?}");
    assert!(
        ran.stdout.contains("which only a person changes"),
        "{ran:?}"
    );
    // How far it is, agents say.
    put(&place, "tasks/move.yaml", &tasks("x", "implementing"));
    forge(&place, "agent:coder").ok();
    put(&place, "tasks/move.yaml", &tasks("x", "cancelled"));
    let ran = forge(&place, "agent:coder");
    assert!(
        ran.stdout.contains("which only a person changes"),
        "{ran:?}"
    );
    put(&place, "tasks/move.yaml", &tasks("y", "done"));
    forge(&place, "human:ada").ok();
    assert_ne!(titles(), before);
}

#[test]
fn an_agent_imports_no_child_of_a_session_of_this_log() {
    let place = Place::with_log();
    let config = |session: u64, parent: Option<u64>, branches: &[&str]| {
        let mut config = json!({
            "sessionId": uuid(session),
            "policy": { "name": "p", "protectedBranches": branches, "requireTestsBeforePush": false,
                        "requireApprovalForPush": false },
            "repo": repo(), "workspace": { "path": "/w" }, "agentProfile": "coder",
        });
        if let Some(parent) = parent {
            config["parentSessionId"] = json!(uuid(parent));
        }
        config
    };
    let create = json!({
        "command": "create_session", "actor": { "kind": "human", "id": "ada" },
        "config": config(PARENT, None, &["main"]),
    });
    place.accept(&[create]);
    let spawn = |number: u64, session: u64, parent: u64| {
        let fields = json!({ "config": config(session, Some(parent), &[]) });
        object(number, session, "SpawnSession", fields)
    };
    let refused = |number: u64, session: u64, parent: u64| {
        let ran = import(&place, "agent:coder", &[spawn(number, session, parent)]);
        let says = "only a person's import configures it";
        assert!(ran.status == 1 && ran.stdout.contains(says), "{ran:?}");
        let mut push = submit(number, push());
        push["session"] = json!(uuid(session));
        let answer = place.apply(&[push])[0].clone();
        assert_eq!(answer["error"]["code"], "invalid", "{answer}");
    };
    refused(1, SESSION, PARENT);
    // What was let in by a person begins no freer one either.
    import(&place, "human:ada", &[spawn(2, SESSION, PARENT)]).ok();
    let third = SESSION + 1;
    refused(3, third, SESSION);
    // A session of elsewhere has its children.
    import(&place, "agent:coder", &[spawn(4, third + 2, third + 1)]).ok();
}

#[test]
fn a_pause_that_an_import_brought_is_resumed_by_a_person() {
    let place = taken_over();
    import(&place, "human:ada", &[status(3, "Paused")]).ok();
    let session = || json!({ "session": uuid(SESSION) });
    let answer = &place.apply(&[agent("resume_session", session())])[0];
    assert_eq!(answer["error"]["code"], "not_permitted", "{answer}");
    place.accept(&[human("resume_session", session())]);
}

#[test]
fn redacting_a_commit_lets_no_larger_one_through() {
    let place = Place::with_log();
    let policy = json!({ "name": "p", "maxFilesPerCommit": 2 });
    let config = json!({
        "sessionId": uuid(SESSION), "policy": policy, "repo": repo(), "workspace": { "path": "/w" },
        "agentProfile": "coder",
    });
    let create = json!({ "command": "create_session", "actor": { "kind": "human", "id": "ada" }, "config": config });
    let commit = |number: u64, files: &[&str], amend: bool| {
        json!({
            "command": "submit_command", "actor": { "kind": "agent", "id": "coder" }, "session": uuid(SESSION),
            "id": uuid(COMMANDS + number), "files": files,
            "submit": { "kind": "Commit", "repo": repo(), "message": "m", "includePaths": files, "amend": amend },
        })
    };
    let done = agent(
        "complete_command",
        json!({ "session": uuid(SESSION), "id": uuid(COMMANDS + 1), "outcome": "Success" }),
    );
    place.accept(&[create, commit(1, &["a", "b"], false), done]);
    let rejected = |number: u64| {
        let answer = place.apply(&[commit(number, &["c"], true)])[0].clone();
        assert!(answer.to_string().contains("Too many files"), "{answer}");
    };
    rejected(2);
    place
        .run(&["redact", "2", "--reason", "x", "--actor", "agent:coder"])
        .ok();
    rejected(3);
}

#[test]
fn an_agent_imports_no_work_on_what_a_person_turned_down() {
    let place = Place::with_log();
    let (intent, task, run) = (uuid(0xb1), uuid(0xb2), uuid(0xb3));
    let prompt =
        json!({ "id": intent, "prompt": "Move the data", "source": "human", "risk": "high" });
    place.accept(&[
        human("submit_intent", prompt),
        human("reject_intent", json!({ "intent": intent })),
    ]);
    let run = |status: &str| {
        let fields = json!({ "task": task, "commit": "a".repeat(64), "status": status });
        of_agent("run", &run, fields)
    };
    let import = |objects: &[Value], actor: &str| import_of("git-internal", &place, actor, objects);
    let of_it = json!({ "title": "t", "intent": intent, "status": "draft" });
    import(&[of_agent("task", &task, of_it)], "agent:coder").ok();
    for status in ["validating", "completed"] {
        let ran = import(&[run(status)], "agent:coder");
        assert!(
            ran.status == 1 && ran.stdout.contains("which only a person imports"),
            "{ran:?}"
        );
    }
    import(&[run("failed")], "agent:coder").ok();
    import(&[run("completed")], "human:ada").ok();
}

/// The work that a person rejected does not pass by an import: not as another run, task or part.
#[test]
fn an_agent_imports_no_work_beside_what_a_person_rejected() {
    let place = Place::with_log();
    let (intent, task, run) = (uuid(0xb1), uuid(0xb2), uuid(0xb3));
    let (other, again) = (uuid(0xb4), uuid(0xb5));
    let prompt =
        json!({ "id": intent, "prompt": "Fix the crash", "source": "human", "risk": "low" });
    let propose = json!({ "run": run, "format": "unified_diff", "diff": "" });
    place.accept(&[
        human("submit_intent", prompt),
        agent(
            "create_task",
            json!({ "id": task, "title": "t", "intent": intent }),
        ),
        agent("create_run", json!({ "id": run, "task": task })),
        agent("start_patching", json!({ "run": run })),
        agent("propose_patch_set", propose),
        agent("start_validation", json!({ "run": run })),
        human(
            "record_review",
            json!({ "task": task, "verdict": "rejected" }),
        ),
    ]);
    let import = |objects: &[Value], actor: &str| import_of("git-internal", &place, actor, objects);
    let of = |task: &str| {
        let fields = json!({ "task": task, "commit": "a".repeat(64), "status": "completed" });
        of_agent("run", &again, fields)
    };
    let done = json!({ "title": "t", "intent": intent, "status": "done" });
    let done = of_agent("task", &other, done);
    for objects in [vec![of(&task)], vec![done.clone(), of(&other)]] {
        let ran = import(&objects, "agent:coder");
        assert!(
            ran.status == 1 && ran.stdout.contains("which only a person imports"),
            "{ran:?}"
        );
    }
    import(&[done, of(&other)], "human:ada").ok();
}

/// What a person imported is as little an agent's to remove as what the person recorded.
#[test]
fn an_agent_redacts_nothing_that_a_person_imported() {
    let place = Place::with_log();
    let text = "title: Move the data\nbody: b\nsource: human\nrisk: high\nstatus: proposed\n";
    put(&place, "intents/move.yaml", text);
    forge(&place, "human:ada").ok();
    let last = end(&place).as_u64().unwrap();
    let redact = |position: u64, actor: &str| {
        let position = position.to_string();
        place.run(&["redact", &position, "--reason", "x", "--actor", actor])
    };
    let before = intent(&place, "move");
    let is_refused = |position: &u64| {
        let ran = redact(*position, "agent:coder");
        ran.stderr.contains("a person recorded or imported")
    };
    let refused = (1..=last).filter(is_refused).count();
    // The text, and the name.
    assert!(refused >= 2, "{refused}");
    assert_eq!((end(&place), intent(&place, "move")), (json!(last), before));
    redact(1, "human:ada").ok();
}

#[test]
fn an_agent_redacts_nothing_where_the_gate_counts_tokens() {
    let place = Place::with_log();
    let limits = json!({ "callsPerMinute": 1, "burst": 1 });
    let config = |session: u64, limits: &Value| {
        json!({
            "sessionId": uuid(session), "policy": { "name": "p", "limits": limits }, "repo": repo(),
            "workspace": { "path": "/w" }, "agentProfile": "coder",
        })
    };
    let create = human(
        "create_session",
        json!({ "config": config(SESSION, &limits) }),
    );
    place.accept(&[create]);
    let redact = |actor: &str| place.run(&["redact", "1", "--reason", "x", "--actor", actor]);
    verdict(&place, 1, push());
    let refused = redact("agent:coder");
    refused.fails(1, &["a person removes content"]);
    redact("human:ada").ok();
}

#[test]
fn the_inbox_says_who_imported_a_request_and_what_an_approval_grants() {
    let place = taken_over();
    let mut asks = status(3, "NeedsApproval");
    asks["reason"] = json!("may I read the docs?");
    import(&place, "agent:bot", &[asks]).ok();
    let inbox = place.run(&["inbox"]).ok().stdout;
    for expected in [
        "imported by agent:bot",
        "may I read the docs?",
        "approving grants Push",
        &format!("  -> annals intent approve {}\n", uuid(SESSION)),
    ] {
        assert!(inbox.contains(expected), "{expected}: {inbox}");
    }
    let listed = place.run(&["inbox", "--json"]).ok().json();
    assert_eq!(
        listed["imported"]["reason"], "may I read the docs?",
        "{listed}"
    );
    let granted = place.run(&["approve", &uuid(SESSION), "--actor", "human:kei"]);
    assert!(granted.ok().stdout.contains("granted: Push"));
}
