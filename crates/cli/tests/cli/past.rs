//! `annals diff`, `why ID FIELD`, `bisect` and `compare`, and the moments that `--at` takes.

use serde_json::{Value, json};

use crate::support::{Place, Story, agent, human, story, uuid};

/// The JSON of an object at a moment, without what does not follow from its own events.
fn shown(place: &Place, id: &str, at: &str) -> Value {
    place.run(&["show", id, "--at", at, "--json"]).ok().json()
}

/// The position of the only event of a type.
fn position(place: &Place, event_type: &str) -> String {
    let events = place
        .run(&["log", "--type", event_type, "--json"])
        .ok()
        .lines();
    assert_eq!(events.len(), 1, "{events:?}");
    events[0]["position"].to_string()
}

/// Applies the operations of RFC 6902 that there are.
fn patched(document: &Value, patch: &Value) -> Value {
    let mut document = document.clone();
    for operation in patch.as_array().unwrap() {
        let path = operation["path"].as_str().unwrap();
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", ""));
        if path.is_empty() {
            document = operation["value"].clone();
            continue;
        }
        match document.pointer_mut(parent).unwrap() {
            Value::Object(fields) if operation["op"] == "remove" => {
                fields.remove(name).unwrap();
            }
            Value::Object(fields) => {
                fields.insert(name.to_owned(), operation["value"].clone());
            }
            Value::Array(list) => {
                let index: usize = name.parse().unwrap();
                match operation["op"].as_str().unwrap() {
                    "remove" => drop(list.remove(index)),
                    "add" => list.insert(index, operation["value"].clone()),
                    _ => list[index] = operation["value"].clone(),
                }
            }
            other => panic!("{path} is in {other}"),
        }
    }
    document
}

