//! The life of tool calls on the command line: decisions listed, and why one was made.

use serde_json::{Value, json};

use super::support::{Place, agent, decision, human, uuid};

const RUN: u64 = 0xb_0000_0001;
const TASK: u64 = 0xb_0000_0002;
const PIPELINE: u64 = 0xb_0000_0003;
const PLAN: u64 = 0xb_0000_0004;

const SETTINGS: &str = r#"{"permissions":{"deny":["Bash(git push:*)"]}}"#;

fn call(number: u64) -> String {
    uuid(0xc_0000_0000 + number)
}

fn request(number: u64, tool: &str, args: Value) -> Value {
    let fields = json!({ "run": uuid(RUN), "id": call(number), "tool_name": tool, "args": args });
    agent("request_tool_call", fields)
}

fn decide(number: u64, verdict: &str, by: &str, more: Value) -> Value {
    let mut fields = json!({
        "run": uuid(RUN), "tool_invocation": call(number), "verdict": verdict, "by": by,
        "tool_name": "Bash",
    });
    let more = more.as_object().unwrap().clone();
    fields.as_object_mut().unwrap().extend(more);
    decision(fields)
}

/// Three calls of a run with a window: one that a rule denied, one that a person allowed for the session, and one
/// that rests on that.
fn recorded() -> Place {
    let place = Place::with_log();
    let run = uuid(RUN);
    place.accept(&[
        agent("create_pipeline", json!({ "id": uuid(PIPELINE), "max_frames": 8 })),
        agent("create_plan", json!({ "id": uuid(PLAN), "pipeline": uuid(PIPELINE) })),
        agent("create_task", json!({ "id": uuid(TASK), "title": "Publish it" })),
        agent("create_run", json!({ "id": run, "task": uuid(TASK), "plan": uuid(PLAN) })),
        agent("push_frame", json!({ "pipeline": uuid(PIPELINE), "kind": "step_summary", "summary": "all tests pass" })),
        request(1, "Bash", json!({ "command": "git push --force", "timeout": 5 })),
        decide(1, "deny", "rule", json!({
            "by_name": "Bash(git push:*)", "source": "/repo/settings.json", "reason": "never force",
            "permission_mode": "default",
            "in_force": [{ "path": "/repo/settings.json", "content": SETTINGS }],
        })),
        agent("push_frame", json!({ "pipeline": uuid(PIPELINE), "kind": "step_summary", "summary": "push was denied" })),
        request(2, "Edit", json!({ "path": "src/main.rs" })),
        decide(2, "ask", "mode", json!({ "by_name": "default" })),
        decide(2, "allow", "person", json!({ "by_name": "ada", "scope": "session" })),
        agent("begin_tool_call", json!({ "run": run, "tool_invocation": call(2) })),
        agent("end_tool_call", json!({ "run": run, "tool_invocation": call(2), "status": "ok", "duration_ms": 12 })),
        decide(3, "allow", "person", json!({ "grant": call(2), "inferred": true })),
    ]);
    place
}

fn calls(place: &Place, args: &[&str]) -> Vec<(String, String)> {
    let all = [&["decisions", "--oldest", "--json"], args].concat();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let lines = place.run(&all).ok().lines();
    let call = |line: &Value| (text(&line["call"]), text(&line["verdict"]));
    lines.iter().map(call).collect()
}

