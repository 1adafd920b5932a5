//! `annals diff`: what changed between two moments, and which events changed it.

use std::ops::ControlFlow;

use annals::{Annals, At, AtName, ObjectDiff};

use crate::cli::{Diff, named_moment as named};
use crate::commands::difference;
use crate::context::{Context, moment};
use crate::error::{CliError, ErrorClass};
use crate::output::{Output, counted};

pub(crate) async fn run(args: &Diff, context: &mut Context) -> Result<(), CliError> {
    let (id, from, to) = which(args)?;
    let (from, to) = (named(from)?, to.map(named).transpose()?);
    let annals = context.reader_at(&args.floor).await?;
    let (from, to) = moments(&annals, &from, to.as_ref()).await?;
    let output = &mut context.output;
    let Some(id) = id else {
        return all(&annals, from, to, output).await;
    };
    let object = annals.resolve(id).await?;
    let diff = annals.past().diff(object, from, to).await?;
    if output.is_json() {
        return output.json(&diff);
    }
    if diff.changes.is_empty() {
        let title = difference::title(diff.object_type, diff.object_id);
        let events = counted(diff.events, "event", "events");
        output.note(&format!(
            "{title} is the same at both moments ({events} on it in between)"
        ));
        return Ok(());
    }
    difference::object(&diff, output)
}

/// The object, unless all are meant, and the moments.
fn which(args: &Diff) -> Result<(Option<&str>, &str, Option<&str>), CliError> {
    let words: Vec<&str> = args.what.iter().map(String::as_str).collect();
    match (args.all, words.as_slice()) {
        (true, [from]) => Ok((None, from, None)),
        (true, [from, to]) => Ok((None, from, Some(to))),
        (false, [id, from]) => Ok((Some(id), from, None)),
        (false, [id, from, to]) => Ok((Some(id), from, Some(to))),
        (true, _) => Err(usage(
            "expected FROM and TO with --all, found an object, too",
        )),
        (false, _) => Err(usage(
            "expected an object and a moment: annals diff ID FROM [TO]; or all objects: annals diff --all FROM [TO]",
        )),
    }
}

fn usage(message: &str) -> CliError {
    CliError::new(ErrorClass::Usage, "usage", message)
}

async fn moments(
    annals: &Annals,
    from: &AtName,
    to: Option<&AtName>,
) -> Result<(At, At), CliError> {
    Ok((moment(annals, Some(from)).await?, moment(annals, to).await?))
}

/// Each object that was touched in between.
async fn all(annals: &Annals, from: At, to: At, output: &mut Output) -> Result<(), CliError> {
    let (mut shown, mut printed) = (0_u64, Ok(()));
    let each = |diff: ObjectDiff| {
        printed = print(&diff, shown, output);
        shown += 1;
        match printed {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    };
    annals.past().diff_all(from, to, each).await?;
    printed?;
    if shown == 0 {
        output.note("no object changed between the two moments");
    }
    Ok(())
}

fn print(diff: &ObjectDiff, before: u64, output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        return output.json(diff);
    }
    if before > 0 {
        output.line("")?;
    }
    difference::object(diff, output)
}
