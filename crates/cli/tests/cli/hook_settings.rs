//! Why a call was allowed, as far as agents' settings and what people allowed from then on say it.

use std::fs;
use std::net::TcpListener;
use std::process::Child;

use serde_json::{Value, json};

use crate::support::{Place, wait_for};

const SESSION: &str = "5e0c1a52-6c3e-4b53-9f0b-1c1f0a6b7d10";

/// A place with a project in it.
fn project(settings: &Value) -> Place {
    let place = Place::with_log();
    fs::create_dir_all(place.path("app/.claude")).unwrap();
    write(&place, "settings.json", settings);
    place
}

fn write(place: &Place, name: &str, settings: &Value) {
    fs::write(place.path("app/.claude").join(name), settings.to_string()).unwrap();
}

fn tell(place: &Place, name: &str, call: &str, command: &str) {
    let event = json!({
        "session_id": SESSION, "cwd": place.path("app"), "hook_event_name": name,
        "permission_mode": "default", "tool_name": "Bash", "tool_use_id": call,
        "tool_input": { "command": command }, "tool_response": "ok", "duration_ms": 3,
    });
    let ran = place
        .run_with(
            &["hook", "claude", "--deadline", "60000"],
            event.to_string(),
        )
        .ok();
    assert_eq!(ran.stdout, "");
}

/// Waits until what hooks left in the spool is in the log.
fn taken_in(place: &Place) {
    wait_for(|| {
        let status = place.run(&["hook", "status", "--json"]).ok().json();
        status["spool"]["state"]["waiting"] == 0
    });
}

/// The decisions, oldest first.
fn decisions(place: &Place, more: &[&str]) -> Vec<Value> {
    let args = [&["decisions", "--oldest", "--json"], more].concat();
    place.run(&args).ok().lines()
}

