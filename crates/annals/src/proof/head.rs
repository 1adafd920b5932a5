//! The head of a log's Merkle tree.

use annals_event_log::{Digest, Position, ReadError, Store, tree};

use super::{ProofError, ProofMismatch};
use crate::Proofs;

/// A log at some size: all that it takes to tell its records from any others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeHead {
    /// Which log it is: `annals/` and the log's id.
    pub origin: String,
    /// How many records there are.
    pub size: u64,
    /// The root of the Merkle tree over their headers.
    pub root: Digest,
}

impl TreeHead {
    /// Demands that this is the head of the same log.
    pub(super) fn same_origin(&self, other: &str) -> Result<(), ProofMismatch> {
        if self.origin == other {
            return Ok(());
        }
        Err(ProofMismatch::Origin {
            expected: self.origin.clone(),
            found: other.to_owned(),
        })
    }
}

impl Proofs<'_> {
    /// What the log is called in checkpoints and proofs: `annals/` and its id.
    pub fn origin(self) -> String {
        format!("annals/{}", self.annals.log.log_id())
    }

    /// The head of the tree over the first `size` records; left out, over all that
    /// are durable.
    ///
    /// # Errors
    /// [`ProofError::BeyondEnd`], [`ProofError::NoTree`] and [`ProofError::Read`].
    pub async fn head(self, size: Option<u64>) -> Result<TreeHead, ProofError> {
        let end = self.annals.position();
        let size = size.unwrap_or(end.0);
        if size > end.0 {
            return Err(ProofError::BeyondEnd {
                position: Position(size),
                end,
            });
        }
        let log = self.annals.log.as_ref();
        demand_tree(log, size).await?;
        Ok(TreeHead {
            origin: self.origin(),
            size,
            root: tree::root(log, size).await?,
        })
    }

    /// Whether the log still is what a checkpoint says: the same log, at least as
    /// long, and with the same root over the first records. The stored hashes are
    /// read; that they are those of the records is what a verification finds out.
    ///
    /// # Errors
    /// [`ProofError::ProofMismatch`] if it is not, [`ProofError::Unpublished`] where readers are not shown all of it
    /// after a power cut, and [`ReadError::Corrupt`] where what they are not shown cannot be read.
    pub async fn check(self, head: &TreeHead) -> Result<(), ProofError> {
        head.same_origin(&self.origin())?;
        let end = self.annals.position();
        if head.size > end.0 {
            let size = head.size;
            let files = self.annals.rocks().and_then(|rocks| rocks.unpublished());
            if files.is_some_and(|last| size <= last.0) {
                if let Some(reason) = self.damage_behind()? {
                    return Err(ReadError::Corrupt { reason }.into());
                }
                return Err(ProofError::Unpublished { size, end });
            }
            return Err(ProofMismatch::Truncated { size, end }.into());
        }
        let here = self.head(Some(head.size)).await?;
        if here.root == head.root {
            return Ok(());
        }
        let mismatch = ProofMismatch::Root {
            size: head.size,
            expected: head.root,
            found: here.root,
        };
        Err(mismatch.into())
    }
}

/// Demands that the hashes of the first `size` records are stored.
async fn demand_tree(log: &dyn Store, size: u64) -> Result<(), ProofError> {
    let Some(last) = size.checked_sub(1) else {
        return Ok(());
    };
    let found: Result<Vec<Digest>, ReadError> = log.tree_hashes(0, last, 1).await;
    if found?.is_empty() {
        return Err(ProofError::NoTree { size });
    }
    Ok(())
}
