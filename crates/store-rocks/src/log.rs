//! The log as a handle: opening it, and what every read and append goes through.

mod keep;
mod ports;

use std::path::Path;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use annals_event_log::store_support::{RequestDigest, random_salt};
use annals_event_log::{Append, AppendError, BatchId, Position, Prepared, ReadError, Watermark};
use annals_files::Scratch;
use futures::channel::oneshot;
use rayon::{ThreadPool, ThreadPoolBuilder};
use uuid::Uuid;

use crate::db::Db;
use crate::error::{OpenError, StoreFailure};
use crate::models::Turns;
use crate::open::{self, Access, Opened};
use crate::open_reader;
use crate::options::Options;
use crate::read::{Shown, View};
use crate::secondary::{Began, Follower};
use crate::slot::Slot;

/// How the folders are named for a log of rows that are not to last.
const ROWS: &str = "annals-rows-";

/// How long dropping the last handle waits for reads that are under way.
const DROP_WAIT: Duration = Duration::from_secs(5);

/// How often a reader that waits looks at WATERMARK.
const POLL: Duration = Duration::from_millis(50);

/// A log in a directory, on RocksDB.
///
/// One process writes ([`RocksLog::open`]), any number may read at the same time
/// ([`RocksLog::open_reader`]). Clones are handles of the same log. When the
/// last one is dropped, what was accepted is written and the directory is
/// released; [`EventLog::close`](annals_event_log::EventLog::close) does the same and
/// can be waited for.
#[derive(Clone)]
pub struct RocksLog {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    log_id: Uuid,
    db: Arc<Slot>,
    pub(crate) watermark: Arc<Watermark>,
    access: Access,
    readers: ThreadPool,
    turns: Arc<Turns>,
    /// Held while files are rewritten.
    purging: Mutex<()>,
    /// The folder of a log that goes with its last handle.
    _folder: Option<Scratch>,
}

impl std::fmt::Debug for RocksLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RocksLog")
            .field("log_id", &self.inner.log_id)
            .field("watermark", &self.inner.watermark.get())
            .finish_non_exhaustive()
    }
}

impl RocksLog {
    /// Makes a new log in a directory that is new or empty, and opens it for
    /// writing. An interrupted creation is completed.
    ///
    /// # Errors
    /// [`OpenError::AlreadyExists`], [`OpenError::NotEmpty`], and what the
    /// operating system refuses.
    pub fn create(path: &Path, options: &Options) -> Result<RocksLog, OpenError> {
        RocksLog::start(path, options, open::create(path, options)?)
    }

    /// Opens an existing log for writing.
    ///
    /// # Errors
    /// Each of [`OpenError`]. What the log says is as it was then.
    pub fn open(path: &Path, options: &Options) -> Result<RocksLog, OpenError> {
        RocksLog::start(path, options, open::open(path, options)?)
    }

    /// Opens a log for writing, making it first where there is none.
    ///
    /// # Errors
    /// Each of [`OpenError`].
    pub fn open_or_create(path: &Path, options: &Options) -> Result<RocksLog, OpenError> {
        match RocksLog::open(path, options) {
            Err(OpenError::NotFound { .. } | OpenError::CreationInterrupted { .. }) => {
                RocksLog::create(path, options)
            }
            opened => opened,
        }
    }

    /// Opens an existing log for reading, whether or not it is being written.
    /// It takes no lock and writes nothing to the directory.
    ///
    /// # Errors
    /// Each of [`OpenError`] but [`OpenError::Locked`].
    pub fn open_reader(path: &Path, options: &Options) -> Result<RocksLog, OpenError> {
        RocksLog::start(path, options, open_reader::open_reader(path, options)?)
    }

    /// Makes a log in a temporary folder, which goes with the last handle. It is a place for
    /// rows that are not to last.
    ///
    /// # Errors
    /// [`OpenError::NoTemporary`], and others that the operating system has reasons for.
    pub fn temporary(options: &Options) -> Result<RocksLog, OpenError> {
        RocksLog::temporary_in(options, None)
    }

    /// Like [`RocksLog::temporary`]; where no temporary folder can be made, it is in this log's folder.
    ///
    /// # Errors
    /// As [`RocksLog::temporary`].
    pub fn temporary_beside(&self, options: &Options) -> Result<RocksLog, OpenError> {
        let path = self.inner.db.get().map(|db| db.path.clone());
        RocksLog::temporary_in(options, path.ok().as_deref())
    }

