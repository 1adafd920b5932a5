//! `annals budget`, budgets in the gate of hooks, and `annals statusline`.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Place, Ran};

const MODEL: &str = "claude-opus-4-5";

/// A line of a transcript of Claude Code, a minute ago.
fn line(n: u8, message: &Value) -> String {
    let at = chrono::Utc::now() - chrono::TimeDelta::minutes(1);
    let role = &message["role"];
    let line = json!({ "type": role, "uuid": format!("u{n}"), "sessionId": "s1", "cwd": "/work/shop",
        "timestamp": at.to_rfc3339(), "isSidechain": false, "message": message });
    format!("{line}\n")
}

/// A message that costs 5 USD for each million tokens.
fn says(id: &str, model: &str, tokens: u64) -> Value {
    json!({ "role": "assistant", "id": id, "model": model, "content": [{ "type": "text", "text": "x" }],
        "usage": { "input_tokens": tokens, "output_tokens": 0 } })
}

/// A log with a session in `/work/shop` that cost 10 USD today.
fn place() -> Place {
    let place = Place::with_log();
    let prompt = json!({ "role": "user", "content": "Fix it" });
    let lines = [line(1, &prompt), line(2, &says("m1", MODEL, 2_000_000))];
    fs::write(place.path("s1.jsonl"), lines.concat()).unwrap();
    place.run(&["import", "claude", "s1.jsonl", "--ended"]).ok();
    place
}

fn event(id: &str) -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/work/shop", "permission_mode": "default",
        "tool_name": "Bash", "tool_use_id": id, "tool_input": { "command": "ls" }, "model": MODEL,
    })
}

fn hook(place: &Place, agent: &str, options: &[&str], event: &Value) -> Ran {
    let args = [&["hook", agent, "--deadline", "60000"], options].concat();
    place.run_with(&args, event.to_string()).ok()
}

/// The answer to Claude Code: the decision and its reason; nothing, where its own settings decide.
fn answer(place: &Place, options: &[&str], event: &Value) -> Option<(String, String)> {
    let ran = hook(place, "claude", options, event);
    if ran.stdout.is_empty() {
        return None;
    }
    let answer = &ran.json()["hookSpecificOutput"];
    let text = |name: &str| answer[name].as_str().unwrap().to_owned();
    Some((text("permissionDecision"), text("permissionDecisionReason")))
}

#[test]
fn budgets_are_set_shown_and_removed() {
    let place = place();
    assert!(place.run(&["budget"]).ok().stdout.contains("No budgets"));
    let set = place
        .run(&["budget", "set", "20/day", "--project", "shop"])
        .ok();
    assert!(set.stdout.contains("20/day for shop"), "{}", set.stdout);
    assert!(set.stdout.contains("50 %"), "{}", set.stdout);
    place
        .run(&["budget", "set", "$2.50/week", "--then", "deny"])
        .ok();
    let shown = place.run(&["budget", "--json"]).ok().lines();
    let fields = |line: &Value| {
        let fields = ["name", "used_micros", "left_micros", "then"];
        Value::from_iter(fields.map(|field| (field, line[field].clone())))
    };
    assert_eq!(
        shown.iter().map(fields).collect::<Vec<_>>(),
        [
            json!({ "name": "20/day for shop", "used_micros": 10_000_000, "left_micros": 10_000_000, "then": "ask" }),
            json!({ "name": "2.50/week", "used_micros": 10_000_000, "left_micros": 0, "then": "deny" }),
        ]
    );
    place.run(&["budget", "remove", "--project", "shop"]).ok();
    assert_eq!(place.run(&["budget", "--json"]).ok().lines().len(), 1);
    let again = place.run(&["budget", "remove", "--project", "shop"]);
    assert_eq!(again.status, 1, "{again:?}");
    assert!(again.stderr.contains("annals budget"), "{again:?}");
    let history = place.run(&["log", "--json"]).ok().stdout;
    assert!(history.contains("settings.budget_set") && history.contains("settings.budget_removed"));
    for wrong in ["20", "20/year", "0/day", "x/day"] {
        let refused = place.run(&["budget", "set", wrong]);
        assert_eq!(refused.status, 2, "{refused:?}");
        assert!(refused.stderr.contains("expected"), "{refused:?}");
    }
    place.run(&["verify"]).ok();
}

