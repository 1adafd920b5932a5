//! Another caller writes to the same objects while batches are on their way.
//!
//! The log is then checked by itself: each batch in it, executed again in the order in which the log has them,
//! makes the same events. And against what was said: what was acknowledged is there, in order where it
//! has an object in common, and what was not acknowledged is not.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use annals::domain::PipelineId;
use annals::domain::observation::{ObservationKind, RecordObservation};
use annals::domain::pipeline::{SetGlobalSummary, SetMaxFrames};
use annals::domain::task::AddConstraint;
use annals::event_log::Store;
use annals::event_log::memory::MemoryLog;
use annals::{Annals, BulkError, Decided, Request};
use futures::executor::block_on;
use proptest::collection::vec;
use proptest::prelude::*;
use uuid::Uuid;

use super::late::LateLog;
use super::{Names, TASK, batches, call, create_pipeline, key, push, records, setting, then, told};
use crate::support::request;

/// Where the other caller's keys begin.
const OTHERS: u128 = 1 << 40;

/// What one batch asks for: few objects, so that they meet.
fn requests(what: u8, n: u128) -> Vec<Request> {
    let pipeline = PipelineId(Uuid::from_u128(100 + u128::from(what / 16 % 3)));
    let observation = |about: Uuid| {
        request(
            RecordObservation::new(ObservationKind::Epiphany, "seen")
                .with_id(Some(Uuid::from_u128((1 << 80) + n).into()))
                .with_about(vec![about]),
        )
    };
    let requests = match what % 16 {
        0..=4 => vec![push(pipeline, format!("{n}"))],
        5 | 6 => vec![call(n), push(pipeline, format!("{n}"))],
        7 => vec![request(SetMaxFrames::new(pipeline, u32::from(what / 64)))],
        8 => vec![request(
            SetGlobalSummary::new(pipeline).with_summary(format!("{n}")),
        )],
        // It is there, or not yet.
        9 | 10 => vec![create_pipeline(pipeline)],
        11 => vec![request(AddConstraint::new(TASK, format!("{n}")))],
        // About what may be on its way.
        12 => vec![observation(pipeline.0)],
        13 => vec![observation(call_id(n.saturating_sub(1)))],
        14 => vec![push(pipeline, "one"), push(pipeline, "two")],
        _ => vec![call(n)],
    };
    requests.into_iter().map(then).collect()
}

fn call_id(n: u128) -> Uuid {
    Uuid::from_u128((1 << 90) + n)
}

/// A batch of ours, and whether another caller comes just before it is appended, with what.
type Step = (u8, Option<u8>);

/// What is in the log under each key.
type Asked = HashMap<Uuid, Vec<Request>>;

struct Story {
    log: LateLog,
    asked: Arc<Mutex<Asked>>,
    /// Ours, in the order given.
    given: Vec<(Uuid, Decided)>,
    lost: BTreeSet<Uuid>,
}

impl Story {
    fn new(polls: u64) -> Story {
        let log = LateLog::new(polls);
        let asked: Arc<Mutex<Asked>> = Arc::default();
        let first = key(OTHERS - 1);
        block_on(log.other().execute_batch(Some(first), setting())).unwrap();
        asked.lock().unwrap().insert(first, setting());
        Story {
            log,
            asked,
            given: Vec::new(),
            lost: BTreeSet::new(),
        }
    }

    /// Lets another caller come just before a batch of ours.
    fn come_before(&self, batch: Uuid, what: u8, n: u128) {
        let (other, asked) = (self.log.other(), Arc::clone(&self.asked));
        self.log.meet(batch, move || {
            let (key, requests) = (key(OTHERS + n), requests(what, OTHERS + n));
            if block_on(other.execute_batch(Some(key), requests.clone())).is_ok() {
                asked.lock().unwrap().insert(key, requests);
            }
            Ok(())
        });
    }

    fn lose(&mut self, error: BulkError) {
        let BulkError::NotAcknowledged { keys, .. } = error else {
            return;
        };
        self.lost.extend(keys.into_iter().flatten());
    }

    fn tell(&mut self, steps: &[Step]) {
        let annals = self.log.annals.clone();
        let mut bulk = annals.bulk();
        for (n, (what, others)) in (1..).zip(steps) {
            let (batch, asked) = (key(n), requests(*what, n));
            if let Some(what) = others {
                self.come_before(batch, *what, n);
            }
            match block_on(bulk.execute(Some(batch), asked.clone())) {
                Ok(decided) => {
                    self.given.push((batch, decided));
                    self.asked.lock().unwrap().insert(batch, asked);
                }
                Err(error) => self.lose(error),
            }
        }
        if let Err(error) = block_on(bulk.flush()) {
            self.lose(error);
        }
    }

    /// What was acknowledged is there as it was said, the rest is not.
    fn check_answers(&self) {
        let found: BTreeSet<Uuid> = batches(self.log.log.as_ref()).into_iter().collect();
        for (key, decided) in &self.given {
            if self.lost.contains(key) {
                assert!(
                    !found.contains(key),
                    "{key} is there, and was not acknowledged"
                );
                assert!(decided.appended().is_none());
                continue;
            }
            let appended = decided.appended().expect("it was flushed");
            let events: usize = decided.outcomes.iter().map(|outcome| outcome.events).sum();
            assert_eq!(found.contains(key), events > 0, "{key}");
            for (told, done) in decided.outcomes.iter().zip(&appended.outcomes) {
                assert_eq!((told.id, told.frame_id), (done.id, done.frame_id));
            }
        }
    }

    /// Batches with an object in common are in the order in which they were given.
    fn check_order(&self) {
        let order = self.given.iter().map(|(key, _)| *key);
        let order: HashMap<Uuid, usize> = order.zip(0..).collect();
        let mut last: BTreeMap<String, usize> = BTreeMap::new();
        for record in records(self.log.log.as_ref()) {
            let Some(number) = order.get(&record.batch_id()) else {
                continue;
            };
            let before = last.insert(record.stream().to_owned(), *number);
            assert!(
                before.is_none_or(|before| before <= *number),
                "{} is behind what was given after it",
                record.batch_id()
            );
        }
    }

    /// Each batch, executed in the order that the log has, makes what the log has.
    fn check_again(&self) {
        let again = Arc::new(MemoryLog::new(Uuid::from_u128(1)));
        let annals = Annals::over(Arc::clone(&again) as Arc<dyn Store>);
        for batch in batches(self.log.log.as_ref()) {
            let requests = self.asked.lock().unwrap()[&batch].clone();
            let outcome = block_on(annals.execute_batch(Some(batch), requests));
            outcome.unwrap_or_else(|error| panic!("{batch} is not possible: {error}"));
        }
        let of = |log: &MemoryLog| told(&records(log), &mut Names::default());
        assert_eq!(of(&again), of(&self.log.log));
    }
}

fn check(steps: &[Step], polls: u64) {
    let mut story = Story::new(polls);
    story.tell(steps);
    story.check_answers();
    story.check_order();
    story.check_again();
}

proptest! {
    #[test]
    fn what_is_there_was_decided_on_what_was_there(
        steps in vec((any::<u8>(), prop::option::weighted(0.2, any::<u8>())), 1..60),
        polls in 0..80_u64,
    ) {
        check(&steps, polls);
    }
}
