//! What is accepted of an alias, and what happens then.

use uuid::Uuid;

use super::{ReserveAlias, Reserved, State};
use crate::folding::folded;
use crate::pieces::Pieces;
use crate::world::{Decided, Emitted, World};
use crate::{AnyEvent, DecideError, Meta, Refusal, StreamKind, StreamRef};

/// The most bytes of an alias.
pub const MAX_LENGTH: usize = 200;

/// So many hex digits may be the end of an id.
const ID_DIGITS: usize = 8;

/// The stream of an alias in a log without a secret of its own: its id is a UUID of version 5 over
/// the alias. In others it follows from the log's secret, see `Index::alias_stream`.
pub fn stream_of(alias: &str) -> StreamRef {
    let namespace = Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"alias.annals");
    StreamRef {
        kind: StreamKind::Alias,
        id: Uuid::new_v5(&namespace, alias.as_bytes()),
    }
}

/// Checks that a text can be an alias.
///
/// # Errors
/// [`Refusal::Invalid`].
pub fn check(alias: &str) -> Result<(), Refusal> {
    let refuse = |reason: &str| Err(Refusal::invalid("alias", reason));
    if alias.is_empty() || alias.len() > MAX_LENGTH {
        return refuse("it must have 1 to 200 bytes");
    }
    if alias
        .chars()
        .any(|c| c.is_whitespace() || c.is_control() || is_hidden(c) || c == '/' || c == '\\')
    {
        return refuse(
            "it must not hold white space, slashes, control characters or invisible ones",
        );
    }
    if let Some(name) = alias.strip_prefix('@')
        && (name == "last" || name.chars().all(|c| c.is_ascii_digit()))
    {
        return refuse("@last and @1, @2, ... are the newest sessions");
    }
    let digits = alias.chars().filter(|c| *c != '-').count();
    if digits >= ID_DIGITS && alias.chars().all(|c| c == '-' || c.is_ascii_hexdigit()) {
        return refuse("8 or more hex digits would be taken for the end of an id");
    }
    Ok(())
}

/// Characters that cannot be seen or that reorder others: two aliases that look
/// alike would be two for ever.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// An alias in the letters that it reads as: in lower case, without width, and in its compatible form.
///
/// ```
/// use annals_domain::alias::plain;
/// assert_eq!(plain("ｎice"), plain("Nice"));
/// ```
pub fn plain(alias: &str) -> String {
    folded(alias)
}

/// Refuses an alias that reads like another object's: in plain letters it is that one.
fn refuse_confusable(world: &mut World, command: &ReserveAlias) -> Result<(), DecideError> {
    let plain = plain(&command.alias);
    if plain == command.alias {
        return Ok(());
    }
    let refuse = |why: String| {
        let reason = format!(
            "{:?} reads like {plain:?}, {why}: choose another one",
            command.alias
        );
        Refusal::invalid("alias", reason)
    };
    if check(&plain).is_err() {
        return Err(refuse("which cannot be an alias".to_owned()).into());
    }
    let (_, state) = world.alias(&plain)?;
    match *state {
        State::Reserved { object } if object != command.object => {
            Err(refuse(format!("which is the alias of {object}")).into())
        }
        State::Reserved { .. } | State::Absent => Ok(()),
    }
}

pub(crate) fn reserve(world: &mut World, command: &ReserveAlias, _: &Meta) -> Decided {
    check(&command.alias)?;
    let (kind, _) = world.locate(command.object)?;
    let (stream, state) = world.alias(&command.alias)?;
    match *state {
        State::Absent => refuse_confusable(world, command)?,
        State::Reserved { object } if object == command.object => return Ok(Vec::new()),
        State::Reserved { object } => {
            let reason = format!("{:?} is the alias of {object} already", command.alias);
            return Err(Refusal::invalid("alias", reason).into());
        }
    }
    let mut pieces = Pieces::new();
    let event = Reserved {
        kind: kind.number(),
        object: command.object,
        alias: pieces.text(command.alias.as_str()),
    };
    Ok(vec![Emitted {
        stream,
        event: AnyEvent::Alias(event.into()),
        pieces,
    }])
}
