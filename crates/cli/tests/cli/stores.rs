//! One list of cases over logs in a folder, in a folder that another process owns, and on PostgreSQL: what a user sees is
//! the same. A log in memory ends with the command that has it, and no command of these works on one.

use std::cell::OnceCell;
use std::io::Write;
use std::ops::Deref;
use std::process::Stdio;

use serde_json::json;

use crate::postgres;
use crate::support::{Place, Running, grown_in, human, uuid};

/// Makes a test of each case over each store.
macro_rules! over_each_store {
    ($($case:ident,)+) => {
        mod in_a_folder {
            $(
                #[test]
                fn $case() {
                    super::$case(&super::Stored::new(super::Place::empty(), false));
                }
            )+
        }
        mod in_a_shared_folder {
            $(
                #[test]
                fn $case() {
                    super::$case(&super::Stored::new(super::Place::empty(), true));
                }
            )+
        }
        mod on_postgres {
            $(
                #[test]
                fn $case() {
                    if let Some(place) = super::postgres::place() {
                        super::$case(&super::Stored::new(place, false));
                    }
                }
            )+
        }
    };
}

over_each_store! {
    a_whole_story_is_recorded_shown_and_proved,
    removed_content_is_shown_by_nothing,
    a_repeat_is_answered_and_not_recorded,
    an_export_becomes_the_same_log,
    processes_write_beside_each_other,
    what_comes_is_followed,
    a_rebuilt_catalogue_is_the_same,
    recordings_are_imported_once,
}

/// A place whose log is in one of the stores.
struct Stored {
    /// The process that owns the log, if it is shared. It ends before the place goes.
    owner: OnceCell<Running>,
    is_shared: bool,
    place: Place,
}

impl Stored {
    fn new(place: Place, is_shared: bool) -> Stored {
        Stored {
            owner: OnceCell::new(),
            is_shared,
            place,
        }
    }

    /// Makes the log. Where it is shared, another process owns it from then on, and every command is a guest of it.
    fn init(&self, more: &[&str]) {
        self.run(&[&["init"][..], more].concat()).ok();
        if self.is_shared {
            self.owner.get_or_init(|| {
                let serve = self.command(&["serve", "--record-only", "--json"]);
                let mut owner = Running::of(serve);
                assert_eq!(owner.next()["state"], "owner");
                owner
            });
        }
    }
}

impl Deref for Stored {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

fn a_whole_story_is_recorded_shown_and_proved(place: &Stored) {
    place.init(&[]);
    let story = grown_in(place);
    let shown = |args: &[&str]| place.run(args).ok().stdout;
    assert!(shown(&["show", &story.run]).contains("completed"));
    assert!(shown(&["list", "runs"]).contains("completed"));
    assert!(shown(&["tree", &story.intent]).contains("Cache it"));
    assert!(shown(&["cat", &story.patch_set]).contains("+x\n"));
    assert!(shown(&["log", "--json"]).lines().count() > 14);
    let history = place.run(&["history", &story.run, "--json"]).ok().lines();
    let created = history[0]["position"].to_string();
    let before = shown(&["show", &story.run, "--at", &created, "--full"]);
    assert!(before.contains("status      created"), "{before}");
    assert!(shown(&["diff", &story.run, &created]).contains("completed"));
    // By its last digits, as the catalogue knows it.
    let short = &story.task[story.task.len() - 8..];
    assert!(shown(&["show", short]).contains("Cache it"));
    let found = place.run(&["search", "parser", "--json"]);
    assert!(
        found.status == 0 && found.stdout.contains("parser"),
        "{found:?}"
    );

    let verified = place.run(&["verify", "--json"]).ok().json();
    assert_eq!(
        (&verified["ok"], &verified["catalogue"]["total_findings"]),
        (&json!(true), &json!(0))
    );
    let stats = place.run(&["stats", "--json"]).ok().json();
    for field in ["streams", "batches", "blobs"] {
        assert_eq!(verified[field], stats[field], "{field}");
    }
    assert_eq!(verified["records"], stats["events"]);
    place.run(&["checkpoint", "--out", "now"]).ok();
    place.run(&["prove", &story.run, "--out", "proof"]).ok();
    place
        .run(&["verify", "--proof", "proof", "--checkpoint", "now"])
        .ok();
    place.accept(&[human("create_intent", json!({ "prompt": "more" }))]);
    for args in [
        ["verify", "--checkpoint", "now"],
        ["verify", "--since", "now"],
    ] {
        assert!(shown(&args).contains("sound"), "{args:?}");
    }
    let doctor = place.run(&["doctor"]).ok().stdout;
    assert!(
        doctor.contains("root ") && doctor.contains("catalogue"),
        "{doctor}"
    );
}

fn removed_content_is_shown_by_nothing(place: &Stored) {
    place.init(&[]);
    let secret = "hunter2-and-more";
    let ids = place.accept(&[
        human(
            "create_intent",
            json!({ "prompt": format!("the password is {secret}") }),
        ),
        human("create_intent", json!({ "prompt": "other" })),
    ]);
    place.run(&["checkpoint", "--out", "before"]).ok();
    let removed = place.run(&["redact", "1", "--reason", "leaked"]);
    assert_eq!(removed.status, 0, "{removed:?}");
    for args in [
        &["show", ids[0].as_str()][..],
        &["log", "--json"],
        &["export", "annals"],
        &["search", "password"],
    ] {
        let ran = place.run(args);
        assert!(ran.status == 0 && !ran.stdout.contains(secret), "{ran:?}");
    }
    assert!(place.run(&["show", &ids[1]]).ok().stdout.contains("other"));
    let verified = place
        .run(&["verify", "--checkpoint", "before", "--json"])
        .ok()
        .json();
    assert_eq!(verified["ok"], true, "{verified}");
    assert_eq!(place.run(&["doctor"]).status, 0);
}

fn a_repeat_is_answered_and_not_recorded(place: &Stored) {
    place.init(&[]);
    let create = human("create_intent", json!({ "key": uuid(5), "prompt": "once" }));
    let first = place.apply(std::slice::from_ref(&create));
    let again = place.apply(&[create]);
    assert_eq!(
        (&first[0]["ok"], &first[0]["id"]),
        (&json!(true), &again[0]["id"])
    );
    let other = human(
        "create_intent",
        json!({ "key": uuid(5), "prompt": "another" }),
    );
    assert_eq!(place.apply(&[other])[0]["ok"], false);
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 1);
}

