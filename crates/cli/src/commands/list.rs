//! `annals object list`: objects of one kind.

use annals::Annals;
use annals::domain::intent::ApprovalStatus;
use annals::domain::{ActorKind, Kind};
use annals::event_log::Position;
use annals::projections::{CatalogueRow, IntentFilter, ListQuery, Status, duration};

use crate::cli::{List, Listable};
use crate::commands::work_items;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Rows, roughly, short, when};

/// Digits of a git commit's id that are shown; git takes them for the id.
const COMMIT_DIGITS: usize = 12;

pub(crate) async fn run(args: &List, context: &mut Context) -> Result<(), CliError> {
    let Listable::Kind(kind) = args.kind else {
        return work_items::run(args, context).await;
    };
    let annals = context.reader_at(&args.floor).await?;
    let query = query(args, kind, &annals).await?;
    let listed = annals.index().list(&query).await?;
    print_rows(&listed.rows, &mut context.output)?;
    if let Some(next) = listed.next {
        context
            .output
            .note(&format!("there are more; they begin with --after {next}"));
    }
    Ok(())
}

/// Objects, one a line.
pub(super) fn print_rows(listed: &[CatalogueRow], output: &mut Output) -> Result<(), CliError> {
    if output.is_json() {
        return listed.iter().try_for_each(|row| output.json(row));
    }
    if listed.first().is_some_and(|row| row.kind == Kind::Run) {
        return print_runs(listed, output);
    }
    let mut rows = Rows::new([
        Column::left("ID", 8),
        Column::left("CREATED", 20),
        Column::left("STATUS", 10),
        Column::left("WHO", 12).if_as_wide_as(90),
        Column::left("WHAT", 10),
    ]);
    rows.print(output, listed.iter().map(cells))
}

/// Runs, with how long they took.
fn print_runs(listed: &[CatalogueRow], output: &mut Output) -> Result<(), CliError> {
    let mut rows = Rows::new([
        Column::left("ID", 8),
        Column::left("CREATED", 20),
        Column::left("TOOK", 8),
        Column::left("STATUS", 10),
        Column::left("WHO", 12).if_as_wide_as(110),
        Column::left("WHAT", 10),
    ]);
    let cells = |row: &CatalogueRow| {
        let [id, created, status, who, what] = cells(row);
        let took = took(row).map_or_else(|| "-".to_owned(), duration);
        [id, created, took, status, who, what]
    };
    rows.print(output, listed.iter().map(cells))
}

/// How long a run took that is over, in milliseconds.
pub(super) fn took(row: &CatalogueRow) -> Option<u64> {
    let is_over = matches!(row.status, Some(Status::Completed | Status::Failed));
    let took = row.updated_at.to_utc() - row.created_at.to_utc();
    let took = u64::try_from(took.num_milliseconds()).ok();
    took.filter(|_| is_over)
}

async fn query(args: &List, kind: Kind, annals: &Annals) -> Result<ListQuery, CliError> {
    let (actor_kind, actor_id) = match &args.actor {
        Some(actor) => split_actor(actor),
        None => (None, None),
    };
    let parent = match &args.parent {
        Some(parent) => Some(super::named::object(annals, parent).await?.id),
        None => None,
    };
    Ok(ListQuery::new(kind)
        .with_status(status(kind, args.status.as_deref())?)
        .with_actor_id(actor_id)
        .with_actor_kind(actor_kind)
        .with_parent(parent)
        .with_tag(args.tag.as_deref().map(named))
        .with_external_id(args.external_id.as_deref().map(named))
        .with_intents(
            IntentFilter::default()
                .with_approval(args.approval)
                .with_work_type(args.work_type.clone())
                .with_risk(args.risk)
                .with_source(args.source)
                .with_labels(args.labels.clone()),
        )
        .with_since(args.since)
        .with_until(args.until)
        .with_oldest_first(args.oldest)
        .with_after(after(args.after.as_deref())?)
        .with_limit(args.limit))
}

