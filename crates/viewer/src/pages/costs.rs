//! What agents' work cost, by days, models, sessions and more: the report of `annals cost`, with a bar a row.
//!
//! Costs are of now. What was used up to a day is asked for by `until`.

mod chart;
mod draw;
mod model;
mod session_names;

use annals::domain::Timestamp;
use annals::projections::{CostAxis, CostReport, CostTime, CostZone, ProjectLabels};
use annals::{Annals, CostQuery};
use axum::response::Response;

pub(crate) use self::chart::{DayCosts, chart};
pub(crate) use self::model::Costs;
use self::model::{CostLine, Scope};
use self::session_names::{SessionTasks, sessions};
use crate::answer::{Asked, Live, Page, Slider};
use crate::costing;
use crate::moment::Params;
use crate::pages::list::plain;
use crate::problem::Problem;

/// Axes of one table.
const MOST_AXES: usize = 3;
/// Days of an overview.
const SHOWN: u32 = 30;

pub(crate) async fn costs(asked: Asked) -> Result<Response, Problem> {
    if asked.moment.is_chosen {
        let detail = "costs are of now: leave out at, and say by until up to which day they count";
        return Err(Problem::invalid(detail));
    }
    let query = query(&asked.params, asked.annals()).await?;
    let from = asked.params.number("from")?.unwrap_or(0);
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let limit = asked.params.limit()?;
    let scope = Scope::of(&query);
    let chart = query.clone().with_by(chart_axes(&query.by));
    let (report, tasks) = session_names::report(asked.annals(), query).await?;
    let of_days = match report.by == chart.by {
        true => None,
        false => Some(costing::report(asked.annals(), chart).await?),
    };
    let labels = project_labels([Some(&report), of_days.as_ref()]);
    let days = DayCosts::of(of_days.as_ref().unwrap_or(&report), &labels);
    let mut costs = Costs::of(&report, &labels, scope, (from, limit));
    name_objects(&asked, &mut costs.rows, &tasks).await?;
    let page = Page {
        title: "Costs".to_owned(),
        section: "Costs",
        live: Live::Log,
        slider: Slider::None,
        subject: None,
        markdown: markdown(&costs),
        command: command(&asked.params),
        data: costs,
    };
    asked
        .answer(page, |costs| draw::draw(costs, &days, &asked))
        .await
}

/// The axes of the chart: days, stacked by what the table is by, or else by project.
fn chart_axes(by: &[CostAxis]) -> Vec<CostAxis> {
    let is_series = |axis: &&CostAxis| {
        matches!(
            axis,
            CostAxis::Project | CostAxis::Model | CostAxis::Agent | CostAxis::Actor
        )
    };
    let series = by.iter().find(is_series).copied();
    vec![CostAxis::Day, series.unwrap_or(CostAxis::Project)]
}

/// The labels of the projects of a table and of its chart.
fn project_labels(reports: [Option<&CostReport>; 2]) -> ProjectLabels {
    let rows = reports.into_iter().flatten().flat_map(|it| &it.rows);
    let keys = rows.flat_map(|row| &row.by);
    let projects = keys.filter(|key| key.axis == CostAxis::Project);
    ProjectLabels::of(projects.filter_map(|key| key.value.as_deref()))
}

/// What the days cost up to a time, for an overview.
pub(crate) async fn last_days(annals: &Annals, time: Timestamp) -> Result<DayCosts, Problem> {
    let zone = CostZone::Local;
    let since = CostTime::Days(SHOWN).begins(zone, time);
    let query = CostQuery::by([CostAxis::Day])
        .with_since(since)
        .with_zone(zone);
    let report = costing::report(annals, query).await?;
    Ok(DayCosts::of(
        &report,
        &project_labels([Some(&report), None]),
    ))
}

