//! What a person sees on a terminal: lines that fit, times that are near, a pager. The terminal is a real one, of the
//! kernel's, made by `script` (of util-linux).

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Place, agent, human, uuid};

/// What was seen on a terminal, and the exit status.
struct Seen {
    status: i32,
    text: String,
}

/// Runs the program on a terminal of so many columns. `keys` are what the user types.
fn on_terminal(place: &Place, columns: usize, set: &[(&str, &str)], args: &str) -> Seen {
    let program = env!("CARGO_BIN_EXE_annals");
    let line = format!("stty cols {columns} rows 24; exec {program} {args}");
    let mut command = Command::new("script");
    command
        .args(["-qec", &line, "/dev/null"])
        .current_dir(place.path(""))
        .env("ANNALS_LOG", "log")
        .env("TZ", "Etc/GMT-2")
        .env("NO_COLOR", "1")
        .env("TERM", "xterm")
        .env_remove("ANNALS_PAGER")
        .env_remove("PAGER")
        .env_remove("LESS")
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    for (name, value) in set {
        command.env(name, value);
    }
    let output = command.output().expect("`script` of util-linux is needed");
    Seen {
        status: output.status.code().unwrap(),
        text: String::from_utf8(output.stdout)
            .unwrap()
            .replace("\r\n", "\n"),
    }
}

/// Without a pager.
fn shown(place: &Place, columns: usize, args: &str) -> String {
    let seen = on_terminal(place, columns, &[("PAGER", "")], args);
    assert_eq!(seen.status, 0, "{}", seen.text);
    seen.text
}

const LONG: &str =
    "cargo test --workspace --locked --no-run --test cli -- --nocapture --test-threads 1 and_more";

/// A run with a call that failed and very many that worked.
fn log_of_calls(calls: usize) -> Place {
    let place = Place::with_log();
    let [task, job] = [1, 2].map(uuid);
    let mut commands = vec![
        human(
            "create_task",
            json!({ "id": task, "title": "Make it pass" }),
        ),
        agent("create_run", json!({ "id": job, "task": task })),
        agent("start_patching", json!({ "run": job })),
        agent(
            "record_tool_invocation",
            json!({
                "run": job, "tool_name": "Bash", "args": { "command": LONG }, "status": "error",
                "duration_ms": 7_234, "result_summary": "Exit code 101\nno such test",
            }),
        ),
    ];
    commands.extend((0..calls).map(|n| {
        let args = json!({ "file_path": format!("src/file_{n}.rs"), "offset": 1, "limit": 90 });
        agent(
            "record_tool_invocation",
            json!({ "run": job, "tool_name": "Read", "args": args, "status": "ok" }),
        )
    }));
    // Long ago: how long ago something near was changes while a test looks.
    for command in &mut commands {
        command["at"] = json!("2026-01-02T03:04:05Z");
    }
    place.accept(&commands);
    place
}

#[test]
fn lines_are_no_wider_than_the_terminal() {
    let place = log_of_calls(3);
    for (columns, expected) in [
        (80, "… -> exit 101 (7.2 s)"),
        (200, "Bash cargo test --workspace --locked --no-run"),
    ] {
        for args in ["history 00000002", "log", "list runs", "show 00000002"] {
            let text = shown(&place, columns, args);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(widest <= columns, "{args} in {columns}: {text}");
        }
        let history = shown(&place, columns, "history 00000002");
        assert!(history.contains(expected), "{history}");
    }
    // All of it where it is wanted, with what the line leaves out.
    let history = shown(&place, 80, "history 00000002 --verbose");
    for expected in [LONG, "no such test", "Read src/file_0.rs:1-90"] {
        assert!(history.contains(expected), "{history}");
    }
}

