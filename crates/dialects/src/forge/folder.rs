//! Where the files of a `.forge/` folder are.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use annals::{ExecuteError, LoadError, ViewError};
use annals_event_log::{Classification, Classified, ErrorClass};
use annals_files::{Dir, Entry, Kind};

use super::text::MOST_BYTES;
use crate::others::Others;

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
        "{path} is not a .forge folder and has none: none of intents, tasks, reviews and \
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
}

impl Classified for ForgeFolderError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Failed, NotFound};
        match self {
            ForgeFolderError::Unreadable { .. } => Failed.code("input"),
            ForgeFolderError::Unwritable { .. } => Failed.code("file"),
            ForgeFolderError::NoForge { .. } => NotFound.code("no_forge_folder"),
            ForgeFolderError::Unwatched { .. } => Failed.code("unwatched"),
            ForgeFolderError::Execute(error) => error.classify(),
            ForgeFolderError::View(error) => error.classify(),
        }
    }
}

pub(super) fn unreadable(path: &Path, source: io::Error) -> ForgeFolderError {
    ForgeFolderError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

/// A part of a `.forge/` folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Intents,
    Tasks,
    Reviews,
    Drafts,
}

impl Part {
    const ALL: [Part; 4] = [Part::Intents, Part::Tasks, Part::Reviews, Part::Drafts];

    fn name(self) -> &'static str {
        match self {
            Part::Intents => "intents",
            Part::Tasks => "tasks",
            Part::Reviews => "reviews",
            Part::Drafts => "intent-drafts",
        }
    }
}

/// A `.forge/` folder. Neither it nor anything in it may be a link: a repository that is cloned
/// can have them, and they would lead to what is not the repository's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The folder that a person named, or the one around that.
    around: PathBuf,
    root: PathBuf,
}

impl Folder {
    /// The folder that a path means: the `.forge` in it, if there is one, or else
    /// the path itself. It need not be there yet.
    pub fn at(path: &Path) -> Folder {
        let inside = path.join(NAME);
        if inside.symlink_metadata().is_ok() {
            return Folder {
                around: path.to_owned(),
                root: inside,
            };
        }
        let is_named = path.file_name() == Some(OsStr::new(NAME));
        let around = match path.parent() {
            Some(parent) if is_named && parent.as_os_str().is_empty() => Path::new("."),
            Some(parent) if is_named => parent,
            _ => path,
        };
        Folder {
            around: around.to_owned(),
            root: path.to_owned(),
        }
    }

    /// The same, of one that is there.
    ///
    /// # Errors
    /// [`ForgeFolderError::Unreadable`] and [`ForgeFolderError::NoForge`].
    pub fn find(path: &Path) -> Result<Folder, ForgeFolderError> {
        let folder = Folder::at(path);
        let root = folder
            .open()
            .map_err(|error| unreadable(&folder.root, error))?;
        if folder.is_named() {
            return Ok(folder);
        }
        for part in Part::ALL {
            let kind = root.kind(part.name().as_ref());
            if kind
                .map_err(|error| unreadable(&folder.root, error))?
                .is_some()
            {
                return Ok(folder);
            }
        }
        Err(ForgeFolderError::NoForge {
            path: path.to_owned(),
        })
    }

    /// Whether it is called as such a folder is.
    fn is_named(&self) -> bool {
        self.root.file_name() == Some(OsStr::new(NAME))
    }

    fn open(&self) -> io::Result<Dir> {
        let around = Dir::open(&self.around)?;
        match self.is_named() {
            true => Ok(around.dir(NAME.as_ref())?.known_as(&self.root)),
            false => Ok(around),
        }
    }

    /// Opens a part of it; none, where it is not there.
    pub(super) fn part(&self, part: Part) -> Result<Option<Arc<Dir>>, ForgeFolderError> {
        match self.open().and_then(|root| root.dir(part.name().as_ref())) {
            Ok(dir) => Ok(Some(Arc::new(dir))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(&self.path_of(part), error)),
        }
    }

