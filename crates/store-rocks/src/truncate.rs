//! Removing what cannot be read of the write-ahead log.
//!
//! A group that was being written when the machine stopped is forgiven where it is just
//! torn. Where its bytes are there but wrong, opening refuses: damage looks the same,
//! whether or not the group was acknowledged. What tells the two apart:
//!
//! - Nothing that WATERMARK promises is ever removed. It is at most a moment old
//!   ([`crate::watermark_file::LAG`]) where the machine stopped, and exact where the log was closed.
//! - A group is written only after the one before it was synced. So a damage with a whole
//!   write behind it ([`crate::wal`]) is not where writing stopped, and is left alone; unless
//!   every record, index and count is there and sound without what is damaged, and no redaction
//!   waits for its end: then that held rows of read models only, which are dropped and folded
//!   again from the log.
//!
//! - Where nothing but the write that created the log is left, there is no log without it.
//!
//! The directory is copied aside first, tables as links, and can be put back.

use std::io;
use std::path::{Path, PathBuf};

use annals_event_log::{Classification, Classified, ErrorClass, EventLog, Position, ReadError};
use rocksdb::{DB, WriteBatch};

use crate::checks::check_blob_files;
use crate::columns::{self, Role};
use crate::db::{Db, synced};
use crate::error::{OpenError, corrupt, unreadable};
use crate::identity;
use crate::log::RocksLog;
use crate::open_still::{check_readable_tables, open_still};
use crate::options::Options;
use crate::read::{Shown, View};
use crate::watermark_file::{self, WatermarkFile};
use crate::{aside, continuity, endless, keys, mutants, redaction, verify, wal};

/// What a truncation found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruncateReport {
    /// Where the log ends now.
    pub last: Position,
    /// Up to where the file WATERMARK says that records were acknowledged.
    pub acknowledged: Position,
    /// What was removed; `None` where nothing had to be.
    pub removed: Option<RemovedTail>,
}

/// What was removed from the end of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedTail {
    /// What was wrong with it.
    pub damage: String,
    /// The folder with the log as it was; [`RocksLog::put_back`] puts it back.
    pub aside: PathBuf,
}

/// Why what cannot be read of a log was not removed. Unless it says otherwise, nothing was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TruncateError {
    /// The log cannot be looked at, or does not open for another reason.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// WATERMARK is missing or damaged.
    #[error(
        "it is unknown what was acknowledged: the file {} of {path} is missing or damaged. Restore the \
         log from a backup", watermark_file::NAME, path = .path.display()
    )]
    AcknowledgedUnknown {
        /// The log's directory.
        path: PathBuf,
    },
    /// Acknowledged records are behind the damage, or missing.
    #[error(
        "acknowledged records are lost: {acknowledged} were, and {path} can be read up to {last}{}. \
         Restore the log from a backup",
        damage.as_ref().map(|damage| format!(" ({damage})")).unwrap_or_default(),
        path = .path.display()
    )]
    AcknowledgedLost {
        /// The log's directory.
        path: PathBuf,
        /// What WATERMARK says.
        acknowledged: Position,
        /// Where the log would end.
        last: Position,
        /// What is wrong behind it; `None` where the records are just missing.
        damage: Option<String>,
    },
    /// Something whole is behind the damage: it is not where writing stopped.
    #[error(
        "the write-ahead log of {path} is damaged behind position {last} ({damage}), and what was written \
         later is whole: acknowledged records between them are missing. Nothing was removed; restore the \
         log from a backup", path = .path.display()
    )]
    WholeBehind {
        /// The log's directory.
        path: PathBuf,
        /// Where the log can be read up to.
        last: Position,
        /// What is wrong behind it.
        damage: String,
    },
    /// What is damaged created the log.
    #[error(
        "the write-ahead log of {path} is damaged where the log was created ({damage}): without that write there is \
         no log, and no record was acknowledged. Nothing was removed; move {path} away and create the log again with \
         `annals log init`, or restore it from a backup", path = .path.display()
    )]
    CreationDamaged {
        /// The log's directory.
        path: PathBuf,
        /// What is wrong.
        damage: String,
    },
    /// It failed after the removal had begun.
    #[error(
        "removing the damaged end of the log was begun and failed: {source}. The log as it was is in {aside}; \
         `annals doctor --put-back {aside}` puts it back", aside = .aside.display()
    )]
    Interrupted {
        /// The folder with the log as it was.
        aside: PathBuf,
        /// What failed.
        source: OpenError,
    },
    /// The log could not be copied aside.
    #[error("the log cannot be copied to {path}: {source}. Nothing was removed", path = .path.display())]
    Aside {
        /// Where they were to go.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl Classified for TruncateError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Corrupt, Failed, Unavailable};
        match self {
            TruncateError::Open(error) | TruncateError::Interrupted { source: error, .. } => {
                error.classify().of("truncate_failed")
            }
            TruncateError::AcknowledgedLost { .. } | TruncateError::WholeBehind { .. } => {
                Corrupt.code("acknowledged_lost")
            }
            TruncateError::CreationDamaged { .. } => Corrupt.code("truncate_failed"),
            TruncateError::AcknowledgedUnknown { .. } => Classification::CORRUPT,
            TruncateError::Aside { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
                Unavailable.code("truncate_failed")
            }
            TruncateError::Aside { .. } => Failed.code("truncate_failed"),
        }
    }
}

