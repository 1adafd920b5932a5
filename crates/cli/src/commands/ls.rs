//! `annals ls`: sessions, newest activity first.

use annals::domain::Timestamp;
use annals::projections::{
    PriceTable, ProjectLabels, SessionActivity, SessionEnd, SessionSummary, TokenSums,
    amount_of_money, dollars_and_cents, duration,
};
use annals::{At, SessionListed, SessionPage, SessionQuery};
use serde::Serialize;
use uuid::Uuid;

use crate::cli::Ls;
use crate::clock;
use crate::commands::cost::{beyond, read_prices};
use crate::context::{Context, moment};
use crate::error::CliError;
use crate::output::{Column, Row, Rows, roughly, short};

/// Columns that a terminal has for more and more columns of the table.
const NARROW: usize = 96;
const MEDIUM: usize = 120;
const WIDE: usize = 150;
const FULL: usize = 175;
/// Characters of a project's name in the table.
const PROJECT: usize = 20;
/// Characters of an agent with its model in the table.
const AGENT: usize = 26;
/// The time of a recording without times.
const NO_TIME: &str = "time unknown";

pub(crate) async fn run(args: &Ls, context: &mut Context) -> Result<(), CliError> {
    let prices = args.prices.as_deref().map(read_prices).transpose()?;
    let annals = context.reader_at(&args.floor).await?;
    let now = Timestamp::from(annals::event_log::now());
    let at = moment(&annals, args.at.as_ref()).await?;
    let query = query(args, at, now)?.with_prices_of(prices);
    let page = annals.conversations().list(&query).await?;
    if context.output.is_json() {
        let mut sessions = page.sessions.iter();
        return sessions.try_for_each(|it| context.output.json(&SessionJson::of(it, &query)));
    }
    clock::in_zone(args.zone.time_zone);
    print(args, &page, &query, context)
}

fn query(args: &Ls, at: At, now: Timestamp) -> Result<SessionQuery, CliError> {
    let mut query = SessionQuery::default()
        .with_only_failed(args.failed)
        .with_only_waiting(args.waiting)
        .with_with_sub_agents(args.sub_agents)
        .with_sort(args.sort)
        .with_ascending(args.reverse != args.sort.is_of_text())
        .with_limit(match args.limit {
            0 => usize::MAX,
            limit => limit,
        })
        .with_at(at)
        .with_now(now);
    query.project.clone_from(&args.project);
    query.agent.clone_from(&args.agent);
    query.model.clone_from(&args.model);
    query.touched.clone_from(&args.touched);
    query.text.clone_from(&args.text);
    if let Some(since) = args.since {
        query.since = Some(since.begins(args.zone.time_zone, now).ok_or_else(beyond)?);
    }
    if let Some(until) = args.until {
        query.until = Some(until.ends(args.zone.time_zone, now).ok_or_else(beyond)?);
    }
    if let Some(day) = args.on {
        let begins = day.begins(args.zone.time_zone, now).ok_or_else(beyond)?;
        let ends = day.ends(args.zone.time_zone, now).ok_or_else(beyond)?;
        query.between = Some((begins, ends));
    }
    query.min_cost = args.min_cost.map(u128::from);
    query.max_cost = args.max_cost.map(u128::from);
    Ok(query)
}

fn print(
    args: &Ls,
    page: &SessionPage,
    query: &SessionQuery,
    context: &mut Context,
) -> Result<(), CliError> {
    let is_whole = context.is_verbose;
    let output = &mut context.output;
    if page.sessions.is_empty() {
        return match page.all {
            0 => output.line(
                "There are no sessions in this log. `annals import` reads recordings of agents, `annals record on` \
                 records them as they work.",
            ),
            all => output.line(&format!(
                "No session matches. Without filters `annals ls` lists {all}."
            )),
        };
    }
    let mut rows = Rows::new([
        Column::left("ID", 8),
        Column::left("STATUS", 9),
        Column::left("LAST ACTIVITY", 13),
        Column::right("ACTIVE", 7).if_as_wide_as(MEDIUM),
        Column::left("PROJECT", 8).if_as_wide_as(NARROW),
        Column::left("AGENT", 8).if_as_wide_as(WIDE),
        Column::right("PROMPTS", 7).if_as_wide_as(FULL),
        Column::right("FILES", 6).if_as_wide_as(MEDIUM),
        Column::right("TOKENS", 6).if_as_wide_as(FULL),
        Column::right("COST", 6),
        Column::left("TITLE", 10),
    ]);
    let paths = page.sessions.iter().map(|it| it.summary.project.as_deref());
    let labels = ProjectLabels::of(paths.flatten());
    let table = SessionTable {
        query,
        labels,
        is_whole,
    };
    let rows_of = page.sessions.iter().map(|it| table.row(it));
    rows.print(output, rows_of)?;
    if page.total > page.sessions.len() {
        output.note(&format!(
            "{} of {} sessions; -n {} lists more",
            page.sessions.len(),
            page.total,
            args.limit.saturating_mul(2)
        ));
    }
    Ok(())
}

