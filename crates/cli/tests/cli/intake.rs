//! Intake: what a text asks for, by rule.

use serde_json::{Value, json};

use crate::support::Place;

#[test]
fn a_text_is_classified_without_a_log_in_both_languages() {
    let place = Place::empty();
    let text = place.run(&["classify", "Fix the crash at login"]).ok();
    let expected = "type  fix\nflow  analyze, implement, review\nrisk  low\n";
    assert_eq!(text.stdout, expected);
    let explained = place
        .run(&["classify", "--explain", "認証の不具合"])
        .ok()
        .stdout;
    assert!(explained.contains("fix, by the keyword \"不具合\""));
    assert!(explained.contains("high, by the high word \"認証\""));
    assert!(!place.log_dir().exists());
}

#[test]
fn a_high_word_counts_before_the_type_in_both_languages() {
    let place = Place::with_log();
    for text in [
        "Delete all payment records in production without a test run",
        "Add tests for authentication",
        "アーキテクチャ変更",
        "認証のテストを追加",
        "データ移行のテスト",
    ] {
        let found = place.run(&["classify", "--json", text]).ok().json();
        assert_eq!(found["risk"], "high", "{text}: {found}");
        let found = place.run(&["classify", "--type", "test", "--json", text]);
        assert_eq!(found.ok().json()["risk"], "high", "{text}");
    }
    place
        .run(&["submit", "--alias", "it", "Deleting payments, tested"])
        .ok();
    let inbox = place.run(&["inbox", "--json"]).ok();
    assert!(inbox.stdout.contains("\"approval\""), "{inbox:?}");
}

#[test]
fn a_text_can_come_from_standard_input_with_what_its_author_said() {
    let place = Place::empty();
    let text = "The cache grows\n\nIt is never emptied.\n";
    let args = ["classify", "--source", "reflection", "--json"];
    let found = place.run_with(&args, text).ok().json();
    assert_eq!(found["type"], "audit");
    assert_eq!(found["type_rule"], json!({ "by": "source" }));
    assert_eq!(found["flow"], json!(["audit", "report"]));
    let args = [
        "classify", "--type", "test", "--label", "fix", "--json", "-",
    ];
    let found = place.run_with(&args, text).ok().json();
    assert_eq!(found["type_rule"], json!({ "by": "declared" }));
    assert_eq!(found["risk"], "low");
}

#[test]
fn what_is_no_text_and_no_type_is_refused_by_name() {
    let place = Place::empty();
    place
        .run_with(&["classify"], [b'a', 0xff])
        .fails(1, &["not UTF-8 from its byte 2 on"]);
    place
        .run_with(&["classify"], "x".repeat(1024 * 1024 + 1))
        .fails(1, &["longer than 1 MiB"]);
    place.run(&["classify", "--type", "Fix", "x"]).fails(
        2,
        &["Fix", "feature, refactor, fix, test, audit, any other word"],
    );
}

#[test]
fn a_type_that_is_not_listed_is_kept_and_said() {
    let place = Place::with_log();
    let args = [
        "submit",
        "--alias",
        "it",
        "--type",
        "docs",
        "Describe the cache",
    ];
    place.run(&args).fails(0, &["\"docs\" is not one of"]);
    let shown = place.run(&["show", "it", "--as", "forge", "--json"]).ok();
    let shown = shown.json();
    assert_eq!(
        (&shown["type"], &shown["risk"]),
        (&json!("docs"), &json!("med"))
    );
    assert_eq!(shown["flow"], json!(["analyze", "implement", "review"]));
    place
        .run(&["settings", "classification.unknown_type", "audit"])
        .ok();
    let args = ["judge", "it", "--type", "survey"];
    place
        .run(&args)
        .fails(0, &["\"survey\" is not one of feature"]);
    let shown = place.run(&["show", "it", "--as", "forge", "--json"]).ok();
    assert_eq!(shown.json()["flow"], json!(["audit", "report"]));
    // By lines, too; a listed word in other letters is a slip.
    let line = |work_type: &str| {
        json!({ "command": "submit_intent", "actor": agent(),
        "prompt": "Say it", "source": "audit", "type": work_type })
    };
    assert_eq!(place.apply(&[line("poetry")])[0]["ok"], true);
    let refused = place.apply(&[line("Test")]).remove(0);
    assert_eq!(refused["ok"], false, "{refused}");
    // A type that is not listed is content: it can be redacted.
    let args = ["redact", "--pattern", "poetry", "--reason", "a test"];
    place.run(&args).ok();
    let listed = place.run(&["log", "--json"]).ok().stdout;
    assert!(!listed.contains("poetry"), "{listed}");
    place.run(&["verify"]).ok();
}

