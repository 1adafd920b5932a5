//! `annals export html`: a session or an object as one file, without the secrets that a second scan finds.

use annals::event_log::Position;
use annals::proof::Detail;
use annals::{Annals, SessionError};
use annals_viewer::HtmlOptions;
use serde_json::json;

use super::share_session::{CleanExport, clean_export, in_words};
use crate::cli::ExportHtml;
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, counted};
use crate::whole_file::WholeFile;

pub(super) async fn export(args: &ExportHtml, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_of_rows().await?;
    let mut options = HtmlOptions::default();
    options.at = args.at.map(Position);
    if args.headers_only {
        options.detail = Detail::Headers;
    }
    let name = named(&annals, &args.id).await?;
    let clean = clean_export(&annals, &name, options).await?;
    note_secrets(&clean, &context.output);
    let CleanExport {
        export, replaced, ..
    } = clean;
    if export.left_out > 0 {
        let texts = counted(export.left_out as u64, "text is", "texts are");
        context.output.note(&format!(
            "{texts} too long for a page, and named in their places"
        ));
    }
    let Some(out) = &args.out else {
        return match context.output.is_json() {
            true => context.output.json(&json!({
                "object_id": export.object.id,
                "html": export.html,
                "secrets_removed": replaced,
            })),
            false => context.output.content(export.html.as_bytes()),
        };
    };
    let mut file = WholeFile::create(out)?;
    let written = file.writer().write_all(export.html.as_bytes());
    written.map_err(|source| CliError::file(out, source))?;
    file.finish()?;
    let bytes = export.html.len();
    if context.output.is_json() {
        let object = json!({
            "object_id": export.object.id,
            "path": out,
            "bytes": bytes,
            "size": export.head.size,
            "root": export.head.root.to_string(),
            "secrets_removed": replaced,
        });
        return context.output.json(&object);
    }
    let line = format!(
        "{}: {} as of event {}, {}, with its proof",
        out.display(),
        export.object,
        export.head.size,
        counted(bytes as u64, "byte", "bytes")
    );
    context.output.line(&line)
}

/// Prints what was removed, and that the proof has less for it.
fn note_secrets(clean: &CleanExport, output: &Output) {
    let removed = match clean.replaced.is_empty() {
        true => None,
        false => Some(format!(
            "secrets were removed in a second scan: {}",
            in_words(&clean.replaced)
        )),
    };
    let lacks = clean.lacks_records.then(|| {
        "the proof has the headers of its events alone, as whole records have secrets".to_owned()
    });
    for note in [removed, lacks].into_iter().flatten() {
        output.note(&note);
    }
}

/// Returns the id of a session if no object has the name, or else the name itself.
async fn named(annals: &Annals, name: &str) -> Result<String, CliError> {
    let Err(no_object) = annals.resolve(name).await else {
        return Ok(name.to_owned());
    };
    match annals.conversations().find(name).await {
        Ok(session) => Ok(session.id.to_string()),
        Err(SessionError::NotFound { .. }) if !name.starts_with('@') => Err(no_object.into()),
        Err(error) => Err(error.into()),
    }
}
