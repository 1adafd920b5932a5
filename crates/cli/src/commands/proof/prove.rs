//! `annals proof prove`: makes a proof for a reader who does not have the log.

use std::path::Path;

use annals::event_log::Position;
use annals::proof::{Detail, Proof, ProofError, TreeHead};
use annals::{Annals, CameFrom, ObjectRef, ViewError};
use serde_json::json;
use uuid::Uuid;

use super::{files, signed};
use crate::cli::Prove;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, counted};
use crate::progress;
use crate::proof_error::ProofCommandError;

/// The least digits of an id; what has fewer is a position.
const ID_DIGITS: usize = 8;

/// What is to be proved.
enum What {
    Event(Position),
    Object(ObjectRef),
}

pub(crate) async fn run(args: &Prove, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let head = head(args, &annals).await?;
    let proof = match (&args.since, &args.what) {
        (Some(since), _) => {
            let old = files::checkpoint(since)?;
            if args.checkpoint.is_none() {
                // A log that lost its end is not one that was named the wrong way round.
                let fits = annals.proofs().check(old.head()).await;
                fits.map_err(|error| against(since, error))?;
            }
            let proof = annals.proofs().consistency(old.head(), &head).await;
            proof.map_err(|error| against(since, error))?
        }
        (None, what) => {
            let what = find(what.as_deref().unwrap_or_default(), &head, &annals).await?;
            prove(args, &what, &head, &annals).await?
        }
    };
    let file = args.out.as_deref().unwrap_or(Path::new("-"));
    let json = proof.to_json();
    let json = json.map_err(|source| ProofCommandError::ProofFile {
        path: file.to_owned(),
        source,
    })?;
    let Some(out) = &args.out else {
        return context.output.json_text(&String::from_utf8_lossy(&json));
    };
    files::write_proof(out, &json)?;
    written(&proof, out, json.len(), &mut context.output)
}

fn against(path: &Path, source: ProofError) -> ProofCommandError {
    ProofCommandError::AgainstLog {
        path: path.to_owned(),
        source,
    }
}

/// The log that the proof is for.
async fn head(args: &Prove, annals: &Annals) -> Result<TreeHead, CliError> {
    if let Some(path) = &args.checkpoint {
        let checkpoint = files::checkpoint(path)?;
        let fits = annals.proofs().check(checkpoint.head()).await;
        fits.map_err(|error| against(path, error))?;
        return Ok(checkpoint.head().clone());
    }
    Ok(annals.proofs().head(args.at).await?)
}

async fn prove(
    args: &Prove,
    what: &What,
    head: &TreeHead,
    annals: &Annals,
) -> Result<Proof, CliError> {
    let detail = match args.headers_only {
        true => Detail::Headers,
        false => Detail::Records,
    };
    let proof = match what {
        What::Event(position) => annals.proofs().event(*position, head, detail).await,
        What::Object(object) => annals.proofs().object(*object, head, detail).await,
    };
    Ok(proof?)
}

/// Finds out whether a position, an object or an event is meant.
async fn find(text: &str, head: &TreeHead, annals: &Annals) -> Result<What, CliError> {
    if let Ok(position) = text.parse::<u64>() {
        // The last digits of an id may have no letter among them.
        if text.len() < ID_DIGITS || position <= head.size {
            return Ok(What::Event(Position(position)));
        }
    }
    let not_found = match annals.resolve(text).await {
        Ok(object) => return alone(text, object, annals).await,
        Err(error @ ViewError::NotFound { .. }) => error,
        Err(error) => return Err(error.into()),
    };
    let Ok(id) = Uuid::parse_str(text) else {
        return Err(not_found.into());
    };
    match find_event(id, annals).await? {
        Some(position) => Ok(What::Event(position)),
        None => Err(ProofCommandError::NoEvent(not_found).into()),
    }
}

/// An object, unless an event has the id that the object came with: the log gives no id twice.
async fn alone(text: &str, object: ObjectRef, annals: &Annals) -> Result<What, CliError> {
    if Uuid::parse_str(text).is_ok()
        && let Some((_, stream)) = annals.index().place(object.id).await?
        && matches!(
            annals.imports().came_from(stream).await?,
            CameFrom::Adopted(_)
        )
        && let Some(position) = find_event(object.id, annals).await?
    {
        return Err(ProofCommandError::TwoMeanings { object, position }.into());
    }
    Ok(What::Object(object))
}

async fn find_event(id: Uuid, annals: &Annals) -> Result<Option<Position>, CliError> {
    let end = annals.position().0;
    let bar = progress::bar("looking for the event", Some(end));
    let found = annals
        .proofs()
        .find_event(id, |position| bar.set_position(end - position.0.min(end)))
        .await;
    bar.finish_and_clear();
    Ok(found?)
}

/// Says what was written.
fn written(proof: &Proof, path: &Path, bytes: usize, output: &mut Output) -> Result<(), CliError> {
    let (kind, head, events) = match proof {
        Proof::Inclusion(proof) => ("inclusion", &proof.head, proof.events.len() as u64),
        Proof::Consistency(proof) => ("consistency", &proof.new, 0),
    };
    if output.is_json() {
        let mut value = signed::head(head);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("kind".to_owned(), json!(kind));
            fields.insert("events".to_owned(), json!(events));
            fields.insert("path".to_owned(), json!(path));
            fields.insert("bytes".to_owned(), json!(bytes));
        }
        return output.json(&value);
    }
    let what = match proof {
        Proof::Inclusion(proof) => {
            let events = counted(events, "event", "events");
            match proof.object {
                Some(object) => format!("{events} of {object}"),
                None => events,
            }
        }
        Proof::Consistency(proof) => {
            let old = counted(proof.old.size, "record", "records");
            format!("the log has only grown since it had {old}")
        }
    };
    let line = format!(
        "{}: {what}, for {}",
        path.display(),
        signed::head_text(head)
    );
    output.line(&line)
}