pub(super) fn agent() -> Value {
    json!({ "kind": "agent", "id": "coder" })
}

/// Another agent, that reviews what the first one did.
fn reviewer() -> Value {
    json!({ "kind": "agent", "id": "reviewer" })
}

/// The id of the intent with an alias.
fn id_of(place: &Place, alias: &str) -> String {
    let shown = place.run(&["show", alias, "--json"]).ok().json();
    shown["object_id"].as_str().unwrap().to_owned()
}

/// The status on Forge's axis.
fn status(place: &Place, alias: &str) -> String {
    let shown = place.run(&["show", alias, "--as", "forge", "--json"]).ok();
    shown.json()["status"].as_str().unwrap().to_owned()
}

pub(super) fn submit(place: &Place, alias: &str, more: &[&str], text: &str) {
    let mut args = vec!["submit", "--alias", alias];
    args.extend(more);
    args.push(text);
    place.run(&args).ok();
}

/// Who runs what the inbox says runs that command, and it means the intent that it is printed for.
#[test]
fn the_inbox_prints_commands_that_are_one_command_each_and_name_one_intent() {
    let place = Place::with_log();
    let aliases = [
        "fix;id",
        "a$(id)",
        "it's",
        "-rf",
        "#top",
        "{a,b}",
        "plain-1.2",
    ];
    for alias in aliases {
        let alias = format!("--alias={alias}");
        place
            .run(&["submit", &alias, "--risk", "high", "Do it"])
            .ok();
    }
    // Their last eight digits are the same, so that these mean neither.
    let twins = [
        "1111aaaa-0000-7000-8000-0000aaaaaaaa",
        "2222bbbb-0000-7000-8000-0000aaaaaaaa",
    ];
    for id in twins {
        let command = json!({
            "command": "submit_intent", "id": id, "prompt": "Do it", "source": "audit", "risk": "high",
            "actor": {"kind": "agent", "id": "bot"},
        });
        place.run_with(&["apply"], command.to_string()).ok();
    }
    let waiting = place.run(&["inbox", "--json"]).ok().lines();
    assert_eq!(waiting.len(), aliases.len() + twins.len());
    let printed = place.run(&["inbox"]).ok().stdout;
    for entry in &waiting {
        let id = entry["id"].as_str().unwrap();
        let name = match entry["alias"].as_str() {
            Some(alias @ "plain-1.2") => alias,
            _ => id,
        };
        let resolve = [
            format!("annals intent approve {name}"),
            format!("annals intent reject {name} --reason TEXT"),
        ];
        assert_eq!(entry["resolve"], json!(resolve));
        for command in resolve {
            assert!(printed.contains(&format!("  -> {command}\n")), "{printed}");
        }
        place.run(&["approve", name, "--actor", "human:eve"]).ok();
    }
}

