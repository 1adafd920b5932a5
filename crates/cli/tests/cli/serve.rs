//! An owner of the log that stays.

use std::io::{BufRead, BufReader};
use std::os::unix::net::UnixDatagram;
use std::process::{Child, ChildStdout, Command};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Place, human, uuid};

/// A `serve` that runs until it is ended.
struct Serving {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Serving {
    fn start(place: &Place) -> Serving {
        Serving::of(place.command(&["serve", "--record-only", "--json"]))
    }

    fn of(mut command: Command) -> Serving {
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Serving { child, lines }
    }

    fn next(&mut self) -> Value {
        let line = self.lines.next().expect("it serves").unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn end(mut self) {
        let pid = self.child.id().to_string();
        Command::new("kill").arg(pid).status().unwrap();
        assert_eq!(self.next()["state"], "ended");
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn submit(place: &Place, n: u64) {
    let create = human("create_intent", json!({ "id": uuid(n), "prompt": "p" }));
    let answers = place.apply(&[create]);
    assert_eq!(answers[0]["ok"], true, "{answers:?}");
}

#[test]
fn what_serves_owns_the_log_until_it_is_ended() {
    let place = Place::with_log();
    let mut serving = Serving::start(&place);
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
    serving.end();
    submit(&place, 4);
}

#[test]
fn the_next_one_takes_its_place_when_it_is_killed() {
    let place = Place::with_log();
    let mut first = Serving::start(&place);
    assert_eq!(first.next()["state"], "owner");
    let mut second = Serving::start(&place);
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
    second.end();
    // One that waits can be ended as well.
    let mut third = Serving::start(&place);
    assert_eq!(third.next()["state"], "owner");
    let mut fourth = Serving::start(&place);
    assert_eq!(fourth.next()["state"], "waiting");
    fourth.end();
    third.end();
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
    let mut serving = Serving::of(command);
    assert_eq!(heard(), "READY=1\nSTATUS=owns the log");
    assert_eq!(serving.next()["state"], "owner");
    serving.end();
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
