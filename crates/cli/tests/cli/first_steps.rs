//! What a new user tries first: names of sessions, differences, filters, local times, hints.

use std::fs;

use serde_json::{Value, json};

use crate::import_claude::write;
use crate::support::{Place, Ran};

/// A recording of Claude Code: two prompts, each with an edit, and a call without a result.
fn recording(session: &str, project: &str) -> Vec<Value> {
    let mut lines: Vec<Value> = Vec::new();
    let mut line = |kind: &str, message: Value, more: Value| {
        let number = lines.len();
        let parent = number
            .checked_sub(1)
            .map(|before| format!("{session}-{before}"));
        let mut line = json!({
            "type": kind, "uuid": format!("{session}-{number}"), "parentUuid": parent, "sessionId": session,
            "cwd": project, "version": "2.0.0", "isSidechain": false,
            "timestamp": format!("2026-01-02T03:04:{number:02}Z"), "message": message,
        });
        if let (Value::Object(line), Value::Object(more)) = (&mut line, more) {
            line.extend(more);
        }
        lines.push(line);
    };
    let says = |id: &str, content: Value| {
        json!({ "id": format!("{session}-{id}"), "role": "assistant", "type": "message", "model": "claude-opus-4-5",
            "content": [content], "usage": { "input_tokens": 10, "output_tokens": 5 } })
    };
    for (number, word) in [(1, "first"), (2, "second")] {
        let prompt =
            json!({ "role": "user", "content": format!("Write the {word} file of {session}") });
        line("user", prompt, json!({}));
        let path = format!("{project}/{word}.txt");
        let input = json!({ "file_path": path, "content": format!("{word} line\n") });
        let call = json!({ "type": "tool_use", "id": format!("{session}-t{number}"), "name": "Write", "input": input });
        line("assistant", says(&format!("m{number}"), call), json!({}));
        let result = json!({ "role": "user", "content": [{ "type": "tool_result",
            "tool_use_id": format!("{session}-t{number}"), "content": "File created" }] });
        let more = json!({ "toolUseResult": { "type": "create", "filePath": path,
            "content": format!("{word} line\n"), "structuredPatch": [] } });
        line("user", result, more);
        let text = json!({ "type": "text", "text": format!("The {word} file is done.") });
        line("assistant", says(&format!("n{number}"), text), json!({}));
    }
    let input = json!({ "command": "sleep 100" });
    let call = json!({ "type": "tool_use", "id": format!("{session}-t9"), "name": "Bash", "input": input });
    line("assistant", says("m9", call), json!({}));
    lines
}

/// A log with the sessions `1111-shop` and `2222-blog`, and the position before the second prompt of the first one.
fn place() -> (Place, String) {
    let place = Place::with_log();
    let shop = recording("1111-shop", "/w/acme/shop");
    write(&place, "shop.jsonl", &shop[..4]);
    place.run(&["import", "claude", "shop.jsonl"]).ok();
    let position = place.run(&["stats", "--json"]).ok().json()["position"].to_string();
    write(&place, "shop.jsonl", &shop);
    place
        .run(&["import", "claude", "shop.jsonl", "--ended"])
        .ok();
    let mut blog = recording("2222-blog", "/w/other/shop");
    for line in &mut blog {
        let earlier = line["timestamp"]
            .as_str()
            .unwrap()
            .replace("03:04", "02:04");
        line["timestamp"] = json!(earlier);
    }
    write(&place, "blog.jsonl", &blog);
    place
        .run(&["import", "claude", "blog.jsonl", "--ended"])
        .ok();
    (place, position)
}

