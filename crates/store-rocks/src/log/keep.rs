//! Keeping a log: copies, checks, repairs, and what takes room.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use annals_event_log::{AppendError, Digest, Position, ReadError, Record};
use rocksdb::statistics::Ticker;

use super::RocksLog;
use crate::aside::{self, PutBackError, PutBackReport};
use crate::backup::{self, BackupReport};
use crate::blobs::{self, StoredBlob};
use crate::collect::{CollectError, Orphans};
use crate::db::Db;
use crate::error::{BackupError, OpenError, RebuildError};
use crate::examine::{self, Examined};
use crate::identity::{Written, written};
use crate::open::Access;
use crate::options::Options;
use crate::purge::{self, PurgeError};
use crate::read::{Shown, View};
use crate::rebuild::{self, RebuildReport, RebuildStep};
use crate::redaction::{self, Unfinished};
use crate::truncate::{self, End, TruncateError, TruncateReport};
use crate::verify::{self, Fault, Finding, VerifyReport};
use crate::writer::Groups;
use crate::{collect, columns, identity, models, tree};

/// How often it is looked whether a redaction is over.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

impl RocksLog {
    /// Copies the log, as it is now, to `dest`, which must not exist or be
    /// an empty directory. Writers go on meanwhile. The copy is a separate
    /// log that [`RocksLog::open`] opens; it has at least everything that was
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
    /// checkpoints are checked. `progress` is called with each chunk's last position. Where the
    /// files go on behind the watermark and no process writes, it is checked whether that can be
    /// read and hangs together, as the next opening for writing does. Blocks.
    ///
    /// # Errors
    /// [`ReadError`] when the log cannot be read at all. What is wrong with it
    /// is a finding of the report, not an error.
    pub fn verify(&self, progress: &mut dyn FnMut(Position)) -> Result<VerifyReport, ReadError> {
        let log_id = self.inner.log_id;
        let mut report = self.look(|view| verify::verify(view, log_id, progress))?;
        self.verify_behind(&mut report)?;
        Ok(report)
    }

    fn verify_behind(&self, report: &mut VerifyReport) -> Result<(), ReadError> {
        if let Some((end, finding)) = self.behind()? {
            report.unpublished = Some(end);
            finding.into_iter().for_each(|finding| report.add(finding));
        }
        Ok(())
    }

    /// Checks whether the records behind the watermark can be read and hang together. Returns where the files end, and what
    /// is wrong; `None` where they end at the watermark, or a process writes. Blocks.
    ///
    /// # Errors
    /// As [`RocksLog::verify`].
    pub fn behind(&self) -> Result<Option<(Position, Option<Finding>)>, ReadError> {
        let Some(end) = self.unpublished() else {
            return Ok(None);
        };
        let path = self.inner.db()?.path.clone();
        if written(&path) == Written::Now {
            return Ok(None);
        }
        let damage = match truncate::look(&path) {
            Ok(End::Sound(_)) => None,
            Ok(End::Damaged { last, damage, .. }) => Some((last, damage)),
            Err(OpenError::Corrupt { reason, .. }) => Some((self.inner.watermark.get(), reason)),
            Err(error) => {
                let source = Box::new(error);
                return Err(ReadError::Unavailable { source });
            }
        };
        // What a writer who has just begun does looks like damage.
        if written(&path) == Written::Now {
            return Ok(None);
        }
        let finding = damage.map(|(last, reason)| Finding {
            position: None,
            stream: None,
            fault: Fault::Behind { last, reason },
        });
        Ok(Some((end, finding)))
    }

    /// Reads the records behind a position, also those behind the watermark, up to one that cannot be read. Blocks.
    ///
    /// # Errors
    /// As [`RocksLog::verify`].
    pub fn each_behind(
        &self,
        after: Position,
        each: &mut dyn FnMut(&Record),
    ) -> Result<(), ReadError> {
        self.look(|view| view.db.each_behind(after, each))
    }

