//! The log as a handle, and the three ports on it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use annals_event_log::store_support::{RequestDigest, distinct_blobs, random_salt};
use annals_event_log::{
    Append, AppendError, Appended, BatchId, BatchStatus, Blob, Blobs, CommitError, Content, Digest,
    EncodedEvent, EventLog, NewEvent, Page, Position, Prepared, Query, ReadError, ReadModels,
    Record, RedactError, Redaction, Row, Rows, Stats, StreamHead, StreamName, Version, Watermark,
};
use async_trait::async_trait;
use bytes::Bytes;
use futures::channel::oneshot;
use rayon::{ThreadPool, ThreadPoolBuilder};
use rocksdb::statistics::Ticker;
use tempfile::TempDir;
use uuid::Uuid;

use crate::backup::{self, BackupReport};
use crate::blobs::{self, StoredBlob};
use crate::collect::Orphans;
use crate::db::{Db, directory_bytes};
use crate::error::{BackupError, CollectError, OpenError, RebuildError, StoreFailure, corrupt};
use crate::examine::{self, Examined};
use crate::models::{self, Commit, Turns};
use crate::open::{self, Access, Opened};
use crate::options::Options;
use crate::purge::{self, PurgeError};
use crate::read::{self, View};
use crate::rebuild::{self, RebuildReport, RebuildStep};
use crate::redaction::{self, Removal};
use crate::secondary::Follower;
use crate::slot::Slot;
use crate::truncate::{self, TruncateError, TruncateReport};
use crate::verify::{self, VerifyReport};
use crate::writer::{Groups, Work};
use crate::{collect, columns, index, streams, tree};

/// How long dropping the last handle waits for reads that are under way.
const DROP_WAIT: Duration = Duration::from_secs(5);

