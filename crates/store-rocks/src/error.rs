//! What can go wrong in addition to the ports' own errors: opening, backing up, and
//! the store's failures as the ports report them.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annals_event_log::{
    AppendError, Classification, Classified, CommitError, ErrorClass, ReadError, RedactError,
};

use crate::folder::named;
use crate::ingest::leftovers::{leftovers, missing_table};

/// What to do about damage.
const EXAMINE: &str = "`annals doctor` says whether anything that was acknowledged is concerned, or restore it \
    from a backup";

/// Why a log could not be opened or created. Nothing was altered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no log at this path.
    #[error("there is no log at {path}; `annals log init` creates one", path = .path.display())]
    NotFound {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A log exists already where one was to be created.
    #[error("{path} holds a log already", path = .path.display())]
    AlreadyExists {
        /// The directory.
        path: PathBuf,
    },
    /// A log was to be created in a directory that holds something else.
    #[error("{path} is not empty; choose a new or an empty directory", path = .path.display())]
    NotEmpty {
        /// The directory.
        path: PathBuf,
    },
    /// A log was to be created in the folder of another one.
    #[error("{path} is in the folder of the log {log}; choose a place outside of it", path = .path.display(), log = .log.display())]
    InsideLog {
        /// The directory.
        path: PathBuf,
        /// The folder of the other log.
        log: PathBuf,
    },
    /// The log's files are hard links, so that another folder has the same ones: what is written here would
    /// change the log there, too.
    #[error(
        "the files of the log at {path} are in another folder, too (hard links); \
         to write here, remove the other folder, or copy this one with `cp -r` or `annals log backup` and write to the copy",
        path = .path.display()
    )]
    Linked {
        /// The directory.
        path: PathBuf,
    },
    /// What is at this path is not a log of this program.
    #[error("{path} is not an Annals log: {reason}", path = .path.display())]
    NotALog {
        /// What was to be opened.
        path: PathBuf,
        /// How it was recognised.
        reason: String,
    },
    /// The creation of this log did not come to its end. It holds no events.
    #[error(
        "the creation of the log at {path} was interrupted; `annals log init` completes it, and `annals log copy` if it is to be a copy",
        path = .path.display()
    )]
    CreationInterrupted {
        /// The directory.
        path: PathBuf,
    },
    /// Another process, or another handle in this one, has the log open for writing.
    #[error(
        "the log at {path} is locked: it is open for writing elsewhere, and only processes that share it write at the same time",
        path = .path.display()
    )]
    Locked {
        /// The directory.
        path: PathBuf,
    },
    /// The log was written by a newer version of this program.
    #[error(
        "the log at {path} has format {found}, this version knows formats up to {known}; use a newer version",
        path = .path.display()
    )]
    NewerFormat {
        /// The directory.
        path: PathBuf,
        /// The log's format.
        found: u32,
        /// The newest format that this version knows.
        known: u32,
    },
    /// A part of the log is missing.
    #[error(
        "the log at {path} has no column family {name:?}; restore it from a backup",
        path = .path.display()
    )]
    MissingColumnFamily {
        /// The directory.
        path: PathBuf,
        /// The column family's name.
        name: String,
    },
    /// Rebuilding the indexes has not come to its end. The records are all there.
    #[error(
        "the indexes of the log at {path} are being rebuilt, or a rebuild was interrupted; \
         `annals log rebuild --indexes` repeats it",
        path = .path.display()
    )]
    RebuildInterrupted {
        /// The directory.
        path: PathBuf,
    },
    /// Another process is rebuilding the indexes. The records are all there.
    #[error(
        "the indexes of the log at {path} are being rebuilt by another process; try again when it is done",
        path = .path.display()
    )]
    Rebuilding {
        /// The directory.
        path: PathBuf,
    },
    /// The directory or a file in it may not be read, or not be written.
    #[error("no permission to open {path}: {detail}", path = .path.display())]
    NoPermission {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        detail: String,
    },
    /// A reader holds all tables open, and may not hold so many.
    #[error(
        "the log at {path} has more files than may be open at once; raise the limit (ulimit -n)",
        path = .path.display()
    )]
    TooManyFiles {
        /// The directory.
        path: PathBuf,
    },
    /// No folder takes the temporary files that reading needs.
    #[error(transparent)]
    NoTemporary(annals_files::NoTemporary),
    /// There is no room on the disk.
    #[error("the disk is full at {path}: {detail}. Free some space and open the log again", path = .path.display())]
    DiskFull {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        detail: String,
    },
    /// What is stored contradicts itself.
    #[error("the log at {path} is corrupt: {reason}; {remedy}", path = .path.display())]
    Corrupt {
        /// The directory.
        path: PathBuf,
        /// What was found.
        reason: String,
        /// What to do about it.
        remedy: Cow<'static, str>,
    },
    /// The operating system refused something else.
    #[error("cannot open {path}: {source}", path = .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// RocksDB refused something else.
    #[error("cannot open the log at {path}: {source}", path = .path.display())]
    Rocks {
        /// The directory.
        path: PathBuf,
        /// RocksDB's own error.
        #[source]
        source: rocksdb::Error,
    },
}