    fn temporary_in(options: &Options, log: Option<&Path>) -> Result<RocksLog, OpenError> {
        let folder = Scratch::new(ROWS, log).map_err(OpenError::NoTemporary)?;
        let path = folder.path().join("log");
        let opened = open::create_in_place(&path, options)?;
        RocksLog::start_in(&path, options, opened, Some(folder))
    }

    /// Brings a reader's view to what the writer has done by now, also where that moved no
    /// watermark, as the last step of a redaction. For the writer's own handle there is nothing to do.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn catch_up(&self) -> Result<(), ReadError> {
        let Access::Follow(follower) = &self.inner.access else {
            return Ok(());
        };
        let follower = Arc::clone(follower);
        run(&self.inner, move |_| follower.catch_up_now()).await
    }

    pub(crate) fn start(
        path: &Path,
        options: &Options,
        opened: Opened,
    ) -> Result<RocksLog, OpenError> {
        RocksLog::start_in(path, options, opened, None)
    }

    fn start_in(
        path: &Path,
        options: &Options,
        opened: Opened,
        folder: Option<Scratch>,
    ) -> Result<RocksLog, OpenError> {
        let Opened {
            log_id,
            db,
            watermark,
            access,
        } = opened;
        let readers = ThreadPoolBuilder::new()
            .num_threads(options.read_threads.max(1))
            .thread_name(|n| format!("annals-reader-{n}"))
            // The caller that waits for the answer gets the error that the thread was lost.
            .panic_handler(|_| tracing::error!("a read ended in a panic"))
            .build()
            .map_err(|error| OpenError::io(path, std::io::Error::other(error)))?;
        let turns = Arc::default();
        let inner = Inner {
            log_id,
            db,
            watermark,
            access,
            readers,
            turns,
            _folder: folder,
            purging: Mutex::default(),
        };
        Ok(RocksLog {
            inner: Arc::new(inner),
        })
    }
}

impl Inner {
    fn db(&self) -> Result<Arc<Db>, ReadError> {
        self.db.get()
    }

    /// The newest watermark; a reader catches up with the writer first.
    pub(crate) fn refresh(&self) -> Result<(Arc<Db>, Position), ReadError> {
        self.visibility().refresh(self.db()?)
    }

    fn visibility(&self) -> Visibility {
        match &self.access {
            Access::Write(_) => Visibility::Own(Arc::clone(&self.watermark)),
            Access::Follow(follower) => Visibility::Followed(Arc::clone(follower)),
        }
    }
}

/// How a read learns the watermark, and from which database. Reads hold this and
/// not the log itself, so that the last handle is never dropped by one of them.
enum Visibility {
    Own(Arc<Watermark>),
    Followed(Arc<Follower>),
}

impl Visibility {
    /// The watermark and the database that has all of it in view.
    fn refresh(&self, db: Arc<Db>) -> Result<(Arc<Db>, Position), ReadError> {
        match self {
            Visibility::Own(watermark) => Ok((db, watermark.get())),
            Visibility::Followed(follower) => {
                drop(db);
                follower.refresh()
            }
        }
    }

    /// Where the files end, if that is behind the watermark and no writer publishes it.
    fn unpublished(&self) -> Option<Position> {
        match self {
            Visibility::Own(_) => None,
            Visibility::Followed(follower) => follower.unpublished(),
        }
    }
}

impl Visibility {
    /// Which rows of read models are shown.
    fn rows(&self, db: &Db) -> Result<Shown, ReadError> {
        match self {
            Visibility::Own(_) => Ok(Shown::All),
            Visibility::Followed(follower) => follower.rows(db),
        }
    }

    /// The view as a read finds it; nothing, where it is ours.
    fn began(&self) -> Option<Began> {
        match self {
            Visibility::Own(_) => None,
            Visibility::Followed(follower) => Some(follower.began()),
        }
    }

    /// Whether what was read since can be answered.
    fn confirm(&self, began: Option<Began>) -> Result<(), ReadError> {
        match (self, began) {
            (Visibility::Followed(follower), Some(began)) => follower.confirm(began),
            _ => Ok(()),
        }
    }
}