/// A log in a directory, on RocksDB.
///
/// One process writes ([`RocksLog::open`]), any number may read beside it
/// ([`RocksLog::open_reader`]). Clones are handles of the same log. When the
/// last one is dropped, what was accepted is written and the directory is
/// released; [`EventLog::close`] does the same and can be waited for.
#[derive(Clone)]
pub struct RocksLog {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    log_id: Uuid,
    db: Arc<Slot>,
    watermark: Arc<Watermark>,
    access: Access,
    readers: ThreadPool,
    turns: Arc<Turns>,
    /// Held while files are rewritten.
    purging: Mutex<()>,
    /// The folder of a log that goes with its last handle.
    _folder: Option<TempDir>,
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
    /// Each of [`OpenError`]. Nothing is altered then.
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
        RocksLog::start(path, options, open::open_reader(path, options)?)
    }

    /// Makes a log in a temporary folder, which goes with the last handle. It is a place for
    /// rows that are not to last.
    ///
    /// # Errors
    /// [`OpenError::Io`] and others that the operating system has reasons for.
    pub fn temporary(options: &Options) -> Result<RocksLog, OpenError> {
        let folder = tempfile::Builder::new().prefix("annals-rows-").tempdir();
        let folder = folder.map_err(|error| OpenError::io(&std::env::temp_dir(), error))?;
        let path = folder.path().join("log");
        let opened = open::create(&path, options)?;
        RocksLog::start_in(&path, options, opened, Some(folder))
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
        folder: Option<TempDir>,
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
            // Whoever waits for the answer is told that the thread was lost.
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

    /// Copies the log, as it stands now, to `dest`, which must not exist or be
    /// an empty directory. Writers go on meanwhile. The copy is a log of its
    /// own that [`RocksLog::open`] opens; it has at least everything that was
    /// acknowledged when this was called. Blocks.
    ///
    /// # Errors
    /// [`BackupError`]; nothing is left at `dest` then.
    pub fn backup(&self, dest: &Path) -> Result<BackupReport, BackupError> {
        let db = self.inner.db().map_err(|_| BackupError::Closed)?;
        backup::backup(&db, &self.inner.access, self.inner.log_id, dest)
    }

    /// Reads everything up to the watermark and checks it: chunks and records
    /// decode, digests fit, positions and versions are dense, the indexes, the
    /// batches, the tree and the counts agree with the records, every blob has its
    /// digest, and none is missing. Of the read models only the names and the
    /// checkpoints are checked. `progress` is told each chunk's last position. Blocks.
    ///
    /// # Errors
    /// [`ReadError`] when the log cannot be read at all. What is wrong with it
    /// is no error but a finding of the report.
    pub fn verify(&self, progress: &mut dyn FnMut(Position)) -> Result<VerifyReport, ReadError> {
        let log_id = self.inner.log_id;
        self.look(|view| verify::verify(view, log_id, progress))
    }

    /// The same of the records behind `after` only: what was checked once need not be
    /// read again. Where their streams and the tree stood before is taken from the
    /// indexes, and what the indexes have beside the entries of these records is not
    /// looked at. The report's root is that of the whole log; comparing it with a
    /// checkpoint shows whether what stands before `after` is what it was. The chunk in
    /// which they begin is read from its beginning: [`VerifyReport::after`] says where that
    /// is. Blocks.
    ///
    /// # Errors
    /// As [`RocksLog::verify`].
    pub fn verify_from(
        &self,
        after: Position,
        progress: &mut dyn FnMut(Position),
    ) -> Result<VerifyReport, ReadError> {
        self.look(|view| verify::verify_from(view, after, progress))
    }

    /// Looks at what is there now, on this thread.
    fn look<T>(
        &self,
        look: impl FnOnce(&View<'_>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let (db, watermark) = self.inner.refresh()?;
        look(&View {
            db: &db,
            columns: db.columns()?,
            watermark,
        })
    }

    /// Makes anew what follows from the records of a log: the indexes of streams, event
    /// types and batches, the tree and the counts. It is for a log whose indexes are
    /// damaged, also where it cannot be opened for writing because of them. The records
    /// and the blobs are only read. Where it is interrupted, the log is refused with
    /// [`OpenError::RebuildInterrupted`] until this was called again and came to its end.
    /// Whoever has the log open for reading meanwhile must open it again. Blocks.
    ///
    /// # Errors
    /// [`RebuildError`]; nothing was altered where it is that records cannot be read or
    /// that the log is open for writing elsewhere.
    pub fn rebuild_indexes(
        path: &Path,
        options: &Options,
        progress: &mut dyn FnMut(RebuildStep, Position),
    ) -> Result<RebuildReport, RebuildError> {
        rebuild::rebuild(path, options, progress)
    }

    /// For a reader: keeps what it sees now, all of which is durable, whatever its writer
    /// does from now on, so that everything that is read is of one moment. Blocks.
    ///
    /// # Errors
    /// [`ReadError`]. On a log that is open for writing it does nothing.
    pub fn stand_still(&self) -> Result<Position, ReadError> {
        match &self.inner.access {
            Access::Write(_) => Ok(self.inner.watermark.get()),
            Access::Follow(follower) => follower.stand_still(),
        }
    }

    /// Gives up the bytes of everything that was removed: rewrites the files that may
    /// hold them. Appending and reading go on meanwhile. Where it is interrupted, the
    /// next opening for writing completes it. Blocks.
    ///
    /// # Errors
    /// [`PurgeError`].
    pub fn purge(&self) -> Result<(), PurgeError> {
        let _purging = self
            .inner
            .purging
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        purge::purge(self.writable()?.as_ref(), &self.inner.turns)
    }

    /// Lets the bytes of a redaction, whose last event has this position, lie in the files
    /// until [`RocksLog::purge`] is called: the next opening does not rewrite them. Where
    /// another redaction came since, it does nothing.
    ///
    /// # Errors
    /// [`PurgeError`].
    pub fn put_off_purge(&self, said: Position) -> Result<(), PurgeError> {
        purge::put_off(self.writable()?.as_ref(), &self.inner.turns, said)
    }

    /// Whether bytes of what was removed may lie in the files.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn needs_purge(&self) -> Result<bool, ReadError> {
        let (db, _) = self.inner.refresh()?;
        redaction::pending(&db).map(|pending| pending.is_some())
    }

    /// Blobs that no record refers to. Blocks, and reads all blobs and all records;
    /// `progress` is told the positions of records.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn orphans(&self, progress: &mut dyn FnMut(Position)) -> Result<Orphans, ReadError> {
        let mut orphans = Orphans::default();
        let mut last = None;
        while let Some(found) = self.unmarked(last, progress)? {
            orphans.add(&found.blobs);
            last = Some(found.last);
        }
        Ok(orphans)
    }

    /// The next blobs, without those that records refer to; `None` behind the last.
    fn unmarked(
        &self,
        after: Option<Digest>,
        progress: &mut dyn FnMut(Position),
    ) -> Result<Option<Unmarked>, ReadError> {
        let (db, watermark) = self.inner.refresh()?;
        let view = View {
            db: &db,
            columns: db.columns()?,
            watermark,
        };
        let mut blobs = collect::after(&view, after)?;
        let Some((last, _)) = blobs.last_key_value() else {
            return Ok(None);
        };
        let last = *last;
        // The blobs that were just found came with records up to here.
        let (db, seen) = self.inner.refresh()?;
        collect::mark(&db, &mut blobs, (Position::START, seen), progress)?;
        Ok(Some(Unmarked { blobs, last, seen }))
    }

    /// Deletes the blobs that no record refers to, and gives their room back. None
    /// that a record refers to is ever deleted, also while others append. Waits for
    /// the writer; the rest blocks.
    ///
    /// # Errors
    /// [`CollectError`]. What was deleted before it stays deleted.
    pub async fn collect(
        &self,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Orphans, CollectError> {
        let Access::Write(writer) = &self.inner.access else {
            return Err(AppendError::ReadOnly.into());
        };
        let mut orphans = Orphans::default();
        let mut last = None;
        while let Some(found) = self.unmarked(last, progress)? {
            last = Some(found.last);
            let bytes = found.blobs.len() * size_of::<(Digest, u64)>();
            let sweep = move |groups: &mut Groups<'_>| groups.sweep(found.blobs, found.seen);
            orphans.add(&writer.alone(bytes, sweep).await?);
        }
        if orphans.blobs > 0 {
            let _purging = self
                .inner
                .purging
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            purge::shrink_blobs(self.writable()?.as_ref())?;
        }
        Ok(orphans)
    }

    fn writable(&self) -> Result<Arc<Db>, PurgeError> {
        match &self.inner.access {
            Access::Follow(_) => Err(PurgeError::ReadOnly),
            Access::Write(writer) => match writer.failure() {
                Some(failure) => Err(failure.clone().into()),
                None => Ok(self.inner.db()?),
            },
        }
    }

    /// Blobs in the order of their digests, from the first one that is not before
    /// `from`, at most `limit`: also those that no record refers to. Blocks.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn stored_blobs(&self, from: Digest, limit: usize) -> Result<Vec<StoredBlob>, ReadError> {
        let (db, watermark) = self.inner.refresh()?;
        blobs::list(
            &View {
                db: &db,
                columns: db.columns()?,
                watermark,
            },
            from,
            limit,
        )
    }

    /// Says what the files of a log say, whether or not it opens. Nothing is altered,
    /// and a writer is not disturbed. Blocks.
    pub fn examine(path: &Path) -> Examined {
        examine::examine(path)
    }

    /// Removes the end of a write-ahead log that cannot be read, where nothing of it was
    /// acknowledged; the log opens then. Nobody may have the log open for writing. Blocks.
    ///
    /// # Errors
    /// [`TruncateError`]; nothing is removed then.
    pub fn truncate_tail(path: &Path, options: &Options) -> Result<TruncateReport, TruncateError> {
        truncate::truncate_tail(path, options)
    }

    /// Rewrites all tables in their smallest form. Blocks.
    pub fn compact(&self) {
        if matches!(self.inner.access, Access::Follow(_)) {
            return;
        }
        let Ok(db) = self.inner.db() else { return };
        if let Err(error) = db.flush() {
            tracing::warn!(%error, "the tables were not written before the compaction");
        }
        for column in columns::ALL
            .iter()
            .filter_map(|name| db.rocks.cf_handle(name))
        {
            db.rocks
                .compact_range_cf(column, None::<&[u8]>, None::<&[u8]>);
        }
    }

    /// How often RocksDB has synced its write-ahead log since the log was
    /// opened. Counted only with [`Options::statistics`]; 0 otherwise.
    pub fn wal_syncs(&self) -> u64 {
        self.inner
            .db()
            .map_or(0, |db| db.options.get_ticker_count(Ticker::WalFileSynced))
    }
}

