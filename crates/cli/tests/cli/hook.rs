//! What agents tell by hooks: it is recorded, kept where it cannot be, and never stands in an agent's way.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use annals_testkit::process::assert_within;
use serde_json::{Value, json};

use crate::support::{Place, Ran, sole_owner, wait_for};

const SESSION: &str = "5e0c1a52-6c3e-4b53-9f0b-1c1f0a6b7d10";

pub fn event(name: &str, fields: Value) -> String {
    let mut event = json!({
        "session_id": SESSION, "cwd": "/home/kei/shop", "hook_event_name": name,
        "permission_mode": "default", "transcript_path": "/home/kei/s.jsonl",
    });
    let fields = fields.as_object().unwrap().clone();
    event.as_object_mut().unwrap().extend(fields);
    event.to_string()
}

pub fn prompt(id: &str, text: &str) -> String {
    event(
        "UserPromptSubmit",
        json!({ "prompt_id": id, "prompt": text }),
    )
}

/// A hook that has the time it needs: on a busy machine the usual five seconds may be too short to record its event, which
/// then waits.
pub const HOOK: [&str; 4] = ["hook", "claude", "--deadline", "60000"];

/// Runs a hook, which succeeds and says nothing whatever happens.
fn tell(place: &Place, input: impl AsRef<[u8]>) {
    let ran = place.run_with(&HOOK, input).ok();
    assert_eq!(ran.stdout, "");
}

fn spooled(place: &Place) -> usize {
    let state = place.run(&["hook", "status", "--json"]);
    state.json()["spool"]["state"]["waiting"].as_u64().unwrap() as usize
}

fn events(place: &Place) -> Vec<String> {
    let log = place.run(&["log", "--json"]).ok().lines();
    let kind = |event: Value| event["event_type"].as_str().unwrap().to_owned();
    log.into_iter().map(kind).collect()
}

fn count(events: &[String], kind: &str) -> usize {
    events.iter().filter(|event| *event == kind).count()
}

#[test]
fn what_the_program_does_by_itself_is_no_prompt_and_no_sub_agent() {
    let place = Place::with_log();
    tell(&place, prompt("p1", "Look around"));
    let ended = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n</task-notification>";
    tell(&place, prompt("p2", ended));
    // `/compact` summarises with an agent without a name, which never started.
    let summary = |kind: &str| {
        event(
            "SubagentStop",
            json!({ "agent_id": "a2", "agent_type": kind, "last_assistant_message": "Looked" }),
        )
    };
    tell(&place, summary(""));
    let events_told = events(&place);
    assert_eq!(
        count(&events_told, "intent.submitted"),
        1,
        "{events_told:?}"
    );
    assert_eq!(count(&events_told, "run.created"), 1, "{events_told:?}");
    let sessions = place.run(&["ls"]).ok().stdout;
    assert!(sessions.contains("Look around"), "{sessions}");
    assert!(!sessions.contains("task-notification"), "{sessions}");
    let evidence = place.run(&["list", "evidence"]).ok().stdout;
    assert!(evidence.contains("notification"), "{evidence}");
    assert!(evidence.contains("subagent_stop"), "{evidence}");
    // A sub-agent that has a name is one.
    tell(&place, summary("Explore"));
    assert_eq!(count(&events(&place), "run.created"), 2);
}

