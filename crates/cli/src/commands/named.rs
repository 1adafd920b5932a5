//! Objects and words by the names that a caller gives.

use annals::domain::{Kind, SessionId};
use annals::{Annals, ObjectRef, SessionError, ViewError};
use uuid::Uuid;

use crate::error::CliError;

/// The id of an object, if it is of this kind.
pub(super) fn of_kind(object: ObjectRef, expected: Kind) -> Result<Uuid, CliError> {
    Ok(object.of_kind(expected)?)
}

/// An object by its name; a session also by the beginning or the end of its id or of the agent's session id, or as @last or @2.
pub(super) async fn object(annals: &Annals, name: &str) -> Result<ObjectRef, CliError> {
    let no_object = match annals.resolve(name).await {
        Ok(object) => return Ok(object),
        Err(error @ (ViewError::NotFound { .. } | ViewError::InvalidId { .. })) => error,
        Err(error) => return Err(error.into()),
    };
    match annals.conversations().find(name).await {
        Ok(session) => Ok(annals.resolve(&session.id.to_string()).await?),
        Err(SessionError::NotFound { .. }) if !name.starts_with('@') => Err(no_object.into()),
        Err(error) => Err(error.into()),
    }
}

/// A session by its id.
pub(super) async fn session(annals: &Annals, id: &str) -> Result<SessionId, CliError> {
    let object = annals.resolve(id).await?;
    of_kind(object, Kind::Session).map(SessionId)
}

/// The word of `known` that shares most parts with `name`, as a question.
pub(super) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let parts = |word: &str| -> Vec<String> {
        word.to_ascii_lowercase()
            .split(['_', '.', '-'])
            .map(str::to_owned)
            .collect()
    };
    let asked = parts(name);
    let shared = |word: &str| {
        parts(word)
            .iter()
            .filter(|part| asked.contains(part))
            .count()
    };
    // Of words that share as many parts the one that begins alike.
    let alike = |word: &str| {
        let both = word.bytes().zip(name.bytes());
        both.take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count()
    };
    let best = known
        .into_iter()
        .map(|word| (shared(word), word))
        .max_by_key(|(shared, word)| (*shared, alike(word)));
    match best {
        Some((shared, word)) if shared > 0 => format!(" (did you mean {word}?)"),
        _ => String::new(),
    }
}