#[test]
fn a_rule_of_the_settings_is_inferred_and_the_files_are_stated_once() {
    let settings =
        json!({ "permissions": { "allow": ["Bash(npm test:*)"], "deny": ["Bash(rm:*)"] } });
    let place = project(&settings);
    let path = place.path("app/.claude/settings.json");
    let path = path.to_str().unwrap();
    tell(&place, "PreToolUse", "t1", "npm test");
    tell(&place, "PostToolUse", "t1", "npm test");
    tell(&place, "PreToolUse", "t2", "npm test -- --watch");
    tell(&place, "PreToolUse", "t3", "make");
    let found = decisions(&place, &[]);
    assert_eq!(found.len(), 2, "{found:?}");
    let rule = (
        &json!("allow"),
        &json!("rule"),
        &json!("Bash(npm test:*)"),
        &json!(path),
        &json!(true),
    );
    for decision in &found {
        let is = |name: &str| &decision[name];
        assert_eq!(
            (
                is("verdict"),
                is("by"),
                is("by_name"),
                is("source"),
                is("inferred")
            ),
            rule
        );
        assert_eq!(decision["permission_mode"], "default");
    }
    assert_eq!(found[0]["in_force"][0]["path"], path);
    assert_eq!(found[1]["in_force"], Value::Null, "it is what it was");
    let why = |decision: &Value| {
        let call = decision["call"].as_str().unwrap().to_owned();
        place.run(&["why", &call]).ok().stdout
    };
    let text = why(&found[0]);
    for part in [
        "allow by rule Bash(npm test:*) of ",
        "inferred",
        "In force (event",
        "annals object cat ",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let text = why(&found[1]);
    assert!(
        text.contains("In force, as stated before with call"),
        "{text}"
    );
    assert!(text.contains(path), "{text}");
    // Changed settings are stated again.
    write(
        &place,
        "settings.json",
        &json!({ "permissions": { "ask": ["Bash(npm:*)"] } }),
    );
    tell(&place, "PreToolUse", "t4", "npm test");
    tell(&place, "PermissionRequest", "t4", "npm test");
    let found = decisions(&place, &["--asked"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["by_name"], "Bash(npm:*)");
    assert!(found[0]["in_force"][0]["hash"].is_string(), "{found:?}");
    place.run(&["verify"]).ok();
}

/// A receiver of telemetry, which ends with this.
struct Receiver(Child, u16);

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Receiver {
    fn start(place: &Place) -> Receiver {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let address = format!("127.0.0.1:{port}");
        let child = place
            .command(&["record", "--otlp", &address])
            .spawn()
            .unwrap();
        let receiver = Receiver(child, port);
        while std::net::TcpStream::connect(&address).is_err() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        receiver
    }

    /// Tells of a decision as an agent's telemetry does.
    fn decided(&self, name: &str, session: &str, attributes: &Value) {
        use std::io::{Read, Write};
        let mut all = vec![json!({ "key": "event.name", "value": { "stringValue": name } })];
        let (key, id) = session.split_once('=').unwrap();
        all.push(json!({ "key": key, "value": { "stringValue": id } }));
        for (key, value) in attributes.as_object().unwrap() {
            all.push(json!({ "key": key, "value": { "stringValue": value } }));
        }
        let body = json!({ "resourceLogs": [{ "scopeLogs": [{ "logRecords": [{
            "timeUnixNano": "1795000000000000001", "attributes": all,
        }] }] }] });
        let body = body.to_string();
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.1)).unwrap();
        let head = format!(
            "POST /v1/logs HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.1,
            body.len()
        );
        stream.write_all((head + &body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(" 200 "), "{answer}");
    }
}

/// What a person allowed from then on becomes a rule of the settings, and later calls rest on it.
#[test]
fn later_calls_rest_on_what_a_person_allowed_from_then_on() {
    let place = project(&json!({}));
    let receiver = Receiver::start(&place);
    tell(&place, "PreToolUse", "t1", "npm test");
    let attributes = json!({
        "tool_use_id": "t1", "tool_name": "Bash", "decision": "accept", "source": "user_permanent",
    });
    let session = format!("session.id={SESSION}");
    receiver.decided("claude_code.tool_decision", &session, &attributes);
    let rules = json!({ "permissions": { "allow": ["Bash(npm test:*)", "Bash(make)"] } });
    write(&place, "settings.local.json", &rules);
    tell(&place, "PreToolUse", "t2", "npm test -- --watch");
    tell(&place, "PreToolUse", "t3", "make");
    taken_in(&place);
    drop(receiver);
    let grants = decisions(&place, &["--grants"]);
    assert_eq!(grants.len(), 1, "{grants:?}");
    assert_eq!(grants[0]["scope"], "settings");
    assert_eq!(grants[0]["uses"]["count"], 1);
    let all = decisions(&place, &["--by", "rule"]);
    assert_eq!(all[0]["grant"], grants[0]["call"]);
    // No call before could have been allowed by the other rule.
    assert_eq!(all[1]["grant"], Value::Null);
    let listed = place.run(&["decisions", "--grants"]).ok().stdout;
    assert!(
        listed.contains("allow (settings)") && listed.contains("1, last "),
        "{listed}"
    );
    let why = place
        .run(&["why", all[0]["call"].as_str().unwrap()])
        .ok()
        .stdout;
    assert!(why.contains("rests on what was allowed with call"), "{why}");
}

/// Codex tells of the same approval for each call that it lets through by it.
#[test]
fn the_same_call_rests_on_what_was_approved_for_the_session() {
    let place = Place::with_log();
    let receiver = Receiver::start(&place);
    for (call, command) in [
        ("c1", "cargo publish"),
        ("c2", "cargo publish"),
        ("c3", "git push"),
    ] {
        let event = json!({
            "session_id": SESSION, "cwd": place.path("app"), "hook_event_name": "PreToolUse",
            "permission_mode": "default", "turn_id": "u1", "tool_name": "shell", "tool_use_id": call,
            "tool_input": { "command": command, "justification": format!("for {call}") },
        });
        place
            .run_with(&["hook", "codex", "--deadline", "60000"], event.to_string())
            .ok();
        taken_in(&place);
        let attributes = json!({
            "call_id": call, "tool_name": "shell", "decision": "approved_for_session", "source": "user",
        });
        let session = format!("conversation.id={SESSION}");
        receiver.decided("codex.tool_decision", &session, &attributes);
    }
    drop(receiver);
    let all = decisions(&place, &["--by", "person"]);
    let scopes: Vec<&Value> = all.iter().map(|it| &it["scope"]).collect();
    assert_eq!(scopes, ["session", "once", "session"]);
    assert_eq!(all[1]["grant"], all[0]["call"]);
    let grants = decisions(&place, &["--grants"]);
    let uses: Vec<&Value> = grants.iter().map(|it| &it["uses"]["count"]).collect();
    assert_eq!(uses, [1, 0]);
}

/// Any program that reaches the receiver can report a decision: it is marked so, and is none of the gate's own.
#[test]
fn what_telemetry_reports_is_not_what_the_gate_decided() {
    let place = Place::with_log();
    let policy = r#"@id("no-force") forbid (principal, action == Action::"push", resource) when { resource.force };"#;
    fs::write(place.path("policy.cedar"), policy).unwrap();
    let event = json!({
        "hook_event_name": "PreToolUse", "session_id": SESSION, "cwd": "/shop", "permission_mode": "default",
        "tool_name": "Bash", "tool_use_id": "t1", "tool_input": { "command": "git push --force" },
    });
    let gate = [
        "hook",
        "claude",
        "--deadline",
        "60000",
        "--gate",
        "policy.cedar",
    ];
    place.run_with(&gate, event.to_string()).ok();
    taken_in(&place);
    let receiver = Receiver::start(&place);
    let session = format!("session.id={SESSION}");
    for source in ["user_permanent", "config", "no-force"] {
        let attributes = json!({
            "tool_use_id": "t1", "tool_name": "Bash", "decision": "accept", "source": source,
        });
        receiver.decided("claude_code.tool_decision", &session, &attributes);
    }
    drop(receiver);
    let all = decisions(&place, &[]);
    let found: Vec<_> = all
        .iter()
        .map(|it| (&it["verdict"], &it["reported_by"]))
        .collect();
    let (deny, allow, telemetry) = (json!("deny"), json!("allow"), json!("telemetry"));
    assert_eq!(found[0], (&deny, &Value::Null));
    assert_eq!(found[1..], vec![(&allow, &telemetry); found.len() - 1]);
    assert!(found.len() > 1, "{all:?}");
    let listed = place.run(&["decisions"]).ok().stdout;
    assert!(listed.contains("reported by telemetry"), "{listed}");
    let call = all[0]["call"].as_str().unwrap();
    let why = place.run(&["why", call]).ok().stdout;
    let (first, _) = why.split_once('\n').unwrap();
    assert!(first.contains("den") && !first.contains("allow"), "{why}");
}
