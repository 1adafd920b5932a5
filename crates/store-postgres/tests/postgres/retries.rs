//! What is tried again while the server is away is counted, each kind of call by its name. The recorder is for a whole
//! process, so the calls are those of one of its own.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use annals_event_log::{Blob, EventLog, Position, Query};
use annals_store_postgres::{PostgresLog, Settings};
use annals_testkit::invariants;
use annals_testkit::postgres::{Server, Setup};
use futures::executor::block_on;
use metrics_util::debugging::{DebugValue, DebuggingRecorder, Snapshotter};

use crate::process::{Process, hear, part, say};
use crate::support::{all, batch, bringing, removing, url};

const CHILD: &str = "retries::child_says_what_it_tries_again";
/// In the order in which the process makes the calls.
const CALLS: [&str; 4] = ["open", "append", "read", "redact"];

/// How often each kind of call was tried again.
struct Retries {
    snapshots: Snapshotter,
    counts: BTreeMap<String, u64>,
}

impl Retries {
    fn of(&mut self, what: &str) -> u64 {
        // A snapshot has what came since the one before it.
        for (key, _, _, value) in self.snapshots.snapshot().into_vec() {
            let key = key.key();
            let what = key.labels().find(|label| label.key() == "what");
            if key.name() == "annals_postgres_retries_total"
                && let (Some(what), DebugValue::Counter(more)) = (what, value)
            {
                *self.counts.entry(what.value().to_owned()).or_default() += more;
            }
        }
        self.counts.get(what).copied().unwrap_or_default()
    }

    /// Makes a call for which the server is away, as the test has it, until the call was tried again.
    fn while_away<T: Send>(&mut self, what: &str, call: impl FnOnce() -> T + Send) -> T {
        assert_eq!(hear(), what);
        assert_eq!(self.of(what), 0);
        let done = thread::scope(|scope| {
            let calling = scope.spawn(call);
            while self.of(what) == 0 {
                assert!(!calling.is_finished(), "{what} was not tried again");
                thread::sleep(Duration::from_millis(10));
            }
            say("again");
            calling.join().unwrap()
        });
        say("done");
        done
    }
}

/// Not a test by itself: a process each of whose calls finds no server, and is made all the same.
#[test]
fn child_says_what_it_tries_again() {
    let Some((settings, _)) = part() else {
        return;
    };
    let recorder = DebuggingRecorder::new();
    let mut retries = Retries {
        snapshots: recorder.snapshotter(),
        counts: BTreeMap::new(),
    };
    recorder.install().expect("the process has this test alone");
    let log = retries.while_away("open", || PostgresLog::open(&settings).unwrap());
    let append = batch("b-1", 1);
    let appended = retries.while_away("append", || block_on(log.append(append)).unwrap());
    assert!(!appended.repeated, "the batch is the caller's own");
    let query = Query::all(Position(1));
    let page = retries.while_away("read", || block_on(log.read(query)).unwrap());
    assert_eq!(page.records.len(), 2);
    let removal = removing(&log, Position(1), &large());
    let removed = retries.while_away("redact", || block_on(log.redact(removal)).unwrap());
    assert!(!removed.repeated, "the redaction is the caller's own");
    block_on(log.close());
    let counted: Vec<&str> = retries.counts.keys().map(String::as_str).collect();
    say(counted.join(" "));
}

/// Content of the first event, which goes.
fn large() -> Blob {
    Blob::new(vec![2; 5_000])
}

#[test]
fn what_is_tried_again_while_the_server_is_away_is_counted_by_what_it_is() {
    let Some(mut server) = Server::or_say_not_run(&Setup::default()) else {
        return;
    };
    let url = url(&server, "postgres", "");
    let settings = Settings::from_url(&url).unwrap();
    let log = PostgresLog::create(&settings).unwrap();
    block_on(log.append(bringing(&large()))).unwrap();
    block_on(log.close());
    let mut child = Process::start(CHILD, &url, 0);
    for what in CALLS {
        server.stop().unwrap();
        child.tell(what);
        assert_eq!(child.hear(), "again", "{what}");
        server.restart().unwrap();
        assert_eq!(child.hear(), "done", "{what}");
    }
    // Nothing else was counted for them.
    assert_eq!(child.rest(), ["append open read redact"]);
    let log = PostgresLog::open(&settings).unwrap();
    assert_eq!(all(&log).len(), 3, "each was made once");
    invariants::check_all(&log).unwrap();
}
