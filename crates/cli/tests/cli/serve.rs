//! An owner of the log that stays.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use serde_json::json;

use crate::support::{Place, Running, human, uuid};

fn start(place: &Place) -> Running {
    Running::of(place.command(&["serve", "--record-only", "--json"]))
}

/// Ends it, and has it say so.
fn end(mut serving: Running) {
    serving.terminate();
    assert_eq!(serving.next()["state"], "ended");
    serving.end();
}

fn submit(place: &Place, n: u64) {
    let create = human("create_intent", json!({ "id": uuid(n), "prompt": "p" }));
    let answers = place.apply(&[create]);
    assert_eq!(answers[0]["ok"], true, "{answers:?}");
}

#[test]
fn what_serves_owns_the_log_until_it_is_ended() {
    let place = Place::with_log();
    let mut serving = start(&place);
    let first = serving.next();
    assert_eq!(
        (&first["state"], &first["position"], &first["process"]),
        (&json!("owner"), &json!(0), &json!(serving.child.id()))
    );
    // Others write by way of it: it has the lock all the time.
    for n in 1..=3 {
        submit(&place, n);
    }
    let refused = place.run(&["--exclusive", "submit", "x"]);
    assert_eq!(refused.status, 1, "{refused:?}");
    assert!(refused.stderr.contains("locked"), "{}", refused.stderr);
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["events"], 3);
    end(serving);
    submit(&place, 4);
}

#[test]
fn the_next_one_takes_its_place_when_it_is_killed() {
    let place = Place::with_log();
    let mut first = start(&place);
    assert_eq!(first.next()["state"], "owner");
    let mut second = start(&place);
    let waiting = second.next();
    assert_eq!(
        (&waiting["state"], &waiting["owner"]),
        (&json!("waiting"), &json!(first.child.id()))
    );
    submit(&place, 1);
    first.child.kill().unwrap();
    first.child.wait().unwrap();
    let owner = second.next();
    assert_eq!(
        (&owner["state"], &owner["position"]),
        (&json!("owner"), &json!(1))
    );
    submit(&place, 2);
    end(second);
    // One that waits can be ended as well.
    let mut third = start(&place);
    assert_eq!(third.next()["state"], "owner");
    let mut fourth = start(&place);
    assert_eq!(fourth.next()["state"], "waiting");
    end(fourth);
    end(third);
}

#[test]
fn systemd_is_told_when_it_is_ready_and_when_it_ends() {
    let place = Place::with_log();
    let socket = UnixDatagram::bind(place.path("notify")).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let heard = || {
        let mut bytes = [0; 200];
        let length = socket.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let mut command = place.command(&["serve", "--record-only", "--json"]);
    command.env("NOTIFY_SOCKET", place.path("notify"));
    let mut serving = Running::of(command);
    assert_eq!(heard(), "READY=1\nSTATUS=owns the log");
    assert_eq!(serving.next()["state"], "owner");
    end(serving);
    assert_eq!(heard(), "STOPPING=1");
}

#[test]
fn what_cannot_be_served_is_refused() {
    let place = Place::with_log();
    let pages = place.run(&["serve"]);
    assert_eq!(pages.status, 2, "{pages:?}");
    assert!(pages.stderr.contains("--record-only"), "{}", pages.stderr);
    for args in [
        ["--exclusive", "serve", "--record-only"].as_slice(),
        &["--log", "memory:", "serve", "--record-only"],
    ] {
        let refused = place.run(args);
        assert_eq!(refused.status, 2, "{refused:?}");
        assert!(
            refused.stderr.contains("log in a folder"),
            "{}",
            refused.stderr
        );
    }
    let absent = Place::empty().run(&["serve", "--record-only"]);
    assert_eq!(absent.status, 1, "{absent:?}");
    assert!(absent.stderr.contains("annals init"), "{}", absent.stderr);
}
