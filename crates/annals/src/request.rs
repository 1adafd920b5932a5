//! What is asked of a log, and what it answers.

use annals_domain::session::Verdict;
use annals_domain::{ActorRef, Command, CommandId, FrameId, Refusal, Timestamp};
use annals_event_log::{AppendError, Classification, Classified, ErrorClass, Position, ReadError};
use annals_projections::{CatalogueError, EntryError, ProjectionError};
use annals_wire::{DecodeError, EncodeError};
use uuid::Uuid;

/// One command with who gives it, when, and how it hangs together with others.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// What to do.
    pub command: Command,
    /// Who asks for it.
    pub actor: ActorRef,
    /// When it happened; left out, now.
    pub at: Option<Timestamp>,
    /// The batch id: repeating a request with the same key is safe.
    pub key: Option<Uuid>,
    /// What the events belong to, beyond their batch.
    pub correlation: Option<Uuid>,
    /// The event that led to them.
    pub causation: Option<Uuid>,
}

impl Request {
    /// A command by an actor, now.
    pub fn new(actor: ActorRef, command: impl Into<Command>) -> Request {
        Request {
            command: command.into(),
            actor,
            at: None,
            key: None,
            correlation: None,
            causation: None,
        }
    }

    /// The same, at a time of the caller's.
    pub fn at(self, at: Timestamp) -> Request {
        Request {
            at: Some(at),
            ..self
        }
    }

    /// The same, safe to repeat: the log executes what has this key once, and gives the first answer again, at any time
    /// and in any process. The key is the log's own, not that of an object or an actor. With another command, or by
    /// another actor, it is `KeyReused`; the time does not count. What creates an object has an id of the caller's
    /// choice then (`with_id`), the same each time: one that follows from the key, for example.
    pub fn key(self, key: Uuid) -> Request {
        Request {
            key: Some(key),
            ..self
        }
    }
}

/// What became of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The object that was created or changed; `None` only for a command that
    /// changed nothing and names no object.
    pub id: Option<Uuid>,
    /// The frame that was pushed.
    pub frame_id: Option<FrameId>,
    /// An agent's command that was given to a gate, and what the gate said.
    pub verdict: Option<(CommandId, Verdict)>,
    /// The position of the command's last event; the watermark for a command
    /// that changed nothing. A read at or after it sees what was done.
    pub position: Position,
    /// How many events there were.
    pub events: usize,
}

/// What became of a batch of commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchOutcome {
    /// One for each command, in order. Empty for a repeated batch of more
    /// than one command.
    pub outcomes: Vec<Outcome>,
    /// The position of the batch's last event.
    pub position: Position,
    /// Whether the batch had been executed before, and nothing was done now.
    pub repeated: bool,
}

/// What became of a command, except for its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecidedOutcome {
    /// The object that was created or changed; `None` only for a command that changed nothing and
    /// names no object.
    pub id: Option<Uuid>,
    /// The frame that was pushed.
    pub frame_id: Option<FrameId>,
    /// How many events there were.
    pub events: usize,
}

