//! Where the handles of a log find its database.

use std::sync::Arc;

use annals_event_log::ReadError;

use crate::db::Db;
use crate::latch::Latch;
use crate::sync::{PoisonError, RwLock};

/// The open database; nothing once the log is closed. A reader's is opened again
/// where RocksDB can no longer follow the writer, see [`crate::secondary`].
pub(crate) struct Slot {
    db: RwLock<Option<Arc<Db>>>,
    released: Arc<Latch>,
}

impl Slot {
    pub(crate) fn new(db: Arc<Db>) -> Arc<Slot> {
        let released = Arc::clone(&db.released.0);
        let db = RwLock::new(Some(db));
        Arc::new(Slot { db, released })
    }

    /// Given when the database is closed, and each that took its place.
    pub(crate) fn released(&self) -> &Latch {
        &self.released
    }

    pub(crate) fn get(&self) -> Result<Arc<Db>, ReadError> {
        let db = self.db.read().unwrap_or_else(PoisonError::into_inner);
        db.clone().ok_or(ReadError::Closed)
    }

    /// Takes the database away from every handle. It closes when the reads that
    /// are under way have let it go.
    pub(crate) fn take(&self) -> Option<Arc<Db>> {
        self.db
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Puts another one in its place, unless the log was closed meanwhile.
    pub(crate) fn replace(&self, db: Db) -> Result<(), ReadError> {
        let mut place = self.db.write().unwrap_or_else(PoisonError::into_inner);
        let open = place.as_mut().ok_or(ReadError::Closed)?;
        let before = std::mem::replace(open, Arc::new(db));
        drop(place);
        // It closes when its last reader drops it, and not under the lock.
        drop(before);
        Ok(())
    }
}
