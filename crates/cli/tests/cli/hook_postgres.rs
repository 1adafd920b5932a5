//! What agents tell by hooks, where the log is on PostgreSQL.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use crate::hook::{HOOK, event, prompt};
use crate::postgres::{place, server};
use crate::support::{Place, Ran, Running, wait_for};

fn spool(place: &Place) -> Value {
    let status = place.run(&["hook", "status", "--json"]).ok().json();
    status["spool"].clone()
}

fn intents(place: &Place) -> usize {
    let log = place.run(&["log", "--json"]).ok().lines();
    let submitted = |event: &&Value| event["event_type"] == "intent.submitted";
    log.iter().filter(submitted).count()
}

#[test]
fn what_a_hook_tells_is_recorded_or_waits_for_the_next_command() {
    let Some(place) = place() else {
        return;
    };
    // There is no log yet: what is told waits, and nobody else can read it.
    let early = place.run_with(&["hook", "claude"], prompt("p1", "Fix the tests"));
    assert_eq!((early.status, early.stdout.as_str()), (0, ""), "{early:?}");
    let waits = spool(&place);
    assert_eq!(waits["state"]["waiting"], 1, "{waits}");
    let folder = waits["folder"].as_str().unwrap();
    assert!(folder.contains("/.local/state/annals/spools/"), "{folder}");
    let mode = fs::metadata(folder).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    place.run(&["init"]).ok();
    place.run(&["submit", "Another one"]).ok();
    assert_eq!(spool(&place)["state"]["waiting"], 0);
    assert_eq!(intents(&place), 2);

    let told = place.run_with(
        &["hook", "claude", "-v", "--deadline", "60000"],
        prompt("p2", "And the docs"),
    );
    assert!(told.stderr.contains("recorded"), "{told:?}");
    assert_eq!(intents(&place), 3);
    place.run(&["verify"]).ok();
}

#[test]
fn a_gate_answers_what_the_log_has() {
    let Some(place) = place() else {
        return;
    };
    place.run(&["init"]).ok();
    let policy = r#"@id("no-push") forbid (principal, action == Action::"push", resource);"#;
    fs::write(place.path("p.cedar"), policy).unwrap();
    let gate = [
        "hook",
        "claude",
        "--deadline",
        "60000",
        "--gate",
        "p.cedar",
        "--fail-closed",
    ];
    place.run_with(&HOOK, prompt("p1", "Push it")).ok();
    let call = event(
        "PreToolUse",
        json!({ "tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": { "command": "git push" } }),
    );
    let answer = place.run_with(&gate, &call).ok().json();
    let said = &answer["hookSpecificOutput"];
    assert_eq!(said["permissionDecision"], "deny", "{answer}");
    let reason = said["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.contains("no-push"), "{reason}");
    let decided = place.run(&["decisions", "--by", "rule"]).ok();
    assert!(decided.stdout.contains("no-push"), "{decided:?}");
}

#[test]
fn a_process_that_stays_takes_in_what_hooks_leave() {
    let Some(place) = place() else {
        return;
    };
    place.run(&["init"]).ok();
    fs::create_dir(place.path("sessions")).unwrap();
    let watching = Running::of(place.command(&["watch", "claude", "sessions"]));
    let bell = place.path("home");
    let bell = || {
        let spools = bell.join(".local/state/annals/spools");
        let mut spools = fs::read_dir(spools).into_iter().flatten().flatten();
        spools.any(|spool| spool.path().join("bell").exists())
    };
    wait_for(bell);
    let told = place.run_with(
        &["hook", "claude", "-v", "--deadline", "60000"],
        prompt("p1", "Fix the tests"),
    );
    assert!(told.stderr.contains("takes it in at once"), "{told:?}");
    wait_for(|| intents(&place) == 1);
    watching.end();
}

#[test]
fn no_password_comes_into_an_agents_configuration() {
    let (Some(server), Some(place)) = (server(), place()) else {
        return;
    };
    let install = ["hook", "install", "claude", "--yes", "--json"];
    assert_eq!(place.run(&install).error_code(), "password_in_url");
    let url = place
        .log()
        .replace(&format!(":{}@", server.password()), "@");
    let mut command = place.command(&[&["--log", url.as_str()], &install[..]].concat());
    let installed = Ran::of(
        command
            .env("PGPASSWORD", server.password())
            .output()
            .unwrap(),
    );
    assert_eq!(installed.status, 0, "{installed:?}");
    let settings = fs::read_to_string(place.path("home/.claude/settings.json")).unwrap();
    assert!(settings.contains(&url), "{settings}");
    assert!(!settings.contains(server.password()), "{settings}");
}
