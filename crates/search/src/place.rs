//! Where the index lies: in `search` in the log's folder, in a folder for each epoch of the log's content (ADR 35).
//!
//! ```text
//! LOG/search/0       an index of the content before any redaction
//! LOG/search/1234    one of the content after the redaction whose last event is 1234
//! LOG/search/KEEPING whether an index is kept, if that was said
//! ```
//!
//! A redaction removes all but those of the new epoch, when it gives up the bytes of what it removed
//! (`crates/store-rocks/src/derived.rs`). So the folder is made first, and the epoch is looked at then: either it is
//! still this one, and the redaction that moves it finds the folder, or it is another one already.

use std::fs::{self, DirBuilder};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use annals_event_log::Epoch;

/// Whether an index is kept, of a log in a folder. It is about this folder, not about what the log says: a copy of
/// the log begins with [`Keeping::Lazy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keeping {
    /// It is made by the first search, and brought up to date by each.
    #[default]
    Lazy,
    /// The same, and imports and a process that stays bring it up to date, too.
    Kept,
    /// There is none: searches look through the log.
    Off,
}

impl Keeping {
    /// All of them.
    pub const ALL: [Keeping; 3] = [Keeping::Lazy, Keeping::Kept, Keeping::Off];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Keeping::Lazy => "lazy",
            Keeping::Kept => "kept",
            Keeping::Off => "off",
        }
    }
}

/// The file that says which: one word.
const KEEPING: &str = "KEEPING";
/// Bytes of it that are read.
const LONGEST_WORD: u64 = 64;
/// The folder's name in the log's.
const NAME: &str = "search";

/// The place of a log's index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    log: PathBuf,
}

impl Place {
    pub(crate) fn of(log: &Path) -> Place {
        Place {
            log: log.to_owned(),
        }
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.log.join(NAME)
    }

    /// The folder for an epoch's index.
    pub(crate) fn of_epoch(&self, epoch: Epoch) -> PathBuf {
        self.folder().join(epoch.0.to_string())
    }

    /// Whether an epoch's folder is there. A link is none: it leads out of the log.
    pub(crate) fn has(&self, epoch: Epoch) -> io::Result<bool> {
        Ok(is_folder(&self.folder())? && is_folder(&self.of_epoch(epoch))?)
    }

    /// Whether an index is kept. What says nothing that is known is taken for nothing.
    pub(crate) fn keeping(&self) -> Keeping {
        let said = match is_folder(&self.folder()) {
            Ok(true) => said_in(&self.folder().join(KEEPING)).unwrap_or_default(),
            Ok(false) | Err(_) => String::new(),
        };
        let known = Keeping::ALL
            .into_iter()
            .find(|it| it.as_str() == said.trim());
        known.unwrap_or_default()
    }

    /// Says whether an index is kept; where none is, what there is goes.
    pub(crate) fn keep(&self, keeping: Keeping) -> io::Result<()> {
        match keeping {
            Keeping::Lazy => {
                return annals_files::gone(fs::remove_file(self.folder().join(KEEPING)));
            }
            Keeping::Kept => {}
            Keeping::Off => self.forget_all()?,
        }
        self.make_folder(&self.folder())?;
        fs::write(
            self.folder().join(KEEPING),
            format!("{}\n", keeping.as_str()),
        )
    }

    /// Makes an epoch's folder, as open as the log's is, if it is not there.
    pub(crate) fn make(&self, epoch: Epoch) -> io::Result<()> {
        self.make_folder(&self.folder())?;
        self.make_folder(&self.of_epoch(epoch))
    }

    fn make_folder(&self, folder: &Path) -> io::Result<()> {
        let mode = fs::metadata(&self.log)?.permissions().mode() & 0o777;
        match DirBuilder::new().mode(mode).create(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_folder(folder)? => {
                Ok(())
            }
            made => made,
        }
    }

    /// Removes the folders of all other epochs.
    pub(crate) fn forget_others(&self, epoch: Epoch) -> io::Result<()> {
        let current = epoch.0.to_string();
        for entry in fs::read_dir(self.folder())? {
            let name = entry?.file_name();
            if name != *current && name != KEEPING {
                annals_files::forget_entry(&self.folder(), Path::new(&name))?;
            }
        }
        Ok(())
    }

    /// Removes an epoch's index.
    pub(crate) fn forget(&self, epoch: Epoch) -> io::Result<()> {
        annals_files::forget_entry(&self.folder(), Path::new(&epoch.0.to_string()))
    }

    /// Removes all that there is.
    pub(crate) fn forget_all(&self) -> io::Result<()> {
        match is_folder(&self.folder())? {
            true => annals_files::gone(fs::remove_dir_all(self.folder())),
            false => Ok(()),
        }
    }
}

/// The word in a file. Whoever may write to the folder can put anything there, a pipe too.
fn said_in(file: &Path) -> io::Result<String> {
    let mut said = String::new();
    annals_files::open(file)?
        .take(LONGEST_WORD)
        .read_to_string(&mut said)?;
    Ok(said)
}

fn is_folder(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(found.is_dir()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
