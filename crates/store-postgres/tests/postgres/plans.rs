//! What the server does for an append does not grow with the log: each row is found by its whole key, also by statements
//! that were planned while the log was small.

use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::EventLog;
use annals_store_postgres::PostgresLog;
use annals_testkit::postgres::Server;
use futures::executor::block_on;

use crate::support::{batch, database, server, settings};

/// Streams of the log, and with them its batches.
const STREAMS: u64 = 400;
/// Appends that are counted.
const MORE: u64 = 100;

#[test]
fn an_append_reads_as_many_rows_of_a_large_log_as_of_a_small_one() {
    let Some(server) = server() else { return };
    let database = database(server);
    let log = PostgresLog::create(&settings(server, &database, "")).unwrap();
    let append = |n| {
        block_on(log.append(batch(&format!("a-{n}"), 1))).unwrap();
    };
    (0..3).for_each(append);
    // The server looks at its tables now and then, and plans anew; here while there is next to nothing in them.
    server.sql(&database, "ANALYZE").unwrap();
    (3..STREAMS).for_each(append);
    let rows = |records| read_rows(server, &database, records, || append(0));
    let before = rows(STREAMS);
    (0..MORE).for_each(append);
    let after = rows(STREAMS + MORE);
    let each = (after - before) / MORE;
    assert!(each <= 20, "an append reads {each} rows");
}

/// How many rows of the log's tables were read until so many records were written. The server counts what a session has done
/// when that does something more, a second later.
fn read_rows(server: &Server, database: &str, records: u64, more: impl Fn()) -> u64 {
    let ask = |what: &str| -> u64 {
        let text = format!("SELECT {what} FROM pg_stat_user_tables WHERE schemaname = 'annals'");
        server.sql(database, &text).unwrap().parse().unwrap()
    };
    let begun = Instant::now();
    while ask("sum(n_tup_ins) FILTER (WHERE relname = 'records')") < records {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "nothing is counted"
        );
        thread::sleep(Duration::from_millis(1_100));
        more();
    }
    ask("sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FILTER (WHERE relname <> 'heads')")
}
