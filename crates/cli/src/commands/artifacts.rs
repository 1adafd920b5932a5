//! `annals proof verify --artifacts`: whether artifacts are what their references say.

use annals_dialects::artifacts::{ArtifactCheck, ArtifactReport, CheckedArtifact, check_artifacts};
use serde_json::json;

use crate::cli::Verify;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, counted, short};

/// Artifacts of one answer that are printed.
const SHOWN: usize = 100;

pub(crate) async fn run(args: &Verify, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let check = ArtifactCheck {
        files: args.files.clone(),
        repository: args.repo.clone(),
        now: annals::event_log::now().into(),
    };
    let report = check_artifacts(&annals, &check).await;
    let report = report?;
    show(&report, &mut context.output)?;
    match report.broken {
        0 => Ok(()),
        findings => {
            context.output.flush()?;
            let remedy = "fetch these artifacts again, or record what took their place";
            Err(CliError::findings(findings, remedy))
        }
    }
}

fn show(report: &ArtifactReport, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        let mut value = serde_json::to_value(report).map_err(CliError::json)?;
        if let Some(fields) = value.as_object_mut() {
            fields.insert("ok".to_owned(), json!(report.broken == 0));
        }
        return output.json(&value);
    }
    let named = [
        ("BROKEN", &report.broken_artifacts),
        ("unknown", &report.unknown_artifacts),
    ];
    for (verdict, artifacts) in named {
        for artifact in artifacts.iter().take(SHOWN) {
            output.line(&line(verdict, artifact))?;
        }
        if artifacts.len() > SHOWN {
            output.line(&format!("and more that are {verdict}; --json names 1,000"))?;
        }
    }
    output.line(&format!(
        "{}: {} verified, {} broken, {} unknown; {} expired",
        counted(
            report.verified + report.broken + report.unknown,
            "artifact",
            "artifacts"
        ),
        report.verified,
        report.broken,
        report.unknown,
        report.expired
    ))
}

fn line(verdict: &str, artifact: &CheckedArtifact) -> String {
    let expired = if artifact.expired { ", expired" } else { "" };
    format!(
        "{verdict}{expired}: {} {} {}, {} {}: {}",
        artifact.object_type,
        short(artifact.object_id),
        artifact.field,
        artifact.store,
        artifact.key,
        artifact.reason
    )
}
