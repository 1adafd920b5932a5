//! Proofs that events are in a log.

use annals_event_log::{EventId, Position, Query, ReadError, Record, Version};
use annals_projections::is_about;
use annals_wire::stream_name;
use bytes::Bytes;
use tlog_tiles::tlog::prove_record;

use super::hashes::Hashes;
use super::{EventProof, InclusionProof, Proof, ProofError, ProofMismatch, TreeHead};
use crate::{LoadError, ObjectRef, Proofs};

/// Records read at once.
const PAGE: usize = 500;

/// How much of each event a proof holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// The whole record: the verifier of the proof sees what the event says.
    #[default]
    Records,
    /// The header alone: type, stream, times and actor, and digests of the rest.
    Headers,
}

impl Proofs<'_> {
    /// Proves that the event at a position is in the log of `head`.
    ///
    /// # Errors
    /// [`ProofError`]; [`ProofError::ProofMismatch`] if the log is not, or no longer, that of
    /// the head.
    pub async fn event(
        self,
        position: Position,
        head: &TreeHead,
        detail: Detail,
    ) -> Result<Proof, ProofError> {
        if position == Position::START {
            return Err(ProofError::NoPosition);
        }
        let end = Position(head.size.min(self.annals.position().0));
        let found = match position <= end {
            true => self.annals.contents().record(position).await?,
            false => None,
        };
        let record = found.ok_or(ProofError::BeyondEnd { position, end })?;
        self.prove_records(vec![record], None, head, detail).await
    }

    /// Proves that all events of an object are in the log of `head`: all that it had
    /// by then.
    ///
    /// # Errors
    /// As [`Proofs::event`]; [`ProofError::HeadersOnly`] for an object that
    /// shares the stream of its run.
    pub async fn object(
        self,
        object: ObjectRef,
        head: &TreeHead,
        detail: Detail,
    ) -> Result<Proof, ProofError> {
        let (_, stream) = self.annals.locate(object.id).await?;
        let whole = stream.kind.kind() == Some(object.kind);
        if !whole && detail == Detail::Headers {
            let object = object.to_string();
            return Err(ProofError::HeadersOnly { object });
        }
        let (mut records, mut next) = (Vec::new(), Some(1));
        while let Some(from) = next {
            let query = Query::stream(stream_name(stream), Version(from)).limit(PAGE);
            let page = self.annals.log.read(query).await?;
            next = page.next;
            for record in page.records {
                if record.position().0 > head.size {
                    next = None;
                    break;
                }
                let is_its = || -> Result<bool, LoadError> {
                    let event = annals_wire::decode(&record)?.event;
                    Ok(is_about(&event, stream, object.kind, object.id))
                };
                if whole || is_its()? {
                    records.push(record);
                }
            }
        }
        if records.is_empty() {
            return Err(ProofError::NotYet {
                object: object.to_string(),
                size: head.size,
            });
        }
        self.prove_records(records, Some(object), head, detail)
            .await
    }

    async fn prove_records(
        self,
        records: Vec<Record>,
        object: Option<ObjectRef>,
        head: &TreeHead,
        detail: Detail,
    ) -> Result<Proof, ProofError> {
        let mut hashes = Hashes::default();
        let mut events = Vec::with_capacity(records.len());
        for record in records {
            let position = record.position();
            let leaf = position.0.saturating_sub(1);
            let path = hashes
                .prove(self.annals.log.as_ref(), |hashes| {
                    prove_record(head.size, leaf, hashes)
                })
                .await?;
            events.push(EventProof {
                position,
                header: Bytes::copy_from_slice(record.header_bytes()),
                record: Some(record).filter(|_| detail == Detail::Records),
                path,
            });
        }
        let proof = Proof::Inclusion(InclusionProof {
            head: head.clone(),
            object,
            events,
        });
        // What does not hold is not given away: the records, or the hashes, are not
        // those of the head.
        proof.check(head).map_err(damaged)?;
        Ok(proof)
    }

    /// Finds an event by its id. There is no index of them: the log is read, the
    /// newest first. `progress` is called with how far that is.
    ///
    /// Events of imported sessions have the ids that they came with. An event that got its id here goes
    /// before one of these, and of several of these the first that was imported.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn find_event(
        self,
        id: EventId,
        mut progress: impl FnMut(Position),
    ) -> Result<Option<Position>, ReadError> {
        let mut next = Some(self.annals.position().0).filter(|end| *end > 0);
        let mut imported = None;
        while let Some(from) = next {
            let query = Query::all(Position(from)).backward();
            let page = self.annals.log.read(query).await?;
            for record in page.records.iter().filter(|it| it.event_id() == id) {
                if !self.came_with_its_id(record).await? {
                    return Ok(Some(record.position()));
                }
                imported = Some(record.position());
            }
            progress(Position(from));
            next = page.next;
        }
        Ok(imported)
    }

    /// Whether an event has the id that it had elsewhere: those of sessions that were taken over do.
    async fn came_with_its_id(self, record: &Record) -> Result<bool, ReadError> {
        if !record.event_type().starts_with("session.") {
            return Ok(false);
        }
        let query = Query::stream(record.stream_name(), Version(1)).limit(1);
        let page = self.annals.log.read(query).await?;
        let first = page.records.first();
        Ok(first.is_some_and(|first| first.event_type() == "session.adopted"))
    }
}

/// A proof that was just made and does not hold.
fn damaged(mismatch: ProofMismatch) -> ProofMismatch {
    match mismatch {
        ProofMismatch::Event { position, reason } => ProofMismatch::Event {
            position,
            reason: format!(
                "{reason}. The log is not that of the checkpoint; run `annals proof verify`"
            ),
        },
        mismatch => mismatch,
    }
}
