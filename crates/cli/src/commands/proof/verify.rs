//! `annals proof verify` with checkpoints and proofs.

use std::collections::HashMap;
use std::path::Path;

use annals::domain::Timestamp;
use annals::event_log::{Classified, Header, Record};
use annals::projections::{Entry, HistoryEntry, history_entry};
use annals::proof::{EventProof, Finding, InclusionProof, Proof, PublicKey, SinceReport};
use annals::wire::{self, StructureJson};
use serde_json::{Value, json};

use super::files;
use super::signed::{self, Signed, head_text};
use crate::cli::Verify;
use crate::commands::verify::{self, Verified};
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Rows, counted, when};
use crate::progress;
use crate::proof_error::ProofCommandError;

/// Verifies as the arguments ask.
pub(crate) async fn run(args: &Verify, context: &mut Context) -> Result<(), CliError> {
    let keys = signed::keys(&args.keys)?;
    match (&args.proof, &args.checkpoint, &args.since) {
        (Some(proof), Some(checkpoint), since) => {
            check_proof(proof, checkpoint, since.as_deref(), &keys, context)
        }
        (_, checkpoint, Some(since)) => {
            check_since(since, checkpoint.as_deref(), &keys, context).await
        }
        (_, Some(checkpoint), None) => check_all(checkpoint, &keys, context).await,
        (_, None, None) if keys.is_empty() => verify::run(context).await,
        (_, None, None) => Err(ProofCommandError::KeyAlone.into()),
    }
}

/// Checks a proof without a log.
fn check_proof(
    path: &Path,
    checkpoint: &Path,
    since: Option<&Path>,
    keys: &[PublicKey],
    context: &mut Context,
) -> Result<(), CliError> {
    let proof = files::proof(path)?;
    let checkpoint = signed::signed(checkpoint, keys)?;
    let since = since.map(|since| signed::signed(since, keys)).transpose()?;
    let checked = proof.check(checkpoint.head());
    checked.map_err(|source| ProofCommandError::Proof {
        path: path.to_owned(),
        source,
    })?;
    if let Some(since) = &since {
        demand_beginning(&proof, path, since)?;
    }
    let is_verbose = context.is_verbose;
    let output = &mut context.output;
    if output.is_json() {
        return output.json(&proof_json(&proof, &checkpoint, since.as_ref()));
    }
    match &proof {
        Proof::Inclusion(proof) => {
            output.line(&proved(proof))?;
            checkpoint.print(output)?;
            return match is_verbose {
                true => print_events(proof, output),
                false => output.line(&of_events(proof)),
            };
        }
        Proof::Consistency(proof) => {
            output.line(&format!("proved: {} has only grown", head_text(&proof.new)))?;
            let known = match since {
                Some(_) => "which is the checkpoint of --since",
                None => "compare it with the checkpoint that you have, or give that to --since",
            };
            output.line(&format!("since: {}: {known}", head_text(&proof.old)))?;
        }
    }
    checkpoint.print(output)?;
    since.map_or(Ok(()), |since| since.print(output))
}

/// Demands that a proof begins where a checkpoint is.
fn demand_beginning(proof: &Proof, path: &Path, since: &Signed) -> Result<(), ProofCommandError> {
    let Proof::Consistency(proof) = proof else {
        let path = path.to_owned();
        return Err(ProofCommandError::NoConsistency { path });
    };
    if proof.old == *since.head() {
        return Ok(());
    }
    Err(ProofCommandError::OtherBeginning {
        path: path.to_owned(),
        expected: since.head().size,
        found: proof.old.size,
    })
}

/// The verdict.
fn proved(proof: &InclusionProof) -> String {
    let events = counted(proof.events.len() as u64, "event", "events");
    let what = match proof.object {
        Some(object) => format!("{events} of {object}"),
        None => events,
    };
    format!("proved: {what} in {}", head_text(&proof.head))
}

/// Which events they are, in a line.
fn of_events(proof: &InclusionProof) -> String {
    let header_only = proof.events.iter().filter(|it| it.record.is_none()).count();
    let header_only = match header_only {
        0 => String::new(),
        some => format!(
            ", {} by the header only",
            counted(some as u64, "event", "events")
        ),
    };
    let place = |event: &EventProof| {
        let recorded = event.header().ok();
        let recorded = recorded.map(|header| when(header.recorded_at().into()));
        format!("{} ({})", event.position, recorded.unwrap_or_default())
    };
    let ends = match proof.events.as_slice() {
        [] => return "no events".to_owned(),
        [only] => format!("event {}", place(only)),
        [first, .., last] => format!("events {} to {}", place(first), place(last)),
    };
    format!("{ends}{header_only}; -v lists them")
}