/// Blobs of a part of all.
struct Unmarked {
    /// Those that no record up to `seen` refers to.
    blobs: BTreeMap<Digest, u64>,
    /// Where the part ends.
    last: Digest,
    seen: Position,
}

impl Inner {
    fn db(&self) -> Result<Arc<Db>, ReadError> {
        self.db.get()
    }

    /// The newest watermark; a reader catches up with the writer first.
    pub(crate) fn refresh(&self) -> Result<(Arc<Db>, Position), ReadError> {
        self.sight().refresh(self.db()?)
    }

    fn sight(&self) -> Sight {
        match &self.access {
            Access::Write(_) => Sight::Own(Arc::clone(&self.watermark)),
            Access::Follow(follower) => Sight::Followed(Arc::clone(follower)),
        }
    }
}

/// How a read learns the watermark, and from which database. Reads hold this and
/// not the log itself, so that the last handle is never dropped by one of them.
enum Sight {
    Own(Arc<Watermark>),
    Followed(Arc<Follower>),
}

impl Sight {
    /// The watermark and the database that has all of it in view.
    fn refresh(&self, db: Arc<Db>) -> Result<(Arc<Db>, Position), ReadError> {
        match self {
            Sight::Own(watermark) => Ok((db, watermark.get())),
            Sight::Followed(follower) => {
                drop(db);
                follower.refresh()
            }
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
    let sight = inner.sight();
    inner.readers.spawn(move || {
        if answer.is_canceled() {
            return;
        }
        let result = (|| {
            let (db, watermark) = sight.refresh(db)?;
            read(&View {
                db: &db,
                columns: db.columns()?,
                watermark,
            })
        })();
        let _ = answer.send(result);
    });
    answered
        .await
        .unwrap_or_else(|_| Err(ReadError::from(StoreFailure::ThreadLost).into()))
}

/// Events and bytes up to which an append is hashed and encoded where it is
/// called: a few microseconds each.
const SMALL_EVENTS: usize = 16;
const SMALL_BYTES: usize = 16 * 1024;

/// Hashes and encodes an append: a large one on the store's own threads, so
/// that it does not hold up the caller's executor.
async fn prepare(
    inner: &Arc<Inner>,
    append: Append,
) -> Result<(Prepared, RequestDigest), AppendError> {
    let inline = |piece: &Content| match piece {
        Content::Inline { bytes, .. } => bytes.len(),
        _ => 0,
    };
    let bytes_of =
        |event: &NewEvent| event.structure.len() + event.content.iter().map(inline).sum::<usize>();
    let bytes: usize = append.events.iter().map(bytes_of).sum();
    let small = append.events.len() <= SMALL_EVENTS
        && bytes + append.request.len() <= SMALL_BYTES
        && append.blobs.is_empty();
    let work = move || {
        let prepared = Prepared::new(append)?;
        let request = RequestDigest::new(random_salt(), &prepared.request);
        Ok((prepared, request))
    };
    if small {
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

#[async_trait]
impl EventLog for RocksLog {
    fn log_id(&self) -> Uuid {
        self.inner.log_id
    }

    fn watermark(&self) -> Position {
        // A reader that cannot catch up still serves what it has.
        match self.inner.refresh() {
            Ok((_, watermark)) => watermark,
            Err(_) => self.inner.watermark.get(),
        }
    }

    async fn wait_above(&self, seen: Position) -> Result<Position, ReadError> {
        drop(self.inner.db()?);
        if let Access::Follow(follower) = &self.inner.access {
            follower.poll(&self.inner);
        }
        self.inner.watermark.above(seen).await
    }

    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        let Access::Write(writer) = &self.inner.access else {
            return Err(AppendError::ReadOnly);
        };
        let (prepared, request) = prepare(&self.inner, append).await?;
        writer.submit(Work::Append { prepared, request }).await
    }

    async fn append_records(
        &self,
        records: Vec<Record>,
        blobs: Vec<Blob>,
    ) -> Result<Appended, AppendError> {
        let Access::Write(writer) = &self.inner.access else {
            return Err(AppendError::ReadOnly);
        };
        let blobs = distinct_blobs(blobs)?;
        writer.submit(Work::Copy { records, blobs }).await
    }

    async fn redact(&self, redaction: Redaction) -> Result<Appended, RedactError> {
        let Access::Write(writer) = &self.inner.access else {
            return Err(AppendError::ReadOnly.into());
        };
        redaction.check()?;
        let removal = Removal::from(&redaction);
        let (mut prepared, request) = prepare(&self.inner, redaction.append).await?;
        let turns = Arc::clone(&self.inner.turns);
        let bytes = prepared.events.iter().map(EncodedEvent::len).sum();
        let work = move |groups: &mut Groups<'_>| {
            // No rows of the models that go are committed meanwhile.
            let _turn = turns.take();
            groups.redact(&mut prepared, request, removal)
        };
        writer.alone(bytes, work).await
    }

    async fn batch(&self, batch: BatchId, request: &[u8]) -> Result<BatchStatus, ReadError> {
        let request = Bytes::copy_from_slice(request);
        let look = move |view: &View<'_>| {
            let row = index::batch_row(view.db, &view.columns, batch)?;
            // What is not durable yet is not known yet.
            let row = row.filter(|row| row.appended.last <= view.watermark);
            Ok(row.map_or(BatchStatus::Unknown, |row| row.status(&request)))
        };
        run(&self.inner, look).await
    }

    async fn head(&self, stream: &StreamName) -> Result<Version, ReadError> {
        let stream = stream.clone();
        let look = move |view: &View<'_>| {
            index::version_up_to(view.db, &view.columns, stream.as_str(), view.watermark)
        };
        run(&self.inner, look).await.map(Version)
    }

