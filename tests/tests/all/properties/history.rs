//! A history as it is made: commands through the facade, over a log of any store.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use annals::domain::{Command, Timestamp};
use annals::event_log::{Position, Query, Record, Store};
use annals::projections::Entry;
use annals::{Annals, ExecuteError, Outcome, Request};
use annals_testkit::generators::objects;
use annals_testkit::generators::objects::model::Answer;
use chrono::DateTime;
use futures::executor::block_on;
use uuid::Uuid;

/// A log, and what was asked of it.
pub struct History {
    pub annals: Annals,
    pub log: Arc<dyn Store>,
    /// The requests that led to events, with what was answered.
    pub accepted: Vec<(Request, Outcome)>,
    /// The log's records as they were read right after each command.
    pub seen: Vec<Record>,
    commands: u64,
    /// The log's clock, in seconds since 1970.
    clock: Arc<AtomicI64>,
}

impl History {
    /// Goes on where a log ends, after so many commands: the next one gets the
    /// time that it would have got.
    pub fn over(log: Arc<dyn Store>, commands: u64) -> History {
        let clock = Arc::new(AtomicI64::new(0));
        let seconds = Arc::clone(&clock);
        let now = move || {
            let time = DateTime::from_timestamp(seconds.load(Ordering::SeqCst), 0);
            Timestamp::from(time.unwrap_or_default())
        };
        let annals = Annals::over(Arc::clone(&log)).with_clock(now);
        let seen = read_all(log.as_ref());
        History {
            annals,
            log,
            accepted: Vec::new(),
            seen,
            commands,
            clock,
        }
    }

    /// Executes commands over a new log; each has a key and a time of its own.
    pub fn play(log: Arc<dyn Store>, commands: &[Command]) -> History {
        let mut history = History::over(log, 0);
        for command in commands {
            let (_, _) = history.execute(command.clone());
        }
        history
    }

    pub fn execute(&mut self, command: Command) -> (Answer, Result<Outcome, ExecuteError>) {
        let actor = objects::actor(self.commands, &command);
        self.commands += 1;
        let seconds = 1_700_000_000 + i64::try_from(self.commands).expect("few commands");
        let at = DateTime::from_timestamp(seconds, 0).expect("a time");
        self.clock.store(seconds, Ordering::SeqCst);
        let key = Uuid::from_u128(
            0x2_0000_0000
                + u128::from(self.annals.position().0) * 0x1_0000
                + u128::from(self.commands),
        );
        let request = Request::new(actor, command)
            .at(Timestamp::from(at))
            .key(key);
        let before = self.annals.position();
        let result = block_on(self.annals.execute(request.clone()));
        let is_repeated = self.is_repeated(&request, &result);
        let answer = match is_repeated {
            true => Answer::Nothing,
            false => answer(&request, &result),
        };
        let after = self.annals.position();
        assert_eq!(
            answer == Answer::Accepted,
            after > before,
            "{request:?}: {result:?}"
        );
        if let (Ok(outcome), false) = (&result, is_repeated) {
            assert_eq!(outcome.position, after);
            assert_eq!(outcome.events as u64, after.0 - before.0);
        }
        if let (Answer::Accepted, Ok(outcome)) = (answer, &result) {
            self.accepted.push((request, outcome.clone()));
        }
        self.seen
            .extend(read_from(self.log.as_ref(), before.next()));
        (answer, result)
    }

    /// Whether a command with an id of its own was given before, and is answered as it was then.
    fn is_repeated(&self, request: &Request, result: &Result<Outcome, ExecuteError>) -> bool {
        let mut before = self.accepted.iter();
        before.any(|(earlier, outcome)| {
            earlier.command == request.command && result.as_ref().is_ok_and(|it| it == outcome)
        })
    }

    /// The whole log, decoded.
    pub fn entries(&self) -> Vec<Entry> {
        entries(&self.annals, &read_all(self.log.as_ref()))
    }
}

fn answer(request: &Request, result: &Result<Outcome, ExecuteError>) -> Answer {
    match result {
        Ok(outcome) if outcome.events > 0 => Answer::Accepted,
        Ok(_) => Answer::Nothing,
        Err(ExecuteError::Refused { .. }) => Answer::Refused,
        Err(error) => panic!("{request:?}: {error}"),
    }
}

pub fn entries(annals: &Annals, records: &[Record]) -> Vec<Entry> {
    let entry =
        |record| block_on(annals.contents().entry(record)).expect("a record that can be decoded");
    records.iter().map(entry).collect()
}

pub fn read_all(log: &dyn Store) -> Vec<Record> {
    read_from(log, Position(1))
}

fn read_from(log: &dyn Store, from: Position) -> Vec<Record> {
    let page = block_on(log.read(Query::all(from))).expect("an open log");
    assert_eq!(page.next, None, "a history fits one page");
    page.records
}
