//! Where the files of a `.forge/` folder are.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use annals::{ExecuteError, LoadError, ViewError};

use super::text::MOST_BYTES;
use crate::others::{self, Others};

/// What the folder is called in a project's own.
const NAME: &str = ".forge";

/// Why work on a folder stopped. What was recorded before stays, and the next time
/// it is left as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForgeFolderError {
    /// A folder or a file cannot be read.
    #[error("cannot read {path}: {source}", path = .path.display())]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A folder or a file cannot be written.
    #[error("cannot write {path}: {source}", path = .path.display())]
    Unwritable {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The folder has nothing that belongs to a `.forge` folder.
    #[error(
        "{path} is no .forge folder and has none: none of intents, tasks, reviews and \
         intent-drafts is there; name the folder that they are in", path = .path.display()
    )]
    NoForge {
        /// The folder.
        path: PathBuf,
    },
    /// The folder cannot be watched.
    #[error("cannot watch {path}: {reason}", path = .path.display())]
    Unwatched {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The log did not take events.
    #[error("the log did not take the events: {0}")]
    Execute(#[source] Box<ExecuteError>),
    /// The log could not be read.
    #[error(transparent)]
    View(#[from] ViewError),
}

impl From<ExecuteError> for ForgeFolderError {
    fn from(error: ExecuteError) -> ForgeFolderError {
        ForgeFolderError::Execute(Box::new(error))
    }
}

impl From<LoadError> for ForgeFolderError {
    fn from(error: LoadError) -> ForgeFolderError {
        ForgeFolderError::View(error.into())
    }
}

impl ForgeFolderError {
    /// Whether it is a matter of one file or folder, and not of the log.
    pub fn is_of_file(&self) -> bool {
        matches!(
            self,
            ForgeFolderError::Unreadable { .. } | ForgeFolderError::Unwritable { .. }
        )
    }

    /// Whether the same may succeed later.
    pub fn is_retryable(&self) -> bool {
        match self {
            ForgeFolderError::Execute(error) => error.is_retryable(),
            ForgeFolderError::View(error) => error.is_retryable(),
            ForgeFolderError::Unreadable { .. }
            | ForgeFolderError::Unwritable { .. }
            | ForgeFolderError::NoForge { .. }
            | ForgeFolderError::Unwatched { .. } => false,
        }
    }
}

pub(super) fn unreadable(path: &Path, source: io::Error) -> ForgeFolderError {
    ForgeFolderError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

/// A `.forge/` folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// The folder that a path means: the `.forge` in it, if there is one, or else
    /// the path itself. It need not be there yet.
    pub fn at(path: &Path) -> Folder {
        let inside = path.join(NAME);
        let is_there = inside.symlink_metadata().is_ok();
        let root = if is_there { inside } else { path.to_owned() };
        Folder { root }
    }

    /// The same, of one that is there.
    ///
    /// # Errors
    /// [`ForgeFolderError::Unreadable`] and [`ForgeFolderError::NoForge`].
    pub fn find(path: &Path) -> Result<Folder, ForgeFolderError> {
        let metadata = fs::metadata(path).map_err(|error| unreadable(path, error))?;
        if !metadata.is_dir() {
            let error = io::Error::from(io::ErrorKind::NotADirectory);
            return Err(unreadable(path, error));
        }
        let folder = Folder::at(path);
        let parts = [
            folder.intents(),
            folder.tasks(),
            folder.reviews(),
            folder.drafts(),
        ];
        let is_named = folder.root.file_name() == Some(OsStr::new(NAME));
        if !is_named && !parts.iter().any(|part| part.is_dir()) {
            return Err(ForgeFolderError::NoForge {
                path: path.to_owned(),
            });
        }
        Ok(folder)
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where the intents are.
    pub fn intents(&self) -> PathBuf {
        self.root.join("intents")
    }

    /// Where the tasks are.
    pub fn tasks(&self) -> PathBuf {
        self.root.join("tasks")
    }

    /// Where the reviews are.
    pub fn reviews(&self) -> PathBuf {
        self.root.join("reviews")
    }

    /// Where the drafts are.
    pub fn drafts(&self) -> PathBuf {
        self.root.join("intent-drafts")
    }
}

/// A file with the name that its contents go by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// The file's name without its ending.
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// The files of a folder that end with this, in the order of their names; none, if
/// there is no such folder. What else is there is named in `others`.
pub(super) fn files(
    folder: &Path,
    ending: &'static str,
    others: &mut Others,
) -> Result<Vec<Named>, ForgeFolderError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(unreadable(folder, error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|error| unreadable(folder, error))?;
        let path = entry.path();
        let kind = entry
            .file_type()
            .map_err(|error| unreadable(&path, error))?;
        let name = path.file_name().and_then(OsStr::to_str);
        let stem = name.and_then(|name| name.strip_suffix(ending));
        match stem {
            _ if kind.is_symlink() => others.add(path, others::LINK),
            _ if kind.is_dir() => others.add(path, "it is a folder"),
            _ if !kind.is_file() => others.add(path, others::NO_FILE),
            Some("") => others.add(path, "it has no name before the ending"),
            Some(stem) => files.push(Named {
                name: stem.to_owned(),
                path: path.clone(),
            }),
            _ if name.is_none() => others.add(path, "its name is not UTF-8"),
            _ if ending == ".md" => others.add(path, "its name does not end with .md"),
            _ => others.add(path, "its name does not end with .yaml"),
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}

/// A file's bytes, or more than may be read of one.
pub(super) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
    File::open(path)?
        .take(most.saturating_add(1))
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}
