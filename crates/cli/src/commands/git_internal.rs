//! `annals export git-internal` and `annals show --as git-internal`.

use annals::projections::ObjectView;
use annals::{Annals, At};
use annals_dialects::Progress;
use annals_dialects::git_internal::{
    ExportReport, HashKind, Rendered, each_object, object_hash, render,
};

use crate::cli::{ExportGitInternal, ObjectHash};
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Output, counted, say_json};
use crate::progress;

/// Writes objects, one a line.
pub(crate) async fn export(
    args: &ExportGitInternal,
    context: &mut Context,
) -> Result<(), CliError> {
    let annals = context.reader()?;
    let mut writer = Writer {
        output: &mut context.output,
        relaxed: args.relaxed,
        report: ExportReport::default(),
        failed: None,
    };
    if args.ids.is_empty() {
        all(&annals, &mut writer).await?;
    } else {
        let end = At::Position(annals.position());
        for id in &args.ids {
            let object = annals.resolve(id).await?;
            let view = annals.view_at(object.id, end).await?;
            writer.write(&render(&view)?);
        }
    }
    writer.end()
}

async fn all(annals: &Annals, writer: &mut Writer<'_>) -> Result<(), CliError> {
    let bar = progress::bar("exporting", Some(annals.position().0));
    let mut shown = |progress: Progress| bar.set_position(progress.done);
    let written = each_object(annals, &mut shown, &mut |rendered| writer.write(&rendered)).await;
    bar.finish_and_clear();
    Ok(written?)
}

struct Writer<'a> {
    output: &'a mut Output,
    relaxed: bool,
    report: ExportReport,
    failed: Option<CliError>,
}

impl Writer<'_> {
    fn write(&mut self, rendered: &Rendered) {
        if self.failed.is_none() && self.report.admit(rendered, self.relaxed) {
            self.failed = self.output.json_content(&rendered.json).err();
        }
    }

    /// The report goes to standard error, for the objects are the output.
    fn end(self) -> Result<(), CliError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.output.flush()?;
        let report = self.report;
        if self.output.is_json() {
            let json = serde_json::to_string(&report).map_err(CliError::json)?;
            say_json(&json);
        } else {
            for object in &report.problems {
                let what = if self.relaxed { "written" } else { "refused" };
                let problems = object.problems.join("; ");
                let (kind, id) = (&object.object_type, object.object_id);
                self.output
                    .note(&format!("{what}: {kind} {id}: {problems}"));
            }
            for object in &report.lost {
                let (kind, id) = (&object.object_type, object.object_id);
                let lost = object.lost.join("; ");
                self.output.note(&format!("left out: {kind} {id}: {lost}"));
            }
        }
        match report.refused {
            0 => Ok(()),
            refused => {
                let refused = counted(refused, "object", "objects");
                let message = format!(
                    "{refused} could not be written for git-internal to read; they are named above. --relaxed \
                     writes them all the same"
                );
                Err(CliError::new(
                    ErrorClass::Failed,
                    "partly_exported",
                    message,
                ))
            }
        }
    }
}

/// Shows an object as git-internal writes it, or its hash.
pub(crate) fn show(
    view: &ObjectView,
    hash: Option<ObjectHash>,
    context: &mut Context,
) -> Result<(), CliError> {
    let rendered = render(view)?;
    for problem in &rendered.problems {
        context
            .output
            .note(&format!("git-internal cannot read it: {problem}"));
    }
    for lost in &rendered.lost {
        context.output.note(&format!("left out: {lost}"));
    }
    let Some(hash) = hash else {
        return context.output.json_content(&rendered.json);
    };
    let hash = match hash {
        ObjectHash::Sha1 => HashKind::Sha1,
        ObjectHash::Sha256 => HashKind::Sha256,
    };
    match object_hash(rendered.kind, &rendered.json, hash) {
        Some(oid) if context.output.is_json() => context
            .output
            .json(&serde_json::json!({ "object_id": rendered.id, "hash": oid.to_string() })),
        Some(oid) => context.output.line(&oid.to_string()),
        None => {
            let id = rendered.id;
            let message = format!("{id} has no SHA-1: it is made to collide with something else");
            Err(CliError::new(ErrorClass::Unsupported, "no_sha1", message).hint("ask for sha256"))
        }
    }
}