    async fn read(&self, query: Query) -> Result<Page, ReadError> {
        run(&self.inner, move |view| read::page(view, &query)).await
    }

    async fn streams(
        &self,
        prefix: &str,
        after: Option<&StreamName>,
        limit: usize,
    ) -> Result<Vec<StreamHead>, ReadError> {
        let (prefix, after) = (prefix.to_owned(), after.cloned());
        run(&self.inner, move |view| {
            streams::list(view, &prefix, after.as_ref(), limit)
        })
        .await
    }

    async fn tree_hashes(
        &self,
        level: u8,
        first: u64,
        limit: usize,
    ) -> Result<Vec<Digest>, ReadError> {
        let hashes = move |view: &View<'_>| tree::hashes(view, level, first, limit);
        run(&self.inner, hashes).await
    }

    async fn stats(&self) -> Result<Stats, ReadError> {
        let sight = self.inner.sight();
        let look = move |view: &View<'_>| {
            // The counts are those of the last group in view, and so is the
            // position. A reader waits until that group is published; where its
            // writer is gone, the next one will publish it.
            let still = match &sight {
                Sight::Own(_) => None,
                Sight::Followed(follower) => Some(follower.still()?),
            };
            let db = still.as_ref().map_or(view.db, |still| &still.db);
            let counts = index::counts(db, &db.columns()?)?;
            let position = Position(counts.position);
            drop(still);
            let bytes = directory_bytes(&view.db.path);
            Ok(Stats {
                position,
                streams: counts.streams,
                batches: counts.batches,
                blobs: counts.blobs,
                blob_bytes: counts.blob_bytes,
                bytes: bytes.map_err(|error| ReadError::Unavailable {
                    source: error.into(),
                })?,
            })
        };
        run(&self.inner, look).await
    }

    async fn close(&self) {
        self.inner.watermark.close();
        if let Access::Write(writer) = &self.inner.access {
            writer.shut();
            writer.ended().await;
        }
        // Closing RocksDB takes milliseconds, which are not the caller's.
        if let Some(db) = self.inner.db.take() {
            self.inner.readers.spawn(move || drop(db));
        }
        self.inner.db.released().wait().await;
    }
}

