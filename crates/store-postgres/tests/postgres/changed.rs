//! What is done to a database while a log in it is open: nothing is read or written as if nothing had happened.

use annals_event_log::{
    AppendError, Blob, Classified, EventLog, Position, Query, ReadError, ReadModels,
};
use annals_store_postgres::{AppendFailure, Failure, PostgresLog, Settings};
use annals_testkit::postgres::{Server, Setup};
use futures::executor::block_on;

use crate::support::{DATABASE, all, batch, bringing, removing, server, settings};

fn why_not_appended(log: &PostgresLog) -> Failure {
    match block_on(log.append(batch("a-1", 1))) {
        Err(AppendError::Unavailable { source }) => {
            let failure = source.downcast_ref::<AppendFailure>().unwrap();
            assert!(!failure.is_unknown, "{failure}");
            failure.failure.clone()
        }
        other => panic!("{other:?}"),
    }
}

fn why_not_read(log: &PostgresLog) -> Failure {
    match block_on(log.read(Query::all(Position(1)))) {
        Err(ReadError::Unavailable { source }) => source.downcast_ref::<Failure>().unwrap().clone(),
        other => panic!("{other:?}"),
    }
}

/// A log in a schema of its own, with five events.
fn log_of_its_own(server: &Server, schema: &str) -> (Settings, PostgresLog) {
    let more = format!("&schema={schema}&patience=0.2");
    let settings = settings(server, DATABASE, &more);
    let log = PostgresLog::create(&settings).unwrap();
    block_on(log.append(batch("a-1", 5))).unwrap();
    (settings, log)
}

#[test]
fn a_log_that_went_back_is_noticed() {
    let Some(server) = server() else { return };
    let (_, log) = log_of_its_own(server, "went_back");
    // As a standby has it that was promoted without the last batch.
    let keep = "CREATE TABLE went_back.kept AS SELECT * FROM went_back.heads";
    server.sql(DATABASE, keep).unwrap();
    block_on(log.append(batch("b-1", 2))).unwrap();
    let back = "DELETE FROM went_back.records WHERE position > 5;
        DELETE FROM went_back.streams WHERE stream = 'b-1';
        DELETE FROM went_back.heads; INSERT INTO went_back.heads SELECT * FROM went_back.kept";
    server.sql(DATABASE, back).unwrap();
    let went_back = Failure::Rewound { seen: 7, found: 5 };
    assert_eq!(why_not_read(&log), went_back);
    assert_eq!(why_not_appended(&log), went_back);
    assert!(went_back.is_retryable());
}

#[test]
fn another_log_in_its_place_is_not_taken_for_it() {
    let Some(server) = server() else { return };
    let (settings, log) = log_of_its_own(server, "replaced");
    server
        .sql(DATABASE, "DROP SCHEMA replaced CASCADE")
        .unwrap();
    let other = PostgresLog::create(&settings).unwrap();
    block_on(other.append(batch("b-1", 9))).unwrap();
    let gone = Failure::Gone {
        log_id: log.log_id(),
    };
    assert_eq!(why_not_read(&log), gone);
    assert_eq!(why_not_appended(&log), gone);
    assert!(!gone.is_retryable());
    assert_eq!(all(&other).len(), 9);
    // Numbers of logs are given out again, and rows are found by them.
    let row = vec![(b"key"[..].into(), Some(b"of the other"[..].into()))];
    let begin = block_on(other.checkpoint("costs.1")).unwrap();
    block_on(other.commit("costs.1", begin, row, Position(9))).unwrap();
    let is_gone = |said: Option<ReadError>| match said {
        Some(ReadError::Unavailable { source }) => {
            assert_eq!(source.downcast_ref::<Failure>().unwrap(), &gone);
        }
        other => panic!("{other:?}"),
    };
    is_gone(block_on(log.get("costs.1", b"key")).err());
    is_gone(block_on(log.scan("costs.1", b"", None, 10)).err());
    is_gone(block_on(log.scan_back("costs.1", b"", None, 10)).err());
    is_gone(block_on(log.checkpoint("costs.1")).err());
    is_gone(block_on(log.check_tables()).err());
    is_gone(block_on(log.tree_hashes(0, 0, 9)).err());
    let dropped = block_on(log.drop_model("costs.1")).unwrap_err();
    assert!(
        dropped.to_string().contains("not in this database"),
        "{dropped}"
    );
    let committed = block_on(log.commit("costs.1", begin, Vec::new(), Position(1))).unwrap_err();
    assert!(
        committed.to_string().contains("not in this database"),
        "{committed}"
    );
    let lease = |log: &PostgresLog| {
        let lease = log.lease("costs.1", std::time::Duration::from_secs(60));
        block_on(lease.take()).unwrap()
    };
    assert!(!lease(&log) && lease(&other));
    assert_eq!(
        block_on(other.get("costs.1", b"key")).unwrap().unwrap(),
        "of the other"
    );
}