impl OpenError {
    pub(crate) fn io(path: &Path, source: io::Error) -> OpenError {
        let (path, detail) = (path.to_owned(), source.to_string());
        match source.kind() {
            io::ErrorKind::NotFound => OpenError::NotFound { path },
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                OpenError::NoPermission { path, detail }
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                OpenError::DiskFull { path, detail }
            }
            _ => OpenError::Io { path, source },
        }
    }

    pub(crate) fn rocks(path: &Path, source: rocksdb::Error) -> OpenError {
        let (path, detail) = (path.to_owned(), named(path, source.as_ref()));
        let says = |text: &str| detail.contains(text);
        if says("lock hold by current process") || says("While lock file") {
            OpenError::Locked { path }
        } else if is_forbidden(&detail) {
            OpenError::NoPermission { path, detail }
        } else if is_disk_full(&detail) {
            OpenError::DiskFull { path, detail }
        } else if source.kind() == rocksdb::ErrorKind::Corruption || is_file_missing(&detail) {
            let found = without_blame(&detail).trim_start_matches("Corruption: ");
            let found = found.trim_end().trim_end_matches('.');
            if missing_table(&path, found).is_some() && !leftovers(&path).is_empty() {
                let remedy = "rows that were being taken over are still there under another name, and \
                    opening the log once for writing puts them in their place, as `annals service apply \
                    /dev/null` does";
                return OpenError::corrupt_but(&path, found, remedy);
            }
            OpenError::corrupt(&path, found)
        } else if says("Too many open files") {
            OpenError::TooManyFiles { path }
        } else {
            OpenError::Rocks { path, source }
        }
    }

    /// What was found, without what to do about damage.
    pub fn finding(&self) -> String {
        match self {
            OpenError::Corrupt { path, reason, .. } => {
                format!("the log at {} is corrupt: {reason}", path.display())
            }
            OpenError::MissingColumnFamily { path, name } => {
                format!(
                    "the log at {} has no column family {name:?}",
                    path.display()
                )
            }
            error => error.to_string(),
        }
    }

    /// What helps against this very damage, other than a backup.
    pub fn remedy(&self) -> Option<&str> {
        match self {
            OpenError::Corrupt { remedy, .. } if remedy != EXAMINE => Some(remedy),
            _ => None,
        }
    }

    /// Damage that nothing in the log can mend.
    pub(crate) fn corrupt(path: &Path, reason: impl Into<String>) -> OpenError {
        OpenError::corrupt_but(path, reason, EXAMINE)
    }

    /// Damage that something else helps against.
    pub(crate) fn corrupt_but(
        path: &Path,
        reason: impl Into<String>,
        remedy: impl Into<Cow<'static, str>>,
    ) -> OpenError {
        OpenError::Corrupt {
            path: path.to_owned(),
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}

impl Classified for OpenError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Failed, NotFound, Refused, Unavailable, Unsupported};
        match self {
            OpenError::NotFound { .. } => NotFound.code("no_log"),
            OpenError::AlreadyExists { .. } => Refused.code("log_exists"),
            OpenError::NotEmpty { .. } => Refused.code("not_empty"),
            OpenError::InsideLog { .. } => Refused.code("inside_a_log"),
            OpenError::Linked { .. } => Refused.code("linked"),
            OpenError::NotALog { .. } => Failed.code("not_a_log"),
            OpenError::Locked { .. } => Contended.code("locked"),
            OpenError::NewerFormat { .. } => Unsupported.code("newer_format"),
            OpenError::MissingColumnFamily { .. } | OpenError::Corrupt { .. } => {
                Classification::CORRUPT
            }
            OpenError::RebuildInterrupted { .. } => Failed.code("rebuild_interrupted"),
            OpenError::Rebuilding { .. } => Contended.code("rebuilding"),
            OpenError::NoPermission { .. } => Failed.code("no_permission"),
            OpenError::NoTemporary(_) => Failed.code("no_temporary_folder"),
            OpenError::TooManyFiles { .. } => Failed.code("too_many_files"),
            OpenError::DiskFull { .. } => Unavailable.code("disk_full"),
            OpenError::CreationInterrupted { .. }
            | OpenError::Io { .. }
            | OpenError::Rocks { .. } => Failed.code("open_failed"),
        }
    }
}