/// How sessions become rows.
struct SessionTable<'a> {
    query: &'a SessionQuery,
    labels: ProjectLabels,
    /// Texts are not cut.
    is_whole: bool,
}

impl SessionTable<'_> {
    fn row(&self, listed: &SessionListed) -> Row<11> {
        let cells = self.cells(listed);
        match self.is_whole {
            true => Row::from(cells).whole(),
            false => Row::from(cells),
        }
    }

    fn cut(&self, text: &str, characters: usize) -> String {
        match self.is_whole {
            true => text.to_owned(),
            false => cut(text, characters),
        }
    }

    fn cells(&self, listed: &SessionListed) -> [String; 11] {
        let summary = &listed.summary;
        let files = listed.files;
        let lines = match files.files {
            0 => "-".to_owned(),
            count => format!("{count} +{} -{}", files.added, files.deleted),
        };
        let active = match (listed.last_activity, summary.active_ms) {
            (None, _) | (_, 0) => "-".to_owned(),
            (_, active) => duration(active),
        };
        [
            short(summary.id),
            status(listed),
            listed
                .last_activity
                .map_or_else(|| NO_TIME.to_owned(), clock::when_brief),
            active,
            self.cut(
                summary
                    .project
                    .as_deref()
                    .map_or("-", |path| self.labels.label(path)),
                PROJECT,
            ),
            self.cut(&agent(summary), AGENT),
            summary.counts.prompts.to_string(),
            lines,
            tokens(&listed.cost.tokens),
            cost(listed, currency(self.query)),
            title(summary),
        ]
    }
}

/// The status with its sign: the sign is for the eye, the word for all.
fn status(listed: &SessionListed) -> String {
    let sign = match listed.activity {
        SessionActivity::Active => '●',
        SessionActivity::Waiting => '◆',
        SessionActivity::Failed => '■',
        SessionActivity::Ended => '○',
        SessionActivity::Idle => '·',
    };
    format!("{sign} {}", listed.activity.as_str())
}

/// The agent, and the model that it used last.
fn agent(summary: &SessionSummary) -> String {
    let agent = summary.agent.as_deref().unwrap_or("-");
    let mut models = summary.models.iter().rev();
    match models.find_map(|it| it.model.as_deref()) {
        Some(model) => format!("{agent} {}", model.strip_prefix("claude-").unwrap_or(model)),
        None => agent.to_owned(),
    }
}

fn title(summary: &SessionSummary) -> String {
    let title = summary.title_or_words();
    match summary.parent {
        None => title,
        Some(_) => format!("sub-agent: {title}"),
    }
}

fn tokens(tokens: &TokenSums) -> String {
    match tokens.total() {
        0 => "-".to_owned(),
        total => roughly(u64::try_from(total).unwrap_or(u64::MAX)),
    }
}

fn currency(query: &SessionQuery) -> &str {
    let prices = query.prices.as_ref();
    prices.unwrap_or(PriceTable::standard()).currency()
}

/// The computed cost with two digits; with a plus if some tokens have no price.
fn cost(listed: &SessionListed, currency: &str) -> String {
    let cost = listed.cost;
    if cost.tokens.total() == 0 {
        return "-".to_owned();
    }
    let amount = match currency {
        "USD" => dollars_and_cents(cost.micros),
        other => amount_of_money(cost.micros, other),
    };
    match (cost.is_known, cost.micros) {
        (true, _) => amount,
        (_, 0) => "unpriced".to_owned(),
        _ => format!("{amount}+"),
    }
}

fn cut(text: &str, characters: usize) -> String {
    let mut shown: String = text.chars().take(characters).collect();
    if shown.len() < text.len() {
        shown.pop();
        shown.push('…');
    }
    shown
}

