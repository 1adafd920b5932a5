//! What is appended: all of a batch follows from its id, so that the witness need keep
//! nothing else to know whether a batch is whole.

use std::fmt;

use annals::Request;
use annals::domain::intent::CreateIntent;
use annals::domain::{ActorRef, IntentId, Timestamp};
use annals_event_log::{
    Actor, Append, Blob, Content, Expectation, Expected, NewEvent, PiecesOf, Position, Record,
    StreamName, Version,
};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Streams that events without meaning go to.
const STREAMS: u32 = 12;
/// From so many events on they are small, so that a batch of 10,000 has a few megabytes.
const MANY: u16 = 64;
/// Which byte of the id says what kind of batch it is, and which two how many events it has.
/// Those of a UUID's version and variant are others.
const KIND_AT: usize = 7;
const COUNT_AT: usize = 10;

/// What a batch is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// Events without meaning, appended through the port.
    Plain,
    /// The same, some with content of which a part is in blobs.
    WithContent,
    /// The same, with an expectation that never holds: it is refused.
    Refused,
    /// Intents, proposed through the facade or the program.
    Intents,
    /// An event that says what is redacted with it. To repeat it alone would say it without
    /// the redaction, so it is not repeated.
    Redaction,
}

const KINDS: [Kind; 5] = [
    Kind::Plain,
    Kind::WithContent,
    Kind::Refused,
    Kind::Intents,
    Kind::Redaction,
];

/// The pieces that a redaction names. One through the port does not list them, and stands for all before it.
pub fn named_removals(record: &Record) -> Vec<PiecesOf> {
    let is_listed = !record.event_type().starts_with("test.");
    if is_listed || Batch(record.batch_id()).kind() != Kind::Redaction {
        return annals::named_removals(record);
    }
    let all = |position| PiecesOf {
        position: Position(position),
        pieces: vec![0, 1],
    };
    (1..record.position().0).map(all).collect()
}

/// A batch, which is its id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Batch(pub Uuid);

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, kind, count) = (self.0, self.kind(), self.count());
        write!(f, "{id} ({kind:?}, {count})")
    }
}

impl fmt::Display for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl Batch {
    /// A new batch of `count` events, at least one and at most 10,000.
    pub fn new(rng: &mut StdRng, kind: Kind, count: u16) -> Batch {
        let mut bytes: [u8; 16] = rng.random();
        bytes[KIND_AT] = KINDS.iter().position(|known| *known == kind).unwrap_or(0) as u8;
        let count = count.clamp(1, 10_000).to_be_bytes();
        bytes[COUNT_AT..COUNT_AT + 2].copy_from_slice(&count);
        Batch(uuid::Builder::from_random_bytes(bytes).into_uuid())
    }

    /// What it is.
    pub fn kind(&self) -> Kind {
        let number = usize::from(self.0.as_bytes()[KIND_AT]);
        KINDS[number % KINDS.len()]
    }

    /// How many events it has.
    pub fn count(&self) -> u16 {
        let bytes = self.0.as_bytes();
        u16::from_be_bytes([bytes[COUNT_AT], bytes[COUNT_AT + 1]])
    }

    fn rng(&self, index: u16) -> StdRng {
        let (high, low) = self.0.as_u64_pair();
        StdRng::seed_from_u64(high.rotate_left(17) ^ low ^ u64::from(index).wrapping_mul(0x9e37))
    }

    /// The id of one of its events, or of one of its intents.
    pub fn id_of(&self, index: u16) -> Uuid {
        uuid::Builder::from_random_bytes(self.rng(index).random()).into_uuid()
    }

    /// The text that is in one of its events, and nowhere else. What is redacted is
    /// looked for by it.
    pub fn text(&self, index: u16) -> String {
        format!("soak<{}:{index}>", self.0.simple())
    }

    /// All of its events, for those that are appended through the port.
    pub fn events(&self) -> (Vec<NewEvent>, Vec<Blob>) {
        let mut blobs = Vec::new();
        let events = (0..self.count()).map(|index| self.event(index, &mut blobs));
        (events.collect(), blobs)
    }

