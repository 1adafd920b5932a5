//! Histories that must be accepted and refused, by hand and at random, and what the
//! store in memory answers to many threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use annals_event_log::Classified;
use annals_event_log::memory::MemoryLog;
use annals_event_log::{
    Appended, BatchId, EventLog, Expectation, Expected, Page, Position, Query, Store, StreamName,
    Version,
};
use annals_testkit::generators::appends::Sample;
use annals_testkit::linearizability::{
    AppendAnswer, Call, Handle, History, Inexplicable, Moment, NotFinished, Operation, Recorder,
    Seen, check, exercise,
};
use annals_testkit::through::{Hook, Through};
use futures::FutureExt;
use futures::executor::block_on;
use uuid::Uuid;

mod search;

fn stream(name: &str) -> StreamName {
    name.parse().unwrap()
}

fn id(number: u64) -> Uuid {
    Uuid::from_u128(number.into())
}

/// The record at a position, of a batch; all are of one stream.
fn seen(position: u64, batch: u64) -> Seen {
    Seen {
        position: Position(position),
        batch: id(batch),
        event: id(1_000 + position),
        stream: stream("a-1"),
    }
}

/// A history in the making: one-record batches of one stream, in the order given.
struct Told {
    history: History,
}

impl Told {
    fn new(batches: &[u64]) -> Told {
        let log = (1..).zip(batches).map(|(at, batch)| seen(at, *batch));
        Told {
            history: History {
                handles: vec![Handle::Current],
                operations: Vec::new(),
                log: log.collect(),
            },
        }
    }

    fn call(mut self, (invoked, returned): (u64, u64), handle: usize, call: Call) -> Told {
        self.history.operations.push(Operation {
            handle,
            invoked: Moment(invoked),
            returned: Moment(returned),
            call,
        });
        self
    }

    /// An append of the record that the log has at `position`, if it has it.
    fn append(self, when: (u64, u64), batch: u64, position: u64, answer: AppendAnswer) -> Told {
        let call = append(batch, position, Vec::new(), answer);
        self.call(when, 0, call)
    }

    fn appended(self, when: (u64, u64), batch: u64, position: u64) -> Told {
        self.append(when, batch, position, first(position))
    }

    /// A read of the whole log that saw these records.
    fn read(self, when: (u64, u64), handle: usize, batches: &[u64]) -> Told {
        let records = (1..).zip(batches).map(|(at, batch)| seen(at, *batch));
        let call = Call::Read {
            from: Position(1),
            records: records.collect(),
            ended: true,
        };
        self.call(when, handle, call)
    }

    fn lagging(mut self, opened: u64) -> Told {
        let opened = Moment(opened);
        self.history.handles.push(Handle::Lagging { opened });
        self
    }

    #[track_caller]
    fn holds(self) {
        assert!(check(&self.history).is_ok(), "{:?}", check(&self.history));
    }

    #[track_caller]
    fn fails(self, why: impl Fn(&Inexplicable) -> bool) {
        let error = check(&self.history).expect_err("it must be refused");
        assert!(why(&error), "another reason: {error}");
    }
}

fn first(position: u64) -> AppendAnswer {
    AppendAnswer::Appended(Appended::new(Position(position), Position(position)))
}

fn append(batch: u64, position: u64, expectations: Vec<Expectation>, answer: AppendAnswer) -> Call {
    Call::Append {
        batch: id(batch),
        events: vec![(stream("a-1"), id(1_000 + position))],
        expectations,
        answer,
    }
}

#[test]
fn calls_that_overlap_may_come_in_any_order() {
    Told::new(&[1, 2])
        .appended((5, 10), 1, 1)
        .appended((0, 20), 2, 2)
        .read((6, 9), 0, &[1])
        .read((6, 9), 0, &[])
        .read((6, 19), 0, &[1, 2])
        .holds();
}

#[test]
fn an_acknowledged_append_must_not_be_lost() {
    Told::new(&[1])
        .appended((0, 1), 1, 1)
        .appended((2, 3), 2, 2)
        .fails(|why| matches!(why, Inexplicable::Lost { batch, .. } if *batch == id(2)));
}

#[test]
fn positions_must_agree_with_real_time() {
    Told::new(&[2, 1])
        .appended((0, 1), 1, 2)
        .appended((2, 3), 2, 1)
        .fails(|why| matches!(why, Inexplicable::Order { .. }));
}

#[test]
fn a_read_must_show_what_was_acknowledged() {
    Told::new(&[1])
        .appended((0, 1), 1, 1)
        .read((2, 3), 0, &[])
        .fails(|why| matches!(why, Inexplicable::Order { .. }));
}

#[test]
fn a_read_must_not_show_an_append_that_was_not_called_yet() {
    Told::new(&[1])
        .read((0, 1), 0, &[1])
        .appended((2, 3), 1, 1)
        .fails(|why| matches!(why, Inexplicable::Order { .. }));
}