#[async_trait]
impl Blobs for RocksLog {
    async fn blob(&self, digest: Digest) -> Result<Option<Bytes>, ReadError> {
        let look = move |view: &View<'_>| {
            let Some(stored) = view.db.get(view.columns.blobs, &digest.0)? else {
                return Ok(None);
            };
            if Digest::of(&stored) != digest {
                return Err(corrupt(format!("the blob {digest} has another digest")));
            }
            Ok(Some(Bytes::copy_from_slice(&stored)))
        };
        run(&self.inner, look).await
    }
}

#[async_trait]
impl ReadModels for RocksLog {
    async fn checkpoint(&self, model: &str) -> Result<Position, ReadError> {
        let model = model.to_owned();
        run(&self.inner, move |view| models::checkpoint(view, &model)).await
    }

    async fn commit(
        &self,
        model: &str,
        expected: Position,
        rows: Rows,
        checkpoint: Position,
    ) -> Result<(), CommitError> {
        self.may_commit()?;
        let commit = Commit {
            model: model.to_owned(),
            expected,
            rows,
            checkpoint,
        };
        let turns = Arc::clone(&self.inner.turns);
        run(&self.inner, move |view| {
            models::commit(view, &turns, commit)
        })
        .await
    }

    async fn get(&self, model: &str, key: &[u8]) -> Result<Option<Bytes>, ReadError> {
        let (model, key) = (model.to_owned(), Bytes::copy_from_slice(key));
        run(&self.inner, move |view| models::get(view, &model, &key)).await
    }

