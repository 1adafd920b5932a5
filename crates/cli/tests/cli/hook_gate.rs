//! `annals hook AGENT --gate`: the verdict is on disk before it is answered, and what cannot be judged or recorded is
//! refused where that is wanted.

use std::fs;
use std::process::{Child, Stdio};
use std::time::Duration;

use annals::event_log::Digest;
use serde_json::{Value, json};

use crate::support::{Place, Ran, sole_owner};

const POLICY: &str = r#"
@id("look") permit (principal, action in Action::"run", resource) when { resource.program == "ls" };
@id("no-force") @reason("History is not rewritten.")
forbid (principal, action == Action::"push", resource) when { resource.force };
"#;

fn gated(place: Place) -> Place {
    fs::write(place.path("policy.cedar"), POLICY).unwrap();
    place
}

fn asks(id: &str, command: &str) -> String {
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": "s1", "cwd": "/shop", "permission_mode": "default",
        "tool_name": "Bash", "tool_use_id": id, "tool_input": { "command": command },
    });
    event.to_string()
}

const CLOSED: &[&str] = &[
    "hook",
    "claude",
    "--deadline",
    "60000",
    "--gate",
    "policy.cedar",
    "--fail-closed",
];
/// The same without `--fail-closed`.
const GATE: &[&str] = CLOSED.split_at(CLOSED.len() - 1).0;