/// No digest is over the end of a page, so that a record that is missing there must not pass as the end of the log.
#[test]
fn records_that_are_missing_at_an_end_are_damage() {
    let Some(server) = server() else { return };
    let (_, log) = log_of_its_own(server, "ends");
    let pages = |limit: usize| {
        let forward = Query::all(Position(1)).limit(limit);
        let backward = Query::all(Position(5)).backward().limit(limit);
        [forward, backward].map(|query| block_on(log.read(query)).map(|page| page.records.len()))
    };
    for missing in [5, 1, 3] {
        let keep = format!("CREATE TABLE ends.kept_{missing} AS SELECT * FROM ends.records");
        server.sql(DATABASE, &keep).unwrap();
        let damage = format!("DELETE FROM ends.records WHERE position = {missing}");
        server.sql(DATABASE, &damage).unwrap();
        for answer in pages(10) {
            assert!(
                matches!(answer, Err(ReadError::Corrupt { .. })),
                "{missing}: {answer:?}"
            );
        }
        let hashes = block_on(log.tree_hashes(0, 0, 5));
        assert!(
            matches!(hashes, Err(ReadError::Corrupt { .. })),
            "{missing}: {hashes:?}"
        );
        // What is there is given as what it is: with a hole before it, the next one is not taken for it.
        let before = block_on(log.tree_hashes(0, missing - 1, 1));
        assert!(
            matches!(before, Err(ReadError::Corrupt { .. })),
            "{missing}: {before:?}"
        );
        let back = format!(
            "DELETE FROM ends.records; INSERT INTO ends.records SELECT * FROM ends.kept_{missing}"
        );
        server.sql(DATABASE, &back).unwrap();
        assert!(pages(10).iter().all(|it| matches!(it, Ok(5))));
        assert!(pages(2).iter().all(|it| matches!(it, Ok(2))));
    }
    // Behind the end there is nothing, and that is right.
    let behind = Query::all(Position(6));
    assert_eq!(block_on(log.read(behind)).unwrap().records.len(), 0);
    let from_far = Query::all(Position(u64::MAX)).backward();
    assert_eq!(block_on(log.read(from_far)).unwrap().records.len(), 5);
}

#[test]
fn a_schema_that_was_migrated_is_not_written_to() {
    let Some(server) = server() else { return };
    let (_, log) = log_of_its_own(server, "migrated");
    let raise = "UPDATE migrated.schema_version SET version = version + 1";
    server.sql(DATABASE, raise).unwrap();
    let failure = why_not_appended(&log);
    assert!(matches!(failure, Failure::Migrated { .. }), "{failure}");
    assert_eq!(failure.classify().code, "newer_format");
    assert_eq!(all(&log).len(), 5, "nothing was added");
}

