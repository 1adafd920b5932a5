//! A reader next to a live writer: a RocksDB secondary that follows the file
//! WATERMARK and serves nothing above it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use annals_event_log::{Position, ReadError, Watermark};
use uuid::Uuid;

use crate::db::Db;
use crate::error::{OpenError, StoreFailure, corrupt, unreadable};
use crate::identity::{Written, written};
use crate::open_secondary::{beside_rebuild, has_newest_tables, has_other_tables, open_secondary};
use crate::options::Options;
use crate::pace::{Manifest, Pace, manifest};
use crate::read::Shown;
use crate::slot::Slot;
use crate::watermark_file::{WatermarkFile, lost};
use crate::{continuity, keys, models};

/// How often it tries to see what WATERMARK promises. The writer may switch
/// files at any moment, and then the first attempts can miss.
const ATTEMPTS: u32 = 20;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(5);
/// How often a reader that is opened does all that: about a second.
const BEGINNINGS: u32 = 10;
/// How often it tries to open the log again where content was removed: nothing is answered before that.
const RENEWALS: u32 = 400;
/// How often it looks whether what it sees was published: about two seconds.
const PUBLICATIONS: u32 = 400;

/// For how long RocksDB is not reopened again, after that failed once: with a
/// busy writer it may. After each further time it is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What follows the writer.
pub(crate) struct Follower {
    db: Arc<Slot>,
    /// What it takes to reopen the database.
    opening: (Options, Uuid),
    file: WatermarkFile,
    served: Arc<Watermark>,
    /// How often content had been removed when the database was opened.
    removals: AtomicU64,
    catching_up: Mutex<Attempted>,
    polling: Mutex<bool>,
    /// Whether the view is to stay as it is.
    stands_still: AtomicBool,
    /// Where the files end, if that is behind what is served and no writer is there to
    /// publish it; 0 otherwise.
    unpublished: AtomicU64,
    /// Whether the rows of read models are known to be synced by the process that wrote them.
    rows_synced: AtomicBool,
    /// Odd while the view is being brought forward. It changes under `catching_up`.
    moves: AtomicU64,
    /// The indexes as the view has them. It changes under `catching_up`.
    indexes: Mutex<Indexes>,
}

/// Whether the indexes in view, and the view itself, are whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Indexes {
    /// How often a rebuild was begun.
    begun: u64,
    /// Whether the last one has not come to its end.
    is_rebuilding: bool,
    /// How often the view was left with files missing.
    gaps: u64,
    /// Whether files are missing in it now.
    has_gap: bool,
}

impl Indexes {
    /// Returns `true` if what is in view can be answered.
    fn are_whole(&self) -> bool {
        !self.is_rebuilding && !self.has_gap
    }

    /// Why a read that began with other ones cannot be answered.
    fn failure_since(&self, began: Indexes) -> StoreFailure {
        let is_rebuilt = self.begun != began.begun;
        match is_rebuilt || self.is_rebuilding || began.is_rebuilding {
            true => StoreFailure::Rebuilding,
            false => StoreFailure::Restless,
        }
    }
}

/// The view as a read found it when it began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Began {
    moves: u64,
    indexes: Indexes,
}

/// What the thread that catches up knows of earlier attempts.
#[derive(Debug, Default)]
struct Attempted {
    /// When reopening RocksDB failed, and for how long it is not tried again.
    failed_reopen: Option<(Instant, Duration)>,
}

/// A view that does not move for as long as this lives.
pub(crate) struct Still<'a> {
    pub(crate) db: Arc<Db>,
    /// The last position that is shown of it.
    pub(crate) shown: Position,
    _turn: MutexGuard<'a, Attempted>,
}

impl Follower {
    /// `removals` is what the file counted before the database was opened.
    pub(crate) fn new(
        db: Arc<Slot>,
        opening: (Options, Uuid),
        (file, removals): (WatermarkFile, u64),
        served: Arc<Watermark>,
    ) -> Follower {
        Follower {
            db,
            opening,
            file,
            served,
            removals: AtomicU64::new(removals),
            catching_up: Mutex::default(),
            polling: Mutex::default(),
            stands_still: AtomicBool::new(false),
            unpublished: AtomicU64::new(0),
            rows_synced: AtomicBool::new(false),
            moves: AtomicU64::new(0),
            indexes: Mutex::default(),
        }
    }

