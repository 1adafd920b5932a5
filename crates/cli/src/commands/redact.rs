//! `annals log redact`: content goes for good.

mod outside;

use annals::domain::ActorRef;
use annals::event_log::{PiecesOf, Position};
use annals::store_rocks::PurgeError;
use annals::{Annals, Found, RedactReport, RedactRequest, RedactionError, SealOf, Target};
use annals_live::ledger::LedgerDue;
use serde_json::json;

use crate::cli::{Named, Redact};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, counted, short};
use crate::progress;

use outside::Outside;

/// Events and blobs that are named one by one.
const SHOWN: usize = 20;

/// What became of the old bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bytes {
    /// There was nothing to give up, or the log has no files.
    None,
    /// They are gone.
    Gone,
    /// They are in the files.
    Left,
    /// They are the server's to give up.
    AtServer,
}

pub(crate) async fn run(args: &Redact, context: &mut Context) -> Result<(), CliError> {
    if args.finish {
        return finish(context).await;
    }
    if args.dry_run {
        let annals = context.reader()?;
        let targets = targets(args, &annals).await?;
        let found = find(&annals, &targets).await?;
        let outside = outside::clean(&args.patterns, true, context);
        return show(&mut context.output, &found, &Done::Nothing, &outside);
    }
    // What waits is taken in now, and found in the log.
    let annals = context.writer()?;
    let actor = args.who.decider(&context.output)?;
    let redacted = redact(args, &annals, actor).await;
    let bytes = bytes_of(&redacted, &annals, args.fast).await;
    let outside = match &redacted {
        Err(error) if !is_partly(error) => Outside::default(),
        _ => outside::clean(&args.patterns, false, context),
    };
    // It has names of projects and sessions.
    context.keep_ledger(&annals, LedgerDue::Now).await;
    annals.close().await;
    if matches!(bytes, Ok(Bytes::Gone)) {
        settle(context).await;
    }
    // What was removed is said also where its bytes could not be given up.
    let bytes_now = *bytes.as_ref().unwrap_or(&Bytes::Left);
    match redacted {
        Ok(report) => {
            let is_at_server = context.is_on_postgres() && report.recorded.is_some();
            let done = Done::Recorded {
                recorded: report.recorded,
                unsearched: report.unsearched,
                bytes: if is_at_server {
                    Bytes::AtServer
                } else {
                    bytes_now
                },
            };
            show(&mut context.output, &report.found, &done, &outside)?;
            bytes.map(drop)
        }
        Err(error) => {
            if let Err(error) = &bytes {
                context.output.note(&error.to_string());
            }
            // That it was not all matters more than that this is not read.
            let _ = show_bytes(&mut context.output, bytes_now);
            outside.note(&context.output);
            Err(error)
        }
    }
}

/// Returns `true` if a part was removed before an error.
fn is_partly(error: &CliError) -> bool {
    matches!(error.cause(), Some(RedactionError::Partly { .. }))
}

/// Ends a redaction that removed something, all or a part: gives up the old bytes, or leaves
/// them.
async fn bytes_of(
    redacted: &Result<RedactReport, CliError>,
    annals: &Annals,
    fast: bool,
) -> Result<Bytes, CliError> {
    match redacted {
        Ok(report) => give_up(annals, report.recorded.map(|(_, last)| last), fast).await,
        Err(error) => match error.cause() {
            Some(RedactionError::Partly { recorded, .. }) => {
                give_up(annals, Some(*recorded), fast).await
            }
            _ => Ok(Bytes::None),
        },
    }
}

/// Opens the log once more: RocksDB then writes a new list of its tables; the old one had keys of
/// removed tables. Where another process has opened the log meanwhile, that did the same.
async fn settle(context: &Context) {
    if let Ok(annals) = context.writer() {
        annals.close().await;
    }
}

async fn targets(args: &Redact, annals: &Annals) -> Result<Vec<Target>, CliError> {
    let mut targets = Vec::new();
    for named in &args.targets {
        targets.push(match named {
            Named::Position(position) => Target::Event(*position),
            Named::Event(id) => {
                let found = annals.proofs().find_event(*id, |_| {}).await?;
                Target::Event(found.ok_or(RedactionError::NoSuchEvent { id: *id })?)
            }
            Named::Blob(digest) => Target::Blob(*digest),
        });
    }
    targets.extend(args.patterns.iter().cloned().map(Target::Pattern));
    Ok(targets)
}

