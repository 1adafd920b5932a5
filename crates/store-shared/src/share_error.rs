//! Why a log could not be opened to be shared.

use std::path::{Path, PathBuf};

use annals_event_log::{Classification, Classified, ErrorClass, ReadError};
use annals_files::User;
use annals_store_rocks::OpenError;

use crate::holder::Holder;

/// Why a log could not be opened to be shared. Nothing was altered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// The log could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A process has it open that this one cannot work with.
    #[error("no process that has the log at {path} open for writing can be worked with: {reason}", path = .path.display())]
    Owner {
        /// The log's folder.
        path: PathBuf,
        /// What is the matter.
        reason: String,
        /// Whether it may go by itself.
        passing: bool,
    },
    /// The log is another user's, who lets this one not write to it.
    #[error(
        "{user} may not write to the log at {path}, which belongs to {owner}: `annals log share-with --with {}`, run by {owner} or root, lets them",
        .user.0, path = .path.display()
    )]
    NotNamed {
        /// The log's folder.
        path: PathBuf,
        /// The user of this process.
        user: User,
        /// The one whose log it is.
        owner: User,
    },
    /// The log is another user's, and no process owns it that this one can write by way of.
    #[error(
        "no process owns the log at {path}: {user} writes to it by way of one of {owner}, \
         such as `annals service serve --record-only`; try again when there is one",
        path = .path.display()
    )]
    NoOwner {
        /// The log's folder.
        path: PathBuf,
        /// The user of this process.
        user: User,
        /// The one whose log it is.
        owner: User,
    },
    /// The log is another user's: this process never owns it.
    #[error(
        "{user} cannot own the log at {path}: only {owner} and root write to its files",
        path = .path.display()
    )]
    NeverOwner {
        /// The log's folder.
        path: PathBuf,
        /// The user of this process.
        user: User,
        /// The one whose log it is.
        owner: User,
    },
}

impl Classified for ShareError {
    fn classify(&self) -> Classification {
        match self {
            ShareError::Open(error) => error.classify(),
            ShareError::Owner { passing: true, .. } | ShareError::NoOwner { .. } => {
                ErrorClass::Unavailable.code("owner_unreachable")
            }
            ShareError::NotNamed { .. } => ErrorClass::Refused.code("not_named"),
            ShareError::NeverOwner { .. } => ErrorClass::Refused.code("never_owner"),
            ShareError::Owner { passing: false, .. } => ErrorClass::Failed.code("owner_version"),
        }
    }
}

impl From<ShareError> for ReadError {
    fn from(error: ShareError) -> ReadError {
        ReadError::Unavailable {
            source: Box::new(error),
        }
    }
}

impl ShareError {
    /// The same with the process that has the log open, and what to do about it.
    pub(crate) fn with_process(self, found: Option<Holder>) -> ShareError {
        match (self, found) {
            (
                ShareError::Owner {
                    path,
                    reason,
                    passing,
                },
                Some(Holder {
                    process,
                    is_stopped,
                }),
            ) => ShareError::Owner {
                path,
                reason: match is_stopped {
                    true => format!(
                        "{reason}. Process {process} has it open and is stopped: `kill -CONT {process}` continues \
                         it, and `kill -KILL {process}` ends it, which loses nothing that was acknowledged"
                    ),
                    false => format!("{reason}. Process {process} has it open"),
                },
                passing,
            },
            (error, _) => error,
        }
    }
}

/// The owner cannot be worked with; `passing` where that may go by itself.
pub(crate) fn unusable_owner(
    path: &Path,
    reason: impl std::fmt::Display,
    passing: bool,
) -> ShareError {
    ShareError::Owner {
        path: path.to_owned(),
        reason: reason.to_string(),
        passing,
    }
}