/// A session as one line of JSON.
#[derive(Debug, Serialize)]
pub(super) struct SessionJson<'a> {
    id: Uuid,
    agent: Option<&'a str>,
    agent_version: Option<&'a str>,
    agent_session: Option<&'a str>,
    project: Option<&'a str>,
    directory: Option<&'a str>,
    branch: Option<&'a str>,
    models: Vec<&'a str>,
    title: Option<&'a str>,
    status: &'static str,
    waiting: Option<WaitJson>,
    end: Option<EndJson<'a>>,
    started: Option<Timestamp>,
    last_activity: Option<Timestamp>,
    active_ms: u64,
    prompts: u64,
    answers: u64,
    tool_calls: u64,
    failed_calls: u64,
    denied_calls: u64,
    compactions: u64,
    files: u64,
    lines_added: u64,
    lines_deleted: u64,
    tokens: &'a TokenSums,
    total_tokens: u128,
    /// The cost in USD; `null` if it is not known.
    cost: Option<f64>,
    unpriced_tokens: u128,
    recorded_cost: Option<f64>,
    parent: Option<Uuid>,
    continues: Option<Uuid>,
    runs: &'a [Uuid],
    sub_agents: Vec<SessionJson<'a>>,
}

#[derive(Debug, Serialize)]
struct WaitJson {
    call: Uuid,
    kind: &'static str,
    since: Timestamp,
}

#[derive(Debug, Serialize)]
struct EndJson<'a> {
    failed: bool,
    reason: Option<&'a str>,
    position: u64,
    at: Timestamp,
}

impl<'a> SessionJson<'a> {
    pub(super) fn of(listed: &'a SessionListed, query: &SessionQuery) -> SessionJson<'a> {
        let summary = &listed.summary;
        let mut models: Vec<&str> = Vec::new();
        for it in summary.models.iter().rev() {
            let model = it.model.as_deref();
            models.extend(model.filter(|model| !models.contains(model)));
        }
        let is_known = listed.cost.is_known && currency(query) == "USD";
        SessionJson {
            id: summary.id,
            agent: summary.agent.as_deref(),
            agent_version: summary.agent_version.as_deref(),
            agent_session: summary.agent_session.as_deref(),
            project: summary.project.as_deref(),
            directory: summary.directory.as_deref(),
            branch: summary.branch.as_deref(),
            models,
            title: summary.title.as_deref(),
            status: listed.activity.as_str(),
            waiting: summary.waiting.as_ref().map(|wait| WaitJson {
                call: wait.call,
                kind: match wait.is_question {
                    true => "question",
                    false => "permission",
                },
                since: wait.since,
            }),
            end: summary.end.as_ref().map(EndJson::of),
            started: summary.started,
            last_activity: listed.last_activity,
            active_ms: summary.active_ms,
            prompts: summary.counts.prompts,
            answers: summary.counts.answers,
            tool_calls: summary.counts.tool_calls,
            failed_calls: summary.counts.failed_calls,
            denied_calls: summary.counts.denied_calls,
            compactions: summary.counts.compactions,
            files: listed.files.files,
            lines_added: listed.files.added,
            lines_deleted: listed.files.deleted,
            tokens: &listed.cost.tokens,
            total_tokens: listed.cost.tokens.total(),
            cost: is_known.then(|| usd(listed.cost.micros)),
            unpriced_tokens: listed.cost.unpriced_tokens,
            recorded_cost: listed.cost.recorded_micros.map(usd),
            parent: summary.parent,
            continues: summary.continues,
            runs: &summary.runs,
            sub_agents: listed
                .sub_agents
                .iter()
                .map(|it| SessionJson::of(it, query))
                .collect(),
        }
    }
}

impl EndJson<'_> {
    fn of(end: &SessionEnd) -> EndJson<'_> {
        EndJson {
            failed: end.failed,
            reason: end.reason.as_deref(),
            position: end.position,
            at: end.at,
        }
    }
}

/// Millionths as a number.
fn usd(micros: u128) -> f64 {
    #[allow(
        clippy::cast_precision_loss,
        reason = "no session costs more than 9 billion USD"
    )]
    let micros = micros as f64;
    micros / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_to_their_columns() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(cut("éééééé", 3), "éé…");
    }

    #[test]
    fn millionths_are_a_number() {
        assert!((usd(1_250_000) - 1.25).abs() < f64::EPSILON);
    }
}