#[test]
fn what_waits_is_in_the_inbox_the_oldest_first_with_what_resolves_it() {
    let place = Place::with_log();
    submit(&place, "first", &[], "Add a link to the login page");
    submit(&place, "low", &["--risk", "low"], "Rename the cache module");
    submit(&place, "second", &[], "認証の設計変更をする");
    let inbox = place.run(&["inbox"]).ok().stdout;
    let lines: Vec<&str> = inbox.lines().collect();
    assert!(
        lines[0].starts_with("first  approval  risk med  since "),
        "{inbox}"
    );
    assert_eq!(
        lines[1..4],
        [
            "  Add a link to the login page",
            "  why: risk med by rule (type feature); the system approves up to low \
             (autonomy.threshold)",
            "  -> annals intent approve first"
        ]
    );
    assert!(
        lines[5].starts_with("second  approval  risk high"),
        "{inbox}"
    );
    assert_eq!(lines.len(), 10, "what is low went on by itself: {inbox}");
    let json = place.run(&["inbox", "--json"]).ok().lines();
    assert_eq!(json[1]["reasons"], json!(["approval"]));
    let why = json[1]["why"].as_str().unwrap();
    assert!(
        why.starts_with("risk high by rule (word \"設計変更\")"),
        "{why}"
    );
    assert_eq!(json[1]["resolve"][0], "annals intent approve second");

    place
        .run(&["approve", "first", "second", "--actor", "human:approver"])
        .ok();
    let empty = place.run(&["inbox"]);
    assert_eq!((empty.status, empty.stdout.as_str()), (0, ""));
    assert_eq!(status(&place, "second"), "approved");
    assert_eq!(status(&place, "low"), "approved");
}

#[test]
fn what_waits_for_an_intent_that_was_turned_down_is_in_the_inbox() {
    let place = Place::with_log();
    let low = ["--risk", "low"];
    for (alias, more) in [
        ("base", &[][..]),
        ("kept", &[]),
        ("stuck", &["--after", "kept", "--after", "base"]),
        ("waits", &["--after", "kept"]),
        ("behind", &["--after", "stuck"]),
    ] {
        submit(
            &place,
            alias,
            &[&low, more].concat(),
            "Rename the cache module",
        );
    }
    let nothing_waits = || {
        let inbox = place.run(&["inbox"]);
        assert_eq!((inbox.status, inbox.stdout.as_str()), (0, ""), "{inbox:?}");
    };
    // They may yet be done.
    nothing_waits();
    place.run(&["reject", "base", "--reason", "not now"]).ok();
    let inbox = place.run(&["inbox"]).ok().stdout;
    let lines: Vec<&str> = inbox.lines().collect();
    assert!(
        lines[0].starts_with("stuck  dependency  risk low  since "),
        "{inbox}"
    );
    assert_eq!(
        lines[1..],
        [
            "  Rename the cache module",
            "  why: it depends on base, which is rejected, and begins only when that is done",
            "  -> annals intent reject stuck --reason TEXT"
        ]
    );
    let json = place.run(&["inbox", "--json"]).ok().lines();
    assert_eq!(json.len(), 1);
    assert_eq!(json[0]["reasons"], json!(["dependency"]));
    assert_eq!(json[0]["called_off"][0]["status"], "rejected");
    // A rebuilt catalogue says the same.
    place.run(&["rebuild"]).ok();
    assert_eq!(place.run(&["inbox"]).ok().stdout, inbox);
    // What resolves it does, and the next one waits.
    place.run(&["reject", "stuck", "--reason", "no base"]).ok();
    let next = place.run(&["inbox", "--json"]).ok().lines();
    assert_eq!((next.len(), &next[0]["alias"]), (1, &json!("behind")));
    place.run(&["reject", "behind", "--reason", "no base"]).ok();
    nothing_waits();
    assert_eq!(status(&place, "waits"), "approved");
}