async fn find(annals: &Annals, targets: &[Target]) -> Result<Found, CliError> {
    let bar = progress::bar("looking through", Some(annals.position().0));
    let found = annals
        .contents()
        .find(targets, &mut |position| bar.set_position(position.0))
        .await;
    bar.finish_and_clear();
    Ok(found?)
}

async fn redact(args: &Redact, annals: &Annals, actor: ActorRef) -> Result<RedactReport, CliError> {
    let request = RedactRequest::new(
        targets(args, annals).await?,
        actor,
        args.reason.clone().unwrap_or_default(),
    );
    let bar = progress::bar("looking through", Some(annals.position().0));
    let report = annals
        .contents()
        .redact(&request, &mut |position| bar.set_position(position.0))
        .await;
    bar.finish_and_clear();
    Ok(report?)
}

/// Gives up the old bytes, also those that an earlier redaction left; with `fast` it
/// leaves those of the redaction whose last event is `said`.
async fn give_up(annals: &Annals, said: Option<Position>, fast: bool) -> Result<Bytes, CliError> {
    let Some(rocks) = annals.rocks() else {
        return Ok(Bytes::None);
    };
    if !rocks.needs_purge()? {
        return Ok(Bytes::None);
    }
    if fast {
        if let Some(last) = said {
            let put_off = annals.contents().put_off_purge(last).await;
            put_off.map_err(bytes_left)?;
        }
        return Ok(Bytes::Left);
    }
    rewrite(annals).await?;
    Ok(Bytes::Gone)
}

/// Has the process that owns the log rewrite its files, where something may be left in them; whether it did.
async fn rewrite(annals: &Annals) -> Result<bool, CliError> {
    let bar = progress::spinner("rewriting the log's files");
    let done = annals.contents().purge().await;
    bar.finish_and_clear();
    done.map_err(bytes_left)
}

/// What was removed is gone from all answers, and its bytes are still in the log's files.
fn bytes_left(error: PurgeError) -> CliError {
    CliError::from(error).worded(|error| {
        format!("what was removed can be read no more, but {error}. `annals log redact --finish` tries it again")
    })
}

async fn finish(context: &mut Context) -> Result<(), CliError> {
    let annals = context.writer()?;
    if annals.rocks().is_none() {
        return Err(CliError::in_memory());
    }
    let rewritten = rewrite(&annals).await;
    annals.close().await;
    let needed = rewritten?;
    settle(context).await;
    if context.output.is_json() {
        return context.output.json(&json!({ "rewritten": needed }));
    }
    context.output.line(match needed {
        true => "rewrote the log's files: the bytes of what was removed are gone",
        false => "nothing was left in the log's files",
    })
}

/// What was done about what was found.
enum Done {
    Nothing,
    Recorded {
        recorded: Option<(Position, Position)>,
        /// Where content with the pattern may be left that came meanwhile.
        unsearched: Option<(Position, Position)>,
        bytes: Bytes,
    },
}

fn show(
    output: &mut Output,
    found: &Found,
    done: &Done,
    outside: &Outside,
) -> Result<(), CliError> {
    if output.is_json() {
        let mut report = to_json(found, done);
        outside.add_to(&mut report);
        return output.json(&report);
    }
    show_log(output, found, done)?;
    outside.show(matches!(done, Done::Nothing), output)
}

