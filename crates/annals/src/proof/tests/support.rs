//! Logs in memory to prove things of.

use std::sync::Arc;

use annals_domain::{ActorRef, IntentId};
use annals_event_log::memory::MemoryLog;
use annals_event_log::{
    Actor, Append, Content, Digest, EventLog, NewEvent, Position, Query, Record,
};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use futures::executor::block_on;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use uuid::Uuid;

use crate::Annals;
use crate::proof::TreeHead;

/// Runs properties from a fixed seed; `PROPTEST_RNG_SEED` overrides it.
pub(super) fn runner(cases: u32) -> TestRunner {
    let config = Config::with_cases(cases);
    let rng_seed = match config.rng_seed {
        RngSeed::Random => RngSeed::Fixed(0x0A11_A150),
        fixed @ RngSeed::Fixed(_) => fixed,
    };
    TestRunner::new(Config { rng_seed, ..config })
}

pub(super) fn empty_log() -> MemoryLog {
    MemoryLog::new(Uuid::from_u128(0x0198_c0de))
}

pub(super) fn event(n: u64) -> NewEvent {
    NewEvent {
        stream: format!("note-{n:06}").parse().unwrap(),
        id: Uuid::from_u128(0xE0_0000 + u128::from(n)),
        event_type: "note.taken".into(),
        schema_version: 1,
        occurred_at: DateTime::<Utc>::UNIX_EPOCH,
        actor: Actor {
            kind: "agent".into(),
            id: "tester".into(),
            display_name: Some(0),
            auth_context: None,
        },
        correlation: None,
        causation: None,
        structure: Bytes::from(format!("structure {n}")),
        content: vec![Content::Inline {
            salt: [7; 16],
            bytes: Bytes::from(format!("content {n}")),
        }],
    }
}

/// A log of `size` events, each in its own batch and stream.
pub(super) fn log_of(size: u64) -> Annals {
    let log = empty_log();
    for n in 1..=size {
        let append = Append {
            batch: Uuid::from_u128(0xBA_0000 + u128::from(n)),
            request: Bytes::new(),
            events: vec![event(n)],
            expectations: Vec::new(),
            blobs: Vec::new(),
        };
        block_on(log.append(append)).unwrap();
    }
    Annals::over(Arc::new(log))
}

/// A log with exactly these records.
pub(super) fn log_with(records: Vec<Record>) -> Annals {
    let log = empty_log();
    if !records.is_empty() {
        block_on(log.append_records(records, Vec::new())).unwrap();
    }
    Annals::over(Arc::new(log))
}

pub(super) fn records(annals: &Annals) -> Vec<Record> {
    let query = Query::all(Position(1)).limit(10_000);
    block_on(annals.log().read(query)).unwrap().records
}

pub(super) fn head(annals: &Annals, size: u64) -> TreeHead {
    block_on(annals.proofs().head(Some(size))).unwrap()
}

/// A log with an intent of four events, and others between and behind.
pub(super) fn log_with_intent() -> (Annals, IntentId) {
    block_on(async {
        let annals = Annals::open("memory:").await.unwrap();
        let actor = ActorRef::agent("coder");
        let me = annals.by(&actor);
        let intent = me.submit("Add a cache").await.unwrap();
        me.submit("Something else").await.unwrap();
        me.analyze(intent, "Cache the parser's results")
            .await
            .unwrap();
        me.complete(intent, "merged").await.unwrap();
        me.submit("More").await.unwrap();
        (annals, intent)
    })
}

const POSITION: usize = 2 + 1;
const RECORDED_AT: usize = 2 + 17;
const EVENT_ID: usize = 2 + 41;
const BATCH_ID: usize = 2 + 57;
const STRUCTURE_DIGEST: usize = 2 + 111;

/// A record's bytes as a forger changes them: what is stored twice is made to agree.
#[derive(Clone)]
pub(super) struct Forged(Vec<u8>);

impl Forged {
    pub(super) fn of(record: &Record) -> Forged {
        Forged(record.as_bytes().to_vec())
    }

    fn header_end(&self) -> usize {
        2 + usize::from(u16::from_be_bytes([self.0[0], self.0[1]]))
    }

    /// Another structure of the same length, and its digest.
    pub(super) fn alter(mut self) -> Forged {
        let start = self.header_end() + 4;
        let length = u32::from_be_bytes(self.0[start - 4..start].try_into().unwrap());
        let end = start + usize::try_from(length).unwrap();
        self.0[start] ^= 1;
        let digest = Digest::of(&self.0[start..end]);
        self.0[STRUCTURE_DIGEST..STRUCTURE_DIGEST + 32].copy_from_slice(&digest.0);
        self
    }

    /// As if it were another event: of other ids, in another stream.
    pub(super) fn another(mut self) -> Forged {
        self.0[EVENT_ID] ^= 0x80;
        self.0[BATCH_ID] ^= 0x80;
        let last = self.header_end() - 1;
        self.0[last] = b'x';
        self
    }

    /// Taken at another time: 12 bytes, as a header holds it.
    pub(super) fn set_recorded_at(&mut self, time: &[u8]) {
        self.0[RECORDED_AT..RECORDED_AT + 12].copy_from_slice(time);
    }

    /// The record with its content gone, as a redaction leaves it.
    pub(super) fn redacted(record: &Record) -> Record {
        let mut bytes = Forged::of(record).0;
        let header_end = Forged::of(record).header_end();
        bytes.truncate(header_end + 4 + record.structure().len());
        let pieces = record.content();
        bytes.extend(u16::try_from(pieces.len()).unwrap().to_be_bytes());
        for piece in pieces {
            bytes.push(4);
            bytes.extend(piece.salted_digest().0);
        }
        Record::decode(bytes.into()).unwrap()
    }

    pub(super) fn at(mut self, position: u64) -> Record {
        self.0[POSITION..POSITION + 8].copy_from_slice(&position.to_be_bytes());
        Record::decode(self.0.into()).unwrap()
    }
}

/// Records with new positions, in the order given.
pub(super) fn renumbered(records: Vec<Forged>) -> Vec<Record> {
    let numbered = (1..).zip(records);
    numbered.map(|(n, forged)| forged.at(n)).collect()
}
