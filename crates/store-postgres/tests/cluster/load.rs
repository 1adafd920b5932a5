//! Load on a log: writers that repeat each batch until it is acknowledged, and readers that follow. None of them opens
//! its log again, whatever becomes of the servers.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use annals_event_log::{AppendError, Appended, Classified, EventLog, Position, Query, Record};
use annals_store_postgres::{PostgresLog, Settings};
use annals_testkit::invariants;
use futures::executor::block_on;
use tokio::runtime::Builder;
use uuid::Uuid;

use crate::support::{batch, batches};

/// Writers on each log.
const WRITERS: usize = 2;
/// The time between two batches of a writer.
const PAUSE: Duration = Duration::from_millis(5);
/// The time between two looks at whether there is an end.
const LOOK: Duration = Duration::from_millis(200);
/// How long service may be away.
const PATIENCE: Duration = Duration::from_secs(60);

/// What one writer was answered.
#[derive(Debug, Default)]
struct Progress {
    acknowledged: u64,
    last: Option<Instant>,
    longest: Duration,
}

/// What writers and readers share.
#[derive(Debug, Default)]
struct State {
    /// Writers end with the batch that they have under way.
    ends: AtomicBool,
    /// All end at once: the test has failed, or gives up.
    is_abandoned: AtomicBool,
    /// The last position that was acknowledged, once no writer is left.
    end: OnceLock<Position>,
    answers: Mutex<HashMap<Uuid, (Appended, usize)>>,
    /// Batches that were sent and not acknowledged.
    open: Mutex<HashSet<Uuid>>,
    writers: Vec<Mutex<Progress>>,
    repeats: AtomicU64,
}

impl State {
    fn acknowledge(&self, writer: usize, batch: Uuid, appended: Appended, count: usize) {
        let now = Instant::now();
        let mut progress = self.writers[writer].lock().unwrap();
        let pause = progress.last.map_or(Duration::ZERO, |last| now - last);
        progress.longest = progress.longest.max(pause);
        progress.last = Some(now);
        progress.acknowledged += 1;
        self.open.lock().unwrap().remove(&batch);
        let mut answers = self.answers.lock().unwrap();
        answers.insert(batch, (appended, count));
    }

    fn is_abandoned(&self) -> bool {
        self.is_abandoned.load(Ordering::Acquire)
    }
}

/// What became of a load.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// What each batch was answered, and how many events it has.
    pub(crate) answers: HashMap<Uuid, (Appended, usize)>,
    /// Batches that were given up.
    open: HashSet<Uuid>,
    /// How often callers were told that it is not known, or not done.
    pub(crate) repeats: u64,
    /// The longest time between two answers to one writer.
    pub(crate) longest: Duration,
    /// What each reader saw, in its order: positions, and the batches that they are of.
    seen: Vec<Vec<(u64, Uuid)>>,
}

/// Writers and readers at work. They end with this.
pub(crate) struct Load {
    state: Arc<State>,
    writers: Vec<JoinHandle<()>>,
    readers: Vec<JoinHandle<Vec<(u64, Uuid)>>>,
}

impl Load {
    /// Some writers on a log for each of the first settings, and a reader for each of the others.
    pub(crate) fn start(writers: &[&Settings], readers: &[&Settings]) -> Load {
        let progress = (0..WRITERS * writers.len()).map(|_| Mutex::default());
        let state = Arc::new(State {
            writers: progress.collect(),
            ..State::default()
        });
        let mut load = Load {
            state: Arc::clone(&state),
            writers: Vec::new(),
            readers: Vec::new(),
        };
        for settings in writers {
            let log = Arc::new(PostgresLog::open(settings).unwrap());
            for _ in 0..WRITERS {
                let (log, state, writer) =
                    (Arc::clone(&log), Arc::clone(&state), load.writers.len());
                let writing = thread::spawn(move || write(&log, writer, &state));
                load.writers.push(writing);
            }
        }
        for settings in readers {
            let (log, state) = (PostgresLog::open(settings).unwrap(), Arc::clone(&state));
            load.readers.push(thread::spawn(move || read(&log, &state)));
        }
        load
    }

    /// How many batches of each writer were acknowledged.
    pub(crate) fn acknowledged(&self) -> Vec<u64> {
        let writers = self.state.writers.iter();
        writers.map(|it| it.lock().unwrap().acknowledged).collect()
    }

