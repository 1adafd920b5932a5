//! Policies over tool calls on the command line: checked, tested, explained, and tried on what was recorded.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::support::{Place, agent, decision, uuid};

const TASK: u64 = 0xe_0000_0001;
const RUN: u64 = 0xe_0000_0002;

fn ready_made(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("policies").join(name).display().to_string()
}

fn call(number: u64) -> String {
    uuid(0xf_0000_0000 + number)
}

fn ran(number: u64, command: &str) -> Value {
    let args = json!({ "command": command });
    agent(
        "record_tool_invocation",
        json!({ "run": uuid(RUN), "id": call(number), "tool_name": "Bash", "args": args, "status": "ok" }),
    )
}

fn request(number: u64, command: &str) -> Value {
    let args = json!({ "command": command });
    agent(
        "request_tool_call",
        json!({ "run": uuid(RUN), "id": call(number), "tool_name": "Bash", "args": args }),
    )
}

fn decide(number: u64, verdict: &str, by: &str) -> Value {
    decision(
        json!({ "run": uuid(RUN), "tool_invocation": call(number), "verdict": verdict, "by": by }),
    )
}

/// A run in a directory, with these records.
fn recorded(records: &[Value]) -> Place {
    let place = Place::with_log();
    let environment = json!({ "os": "linux", "arch": "x86_64", "cwd": "/work/app" });
    place.accept(&[
        agent(
            "create_task",
            json!({ "id": uuid(TASK), "title": "Try it" }),
        ),
        agent(
            "create_run",
            json!({ "id": uuid(RUN), "task": uuid(TASK), "environment": environment }),
        ),
    ]);
    place.accept(records);
    place
}

#[test]
fn policies_are_checked() {
    let place = Place::empty();
    let (read_only, rest) = (
        ready_made("read-only.cedar"),
        ready_made("allow-the-rest.cedar"),
    );
    let checked = place.run(&["policy", "check", &read_only, &rest]).ok();
    assert!(
        checked.stdout.contains("8 rules, all valid"),
        "{}",
        checked.stdout
    );
    fs::write(
        place.path("bad.cedar"),
        "permit (principal, action, resource)\nwhen { resource.pat == \"x\" };\n",
    )
    .unwrap();
    place
        .run(&["policy", "check", "bad.cedar"])
        .fails(1, &["bad.cedar, line 2", "pat"]);
    assert_eq!(
        place
            .run(&["policy", "check", "bad.cedar", "--json"])
            .error_code(),
        "invalid_policy"
    );
    let schema = place.run(&["policy", "schema"]).ok();
    assert!(schema.stdout.contains("entity Path"));
}

#[test]
fn tests_of_policies_pass_and_fail() {
    let place = Place::empty();
    let passed = place
        .run(&["policy", "test", &ready_made("no-secrets.tests.json")])
        .ok();
    assert!(passed.stdout.contains("0 failed"), "{}", passed.stdout);
    fs::write(
        place.path("p.cedar"),
        "@id(\"all\") permit (principal, action, resource);\n",
    )
    .unwrap();
    let tests = json!({ "policies": ["p.cedar"], "tests": [
        { "call": "ls", "verdict": "allow", "rule": "all" },
        { "call": "ls", "verdict": "deny" },
        { "call": "ls", "verdict": "allow", "rule": null },
    ] });
    fs::write(place.path("p.tests.json"), tests.to_string()).unwrap();
    let failed = place.run(&["policy", "test", "p.tests.json"]);
    assert!(
        failed.stdout.contains("1 test passed, 2 failed"),
        "{}",
        failed.stdout
    );
    assert!(failed.stdout.contains("expected deny"), "{}", failed.stdout);
    failed.fails(1, &["2 tests of policies failed"]);
    fs::write(place.path("bad.json"), "{\"policies\": []}").unwrap();
    place
        .run(&["policy", "test", "bad.json"])
        .fails(1, &["bad.json", "tests"]);
}

