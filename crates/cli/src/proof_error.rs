//! What can go wrong with checkpoints, keys and proofs.

use std::io;
use std::path::PathBuf;

use annals::event_log::{Classification, Classified, ErrorClass, Position};
use annals::proof::{CheckpointError, KeyError, ProofError, ProofFileError, ProofMismatch};
use annals::{ObjectRef, ViewError};

use crate::counted::counted;

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
    Proof {
        path: PathBuf,
        source: ProofMismatch,
    },
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
    #[error("{path} is there already, and is not a proof: name another file, or move it away", path = .path.display())]
    NotAProof { path: PathBuf },
    #[error("{path} holds something else than this checkpoint: name another file", path = .path.display())]
    NotThisCheckpoint { path: PathBuf },
    #[error(
        "{path} is inside the log at {log}: name a file elsewhere", path = .path.display(),
        log = .log.display()
    )]
    InsideLog { path: PathBuf, log: PathBuf },
    #[error("{path} is too large: expected at most {limit} bytes", path = .path.display())]
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
}

impl Classified for ProofCommandError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Corrupt, Failed, Invalid, NotFound, Refused, Usage};
        match self {
            ProofCommandError::Key { source, .. } => source.classify(),
            ProofCommandError::Checkpoint { source, .. } => source.classify(),
            ProofCommandError::ProofFile { source, .. } => source.classify(),
            ProofCommandError::NoConsistency { .. } => Invalid.code("invalid_proof"),
            ProofCommandError::Proof { .. } | ProofCommandError::OtherBeginning { .. } => {
                Corrupt.code("does_not_fit")
            }
            ProofCommandError::Findings { .. } => Corrupt.code("verification_failed"),
            ProofCommandError::KeyExists { .. }
            | ProofCommandError::NotAProof { .. }
            | ProofCommandError::NotThisCheckpoint { .. } => Refused.code("file_exists"),
            ProofCommandError::InsideLog { .. } => Refused.code("inside_log"),
            ProofCommandError::TooLong { .. } | ProofCommandError::Read { .. } => {
                Failed.code("input")
            }
            ProofCommandError::Write { .. } => Failed.code("file"),
            ProofCommandError::KeyAlone => Usage.code("usage"),
            ProofCommandError::NoEvent(_) => NotFound.code("not_found"),
            ProofCommandError::TwoMeanings { .. } => Invalid.code("ambiguous"),
            ProofCommandError::AgainstLog { source, .. } => source.classify(),
        }
    }
}
