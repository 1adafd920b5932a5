//! A session's hooks from many processes at once, while owners of the log and hooks are killed: everything is there once, and
//! its transcript adds no call a second time.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use annals::OpenOptions;
use annals::blocking::Wait as _;
use annals::domain::AnyEvent;
use annals::domain::run::Event as RunEvent;
use annals::event_log::{Position, Query};
use serde_json::{Value, json};

use crate::support::Place;

const SESSION: &str = "8d1f0000-0000-4000-8000-00000000d0d0";
const WORKERS: usize = 8;

/// How a hook is played.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Plain,
    /// With so little time that the log is not waited for.
    Hurried,
    /// Killed soon after it began; the agent runs it again.
    Killed(u64),
}

/// The lines of the session's transcript: a prompt, and its calls with their results.
fn transcript(calls: usize) -> Vec<Value> {
    let mut lines = vec![json!({
        "type": "user", "uuid": "u0", "sessionId": SESSION, "promptId": "p0", "cwd": "/shop",
        "timestamp": "2026-11-26T10:00:00Z", "message": { "role": "user", "content": "Fix the tests" },
    })];
    for n in 0..calls {
        lines.push(json!({
            "type": "assistant", "uuid": format!("a{n}"), "parentUuid": "u0", "sessionId": SESSION, "cwd": "/shop",
            "timestamp": "2026-11-26T10:00:01Z",
            "message": { "id": format!("m{n}"), "model": "claude-sonnet-4-6", "role": "assistant", "content": [
                { "type": "tool_use", "id": id(n), "name": "Read", "input": { "file_path": format!("/shop/{n}.rs") } },
            ] },
        }));
        lines.push(json!({
            "type": "user", "uuid": format!("r{n}"), "parentUuid": format!("a{n}"), "sessionId": SESSION, "cwd": "/shop",
            "promptId": "p0", "timestamp": "2026-11-26T10:00:02Z",
            "message": { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": id(n), "content": format!("file {n}"), "is_error": fails(n) },
            ] },
        }));
    }
    lines
}

fn id(n: usize) -> String {
    format!("toolu_{n:05}")
}

fn fails(n: usize) -> bool {
    n % 7 == 3
}

/// The hooks of a call, made of its lines.
fn hooks(n: usize) -> [String; 2] {
    let common = |name: &str, more: Value| {
        let mut hook = json!({
            "session_id": SESSION, "prompt_id": "p0", "cwd": "/shop", "permission_mode": "default",
            "hook_event_name": name, "tool_name": "Read", "tool_use_id": id(n),
            "tool_input": { "file_path": format!("/shop/{n}.rs") },
        });
        hook.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        hook.to_string()
    };
    let ended = match fails(n) {
        true => common(
            "PostToolUseFailure",
            json!({ "error": format!("file {n}"), "duration_ms": 3 }),
        ),
        false => common(
            "PostToolUse",
            json!({ "tool_response": format!("file {n}"), "duration_ms": 3 }),
        ),
    };
    [common("PreToolUse", json!({})), ended]
}

fn start(place: &Place, args: &[&str], input: &str) -> Child {
    let mut command = place.command(args);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child
}

/// Plays a hook until it has ended by itself. One that was killed may have recorded its event or not; where it has,
/// the second one adds nothing to what is known of the call.
fn play(place: &Place, input: &str, how: How) {
    let args: &[&str] = match how {
        How::Hurried => &["hook", "claude", "--deadline", "1"],
        _ => &["hook", "claude"],
    };
    let mut child = start(place, args, input);
    if let How::Killed(ms) = how {
        std::thread::sleep(Duration::from_millis(ms));
        let _ = child.kill();
        child.wait().unwrap();
        return play(place, input, How::Plain);
    }
    let ended = child.wait_with_output().unwrap();
    // A hook that could keep its event nowhere, or has not got all of it, says so and succeeds.
    assert!(
        ended.status.success() && ended.stderr.is_empty(),
        "{ended:?}"
    );
}

/// Ends the other threads where one panics; they would go on for ever.
struct OverOnPanic<'a>(&'a AtomicBool);

impl Drop for OverOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Release);
        }
    }
}

/// Plays the hooks of calls, each call's in order, until there are no more.
fn play_calls(place: &Place, (next, calls): (&AtomicUsize, usize), over: &AtomicBool) {
    let _ends_all = OverOnPanic(over);
    loop {
        let n = next.fetch_add(1, Ordering::Relaxed);
        if n >= calls || over.load(Ordering::Acquire) {
            return;
        }
        for (step, hook) in hooks(n).iter().enumerate() {
            let how = match (n * 2 + step) % 9 {
                2 => How::Hurried,
                5 => How::Killed((n as u64 * 13) % 40),
                _ => How::Plain,
            };
            play(place, hook, how);
        }
    }
}