/// What was done in the log, in words.
fn show_log(output: &mut Output, found: &Found, done: &Done) -> Result<(), CliError> {
    if found.removed.is_empty() {
        let nothing = "nothing to remove in the log: the content is gone already, or was never there. Content that no event \
                       refers to is a matter of `annals log gc`";
        show_stays(output, found)?;
        if found.stays.is_empty() {
            output.line(nothing)?;
        } else {
            output.line("nothing to remove but that")?;
        }
        return match done {
            Done::Nothing => Ok(()),
            Done::Recorded { bytes, .. } => say_bytes(output, *bytes),
        };
    }
    let pieces: usize = found.removed.iter().map(|of| of.pieces.len()).sum();
    let verb = match done {
        Done::Nothing => "would remove",
        Done::Recorded { .. } => "removed",
    };
    output.line(&format!(
        "{verb} {} of {}, and {}",
        counted(pieces as u64, "piece of content", "pieces of content"),
        counted(found.removed.len() as u64, "event", "events"),
        counted(found.blobs.len() as u64, "blob", "blobs"),
    ))?;
    for PiecesOf { position, pieces } in found.removed.iter().take(SHOWN) {
        let pieces = counted(pieces.len() as u64, "piece", "pieces");
        output.line(&format!("  event {position}: {pieces}"))?;
    }
    more(output, found.removed.len(), "events")?;
    for (kind, id) in found.objects.iter().take(SHOWN) {
        output.line(&format!("  of {kind} {}", short(*id)))?;
    }
    more(output, found.objects.len(), "objects")?;
    for digest in &found.shared {
        output.line(&format!(
            "  the blob {digest} stays: other events refer to it, too. `annals log redact {digest}` removes it from all"
        ))?;
    }
    show_seals(output, found, done)?;
    show_stays(output, found)?;
    output.line("other events may say the same in other pieces: --pattern finds every one")?;
    match done {
        Done::Nothing => output.line("nothing was changed"),
        Done::Recorded {
            recorded,
            unsearched,
            bytes,
        } => {
            if let Some((first, last)) = recorded {
                let events = match first == last {
                    true => format!("event {first}"),
                    false => format!("events {first} to {last}"),
                };
                output.line(&format!("recorded as {events}"))?;
            }
            if let Some((from, to)) = unsearched {
                output.line(&format!(
                    "content with the pattern came all the time: events {from} to {to} were not looked through. Run \
                     the same command again"
                ))?;
            }
            say_bytes(output, *bytes)
        }
    }
}

/// Names the seals that went with it, and those that stay.
fn show_seals(output: &mut Output, found: &Found, done: &Done) -> Result<(), CliError> {
    let each = |output: &mut Output, seals: &[SealOf]| -> Result<(), CliError> {
        for SealOf {
            position, kind, id, ..
        } in seals.iter().take(SHOWN)
        {
            let id = short(*id);
            output.line(&format!("  event {position}: of {kind} {id}"))?;
        }
        more(output, seals.len(), "seals")
    };
    if !found.seals.is_empty() {
        let seals = counted(found.seals.len() as u64, "seal", "seals");
        let can = match done {
            Done::Nothing => "could not be checked any more, as checksums would go",
            Done::Recorded { .. } => "cannot be checked any more, as checksums went",
        };
        output.line(&format!(
            "{seals} {can} with the content that they were made of:"
        ))?;
        each(output, &found.seals)?;
    }
    if !found.old_seals.is_empty() {
        output.line(&format!(
            "{} of an older version: the checksum stays, and short content can be tried against it \
             (docs/redaction.md, \"What follows from what is left\"):",
            counted(found.old_seals.len() as u64, "seal is", "seals are"),
        ))?;
        each(output, &found.old_seals)?;
    }
    Ok(())
}

/// Names what stays though it was looked for.
fn show_stays(output: &mut Output, found: &Found) -> Result<(), CliError> {
    if found.stays.is_empty() {
        return Ok(());
    }
    output.line(&format!(
        "the pattern is also in {} that cannot be removed, since states are folded from it (docs/redaction.md, \"What \
         stays\"):",
        counted(found.stays_count, "place", "places"),
    ))?;
    for stays in found.stays.iter().take(SHOWN) {
        output.line(&format!("  event {}: {}", stays.position, stays.field))?;
    }
    more(output, found.stays_count as usize, "places")
}

/// Says whether the bytes are removed, if there is no report.
fn show_bytes(output: &mut Output, bytes: Bytes) -> Result<(), CliError> {
    match bytes {
        Bytes::None => Ok(()),
        _ if output.is_json() => output.json(&json!({ "rewritten": bytes == Bytes::Gone })),
        bytes => say_bytes(output, bytes),
    }
}

fn say_bytes(output: &mut Output, bytes: Bytes) -> Result<(), CliError> {
    match bytes {
        Bytes::None => Ok(()),
        Bytes::Gone => output.line(
            "the log's files were rewritten without it; backups and exports made before still have it, and so have \
             readers in other processes until they end",
        ),
        Bytes::Left => output.line(
            "its bytes are still in the log's files, where no command reads them: \
             `annals log redact --finish` rewrites these",
        ),
        Bytes::AtServer => output.line(
            "no command reads its bytes; the server may have them in dead rows until VACUUM FULL, and in its WAL, standbys \
             and backups, and a bucket that keeps versions has its objects (docs/redaction.md)",
        ),
    }
}

fn more(output: &mut Output, count: usize, what: &str) -> Result<(), CliError> {
    match count.checked_sub(SHOWN) {
        None | Some(0) => Ok(()),
        Some(more) => output.line(&format!("  and {more} more {what}")),
    }
}

