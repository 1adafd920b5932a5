//! Opening a log by its URL.

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use annals_event_log::memory::MemoryLog;
use annals_event_log::{Classification, Classified, ErrorClass, Store};
use annals_store_rocks::RocksLog;
use uuid::Uuid;

use crate::Annals;

/// Where a log is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogUrl {
    /// A directory: `rocks:DIR`, or just a path.
    Rocks(PathBuf),
    /// In memory, gone when it is closed: `memory:`.
    Memory,
}

/// Why a log could not be opened. Nothing was altered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The URL names a kind of store that this build does not have.
    #[error("unknown store {scheme:?} in {url:?}: expected a directory, rocks:DIR or memory:")]
    UnknownScheme {
        /// The URL.
        url: String,
        /// The part before its colon.
        scheme: String,
    },
    /// The URL is empty.
    #[error("the log's URL is empty; use a directory, rocks:DIR or memory:")]
    Empty,
    /// The embedded store could not be opened.
    #[error(transparent)]
    Rocks(#[from] annals_store_rocks::OpenError),
}

impl Classified for OpenError {
    fn classify(&self) -> Classification {
        use ErrorClass::Invalid;
        match self {
            OpenError::UnknownScheme { .. } | OpenError::Empty => Invalid.code("invalid_log_url"),
            OpenError::Rocks(error) => error.classify(),
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
            // A path may hold a colon, but a word before `://` is a scheme.
            Some((scheme, rest)) if rest.starts_with("//") => Err(OpenError::UnknownScheme {
                url: url.to_owned(),
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
    log_id: Option<Uuid>,
    store: annals_store_rocks::Options,
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

    /// The id for a log that is created; left out, it gets a new one.
    pub fn log_id(mut self, log_id: Uuid) -> OpenOptions {
        self.log_id = Some(log_id);
        self
    }

    /// Settings of the embedded store.
    pub fn store(mut self, store: annals_store_rocks::Options) -> OpenOptions {
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
                let log_id = self.log_id.unwrap_or_else(Uuid::now_v7);
                Ok(Annals::over(Arc::new(MemoryLog::new(log_id))))
            }
            LogUrl::Rocks(path) => {
                let mut store = self.store;
                store.log_id = self.log_id.or(store.log_id);
                let log = if self.read_only {
                    RocksLog::open_reader(&path, &store)?
                } else if self.create_new {
                    RocksLog::create(&path, &store)?
                } else if self.create {
                    RocksLog::open_or_create(&path, &store)?
                } else {
                    RocksLog::open(&path, &store)?
                };
                let log = Arc::new(log);
                Ok(Annals::with_rocks(
                    Arc::clone(&log) as Arc<dyn Store>,
                    Some(log),
                ))
            }
        }
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
        for bad in ["", "rocks:", "postgres://host/db"] {
            assert!(bad.parse::<LogUrl>().is_err(), "{bad}");
        }
    }
}
