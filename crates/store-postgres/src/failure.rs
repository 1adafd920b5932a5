//! What a server, or the way to it, can fail with: what it means, what helps, and whether to try again.

use annals_event_log::{Classification, Classified, CommitError, ErrorClass, ReadError};

/// Why PostgreSQL did not do what it was asked for. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// User, password or the server's rules on who may connect.
    #[error(
        "the server refuses the user: {detail}. Check user and password (in the URL, or in PGPASSWORD), and the \
         server's pg_hba.conf; to try again does not help"
    )]
    AccessDenied {
        /// What the server said.
        detail: String,
    },
    /// There is no database of this name.
    #[error(
        "{detail}. Create it (`createdb NAME`) or name another one in the URL; to try again does not help"
    )]
    NoDatabase {
        /// What the server said.
        detail: String,
    },
    /// No connection could be made.
    #[error(
        "the server cannot be reached: {detail}. Check host, port and whether it runs; the same call may succeed \
         once it does"
    )]
    Unreachable {
        /// What failed.
        detail: String,
    },
    /// The connection ended, or nothing came back in time.
    #[error("the connection to the server was lost: {detail}. The same call may succeed at once")]
    Lost {
        /// What failed.
        detail: String,
    },
    /// The server wants TLS, and it is off here.
    #[error(
        "the server refuses this user from here without TLS, and perhaps with it: {detail}. Where its pg_hba.conf has a \
         hostssl line for them, put sslmode=require into the URL; to try again does not help"
    )]
    TlsRequired {
        /// What the server said.
        detail: String,
    },
    /// TLS is wanted here, and the server has none.
    #[error(
        "the server does not offer TLS, and the URL or its host demands it. Turn it on at the server \
         (ssl = on), or put sslmode=disable into the URL where the network is trusted; to try again does not help"
    )]
    TlsAbsent,
    /// TLS could not be agreed on, for example because the certificate is not trusted.
    #[error(
        "TLS with the server failed: {detail}. Name the authority that signed its certificate with \
         sslrootcert=FILE, and connect by a name that is in the certificate; to try again does not help"
    )]
    Tls {
        /// What failed.
        detail: String,
    },
    /// The server, the database or the user takes no writes.
    #[error(
        "the server is read-only: {detail}. Connect to the primary (name all hosts in the URL, and the one that \
         takes writes is chosen), or turn default_transaction_read_only off; after a fail-over the same call may succeed"
    )]
    ReadOnly {
        /// What the server said.
        detail: String,
    },
    /// There is no room on the server's disk.
    #[error("the server's disk is full: {detail}. Make room on it; the same call may succeed then")]
    DiskFull {
        /// What the server said.
        detail: String,
    },
    /// All connections of this process are in use.
    #[error(
        "all connections of this process are in use: {detail}. Raise connections=N in the URL, or ask for less at once; the \
         same call may succeed later"
    )]
    Busy {
        /// What the pool said.
        detail: String,
    },
    /// The server has no more room now.
    #[error(
        "the server takes no more now: {detail}. Lower the number of connections or raise max_connections; the same \
         call may succeed later"
    )]
    Overloaded {
        /// What the server said.
        detail: String,
    },
    /// The server shuts down, starts or recovers.
    #[error(
        "the server is stopping or starting: {detail}. The same call may succeed when it is up"
    )]
    Stopping {
        /// What the server said.
        detail: String,
    },
    /// A time limit passed: of a statement, of a lock, or of a transaction that did nothing.
    #[error(
        "a time limit passed: {detail}. Another session may hold what is needed (see pg_stat_activity); the same call \
         may succeed later"
    )]
    TimedOut {
        /// What the server said.
        detail: String,
    },
    /// Another transaction came first.
    #[error("another transaction came first: {detail}. The same call may succeed at once")]
    Contended {
        /// What the server said.
        detail: String,
    },
    /// The user may not do this.
    #[error(
        "the user may not do this: {detail}. To write takes a member of the writer's role, to read one of the reader's, and to \
         create or migrate a schema its owner; to try again does not help"
    )]
    NoPermission {
        /// What the server said.
        detail: String,
    },
    /// The log that was opened is not there any more.
    #[error(
        "the log {log_id} is not in this database any more: it was dropped, or another one is in its place. Open the \
         log again once you know why; to try again does not help"
    )]
    Gone {
        /// Its id.
        log_id: uuid::Uuid,
    },
    /// The log ends before where this process has seen it end.
    #[error(
        "the log ends at {found} on this server, and this process has seen it end at {seen}: the server lags behind, or \
         has lost events in a fail-over. The same call may succeed when it has caught up; where it has lost them, close \
         the log and open it again"
    )]
    Rewound {
        /// Where it ended.
        seen: u64,
        /// Where it ends now.
        found: u64,
    },
    /// A newer program has migrated the schema since the log was opened.
    #[error(
        "the schema has version {found} since another program migrated it, and this one knows versions up to {known}: use \
         the newer program; to try again does not help"
    )]
    Migrated {
        /// The schema's version.
        found: i64,
        /// What this program knows.
        known: i64,
    },
    /// The server could lose what it acknowledges, and `require_synchronous` refuses such a server.
    #[error(
        "the server may lose what it acknowledges: {reasons}. Change it there (docs/postgres.md), or open the log \
         without require_synchronous; to try again does not help"
    )]
    NotDurable {
        /// Each setting that is not as it must be.
        reasons: String,
    },
    /// A commit returned without the standbys that it was to wait for.
    #[error(
        "a commit's wait for standbys was cut short: {detail}. The same call may succeed when they have caught up"
    )]
    CutShort {
        /// What the server said.
        detail: String,
    },
    /// A table of ours is not there.
    #[error(
        "the schema is not that of a log: {detail}. Restore it, or where all of it is gone let `annals log init` make it; to try again \
         does not help"
    )]
    NoSchema {
        /// What the server said.
        detail: String,
    },
    /// The object store that has the blobs could not be used.
    #[error(
        "the object store of the blobs failed: {detail}. The same call may succeed when it works again"
    )]
    Objects {
        /// What failed.
        detail: String,
    },
    /// The server has no room for it by its own limits, such as that of an index for a key.
    #[error(
        "it is too large for the server: {detail}. A key of a read model's row has at most some 2,600 bytes; to try \
         again does not help"
    )]
    TooLarge {
        /// What the server said.
        detail: String,
    },
    /// Content is in an object store, and none is named.
    #[error(
        "{detail} is in an object store, and the URL names none. Put blobs=FOLDER into it; to try again does not help"
    )]
    NoObjectStore {
        /// Which content.
        detail: String,
    },
    /// The server found its files damaged, or rows contradict each other.
    #[error("what is stored is damaged: {detail}. Restore it from a backup or a standby")]
    Damaged {
        /// What was found.
        detail: String,
    },
    /// Anything else.
    #[error("the server refused: {detail} (SQLSTATE {code})")]
    Other {
        /// The SQLSTATE, empty where the fault is on this side.
        code: String,
        /// What was said.
        detail: String,
    },
}

