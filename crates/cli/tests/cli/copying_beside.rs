//! `annals log copy` beside others: of a log that is written to meanwhile, and where one of the two is a folder that another
//! process owns, with PostgreSQL as the other side.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::applying::Applying;
use crate::postgres;
use crate::support::{Place, Running, grown, human, root, wait_for};

/// Events of a log before it is copied.
const MANY: u64 = 200;

fn create() -> Value {
    human("create_intent", json!({ "prompt": "p".repeat(300) }))
}

fn events(place: &Place, log: &str) -> u64 {
    let stats = place.run(&["--log", log, "stats", "--json"]).ok().json();
    stats["events"].as_u64().unwrap()
}

fn export(place: &Place, log: &str) -> String {
    place.run(&["--log", log, "export", "annals"]).ok().stdout
}

fn copy(place: &Place, from: &str, to: &str) -> Value {
    place.run(&["copy", from, to, "--json"]).ok().json()
}

/// The process that owns a folder; others write by way of it.
fn owner(place: &Place, log: &str) -> Running {
    let serve = place.command(&["--log", log, "serve", "--record-only", "--json"]);
    let mut owner = Running::of(serve);
    assert_eq!(owner.next()["state"], "owner");
    owner
}

/// A writer that appends one event after the other until it is told to end.
struct Writing {
    is_over: Arc<AtomicBool>,
    written: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Writing {
    /// Begins where the log has many events already.
    fn begin(place: &Place, log: &str) -> Writing {
        let (is_over, written) = (Arc::<AtomicBool>::default(), Arc::<AtomicU64>::default());
        let (ends, count) = (Arc::clone(&is_over), Arc::clone(&written));
        let mut applying = Applying::start(place, log);
        let thread = std::thread::spawn(move || {
            while !ends.load(Ordering::SeqCst) {
                applying.execute(&create());
                count.fetch_add(1, Ordering::SeqCst);
            }
            applying.end();
        });
        let writing = Writing {
            is_over,
            written,
            thread: Some(thread),
        };
        wait_for(|| writing.written() >= MANY);
        writing
    }

    fn written(&self) -> u64 {
        self.written.load(Ordering::SeqCst)
    }

    /// Writes a little more, and ends.
    fn end(mut self) {
        let more = self.written() + 3;
        wait_for(|| self.written() >= more);
        self.is_over.store(true, Ordering::SeqCst);
        self.thread.take().unwrap().join().unwrap();
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

/// How a log is moved that is in use: copied while it is written to, and once more, for the rest, when nobody writes.
fn is_moved_in_two_steps(place: &Place, from: &str, to: &str) {
    let writing = Writing::begin(place, from);
    let before = writing.written();
    let first = copy(place, from, to);
    let meanwhile = writing.written() - before;
    assert!(meanwhile > 0, "nothing was written meanwhile");
    writing.end();
    let (position, end) = (first["position"].as_u64().unwrap(), events(place, from));
    assert!(position >= before && position < end, "{first}, {end}");
    assert_eq!(first["copied"], position);
    assert_eq!(first["verified"], true);
    // What was copied is a log by itself, the beginning of the other one.
    assert_eq!(root(place, to), first["root"].as_str().unwrap());
    let rest = copy(place, from, to);
    assert_eq!(
        (&rest["known"], &rest["copied"]),
        (&json!(position), &json!(end - position))
    );
    assert_eq!(root(place, to), root(place, from));
    assert_eq!(export(place, to), export(place, from));
    // From now on it is the copy that is written to.
    place.run(&["--log", to, "submit", "goes on"]).ok();
    assert!(events(place, to) > end);
}

#[test]
fn a_folder_that_is_written_to_moves_to_postgres_in_two_steps() {
    let (Some(server), place) = (postgres::server(), Place::with_log()) else {
        return;
    };
    is_moved_in_two_steps(&place, "log", &postgres::url(server));
}

#[test]
fn a_log_on_postgres_that_is_written_to_moves_to_a_folder_in_two_steps() {
    let Some(place) = postgres::place() else {
        return;
    };
    place.run(&["init"]).ok();
    is_moved_in_two_steps(&place, place.log(), "there");
}

#[test]
fn a_log_on_postgres_that_is_written_to_moves_to_another_schema_in_two_steps() {
    let (Some(server), Some(place)) = (postgres::server(), postgres::place()) else {
        return;
    };
    place.run(&["init"]).ok();
    is_moved_in_two_steps(&place, place.log(), &postgres::url(server));
}

/// Its guests write by way of the owner, and the copy reads beside both.
#[test]
fn a_shared_folder_that_guests_write_to_moves_to_postgres_in_two_steps() {
    let (Some(server), place) = (postgres::server(), Place::with_log()) else {
        return;
    };
    let owner = owner(&place, "log");
    is_moved_in_two_steps(&place, "log", &postgres::url(server));
    owner.terminate();
}

/// The owner of the folder stores what is copied, as it stores what its guests append.
#[test]
fn a_log_on_postgres_is_copied_into_a_shared_folder() {
    let (Some(server), (place, story)) = (postgres::server(), grown()) else {
        return;
    };
    let from = postgres::url(server);
    copy(&place, "log", &from);
    let removed = ["--log", &from, "redact", "1", "--reason", "leaked"];
    assert_eq!(place.run(&removed).status, 0);
    let stats = place.run(&["--log", &from, "stats", "--json"]).ok().json();
    let id = stats["log_id"].as_str().unwrap();
    place.run(&["--log", "shared", "init", "--log-id", id]).ok();
    let owner = owner(&place, "shared");
    let copied = copy(&place, &from, "shared");
    assert_eq!(copied["copied"], stats["events"]);
    assert_eq!(root(&place, "shared"), root(&place, &from));
    assert_eq!(export(&place, "shared"), export(&place, &from));
    // What comes later is copied behind it, while the owner is there.
    place.run(&["--log", &from, "submit", "goes on"]).ok();
    let rest = copy(&place, &from, "shared");
    assert_eq!(rest["known"], stats["events"]);
    assert_eq!(rest["root"], root(&place, &from));
    let shown = |log: &str| place.run(&["--log", log, "show", &story.run]).ok().stdout;
    assert_eq!(shown("shared"), shown(&from));
    // A guest that writes to the copy makes another history of it, which is left alone.
    place.run(&["--log", "shared", "submit", "its own"]).ok();
    place.run(&["--log", &from, "submit", "another"]).ok();
    let refused = place.run(&["copy", &from, "shared", "--json"]);
    assert_eq!(refused.error_code(), "another_log");
    owner.terminate();
}