#[test]
fn an_agent_sets_no_budget() {
    let place = place();
    place.run(&["budget", "set", "20/day"]).ok();
    let by_name = place.run(&["budget", "set", "900/day", "--actor", "agent:coder"]);
    let mut command = place.command(&["budget", "set", "900/day"]);
    let by_variable = Ran::of(command.env("CLAUDECODE", "1").output().unwrap());
    let mut command = place.command(&["budget", "remove"]);
    let removed = Ran::of(command.env("CLAUDECODE", "1").output().unwrap());
    for refused in [by_name, by_variable, removed] {
        assert_eq!(refused.status, 1, "{refused:?}");
        assert!(refused.stderr.contains("by a person"), "{refused:?}");
    }
    let shown = place.run(&["budget", "--json"]).ok().lines();
    assert_eq!(shown[0]["limit_micros"], 20_000_000);
}

/// What budgets compare is removed by persons, and what they removed is not known: it lifts no budget.
#[test]
fn a_redaction_lifts_no_budget() {
    let place = place();
    for limit in ["20/day", "9/day"] {
        let set = [
            "budget",
            "set",
            limit,
            "--project",
            "shop",
            "--then",
            "deny",
        ];
        place.run(&set).ok();
    }
    let budgets = &["--budgets"];
    assert_eq!(
        answer(&place, budgets, &event("c1")).map(|it| it.0),
        Some("deny".to_owned())
    );
    let redact = ["log", "redact", "--reason", "r", "--pattern"];
    let name = [&redact[..], &["^shop$"]].concat();
    let path = [&redact[..], &["^/work/shop$"]].concat();
    for pattern in [&name, &path] {
        let by_name = [&pattern[..], &["--actor", "agent:claude-code"]].concat();
        let mut by_variable = place.command(pattern);
        let by_variable = Ran::of(by_variable.env("CLAUDECODE", "1").output().unwrap());
        for refused in [place.run(&by_name), by_variable] {
            assert_eq!(refused.status, 1, "{refused:?}");
            assert!(
                refused.stderr.contains("a person removes content"),
                "{refused:?}"
            );
        }
    }
    place.run(&path).ok();
    let (verdict, reason) = answer(&place, budgets, &event("c2")).unwrap();
    assert!(
        verdict == "deny" && reason.contains("the project of a cost was removed"),
        "{reason}"
    );
    place.run(&name).ok();
    let (verdict, reason) = answer(&place, budgets, &event("c3")).unwrap();
    assert!(
        verdict == "deny" && reason.contains("the name of its project was removed"),
        "{reason}"
    );
    // The budget that was replaced is not listed again.
    let shown = place.run(&["budget", "--json"]).ok().lines();
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert_eq!(shown[0]["limit_micros"], 9_000_000);
    assert_eq!(shown[0]["used_micros"], Value::Null);
    let listed = place.run(&["budget"]).ok().stdout;
    assert!(listed.contains("unknown"), "{listed}");
    let line = statusline(&place, &status());
    assert!(line.contains("budgets unknown"), "{line}");
    let removed = shown[0]["project"].as_str().unwrap();
    place.run(&["budget", "remove", "--project", removed]).ok();
    assert_eq!(place.run(&["budget", "--json"]).ok().lines().len(), 0);
}

