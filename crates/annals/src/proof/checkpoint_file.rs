//! A file outside the log that always has the log's newest checkpoint.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::ProofError;
use super::checkpoint::{Checkpoint, CheckpointError};
use super::keys::SigningKey;
use super::write::{lock_beside, log_around, off_thread, replace_file};
use crate::Annals;
use annals_event_log::{Classification, Classified, ErrorClass};

/// One byte more than a checkpoint can have.
const TOO_MANY_BYTES: u64 = 1_000_001;

/// Why a checkpoint was not kept. The file is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// The file would be in the directory of a log.
    #[error(
        "{path} is inside the log at {log}: what is lost with the log proves nothing. Name a file \
         elsewhere", path = .path.display(), log = .log.display()
    )]
    InsideLog {
        /// The file.
        path: PathBuf,
        /// The log's directory.
        log: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("cannot use {path}: {source}", path = .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// The file holds something else, or another signer's checkpoint.
    #[error(
        "{path}: {source}. It was left as it is; move it away if that is right",
        path = .path.display()
    )]
    Checkpoint {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: CheckpointError,
    },
    /// The file's checkpoint is newer than what was to be kept.
    #[error(
        "{path} has the checkpoint of {kept} records, which is newer than that of {size}",
        path = .path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The size of its checkpoint.
        kept: u64,
        /// The size of the one that was to be kept.
        size: u64,
    },
    /// The file's checkpoint is signed, and what was to be kept would not be.
    #[error(
        "{path} has a signed checkpoint, and an unsigned one must not replace it: \
         sign with --key, or name another file", path = .path.display()
    )]
    Signed {
        /// The file.
        path: PathBuf,
    },
    /// The file's checkpoint says something else than the one that was to be added to it.
    #[error("{path} holds something else than this checkpoint: name another file", path = .path.display())]
    OtherCheckpoint {
        /// The file.
        path: PathBuf,
    },
    /// The log is not, or no longer, that of the file's checkpoint.
    #[error("{path}: {source}", path = .path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        source: ProofError,
    },
    /// There is no checkpoint to keep.
    #[error(transparent)]
    Proof(#[from] ProofError),
}

impl Classified for KeepError {
    fn classify(&self) -> Classification {
        use ErrorClass::Refused;
        match self {
            KeepError::InsideLog { .. } => Refused.code("inside_log"),
            KeepError::File { source, .. } => {
                ErrorClass::of_file(source).code("checkpoint_not_kept")
            }
            KeepError::Checkpoint { source, .. } => source.classify().of("checkpoint_not_kept"),
            KeepError::Log { source, .. } | KeepError::Proof(source) => {
                source.classify().of("checkpoint_not_kept")
            }
            KeepError::Newer { .. }
            | KeepError::Signed { .. }
            | KeepError::OtherCheckpoint { .. } => Refused.code("checkpoint_not_kept"),
        }
    }
}

/// A file with the newest checkpoint of a log. It only ever moves forward, and only
/// while it fits the log.
#[derive(Debug, Clone)]
pub struct CheckpointFile {
    path: PathBuf,
}

impl CheckpointFile {
    /// The file at a path outside every log. It need not exist.
    ///
    /// # Errors
    /// [`KeepError::InsideLog`], and [`KeepError::File`] if there is no such folder.
    pub fn at(path: &Path) -> Result<CheckpointFile, KeepError> {
        let file = CheckpointFile {
            path: path.to_owned(),
        };
        match log_around(path) {
            Ok(None) => Ok(file),
            Ok(Some(log)) => Err(KeepError::InsideLog {
                path: file.path,
                log,
            }),
            Err(source) => Err(file.failed(source)),
        }
    }

    fn failed(&self, source: io::Error) -> KeepError {
        KeepError::File {
            path: self.path.clone(),
            source,
        }
    }

    fn refused(&self, source: CheckpointError) -> KeepError {
        KeepError::Checkpoint {
            path: self.path.clone(),
            source,
        }
    }