#[test]
fn decisions_are_listed_by_what_they_are() {
    let place = recorded();
    let of = |number, verdict: &str| (call(number), verdict.to_owned());
    let (deny, ask, allow) = (of(1, "deny"), of(2, "ask"), of(2, "allow"));
    let used = of(3, "allow");
    let all = vec![deny.clone(), ask.clone(), allow.clone(), used.clone()];
    let allowed = vec![allow.clone(), used.clone()];
    for (args, expected) in [
        (&[][..], all.clone()),
        (&["--denied"], vec![deny.clone()]),
        (&["--asked"], vec![ask.clone()]),
        (&["--allowed"], allowed.clone()),
        (
            &["--allowed", "--denied"],
            vec![deny.clone(), allow.clone(), used.clone()],
        ),
        (&["--by", "rule"], vec![deny.clone()]),
        (
            &["--by", "rule", "--by", "mode"],
            vec![deny.clone(), ask.clone()],
        ),
        (&["--by", "hook"], vec![]),
        (&["--tool", "edit"], vec![ask.clone(), allow.clone()]),
        (&["--tool", "Bash"], vec![deny.clone(), used.clone()]),
        (&["--grants"], vec![allow.clone()]),
        (&["--run", &uuid(RUN)], all.clone()),
        (&["--session", &uuid(TASK)], all.clone()),
        (&["--session", &call(1)], all.clone()),
        (
            &["--since", "10"],
            vec![ask.clone(), allow.clone(), used.clone()],
        ),
        (&["--since", "2999-01-01T00:00:00Z"], vec![]),
        (&["--since", "2020-01-01T00:00:00Z"], all.clone()),
        (&["--since", "occurred:2020-01-01T00:00:00Z"], all.clone()),
    ] {
        assert_eq!(calls(&place, args), expected, "{args:?}");
    }
    let newest = place.run(&["decisions", "--json", "-n", "1"]);
    assert_eq!(newest.lines()[0]["call"], call(3));
    let first = place
        .run(&["decisions", "--json", "--oldest", "-n", "2"])
        .lines();
    let after = first[1]["position"].to_string();
    let rest = calls(&place, &["--after", &after]);
    assert_eq!(rest, [allow, used]);
    let plan = place.run(&["decisions", "--session", &uuid(PLAN)]);
    plan.fails(
        1,
        &["no run belongs to a plan", "a session, an intent, a task"],
    );
}

/// Pages of a list by time, which is not in the index, leave nothing out: each goes on behind the last line.
#[test]
fn pages_by_time_leave_nothing_out() {
    let place = recorded();
    let positions = |args: &[&str], size: usize| -> Vec<u64> {
        let limit = size.to_string();
        let mut after: Option<String> = None;
        let mut found = Vec::new();
        loop {
            let mut all = [&["decisions", "--json", "-n", &limit], args].concat();
            if let Some(after) = &after {
                all.extend(["--after", after]);
            }
            let lines = place.run(&all).ok().lines();
            let position = |line: &Value| line["position"].as_u64().unwrap();
            found.extend(lines.iter().map(position));
            if lines.len() < size {
                return found;
            }
            after = Some(found.last().unwrap().to_string());
        }
    };
    // The last decision is dated long before the others.
    let late = decide(4, "deny", "rule", json!({ "by_name": "old" }));
    let mut late = late;
    late["at"] = json!("2021-01-01T00:00:00Z");
    place.accept(&[late]);
    let recent = "occurred:2024-01-01T00:00:00Z";
    let expected = positions(&["--oldest", "--since", recent], 100);
    assert_eq!(expected.len(), 4);
    for size in 1..=3 {
        let pages = positions(&["--oldest", "--since", recent], size);
        assert_eq!(pages, expected, "-n {size}");
        let mut newest = positions(&["--since", recent], size);
        newest.reverse();
        assert_eq!(newest, expected, "newest first, -n {size}");
    }
}

#[test]
fn what_was_inferred_counts_less_than_what_was_stated() {
    let place = recorded();
    place.accept(&[decide(
        1,
        "allow",
        "mode",
        json!({ "by_name": "never", "inferred": true }),
    )]);
    let why = place.run(&["why", &call(1), "--json"]).ok().json();
    assert_eq!(why["verdict"]["verdict"], "deny", "{why}");
    assert_eq!(why["decisions"].as_array().unwrap().len(), 2);
    let unnamed =
        json!({ "run": uuid(RUN), "tool_invocation": call(9), "verdict": "deny", "by": "rule" });
    let refused = place.apply(&[agent("decide_tool_call", unnamed)]);
    let said = refused[0]["error"]["message"].as_str().unwrap();
    assert!(said.contains("needs the tool's name"), "{said}");
}

