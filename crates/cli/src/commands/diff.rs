//! `annals diff`: the changes of a session or an object between two times, with the events that made them.

use std::ops::ControlFlow;

use annals::domain::Kind;
use annals::{Annals, At, ObjectDiff, ObjectRef, SessionError, TurnRange};
use uuid::Uuid;

use crate::cli::{Diff, named_moment as named};
use crate::commands::show_session::{diffs, walk::Walk};
use crate::commands::{diff_session, difference};
use crate::context::{Context, moment};
use crate::error::{CliError, ErrorClass};
use crate::output::{Output, counted};

pub(crate) async fn run(args: &Diff, context: &mut Context) -> Result<(), CliError> {
    let [id, from, to] = which(args)?;
    let from = from.map(named).transpose()?;
    let to = to.map(named).transpose()?;
    let annals = context.reader_at(&args.floor).await?;
    let to = moment(&annals, to.as_ref()).await?;
    let from = match &from {
        Some(from) => Some(moment(&annals, Some(from)).await?),
        None => None,
    };
    let Some(id) = id else {
        let from = from.ok_or_else(no_range)?;
        return all(&annals, from, to, &mut context.output).await;
    };
    let object = super::named::object(&annals, id).await?;
    match (session(&annals, object, args).await?, from) {
        (Some(session), Some(from)) => {
            diff_session::run(&annals, session, (from, to), context).await
        }
        (Some(session), None) => {
            let mut walk = Walk::begin(&annals, session, to, TurnRange::all()).await?;
            diffs::run(&annals, &mut walk, context).await
        }
        (None, Some(from)) => one(&annals, object, (from, to), &mut context.output).await,
        (None, None) => Err(no_range()),
    }
}

/// The session that an object is, unless its fields are asked for or it has no turns.
async fn session(
    annals: &Annals,
    object: ObjectRef,
    args: &Diff,
) -> Result<Option<Uuid>, CliError> {
    if args.fields || !matches!(object.kind, Kind::Task | Kind::Session) {
        return Ok(None);
    }
    let found = annals.conversations().find(&object.id.to_string()).await;
    let session = match found {
        Ok(session) => session.id,
        Err(SessionError::NotFound { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let first = annals.conversation(session, At::Now, TurnRange::new(1, 1));
    let has_turns = !first.await?.turns.is_empty();
    Ok(has_turns.then_some(session))
}

/// The changes of one object.
async fn one(
    annals: &Annals,
    object: ObjectRef,
    (from, to): (At, At),
    output: &mut Output,
) -> Result<(), CliError> {
    let diff = annals.past().diff(object, from, to).await?;
    if output.is_json() {
        return output.json(&diff);
    }
    if diff.changes.is_empty() {
        let title = difference::title(diff.object_type, diff.object_id);
        let events = counted(diff.events, "event", "events");
        output.note(&format!(
            "{title} is the same at both times ({events} on it in between)"
        ));
        return Ok(());
    }
    difference::object(&diff, output)
}

fn no_range() -> CliError {
    usage(
        "expected an object and a position or time: annals diff ID FROM [TO]; a session: annals diff SESSION; or all \
         objects: annals diff --all FROM [TO]",
    )
}

/// The object, unless all are meant, and the moments.
fn which(args: &Diff) -> Result<[Option<&str>; 3], CliError> {
    let words: Vec<&str> = args.what.iter().map(String::as_str).collect();
    match (args.all, words.as_slice()) {
        (true, [from]) => Ok([None, Some(from), None]),
        (true, [from, to]) => Ok([None, Some(from), Some(to)]),
        (false, [id]) => Ok([Some(id), None, None]),
        (false, [id, from]) => Ok([Some(id), Some(from), None]),
        (false, [id, from, to]) => Ok([Some(id), Some(from), Some(to)]),
        (true, _) => Err(usage(
            "expected FROM and TO with --all, found an object, too",
        )),
        (false, _) => Err(no_range()),
    }
}

fn usage(message: &str) -> CliError {
    CliError::new(ErrorClass::Usage, "usage", message)
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
        output.note("no object changed between the two times");
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
