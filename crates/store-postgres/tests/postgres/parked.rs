//! Transactions of others that are left open in the same database hold up nobody.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use annals_event_log::{EventLog, Position};
use annals_store_postgres::PostgresLog;
use annals_testkit::postgres::Server;
use annals_testkit::process::assert_within;
use futures::executor::block_on;

use crate::support::{all, batch, database, server, settings};

/// A session of another program that has begun a transaction and goes nowhere. It ends with this.
struct Parked(Child);

impl Parked {
    fn after(server: &Server, database: &str, statements: &str) -> Parked {
        let mut psql = server.psql(database);
        let mut child = psql
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.as_mut().unwrap();
        writeln!(input, "{statements}\nSELECT 'parked';").unwrap();
        let mut said = String::new();
        let mut output = BufReader::new(child.stdout.as_mut().unwrap());
        while !said.contains("parked") {
            assert!(
                output.read_line(&mut said).unwrap() > 0,
                "psql ended: {said}"
            );
        }
        Parked(child)
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One with a transaction id that is older than all of ours, one with a snapshot of before, and one that holds
/// rows of ours that are not the head's.
#[test]
fn a_foreign_transaction_stalls_neither_writers_nor_readers() {
    let Some(server) = server() else { return };
    let database = database(server);
    server
        .sql(&database, "CREATE TABLE foreign_table (n bigint)")
        .unwrap();
    let settings = settings(server, &database, "");
    let writer = PostgresLog::create(&settings).unwrap();
    block_on(writer.append(batch("a-1", 2))).unwrap();
    let reader = PostgresLog::open(&settings).unwrap();
    let _parked = [
        "BEGIN; INSERT INTO foreign_table VALUES (1); SELECT txid_current();",
        "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM annals.records;",
        "BEGIN; SELECT * FROM annals.records FOR KEY SHARE; LOCK TABLE annals.heads IN ACCESS SHARE MODE;",
    ]
    .map(|statements| Parked::after(server, &database, statements));
    let begun = Instant::now();
    for n in 0..100 {
        let appended = block_on(writer.append(batch("a-1", 1))).unwrap();
        assert_eq!(appended.last, Position(3 + n));
        let above = block_on(reader.wait_above(Position(2 + n))).unwrap();
        assert_eq!(above, Position(3 + n), "a reader is told of each at once");
    }
    // Another process that opens the log now, and migrates nothing, waits for nobody either.
    let late = PostgresLog::open(&settings).unwrap();
    assert_eq!(all(&late).len(), 102);
    let took = begun.elapsed();
    println!("100 appends, each seen by a reader, beside three parked transactions in {took:?}");
    assert_within(took, Duration::from_secs(20));
}

/// Who holds the head itself and stops is bounded by the limits of its own session; others give up in time and say
/// what it was.
#[test]
fn a_head_that_is_held_is_waited_for_no_longer_than_is_said() {
    let Some(server) = server() else { return };
    let database = database(server);
    let settings = settings(server, &database, "&lock_timeout=0.2&patience=0.1");
    let log = PostgresLog::create(&settings).unwrap();
    let parked = Parked::after(
        server,
        &database,
        "BEGIN; SELECT position FROM annals.heads FOR UPDATE;",
    );
    let append = batch("a-1", 1);
    let begun = Instant::now();
    let refused = block_on(log.append(append.clone())).expect_err("the head is held");
    assert_within(begun.elapsed(), Duration::from_secs(10));
    let source = std::error::Error::source(&refused)
        .map(ToString::to_string)
        .unwrap_or_default();
    assert!(
        source.contains("a time limit passed") && source.contains("nothing was stored"),
        "{source}"
    );
    drop(parked);
    assert_eq!(block_on(log.append(append)).unwrap().last, Position(1));
}

/// A process of ours that stops between the lock and the commit loses the head by the server's own limit.
#[test]
fn a_process_that_stops_within_an_append_loses_the_head() {
    let Some(server) = server() else { return };
    let database = database(server);
    let settings = settings(server, &database, "");
    let log = PostgresLog::create(&settings).unwrap();
    let stopped = "SET idle_in_transaction_session_timeout = 300;
        BEGIN; SELECT position FROM annals.heads FOR UPDATE;";
    let _parked = Parked::after(server, &database, stopped);
    let begun = Instant::now();
    block_on(log.append(batch("a-1", 1))).unwrap();
    let took = begun.elapsed();
    assert_within(took, Duration::from_secs(5));
}