/// Kills owners of the log until the hooks are played; how many.
fn kill_owners(place: &Place, over: &AtomicBool) -> usize {
    let mut kills = 0;
    while !over.load(Ordering::Acquire) {
        // One that takes in what waits, and one that stays, and hears of each event.
        let args: &[&str] = match kills % 2 {
            0 => &["apply"],
            _ => &["serve", "--record-only"],
        };
        let mut owner = place.command(args).stdin(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(150 + (kills as u64 * 37) % 200));
        owner.kill().unwrap();
        owner.wait().unwrap();
        kills += 1;
    }
    kills
}

/// What the log has of each call, in its order, and how much evidence there is.
fn lives(place: &Place) -> (BTreeMap<String, Vec<&'static str>>, usize) {
    let options = OpenOptions::new().read_only(true);
    let annals = options.open(place.log_dir().to_str().unwrap()).unwrap();
    let (mut lives, mut others) = (BTreeMap::<String, Vec<&'static str>>::new(), 0);
    let mut next = Some(Position(1));
    while let Some(from) = next {
        let page = annals.log().read(Query::all(from)).wait().unwrap();
        for record in &page.records {
            let entry = annals.contents().entry(record).wait().unwrap();
            let AnyEvent::Run(event) = &entry.event else {
                continue;
            };
            let (call, what) = match event {
                RunEvent::ToolRequested(event) => (event.tool_invocation, "requested"),
                RunEvent::ToolBegun(event) => (event.tool_invocation, "begun"),
                RunEvent::ToolEnded(event) => (event.tool_invocation, "ended"),
                RunEvent::ToolInvoked(event) => (event.tool_invocation, "invoked"),
                RunEvent::EvidenceRecorded(_) => {
                    others += 1;
                    continue;
                }
                _ => continue,
            };
            lives.entry(call.0.to_string()).or_default().push(what);
        }
        next = page.next.map(Position);
    }
    annals.close().wait();
    (lives, others)
}

/// `ANNALS_HOOKS` events of one session; 240 otherwise, as 4,000 take a quarter of an hour.
#[test]
fn hooks_from_many_processes_are_there_once_with_owners_and_hooks_killed() {
    let hooks_played = std::env::var("ANNALS_HOOKS")
        .ok()
        .and_then(|it| it.parse().ok());
    let calls: usize = hooks_played.unwrap_or(240) / 2;
    let place = Place::with_log();
    let first = json!({
        "session_id": SESSION, "prompt_id": "p0", "cwd": "/shop", "hook_event_name": "UserPromptSubmit",
        "prompt": "Fix the tests",
    });
    play(&place, &first.to_string(), How::Plain);
    let (next, over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let kills = std::thread::scope(|scope| {
        let killer = scope.spawn(|| kill_owners(&place, &over));
        let worker = || play_calls(&place, (&next, calls), &over);
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(worker)).collect();
        let ended: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
        over.store(true, Ordering::Release);
        assert!(ended.iter().all(Result::is_ok), "a hook failed");
        killer.join().unwrap()
    });
    println!("{calls} calls, {kills} owners killed");
    // The next one that writes takes in what waits.
    assert_eq!(place.run_with(&["apply"], "").status, 0);
    let state = place.run(&["hook", "status", "--json"]).ok().json()["spool"]["state"].clone();
    assert_eq!(
        (&state["waiting"], &state["bad"], &state["lost"]),
        (&json!(0), &json!(0), &json!(0))
    );
    let (before, others) = lives(&place);
    assert_eq!(before.len(), calls);
    for (call, life) in &before {
        assert_eq!(life, &["requested", "begun", "ended"], "{call}");
    }
    // An event that had come in parts, or not at all, would be one.
    assert_eq!(others, 0, "evidence of hooks that tell of calls alone");

    // Its transcript adds what it alone knows, to the same calls.
    let lines: String = transcript(calls)
        .iter()
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(place.path("s.jsonl"), lines).unwrap();
    place.run(&["import", "claude", "s.jsonl"]).ok();
    let (after, _) = lives(&place);
    assert_eq!(
        after.keys().collect::<BTreeSet<_>>(),
        before.keys().collect::<BTreeSet<_>>()
    );
    for (call, life) in &after {
        assert_eq!(life, &["requested", "begun", "ended", "invoked"], "{call}");
    }
    let intents = place.run(&["list", "intents", "--json"]).ok().lines();
    let tasks = place.run(&["list", "tasks", "--json"]).ok().lines();
    assert_eq!((intents.len(), tasks.len()), (1, 1));
    let again = place
        .run(&["import", "claude", "s.jsonl", "--json"])
        .ok()
        .json();
    assert_eq!(again["events_made"], 0, "{again}");
    place.run(&["verify"]).ok();
}
