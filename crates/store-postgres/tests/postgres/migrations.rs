//! The schema: made once by any number of processes, and refused where it is another version's.

use std::thread;

use annals_event_log::{Classified, ErrorClass, EventLog};
use annals_store_postgres::{Access, OpenError, PostgresLog};
use futures::executor::block_on;

use crate::support::{batch, database, server, settings};

#[test]
fn ten_that_start_at_once_migrate_once() {
    let Some(server) = server() else { return };
    for _ in 0..3 {
        let database = database(server);
        let settings = settings(server, &database, "&connections=1");
        let ids: Vec<_> = thread::scope(|scope| {
            let start = || {
                let log = PostgresLog::open_or_create(&settings).unwrap();
                block_on(log.append(batch("a-1", 1))).unwrap();
                log.log_id()
            };
            let starting: Vec<_> = (0..10).map(|_| scope.spawn(start)).collect();
            starting.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "one log: {ids:?}");
        let steps = server
            .sql(
                &database,
                "SELECT version FROM annals.migrations ORDER BY version",
            )
            .unwrap();
        assert_eq!(steps, "1\n2\n3");
        let state = "SELECT version, holder IS NULL FROM annals.schema_version";
        assert_eq!(server.sql(&database, state).unwrap(), "3|t");
        let log = PostgresLog::open(&settings).unwrap();
        assert_eq!(log.watermark().0, 10);
    }
}

#[test]
fn a_schema_of_another_version_is_refused_with_both_numbers() {
    let Some(server) = server() else { return };
    let database = database(server);
    let settings = settings(server, &database, "");
    drop(PostgresLog::create(&settings).unwrap());
    let set = |version: i64| {
        let text = format!("UPDATE annals.schema_version SET version = {version}");
        server.sql(&database, &text).unwrap();
    };
    set(99);
    match PostgresLog::open(&settings).expect_err("it is newer") {
        error @ OpenError::NewerSchema {
            found: 99,
            known: 3,
            ..
        } => {
            assert_eq!(
                (error.class(), error.code()),
                (ErrorClass::Unsupported, "newer_format")
            );
            assert!(error.to_string().contains("use a newer program"), "{error}");
        }
        other => panic!("{other}"),
    }
    set(1);
    let readers = settings.clone().with_access(Access::ReadOnly);
    for settings in [settings.clone().with_migrate(false), readers] {
        match PostgresLog::open(&settings).expect_err("it is older") {
            error @ OpenError::OlderSchema {
                found: 1, known: 3, ..
            } => {
                assert!(
                    error.to_string().contains("open the log once for writing"),
                    "{error}"
                );
            }
            other => panic!("{other}"),
        }
    }
    // As a program of before would have left it.
    server
        .sql(
            &database,
            "DROP TABLE annals.leases; DROP INDEX annals.blobs_in_objects; DELETE FROM annals.migrations WHERE version > 1",
        )
        .unwrap();
    let log = PostgresLog::open(&settings).unwrap();
    block_on(log.append(batch("a-1", 1))).unwrap();
    assert_eq!(
        server
            .sql(&database, "SELECT version FROM annals.schema_version")
            .unwrap(),
        "3"
    );
}

/// Who died in the middle of it holds the lease no longer than it lasts.
#[test]
fn a_lease_that_ran_out_is_taken_over() {
    let Some(server) = server() else { return };
    let database = database(server);
    let settings = settings(server, &database, "");
    drop(PostgresLog::create(&settings).unwrap());
    let hold = "UPDATE annals.schema_version SET version = 1, holder = gen_random_uuid(),
            held_until = now() + interval '3 seconds';
        DELETE FROM annals.migrations WHERE version > 1";
    // Before it is held: the server may take its time to answer.
    let begun = std::time::Instant::now();
    server.sql(&database, hold).unwrap();
    drop(PostgresLog::open(&settings).unwrap());
    let waited = begun.elapsed();
    assert!(waited >= std::time::Duration::from_secs(3), "{waited:?}");
    assert_eq!(
        server
            .sql(&database, "SELECT version FROM annals.schema_version")
            .unwrap(),
        "3"
    );
}

#[test]
fn logs_are_told_apart_by_name_and_by_schema() {
    let Some(server) = server() else { return };
    let database = database(server);
    let one = settings(server, &database, "");
    let beside = settings(server, &database, "");
    let apart = one.clone().with_schema("of_its_own");
    let log = PostgresLog::create(&one).unwrap();
    block_on(log.append(batch("a-1", 3))).unwrap();
    match PostgresLog::create(&one).expect_err("it is there") {
        OpenError::AlreadyExists { .. } => {}
        other => panic!("{other}"),
    }
    for settings in [beside, apart] {
        match PostgresLog::open(&settings).expect_err("it is not there") {
            error @ OpenError::NotFound { .. } => {
                assert!(error.to_string().contains("annals log init"), "{error}")
            }
            other => panic!("{other}"),
        }
        let other = PostgresLog::create(&settings).unwrap();
        assert_eq!((other.watermark().0, log.watermark().0), (0, 3));
        block_on(other.append(batch("a-1", 1))).unwrap();
        assert_ne!(other.log_id(), log.log_id());
    }
    assert_eq!(PostgresLog::open(&one).unwrap().watermark().0, 3);
}