#[test]
fn two_reads_must_not_go_back() {
    // The append overlaps with both; the first read shows it, the second does not.
    Told::new(&[1])
        .appended((0, 10), 1, 1)
        .read((1, 2), 0, &[1])
        .read((3, 4), 0, &[])
        .fails(|why| matches!(why, Inexplicable::Order { .. }));
}

#[test]
fn what_a_read_showed_must_not_vanish() {
    Told::new(&[1])
        .appended((0, 1), 1, 1)
        .append((2, 9), 2, 2, AppendAnswer::Unknown)
        .read((4, 5), 0, &[1, 2])
        .fails(|why| matches!(why, Inexplicable::Vanished { .. }));
}

#[test]
fn a_batch_must_be_there_once() {
    Told::new(&[1])
        .appended((0, 1), 1, 1)
        .appended((2, 3), 1, 1)
        .fails(|why| matches!(why, Inexplicable::Twice { .. }));
    Told::new(&[1, 2, 1])
        .appended((0, 1), 1, 1)
        .appended((2, 3), 2, 2)
        .fails(|why| matches!(why, Inexplicable::Scattered { .. }));
    let again = Appended::new(Position(1), Position(1)).again();
    Told::new(&[1])
        .appended((0, 1), 1, 1)
        .append((2, 3), 1, 1, AppendAnswer::Appended(again))
        .holds();
    // A repeat that was answered before the first one was made.
    Told::new(&[1])
        .append((0, 1), 1, 1, AppendAnswer::Appended(again))
        .appended((2, 3), 1, 1)
        .fails(|why| matches!(why, Inexplicable::Order { .. }));
}

#[test]
fn what_is_there_must_have_been_appended() {
    Told::new(&[1, 2])
        .appended((0, 1), 1, 1)
        .fails(|why| matches!(why, Inexplicable::NotAppended { batch, .. } if *batch == id(2)));
    Told::new(&[1])
        .append((0, 1), 1, 1, AppendAnswer::Refused)
        .fails(|why| matches!(why, Inexplicable::NotAppended { .. }));
    Told::new(&[1])
        .append((0, 1), 1, 1, AppendAnswer::Unknown)
        .holds();
    Told::new(&[])
        .append((0, 1), 1, 1, AppendAnswer::Unknown)
        .holds();
}

#[test]
fn an_unanswered_append_may_be_late_but_not_early() {
    Told::new(&[1])
        .append((0, 1), 1, 1, AppendAnswer::Unknown)
        .read((5, 6), 0, &[])
        .read((7, 8), 0, &[1])
        .holds();
    Told::new(&[1])
        .read((0, 1), 0, &[1])
        .append((2, 3), 1, 1, AppendAnswer::Unknown)
        .fails(|why| matches!(why, Inexplicable::Order { .. }));
}

#[test]
fn an_answer_must_name_its_place() {
    Told::new(&[1, 2])
        .appended((0, 1), 1, 1)
        .append((2, 3), 2, 2, first(3))
        .fails(|why| matches!(why, Inexplicable::Elsewhere { .. }));
}

#[test]
fn a_conflict_needs_a_moment_that_explains_it() {
    let expects = |version| Expectation {
        stream: stream("a-1"),
        expected: Expected::Exactly(Version(version)),
    };
    let conflict = |version, actual| {
        let answer = AppendAnswer::Conflict {
            stream: stream("a-1"),
            expected: Expected::Exactly(Version(version)),
            actual: Version(actual),
        };
        append(9, 9, vec![expects(version)], answer)
    };
    let told = || {
        Told::new(&[1, 2])
            .appended((0, 5), 1, 1)
            .appended((10, 15), 2, 2)
    };
    told().call((4, 11), 0, conflict(0, 1)).holds();
    told().call((16, 17), 0, conflict(0, 2)).holds();
    // The head was never 3; it was 1 between 5 and 15 only; it was as expected.
    told()
        .call((4, 11), 0, conflict(0, 3))
        .fails(|why| matches!(why, Inexplicable::NoState { .. }));
    told()
        .call((16, 17), 0, conflict(0, 1))
        .fails(|why| matches!(why, Inexplicable::Order { .. }));
    told()
        .call((4, 11), 0, conflict(1, 1))
        .fails(|why| matches!(why, Inexplicable::NoState { .. }));
    // An append that was taken although its expectation did not hold.
    let taken = append(2, 2, vec![expects(0)], first(2));
    Told::new(&[1, 2])
        .appended((0, 5), 1, 1)
        .call((10, 15), 0, taken)
        .fails(|why| matches!(why, Inexplicable::Unexpected { .. }));
}

