//! Commands that bring an idempotency key of their own, and those that are a batch by themselves.

use annals_domain::{OwnKey, Refusal};
use uuid::Uuid;

use crate::{ExecuteError, Request};

/// Demands of each command that must be alone in its batch that it is.
pub(crate) fn demand_alone(requests: &[Request]) -> Result<(), ExecuteError> {
    if requests.len() < 2 {
        return Ok(());
    }
    let must_be_alone = |(index, request): (usize, &Request)| {
        let why = request.command.must_be_alone()?;
        Some((index, request.command.name(), why))
    };
    match requests.iter().enumerate().find_map(must_be_alone) {
        None => Ok(()),
        Some((index, command, why)) => Err(ExecuteError::Refused {
            index,
            command,
            refusal: Refusal::invalid(
                "command",
                format!("it is given alone, not in a batch: {why}"),
            ),
        }),
    }
}

/// The request as it is executed: with the command's own key in the place of the caller's, if it has one.
pub(crate) fn with_own_key(request: Request) -> Request {
    let command = request.command.named(request.key, annals_event_log::new_id);
    let own = command.own_key().map(|own| own.key);
    Request {
        key: own.or(request.key),
        command,
        ..request
    }
}

/// What the caller knows a batch by.
pub(crate) struct KnownBy {
    key: Option<Uuid>,
    /// The one command, if the caller gave it its id, and its name.
    given: Option<(&'static str, OwnKey)>,
}

impl KnownBy {
    pub(crate) fn of(key: Option<Uuid>, requests: &[Request]) -> KnownBy {
        let first = requests.first().map(|request| &request.command);
        let given = first.and_then(|command| Some((command.name(), command.own_key()?)));
        KnownBy { key, given }
    }

    /// A key that was used before, as the caller knows it: by the command's id, or else by the key that it
    /// gave, from which the id was made.
    pub(crate) fn explain(self, error: ExecuteError) -> ExecuteError {
        match (self.given, self.key, error) {
            (None, Some(key), ExecuteError::KeyReused { .. }) => ExecuteError::KeyReused { key },
            (None, Some(key), ExecuteError::KeyUnverifiable { first, last, .. }) => {
                ExecuteError::KeyUnverifiable { key, first, last }
            }
            (Some((command, OwnKey { id, .. })), _, ExecuteError::KeyReused { .. }) => used(
                command,
                format!("{id} was given before, as another command; give each command its own id"),
            ),
            (
                Some((command, OwnKey { id, .. })),
                _,
                ExecuteError::KeyUnverifiable { first, .. },
            ) => used(
                command,
                format!(
                    "{id} was given before (position {first}), and its request is not stored any more, so that \
                     this cannot be shown to be the same command; give each command its own id"
                ),
            ),
            (_, _, error) => error,
        }
    }
}

/// The id of a command that belongs to another one.
fn used(command: &'static str, reason: String) -> ExecuteError {
    ExecuteError::Refused {
        index: 0,
        command,
        refusal: Refusal::invalid("id", reason),
    }
}
