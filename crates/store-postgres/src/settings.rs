//! What can be chosen when a log is opened.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use derive_setters::Setters;
use object_store::ObjectStore;
use tokio_postgres::Config;
use uuid::Uuid;

use crate::error::OpenError;

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
    /// Whether appends are told to other processes, and theirs listened to, on one connection for all logs of this
    /// process in the same database. It saves the time until the next poll, and costs the server a lock over all its databases for each
    /// notification.
    pub notify: bool,
    /// Connections for all but appends, which have one of their own; at least 1.
    pub connections: usize,
    /// How long a TCP connection to one address may take to be made; twice that is for all that it takes to be let in at
    /// one host.
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
    /// How long this process keeps the place of the one that keeps a read model current, without a sign of life: after
    /// that another one takes over, as soon as it asks again, which it does after a third of this time.
    pub leading_lasts: Duration,
    /// Bytes of appends that may wait; beyond them an append waits for room.
    pub queue_bytes: usize,
    /// Bytes of appends that go into one transaction, about.
    pub group_bytes: usize,
    /// Where content of more than 4 KiB is kept; in the database where it is `None`. All processes of a log name
    /// the same place. What is there stays where it is when this is changed, and is found as long as the place
    /// is named.
    #[setters(into)]
    pub objects: Option<Arc<dyn ObjectStore>>,
    /// The folder that `objects` is, where it is one: it is synced after content was removed from it, which the object
    /// store does not do by itself.
    #[setters(into)]
    pub objects_folder: Option<PathBuf>,
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
            leading_lasts: Duration::from_secs(10),
            queue_bytes: 128 * 1024 * 1024,
            group_bytes: 16 * 1024 * 1024,
            objects: None,
            objects_folder: None,
            log_id: None,
            writer_role: "annals_writer".to_owned(),
            reader_role: "annals_reader".to_owned(),
        }
    }

    /// Checks what is pasted into statements, and what is counted with.
    pub(crate) fn check(&self) -> Result<(), OpenError> {
        check_log(&self.log)?;
        for name in [&self.schema, &self.writer_role, &self.reader_role] {
            check_name(name)?;
        }
        for (name, time) in [
            ("connect_timeout", self.connect_timeout),
            ("statement_timeout", self.statement_timeout),
            ("lock_timeout", self.lock_timeout),
            (
                "idle_in_transaction_timeout",
                self.idle_in_transaction_timeout,
            ),
            ("patience", self.patience),
            ("poll", self.poll_least),
            ("poll", self.poll_most),
            ("leading_lasts", self.leading_lasts),
        ] {
            if !(SHORTEST..=LONGEST).contains(&time) {
                return Err(invalid(format!("{name} is from 1 ms to one day")));
            }
        }
        Ok(())
    }

    /// Whether there are several servers to choose from.
    pub(crate) fn has_several_hosts(&self) -> bool {
        self.server.get_hosts().len() > 1
    }
}

/// A limit of 0 is none to the server.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

fn invalid(reason: impl Into<String>) -> OpenError {
    OpenError::InvalidUrl {
        reason: reason.into(),
    }
}

fn check_log(log: &str) -> Result<(), OpenError> {
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
    match (1..=100).contains(&log.len()) && log.bytes().all(is_allowed) {
        true => Ok(()),
        false => Err(invalid(
            "a log's name is 1 to 100 of a-z, A-Z, 0-9, _, . and -",
        )),
    }
}

/// Such names need no quotes, and cannot end some.
fn check_name(name: &str) -> Result<(), OpenError> {
    let is_allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
    let begins = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    let is_one = begins && name.len() <= 63 && name.bytes().all(is_allowed);
    match is_one && !name.starts_with("pg_") {
        true => Ok(()),
        false => Err(invalid(
            "a schema's or a role's name is 1 to 63 of a-z, 0-9 and _, without a digit or pg_ first",
        )),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_no_url_can_say_is_refused_as_well() {
        let settings = Settings::from_url("postgres://localhost/a").unwrap();
        settings.check().unwrap();
        for bad in [
            settings.clone().with_schema("x\"; DROP SCHEMA y; --"),
            settings.clone().with_writer_role("a\"b"),
            settings.clone().with_reader_role("PG"),
            settings.clone().with_log("a/b"),
            settings.clone().with_patience(Duration::MAX),
            settings.clone().with_lock_timeout(Duration::ZERO),
            settings.with_statement_timeout(Duration::from_micros(10)),
        ] {
            let error = bad.check().unwrap_err();
            assert!(matches!(error, OpenError::InvalidUrl { .. }), "{error}");
        }
    }
}
