//! Where a log and its spool may lie, and by which names they are reached.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use crate::hook::{HOOK, event, prompt};
use crate::support::{Place, sole_owner};

/// The names of what is in a folder, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name();
    let mut names: Vec<String> = entries
        .map(name)
        .map(|name| name.into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The files of events in a folder.
fn events_in(folder: &Path) -> Vec<String> {
    let mut names = names(folder);
    names.retain(|name| name.ends_with(".hook"));
    names
}

fn spool(place: &Place, log: &str) -> Value {
    let status = ["--log", log, "hook", "status", "--json"];
    place.run(&status).ok().json()["spool"].clone()
}

/// Runs a hook that finds no log in time, so that its event waits.
fn late(place: &Place, log: &str, input: String) {
    let mut owner = sole_owner(place);
    let args = ["--log", log, "hook", "claude", "--deadline", "1"];
    let ran = place.run_with(&args, input);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, ""), "{ran:?}");
    drop(owner.stdin.take());
    owner.wait().unwrap();
}

fn intents(place: &Place, log: &str) -> usize {
    let logged = place.run(&["--log", log, "log", "--json"]).ok().lines();
    let is_intent = |event: &&Value| event["event_type"] == "intent.submitted";
    logged.iter().filter(is_intent).count()
}

#[test]
fn a_log_has_one_spool_however_it_is_named() {
    let place = Place::with_log();
    symlink("log", place.path("link")).unwrap();
    let absolute = place.path("link").display().to_string();
    for (n, log) in ["link", &absolute, "./log/", "log/.", "log/../log"]
        .iter()
        .enumerate()
    {
        late(&place, log, prompt(&format!("p{n}"), "Fix it"));
        assert_eq!(events_in(&place.path("log.spool")).len(), 1, "{log}");
        let folder = spool(&place, log)["folder"].as_str().unwrap().to_owned();
        assert!(folder.ends_with("/log.spool"), "{log}: {folder}");
        // By whichever name, the next command takes it in.
        let by = ["log", "link"][n % 2];
        assert_eq!(place.run_with(&["--log", by, "apply"], "").status, 0);
        assert_eq!(intents(&place, "log"), n + 1, "{log}");
    }
    assert!(!place.path("link.spool").exists());
}

/// In the log's folder the log is called `.`.
#[test]
fn the_log_s_folder_has_no_spool_in_it() {
    let place = Place::with_log();
    let before = names(&place.log_dir());
    let in_log = |args: &[&str]| {
        let mut command = place.command(&[&["--log", "."], args].concat());
        command.current_dir(place.log_dir());
        command
    };
    let mut owner = sole_owner(&place);
    let mut child = in_log(&["hook", "claude", "--deadline", "1"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, prompt("p1", "Fix it").as_bytes()).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
    drop(owner.stdin.take());
    owner.wait().unwrap();
    assert_eq!(events_in(&place.path("log.spool")).len(), 1);
    assert!(
        names(&place.log_dir())
            .iter()
            .all(|it| !it.contains("spool"))
    );
    assert!(in_log(&["submit", "Another"]).status().unwrap().success());
    assert_eq!(intents(&place, "log"), 2);
    let spools = |names: Vec<String>| names.into_iter().any(|it| it.contains("spool"));
    assert!(!spools(before) && !spools(names(&place.log_dir())));
}

/// Programs of before put events where the log's name said, as it was written.
#[test]
fn what_waits_in_places_of_before_is_taken_in() {
    let place = Place::with_log();
    symlink("log", place.path("link")).unwrap();
    let private = |path: &Path| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    };
    for (n, former) in ["link.spool", "log/..spool"].iter().enumerate() {
        late(&place, "log", prompt(&format!("p{n}"), "Fix it"));
        let waiting = events_in(&place.path("log.spool"));
        let [file] = waiting.as_slice() else {
            panic!("one event waits");
        };
        fs::create_dir(place.path(former)).unwrap();
        private(&place.path(former));
        let at = place.path(former).join(file);
        fs::rename(place.path("log.spool").join(file), at).unwrap();
        let elsewhere = &spool(&place, "log")["elsewhere"];
        assert_eq!(elsewhere[0]["waiting"], 1, "{former}: {elsewhere}");
        place.run(&["submit", "Another"]).ok();
        assert_eq!(intents(&place, "log"), 2 * (n + 1), "{former}");
        assert!(!place.path(former).exists(), "{former} has nothing more");
    }
    // A folder of others, or an open one, is none.
    fs::create_dir(place.path("link.spool")).unwrap();
    late(&place, "log", prompt("p9", "Fix it"));
    place.run(&["submit", "Another"]).ok();
    assert_eq!(intents(&place, "log"), 6);
    place.run(&["verify"]).ok();
}

