//! A reader beside a live writer: a RocksDB secondary that follows the file
//! WATERMARK and serves nothing above it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use annals_event_log::{Position, ReadError, Watermark};

use crate::db::Db;
use crate::error::{StoreFailure, corrupt, lost};
use crate::log::Inner;
use crate::open;
use crate::watermark_file::WatermarkFile;

/// How often a reader that waits looks at WATERMARK.
const POLL: Duration = Duration::from_millis(50);
/// How often it tries to see what WATERMARK promises. The writer may switch
/// files at any moment, and then the first attempts can miss.
const ATTEMPTS: u32 = 20;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(5);
/// How often a reader that is opened does all that: about a second.
const BEGINNINGS: u32 = 10;
/// How often it looks whether what it sees was published: about two seconds.
const PUBLICATIONS: u32 = 400;

/// What follows the writer.
pub(crate) struct Follower {
    file: WatermarkFile,
    served: Arc<Watermark>,
    catching_up: Mutex<()>,
    polling: Mutex<bool>,
}

impl Follower {
    pub(crate) fn new(file: WatermarkFile, served: Arc<Watermark>) -> Follower {
        Follower {
            file,
            served,
            catching_up: Mutex::default(),
            polling: Mutex::default(),
        }
    }

    /// Catches up with the writer, if it has moved; what is served now.
    pub(crate) fn refresh(&self, db: &Db) -> Result<Position, ReadError> {
        let Some(published) = self.published()? else {
            return Ok(self.served.get());
        };
        let _turn = self
            .catching_up
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if published <= self.served.get() {
            return Ok(self.served.get());
        }
        let mut attempt = 0;
        loop {
            attempt += 1;
            match catch_up(db) {
                // Where it is there, only not yet visible here, serve what is.
                Ok(seen) if seen >= published || attempt >= ATTEMPTS => {
                    // Read again: rows of a read model that came with this view
                    // were folded from what was published by then.
                    let published = self.read_file()?.unwrap_or(published);
                    self.served.advance(seen.min(published));
                    return Ok(self.served.get());
                }
                Err(error) if attempt >= ATTEMPTS => return Err(error),
                _ => std::thread::sleep(BETWEEN_ATTEMPTS),
            }
        }
    }

    /// Refreshes when the log is opened, where there is nothing older to serve:
    /// all that WATERMARK promises must come into view.
    pub(crate) fn begin(&self, db: &Db) -> Result<Position, ReadError> {
        let promised = self.read_file()?.unwrap_or_default();
        let mut seen = Position::START;
        for _ in 0..BEGINNINGS {
            seen = self.refresh(db)?;
            if seen >= promised {
                return Ok(seen);
            }
        }
        Err(corrupt(lost(promised, seen)))
    }

    fn read_file(&self) -> Result<Option<Position>, ReadError> {
        let published = self.file.read();
        published.map_err(|error| ReadError::Unavailable {
            source: Box::new(error),
        })
    }

    /// What WATERMARK says, if that is more than what is served. A value that
    /// is just being written is left for the next time.
    fn published(&self) -> Result<Option<Position>, ReadError> {
        let published = self.read_file()?;
        Ok(published.filter(|published| *published > self.served.get()))
    }

    /// Brings the view to a state that is durable as a whole, and keeps it there
    /// for as long as the guard lives.
    pub(crate) fn hold_still(&self, db: &Db) -> Result<MutexGuard<'_, ()>, ReadError> {
        match self.still(db)? {
            (turn, true) => Ok(turn),
            (_, false) => Err(StoreFailure::Unpublished.into()),
        }
    }

    /// The same, and whether all of the view is published. It is not where a
    /// writer ended just before it could.
    pub(crate) fn still(&self, db: &Db) -> Result<(MutexGuard<'_, ()>, bool), ReadError> {
        let turn = self
            .catching_up
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut seen = catch_up(db);
        for _ in 1..ATTEMPTS {
            if seen.is_ok() {
                break;
            }
            std::thread::sleep(BETWEEN_ATTEMPTS);
            seen = catch_up(db);
        }
        let seen = seen?;
        // The view stays as it is; what it shows is published after its sync.
        for _ in 0..PUBLICATIONS {
            if self.read_file()?.is_some_and(|published| seen <= published) {
                return Ok((turn, true));
            }
            std::thread::sleep(BETWEEN_ATTEMPTS);
        }
        Ok((turn, false))
    }

    /// Starts the thread that wakes those who wait, if it does not run yet.
    pub(crate) fn poll(&self, inner: &Arc<Inner>) {
        let mut polling = self.polling.lock().unwrap_or_else(PoisonError::into_inner);
        if *polling {
            return;
        }
        let inner = Arc::downgrade(inner);
        let thread = std::thread::Builder::new().name("annals-follower".into());
        match thread.spawn(move || follow(&inner)) {
            Ok(_) => *polling = true,
            Err(error) => tracing::error!(%error, "no thread to follow the writer with"),
        }
    }
}

/// Catches up once; the last position in view.
///
/// RocksDB reads the manifest and then opens the tables that it names. A table
/// that the writer merged into another one and deleted in between is left out
/// without an error, so that the view has a gap. No table is deleted before the
/// manifest says so: where that stood still, all were there.
fn catch_up(db: &Db) -> Result<Position, ReadError> {
    let mut before = open::manifest(&db.path);
    for _ in 0..ATTEMPTS {
        db.rocks
            .try_catch_up_with_primary()
            .map_err(|error| db.read_error(&error))?;
        let after = open::manifest(&db.path);
        if after == before {
            return db.last_position();
        }
        before = after;
    }
    Err(StoreFailure::Restless.into())
}

/// Refreshes until the log is closed or its last handle is gone.
fn follow(inner: &Weak<Inner>) {
    while let Some(inner) = inner.upgrade() {
        match inner.refresh() {
            Err(ReadError::Closed) => return,
            Err(error) => tracing::warn!(%error, "the reader cannot follow the writer"),
            Ok(_) => {}
        }
        drop(inner);
        std::thread::sleep(POLL);
    }
}
