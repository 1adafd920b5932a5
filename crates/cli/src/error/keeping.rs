//! What can go wrong with copies of a log, its examination and its content.

use std::path::PathBuf;

use annals::OpenError;
use annals::event_log::{Classification, Classified, Digest, ErrorClass, ReadError};
use annals::store_rocks::BackupError;

use crate::counted::counted;

/// Why keeping a log came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum KeepingError {
    #[error("there is no backup at {path}: name the directory that `annals log backup` made", path = .path.display())]
    NoBackup { path: PathBuf },
    #[error("the backup cannot be opened: {0}")]
    OpenBackup(OpenError),
    #[error("the backup cannot be read: {0}")]
    ReadBackup(ReadError),
    #[error(
        "the backup is damaged, and nothing was restored: {}, the first: {first}. `annals --log {path} \
         verify` lists them; use another backup",
        counted(*.findings, "finding", "findings"), path = .path.display()
    )]
    DamagedBackup {
        path: PathBuf,
        findings: u64,
        first: String,
    },
    #[error("{path} holds something already: name a new place with --log, or move it away", path = .path.display())]
    PlaceTaken { path: PathBuf },
    #[error("nothing was restored: {0}")]
    Restore(BackupError),
    #[error("{}, as reported above with what to do", counted(*.problems, "problem was found", "problems were found"))]
    Unwell { problems: u64, corrupt: bool },
    #[error("the log holds no content {what:?}: {hint}")]
    NoContent { what: String, hint: &'static str },
    #[error(
        "the log is damaged: {object} refers to the content {digest}, and it is not stored. `annals proof verify` says \
         what else is missing; restore the log from a backup"
    )]
    LostContent { object: String, digest: Digest },
    #[error("several contents begin with {what}: {}. Give more digits", list(.digests))]
    SeveralDigests { what: String, digests: Vec<String> },
    #[error(
        "{what} is the beginning of a content's digest and the end of an object's id: say sha256:{what}, or \
         the object's full id {id}"
    )]
    DigestOrId { what: String, id: uuid::Uuid },
    #[error(
        "{object} refers to {all} contents: {}. Name one by its digest, or by its name with --part", list(.contents)
    )]
    SeveralContents {
        object: String,
        all: usize,
        contents: Vec<String>,
    },
    #[error("--protect goes with --as custom-gc: the other strategies hold what they keep")]
    OnlyWithCustomGc,
    #[error(
        "{} named by the log could not be kept, as reported above; what else it names was. --allow-missing exits with 0",
        counted(*.missing as u64, "blob", "blobs")
    )]
    PartlyRetained { missing: usize },
    #[error("{digest} is not text: write it to a file with --out, or use --force")]
    NoText { digest: Digest },
}

/// Some of several things.
fn list(things: &[String]) -> String {
    things.join(", ")
}

impl Classified for KeepingError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Corrupt, Failed, Invalid, NotFound, Refused, Usage};
        match self {
            KeepingError::NoBackup { .. } => NotFound.code("no_backup"),
            KeepingError::OpenBackup(error) => error.classify().of("restore_failed"),
            KeepingError::ReadBackup(error) => error.classify().of("restore_failed"),
            KeepingError::Restore(error) => error.classify().of("restore_failed"),
            KeepingError::DamagedBackup { .. } | KeepingError::LostContent { .. } => {
                Classification::CORRUPT
            }
            KeepingError::PlaceTaken { .. } => Refused.code("not_empty"),
            KeepingError::Unwell { corrupt: true, .. } => Corrupt.code("problems"),
            KeepingError::Unwell { corrupt: false, .. } => Failed.code("problems"),
            KeepingError::NoContent { .. } => NotFound.code("not_found"),
            KeepingError::SeveralDigests { .. }
            | KeepingError::DigestOrId { .. }
            | KeepingError::SeveralContents { .. } => Invalid.code("ambiguous"),
            KeepingError::OnlyWithCustomGc => Usage.code("usage"),
            KeepingError::PartlyRetained { .. } => Failed.code("partly_retained"),
            KeepingError::NoText { .. } => Invalid.code("no_text"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_that_an_event_refers_to_is_not_merely_unknown() {
        let lost = KeepingError::LostContent {
            object: "evidence 1".into(),
            digest: Digest::of(b"x"),
        };
        assert_eq!(lost.classify(), Classification::CORRUPT);
        assert!(lost.to_string().contains("annals proof verify"), "{lost}");
    }
}