fn an_export_becomes_the_same_log(place: &Stored) {
    let of = Place::with_log();
    grown_in(&of);
    let exported = of.run(&["export", "annals"]).ok().stdout;
    // Elsewhere the import makes the log.
    if place.is_shared {
        let stats = of.run(&["stats", "--json"]).ok().json();
        place.init(&["--log-id", stats["log_id"].as_str().unwrap()]);
    }
    let imported = place
        .run_with(&["import", "annals", "-", "--json"], &exported)
        .ok();
    let known = imported.json()["copied"].clone();
    assert_eq!(place.run(&["export", "annals"]).ok().stdout, exported);
    let again = place
        .run_with(&["import", "annals", "-", "--json"], &exported)
        .ok();
    assert_eq!(
        (&again.json()["copied"], &again.json()["known"]),
        (&json!(0), &known)
    );
}

fn processes_write_beside_each_other(place: &Stored) {
    place.init(&[]);
    let lines = |writer: u64| -> String {
        let create = |n| {
            human(
                "create_intent",
                json!({ "id": uuid(writer * 1_000 + n), "prompt": "p" }),
            )
        };
        (1..=20).map(|n| format!("{}\n", create(n))).collect()
    };
    let writers: Vec<_> = (1..=4)
        .map(|writer| {
            let mut child = place
                .command(&["apply"])
                .stdin(Stdio::piped())
                .spawn()
                .unwrap();
            child
                .stdin
                .take()
                .unwrap()
                .write_all(lines(writer).as_bytes())
                .unwrap();
            child
        })
        .collect();
    for writer in writers {
        let ended = writer.wait_with_output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 80);
    let all = place
        .run(&["list", "intents", "--limit", "100", "--json"])
        .ok()
        .lines();
    assert_eq!(all.len(), 80);
    assert_eq!(place.run(&["verify", "--json"]).ok().json()["ok"], true);
}

fn what_comes_is_followed(place: &Stored) {
    place.init(&[]);
    let mut follow = Running::of(place.command(&["log", "--follow", "--json"]));
    for n in 1..=3 {
        place.accept(&[human(
            "create_intent",
            json!({ "id": uuid(n), "prompt": "p" }),
        )]);
        assert_eq!(follow.next()["position"], n);
    }
}

fn a_rebuilt_catalogue_is_the_same(place: &Stored) {
    place.init(&[]);
    let story = grown_in(place);
    let listed = || place.run(&["tree", &story.intent]).ok().stdout;
    let before = listed();
    let rebuilt = place.run(&["rebuild", "--json"]).ok().json();
    assert!(rebuilt["rows"].as_u64().unwrap() > 0, "{rebuilt}");
    assert_eq!(listed(), before);
    assert_eq!(place.run(&["verify", "--json"]).ok().json()["ok"], true);
}

fn recordings_are_imported_once(place: &Stored) {
    place.init(&[]);
    let session = "0b1f4a52-7a6e-4c0e-9d0a-0000000000a1";
    let folder = place.path("projects");
    std::fs::create_dir_all(&folder).unwrap();
    let prompt = json!({
        "type": "user", "uuid": "l1", "sessionId": session, "timestamp": "2026-11-26T01:02:03Z", "cwd": "/shop",
        "message": { "role": "user", "content": "Cache the parser" },
    });
    let answer = json!({
        "type": "assistant", "uuid": "l2", "sessionId": session, "timestamp": "2026-11-26T01:02:04Z", "cwd": "/shop",
        "message": { "id": "m2", "model": "claude-sonnet-4-6", "role": "assistant",
            "usage": { "input_tokens": 3, "output_tokens": 4 }, "content": [{ "type": "text", "text": "Done" }] },
    });
    std::fs::write(folder.join("s.jsonl"), format!("{prompt}\n{answer}\n")).unwrap();
    let events = || {
        place.run(&["stats", "--json"]).ok().json()["events"]
            .as_u64()
            .unwrap()
    };
    let import = || place.run(&["watch", "claude", "projects", "--once", "--json"]);
    let first = import();
    assert_eq!(first.status, 0, "{first:?}");
    let made = events();
    assert!(made > 0, "{first:?}");
    assert_eq!(import().status, 0);
    assert_eq!(events(), made);
    place.accept(&[human("create_intent", json!({ "prompt": "goes on" }))]);
}