    async fn get_many(&self, model: &str, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>, ReadError> {
        let (model, keys) = (model.to_owned(), keys.to_vec());
        run(&self.inner, move |view| {
            models::get_many(view, &model, &keys)
        })
        .await
    }

    async fn scan(
        &self,
        model: &str,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        let (model, prefix) = (model.to_owned(), Bytes::copy_from_slice(prefix));
        let after = after.map(Bytes::copy_from_slice);
        let look =
            move |view: &View<'_>| models::scan(view, &model, &prefix, after.as_deref(), limit);
        run(&self.inner, look).await
    }

    async fn scan_back(
        &self,
        model: &str,
        prefix: &[u8],
        before: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        let (model, prefix) = (model.to_owned(), Bytes::copy_from_slice(prefix));
        let before = before.map(Bytes::copy_from_slice);
        let look = move |view: &View<'_>| {
            models::scan_back(view, &model, &prefix, before.as_deref(), limit)
        };
        run(&self.inner, look).await
    }

    async fn drop_model(&self, model: &str) -> Result<(), CommitError> {
        self.may_commit()?;
        let model = model.to_owned();
        let turns = Arc::clone(&self.inner.turns);
        run(&self.inner, move |view| {
            models::drop_model(view, &turns, &model)
        })
        .await
    }
}

impl RocksLog {
    /// Whether rows may be written: not by a reader, and not after a failure.
    fn may_commit(&self) -> Result<(), CommitError> {
        match &self.inner.access {
            Access::Follow(_) => Err(CommitError::ReadOnly),
            Access::Write(writer) => match writer.failure() {
                Some(failure) => Err(failure.clone().into()),
                None => Ok(()),
            },
        }
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