#[test]
fn near_times_are_relative_and_days_are_said() {
    let place = Place::with_log();
    let now = chrono::Utc::now();
    let at = |ago: chrono::Duration| json!((now - ago).to_rfc3339());
    let with_time = |mut command: Value, ago| {
        command["at"] = at(ago);
        command
    };
    let intent = |n: u32| {
        human(
            "create_intent",
            json!({ "id": uuid(u64::from(n)), "prompt": "x" }),
        )
    };
    place.accept(&[
        with_time(intent(1), chrono::Duration::days(40)),
        with_time(intent(2), chrono::Duration::seconds(190)),
    ]);
    let old = now - chrono::Duration::days(40) + chrono::Duration::hours(2);
    let list = shown(&place, 100, "list intents");
    assert!(list.contains(" 3 min ago "), "{list}");
    let whole = old.format("%Y-%m-%d %H:%M:%S +02:00").to_string();
    assert!(list.contains(&whole), "{whole} in {list}");
    let log = shown(&place, 100, "log");
    assert!(log.contains(" 3 min 1"), "{log}");
    let day = old.format("\n%Y-%m-%d, times in +02:00\n").to_string();
    assert!(log.contains(&day), "{log}");
    // What is not for a terminal is the same for everyone at any time.
    let piped = place.run(&["list", "intents"]).ok().stdout;
    let whole = (now - chrono::Duration::days(40)).format("%Y-%m-%d %H:%M:%SZ");
    assert!(
        piped.contains(&whole.to_string()) && !piped.contains("ago"),
        "{piped}"
    );
}

#[test]
fn long_output_goes_through_the_pager() {
    let place = log_of_calls(600);
    let direct = shown(&place, 100, "log --no-pager");
    let kept = |name: &str| std::fs::read_to_string(place.path(name)).ok();
    let set = |name: &str, command: &str| {
        let seen = on_terminal(&place, 100, &[(name, command)], "log");
        assert_eq!((seen.status, seen.text.as_str()), (0, ""), "{command}");
    };
    // It has all of it, and the program waits for it.
    set(
        "ANNALS_PAGER",
        "cat > annals_pager; sleep 0.3; echo END >> annals_pager",
    );
    assert_eq!(kept("annals_pager").unwrap(), format!("{direct}END\n"));
    set("PAGER", "cat > pager");
    assert_eq!(kept("pager").unwrap(), direct);
    let both = [("ANNALS_PAGER", "cat > first"), ("PAGER", "cat > second")];
    on_terminal(&place, 100, &both, "log");
    assert!(kept("first").is_some() && kept("second").is_none());
    // The usual one, which is told to end by itself where all fits.
    let told = [("PAGER", "echo \"less is told $LESS\" >&2; cat > /dev/null")];
    let seen = on_terminal(&place, 100, &told, "list runs");
    assert_eq!(seen.text, "less is told FRX\n");
    // None where there is no terminal, where none is wanted, and for what programs read.
    let touch = [("ANNALS_PAGER", "touch started")];
    for args in [
        "log --no-pager",
        "log --json",
        "log | cat",
        "stats",
        "log > out",
        "init",
    ] {
        on_terminal(&place, 100, &touch, args);
    }
    on_terminal(
        &place,
        100,
        &[("ANNALS_PAGER", ""), ("PAGER", "touch started")],
        "log",
    );
    on_terminal(&place, 100, &[("ANNALS_PAGER", "cat")], "log");
    assert_eq!(kept("started"), None);
}

#[test]
fn a_pager_that_ends_early_is_no_error_and_the_status_stays() {
    let place = log_of_calls(600);
    let quits = [("PAGER", "head -n 1")];
    let seen = on_terminal(&place, 100, &quits, "log");
    let lines: Vec<&str> = seen.text.lines().collect();
    assert_eq!((seen.status, lines.len()), (0, 1), "{}", seen.text);
    assert!(lines[0].contains("POSITION"), "{}", seen.text);
    let seen = on_terminal(&place, 100, &[("PAGER", "exit 7")], "log");
    assert_eq!((seen.status, seen.text.as_str()), (0, ""));
    // What goes wrong is said when the terminal is free again.
    let seen = on_terminal(&place, 100, &[("PAGER", "cat > seen")], "show 12345678");
    assert_eq!(seen.status, 1);
    assert!(
        seen.text.starts_with("annals: there is no object"),
        "{}",
        seen.text
    );
    let seen = on_terminal(&place, 100, &[("PAGER", "/no/such/pager")], "list runs");
    assert_eq!(seen.status, 0);
    assert!(
        seen.text
            .starts_with("annals: the pager \"/no/such/pager\" cannot be run"),
        "{}",
        seen.text
    );
    assert!(seen.text.contains("Make it pass"), "{}", seen.text);
    let seen = on_terminal(&place, 100, &[("PAGER", "/no/such/pager -x")], "list runs");
    assert!(seen.text.contains("cannot be run"), "{}", seen.text);
}