#[test]
fn of_many_ids_those_that_are_refused_are_said_and_the_others_are_done() {
    let place = Place::with_log();
    submit(&place, "a", &[], "Add a page");
    submit(&place, "b", &[], "Add a page");
    let ran = place.run(&[
        "approve",
        "a",
        "nobody",
        "a",
        "b",
        "--actor",
        "human:approver",
    ]);
    let refused = ran.fails(
        1,
        &["nobody: there is no object", "a: approve_intent is refused"],
    );
    assert!(
        refused.stderr.contains("2 of 4 were refused"),
        "{refused:?}"
    );
    assert_eq!(refused.stdout.lines().count(), 2);
    assert_eq!(
        refused.stderr.lines().count(),
        3,
        "each refusal once: {refused:?}"
    );
    assert_eq!(status(&place, "b"), "approved");
}

const ANSWER: &str = r#"I looked at {the code}. Here is the plan:

```json
{"tasks": [
  {"id": "form", "title": "Add the form", "depends_on": ["mail"], "complexity": "low"},
  {"id": "mail", "title": "Send the mail", "plan": "one function", "relevant_files": ["mail.rs"]}
]}
```
Tell me when it may begin."#;

/// A run of a task, up to where it is reviewed.
fn attempt(place: &Place, task: &str) {
    let run = json!({ "command": "create_run", "actor": agent(), "task": task });
    let run = place.accept(&[run]).remove(0);
    place.accept(&[
        json!({ "command": "start_patching", "actor": agent(), "run": run }),
        json!({ "command": "propose_patch_set", "actor": agent(), "run": run, "format": "unified_diff" }),
        json!({ "command": "start_validation", "actor": agent(), "run": run }),
    ]);
}

fn ready(place: &Place, alias: &str) -> Vec<(String, String)> {
    let lines = place.run(&["ready", alias, "--json"]).ok().lines();
    let of = |line: &Value| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&line["view"]["id"]), text(&line["task"]))
    };
    lines.iter().map(of).collect()
}

#[test]
fn an_intent_goes_from_a_draft_to_what_failed_and_is_tried_anew() {
    let place = Place::with_log();
    submit(
        &place,
        "reset",
        &["--risk", "low"],
        "Reset link\n\nUsers ask for it.",
    );
    let analyzed = place
        .run_with(&["analyze", "reset", "-"], ANSWER)
        .ok()
        .stdout;
    assert!(
        analyzed.contains("executing (risk low)  Reset link"),
        "{analyzed}"
    );
    let first = ready(&place, "reset");
    assert_eq!(first.len(), 1, "the form waits for the mail");
    assert_eq!(first[0].0, "mail");

    for attempt_number in 1..=3 {
        attempt(&place, &first[0].1);
        let review = json!({ "command": "record_review", "actor": reviewer(), "task": first[0].1,
            "verdict": "rejected", "issues": [format!("no test, {attempt_number}")],
            "suggestions": ["split it"] });
        place.accept(&[review]);
    }
    assert_eq!(
        status(&place, "reset"),
        "error",
        "the form failed with the mail"
    );
    let inbox = place.run(&["inbox"]).ok().stdout;
    for line in [
        "Send the mail: review rejected after max retries",
        "    issue: no test, 3",
        "    suggestion: split it",
        "Add the form: dependency failed",
        "  -> annals intent rerun reset --instruction TEXT",
    ] {
        assert!(inbox.contains(line), "{line:?} is not in {inbox}");
    }

    place
        .run(&["rerun", "reset", "--instruction", "write tests first"])
        .ok();
    assert_eq!(status(&place, "reset"), "approved");
    let again = ready(&place, "reset");
    assert_eq!((again.len(), again[0].0.as_str()), (1, "mail"));
    assert_ne!(again[0].1, first[0].1);
    attempt(&place, &again[0].1);
    assert_eq!(status(&place, "reset"), "executing");
    let review = json!({ "command": "record_review", "actor": reviewer(), "task": again[0].1,
        "verdict": "approved" });
    place.accept(&[review]);
    assert_eq!(ready(&place, "reset")[0].0, "form", "the mail is done");
    let shown = place
        .run(&["show", "reset", "--as", "forge", "--json"])
        .ok()
        .json();
    assert_eq!(shown["instructions"], json!(["write tests first"]));
    assert_eq!(shown["tasks"].as_array().unwrap().len(), 2, "{shown}");
    // A task comes after the tasks that it waits for.
    assert_eq!(shown["tasks"][1]["depends_on"], json!(["mail"]), "{shown}");
    place.run(&["verify"]).ok();
}

