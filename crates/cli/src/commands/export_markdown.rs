//! `annals export markdown`: a session's conversation as one Markdown file.

use std::io::Write;

use annals::event_log::Position;
use annals::projections::{CostZone, MarkdownWriter, TurnBody};
use annals::{Annals, At, TurnRange};
use serde_json::json;

use super::show_session::cost_of;
use super::show_session::walk::{Step, Walk};
use crate::cli::ExportMarkdown;
use crate::context::{Context, reached};
use crate::error::CliError;
use crate::output::{Output, counted};
use crate::whole_file::WholeFile;

pub(super) async fn export(args: &ExportMarkdown, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_of_rows().await?;
    let at = args.at.map_or(At::Now, |at| At::Position(Position(at)));
    reached(&annals, at)?;
    let session = annals.conversations().find(&args.session).await?.id;
    let Some(out) = &args.out else {
        let mut target = match context.output.is_json() {
            true => Target::Kept(String::new()),
            false => Target::Standard(&mut context.output),
        };
        write(&annals, session, (at, args.zone.time_zone), &mut target).await?;
        return match target {
            Target::Kept(markdown) => {
                let value = json!({ "session": session, "markdown": markdown });
                context.output.json(&value)
            }
            _ => context.output.flush(),
        };
    };
    let mut file = WholeFile::create(out)?;
    let mut target = Target::File(file.writer(), out);
    let bytes = write(&annals, session, (at, args.zone.time_zone), &mut target).await?;
    file.finish()?;
    if context.output.is_json() {
        let value = json!({ "session": session, "path": out, "bytes": bytes });
        return context.output.json(&value);
    }
    let bytes = counted(bytes as u64, "byte", "bytes");
    context.output.line(&format!("{}: {bytes}", out.display()))
}

/// Where the Markdown goes.
enum Target<'t> {
    Standard(&'t mut Output),
    File(&'t mut dyn Write, &'t std::path::Path),
    Kept(String),
}

impl Target<'_> {
    fn put(&mut self, text: &str) -> Result<(), CliError> {
        match self {
            Target::Standard(output) => output.content(text.as_bytes()),
            Target::File(file, path) => {
                let written = file.write_all(text.as_bytes());
                written.map_err(|source| CliError::file(path, source))
            }
            Target::Kept(kept) => {
                kept.push_str(text);
                Ok(())
            }
        }
    }
}

/// Writes a session with its sub-agents, and returns the number of bytes.
async fn write(
    annals: &Annals,
    session: uuid::Uuid,
    (at, zone): (At, CostZone),
    target: &mut Target<'_>,
) -> Result<usize, CliError> {
    let mut walk = Walk::begin(annals, session, at, TurnRange::all()).await?;
    let writer = MarkdownWriter::new().with_zone(zone);
    let (mut text, mut bytes) = (String::new(), 0);
    let cost = cost_of(walk.top());
    let first = walk.first_prompt();
    // Writing to a String does not fail.
    let _ = writer.header(walk.summary(), first, cost.as_deref(), &mut text);
    let mut writers = vec![writer];
    while let Some(step) = walk.next().await? {
        let Some(writer) = writers.last_mut() else {
            break;
        };
        match step {
            // The heading of the session follows.
            Step::Turn(turn) if matches!(turn.body, TurnBody::SubAgent { .. }) => {}
            Step::Turn(turn) => {
                let diffs = walk.diffs(&turn).await?;
                let _ = writer.turn(&turn, &diffs, &mut text);
            }
            Step::SubAgent { session, .. } => {
                let cost = walk.listed(session).and_then(cost_of);
                let _ = writer.sub_agent(cost.as_deref(), &mut text);
                let nested = writer.nested();
                writers.push(nested);
            }
            Step::End => {
                writers.pop();
            }
        }
        target.put(&text)?;
        bytes += text.len();
        text.clear();
    }
    Ok(bytes)
}
