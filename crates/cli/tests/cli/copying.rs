//! `annals log copy`: the same log in another store.

use std::time::Duration;

use serde_json::{Value, json};

use crate::postgres;
use crate::support::{Place, agent, grown_in, human, root, uuid};

/// A log with content of all sizes, and some that was removed.
fn source(place: &Place) {
    place.run(&["init"]).ok();
    let story = grown_in(place);
    let push = |summary: String| {
        agent(
            "push_frame",
            json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": summary }),
        )
    };
    place.accept(&[
        push("small".into()),
        push("y".repeat(9_000)),
        push("z".repeat(70_000)),
    ]);
    let redacted = place.run(&["redact", "1", "--reason", "leaked"]);
    assert_eq!(redacted.status, 0, "{redacted:?}");
}

/// Many batches more.
fn many(place: &Place, from: u64, count: u64) {
    let create = |n| {
        human(
            "create_intent",
            json!({ "id": uuid(n), "prompt": format!("{n} {}", "p".repeat(300)) }),
        )
    };
    place.accept(&(from..from + count).map(create).collect::<Vec<_>>());
}

fn export(place: &Place, log: &str) -> String {
    place.run(&["--log", log, "export", "annals"]).ok().stdout
}

fn events(place: &Place, log: &str) -> Value {
    place.run(&["--log", log, "stats", "--json"]).ok().json()["events"].clone()
}

#[test]
fn a_copy_between_folders_is_the_same_log() {
    let place = Place::empty();
    source(&place);
    let copied = place
        .run(&["copy", "log", "rocks:there/copy", "--json"])
        .ok()
        .json();
    assert_eq!(copied["copied"], events(&place, "log"));
    assert_eq!(
        (&copied["known"], &copied["verified"]),
        (&json!(0), &json!(true))
    );
    assert_eq!(copied["root"], root(&place, "log"));
    assert_eq!(root(&place, "there/copy"), root(&place, "log"));
    assert_eq!(export(&place, "there/copy"), export(&place, "log"));
    // Again it has nothing to do, and says so.
    let again = place
        .run(&["copy", "log", "there/copy", "--fast"])
        .ok()
        .stdout;
    assert!(
        again.contains("copied 0 records") && again.contains("--fast"),
        "{again}"
    );
    // What comes later is copied behind it.
    many(&place, 100, 3);
    let more = place
        .run(&["copy", "log", "there/copy", "--json"])
        .ok()
        .json();
    assert_eq!(
        (&more["copied"], &more["known"]),
        (&json!(3), &copied["position"])
    );
    assert_eq!(export(&place, "there/copy"), export(&place, "log"));
    // The copy is a log like any other.
    place
        .run(&["--log", "there/copy", "submit", "goes on"])
        .ok();
}

#[test]
fn a_log_goes_to_postgres_and_back_unchanged() {
    let (Some(server), place) = (postgres::server(), Place::empty()) else {
        return;
    };
    let there = postgres::url(server);
    source(&place);
    place.run(&["checkpoint", "--out", "now"]).ok();
    place.run(&["prove", "3", "--out", "proof"]).ok();
    let copied = place.run(&["copy", "log", &there, "--json"]).ok();
    assert!(!copied.stdout.contains(server.password()), "{copied:?}");
    let copied = copied.json();
    assert_eq!(copied["root"], root(&place, "log"));
    assert_eq!(root(&place, &there), root(&place, "log"));
    assert_eq!(export(&place, &there), export(&place, "log"));
    // Proofs and checkpoints of before are of the copy, too.
    place
        .run(&["--log", &there, "verify", "--checkpoint", "now"])
        .ok();
    place
        .run(&["verify", "--proof", "proof", "--checkpoint", "now"])
        .ok();
    // Another schema, with all that was written in the first one.
    place.run(&["--log", &there, "submit", "goes on"]).ok();
    let other = postgres::url(server);
    place.run(&["copy", &there, &other]).ok();
    place.run(&["copy", &other, "back"]).ok();
    assert_eq!(export(&place, "back"), export(&place, &there));
    assert_eq!(root(&place, "back"), root(&place, &other));
    // Within a schema there is a log once.
    let twice = there.replace("log=team", "log=twin");
    let refused = place.run(&["copy", &there, &twice, "--json"]);
    assert_eq!(refused.error_code(), "id_taken");
    assert!(!refused.stderr.contains(server.password()), "{refused:?}");
}

