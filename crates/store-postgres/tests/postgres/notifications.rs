//! Notifications are hints: with them a reader learns of an append sooner, without them it learns of it all the same.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{EventLog, Position};
use annals_store_postgres::{Access, PostgresLog, Settings};
use annals_testkit::postgres::Server;
use annals_testkit::process::assert_within;
use futures::executor::block_on;

use crate::support::{DATABASE, batch, database, server, settings};

/// Between two looks of a reader: far more than a notification takes, and a test that gets none fails and does not hang.
const SELDOM: Duration = Duration::from_secs(120);

/// Logs that are opened, appended to and closed, one after the other.
const ROUNDS: u64 = 20;

/// Ends the threads that keep the machine busy, also where a test fails.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How it asks for notifications, and polls so seldom that only one of them comes in time. Logs whose connections have another
/// name share none, as if they were in another process.
fn seldom(server: &Server, database: &str, name: &str) -> Settings {
    let more = format!("&notify=true&application_name={name}");
    settings(server, database, &more)
        .with_poll_least(SELDOM)
        .with_poll_most(SELDOM)
}

/// What the server says of connections that listen and tell, of those with a name.
fn listening(server: &Server, database: &str, what: &str, name: &str) -> u64 {
    let ask = format!(
        "SELECT count({what}) FROM pg_stat_activity
            WHERE datname = '{database}' AND application_name = '{name}' AND (query LIKE '%LISTEN annals' OR query LIKE '%pg_notify%')"
    );
    server.sql("postgres", &ask).unwrap().parse().unwrap()
}

#[test]
fn a_notification_wakes_a_reader_in_another_process() {
    a_reader_is_woken(["writer", "reader"], Access::ReadWrite);
}

/// Also where they share the connection that would tell.
#[test]
fn an_append_wakes_a_reader_of_another_handle_in_this_process() {
    a_reader_is_woken(["both", "both"], Access::ReadWrite);
}

/// One that may change nothing hears as well.
#[test]
fn a_notification_wakes_who_can_only_read() {
    a_reader_is_woken(["for-auditor", "auditor"], Access::ReadOnly);
}

fn a_reader_is_woken(names: [&str; 2], access: Access) {
    let Some(server) = server() else { return };
    let of_writer = seldom(server, DATABASE, names[0]);
    let of_reader = seldom(server, DATABASE, names[1])
        .with_log(of_writer.log.clone())
        .with_access(access);
    let writer = PostgresLog::create(&of_writer).unwrap();
    let reader = PostgresLog::open(&of_reader).unwrap();
    for name in names {
        until(|| listening(server, DATABASE, "pid", name) > 0);
    }
    thread::scope(|scope| {
        let waiting = scope.spawn(|| block_on(reader.wait_above(Position(0))).unwrap());
        thread::sleep(Duration::from_millis(300));
        let begun = Instant::now();
        block_on(writer.append(batch("a-1", 1))).unwrap();
        assert_eq!(waiting.join().unwrap(), Position(1));
        let took = begun.elapsed();
        assert_within(took, Duration::from_secs(5));
    });
}

/// Whether or not anybody listens: the connection for it is ended, and nothing is missed.
#[test]
fn nothing_is_missed_when_the_connection_that_listens_is_lost() {
    let Some(server) = server() else { return };
    let database = database(server);
    let of_writer = settings(server, &database, "&notify=true&application_name=writer");
    let of_reader = settings(server, &database, "&notify=true&application_name=reader")
        .with_log(of_writer.log.clone());
    let writer = PostgresLog::create(&of_writer).unwrap();
    let reader = PostgresLog::open(&of_reader).unwrap();
    let mut ended = 0_u64;
    for n in 0..20 {
        if n % 5 == 0 {
            ended += listening(server, &database, "pg_terminate_backend(pid)", "reader");
        }
        block_on(writer.append(batch("a-1", 1))).unwrap();
        assert_eq!(
            block_on(reader.wait_above(Position(n))).unwrap(),
            Position(n + 1)
        );
    }
    assert!(ended > 0, "no connection was ended");
}

/// Who opens a log, appends and closes it tells of it all the same.
#[test]
fn the_last_commit_of_a_log_that_is_closed_is_told() {
    let Some(server) = server() else { return };
    let of_reader = seldom(server, DATABASE, "stays");
    let reader = PostgresLog::create(&of_reader).unwrap();
    until(|| listening(server, DATABASE, "pid", "stays") > 0);
    let of_writer = seldom(server, DATABASE, "goes").with_log(of_reader.log.clone());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let _end = Ending(&is_over);
        // A busy machine runs what a commit woke only later.
        for _ in 0..2 * thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        for round in 0..ROUNDS {
            let reader = &reader;
            let wait = move || block_on(reader.wait_above(Position(round))).unwrap();
            let waiting = scope.spawn(wait);
            thread::sleep(Duration::from_millis(100));
            let writer = PostgresLog::open(&of_writer).unwrap();
            block_on(writer.append(batch("a-1", 1))).unwrap();
            block_on(writer.close());
            let begun = Instant::now();
            assert_eq!(waiting.join().unwrap(), Position(round + 1));
            let took = begun.elapsed();
            assert_within(took, SELDOM / 2);
        }
    });
}

/// However many logs there are; and it ends with the last of them.
#[test]
fn all_logs_of_a_process_share_one_connection_that_listens() {
    let Some(server) = server() else { return };
    let database = database(server);
    let mut logs: Vec<PostgresLog> = (0..5)
        .map(|_| PostgresLog::create(&seldom(server, &database, "many")).unwrap())
        .collect();
    for log in &logs {
        block_on(log.append(batch("a-1", 1))).unwrap();
    }
    let listening = || listening(server, &database, "pid", "many");
    until(|| listening() > 0);
    // So that any other one would be there by now.
    thread::sleep(Duration::from_millis(500));
    assert_eq!(listening(), 1);
    // Also without the one that came first.
    drop(logs.drain(..4));
    thread::sleep(Duration::from_millis(200));
    assert_eq!(listening(), 1);
    logs.clear();
    until(|| listening() == 0);
    let last = PostgresLog::create(&seldom(server, &database, "many")).unwrap();
    until(|| listening() == 1);
    drop(last);
}

/// Appends wait for no notification, and a reader polls where there are none.
#[test]
fn without_notifications_a_reader_polls() {
    let Some(server) = server() else { return };
    let settings = settings(server, DATABASE, "");
    let writer = PostgresLog::create(&settings).unwrap();
    let reader = PostgresLog::open(&settings).unwrap();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| block_on(reader.wait_above(Position(0))).unwrap());
        // It has come to its longest interval by now.
        thread::sleep(Duration::from_secs(1));
        let begun = Instant::now();
        block_on(writer.append(batch("a-1", 1))).unwrap();
        assert_eq!(waiting.join().unwrap(), Position(1));
        let took = begun.elapsed();
        assert_within(took, Duration::from_secs(2));
    });
}

/// Waits until something is so, and not for ever.
fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(120), "it never is");
        thread::sleep(Duration::from_millis(20));
    }
}
