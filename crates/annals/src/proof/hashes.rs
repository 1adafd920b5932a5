//! The stored hashes, as the proofs' library asks for them.
//!
//! Its provers read hashes synchronously and the log answers asynchronously. So a
//! prover runs twice: first over a reader that only notes what it wants, and then,
//! when that was fetched, over one that has it.

use std::cell::RefCell;
use std::collections::HashMap;

use annals_event_log::{Digest, ReadError, Store, tree};
use tlog_tiles::tlog::{Error, Hash, HashReader, split_stored_hash_index};

use super::ProofError;

/// A digest as the library has it.
pub(super) fn hash(digest: Digest) -> Hash {
    Hash(digest.0)
}

/// The library's hashes as digests.
pub(super) fn digests(hashes: Vec<Hash>) -> Vec<Digest> {
    hashes.into_iter().map(|hash| Digest(hash.0)).collect()
}

/// Hashes that were fetched, and those that a prover would have liked to have.
#[derive(Default)]
pub(super) struct Hashes {
    known: HashMap<u64, Hash>,
    wanted: RefCell<Vec<u64>>,
}

impl HashReader for Hashes {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<Hash>, Error> {
        let read = |index: &u64| {
            self.known.get(index).copied().unwrap_or_else(|| {
                self.wanted.borrow_mut().push(*index);
                Hash::default()
            })
        };
        Ok(indexes.iter().map(read).collect())
    }
}

impl Hashes {
    /// Runs a prover over the log's hashes. Each is fetched once, regardless of the number
    /// of proofs.
    pub(super) async fn prove(
        &mut self,
        log: &dyn Store,
        prover: impl Fn(&Hashes) -> Result<Vec<Hash>, Error>,
    ) -> Result<Vec<Digest>, ProofError> {
        let mut proof = prover(self).map_err(refused)?;
        let wanted = self.wanted.take();
        if !wanted.is_empty() {
            for index in wanted {
                let (level, number) = split_stored_hash_index(index);
                let found = tree::subtree(log, level, number).await?;
                self.known.insert(index, hash(found));
            }
            proof = prover(self).map_err(refused)?;
        }
        Ok(digests(proof))
    }
}

/// A prover refuses only numbers that were checked before.
fn refused(error: Error) -> ReadError {
    ReadError::Corrupt {
        reason: format!("no proof can be made of the stored hashes: {error}"),
    }
}
