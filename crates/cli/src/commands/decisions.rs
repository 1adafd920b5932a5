//! `annals policy decisions`: what was decided on tool calls.

use std::collections::BTreeSet;

use annals::domain::Kind;
use annals::domain::run::{GrantScope, ToolVerdict};
use annals::event_log::Position;
use annals::projections::{DecisionsQuery, JsonText, ListQuery, Text, ToolDecisionView};
use annals::{Annals, At, DecidedCall, ViewError};
use annals_dialects::import::agents;
use annals_dialects::live;
use uuid::Uuid;

use crate::cli::Decisions;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Rows, counted, short, when, who};

/// Runs of an agent's session that are looked at.
const MOST_TASKS: usize = 10_000;

pub(crate) async fn run(args: &Decisions, context: &mut Context) -> Result<(), CliError> {
    let annals = context.reader_at(&args.floor).await?;
    let mut query = query(args, &annals).await?;
    let mut printer = Printer::new(args.grants);
    let mut left = args.limit;
    // A time is not in the index, so that pages may have lines before it.
    while left > 0 {
        let page = annals.tool_calls().decisions(&query).await?;
        let mut rows = page.rows;
        let read = rows.len();
        retain_since(&annals, args.since, &mut rows).await?;
        // Positions fall with the times at which the log took them, and not with those that events say.
        let falls = matches!(args.since, Some(At::Recorded(_))) && !args.oldest;
        let is_over = rows.len() < read && falls;
        let is_cut = rows.len() > left;
        rows.truncate(left);
        left = left.saturating_sub(rows.len());
        printer.print(&rows, &mut context.output)?;
        let next = match rows.last() {
            Some(last) if is_cut => Some(last.decision.moment.position),
            _ => page.next,
        };
        match next {
            Some(next) if left == 0 => {
                let note = format!("there are more; they begin with --after {next}");
                context.output.note(&note);
            }
            Some(next) if !is_over => query.after = Some(next),
            _ => break,
        }
    }
    Ok(())
}

async fn query(args: &Decisions, annals: &Annals) -> Result<DecisionsQuery, CliError> {
    let verdicts = [
        (args.allowed || args.grants, ToolVerdict::Allow),
        (args.denied, ToolVerdict::Deny),
        (args.asked, ToolVerdict::Ask),
    ];
    let wanted = verdicts.into_iter().filter(|(wanted, _)| *wanted);
    let since = match args.since {
        Some(At::Position(position)) => Some(position),
        _ => None,
    };
    Ok(DecisionsQuery::default()
        .with_verdicts(wanted.map(|(_, verdict)| verdict).collect())
        .with_by(args.by.clone())
        .with_runs(runs(args, annals).await?)
        .with_tool(args.tool.clone())
        .with_grants(args.grants)
        .with_since(since)
        .with_oldest_first(args.oldest)
        .with_after(args.after.map(Position))
        .with_limit(args.limit))
}

