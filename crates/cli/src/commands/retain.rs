//! `annals log retain`: blobs that the log names stay in a git repository.

use annals_dialects::retention::{
    MissingBlob, RetentionReport, RetentionRequest, Strategy, retain,
};

use crate::cli::{Retain, RetainAs};
use crate::context::Context;
use crate::error::{CliError, KeepingError};
use crate::output::{Output, counted, short};

/// Blobs that are named one by one.
const SHOWN: usize = 20;

pub(crate) async fn run(args: &Retain, context: &mut Context) -> Result<(), CliError> {
    if args.protect && args.how != RetainAs::CustomGc {
        return Err(KeepingError::OnlyWithCustomGc.into());
    }
    let annals = context.reader()?;
    let mut objects = Vec::new();
    for id in &args.ids {
        objects.push(super::named::object(&annals, id).await?.id);
    }
    let request = RetentionRequest::new(args.repo.clone(), args.how.into())
        .with_objects(objects)
        .with_release(args.release)
        .with_unowned(args.unowned)
        .with_protect(args.protect);
    let report = retain(&annals, request).await;
    let report = report?;
    show(&report, &mut context.output)?;
    match report.missing.len() {
        0 => Ok(()),
        _ if args.allow_missing => Ok(()),
        missing => Err(KeepingError::PartlyRetained { missing }.into()),
    }
}

fn show(report: &RetentionReport, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        return output.json(report);
    }
    if report.strategy == Strategy::CustomGc {
        for id in &report.ids {
            output.line(&id.to_string())?;
        }
        name_missing(&report.missing, output);
        return Ok(());
    }
    for line in lines(report) {
        output.line(&line)?;
    }
    name_missing(&report.missing, output);
    Ok(())
}

fn lines(report: &RetentionReport) -> Vec<String> {
    let blobs = |n: usize| counted(n as u64, "blob", "blobs");
    let place = match report.strategy {
        Strategy::Refs => "refs under refs/ai/blobs/",
        Strategy::Orphan => "the commit refs/ai/uploads",
        Strategy::KeepPack => "kept packs",
        Strategy::CustomGc => "a custom gc",
    };
    let mut lines = Vec::new();
    if report.release {
        lines.push(format!(
            "{} released from {place}; a gc removes what nothing else reaches",
            blobs(report.changed)
        ));
        if !report.shared.is_empty() {
            lines.push(format!(
                "{} kept, since other objects of the log name them",
                blobs(report.shared.len())
            ));
        }
        if report.held_by_others > 0 {
            lines.push(format!(
                "{} still held by entries of other logs or tools, or of older versions; --unowned \
                 releases those without a log",
                blobs(report.held_by_others)
            ));
        }
    } else {
        lines.push(format!(
            "{} kept by {place}, {} already",
            blobs(report.changed + report.unchanged),
            report.unchanged
        ));
        if report.written > 0 {
            lines.push(format!("{} written from the log", blobs(report.written)));
        }
        if !report.removed.is_empty() {
            lines.push(format!(
                "{} not kept, since their content was removed from the log; a release removes what keeps them",
                blobs(report.removed.len())
            ));
        }
        if report.other_hash > 0 {
            lines.push(format!(
                "{} under ids of the repository's hash, which is not the log's",
                blobs(report.other_hash)
            ));
        }
    }
    lines.extend(
        report
            .holder
            .as_ref()
            .map(|holder| format!("held by {holder}")),
    );
    lines
}

fn name_missing(missing: &[MissingBlob], output: &mut Output) {
    for one in missing.iter().take(SHOWN) {
        let place = &one.named_by;
        output.note(&format!(
            "blob {} of {} {}, number {} {}: {}",
            one.blob,
            place.kind,
            short(place.id),
            place.number,
            place.label,
            one.reason
        ));
    }
    if missing.len() > SHOWN {
        output.note(&format!("and {} more", missing.len() - SHOWN));
    }
}