/// Reads what is asked for, as the command line writes it.
async fn query(params: &Params, annals: &Annals) -> Result<CostQuery, Problem> {
    let by = params.get("by").unwrap_or("day").split(',');
    let axis = |word: &str| {
        let shown: String = word.chars().take(64).collect();
        let wrong = |error| Problem::invalid(format!("invalid by {shown:?}: {error}"));
        word.parse::<CostAxis>().map_err(wrong)
    };
    let by: Vec<CostAxis> = by.map(axis).collect::<Result<_, _>>()?;
    if by.len() > MOST_AXES {
        let detail = format!("costs are shown by {MOST_AXES} things at most");
        return Err(Problem::invalid(detail));
    }
    let zone = match params.get("zone") {
        None => CostZone::Local,
        Some(text) => text
            .parse()
            .map_err(|error| Problem::invalid(format!("invalid zone: {error}")))?,
    };
    let now = Timestamp::from(annals::event_log::now());
    let time = |name: &str, is_end: bool| -> Result<Option<Timestamp>, Problem> {
        let Some(text) = params.get(name) else {
            return Ok(None);
        };
        let shown: String = text.chars().take(64).collect();
        let wrong = |error| Problem::invalid(format!("invalid {name} {shown:?}: {error}"));
        let when: CostTime = text.parse().map_err(wrong)?;
        let time = match is_end {
            true => when.ends(zone, now),
            false => when.begins(zone, now),
        };
        let beyond = || Problem::invalid(format!("invalid {name}: no calendar has that day"));
        Ok(Some(when.in_quarters(time.ok_or_else(beyond)?)))
    };
    let (since, until) = (time("since", false)?, time("until", true)?);
    let of = match params.get("of") {
        None => None,
        Some(name) => Some(annals.resolve(name).await?.id),
    };
    Ok(CostQuery::by(by)
        .with_since(since)
        .with_until(until)
        .with_zone(zone)
        .with_of(of)
        .with_project(params.get("project").map(str::to_owned))
        .with_agent(params.get("agent").map(str::to_owned)))
}

/// Says of each row that is of an object or a session what that is called.
async fn name_objects(
    asked: &Asked,
    rows: &mut [CostLine],
    tasks: &SessionTasks,
) -> Result<(), Problem> {
    let mut reading = asked.reading();
    let sessions = sessions(asked.annals(), rows, tasks).await?;
    for key in rows.iter_mut().flat_map(|row| &mut row.by) {
        if let Some(session) = key.session().and_then(|name| sessions.get(name)) {
            key.object = Some(session.id);
            key.title = Some(session.title.clone());
        } else if let Some(id) = key.id()
            && let Some(row) = reading.row_of(id).await?
        {
            key.object = Some(id);
            key.title = Some(row.name());
        }
    }
    Ok(())
}

/// The command that prints the same.
fn command(params: &Params) -> String {
    let mut command = "annals cost".to_owned();
    if let Some(of) = params.get("of") {
        command.push_str(&format!(" {of}"));
    }
    for (name, flag) in [
        ("by", "--by"),
        ("project", "--project"),
        ("agent", "--agent"),
        ("since", "--since"),
        ("until", "--until"),
        ("zone", "--time-zone"),
    ] {
        if let Some(value) = params.get(name) {
            command.push_str(&format!(" {flag} {value}"));
        }
    }
    command
}

fn markdown(costs: &Costs) -> String {
    let mut text = format!(
        "# Costs by {}\n\nComputed by prices as of {}, in {}.\n\n| | Tokens | Cost |\n| --- | ---: | ---: |\n",
        costs.by.join(", "),
        costs.prices_as_of,
        plain(&costs.currency)
    );
    for row in &costs.rows {
        let names: Vec<String> = row.by.iter().map(|key| plain(&key.name())).collect();
        text.push_str(&format!(
            "| {} | {} | {} |\n",
            names.join(", "),
            row.sums.total_tokens,
            row.sums.cost(&costs.currency)
        ));
    }
    let total = &costs.total;
    text.push_str(&format!(
        "| Total | {} | {} |\n",
        total.total_tokens,
        total.cost(&costs.currency)
    ));
    text
}