#[test]
fn the_same_stream_is_shown_in_both_vocabularies_at_any_position() {
    let place = Place::with_log();
    submit(&place, "ask", &["--source", "audit"], "Look into the cache");
    let id = id_of(&place, "ask");
    place
        .run(&["approve", "ask", "--actor", "human:approver"])
        .ok();
    place
        .run(&[
            "analyze",
            "ask",
            r#"{"outcome":"needs_clarification","clarifications":["which?"]}"#,
        ])
        .ok();
    let forge = |at: &str| {
        let args = ["show", "ask", "--as", "forge", "--json", "--at", at];
        place.run(&args).ok().json()
    };
    let git_internal = |at: &str| {
        let args = ["show", "ask", "--as", "git-internal", "--json", "--at", at];
        let shown = place.run(&args).ok().json();
        let statuses = shown["statuses"].as_array().unwrap().len();
        (statuses, shown["content"].is_string())
    };
    let end = place.run(&["log", "--json"]).ok().lines().len().to_string();
    assert_eq!(forge("3")["status"], "proposed");
    assert_eq!(forge("3")["type"], "audit");
    assert_eq!(forge("3")["flow"], json!(["audit", "report"]));
    assert_eq!(forge("5")["status"], "approved");
    let now = forge(&end);
    assert_eq!(
        (&now["status"], &now["needs_clarification"]),
        (&json!("executing"), &json!(true))
    );
    assert_eq!(now["id"], "ask");
    assert_eq!(
        (git_internal("3"), git_internal(&end)),
        ((1, false), (2, true))
    );

    let inbox = place.run(&["inbox"]).ok().stdout;
    assert!(
        inbox.contains("  0? which?\n  -> annals intent answer ask --question 0 --text TEXT"),
        "{inbox}"
    );
    place
        .run(&["answer", &id, "--text", "the one of pages"])
        .ok();
    assert_eq!(status(&place, "ask"), "approved");
    place.run(&["reject", "ask", "--reason", "not now"]).ok();
    let args = ["show", "ask", "--as", "git-internal", "--json"];
    let shown = place.run(&args).ok().json();
    assert_eq!(shown["statuses"][2]["status"], "cancelled");
    assert_eq!(shown["statuses"][2]["reason"], "not now");
}

#[test]
fn settings_are_recorded_and_hold_from_then_on() {
    let place = Place::with_log();
    submit(&place, "before", &[], "Fix a typo");
    let args = ["settings", "autonomy.trust_classifier", "false"];
    assert_eq!(
        place.run(&args).ok().stdout,
        "autonomy.trust_classifier  false\n"
    );
    submit(&place, "after", &[], "Fix a typo");
    assert_eq!(
        (status(&place, "before"), status(&place, "after")),
        ("approved".into(), "proposed".into())
    );
    let args = ["settings", "--at", "3", "--json"];
    assert_eq!(
        place.run(&args).ok().json()["autonomy.trust_classifier"],
        "true"
    );
    place
        .run(&["settings", "autonomy.threshold", "medium"])
        .fails(1, &["none, low, med or high"]);
    place
        .run(&["settings", "autonomy.treshold"])
        .fails(2, &["autonomy.threshold"]);
}

