//! Giving up the bytes of what was removed: tables and blob files are rewritten, and
//! write-ahead logs emptied into them.
//!
//! RocksDB deletes nothing in place. What was overwritten or deleted is gone
//! from the disk once every file that held it has been rewritten. What others derived from the content goes
//! whole ([`crate::derived`]).

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use annals_event_log::{Classification, Classified, ErrorClass, Position, ReadError};
use rocksdb::{BottommostLevelCompaction, CompactOptions};

use crate::columns;
use crate::db::{Db, synced};
use crate::error::{StoreFailure, advice};
use crate::folder::files;
use crate::models::{self, Turns};
use crate::redaction::{Left, Pending};
use crate::{derived, directories, keys, mutants, redaction};

/// RocksDB's count of what failed in its own threads since the log was opened.
const BACKGROUND_ERRORS: &str = "rocksdb.background-errors";

/// The column families that hold content, or what was derived from it.
const WITH_CONTENT: [&str; 5] = [
    columns::RECORDS,
    columns::BATCHES,
    columns::BLOBS,
    columns::MODELS,
    // Digests of blobs that were to go.
    columns::META,
];

/// Rewrites blob files too, all of them.
const REWRITE_BLOBS: [(&str, &str); 2] = [
    ("enable_blob_garbage_collection", "true"),
    ("blob_garbage_collection_age_cutoff", "1.0"),
];
/// And no longer.
const LEAVE_BLOBS: [(&str, &str); 1] = [("enable_blob_garbage_collection", "false")];

/// How long files that are not needed any more may take to go.
const PATIENCE: Duration = Duration::from_secs(10);
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Why bytes were not given up. What was removed cannot be read any more, but lies in
/// files until this succeeds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PurgeError {
    /// The log was opened for reading only.
    #[error("the log is open for reading only")]
    ReadOnly,
    /// A redaction is not complete, as the store failed in the middle of it.
    #[error("a redaction is not complete; open the log again for writing, which completes it")]
    Unfinished,
    /// The log could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The store failed, for example because the disk is full.
    #[error("the files could not be rewritten: {0}{advice}", advice = advice(.0))]
    Store(#[from] StoreFailure),
    /// Files are still there that should have been rewritten.
    #[error(
        "{count} files still hold what was removed, {example} among them; a read in this process that uses \
         them keeps them, the disk is full, or a file is damaged (`annals proof verify` says so)",
        count = .files.len(),
        example = .files.first().map_or("", String::as_str)
    )]
    StillThere {
        /// Their names in the log's directory.
        files: Vec<String>,
    },
}

impl Classified for PurgeError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, Unavailable};
        match self {
            PurgeError::ReadOnly => Failed.code("bytes_left"),
            PurgeError::Read(error) => error.classify().of("bytes_left"),
            PurgeError::Store(failure) => failure.classify().of("bytes_left"),
            PurgeError::Unfinished | PurgeError::StillThere { .. } => {
                Unavailable.code("bytes_left")
            }
        }
    }
}

/// Rewrites all files that may hold what was removed. What is written meanwhile goes
/// to others; a redaction that comes meanwhile is left to be done.
pub(crate) fn purge(db: &Db, turns: &Turns) -> Result<(), PurgeError> {
    let said = begin(db, turns)?;
    forget_derived(db)?;
    // Something was just written, so that all write-ahead logs of now become old.
    let logs = listed(db, "log")?.into_iter().collect();
    db.flush().map_err(|error| db.write_failure(&error))?;
    let with_content: &[&str] = match mutants::is(mutants::PURGE_SKIPS) {
        true => WITH_CONTENT.get(1..).unwrap_or_default(),
        false => &WITH_CONTENT,
    };
    let rewritten = rewrite(db, with_content, logs);
    // They let old files go that they have open.
    db.renew_readers()?;
    rewritten?;
    let _turn = turns.take();
    match redaction::pending(db)? {
        Some(pending) if pending.said == said => {
            // Or a power cut brings the names of the old files back, and nothing says so.
            directories::sync_directory(&db.folder.held())
                .map_err(|error| StoreFailure::io(&db.path, &error))?;
            mark(db, None)
        }
        _ => Ok(()),
    }
}

/// Removes what was derived from content of before.
fn forget_derived(db: &Db) -> Result<(), PurgeError> {
    let epoch = models::epoch(db, &db.columns()?)?;
    let forgotten = derived::forget(&db.folder.held(), epoch);
    Ok(forgotten.map_err(|error| StoreFailure::io(&db.path.join(derived::NAME), &error))?)
}

/// The files of the log with such an ending.
fn listed(db: &Db, ending: &str) -> Result<Vec<String>, PurgeError> {
    let found = files(&db.folder.held(), ending);
    Ok(found.map_err(|error| StoreFailure::io(&db.path, &error))?)
}

