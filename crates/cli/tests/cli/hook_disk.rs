//! Hooks on full disks: agents are not stood in the way of, what has room somewhere is recorded once, and the rest is
//! said and counted.

use std::io::Write as _;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::Place;

/// `unshare` with a mount namespace of its own: as root, or as a user where that is allowed.
pub fn unshare() -> Option<Vec<&'static str>> {
    let ways = [vec!["unshare", "-m"], vec!["unshare", "-rm"]];
    let found = ways.into_iter().find(|way| {
        let mount = ["mount", "-t", "tmpfs", "none", "/mnt"];
        let probe = Command::new(way[0]).args(&way[1..]).args(mount).output();
        probe.is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        let message = "NOT RUN: a file system of its own cannot be mounted here (unshare -rm)";
        assert!(std::env::var_os("CI").is_none(), "{message}");
        let _ = writeln!(std::io::stdout(), "{message}");
    }
    found
}

/// Runs a script of the shell where `disk` is a file system of 64 MB; what it printed, a line a command.
fn on_a_small_disk(script: &str) -> Option<Vec<String>> {
    let way = unshare()?;
    let place = Place::empty();
    let functions = r#"
        set -eu
        mount -t tmpfs -o size=64m none "$0"
        cd "$0"
        log() { "$ANNALS" --log log "$@"; }
        hook() { if said=$(printf '%s' "$1" | log hook claude 2>&1); then echo "hook 0 $said"; else echo "hook failed"; fi; }
        fill() { cat /dev/zero > ballast 2> /dev/null || true; }
        room() { rm ballast; }
        count() { log log --json | grep -c "\"$1\"" || true; }
        waits() { log hook status --json; }
    "#;
    let output = Command::new(way[0])
        .args(&way[1..])
        .args(["sh", "-c", &format!("{functions}\n{script}")])
        .arg(place.path("."))
        .env("ANNALS", env!("CARGO_BIN_EXE_annals"))
        .env(
            "PROMPT",
            told(
                "UserPromptSubmit",
                &json!({ "prompt_id": "p1", "prompt": "Fix it" }),
            ),
        )
        .env("STOP", told("Stop", &json!({})))
        .env("END", told("SessionEnd", &json!({ "reason": "exit" })))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(!said.contains("panicked"), "{said}");
    Some(printed.lines().map(str::to_owned).collect())
}

fn told(name: &str, more: &Value) -> String {
    let mut event = json!({ "session_id": "s1", "cwd": "/shop", "hook_event_name": name });
    event
        .as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    event.to_string()
}

fn state(line: &str) -> Value {
    let status: Value = serde_json::from_str(line).unwrap();
    status["spool"]["state"].clone()
}

#[test]
fn a_full_disk_loses_what_has_no_room_and_says_so() {
    let script = r#"
        log init > /dev/null
        hook "$PROMPT"
        fill
        hook "$STOP"
        room
        waits
        hook "$END"
        log apply < /dev/null > /dev/null
        count intent.submitted
        count run.evidence_recorded
        log verify > /dev/null
    "#;
    let Some(lines) = on_a_small_disk(script) else {
        return;
    };
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert_eq!(lines[0].trim(), "hook 0");
    assert!(
        lines[1].starts_with("hook 0") && lines[1].contains("is lost"),
        "{lines:?}"
    );
    assert_eq!(state(&lines[2])["lost"], 1, "{lines:?}");
    assert_eq!(lines[3].trim(), "hook 0");
    assert_eq!((lines[4].as_str(), lines[5].as_str()), ("1", "1"));
}

/// The spool may be elsewhere by a mount; then it has what the log has no room for, and the log has it once there is
/// room.
#[test]
fn a_spool_with_room_keeps_what_a_full_log_does_not_take() {
    let script = r#"
        log init > /dev/null
        hook "$PROMPT"
        mkdir -m 0700 log.spool
        mount -t tmpfs -o size=1m,mode=0700 none log.spool
        fill
        hook "$STOP"
        hook "$END"
        waits
        room
        log apply < /dev/null > /dev/null
        waits
        count intent.submitted
        count run.evidence_recorded
        log verify > /dev/null
    "#;
    let Some(lines) = on_a_small_disk(script) else {
        return;
    };
    assert_eq!(lines.len(), 7, "{lines:?}");
    let hooks = &lines[..3];
    assert!(hooks.iter().all(|it| it.trim() == "hook 0"), "{lines:?}");
    let (full, room) = (state(&lines[3]), state(&lines[4]));
    assert_eq!((&full["waiting"], &full["lost"]), (&json!(2), &json!(0)));
    assert_eq!((&room["waiting"], &room["bad"]), (&json!(0), &json!(0)));
    assert_eq!((lines[5].as_str(), lines[6].as_str()), ("1", "2"));
}

#[test]
fn a_log_that_is_no_folder_is_refused_at_once_and_has_no_spool() {
    let place = Place::empty();
    std::fs::write(place.path("file"), "text").unwrap();
    for log in ["file", "/dev/null", "/dev/zero"] {
        let event = told("Stop", &json!({}));
        let ran = place.run_with(&["--log", log, "hook", "claude"], event);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(ran.stderr.contains("is not a folder"), "{ran:?}");
        let spool = place.path(&format!("{log}.spool"));
        assert!(!spool.exists(), "{}", spool.display());
    }
}