/// A backup or another copy has the id of its log, and none of the events that wait for that.
#[test]
fn a_copy_beside_a_log_does_not_get_what_waits_for_the_log() {
    let place = Place::with_log();
    place.run(&["submit", "First"]).ok();
    place.run(&["backup", "backup"]).ok();
    let restored = place.run(&["--log", "restored", "restore", "backup"]);
    assert_eq!(restored.status, 0, "{restored:?}");
    late(&place, "log", prompt("p1", "Fix it"));
    for copy in ["backup", "restored"] {
        place.run(&["--log", copy, "submit", "Another"]).ok();
        assert_eq!(intents(&place, copy), 2, "{copy}");
    }
    assert_eq!(events_in(&place.path("log.spool")).len(), 1);
    // One that has another name for the log, by a link at the old one, is the log itself.
    fs::rename(place.path("log"), place.path("renamed")).unwrap();
    symlink("renamed", place.path("log")).unwrap();
    place.run(&["--log", "renamed", "submit", "Another"]).ok();
    assert_eq!(intents(&place, "log"), 3);
}

/// Only files are events, whatever else has the name of one.
#[test]
fn folders_and_links_in_the_spool_are_no_events() {
    let place = Place::with_log();
    late(&place, "log", prompt("p1", "Fix it"));
    let spooled = place.path("log.spool");
    fs::create_dir(spooled.join("01795000000123-x-9f31c2d4.hook")).unwrap();
    symlink("nowhere", spooled.join("01795000000124-x-9f31c2d4.hook")).unwrap();
    fs::create_dir(spooled.join("01795000000125-x-9f31c2d4.bad")).unwrap();
    let state = &spool(&place, "log")["state"];
    assert_eq!((&state["waiting"], &state["bad"]), (&json!(1), &json!(0)));
    place.run(&["submit", "Another"]).ok();
    assert_eq!(spool(&place, "log")["state"]["waiting"], 0);
}

/// A log that is given another name keeps what waits for it, and one that takes its place does not get it.
#[test]
fn what_waits_is_its_own_log_s() {
    let place = Place::with_log();
    late(&place, "log", prompt("p1", "Fix it"));
    fs::rename(place.path("log"), place.path("renamed")).unwrap();
    place.run(&["init"]).ok();
    place.run(&["submit", "Another"]).ok();
    assert_eq!(intents(&place, "log"), 1, "the new log has its own alone");
    let of_others = &spool(&place, "log")["of_other_logs"];
    let waits: Vec<&Value> = of_others.as_object().unwrap().values().collect();
    assert_eq!(waits, [&json!(1)]);
    let shown = place.run(&["hook", "status"]).ok().stdout;
    assert!(shown.contains("which was at this path before"), "{shown}");
    place.run(&["--log", "renamed", "submit", "Another"]).ok();
    assert_eq!(intents(&place, "renamed"), 2);
    assert_eq!(events_in(&place.path("log.spool")).len(), 0);
    // The spool is that of the log that is there now, and stays.
    assert!(place.path("log.spool").exists());
    assert_eq!(intents(&place, "log"), 1);
}

/// Before there is a log an event is for whichever comes.
#[test]
fn what_came_before_a_log_is_the_log_s() {
    let place = Place::empty();
    place.run_with(&HOOK, prompt("p1", "Fix it")).ok();
    assert_eq!(events_in(&place.path("log.spool")).len(), 1);
    place.run(&["init"]).ok();
    place.run(&["submit", "Another"]).ok();
    assert_eq!(intents(&place, "log"), 2);
}

/// Neither in another log's folder nor in a folder of it, by no name and for no command.
#[test]
fn a_log_is_not_made_in_another_one() {
    let place = Place::with_log();
    place.run(&["submit", "Fix it"]).ok();
    place.run(&["backup", "backup"]).ok();
    symlink("log", place.path("link")).unwrap();
    fs::create_dir(place.path("log/empty")).unwrap();
    let folders = |place: &Place| {
        let mut names = names(&place.log_dir());
        names.retain(|name| place.log_dir().join(name).is_dir());
        names
    };
    let before = folders(&place);
    for inner in [
        "log/inner",
        "log/a/b/inner",
        "log/empty",
        "link/inner",
        "./log/../log/inner",
        "backup/inner",
    ] {
        let outer = if inner.starts_with("backup") {
            "/backup"
        } else {
            "/log"
        };
        let refused = place.run(&["--log", inner, "init", "--json"]);
        assert_eq!(refused.error_code(), "inside_a_log", "{inner}: {refused:?}");
        let refused = place.run(&["--log", inner, "init"]);
        refused.fails(1, &["is in the folder of the log", outer, "outside of it"]);
        for args in [
            &["backup", inner][..],
            &["--log", inner, "restore", "backup"],
        ] {
            let refused = place.run(args);
            assert_ne!(refused.status, 0, "{args:?}");
        }
    }
    place
        .run(&["backup", "backup/inner"])
        .fails(1, &["is in the folder of the log", "/backup"]);
    assert_eq!(folders(&place), before);
    // Beside it, and in a folder with a file of that name that is none of a log's.
    fs::create_dir(place.path("papers")).unwrap();
    fs::write(place.path("papers/ANNALS"), "of the kings").unwrap();
    place.run(&["--log", "papers/log", "init"]).ok();
    place.run(&["--log", "log2", "init"]).ok();
    place.run(&["verify"]).ok();
}