    /// What a read that begins now must be compared with when it ends.
    pub(crate) fn began(&self) -> Began {
        Began {
            moves: self.moves.load(Ordering::SeqCst),
            indexes: self.indexes(),
        }
    }

    /// Whether the indexes were whole all the time since a read began.
    ///
    /// RocksDB brings the view forward under the reads that are going on, write by write: a
    /// read may meet indexes that a rebuild had emptied, also where that was done
    /// long before.
    pub(crate) fn confirm(&self, began: Began) -> Result<(), ReadError> {
        let was_still = began.moves.is_multiple_of(2) && began.indexes.are_whole();
        if was_still && self.moves.load(Ordering::SeqCst) == began.moves {
            return Ok(());
        }
        // What moves the view now must have come to its end, to know what it came upon.
        let _turn = self.turn();
        let now = self.indexes();
        match now == began.indexes && now.are_whole() {
            true => Ok(()),
            false => Err(now.failure_since(began.indexes).into()),
        }
    }

    fn indexes(&self) -> Indexes {
        *self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Catches up once, and takes notice of what became of the indexes.
    fn move_to_newest(&self, db: &Db) -> Result<Position, CatchUp> {
        self.moving(db, || catch_up(db, &self.opening.0))
    }

    /// The same with a database that was just opened.
    fn move_to_opened(&self, db: &Db) -> Result<Position, CatchUp> {
        match db.pace {
            // It is as new as it will be, also if the writer goes on.
            Pace::Fixed(_) => self.moving(db, || db.last_position().map_err(CatchUp::Failed)),
            _ => self.move_to_newest(db),
        }
    }

    fn moving(
        &self,
        db: &Db,
        step: impl FnOnce() -> Result<Position, CatchUp>,
    ) -> Result<Position, CatchUp> {
        self.moves.fetch_add(1, Ordering::SeqCst);
        let moved = step().and_then(|seen| {
            let indexes = Indexes {
                gaps: self.indexes().gaps,
                ..Indexes::of(db).map_err(CatchUp::Failed)?
            };
            *self.indexes.lock().unwrap_or_else(PoisonError::into_inner) = indexes;
            match indexes.is_rebuilding {
                true => Err(CatchUp::Rebuilding),
                false => Ok(seen),
            }
        });
        let is_fixed = matches!(db.pace, Pace::Fixed(_));
        if matches!(moved, Err(CatchUp::Outdated | CatchUp::Restless)) && !is_fixed {
            let mut indexes = self.indexes.lock().unwrap_or_else(PoisonError::into_inner);
            indexes.gaps += 1;
            indexes.has_gap = true;
        }
        self.moves.fetch_add(1, Ordering::SeqCst);
        moved
    }

    /// Why a log could not be opened for reading.
    pub(crate) fn beginning(&self, path: &Path, error: ReadError) -> OpenError {
        match self.indexes().is_rebuilding {
            true => beside_rebuild(OpenError::RebuildInterrupted {
                path: path.to_owned(),
            }),
            false => unreadable(path, error),
        }
    }

    /// Catches up with the writer, if it has moved; what is served now, and the
    /// database that has it in view.
    ///
    /// # Errors
    /// [`ReadError::Moved`] where the log's folder is not where it was.
    pub(crate) fn refresh(&self) -> Result<(Arc<Db>, Position), ReadError> {
        self.db.get()?.check_place()?;
        let stands_still = self.stands_still.load(Ordering::Acquire);
        if !stands_still && (self.is_unservable()? || self.published()?.is_some()) {
            self.advance()?;
        }
        // In this order: a database is in its place before it is served from.
        let served = self.served.get();
        Ok((self.db.get()?, served))
    }

    fn advance(&self) -> Result<(), ReadError> {
        let mut turn = self.turn();
        if self.stands_still.load(Ordering::Acquire) {
            return Ok(());
        }
        // Another thread may have caught up while this one waited.
        let published = match self.published()? {
            Some(published) => published,
            // Nothing is new, but what is in view cannot be served.
            None if self.is_unservable()? => self.served.get(),
            None => return Ok(()),
        };
        let seen = self.see(published, &mut turn)?;
        // Read again: rows of a read model that came with this view were folded
        // from what was published by then.
        let published = self.read_file()?.unwrap_or(published);
        self.served.advance(seen.min(published));
        Ok(())
    }

    /// Returns `true` if what is in view cannot be answered.
    fn is_unservable(&self) -> Result<bool, ReadError> {
        Ok(!self.indexes().are_whole() || self.removed()?.is_some())
    }

    /// How often content was removed, if that happened since the database was opened. What RocksDB took from a
    /// write-ahead log stays in its memory and hides what has come by a table, so following is not enough.
    fn removed(&self) -> Result<Option<u64>, ReadError> {
        let counted = self.file.removals();
        let counted = counted.map_err(|error| ReadError::Unavailable {
            source: Box::new(error),
        })?;
        Ok((counted != self.removals.load(Ordering::Acquire)).then_some(counted))
    }

    /// Catches up with what changed without a position: rows of read models, and content that went.
    pub(crate) fn catch_up_now(&self) -> Result<(), ReadError> {
        let mut turn = self.turn();
        if self.stands_still.load(Ordering::Acquire) {
            return Ok(());
        }
        let published = self.read_file()?.unwrap_or_default();
        let seen = self.see(published, &mut turn)?;
        let published = self.read_file()?.unwrap_or(published);
        self.served.advance(seen.min(published));
        Ok(())
    }

    /// Catches up until what was published is in view; the last position in view.
    /// Where it is there, only not yet visible here, that is less.
    fn see(&self, published: Position, turn: &mut Attempted) -> Result<Position, ReadError> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let most = match self.removed()? {
                Some(_) => RENEWALS,
                None => ATTEMPTS,
            };
            match self.catch_up(attempt, turn) {
                Ok(seen) if seen >= published || attempt >= ATTEMPTS => return Ok(seen),
                Err(ReadError::Closed) => return Err(ReadError::Closed),
                // It takes longer than is waited for here.
                Err(error) if self.indexes().is_rebuilding => return Err(error),
                Err(error) if attempt >= most => return Err(error),
                _ => std::thread::sleep(BETWEEN_ATTEMPTS),
            }
        }
    }

    /// Refreshes when the log is opened, where there is nothing older to serve:
    /// all that WATERMARK promises must come into view.
    pub(crate) fn begin(&self) -> Result<Position, ReadError> {
        let promised = self.read_file()?.unwrap_or_default();
        let mut seen = Position::START;
        for _ in 0..BEGINNINGS {
            seen = self.refresh()?.1;
            if seen >= promised {
                self.look_behind()?;
                return Ok(seen);
            }
        }
        Err(corrupt(lost(promised, seen)))
    }

    /// Looks whether the files hold more than was published, with no writer there to publish
    /// it: the machine stopped, or a writer was killed. It may have been acknowledged, and it
    /// may be in the memory of the operating system only; the next writer finds out.
    fn look_behind(&self) -> Result<(), ReadError> {
        let db = self.db.get()?;
        let last = db.last_position()?;
        for _ in 0..ATTEMPTS {
            if self.read_file()?.is_none_or(|published| published >= last) {
                return Ok(());
            }
            std::thread::sleep(BETWEEN_ATTEMPTS);
        }
        if self.published()?.is_some() {
            return Ok(());
        }
        // It ends when that is served.
        self.unpublished.store(last.0, Ordering::Release);
        // Checked only here: it is the writer's own lock that is looked at.
        if written(&db.path) == Written::Now {
            return Ok(()); // It is being opened, and will publish it.
        }
        let served = self.served.get();
        if let Err(error) = continuity::check(&db, last) {
            tracing::warn!(
                "the log's files go on to position {last}, and what is behind {served} cannot be read ({error}); \
                 `annals doctor` tells what to do"
            );
            return Ok(());
        }
        tracing::warn!(
            "the log's files go on to position {last}, but it is not known whether what is behind \
             {served} is durable, so it is not shown; open the log once for writing, which makes \
             it durable: `annals service apply /dev/null`"
        );
        Ok(())
    }

    /// Where the files end, if it is not known whether what is behind the watermark is
    /// durable and no writer is there to find out.
    pub(crate) fn unpublished(&self) -> Option<Position> {
        let last = Position(self.unpublished.load(Ordering::Acquire));
        (last > self.served.get()).then_some(last)
    }

    /// Which rows of read models are shown.
    pub(crate) fn rows(&self, db: &Db) -> Result<Shown, ReadError> {
        // The next writer drops the rows that an older program left, and says so.
        if !self.rows_synced.load(Ordering::Acquire) {
            if !models::are_synced(db)? {
                return Ok(Shown::None);
            }
            self.rows_synced.store(true, Ordering::Release);
        }
        Ok(match self.unpublished() {
            Some(_) => Shown::UpToWatermark,
            None => Shown::All,
        })
    }

    fn turn(&self) -> MutexGuard<'_, Attempted> {
        self.catching_up
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Catches up once; the last position in view.
    ///
    /// A table that the writer deletes just when RocksDB is about to open it
    /// ends RocksDB's following for good: it keeps that error and answers every
    /// later attempt with it. So the database is reopened where it fails twice, and where it fails at the end of a
    /// rebuild, after which tables are merged: nothing in view can be served until then. So it is
    /// where content was removed. Where tables have come, it is reopened, too, and served as it is if that fails.
    fn catch_up(&self, attempt: u32, turn: &mut Attempted) -> Result<Position, ReadError> {
        let db = self.db.get()?;
        // Read before it is opened again: what is removed meanwhile is another removal.
        let removed = self.removed()?;
        let before = manifest(&db.folder.held());
        let hiding = match removed {
            Some(_) => Err(StoreFailure::Restless.into()),
            None => match self.move_to_newest(&db) {
                // What it cannot tell counts as a table that has come.
                Ok(seen) if has_other_tables(&db, &before).unwrap_or(true) => Ok(seen),
                Err(CatchUp::Failed(error)) if attempt > 1 || self.indexes().is_rebuilding => {
                    Err(error)
                }
                Err(CatchUp::Outdated) => Err(StoreFailure::Restless.into()),
                seen => return seen.map_err(CatchUp::into_error),
            },
        };
        let failed = turn.failed_reopen;
        if failed.is_some_and(|(at, pause)| at.elapsed() < pause) {
            return hiding;
        }
        match self.reopen(&db) {
            Ok(seen) => {
                turn.failed_reopen = None;
                if let Some(removals) = removed {
                    self.removals.store(removals, Ordering::Release);
                }
                Ok(seen)
            }
            Err(second) => {
                let pause = failed.map_or(FIRST_PAUSE, |(_, pause)| 2 * pause);
                let pause = pause.min(LONGEST_PAUSE);
                turn.failed_reopen = Some((Instant::now(), pause));
                second.report(pause == LONGEST_PAUSE);
                // What is only older here than it could be is served meanwhile.
                hiding
            }
        }
    }

    /// Reopens the database, in the place of one that cannot follow; returns the last
    /// position in view.
    fn reopen(&self, db: &Db) -> Result<Position, ReopenError> {
        let (options, log_id) = &self.opening;
        let opened = open_secondary(
            &db.path,
            &db.folder,
            options,
            *log_id,
            Arc::clone(&db.released),
        )?;
        let seen = self.move_to_opened(&opened).map_err(CatchUp::into_error)?;
        let served = self.served.get();
        if seen < served {
            return Err(corrupt(lost(served, seen)).into());
        }
        self.db.replace(opened)?;
        tracing::debug!("the reader's database was reopened");
        Ok(seen)
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

    /// Brings the view to a state that is durable as a whole, and leaves it there for
    /// ever; the last position in it.
    pub(crate) fn stand_still(&self) -> Result<Position, ReadError> {
        let still = self.hold_still()?;
        let last = still.db.last_position()?;
        self.served.advance(last);
        self.stands_still.store(true, Ordering::Release);
        Ok(last)
    }

    /// Brings the view to a state that is durable as a whole, and keeps it there
    /// for as long as the returned value lives.
    pub(crate) fn hold_still(&self) -> Result<Still<'_>, ReadError> {
        let (still, last) = self.hold()?;
        match last <= still.shown {
            true => Ok(still),
            false => Err(StoreFailure::Unpublished.into()),
        }
    }

    /// Keeps the view as it is for as long as the returned value lives; with the last position in it. That is behind the one
    /// that is shown if its writer was killed before it published all of it.
    pub(crate) fn hold(&self) -> Result<(Still<'_>, Position), ReadError> {
        let mut turn = self.turn();
        let seen = if self.stands_still.load(Ordering::Acquire) {
            self.served.get()
        } else {
            let promised = self.read_file()?.unwrap_or_default();
            self.see(promised, &mut turn)?
        };
        let mut still = Still {
            db: self.db.get()?,
            shown: Position::START,
            _turn: turn,
        };
        // The view stays as it is; what it shows is published after its sync.
        for _ in 0..PUBLICATIONS {
            still.shown = self.read_file()?.unwrap_or_default().min(seen);
            if seen <= still.shown {
                break;
            }
            if self.unpublished().is_some() && written(&still.db.path) != Written::Now {
                break; // No writer is there that will publish it.
            }
            std::thread::sleep(BETWEEN_ATTEMPTS);
        }
        Ok((still, seen))
    }

    /// Starts the thread that wakes those who wait, if it does not run yet; `follow` is what it does.
    ///
    /// # Errors
    /// [`ReadError::Unavailable`], if there can be none: nothing would ever end the wait.
    pub(crate) fn poll(&self, follow: impl FnOnce() + Send + 'static) -> Result<(), ReadError> {
        let mut polling = self.polling.lock().unwrap_or_else(PoisonError::into_inner);
        if *polling {
            return Ok(());
        }
        let thread = std::thread::Builder::new().name("annals-follower".into());
        let started = thread.spawn(follow);
        started.map_err(|error| ReadError::Unavailable {
            source: Box::new(error),
        })?;
        *polling = true;
        Ok(())
    }
}

