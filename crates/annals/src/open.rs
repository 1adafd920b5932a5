//! Opening a log by its URL.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use annals_event_log::memory::MemoryLog;
use annals_event_log::{Classification, Classified, ErrorClass, Store};
use annals_store_rocks::{Options, RocksLog};
use annals_store_shared::{ShareError, SharedLog, check_owner};
use uuid::Uuid;

use crate::postgres_url::{PostgresUrl, shown};
use crate::{Annals, Files, named_removals};

/// Where a log is, from a text: `memory:`, `rocks:DIR`, a URL of PostgreSQL, or a path. Another text with `://` is
/// refused; any other text is a path, also one with a colon in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogUrl {
    /// A directory: `rocks:DIR`, or just a path.
    Rocks(PathBuf),
    /// In a PostgreSQL database: `postgres://USER@HOST/DATABASE?log=NAME`, or the same with `postgresql`. Whether the
    /// store is there is a question of this build, and asked when the log is opened.
    Postgres(PostgresUrl),
    /// In memory, gone when it is closed: `memory:`.
    Memory,
}

/// Why a log could not be opened. Nothing was altered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The URL names a kind of store that this build does not have.
    #[error(
        "unknown store {scheme:?} in {url:?}: expected a directory, rocks:DIR, postgres://USER@HOST/DATABASE or memory:"
    )]
    UnknownScheme {
        /// The URL, without a password.
        url: String,
        /// The part before its colon.
        scheme: String,
    },
    /// The URL is empty.
    #[error(
        "the log's URL is empty; use a directory, rocks:DIR, postgres://USER@HOST/DATABASE or memory:"
    )]
    Empty,
    /// The log is on PostgreSQL, and this build does not have the store.
    #[error(
        "this build has no store on PostgreSQL, and {url} is there: build with the feature `postgres` of the crate \
         annals (or annals-cli), or use a directory"
    )]
    WithoutPostgres {
        /// The URL.
        url: PostgresUrl,
    },
    /// One process was to have a log for itself that any number of them share.
    #[error(
        "{url} cannot be for one process alone: any number of processes on any machines may write to a log on \
         PostgreSQL. Leave `exclusive` out; where nobody else is to write, take the writer's role from them"
    )]
    NotExclusive {
        /// The URL.
        url: PostgresUrl,
    },
    /// The log on PostgreSQL could not be opened.
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Postgres(#[from] annals_store_postgres::OpenError),
    /// The embedded store could not be opened.
    #[error(transparent)]
    Rocks(#[from] annals_store_rocks::OpenError),
    /// The process that owns the log cannot be worked with.
    #[error(transparent)]
    Owner(ShareError),
}

impl Classified for OpenError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Invalid, Unsupported};
        match self {
            OpenError::UnknownScheme { .. } | OpenError::Empty => Invalid.code("invalid_log_url"),
            OpenError::WithoutPostgres { .. } => Unsupported.code("without_postgres"),
            OpenError::NotExclusive { .. } => Invalid.code("not_exclusive"),
            #[cfg(feature = "postgres")]
            OpenError::Postgres(error) => error.classify(),
            OpenError::Rocks(error) => error.classify(),
            OpenError::Owner(error) => error.classify(),
        }
    }
}

impl From<ShareError> for OpenError {
    fn from(error: ShareError) -> OpenError {
        match error {
            ShareError::Open(error) => OpenError::Rocks(error),
            error => OpenError::Owner(error),
        }
    }
}

impl FromStr for LogUrl {
    type Err = OpenError;

    fn from_str(url: &str) -> Result<LogUrl, OpenError> {
        if url.is_empty() || url == "rocks:" {
            return Err(OpenError::Empty);
        }
        match url.split_once(':') {
            Some(("rocks", path)) => Ok(LogUrl::Rocks(PathBuf::from(path))),
            Some(("memory", "")) => Ok(LogUrl::Memory),
            Some(("postgres" | "postgresql", rest)) if rest.starts_with("//") => {
                Ok(LogUrl::Postgres(PostgresUrl::new(url)))
            }
            // A slash is missing, and a password may be in it: no folder is called so.
            Some((scheme @ ("postgres" | "postgresql"), _)) => Err(OpenError::UnknownScheme {
                url: format!("{scheme}:***"),
                scheme: scheme.to_owned(),
            }),
            // A path may hold a colon, but a word before `://` is a scheme.
            Some((scheme, rest)) if rest.starts_with("//") => Err(OpenError::UnknownScheme {
                url: shown(url),
                scheme: scheme.to_owned(),
            }),
            _ => Ok(LogUrl::Rocks(PathBuf::from(url))),
        }
    }
}

/// How a log is opened.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    create: bool,
    create_new: bool,
    read_only: bool,
    exclusive: bool,
    at_once: bool,
    log_id: Option<Uuid>,
    store: Options,
}

impl OpenOptions {
    /// Opens a log that exists, for reading and writing.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// Creates the log if it does not exist.
    pub fn create(mut self, create: bool) -> OpenOptions {
        self.create = create;
        self
    }

    /// Creates the log, and fails if it exists.
    pub fn create_new(mut self, create_new: bool) -> OpenOptions {
        self.create_new = create_new;
        self
    }

    /// Opens for reading only: next to a process that writes, without its lock.
    pub fn read_only(mut self, read_only: bool) -> OpenOptions {
        self.read_only = read_only;
        self
    }

    /// Has the log for this process alone. Left out, it is shared: one process owns it, and others that open it
    /// for writing send it what they append; the next one takes its place when it goes. A log on PostgreSQL is
    /// always shared.
    pub fn exclusive(mut self, exclusive: bool) -> OpenOptions {
        self.exclusive = exclusive;
        self
    }