#[test]
fn what_the_rules_call_low_goes_on_and_nothing_is_in_limbo() {
    let place = Place::with_log();
    submit(&place, "typo", &[], "Fix a typo");
    let shown = |alias: &str| {
        let shown = place.run(&["show", alias, "--as", "forge", "--json"]).ok();
        let shown = shown.json();
        (shown["approved_by"].clone(), shown["approval"].clone())
    };
    let rule = json!("risk low by rule (type fix)");
    assert_eq!(shown("typo"), (json!("system"), rule.clone()));
    let history = place.run(&["history", "typo"]).ok().stdout;
    assert!(history.contains("risk low by rule (type fix)"), "{history}");
    let empty = place.run(&["inbox"]).fails(0, &["nothing waits"]);
    assert_eq!(empty.stdout, "");

    // With the rules not trusted it waits, and the inbox says why and what resolves it.
    place
        .run(&["settings", "autonomy.trust_classifier", "false"])
        .ok();
    submit(&place, "waits", &[], "Fix a typo");
    let inbox = place.run(&["inbox"]).ok().stdout;
    for line in [
        "waits  approval  risk low",
        "why: risk low by rule (type fix); only the rules gave that risk \
         (autonomy.trust_classifier false)",
        "-> annals intent approve waits",
    ] {
        assert!(inbox.contains(line), "{line:?} is not in {inbox}");
    }
    let json = place.run(&["inbox", "--json"]).ok().json();
    assert_eq!(json["resolve"][0], "annals intent approve waits");
    // Another type later is not what gave the risk.
    place.run(&["judge", "waits", "--type", "feature"]).ok();
    let inbox = place.run(&["inbox"]).ok().stdout;
    assert!(inbox.contains("risk low by rule (type fix)"), "{inbox}");
    // What waits since then goes on at a person's word: a setting is for what comes.
    place
        .run(&["settings", "autonomy.trust_classifier", "true"])
        .ok();
    let inbox = place.run(&["inbox"]).ok().stdout;
    assert!(
        inbox.contains("it was proposed where the system did not approve"),
        "{inbox}"
    );
    place.run(&["judge", "waits", "--risk", "low"]).ok();
    assert_eq!(
        shown("waits"),
        (json!("system"), json!("risk low (judged)"))
    );
    let empty = place.run(&["inbox"]).fails(0, &["nothing waits"]);
    assert_eq!(empty.stdout, "");
}

#[test]
fn a_child_of_an_analysis_keeps_its_type_labels_and_dependencies_and_its_parent_lists_it() {
    let place = Place::with_log();
    submit(&place, "whole", &["--risk", "low"], "Rework the login");
    submit(&place, "before", &[], "Fix a typo");
    let answer = r#"{"outcome":"child_intents","child_intents":[
        {"id":"page","title":"Describe the page","body":"","type":"docs","labels":["ui","login"]},
        {"title":"Mend the form","body":"all of it","type":"fix","labels":["ui"],
         "depends_on":["page","before"]}]}"#;
    place.run(&["analyze", "whole", answer]).ok();
    let forge = |id: &str| {
        let args = ["show", id, "--as", "forge", "--json"];
        place.run(&args).ok().json()
    };
    let whole = forge("whole");
    let children = whole["children"].as_array().unwrap();
    let of = |name: &str| -> Vec<&Value> { children.iter().map(|child| &child[name]).collect() };
    assert_eq!(of("title"), ["Describe the page", "Mend the form"]);
    assert_eq!(of("type"), ["docs", "fix"]);
    assert_eq!(of("status"), ["proposed", "approved"]);
    let (page, form) = (of("id")[0].as_str().unwrap(), of("id")[1].as_str().unwrap());
    let page_view = forge(page);
    assert_eq!(page_view["labels"], json!(["ui", "login"]));
    assert_eq!(page_view["parent"], "whole");
    let form_view = forge(form);
    assert_eq!(form_view["depends_on"], json!([page, "before"]));
    assert_eq!(form_view["risk"], "low");
    let listed = place
        .run(&["list", "intents", "--label", "login", "--json"])
        .ok()
        .json();
    assert_eq!(listed["id"], page);
    // What waits in a circle, or for nothing that is there, is refused.
    for (answer, says) in [
        (
            r#"{"outcome":"child_intents","child_intents":[
                {"id":"a","title":"a","body":"","depends_on":["b"]},
                {"id":"b","title":"b","body":"","depends_on":["a"]}]}"#,
            "children wait for each other: a -> b -> a",
        ),
        (
            r#"{"outcome":"child_intents","child_intents":[
                {"title":"a","body":"","depends_on":["nobody"]}]}"#,
            "unknown intent \"nobody\": expected a child of this analysis",
        ),
        (
            r#"{"outcome":"child_intents","child_intents":[
                {"title":"a","body":"","depends_on":["whole"]}]}"#,
            "it would be a part of",
        ),
    ] {
        place.run(&["analyze", "whole", answer]).fails(1, &[says]);
    }
}

