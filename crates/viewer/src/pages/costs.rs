//! What agents' work cost, by days, models, sessions and more: the report of `annals cost`, with a bar a row.
//!
//! Costs are of now. What was used up to a day is asked for by `until`.

mod chart;
mod draw;
mod model;

use annals::domain::Timestamp;
use annals::projections::{CostAxis, CostTime, CostZone};
use annals::{Annals, CostQuery};
use axum::response::Response;

pub(crate) use self::chart::{DayCosts, chart};
use self::model::CostLine;
pub(crate) use self::model::Costs;
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
    let of = query.of;
    let report = costing::report(asked.annals(), query).await?;
    let days = DayCosts::of(&report);
    let mut costs = Costs::of(&report, of, from, limit);
    name_objects(&asked, &mut costs.rows).await?;
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

/// What the days cost up to a time, for an overview.
pub(crate) async fn last_days(annals: &Annals, time: Timestamp) -> Result<DayCosts, Problem> {
    let zone = CostZone::Utc;
    let since = CostTime::Days(SHOWN).begins(zone, time);
    let query = CostQuery::by([CostAxis::Day]).with_since(since);
    let report = costing::report(annals, query).await?;
    Ok(DayCosts::of(&report))
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
        None => CostZone::Utc,
        Some(text) => text
            .parse()
            .map_err(|error| Problem::invalid(format!("invalid zone: {error}")))?,
    };
    let now = Timestamp::from(annals::event_log::now());
    let time = |name: &str, is_end: bool| match params.get(name) {
        None => Ok(None),
        Some(text) => {
            let wrong = |error| Problem::invalid(format!("invalid {name}: {error}"));
            let time: CostTime = text.parse().map_err(wrong)?;
            let time = match is_end {
                true => time.ends(zone, now),
                false => time.begins(zone, now),
            };
            let beyond = || Problem::invalid(format!("invalid {name}: no calendar has that day"));
            time.map(Some).ok_or_else(beyond)
        }
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
        .with_of(of))
}

/// Says of each row that is of an object what that is called.
async fn name_objects(asked: &Asked, rows: &mut [CostLine]) -> Result<(), Problem> {
    let mut reading = asked.reading();
    for row in rows {
        for key in &mut row.by {
            let Some(id) = key.id() else {
                continue;
            };
            if let Some(row) = reading.row_of(id).await? {
                key.object = Some(id);
                key.title = Some(row.name());
            }
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
