//! A checkpoint: the head of the tree as a signed note.
//!
//! The formats are C2SP's [tlog-checkpoint] and [signed-note]:
//!
//! ```text
//! annals/0198c0de-0000-7000-8000-000000000001    the origin
//! 923748                                         how many records
//! nND/nri/U0xuHUrYSy0HtMeal2vzD9V4k/BO79C+QeI=   the root, base64
//!                                                an empty line
//! — example.org/log <base64>                     a line for each signature
//! ```
//!
//! [tlog-checkpoint]: https://c2sp.org/tlog-checkpoint
//! [signed-note]: https://c2sp.org/signed-note

use std::fmt;

use annals_event_log::{Classification, Classified, Digest, ErrorClass};
use signed_note::{Note, Signature, Signer as _};

use super::error::ProofError;
use super::hashes::hash;
use super::head::TreeHead;
use super::keys::{PublicKey, SigningKey};
use crate::Proofs;

/// The most bytes of a checkpoint with its signatures.
const MOST_BYTES: usize = 1_000_000;
/// The most signatures of one.
const MOST_SIGNATURES: usize = 100;
/// The most records that a log can have.
const MOST_RECORDS: u64 = u64::MAX >> 1;

/// Why something is not a checkpoint, or not one that can be relied on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// It cannot be one.
    #[error("this is not a checkpoint: {reason}")]
    NotACheckpoint {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// There is no room for another signature.
    #[error("the checkpoint has {MOST_SIGNATURES} signatures already, which is the most")]
    Full,
    /// The key did not sign.
    #[error("the key could not sign the checkpoint")]
    Unsigned,
    /// A required signature is missing.
    #[error("the checkpoint is not signed by {key}")]
    NotSigned {
        /// Who should have.
        key: Signer,
    },
    /// A signature is not one of this text by this key.
    #[error("the signature of {key} is not one of this checkpoint: one of them was altered")]
    WrongSignature {
        /// Whose it is said to be.
        key: Signer,
    },
    /// One signature would count for two of the keys that it was to be checked with.
    #[error(
        "two different keys are called {key}, and one signature would count for both: leave one \
         of them away, and have the other replaced by a new one"
    )]
    SameNumber {
        /// What both are called.
        key: Signer,
    },
}

impl CheckpointError {
    /// Whether it can be read and is not the expected one.
    pub fn is_mismatch(&self) -> bool {
        matches!(
            self,
            CheckpointError::NotSigned { .. } | CheckpointError::WrongSignature { .. }
        )
    }
}

impl Classified for CheckpointError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Corrupt, Invalid};
        match self {
            error if error.is_mismatch() => Corrupt.code("does_not_fit"),
            _ => Invalid.code("invalid_checkpoint"),
        }
    }
}

/// Who signed: a key's name and number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signer {
    /// The key's name.
    pub name: String,
    /// The key's number.
    pub id: u32,
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{:08x}", self.name, self.id)
    }
}

impl From<&PublicKey> for Signer {
    fn from(key: &PublicKey) -> Signer {
        Signer {
            name: key.name().to_owned(),
            id: key.id(),
        }
    }
}

fn signer_of(signature: &Signature) -> Signer {
    Signer {
        name: signature.name().to_owned(),
        id: signature.id(),
    }
}

/// Whose signatures a checkpoint has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signatures {
    /// Those that were checked, with the keys that were given.
    pub checked: Vec<Signer>,
    /// Those of others, which were not checked.
    pub unknown: Vec<Signer>,
}

/// A tree head with the signatures that it has.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    head: TreeHead,
    /// What is signed: the head, and lines that others may have added.
    text: String,
    signatures: Vec<Signature>,
}

impl Checkpoint {
    /// The checkpoint of a head, not signed yet.
    pub fn of(head: TreeHead) -> Checkpoint {
        let TreeHead { origin, size, root } = &head;
        let text = format!("{origin}\n{size}\n{}\n", hash(*root));
        Checkpoint {
            head,
            text,
            signatures: Vec::new(),
        }
    }

    /// Reads a checkpoint with its signatures, which may be none. Nothing is checked
    /// yet.
    ///
    /// # Errors
    /// [`CheckpointError::NotACheckpoint`].
    pub fn read(bytes: &[u8]) -> Result<Checkpoint, CheckpointError> {
        let no = |reason| CheckpointError::NotACheckpoint { reason };
        if bytes.len() > MOST_BYTES {
            return Err(no("it is too long"));
        }
        let note = std::str::from_utf8(bytes).map_err(|_| no("it is not valid UTF-8"))?;
        let (text, signatures) = match note.strip_suffix("\n\n") {
            Some(text) => (format!("{text}\n"), ""),
            None => match note.rsplit_once("\n\n") {
                Some((text, signatures)) => (format!("{text}\n"), signatures),
                None => (note.to_owned(), ""),
            },
        };
        // The text alone, and with its signatures as a whole.
        Note::new(text.as_bytes(), &[])
            .map_err(|_| no("it has no lines of text, or control characters"))?;
        if !signatures.is_empty() {
            Note::from_bytes(bytes).map_err(|_| no("its signatures are malformed"))?;
        }
        let signatures = signatures
            .lines()
            .map(|line| Signature::from_bytes(line.as_bytes()))
            .collect::<Result<Vec<Signature>, _>>()
            .map_err(|_| no("a signature is malformed"))?;
        let head = read_head(&text)?;
        Ok(Checkpoint {
            head,
            text,
            signatures,
        })
    }

