//! Notes calls and returns while they happen.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use annals_event_log::{
    Append, AppendError, Appended, Direction, Page, Position, Query, ReadError, Record, Source,
    Store, StreamName, Version,
};
use futures::executor::block_on;

use crate::invariants::read::onward;
use crate::invariants::{Invariant, Violation};

use super::{AppendAnswer, Call, Handle, History, Moment, NotFinished, Operation, Seen};

/// Notes the calls that are made through its handles.
#[derive(Debug, Default)]
pub struct Recorder {
    clock: AtomicU64,
    history: Mutex<History>,
}

/// A handle whose calls are noted. They block the calling thread.
pub struct Recorded<'a> {
    recorder: &'a Recorder,
    number: usize,
    lagging: bool,
    log: Arc<dyn Store>,
}

fn seen(record: &Record) -> Seen {
    Seen {
        position: record.position(),
        batch: record.batch_id(),
        event: record.event_id(),
        stream: record.stream_name(),
    }
}

impl Recorder {
    /// Nothing is noted yet.
    pub fn new() -> Recorder {
        Recorder::default()
    }

    /// The moment now. Take it before a handle that may lag is opened.
    pub fn now(&self) -> Moment {
        Moment(self.clock.fetch_add(1, Ordering::SeqCst))
    }

    /// Calls through a handle that must show what was acknowledged anywhere.
    pub fn handle(&self, log: Arc<dyn Store>) -> Recorded<'_> {
        self.add(Handle::Current, log)
    }

    /// Calls through a handle that may lag, and was opened after `opened`.
    pub fn lagging(&self, opened: Moment, log: Arc<dyn Store>) -> Recorded<'_> {
        self.add(Handle::Lagging { opened }, log)
    }

    /// Calls through a handle of one of several processes, opened after `opened`.
    pub fn of_process(&self, opened: Moment, process: usize, log: Arc<dyn Store>) -> Recorded<'_> {
        self.add(Handle::OfProcess { opened, process }, log)
    }

    fn add(&self, handle: Handle, log: Arc<dyn Store>) -> Recorded<'_> {
        let mut history = self.history();
        history.handles.push(handle);
        Recorded {
            recorder: self,
            number: history.handles.len() - 1,
            lagging: matches!(handle, Handle::Lagging { .. }),
            log,
        }
    }

    /// A thread that panicked has left what was noted whole.
    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was noted, with all of the log as it is now: nothing may be appended any
    /// more.
    ///
    /// # Errors
    /// [`NotFinished`] where the log cannot be read, or its pages do not end with its last
    /// record.
    pub fn finish(self, log: &dyn Store) -> Result<History, NotFinished> {
        let mut history = self
            .history
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut next = Some(1);
        while let Some(from) = next {
            let query = Query::all(Position(from));
            let page = block_on(log.read(query.clone()))?;
            onward(&query, &page)?;
            history.log.extend(page.records.iter().map(seen));
            let end = log.watermark();
            if history.log.len() as u64 > end.0 {
                return Err(NotFinished::from(Violation {
                    invariant: Invariant::DensePositions,
                    position: page.records.last().map(Record::position),
                    expected: format!("{end} records, as the watermark is {end}"),
                    found: format!("{} up to {query:?}", history.log.len()),
                }));
            }
            next = page.next;
        }
        Ok(history)
    }
}

impl Recorded<'_> {
    /// Whether the handle may lag.
    pub fn is_lagging(&self) -> bool {
        self.lagging
    }

    fn note<T>(&self, call: impl FnOnce() -> T, of: impl FnOnce(&T) -> Option<Call>) -> T {
        let invoked = self.recorder.now();
        let answer = call();
        let returned = self.recorder.now();
        if let Some(call) = of(&answer) {
            self.recorder.history().operations.push(Operation {
                handle: self.number,
                invoked,
                returned,
                call,
            });
        }
        answer
    }

    /// [`EventLog::append`](annals_event_log::EventLog::append).
    ///
    /// # Errors
    /// As the store's.
    pub fn append(&self, append: Append) -> Result<Appended, AppendError> {
        let batch = append.batch;
        let events = append.events.iter();
        let events = events
            .map(|event| (event.stream.clone(), event.id))
            .collect();
        let expectations = append.expectations.clone();
        let of = |answer: &Result<Appended, AppendError>| {
            Some(Call::Append {
                batch,
                events,
                expectations,
                answer: append_answer(answer),
            })
        };
        self.note(|| block_on(self.log.append(append)), of)
    }

    /// [`EventLog::read`](annals_event_log::EventLog::read); only a page of the whole log, forward, is noted.
    ///
    /// # Errors
    /// As the store's; a read that fails is not noted.
    pub fn read(&self, query: Query) -> Result<Page, ReadError> {
        let noted = query.source == Source::All && query.direction == Direction::Forward;
        let from = Position(query.from.max(1));
        let of = |answer: &Result<Page, ReadError>| {
            let page = answer.as_ref().ok().filter(|_| noted)?;
            Some(Call::Read {
                from,
                records: page.records.iter().map(seen).collect(),
                ended: page.next.is_none(),
            })
        };
        self.note(|| block_on(self.log.read(query)), of)
    }

    /// [`EventLog::watermark`](annals_event_log::EventLog::watermark).
    pub fn watermark(&self) -> Position {
        self.note(
            || self.log.watermark(),
            |position| {
                Some(Call::Watermark {
                    position: *position,
                })
            },
        )
    }

    /// [`EventLog::head`](annals_event_log::EventLog::head).
    ///
    /// # Errors
    /// As the store's; one that fails is not noted.
    pub fn head(&self, stream: &StreamName) -> Result<Version, ReadError> {
        let of = |answer: &Result<Version, ReadError>| {
            let version = *answer.as_ref().ok()?;
            Some(Call::Head {
                stream: stream.clone(),
                version,
            })
        };
        self.note(|| block_on(self.log.head(stream)), of)
    }
}

fn append_answer(answer: &Result<Appended, AppendError>) -> AppendAnswer {
    match answer {
        Ok(appended) => AppendAnswer::Appended(*appended),
        Err(AppendError::Conflict {
            stream,
            expected,
            actual,
        }) => AppendAnswer::Conflict {
            stream: stream.clone(),
            expected: *expected,
            actual: *actual,
        },
        Err(AppendError::IdempotencyMismatch { .. } | AppendError::RequestUnverifiable { .. }) => {
            AppendAnswer::Mismatch
        }
        Err(AppendError::Unavailable { .. } | AppendError::Corrupt { .. }) => AppendAnswer::Unknown,
        // A closed handle may have been closed while the append was under way.
        Err(AppendError::Closed) => AppendAnswer::Unknown,
        Err(_) => AppendAnswer::Refused,
    }
}
