//! Keeping checkpoints while a log grows.

use std::num::NonZeroU64;
use std::pin::pin;
use std::time::Duration;

use annals_event_log::{Position, ReadError};
use futures::future::{Either, select};

use super::ProofError;
use super::checkpoint::Checkpoint;
use super::checkpoint_file::{CheckpointFile, KeepError};
use super::keys::SigningKey;
use crate::Proofs;
use crate::deadline::within;

/// When checkpoints are kept, and where.
#[derive(Debug, Clone)]
pub struct KeepCheckpoints {
    /// The file, outside the log: best on another disk, or another machine.
    pub file: CheckpointFile,
    /// A checkpoint is kept once so many records have come since the last one,
    pub records: NonZeroU64,
    /// or so long after the first of them, whichever is earlier.
    pub time: Duration,
    /// Who signs it.
    pub key: Option<SigningKey>,
}

impl Proofs<'_> {
    /// Keeps a file outside the log current with the log's checkpoint: one now, then
    /// one whenever enough has come, and a last one when `stop` is there. It ends with
    /// `stop`, or when the log is closed. `kept` is called with each checkpoint that was
    /// written.
    ///
    /// A service spawns it next to its work; it can also run in a separate process,
    /// over a log that was opened for reading.
    ///
    /// ```
    /// # use std::{num::NonZeroU64, time::Duration};
    /// # use annals::Annals;
    /// use annals::proof::{CheckpointFile, KeepCheckpoints};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # futures::executor::block_on(async {
    /// # let annals = Annals::open("memory:").await?;
    /// # let dir = tempfile::tempdir()?;
    /// # let path = dir.path().join("checkpoint");
    /// let keep = KeepCheckpoints {
    ///     file: CheckpointFile::at(&path)?,
    ///     records: NonZeroU64::new(10_000).ok_or("0")?,
    ///     time: Duration::from_secs(60),
    ///     key: None,
    /// };
    /// # let shutdown = async {};
    /// annals.proofs().keep_checkpoints(&keep, shutdown, |_| {}).await?;
    /// assert_eq!(keep.file.read()?.map(|kept| kept.head().size), Some(0));
    /// # Ok(())
    /// # })
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`KeepError`]; with [`KeepError::Log`] the log is no longer what it was.
    pub async fn keep_checkpoints(
        self,
        keep: &KeepCheckpoints,
        stop: impl Future<Output = ()>,
        mut kept: impl FnMut(&Checkpoint),
    ) -> Result<(), KeepError> {
        let mut stop = pin!(stop);
        let mut last = None;
        loop {
            let checkpoint = match self.checkpoint(None).await {
                Err(ProofError::Read(ReadError::Closed)) => return Ok(()),
                checkpoint => checkpoint?,
            };
            let size = checkpoint.head().size;
            if last != Some(size) {
                let written = keep
                    .file
                    .keep(self.annals, checkpoint, keep.key.as_ref())
                    .await?;
                kept(&written);
                last = Some(size);
            }
            let enough = pin!(self.enough(Position(size), keep));
            match select(&mut stop, enough).await {
                Either::Right((Ok(()), _)) => {}
                Either::Right((Err(ReadError::Closed), _)) => return Ok(()),
                Either::Right((Err(error), _)) => return Err(ProofError::Read(error).into()),
                Either::Left(((), _)) => break,
            }
        }
        // The last one, if something has come.
        if self.annals.position() > Position(last.unwrap_or_default()) {
            let checkpoint = self.checkpoint(None).await?;
            let written = keep
                .file
                .keep(self.annals, checkpoint, keep.key.as_ref())
                .await?;
            kept(&written);
        }
        Ok(())
    }

    /// Waits until a checkpoint is due.
    async fn enough(self, last: Position, keep: &KeepCheckpoints) -> Result<(), ReadError> {
        self.annals.log.wait_above(last).await?;
        let all = Position(last.0.saturating_add(keep.records.get() - 1));
        match within(keep.time, self.annals.log.wait_above(all)).await {
            Some(Err(error)) => Err(error),
            Some(Ok(_)) | None => Ok(()),
        }
    }
}