#[test]
fn a_session_is_recorded_as_its_transcript_would_be() {
    let place = Place::with_log();
    // Before the first prompt there is nothing to record it in.
    tell(
        &place,
        event(
            "SessionStart",
            json!({ "source": "startup", "model": "claude-sonnet-4-6" }),
        ),
    );
    assert_eq!(spooled(&place), 1);
    tell(&place, prompt("p1", "Fix the tests"));
    tell(
        &place,
        event(
            "Notification",
            json!({ "message": "Waiting", "notification_type": "idle_prompt" }),
        ),
    );
    tell(&place, prompt("p2", "And the docs"));
    tell(&place, event("SessionEnd", json!({ "reason": "exit" })));
    assert_eq!(spooled(&place), 0);
    let logged = events(&place);
    assert_eq!(count(&logged, "intent.submitted"), 2);
    assert_eq!(count(&logged, "task.created"), 1);
    assert_eq!(count(&logged, "run.evidence_recorded"), 3, "{logged:?}");

    // Its transcript meets it: no second intent, no second task.
    let line = |uuid: &str, prompt: &str, text: &str, at: &str| {
        json!({
            "type": "user", "uuid": uuid, "sessionId": SESSION, "promptId": prompt, "timestamp": at,
            "cwd": "/home/kei/shop", "message": { "role": "user", "content": text },
        })
    };
    let lines = [
        line("u1", "p1", "Fix the tests", "2026-11-26T10:00:00Z"),
        line("u2", "p2", "And the docs", "2026-11-26T10:01:00Z"),
        line("u3", "p3", "Nobody told of this", "2026-11-26T10:02:00Z"),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    fs::write(place.path("s.jsonl"), text).unwrap();
    place.run(&["import", "claude", "s.jsonl"]).ok();
    let logged = events(&place);
    assert_eq!(count(&logged, "intent.submitted"), 3);
    assert_eq!(count(&logged, "task.created"), 1);

    // And the other way round: the transcript was first.
    tell(&place, prompt("p3", "Nobody told of this"));
    assert_eq!(count(&events(&place), "intent.submitted"), 3);
    // Again: nothing.
    let again = place
        .run(&["import", "claude", "s.jsonl", "--json"])
        .ok()
        .json();
    assert_eq!(again["events_made"], 0, "{again}");
    place.run(&["verify"]).ok();
}

#[test]
fn odd_hooks_are_recorded_as_such_and_nothing_is_blocked() {
    let place = Place::with_log();
    let large = event(
        "Stop",
        json!({ "last_assistant_message": "x".repeat(10 * 1024 * 1024) }),
    );
    let endless = "y".repeat(17 * 1024 * 1024);
    let odd: [&[u8]; 7] = [
        b"",
        b"nonsense",
        b"[1,2]",
        b"{\"hook_event_name\":",
        b"\xff\xfe\x00",
        b"{\"hook_event_name\":\"Telepathy\",\"session_id\":\"s\",\"aura\":1}",
        b"{\"hook_event_name\":7,\"session_id\":{}}",
    ];
    for input in odd {
        tell(&place, input);
    }
    tell(&place, prompt("p1", "Begin"));
    tell(&place, large);
    // What is too large for a hook is said, on standard error, which blocks nothing.
    let ran = place.run_with(&HOOK, endless);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("too large"), "{}", ran.stderr);
    // The unknown one waits for its session; the others have one.
    assert_eq!(spooled(&place), 1);
    let logged = events(&place);
    assert_eq!(count(&logged, "run.evidence_recorded"), 8, "{logged:?}");
    for agent in ["codex", "cursor", "gemini"] {
        let ran = place
            .run_with(&["hook", agent, "--deadline", "60000"], "nonsense")
            .ok();
        assert_eq!(ran.stdout, "");
    }
    // `notify` gives it as an argument.
    let notify =
        json!({ "type": "agent-turn-complete", "thread-id": "t", "turn-id": "1", "cwd": "/" });
    place.run(&["hook", "codex", &notify.to_string()]).ok();
    // What is asked of it wrongly blocks nothing either: 2 would.
    assert_eq!(place.run(&["hook", "claude", "--what"]).status, 1);
}

/// An event that has no place is reported on standard error, and blocks nothing unless a gate is to fail closed.
#[test]
fn a_path_that_is_not_utf8_is_reported_and_blocks_nothing() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let place = Place::empty();
    let (path, joined) = (
        OsStr::from_bytes(b"x\xff"),
        OsStr::from_bytes(b"--log=x\xff"),
    );
    let closed = ["--gate", "policy.cedar", "--fail-closed"].map(OsStr::new);
    let [log, hook, claude] = ["--log", "hook", "claude"].map(OsStr::new);
    for arguments in [
        &[hook, claude, log, path][..],
        &[log, path, hook, claude],
        &[joined, hook, claude],
    ] {
        for (more, status) in [(&[][..], 1), (&closed[..], 2)] {
            let mut command = place.command(&[]);
            let ran = command.args(arguments).args(more).output().unwrap();
            let said = String::from_utf8_lossy(&ran.stderr);
            assert_eq!(ran.status.code(), Some(status), "{arguments:?}: {said}");
            assert!(said.contains("UTF-8") && ran.stdout.is_empty(), "{said}");
        }
    }
    let ran = place
        .command(&["hook", "claude"])
        .env("ANNALS_LOG", path)
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(1), "{ran:?}");
}

