//! Why a log could not be opened or created.

use annals_event_log::{Classification, Classified, ErrorClass};
use uuid::Uuid;

use crate::failure::Failure;

/// Why a log could not be opened or created. No event was altered.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The URL cannot be read, or asks for what does not go together.
    #[error("invalid URL of a log: {reason}. Expected postgres://USER@HOST/DATABASE?log=NAME")]
    InvalidUrl {
        /// What is wrong with it. It never has the password.
        reason: String,
    },
    /// There is no log of this name.
    #[error("there is no log {log:?} in the schema {schema:?}; `annals log init` creates one")]
    NotFound {
        /// The log's name.
        log: String,
        /// The schema that was looked at.
        schema: String,
    },
    /// A log of this name exists already.
    #[error(
        "there is a log {log:?} in the schema {schema:?} already; open it, or choose another name"
    )]
    AlreadyExists {
        /// The log's name.
        log: String,
        /// The schema that it is in.
        schema: String,
    },
    /// Another log of the schema has the id that this one was to get.
    #[error(
        "the schema {schema:?} has a log with the id {log_id} already, under another name; a log and its copy are in \
         schemas of their own: put schema=NAME into the URL"
    )]
    IdTaken {
        /// The id.
        log_id: Uuid,
        /// The schema.
        schema: String,
    },
    /// The tables were made by a newer version of this program.
    #[error(
        "the schema {schema:?} has version {found}, and this program knows versions up to {known}; use a newer program"
    )]
    NewerSchema {
        /// The schema.
        schema: String,
        /// Its version.
        found: i64,
        /// The newest version that this program knows.
        known: i64,
    },
    /// The tables were made by an older version of this program, and this opening may not change them.
    #[error(
        "the schema {schema:?} has version {found}, and this program needs {known}; open the log once for writing, as \
         the owner of the schema and without migrate=false, which brings it up to date"
    )]
    OlderSchema {
        /// The schema.
        schema: String,
        /// Its version.
        found: i64,
        /// The version that this program needs.
        known: i64,
    },
    /// Another process is changing the schema, and has been for long.
    #[error(
        "another process ({holder}) has been migrating the schema {schema:?} for longer than {waited_seconds} s; try \
         again when it is done, or when its lease ends"
    )]
    Migrating {
        /// The schema.
        schema: String,
        /// Who holds the lease.
        holder: String,
        /// How long this process waited for it.
        waited_seconds: u64,
    },
    /// The server could lose what it acknowledges, and `require_synchronous` refuses such a server.
    #[error(
        "the server may lose what it acknowledges: {reasons}. Change it there (docs/postgres.md), or open the log \
         without require_synchronous"
    )]
    NotDurable {
        /// Each setting that is not as it must be.
        reasons: String,
    },
    /// Texts are not UTF-8 in this database.
    #[error(
        "the database has the encoding {encoding}, and a log needs UTF8; create another database for it"
    )]
    Encoding {
        /// The database's encoding.
        encoding: String,
    },
    /// No answer came to the making of the log.
    #[error(
        "whether the log was created is not known: {failure}. Look whether it is there (`annals log`) before you create it \
         again"
    )]
    PerhapsMade {
        /// What the last attempt failed with.
        failure: Failure,
    },
    /// The log's own threads could not be started.
    #[error("the threads of the log cannot be started: {detail}")]
    Threads {
        /// What the operating system said.
        detail: String,
    },
    /// The server, or the way to it, failed.
    #[error(transparent)]
    Server(#[from] Failure),
}

impl Classified for OpenError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Failed, NotFound, Refused, Unavailable, Unsupported, Usage};
        match self {
            OpenError::InvalidUrl { .. } => Usage.code("invalid_url"),
            OpenError::NotFound { .. } => NotFound.code("no_log"),
            OpenError::AlreadyExists { .. } => Refused.code("log_exists"),
            OpenError::IdTaken { .. } => Refused.code("id_taken"),
            OpenError::NewerSchema { .. } => Unsupported.code("newer_format"),
            OpenError::OlderSchema { .. } => Unsupported.code("older_format"),
            OpenError::Migrating { .. } => Contended.code("migrating"),
            OpenError::NotDurable { .. } => Refused.code("not_durable"),
            OpenError::Encoding { .. } => Failed.code("encoding"),
            OpenError::PerhapsMade { .. } => Unavailable.code("outcome_unknown"),
            OpenError::Threads { .. } => Unavailable.code("no_threads"),
            OpenError::Server(failure) => failure.classify(),
        }
    }
}

impl From<tokio_postgres::Error> for OpenError {
    fn from(error: tokio_postgres::Error) -> OpenError {
        OpenError::Server(error.into())
    }
}
