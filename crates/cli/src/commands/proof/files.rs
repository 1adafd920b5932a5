//! The files that these commands read and write.

use std::fs;
use std::io::{self, Read, Write as _};
use std::path::Path;

use annals::proof::{Checkpoint, Proof, PublicKey, SigningKey, replace_file};
use annals_files::{OutputTo, output_to};
use zeroize::Zeroizing;

use crate::error::CliError;
use crate::output::Output;
use crate::proof_error::ProofCommandError;
use crate::small_text::open_to_others;
pub(super) use crate::whole_file::outside;

/// The most bytes of a file with keys.
const KEY_BYTES: u64 = 64 * 1024;
/// The most bytes of a checkpoint.
const CHECKPOINT_BYTES: u64 = 1_000_000;

/// Reads a file to its end; - is standard input.
fn read(path: &Path, limit: u64) -> Result<Vec<u8>, ProofCommandError> {
    let failed = |source: io::Error| ProofCommandError::Read {
        path: path.to_owned(),
        source,
    };
    // Of what has room a private key leaves no copies behind.
    let mut bytes = Vec::with_capacity(limit.min(KEY_BYTES) as usize + 1);
    if path == Path::new("-") {
        let stdin = io::stdin().lock();
        stdin.take(limit + 1).read_to_end(&mut bytes)
    } else {
        let file = annals_files::open(path).map_err(failed)?;
        file.take(limit + 1).read_to_end(&mut bytes)
    }
    .map_err(failed)?;
    if bytes.len() as u64 > limit {
        let path = path.to_owned();
        return Err(ProofCommandError::TooLong { path, limit });
    }
    Ok(bytes)
}

fn read_text(path: &Path) -> Result<String, ProofCommandError> {
    // What is not UTF-8 is not a key either, which the reader of keys then says.
    read(path, KEY_BYTES).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads a private key, and says so where others can read it too.
pub(super) fn signing_key(path: &Path, output: &Output) -> Result<SigningKey, CliError> {
    if let Some(mode) = open_to_others(path) {
        let path = path.display();
        output.warn(&format!(
            "others can read the private key {path} (its mode is {mode:04o}), and anyone who has it can sign in its \
             name: make another one, or at least run chmod 600 on it"
        ));
    }
    let bytes = Zeroizing::new(read(path, KEY_BYTES)?);
    // A key is UTF-8.
    let text = std::str::from_utf8(&bytes).unwrap_or_default();
    let key = SigningKey::read(text).map_err(|source| ProofCommandError::Key {
        path: path.to_owned(),
        source,
    });
    Ok(key?)
}

pub(super) fn public_keys(path: &Path) -> Result<Vec<PublicKey>, CliError> {
    let keys = PublicKey::read_all(&read_text(path)?);
    let keys = keys.map_err(|source| ProofCommandError::Key {
        path: path.to_owned(),
        source,
    });
    Ok(keys?)
}

pub(super) fn checkpoint(path: &Path) -> Result<Checkpoint, CliError> {
    let checkpoint = Checkpoint::read(&read(path, CHECKPOINT_BYTES)?);
    let checkpoint = checkpoint.map_err(|source| ProofCommandError::Checkpoint {
        path: path.to_owned(),
        source,
    });
    Ok(checkpoint?)
}

pub(super) fn proof(path: &Path) -> Result<Proof, CliError> {
    let proof = Proof::read(&read(path, Proof::MOST_BYTES as u64)?);
    let proof = proof.map_err(|source| ProofCommandError::ProofFile {
        path: path.to_owned(),
        source,
    });
    Ok(proof?)
}

/// Puts a proof at a path where nothing is, or another proof.
pub(super) fn write_proof(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let is_file = fs::metadata(path).is_ok_and(|found| found.is_file());
    if is_file && proof(path).is_err() {
        let path = path.to_owned();
        return Err(ProofCommandError::NotAProof { path }.into());
    }
    write(path, bytes)
}

/// Puts something at a path outside every log.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    outside(path)?;
    let written = output_to(path).and_then(|to| match to {
        OutputTo::NewFile => replace_file(path, bytes),
        OutputTo::Stream(mut stream) => stream.write_all(bytes),
    });
    Ok(written.map_err(|source| unwritable(path, source))?)
}

fn unwritable(path: &Path, source: io::Error) -> ProofCommandError {
    ProofCommandError::Write {
        path: path.to_owned(),
        source,
    }
}