impl Failure {
    /// Whether the same statements may pass on another connection, without anybody's doing.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Failure::Unreachable { .. }
                | Failure::Lost { .. }
                | Failure::Overloaded { .. }
                | Failure::Busy { .. }
                | Failure::Rewound { .. }
                | Failure::CutShort { .. }
                | Failure::Stopping { .. }
                | Failure::TimedOut { .. }
                | Failure::Contended { .. }
                | Failure::Objects { .. }
        )
    }

    /// Rows that contradict each other.
    pub(crate) fn damaged(detail: impl Into<String>) -> Failure {
        let detail = detail.into();
        Failure::Damaged { detail }
    }

    /// Nothing came back in time.
    pub(crate) fn no_answer(limit: std::time::Duration) -> Failure {
        let detail = format!("no answer within {limit:?}");
        Failure::Lost { detail }
    }
}

impl Classified for Failure {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Failed, Invalid, NotFound, Refused, Unavailable, Unsupported};
        match self {
            Failure::AccessDenied { .. } => Failed.code("access_denied"),
            Failure::NoDatabase { .. } => NotFound.code("no_database"),
            Failure::Unreachable { .. } => Unavailable.code("server_unreachable"),
            Failure::Lost { .. } => Unavailable.code("connection_lost"),
            Failure::TlsRequired { .. } => Failed.code("tls_required"),
            Failure::TlsAbsent => Failed.code("tls_absent"),
            Failure::Tls { .. } => Failed.code("tls_failed"),
            Failure::ReadOnly { .. } => Unavailable.code("server_read_only"),
            Failure::DiskFull { .. } => Unavailable.code("disk_full"),
            Failure::Overloaded { .. } => Unavailable.code("server_overloaded"),
            Failure::Busy { .. } => Unavailable.code("connections_busy"),
            Failure::Gone { .. } => NotFound.code("log_gone"),
            Failure::Rewound { .. } => Unavailable.code("log_went_back"),
            Failure::Migrated { .. } => Unsupported.code("newer_format"),
            Failure::NotDurable { .. } => Refused.code("not_durable"),
            Failure::CutShort { .. } => Unavailable.code("standbys_missing"),
            Failure::Stopping { .. } => Unavailable.code("server_stopping"),
            Failure::TimedOut { .. } => Unavailable.code("timed_out"),
            Failure::Contended { .. } => Contended.code("contended"),
            Failure::NoPermission { .. } => Failed.code("no_permission"),
            Failure::NoSchema { .. } => NotFound.code("no_schema"),
            Failure::Objects { .. } => Unavailable.code("object_store_failed"),
            Failure::TooLarge { .. } => Invalid.code("too_large"),
            Failure::NoObjectStore { .. } => Failed.code("no_object_store"),
            Failure::Damaged { .. } => Classification::CORRUPT,
            Failure::Other { .. } => Failed.code("server_refused"),
        }
    }
}

