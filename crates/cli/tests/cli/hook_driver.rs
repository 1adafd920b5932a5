//! A session's hooks from many processes at once, while owners of the log and hooks are killed, the log is another
//! process's alone, and the disk is full: everything is there once, and its transcript adds no call a second time.
//!
//! `ANNALS_HOOKS` events are played, 120 otherwise; with what happens to them chosen by `ANNALS_SEED`. `make hooks`
//! plays 4,000.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use annals::OpenOptions;
use annals::blocking::Wait as _;
use annals::domain::AnyEvent;
use annals::domain::run::Event as RunEvent;
use annals::event_log::{Position, Query};
use serde_json::{Value, json};

use crate::hook::HOOK;
use crate::hook_disk::unshare;
use crate::support::Place;

const SESSION: &str = "8d1f0000-0000-4000-8000-00000000d0d0";
const WORKERS: usize = 8;

/// Where a small disk is mounted, in the process that plays on it.
const DISK: &str = "ANNALS_SMALL_DISK";

/// How a hook is played.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Plain,
    /// With so little time that the log is not waited for.
    Hurried,
    /// Killed soon after it began; the agent runs it again.
    Killed(u64),
}

/// What is played, and by which choices.
struct Play<'a> {
    place: &'a Place,
    calls: usize,
    seed: u64,
    next: AtomicUsize,
    over: AtomicBool,
    /// How many events were said to be lost. They were played again.
    lost: AtomicUsize,
    disk: Option<&'a Path>,
}

