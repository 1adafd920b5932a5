//! The server of these tests, and what is particular to a log on PostgreSQL.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use annals_testkit::postgres::{Server, Setup};
use annals_testkit::process::{WIDE, assert_within};
use serde_json::json;
use uuid::Uuid;

use crate::support::{Place, Running, grown_in, human, uuid};

/// One server for all tests; `None` where none can be started, which was said. Its settings are such that no command warns
/// of them.
pub fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    let start = || {
        let settings = vec![("fsync".to_owned(), "on".to_owned())];
        let server = Server::or_say_not_run(&Setup {
            settings,
            ..Setup::default()
        })?;
        server.sql("postgres", "CREATE DATABASE tests").unwrap();
        let roles = "CREATE ROLE annals_writer NOLOGIN; CREATE ROLE annals_reader NOLOGIN;
            CREATE USER auditor PASSWORD 'secret' IN ROLE annals_reader";
        server.sql("postgres", roles).unwrap();
        Some(server)
    };
    SERVER.get_or_init(start).as_ref()
}

/// The URL of a log that is not made yet, in a schema of its own.
pub fn url(server: &Server) -> String {
    let schema = format!("s_{}", Uuid::new_v4().simple());
    format!("{}?log=team&schema={schema}", server.url("tests"))
}

/// The URL of a place's log for a user who may only read.
fn by_auditor(server: &Server, place: &Place) -> String {
    let owner = format!("annals:{}@", server.password());
    let url = place.log().replace(&owner, "auditor:secret@");
    assert!(url.contains("auditor"));
    url
}

/// A place whose log is on the server, and is not made yet.
pub fn place() -> Option<Place> {
    server().map(|server| Place::at(url(server)))
}

#[test]
fn a_log_is_made_once_and_its_password_is_never_shown() {
    let (Some(server), Some(place)) = (server(), place()) else {
        return;
    };
    let password = server.password();
    let id = uuid(7);
    let missing = place.run(&["stats"]).fails(1, &["annals log init"]);
    let made = place.run(&["init", "--log-id", &id]).ok();
    assert!(
        made.stdout.starts_with(&format!(
            "created the log {id} in postgres://annals:***@127.0.0.1:"
        )),
        "{made:?}"
    );
    let again = place.run(&["init"]).fails(1, &["already"]);
    let code = place.run(&["init", "--json"]).fails(1, &[]).error_code();
    assert_eq!(code, "log_exists");
    let stats = place.run(&["stats"]).ok();
    assert!(
        stats.stdout.contains(&id) && stats.stdout.contains("log=team"),
        "{stats:?}"
    );
    let alone = place
        .run(&["--exclusive", "submit", "x"])
        .fails(1, &["one process alone"]);
    let help = place.run(&["stats", "--help"]).ok();
    let wrong = format!("mysql://annals:{password}@127.0.0.1/tests");
    let wrong = place
        .run(&["--log", &wrong, "stats"])
        .fails(1, &["unknown store"]);
    for ran in [missing, made, again, stats, alone, help, wrong] {
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!said.contains(password), "{said}");
    }
    let refused = server.url("tests").replace(password, "not-the-password");
    let refused = place.run(&["--log", &refused, "stats", "--json"]);
    assert_eq!(refused.error_code(), "access_denied");
}

#[test]
fn a_role_that_can_only_read_shows_all_and_changes_nothing() {
    let (Some(server), Some(place)) = (server(), place()) else {
        return;
    };
    place.run(&["init"]).ok();
    let story = grown_in(&place);
    let end = place.run(&["stats", "--json"]).ok().json()["position"].clone();
    let url = by_auditor(server, &place);
    let reader = |args: &[&str]| place.run(&[&["--log", url.as_str()], args].concat());
    let run = story.run.as_str();
    for args in [
        &["log"][..],
        &["list", "runs"],
        &["show", run],
        &["history", run],
        &["tree", story.intent.as_str()],
        &["refs", run],
        &["stats"],
        &["search", "cache"],
        &["verify"],
        &["doctor"],
        &["checkpoint"],
        &["export", "annals"],
    ] {
        let (by_reader, by_owner) = (reader(args), place.run(args));
        assert_eq!(by_reader.status, 0, "{by_reader:?}");
        assert!(!by_reader.stdout.is_empty(), "{args:?}");
        if !["stats", "doctor"].contains(&args[0]) {
            assert_eq!(by_reader.stdout, by_owner.stdout, "{args:?}");
        }
    }
    let refused = reader(&["submit", "x", "--json"]);
    assert_ne!(refused.status, 0, "{refused:?}");
    assert_eq!(place.run(&["stats", "--json"]).ok().json()["position"], end);
}

