//! `annals log secrets`: what importers take out.

use std::io::{self, Read};
use std::path::Path;

use annals_dialects::secrets::{Hit, Secrets as Patterns};
use serde::de::IgnoredAny;
use serde_json::json;

use crate::cli::{Scan, Secrets, SecretsAction};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Column, Output, Rows, counted};

/// The most bytes of a file that is looked through: that of an importer's line.
const LIMIT: u64 = 64 * 1024 * 1024;

pub(crate) fn run(args: &Secrets, context: &mut Context) -> Result<(), CliError> {
    match &args.action {
        None => list(&args.redaction.secrets()?, &mut context.output),
        Some(SecretsAction::Scan(args)) => scan(args, &mut context.output),
    }
}

/// The formats that are known.
fn list(secrets: &Patterns, output: &mut Output) -> Result<(), CliError> {
    let kinds = secrets.kinds();
    if output.is_json() {
        return kinds.iter().try_for_each(|kind| output.json(kind));
    }
    let mut rows = Rows::new([Column::left("KIND", 22), Column::left("MATCHES", 10)]);
    rows.print(
        output,
        kinds.into_iter().map(|kind| [kind.kind, kind.matches]),
    )
}

fn scan(args: &Scan, output: &mut Output) -> Result<(), CliError> {
    let secrets = args.redaction.secrets()?;
    let bytes = read(&args.file)?;
    let hits = hits(&secrets, &bytes);
    let file = args.file.display().to_string();
    for hit in &hits {
        let Hit {
            kind, line, field, ..
        } = hit;
        if output.is_json() {
            let hit = json!({ "kind": **kind, "file": file, "line": line, "field": field });
            output.json(&hit)?;
            continue;
        }
        let field = match field.as_str() {
            "" => String::new(),
            field => format!(" ({field})"),
        };
        output.line(&format!("{file}:{line}{field}: {kind}"))?;
    }
    let found = counted(hits.len() as u64, "secret", "secrets");
    output.note(&format!("an import would take out {found}"));
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    let failed = |source| CliError::input(path, source);
    let mut bytes = Vec::new();
    let read = match path.as_os_str() == "-" {
        true => io::stdin().lock().take(LIMIT + 1).read_to_end(&mut bytes),
        false => {
            annals_files::open(path).and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes))
        }
    };
    read.map_err(failed)?;
    if bytes.len() as u64 > LIMIT {
        let reason = "it has more than 64 MiB, the most that is looked through; split it";
        return Err(failed(io::Error::new(io::ErrorKind::FileTooLarge, reason)));
    }
    Ok(bytes)
}

fn hits(secrets: &Patterns, bytes: &[u8]) -> Vec<Hit> {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_json(text) => secrets.redact_json(text).hits,
        _ => secrets.redact_bytes(bytes).hits,
    }
}

/// Whether a text is JSON values one after the other, the first of them no bare word.
fn is_json(text: &str) -> bool {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    text.trim_start().starts_with(['{', '[', '"']) && values.all(|value| value.is_ok())
}
