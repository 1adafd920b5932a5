//! Appends that every store must take: valid, different from each other, and the
//! same for the same seed.

#![allow(
    clippy::expect_used,
    reason = "this is test code that other crates' tests call; names that are not allowed panic"
)]

use annals_event_log::{Actor, Append, Blob, Content, NewEvent, limits};
use bytes::Bytes;
use chrono::DateTime;
use rand::rngs::StdRng;
use rand::{Rng, RngCore, SeedableRng};
use uuid::Uuid;

/// Makes valid appends from a seed.
///
/// ```
/// use annals_testkit::generators::appends::Sample;
///
/// let mut one = Sample::new(7);
/// let append = one.append("order-1", 3);
/// assert_eq!(append.events.len(), 3);
/// assert_eq!(append, Sample::new(7).append("order-1", 3));
/// assert_ne!(append.batch, one.append("order-1", 3).batch);
/// ```
#[derive(Debug, Clone)]
pub struct Sample {
    random: StdRng,
}

impl Sample {
    /// Begins with a seed; what follows depends on nothing else.
    pub fn new(seed: u64) -> Sample {
        Sample {
            random: StdRng::seed_from_u64(seed),
        }
    }

    /// A batch of so many events for one stream, without expectations.
    ///
    /// # Panics
    /// When the name is not that of a stream.
    pub fn append(&mut self, stream: &str, events: usize) -> Append {
        self.append_to(&vec![stream; events])
    }

    /// A batch with one event for each of these streams, in this order.
    ///
    /// # Panics
    /// When a name is not that of a stream.
    pub fn append_to(&mut self, streams: &[&str]) -> Append {
        let events = streams.iter().map(|stream| self.event(stream)).collect();
        Append {
            batch: self.id(),
            request: self.bytes(16),
            events,
            expectations: Vec::new(),
            blobs: Vec::new(),
        }
    }

    /// One event: a few bytes of structure, up to two inline pieces.
    ///
    /// # Panics
    /// When the name is not that of a stream.
    pub fn event(&mut self, stream: &str) -> NewEvent {
        const TYPES: [&str; 3] = ["test.happened", "test.changed", "test.ended"];
        let pieces = self.random.random_range(0..=2);
        let content: Vec<Content> = (0..pieces).map(|_| self.inline()).collect();
        let kind = self.random.random_range(0..TYPES.len());
        NewEvent {
            stream: stream.parse().expect("the name of a stream"),
            id: self.id(),
            event_type: TYPES.get(kind).copied().unwrap_or("test.happened").into(),
            schema_version: self.random.random_range(1..=3),
            occurred_at: DateTime::from_timestamp(
                1_700_000_000,
                self.random.random_range(0..1_000),
            )
            .unwrap_or_default(),
            actor: Actor {
                kind: "agent".to_owned(),
                id: format!("tester {}", self.random.random_range(0..10)),
                display_name: (!content.is_empty()).then_some(0),
                auth_context: None,
            },
            correlation: self.random.random_bool(0.5).then(|| self.id()),
            causation: None,
            structure: self.some_bytes(40),
            content,
        }
    }

    /// An inline piece of content.
    pub fn inline(&mut self) -> Content {
        let salt = self.random.random();
        let bytes = self.some_bytes(60);
        Content::Inline { salt, bytes }
    }

    /// A blob, and a piece that refers to it.
    pub fn blob(&mut self) -> (Blob, Content) {
        let more = self.random.random_range(1..100);
        let blob = Blob::new(self.bytes(limits::INLINE + more));
        let piece = Content::Blob {
            salt: self.random.random(),
            digest: blob.digest(),
            size: blob.bytes().len() as u64,
        };
        (blob, piece)
    }

    fn id(&mut self) -> Uuid {
        Uuid::from_u128(self.random.random())
    }

    fn some_bytes(&mut self, most: usize) -> Bytes {
        let length = self.random.random_range(0..=most);
        self.bytes(length)
    }

    fn bytes(&mut self, length: usize) -> Bytes {
        let mut bytes = vec![0; length];
        self.random.fill_bytes(&mut bytes);
        bytes.into()
    }
}