/// What commands find records by is no part of any digest: `verify` compares it with the records, and nothing is built on
/// an end that is not there.
#[test]
fn tables_that_do_not_fit_the_records_are_found() {
    let (Some(server), Some(whole)) = (server(), place()) else {
        return;
    };
    whole.run(&["init"]).ok();
    grown_in(&whole);
    whole.run(&["verify"]).ok();
    for (damage, says) in [
        (
            "DELETE FROM {s}.records WHERE position = (SELECT position FROM {s}.heads)",
            "not all there",
        ),
        ("DELETE FROM {s}.records WHERE position = 3", ""),
        (
            "UPDATE {s}.heads SET position = position - 1",
            "is not where the log has one",
        ),
        ("UPDATE {s}.heads SET streams = 1", "streams"),
        ("UPDATE {s}.heads SET blobs = 7", "blobs"),
        ("DELETE FROM {s}.batches WHERE first = 1", "batch"),
        (
            "UPDATE {s}.batches SET last = last + 1 WHERE first = 1",
            "batch",
        ),
        (
            "UPDATE {s}.batches SET batch = '00000000-0000-4000-8000-000000000000' WHERE first = 1",
            "another id",
        ),
        (
            "INSERT INTO {s}.tree (log, level, number, hash) SELECT log, 8, 5, sha256('') FROM {s}.heads",
            "no hash 5 of level 8",
        ),
        ("DELETE FROM {s}.heads", ""),
        (
            "UPDATE {s}.models SET position = position + 30",
            "the read model",
        ),
        ("DELETE FROM {s}.streams WHERE stream LIKE 'run-%'", "run-"),
        (
            "UPDATE {s}.streams SET version = version + 1 WHERE stream LIKE 'intent-%'",
            "intent-",
        ),
        (
            "UPDATE {s}.records SET event_type = 'run.created' WHERE position = 3",
            "says otherwise",
        ),
        (
            "UPDATE {s}.records SET stream = 'run-1' WHERE position = 3",
            "says otherwise",
        ),
    ] {
        let Some(place) = place() else { return };
        whole.run(&["copy", whole.log(), place.log()]).ok();
        let (_, schema) = place.log().split_once("schema=").unwrap();
        server.sql("tests", &damage.replace("{s}", schema)).unwrap();
        let found = place.run(&["verify"]);
        let said = format!("{}{}", found.stdout, found.stderr);
        assert_eq!(found.status, 3, "{damage}: {said}");
        assert!(said.contains(says), "{damage}: {said}");
    }
}

/// Records behind the end, or none at it: what was acknowledged is gone, and nothing is written over that.
#[test]
fn nothing_is_appended_to_a_log_that_lost_its_end() {
    let (Some(server), Some(place)) = (server(), place()) else {
        return;
    };
    place.run(&["init"]).ok();
    place.run(&["submit", "one"]).ok();
    let (_, schema) = place.log().split_once("schema=").unwrap();
    let sql = |text: &str| server.sql("tests", &text.replace("{s}", schema)).unwrap();
    sql("CREATE TABLE {s}.kept AS SELECT * FROM {s}.heads");
    place.run(&["submit", "two"]).ok();
    sql("CREATE TABLE {s}.ahead AS SELECT * FROM {s}.heads");
    for back in [
        "DELETE FROM {s}.heads; INSERT INTO {s}.heads SELECT * FROM {s}.kept",
        "DELETE FROM {s}.heads; INSERT INTO {s}.heads SELECT * FROM {s}.ahead;
            DELETE FROM {s}.records WHERE position = (SELECT position FROM {s}.heads)",
    ] {
        sql(back);
        let end = sql("SELECT count(*) FROM {s}.records");
        place
            .run(&["submit", "three"])
            .fails(3, &["do not end where"]);
        assert_eq!(place.run(&["verify"]).status, 3, "{back}");
        assert_eq!(sql("SELECT count(*) FROM {s}.records"), end);
    }
}

