//! Checking a proof: with a checkpoint, and without the log.

use annals_domain::{StreamKind, StreamRef};
use annals_event_log::{Header, Position, tree};
use annals_projections::is_about;
use annals_wire::stream_name;
use tlog_tiles::tlog::{Hash, check_record, check_tree};
use uuid::Uuid;

use super::hashes::hash;
use super::{ConsistencyProof, EventProof, InclusionProof, Proof, ProofMismatch, TreeHead};
use crate::ObjectRef;

/// The most hashes of a path: a tree has 63 levels at most.
const MOST_HASHES: usize = 64;

impl Proof {
    /// Checks the proof against a checkpoint: every hash, every record against its
    /// header, every header against the root, and the root, the size and the origin
    /// against the checkpoint's. The checkpoint itself is to be trusted, or was
    /// verified.
    ///
    /// # Errors
    /// [`ProofMismatch`], which says what is wrong.
    pub fn check(&self, checkpoint: &TreeHead) -> Result<(), ProofMismatch> {
        let head = match self {
            Proof::Inclusion(proof) => &proof.head,
            Proof::Consistency(proof) => &proof.new,
        };
        checkpoint.same_origin(&head.origin)?;
        if head.size != checkpoint.size {
            return Err(ProofMismatch::Size {
                expected: checkpoint.size,
                found: head.size,
            });
        }
        if head.root != checkpoint.root {
            return Err(ProofMismatch::ProofRoot {
                expected: checkpoint.root,
                found: head.root,
            });
        }
        match self {
            Proof::Inclusion(proof) => proof.check(),
            Proof::Consistency(proof) => proof.check(),
        }
    }
}

impl ConsistencyProof {
    fn check(&self) -> Result<(), ProofMismatch> {
        let (old, new) = (&self.old, &self.new);
        old.same_origin(&new.origin)?;
        let consistent = match old.size {
            0 => self.path.is_empty() && old.root == tree::empty(),
            _ => {
                let path = path(&self.path);
                let roots = (hash(new.root), hash(old.root));
                path.is_some_and(|path| {
                    check_tree(&path, new.size, roots.0, old.size, roots.1).is_ok()
                })
            }
        };
        if consistent {
            return Ok(());
        }
        Err(ProofMismatch::Inconsistent {
            old: old.size,
            new: new.size,
        })
    }
}

impl InclusionProof {
    fn check(&self) -> Result<(), ProofMismatch> {
        let mut headers = Vec::with_capacity(self.events.len());
        let mut last = Position::START;
        for event in &self.events {
            if event.position <= last {
                return Err(ProofMismatch::event(
                    event.position,
                    "it is not behind the one before",
                ));
            }
            last = event.position;
            headers.push(event.check(&self.head)?);
        }
        if headers.is_empty() {
            return Err(ProofMismatch::whole(
                "the proof has no events, so it proves nothing",
            ));
        }
        match self.object {
            None => Ok(()),
            Some(object) if is_aggregate(object) => check_whole(object, &headers),
            Some(object) => self.check_about(object, &headers),
        }
    }

    /// The events of an object that shares a stream: each must say that it is about
    /// the object.
    fn check_about(&self, object: ObjectRef, headers: &[Header]) -> Result<(), ProofMismatch> {
        let stream = one_stream(headers)?;
        let misnamed =
            || ProofMismatch::whole(format!("{object} cannot be in the stream {stream}"));
        let run = read_stream(stream, object.kind.stream_kind()).ok_or_else(misnamed)?;
        for event in &self.events {
            let no = |reason: String| ProofMismatch::event(event.position, reason);
            let Some(record) = &event.record else {
                let reason = format!("only the whole record would say that it is about {object}");
                return Err(no(reason));
            };
            let decoded = annals_wire::decode(record).map_err(|error| no(error.to_string()))?;
            if !is_about(&decoded.event, run, object.kind, object.id) {
                return Err(no(format!("it is not about {object}")));
            }
        }
        Ok(())
    }
}

impl EventProof {
    /// Checks that the event is in the log, and gives its header.
    fn check(&self, head: &TreeHead) -> Result<Header, ProofMismatch> {
        let no = |reason: String| ProofMismatch::event(self.position, reason);
        let number = self.position.0.checked_sub(1).filter(|n| *n < head.size);
        let number =
            number.ok_or_else(|| no(format!("the log has the positions 1 to {}", head.size)))?;
        let leaf = hash(tree::leaf(&self.header));
        let path = path(&self.path).ok_or_else(|| no("it has too many hashes".to_owned()))?;
        check_record(&path, head.size, hash(head.root), number, leaf)
            .map_err(|_| no("its header and hashes do not lead to the root".to_owned()))?;
        let header = Header::decode(&self.header).map_err(|error| no(error.to_string()))?;
        if header.position() != self.position {
            return Err(no(format!(
                "its header says position {}",
                header.position()
            )));
        }
        if let Some(record) = &self.record {
            if record.header_bytes() != self.header {
                return Err(no("its record has another header".to_owned()));
            }
            if record.verify().is_err() {
                return Err(no("its content is not what its header says".to_owned()));
            }
        }
        Ok(header)
    }
}

/// The hashes of a path for the library.
fn path(digests: &[annals_event_log::Digest]) -> Option<Vec<Hash>> {
    (digests.len() <= MOST_HASHES).then(|| digests.iter().copied().map(hash).collect())
}

/// Whether an object has its own stream.
fn is_aggregate(object: ObjectRef) -> bool {
    object.kind.stream_kind().kind() == Some(object.kind)
}

/// All of a stream, from its beginning: no version is missing.
fn check_whole(object: ObjectRef, headers: &[Header]) -> Result<(), ProofMismatch> {
    let expected = stream_name(StreamRef {
        kind: object.kind.stream_kind(),
        id: object.id,
    });
    let stream = one_stream(headers)?;
    if stream != expected.as_str() {
        let reason = format!("the events are those of {stream}, not of {object}");
        return Err(ProofMismatch::whole(reason));
    }
    for (version, header) in (1..).zip(headers) {
        if header.version().0 != version {
            let reason = format!(
                "its version is {}, and {version} was expected: an event of {object} is missing",
                header.version()
            );
            return Err(ProofMismatch::event(header.position(), reason));
        }
    }
    Ok(())
}

/// The stream that all events are in.
fn one_stream(headers: &[Header]) -> Result<&str, ProofMismatch> {
    let first = headers.first().map_or("", Header::stream);
    match headers.iter().find(|header| header.stream() != first) {
        None => Ok(first),
        Some(other) => {
            let reason = format!("it is in {}, the first one in {first}", other.stream());
            Err(ProofMismatch::event(other.position(), reason))
        }
    }
}

/// The stream that a name is of.
fn read_stream(name: &str, kind: StreamKind) -> Option<StreamRef> {
    let id = name.strip_prefix(kind.as_str())?.strip_prefix('-')?;
    let id = Uuid::parse_str(id).ok()?;
    Some(StreamRef { kind, id })
}