    /// Waits until each writer was acknowledged more than this.
    #[track_caller]
    pub(crate) fn await_progress(&self, since: &[u64]) {
        let begun = Instant::now();
        loop {
            let now = self.acknowledged();
            if now.iter().zip(since).all(|(now, before)| now > before) {
                return;
            }
            let is_lost = self.writers.iter().any(JoinHandle::is_finished);
            assert!(!is_lost, "a writer has failed");
            assert!(
                begun.elapsed() < PATIENCE,
                "{since:?} were acknowledged, and after {PATIENCE:?} {now:?}"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Lets writers end, and readers when they have seen all.
    pub(crate) fn finish(self) -> Outcome {
        self.state.ends.store(true, Ordering::Release);
        let outcome = self.outcome();
        assert!(
            outcome.open.is_empty(),
            "{:?} are not acknowledged",
            outcome.open
        );
        outcome
    }

    /// Lets all end, and gives up what is not acknowledged.
    pub(crate) fn abandon(self) -> Outcome {
        self.state.is_abandoned.store(true, Ordering::Release);
        self.outcome()
    }

    fn outcome(mut self) -> Outcome {
        for writer in self.writers.drain(..) {
            writer.join().unwrap();
        }
        let answers = std::mem::take(&mut *self.state.answers.lock().unwrap());
        let lasts = answers.values().map(|(appended, _)| appended.last);
        self.state.end.set(lasts.max().unwrap()).unwrap();
        let readers = self.readers.drain(..);
        let seen = readers.map(|reader| reader.join().unwrap()).collect();
        let pauses = self
            .state
            .writers
            .iter()
            .map(|it| it.lock().unwrap().longest);
        let open = std::mem::take(&mut *self.state.open.lock().unwrap());
        Outcome {
            answers,
            open,
            repeats: self.state.repeats.load(Ordering::Acquire),
            longest: pauses.max().unwrap(),
            seen,
        }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.state.is_abandoned.store(true, Ordering::Release);
    }
}

fn write(log: &PostgresLog, writer: usize, state: &State) {
    for n in 0.. {
        if state.ends.load(Ordering::Acquire) || state.is_abandoned() {
            return;
        }
        let stream = match n % 2 {
            0 => "shared-1".to_owned(),
            _ => format!("own-{writer}"),
        };
        let append = batch(&stream, 1 + n % 4);
        state.open.lock().unwrap().insert(append.batch);
        let mut tries = 1;
        let appended = loop {
            match block_on(log.append(append.clone())) {
                Ok(appended) => break appended,
                Err(error @ AppendError::Unavailable { .. }) => {
                    assert!(error.is_retryable(), "{error}");
                    tries += 1;
                }
                Err(other) => panic!("{other}"),
            }
            if state.is_abandoned() {
                return;
            }
            thread::sleep(PAUSE);
        };
        // Who asked once has appended it, however often that took a connection.
        assert!(tries > 1 || !appended.repeated, "{appended:?}");
        state.repeats.fetch_add(tries - 1, Ordering::AcqRel);
        state.acknowledge(writer, append.batch, appended, append.events.len());
        thread::sleep(PAUSE);
    }
}

/// Reads to the end and waits for more, again and again.
fn read(log: &PostgresLog, state: &State) -> Vec<(u64, Uuid)> {
    let clock = Builder::new_current_thread().enable_time().build().unwrap();
    let (mut seen, mut last) = (Vec::new(), Position::START);
    while !state.is_abandoned() {
        match block_on(log.read(Query::all(last.next()).limit(97))) {
            Ok(page) => {
                let records = page.records.iter();
                seen.extend(records.map(|it| (it.position().0, it.batch_id())));
                last = page.records.last().map_or(last, Record::position);
                if page.next.is_some() {
                    continue;
                }
            }
            Err(error) => assert!(error.is_retryable(), "{error}"),
        }
        if state.end.get().is_some_and(|end| last >= *end) {
            break;
        }
        let waited = async { tokio::time::timeout(LOOK, log.wait_above(last)).await };
        if let Ok(Err(error)) = clock.block_on(waited) {
            assert!(error.is_retryable(), "{error}");
            thread::sleep(PAUSE);
        }
    }
    seen
}

/// Holds what writers were told and readers saw against the log: what was acknowledged is there once, where it was said to be,
/// and nothing else is.
pub(crate) fn check(settings: &Settings, outcomes: &[&Outcome]) {
    let log = PostgresLog::open(settings).unwrap();
    let stored = batches(&log);
    for (batch, (appended, count)) in outcomes.iter().flat_map(|it| &it.answers) {
        let expected: Vec<u64> = (appended.first.0..=appended.last.0).collect();
        assert_eq!(expected.len(), *count, "{batch} is not whole");
        assert_eq!(stored.get(batch), Some(&expected), "acknowledged: {batch}");
    }
    for batch in stored.keys() {
        let is_sent = |it: &&Outcome| it.answers.contains_key(batch) || it.open.contains(batch);
        assert!(outcomes.iter().any(is_sent), "nobody has sent {batch}");
    }
    let owners: HashMap<u64, Uuid> = stored
        .iter()
        .flat_map(|(batch, positions)| positions.iter().map(|position| (*position, *batch)))
        .collect();
    for seen in outcomes.iter().flat_map(|it| &it.seen) {
        for ((position, batch), expected) in seen.iter().zip(1..) {
            assert_eq!(*position, expected, "a reader skipped, or saw twice");
            let is_there = owners.get(position) == Some(batch);
            assert!(is_there, "a reader saw {batch} at {position}");
        }
    }
    invariants::check_all(&log).unwrap();
}