/// Why the indexes were not rebuilt.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RebuildError {
    /// The log cannot be opened. Nothing was altered.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Its records or its blobs cannot be read. They cannot be rebuilt from anything.
    #[error("index rebuild failed: {0}")]
    Read(#[from] ReadError),
    /// It could not be written.
    #[error("index rebuild failed: {0}{advice}", advice = advice(.0))]
    Store(#[from] StoreFailure),
}

/// What to do about a failure that does not say it itself.
pub(crate) fn advice(failure: &StoreFailure) -> &'static str {
    match failure {
        StoreFailure::Rocks { detail, .. } if is_damage(detail) => {
            "; verify the log, and restore it from a backup"
        }
        StoreFailure::Rocks { detail, .. } if is_forbidden(detail) => "",
        StoreFailure::Rocks { .. } | StoreFailure::DiskFull { .. } | StoreFailure::ThreadLost => {
            "; run it again"
        }
        _ => "",
    }
}

impl Classified for RebuildError {
    fn classify(&self) -> Classification {
        match self {
            RebuildError::Open(error) => error.classify(),
            RebuildError::Read(error) => error.classify().of("rebuild_failed"),
            RebuildError::Store(failure) => failure.classify().of("rebuild_failed"),
        }
    }
}

/// Why a backup was not made. Nothing is left at the destination.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The destination holds something.
    #[error("{path} exists and is not an empty directory; choose another place", path = .path.display())]
    NotEmpty {
        /// The destination.
        path: PathBuf,
    },
    /// The destination is inside the log.
    #[error("{path} is in the log's own directory; choose a place outside of it", path = .path.display())]
    Inside {
        /// The destination.
        path: PathBuf,
    },
    /// The destination is inside another log.
    #[error("{path} is in the folder of the log {log}; choose a place outside of it", path = .path.display(), log = .log.display())]
    InsideLog {
        /// The destination.
        path: PathBuf,
        /// The folder of the other log.
        log: PathBuf,
    },
    /// The log is closed.
    #[error("the log is closed")]
    Closed,
    /// The destination could not be written, or the log not be read.
    #[error("the backup to {path} failed: {source}", path = .path.display())]
    Io {
        /// The destination.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// RocksDB could not copy itself.
    #[error("the backup to {path} failed: {source}", path = .path.display())]
    Rocks {
        /// The destination.
        path: PathBuf,
        /// RocksDB's own error.
        #[source]
        source: rocksdb::Error,
    },
    /// The copy was made, but it does not open. It was removed again.
    #[error("the backup to {path} does not open: {source}", path = .path.display())]
    Unusable {
        /// The destination.
        path: PathBuf,
        /// Why not.
        #[source]
        source: OpenError,
    },
    /// The log could not be read.
    #[error("the log could not be read for the backup: {0}")]
    Read(#[from] ReadError),
}

impl Classified for BackupError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, Refused};
        match self {
            BackupError::NotEmpty { .. }
            | BackupError::Inside { .. }
            | BackupError::InsideLog { .. } => Refused.code("backup_failed"),
            BackupError::Io { source, .. } => ErrorClass::of_file(source).code("backup_failed"),
            BackupError::Rocks { source, .. } => of_rocks(source).of("backup_failed"),
            BackupError::Closed => Failed.code("backup_failed"),
            BackupError::Unusable { source, .. } => source.classify().of("backup_failed"),
            BackupError::Read(error) => error.classify().of("backup_failed"),
        }
    }
}

