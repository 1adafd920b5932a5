//! Proofs that a log has only grown.

use tlog_tiles::tlog::prove_tree;

use super::hashes::Hashes;
use super::{ConsistencyProof, Proof, ProofError, TreeHead};
use crate::Proofs;

impl Proofs<'_> {
    /// Proves that the log of `old` is the beginning of the log of `new`.
    ///
    /// # Errors
    /// [`ProofError`]; [`ProofError::ProofMismatch`] if it is not, or if this log is not
    /// that of both.
    pub async fn consistency(self, old: &TreeHead, new: &TreeHead) -> Result<Proof, ProofError> {
        if old.size > new.size {
            return Err(ProofError::Order {
                old: old.size,
                new: new.size,
            });
        }
        self.check(old).await?;
        self.check(new).await?;
        let mut path = Vec::new();
        // That a log begins with nothing needs no proof.
        if old.size > 0 {
            let prover = |hashes: &Hashes| prove_tree(new.size, old.size, hashes);
            path = Hashes::default()
                .prove(self.annals.log.as_ref(), prover)
                .await?;
        }
        let proof = Proof::Consistency(ConsistencyProof {
            old: old.clone(),
            new: new.clone(),
            path,
        });
        proof.check(new)?;
        Ok(proof)
    }
}
