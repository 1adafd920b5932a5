//! What proofs consist of.

use annals_event_log::{Digest, Header, MalformedRecord, Position, Record};
use bytes::Bytes;

use super::TreeHead;
use crate::ObjectRef;

/// A proof that can be checked without the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proof {
    /// Events are in a log.
    Inclusion(InclusionProof),
    /// A log is the beginning of another.
    Consistency(ConsistencyProof),
}

/// A proof that events are in the log of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InclusionProof {
    /// The log that they are in.
    pub head: TreeHead,
    /// The object whose events they are: all that it had by then.
    pub object: Option<ObjectRef>,
    /// The events, in the log's order.
    pub events: Vec<EventProof>,
}

/// An event, and how its leaf leads to the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventProof {
    /// Its place in the log.
    pub position: Position,
    /// The header's bytes, of which the leaf is the hash.
    pub header: Bytes,
    /// The whole record, if the proof has it.
    pub record: Option<Record>,
    /// The sibling hashes on the way to the root, from the leaf on.
    pub path: Vec<Digest>,
}

impl EventProof {
    /// What the header says.
    ///
    /// # Errors
    /// [`MalformedRecord`], unless the proof was checked.
    pub fn header(&self) -> Result<Header, MalformedRecord> {
        Header::decode(&self.header)
    }
}

/// A proof that the log of one checkpoint is the beginning of the log of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsistencyProof {
    /// The older one.
    pub old: TreeHead,
    /// The newer one.
    pub new: TreeHead,
    /// The hashes that lead to both roots.
    pub path: Vec<Digest>,
}
