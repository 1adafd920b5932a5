//! What the server does for an append does not grow with the log: each row is found by its whole key, also by statements
//! that were planned while the log was small.

use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{Blob, EventLog, Position};
use annals_store_postgres::PostgresLog;
use annals_testkit::postgres::Server;
use futures::executor::block_on;

use crate::support::{batch, bringing, database, removing, server, settings};

/// Streams of the log, and with them its batches.
const STREAMS: u64 = 400;
/// Appends that are counted.
const MORE: u64 = 100;

#[test]
fn an_append_reads_as_many_rows_of_a_large_log_as_of_a_small_one() {
    let Some(server) = server() else { return };
    let database = database(server);
    let log = PostgresLog::create(&settings(server, &database, "")).unwrap();
    let counted = Counted {
        server,
        database,
        log: &log,
    };
    counted.demand_few_rows(|n| {
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
    let counted = Counted {
        server,
        database,
        log: &log,
    };
    // The content of each append is another one.
    let content = |n: u64| Blob::new([&n.to_be_bytes()[..], &[1; 5_000]].concat());
    let bring = |_| {
        let content = content(log.watermark().0);
        block_on(log.append(bringing(&content))).unwrap();
    };
    counted.demand_few_rows(bring);
    let before = counted.rows(bring);
    block_on(log.redact(removing(&log, Position(8), &content(7)))).unwrap();
    let read = counted.rows(bring) - before;
    assert!(read <= 100, "a redaction reads {read} rows");
}

/// An opening for writing asks whether any content is in an object store. Here none is.
#[test]
fn an_opening_does_not_look_at_every_blob() {
    let Some(server) = server() else { return };
    let database = database(server);
    let settings = settings(server, &database, "");
    let log = PostgresLog::create(&settings).unwrap();
    let counted = Counted {
        server,
        database,
        log: &log,
    };
    let bring = |_| {
        let content = Blob::new([&log.watermark().0.to_be_bytes()[..], &[1; 5_000]].concat());
        block_on(log.append(bringing(&content))).unwrap();
    };
    (0..STREAMS).for_each(bring);
    let before = counted.rows(bring);
    for _ in 0..5 {
        drop(PostgresLog::open(&settings).unwrap());
    }
    let read = counted.rows(bring) - before;
    // Those of the appends that make the server count included.
    assert!(read < STREAMS, "five openings read {read} rows");
}

/// A log in a database of its own, by what the server counts of it.
struct Counted<'a> {
    server: &'a Server,
    database: String,
    log: &'a PostgresLog,
}

impl Counted<'_> {
    fn demand_few_rows(&self, append: impl Fn(u64)) {
        (0..3).for_each(&append);
        // The server looks at its tables now and then, and plans again; here while there is next to nothing in them.
        self.server.sql(&self.database, "ANALYZE").unwrap();
        (3..STREAMS).for_each(&append);
        let before = self.rows(&append);
        (0..MORE).for_each(&append);
        let each = (self.rows(&append) - before) / MORE;
        assert!(each <= 20, "an append reads {each} rows");
    }

    /// How many rows of the log's tables were read so far. The server counts what a session has done when it does something
    /// more, a second later: this appends until all is counted that was there.
    fn rows(&self, append: impl Fn(u64)) -> u64 {
        let ask = |what: &str| -> u64 {
            let text =
                format!("SELECT {what} FROM pg_stat_user_tables WHERE schemaname = 'annals'");
            self.server
                .sql(&self.database, &text)
                .unwrap()
                .parse()
                .unwrap()
        };
        let (begun, end) = (Instant::now(), self.log.watermark().0);
        while ask("sum(n_tup_ins) FILTER (WHERE relname = 'records')") <= end {
            assert!(
                begun.elapsed() < Duration::from_secs(120),
                "nothing is counted"
            );
            thread::sleep(Duration::from_millis(1_100));
            append(0);
        }
        ask("sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FILTER (WHERE relname <> 'heads')")
    }
}
