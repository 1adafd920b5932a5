//! Bad input: each answer says what is wrong, where, and what to do.

use serde_json::{Value, json};

use crate::support::{Place, human, uuid};

/// Applies one line that must be refused with a code, in words that help.
#[track_caller]
fn refused(place: &Place, line: impl AsRef<[u8]>, code: &str, says: &[&str]) -> Value {
    let ran = place.run_with(&["apply"], line);
    let ran = ran.fails(1, &["annals: 1 of 1 commands were refused"]);
    let answer = ran.json();
    assert_eq!(answer["ok"], false);
    assert_eq!(answer["line"], 1);
    assert_eq!(answer["error"]["code"], code, "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    for text in says {
        assert!(message.contains(text), "{text:?} is not in {message}");
    }
    answer
}

#[test]
fn a_file_that_is_not_json() {
    let place = Place::with_log();
    let answer = refused(
        &place,
        "# Notes\n",
        "not_json",
        &["column 1", "{\"command\":"],
    );
    assert_eq!(answer["error"]["column"], 1);
    refused(&place, b"\x89PNG\r\x1a", "not_json", &["column 1"]);
    refused(&place, "[]", "invalid", &["a JSON object", "{\"command\":"]);
    refused(
        &place,
        "{\"command\":\"create_intent\",",
        "not_json",
        &["column 27"],
    );
    // One bad line does not stop the others.
    let good = human("create_intent", json!({ "prompt": "p" }));
    let ran = place.run_with(&["apply"], format!("{good}\nnot json\n\n{good}\n"));
    let ran = ran.fails(1, &["1 of 3 commands were refused"]);
    let answers = ran.lines();
    assert_eq!(answers.len(), 3);
    assert_eq!(answers[1]["line"], 2);
    assert_eq!(answers[2]["position"], 2);
}

