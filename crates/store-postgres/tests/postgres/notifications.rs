//! Notifications are hints: with them a reader learns of an append sooner, without them it learns of it all the same.

use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{EventLog, Position};
use annals_store_postgres::PostgresLog;
use futures::executor::block_on;

use crate::support::{DATABASE, batch, database, server, settings};

/// Polling is so seldom here that only a notification comes in time.
#[test]
fn a_notification_wakes_a_reader_in_another_process() {
    let Some(server) = server() else { return };
    let settings = settings(server, DATABASE, "&notify=true")
        .with_poll_least(Duration::from_secs(20))
        .with_poll_most(Duration::from_secs(20));
    let writer = PostgresLog::create(&settings).unwrap();
    let reader = PostgresLog::open(&settings).unwrap();
    // Until it listens.
    thread::sleep(Duration::from_millis(500));
    thread::scope(|scope| {
        let waiting = scope.spawn(|| block_on(reader.wait_above(Position(0))).unwrap());
        thread::sleep(Duration::from_millis(300));
        let begun = Instant::now();
        block_on(writer.append(batch("a-1", 1))).unwrap();
        assert_eq!(waiting.join().unwrap(), Position(1));
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(5), "{took:?}");
    });
}

/// Whether or not anybody listens: the connection for it is ended, and nothing is missed.
#[test]
fn nothing_is_missed_when_the_connection_that_listens_is_lost() {
    let Some(server) = server() else { return };
    let database = database(server);
    let settings = settings(server, &database, "&notify=true");
    let writer = PostgresLog::create(&settings).unwrap();
    let reader = PostgresLog::open(&settings).unwrap();
    let mut ended = 0_u64;
    for n in 0..20 {
        if n % 5 == 0 {
            let end = format!(
                "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                    WHERE datname = '{database}' AND query LIKE 'LISTEN%'"
            );
            ended += server
                .sql("postgres", &end)
                .unwrap()
                .parse::<u64>()
                .unwrap();
        }
        block_on(writer.append(batch("a-1", 1))).unwrap();
        assert_eq!(
            block_on(reader.wait_above(Position(n))).unwrap(),
            Position(n + 1)
        );
    }
    assert!(ended > 0, "no connection was ended");
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
        assert!(took < Duration::from_secs(2), "{took:?}");
    });
}