/// Why a command was not executed. Nothing of it was stored, except after
/// [`AppendError::Unavailable`], where that is unknown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// The command is refused.
    #[error("{command} is refused: {refusal}")]
    Refused {
        /// Its place in the batch, from 0.
        index: usize,
        /// Its name.
        command: &'static str,
        /// Why.
        refusal: Refusal,
    },
    /// The key was used before, for another request.
    #[error("the key {key} was used before for another request; use a new key for a new request")]
    KeyReused {
        /// The key.
        key: Uuid,
    },
    /// The key was used before, and for which request is not stored any more, so that this one
    /// cannot be shown to be its repeat: content of it was removed, or it came with an import.
    #[error(
        "the key {key} was used before, for positions {first} to {last}, and its request is not stored any more \
         (content was removed, or it was imported), so that this one cannot be shown to be the same; \
         `annals log --since {first}` says what was done; use a new key for a new request"
    )]
    KeyUnverifiable {
        /// The key.
        key: Uuid,
        /// The first position of the request that used it.
        first: Position,
        /// The last position of the request that used it.
        last: Position,
    },
    /// Other commands on the same objects came first, again and again.
    #[error("other commands came first {attempts} times; try again")]
    Contended {
        /// How often it was tried.
        attempts: u32,
    },
    /// The batch has no commands.
    #[error("the batch has no commands")]
    Empty,
    /// The commands were executed, and the answer does not say all of it.
    #[error(
        "executed up to position {position}, but the answer lacks {what}: read what was recorded there"
    )]
    Unanswered {
        /// What the answer lacks.
        what: &'static str,
        /// The position of the last event.
        position: Position,
    },
    /// The request could not be written as JSON.
    #[error("the request cannot be written as JSON: {0}")]
    Request(#[source] serde_json::Error),
    /// An event could not be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The log refused the events.
    #[error(transparent)]
    Append(AppendError),
    /// The log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Why a state or a view could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A record could not be decoded.
    #[error(transparent)]
    Decode(#[from] DecodeError),
    /// A record's content could not be brought together.
    #[error(transparent)]
    Entry(#[from] EntryError),
    /// The catalogue of objects gave no answer.
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    /// The log has not come as far as the requested position.
    #[error(
        "position {wanted} was not reached within {waited_ms} ms: the log ends at {reached}. Ask the log that gave you the position, or ask again"
    )]
    Behind {
        /// The requested position.
        wanted: Position,
        /// Where the log ends.
        reached: Position,
        /// How long it was waited for, in milliseconds.
        waited_ms: u64,
    },
    /// The rows of costs could not be read or written.
    #[error(transparent)]
    Costs(#[from] ProjectionError),
    /// An object could not be rendered as JSON.
    #[error("the object cannot be rendered as JSON: {0}")]
    Render(#[source] serde_json::Error),
}

impl BatchOutcome {
    /// What became of the only command of a batch.
    pub(crate) fn only(self) -> Result<Outcome, ExecuteError> {
        let position = self.position;
        let outcome = self.outcomes.into_iter().next();
        answered(outcome, "what became of the command", position)
    }
}

/// What an answer must have.
pub(crate) fn answered<T>(
    part: Option<T>,
    what: &'static str,
    position: Position,
) -> Result<T, ExecuteError> {
    part.ok_or(ExecuteError::Unanswered { what, position })
}

impl Classified for LoadError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, Unavailable};
        match self {
            LoadError::Read(error) => error.classify(),
            LoadError::Decode(error) => error.classify(),
            LoadError::Entry(error) => error.classify(),
            LoadError::Catalogue(error) => error.classify(),
            LoadError::Costs(error) => error.classify(),
            LoadError::Behind { .. } => Unavailable.code("behind"),
            LoadError::Render(_) => Failed.code("unreadable"),
        }
    }
}

impl ExecuteError {
    /// Whether it is only that the key was used before.
    pub(crate) fn is_of_the_key(&self) -> bool {
        matches!(
            self,
            ExecuteError::KeyReused { .. } | ExecuteError::KeyUnverifiable { .. }
        )
    }
}

/// What kind of cause a decider's refusal has, by the rule of [`ErrorClass`].
fn of_refusal(refusal: &Refusal) -> ErrorClass {
    match refusal {
        Refusal::NotFound { .. } | Refusal::Unknown { .. } => ErrorClass::NotFound,
        Refusal::Invalid { .. } => ErrorClass::Invalid,
        _ => ErrorClass::Refused,
    }
}

impl Classified for ExecuteError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Failed, Invalid, Refused};
        match self {
            ExecuteError::Refused { refusal, .. } => of_refusal(refusal).code(refusal.code()),
            ExecuteError::KeyReused { .. } => Refused.code("key_reused"),
            ExecuteError::KeyUnverifiable { .. } => Refused.code("key_unverifiable"),
            ExecuteError::Contended { .. } => Contended.code("contended"),
            ExecuteError::Empty => Invalid.code("empty"),
            ExecuteError::Unanswered { .. } => Failed.code("unanswered"),
            ExecuteError::Request(_) => Invalid.code("unencodable"),
            ExecuteError::Encode(error) => error.classify().of("unencodable"),
            ExecuteError::Append(error) => error.classify(),
            ExecuteError::Load(error) => error.classify().of("unreadable"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What was executed is not said to have been no request at all.
    #[test]
    fn an_answer_without_an_outcome_says_where_to_read_what_was_recorded() {
        let batch = BatchOutcome {
            outcomes: Vec::new(),
            position: Position(5),
            repeated: true,
        };
        let error = batch.only().expect_err("there is no outcome");
        assert_eq!(error.classify(), ErrorClass::Failed.code("unanswered"));
        assert!(error.to_string().contains("position 5"), "{error}");
    }
}