impl Visibility {
    /// Refuses what a view failed at that the writer may have removed the files of.
    fn confirm_newest(&self, db: &Db) -> Result<(), ReadError> {
        match self {
            Visibility::Followed(_) if db.pace.is_behind(&db.folder.held()) => {
                Err(StoreFailure::Restless.into())
            }
            _ => Ok(()),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.watermark.close();
        if let Access::Write(writer) = &self.access {
            writer.shut();
            writer.join();
        }
        drop(self.db.take());
        // So that the directory can be opened again at once. It is not waited
        // for longer: a read that was dropped may still be running.
        if !self.db.released().wait_blocking(DROP_WAIT) {
            tracing::warn!("a read is still running; the directory is released when it ends");
        }
    }
}

/// Runs a read on the store's own threads. Dropping the future is safe: a read
/// that has not begun is not made. Nor is one that a reader's log is closed
/// before.
async fn run<T, E, F>(inner: &Arc<Inner>, read: F) -> Result<T, E>
where
    T: Send + 'static,
    E: From<ReadError> + Send + 'static,
    F: FnOnce(&View<'_>) -> Result<T, E> + Send + 'static,
{
    let db = inner.db()?;
    let (answer, answered) = oneshot::channel();
    let visibility = inner.visibility();
    inner.readers.spawn(move || {
        if answer.is_canceled() {
            return;
        }
        let result = (|| {
            let (db, watermark) = visibility.refresh(db)?;
            let began = visibility.began();
            let answer = read(&View {
                db: &db,
                columns: db.columns()?,
                watermark,
                rows: visibility.rows(&db)?,
            });
            visibility.confirm(began)?;
            if answer.is_err() {
                visibility.confirm_newest(&db)?;
            }
            answer
        })();
        let _ = answer.send(result);
    });
    answered
        .await
        .unwrap_or_else(|_| Err(ReadError::from(StoreFailure::ThreadLost).into()))
}

/// Whether a writer's log has nothing of a batch, as far as memory shows without the disk. An importer
/// asks this of each batch before it decides it; nearly all are new, and to ask another thread would take longer
/// than the answer.
fn is_new(inner: &Inner, batch: BatchId) -> Result<bool, ReadError> {
    let Some(db) = writers(inner)? else {
        return Ok(false);
    };
    let columns = db.columns()?;
    Ok(!db.may_have(columns.batches, batch.as_bytes()))
}

/// The database of a log that is open for writing here: all that it has is in view.
fn writers(inner: &Inner) -> Result<Option<Arc<Db>>, ReadError> {
    match &inner.access {
        Access::Write(_) => inner.db().map(Some),
        Access::Follow(_) => Ok(None),
    }
}

/// Hashes and encodes an append: a large one on the store's own threads, so
/// that it does not hold up the caller's executor.
async fn prepare(
    inner: &Arc<Inner>,
    append: Append,
) -> Result<(Prepared, RequestDigest), AppendError> {
    let is_small = append.is_small();
    let work = move || {
        let prepared = Prepared::new(append)?;
        let request = RequestDigest::new(random_salt(), &prepared.request);
        Ok((prepared, request))
    };
    if is_small {
        return work();
    }
    let (answer, answered) = oneshot::channel();
    inner.readers.spawn(move || {
        // A caller that is gone needs no answer.
        let _ = answer.send(work());
    });
    answered
        .await
        .unwrap_or_else(|_| Err(StoreFailure::ThreadLost.into()))
}

/// Refreshes until the log is closed or its last handle is gone.
fn follow(inner: &Weak<Inner>) {
    let mut said = String::new();
    while let Some(inner) = inner.upgrade() {
        match inner.refresh() {
            Err(error @ ReadError::Moved { .. }) => {
                tracing::warn!(%error, "the reader cannot follow the writer");
                inner.watermark.close();
                return;
            }
            Err(ReadError::Closed) => return,
            // Once, and not twenty times a second for as long as it lasts.
            Err(error) if error.to_string() == said => {}
            Err(error) => {
                tracing::warn!(%error, "the reader cannot follow the writer");
                said = error.to_string();
            }
            Ok(_) => said.clear(),
        }
        drop(inner);
        std::thread::sleep(POLL);
    }
}

#[cfg(test)]
impl RocksLog {
    /// Jobs that the writer has not taken yet.
    pub(crate) fn queue_len(&self) -> usize {
        match &self.inner.access {
            Access::Write(writer) => writer.queue_len(),
            Access::Follow(_) => 0,
        }
    }
}