    /// Opens a part of it, and makes it first where it is not there.
    pub(super) fn make_part(&self, part: Part) -> Result<Arc<Dir>, ForgeFolderError> {
        let made = || {
            annals_files::make_own_folders(&self.around)?;
            let around = Dir::open(&self.around)?;
            let root = match self.is_named() {
                true => around.make_dir(NAME.as_ref())?.known_as(&self.root),
                false => around,
            };
            root.make_dir(part.name().as_ref())
        };
        made()
            .map(Arc::new)
            .map_err(|source| ForgeFolderError::Unwritable {
                path: self.path_of(part),
                source,
            })
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn path_of(&self, part: Part) -> PathBuf {
        self.root.join(part.name())
    }

    /// Where the intents are.
    pub fn intents(&self) -> PathBuf {
        self.path_of(Part::Intents)
    }

    /// Where the drafts are.
    pub fn drafts(&self) -> PathBuf {
        self.path_of(Part::Drafts)
    }
}

/// A file of an open folder, by its name there.
#[derive(Debug, Clone)]
pub(super) struct Place {
    dir: Arc<Dir>,
    path: PathBuf,
}

impl PartialEq for Place {
    fn eq(&self, other: &Place) -> bool {
        self.path == other.path
    }
}

impl Eq for Place {}

impl Place {
    pub(super) fn new(dir: &Arc<Dir>, name: &OsStr) -> Place {
        Place {
            dir: Arc::clone(dir),
            path: dir.path_of(name),
        }
    }

    /// The file with this name in the same folder.
    pub(super) fn beside(&self, name: &OsStr) -> Place {
        Place::new(&self.dir, name)
    }

    /// Its path, for messages.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// What is there; nothing, where nothing is.
    pub(super) fn kind(&self) -> io::Result<Option<Kind>> {
        self.dir.kind(self.name())
    }

    /// Its length in bytes, and when it was written; nothing, where nothing is.
    pub(super) fn stamp(&self) -> Option<(u64, Option<SystemTime>)> {
        let bytes = self.dir.bytes(self.name()).ok().flatten()?;
        Some((bytes, self.dir.modified(self.name()).ok().flatten()))
    }

    /// Its bytes, or more than may be read of a file.
    pub(super) fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
        let file = self.dir.open_file(self.name())?;
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn create(&self) -> io::Result<File> {
        self.dir.create_file(self.name())
    }

    /// Moves it to another name in its folder.
    pub(super) fn rename(&self, to: &Place) -> io::Result<()> {
        self.dir.rename(self.name(), to.name())
    }

    /// Gives it a second name in its folder.
    pub(super) fn link(&self, to: &Place) -> io::Result<()> {
        self.dir.link(self.name(), to.name())
    }

    pub(super) fn remove(&self) -> io::Result<()> {
        self.dir.remove_file(self.name())
    }
}

/// A file with the name of what it contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    /// The file's name without its ending.
    pub(super) name: String,
    pub(super) place: Place,
}

impl Named {
    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        self.place.path()
    }
}

/// The files of a folder that end with this, in the order of their names. What else is
/// there is named in `others`.
pub(super) fn files(
    folder: &Arc<Dir>,
    ending: &'static str,
    others: &mut Others,
) -> Result<Vec<Named>, ForgeFolderError> {
    let entries = folder.entries();
    // Editors keep hidden links next to what they edit.
    let is_read = |name: &str| name.ends_with(ending) && !name.starts_with('.');
    let mut files = Vec::new();
    for Entry { name, kind } in entries.map_err(|error| unreadable(folder.path(), error))? {
        let place = Place::new(folder, &name);
        let path = place.path().to_owned();
        let name = name.to_str();
        let stem = name.and_then(|name| name.strip_suffix(ending));
        match (stem, kind) {
            (_, Kind::Link) => others.add_link(folder.path(), path, &is_read),
            (_, Kind::Dir) => others.add(path, "it is a folder"),
            (_, Kind::Other) => others.add_no_file(path, name.is_some_and(is_read)),
            (Some(""), _) => others.add(path, "it has no name before the ending"),
            (Some(stem), _) => files.push(Named {
                name: stem.to_owned(),
                place,
            }),
            _ if name.is_none() => others.add(path, "its name is not UTF-8"),
            _ if ending == ".md" => others.add(path, "its name does not end with .md"),
            _ => others.add(path, "its name does not end with .yaml"),
        }
    }
    files.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(files)
}
