//! The process that keeps a read model current for all is killed, or stopped for long: another one takes over when the
//! lease has ended, and the rows become current again.

use std::thread;
use std::time::{Duration, Instant};

use annals_event_log::{EventLog, Position, ReadModels};
use annals_store_postgres::{PostgresLog, Settings};
use annals_testkit::postgres::Server;
use annals_testkit::process::WIDE;
use bytes::Bytes;
use futures::executor::block_on;
use rustix::process::Signal;

use crate::process::{Process, hear, part, say};
use crate::support::{DATABASE, batch, server, url};

const CHILD: &str = "taking_over::child_appends_and_folds_where_it_leads";
const MODEL: &str = "costs.1";
/// Long enough for a busy machine to have both processes ask within it.
const LASTS: Duration = Duration::from_secs(3);

/// Not a test by itself: a process that appends as often as it is told to. Where it leads it brings the rows to the log's
/// end, and writes down that it was the one.
#[test]
fn child_appends_and_folds_where_it_leads() {
    let Some((settings, number)) = part() else {
        return;
    };
    let log = PostgresLog::open(&settings.with_leading_lasts(LASTS)).unwrap();
    say("ready");
    while hear() == "write" {
        let appended = block_on(log.append(batch("s-1", 1))).unwrap();
        if !block_on(log.leads(MODEL)) {
            say("follows");
            continue;
        }
        let rows_at = block_on(log.checkpoint(MODEL)).unwrap();
        let by = Bytes::from(number.to_string());
        let rows = vec![(Bytes::from_static(b"by"), Some(by))];
        block_on(log.commit(MODEL, rows_at, rows, appended.last)).unwrap();
        say(format_args!("leads {}", appended.last));
    }
    block_on(log.close());
}

/// A log, and two processes that append to it.
struct Pair {
    server: &'static Server,
    schema: &'static str,
    log: PostgresLog,
    first: Process,
    second: Process,
}

impl Pair {
    /// The schema is the log's own, so that its leases are found by nothing else.
    fn start(schema: &'static str) -> Option<Pair> {
        let server = server()?;
        let url = url(server, DATABASE, &format!("&schema={schema}"));
        let log = PostgresLog::create(&Settings::from_url(&url).unwrap()).unwrap();
        let [first, second] = [1, 2].map(|number| Process::start(CHILD, &url, number));
        // Neither is to be late with its first question.
        assert_eq!([first.hear(), second.hear()], ["ready", "ready"]);
        Some(Pair {
            server,
            schema,
            log,
            first,
            second,
        })
    }

    /// Up to where the rows are, and which process has brought them there.
    fn rows(&self) -> (Position, String) {
        let rows_at = block_on(self.log.checkpoint(MODEL)).unwrap();
        let by = block_on(self.log.get(MODEL, b"by")).unwrap().unwrap();
        (rows_at.position, String::from_utf8(by.to_vec()).unwrap())
    }

    fn sql(&self, text: &str) -> String {
        let text = text.replace("{s}", self.schema);
        self.server.sql(DATABASE, &text).unwrap()
    }

    /// Has the second process append until it leads, and the rows are where it says. Its lease must have begun when the
    /// one of before, which was held until then, had ended.
    fn second_takes_over(&mut self, held_until: &str) {
        let begun = Instant::now();
        let position = loop {
            if let Some(position) = write(&mut self.second) {
                break position;
            }
            assert!(begun.elapsed() < WIDE, "nobody takes over");
            thread::sleep(Duration::from_millis(50));
        };
        assert_eq!(self.rows(), (position, "2".to_owned()));
        // Half a second is for the statement, which looks at the clock twice.
        let waited = format!(
            "SELECT held_until - interval '{} seconds' > timestamptz '{held_until}' - interval '0.5 seconds'
                FROM {{s}}.leases",
            LASTS.as_secs()
        );
        assert_eq!(self.sql(&waited), "t", "it did not wait");
    }
}

/// Has a process append; where it leads, up to where it has brought the rows.
fn write(process: &mut Process) -> Option<Position> {
    process.tell("write");
    let said = process.hear();
    match said.strip_prefix("leads ") {
        Some(position) => Some(Position(position.parse().unwrap())),
        None => {
            assert_eq!(said, "follows");
            None
        }
    }
}

const HELD_UNTIL: &str = "SELECT held_until FROM {s}.leases";

#[test]
fn a_leader_that_is_killed_is_replaced_when_its_lease_has_ended() {
    let Some(mut pair) = Pair::start("leader_killed") else {
        return;
    };
    assert_eq!(write(&mut pair.first), Some(Position(1)));
    assert_eq!(write(&mut pair.second), None);
    assert_eq!(pair.rows(), (Position(1), "1".to_owned()));
    pair.first.signal(Signal::KILL);
    let held_until = pair.sql(HELD_UNTIL);
    pair.second_takes_over(&held_until);
    let end = block_on(pair.log.stats()).unwrap().position;
    assert_eq!(pair.rows().0, end, "the rows have everything");
    // It goes on, and lets others lead at once when it ends.
    let position = write(&mut pair.second);
    assert_eq!(position, Some(end.next()));
    pair.second.tell("end");
    pair.second.rest();
    let left = format!("SELECT count(*) FROM {}.leases", pair.schema);
    assert_eq!(pair.server.sql(DATABASE, &left).unwrap(), "0");
}

/// A lease is no lock: who was stopped for longer than it lasts finds that another one leads, and changes no row.
#[test]
fn a_leader_that_was_stopped_for_longer_than_its_lease_follows() {
    let Some(mut pair) = Pair::start("leader_stopped") else {
        return;
    };
    assert_eq!(write(&mut pair.first), Some(Position(1)));
    assert_eq!(write(&mut pair.second), None);
    pair.first.signal(Signal::STOP);
    let held_until = pair.sql(HELD_UNTIL);
    pair.second_takes_over(&held_until);
    let rows = pair.rows();
    pair.first.signal(Signal::CONT);
    assert_eq!(write(&mut pair.first), None);
    assert_eq!(pair.rows(), rows);
}