/// What helps where RocksDB could not write files of its own elsewhere.
fn of_rocks(error: &rocksdb::Error) -> Classification {
    let detail: &str = error.as_ref();
    if is_damage(detail) {
        Classification::CORRUPT
    } else if is_forbidden(detail) {
        ErrorClass::Failed.code("no_permission")
    } else {
        ErrorClass::Unavailable.code("unavailable")
    }
}

/// A failure of the store below the ports: the source of their `Unavailable`.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreFailure {
    /// There is no room on the disk.
    #[error(
        "the disk is full ({detail}). Free some space for {path} and reopen the log; nothing that was acknowledged is lost",
        path = .path.display()
    )]
    DiskFull {
        /// The log's directory.
        path: Arc<Path>,
        /// What the operating system said.
        detail: Arc<str>,
    },
    /// RocksDB reported an error.
    #[error("{detail}, at {path}; open the log again once that is mended", path = .path.display())]
    Rocks {
        /// The log's directory.
        path: Arc<Path>,
        /// RocksDB's own words.
        detail: Arc<str>,
    },
    /// What is stored contradicts itself.
    #[error("the store is corrupt: {reason}. Verify it, and restore it from a backup")]
    Corrupt {
        /// What was found, and where.
        reason: Arc<str>,
    },
    /// A writer ended between a write and its publication.
    #[error(
        "a writer ended before it published its last group; open the log once for writing to settle it"
    )]
    Unpublished,
    /// The writer changed its tables all the time.
    #[error("the writer changed its tables faster than a reader can follow; try again")]
    Restless,
    /// The indexes were being rebuilt while a reader looked at them.
    #[error(
        "the log's indexes are being rebuilt by another process, or that was interrupted; try again when it is \
         done, or run `annals log rebuild --indexes` if no process does it"
    )]
    Rebuilding,
    /// The log's directory is not where it was.
    #[error(
        "another folder than the one that was opened is at {path} now, or none: the log was moved, removed or \
         replaced. Nothing more is written to it. Whether the last request was recorded is not known: open the log \
         where it is now, and look", path = .path.display()
    )]
    Moved {
        /// Where it was.
        path: Arc<Path>,
    },
    /// A thread of the store's own ended before its work.
    #[error("a thread of the store ended before its work; reopen the log")]
    ThreadLost,
}

impl StoreFailure {
    pub(crate) fn rocks(path: &Path, error: &rocksdb::Error) -> StoreFailure {
        let (path, detail) = (Arc::from(path), Arc::from(named(path, error.as_ref())));
        if is_disk_full(&detail) {
            StoreFailure::DiskFull { path, detail }
        } else {
            StoreFailure::Rocks { path, detail }
        }
    }

    /// A file in the log's directory that could not be made.
    pub(crate) fn io(path: &Path, error: &io::Error) -> StoreFailure {
        let (path, detail) = (Arc::from(path), Arc::from(error.to_string()));
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                StoreFailure::DiskFull { path, detail }
            }
            _ => StoreFailure::Rocks { path, detail },
        }
    }
}

impl Classified for StoreFailure {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Failed, Unavailable};
        match self {
            StoreFailure::DiskFull { .. } => Unavailable.code("disk_full"),
            StoreFailure::Rocks { detail, .. } if is_damage(detail) => Classification::CORRUPT,
            StoreFailure::Rocks { detail, .. } if is_forbidden(detail) => {
                Failed.code("no_permission")
            }
            StoreFailure::Rocks { .. } | StoreFailure::ThreadLost => {
                Unavailable.code("unavailable")
            }
            StoreFailure::Corrupt { .. } => Classification::CORRUPT,
            StoreFailure::Unpublished => Unavailable.code("unpublished"),
            StoreFailure::Restless => Contended.code("restless"),
            StoreFailure::Rebuilding => Contended.code("rebuilding"),
            StoreFailure::Moved { .. } => Failed.code("moved"),
        }
    }
}