/// A name, and the value if one is given.
fn named(text: &str) -> (String, Option<String>) {
    match text.split_once('=') {
        Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
        None => (text.to_owned(), None),
    }
}

/// Where a list goes on.
fn after(text: Option<&str>) -> Result<Option<Position>, CliError> {
    let Some(text) = text else {
        return Ok(None);
    };
    match text.parse() {
        Ok(position) => Ok(Some(Position(position))),
        Err(_) => {
            let text: String = text.chars().take(64).collect();
            let message = format!(
                "invalid --after {text:?}: expected the first_position of a list's last line"
            );
            Err(CliError::new(ErrorClass::Usage, "usage", message))
        }
    }
}

/// The kind and the id. An id may hold a colon itself, so only the listed
/// kinds are taken for one.
fn split_actor(actor: &str) -> (Option<String>, Option<String>) {
    match actor.split_once(':') {
        Some((kind, id)) if ActorKind::LISTED.iter().any(|known| known.as_str() == kind) => {
            (Some(kind.to_owned()), Some(id.to_owned()))
        }
        _ => (None, Some(actor.to_owned())),
    }
}

fn status(kind: Kind, word: Option<&str>) -> Result<Option<Status>, CliError> {
    let Some(word) = word else {
        return Ok(None);
    };
    let statuses = Status::of(kind);
    let found = statuses
        .iter()
        .find(|status| status.word().eq_ignore_ascii_case(word));
    if let Some(status) = found {
        return Ok(Some(*status));
    }
    let words: Vec<&str> = statuses.iter().map(|status| status.word()).collect();
    let known = match words.as_slice() {
        [] => "this kind has no status".to_owned(),
        words if kind == Kind::Intent => {
            let approvals: Vec<&str> = ApprovalStatus::ALL.iter().map(|it| it.as_str()).collect();
            format!(
                "expected one of {}; `--approval` lists by approval status, one of {}",
                words.join(", "),
                approvals.join(", ")
            )
        }
        words => format!("expected one of {}", words.join(", ")),
    };
    let message = format!("invalid {} status {word:?}: {known}", kind.object_type());
    Err(CliError::new(
        ErrorClass::Invalid,
        "unknown_status",
        message,
    ))
}

fn cells(row: &CatalogueRow) -> [String; 5] {
    [
        short(row.id),
        when(row.created_at),
        status_words(row),
        format!("{} {}", row.created_by.kind, row.created_by.id),
        what(row),
    ]
}

/// Where an object is in its life; an intent on both axes.
pub(super) fn status_words(row: &CatalogueRow) -> String {
    let status = row.status.map_or("-", Status::word);
    match row.approval {
        Some(approval) => format!("{status}, {approval}"),
        None => status.to_owned(),
    }
}

/// What an object is called by, and how much there is of it.
pub(super) fn what(row: &CatalogueRow) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(row.aliases.first().map(|alias| format!("[{alias}]")));
    parts.extend(row.task_title.as_ref().map(ToString::to_string));
    parts.extend(row.sort.as_ref().map(|sort| format!("{sort}:")));
    parts.extend(row.title.as_ref().map(ToString::to_string));
    parts.extend(row.commit.map(|commit| {
        let short: String = commit.to_string().chars().take(COMMIT_DIGITS).collect();
        format!("-> commit {short}")
    }));
    let counts = row.counts.iter().filter(|(_, count)| *count > 0);
    let mut counts: Vec<String> = counts
        .map(|(name, count)| format!("{} {count}", name.replace('_', " ")))
        .collect();
    if let Some(tokens) = row.tokens {
        counts.push(format!("{} tokens", roughly(tokens.total_tokens)));
        counts.extend(tokens.cost_usd.map(|cost| format!("${cost:.2}")));
    }
    if !counts.is_empty() {
        parts.push(format!("({})", counts.join(", ")));
    }
    parts.join(" ")
}
