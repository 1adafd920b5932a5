//! What can go wrong with copies of a log, its examination and its content.

use std::path::PathBuf;

use annals::OpenError;
use annals::event_log::{Digest, ReadError};
use annals::store_rocks::{BackupError, PutBackError, TruncateError};
use annals_dialects::retention::RetentionError;
use annals_dialects::verbatim::{VerbatimExportError, VerbatimImportError};

use super::{is_corrupt, is_corrupt_log, is_corrupt_read, is_corrupt_store, is_corrupt_view};
use crate::output::counted;

/// Why keeping a log came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum KeepingError {
    #[error(transparent)]
    Import(#[from] VerbatimImportError),
    #[error(transparent)]
    Export(#[from] VerbatimExportError),
    #[error("there is no backup at {path}: name the directory that `annals backup` made", path = .path.display())]
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
    #[error("{}, as said above with what to do", counted(*.problems, "problem was found", "problems were found"))]
    Unwell { problems: u64, corrupt: bool },
    #[error(transparent)]
    Truncate(#[from] TruncateError),
    #[error(transparent)]
    PutBack(#[from] PutBackError),
    #[error("the log holds no content {what:?}: {hint}")]
    NoContent { what: String, hint: &'static str },
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
    #[error(transparent)]
    Retention(Box<RetentionError>),
    #[error(
        "{} named by the log could not be kept, as said; what else it names was. --allow-missing exits with 0",
        counted(*.missing as u64, "blob", "blobs")
    )]
    PartlyRetained { missing: usize },
    #[error("{digest} is no text: write it to a file with --out, or use --force")]
    NoText { digest: Digest },
}

/// Some of several things.
fn list(things: &[String]) -> String {
    things.join(", ")
}

impl KeepingError {
    /// Whether a log or a copy of one is damaged.
    pub(super) fn is_corrupt(&self) -> bool {
        match self {
            KeepingError::Import(error) => error.is_corrupt(),
            KeepingError::Export(VerbatimExportError::Read(error))
            | KeepingError::ReadBackup(error)
            | KeepingError::Restore(BackupError::Read(error)) => is_corrupt_read(error),
            KeepingError::OpenBackup(error) => is_corrupt_log(error),
            KeepingError::DamagedBackup { .. } => true,
            KeepingError::Unwell { corrupt, .. } => *corrupt,
            KeepingError::Truncate(error) => match error {
                TruncateError::AcknowledgedLost { .. }
                | TruncateError::WholeBehind { .. }
                | TruncateError::AcknowledgedUnknown { .. } => true,
                TruncateError::Open(error) | TruncateError::Interrupted { source: error, .. } => {
                    is_corrupt_store(error)
                }
                _ => false,
            },
            KeepingError::PutBack(PutBackError::Open(error)) => is_corrupt_store(error),
            KeepingError::Retention(error) => match error.as_ref() {
                RetentionError::Log(error) => is_corrupt_read(error),
                RetentionError::Load(error) => is_corrupt(error),
                RetentionError::View(error) => is_corrupt_view(error),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether options do not go together.
    pub(super) fn is_usage(&self) -> bool {
        matches!(self, KeepingError::OnlyWithCustomGc)
    }

    /// A stable word for programs.
    pub(super) fn code(&self) -> &'static str {
        use VerbatimImportError as Import;
        match self {
            KeepingError::Import(Import::Contradiction { .. } | Import::OtherBeginning { .. }) => {
                "another_log"
            }
            KeepingError::Import(Import::Root { .. }) => "verification_failed",
            KeepingError::Import(Import::CutOff { .. }) => "cut_off",
            KeepingError::Export(VerbatimExportError::BeyondEnd { .. }) => "beyond_end",
            KeepingError::Unwell { .. } => "problems",
            KeepingError::Truncate(
                TruncateError::AcknowledgedLost { .. } | TruncateError::WholeBehind { .. },
            ) => "acknowledged_lost",
            _ if self.is_corrupt() => "corrupt",
            KeepingError::Import(_) => "import_failed",
            KeepingError::Export(_) => "export_failed",
            KeepingError::NoBackup { .. } => "no_backup",
            KeepingError::PlaceTaken { .. } => "not_empty",
            KeepingError::NoContent { .. } => "not_found",
            KeepingError::SeveralDigests { .. }
            | KeepingError::DigestOrId { .. }
            | KeepingError::SeveralContents { .. } => "ambiguous",
            KeepingError::NoText { .. } => "no_text",
            KeepingError::OnlyWithCustomGc => "usage",
            KeepingError::Retention(error) if error.is_retryable() => "busy",
            KeepingError::Retention(_) => "retention_failed",
            KeepingError::PartlyRetained { .. } => "partly_retained",
            KeepingError::Truncate(_) => "truncate_failed",
            KeepingError::PutBack(_) => "put_back_failed",
            _ => "restore_failed",
        }
    }
}