/// How a log ends.
pub(crate) enum End {
    /// Everything can be read.
    Sound(Position),
    /// Behind this position something cannot.
    Damaged {
        last: Position,
        damage: String,
        behind: Behind,
    },
}

/// What is whole behind a damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// Nothing: the damage is where writing stopped.
    Nothing,
    /// Nothing, and without what is damaged there is no log: it is the write that created it.
    Creation,
    /// More of the log, up to this position, and no record is missing: what is damaged held
    /// rows of read models only.
    Everything(Position),
    /// Something that was written later, and records between are missing.
    Something,
}

/// Looks at the end of a log that no process has open for writing, and alters nothing.
pub(crate) fn look(path: &Path) -> Result<End, OpenError> {
    let damage = match last_position(path, Role::Reader) {
        Ok(last) => return Ok(End::Sound(last)),
        Err(OpenError::Corrupt { reason, .. }) => reason,
        Err(error) => return Err(error),
    };
    // A damaged table is not the end of the log, and removing something at the end does not repair it.
    check_readable_tables(path)?;
    // Where something is missing before the damage, that is not where writing stopped.
    let (last, behind) = match last_position(path, Role::Truncator) {
        Ok(last) => (last, behind(path)?),
        Err(_) => (position_before(path)?, Behind::Something),
    };
    Ok(End::Damaged {
        last,
        damage,
        behind,
    })
}

/// The last position; an error where something is missing before it.
fn last_position(path: &Path, role: Role) -> Result<Position, OpenError> {
    let db = open_still(path, role)?;
    if role == Role::Reader {
        check_blob_files(&db)?;
    }
    let read = || {
        let last = db.last_position()?;
        continuity::check(&db, last)?;
        Ok(last)
    };
    read().map_err(|error| unreadable(path, error))
}

/// The last position before the damage or the first gap.
fn position_before(path: &Path) -> Result<Position, OpenError> {
    let db = open_still(path, Role::Truncator)?;
    continuity::end(&db).map_err(|error| unreadable(path, error))
}

/// What is whole behind the damage of a log.
fn behind(path: &Path) -> Result<Behind, OpenError> {
    let scanned = wal::scan(path).map_err(|error| OpenError::io(path, error))?;
    let Some(whole) = scanned.whole_behind else {
        return Ok(match is_created(path)? {
            true => Behind::Nothing,
            false => Behind::Creation,
        });
    };
    let db = match open_still(path, Role::Salvager) {
        Ok(db) => db,
        // What is put together of what is left of a write makes no sense.
        Err(OpenError::Corrupt { .. }) => return Ok(Behind::Something),
        Err(error) => return Err(error),
    };
    // RocksDB gives up more than the damage itself.
    if db.rocks.latest_sequence_number() < whole {
        return Ok(Behind::Something);
    }
    let whole = everything(&db).map_err(|error| unreadable(path, error))?;
    Ok(whole.map_or(Behind::Something, Behind::Everything))
}

/// Whether what creating a log writes can be read before the damage.
fn is_created(path: &Path) -> Result<bool, OpenError> {
    let db = open_still(path, Role::Truncator)?;
    let format = db
        .columns()
        .and_then(|columns| db.get(columns.meta, keys::META_FORMAT));
    let format = format.map_err(|error| unreadable(path, error))?;
    Ok(format.is_some())
}

