//! `annals proof checkpoint`: the head of the log's tree, signed.

use std::path::Path;
use std::time::Duration;

use annals::Annals;
use annals::proof::{
    Checkpoint, CheckpointFile, KeepCheckpoints, KeepError, ProofError, Signer, SigningKey,
};
use serde_json::{Value, json};

use super::{files, signed};
use crate::cli;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, counted};
use crate::proof_error::ProofCommandError;
use crate::signals::Signals;

pub(crate) async fn run(args: &cli::Checkpoint, context: &mut Context) -> Result<(), CliError> {
    if let Some(cli::CheckpointAction::Sign(args)) = &args.action {
        return sign(args, context).await;
    }
    let key = args.key.as_deref();
    let key = key.map(|path| files::signing_key(path, &context.output));
    let key = key.transpose()?;
    let file = args.out.as_deref().map(CheckpointFile::at).transpose()?;
    let annals = context.reader()?;
    match file {
        Some(file) if args.follow => {
            let keep = KeepCheckpoints {
                file,
                records: args.every,
                time: Duration::from_secs(args.every_seconds.get()),
                key,
            };
            follow(&annals, &keep, args.out.as_deref(), context).await
        }
        file => once(args, &annals, file, key, &mut context.output).await,
    }
}

/// Makes one checkpoint.
async fn once(
    args: &cli::Checkpoint,
    annals: &Annals,
    file: Option<CheckpointFile>,
    key: Option<SigningKey>,
    output: &mut Output,
) -> Result<(), CliError> {
    let mut checkpoint = annals.proofs().checkpoint(args.at).await?;
    if let (Some(file), Some(path)) = (&file, &args.out) {
        let kept = file.keep(annals, checkpoint, key.as_ref()).await?;
        return written(&kept, path, output);
    }
    if let Some(key) = &key {
        add_signature(&mut checkpoint, key, args.key.as_deref())?;
    }
    print(&checkpoint, output)
}

/// Keeps a file current until interrupted.
async fn follow(
    annals: &Annals,
    keep: &KeepCheckpoints,
    path: Option<&Path>,
    context: &mut Context,
) -> Result<(), CliError> {
    let mut signals = Signals::new()?;
    let path = path.unwrap_or(Path::new(""));
    let note = format!("keeping checkpoints in {}; Ctrl-C ends", path.display());
    context.output.note(&note);
    let output = &mut context.output;
    let kept = annals
        .proofs()
        .keep_checkpoints(keep, signals.next(), |checkpoint| {
            // The file is what counts: it is kept even if standard output was closed.
            let _ = written(checkpoint, path, output).and_then(|()| output.flush());
        });
    Ok(kept.await?)
}

/// Adds a signature.
async fn sign(args: &cli::CheckpointSign, context: &mut Context) -> Result<(), CliError> {
    let key = files::signing_key(&args.key, &context.output)?;
    let mut checkpoint = files::checkpoint(&args.note)?;
    if let Some(since) = &args.since {
        let old = files::checkpoint(since)?;
        let annals = context.reader()?;
        let against = |path: &Path, source: ProofError| ProofCommandError::AgainstLog {
            path: path.to_owned(),
            source,
        };
        let fits = annals.proofs().check(old.head()).await;
        fits.map_err(|error| against(since, error))?;
        let grew = annals.proofs().consistency(old.head(), checkpoint.head());
        grew.await.map_err(|error| against(&args.note, error))?;
    }
    add_signature(&mut checkpoint, &key, Some(&args.note))?;
    let Some(out) = &args.out else {
        return print(&checkpoint, &mut context.output);
    };
    let file = CheckpointFile::at(out)?;
    let added = file.add(checkpoint).await.map_err(|error| match error {
        KeepError::OtherCheckpoint { path } => {
            CliError::from(ProofCommandError::NotThisCheckpoint { path })
        }
        error => error.into(),
    });
    written(&added?, out, &mut context.output)
}

fn add_signature(
    checkpoint: &mut Checkpoint,
    key: &SigningKey,
    path: Option<&Path>,
) -> Result<(), ProofCommandError> {
    let signed = checkpoint.sign(key);
    signed.map_err(|source| ProofCommandError::Checkpoint {
        path: path.unwrap_or(Path::new("-")).to_owned(),
        source,
    })
}

fn fields(checkpoint: &Checkpoint) -> Value {
    let mut value = signed::head(checkpoint.head());
    if let Some(fields) = value.as_object_mut() {
        let signers = checkpoint.signers();
        let signers: Vec<String> = signers.iter().map(Signer::to_string).collect();
        fields.insert("signers".to_owned(), json!(signers));
    }
    value
}

/// Prints the checkpoint itself.
fn print(checkpoint: &Checkpoint, output: &mut Output) -> Result<(), CliError> {
    let note = checkpoint.to_bytes();
    if !output.is_json() {
        return output.content(&note);
    }
    let mut value = fields(checkpoint);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("note".to_owned(), json!(String::from_utf8_lossy(&note)));
    }
    output.json(&value)
}

/// Says what was written.
fn written(checkpoint: &Checkpoint, path: &Path, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        let mut value = fields(checkpoint);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("path".to_owned(), json!(path));
        }
        return output.json(&value);
    }
    let line = format!(
        "{}: the checkpoint of {}, {}",
        path.display(),
        counted(checkpoint.head().size, "record", "records"),
        match checkpoint.signers().as_slice() {
            [] => "not signed".to_owned(),
            signers => {
                let signers: Vec<String> = signers.iter().map(Signer::to_string).collect();
                format!("signed by {}", signers.join(", "))
            }
        }
    );
    output.line(&line)
}