fn to_json(found: &Found, done: &Done) -> serde_json::Value {
    let events = found
        .removed
        .iter()
        .map(|of| json!({ "position": of.position.0, "pieces": of.pieces }));
    let digests = |digests: &[annals::event_log::Digest]| -> Vec<String> {
        digests.iter().map(ToString::to_string).collect()
    };
    let objects = found
        .objects
        .iter()
        .map(|(kind, id)| json!({ "kind": kind.to_string(), "id": id }));
    let (dry_run, recorded, unsearched, bytes) = match done {
        Done::Nothing => (true, None, None, None),
        Done::Recorded {
            recorded,
            unsearched,
            bytes,
        } => (false, *recorded, *unsearched, Some(*bytes)),
    };
    let seals = |seals: &[SealOf]| -> Vec<serde_json::Value> {
        let seal = |it: &SealOf| json!({ "position": it.position.0, "kind": it.kind.to_string(), "id": it.id });
        seals.iter().map(seal).collect()
    };
    let stays = found.stays.iter();
    let stays = stays.map(|it| json!({ "position": it.position.0, "field": it.field }));
    let range = |(first, last): (Position, Position)| json!({ "first": first.0, "last": last.0 });
    json!({
        "dry_run": dry_run,
        "events": events.collect::<Vec<_>>(),
        "blobs": digests(&found.blobs),
        "shared_blobs": digests(&found.shared),
        "objects": objects.collect::<Vec<_>>(),
        "seals": seals(&found.seals),
        "old_seals": seals(&found.old_seals),
        "stays": stays.collect::<Vec<_>>(),
        "stays_count": found.stays_count,
        "recorded": recorded.map(range),
        "unsearched": unsearched.map(range),
        "rewritten": bytes.map(|bytes| bytes == Bytes::Gone),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::path::Path;

    use annals::Request;
    use annals::domain::intent::CreateIntent;
    use annals::domain::{ActorRef, Command};
    use futures::executor::block_on;

    use super::*;

    fn open(home: &Path) -> Annals {
        block_on(Annals::open(&home.join("log").display().to_string())).unwrap()
    }

    /// A redaction of which the first part was done, and then it went no further.
    fn partly(annals: &Annals) -> Result<RedactReport, CliError> {
        let command = Command::from(CreateIntent::new("a password"));
        let request = Request::new(ActorRef::human("ada"), command);
        let position = block_on(annals.execute(request)).unwrap().position;
        let request = RedactRequest::new(
            vec![Target::Event(position)],
            ActorRef::human("ada"),
            "it leaked",
        );
        let report = block_on(annals.contents().redact(&request, &mut |_| {})).unwrap();
        Err(CliError::from(RedactionError::Partly {
            events: 1,
            recorded: report.recorded.unwrap().1,
            source: Box::new(RedactionError::Contended { attempts: 8 }),
        }))
    }

    #[test]
    fn the_bytes_of_a_part_are_given_up_too() {
        let home = tempfile::tempdir().unwrap();
        let annals = open(home.path());
        let redacted = partly(&annals);
        let bytes = block_on(bytes_of(&redacted, &annals, false)).unwrap();
        assert_eq!(bytes, Bytes::Gone);
        assert!(!annals.rocks().unwrap().needs_purge().unwrap());
        block_on(annals.close());
    }

    #[test]
    fn the_bytes_of_a_part_stay_with_fast() {
        let home = tempfile::tempdir().unwrap();
        let annals = open(home.path());
        let redacted = partly(&annals);
        let bytes = block_on(bytes_of(&redacted, &annals, true)).unwrap();
        assert_eq!(bytes, Bytes::Left);
        block_on(annals.close());
        // To open a log removes the bytes of a redaction, unless `--fast` left them.
        let annals = open(home.path());
        assert!(annals.rocks().unwrap().needs_purge().unwrap());
        block_on(annals.close());
    }

    #[test]
    fn where_nothing_was_removed_nothing_is_given_up() {
        let home = tempfile::tempdir().unwrap();
        let annals = open(home.path());
        partly(&annals).unwrap_err();
        let refused = Err(CliError::from(RedactionError::NoReason));
        let bytes = block_on(bytes_of(&refused, &annals, false)).unwrap();
        assert_eq!(bytes, Bytes::None);
        assert!(annals.rocks().unwrap().needs_purge().unwrap());
        block_on(annals.close());
    }
}