#[test]
fn a_call_is_explained() {
    let place = Place::empty();
    let policy = ready_made("protected-branches.cedar");
    let call = json!({ "tool": "Bash", "cwd": "/work", "args": { "command": "cd x && git push origin +main" } });
    let call = call.to_string();
    let explained = place
        .run(&["policy", "explain", &policy, "--call", &call])
        .ok();
    assert!(
        explained
            .stdout
            .starts_with("deny: denied by rule protected-branches/push"),
        "{}",
        explained.stdout
    );
    assert!(
        explained.stdout.contains("Branch main"),
        "{}",
        explained.stdout
    );
    let as_json = place
        .run_with(
            &["policy", "explain", &policy, "--call", "-", "--json"],
            &call,
        )
        .ok()
        .json();
    assert_eq!(as_json["judgement"]["verdict"], "deny");
    assert_eq!(
        as_json["judgement"]["rules"][0]["id"],
        "protected-branches/push"
    );
    let command = place
        .run(&[
            "policy",
            "explain",
            &policy,
            "--command",
            "ls 'x",
            "--otherwise",
            "allow",
        ])
        .ok();
    assert!(
        command
            .stdout
            .contains("ask: asked: the command cannot be parsed"),
        "{}",
        command.stdout
    );
    place
        .run(&["policy", "explain", &policy, "--call", "{}"])
        .fails(1, &["invalid call", "tool"]);
}

#[test]
fn a_profile_is_a_policy_over_git_commands() {
    let place = Place::empty();
    let profile = json!({ "name": "careful", "protectedBranches": ["main"], "requireTestsBeforePush": false, "requireApprovalForPush": true });
    fs::write(place.path("profile.json"), profile.to_string()).unwrap();
    let explain = |command| {
        let call = json!({ "tool": "Bash", "args": { "command": command } }).to_string();
        place
            .run(&[
                "policy",
                "explain",
                "profile.json",
                "--call",
                &call,
                "--json",
            ])
            .ok()
            .json()["judgement"]["verdict"]
            .clone()
    };
    assert_eq!(explain("git push origin main"), "deny");
    assert_eq!(explain("git push origin topic"), "ask");
    assert_eq!(explain("git log"), "allow");
}

