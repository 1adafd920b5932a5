//! What names of files mean in a log.

use annals::domain::alias::{self, ReserveAlias, Reserved};
use annals::domain::{AnyEvent, Emitted, IntentId, Kind, Pieces};
use annals::{Annals, ObjectRef, ViewError};

use super::ids;

/// The object that goes by the name of an intent's file, if there is one: by its
/// alias, or by the id that follows from the name.
pub(super) async fn known_as(annals: &Annals, name: &str) -> Result<Option<ObjectRef>, ViewError> {
    if alias::check(name).is_ok() {
        match annals.resolve(name).await {
            Ok(object) => return Ok(Some(object)),
            Err(ViewError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    let id = ids::intent(name).0;
    let place = annals.place(id).await?;
    Ok(place.map(|(kind, _)| ObjectRef { kind, id }))
}

/// That an intent got an alias.
pub(super) fn reserved(intent: IntentId, alias: &str) -> Emitted {
    let mut pieces = Pieces::new();
    let event = Reserved {
        kind: Kind::Intent.number(),
        object: intent.0,
        alias: pieces.text(alias),
    };
    Emitted {
        stream: alias::stream_of(alias),
        event: AnyEvent::Alias(event.into()),
        pieces,
    }
}

/// The command that gives an intent an alias.
pub(super) fn reserve(intent: IntentId, alias: String) -> ReserveAlias {
    ReserveAlias {
        object: intent.0,
        alias,
    }
}
