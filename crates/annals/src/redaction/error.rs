//! Why content was not removed.

use annals_event_log::{
    AppendError, Classification, Classified, Digest, ErrorClass, Position, ReadError, RedactError,
};
use annals_wire::EncodeError;
use uuid::Uuid;

use crate::LoadError;

/// Why nothing was redacted, or not all. The log is as it was, unless it is
/// [`RedactionError::Partly`], or [`annals_event_log::AppendError::Unavailable`] below
/// [`RedactionError::Store`], where it is unknown: repeat it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RedactionError {
    /// There is no such event.
    #[error("there is no event {position}: the log ends at {end}")]
    NoEvent {
        /// Where it was looked for.
        position: Position,
        /// The log's last position.
        end: Position,
    },
    /// No event has this id.
    #[error("there is no event with the id {id}")]
    NoSuchEvent {
        /// What was looked for.
        id: Uuid,
    },
    /// No event refers to such a blob.
    #[error(
        "no event refers to content with the digest {digest}; if it is stored all the same, `annals log gc --apply` removes it"
    )]
    NoBlob {
        /// What was looked for.
        digest: Digest,
    },
    /// The reason would say again what is removed.
    #[error("the reason has in it what is to be removed; say it in other words")]
    ReasonMatches,
    /// The actor has the pattern in it, which would be recorded with the redaction, for good.
    #[error(
        "the pattern is found in the actor, which is recorded with the redaction and stays; use another one"
    )]
    ActorMatches,
    /// A reason must be given.
    #[error("the reason is empty; say why the content must go")]
    NoReason,
    /// The actor is not a person, and the log has budgets, which compare names of projects, or counts how often agents give
    /// commands: a redaction gives it a new secret, from which the streams of token buckets follow, so that they would be full
    /// again.
    #[error(
        "a person removes content from a log with budgets or rate limits (an actor of the kind human), as both read what a \
         redaction removes; let a person run it, with --actor human:NAME"
    )]
    NotPermitted,
    /// The actor is not a person, and a person recorded or imported what is to be removed: an agent does not take back what it
    /// was told.
    #[error(
        "a person recorded or imported event {position}, whose content a person removes (an actor of the kind human); let a person run it, \
         with --actor human:NAME"
    )]
    OfAPerson {
        /// The first such event.
        position: Position,
    },
    /// Content was appended faster than it could be looked through.
    #[error("content that refers to the same blobs came {attempts} times meanwhile; try again")]
    Contended {
        /// How often it was tried.
        attempts: u32,
    },
    /// Content was removed, but not all of it: what came meanwhile could not be looked
    /// through. The same call removes the rest.
    #[error(
        "content of {} was removed (event {recorded}), but not what came meanwhile: {source}",
        counted(*.events)
    )]
    Partly {
        /// How many events lost content.
        events: usize,
        /// The last event that says so.
        recorded: Position,
        /// Why it went no further.
        #[source]
        source: Box<RedactionError>,
    },
    /// The log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// What is to be recorded cannot be written.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The store refused it.
    #[error(transparent)]
    Store(RedactError),
}

impl Classified for RedactionError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Invalid, NotFound, Refused};
        match self {
            RedactionError::NoEvent { .. } | RedactionError::NoSuchEvent { .. } => {
                NotFound.code("no_event")
            }
            RedactionError::NoBlob { .. } => NotFound.code("no_blob"),
            RedactionError::ReasonMatches | RedactionError::NoReason => {
                Invalid.code("invalid_reason")
            }
            RedactionError::ActorMatches => Invalid.code("invalid_actor"),
            RedactionError::NotPermitted | RedactionError::OfAPerson { .. } => {
                Refused.code("not_permitted")
            }
            RedactionError::Contended { .. } => Contended.code("contended"),
            RedactionError::Partly { source, .. } => source.classify().of("redaction_failed"),
            RedactionError::Load(error) => error.classify().of("redaction_failed"),
            RedactionError::Encode(error) => error.classify().of("redaction_failed"),
            RedactionError::Store(RedactError::Append(error @ AppendError::ReadOnly)) => {
                error.classify()
            }
            RedactionError::Store(error) => error.classify().of("redaction_failed"),
        }
    }
}

impl From<ReadError> for RedactionError {
    fn from(error: ReadError) -> RedactionError {
        LoadError::from(error).into()
    }
}

fn counted(count: usize) -> String {
    match count {
        1 => "1 event".to_owned(),
        count => format!("{count} events"),
    }
}