fn print_events(proof: &InclusionProof, output: &mut Output) -> Result<(), CliError> {
    let mut rows = Rows::new([
        Column::right("POSITION", 8),
        Column::left("RECORDED", 20),
        Column::left("WHO", 12),
        Column::left("TYPE", 12),
        Column::left("WHAT", 10),
    ]);
    rows.print(output, proof.events.iter().filter_map(row))
}

fn row(event: &EventProof) -> Option<[String; 5]> {
    // A proof that was checked has headers that can be read.
    let header = event.header().ok()?;
    let actor = header.actor();
    Some([
        event.position.to_string(),
        when(header.recorded_at().into()),
        format!("{} {}", actor.kind, actor.id),
        header.event_type().to_owned(),
        event.record.as_ref().map_or_else(
            || "(header only)".to_owned(),
            |record| told(record).map(|told| told.summary).unwrap_or_default(),
        ),
    ])
}

/// What an event says, if all of it is at hand: content over 4 KiB is not.
fn told(record: &Record) -> Option<HistoryEntry> {
    let decoded = wire::decode(record).ok()?;
    let entry = Entry::of(decoded, &HashMap::new()).ok()?;
    Some(history_entry(&entry))
}

/// The structure, which can be read without the content.
fn structure(record: &Record) -> Option<Value> {
    let decoded = wire::decode(record).ok()?;
    serde_json::to_value(StructureJson(&decoded.event)).ok()
}

fn proof_json(proof: &Proof, checkpoint: &Signed, since: Option<&Signed>) -> Value {
    let checkpoint = checkpoint.to_json();
    match proof {
        Proof::Inclusion(proof) => json!({
            "ok": true,
            "kind": "inclusion",
            "checkpoint": checkpoint,
            "object": proof.object.map(|object| json!({
                "kind": object.kind.object_type(), "id": object.id,
            })),
            "events": proof.events.iter().filter_map(event_json).collect::<Vec<Value>>(),
        }),
        Proof::Consistency(proof) => json!({
            "ok": true,
            "kind": "consistency",
            "checkpoint": checkpoint,
            "old": signed::head(&proof.old),
            "since": since.map(Signed::to_json),
        }),
    }
}

fn event_json(event: &EventProof) -> Option<Value> {
    let header: Header = event.header().ok()?;
    let actor = header.actor();
    let record = event.record.as_ref();
    let told = record.and_then(told);
    let summary = told.as_ref().map(|told| told.summary.clone());
    let shown = told
        .map(|told| told.event)
        .or_else(|| record.and_then(structure));
    Some(json!({
        "position": event.position.0,
        "stream": header.stream(),
        "version": header.version().0,
        "event_id": header.event_id(),
        "event_type": header.event_type(),
        "occurred_at": Timestamp::from(header.occurred_at()),
        "recorded_at": Timestamp::from(header.recorded_at()),
        "actor": { "kind": actor.kind, "id": actor.id },
        "whole_record": record.is_some(),
        "event": shown,
        "summary": summary,
    }))
}

/// Checks the whole log, and that it is that of a checkpoint.
async fn check_all(path: &Path, keys: &[PublicKey], context: &mut Context) -> Result<(), CliError> {
    let checkpoint = signed::signed(path, keys)?;
    let annals = context.reader()?;
    verify::stand_still(&annals);
    let fits = annals.proofs().check(checkpoint.head()).await;
    let fits = fits.map_err(|source| ProofCommandError::AgainstLog {
        path: path.to_owned(),
        source,
    });
    // What else is wrong is looked for all the same: it may say why.
    let verified = match (verify::check(&annals, context).await, &fits) {
        (Ok(verified), _) => verified,
        (Err(_), Err(_)) => return Ok(fits?),
        (Err(error), Ok(())) => return Err(error),
    };
    let (is_verbose, output) = (context.is_verbose, &mut context.output);
    if output.is_json() {
        output.json(&all_json(&verified, &checkpoint, fits.as_ref().err()))?;
    } else {
        print_all(&verified, &checkpoint, (fits.is_ok(), is_verbose), output)?;
    }
    output.flush()?;
    match fits {
        // That a log cannot be compared is less than that it is damaged.
        Err(error) if error.class() == ErrorClass::Corrupt || verified.is_sound() => {
            Err(error.into())
        }
        _ => verified.demand_sound(),
    }
}

/// All that was found, in one object: it is in order if the log is sound and that of
/// the checkpoint.
fn all_json(
    verified: &Verified,
    checkpoint: &Signed,
    mismatch: Option<&ProofCommandError>,
) -> Value {
    let mut value = verified.to_json();
    if let Some(fields) = value.as_object_mut() {
        let is_ok = verified.is_ok() && mismatch.is_none();
        fields.insert("ok".to_owned(), json!(is_ok));
        fields.insert("checkpoint".to_owned(), fits_json(checkpoint, mismatch));
    }
    value
}