/// What is larger than a hook may be is recorded as that, in its session, with its name.
#[test]
fn an_event_that_is_too_large_is_named_and_counted() {
    // A build without optimisation takes seconds to look for secrets in it.
    const PATIENT: [&str; 4] = ["hook", "claude", "--deadline", "3600000"];
    let place = Place::with_log();
    place.run_with(&PATIENT, prompt("p1", "Fix it")).ok();
    let long = "x".repeat(16 << 20);
    for fields in [
        json!({ "tool_name": "Read", "tool_use_id": "c1", "tool_response": long }),
        // Also where its session comes behind what makes it too large.
        json!({ "a_long_one": long, "tool_name": "Read", "tool_use_id": "c2" }),
    ] {
        let mut text = event("PostToolUse", fields);
        if text.contains("a_long_one") {
            let begin = format!(r#"{{"a_long_one":"{long}","#);
            let rest = text.replace(&format!(r#""a_long_one":"{long}","#), "");
            text = begin + rest.trim_start_matches('{');
        }
        let ran = place.run_with(&PATIENT, text);
        assert_eq!((ran.status, ran.stdout.as_str()), (0, ""));
        assert!(ran.stderr.contains("too large"), "{}", ran.stderr);
    }
    let ran = place.run_with(&PATIENT, format!("{{\"x\":\"{long}\"}}"));
    assert!(ran.stderr.contains("too large"), "{}", ran.stderr);
    let came = place.run(&["hook", "status", "--json"]).ok().json();
    let what: Vec<&str> = came["lately"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["what"].as_str())
        .collect();
    assert_eq!(what, ["hook (too large)"; 3], "{came:.2000}");
    let logged = place.run(&["log", "--json"]).ok().stdout;
    assert!(!logged.contains("(malformed)"));
    let evidence = place.run(&["list", "evidence", "--json"]).ok().lines();
    let shown = evidence.iter().map(|row| {
        let shown = ["show", row["id"].as_str().unwrap(), "--json"];
        let shown = place.run(&shown).ok().json();
        shown["summary"].as_str().unwrap().to_owned()
    });
    let shown: Vec<String> = shown.collect();
    let named = |it: &&String| it.contains("PostToolUse of Read is too large");
    assert_eq!(shown.iter().filter(named).count(), 2, "{shown:?}");
    let counted = |it: &String| it.contains("bytes at its end were left out");
    assert!(shown.iter().all(counted), "{shown:?}");
    // Two are of the session, and one names none.
    let runs = place.run(&["list", "runs", "--json"]).ok().lines();
    assert_eq!(runs.len(), 2, "{runs:?}");
}

/// A limit of the size of files is an error, and not the end of the process by a signal.
#[test]
fn a_limit_of_the_size_of_files_is_an_error() {
    let place = Place::with_log();
    place.run(&["submit", "Fix it"]).ok();
    let limited = |script: &str| {
        let mut command = std::process::Command::new("bash");
        let command = command
            .args(["-c", &format!("ulimit -f 0; exec {script}")])
            .current_dir(place.path("."))
            .env("ANNALS", env!("CARGO_BIN_EXE_annals"))
            .env("ANNALS_LOG", "log")
            .env("HOME", place.path("home"));
        command.output().unwrap()
    };
    let refused = limited("\"$ANNALS\" submit Another");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(
        refused.status.code().is_some_and(|code| code != 0),
        "{refused:?}"
    );
    assert!(
        said.contains("File too large") && !said.contains("panicked"),
        "{said}"
    );
    // A hook never fails, and says that its event is lost.
    let hook =
        limited("\"$ANNALS\" hook codex '{\"session_id\":\"s\",\"hook_event_name\":\"Stop\"}'");
    let said = String::from_utf8_lossy(&hook.stderr);
    assert!(
        hook.status.success() && said.contains("File too large"),
        "{hook:?}"
    );
    place.run(&["verify"]).ok();
    place.run(&["submit", "Another"]).ok();
    assert_eq!(intents(&place, "log"), 2);
}
