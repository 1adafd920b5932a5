//! Why blobs were not kept, or not let go.

use std::error::Error as StdError;
use std::fmt;
use std::path::{Path, PathBuf};

use annals::{LoadError, ViewError};
use annals_event_log::{Classification, Classified, ErrorClass, ReadError};
use gix::ObjectId;

/// Why blobs were not kept, or not let go.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RetentionError {
    /// There is no repository.
    #[error("{} is not a git repository; give the top folder of one, or its own folder (.git, or a bare repository)", path.display())]
    NotARepository {
        /// The path that was given.
        path: PathBuf,
    },
    /// The folder only names a repository elsewhere.
    #[error("{} leads to the repository at {}; name that one, if it is to be written to", path.display(), target.display())]
    Elsewhere {
        /// The link, or the file of a linked worktree or a submodule.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// Something of the repository's own is a link, which may lead writes out of it.
    #[error("{} is a link, and nothing is written through links; replace it by what it leads to", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// The repository keeps refs in a format that is not the one with files.
    #[error("the repository at {} keeps its refs as {format:?}, and refs can be written to \"files\" alone; use keep-pack or custom-gc", path.display())]
    RefFormat {
        /// The repository.
        path: PathBuf,
        /// Its format.
        format: String,
    },
    /// The repository is extended by something that is not known here.
    #[error("the repository at {} has the extension extensions.{extension}, which annals does not know: what it changes in the repository's files could be harmed. Use a repository without it", path.display())]
    Extension {
        /// The repository.
        path: PathBuf,
        /// The extension's name.
        extension: String,
    },
    /// Something that this strategy writes was written by others.
    #[error("{name} in {} was not written by annals: {reason}; move it away, or use another strategy", path.display())]
    Foreign {
        /// The repository.
        path: PathBuf,
        /// The ref.
        name: &'static str,
        /// What it is.
        reason: String,
    },
    /// Another process works on the repository.
    #[error("another process works on the repository at {}: {source}. Try again when it has ended; if none runs, a process that was killed left the lock behind", path.display())]
    Busy {
        /// The repository.
        path: PathBuf,
        /// Which lock it holds.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
    /// A ref is not what it was when it was read.
    #[error("another process changed {name} in the repository at {} meanwhile; repeat the command", path.display())]
    Changed {
        /// The repository.
        path: PathBuf,
        /// The ref.
        name: &'static str,
    },
    /// Blobs went while they were about to be kept.
    #[error("a gc of another process removed {count} of the blobs of the repository at {} meanwhile, {first} first; repeat the command when it has ended", path.display())]
    Removed {
        /// The repository.
        path: PathBuf,
        /// How many.
        count: usize,
        /// One of them.
        first: ObjectId,
    },
    /// An object of the repository is not what its id says.
    #[error("the object {id} of the git repository at {} is damaged; look with `git fsck`", path.display())]
    Damaged {
        /// The repository.
        path: PathBuf,
        /// Its id.
        id: ObjectId,
    },
    /// An object of the repository does not fit into memory.
    #[error("the object {id} of the git repository at {} has {size} bytes and is stored as a change of another one, of which 256 MiB are read at most; store it by itself with `git -c core.bigFileThreshold=64m repack -a -d -f`", path.display())]
    TooLarge {
        /// The repository.
        path: PathBuf,
        /// Its id.
        id: ObjectId,
        /// Its bytes.
        size: u64,
    },
    /// git could not be read or written.
    #[error("the git repository at {}: {source}", path.display())]
    Git {
        /// The repository.
        path: PathBuf,
        /// What failed.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
    /// A mark pass holds nothing that could be let go.
    #[error(
        "custom-gc holds nothing: the next gc may remove what it does not list any more. Take the object out of the list, or gc.recentObjectsHook out of the configuration"
    )]
    HoldsNothing,
    /// More belongs to an object than can be looked through.
    #[error("too much belongs to {id}; name its tasks or runs instead")]
    TooMuch {
        /// The object.
        id: uuid::Uuid,
    },
    /// The log could not be read.
    #[error("the log cannot be read: {0}")]
    Log(#[from] ReadError),
    /// Objects of the log could not be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An object could not be read.
    #[error(transparent)]
    View(#[from] ViewError),
    /// No thread could be started.
    #[error("no thread could be started to work on the repository: {0}")]
    Thread(#[source] std::io::Error),
    /// The thread ended without an answer.
    #[error(
        "the work on the repository ended unexpectedly; repeat the command, which changes only what is not done yet"
    )]
    Interrupted,
}

impl RetentionError {
    /// What gix says of a repository: that another process holds a lock, or anything else.
    pub(super) fn git(path: &Path, error: gix::Error) -> RetentionError {
        let path = path.to_owned();
        let source = Box::new(error);
        match source.is_retryable() {
            true => RetentionError::Busy { path, source },
            false => RetentionError::Git { path, source },
        }
    }

    /// What the system says of a file of a repository.
    pub(super) fn io(path: &Path, file: &Path, error: &std::io::Error) -> RetentionError {
        let said = format!("{}: {error}", file.display());
        RetentionError::Git {
            path: path.to_owned(),
            source: Box::new(std::io::Error::new(error.kind(), said)),
        }
    }
}

/// What a part of the operation says of itself: that it may succeed later, or that this one failed.
fn retryable_is_busy(part: Classification) -> Classification {
    match part.class.is_retryable() {
        true => part.class.code("busy"),
        false => part.of("retention_failed"),
    }
}

impl Classified for RetentionError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Contended, Failed, NotFound, Refused, Unavailable, Unsupported};
        match self {
            RetentionError::Busy { .. }
            | RetentionError::Changed { .. }
            | RetentionError::Removed { .. } => Contended.code("busy"),
            RetentionError::Thread(_) | RetentionError::Interrupted => Unavailable.code("busy"),
            RetentionError::Log(error) => retryable_is_busy(error.classify()),
            RetentionError::Load(error) => retryable_is_busy(error.classify()),
            RetentionError::View(error) => retryable_is_busy(error.classify()),
            RetentionError::NotARepository { .. } => NotFound.code("retention_failed"),
            RetentionError::Elsewhere { .. }
            | RetentionError::Link { .. }
            | RetentionError::Foreign { .. }
            | RetentionError::HoldsNothing => Refused.code("retention_failed"),
            RetentionError::RefFormat { .. } | RetentionError::Extension { .. } => {
                Unsupported.code("retention_failed")
            }
            RetentionError::TooLarge { .. }
            | RetentionError::Damaged { .. }
            | RetentionError::Git { .. }
            | RetentionError::TooMuch { .. } => Failed.code("retention_failed"),
        }
    }
}