#[test]
fn a_difference_of_a_session_is_its_new_turns_and_files() {
    let (place, position) = place();
    let shown = place.run(&["diff", "1111", &position, "now"]).ok().stdout;
    for text in ["Write the second file", "second.txt", "+1 -0", "added"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    for text in ["Prompt 1", "first.txt", "visibility"] {
        assert!(!shown.contains(text), "{text}: {shown}");
    }
    let json = place
        .run(&["diff", "1111", &position, "--json"])
        .ok()
        .json();
    assert_eq!(json["turns"][0]["kind"], "prompt", "{json}");
    assert_eq!(json["files"][0]["path"], "second.txt", "{json}");
    let end = place.run(&["stats", "--json"]).ok().json()["position"].to_string();
    let same = place.run(&["diff", "1111", &end, "now"]);
    assert!(same.stderr.contains("no new turn"), "{same:?}");
    place
        .run(&["diff", "1111", &end, &position])
        .fails(2, &["earlier position first"]);
    // The task's fields are there for those who ask.
    let fields = place.run(&["diff", "1111", "--fields", &position, "now"]);
    assert!(
        !fields.stdout.contains("Write the second file"),
        "{fields:?}"
    );
}

#[test]
fn the_diffs_of_a_session_are_those_of_its_files() {
    let (place, _) = place();
    let diffs = place.run(&["diff", "1111"]).ok().stdout;
    for text in [
        "first.txt",
        "+first line",
        "second.txt",
        "+second line",
        "prompt 2",
    ] {
        assert!(diffs.contains(text), "{text}: {diffs}");
    }
    assert_eq!(place.run(&["show", "1111", "--diff"]).ok().stdout, diffs);
    let json = place.run(&["show", "1111", "--diff", "--json"]).ok().json();
    let diff = json["files"][1]["edits"][0]["diff"].as_str().unwrap();
    assert!(diff.contains("+second line"), "{json}");
}

#[test]
fn commands_take_every_name_of_a_session() {
    let (place, _) = place();
    let id = place.run(&["ls", "--json"]).ok().lines()[0]["id"].clone();
    let id = id.as_str().unwrap();
    let by_id = place.run(&["cost", id]).ok().stdout;
    for name in ["@last", "@1", "1111", "-shop", &id[..9]] {
        let args = ["cost", "--", name];
        assert_eq!(place.run(&args).ok().stdout, by_id, "{name}");
    }
    for command in [
        &["log", "history", "@last"][..],
        &["log", "tree", "@2"],
        &["log", "refs", "@last"],
        &["object", "compare", "@1", "@2"],
        &["object", "why", "@last", "status"],
        &["policy", "decisions", "--session", "@last"],
        &["export", "markdown", "@last"],
        &["export", "html", "@last"],
        &["diff", "@last"],
        &["resume", "@last"],
    ] {
        let ran = place.run(command);
        assert_eq!(ran.status, 0, "{command:?}: {ran:?}");
    }
    place
        .run(&["cost", "@9"])
        .fails(1, &["no session", "annals ls"]);
    place
        .run(&["diff", "99999999"])
        .fails(1, &["no object", "annals ls"]);
}

#[test]
fn searches_and_costs_have_filters_of_sessions() {
    let (place, _) = place();
    let titles = |args: &[&str]| {
        let args = [&["search", "second", "file", "--json"], args].concat();
        let found = place.run(&args).ok().json();
        let hits = found["hits"].as_array().unwrap().iter();
        let mut projects: Vec<String> = hits
            .map(|hit| hit["project"].as_str().unwrap().to_owned())
            .collect();
        projects.dedup();
        projects
    };
    assert_eq!(titles(&["--project", "acme/shop"]), ["/w/acme/shop"]);
    assert_eq!(titles(&["--project", "/w/other"]), ["/w/other/shop"]);
    assert_eq!(titles(&["--session", "1111"]), ["/w/acme/shop"]);
    assert_eq!(
        titles(&["--agent", "Claude Code", "--session", "@2"]),
        ["/w/other/shop"]
    );
    assert!(titles(&["--agent", "codex"]).is_empty());
    let tokens = |args: &[&str]| {
        let args = [&["cost", "--json"], args].concat();
        let report = place.run(&args).ok().json();
        report["total"]["total_tokens"].as_u64().unwrap()
    };
    let all = tokens(&[]);
    let one = tokens(&["--project", "acme/shop"]);
    assert_eq!(all, 2 * one);
    assert_eq!(tokens(&["--agent", "claude"]), all);
    assert_eq!(tokens(&["--agent", "codex"]), 0);
    assert_eq!(tokens(&["@last", "--project", "/w/other"]), 0);
}

#[test]
fn times_are_those_of_the_users_zone() {
    let (place, _) = place();
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        Ran::of(command.env("TZ", "America/New_York").output().unwrap())
            .ok()
            .stdout
    };
    for args in [
        &["ls"][..],
        &["show", "1111"],
        &["search", "second"],
        &["log", "-n", "3"],
    ] {
        let shown = run(args);
        assert!(shown.contains(" -05:00"), "{args:?}: {shown}");
    }
    assert!(run(&["ls"]).contains("2026-01-01 22:04:08 -05:00"));
    assert!(run(&["ls", "--time-zone", "utc"]).contains("2026-01-02 03:04:08Z"));
    assert!(run(&["ls", "--json"]).contains("2026-01-02T03:04:08Z"));
    assert!(run(&["cost"]).contains("2026-01-01"));
    assert!(run(&["cost", "--time-zone", "utc"]).contains("2026-01-02"));
}

#[test]
fn a_call_without_a_result_did_not_fail() {
    let (place, _) = place();
    let session = place.run(&["ls", "--json"]).ok().lines().remove(0);
    assert_eq!(
        (&session["tool_calls"], &session["failed_calls"]),
        (&json!(3), &json!(0))
    );
    let shown = place.run(&["show", "1111"]).ok().stdout;
    assert!(shown.contains("result not recorded"), "{shown}");
    assert!(!shown.contains("failed"), "{shown}");
}