impl From<StoreFailure> for AppendError {
    fn from(failure: StoreFailure) -> AppendError {
        match failure {
            // To reopen it would not help.
            StoreFailure::Corrupt { reason } => AppendError::Corrupt {
                reason: reason.to_string(),
            },
            failure => AppendError::Unavailable {
                source: Box::new(failure),
            },
        }
    }
}

impl From<StoreFailure> for RedactError {
    fn from(failure: StoreFailure) -> RedactError {
        AppendError::from(failure).into()
    }
}

impl From<StoreFailure> for CommitError {
    fn from(failure: StoreFailure) -> CommitError {
        match failure {
            // To reopen it would not help.
            StoreFailure::Corrupt { reason } => CommitError::Corrupt {
                reason: reason.to_string(),
            },
            failure => CommitError::Unavailable {
                source: Box::new(failure),
            },
        }
    }
}

impl From<StoreFailure> for ReadError {
    fn from(failure: StoreFailure) -> ReadError {
        match failure {
            // To read again does not help.
            StoreFailure::Moved { path } => ReadError::Moved {
                place: path.display().to_string(),
            },
            StoreFailure::Corrupt { reason } => ReadError::Corrupt {
                reason: reason.to_string(),
            },
            failure => ReadError::Unavailable {
                source: Box::new(failure),
            },
        }
    }
}

/// Whether RocksDB found what it did not write, or misses what it wrote.
fn is_damage(detail: &str) -> bool {
    detail.starts_with("Corruption: ") || is_file_missing(detail)
}

fn is_forbidden(detail: &str) -> bool {
    detail.contains("Permission denied") || detail.contains("Read-only file system")
}

fn is_disk_full(detail: &str) -> bool {
    detail.contains("No space left on device")
        || detail.contains("Disk quota exceeded")
        || detail.contains("Space limit reached")
}

/// Whether RocksDB misses one of its own tables, blob files or manifests.
fn is_file_missing(detail: &str) -> bool {
    let is_own = |word: &str| {
        let name = word.rsplit('/').next().unwrap_or_default();
        let is_table = name.ends_with(".sst") || name.ends_with(".blob");
        is_table || name.starts_with("MANIFEST-") || name == "CURRENT"
    };
    detail.contains("No such file or directory") && detail.split(": ").any(is_own)
}

/// Returns `true` if RocksDB misses a blob file.
pub(crate) fn is_blob_file_missing(detail: &str) -> bool {
    is_file_missing(detail) && detail.contains(".blob")
}

/// RocksDB's report of damage without the file that it always blames: its list of files, also for a table that the
/// report names before it.
fn without_blame(detail: &str) -> &str {
    match detail.split_once(" The file ") {
        Some((found, blamed))
            if blamed.contains("MANIFEST-")
                && blamed.trim_end_matches('.').ends_with("may be corrupted")
                && [".sst", ".blob", ".log"]
                    .iter()
                    .any(|of| found.contains(of)) =>
        {
            found
        }
        _ => detail,
    }
}

/// What is stored cannot be what was written.
pub(crate) fn corrupt(reason: impl Into<String>) -> ReadError {
    ReadError::Corrupt {
        reason: reason.into(),
    }
}

