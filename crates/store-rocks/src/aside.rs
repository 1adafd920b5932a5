//! Putting a log aside as it is, before something is removed of it, and putting it back.
//!
//! The folder next to the log has everything of it: tables and blob files, which never change,
//! as links, and the rest as copies. So it is the log as it was, and can be looked at as one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use annals_event_log::{Classification, Classified, ErrorClass, Position};
use rustix::fs::{CWD, RenameFlags};

use crate::columns::Role;
use crate::directories;
use crate::error::{OpenError, unreadable};
use crate::folder;
use crate::identity;
use crate::open_still::open_still;
use crate::watermark_file::WatermarkFile;

/// What the folder is called: the log's name, this, and a number.
pub(crate) const ASIDE: &str = ".tail-";
/// What the log is called that was replaced: its name, this, and a number.
pub(crate) const REPLACED: &str = ".replaced-";
/// Folders of one of these names that there may be.
const MOST: u32 = 1_000;
/// The file in the folder that says where the log ended after the removal.
const NOTE: &str = "ASIDE";

/// What was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PutBackReport {
    /// Where the log is now that was in the place of the one that was put back; `None` where
    /// there was none.
    pub replaced: Option<PathBuf>,
}

/// Why a log was not put back. It is where it was, and so is the one in its place; where that
/// could not be kept, the same call can be repeated.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PutBackError {
    /// The log cannot be opened, or is open for writing elsewhere.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The folder is not what `doctor --truncate-tail` puts aside.
    #[error("{aside} was not put aside by `annals doctor --truncate-tail`: {reason}", aside = .aside.display())]
    NotAside {
        /// The folder.
        aside: PathBuf,
        /// What is missing or wrong.
        reason: String,
    },
    /// The log in its place does not open and has no WATERMARK: it is unknown what was appended since.
    #[error(
        "{path} cannot be read ({reason}), and nothing says what was acknowledged in it since {aside} was put aside. If \
         that was nothing, move {path} away, and repeat this", path = .path.display(), aside = .aside.display()
    )]
    Unknown {
        /// The log's directory.
        path: PathBuf,
        /// The folder.
        aside: PathBuf,
        /// Why it cannot be read.
        reason: String,
    },
    /// Something was appended since.
    #[error(
        "{path} ends at position {last} now, and ended at {ended} when {aside} was put aside: what was appended since \
         would be gone. Copy the log elsewhere first (`annals log backup`), or look into the folder with \
         `annals --log {aside} doctor`", path = .path.display(), aside = .aside.display()
    )]
    Appended {
        /// The log's directory.
        path: PathBuf,
        /// The folder.
        aside: PathBuf,
        /// Where the log ends now.
        last: Position,
        /// Where it ended then.
        ended: Position,
    },
    /// The operating system refused.
    #[error("{path} cannot be put back: {source}", path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

impl Classified for PutBackError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, Refused};
        match self {
            PutBackError::Open(error) => error.classify().of("put_back_failed"),
            PutBackError::NotAside { .. }
            | PutBackError::Unknown { .. }
            | PutBackError::Appended { .. } => Refused.code("put_back_failed"),
            PutBackError::Io { .. } => Failed.code("put_back_failed"),
        }
    }
}

/// Whether all of a log is in a folder that it was put aside in.
pub(crate) fn is_complete(aside: &Path) -> bool {
    aside.join(NOTE).is_file()
}

/// Puts a log aside that will end at `last`; the folder. Where it fails, the path at which it did.
pub(crate) fn put(path: &Path, last: Position) -> Result<PathBuf, (PathBuf, io::Error)> {
    let failed = |at: &Path, error| (at.to_owned(), error);
    let directory = path.canonicalize().map_err(|error| failed(path, error))?;
    let aside = free_name(&directory, ASIDE).map_err(|error| failed(&directory, error))?;
    match directories::create_own_folder(&aside).and_then(|()| copy(&directory, &aside, last)) {
        Ok(()) => Ok(aside),
        Err(error) => {
            let _ = fs::remove_dir_all(&aside);
            Err(failed(&aside, error))
        }
    }
}

/// A name next to a directory that is not taken.
fn free_name(directory: &Path, word: &str) -> io::Result<PathBuf> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let mut names =
        (1..=MOST).map(|number| directory.with_file_name(format!("{name}{word}{number}")));
    let full = || io::Error::other("there are too many such folders; remove some");
    names
        .find(|name| fs::symlink_metadata(name).is_err())
        .ok_or_else(full)
}