/// A checkpoint, and whether the log is its.
fn fits_json(checkpoint: &Signed, mismatch: Option<&ProofCommandError>) -> Value {
    let mut value = checkpoint.to_json();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("fits".to_owned(), json!(mismatch.is_none()));
        let message = mismatch.map(ToString::to_string);
        fields.insert("misfit".to_owned(), json!(message));
    }
    value
}

fn print_all(
    verified: &Verified,
    checkpoint: &Signed,
    (fits, is_verbose): (bool, bool),
    output: &mut Output,
) -> Result<(), CliError> {
    let verdict = match (verified.is_sound(), fits) {
        (true, false) => "NOT THE LOG OF THE CHECKPOINT",
        _ => verified.verdict(),
    };
    verified.print(verdict, is_verbose, output)?;
    if fits {
        print_fits(checkpoint, verified.is_sound(), output)?;
    }
    Ok(())
}

fn print_fits(checkpoint: &Signed, is_sound: bool, output: &mut Output) -> Result<(), CliError> {
    let what = match is_sound {
        true => "the log is that of the checkpoint",
        // The hashes of a tree can be whole where records are not.
        false => "the stored hashes, not the records, are those of the checkpoint",
    };
    let line = format!("{what}: {}", head_text(checkpoint.head()));
    output.line(&line)?;
    checkpoint.print(output)
}

/// Checks what is new since a checkpoint.
async fn check_since(
    path: &Path,
    checkpoint: Option<&Path>,
    keys: &[PublicKey],
    context: &mut Context,
) -> Result<(), CliError> {
    let since = signed::signed(path, keys)?;
    let checkpoint = checkpoint
        .map(|path| signed::signed(path, keys))
        .transpose()?;
    let annals = context.reader()?;
    // During a redaction a record could be read before it and its blob after it.
    verify::stand_still(&annals);
    if let Some(checkpoint) = &checkpoint {
        let fits = annals.proofs().check(checkpoint.head()).await;
        fits.map_err(|source| ProofCommandError::AgainstLog {
            path: checkpoint.path.clone(),
            source,
        })?;
    }
    let bar = progress::bar("verifying", Some(annals.position().0));
    let report = annals
        .proofs()
        .check_since(since.head(), |position| bar.set_position(position.0))
        .await;
    bar.finish_and_clear();
    let report = report.map_err(|source| ProofCommandError::AgainstLog {
        path: path.to_owned(),
        source,
    })?;
    let output = &mut context.output;
    if output.is_json() {
        output.json(&since_json(&report, &since, checkpoint.as_ref()))?;
    } else {
        print_since(&report, &since, output)?;
        if let Some(checkpoint) = &checkpoint {
            print_fits(checkpoint, report.total_findings == 0, output)?;
        }
    }
    match report.total_findings {
        0 => Ok(()),
        findings => {
            output.flush()?;
            Err(ProofCommandError::Findings { findings }.into())
        }
    }
}

/// What was found, with the checkpoint that the log fits as well, if there is one.
fn since_json(report: &SinceReport, since: &Signed, checkpoint: Option<&Signed>) -> Value {
    let mut value = json!({
        "ok": report.is_sound(),
        "since": since.to_json(),
        "now": signed::head(&report.to),
        "records": report.records,
        "total_findings": report.total_findings,
        "findings": report.findings.iter().map(finding).collect::<Vec<Value>>(),
    });
    if let (Some(fields), Some(checkpoint)) = (value.as_object_mut(), checkpoint) {
        fields.insert("checkpoint".to_owned(), fits_json(checkpoint, None));
    }
    value
}

fn print_since(report: &SinceReport, since: &Signed, output: &mut Output) -> Result<(), CliError> {
    for finding in &report.findings {
        output.line(&finding.to_string())?;
    }
    let more = report
        .total_findings
        .saturating_sub(report.findings.len() as u64);
    if more > 0 {
        output.line(&format!("and {more} more findings"))?;
    }
    let verdict = match report.is_sound() {
        true => "sound",
        false => "DAMAGED",
    };
    output.line(&format!(
        "{verdict}: {} since the checkpoint of {}, whose log is the beginning of {}",
        counted(report.records, "record", "records"),
        counted(report.from.size, "record", "records"),
        head_text(&report.to)
    ))?;
    since.print(output)
}

fn finding(finding: &Finding) -> Value {
    json!({
        "position": finding.position.map(|position| position.0),
        "message": finding.to_string(),
    })
}
