//! `annals share SESSION`: a session as one HTML file, after a second look for secrets.

mod page_texts;
mod second_scan;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use annals::At;
use annals::projections::SessionSummary;
use annals::proof::Detail;
use annals_viewer::HtmlOptions;
use serde_json::json;

use crate::cli::Share;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{bytes, counted, short};
use crate::whole_file::WholeFile;

pub(super) use second_scan::{CleanExport, clean_export, in_words};

/// Names that are tried for a new file.
const NAMES: u32 = 1_000;

pub(super) async fn run(name: &str, args: &Share, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_of_rows().await?;
    let session = annals.conversations().find(name).await?;
    let family = annals.conversations().family(session.id, At::Now).await?;
    // Sub-agents are in the file, too.
    let changed = family.session.files.files;
    let mut options = HtmlOptions::default();
    // The proof of whole records has what no page shows.
    options.detail = Detail::Headers;
    let clean = clean_export(&annals, &session.id.to_string(), options).await?;
    annals.close().await;
    let page = clean.export.html.as_bytes();
    let path = match &args.out {
        Some(path) => path.clone(),
        None => free_name(&session)?,
    };
    let mut file = WholeFile::create(&path)?;
    let written = file.writer().write_all(page);
    written.map_err(|source| CliError::file(&path, source))?;
    file.finish()?;
    let path = std::path::absolute(&path).unwrap_or(path);
    let size = page.len() as u64;
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
            "secrets_removed": clean.replaced,
        }));
    }
    output.fields(&[
        ("session", session.title_or_words()),
        (
            "project",
            session
                .project
                .clone()
                .unwrap_or_else(|| "unknown".to_owned()),
        ),
        ("contains", contents(&session, changed)),
        ("secrets", found(&clean.replaced)),
        ("file", format!("{}, {}", path.display(), bytes(size))),
    ])
}

/// The error of a command that names no session.
pub(super) fn no_session() -> CliError {
    let error = CliError::new(ErrorClass::Usage, "usage", "no session is named");
    error.hint("name a session: annals share @last")
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

fn found(secrets: &BTreeMap<String, u64>) -> String {
    match secrets.is_empty() {
        true => "none found in a second scan".to_owned(),
        false => format!("removed in a second scan: {}", in_words(secrets)),
    }
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