    /// Fails at once if the log can be opened only after a wait: another process is about to own it, or this user writes to it
    /// by way of its owner and there is none. Left out, that is waited for.
    pub fn at_once(mut self, at_once: bool) -> OpenOptions {
        self.at_once = at_once;
        self
    }

    /// The id for a log that is created; left out, it gets a new one.
    pub fn log_id(mut self, log_id: Uuid) -> OpenOptions {
        self.log_id = Some(log_id);
        self
    }

    /// Settings of the embedded store.
    pub fn store(mut self, store: Options) -> OpenOptions {
        self.store = store;
        self
    }

    /// Opens the log.
    ///
    /// # Errors
    /// [`OpenError`]; nothing is altered then.
    pub fn open(self, url: &str) -> Result<Annals, OpenError> {
        match url.parse()? {
            LogUrl::Memory => {
                let log_id = self.log_id.unwrap_or_else(annals_event_log::new_id);
                Ok(Annals::over(Arc::new(MemoryLog::new(log_id))))
            }
            LogUrl::Rocks(path) => {
                let mut store = self.store.clone();
                store.log_id = self.log_id.or(store.log_id);
                store.named_removals.get_or_insert(named_removals);
                match self.exclusive || self.read_only {
                    true => self.alone(&path, &store),
                    false => self.shared(&path, &store),
                }
            }
            LogUrl::Postgres(url) => self.on_postgres(url),
        }
    }

    fn alone(&self, path: &Path, store: &Options) -> Result<Annals, OpenError> {
        if !self.read_only {
            check_owner(path)?;
        }
        let log = if self.read_only {
            RocksLog::open_reader(path, store)?
        } else if self.create_new {
            RocksLog::create(path, store)?
        } else if self.create {
            RocksLog::open_or_create(path, store)?
        } else {
            RocksLog::open(path, store)?
        };
        let log = Arc::new(log);
        let port = Arc::clone(&log) as Arc<dyn Store>;
        Ok(Annals::with_files(port, Files::Alone(log)))
    }

    #[cfg(feature = "postgres")]
    fn on_postgres(&self, url: PostgresUrl) -> Result<Annals, OpenError> {
        use annals_store_postgres::{Access, PostgresLog, Settings};
        let mut settings = Settings::from_url(url.with_password())?.with_log_id(self.log_id);
        let log = if self.read_only {
            settings = settings.with_access(Access::ReadOnly);
            PostgresLog::open(&settings)?
        } else if self.exclusive {
            return Err(OpenError::NotExclusive { url });
        } else if self.create_new {
            PostgresLog::create(&settings)?
        } else if self.create {
            PostgresLog::open_or_create(&settings)?
        } else {
            PostgresLog::open(&settings)?
        };
        Ok(Annals::over(Arc::new(log)))
    }

    #[cfg(not(feature = "postgres"))]
    fn on_postgres(&self, url: PostgresUrl) -> Result<Annals, OpenError> {
        Err(OpenError::WithoutPostgres { url })
    }

    fn shared(&self, path: &Path, store: &Options) -> Result<Annals, OpenError> {
        let log = if self.create_new {
            SharedLog::create(path, store)?
        } else if self.create {
            SharedLog::open_or_create(path, store)?
        } else if self.at_once {
            SharedLog::open_now(path, store)?
        } else {
            SharedLog::open(path, store)?
        };
        let port = Arc::new(log.clone()) as Arc<dyn Store>;
        Ok(Annals::with_files(port, Files::Shared(log)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_read() {
        let rocks = |path: &str| LogUrl::Rocks(PathBuf::from(path));
        for (url, expected) in [
            ("memory:", LogUrl::Memory),
            ("rocks:/var/log/a", rocks("/var/log/a")),
            (".annals", rocks(".annals")),
            ("C:/logs", rocks("C:/logs")),
        ] {
            assert_eq!(url.parse::<LogUrl>().ok(), Some(expected), "{url}");
        }
        for bad in [
            "",
            "rocks:",
            "mysql://host/db",
            "postgres:/ada:hunter2@host/db",
        ] {
            assert!(bad.parse::<LogUrl>().is_err(), "{bad}");
        }
        for url in ["postgres://ada@host/db", "postgresql://host/db?log=a"] {
            let Ok(LogUrl::Postgres(found)) = url.parse() else {
                panic!("{url} is on PostgreSQL")
            };
            assert_eq!(found.with_password(), url);
        }
    }

    #[test]
    fn a_url_that_does_not_open_shows_no_password() {
        for url in [
            "postgres://ada:hunter2@host:port/db",
            "postgres://ada:hunter2@127.0.0.1/db?log=a/b",
            "mysql://ada:hunter2@host/db",
            "postgres:/ada:hunter2@host/db",
            "postgresql:ada:hunter2@host/db",
        ] {
            let error = OpenOptions::new().open(url).expect_err(url);
            let said = format!("{error} {error:?}");
            assert!(!said.contains("hunter2"), "{said}");
            let of_class = matches!(error.class(), ErrorClass::Usage | ErrorClass::Invalid);
            assert!(of_class || cfg!(not(feature = "postgres")), "{said}");
        }
    }

    #[test]
    fn a_log_on_postgres_is_for_no_process_alone() {
        let url = "postgres://ada:hunter2@127.0.0.1:1/db";
        let error = OpenOptions::new().exclusive(true).open(url).expect_err(url);
        let said = format!("{error} {error:?}");
        assert!(!said.contains("hunter2"), "{said}");
        match cfg!(feature = "postgres") {
            true => assert!(matches!(error, OpenError::NotExclusive { .. }), "{said}"),
            false => assert!(said.contains("feature `postgres`"), "{said}"),
        }
    }
}