#[test]
fn a_copy_that_is_killed_goes_on() {
    let place = Place::empty();
    source(&place);
    many(&place, 1_000, 600);
    let mut destinations = vec!["copy".to_owned()];
    destinations.extend(postgres::server().map(postgres::url));
    for destination in destinations {
        // What a process leaves that ended in the middle: whole batches, and no more.
        let all = export(&place, "log");
        let half: String = all
            .lines()
            .take(300)
            .flat_map(|line| [line, "\n"])
            .collect();
        let cut = place.run_with(&["--log", &destination, "import", "annals", "-"], half);
        assert_eq!(cut.status, 1, "{cut:?}");
        for delay in [1, 10, 30, 60, 100, 200] {
            let mut copying = place
                .command(&["copy", "log", &destination])
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_millis(delay));
            let _ = copying.kill();
            copying.wait().unwrap();
        }
        let copied = place
            .run(&["copy", "log", &destination, "--json"])
            .ok()
            .json();
        let known = copied["known"].as_u64().unwrap();
        assert!(known > 200, "{copied}");
        assert_eq!(
            copied["copied"].as_u64().unwrap() + known,
            events(&place, "log")
        );
        assert_eq!(root(&place, &destination), root(&place, "log"));
        assert_eq!(export(&place, &destination), all);
    }
}

#[test]
fn a_log_with_another_history_is_refused() {
    let place = Place::empty();
    let id = uuid(1);
    place.run(&["init", "--log-id", &id]).ok();
    many(&place, 10, 4);
    let mut stores = vec!["b".to_owned()];
    stores.extend(postgres::server().map(postgres::url));
    for other in stores {
        let refused = |says: &str| {
            let before = events(&place, &other);
            let ran = place
                .run(&["copy", "log", &other])
                .fails(1, &[says, "Nothing was copied"]);
            assert_eq!(events(&place, &other), before, "{ran:?}");
            let code = place.run(&["copy", "log", &other, "--json"]).error_code();
            assert_eq!(code, "another_log");
        };
        place.run(&["--log", &other, "init", "--log-id", &id]).ok();
        place.run(&["--log", &other, "submit", "its own"]).ok();
        refused("not the first ones of the source");
        for _ in 0..8 {
            place.run(&["--log", &other, "submit", "more"]).ok();
        }
        refused("the source ends at 4");
    }
    place.run(&["--log", "c", "init"]).ok();
    place
        .run(&["copy", "log", "c"])
        .fails(1, &["the destination is the log", &id]);
    place.run(&["copy", "log", "log"]).fails(2, &["same log"]);
    place.run(&["copy", "log", "memory:"]).fails(1, &["memory"]);
    place
        .run(&["copy", "nothing", "d"])
        .fails(1, &["there is no log at nothing"]);
    assert!(!place.path("d").exists());
}

#[test]
fn what_was_removed_since_it_was_copied_is_noticed() {
    let place = Place::empty();
    place.run(&["init"]).ok();
    many(&place, 10, 5);
    let mut stores = vec!["copy".to_owned()];
    stores.extend(postgres::server().map(postgres::url));
    for store in &stores {
        place.run(&["copy", "log", store]).ok();
    }
    assert_eq!(place.run(&["redact", "2", "--reason", "leaked"]).status, 0);
    for store in &stores {
        let refused = place.run(&["copy", "log", store, "--json"]);
        assert_eq!(refused.error_code(), "other_content");
        assert!(refused.stderr.contains("record 2"), "{refused:?}");
    }
}

#[test]
fn a_damaged_copy_is_noticed() {
    let (Some(server), place) = (postgres::server(), Place::empty()) else {
        return;
    };
    let there = postgres::url(server);
    source(&place);
    place.run(&["copy", "log", &there]).ok();
    let schema = there.split("schema=").nth(1).unwrap();
    let altered = format!(
        "UPDATE {schema}.blobs SET content = 'x' WHERE size = (SELECT max(size) FROM {schema}.blobs)"
    );
    server.sql("tests", &altered).unwrap();
    let found = place.run(&["--log", &there, "verify", "--json"]);
    assert_eq!(found.status, 3, "{found:?}");
    let refused = place.run(&["copy", "log", &there]);
    assert_eq!(refused.status, 3, "{refused:?}");
    assert!(
        refused.stderr.contains("the copy is damaged"),
        "{refused:?}"
    );
}