/// Says that files are rewritten, so that this is completed where it is interrupted;
/// what it is about.
fn begin(db: &Db, turns: &Turns) -> Result<Position, PurgeError> {
    let _turn = turns.take();
    let said = match redaction::pending(db)? {
        Some(Pending {
            left: Left::Content { .. },
            ..
        }) => return Err(PurgeError::Unfinished),
        Some(pending) => pending.said,
        None => Position::START,
    };
    let left = Left::Files;
    mark(db, Some(&Pending { said, left }))?;
    Ok(said)
}

/// Gives the room of deleted blobs back.
pub(crate) fn shrink_blobs(db: &Db) -> Result<(), PurgeError> {
    db.flush().map_err(|error| db.write_failure(&error))?;
    rewrite(db, &[columns::BLOBS], BTreeSet::new())?;
    Ok(db.renew_readers()?)
}

/// Rewrites column families, and waits until their old files are gone, and `old` too.
fn rewrite(db: &Db, names: &[&str], mut old: BTreeSet<String>) -> Result<(), PurgeError> {
    let columns = db.columns()?;
    let failure = |error| StoreFailure::rocks(&db.path, &error);
    old.extend(listed(db, "blob")?);
    old.extend(tables(db, names)?);
    no_background_error(db)?;
    db.rocks
        .set_options_cf(columns.blobs, &REWRITE_BLOBS)
        .map_err(failure)?;
    let mut options = CompactOptions::default();
    options.set_bottommost_level_compaction(BottommostLevelCompaction::Force);
    options.set_exclusive_manual_compaction(false);
    for column in names.iter().filter_map(|name| db.rocks.cf_handle(name)) {
        let all = None::<&[u8]>;
        db.rocks.compact_range_cf_opt(column, all, all, &options);
        no_background_error(db)?;
    }
    db.rocks
        .set_options_cf(columns.blobs, &LEAVE_BLOBS)
        .map_err(failure)?;
    wait_for(&db.folder.held(), &old)
}

/// The same for what is no purge.
pub(crate) fn check_background(db: &Db) -> Result<(), StoreFailure> {
    match no_background_error(db) {
        Err(PurgeError::Store(failure)) => Err(failure),
        _ => Ok(()),
    }
}

/// Stops where RocksDB could not bring its list of tables to the disk. It keeps the tables then that
/// may be named there, but to set an option makes it forget that, and remove them: the log would
/// not open any more.
fn no_background_error(db: &Db) -> Result<(), PurgeError> {
    let errors = db.rocks.property_int_value(BACKGROUND_ERRORS);
    match errors.map_err(|error| db.write_failure(&error))? {
        None | Some(0) => Ok(()),
        Some(_) => {
            db.failed();
            let error = std::io::Error::other("RocksDB could not write its tables");
            Err(StoreFailure::io(&db.path, &error).into())
        }
    }
}

/// Leaves the bytes of a redaction in the files until a caller has them removed. Those of another
/// redaction are not touched.
pub(crate) fn put_off(db: &Db, turns: &Turns, said: Position) -> Result<(), PurgeError> {
    let _turn = turns.take();
    match redaction::pending(db)? {
        Some(Pending {
            said: last,
            left: Left::Files,
        }) if last == said => {
            let left = Left::PutOff;
            mark(db, Some(&Pending { said, left }))
        }
        _ => Ok(()),
    }
}

fn mark(db: &Db, pending: Option<&Pending>) -> Result<(), PurgeError> {
    let meta = db.columns()?.meta;
    let written = match pending {
        Some(pending) => {
            let value = pending.encode();
            db.rocks
                .put_cf_opt(meta, keys::META_REDACTION, value, &synced(true))
        }
        None => db
            .rocks
            .delete_cf_opt(meta, keys::META_REDACTION, &synced(true)),
    };
    written.map_err(|error| db.write_failure(&error).into())
}

/// The tables of column families.
fn tables(db: &Db, names: &[&str]) -> Result<Vec<String>, PurgeError> {
    let live = db.rocks.live_files();
    let live = live.map_err(|error| StoreFailure::rocks(&db.path, &error))?;
    let theirs = live
        .into_iter()
        .filter(|file| names.contains(&file.column_family_name.as_str()));
    Ok(theirs
        .map(|file| file.name.trim_start_matches('/').to_owned())
        .collect())
}

/// Waits until none of the files is there.
fn wait_for(directory: &Path, old: &BTreeSet<String>) -> Result<(), PurgeError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let left: Vec<String> = old
            .iter()
            .filter(|name| directory.join(name).exists())
            .cloned()
            .collect();
        if left.is_empty() {
            return Ok(());
        }
        if Instant::now() > deadline {
            return Err(PurgeError::StillThere { files: left });
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
}