#[test]
fn recorded_calls_are_judged_again() {
    let place = recorded(&[
        ran(1, "cat README.md"),
        ran(2, "cat .env"),
        ran(3, "cat $FILE"),
        request(4, "cat .env"),
        decide(4, "deny", "rule"),
        request(5, "ls"),
        decide(5, "ask", "rule"),
        decide(5, "allow", "person"),
    ]);
    let (secrets, rest) = (
        ready_made("no-secrets.cedar"),
        ready_made("allow-the-rest.cedar"),
    );
    let policies = ["--policy", secrets.as_str(), "--policy", rest.as_str()];
    let replay = |more: &[&str]| {
        let args = [&["replay", "--tools"], &policies[..], more].concat();
        place.run(&args).ok()
    };
    let found = replay(&["--json"]).json();
    assert_eq!(found["calls"], 5);
    assert_eq!(
        found["recorded"],
        json!({ "allow": 3, "ask": 1, "deny": 1 })
    );
    assert_eq!(
        found["under_policies"],
        json!({ "allow": 2, "ask": 1, "deny": 2 })
    );
    let flips: Vec<(&Value, &Value, &Value)> = found["flipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|flip| (&flip["call"], &flip["from"], &flip["to"]))
        .collect();
    assert_eq!(
        flips,
        [
            (&json!(call(2)), &json!("allow"), &json!("deny")),
            (&json!(call(3)), &json!("allow"), &json!("ask")),
            (&json!(call(5)), &json!("ask"), &json!("allow")),
        ]
    );
    let text = replay(&[]).stdout;
    assert!(text.contains("5 tool calls, 5 judged, 3 flipped"), "{text}");
    assert!(text.contains("no-secrets/files"), "{text}");
    // Only what was recorded from there on.
    let first = found["flipped"][1]["position"]
        .as_u64()
        .unwrap()
        .to_string();
    assert_eq!(replay(&["--since", &first, "--json"]).json()["calls"], 3);
    place.run(&["replay", "--tools"]).fails(2, &["--policy"]);
}

/// A policy on a session judges what was recorded as it judged what was asked.
#[test]
fn recorded_calls_are_judged_in_their_session() {
    let place = recorded(&[ran(1, "cat README.md")]);
    let replayed = |session: &str| {
        let policy = format!(
            "@id(\"mine\") permit (principal == Session::\"{session}\", action, resource);\n\
             @id(\"others\") @default forbid (principal, action, resource);"
        );
        fs::write(place.path("session.cedar"), policy).unwrap();
        let args = ["replay", "--tools", "--policy", "session.cedar", "--json"];
        place.run(&args).ok().json()["under_policies"].clone()
    };
    let (allow, deny) = (
        json!({ "allow": 1, "ask": 0, "deny": 0 }),
        json!({ "allow": 0, "ask": 0, "deny": 1 }),
    );
    assert_eq!(replayed("s-1"), deny);
    // As the session of this log that its run is attached to,
    let session = uuid(0xe_0000_0003);
    place.accept(&[
        agent(
            "create_session",
            json!({ "config": {
            "sessionId": session, "agentProfile": "coder", "policy": { "name": "any" },
            "repo": { "name": "app", "path": "/work/app" }, "workspace": { "path": "/work/app" },
        } }),
        ),
        agent(
            "attach_run",
            json!({ "session": session, "run": uuid(RUN) }),
        ),
    ]);
    assert_eq!(replayed(&session), allow);
    // or as its agent calls it.
    let ids = json!({ "ticket": "s-2", "claude.session": "s-1" });
    place.accept(&[agent(
        "set_metadata",
        json!({ "object": uuid(TASK), "external_ids": ids }),
    )]);
    assert_eq!(replayed("s-1"), allow);
    assert_eq!(replayed("s-2"), deny);
}

#[test]
fn the_policy_that_decided_flips_nothing() {
    // What it says of each call is what was recorded.
    let place = recorded(&[
        request(1, "cat README.md"),
        decide(1, "allow", "rule"),
        request(2, "cat .env"),
        decide(2, "deny", "rule"),
        request(3, "cat $FILE"),
        decide(3, "ask", "rule"),
        decide(3, "allow", "person"),
        request(4, "cat $FILE"),
        decide(4, "ask", "rule"),
        decide(4, "deny", "person"),
        ran(5, "cargo test"),
    ]);
    let (secrets, rest) = (
        ready_made("no-secrets.cedar"),
        ready_made("allow-the-rest.cedar"),
    );
    let replayed = place
        .run(&["replay", "--tools", "--policy", &secrets, "--policy", &rest])
        .ok();
    assert!(
        replayed.stdout.contains("nothing flips"),
        "{}",
        replayed.stdout
    );
}

#[test]
fn rules_are_suggested_for_what_people_allowed() {
    let mut records = Vec::new();
    for (number, command, verdict) in [
        (1, "cargo test", "allow"),
        (2, "cargo test --lib", "allow"),
        (3, "cargo test", "allow"),
        (4, "rm x", "allow"),
        (5, "rm x", "allow"),
        (6, "rm x", "allow"),
        (7, "rm y", "deny"),
        (8, "ls", "allow"),
    ] {
        records.extend([
            request(number, command),
            decide(number, "ask", "mode"),
            decide(number, verdict, "person"),
        ]);
    }
    // What nobody was asked about says nothing of people.
    records.extend([ran(9, "make"), ran(10, "make"), ran(11, "make")]);
    let place = recorded(&records);
    let text = place.run(&["policy", "suggest"]).ok().stdout;
    assert!(
        text.contains(
            "// 3 calls, such as:\n//   cargo test\n//   cargo test --lib\n@id(\"run cargo test\")"
        ),
        "{text}"
    );
    for word in ["\"rm\"", "\"make\"", "\"ls\""] {
        assert!(!text.contains(word), "{word}: {text}");
    }
    fs::write(place.path("suggested.cedar"), &text).unwrap();
    place.run(&["policy", "check", "suggested.cedar"]).ok();
    let found = place
        .run(&["policy", "suggest", "--least", "1", "--json"])
        .ok()
        .lines();
    let ids: Vec<&Value> = found.iter().map(|it| &it["id"]).collect();
    assert_eq!(ids, ["run cargo test", "run ls"]);
}
