//! What names of files mean in a log.

use annals::domain::alias::{self, ReserveAlias, Reserved};
use annals::domain::{AnyEvent, Emitted, IntentId, Kind, Pieces, StreamRef};
use annals::{Annals, ObjectRef, ViewError};

use super::ids::Ids;

/// The object that has the name of an intent's file, if there is one: as its
/// alias, or by the id that follows from the name.
pub(super) async fn known_as(
    annals: &Annals,
    ids: &Ids,
    name: &str,
) -> Result<Option<ObjectRef>, ViewError> {
    if alias::check(name).is_ok() {
        match annals.resolve(name).await {
            Ok(object) => return Ok(Some(object)),
            Err(ViewError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    for IntentId(id) in ids.intents(name) {
        if let Some((kind, _)) = annals.index().place(id).await? {
            return Ok(Some(ObjectRef { kind, id }));
        }
    }
    Ok(None)
}

/// Returns `true` if a name can be an alias, also in the letters that it reads as.
pub(super) fn is_alias(name: &str) -> bool {
    alias::check(name).is_ok() && alias::check(&alias::plain(name)).is_ok()
}

/// The other object that a name reads like, if an intent is to have the name as its alias.
pub(super) async fn reads_like(
    annals: &Annals,
    ids: &Ids,
    name: &str,
    intent: IntentId,
) -> Result<Option<ObjectRef>, ViewError> {
    let plain = alias::plain(name);
    if plain == name {
        return Ok(None);
    }
    let known = known_as(annals, ids, &plain).await?;
    Ok(known.filter(|other| other.id != intent.0))
}

/// That an intent got an alias, in the stream that belongs to it.
pub(super) fn reserved(intent: IntentId, alias: &str, stream: StreamRef) -> Emitted {
    let mut pieces = Pieces::new();
    let event = Reserved {
        kind: Kind::Intent.number(),
        object: intent.0,
        alias: pieces.text(alias),
    };
    Emitted {
        stream,
        event: AnyEvent::Alias(event.into()),
        pieces,
    }
}

/// The command that gives an intent an alias.
pub(super) fn reserve(intent: IntentId, alias: String) -> ReserveAlias {
    ReserveAlias::new(intent.0, alias)
}
