//! What can be chosen when a log is opened.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use derive_setters::Setters;
use object_store::ObjectStore;
use tokio_postgres::Config;
use uuid::Uuid;

/// What a process may do with a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Append, redact and keep read models.
    ReadWrite,
    /// Read alone; every session is read-only at the server, too.
    ReadOnly,
}

/// Whether connections are encrypted. A certificate is always verified: encryption to whoever answers protects
/// from nobody who can answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tls {
    /// They are not.
    Off,
    /// They are, and the server's certificate is signed by one of these authorities for the host's name.
    Verified {
        /// A file of certificates in PEM; the system's where it is `None`.
        roots: Option<PathBuf>,
    },
}

/// Where a log is, and how it is worked with. None of the choices changes what is stored.
///
/// ```
/// use annals_store_postgres::Settings;
/// # fn main() -> Result<(), annals_store_postgres::OpenError> {
/// let settings = Settings::from_url("postgres://annals@db1,db2/annals?log=team&require_synchronous=true")?
///     .with_notify(true);
/// assert_eq!(settings.log, "team");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Settings {
    /// Hosts, user, password and database.
    #[setters(skip)]
    pub(crate) server: Config,
    /// The log's name: 1 to 100 of `a-z`, `A-Z`, `0-9`, `_`, `.` and `-`.
    #[setters(into)]
    pub log: String,
    /// The schema that the tables are in: 1 to 63 of `a-z`, `0-9` and `_`, no digit first.
    #[setters(into)]
    pub schema: String,
    /// What this process may do.
    pub access: Access,
    /// Whether connections are encrypted.
    pub tls: Tls,
    /// Whether a server that could lose what it acknowledges is refused; else it is warned of.
    pub require_synchronous: bool,
    /// Whether a schema that is missing or older is brought up to date.
    pub migrate: bool,
    /// Whether appends are told to other processes, and theirs listened to. It saves the time until the next
    /// poll, and costs the server a lock over all its databases for each notification.
    pub notify: bool,
    /// Connections for all but appends, which have one of their own; at least 1.
    pub connections: usize,
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
    /// How long a statement may take, at the server.
    pub statement_timeout: Duration,
    /// How long a statement waits for a lock, such as that of the log's head.
    pub lock_timeout: Duration,
    /// How long a transaction may wait for this process: a process that stops in the middle of an append holds the
    /// log's head no longer than this.
    pub idle_in_transaction_timeout: Duration,
    /// How long an append or a read is tried again while the server cannot be reached, before it is refused.
    pub patience: Duration,
    /// The time between two looks at the log's head right after it moved.
    pub poll_least: Duration,
    /// The time between two looks at the log's head when nothing happens.
    pub poll_most: Duration,
    /// Bytes of appends that may wait; beyond them an append waits for room.
    pub queue_bytes: usize,
    /// Bytes of appends that go into one transaction, about.
    pub group_bytes: usize,
    /// Where content of more than 4 KiB is kept; in the database where it is `None`. All processes of a log name
    /// the same place. What is there stays where it is when this is changed, and is found as long as the place
    /// is named.
    #[setters(into)]
    pub objects: Option<Arc<dyn ObjectStore>>,
    /// The id of a log that is created; a new one (version 7) where it is `None`.
    #[setters(into)]
    pub log_id: Option<Uuid>,
    /// The role whose members may write: it is granted what that takes, where it exists.
    #[setters(into)]
    pub writer_role: String,
    /// The role whose members may read and change nothing.
    #[setters(into)]
    pub reader_role: String,
}

impl Settings {
    /// The usual settings for a server.
    pub(crate) fn usual(server: Config) -> Settings {
        Settings {
            server,
            log: "main".to_owned(),
            schema: "annals".to_owned(),
            access: Access::ReadWrite,
            tls: Tls::Off,
            require_synchronous: false,
            migrate: true,
            notify: false,
            connections: 4,
            connect_timeout: Duration::from_secs(5),
            statement_timeout: Duration::from_secs(60),
            lock_timeout: Duration::from_secs(10),
            idle_in_transaction_timeout: Duration::from_secs(10),
            patience: Duration::from_secs(30),
            poll_least: Duration::from_millis(4),
            poll_most: Duration::from_millis(250),
            queue_bytes: 128 * 1024 * 1024,
            group_bytes: 16 * 1024 * 1024,
            objects: None,
            log_id: None,
            writer_role: "annals_writer".to_owned(),
            reader_role: "annals_reader".to_owned(),
        }
    }

    /// Whether there are several servers to choose from.
    pub(crate) fn has_several_hosts(&self) -> bool {
        self.server.get_hosts().len() > 1
    }
}