#[test]
fn an_analysis_that_cannot_be_read_or_done_is_refused_and_nothing_is_stored() {
    let place = Place::with_log();
    submit(&place, "it", &["--risk", "low"], "Do it");
    let end = place.run(&["log", "--json"]).ok().lines().len();
    for (answer, says) in [
        ("no json at all", "analysis"),
        (
            r#"{"tasks":[{"id":"a","title":"A","depends_on":["b"]},{"id":"b","title":"B","depends_on":["a"]}]}"#,
            "a -> b -> a",
        ),
        (
            r#"{"tasks":[{"id":"a","title":"A","complexity":"huge"}]}"#,
            "tasks[0].complexity",
        ),
        (
            r#"{"tasks":[{"id":"a","title":"A","depends_on":["z"]}]}"#,
            "z",
        ),
        (
            r#"{"outcome":"child_intents","child_intents":[]}"#,
            "child_intents",
        ),
    ] {
        place.run(&["analyze", "it", answer]).fails(1, &[says]);
        let line = json!({ "command": "record_analysis", "actor": agent(),
            "intent": id_of(&place, "it"), "analysis": answer });
        assert_eq!(place.apply(&[line])[0]["ok"], false, "{answer}");
    }
    assert_eq!(place.run(&["log", "--json"]).ok().lines().len(), end);
}

#[test]
fn the_status_of_a_task_in_an_answer_is_checked_and_the_task_is_pending() {
    let place = Place::with_log();
    submit(&place, "it", &["--risk", "low"], "Do it");
    let answer = |status: &str| json!({ "tasks": [{ "id": "a", "title": "A", "status": status }] });
    let wrong = answer("finished").to_string();
    place
        .run(&["analyze", "it", &wrong])
        .fails(1, &["tasks[0].status"]);
    let done = answer("done").to_string();
    place.run(&["analyze", "it", &done]).ok();
    let shown = place.run(&["show", "it", "--as", "forge", "--json"]).ok();
    assert_eq!(shown.json()["tasks"][0]["status"], "pending");
    assert_eq!(ready(&place, "it").len(), 1);
}

#[test]
fn a_chain_of_refinements_is_shown_from_any_of_them_the_newest_first() {
    let place = Place::with_log();
    let create = |prompt: &str, parent: Option<&str>| {
        let command = json!({ "command": "create_intent", "actor": agent(), "prompt": prompt,
            "parent": parent });
        place.accept(&[command]).remove(0)
    };
    let first = create("first", None);
    let second = create("second", Some(&first));
    create("another second", Some(&first));
    let third = create("third", Some(&second));
    let titles = |id: &str| {
        let chain = place.run(&["refinements", id, "--json"]).ok().lines();
        let titles: Vec<String> = chain
            .iter()
            .map(|row| row["title"].as_str().unwrap().to_owned())
            .collect();
        titles
    };
    assert_eq!(titles(&third), ["third", "second", "first"]);
    assert_eq!(titles(&second), ["third", "second", "first"]);
    assert_eq!(
        titles(&first),
        ["another second", "first"],
        "the newest goes on"
    );
}

