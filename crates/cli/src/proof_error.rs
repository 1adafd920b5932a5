//! What can go wrong with checkpoints, keys and proofs.

use std::io;
use std::path::PathBuf;

use annals::event_log::{Position, ReadError};
use annals::proof::{CheckpointError, KeepError, KeyError, Misfit, ProofError, ProofFileError};
use annals::{LoadError, ObjectRef, ViewError};

use crate::output::counted;

/// Why a command about proofs did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ProofCommandError {
    #[error("{path}: {source}", path = .path.display())]
    Key { path: PathBuf, source: KeyError },
    #[error("{path}: {source}", path = .path.display())]
    Checkpoint {
        path: PathBuf,
        source: CheckpointError,
    },
    #[error("{path}: {source}", path = .path.display())]
    ProofFile {
        path: PathBuf,
        source: ProofFileError,
    },
    #[error("{path}: the proof does not hold: {source}", path = .path.display())]
    Proof { path: PathBuf, source: Misfit },
    #[error("{path}: {source}", path = .path.display())]
    AgainstLog { path: PathBuf, source: ProofError },
    #[error(
        "{path} does not prove that the log has only grown: --since goes with proofs that were \
         made with it", path = .path.display()
    )]
    NoConsistency { path: PathBuf },
    #[error(
        "{path}: the proof begins with {found} records, or with another root, and the checkpoint \
         of --since is of {expected}", path = .path.display()
    )]
    OtherBeginning {
        path: PathBuf,
        expected: u64,
        found: u64,
    },
    #[error(
        "{path} is there already, and keys are never overwritten: name another file, or move it \
         away", path = .path.display()
    )]
    KeyExists { path: PathBuf },
    #[error("{path} is there already, and is no proof: name another file, or move it away", path = .path.display())]
    NotAProof { path: PathBuf },
    #[error("{path} holds something else than this checkpoint: name another file", path = .path.display())]
    NotThisCheckpoint { path: PathBuf },
    #[error(
        "{path} is inside the log at {log}: name a file elsewhere", path = .path.display(),
        log = .log.display()
    )]
    InsideLog { path: PathBuf, log: PathBuf },
    #[error("{path} has more than {limit} bytes, and nothing that belongs here has", path = .path.display())]
    TooLong { path: PathBuf, limit: u64 },
    #[error("cannot read {path}: {source}", path = .path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write {path}: {source}", path = .path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("--key goes with --checkpoint or --since: it says whose signatures they must have")]
    KeyAlone,
    #[error("{0}")]
    NoEvent(ViewError),
    #[error(
        "{id} is the id of event {position}, and also of the {kind} that came with it from elsewhere: prove the event \
         by its position, and the object by the last digits of its id", id = .object.id, kind = .object.kind
    )]
    TwoMeanings {
        object: ObjectRef,
        position: Position,
    },
    #[error(
        "verification failed: {} since the checkpoint; restore the log from a backup",
        counted(*.findings, "finding", "findings")
    )]
    Findings { findings: u64 },
    #[error(transparent)]
    Made(#[from] ProofError),
    #[error(transparent)]
    Keep(#[from] KeepError),
}

impl ProofCommandError {
    /// Whether something that should fit does not.
    pub(crate) fn is_misfit(&self) -> bool {
        match self {
            ProofCommandError::Proof { .. }
            | ProofCommandError::OtherBeginning { .. }
            | ProofCommandError::Findings { .. } => true,
            ProofCommandError::Checkpoint { source, .. } => source.is_misfit(),
            ProofCommandError::AgainstLog { source, .. } | ProofCommandError::Made(source) => {
                is_misfit(source)
            }
            ProofCommandError::Keep(error) => match error {
                KeepError::Checkpoint { source, .. } => source.is_misfit(),
                KeepError::Log { source, .. } | KeepError::Proof(source) => is_misfit(source),
                _ => false,
            },
            _ => false,
        }
    }

    /// Whether options do not go together.
    pub(crate) fn is_usage(&self) -> bool {
        matches!(self, ProofCommandError::KeyAlone)
    }

    /// What is damaged, where a log is.
    pub(crate) fn load(&self) -> Option<LoadErrorRef<'_>> {
        let error = match self {
            ProofCommandError::AgainstLog { source, .. } | ProofCommandError::Made(source) => {
                source
            }
            ProofCommandError::Keep(KeepError::Log { source, .. } | KeepError::Proof(source)) => {
                source
            }
            _ => return None,
        };
        match error {
            ProofError::Read(error) => Some(LoadErrorRef::Read(error)),
            ProofError::View(ViewError::Load(error)) => Some(LoadErrorRef::Load(error)),
            _ => None,
        }
    }

    /// A stable word for programs.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            ProofCommandError::Findings { .. } => "verification_failed",
            error if error.is_misfit() => "does_not_fit",
            ProofCommandError::Key { .. } => "invalid_key",
            ProofCommandError::Checkpoint { .. } => "invalid_checkpoint",
            ProofCommandError::ProofFile { .. } | ProofCommandError::NoConsistency { .. } => {
                "invalid_proof"
            }
            ProofCommandError::KeyExists { .. }
            | ProofCommandError::NotAProof { .. }
            | ProofCommandError::NotThisCheckpoint { .. } => "file_exists",
            ProofCommandError::InsideLog { .. }
            | ProofCommandError::Keep(KeepError::InsideLog { .. }) => "inside_log",
            ProofCommandError::TooLong { .. } | ProofCommandError::Read { .. } => "input",
            ProofCommandError::Write { .. } => "file",
            ProofCommandError::KeyAlone => "usage",
            ProofCommandError::NoEvent(_) => "not_found",
            ProofCommandError::TwoMeanings { .. } => "ambiguous",
            ProofCommandError::AgainstLog { source, .. } | ProofCommandError::Made(source) => {
                made_code(source)
            }
            ProofCommandError::Keep(_) => "checkpoint_not_kept",
            ProofCommandError::Proof { .. } | ProofCommandError::OtherBeginning { .. } => {
                "does_not_fit"
            }
        }
    }
}

/// An error of reading, wherever it came from.
pub(crate) enum LoadErrorRef<'a> {
    Read(&'a ReadError),
    Load(&'a LoadError),
}

fn is_misfit(error: &ProofError) -> bool {
    matches!(error, ProofError::Misfit(_))
}

fn made_code(error: &ProofError) -> &'static str {
    match error {
        ProofError::BeyondEnd { .. } => "beyond_end",
        ProofError::NoTree { .. } => "no_tree",
        ProofError::NotYet { .. } => "not_yet",
        ProofError::HeadersOnly { .. } => "headers_only",
        ProofError::View(error) => match error {
            ViewError::NotFound { .. } => "not_found",
            ViewError::Ambiguous { .. } => "ambiguous",
            ViewError::InvalidId { .. } => "invalid_id",
            _ => "unreadable",
        },
        _ => "failed",
    }
}