/// The runs that are asked about, if not all are.
async fn runs(args: &Decisions, annals: &Annals) -> Result<Option<Vec<Uuid>>, CliError> {
    if let Some(run) = &args.run {
        let object = annals.resolve(run).await?;
        return Ok(Some(vec![super::named::of_kind(object, Kind::Run)?]));
    }
    let Some(session) = &args.session else {
        return Ok(None);
    };
    match annals.resolve(session).await {
        Ok(object) => return Ok(Some(annals.tool_calls().runs_of(object).await?)),
        Err(ViewError::NotFound { .. } | ViewError::InvalidId { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    // Several tasks can have the agent's id.
    let runs = runs_of_agents_session(session, annals).await?;
    if !runs.is_empty() {
        return Ok(Some(runs));
    }
    let object = super::named::object(annals, session).await?;
    Ok(Some(annals.tool_calls().runs_of(object).await?))
}

/// The runs of a session by the name that its agent gave it.
async fn runs_of_agents_session(session: &str, annals: &Annals) -> Result<Vec<Uuid>, CliError> {
    let mut runs = Vec::new();
    let imported = agents().map(|(key, _)| key);
    let keys: BTreeSet<&str> = imported.chain(live::agents()).collect();
    for key in keys {
        let name = (format!("{key}.session"), Some(session.to_owned()));
        let query = ListQuery::new(Kind::Task)
            .with_external_id(name)
            .with_limit(MOST_TASKS);
        for task in annals.index().list(&query).await?.rows {
            let object = annals::ObjectRef {
                kind: Kind::Task,
                id: task.id,
            };
            runs.extend(annals.tool_calls().runs_of(object).await?);
        }
    }
    Ok(runs)
}

/// Leaves those from a time on.
async fn retain_since(
    annals: &Annals,
    since: Option<At>,
    rows: &mut Vec<DecidedCall>,
) -> Result<(), CliError> {
    match since {
        Some(At::Occurred(time)) => rows.retain(|row| row.decision.moment.at >= time),
        Some(At::Recorded(time)) => {
            let mut kept = Vec::with_capacity(rows.len());
            for row in std::mem::take(rows) {
                let record = annals.contents().record(row.decision.moment.position);
                let record = record.await?;
                if record.is_some_and(|record| record.recorded_at() >= time.to_utc()) {
                    kept.push(row);
                }
            }
            *rows = kept;
        }
        Some(At::Now) => {
            let message = "invalid --since: expected a position or a time";
            return Err(CliError::new(
                ErrorClass::Usage,
                "usage",
                message.to_owned(),
            ));
        }
        Some(At::Position(_)) | None => {}
    }
    Ok(())
}

/// Prints pages of one table.
struct Printer {
    rows: Rows<8>,
    is_of_grants: bool,
}

impl Printer {
    fn new(is_of_grants: bool) -> Printer {
        let rows = Rows::new([
            Column::right("EVENT", 6),
            Column::left("WHEN", 20),
            Column::left("CALL", 8),
            Column::left("TOOL", 8),
            Column::left("VERDICT", 7),
            Column::left(if is_of_grants { "USES" } else { "BY" }, 10),
            Column::left("TOLD BY", 10),
            Column::left("WHAT", 10),
        ]);
        Printer { rows, is_of_grants }
    }

    fn print(&mut self, rows: &[DecidedCall], output: &mut Output) -> Result<(), CliError> {
        if output.is_json() {
            return rows.iter().try_for_each(|row| output.json(row));
        }
        let is_of_grants = self.is_of_grants;
        let cells = rows.iter().map(|row| cells(row, is_of_grants));
        self.rows.print(output, cells)
    }
}

fn cells(row: &DecidedCall, is_of_grants: bool) -> [String; 8] {
    let uses = row.uses.unwrap_or_default();
    let by = match is_of_grants {
        true => match uses.last {
            Some(last) => format!("{}, last {last}", uses.count),
            // Agents say little of it: that none is known is not that there was none.
            None => "none known".to_owned(),
        },
        false => by(&row.decision),
    };
    [
        row.decision.moment.position.to_string(),
        when(row.decision.moment.at),
        short(row.call.0),
        row.tool.to_string(),
        verdict(&row.decision),
        by,
        who(&row.decision.moment.told_by),
        what(row),
    ]
}

/// The call that was judged, and that another one was recorded under its id.
fn what(row: &DecidedCall) -> String {
    let args = words(row.args.as_ref());
    match row.recorded_otherwise {
        true => format!("(recorded otherwise afterwards: annals object why) {args}"),
        false => args,
    }
}

/// A verdict, and how long it holds.
pub(super) fn verdict(decision: &ToolDecisionView) -> String {
    match decision.scope {
        GrantScope::Once => decision.verdict.to_string(),
        GrantScope::Session | GrantScope::Settings => {
            format!("{} ({})", decision.verdict, decision.scope)
        }
    }
}

/// What decided, by its name.
pub(super) fn by(decision: &ToolDecisionView) -> String {
    let named = |before: &str, text: Option<&Text>| {
        text.map_or(String::new(), |text| format!("{before}{text}"))
    };
    let source = match decision.reported_by {
        Some(reporter) => format!(", reported by {reporter}"),
        None => named(" of ", decision.source.as_ref()),
    };
    format!(
        "{}{}{source}{}",
        decision.by,
        named(" ", decision.by_name.as_ref()),
        if decision.inferred { ", inferred" } else { "" }
    )
}

/// The first words of a call's arguments: the values, of which the first one mostly says it.
pub(super) fn words(args: Option<&JsonText>) -> String {
    let Some(args) = args else {
        return String::new();
    };
    let JsonText::Present(json) = args else {
        return Text::Removed.to_string();
    };
    let value = serde_json::from_str(json.text()).unwrap_or_default();
    let text = match &value {
        serde_json::Value::Object(fields) => {
            let texts = fields.values().map(plain);
            texts.collect::<Vec<String>>().join(" ")
        }
        value => plain(value),
    };
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

fn plain(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// How often a permission was used, for people.
pub(super) fn uses(row: usize) -> String {
    counted(
        row as u64,
        "later decision rests on it",
        "later decisions rest on it",
    )
}