#[test]
fn without_a_log_events_wait_and_are_taken_in_once() {
    let place = Place::empty();
    tell(&place, prompt("p1", "Fix the tests"));
    tell(&place, event("Stop", json!({})));
    assert_eq!(spooled(&place), 2);
    let folder = place.path("log.spool");
    let mode = |path: &PathBuf| {
        use std::os::unix::fs::PermissionsExt;
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .collect();
    assert!(files.iter().all(|file| mode(file) == 0o600));
    // One that cannot be read is put aside.
    fs::write(folder.join("00000000000001-x-00000000.hook"), "nonsense").unwrap();

    place.run(&["init"]).ok();
    assert_eq!(place.run_with(&["apply"], "").status, 0);
    let logged = events(&place);
    assert_eq!(count(&logged, "intent.submitted"), 1);
    assert_eq!(count(&logged, "run.evidence_recorded"), 1);
    let state = place.run(&["hook", "status", "--json"]).ok().json()["spool"]["state"].clone();
    assert_eq!((&state["waiting"], &state["bad"]), (&json!(0), &json!(1)));
    assert_eq!(place.run_with(&["apply"], "").status, 0);
    assert_eq!(events(&place), logged);
}

#[test]
fn secrets_are_in_neither_the_log_nor_the_spool() {
    let key = format!("AKIA{}", "Q3EGRIFO5XKNZ7AB");
    let place = Place::empty();
    tell(&place, prompt("p1", &format!("Use {key}")));
    let files = fs::read_dir(place.path("log.spool")).unwrap();
    let mut files = files.map(|file| file.unwrap().path());
    let is_event = |file: &PathBuf| file.extension().is_some_and(|it| it == "hook");
    let file = files.find(is_event).unwrap();
    let text = fs::read_to_string(file).unwrap();
    assert!(
        !text.contains(&key) && text.contains("[redacted:aws-access-key-id]"),
        "{text}"
    );
    place.run(&["init"]).ok();
    tell(&place, prompt("p2", &format!("Use {key} again")));
    let exported = place.run(&["export", "annals"]).ok().stdout;
    assert!(!exported.contains(&key));
    assert!(exported.contains("Use [redacted:aws-access-key-id]"));
}

#[test]
fn a_hook_is_done_by_its_deadline() {
    let place = Place::with_log();
    // The owner holds the log and answers nobody.
    let mut owner = sole_owner(&place);
    let begun = Instant::now();
    let ran = place.run_with(
        &["hook", "claude", "--deadline", "400"],
        prompt("p1", "Fix it"),
    );
    // Without a deadline it would not end: the owner keeps the log until then.
    assert_within(begun.elapsed(), Duration::from_secs(20));
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
    assert_eq!(spooled(&place), 1);
    drop(owner.stdin.take());
    owner.wait().unwrap();
    // Who keeps its standard input open does not keep it either.
    let begun = Instant::now();
    let mut child = place
        .command(&["hook", "claude", "--deadline", "3600000"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input
        .write_all(event("Stop", json!({})).as_bytes())
        .unwrap();
    let status = child.wait().unwrap();
    assert!(status.success());
    assert_within(begun.elapsed(), Duration::from_secs(20));
    drop(input);
    assert_eq!(spooled(&place), 0);
    let logged = events(&place);
    assert_eq!(count(&logged, "intent.submitted"), 1);
    assert_eq!(count(&logged, "run.evidence_recorded"), 1);
}

/// What has not come on standard input cannot be kept, and the agent does not tell it again: no hurry is a reason to go
/// on without it.
#[test]
fn an_event_that_its_agent_comes_to_write_late_is_not_lost() {
    let tell_late = |place: &Place| {
        let mut child = place
            .command(&["hook", "claude", "--deadline", "1"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        let mut input = child.stdin.take().unwrap();
        std::thread::sleep(Duration::from_millis(300));
        let written = input.write_all(prompt("p1", "Fix the tests").as_bytes());
        drop(input);
        let took = begun.elapsed();
        (child.wait_with_output().unwrap(), written, took)
    };
    // Where this test itself was too slow, it is no answer.
    let is_in_time = |took: Duration| took < Duration::from_millis(900);
    let told = (0..50).find_map(|_| {
        let place = Place::with_log();
        let (ran, written, took) = tell_late(&place);
        is_in_time(took).then_some((place, ran, written))
    });
    let Some((place, ran, written)) = told else {
        println!("NOT RUN: the machine is too busy to write an event within a second");
        return;
    };
    assert!(ran.status.success() && written.is_ok(), "{ran:?}");
    assert_eq!(place.run_with(&["apply"], "").status, 0);
    let logged = events(&place);
    assert_eq!(count(&logged, "intent.submitted"), 1, "{logged:?}");
    assert_eq!(count(&logged, "run.evidence_recorded"), 0, "{logged:?}");
}

/// Nothing comes, and standard input stays open: it says so, and nothing is blocked.
#[test]
fn an_event_that_never_comes_is_said() {
    let place = Place::with_log();
    let mut child = place
        .command(&["hook", "claude", "--deadline", "1"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let input = child.stdin.take().unwrap();
    let ran = child.wait_with_output().unwrap();
    drop(input);
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success() && ran.stdout.is_empty(), "{said}");
    assert!(said.contains("did not come whole"), "{said}");
}

/// A process that stays takes in what hooks leave in the spool as soon as it is there, and where it was killed they
/// bring it themselves.
#[test]
fn a_process_that_stays_hears_of_each_event() {
    let place = Place::with_log();
    let mut server = place
        .command(&["serve", "--record-only"])
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(server.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    let bell = place.path("log.spool/bell");
    wait_for(|| bell.exists());
    for n in 0..20 {
        let run = place.run_with(
            &["hook", "claude", "-v", "--deadline", "60000"],
            prompt(&format!("p{n}"), "Fix it"),
        );
        assert_eq!((run.status, run.stdout.as_str()), (0, ""));
        assert!(run.stderr.contains("takes it in at once"), "{run:?}");
    }
    wait_for(|| spooled(&place) == 0);
    assert_eq!(count(&events(&place), "intent.submitted"), 20);
    server.kill().unwrap();
    server.wait().unwrap();
    // Its bell is there still, and nobody hears it.
    assert!(bell.exists());
    let run = place.run_with(
        &["hook", "claude", "-v", "--deadline", "60000"],
        prompt("last", "Fix it"),
    );
    assert!(run.stderr.contains("annals: recorded"), "{run:?}");
    assert_eq!(count(&events(&place), "intent.submitted"), 21);
}

/// What brings an event into the log does not outlive its time, though the hook that started it was killed.
#[test]
fn what_a_killed_hook_started_ends_by_itself() {
    let place = Place::with_log();
    let begun = Instant::now();
    let mut child = place
        .command(&["hook", "deliver", "300"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    // Nobody gives it an event.
    let input = child.stdin.take().unwrap();
    let ended = child.wait().unwrap();
    drop(input);
    assert!(!ended.success());
    assert_within(begun.elapsed(), Duration::from_secs(20));
}

/// A hook that does not wait for the log leaves it in the middle of something, which is no reason to crash. With so
/// much at once, some have not begun when the time is over, and some have.
#[test]
fn a_hook_that_leaves_the_log_behind_succeeds() {
    let place = Place::with_log();
    let run = |thread: usize| {
        for n in 0..25 {
            let text = prompt(&format!("{thread} {n}"), "Fix the tests");
            let deadline = (n * 3 + 1).to_string();
            let mut child = place
                .command(&["hook", "claude", "--deadline", &deadline])
                .stdin(Stdio::piped())
                .spawn()
                .unwrap();
            let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
            let ended = child.wait_with_output().unwrap();
            assert!(ended.status.success(), "{ended:?}");
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|it| scope.spawn(move || run(it))).collect();
        assert!(threads.into_iter().all(|thread| thread.join().is_ok()));
    });
    assert_eq!(place.run_with(&["apply"], "").status, 0);
    assert_eq!(spooled(&place), 0);
    assert_eq!(count(&events(&place), "intent.submitted"), 200);
}

/// The program with a home folder of the place's own.
fn at_home(place: &Place, args: &[&str]) -> Ran {
    let mut command = place.command(args);
    command
        .env("HOME", place.path("home"))
        .env_remove("CLAUDE_CONFIG_DIR")
        .env_remove("CODEX_HOME");
    let output = command.output().unwrap();
    Ran {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn hooks_are_installed_shown_and_removed() {
    let place = Place::with_log();
    let own = "{\n    // mine\n    \"model\": \"opus\"\n}\n";
    fs::create_dir_all(place.path("home/.claude")).unwrap();
    let settings = place.path("home/.claude/settings.json");
    fs::write(&settings, own).unwrap();

    let shown = at_home(&place, &["hook", "install", "claude", "--dry-run"]).ok();
    assert!(
        shown.stdout.contains("+ ") && shown.stdout.contains("PreToolUse"),
        "{}",
        shown.stdout
    );
    assert_eq!(fs::read_to_string(&settings).unwrap(), own);
    // Nobody is there to be asked.
    at_home(&place, &["hook", "install", "claude"]).fails(1, &["nothing was changed", "--yes"]);
    at_home(&place, &["hook", "install", "claude", "--yes"]).ok();
    let installed = fs::read_to_string(&settings).unwrap();
    let log = place.log_dir().display().to_string();
    assert!(
        installed.contains("// mine") && installed.contains(&log),
        "{installed}"
    );
    assert_eq!(
        fs::read_to_string(place.path("home/.claude/settings.json.before-annals")).unwrap(),
        own
    );
    let again = at_home(&place, &["hook", "install", "claude", "--yes"]).ok();
    assert!(
        again.stdout.contains("nothing to change"),
        "{}",
        again.stdout
    );
    let status = at_home(&place, &["hook", "status"]).ok();
    assert!(
        status.stdout.contains("claude  on for the user"),
        "{}",
        status.stdout
    );
    at_home(&place, &["hook", "uninstall", "claude", "--yes"]).ok();
    assert_eq!(fs::read_to_string(&settings).unwrap(), own);

    at_home(&place, &["hook", "install", "codex", "--project", "--yes"]);
    assert!(place.path(".codex/config.toml").exists());
    at_home(
        &place,
        &["hook", "uninstall", "codex", "--project", "--yes"],
    )
    .ok();
    assert!(!place.path(".codex/config.toml").exists());
}

/// A copy or a `chmod` changes a spool's mode, and no event is lost for that. One that cannot be used is named.
#[test]
fn a_spool_with_another_mode_is_put_right_and_an_unusable_one_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::with_log();
    let spool = place.path("log.spool");
    let event = r#"{"session_id":"s-1","hook_event_name":"Stop"}"#;
    tell(&place, event);
    fs::set_permissions(&spool, fs::Permissions::from_mode(0o750)).unwrap();
    tell(&place, event);
    assert_eq!(
        fs::metadata(&spool).unwrap().permissions().mode() & 0o777,
        0o700
    );
    let state = place.run(&["hook", "status", "--json"]).ok().json()["spool"]["state"].clone();
    assert_eq!((&state["waiting"], &state["lost"]), (&json!(2), &json!(0)));
    place.run(&["doctor"]).ok();
    fs::remove_dir_all(&spool).unwrap();
    fs::write(&spool, "a file").unwrap();
    let ran = place.run(&["doctor", "--json"]);
    assert_eq!(ran.status, 1, "{ran:?}");
    let report = ran.json();
    let checks = report["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|check| check["check"] == "spool")
        .unwrap();
    assert_eq!(check["state"], "problem");
    assert!(
        check["remedy"].as_str().unwrap().contains("log.spool"),
        "{check}"
    );
}