#[test]
fn a_list_shows_the_call_the_verdict_and_what_gave_it() {
    let place = recorded();
    let text = place.run(&["decisions"]).ok().stdout;
    for part in [
        "git push --force 5",
        "rule Bash(git push:*) of /repo/settings.json",
        "allow (session)",
        "person, inferred",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let grants = place.run(&["decisions", "--grants", "--json"]).ok().lines();
    assert_eq!(grants.len(), 1);
    assert_eq!(grants[0]["uses"]["count"], 1);
    let text = place.run(&["decisions", "--grants"]).ok().stdout;
    assert!(text.contains("1, last "), "{text}");
}

#[test]
fn why_says_what_decided_what_was_in_force_and_what_the_model_had() {
    let place = recorded();
    let why = place.run(&["why", &call(1)]).ok().stdout;
    for part in [
        "denied",
        "git push --force",
        "deny by rule Bash(git push:*) of /repo/settings.json",
        "because: never force",
        "mode of permissions: default",
        "/repo/settings.json: annals object cat ",
        "The model had 1 frame in its window",
        "all tests pass",
        "run.tool_requested by agent coder",
    ] {
        assert!(why.contains(part), "{part:?} is not in {why}");
    }
    assert!(!why.contains("push was denied"), "{why}");
    let digest = why.split("annals object cat ").nth(1).unwrap();
    let digest = digest.split_whitespace().next().unwrap();
    assert_eq!(place.run(&["cat", digest]).ok().stdout, SETTINGS);

    // The second call states nothing: what the first one stated holds.
    let json = place.run(&["why", &call(2), "--json"]).ok().json();
    assert_eq!(json["in_force"]["stated_with"], call(1));
    assert_eq!(json["verdict"]["by"], "person");
    assert_eq!(json["verdict"]["scope"], "session");
    assert_eq!(json["call"]["status"], "ok");
    assert_eq!(json["call"]["duration_ms"], 12);
    assert_eq!(
        json["window"]["window"]["frames"].as_array().unwrap().len(),
        2
    );
    let why = place.run(&["why", &call(2)]).ok().stdout;
    assert!(why.contains("1 later decision rests on it"), "{why}");
    let third = place.run(&["why", &call(3)]).ok().stdout;
    assert!(
        third.contains(&format!("annals object why {}", call(2))),
        "{third}"
    );

    place
        .run(&["why", &uuid(RUN)])
        .fails(1, &["expected tool_invocation, found run"]);
    place
        .run(&["why", &uuid(99)])
        .fails(1, &["there is no object"]);
}

#[test]
fn a_call_is_listed_and_shown_before_it_is_over() {
    let place = recorded();
    let listed = |status: &str| {
        let args = ["list", "tool_invocation", "--status", status, "--json"];
        place.run(&args).ok().lines().len()
    };
    assert_eq!(
        (listed("denied"), listed("requested"), listed("ok")),
        (1, 1, 1)
    );
    let show = place.run(&["show", &call(1)]).ok().stdout;
    for part in [
        "denied",
        "requested on",
        "deny by rule",
        "annals object why",
    ] {
        assert!(show.contains(part), "{part:?} is not in {show}");
    }
    let json = place.run(&["show", &call(2), "--json"]).ok().json();
    assert_eq!(json["life"]["decisions"][1]["verdict"], "allow");
    // What git-internal has no word for is not in it.
    let exported = place.run(&["export", "git-internal", "--relaxed"]).stdout;
    assert!(exported.contains(&call(2)), "{exported}");
    assert!(!exported.contains(&call(1)), "{exported}");
    let listed = place.run(&["history", &uuid(RUN)]).ok().stdout;
    assert!(
        listed.contains("denied by rule \"Bash(git push:*)\""),
        "{listed}"
    );
}

#[test]
fn a_transcripts_call_meets_what_a_hook_told() {
    let place = recorded();
    let invoked = agent(
        "record_tool_invocation",
        json!({
            "run": uuid(RUN), "id": call(2), "tool_name": "Edit", "status": "ok",
            "args": { "path": "src/main.rs" }, "result_summary": "edited",
        }),
    );
    let first = place.apply(std::slice::from_ref(&invoked));
    assert_eq!(first[0]["ok"], true, "{first:?}");
    let again = place.apply(&[invoked]);
    assert_eq!(again[0]["ok"], false, "{again:?}");
    let json = place.run(&["show", &call(2), "--json"]).ok().json();
    assert_eq!(json["result_summary"], "edited");
    let events = || place.run(&["stats", "--json"]).ok().json()["events"].clone();
    let before = events();
    let again = place.apply(&[
        human(
            "end_tool_call",
            json!({ "run": uuid(RUN), "tool_invocation": call(2), "status": "ok" }),
        ),
        decide(2, "ask", "mode", json!({ "by_name": "default" })),
    ]);
    for answer in again {
        assert_eq!(answer["ok"], true, "{answer}");
    }
    assert_eq!(events(), before, "nothing is new");
    place.run(&["verify"]).ok();
}

#[test]
fn names_and_settings_are_redacted() {
    let place = recorded();
    let redact = [
        "redact",
        "8",
        "9",
        "--reason",
        "a secret path",
        "--actor",
        "human:ada",
    ];
    let ran = place.run(&redact);
    assert_eq!(ran.status, 0, "{ran:?}");
    let json = place.run(&["why", &call(1), "--json"]).ok().json();
    let text = json.to_string();
    for gone in ["git push", "/repo/settings.json", "never force"] {
        assert!(!text.contains(gone), "{gone:?} is in {text}");
    }
    assert_eq!(json["verdict"]["verdict"], "deny");
    assert_eq!(json["in_force"]["files"][0]["hash"], Value::Null);
    place.run(&["verify"]).ok();
}

/// An agent that a rule denied gives itself a person's verdict, and the rule's.
#[test]
fn a_denied_agent_allows_itself_nothing() {
    let place = recorded();
    let allow = |by: &str, name: &str, more: Value| {
        let mut fields = json!({
            "run": uuid(RUN), "tool_invocation": call(1), "verdict": "allow", "by": by, "by_name": name,
        });
        let more = more.as_object().unwrap().clone();
        fields.as_object_mut().unwrap().extend(more);
        fields
    };
    let refused = place.apply(&[agent("decide_tool_call", allow("person", "ada", json!({})))]);
    let said = refused[0]["error"]["message"].as_str().unwrap();
    assert!(said.contains("agent:coder is none"), "{said}");
    let status = || {
        let why = place.run(&["why", &call(1), "--json"]).ok().json();
        (
            why["call"]["status"].clone(),
            why["verdict"]["verdict"].clone(),
        )
    };
    for fields in [
        allow("rule", "Bash(git push:*)", json!({})),
        allow("person", "ada", json!({ "inferred": true })),
        allow("person", "ada", json!({ "source": "telemetry (OTLP)" })),
    ] {
        place.accept(&[agent("decide_tool_call", fields)]);
        assert_eq!(status().1, json!("deny"));
    }
    let newest = || place.run(&["decisions", "--by", "person"]).ok();
    let listed = newest().stdout;
    for part in ["TOLD BY", "agent coder", "reported by telemetry"] {
        assert!(listed.contains(part), "{listed}");
    }
    let line = place.run(&["decisions", "--denied", "--json"]).ok().json();
    assert_eq!(line["status"], "denied");
    place.accept(&[human("decide_tool_call", allow("person", "ada", json!({})))]);
    assert_eq!(status().1, json!("allow"));
    let listed = newest().stdout;
    assert!(listed.contains("human ada"), "{listed}");
}
