//! What goes wrong at the server: each is said by its own error, which tells what to do and whether a retry helps.

use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{
    AppendError, Classified, ErrorClass, EventLog, ModelCheckpoint, Position, Query, ReadModels,
};
use annals_store_postgres::{AppendFailure, Failure, OpenError, PostgresLog, Settings};
use annals_testkit::postgres::{Server, Setup};
use annals_testkit::process::assert_within;
use futures::executor::block_on;

use crate::support::{DATABASE, all, batch, database, server, settings};

#[track_caller]
fn refused(settings: &Settings) -> Failure {
    match PostgresLog::open_or_create(settings) {
        Err(OpenError::Server(failure)) => failure,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was opened"),
    }
}

fn from(url: &str) -> Settings {
    Settings::from_url(url)
        .unwrap()
        .with_patience(Duration::from_millis(300))
}

/// What an append failed with.
#[track_caller]
fn failure(error: &AppendError) -> &AppendFailure {
    let AppendError::Unavailable { source } = error else {
        panic!("{error:?}");
    };
    source.downcast_ref().expect("a failure of an append")
}

#[test]
fn a_wrong_password_is_said_at_once() {
    let Some(server) = server() else { return };
    let url = server.url(DATABASE).replace(server.password(), "wrong");
    let begun = Instant::now();
    let patient = Settings::from_url(&url).unwrap();
    let failure = refused(&patient.with_patience(Duration::from_secs(3_600)));
    assert!(matches!(failure, Failure::AccessDenied { .. }), "{failure}");
    assert_eq!(
        (failure.class(), failure.code()),
        (ErrorClass::Failed, "access_denied")
    );
    assert!(failure.to_string().contains("PGPASSWORD") && !failure.to_string().contains("wrong"));
    // It is not tried again.
    assert_within(begun.elapsed(), Duration::from_secs(5));
}

#[test]
fn a_database_that_is_not_there_is_said() {
    let Some(server) = server() else { return };
    let failure = refused(&from(&server.url("no_such_database")));
    assert!(matches!(failure, Failure::NoDatabase { .. }), "{failure}");
    assert_eq!(
        (failure.class(), failure.code()),
        (ErrorClass::NotFound, "no_database")
    );
    assert!(failure.to_string().contains("createdb"), "{failure}");
}

#[test]
fn a_server_that_is_not_there_is_tried_for_a_bounded_time() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let begun = Instant::now();
    let failure = refused(&from(&format!("postgres://u:p@127.0.0.1:{port}/d")));
    let took = begun.elapsed();
    assert!(matches!(failure, Failure::Unreachable { .. }), "{failure}");
    assert_eq!(failure.class(), ErrorClass::Unavailable);
    assert!(took >= Duration::from_millis(300), "{took:?}");
    assert_within(took, Duration::from_secs(3));
}