/// Catches up once; the last position in view.
///
/// RocksDB reads the manifest and then opens the tables that it names. A table
/// that the writer merged into another one and deleted between these two steps is left out
/// without an error, so that the view has a gap. No table is deleted before the
/// manifest says so: where that did not change, all were there.
fn catch_up(db: &Db, options: &Options) -> Result<Position, CatchUp> {
    let folder = db.folder.held();
    if let Pace::Fixed(_) = db.pace {
        return match db.pace.is_behind(&folder) {
            true => Err(CatchUp::Outdated),
            false => db.last_position().map_err(CatchUp::Failed),
        };
    }
    let mut before = manifest(&folder);
    for _ in 0..ATTEMPTS {
        db.rocks
            .try_catch_up_with_primary()
            .map_err(|error| CatchUp::Failed(db.read_error(&error)))?;
        let mut after = manifest(&folder);
        if after == before {
            let is_newest = compare_tables(db, &folder, &after, options)?;
            let still = manifest(&folder);
            match still == after {
                true if is_newest => return db.last_position().map_err(CatchUp::Failed),
                true => return Err(CatchUp::Outdated),
                false => after = still,
            }
        }
        before = after;
    }
    Err(CatchUp::Restless)
}

/// Returns `true` if the view has the tables that this list of files names, also where they need not be compared.
fn compare_tables(
    db: &Db,
    folder: &Path,
    manifest: &Manifest,
    options: &Options,
) -> Result<bool, CatchUp> {
    if !db.pace.is_unchecked(folder, manifest) {
        return Ok(true);
    }
    let is_newest = has_newest_tables(db, options).map_err(|error| {
        CatchUp::Failed(ReadError::Unavailable {
            source: Box::new(error),
        })
    })?;
    if is_newest {
        db.pace.compared(manifest.clone());
    }
    Ok(is_newest)
}

