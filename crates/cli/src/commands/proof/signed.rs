//! Checkpoints whose signatures were checked, as far as keys were given.

use std::path::{Path, PathBuf};

use annals::proof::{Checkpoint, PublicKey, Signatures, Signer, TreeHead};
use serde_json::{Value, json};

use super::files;
use crate::error::CliError;
use crate::output::{Output, counted};
use crate::proof_error::ProofCommandError;

/// A checkpoint of a file, and who signed it.
pub(super) struct Signed {
    pub(super) path: PathBuf,
    pub(super) checkpoint: Checkpoint,
    signatures: Signatures,
}

/// Reads all public keys of some files, each once.
pub(super) fn keys(paths: &[PathBuf]) -> Result<Vec<PublicKey>, CliError> {
    let mut keys = Vec::new();
    for path in paths {
        for key in files::public_keys(path)? {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
    }
    Ok(keys)
}

/// Reads a checkpoint, and demands the signatures of all keys.
pub(super) fn signed(path: &Path, keys: &[PublicKey]) -> Result<Signed, CliError> {
    let checkpoint = files::checkpoint(path)?;
    let path = path.to_owned();
    match checkpoint.verify(keys) {
        Ok(signatures) => Ok(Signed {
            path,
            checkpoint,
            signatures,
        }),
        Err(source) => Err(ProofCommandError::Checkpoint { path, source }.into()),
    }
}

impl Signed {
    pub(super) fn head(&self) -> &TreeHead {
        self.checkpoint.head()
    }

    pub(super) fn to_json(&self) -> Value {
        let names = |signers: &[Signer]| signers.iter().map(Signer::to_string).collect::<Vec<_>>();
        let mut value = head(self.head());
        if let Some(fields) = value.as_object_mut() {
            let checked = names(&self.signatures.checked);
            fields.insert("signatures_checked".to_owned(), json!(checked));
            let unknown = names(&self.signatures.unknown);
            fields.insert("signatures_unknown".to_owned(), json!(unknown));
        }
        value
    }

    /// Says who signed, and names signatures that were not checked.
    pub(super) fn print(&self, output: &mut Output) -> Result<(), CliError> {
        let path = self.path.display();
        for signer in &self.signatures.checked {
            output.line(&format!("{path}: signed by {signer}"))?;
        }
        for signer in &self.signatures.unknown {
            let line =
                format!("{path}: signed by {signer}, which was not checked: no key of theirs");
            output.line(&line)?;
        }
        if self.signatures.checked.is_empty() {
            let line = format!("{path}: NO SIGNATURE WAS CHECKED: it is worth what its source is");
            output.line(&line)?;
        }
        Ok(())
    }
}

/// A head for programs.
pub(super) fn head(head: &TreeHead) -> Value {
    json!({ "origin": head.origin, "size": head.size, "root": head.root.to_string() })
}

/// A head for people.
pub(super) fn head_text(head: &TreeHead) -> String {
    format!(
        "{} with {}, root {}",
        head.origin,
        counted(head.size, "record", "records"),
        head.root
    )
}