#[test]
fn a_diff_says_what_changed_and_which_event_changed_it() {
    let place = Place::with_log();
    let Story { run, intent, .. } = story(&place);
    let (started, decided) = (
        position(&place, "run.patching_started"),
        position(&place, "run.decision_made"),
    );
    let diff = place.run(&["diff", &run, &started, "--json"]).ok().json();
    assert_eq!(diff["object_type"], "run");
    assert_eq!(diff["existed"], true);
    let change = |path: &str| -> Value {
        let all = diff["patch"].as_array().unwrap().iter();
        let mut found = all.filter(|it| it["path"] == path);
        let change = found
            .next()
            .unwrap_or_else(|| panic!("no {path} in {diff}"));
        assert!(found.next().is_none());
        change.clone()
    };
    let status = change("/status");
    assert_eq!(
        (&status["op"], &status["old"], &status["value"]),
        (&json!("replace"), &json!("patching"), &json!("completed"))
    );
    assert_eq!(status["cause"]["position"].to_string(), decided);
    assert_eq!(status["cause"]["event_type"], "run.decision_made");
    assert_eq!(status["cause"]["actor"]["id"], "ada");
    assert_eq!(
        change("/patchsets")["cause"]["event_type"],
        "run.patch_set_proposed"
    );
    // It is the difference of what `show` prints.
    let (old, new) = (shown(&place, &run, &started), shown(&place, &run, "now"));
    assert_eq!(patched(&old, &diff["patch"]), new);
    // From before it was there.
    let whole = place
        .run(&["diff", &intent, "0", "now", "--json"])
        .ok()
        .json();
    assert_eq!(whole["existed"], false);
    assert_eq!(
        patched(&Value::Null, &whole["patch"]),
        shown(&place, &intent, "now")
    );

    let text = place.run(&["diff", &run, &started, &decided]).ok().stdout;
    for part in [
        "~ status: patching -> completed",
        "+ patchsets: [",
        &format!("event {decided} run.decision_made, "),
        "human ada",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let styled = place
        .run(&["diff", &run, &started, "--color", "always"])
        .ok()
        .stdout;
    assert!(styled.contains("\u{1b}[38;5;1mpatching\u{1b}[0m -> \u{1b}[38;5;2mcompleted"));
}

#[test]
fn a_diff_of_all_has_each_object_that_was_touched_once() {
    let place = Place::with_log();
    let story = story(&place);
    let from = position(&place, "run.created");
    let all = place.run(&["diff", "--all", &from, "--json"]).ok().lines();
    let ids: Vec<&str> = all
        .iter()
        .map(|it| it["object_id"].as_str().unwrap())
        .collect();
    assert!(ids.contains(&story.run.as_str()) && ids.contains(&story.patch_set.as_str()));
    assert!(ids.contains(&story.intent.as_str()) && !ids.contains(&story.pipeline.as_str()));
    for diff in &all {
        let id = diff["object_id"].as_str().unwrap();
        assert_eq!(ids.iter().filter(|it| **it == id).count(), 1);
        assert_eq!(
            *diff,
            place
                .run(&["diff", id, &from, "--fields", "--json"])
                .ok()
                .json()
        );
    }
    let none = place.run(&["diff", "--all", "now"]);
    assert_eq!((none.status, none.stdout.as_str()), (0, ""));
    assert!(none.stderr.contains("no object changed"), "{none:?}");
}

#[test]
fn a_long_text_is_shown_as_the_lines_that_differ() {
    let place = Place::with_log();
    let intent = uuid(1);
    let text = |middle: &str| {
        let line = |n: u32| format!("line {n}\n");
        let (before, behind): (String, String) =
            ((1..20).map(line).collect(), (20..40).map(line).collect());
        format!("{before}{middle}\n{behind}")
    };
    place.accept(&[
        human("create_intent", json!({ "id": intent, "prompt": "p" })),
        agent(
            "analyze_intent",
            json!({ "intent": intent, "content": text("one") }),
        ),
        agent(
            "analyze_intent",
            json!({ "intent": intent, "content": text("two \u{1b}[2J") }),
        ),
    ]);
    let shown = place.run(&["diff", &intent, "2", "3"]).ok().stdout;
    let expected = "\
    ~ content:
        … 17 lines …
        line 18
        line 19
      - one
      + two \\u{1b}[2J
        line 20
        line 21
        … 18 lines …
";
    assert!(shown.contains(expected), "{shown}");
}

#[test]
fn why_a_field_is_what_it_is() {
    let place = Place::with_log();
    let Story { run, intent, .. } = story(&place);
    let why = place.run(&["why", &run, "status", "--json"]).ok().json();
    assert_eq!(why["value"], "completed");
    let types: Vec<&str> = why["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["cause"]["event_type"].as_str().unwrap())
        .collect();
    assert_eq!(
        types,
        [
            "run.decision_made",
            "run.validation_started",
            "run.patching_started",
            "run.created"
        ]
    );
    let text = place.run(&["why", &run, "/status"]).ok().stdout;
    assert!(text.starts_with("run "), "{text}");
    for part in [
        "status: completed",
        "~ validating -> completed",
        "run.patching_started",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let started = position(&place, "run.patching_started");
    let before = place
        .run(&["why", &run, "status", "--at", &started, "--json"])
        .ok()
        .json();
    assert_eq!(before["value"], "patching");
    // A part of a list, by its number.
    let reason = place
        .run(&["why", &intent, "statuses[1].reason", "--json"])
        .ok()
        .json();
    assert_eq!(reason["value"], "clear enough");
    assert_eq!(
        reason["changes"][0]["cause"]["event_type"],
        "intent.activated"
    );
    let newest = place.run(&["why", &run, "status", "-n", "1"]);
    assert!(
        newest.stderr.contains("3 earlier changes are left out"),
        "{newest:?}"
    );
}

#[test]
fn a_bisection_finds_the_event() {
    let place = Place::with_log();
    let Story { run, .. } = story(&place);
    let started = position(&place, "run.patching_started");
    let validating = position(&place, "run.validation_started");
    for test in [
        r#"/status=="patching""#,
        r#"status != "completed""#,
        "patchsets exists",
    ] {
        let args = [
            "bisect", "--id", &run, "--from", &started, "--test", test, "--json",
        ];
        let found = place.run(&args).ok().json();
        assert_eq!(found["outcome"], "changed", "{test}: {found}");
        let at = &found["candidates"][0];
        if test.starts_with("patchsets") {
            assert_eq!(at["event_type"], "run.patch_set_proposed");
            assert_eq!(found["held"], false);
        }
    }
    let args = [
        "bisect",
        "--id",
        &run,
        "--from",
        &started,
        "--to",
        &validating,
        "--test",
        r#"/status=="patching""#,
    ];
    let found = place.run(&args);
    assert_eq!(found.status, 0, "{found:?}");
    for part in [
        "the condition fails after this event for the first time",
        &format!("event {validating} run.validation_started"),
        "it changes once",
        "annals diff",
    ] {
        assert!(
            found.stdout.contains(part),
            "{part} is not in {}",
            found.stdout
        );
    }
    assert!(
        found
            .stderr
            .contains(&format!("after event {started}: it holds")),
        "{}",
        found.stderr
    );
    // A command says it.
    let script = r#"read -r json; case "$json" in *'"patching"'*) exit 0;; *) exit 1;; esac"#;
    let args = [
        "bisect", "--id", &run, "--from", &started, "--json", "--", "sh", "-c", script,
    ];
    let found = place.run(&args).ok().json();
    assert_eq!(found["candidates"][0]["position"].to_string(), validating);
    // One that cannot say it of anything but the ends.
    let script = format!(
        r#"case $ANNALS_POSITION in {started}) exit 0;; {validating}) exit 1;; *) exit 125;; esac"#
    );
    let args = [
        "bisect",
        "--id",
        &run,
        "--from",
        &started,
        "--to",
        &validating,
        "--",
        "sh",
        "-c",
        &script,
    ];
    let found = place.run(&args);
    assert!(found.stdout.contains("one of these events"), "{found:?}");
}

#[test]
fn what_a_bisection_cannot_find_is_said() {
    let place = Place::with_log();
    let Story { run, .. } = story(&place);
    let bisect = |rest: &[&str]| place.run(&[&["bisect", "--id", run.as_str()], rest].concat());
    bisect(&["--test", "/object_type exists"]).fails(
        1,
        &[
            "the ends, the condition holds alike",
            "assumed to change once",
            "--from and --to",
            "annals object why",
        ],
    );
    bisect(&["--", "sh", "-c", "exit 127"])
        .fails(1, &["exited with 127", "125 where it cannot say"]);
    bisect(&["--", "/no/such/program"]).fails(1, &["could not be run"]);
    bisect(&["--", "sh", "-c", "exit 125"]).fails(1, &["cannot be said", "--from or --to"]);
    bisect(&[]).fails(2, &["COMMAND"]);
    bisect(&["--test", "/status==failed"]).fails(2, &[r#"a text has quotes: "failed""#]);
    bisect(&["--test", "/a", "--", "true"]).fails(2, &["cannot be used with"]);
    bisect(&["--test", "/a", "--from", "9", "--to", "3"]).fails(1, &["Give the earlier one first"]);
    bisect(&["--test", "/a", "--from", "now"]).fails(1, &["nothing to search"]);
}

#[test]
fn errors_say_what_to_do() {
    let place = Place::with_log();
    let Story { run, .. } = story(&place);
    place
        .run(&["diff", &run, "9", "3"])
        .fails(1, &["Give the earlier one first"]);
    place
        .run(&["diff", &run])
        .fails(2, &["annals diff ID FROM [TO]"]);
    place
        .run(&["diff", "--all", &run, "1", "2"])
        .fails(2, &["FROM and TO with --all"]);
    place
        .run(&["diff", &run, "999"])
        .fails(1, &["the log ends at"]);
    place
        .run(&["diff", &run, "tomorrow"])
        .fails(1, &["RFC 3339", "git commit"]);
    place
        .run(&["diff", &run, "0", "1"])
        .fails(1, &["did not exist yet"]);
    place
        .run(&["diff", "--all", "occurred:2026-01-02T03:04:05Z"])
        .fails(1, &["expected positions"]);
    place
        .run(&["why", &run, "stauts"])
        .fails(1, &["has no field stauts", "status"]);
    place
        .run(&["why", &run, "a..b"])
        .fails(2, &["invalid field"]);
    place
        .run(&["why", &run])
        .fails(1, &["annals object why ID FIELD"]);
    place
        .run(&["compare", &run, "12345678"])
        .fails(1, &["annals object list"]);
    let same = place.run(&["diff", &run, "now"]);
    assert!(
        same.stderr.contains("is the same at both times"),
        "{same:?}"
    );
}

#[test]
fn a_moment_may_be_an_event_or_a_commit() {
    let place = Place::with_log();
    let Story { run, intent, .. } = story(&place);
    let events = place.run(&["log", "--json"]).ok().lines();
    let decided = events
        .iter()
        .find(|it| it["event_type"] == "run.decision_made")
        .unwrap();
    let (at, id) = (
        decided["position"].to_string(),
        decided["event_id"].as_str().unwrap(),
    );
    let (commit, short) = ("2".repeat(40), "2".repeat(7));
    let expected = shown(&place, &run, &at);
    assert_eq!(shown(&place, &run, id), expected);
    assert_eq!(shown(&place, &run, &commit), expected);
    let created = position(&place, "run.created");
    let diff = |to: &str| {
        place
            .run(&["diff", &run, &created, to, "--json"])
            .ok()
            .json()
    };
    assert_eq!(diff(id), diff(&at));
    assert_eq!(diff(&commit), diff(&at));
    let history = |at: &str| {
        place
            .run(&["history", &intent, "--at", at, "--json"])
            .ok()
            .stdout
    };
    assert_eq!(history(id), history(&at));
    // Decimal digits alone are a position.
    place
        .run(&["show", &run, "--at", &short])
        .fails(1, &["the log ends at"]);
    place
        .run(&["show", &run, "--at", "abcdef0"])
        .fails(1, &["no decision in the log led to commit abcdef0"]);
    place
        .run(&["show", &run, "--at", &uuid(77)])
        .fails(1, &["there is no event", "annals log --json"]);
}

/// A task that two runs try, one of them with a call more.
#[test]
fn two_runs_are_laid_side_by_side() {
    let place = Place::with_log();
    let (intent, task, runs) = (uuid(1), uuid(2), [uuid(3), uuid(4)]);
    let mut commands = vec![
        human(
            "create_intent",
            json!({ "id": intent, "prompt": "Add a cache" }),
        ),
        agent(
            "analyze_intent",
            json!({ "intent": intent, "content": "c" }),
        ),
        agent("activate_intent", json!({ "intent": intent })),
        agent(
            "create_task",
            json!({ "id": task, "title": "Cache it", "intent": intent }),
        ),
    ];
    for (number, run) in runs.iter().enumerate() {
        let cwd = format!("/work/{number}");
        let call = |tool: &str, args: Value, status: &str| {
            agent(
                "record_tool_invocation",
                json!({ "run": run, "tool_name": tool, "args": args, "status": status }),
            )
        };
        let environment = json!({ "os": "linux", "arch": "x86_64", "cwd": cwd });
        commands.push(agent(
            "create_run",
            json!({ "id": run, "task": task, "environment": environment }),
        ));
        commands.push(agent("start_patching", json!({ "run": run })));
        for n in 0..12 {
            commands.push(call(
                "Read",
                json!({ "file_path": format!("{cwd}/src/{n}.rs") }),
                "ok",
            ));
        }
        if number == 1 {
            commands.push(call("Bash", json!({ "command": "cargo test" }), "error"));
        }
        commands.push(call(
            "Edit",
            json!({ "file_path": "src/lib.rs", "new_string": "x" }),
            "ok",
        ));
        commands.push(agent(
            "fail_run",
            json!({ "run": run, "error": "it stopped" }),
        ));
    }
    place.accept(&commands);
    let found = place
        .run(&["compare", &runs[0], &runs[1], "--json"])
        .ok()
        .json();
    assert_eq!(found["calls_part_at"], 12);
    assert_eq!(found["prompts_part_at"], Value::Null);
    assert_eq!(found["a"]["prompts"], json!(["Add a cache"]));
    assert_eq!(found["calls"].as_array().unwrap().len(), 14);
    assert_eq!(found["calls"][12], json!({ "a": null, "b": 12 }));
    assert_eq!(found["b"]["calls"][12]["line"], "Bash cargo test");
    assert_eq!(found["a"]["calls"][0]["line"], "Read src/0.rs");
    let text = place.run(&["compare", &runs[0], &runs[1]]).ok().stdout;
    for part in [
        "they part at call 13",
        "… the same 8 calls …",
        "+ Bash cargo test (error)",
        "  Edit src/lib.rs",
        "Prompts: the same (1)",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let all = place.run(&["compare", &runs[0], &runs[1], "-v"]).stdout;
    assert!(all.contains("Read src/6.rs") && !text.contains("Read src/6.rs"));
    let tasks = place.run(&["compare", &task, &task, "--json"]).ok().json();
    assert_eq!(
        (&tasks["calls_part_at"], &tasks["a"]["runs"]),
        (&Value::Null, &json!(2))
    );
}
