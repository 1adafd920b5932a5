//! What the server does for an append does not grow with the log: each row is found by its whole key, also by statements
//! that were planned while the log was small.

use std::cell::Cell;
use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{Blob, EventLog, PiecesOf, Position, Redaction};
use annals_store_postgres::PostgresLog;
use annals_testkit::postgres::Server;
use futures::executor::block_on;

use crate::objects::bringing;
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
    demand_few_rows(server, &database, |n| {
        block_on(log.append(batch(&format!("a-{n}"), 1))).unwrap();
    });
}

/// And so does one whose content is looked for before it is put into a folder; and a redaction.
#[test]
fn content_and_what_removes_it_is_found_by_whole_keys() {
    let Some(server) = server() else { return };
    let (database, home) = (database(server), tempfile::tempdir().unwrap());
    let more = format!("&blobs={}", home.path().display());
    let log = PostgresLog::create(&settings(server, &database, &more)).unwrap();
    // Each append has content of its own, whatever its number.
    let brought = Cell::new(0_u32);
    let content = |n: u32| Blob::new([&n.to_be_bytes()[..], &[1; 5_000]].concat());
    let bring = |_| {
        block_on(log.append(bringing(&content(brought.get())))).unwrap();
        brought.set(brought.get() + 1);
    };
    demand_few_rows(server, &database, bring);
    let (before, end) = (STREAMS + MORE + 2, Position(u64::from(brought.get())));
    let before = read_rows(server, &database, before, || bring(0));
    let redaction = Redaction {
        blobs: vec![content(7).digest()],
        removed: vec![PiecesOf {
            position: Position(8),
            pieces: vec![0],
        }],
        append: batch("a-1", 1),
        seen: log.watermark(),
    };
    block_on(log.redact(redaction)).unwrap();
    let after = read_rows(server, &database, end.0 + 2, || bring(0));
    assert!(
        after - before <= 100,
        "a redaction reads {} rows",
        after - before
    );
}

fn demand_few_rows(server: &Server, database: &str, append: impl Fn(u64)) {
    (0..3).for_each(&append);
    // The server looks at its tables now and then, and plans anew; here while there is next to nothing in them.
    server.sql(database, "ANALYZE").unwrap();
    (3..STREAMS).for_each(&append);
    let rows = |records| read_rows(server, database, records, || append(0));
    let before = rows(STREAMS);
    (0..MORE).for_each(&append);
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
