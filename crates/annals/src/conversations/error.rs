//! Why there is no session.

use annals_event_log::{Classification, Classified, ErrorClass};
use annals_projections::SessionSummary;
use uuid::Uuid;

use crate::{At, LoadError};

/// Why there is no session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// No session has the name.
    #[error(
        "there is no session {name:?}: expected the beginning or the end of its id or of the agent's session id, @last or @2; `annals ls` lists the sessions"
    )]
    NotFound {
        /// The given name.
        name: String,
    },
    /// Several sessions have the name.
    #[error("{name:?} is ambiguous; give more of the id. It may be {}", list(.candidates))]
    Ambiguous {
        /// The given name.
        name: String,
        /// Sessions that it may be, newest first, at most ten.
        candidates: Vec<SessionSummary>,
    },
    /// The session had not begun.
    #[error("the session {id} had not begun at {}: give a later time, or leave out --at", shown(.at))]
    NotYet {
        /// The session.
        id: Uuid,
        /// The given time.
        at: At,
    },
    /// A pattern for paths cannot be read.
    #[error(
        "invalid pattern {:?} for paths: expected a glob of at most 1024 bytes, such as src/**/*.rs",
        beginning(pattern)
    )]
    Pattern {
        /// The pattern.
        pattern: String,
    },
    /// The log or the rows of sessions could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
}

fn list(candidates: &[SessionSummary]) -> String {
    let named = |session: &SessionSummary| match &session.title {
        Some(title) => format!("{} ({title})", session.id),
        None => session.id.to_string(),
    };
    candidates.iter().map(named).collect::<Vec<_>>().join(", ")
}

fn shown(at: &At) -> String {
    match at {
        At::Now => "the end of the log".to_owned(),
        At::Position(position) => format!("position {position}"),
        At::Recorded(time) => time.to_string(),
        At::Occurred(time) => format!("occurred:{time}"),
    }
}

impl Classified for SessionError {
    fn classify(&self) -> Classification {
        match self {
            SessionError::NotFound { .. } => ErrorClass::NotFound.code("not_found"),
            SessionError::Ambiguous { .. } => ErrorClass::Invalid.code("ambiguous"),
            SessionError::NotYet { .. } => ErrorClass::NotFound.code("not_yet"),
            SessionError::Pattern { .. } => ErrorClass::Invalid.code("invalid_pattern"),
            SessionError::Load(error) => error.classify(),
        }
    }
}

/// The beginning of a pattern: a long one is not repeated.
fn beginning(pattern: &str) -> String {
    pattern.chars().take(80).collect()
}