#[test]
fn part_of_a_batch_is_not_a_state() {
    let mut told = Told::new(&[1, 1]);
    let call = Call::Append {
        batch: id(1),
        events: vec![(stream("a-1"), id(1_001)), (stream("a-1"), id(1_002))],
        expectations: Vec::new(),
        answer: AppendAnswer::Appended(Appended::new(Position(1), Position(2))),
    };
    told = told.call((0, 9), 0, call).read((1, 2), 0, &[1]);
    told.fails(|why| matches!(why, Inexplicable::NoState { .. }));
}

#[test]
fn a_reader_may_lag_but_not_go_back_nor_behind_its_opening() {
    let told = || {
        Told::new(&[1, 2, 3])
            .appended((0, 1), 1, 1)
            .appended((4, 5), 2, 2)
            .appended((6, 7), 3, 3)
            .lagging(2)
    };
    told()
        .read((8, 9), 1, &[1])
        .read((10, 11), 1, &[1, 2])
        .holds();
    told()
        .read((8, 9), 1, &[])
        .fails(|why| matches!(why, Inexplicable::Order { .. }));
    told()
        .read((8, 9), 1, &[1, 2])
        .read((10, 11), 1, &[1])
        .fails(|why| matches!(why, Inexplicable::Backwards { .. }));
    // Reads that overlap may come in any order.
    told()
        .read((8, 11), 1, &[1, 2])
        .read((9, 10), 1, &[1])
        .holds();
    // It shows nothing whose append was not called yet.
    told()
        .read((2, 3), 1, &[1, 2])
        .fails(|why| matches!(why, Inexplicable::Order { .. }));
    // Nor does one handle's reading bind another one.
    told()
        .lagging(2)
        .read((8, 9), 1, &[1, 2])
        .read((10, 11), 2, &[1])
        .holds();
}

#[test]
fn the_store_in_memory_is_linearizable() {
    let seed: u64 = rand::random();
    println!("seed {seed}");
    let mut conflicts = 0;
    for threads in [1, 2, 4, 8, 16] {
        let log: Arc<dyn Store> = Arc::new(MemoryLog::new(id(1)));
        let recorder = Recorder::new();
        let handles = (0..threads).map(|_| recorder.handle(Arc::clone(&log)));
        exercise(handles.collect(), seed + threads, 200);
        let history = recorder.finish(&*log).expect("the log can be read");
        match check(&history) {
            Ok(checked) => conflicts += checked.conflicts,
            Err(why) => panic!("seed {seed}, {threads} threads: {why}"),
        }
    }
    assert!(
        conflicts > 10,
        "only {conflicts} conflicts: too little happened at once"
    );
}

/// Told to the search, too.
fn batches(history: &History) -> Vec<BatchId> {
    let mut batches: Vec<BatchId> = history.log.iter().map(|seen| seen.batch).collect();
    batches.dedup();
    batches
}

/// How the pages of a log have no end.
#[derive(Debug, Clone, Copy)]
enum Astray {
    /// The next page is this one again.
    SamePage,
    /// The next page begins further on, and has the same records.
    SameRecords,
    /// There is another page behind one without records.
    Empty,
}

/// A log whose pages go astray. It is asked so often and no more, so that a reader without
/// an end fails here and does not hang.
struct Strays {
    log: Arc<dyn Store>,
    astray: Astray,
    asked: AtomicU64,
}

impl Hook for Strays {
    fn page(&self, query: &Query, _: Page) -> Page {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        assert!(asked < 100, "it reads and reads");
        let first = self.log.read(Query::all(Position(1))).now_or_never();
        let records = first.unwrap().unwrap().records;
        let (records, next) = match self.astray {
            Astray::SamePage => (records, query.from),
            Astray::SameRecords => (records, query.from + 1),
            Astray::Empty => (Vec::new(), query.from + 1),
        };
        let next = Some(next);
        Page { records, next }
    }
}

#[test]
fn a_log_whose_pages_do_not_end_is_named() {
    let log: Arc<dyn Store> = Arc::new(MemoryLog::new(id(1)));
    block_on(log.append(Sample::new(1).append("a-1", 5))).unwrap();
    for astray in [Astray::SamePage, Astray::SameRecords, Astray::Empty] {
        let recorder = Recorder::new();
        recorder.handle(Arc::clone(&log)).watermark();
        let strays = Strays {
            log: Arc::clone(&log),
            astray,
            asked: AtomicU64::new(0),
        };
        let finished = recorder.finish(&Through::new(Arc::clone(&log), strays));
        let error = finished.expect_err("it has no end");
        let named = matches!(error, NotFinished::Pages { .. }) && !error.is_retryable();
        assert!(named, "{astray:?}: {error}");
        println!("{astray:?}: {error}");
    }
}

#[test]
fn a_log_that_cannot_be_read_is_not_finished() {
    let log = MemoryLog::new(id(1));
    block_on(log.close());
    let error = Recorder::new().finish(&log).expect_err("it is closed");
    assert!(matches!(error, NotFinished::Read { .. }), "{error}");
}
