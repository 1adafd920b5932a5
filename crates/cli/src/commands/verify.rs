//! `annals verify`: checks everything that is stored.

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
    let bar = progress::bar("verifying", Some(annals.position().0));
    let report = rocks.verify(&mut |position| bar.set_position(position.0))?;
    bar.finish_and_clear();
    print(context, &report)?;
    match report.total_findings {
        0 => Ok(()),
        findings => {
            context.output.flush()?;
            Err(CliError::Findings { findings })
        }
    }
}

fn print(context: &mut Context, report: &VerifyReport) -> Result<(), CliError> {
    let output = &mut context.output;
    if output.is_json() {
        return output.json(&json!({
            "ok": report.is_sound(),
            "position": report.watermark.0,
            "records": report.records,
            "chunks": report.chunks,
            "streams": report.streams,
            "batches": report.batches,
            "blobs": report.blobs,
            "tree": report.tree,
            "root": report.root.map(|root| root.to_string()),
            "total_findings": report.total_findings,
            "findings": report.findings.iter().map(finding).collect::<Vec<Value>>(),
        }));
    }
    for finding in &report.findings {
        output.line(&visible(&finding.to_string()))?;
    }
    let more = report
        .total_findings
        .saturating_sub(report.findings.len() as u64);
    if more > 0 {
        output.line(&format!("and {more} more findings"))?;
    }
    let verdict = if report.is_sound() {
        "sound"
    } else {
        "DAMAGED"
    };
    output.line(&format!(
        "{verdict}: {} of {} in {}, and {}, checked up to position {}",
        counted(report.records, "record", "records"),
        counted(report.streams, "stream", "streams"),
        counted(report.batches, "batch", "batches"),
        counted(report.blobs, "blob", "blobs"),
        report.watermark
    ))?;
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

fn finding(finding: &Finding) -> Value {
    json!({
        "position": finding.position.map(|position| position.0),
        "stream": finding.stream,
        "message": finding.to_string(),
    })
}