/// The server goes while a log is open, and comes again: nothing has to be opened again.
#[test]
fn a_server_that_goes_and_comes_again_is_waited_for() {
    let Some(mut server) = Server::or_say_not_run(&Setup::default()) else {
        return;
    };
    let settings = settings(&server, "postgres", "&patience=0.5");
    let log = PostgresLog::create(&settings).unwrap();
    let patient =
        PostgresLog::open(&settings.clone().with_patience(Duration::from_secs(30))).unwrap();
    block_on(log.append(batch("a-1", 1))).unwrap();
    server.stop().unwrap();
    let append = batch("a-1", 1);
    let error = block_on(log.append(append.clone())).expect_err("the server is gone");
    let failed = failure(&error);
    assert!(
        failed.attempts > 1 && failed.failure.is_transient(),
        "{failed}"
    );
    assert!(
        failed.to_string().contains("nothing was stored"),
        "{failed}"
    );
    assert!(error.is_retryable());
    assert!(block_on(log.read(Query::all(Position(1)))).is_err());
    assert!(
        block_on(log.wait_above(Position(1))).is_err(),
        "who waits is told, too"
    );
    thread::scope(|scope| {
        let waiting = scope.spawn(|| block_on(patient.append(batch("a-1", 1))));
        thread::sleep(Duration::from_millis(300));
        server.restart().unwrap();
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(block_on(log.append(append)).unwrap().last, Position(3));
    assert_eq!(all(&log).len(), 3);
}

#[test]
fn a_server_that_takes_no_writes_is_said() {
    let Some(server) = server() else { return };
    let database = database(server);
    let settings = settings(server, &database, "&patience=0.3");
    let log = PostgresLog::create(&settings).unwrap();
    let set = |value: &str| {
        let text = format!("ALTER DATABASE {database} SET default_transaction_read_only = {value}");
        server.sql("postgres", &text).unwrap();
        let end = format!(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
        );
        server.sql("postgres", &end).unwrap();
    };
    set("on");
    let failure = refused(&settings);
    assert!(matches!(failure, Failure::ReadOnly { .. }), "{failure}");
    assert!(
        failure
            .to_string()
            .contains("default_transaction_read_only"),
        "{failure}"
    );
    let error = block_on(log.append(batch("a-1", 1))).expect_err("it is read-only");
    let failed = self::failure(&error);
    assert!(
        matches!(failed.failure, Failure::ReadOnly { .. }) && !failed.is_unknown,
        "{failed}"
    );
    set("off");
    block_on(log.append(batch("a-1", 1))).unwrap();
}

#[test]
fn a_full_disk_at_the_server_loses_nothing_and_is_said() {
    let setup = Setup {
        small: Some(6 * 1024 * 1024),
        ..Setup::default()
    };
    if !rustix::process::geteuid().is_root() {
        let message = "NOT RUN: only root makes a small file system for the server";
        assert!(std::env::var_os("CI").is_none(), "{message}");
        eprintln!("{message}");
        return;
    }
    let Some(server) = Server::or_say_not_run(&setup) else {
        return;
    };
    let small = server.small();
    server
        .sql(
            "postgres",
            &format!("CREATE TABLESPACE small LOCATION '{}'", small.display()),
        )
        .unwrap();
    server.sql("postgres", "CREATE DATABASE filled").unwrap();
    server
        .sql(
            "postgres",
            "ALTER DATABASE filled SET default_tablespace = small",
        )
        .unwrap();
    let settings = settings(&server, "filled", "&patience=2");
    let log = PostgresLog::create(&settings).unwrap();
    let large = || {
        let mut append = batch("a-1", 8);
        for (n, event) in append.events.iter_mut().enumerate() {
            // What does not compress.
            let bytes: Vec<u8> = (0..40_000_u64)
                .map(|i| ((i * i * (n as u64 + 7)) >> 5) as u8)
                .collect();
            event.structure = bytes.into();
        }
        append
    };
    let mut acknowledged = 0;
    let error = loop {
        match block_on(log.append(large())) {
            Ok(appended) => acknowledged = appended.last.0,
            Err(error) => break error,
        }
        assert!(acknowledged < 10_000, "the disk does not fill");
    };
    let failed = failure(&error);
    assert!(
        matches!(failed.failure, Failure::DiskFull { .. }) && !failed.is_unknown,
        "{failed}"
    );
    assert_eq!(failed.attempts, 1, "it is not tried again unasked");
    assert!(failed.to_string().contains("Make room"), "{failed}");
    assert!(acknowledged > 0);
    assert_eq!(all(&log).len() as u64, acknowledged);
    assert_eq!(log.watermark(), Position(acknowledged));
}

#[test]
fn a_server_that_could_lose_what_it_acknowledges_is_refused_if_that_is_wanted() {
    let Some(server) = server() else { return };
    let database = database(server);
    // The server of these tests syncs nothing, which is only warned of.
    let settings = settings(server, &database, "");
    drop(PostgresLog::create(&settings).unwrap());
    match PostgresLog::open(&settings.with_require_synchronous(true)).expect_err("fsync is off") {
        error @ OpenError::NotDurable { .. } => {
            assert!(error.to_string().contains("fsync is \"off\""), "{error}");
            assert_eq!(error.code(), "not_durable");
        }
        other => panic!("{other}"),
    }
    let setup = Setup {
        settings: vec![("fsync".into(), "on".into())],
        ..Setup::default()
    };
    let Some(safe) = Server::or_say_not_run(&setup) else {
        return;
    };
    let settings = crate::support::settings(&safe, "postgres", "&require_synchronous=true");
    block_on(
        PostgresLog::create(&settings)
            .unwrap()
            .append(batch("a-1", 1)),
    )
    .unwrap();
    for (name, value) in [("synchronous_commit", "off"), ("full_page_writes", "off")] {
        let set = |value: &str| {
            safe.sql("postgres", &format!("ALTER SYSTEM SET {name} = {value}"))
                .unwrap();
            safe.sql("postgres", "SELECT pg_reload_conf()").unwrap();
            let shows = || safe.sql("postgres", &format!("SHOW {name}")).unwrap();
            while shows() != value {
                thread::sleep(Duration::from_millis(10));
            }
        };
        set(value);
        match PostgresLog::open(&settings).expect_err(name) {
            error @ OpenError::NotDurable { .. } => {
                assert!(error.to_string().contains(name), "{error}")
            }
            other => panic!("{other}"),
        }
        set("on");
    }
}

#[test]
fn a_database_of_another_encoding_is_refused() {
    let Some(server) = server() else { return };
    let create = "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0";
    server.sql("postgres", create).unwrap();
    match PostgresLog::create(&settings(server, "latin", "")).expect_err("it is not UTF-8") {
        OpenError::Encoding { encoding } => assert_eq!(encoding, "LATIN1"),
        other => panic!("{other}"),
    }
}

#[test]
fn a_schema_whose_tables_are_gone_is_said() {
    let Some(server) = server() else { return };
    let database = database(server);
    let log = PostgresLog::create(&settings(server, &database, "&patience=0.3")).unwrap();
    server.sql(&database, "DROP SCHEMA annals CASCADE").unwrap();
    let error = block_on(log.append(batch("a-1", 1))).expect_err("it is gone");
    let failed = failure(&error);
    assert!(
        matches!(failed.failure, Failure::NoSchema { .. }),
        "{failed}"
    );
}

/// An index of the server has its limit, which the ports do not know.
#[test]
fn a_key_that_no_index_takes_is_said() {
    let Some(server) = server() else { return };
    let log = PostgresLog::create(&settings(server, DATABASE, "")).unwrap();
    block_on(log.append(batch("a-1", 1))).unwrap();
    let key = |length: usize| {
        let mut key = Vec::new();
        // What does not compress.
        while key.len() < length {
            key.extend_from_slice(&annals_event_log::Digest::of(&key).0);
        }
        key.truncate(length);
        (key.into(), Some("value".into()))
    };
    let start = ModelCheckpoint::default();
    let error = block_on(log.commit("model", start, vec![key(9_000)], Position(1)))
        .expect_err("it is too long");
    assert!(
        error.to_string().contains("too large for the server"),
        "{error}"
    );
    assert_eq!(block_on(log.checkpoint("model")).unwrap(), start);
    block_on(log.commit("model", start, vec![key(2_600)], Position(1))).unwrap();
}

/// Damage in rows is found when they are read, and nothing is appended behind it.
#[test]
fn rows_that_were_altered_are_found() {
    let Some(server) = server() else { return };
    let database = database(server);
    let log = PostgresLog::create(&settings(server, &database, "")).unwrap();
    block_on(log.append(batch("a-1", 2))).unwrap();
    server
        .sql(
            &database,
            "UPDATE annals.records SET record = substr(record, 1, 40) WHERE position = 2",
        )
        .unwrap();
    let read = block_on(log.read(Query::all(Position(1)))).expect_err("it is cut");
    assert_eq!(read.class(), ErrorClass::Corrupt, "{read}");
    server
        .sql(&database, "UPDATE annals.heads SET position = 1")
        .unwrap();
    let append = block_on(log.append(batch("a-1", 1))).expect_err("the frontier is that of two");
    assert_eq!(append.class(), ErrorClass::Corrupt, "{append}");
}
