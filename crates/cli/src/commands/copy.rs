//! `annals log copy`: the same log in another store.

use annals::event_log::{Classification, Classified};
use annals::store_rocks::OpenError as Rocks;
use annals::{Annals, LogUrl, OpenError, OpenOptions};
use annals_dialects::Progress;
use annals_dialects::verbatim::{self, CopyStep, LogCopied, VerifyCopy};
use indicatif::ProgressBar;
use serde_json::json;
use uuid::Uuid;

use crate::cli::CopyLog;
use crate::context::{Context, reader_options};
use crate::error::{CliError, ErrorClass};
use crate::output::counted;
use crate::progress;

pub(crate) async fn run(args: &CopyLog, context: &mut Context) -> Result<(), CliError> {
    if demand_kept(&args.source)? == demand_kept(&args.dest)? {
        let message = "SRC and DEST are the same log";
        return Err(CliError::new(ErrorClass::Usage, "usage", message));
    }
    let from = source(&args.source)?;
    let id = from.log().log_id();
    // From here on the log is the one that is written to.
    context.log.clone_from(&args.dest);
    context.own_files();
    let importer = args.who.importer(&context.output)?;
    let to = context.open(OpenOptions::new().create(true).log_id(id))?;
    let to = to.imported_by(&importer);
    let verify = match args.fast {
        true => VerifyCopy::Roots,
        false => VerifyCopy::Everything,
    };
    let mut bars = Bars::default();
    let mut shown = |step, progress| bars.show(step, progress);
    let copied = verbatim::copy(&from, &to, verify, &mut shown).await;
    bars.clear();
    from.close().await;
    match copied {
        Ok(copied) => {
            // With it the catalogue is made, which the first reader would wait for.
            let bar = progress::spinner("making the catalogue");
            to.close().await;
            bar.finish_and_clear();
            print(id, &copied, verify, context)
        }
        Err(error) => {
            to.log().close().await;
            Err(error.into())
        }
    }
}

/// A log that is there when this program ends.
fn demand_kept(url: &str) -> Result<LogUrl, CliError> {
    match url.parse() {
        Ok(LogUrl::Memory) => Err(CliError::in_memory()),
        Ok(url) => Ok(url),
        Err(error) => Err(CliError::open(url, error)),
    }
}

/// Opens the log that is copied, for reading alone.
fn source(url: &str) -> Result<Annals, CliError> {
    let options = OpenOptions::new().read_only(true).store(reader_options());
    options.open(url).map_err(|error| {
        let Classification { class, code } = error.classify();
        match error {
            OpenError::Rocks(Rocks::NotFound { .. }) => {
                CliError::new(class, code, format!("there is no log at {url}"))
            }
            error => CliError::from(error).during("cannot open SRC"),
        }
    })
}

/// The bar of the step that is under way.
#[derive(Default)]
struct Bars {
    shown: Option<(CopyStep, ProgressBar)>,
}

impl Bars {
    fn show(&mut self, step: CopyStep, progress: Progress) {
        if self.shown.as_ref().is_none_or(|(shown, _)| *shown != step) {
            self.clear();
            let what = match step {
                CopyStep::Comparing => "comparing",
                CopyStep::Copying => "copying",
                CopyStep::Verifying => "verifying",
            };
            self.shown = Some((step, progress::bar(what, Some(progress.total))));
        }
        if let Some((_, bar)) = &self.shown {
            bar.set_position(progress.done);
        }
    }

    fn clear(&mut self) {
        if let Some((_, bar)) = self.shown.take() {
            bar.finish_and_clear();
        }
    }
}

fn print(
    id: Uuid,
    copied: &LogCopied,
    verify: VerifyCopy,
    context: &mut Context,
) -> Result<(), CliError> {
    let is_verified = verify == VerifyCopy::Everything;
    let to = context.shown_log();
    let output = &mut context.output;
    if output.is_json() {
        return output.json(&json!({
            "log_id": id,
            "to": to,
            "position": copied.position.0,
            "copied": copied.copied,
            "known": copied.known,
            "blobs": copied.blobs,
            "root": copied.root.to_string(),
            "verified": is_verified,
        }));
    }
    output.line(&format!(
        "copied {} and {} to {to}, up to position {}; {} there already",
        counted(copied.copied, "record", "records"),
        counted(copied.blobs, "blob", "blobs"),
        copied.position,
        counted(copied.known, "record was", "records were"),
    ))?;
    output.line(&format!("root {}", copied.root))?;
    output.line(match is_verified {
        true => "verified: both have this root, and every record and all content of the copy fits",
        false => "both have this root; --fast left the rest unread",
    })
}