/// A number that is the same for the same seed, and else any.
fn chosen(seed: u64, of: u64) -> u64 {
    let mut mixed =
        (seed ^ of.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|it| it.parse().ok())
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

/// Plays a hook until it has ended by itself; whether it said that its event is lost. One that was killed may have
/// recorded its event or not; where it has, the second one adds nothing to what is known of the call.
fn play(place: &Place, input: &str, how: How) -> bool {
    let args: &[&str] = match how {
        How::Hurried => &["hook", "claude", "--deadline", "1"],
        _ => &HOOK,
    };
    let mut child = start(place, args, input);
    if let How::Killed(ms) = how {
        std::thread::sleep(Duration::from_millis(ms));
        let _ = child.kill();
        child.wait().unwrap();
        return play(place, input, How::Plain);
    }
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    let is_lost = said.contains("an event of Claude Code is lost");
    // A hook that could keep its event nowhere, or has not got all of it, says so and succeeds.
    assert!(
        ended.status.success() && (is_lost || said.is_empty()),
        "{ended:?}"
    );
    is_lost
}

impl<'a> Play<'a> {
    fn new(place: &'a Place, disk: Option<&'a Path>) -> Play<'a> {
        let hooks = number("ANNALS_HOOKS").unwrap_or(120);
        let seed = number("ANNALS_SEED").unwrap_or(20_261_127);
        println!("ANNALS_HOOKS={hooks} ANNALS_SEED={seed}");
        Play {
            place,
            calls: hooks as usize / 2,
            seed,
            next: AtomicUsize::new(0),
            over: AtomicBool::new(false),
            lost: AtomicUsize::new(0),
            disk,
        }
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    /// Waits, but not for longer than it goes on.
    fn wait(&self, ms: u64) {
        for _ in 0..ms / 10 {
            if !self.is_over() {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
    }

    /// Plays the hooks of calls, each call's in order, until there are no more.
    fn calls(&self) {
        let _ends_all = OverOnPanic(&self.over);
        loop {
            let n = self.next.fetch_add(1, Ordering::Relaxed);
            if n >= self.calls || self.is_over() {
                return;
            }
            for (step, hook) in hooks(n).iter().enumerate() {
                let choice = chosen(self.seed, (n * 2 + step) as u64);
                let how = match choice % 9 {
                    2 => How::Hurried,
                    5 => How::Killed(choice / 9 % 40),
                    _ => How::Plain,
                };
                while play(self.place, hook, how) {
                    // Only a full disk has no room for an event.
                    assert!(self.disk.is_some(), "an event is lost");
                    self.lost.fetch_add(1, Ordering::Relaxed);
                    self.wait(50);
                    assert!(!self.is_over());
                }
            }
        }
    }

    /// Kills processes that have the log until the hooks are played; how many.
    fn kill_owners(&self) -> usize {
        let mut kills = 0;
        while !self.is_over() {
            let choice = chosen(self.seed, 1_000_000 + kills as u64);
            // Ones that take in what waits, and that stay and hear of each event; and one that has the log alone, so
            // that all goes into the spool.
            let args: &[&str] = match choice % 5 {
                0 => &["apply"],
                1 => &["serve", "--record-only"],
                2 => &["record", "--otlp", "127.0.0.1:0"],
                3 => &["watch", "claude", "."],
                _ => &["apply", "--exclusive"],
            };
            let mut command = self.place.command(args);
            command.stdin(Stdio::piped()).stdout(Stdio::null());
            let mut owner = command.stderr(Stdio::null()).spawn().unwrap();
            self.wait(150 + choice / 5 % 200);
            owner.kill().unwrap();
            owner.wait().unwrap();
            kills += 1;
        }
        kills
    }

    /// Fills the disk now and then, and makes room again; how often.
    fn fill(&self, disk: &Path) -> usize {
        let ballast = disk.join("ballast");
        let mut times = 0;
        while !self.is_over() {
            let choice = chosen(self.seed, 2_000_000 + times as u64);
            self.wait(500 + choice % 500);
            let mut file = File::create(&ballast).unwrap();
            let zeros = vec![0; 1 << 20];
            while file.write_all(&zeros).is_ok() {}
            drop(file);
            self.wait(100 + choice / 500 % 400);
            fs::remove_file(&ballast).unwrap();
            times += 1;
        }
        times
    }

    /// Plays everything; what happened meanwhile.
    fn run(&self) -> String {
        let (kills, fills) = std::thread::scope(|scope| {
            let killer = scope.spawn(|| self.kill_owners());
            let filler = self.disk.map(|disk| scope.spawn(|| self.fill(disk)));
            let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(|| self.calls())).collect();
            let ended: Vec<_> = workers.into_iter().map(|worker| worker.join()).collect();
            self.over.store(true, Ordering::Release);
            let fills = filler.map_or(0, |filler| filler.join().unwrap());
            let kills = killer.join().unwrap();
            assert!(ended.iter().all(Result::is_ok), "a hook failed");
            (kills, fills)
        });
        let lost = self.lost.load(Ordering::Relaxed);
        format!(
            "{} calls, {kills} owners killed, the disk full {fills} times, {lost} hooks without room",
            self.calls
        )
    }
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

/// Plays a session's hooks, and imports its transcript.
fn check(place: &Place, disk: Option<&Path>) {
    place.run(&["init"]).ok();
    let playing = Play::new(place, disk);
    let first = json!({
        "session_id": SESSION, "prompt_id": "p0", "cwd": "/shop", "hook_event_name": "UserPromptSubmit",
        "prompt": "Fix the tests",
    });
    assert!(!play(place, &first.to_string(), How::Plain));
    println!("{}", playing.run());
    let calls = playing.calls;
    // The next one that writes takes in what waits.
    assert_eq!(place.run_with(&["apply"], "").status, 0);
    let state = place.run(&["hook", "status", "--json"]).ok().json()["spool"]["state"].clone();
    assert_eq!((&state["waiting"], &state["bad"]), (&json!(0), &json!(0)));
    // What is counted was said; a full disk may count fewer.
    let lost = state["lost"].as_u64().unwrap() as usize;
    assert!(lost <= playing.lost.load(Ordering::Relaxed), "{state}");
    let (before, others) = lives(place);
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
    let (after, _) = lives(place);
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

#[test]
fn hooks_from_many_processes_are_there_once_with_owners_and_hooks_killed() {
    check(&Place::empty(), None);
}

/// The same on a disk that is full now and then. It runs in a process of its own, which has that disk.
#[test]
fn hooks_from_many_processes_are_there_once_on_a_disk_that_is_full_now_and_then() {
    const NAME: &str =
        "hook_driver::hooks_from_many_processes_are_there_once_on_a_disk_that_is_full_now_and_then";
    if let Some(disk) = std::env::var_os(DISK) {
        return check(&Place::empty(), Some(Path::new(&disk)));
    }
    let Some(way) = unshare() else { return };
    let disk = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=256m none "$TMPDIR" && exec "$0" "$@""#;
    let status = Command::new(way[0])
        .args(&way[1..])
        .args(["sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", NAME, "--nocapture"])
        .env("TMPDIR", disk.path())
        .env(DISK, disk.path())
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}