#[test]
fn a_server_that_keeps_nothing_any_more_is_refused() {
    let setup = Setup {
        settings: vec![("fsync".to_owned(), "on".to_owned())],
        ..Setup::default()
    };
    let Some(server) = Server::or_say_not_run(&setup) else {
        return;
    };
    server.sql("postgres", "CREATE DATABASE tests").unwrap();
    let settings = settings(&server, DATABASE, "&require_synchronous=true&patience=0.2");
    let log = PostgresLog::create(&settings).unwrap();
    block_on(log.append(batch("a-1", 1))).unwrap();
    let off = "ALTER SYSTEM SET synchronous_commit = off";
    server.sql("postgres", off).unwrap();
    server.sql("postgres", "SELECT pg_reload_conf()").unwrap();
    let begun = std::time::Instant::now();
    let failure = loop {
        match block_on(log.append(batch("a-1", 1))) {
            // The session has not heard of it yet.
            Ok(_) => assert!(begun.elapsed().as_secs() < 120),
            Err(AppendError::Unavailable { source }) => break source,
            Err(other) => panic!("{other}"),
        }
    };
    assert!(
        failure.to_string().contains("synchronous_commit"),
        "{failure}"
    );
}

/// Whoever may append may also write counts that none can have, and the owner anything: that is damage, and no panic.
#[test]
fn what_cannot_be_in_a_table_is_damage() {
    let Some(server) = server() else { return };
    let (_, log) = log_of_its_own(server, "damaged");
    for count in ["streams", "batches", "blobs", "blob_bytes"] {
        let keep = format!("CREATE TABLE damaged.kept_{count} AS SELECT * FROM damaged.heads");
        server.sql(DATABASE, &keep).unwrap();
        let damage = format!("UPDATE damaged.heads SET {count} = {}", i64::MAX);
        server.sql(DATABASE, &damage).unwrap();
        let error = block_on(log.append(batch("b-1", 1))).expect_err(count);
        assert!(
            matches!(error, AppendError::Corrupt { .. }),
            "{count}: {error}"
        );
        let back = format!(
            "DELETE FROM damaged.heads; INSERT INTO damaged.heads SELECT * FROM damaged.kept_{count}"
        );
        server.sql(DATABASE, &back).unwrap();
    }
    block_on(log.append(batch("b-1", 1))).unwrap();
    let damage = "ALTER TABLE damaged.records ALTER COLUMN record DROP NOT NULL;
        UPDATE damaged.records SET record = NULL WHERE position = 3";
    server.sql(DATABASE, damage).unwrap();
    let error = block_on(log.read(Query::all(Position(3)))).unwrap_err();
    assert!(matches!(error, ReadError::Corrupt { .. }), "{error}");
    let before = block_on(log.read(Query::all(Position(1)))).unwrap();
    assert_eq!((before.records.len(), before.next), (2, Some(3)));
}

/// Whoever may append may write a size that no blob has: a redaction does not go on from that.
#[test]
fn a_redaction_writes_no_head_that_none_can_go_on_from() {
    let Some(server) = server() else { return };
    let (_, log) = log_of_its_own(server, "sizes");
    let blob = Blob::new(vec![1; 5_000]);
    let appended = block_on(log.append(bringing(&blob))).unwrap();
    for size in [1_000_000_000_000_000, i64::MIN, -1] {
        let damage = format!("UPDATE sizes.blobs SET size = {size}");
        server.sql(DATABASE, &damage).unwrap();
        let redaction = removing(&log, appended.first, &blob);
        let error = block_on(log.redact(redaction)).expect_err("it counts less than nothing");
        assert!(error.to_string().contains("corrupt"), "{size}: {error}");
        block_on(log.append(batch("b-1", 1))).unwrap();
    }
    server
        .sql(DATABASE, "UPDATE sizes.blobs SET size = 5000")
        .unwrap();
    block_on(log.redact(removing(&log, appended.first, &blob))).unwrap();
    assert_eq!(block_on(log.check_tables()).unwrap(), [""; 0]);
}