    /// What it is a checkpoint of.
    pub fn head(&self) -> &TreeHead {
        &self.head
    }

    /// Whether both say the same, regardless of who signed them.
    pub fn says_the_same(&self, other: &Checkpoint) -> bool {
        self.text == other.text
    }

    /// The checkpoint as a file holds it. What was read is written as it was; an empty line that was
    /// missing behind a text without signatures is written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.text.as_bytes().to_vec();
        bytes.push(b'\n');
        for signature in &self.signatures {
            bytes.extend(signature.to_bytes());
        }
        bytes
    }

    /// Who signed it, or is said to have.
    pub fn signers(&self) -> Vec<Signer> {
        self.signatures.iter().map(signer_of).collect()
    }

    /// Adds a signature behind those that are there; an earlier one of the same key
    /// goes.
    ///
    /// # Errors
    /// [`CheckpointError::Full`].
    pub fn sign(&mut self, key: &SigningKey) -> Result<(), CheckpointError> {
        let signer = key.signer();
        let others = |it: &&Signature| it.name() != signer.name() || it.id() != signer.key_id();
        let mut signatures: Vec<Signature> =
            self.signatures.iter().filter(others).cloned().collect();
        let signed = signer.sign(self.text.as_bytes());
        let signed = signed.map_err(|_| CheckpointError::Unsigned)?;
        let signature = Signature::new(signer.name().to_owned(), signer.key_id(), signed);
        signatures.push(signature.map_err(|_| CheckpointError::Unsigned)?);
        if signatures.len() > MOST_SIGNATURES {
            return Err(CheckpointError::Full);
        }
        self.signatures = signatures;
        Ok(())
    }

    /// Adds the signatures that another copy of the same checkpoint has, behind those
    /// that are there. Of a key that signed both, the signature here stays.
    ///
    /// # Errors
    /// [`CheckpointError::Full`].
    pub(super) fn take_signatures(&mut self, other: &Checkpoint) -> Result<(), CheckpointError> {
        let signers = self.signers();
        let is_new = |it: &&Signature| !signers.contains(&signer_of(it));
        let taken: Vec<Signature> = other.signatures.iter().filter(is_new).cloned().collect();
        if self.signatures.len() + taken.len() > MOST_SIGNATURES {
            return Err(CheckpointError::Full);
        }
        self.signatures.extend(taken);
        Ok(())
    }

    /// Checks the signatures of these keys. Each of them must have signed; who else
    /// did is said.
    ///
    /// # Errors
    /// [`CheckpointError::NotSigned`], [`CheckpointError::WrongSignature`], and
    /// [`CheckpointError::SameNumber`]: a signature says its key's name and number, and
    /// a number of 32 bits can be made to fit.
    pub fn verify(&self, keys: &[PublicKey]) -> Result<Signatures, CheckpointError> {
        demand_different_numbers(keys)?;
        let mut signatures = Signatures::default();
        let mut signed: Vec<&PublicKey> = Vec::new();
        for signature in &self.signatures {
            let signer = signer_of(signature);
            let Some(key) = keys.iter().find(|key| Signer::from(*key) == signer) else {
                if !signatures.unknown.contains(&signer) {
                    signatures.unknown.push(signer);
                }
                continue;
            };
            if !key.has_signed(self.text.as_bytes(), signature.signature()) {
                return Err(CheckpointError::WrongSignature { key: signer });
            }
            if !signed.contains(&key) {
                signed.push(key);
                signatures.checked.push(signer);
            }
        }
        match keys.iter().find(|key| !signed.contains(key)) {
            None => Ok(signatures),
            Some(key) => Err(CheckpointError::NotSigned { key: key.into() }),
        }
    }
}

impl Proofs<'_> {
    /// The checkpoint of the first `size` records, or of all that are durable. It is
    /// not signed yet.
    ///
    /// # Errors
    /// As [`Proofs::head`].
    pub async fn checkpoint(self, size: Option<u64>) -> Result<Checkpoint, ProofError> {
        Ok(Checkpoint::of(self.head(size).await?))
    }
}

/// Demands that no two different keys have the same name and number.
fn demand_different_numbers(keys: &[PublicKey]) -> Result<(), CheckpointError> {
    for (n, key) in keys.iter().enumerate() {
        let signer = Signer::from(key);
        let is_other = |it: &PublicKey| it != key && Signer::from(it) == signer;
        if keys.iter().take(n).any(is_other) {
            return Err(CheckpointError::SameNumber { key: signer });
        }
    }
    Ok(())
}

/// Reads the lines that are signed.
fn read_head(text: &str) -> Result<TreeHead, CheckpointError> {
    let no = |reason| CheckpointError::NotACheckpoint { reason };
    let read = tlog_tiles::Checkpoint::from_bytes(text.as_bytes());
    let read = read.map_err(|_| no("an origin, a size and a root are expected, a line each"))?;
    if read.size() > MOST_RECORDS {
        return Err(no("no log has so many records"));
    }
    Ok(TreeHead {
        origin: read.origin().to_owned(),
        size: read.size(),
        root: Digest(read.hash().0),
    })
}