/// Why a view was not brought forward.
enum CatchUp {
    /// RocksDB does not come to the newest state from this one; it must be opened again.
    Outdated,
    /// RocksDB could not.
    Failed(ReadError),
    /// The writer changed its tables all the time.
    Restless,
    /// The indexes are being rebuilt.
    Rebuilding,
}

impl CatchUp {
    fn into_error(self) -> ReadError {
        match self {
            CatchUp::Failed(error) => error,
            CatchUp::Restless | CatchUp::Outdated => StoreFailure::Restless.into(),
            CatchUp::Rebuilding => StoreFailure::Rebuilding.into(),
        }
    }
}

impl Indexes {
    fn of(db: &Db) -> Result<Indexes, ReadError> {
        let meta = db.columns()?.meta;
        let begun = db.get(meta, keys::META_REBUILT)?;
        Ok(Indexes {
            begun: begun.and_then(|value| keys::number(&value)).unwrap_or(0),
            is_rebuilding: db.get(meta, keys::META_REBUILDING)?.is_some(),
            gaps: 0,
            has_gap: false,
        })
    }
}

/// Why a database was not reopened.
#[derive(Debug, thiserror::Error)]
enum ReopenError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl ReopenError {
    /// Reports a failure. A writer that merges tables away while they are opened causes some, so that only one that
    /// lasts is a warning.
    fn report(&self, lasts: bool) {
        let reason = match self {
            // A file that is gone is no damage of the log.
            ReopenError::Open(OpenError::Corrupt { reason, .. }) => reason.clone(),
            error => error.to_string(),
        };
        match lasts {
            true => tracing::warn!(reason, "the reader's database cannot be reopened"),
            false => tracing::debug!(reason, "the reader's database was not reopened"),
        }
    }
}
