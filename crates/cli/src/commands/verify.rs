//! `annals verify`: checks everything that is stored.

use annals::projections::{CatalogueFault, CatalogueReport};
use annals::store_rocks::{Finding, VerifyReport};
use serde_json::{Value, json};

use crate::context::Context;
use crate::error::CliError;
use crate::output::{counted, visible};
use crate::progress;

pub(crate) async fn run(context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let Some(rocks) = annals.rocks() else {
        return Err(CliError::InMemory);
    };
    // So that everything is of one moment. A log whose writer was killed before it said up to
    // where it had come cannot stand still; nobody moves it then.
    let _ = rocks.stand_still();
    let bar = progress::bar("verifying", Some(annals.position().0));
    let report = rocks.verify(&mut |position| bar.set_position(position.0))?;
    bar.finish_and_clear();
    let bar = progress::bar("comparing the catalogue", Some(annals.position().0));
    let catalogue = annals
        .verify_catalogue(&mut |position| bar.set_position(position.0))
        .await?;
    bar.finish_and_clear();
    print(context, &report, &catalogue)?;
    match report.total_findings + catalogue.total_findings {
        0 => Ok(()),
        findings => {
            context.output.flush()?;
            let remedy = remedy(&report);
            Err(CliError::Findings { findings, remedy })
        }
    }
}

/// What mends the log. Findings that are only counted count, too.
fn remedy(report: &VerifyReport) -> &'static str {
    let VerifyReport {
        total_findings: all,
        of_models,
        of_indexes,
        ..
    } = report;
    if all == of_models {
        "make the catalogue anew with `annals rebuild`"
    } else if *all == of_models + of_indexes {
        "make the indexes anew with `annals rebuild --indexes`, or restore the log from a backup"
    } else {
        "restore the log from a backup"
    }
}

fn print(
    context: &mut Context,
    report: &VerifyReport,
    catalogue: &CatalogueReport,
) -> Result<(), CliError> {
    let output = &mut context.output;
    let is_sound = report.is_sound() && catalogue.is_sound();
    if output.is_json() {
        return output.json(&json!({
            "ok": is_sound,
            "position": report.watermark.0,
            "records": report.records,
            "chunks": report.chunks,
            "streams": report.streams,
            "batches": report.batches,
            "blobs": report.blobs,
            "unreferenced_blobs": report.unreferenced_blobs,
            "tree": report.tree,
            "root": report.root.map(|root| root.to_string()),
            "total_findings": report.total_findings,
            "findings": report.findings.iter().map(finding).collect::<Vec<Value>>(),
            "catalogue": {
                "position": catalogue.position.0,
                "rows": catalogue.rows,
                "compared": catalogue.ahead_of.is_none(),
                "total_findings": catalogue.total_findings,
                "findings": catalogue.findings.iter().map(fault).collect::<Vec<Value>>(),
            },
        }));
    }
    for finding in &report.findings {
        output.line(&visible(&finding.to_string()))?;
    }
    for fault in &catalogue.findings {
        output.line(&visible(&fault.to_string()))?;
    }
    let shown = (report.findings.len() + catalogue.findings.len()) as u64;
    let all = report.total_findings + catalogue.total_findings;
    let more = all.saturating_sub(shown);
    if more > 0 {
        output.line(&format!("and {more} more findings"))?;
    }
    let verdict = if is_sound { "sound" } else { "DAMAGED" };
    output.line(&format!(
        "{verdict}: {} of {} in {}, and {}, checked up to position {}",
        counted(report.records, "record", "records"),
        counted(report.streams, "stream", "streams"),
        counted(report.batches, "batch", "batches"),
        counted(report.blobs, "blob", "blobs"),
        report.watermark
    ))?;
    if let Some(unused) = report.unreferenced_blobs.filter(|unused| *unused > 0) {
        output.line(&format!(
            "{} that no record refers to, which is no fault",
            counted(unused, "blob", "blobs")
        ))?;
    }
    if let Some(end) = catalogue.ahead_of {
        output.line(&format!(
            "the catalogue was not compared: it has events up to {}, and readers see {end}, as a writer was \
             killed; the next command that writes settles it",
            catalogue.position
        ))?;
    } else if catalogue.is_sound() {
        output.line(&format!(
            "the catalogue's {} are those that the log gives up to position {}",
            counted(catalogue.rows, "row", "rows"),
            catalogue.position
        ))?;
    }
    match report.root.filter(|_| report.is_sound()) {
        Some(root) if report.tree < report.records => output.line(&format!(
            "root {root}, of which {} of {} are not stored yet: the next command that writes makes them",
            report.records - report.tree,
            counted(report.records, "hash", "hashes"),
        )),
        Some(root) => output.line(&format!("root {root}")),
        None => Ok(()),
    }
}

fn fault(fault: &CatalogueFault) -> Value {
    json!({ "message": fault.to_string() })
}

fn finding(finding: &Finding) -> Value {
    json!({
        "position": finding.position.map(|position| position.0),
        "stream": finding.stream,
        "message": finding.to_string(),
    })
}