pub(crate) fn unreadable(path: &Path, error: ReadError) -> OpenError {
    match error {
        ReadError::Corrupt { reason } => OpenError::corrupt(path, reason),
        error => OpenError::corrupt(path, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::purge::PurgeError;

    #[test]
    fn a_full_disk_is_recognised_and_says_what_to_do() {
        assert!(is_disk_full(
            "IO error: No space left on device: While appending to file: x"
        ));
        assert!(!is_disk_full("IO error: No such file or directory"));
        let path: Arc<Path> = Arc::from(Path::new("log"));
        let failure = StoreFailure::DiskFull {
            path,
            detail: "ENOSPC".into(),
        };
        let error = AppendError::from(failure);
        assert!(error.is_retryable());
        assert!(
            error
                .to_string()
                .contains("Free some space for log and reopen"),
            "{error}"
        );
    }

    fn rocks(detail: &str) -> StoreFailure {
        StoreFailure::Rocks {
            path: Arc::from(Path::new("log")),
            detail: detail.into(),
        }
    }

    #[test]
    fn a_rebuild_and_a_purge_say_whether_a_retry_helps() {
        let path: Arc<Path> = Arc::from(Path::new("log"));
        let reason = "x".into();
        for (failure, class) in [
            (StoreFailure::Corrupt { reason }, ErrorClass::Corrupt),
            (StoreFailure::Moved { path }, ErrorClass::Failed),
            (rocks("Corruption: bad block"), ErrorClass::Corrupt),
            (
                rocks("IO error: Permission denied: While open"),
                ErrorClass::Failed,
            ),
            (rocks("IO error: x"), ErrorClass::Unavailable),
            (StoreFailure::Restless, ErrorClass::Contended),
            (StoreFailure::ThreadLost, ErrorClass::Unavailable),
        ] {
            let purge = PurgeError::Store(failure.clone());
            let rebuild = RebuildError::Store(failure);
            assert_eq!((purge.class(), rebuild.class()), (class, class), "{purge}");
            let says_again = rebuild.to_string().ends_with("run it again");
            assert_eq!(says_again, class == ErrorClass::Unavailable, "{rebuild}");
        }
    }

    #[test]
    fn advice_is_given_once() {
        let reason = String::from("x");
        let error = RebuildError::Read(ReadError::Corrupt { reason }).to_string();
        assert_eq!(error.matches("restore").count(), 1, "{error}");
        let reason = "x".into();
        let error = RebuildError::Store(StoreFailure::Corrupt { reason }).to_string();
        assert_eq!(error.matches("restore").count(), 1, "{error}");
    }

    #[test]
    fn the_list_of_files_is_not_blamed_for_a_table() {
        let blame = "  The file log/MANIFEST-000005 may be corrupted.";
        let table = "Corruption: Bad table magic number in log/000012.sst";
        assert_eq!(without_blame(&format!("{table}{blame}")).trim_end(), table);
        let list = format!("Corruption: checksum mismatch{blame}");
        assert_eq!(without_blame(&list), list);
        assert_eq!(without_blame(table), table);
    }

    #[test]
    fn damage_is_damage_to_every_port() {
        let damage = || StoreFailure::Corrupt { reason: "x".into() };
        assert_eq!(ReadError::from(damage()).class(), ErrorClass::Corrupt);
        assert_eq!(AppendError::from(damage()).class(), ErrorClass::Corrupt);
        assert_eq!(CommitError::from(damage()).class(), ErrorClass::Corrupt);
    }

    #[test]
    fn a_backup_without_permission_is_not_tried_again() {
        for (kind, retryable) in [
            (io::ErrorKind::PermissionDenied, false),
            (io::ErrorKind::NotADirectory, false),
            (io::ErrorKind::StorageFull, true),
        ] {
            let path = PathBuf::from("copy");
            let source = kind.into();
            let error = BackupError::Io { path, source };
            assert_eq!(error.is_retryable(), retryable, "{error}");
        }
    }

    #[test]
    fn operating_system_errors_are_sorted() {
        let path = Path::new("log");
        let of = |kind: io::ErrorKind| OpenError::io(path, kind.into());
        assert!(matches!(
            of(io::ErrorKind::NotFound),
            OpenError::NotFound { .. }
        ));
        assert!(matches!(
            of(io::ErrorKind::PermissionDenied),
            OpenError::NoPermission { .. }
        ));
        assert!(matches!(
            of(io::ErrorKind::ReadOnlyFilesystem),
            OpenError::NoPermission { .. }
        ));
        assert!(matches!(
            of(io::ErrorKind::StorageFull),
            OpenError::DiskFull { .. }
        ));
        assert!(matches!(
            of(io::ErrorKind::BrokenPipe),
            OpenError::Io { .. }
        ));
    }
}