/// What Claude Code is answered: the decision and its reason.
fn decision(ran: &Ran) -> (String, String) {
    let answer = &ran.json()["hookSpecificOutput"];
    assert_eq!(answer["hookEventName"], "PreToolUse");
    let text = |name: &str| answer[name].as_str().unwrap().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

/// What the log says was decided: the verdict, by what, by its name, and why.
fn decisions(place: &Place) -> Vec<Value> {
    let lines = place.run(&["decisions", "--oldest", "--json"]).ok().lines();
    let fields = ["verdict", "by", "by_name", "source"];
    let line = |line: &Value| Value::from_iter(fields.map(|field| (field, line[field].clone())));
    lines.iter().map(line).collect()
}

fn decided(verdict: &str, rule: Option<&str>) -> Value {
    json!({ "verdict": verdict, "by": "rule", "by_name": rule, "source": rule.map(|_| "policy.cedar") })
}

fn refusal() -> Value {
    json!({ "verdict": "deny", "by": "hook", "by_name": "annals hook --fail-closed", "source": null })
}

#[test]
fn calls_are_judged_recorded_and_answered() {
    let place = gated(Place::with_log());
    let mut expected = Vec::new();
    for (id, command, verdict, rule) in [
        ("c1", "ls", "allow", Some("look")),
        ("c2", "git push --force", "deny", Some("no-force")),
        ("c3", "make", "ask", None),
    ] {
        for gate in [GATE, CLOSED] {
            let ran = place.run_with(gate, asks(id, command)).ok();
            let (answered, reason) = decision(&ran);
            assert_eq!(answered, verdict, "{reason}");
            assert!(rule.is_none_or(|rule| reason.contains(rule)), "{reason}");
        }
        // The same verdict on the same call adds nothing.
        expected.push(decided(verdict, rule));
    }
    assert_eq!(decisions(&place), expected);
    let calls = place.run(&["decisions", "--denied", "--json"]).ok().lines();
    let why = place.run(&["why", calls[0]["call"].as_str().unwrap()]).ok();
    let hash = Digest::of(POLICY.as_bytes()).to_string();
    for part in [
        "git push --force",
        "no-force",
        "History is not rewritten.",
        "policy.cedar",
        &hash,
    ] {
        assert!(
            why.stdout.contains(part),
            "{part:?} is not in {}",
            why.stdout
        );
    }
    assert_eq!(place.run(&["cat", &hash]).ok().stdout, POLICY);
    // Nothing else is answered.
    let told = json!({ "hook_event_name": "Stop", "session_id": "s1" });
    let ran = place.run_with(CLOSED, told.to_string()).ok();
    assert_eq!(ran.stdout, "");
    place.run(&["verify"]).ok();
}

#[test]
fn other_agents_are_answered_in_their_own_forms() {
    let place = gated(Place::with_log());
    let event = |name: &str, tool: &str, command: &str| {
        json!({
            "hook_event_name": name, "session_id": "s1", "conversation_id": "s1", "tool_use_id": command,
            "tool_name": tool, "cwd": "/shop", "tool_input": { "command": command },
        })
    };
    for (agent, name, tool, field) in [
        (
            "codex",
            "PreToolUse",
            "Bash",
            "/hookSpecificOutput/permissionDecision",
        ),
        ("cursor", "preToolUse", "Shell", "/permission"),
        ("gemini", "BeforeTool", "run_shell_command", "/decision"),
    ] {
        let gate = [
            "hook",
            agent,
            "--deadline",
            "60000",
            "--gate",
            "policy.cedar",
        ];
        let denied = event(name, tool, "git push -f").to_string();
        let ran = place.run_with(&gate, &denied).ok();
        assert_eq!(
            ran.json().pointer(field),
            Some(&json!("deny")),
            "{agent}: {ran:?}"
        );
        let asked = event(name, tool, "make").to_string();
        let open = place.run_with(&gate, &asked).ok();
        let closed = place
            .run_with(&[&gate[..], &["--fail-closed"]].concat(), &asked)
            .ok();
        let (open_says, closed_says) = match agent {
            "gemini" => (Some("ask"), "ask"),
            _ => (None, "deny"),
        };
        let said = (!open.stdout.is_empty()).then(|| open.json());
        let said = said.and_then(|it| it.pointer(field).cloned());
        assert_eq!(said.as_ref().and_then(Value::as_str), open_says, "{agent}");
        assert_eq!(
            closed.json().pointer(field),
            Some(&json!(closed_says)),
            "{agent}"
        );
    }
}

#[test]
fn a_policy_that_is_missing_or_malformed_judges_nothing() {
    let place = gated(Place::with_log());
    fs::write(place.path("malformed.cedar"), "permit (principal").unwrap();
    for (file, said) in [
        ("missing.cedar", "missing.cedar"),
        ("malformed.cedar", "malformed.cedar"),
    ] {
        let gate = ["hook", "claude", "--deadline", "60000", "--gate", file];
        let ran = place.run_with(&gate, asks(file, "ls"));
        assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{ran:?}");
        assert!(
            ran.stderr.contains(said) && ran.stderr.contains("own settings decide"),
            "{ran:?}"
        );
        let closed = [&gate[..], &["--fail-closed"]].concat();
        let ran = place.run_with(&closed, asks(file, "ls"));
        let (answered, reason) = decision(&ran);
        assert_eq!((ran.status, answered.as_str()), (0, "deny"));
        assert!(reason.contains(said), "{reason}");
        // It is not installed either.
        let install = ["hook", "install", "claude", "--project", "--yes", "--gate"];
        place
            .run(&[&install[..], &[file]].concat())
            .fails(1, &[said]);
        assert!(!place.path(".claude").exists());
    }
    assert_eq!(decisions(&place), [refusal(), refusal()]);
    // The calls are recorded all the same.
    let calls = place.run(&["log", "--json"]).ok().lines();
    let requested = |event: &&Value| event["event_type"] == "run.tool_requested";
    assert_eq!(calls.iter().filter(requested).count(), 2);
    // An event that cannot be read is recorded, and refused by the exit status.
    let ran = place.run_with(CLOSED, "{\"hook_event_name\":");
    ran.fails(2, &["cannot be read"]);
    place.run_with(GATE, "{\"hook_event_name\":").ok();
    // So is one of which nobody knows whether it asks for a call.
    for (event, said) in [
        (json!(null), "it names no event"),
        (json!("preToolUse"), "its event is not known"),
    ] {
        let asked = asks("unknown", "ls").parse::<Value>().unwrap();
        let mut asked = asked.as_object().unwrap().clone();
        asked.insert("hook_event_name".to_owned(), event);
        let asked = Value::from(asked).to_string();
        let ran = place.run_with(CLOSED, &asked);
        ran.fails(2, &[said]);
        place.run_with(GATE, &asked).ok();
    }
    // One that is known to ask for nothing is not.
    let stop = json!({ "hook_event_name": "Stop", "session_id": "s1" });
    place.run_with(CLOSED, stop.to_string()).ok();
    assert_eq!(
        place.run(&["hook", "claude", "--fail-closed"]).status,
        1,
        "it needs a gate"
    );
}

#[test]
fn without_a_log_the_verdict_is_in_the_spool_before_it_is_answered() {
    let place = gated(Place::empty());
    let ran = place.run_with(GATE, asks("c1", "ls")).ok();
    assert_eq!(decision(&ran).0, "allow");
    let files = fs::read_dir(place.path("log.spool")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let waits = names.filter(|name| name.ends_with(".hook"));
    assert_eq!(waits.count(), 1);
    // Only the log counts for a gate that fails closed.
    let ran = place.run_with(CLOSED, asks("c2", "ls")).ok();
    let (answered, reason) = decision(&ran);
    assert_eq!(answered, "deny");
    assert!(reason.contains("no log"), "{reason}");
    let ran = place.run_with(CLOSED, asks("c3", "git push --force")).ok();
    assert!(decision(&ran).1.contains("no-force"));
    place.run(&["init"]).ok();
    assert_eq!(place.run_with(&["apply"], "").status, 0);
    let expected = [
        decided("allow", Some("look")),
        refusal(),
        decided("deny", Some("no-force")),
    ];
    assert_eq!(decisions(&place), expected);
}

/// Neither the log nor the spool takes it.
#[test]
fn a_verdict_that_is_on_disk_nowhere_is_not_answered() {
    let place = gated(Place::empty());
    fs::write(place.path("log.spool"), "a file").unwrap();
    for command in ["ls", "git push --force"] {
        let ran = place.run_with(GATE, asks("c1", command));
        assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{ran:?}");
        assert!(ran.stderr.contains("own settings decide"), "{ran:?}");
        let ran = place.run_with(CLOSED, asks("c1", command));
        assert_eq!((ran.status, decision(&ran).0.as_str()), (0, "deny"));
        assert!(ran.stderr.contains("is lost"), "{ran:?}");
    }
}

/// The log is held by a process that answers nobody.
#[test]
fn a_log_that_does_not_answer_in_time_refuses_where_that_is_wanted() {
    let place = gated(Place::with_log());
    let mut owner = sole_owner(&place);
    let hurried = |gate: &[&'static str], id: &str| {
        let in_time = |arg: &&'static str| if *arg == "60000" { "800" } else { arg };
        let args: Vec<&str> = gate.iter().map(in_time).collect();
        decision(&place.run_with(&args, asks(id, "ls")).ok()).0
    };
    assert_eq!(hurried(GATE, "c1"), "allow");
    assert_eq!(hurried(CLOSED, "c2"), "deny");
    drop(owner.stdin.take());
    owner.wait().unwrap();
    assert_eq!(place.run_with(&["apply"], "").status, 0);
    assert_eq!(
        decisions(&place),
        [decided("allow", Some("look")), refusal()]
    );
}

/// What takes long to record does not come before a verdict: a process without a deadline takes it in.
#[test]
fn a_large_event_in_the_spool_keeps_no_verdict_from_the_log() {
    let place = gated(Place::with_log());
    let waits = || place.run(&["hook", "status", "--json"]).ok().json()["spool"]["state"].clone();
    let tell = |name: &str, id: &str, more: Value| {
        let mut event = asks(id, "ls").parse::<Value>().unwrap();
        event["hook_event_name"] = json!(name);
        event["prompt_id"] = json!("p1");
        let fields = more.as_object().unwrap().clone();
        event.as_object_mut().unwrap().extend(fields);
        // There is no time for the log.
        let args = ["hook", "claude", "--deadline", "1"];
        place.run_with(&args, event.to_string()).ok();
    };
    let large = json!({ "tool_response": "text ".repeat(100_000) });
    tell("PostToolUse", "c0", large);
    tell("UserPromptSubmit", "", json!({ "prompt": "Fix it" }));
    assert_eq!(waits()["waiting"], 2);
    // The small one comes before the call, and the large one waits.
    let ran = place.run_with(CLOSED, asks("c1", "ls")).ok();
    assert_eq!(decision(&ran).0, "allow");
    assert_eq!(waits()["waiting"], 1);
    assert_eq!(decisions(&place), [decided("allow", Some("look"))]);
    let ran = place.run_with(GATE, asks("c2", "git push --force")).ok();
    assert_eq!(decision(&ran).0, "deny");
    assert_eq!(waits()["waiting"], 1);
    assert_eq!(place.run_with(&["apply"], "").status, 0);
    assert_eq!(
        (&waits()["waiting"], &waits()["bad"]),
        (&json!(0), &json!(0))
    );
    let log = place.run(&["log", "--json"]).ok().lines();
    let count = |kind: &str| log.iter().filter(|it| it["event_type"] == kind).count();
    assert_eq!((count("run.tool_ended"), count("intent.submitted")), (1, 1));
    place.run(&["verify"]).ok();
}

fn start(place: &Place, input: &str) -> Child {
    let mut child = place.command(CLOSED).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, input.as_bytes()).unwrap();
    child
}

/// Whenever a gate is killed: what it has answered is in the log.
#[test]
fn no_verdict_is_answered_that_a_killed_gate_did_not_record() {
    let place = gated(Place::with_log());
    // So that the session is there.
    place.run_with(GATE, asks("first", "ls")).ok();
    let mut answered = Vec::new();
    for n in 0..40_u64 {
        let id = format!("call_{n}");
        let mut child = start(&place, &asks(&id, "ls"));
        std::thread::sleep(Duration::from_millis(n * n / 3));
        // However slow the machine is, one of them comes to answer.
        if n < 39 {
            let _ = child.kill();
        }
        let output = child.wait_with_output().unwrap();
        if !output.stdout.is_empty() {
            answered.push(id);
        }
    }
    let exported = place.run(&["decisions", "--oldest", "--json", "-n", "100"]);
    let logged = exported.ok().lines();
    println!(
        "{} of 40 answered, {} recorded",
        answered.len(),
        logged.len()
    );
    assert!(!answered.is_empty(), "every one was killed before");
    let ids = annals_dialects::live::agent("claude").unwrap().ids();
    for id in &answered {
        let call = ids.tool(id).invocation.0.to_string();
        let is_there = |line: &Value| line["call"] == call && line["verdict"] == "allow";
        assert!(logged.iter().any(is_there), "{id}");
    }
}

#[test]
fn a_gate_is_installed_with_its_hooks() {
    let place = gated(Place::with_log());
    let policy = place.path("policy.cedar").canonicalize().unwrap();
    for (agent, file) in [
        ("claude", ".claude/settings.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/hooks.json"),
        ("gemini", ".gemini/settings.json"),
    ] {
        let install = ["hook", "install", agent, "--project", "--yes"];
        place.run(&install);
        let gate = ["--gate", "policy.cedar", "--fail-closed"];
        place.run(&[&install[..], &gate].concat());
        let installed = fs::read_to_string(place.path(file)).unwrap();
        let wanted = format!("hook {agent} --gate {} --fail-closed", policy.display());
        assert!(installed.contains(&wanted), "{installed}");
        assert!(
            !installed.contains(&format!("hook {agent}\"")),
            "{installed}"
        );
        assert_eq!(installed.contains("failClosed"), agent == "cursor");
        place
            .run(&["hook", "uninstall", agent, "--project", "--yes"])
            .ok();
        assert!(!place.path(file).exists());
    }
}

/// An agent that asks for two calls under one id: what was decided on the one says nothing of the other.
#[test]
fn an_id_that_is_used_again_is_another_call() {
    let place = gated(Place::with_log());
    for command in ["ls", "git push --force", "ls", "git push --force"] {
        place.run_with(GATE, asks("c1", command)).ok();
    }
    let listed = || place.run(&["decisions", "--oldest", "--json"]).ok().lines();
    let lines = listed();
    let found: Vec<(&str, &str)> = lines
        .iter()
        .map(|line| {
            let command = line["args"]["command"].as_str();
            (
                line["verdict"].as_str().unwrap(),
                command.unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(found, [("allow", "ls"), ("deny", "git push --force")]);
    // The end of a call is that of the one with its arguments.
    let ended = json!({
        "hook_event_name": "PostToolUse", "session_id": "s1", "cwd": "/shop", "tool_name": "Bash",
        "tool_use_id": "c1", "tool_input": { "command": "git push --force" }, "tool_response": "done",
    });
    place.run_with(GATE, ended.to_string()).ok();
    let status = |line: &Value| line["status"].as_str().unwrap().to_owned();
    let statuses: Vec<String> = listed().iter().map(status).collect();
    assert_eq!(statuses, ["requested", "ok"]);
}