#[test]
fn a_call_over_budget_is_asked_about_or_denied_and_recorded_as_such() {
    let place = place();
    let budgets = &["--budgets"];
    assert_eq!(answer(&place, budgets, &event("c0")), None);
    place
        .run(&["budget", "set", "20/day", "--project", "shop"])
        .ok();
    assert_eq!(answer(&place, budgets, &event("c1")), None);
    place
        .run(&["budget", "set", "10/day", "--project", "shop"])
        .ok();
    let (verdict, reason) = answer(&place, budgets, &event("c2")).unwrap();
    assert_eq!(verdict, "ask");
    assert!(reason.contains("budget 10/day for shop"), "{reason}");
    assert!(reason.contains("$10.0000 of $10.0000"), "{reason}");
    // A policy that allows the call lifts no budget; one that denies it counts.
    let policy = "@id(\"all\") permit (principal, action, resource);";
    fs::write(place.path("policy.cedar"), policy).unwrap();
    let (verdict, _) = answer(&place, &["--gate", "policy.cedar"], &event("c3")).unwrap();
    assert_eq!(verdict, "ask");
    let policy = "@id(\"none\") forbid (principal, action, resource);";
    fs::write(place.path("deny.cedar"), policy).unwrap();
    let (verdict, reason) = answer(&place, &["--gate", "deny.cedar"], &event("c4")).unwrap();
    assert!(verdict == "deny" && reason.contains("none"), "{reason}");
    // A policy that cannot be read lifts none either.
    let gone = [
        "hook",
        "claude",
        "--deadline",
        "60000",
        "--gate",
        "gone.cedar",
    ];
    let ran = place.run_with(&gone, event("c5").to_string());
    assert_eq!(
        ran.json()["hookSpecificOutput"]["permissionDecision"],
        "ask"
    );
    assert!(
        ran.stderr.contains("by no policy: cannot read gone.cedar"),
        "{ran:?}"
    );
    let deny = [
        "budget",
        "set",
        "10/day",
        "--project",
        "shop",
        "--then",
        "deny",
    ];
    place.run(&deny).ok();
    let (verdict, _) = answer(&place, budgets, &event("c6")).unwrap();
    assert_eq!(verdict, "deny");
    // In another project nothing is stopped.
    let mut elsewhere = event("c7");
    elsewhere["cwd"] = json!("/work/web");
    elsewhere["session_id"] = json!("s2");
    assert_eq!(answer(&place, budgets, &elsewhere), None);
    let lines = place.run(&["decisions", "--oldest", "--json"]).ok().lines();
    let by_rule = lines.iter().filter(|line| line["by"] == "rule");
    let said: Vec<_> = by_rule
        .map(|line| {
            (
                line["verdict"].clone(),
                line["by_name"].clone(),
                line["source"].clone(),
            )
        })
        .collect();
    let budget = |verdict: &str| {
        (
            json!(verdict),
            json!("budget 10/day for shop"),
            json!("annals budget"),
        )
    };
    let expected = [
        budget("ask"),
        budget("ask"),
        (json!("deny"), json!("none"), json!("deny.cedar")),
        budget("ask"),
        budget("deny"),
    ];
    assert_eq!(said, expected);
}

#[test]
fn an_agent_that_asks_nobody_is_denied() {
    let place = place();
    place.run(&["budget", "set", "1/day"]).ok();
    let ran = hook(&place, "codex", &["--budgets"], &event("c1"));
    let answer = &ran.json()["hookSpecificOutput"];
    assert_eq!(answer["permissionDecision"], "deny");
    let mut event = event("c2");
    event["hook_event_name"] = json!("preToolUse");
    event["conversation_id"] = json!("s1");
    let ran = hook(&place, "cursor", &["--budgets"], &event);
    assert_eq!(ran.json()["permission"], "deny");
    assert!(ran.stdout.contains("budget 1/day"), "{ran:?}");
}

#[test]
fn a_call_whose_cost_is_not_known_is_asked_about() {
    let place = place();
    place.run(&["budget", "set", "100/day"]).ok();
    let budgets = &["--budgets"];
    assert_eq!(answer(&place, budgets, &event("c1")), None);
    let mut unpriced = event("c2");
    unpriced["model"] = json!("new-model");
    let (verdict, reason) = answer(&place, budgets, &unpriced).unwrap();
    assert!(verdict == "ask" && reason.contains("new-model"), "{reason}");
}

/// The next process that writes to the log makes both files again: also the one that delivers a hook.
#[test]
fn a_damaged_ledger_is_asked_about_and_made_again() {
    for (name, text) in [("LEDGER", "{"), ("BUDGETS", "[]")] {
        let place = place();
        place.run(&["budget", "set", "100/day"]).ok();
        fs::write(place.log_dir().join(name), text).unwrap();
        let (verdict, reason) = answer(&place, &["--budgets"], &event("c1")).unwrap();
        assert!(verdict == "ask" && reason.contains(name), "{reason}");
        place.run(&["cost"]).ok();
        assert_eq!(answer(&place, &["--budgets"], &event("c2")), None);
    }
}

