//! A server that goes and comes again while commands are at work: they say that they try again, and succeed in the end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use annals_testkit::postgres::{Server, Setup};
use serde_json::{Value, json};

use crate::applying::{Applying, await_line, said_by};
use crate::support::{Place, agent, human, uuid, wait_for};

/// A server that one test has for itself, and a log on it. Its settings are such that no command warns of them.
fn with_log() -> Option<(Server, Place)> {
    let settings = vec![("fsync".to_owned(), "on".to_owned())];
    let server = Server::or_say_not_run(&Setup {
        settings,
        ..Setup::default()
    })?;
    let place = Place::at(format!("{}?log=team", server.url("postgres")));
    place.run(&["init"]).ok();
    Some((server, place))
}

/// The URL has the port in it.
fn restart(server: &mut Server) {
    let port = server.port();
    server.restart().unwrap();
    assert_eq!(server.port(), port, "another process has taken it");
}

fn count(place: &Place) -> Value {
    assert_eq!(place.run(&["verify", "--json"]).ok().json()["ok"], true);
    place.run(&["stats", "--json"]).ok().json()["events"].clone()
}

#[test]
fn a_command_that_finds_no_server_says_that_it_opens_the_log_again_until_it_can() {
    let Some((mut server, place)) = with_log() else {
        return;
    };
    server.stop().unwrap();
    let mut submitting = place.command(&["submit", "Add a cache"]).spawn().unwrap();
    let said = said_by(&mut submitting);
    let line = await_line(&said, "opening again");
    assert!(line.contains("WARN"), "{line}");
    assert!(line.contains("the server cannot be reached"), "{line}");
    restart(&mut server);
    let ended = submitting.wait_with_output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let rest: Vec<String> = said.iter().collect();
    for line in rest.iter().chain([&line]) {
        assert!(!line.contains(server.password()), "{line}");
    }
    let listed = place.run(&["list", "intents"]).ok().stdout;
    assert!(listed.contains("Add a cache"), "{listed}");
    let proposed = ["log", "--type", "intent.submitted", "--json"];
    assert_eq!(place.run(&proposed).ok().lines().len(), 1);
}

#[test]
fn a_command_whose_server_goes_says_that_it_appends_again_and_its_event_is_there_once() {
    let Some((mut server, place)) = with_log() else {
        return;
    };
    let pipeline = uuid(1);
    let push = agent(
        "push_frame",
        json!({ "pipeline": pipeline, "kind": "checkpoint", "summary": "so far" }),
    );
    let mut applying = Applying::start(&place, place.log());
    let said = said_by(&mut applying.child);
    applying.execute(&agent("create_pipeline", json!({ "id": pipeline })));
    // From now on it knows the pipeline, and needs the server for the append alone.
    applying.execute(&push);
    server.stop().unwrap();
    applying.send(&push);
    let line = await_line(&said, "appending again");
    assert!(line.contains("WARN"), "{line}");
    restart(&mut server);
    let answer = applying.answer();
    assert_eq!(
        (&answer["position"], &answer["frame_id"]),
        (&json!(3), &json!(1))
    );
    assert_eq!(applying.execute(&push)["frame_id"], 2);
    applying.end();
    assert_eq!(count(&place), 4);
}

/// Whatever the server was at when it went: each command that was given is executed once.
#[test]
fn processes_write_on_when_the_server_was_restarted() {
    let Some((mut server, place)) = with_log() else {
        return;
    };
    let (is_over, executed) = (AtomicBool::new(false), AtomicU64::new(0));
    let write = |writer: u64| {
        let mut applying = Applying::start(&place, place.log());
        let said = said_by(&mut applying.child);
        for number in 1.. {
            let id = uuid(writer * 100_000 + number);
            let create = human("create_intent", json!({ "id": id, "prompt": "p" }));
            assert_eq!(applying.execute(&create)["id"], id.as_str());
            executed.fetch_add(1, Ordering::SeqCst);
            if is_over.load(Ordering::SeqCst) {
                break;
            }
        }
        applying.end();
        drop(said);
    };
    let has_more = |more: u64| {
        let enough = executed.load(Ordering::SeqCst) + more;
        wait_for(|| executed.load(Ordering::SeqCst) >= enough);
    };
    thread::scope(|scope| {
        let writers = [1, 2].map(|writer| scope.spawn(move || write(writer)));
        // Also where a check fails: the writers are waited for.
        let is_over = Over(&is_over);
        for _ in 0..2 {
            has_more(20);
            restart(&mut server);
            has_more(20);
        }
        drop(is_over);
        for writer in writers {
            writer.join().unwrap();
        }
    });
    assert_eq!(count(&place), executed.into_inner());
}

/// Tells writers that there is nothing more to do.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A server that does not come again is not waited for without an end, and what was not done is said.
#[test]
fn a_command_whose_server_stays_away_fails_and_says_that_nothing_was_stored() {
    let Some((mut server, place)) = with_log() else {
        return;
    };
    let hasty = format!("{}&patience=0.5", place.log());
    let pipeline = uuid(1);
    let create = agent("create_pipeline", json!({ "id": pipeline }));
    let push = agent(
        "push_frame",
        json!({ "pipeline": pipeline, "kind": "checkpoint", "summary": "so far" }),
    );
    let mut applying = Applying::start(&place, &hasty);
    let said = said_by(&mut applying.child);
    applying.execute(&create);
    server.stop().unwrap();
    applying.send(&push);
    let line = await_line(&said, "nothing was stored");
    assert!(!line.contains(server.password()), "{line}");
    let status = applying.child.wait().unwrap();
    assert_eq!(status.code(), Some(1));
    restart(&mut server);
    assert_eq!(count(&place), 1);
    let again = place.run_with(&["apply"], push.to_string()).ok();
    assert_eq!(again.json()["position"], 2);
}

/// What a command finds done may be what an earlier one was not told of: it says so when a standby has it.
#[test]
fn what_a_command_finds_done_is_said_only_when_a_standby_has_it() {
    let Some((server, place)) = with_log() else {
        return;
    };
    let sql = |text: &str| server.sql("postgres", text).unwrap();
    place.run(&["submit", "Tell nobody of 4711"]).ok();
    let wait_for_standbys = |names: &str| {
        sql(&format!(
            "ALTER SYSTEM SET synchronous_standby_names = '{names}'"
        ));
        sql("SELECT pg_reload_conf()");
        wait_for(|| sql("SHOW synchronous_standby_names") == names);
    };
    wait_for_standbys("nobody");
    // A piece of work may take five seconds more than a statement.
    let url = format!("{}&patience=0.1&statement_timeout=0.2", place.log());
    let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    let release = || sql(&format!("SELECT count(pg_cancel_backend(pid)) {waiting}"));
    for command in [
        &["settings", "review.max_retries", "0"][..],
        &["redact", "1", "--reason", "a secret"],
    ] {
        for attempt in 1..=2 {
            let ran = place.run(&[&["--log", &url][..], command].concat());
            assert_eq!(ran.status, 1, "{attempt}: {ran:?}");
            release();
        }
    }
    wait_for_standbys("");
    place.run(&["settings", "review.max_retries", "0"]).ok();
    let nothing = place.run(&["redact", "1", "--reason", "a secret"]).ok();
    assert!(nothing.stdout.contains("nothing to remove"), "{nothing:?}");
    place.run(&["verify"]).ok();
}