/// The server keeps samples of columns for its planner, also of rows that are gone.
#[test]
fn no_sample_of_content_is_left() {
    let (Some(server), Some(place)) = (server(), place()) else {
        return;
    };
    place.run(&["init"]).ok();
    for n in 0..40 {
        place
            .run(&["submit", &format!("a secret word, number {n}")])
            .ok();
    }
    let (_, schema) = place.log().split_once("schema=").unwrap();
    let samples = format!(
        "ANALYZE; SELECT count(*) FROM pg_stats WHERE schemaname = '{schema}'
            AND attname IN ('record', 'content', 'value', 'id_secret')"
    );
    assert_eq!(server.sql("tests", &samples).unwrap(), "0");
    let others = format!("SELECT count(*) > 0 FROM pg_stats WHERE schemaname = '{schema}'");
    assert_eq!(server.sql("tests", &others).unwrap(), "t");
}

#[test]
fn what_needs_a_folder_says_what_takes_its_place() {
    let Some(place) = place() else {
        return;
    };
    place.run(&["init"]).ok();
    for (args, says) in [
        (&["backup", "b"][..], "annals log copy"),
        (&["restore", "b"], "annals log copy"),
        (&["share", "--with", "root"], "annals_reader"),
        (&["gc"], "one transaction"),
        (&["doctor", "--deep"], "annals proof verify"),
        (&["doctor", "--truncate-tail"], "standby"),
        (&["rebuild", "--indexes"], "REINDEX"),
        (&["redact", "--finish"], "VACUUM FULL"),
        (&["serve", "--record-only"], "each process writes"),
        (&["serve", "--own"], "each process writes"),
    ] {
        place.run(args).fails(1, &["has no files", says]);
        let code = place.run(&[&["--json"], args].concat()).error_code();
        assert_eq!(code, "needs_folder", "{args:?}");
    }
    let index = place.run(&["search", "--index", "kept", "--json"]);
    assert_eq!(index.error_code(), "no_search_index");
    let index = place.run(&["search", "--rebuild", "--json"]);
    assert_eq!(index.error_code(), "no_search_index");
}

#[test]
fn a_log_is_shown_in_a_browser() {
    let Some(place) = place() else {
        return;
    };
    place.run(&["init"]).ok();
    let story = grown_in(&place);
    let mut serving = Running::of(place.command(&["serve", "--listen", "127.0.0.1:0", "--json"]));
    let first = serving.next();
    assert_eq!(first["state"], "serving");
    assert!(first["log"].as_str().unwrap().contains(":***@"), "{first}");
    let host = first["address"].as_str().unwrap();
    let host = host
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&host).unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    };
    assert!(get("/runs").starts_with("HTTP/1.1 200 OK"));
    let created = human(
        "create_intent",
        json!({ "id": uuid(9), "prompt": "written by another process" }),
    );
    place.accept(&[created]);
    let begun = Instant::now();
    while !get("/intents").contains("written by another process") {
        assert!(begun.elapsed() < WIDE, "{}", get("/intents"));
    }
    let page = get(&format!("/objects/{}/timeline", story.run));
    assert!(page.starts_with("HTTP/1.1 200 OK"), "{page}");
    serving.end();
}

/// The ports say of every failure of a store that reads failed; the program says which one it was.
#[test]
fn a_read_that_fails_says_what_the_server_said() {
    let (Some(server), Some(place)) = (server(), place()) else {
        return;
    };
    place.run(&["init"]).ok();
    grown_in(&place);
    let url = by_auditor(server, &place);
    let (_, schema) = url.split_once("schema=").unwrap();
    let revoke = format!("REVOKE SELECT ON {schema}.records FROM annals_reader");
    server.sql("tests", &revoke).unwrap();
    let refused = place.run(&["--log", &url, "log", "--json"]);
    assert_eq!(refused.error_code(), "no_permission", "{refused:?}");
}

/// A command that waits for a server that does not answer ends when it is told to.
#[test]
fn what_waits_for_a_silent_server_can_be_ended() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = silent.local_addr().unwrap();
    let place = Place::at(format!(
        "postgres://annals@{at}/x?log=team&connect_timeout=3600&patience=3600"
    ));
    for args in [
        &["serve", "--listen", "127.0.0.1:0"][..],
        &["record", "--otlp", "127.0.0.1:0"],
    ] {
        let mut child = place.command(args).spawn().unwrap();
        // It has connected, and asks.
        let (mut asked, _) = silent.accept().unwrap();
        assert!(asked.read(&mut [0]).unwrap() > 0);
        let begun = Instant::now();
        let pid = child.id().to_string();
        Command::new("kill").arg(pid).status().unwrap();
        child.wait().unwrap();
        let took = begun.elapsed();
        println!("{args:?} ends in {took:?}");
        assert_within(took, Duration::from_secs(4));
    }
}