#[test]
fn projects_of_one_name_can_be_told_apart() {
    let (place, _) = place();
    let table = place.run(&["ls"]).ok().stdout;
    assert!(
        table.contains("acme/shop") && table.contains("other/shop"),
        "{table}"
    );
    let costs = place.run(&["cost", "--by", "project"]).ok().stdout;
    assert!(
        costs.contains("acme/shop") && costs.contains("other/shop"),
        "{costs}"
    );
    let tree = recording(
        "3333-tree",
        "/w/a-project-with-a-long-name/.claude/worktrees/fix",
    );
    write(&place, "tree.jsonl", &tree);
    place.run(&["import", "claude", "tree.jsonl"]).ok();
    let session = place
        .run(&["ls", "--json", "--text", "3333"])
        .ok()
        .lines()
        .remove(0);
    assert_eq!(session["project"], "/w/a-project-with-a-long-name");
    let cut = place.run(&["ls"]).ok().stdout;
    assert!(!cut.contains("a-project-with-a-long-name"), "{cut}");
    let whole = place.run(&["ls", "-v"]).ok().stdout;
    assert!(whole.contains("a-project-with-a-long-name"), "{whole}");
}

#[test]
fn recording_says_what_is_on() {
    let place = Place::with_log();
    fs::create_dir_all(place.path("home/.claude")).unwrap();
    let off = place.run(&["record"]).ok().stdout;
    assert_eq!(place.run(&["record", "status"]).ok().stdout, off);
    assert!(
        off.contains("claude  off\n") && off.contains("queued events: none"),
        "{off}"
    );
    place.run(&["record", "on", "claude", "--yes"]).ok();
    let on = place.run(&["record"]).ok().stdout;
    assert!(
        on.contains("claude  on for the user: ") && on.contains("settings.json"),
        "{on}"
    );
    assert!(on.contains("codex   off\n"), "{on}");
    place.run(&["service", "record"]).fails(2, &["--otlp"]);
}

#[test]
fn budgets_say_whether_they_hold() {
    let (place, _) = place();
    let today = json!({ "type": "user", "uuid": "now-1", "sessionId": "now", "cwd": "/w/now",
        "timestamp": chrono::Utc::now().to_rfc3339(), "message": { "role": "user", "content": "Now" } });
    let usage = json!({ "input_tokens": 126_000, "output_tokens": 0 });
    let message = json!({ "id": "now-m", "role": "assistant", "model": "claude-opus-4-5",
        "content": [{ "type": "text", "text": "x" }], "usage": usage });
    let answer = json!({ "type": "assistant", "uuid": "now-2", "sessionId": "now", "cwd": "/w/now",
        "timestamp": chrono::Utc::now().to_rfc3339(), "message": message });
    write(&place, "now.jsonl", &[today, answer]);
    place
        .run(&["import", "claude", "now.jsonl", "--ended"])
        .ok();
    let set = place.run(&["budget", "set", "0.10/day"]).ok().stdout;
    for text in [
        "$0.10/day",
        "$0.63",
        "over by $0.53",
        "not enforced: `annals record on --budgets`",
    ] {
        assert!(set.contains(text), "{text}: {set}");
    }
    place
        .run(&["budget", "set", "50/day", "--project", "shop"])
        .ok();
    let line = place.run_with(&["statusline"], "{}").ok().stdout;
    assert!(
        !line.contains("session") && !line.contains("shop"),
        "{line}"
    );
    assert!(line.contains("$0.10/day"), "{line}");
    fs::create_dir_all(place.path("home/.claude")).unwrap();
    place
        .run(&["record", "on", "claude", "--budgets", "--yes"])
        .ok();
    let shown = place.run(&["budget"]).ok().stdout;
    assert!(!shown.contains("not enforced"), "{shown}");
}

#[test]
fn what_is_missing_is_named_with_a_hint() {
    let place = Place::with_log();
    place.run(&["share"]).fails(2, &["annals share @last"]);
    assert_eq!(place.run(&["cost"]).ok().stdout, "no cost recorded\n");
    let bare = place.run(&[]);
    assert_eq!(bare.status, 2, "{bare:?}");
    assert_eq!(bare.stderr.lines().count(), 1, "{bare:?}");
    assert!(
        bare.stderr.contains("annals start") && bare.stderr.contains("not a terminal"),
        "{bare:?}"
    );
    assert!(bare.stdout.contains("Usage:"), "{bare:?}");
}

#[test]
fn a_clean_import_raises_no_alarm() {
    let (place, _) = place();
    let verified = place.run(&["proof", "verify"]).ok().stdout;
    assert!(
        verified.contains("sound") && !verified.contains("clock skew"),
        "{verified}"
    );
}

#[test]
fn a_session_without_a_prompt_has_the_same_words_everywhere() {
    let place = Place::with_log();
    let message = json!({ "id": "m", "role": "assistant", "model": "claude-opus-4-5",
        "content": [{ "type": "text", "text": "Hello" }], "usage": { "input_tokens": 1, "output_tokens": 1 } });
    let line = json!({ "type": "assistant", "uuid": "a", "sessionId": "s", "cwd": "/w", "message": message,
        "timestamp": "2026-01-02T03:04:05Z", "version": "2.0.0", "isSidechain": false });
    write(&place, "s.jsonl", &[line]);
    place.run(&["import", "claude", "s.jsonl", "--ended"]).ok();
    for args in [&["ls"][..], &["show", "@last"]] {
        let shown = place.run(args).ok().stdout;
        assert!(
            shown.contains("Claude Code session without a prompt"),
            "{args:?}: {shown}"
        );
    }
}