fn copy(from: &Path, to: &Path, last: Position) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if !entry.file_type()?.is_file() {
            continue;
        }
        let (source, copy) = (entry.path(), to.join(entry.file_name()));
        let extension = source.extension().and_then(|extension| extension.to_str());
        if matches!(extension, Some("sst" | "blob")) && fs::hard_link(&source, &copy).is_ok() {
            continue;
        }
        fs::copy(&source, &copy)?;
        File::open(&copy)?.sync_all()?;
    }
    let note = to.join(NOTE);
    fs::write(&note, format!("{last}\n"))?;
    File::open(&note)?.sync_all()?;
    directories::sync_directory(to)
}

/// Puts a log back that was put aside, in the place of what became of it.
pub(crate) fn put_back(path: &Path, aside: &Path) -> Result<PutBackReport, PutBackError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| PutBackError::Io { path, source }
    };
    let not_aside = |reason: String| PutBackError::NotAside {
        aside: aside.to_owned(),
        reason,
    };
    let note = folder::read_file(&aside.join(NOTE));
    let note =
        note.map_err(|error| not_aside(format!("its file {NOTE} cannot be read: {error}")))?;
    let ended: Option<u64> = String::from_utf8_lossy(&note).trim().parse().ok();
    let ended =
        Position(ended.ok_or_else(|| not_aside(format!("its file {NOTE} has no position")))?);
    let log_id = identity::read(aside)?;
    let aside = aside.canonicalize().map_err(io(aside))?;
    // A process that looks into it may be writing to it.
    let _held = identity::lock(&aside)?;
    let mut replaced = None;
    let mut target = std::path::absolute(path).map_err(io(path))?;
    if fs::symlink_metadata(path).is_ok() {
        // What a link leads to, and not the link.
        target = path.canonicalize().map_err(io(path))?;
        if target == aside {
            return Err(not_aside("it is the log itself".into()));
        }
        if identity::read(&target)? != log_id {
            return Err(not_aside("it is of another log".into()));
        }
        let _held = identity::lock(&target)?;
        let last = end(&target, &aside)?;
        if last > ended {
            let path = path.to_owned();
            return Err(PutBackError::Appended {
                path,
                aside,
                last,
                ended,
            });
        }
        let name = free_name(&target, REPLACED).map_err(io(&target))?;
        replaced = Some(replace(&target, &aside, name).map_err(io(&target))?);
    } else {
        fs::rename(&aside, &target).map_err(io(&aside))?;
    }
    // Last: until here the same call can be repeated.
    fs::remove_file(target.join(NOTE)).map_err(io(&target))?;
    let synced = [aside.parent(), Some(target.as_path())];
    let mut synced = synced.into_iter().flatten();
    synced
        .try_for_each(directories::sync_directory)
        .map_err(io(&target))?;
    Ok(PutBackReport { replaced })
}

/// Puts one folder in the place of another, which gets `name` next to it; returns that name.
fn replace(target: &Path, by: &Path, name: PathBuf) -> io::Result<PathBuf> {
    // Both at once, where the file system can: there is a log in the place at all times.
    if rustix::fs::renameat_with(CWD, by, CWD, target, RenameFlags::EXCHANGE).is_ok() {
        return Ok(match fs::rename(by, &name) {
            Ok(()) => name,
            Err(_) => by.to_owned(),
        });
    }
    fs::rename(target, &name)?;
    if let Err(error) = fs::rename(by, target) {
        fs::rename(&name, target)?;
        return Err(error);
    }
    Ok(name)
}

/// Where a log ends: as far as it can be read, and as far as WATERMARK says that it was acknowledged.
fn end(path: &Path, aside: &Path) -> Result<Position, PutBackError> {
    let acknowledged = WatermarkFile::open(path).and_then(|file| file.read());
    let acknowledged = acknowledged.ok().flatten();
    let read = open_still(path, Role::Truncator).and_then(|db| {
        let last = db.last_position();
        last.map_err(|error| unreadable(path, error))
    });
    match (read, acknowledged) {
        (Ok(last), acknowledged) => Ok(last.max(acknowledged.unwrap_or_default())),
        // It stays next to the one that is put back.
        (Err(OpenError::Corrupt { .. } | OpenError::MissingColumnFamily { .. }), Some(last)) => {
            Ok(last)
        }
        (
            Err(error @ (OpenError::Corrupt { .. } | OpenError::MissingColumnFamily { .. })),
            None,
        ) => Err(PutBackError::Unknown {
            path: path.to_owned(),
            aside: aside.to_owned(),
            reason: error.to_string(),
        }),
        (Err(error), _) => Err(error.into()),
    }
}
