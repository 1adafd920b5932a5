//! `annals share SESSION`: a session as one HTML file, after a second look for secrets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use annals::projections::SessionSummary;
use annals::proof::Detail;
use annals::{Annals, At};
use annals_dialects::secrets::Secrets;
use annals_viewer::{HtmlOptions, export_html};
use serde_json::json;

use super::sessions;
use crate::cli::Share;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{bytes, counted, short};
use crate::whole_file::WholeFile;

/// Names that are tried for a new file.
const NAMES: u32 = 1_000;

pub(super) async fn run(name: &str, args: &Share, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let session = sessions::find(&annals, name).await?;
    let family = annals.conversations().family(session.id, At::Now).await?;
    // Sub-agents are in the file, too.
    let changed = family.session.files.files;
    let html = session_html(&annals, &session).await?;
    annals.close().await;
    let redacted = Secrets::standard().redact(&html);
    let mut secrets: BTreeMap<&str, u64> = BTreeMap::new();
    for hit in &redacted.hits {
        *secrets.entry(&hit.kind).or_default() += 1;
    }
    let path = match &args.out {
        Some(path) => path.clone(),
        None => free_name(&session)?,
    };
    let mut file = WholeFile::create(&path)?;
    let written = file.writer().write_all(redacted.content.as_bytes());
    written.map_err(|source| CliError::file(&path, source))?;
    file.finish()?;
    let path = std::path::absolute(&path).unwrap_or(path);
    let size = redacted.content.len() as u64;
    let output = &mut context.output;
    if output.is_json() {
        return output.json(&json!({
            "id": session.id,
            "path": path.display().to_string(),
            "bytes": size,
            "prompts": session.counts.prompts,
            "answers": session.counts.answers,
            "tool_calls": session.counts.tool_calls,
            "files": changed,
            "secrets_removed": secrets,
        }));
    }
    output.fields(&[
        (
            "session",
            session
                .title
                .clone()
                .unwrap_or_else(|| "without a title".to_owned()),
        ),
        (
            "project",
            session
                .project
                .clone()
                .unwrap_or_else(|| "unknown".to_owned()),
        ),
        ("contains", contents(&session, changed)),
        ("secrets", found(&secrets)),
        ("file", format!("{}, {}", path.display(), bytes(size))),
    ])
}

/// The session as one HTML file.
async fn session_html(annals: &Annals, session: &SessionSummary) -> Result<String, CliError> {
    let mut options = HtmlOptions::default();
    // The proof of whole records has what no page shows, in a form that no scan for secrets reads.
    options.detail = Detail::Headers;
    let export = export_html(annals, &session.id.to_string(), options).await?;
    Ok(export.html)
}

fn contents(session: &SessionSummary, changed: u64) -> String {
    let counts = &session.counts;
    [
        counted(counts.prompts, "prompt", "prompts"),
        counted(counts.answers, "answer", "answers"),
        counted(counts.tool_calls, "tool call", "tool calls"),
        counted(changed, "changed file", "changed files"),
    ]
    .join(", ")
}

fn found(secrets: &BTreeMap<&str, u64>) -> String {
    if secrets.is_empty() {
        return "none found in a second scan".to_owned();
    }
    let kinds: Vec<String> = secrets
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    format!("removed in a second scan: {}", kinds.join(", "))
}

/// A name in the current folder that no file has.
fn free_name(session: &SessionSummary) -> Result<PathBuf, CliError> {
    let stem = format!("session-{}", short(session.id));
    let named = (1..NAMES).map(|number| match number {
        1 => PathBuf::from(format!("{stem}.html")),
        number => PathBuf::from(format!("{stem}-{number}.html")),
    });
    let mut free = named.filter(|path| !Path::exists(path));
    free.next().ok_or_else(|| {
        let message = format!("there are {NAMES} files {stem}*.html in this folder already");
        CliError::new(ErrorClass::Refused, "no_free_name", message).hint("name one with --out")
    })
}