/// Where a log without what is damaged ends, if nothing else than rows of read models was in
/// that. Not every write has a record: the steps of a redaction and of a rebuild have none.
fn everything(db: &Db) -> Result<Option<Position>, ReadError> {
    if redaction::pending(db)?.is_some() {
        return Ok(None);
    }
    let last = db.last_position()?;
    let view = View {
        db,
        columns: db.columns()?,
        watermark: last,
        rows: Shown::None,
    };
    let log_id = identity::read(&db.path).map_err(|error| corrupt(error.to_string()))?;
    let is_sound = continuity::check(db, last).is_ok()
        && verify::verify(&view, log_id, &mut |_| {})?.is_sound();
    Ok(is_sound.then_some(last))
}

pub(crate) fn truncate_tail(
    path: &Path,
    options: &Options,
) -> Result<TruncateReport, TruncateError> {
    identity::read(path)?;
    let lock = identity::lock(path)?;
    let acknowledged = acknowledged(path)?;
    let lost = |last: Position, damage: Option<String>| TruncateError::AcknowledgedLost {
        path: path.to_owned(),
        acknowledged,
        last,
        damage,
    };
    let (last, damage, behind) = match look(path)? {
        End::Sound(last) if last < acknowledged => return Err(lost(last, None)),
        End::Sound(last) => {
            return Ok(TruncateReport {
                last,
                acknowledged,
                removed: None,
            });
        }
        End::Damaged {
            last,
            damage,
            behind,
        } => (last, damage, behind),
    };
    let behind = match mutants::is(mutants::TRUNCATES_ANYTHING) {
        true => Behind::Nothing,
        false => behind,
    };
    let (last, role) = match behind {
        Behind::Nothing => (last, Role::Truncator),
        Behind::Everything(last) => (last, Role::Salvager),
        Behind::Creation if last < acknowledged => return Err(lost(last, Some(damage))),
        Behind::Creation => {
            let path = path.to_owned();
            return Err(TruncateError::CreationDamaged { path, damage });
        }
        Behind::Something => {
            let path = path.to_owned();
            return Err(TruncateError::WholeBehind { path, last, damage });
        }
    };
    if last < acknowledged && !mutants::is(mutants::TRUNCATES_ANYTHING) {
        return Err(lost(last, Some(damage)));
    }
    let aside =
        aside::put(path, last).map_err(|(path, source)| TruncateError::Aside { path, source })?;
    let done = remove(path, options, role).and_then(|()| {
        drop(lock);
        // The proof that it opens as any log does, for a reader too.
        let log = RocksLog::open(path, options)?;
        let last = log.watermark();
        futures::executor::block_on(log.close());
        match look(path)? {
            End::Sound(_) => Ok(last),
            End::Damaged { damage, .. } => Err(OpenError::corrupt(path, damage)),
        }
    });
    match done {
        Ok(last) => Ok(TruncateReport {
            last,
            acknowledged,
            removed: Some(RemovedTail { damage, aside }),
        }),
        Err(source) => Err(TruncateError::Interrupted { aside, source }),
    }
}

/// What WATERMARK says.
fn acknowledged(path: &Path) -> Result<Position, TruncateError> {
    let unknown = || TruncateError::AcknowledgedUnknown {
        path: path.to_owned(),
    };
    let read = WatermarkFile::open(path).and_then(|file| file.read());
    match read {
        Ok(Some(position)) => Ok(position),
        Ok(None) => Err(unknown()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(unknown()),
        Err(error) => Err(OpenError::io(&path.join(watermark_file::NAME), error).into()),
    }
}

/// Opens the log without what is damaged, writes all of it into tables, and closes it. RocksDB
/// deletes the write-ahead logs then.
fn remove(path: &Path, options: &Options, role: Role) -> Result<(), OpenError> {
    let rocks = |error| OpenError::rocks(path, error);
    endless::mend(path).map_err(|error| OpenError::io(path, error))?;
    let db_options = columns::database_options(options, role);
    let descriptors = columns::descriptors(options, role);
    let db = DB::open_cf_descriptors(&db_options, path, descriptors).map_err(rocks)?;
    if let Some(models) = db.cf_handle(columns::MODELS) {
        // Some of their rows may be among what was damaged; they are folded again.
        let mut write = WriteBatch::default();
        write.delete_range_cf(models, [].as_slice(), keys::BEYOND_MODELS.as_slice());
        db.write_opt(write, &synced(true)).map_err(rocks)?;
    }
    columns::ALL
        .iter()
        .filter_map(|name| db.cf_handle(name))
        .try_for_each(|column| db.flush_cf(column))
        .map_err(rocks)
}