    /// One of its events. Blobs that it refers to are added to `blobs`.
    pub fn event(&self, index: u16, blobs: &mut Vec<Blob>) -> NewEvent {
        let mut rng = self.rng(index);
        let id = uuid::Builder::from_random_bytes(rng.random()).into_uuid();
        let stream = format!("test-{}", rng.random_range(0..STREAMS));
        let event_type = format!("test.happened{}", rng.random_range(0..3));
        let most = if self.count() < MANY { 1_500 } else { 60 };
        let mut structure = self.0.as_bytes().to_vec();
        structure.extend_from_slice(&index.to_be_bytes());
        structure.resize(rng.random_range(18..most), index as u8);
        NewEvent {
            stream: stream.parse::<StreamName>().expect("a stream name"),
            id,
            event_type: event_type.into(),
            schema_version: 1,
            occurred_at: time(),
            actor: Actor {
                kind: "system".into(),
                id: "soak".into(),
                display_name: None,
                auth_context: None,
            },
            correlation: None,
            causation: None,
            structure: structure.into(),
            content: self.content(index, &mut rng, blobs),
        }
    }

    fn content(&self, index: u16, rng: &mut StdRng, blobs: &mut Vec<Blob>) -> Vec<Content> {
        if self.kind() != Kind::WithContent {
            return Vec::new();
        }
        let text = self.text(index);
        let inline = Content::Inline {
            salt: rng.random(),
            bytes: Bytes::from(text.clone()),
        };
        // Every batch has a blob, and larger ones have few for their size.
        if index != 0 && rng.random_range(0..40) != 0 {
            return vec![inline];
        }
        let mut bytes = text.into_bytes();
        bytes.resize(rng.random_range(4_200..12_000), b'.');
        let blob = Blob::new(bytes);
        let referred = Content::Blob {
            salt: rng.random(),
            digest: blob.digest(),
            size: blob.bytes().len() as u64,
        };
        blobs.push(blob);
        vec![inline, referred]
    }

    /// It as it is appended through the port.
    pub fn append(&self) -> Append {
        let (events, blobs) = self.events();
        let never = Expectation {
            stream: "test-0".parse().expect("a stream name"),
            expected: Expected::Exactly(Version(u64::MAX / 2)),
        };
        let is_refused = self.kind() == Kind::Refused;
        Append {
            batch: self.0,
            request: Bytes::copy_from_slice(self.0.as_bytes()),
            events,
            expectations: is_refused.then_some(never).into_iter().collect(),
            blobs,
        }
    }

    /// The intents that it proposes, as commands.
    pub fn requests(&self) -> Vec<Request> {
        let request = |index| {
            let command =
                CreateIntent::new(self.prompt(index)).with_id(IntentId(self.id_of(index)));
            Request::new(ActorRef::agent("soak"), command)
                .at(Timestamp::from(time()))
                .key(self.0)
        };
        (0..self.count()).map(request).collect()
    }

    /// What an intent asks for: mostly a line, now and then so much that it is a blob.
    pub fn prompt(&self, index: u16) -> String {
        let mut rng = self.rng(index.wrapping_add(20_000));
        let mut prompt = self.text(index);
        let length = match rng.random_range(0..12) {
            0 => rng.random_range(4_200..9_000),
            _ => rng.random_range(0..300),
        };
        let more = length / 8;
        (0..more).for_each(|n| prompt.push_str(&format!(" word{n:03}")));
        prompt
    }

    /// The first of its intents as a line for `annals apply`.
    pub fn line(&self) -> String {
        let line = serde_json::json!({
            "command": "create_intent",
            "actor": { "kind": "agent", "id": "soak" },
            "key": self.0,
            "id": self.id_of(0),
            "at": "2023-11-14T22:13:20Z",
            "prompt": self.prompt(0),
        });
        line.to_string()
    }
}

/// When everything happened.
fn time() -> DateTime<Utc> {
    DateTime::from_timestamp(1_700_000_000, 0).expect("a time")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_batch_follows_from_its_id() {
        let mut rng = StdRng::seed_from_u64(7);
        for kind in KINDS {
            for count in [1, 64, 300] {
                let batch = Batch::new(&mut rng, kind, count);
                let again = Batch(batch.0);
                assert_eq!((again.kind(), again.count()), (kind, count));
                assert_eq!(again.append(), batch.append());
                assert_eq!(again.requests(), batch.requests());
                assert_eq!(batch.append().events.len(), usize::from(count));
            }
        }
    }

    #[test]
    fn a_batch_with_content_has_a_blob() {
        let batch = Batch::new(&mut StdRng::seed_from_u64(7), Kind::WithContent, 3);
        assert!(!batch.append().blobs.is_empty());
    }
}
