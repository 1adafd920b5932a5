//! `annals export annals` and `annals import annals`: the log itself.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use std::path::Path;

use annals::domain::{ActorKind, ActorRef};
use annals::event_log::Position;
use annals::{Annals, OpenOptions};
use annals_dialects::Progress;
use annals_dialects::verbatim::{
    self, VerbatimExportError, VerbatimExported, VerbatimImported, VerbatimSource,
};
use serde_json::json;

use crate::cli::{ExportAnnals, ImportAnnals};
use crate::context::Context;
use crate::error::CliError;
use crate::output::counted;
use crate::progress;
use crate::whole_file::WholeFile;

/// Bytes of an export that are read at once.
const BUFFER: usize = 256 * 1024;

/// Writes the log.
pub(crate) async fn export(args: &ExportAnnals, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader()?;
    let from = Position(args.from);
    let records = annals.position().next().0.saturating_sub(from.0.max(1));
    let bar = progress::bar("exporting", Some(records));
    let mut shown = |progress: Progress| bar.set_position(progress.done);
    if is_dash(&args.file) {
        let mut out = context.output.json_writer();
        let exported = verbatim::export(&annals, from, &mut out, &mut shown).await;
        bar.finish_and_clear();
        return exported.map(drop).map_err(|error| match error {
            VerbatimExportError::Write(source) => CliError::output(source),
            error => error.into(),
        });
    }
    let mut file = WholeFile::create(&args.file)?;
    let exported = verbatim::export(&annals, from, file.writer(), &mut shown).await;
    bar.finish_and_clear();
    let exported = exported.map_err(|error| match error {
        VerbatimExportError::Write(source) => CliError::file(&args.file, source),
        error => error.into(),
    })?;
    file.finish()?;
    exported_to(&args.file, &exported, context)
}

fn exported_to(
    file: &Path,
    exported: &VerbatimExported,
    context: &mut Context,
) -> Result<(), CliError> {
    let output = &mut context.output;
    if output.is_json() {
        return output.json(&json!({
            "path": file,
            "from": exported.from.0,
            "to": exported.to.0,
            "records": exported.records,
            "blobs": exported.blobs,
            "root": exported.root.to_string(),
        }));
    }
    output.line(&format!(
        "wrote {} and {} to {}: the log up to position {}",
        counted(exported.records, "record", "records"),
        counted(exported.blobs, "blob", "blobs"),
        file.display(),
        exported.to,
    ))?;
    output.line(&format!("root {}", exported.root))
}

/// Copies an export into the log.
pub(crate) async fn import(args: &ImportAnnals, context: &mut Context) -> Result<(), CliError> {
    let importer = args.who.importer(&context.output)?;
    let is_a_persons = importer.kind == ActorKind::Human;
    let (mut source, again) = open(&args.file, !is_a_persons)?;
    if let Some(again) = again {
        examine(source, &importer, context).await?;
        source = again.open()?;
    }
    let (from, id) = (source.header().from, source.header().log_id);
    // What goes on behind other records goes into a log that is there.
    let options = OpenOptions::new().create(from == 1).log_id(id);
    let annals = context.open(options)?.imported_by(&importer);
    let bar = progress::bar("importing", Some(source.header().records()));
    let mut shown = |progress: Progress| bar.set_position(progress.done);
    let imported = verbatim::import(&annals, source, &mut shown).await;
    bar.finish_and_clear();
    // What was copied before a failure stays, and is not copied again.
    annals.close().await;
    let imported = imported.map_err(CliError::from)?;
    print(&annals, id, &imported, context)
}

/// Checks what an importer that is not a person would copy, before a log is created for it.
async fn examine(
    source: VerbatimSource,
    importer: &ActorRef,
    context: &Context,
) -> Result<(), CliError> {
    let log = context.reader().ok();
    let examined = verbatim::examine(source, importer, log.as_ref()).await;
    if let Some(log) = log {
        log.close().await;
    }
    examined.map_err(CliError::from)
}

/// An export that is read twice: its bytes in a file without a name, so that both readings have the same.
struct Kept {
    name: String,
    file: File,
}

impl Kept {
    /// Opens the export from its beginning. The other reading has ended by then.
    fn open(&self) -> Result<VerbatimSource, CliError> {
        let unreadable = |source| CliError::file(Path::new(&self.name), source);
        let mut file = self.file.try_clone().map_err(unreadable)?;
        file.rewind().map_err(unreadable)?;
        let reader = Box::new(BufReader::with_capacity(BUFFER, file));
        VerbatimSource::open(self.name.clone(), reader).map_err(CliError::from)
    }
}

/// Opens an export, and keeps it for a second reading if there is to be one.
fn open(file: &Path, twice: bool) -> Result<(VerbatimSource, Option<Kept>), CliError> {
    let (name, mut reader): (_, Box<dyn BufRead + Send>) = match is_dash(file) {
        true => (
            "standard input".to_owned(),
            Box::new(BufReader::new(io::stdin())),
        ),
        false => {
            let opened =
                annals_files::open(file).map_err(|source| CliError::input(file, source))?;
            (
                file.display().to_string(),
                Box::new(BufReader::with_capacity(BUFFER, opened)),
            )
        }
    };
    if !twice {
        let source = VerbatimSource::open(name, reader)?;
        return Ok((source, None));
    }
    let kept = |source| CliError::file(Path::new(&name), source);
    let copy = annals_files::in_temporary(None, |home| tempfile::tempfile_in(home));
    let mut copy = copy.map_err(io::Error::from).map_err(kept)?;
    io::copy(&mut reader, &mut copy).map_err(kept)?;
    let kept = Kept { name, file: copy };
    Ok((kept.open()?, Some(kept)))
}

fn print(
    annals: &Annals,
    exported: uuid::Uuid,
    imported: &VerbatimImported,
    context: &mut Context,
) -> Result<(), CliError> {
    let id = annals.log().log_id();
    let output = &mut context.output;
    if output.is_json() {
        return output.json(&json!({
            "log_id": id,
            "exported_log_id": exported,
            "position": imported.position.0,
            "copied": imported.copied,
            "known": imported.known,
            "known_but_for_content": imported.known_but_for_content,
            "blobs": imported.blobs,
            "root": imported.root.to_string(),
        }));
    }
    output.line(&format!(
        "copied {} and {} up to position {}; {} there already",
        counted(imported.copied, "record", "records"),
        counted(imported.blobs, "blob", "blobs"),
        imported.position,
        counted(imported.known, "record was", "records were"),
    ))?;
    output.line(&format!("root {}", imported.root))?;
    if imported.known_but_for_content > 0 {
        output.note(&format!(
            "of {} content is removed on one side only; they were left as they are",
            counted(imported.known_but_for_content, "record", "records"),
        ));
    }
    if id != exported {
        output.note(&format!(
            "the log keeps its own id {id}; the exported one's is {exported}"
        ));
    }
    Ok(())
}

fn is_dash(file: &Path) -> bool {
    file.as_os_str() == "-"
}