    /// The same of the records behind `after` only: what was checked once need not be
    /// read again. The state of their streams and of the tree before them is taken from the
    /// indexes, and what the indexes have in addition to the entries of these records is not
    /// looked at. The report's root is that of the whole log; comparing it with a
    /// checkpoint shows whether what is before `after` is what it was. The chunk in
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
        let mut report = self.look(|view| verify::verify_from(view, after, progress))?;
        self.verify_behind(&mut report)?;
        Ok(report)
    }

    /// Looks at what is there now, on this thread.
    pub(super) fn look<T>(
        &self,
        look: impl FnOnce(&View<'_>) -> Result<T, ReadError>,
    ) -> Result<T, ReadError> {
        let visibility = self.inner.visibility();
        let (db, watermark) = visibility.refresh(self.inner.db()?)?;
        let began = visibility.began();
        let looked = look(&View {
            db: &db,
            columns: db.columns()?,
            watermark,
            rows: visibility.rows(&db)?,
        });
        visibility.confirm(began)?;
        if looked.is_err() {
            visibility.confirm_newest(&db)?;
        }
        looked
    }

    /// How many records have their hashes in the stored Merkle tree. A log that an older program wrote gets the
    /// others when it is opened for writing.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn stored_hashes(&self) -> Result<u64, ReadError> {
        self.look(|view| Ok(tree::frontier(view.db, &view.columns)?.size()))
    }

    /// For a reader: where the files of the log end, if that is behind the watermark and no
    /// writer is there that will publish it. That happens where the machine stopped or a
    /// writer was killed. It is not known whether these last records are durable, so they
    /// are not served, and neither are rows that were folded from them. Opening the log for
    /// writing makes them durable. `None` for a writer.
    pub fn unpublished(&self) -> Option<Position> {
        self.inner.visibility().unpublished()
    }

    /// For a reader: the read models whose rows are not shown, since they were folded from records that are not served
    /// ([`RocksLog::unpublished`]), with the positions up to which they are folded. Empty for a writer.
    ///
    /// # Errors
    /// As [`RocksLog::verify`].
    pub fn hidden_models(&self) -> Result<Vec<(String, Position)>, ReadError> {
        self.look(models::hidden)
    }

    /// Rebuilds what follows from the records of a log: the indexes of streams, event
    /// types and batches, the tree and the counts. It is for a log whose indexes are
    /// damaged, also where it cannot be opened for writing because of them. The records
    /// and the blobs are only read. Where it is interrupted, the log is refused with
    /// [`OpenError::RebuildInterrupted`](crate::OpenError::RebuildInterrupted) until this
    /// was called again and came to its end.
    /// A log that is open for reading meanwhile answers
    /// [`StoreFailure::Rebuilding`](crate::StoreFailure::Rebuilding) once it sees it, until it is
    /// done. Blocks.
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

    /// For a reader: keeps what it sees now, all of which is durable, regardless of what its
    /// writer does from now on, so that everything that is read is of one moment. Blocks.
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
    /// hold them. Appending and reading go on meanwhile. A redaction that is under way is
    /// waited for. Where this is interrupted, the
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
        loop {
            match purge::purge(self.writable()?.as_ref(), &self.inner.turns) {
                // One that is under way comes to its end, or fails with the log.
                Err(PurgeError::Unfinished) => std::thread::sleep(BETWEEN_LOOKS),
                done => return done,
            }
        }
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

    /// A redaction that is not at its end: until then, some of what it removes can still be read,
    /// and rows of read models have all of it.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn unfinished_redaction(&self) -> Result<Option<Unfinished>, ReadError> {
        let (db, _) = self.inner.refresh()?;
        redaction::unfinished(&db, || match &self.inner.access {
            Access::Write(_) => true,
            Access::Follow(_) => written(&db.path) == Written::Now,
        })
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
    /// `progress` is called with the positions of records.
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
            rows: Shown::All,
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
                rows: Shown::All,
            },
            from,
            limit,
        )
    }

    /// Refuses a log whose files are in another folder, too, by hard links: what is written to one of them alters the
    /// other. Opening for writing does so, too; this is for who writes by way of another process.
    ///
    /// # Errors
    /// [`OpenError::Linked`], and what the operating system refuses.
    pub fn check_links(path: &Path) -> Result<(), OpenError> {
        identity::check_links(path)
    }

    /// Says what the files of a log say, whether or not it opens. Nothing is altered,
    /// and a writer is not disturbed. Blocks.
    pub fn examine(path: &Path) -> Examined {
        examine::examine(path)
    }

    /// Removes what cannot be read of the write-ahead log, where nothing of it was
    /// acknowledged; the log opens then. The log as it was is kept next to it. No process may
    /// have the log open for writing. Blocks.
    ///
    /// # Errors
    /// [`TruncateError`]; nothing is removed then, unless it says so.
    pub fn truncate_tail(path: &Path, options: &Options) -> Result<TruncateReport, TruncateError> {
        truncate::truncate_tail(path, options)
    }

    /// Puts a log back that [`RocksLog::truncate_tail`] put aside, in the place of what became
    /// of it, which is kept next to it. Neither may be open. Blocks.
    ///
    /// # Errors
    /// [`PutBackError`], for example where something was appended since.
    pub fn put_back(path: &Path, aside: &Path) -> Result<PutBackReport, PutBackError> {
        aside::put_back(path, aside)
    }

    /// Bytes of the write-ahead logs, which each process that opens the log beside this one reads; `None` where this is
    /// not the process that writes.
    pub fn wal_bytes(&self) -> Option<u64> {
        match &self.inner.access {
            Access::Write(_) => self.inner.db().ok().map(|db| db.wal_bytes()),
            Access::Follow(_) => None,
        }
    }

    /// Begins to write what is in memory to tables, and does not wait until it is there. All of it is in the synced
    /// write-ahead log already, which is shorter then. Blocks where a flush is under way.
    ///
    /// # Errors
    /// [`ReadError`].
    pub fn begin_flush(&self) -> Result<(), ReadError> {
        if let Access::Follow(_) = &self.inner.access {
            return Ok(());
        }
        let db = self.inner.db()?;
        db.begin_flush().map_err(|error| db.read_error(&error))
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
