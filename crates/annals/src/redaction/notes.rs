//! What an object's view cannot say: who had content of it removed, and why.

use annals_domain::redaction::Redacted;
use annals_domain::{ActorRef, Timestamp};
use annals_event_log::{PiecesOf, Position, Query};
use annals_projections::{Entry, Text};
use serde::{Serialize, Serializer};
use uuid::Uuid;

use super::named::pieces_of;
use crate::{Contents, LoadError, ViewError};

/// Records read at once.
const PAGE: usize = 1_000;

/// That content of an object was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RedactionNote {
    /// The event that says it.
    #[serde(serialize_with = "position")]
    pub position: Position,
    /// When.
    pub at: Timestamp,
    /// Who had it removed.
    pub actor: ActorRef,
    /// Why.
    pub reason: Text,
    /// The events that lost content, and which pieces; also those of other objects that
    /// were removed with it from the same stream.
    #[serde(serialize_with = "pieces")]
    pub removed: Vec<PiecesOf>,
}

fn position<S: Serializer>(position: &Position, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(position.0)
}

fn pieces<S: Serializer>(removed: &[PiecesOf], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Of<'a> {
        position: u64,
        pieces: &'a [u16],
    }
    serializer.collect_seq(removed.iter().map(|of| Of {
        position: of.position.0,
        pieces: &of.pieces,
    }))
}

impl Contents<'_> {
    /// What was removed from an object, by whom and why, oldest first. It is the same
    /// for every view, of now and of the past: what is removed is gone from all.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn redactions(self, id: impl Into<Uuid>) -> Result<Vec<RedactionNote>, ViewError> {
        let id = id.into();
        let (kind, stream) = self.annals.locate(id).await?;
        let whole = stream.kind.kind() == Some(kind);
        let event_type = format!("{}.redacted", stream.kind);
        let (mut notes, mut next) = (Vec::new(), Some(1));
        while let Some(from) = next {
            let query = Query::event_type(event_type.as_str(), Position(from)).limit(PAGE);
            let page = self.annals.log.read(query).await.map_err(LoadError::from)?;
            next = page.next;
            let name = annals_wire::stream_name(stream);
            for record in page
                .records
                .iter()
                .filter(|it| it.stream() == name.as_str())
            {
                let entry = self.entry(record).await?;
                let about = |event: &&Redacted| whole || event.touched().contains(&(kind, id));
                if let Some(event) = Redacted::of(&entry.event).filter(about) {
                    notes.push(note(event, &entry));
                }
            }
        }
        Ok(notes)
    }
}

fn note(event: &Redacted, entry: &Entry) -> RedactionNote {
    RedactionNote {
        position: entry.position,
        at: entry.occurred_at,
        actor: entry.actor.clone(),
        reason: entry.text(event.reason),
        removed: event.removed.iter().map(pieces_of).collect(),
    }
}