#[test]
fn json_that_not_every_reader_takes_is_refused() {
    let place = Place::with_log();
    let deep = "[".repeat(200) + &"]".repeat(200);
    let levels = "[".repeat(121) + &"]".repeat(121);
    for (content, says) in [
        (r#""cut \ud83d""#, "unexpected end of hex escape"),
        ("1e999", "number out of range"),
        (deep.as_str(), "recursion limit exceeded"),
        (
            levels.as_str(),
            "it is nested 121 deep, and the most is 120",
        ),
    ] {
        let fields =
            json!({ "pipeline": uuid(2), "kind": "tool_call", "summary": "s", "content": 0 });
        let line = human("push_frame", fields).to_string();
        let line = line.replace(r#""content":0"#, &format!(r#""content":{content}"#));
        refused(&place, line, "invalid", &["content", says]);
    }
}

#[test]
fn unknown_commands_fields_and_types() {
    let place = Place::with_log();
    let line = |name: &str, fields: Value| human(name, fields).to_string();
    let says = [
        "push_fram",
        "did you mean push_frame?",
        "annals service commands",
    ];
    refused(
        &place,
        line("push_fram", json!({})),
        "unknown_command",
        &says,
    );
    let says = [
        "unknown field `colour`",
        "`prompt`",
        "annals service commands create_intent",
    ];
    refused(
        &place,
        line("create_intent", json!({ "prompt": "p", "colour": 1 })),
        "invalid",
        &says,
    );
    let says = [
        "create_intent",
        "invalid type: integer `5`, expected a string",
    ];
    refused(
        &place,
        line("create_intent", json!({ "prompt": 5 })),
        "invalid",
        &says,
    );
    refused(
        &place,
        line("create_intent", json!({})),
        "invalid",
        &["missing field `prompt`"],
    );
    refused(
        &place,
        line("create_intent", json!({ "prompt": " " })),
        "invalid",
        &["prompt", "blank"],
    );
    refused(
        &place,
        line("create_intent", json!({ "prompt": "p", "at": "now" })),
        "invalid",
        &["at:", "2026-01-31"],
    );
    refused(
        &place,
        line("create_intent", json!({ "prompt": "p", "key": "1" })),
        "invalid",
        &["key:", "a UUID"],
    );
    refused(
        &place,
        json!({ "command": "create_intent" }).to_string(),
        "invalid",
        &["\"actor\"", "\"kind\""],
    );
    refused(
        &place,
        "{}",
        "invalid",
        &["\"command\"", "annals service commands"],
    );
    let blank = json!({ "command": "create_intent", "actor": { "kind": "human", "id": "" }, "prompt": "p" });
    refused(&place, blank.to_string(), "invalid", &["actor.id", "blank"]);
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 0);
}

#[test]
fn unknown_objects_and_transitions_that_are_not_allowed() {
    let place = Place::with_log();
    let line = |name: &str, fields: Value| human(name, fields).to_string();
    let missing = line("complete_intent", json!({ "intent": uuid(404) }));
    refused(
        &place,
        missing,
        "not_found",
        &["intent", &uuid(404), "create it first"],
    );
    place.accept(&[human(
        "create_intent",
        json!({ "id": uuid(1), "prompt": "p" }),
    )]);
    let early = line("complete_intent", json!({ "intent": uuid(1) }));
    refused(
        &place,
        early,
        "transition",
        &["intent", &uuid(1), "draft", "active"],
    );
    let taken = line("create_intent", json!({ "id": uuid(1), "prompt": "p" }));
    refused(&place, taken, "exists", &[&uuid(1), "leave the id out"]);
}

#[test]
fn an_empty_file_and_a_missing_one() {
    let place = Place::with_log();
    std::fs::write(place.path("empty"), "").unwrap();
    place
        .run(&["apply", "empty"])
        .fails(0, &["there was no command in empty"]);
    place
        .run(&["apply", "nowhere"])
        .fails(1, &["cannot read nowhere"]);
    assert_eq!(
        place.run(&["apply", "nowhere", "--json"]).error_code(),
        "input"
    );
}

#[test]
fn a_line_without_end_is_not_kept_in_memory() {
    let place = Place::with_log();
    let endless = vec![b'x'; 129 * 1024 * 1024];
    refused(&place, endless, "too_large", &["split the command up"]);
}

#[test]
fn no_log() {
    let place = Place::empty();
    let says = [
        "annals: there is no log at log: create one with `annals log init`",
        "--log",
    ];
    let commands: [&[&str]; 8] = [
        &["apply"],
        &["log"],
        &["show", "12345678"],
        &["history", "12345678"],
        &["stats"],
        &["verify"],
        &["backup", "copy"],
        &["export", "annals"],
    ];
    for args in commands {
        place.run(args).fails(1, &says);
        let args = [args, &["--json"]].concat();
        assert_eq!(place.run(&args).fails(1, &[]).error_code(), "no_log");
    }
    assert!(!place.log_dir().exists());
}

#[test]
fn a_place_that_is_not_a_log_is_refused() {
    let place = Place::empty();
    std::fs::create_dir(place.log_dir()).unwrap();
    std::fs::write(place.log_dir().join("notes.txt"), "hello").unwrap();
    place.run(&["stats"]).fails(1, &["log"]);
    place
        .run(&["init"])
        .fails(1, &["log is not empty", "choose"]);
    place
        .run(&["--log", "mysql://host/db", "stats"])
        .fails(1, &["mysql", "rocks:DIR", "postgres://"]);
    place.run(&["--log", "", "stats"]).fails(1, &["empty"]);
}

#[test]
fn unknown_and_ambiguous_ids() {
    let place = Place::with_log();
    let twin = "01980000-0000-7000-9000-000000000001";
    place.accept(&[
        human("create_intent", json!({ "id": uuid(1), "prompt": "p" })),
        human("create_task", json!({ "id": twin, "title": "t" })),
    ]);
    let show = |id: &str| place.run(&["show", id]);
    show(&uuid(404)).fails(1, &["there is no object", &uuid(404), "annals object list"]);
    show("deadbeef").fails(1, &["there is no object", "deadbeef"]);
    let says = [
        "ambiguous",
        "more of its last digits",
        &uuid(1),
        twin,
        "intent",
        "task",
    ];
    show("00000001").fails(1, &says);
    show("9000-000000000001").ok();
    show("1").fails(1, &["at least its last 8 hex digits"]);
    show("the cache").fails(1, &["at least its last 8 hex digits"]);
    let code = |id: &str| {
        place
            .run(&["history", id, "--json"])
            .fails(1, &[])
            .error_code()
    };
    assert_eq!(code("deadbeef"), "not_found");
    assert_eq!(code("00000001"), "ambiguous");
    assert_eq!(code("x"), "not_found", "an unknown alias");
    assert_eq!(code("a b"), "invalid_id");
}

#[test]
fn wrong_usage_ends_with_2() {
    let place = Place::with_log();
    let usage: [(&[&str], &str); 6] = [
        (&["shwo"], "show"),
        (&["show"], "<ID>"),
        (&["show", "12345678", "--at", "tomorrow"], "RFC 3339"),
        (&["log", "--follow", "--backward"], "--backward"),
        (&["init", "--log-id", "7"], "--log-id"),
        (&[], "annals start"),
    ];
    for (args, says) in usage {
        place.run(args).fails(2, &[says]);
    }
}

#[test]
fn words_that_are_not_known_are_answered_with_near_ones() {
    let place = Place::with_log();
    place
        .run(&["commands", "push"])
        .fails(1, &["did you mean push_frame?", "--list"]);
    let says = [
        "no event type \"run.create\"",
        "did you mean run.",
        "annals service events",
    ];
    place.run(&["log", "--type", "run.create"]).fails(1, &says);
    place.run(&["events", "run.create"]).fails(1, &says);
}

#[test]
fn a_word_in_other_letters_and_a_field_twice_are_slips() {
    let place = Place::with_log();
    let decide = json!({ "run": uuid(1), "decision_type": "Commit" });
    refused(
        &place,
        human("decide", decide).to_string(),
        "invalid",
        &["unknown decision type \"Commit\"", "expected one of commit"],
    );
    let twice = r#"{"command":"create_intent","prompt":"a","prompt":"b"}"#;
    refused(&place, twice, "invalid", &["duplicate field \"prompt\""]);
}

#[test]
fn wrong_arguments_are_json_where_json_was_asked_for() {
    let place = Place::with_log();
    let ran = place.run(&["--json", "show"]);
    let ran = ran.fails(2, &["required arguments"]);
    assert_eq!(ran.error_code(), "usage");
    place.run(&["show"]).fails(2, &["error: the following"]);
    let ran = place.run(&["--json", "log", "--since", "7"]);
    ran.fails(1, &["position 7 is not there yet: the log ends at 0"]);
}

#[test]
fn a_backup_into_the_log_itself_is_refused() {
    let place = Place::with_log();
    let inside = place.log_dir().join("copies/today");
    let inside = inside.to_string_lossy();
    place
        .run(&["backup", &inside])
        .fails(1, &["choose a place outside"]);
    assert!(!place.log_dir().join("copies").exists());
    place.run(&["verify"]).ok();
}
