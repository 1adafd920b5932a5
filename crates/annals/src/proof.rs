//! Proofs: what a log can show to a person who does not trust it.
//!
//! A [`Checkpoint`] is the head of the log's Merkle tree at some size, as a signed
//! note. One that is kept outside the log shows every later change of what it
//! covers, and that records are missing at the end ([`Proofs::check`],
//! [`Proofs::check_since`]). A [`Proof`] is a small file: that events are in the log
//! of a checkpoint, or that one checkpoint's log is the beginning of another's. It is
//! checked without the log. `docs/proof-format.md` describes the file.
//!
//! ```
//! # use annals::Annals;
//! # use annals::event_log::Position;
//! # use annals::domain::ActorRef;
//! use annals::proof::{Detail, Proof, SigningKey};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # futures::executor::block_on(async {
//! # let annals = Annals::open("memory:").await?;
//! # let actor = ActorRef::human("ada");
//! # annals.by(&actor).submit("Add a cache").await?;
//! let key = SigningKey::generate("example.org/log")?;
//! let mut checkpoint = annals.proofs().checkpoint(None).await?;
//! checkpoint.sign(&key)?;
//! let proof = annals
//!     .proofs()
//!     .event(Position(1), checkpoint.head(), Detail::Records)
//!     .await?;
//! let file = proof.to_json()?;
//!
//! // Elsewhere, with the file, the checkpoint and the public key:
//! let signatures = checkpoint.verify(&[key.public_key()])?;
//! assert_eq!(signatures.checked.len(), 1);
//! Proof::read(&file)?.check(checkpoint.head())?;
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! [`Proofs::check`]: crate::Proofs::check
//! [`Proofs::check_since`]: crate::Proofs::check_since

mod check;
mod checkpoint;
mod checkpoint_file;
mod consistency;
mod error;
mod file;
mod hashes;
mod head;
mod inclusion;
mod keeper;
mod keys;
mod mismatch;
mod parts;
mod since;
mod write;

#[cfg(test)]
mod tests;

pub use checkpoint::{Checkpoint, CheckpointError, Signatures, Signer};
pub use checkpoint_file::{CheckpointFile, KeepError};
pub use error::ProofError;
pub use file::ProofFileError;
pub use head::TreeHead;
pub use inclusion::Detail;
pub use keeper::KeepCheckpoints;
pub use keys::{KeyError, PublicKey, SigningKey};
pub use mismatch::ProofMismatch;
pub use parts::{ConsistencyProof, EventProof, InclusionProof, Proof};
pub use since::{Fault, Finding, SinceReport};
pub use write::{log_around, replace_file};