impl From<Failure> for ReadError {
    fn from(failure: Failure) -> ReadError {
        match failure {
            Failure::Damaged { detail } => ReadError::Corrupt { reason: detail },
            failure => ReadError::Unavailable {
                source: Box::new(failure),
            },
        }
    }
}

impl From<Failure> for CommitError {
    fn from(failure: Failure) -> CommitError {
        match failure {
            Failure::Damaged { detail } => CommitError::Corrupt { reason: detail },
            Failure::NoPermission { .. } => CommitError::ReadOnly,
            failure => CommitError::Unavailable {
                source: Box::new(failure),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who reads an error knows whether to try again, and so does a program.
    #[test]
    fn words_and_class_say_the_same_of_a_retry() {
        let detail = String::new;
        let all = [
            Failure::AccessDenied { detail: detail() },
            Failure::NoDatabase { detail: detail() },
            Failure::Unreachable { detail: detail() },
            Failure::Lost { detail: detail() },
            Failure::TlsRequired { detail: detail() },
            Failure::TlsAbsent,
            Failure::Tls { detail: detail() },
            Failure::ReadOnly { detail: detail() },
            Failure::DiskFull { detail: detail() },
            Failure::Overloaded { detail: detail() },
            Failure::Busy { detail: detail() },
            Failure::Gone {
                log_id: uuid::Uuid::nil(),
            },
            Failure::Rewound { seen: 2, found: 1 },
            Failure::Migrated { found: 2, known: 1 },
            Failure::NotDurable { reasons: detail() },
            Failure::CutShort { detail: detail() },
            Failure::Stopping { detail: detail() },
            Failure::TimedOut { detail: detail() },
            Failure::Contended { detail: detail() },
            Failure::NoPermission { detail: detail() },
            Failure::NoSchema { detail: detail() },
            Failure::Objects { detail: detail() },
            Failure::TooLarge { detail: detail() },
            Failure::NoObjectStore { detail: detail() },
        ];
        for failure in all {
            let text = failure.to_string();
            let helps = text.contains("may succeed");
            assert_eq!(failure.is_retryable(), helps, "{text}");
            assert_eq!(
                text.contains("to try again does not help"),
                !helps,
                "{text}"
            );
            // What is tried again unasked is what may be tried again.
            assert!(!failure.is_transient() || helps, "{text}");
        }
    }
}
