//! The view of an object that is about to be adopted, before any log has it.

use annals_domain::{ActorRef, Adoption, Emitted};
use annals_event_log::{Position, Version};
use bytes::Bytes;
use uuid::Uuid;

use crate::{Entry, Fold, ObjectView, PieceValue};

/// The object as its view will be once these events, an adoption and what goes
/// on with its lists, are in a log. `None` if they are something else.
pub fn adopted_view(events: &[Emitted]) -> Option<ObjectView> {
    let first = events.first()?;
    let (kind, id) = *first.event.touches(first.stream.id).first()?;
    let mut fold = Fold::new(kind, id);
    for emitted in events {
        fold.apply(&entry(emitted)?);
    }
    fold.view()
}

/// An entry without a place in a log. Where it would be does not matter to
/// an object that was adopted, nor when.
fn entry(emitted: &Emitted) -> Option<Entry> {
    let occurred_at = match emitted.event.adoption()? {
        Adoption::Begun(header) => header.updated_at,
        Adoption::Continued => annals_domain::Timestamp::EPOCH,
    };
    let pieces = emitted.pieces.list().iter();
    Some(Entry {
        position: Position::START,
        version: Version::NONE,
        event_id: Uuid::nil(),
        batch_id: Uuid::nil(),
        occurred_at,
        recorded_at: occurred_at,
        actor: ActorRef::system(""),
        correlation: None,
        causation: None,
        stream: emitted.stream,
        event: emitted.event.clone(),
        pieces: pieces
            .map(|piece| PieceValue::Bytes(Bytes::copy_from_slice(&piece.bytes)))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use annals_domain::Kind;

    use super::*;
    use crate::fold::tests::sampled;
    use crate::testing::Story;

    #[test]
    fn it_is_the_view_that_the_log_gives() {
        for sample in annals_wire::sample::samples() {
            if sample.event.adoption().is_none() {
                assert_eq!(adopted_view(std::slice::from_ref(&sample)), None);
                continue;
            }
            let view = adopted_view(std::slice::from_ref(&sample)).unwrap();
            let mut story = Story::new();
            story.append(&sample);
            let kind: Kind = view.kind();
            let stored = story.view(kind, sampled(kind)).unwrap();
            assert_eq!(view.to_json().unwrap(), stored.to_json().unwrap(), "{kind}");
        }
    }
}