/// Why a blob is not held.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotHeld {
    /// Its id is that of something else.
    #[error("it is a {0} in the repository, and not a blob")]
    OtherKind(gix::objs::Kind),
    /// The repository has it, and cannot read it.
    #[error("{}: {}", Unreadable::Damaged, .0)]
    Damaged(#[source] Box<dyn StdError + Send + Sync>),
    /// It is nowhere.
    #[error("neither the repository nor the log has it")]
    Nowhere,
    /// The repository cannot have it under this id, and the log does not have it.
    #[error("its id is of another hash than the repository's, and the log has no content of it")]
    OtherHash,
    /// What the log has under its name has another id.
    #[error("the content that the log has is another blob")]
    OtherContent,
}

/// Why an object that is there cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// It cannot be found or decompressed.
    Damaged,
    /// It has so many bytes, and is stored as a change of another one.
    TooLarge(u64),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unreadable::Damaged => {
                f.write_str("the repository's object is damaged; look with `git fsck`")
            }
            Unreadable::TooLarge(size) => write!(
                f,
                "it has {size} bytes and is stored as a change of another object, of which 256 MiB are read \
                 at most; store it by itself with `git -c core.bigFileThreshold=64m repack -a -d -f`"
            ),
        }
    }
}

impl Unreadable {
    /// The error that says so.
    pub(super) fn of(self, path: &Path, id: ObjectId) -> RetentionError {
        let path = path.to_owned();
        match self {
            Unreadable::Damaged => RetentionError::Damaged { path, id },
            Unreadable::TooLarge(size) => RetentionError::TooLarge { path, id, size },
        }
    }
}