/// The transcript has more than the log: 10 USD are imported, and 15 more are not.
#[test]
fn what_the_session_used_since_the_last_import_counts() {
    let place = place();
    place.run(&["budget", "set", "25/day"]).ok();
    let mut event = event("c1");
    event["transcript_path"] = json!(place.path("s1.jsonl"));
    event.as_object_mut().unwrap().remove("model");
    assert_eq!(answer(&place, &["--budgets"], &event), None);
    let mut text = fs::read_to_string(place.path("s1.jsonl")).unwrap();
    text.push_str(&line(3, &says("m2", MODEL, 3_000_000)));
    fs::write(place.path("s1.jsonl"), text).unwrap();
    let (verdict, reason) = answer(&place, &["--budgets"], &event).unwrap();
    assert!(
        verdict == "ask" && reason.contains("$25.0000 of $25.0000"),
        "{reason}"
    );
}

#[test]
fn hooks_are_installed_with_budgets() {
    let place = Place::with_log();
    place
        .run(&["hook", "install", "claude", "--budgets", "--yes"])
        .ok();
    let settings = fs::read_to_string(place.path("home/.claude/settings.json")).unwrap();
    assert!(settings.contains("hook claude --budgets"), "{settings}");
}

fn statusline(place: &Place, status: &Value) -> String {
    let ran = place.run_with(&["statusline"], status.to_string()).ok();
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    ran.stdout.trim_end().to_owned()
}

fn status() -> Value {
    json!({ "session_id": "s1", "cwd": "/work/shop", "workspace": { "current_dir": "/work/shop" },
        "model": { "id": MODEL, "display_name": "Opus" }, "cost": { "total_cost_usd": 10.125 } })
}

#[test]
fn the_status_line_has_the_session_today_and_the_budget() {
    let place = place();
    assert_eq!(
        statusline(&place, &status()),
        "session $10.12 · today $10.00"
    );
    place
        .run(&["budget", "set", "40/day", "--project", "shop"])
        .ok();
    place.run(&["budget", "set", "20/week"]).ok();
    place
        .run(&["budget", "set", "1/day", "--project", "web"])
        .ok();
    let expected = "session $10.12 · today $10.00 · $20/week ████░░░░ 50 %";
    assert_eq!(statusline(&place, &status()), expected);
    // Neither an endless number nor one of hundreds of digits is shown.
    let mut large = status();
    large["cost"]["total_cost_usd"] = json!(1e308);
    assert!(statusline(&place, &large).starts_with("session $10.00 · today"));
    // Without the program's own number the log's is shown.
    let mut without = status();
    without.as_object_mut().unwrap().remove("cost");
    assert!(statusline(&place, &without).starts_with("session $10.00 · today"));
}

/// A folder that has nothing but the ledger: no log could be opened there.
#[test]
fn the_status_line_opens_no_log_and_never_fails() {
    let place = place();
    place.run(&["budget", "set", "40/day"]).ok();
    let other = Place::empty();
    fs::create_dir(other.log_dir()).unwrap();
    for name in ["LEDGER", "BUDGETS"] {
        fs::copy(place.log_dir().join(name), other.log_dir().join(name)).unwrap();
    }
    assert!(statusline(&other, &status()).contains("today $10.00 · $40/day"));
    fs::write(other.log_dir().join("LEDGER"), "{").unwrap();
    let line = statusline(&other, &status());
    assert!(
        line.starts_with("session $10.12 · budgets unknown"),
        "{line}"
    );
    let nothing = Place::empty();
    assert!(statusline(&nothing, &status()).contains("today unknown"));
    for input in [
        "",
        "[]",
        "null",
        "{\"cost\":7}",
        "\u{0}",
        "{\"session_id\": {}}",
    ] {
        let ran = nothing.run_with(&["statusline"], input).ok();
        assert_eq!(
            (ran.stdout.lines().count(), ran.stderr.as_str()),
            (1, ""),
            "{input}"
        );
    }
}