    /// The checkpoint that is kept, if there is one.
    ///
    /// # Errors
    /// [`KeepError::File`] and [`KeepError::Checkpoint`].
    pub fn read(&self) -> Result<Option<Checkpoint>, KeepError> {
        let mut bytes = Vec::new();
        match annals_files::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.failed(error)),
            Ok(file) => file
                .take(TOO_MANY_BYTES)
                .read_to_end(&mut bytes)
                .map_err(|error| self.failed(error))?,
        };
        let kept = Checkpoint::read(&bytes).map_err(|error| self.refused(error))?;
        Ok(Some(kept))
    }

    /// Waits until no other caller changes the file, and locks it against others.
    async fn lock(&self) -> Result<File, KeepError> {
        let path = self.path.clone();
        let locked = off_thread(move || lock_beside(&path)).await;
        locked.map_err(|error| self.failed(error))
    }

    /// Writes a checkpoint as it is, over what was there.
    async fn write(&self, checkpoint: &Checkpoint) -> Result<(), KeepError> {
        let (path, bytes) = (self.path.clone(), checkpoint.to_bytes());
        let written = off_thread(move || replace_file(&path, &bytes)).await;
        written.map_err(|error| self.failed(error))
    }

    /// Adds the signatures of a checkpoint to the file, and answers with what is there
    /// then. Signatures that the file has of others stay. If there is no file, this is
    /// what it has.
    ///
    /// # Errors
    /// [`KeepError::OtherCheckpoint`] if the file has another checkpoint,
    /// [`KeepError::Checkpoint`] if it has none or there is no room, and
    /// [`KeepError::File`]; the file is as it was.
    pub async fn add(&self, mut checkpoint: Checkpoint) -> Result<Checkpoint, KeepError> {
        let _locked = self.lock().await?;
        if let Some(there) = self.read()? {
            if !there.says_the_same(&checkpoint) {
                let path = self.path.clone();
                return Err(KeepError::OtherCheckpoint { path });
            }
            let taken = checkpoint.take_signatures(&there);
            taken.map_err(|error| self.refused(error))?;
        }
        self.write(&checkpoint).await?;
        Ok(checkpoint)
    }

    /// Puts a log's checkpoint in the place of the one that is kept: if that is of the
    /// same log, no newer, and fits what the log has now. With a key it is signed, and
    /// the one that is kept must be signed by the same; without one, the one that is
    /// kept must not be signed either. Where both say the same, the signatures that are
    /// there stay. Others who keep the same file wait meanwhile.
    ///
    /// # Errors
    /// [`KeepError`]; the file is as it was.
    pub async fn keep(
        &self,
        annals: &Annals,
        mut checkpoint: Checkpoint,
        key: Option<&SigningKey>,
    ) -> Result<Checkpoint, KeepError> {
        let _locked = self.lock().await?;
        if let Some(kept) = self.read()? {
            self.demand_older(&kept, annals, &checkpoint, key).await?;
            if kept.says_the_same(&checkpoint) {
                checkpoint = kept;
            } else if key.is_none() && !kept.signers().is_empty() {
                let path = self.path.clone();
                return Err(KeepError::Signed { path });
            }
        }
        if let Some(key) = key {
            checkpoint.sign(key).map_err(|error| self.refused(error))?;
        }
        self.write(&checkpoint).await?;
        Ok(checkpoint)
    }

    /// Demands that what is kept is signed by the key, fits the log, and is no newer.
    async fn demand_older(
        &self,
        kept: &Checkpoint,
        annals: &Annals,
        checkpoint: &Checkpoint,
        key: Option<&SigningKey>,
    ) -> Result<(), KeepError> {
        let keys: Vec<_> = key.iter().map(|key| key.public_key()).collect();
        kept.verify(&keys).map_err(|error| self.refused(error))?;
        let (old, new) = (kept.head(), checkpoint.head());
        let fits = match annals.proofs().check(old).await {
            Ok(()) if old.size <= new.size => {
                annals.proofs().consistency(old, new).await.map(|_| ())
            }
            fits => fits,
        };
        fits.map_err(|source| KeepError::Log {
            path: self.path.clone(),
            source,
        })?;
        if old.size > new.size {
            return Err(KeepError::Newer {
                path: self.path.clone(),
                kept: old.size,
                size: new.size,
            });
        }
        Ok(())
    }
}
