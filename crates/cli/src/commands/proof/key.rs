//! `annals proof key`: keys that sign checkpoints.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use annals::proof::{PublicKey, SigningKey};
use serde_json::json;

use super::files;
use crate::cli::{KeyGenerate, KeyShow};
use crate::context::Context;
use crate::error::CliError;
use crate::proof_error::ProofCommandError;

/// Who may read a private key: its owner.
const PRIVATE: u32 = annals_files::OWN_FILE;
/// Who may read a public key, as far as the user's mask allows: every user. Its owner alone may
/// change it.
const PUBLIC: u32 = 0o644;

/// Makes a key.
pub(crate) fn generate(args: &KeyGenerate, context: &mut Context) -> Result<(), CliError> {
    let name = match &args.name {
        Some(name) => name.clone(),
        None => {
            let stem = args.file.file_stem().unwrap_or_default();
            stem.to_string_lossy().into_owned()
        }
    };
    let key = SigningKey::generate(&name).map_err(|source| ProofCommandError::Key {
        path: args.file.clone(),
        source,
    })?;
    let public = key.public_key();
    let mut public_file = OsString::from(&args.file);
    public_file.push(".pub");
    let public_file = PathBuf::from(public_file);
    files::outside(&args.file)?;
    create(&args.file, PRIVATE, key.to_text())?;
    if let Err(error) = create(&public_file, PUBLIC, public.to_text()) {
        // A private key without its public half is of no use.
        let _ = fs::remove_file(&args.file);
        return Err(error.into());
    }
    print(&public, Some(&public_file), context)
}

/// Prints the public key of a private one.
pub(crate) fn show(args: &KeyShow, context: &mut Context) -> Result<(), CliError> {
    let key = files::signing_key(&args.file, &context.output)?;
    print(&key.public_key(), None, context)
}

fn print(key: &PublicKey, file: Option<&Path>, context: &mut Context) -> Result<(), CliError> {
    let output = &mut context.output;
    if !output.is_json() {
        return output.line(key.to_text());
    }
    let mut value = json!({
        "name": key.name(),
        "id": format!("{:08x}", key.id()),
        "public_key": key.to_text(),
    });
    if let (Some(file), Some(fields)) = (file, value.as_object_mut()) {
        fields.insert("public_key_file".to_owned(), json!(file));
    }
    output.json(&value)
}

/// Writes a line into a file that is not there yet.
fn create(path: &Path, mode: u32, line: &str) -> Result<(), ProofCommandError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::AlreadyExists => ProofCommandError::KeyExists {
            path: path.to_owned(),
        },
        _ => ProofCommandError::Write {
            path: path.to_owned(),
            source,
        },
    };
    let mut options = OpenOptions::new();
    let file: io::Result<File> = options.write(true).create_new(true).mode(mode).open(path);
    let mut file = file.map_err(failed)?;
    let written = writeln!(file, "{line}").and_then(|()| file.sync_all());
    written.map_err(|error| {
        let _ = fs::remove_file(path);
        failed(error)
    })
}
