//! A history as appends, and as a log.

use std::collections::HashMap;

use annals_domain::Emitted;
use annals_event_log::memory::MemoryLog;
use annals_event_log::{Append, Expectation, Expected, Store, StreamName, Version};
use annals_wire::{Envelope, encode};
use bytes::Bytes;
use futures::executor::block_on;
use uuid::Uuid;

use super::{History, Tried};

impl History {
    /// One append for each command that led to events, for a log that is empty: each
    /// expects the streams that it writes to as those before it leave them. Ids and
    /// salts are the same every time.
    ///
    /// # Panics
    /// Where an event is larger than a log takes; those that are generated are not.
    pub fn appends(&self) -> Vec<Append> {
        let mut ids = 0_u128;
        let mut heads: HashMap<StreamName, Version> = HashMap::new();
        let accepted = self.accepted();
        let appends = accepted.map(|(tried, events)| append(tried, events, &mut ids, &mut heads));
        appends.collect()
    }

    /// Appends all of it to an empty log.
    ///
    /// # Panics
    /// When the log does not take it.
    pub fn append_to(&self, log: &dyn Store) {
        for append in self.appends() {
            let batch = append.batch;
            if let Err(error) = block_on(log.append(append)) {
                panic!("batch {batch} of a generated history was not taken: {error}");
            }
        }
    }

    /// A log in memory that holds all of it.
    pub fn log(&self) -> MemoryLog {
        let log = MemoryLog::new(Uuid::from_u128(1));
        self.append_to(&log);
        log
    }
}

fn append(
    tried: &Tried,
    emitted: &[Emitted],
    ids: &mut u128,
    heads: &mut HashMap<StreamName, Version>,
) -> Append {
    let mut id = || {
        *ids += 1;
        (1 << 96) + *ids
    };
    let batch = Uuid::from_u128(id());
    let (mut events, mut blobs) = (Vec::new(), Vec::new());
    let mut expectations: Vec<Expectation> = Vec::new();
    for one in emitted {
        let envelope = Envelope {
            event_id: Uuid::from_u128(id()),
            occurred_at: tried.at,
            actor: tried.actor.clone(),
            correlation: None,
            causation: None,
        };
        let encoded = encode(one, &envelope, &mut || id().to_be_bytes());
        let encoded = encoded.expect("a generated event can be encoded");
        let head = heads.entry(encoded.event.stream.clone()).or_default();
        let stream = &encoded.event.stream;
        if !expectations.iter().any(|it| it.stream == *stream) {
            expectations.push(Expectation {
                stream: stream.clone(),
                expected: Expected::Exactly(*head),
            });
        }
        *head = head.next();
        events.push(encoded.event);
        blobs.extend(encoded.blobs);
    }
    Append {
        batch,
        request: Bytes::copy_from_slice(batch.as_bytes()),
        events,
        expectations,
        blobs,
    }
}
