//! Removing the end of a write-ahead log that cannot be read.
//!
//! A group that was being written when the machine stopped is forgiven where it is just
//! torn. Where its bytes are there but wrong, opening refuses: a damage looks the same,
//! whether or not anybody was told of the group. WATERMARK tells the two apart. What it
//! promises is never removed; what lies above it may go, once the files are copied aside.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use annals_event_log::{EventLog, Position};
use rocksdb::DB;

use crate::columns::{self, Role};
use crate::error::OpenError;
use crate::identity;
use crate::log::RocksLog;
use crate::open::{open_still, unreadable};
use crate::options::Options;
use crate::watermark_file::{self, WatermarkFile};

/// What the folder is called that the files are copied to: the log's name, this, and a
/// number.
pub(crate) const ASIDE: &str = ".tail-";
/// Folders of that name that there may be.
const MOST_ASIDE: u32 = 1_000;

/// What a truncation found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruncateReport {
    /// Where the log ends now.
    pub last: Position,
    /// Up to where the file WATERMARK says that records were acknowledged.
    pub acknowledged: Position,
    /// What was removed; none, where nothing had to be.
    pub removed: Option<RemovedTail>,
}

/// What was removed from the end of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedTail {
    /// What was wrong with it.
    pub damage: String,
    /// The folder with copies of the write-ahead logs as they were.
    pub aside: PathBuf,
}

/// Why the end of a log was not removed. Nothing was removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TruncateError {
    /// The log cannot be looked at, or does not open for another reason.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// WATERMARK is missing or damaged.
    #[error(
        "nobody knows what was acknowledged: the file {} of {path} is missing or damaged. Restore the \
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
        /// What is wrong behind it; none, where the records are just missing.
        damage: Option<String>,
    },
    /// The write-ahead logs could not be copied aside.
    #[error("the write-ahead logs cannot be copied to {path}: {source}. Nothing was removed", path = .path.display())]
    Aside {
        /// Where they were to go.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl TruncateError {
    /// Whether the same call may succeed later without anything being mended.
    pub fn is_retryable(&self) -> bool {
        match self {
            TruncateError::Open(error) => error.is_retryable(),
            TruncateError::Aside { source, .. } => source.kind() == io::ErrorKind::StorageFull,
            _ => false,
        }
    }
}

/// How a log ends.
pub(crate) enum End {
    /// Everything can be read.
    Sound(Position),
    /// Behind this position something cannot.
    Damaged { last: Position, damage: String },
}

/// Looks at the end of a log that nobody writes to, and alters nothing.
pub(crate) fn look(path: &Path) -> Result<End, OpenError> {
    match last_position(path, Role::Reader) {
        Ok(last) => Ok(End::Sound(last)),
        Err(OpenError::Corrupt { reason, .. }) => {
            let last = last_position(path, Role::Truncator)?;
            let damage = reason.trim_end_matches("; restore it from a backup");
            Ok(End::Damaged {
                last,
                damage: damage.to_owned(),
            })
        }
        Err(error) => Err(error),
    }
}

fn last_position(path: &Path, role: Role) -> Result<Position, OpenError> {
    let db = open_still(path, role)?;
    db.last_position().map_err(|error| unreadable(path, error))
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
    let (last, damage) = match look(path)? {
        End::Sound(last) if last < acknowledged => return Err(lost(last, None)),
        End::Sound(last) => {
            return Ok(TruncateReport {
                last,
                acknowledged,
                removed: None,
            });
        }
        End::Damaged { last, damage } => (last, damage),
    };
    if last < acknowledged {
        return Err(lost(last, Some(damage)));
    }
    let aside = set_aside(path)?;
    remove(path, options, last)?;
    drop(lock);
    // The proof that it opens as any log does.
    let log = RocksLog::open(path, options)?;
    let last = log.watermark();
    drop(log);
    Ok(TruncateReport {
        last,
        acknowledged,
        removed: Some(RemovedTail { damage, aside }),
    })
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

/// Opens the log up to the damage, writes all that into tables, and closes it. RocksDB
/// deletes the write-ahead logs then.
fn remove(path: &Path, options: &Options, last: Position) -> Result<(), TruncateError> {
    let rocks = |error| OpenError::rocks(path, error);
    let db_options = columns::database_options(options, Role::Truncator);
    let descriptors = columns::descriptors(options);
    let db = DB::open_cf_descriptors(&db_options, path, descriptors).map_err(rocks)?;
    columns::ALL
        .iter()
        .filter_map(|name| db.cf_handle(name))
        .try_for_each(|column| db.flush_cf(column))
        .map_err(rocks)?;
    tracing::info!(%last, "the end of the write-ahead log was removed");
    Ok(())
}

/// Copies the write-ahead logs into a new folder beside the log.
fn set_aside(path: &Path) -> Result<PathBuf, TruncateError> {
    let failed = |at: &Path, source| TruncateError::Aside {
        path: at.to_owned(),
        source,
    };
    let directory = path.canonicalize().map_err(|error| failed(path, error))?;
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    for number in 1..=MOST_ASIDE {
        let aside = directory.with_file_name(format!("{name}{ASIDE}{number}"));
        match fs::create_dir(&aside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed(&aside, error)),
            Ok(()) => {
                return match copy_logs(&directory, &aside) {
                    Ok(()) => Ok(aside),
                    Err(error) => {
                        let _ = fs::remove_dir_all(&aside);
                        Err(failed(&aside, error))
                    }
                };
            }
        }
    }
    let full = io::Error::other("there are too many such folders; remove some");
    Err(failed(&directory, full))
}

fn copy_logs(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        if Path::new(&name).extension() == Some("log".as_ref()) {
            let copy = to.join(&name);
            fs::copy(entry.path(), &copy)?;
            File::open(&copy)?.sync_all()?;
        }
    }
    identity::sync_directory(to)
}
