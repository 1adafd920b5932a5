//! Events that are dated before what came before them.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;

use crate::support::{Place, human};

#[test]
fn times_that_go_back_are_named_and_what_is_shown_keeps_the_recorded_order() {
    let place = Place::with_log();
    let day = |day: u32| format!("2026-01-{day:02}T00:00:00Z");
    let create = json!({ "prompt": "p", "at": day(5) });
    let intent = place.accept(&[human("create_intent", create)]).remove(0);
    let shown = place.run(&["show", &intent]).ok().stdout;
    assert!(!shown.contains("clock skew"), "{shown}");
    let verified = place.run(&["verify"]).ok().stdout;
    assert!(!verified.contains("clock skew"), "{verified}");

    let analyze = json!({ "intent": intent, "content": "c", "at": day(2) });
    place.accept(&[human("analyze_intent", analyze)]);
    let shown = place.run(&["show", &intent]).ok().stdout;
    assert!(
        shown.contains(
            "clock skew: an event is dated before what came before; the first is event 2, which \
             says 2026-01-02 00:00:00Z, after 2026-01-05 00:00:00Z"
        ),
        "{shown}"
    );
    let json = place.run(&["show", &intent, "--json"]).ok().json();
    assert_eq!(json["created_at"], "2026-01-05T00:00:00Z");
    assert_eq!(json["updated_at"], "2026-01-05T00:00:00Z");
    assert_eq!(
        (
            &json["clock_skew"]["events"],
            &json["clock_skew"]["position"]
        ),
        (&json!(1), &json!(2))
    );
    // What another system gets makes sense, too.
    let foreign = ["show", &intent, "--as", "git-internal", "--json"];
    let foreign = place.run(&foreign).ok().json();
    assert_eq!(foreign["updated_at"], foreign["created_at"]);

    // Frames are in the order in which they were pushed.
    let create = json!({ "max_frames": 4 });
    let pipeline = place.accept(&[human("create_pipeline", create)]).remove(0);
    let push = |summary: &str, at: &str| {
        let push =
            json!({ "pipeline": pipeline, "kind": "checkpoint", "summary": summary, "at": at });
        place.accept(&[human("push_frame", push)]);
    };
    push("first", "2100-01-02T00:00:00Z");
    push("second", "2100-01-01T00:00:00Z");
    let json = place.run(&["show", &pipeline, "--json"]).ok().json();
    let summaries: Vec<&str> = json["frames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|frame| frame["summary"].as_str().unwrap())
        .collect();
    assert_eq!(summaries, ["first", "second"]);
    assert_eq!(json["clock_skew"]["events"], 1);

    let verified = place.run(&["verify", "-v"]).fails(0, &[]).stdout;
    assert!(
        verified.contains("clock skew, which is not a fault of the log: 2 events of 2 objects"),
        "{verified}"
    );
    let json = place.run(&["verify", "--json"]).ok().json();
    assert_eq!(
        (&json["ok"], &json["clock_skew"]["events"]),
        (&json!(true), &json!(2))
    );
    // What comes later moves the time on again; a seal of an object with such events holds.
    let describe = json!({ "object": intent, "visibility": "public", "at": day(9) });
    place.accept(&[human("set_metadata", describe)]);
    place.accept(&[human("seal", json!({ "object": intent, "at": day(1) }))]);
    let json = place.run(&["show", &intent, "--json"]).ok().json();
    assert_eq!(json["updated_at"], "2026-01-09T00:00:00Z");
    assert!(
        json["checksum"].is_string() && json["seal"].is_null(),
        "{json}"
    );
}

/// Tells 60 years less than the machine's clock.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*next)(clockid_t, struct timespec *);
    if (!next) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int done = next(id, at);
    if (!done && id == CLOCK_REALTIME) at->tv_sec -= 1893456000;
    return done;
}
"#;

/// A library that sets a program's clock to before 1970, if there is a compiler.
fn clock_before_1970(place: &Place) -> Option<PathBuf> {
    let (source, library) = (place.path("shim.c"), place.path("shim.so"));
    fs::write(&source, SHIM).unwrap();
    let mut compiler = std::process::Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&library);
    match compiler.arg(&source).arg("-ldl").status() {
        Ok(status) if status.success() => Some(library),
        failed => {
            assert!(
                std::env::var_os("CI").is_none(),
                "no C compiler: {failed:?}"
            );
            println!("NOT RUN: no C compiler: {failed:?}");
            None
        }
    }
}

#[test]
fn nothing_is_recorded_by_a_clock_before_1970_and_nothing_panics() {
    let place = Place::with_log();
    let Some(shim) = clock_before_1970(&place) else {
        return;
    };
    place.run(&["submit", "before"]).ok();
    let events = || place.run(&["stats", "--json"]).ok().json()["events"].clone();
    let before = events();
    let run = |args: &[&str], input: &str| {
        let mut command = place.command(args);
        command
            .env("LD_PRELOAD", &shim)
            .env("ANNALS_ACTOR", "human:ada");
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        crate::support::Ran::of(child.wait_with_output().unwrap())
    };
    let create = human("create_intent", json!({ "prompt": "p" })).to_string();
    for (args, input) in [
        (&["submit", "x", "--json"][..], ""),
        (&["settings", "review.max_retries", "5", "--json"], ""),
    ] {
        let refused = run(args, input);
        assert_eq!(
            (refused.status, refused.error_code().as_str()),
            (1, "clock"),
            "{refused:?}"
        );
        assert!(!refused.stderr.contains("panicked"), "{refused:?}");
    }
    let applied = run(&["apply"], &create);
    assert!(applied.stdout.contains(r#""clock""#), "{applied:?}");
    assert!(!applied.stderr.contains("panicked"), "{applied:?}");
    for args in [&["log"][..], &["inbox"], &["stats"], &["verify"]] {
        run(args, "").ok();
    }
    assert_eq!(events(), before);
}