#[test]
fn a_tree_shows_all_that_an_intent_led_to_with_statuses_and_commits() {
    let place = Place::with_log();
    submit(&place, "whole", &["--risk", "low"], "Rework the login");
    let answer =
        r#"{"outcome":"child_intents","child_intents":[{"title":"Fix the form","body":""}]}"#;
    place.run(&["analyze", "whole", answer]).ok();
    let child = place.run(&["list", "intents", "--json"]).ok().lines()[0]["id"].clone();
    let child = child.as_str().unwrap();
    place
        .run(&["analyze", child, r#"{"plan":"one line"}"#])
        .ok();
    let task = ready(&place, child).remove(0).1;
    attempt(&place, &task);
    let commit = "5a".repeat(20);
    let review = json!({ "command": "record_review", "actor": reviewer(), "task": task,
        "verdict": "approved", "result_commit_sha": commit });
    place.accept(&[review]);
    let tree = place.run(&["tree", "whole"]).ok().stdout;
    let kinds: Vec<&str> = tree
        .lines()
        .map(|line| line.trim_start().split(' ').next().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "intent",
            "intent",
            "task",
            "run",
            "patch_set",
            "evidence",
            "decision"
        ]
    );
    let lines: Vec<&str> = tree.lines().collect();
    assert!(lines[0].contains("active, done [whole]"), "{tree}");
    assert!(lines[1].contains("active, done"), "{tree}");
    assert!(lines[1].contains("-> commit 5a5a5a5a5a5a"), "{tree}");
    assert!(lines[4].contains("applied"), "{tree}");
    assert!(
        lines[6].contains("commit: -> commit 5a5a5a5a5a5a"),
        "{tree}"
    );
    let json = place.run(&["tree", "whole", "--json"]).ok().json();
    assert_eq!(json["nodes"][6]["commit"], commit.as_str());
    assert_eq!(json["nodes"][1]["approval"], "done");
}

/// A person approves all that the intent is by then.
#[test]
fn what_agents_added_is_shown_before_the_approval() {
    let place = Place::with_log();
    submit(&place, "page", &["--actor", "human:ada"], "Add a help page");
    let id = place.run(&["show", "page", "--json"]).ok().json()["object_id"].clone();
    let bot = json!({ "kind": "agent", "id": "bot" });
    let instruct = json!({ "command": "instruct_intent", "intent": id, "actor": bot,
        "instruction": "Also drop the database" });
    let refused = place.run_with(&["apply"], instruct.to_string());
    assert!(
        refused.stdout.contains("somebody else requested"),
        "{}",
        refused.stdout
    );
    for command in [
        json!({ "command": "create_task", "intent": id, "title": "Drop the database" }),
        json!({ "command": "submit_intent", "child_of": id, "prompt": "Purge the backups",
            "source": "epiphany", "risk": "low" }),
        json!({ "command": "judge_intent", "intent": id, "type": "docs" }),
    ] {
        let mut command = command;
        command["actor"] = bot.clone();
        place.run_with(&["apply"], command.to_string()).ok();
    }
    let inbox = place.run(&["inbox"]).ok().stdout;
    let shown = place.run(&["show", "page"]).ok().stdout;
    for text in [&inbox, &shown] {
        for added in [
            "added by agent bot: task: Drop the database",
            "added by agent bot: part: Purge the backups",
            "added by agent bot: judged: type docs",
        ] {
            assert!(text.contains(added), "{added}: {text}");
        }
    }
    assert!(inbox.contains("  by human ada"), "{inbox}");
    let listed = place.run(&["inbox", "--json"]).ok().json();
    assert_eq!(listed["requested_by"]["id"], "ada", "{listed}");
    assert_eq!(listed["added"][0]["by"]["id"], "bot", "{listed}");
}
