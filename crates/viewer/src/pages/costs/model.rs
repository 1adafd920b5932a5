//! Costs as pages and the API have them.

use annals::CostQuery;
use annals::projections::{
    CostAxis, CostKey, CostReport, CostRow, CostSums, ProjectLabels, UnpricedModel, amount_of_money,
};
use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::figures::money;

/// Models without a price that are listed.
const UNPRICED: usize = 20;

/// What agents' work cost.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Costs {
    /// What the rows are by.
    pub(super) by: Vec<&'static str>,
    /// Only what belongs to this object; null where all is shown.
    pub(super) of: Option<Uuid>,
    /// Only the work in this project: its path, a path above it, or its name.
    pub(super) project: Option<String>,
    /// Only the work of this agent.
    pub(super) agent: Option<String>,
    /// Only what was used from here on.
    pub(super) since: Option<String>,
    /// Only what was used before.
    pub(super) until: Option<String>,
    /// Whose days count.
    pub(super) time_zone: String,
    /// The currency of what was computed.
    pub(super) currency: String,
    /// The day as of which the prices are.
    pub(super) prices_as_of: String,
    /// All of it.
    pub(super) total: CostNumbers,
    /// The rows that are shown, from `from` on: by day the newest first, else those first that cost most.
    pub(super) rows: Vec<CostLine>,
    /// How many rows there are.
    pub(super) rows_total: usize,
    /// The first row that is shown, from 0.
    pub(super) from: usize,
    /// Where it goes on, as `from`; null where this is the end.
    pub(super) next: Option<usize>,
    /// Models of which the table of prices has no price, at most 20.
    pub(super) unpriced: Vec<Unpriced>,
}

/// A row.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CostLine {
    /// What it is of, in the order of `by`.
    pub(super) by: Vec<CostOf>,
    /// By sub-agents, how many tasks its task is below.
    pub(super) depth: usize,
    /// What it cost by itself.
    pub(super) sums: CostNumbers,
    /// By sub-agents, the same with all that is below it.
    pub(super) with_sub_agents: Option<CostNumbers>,
    /// Its part of the row that cost most, or, where nothing has a price, of that with most tokens: 0 to 1.
    pub(super) share: f64,
}

/// What a row is of, on one axis.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CostOf {
    /// The axis.
    pub(super) axis: &'static str,
    /// The day, the model, the object's id; null where there is none, or it is not known.
    pub(super) value: Option<String>,
    /// What an object is called.
    pub(super) title: Option<String>,
    /// The object, if it is one of this log.
    pub(super) object: Option<Uuid>,
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub(super) struct CostNumbers {
    /// Prompt tokens that came neither from a cache nor went into one.
    pub(super) uncached_input_tokens: u64,
    /// Prompt tokens read from a cache.
    pub(super) cache_read_tokens: u64,
    /// Prompt tokens written to a cache.
    pub(super) cache_write_tokens: u64,
    /// Completion tokens.
    pub(super) output_tokens: u64,
    /// How many of those the model thought with.
    pub(super) reasoning_tokens: u64,
    /// All tokens, each once.
    pub(super) total_tokens: u64,
    /// Tokens that the table has no price for, which are not in what was computed.
    pub(super) unpriced_tokens: u64,
    /// Searches of the web that vendors made for their models.
    pub(super) web_searches: u64,
    /// How many of those the table has no price for.
    pub(super) unpriced_web_searches: u64,
    /// What the tokens cost by the table of prices, in millionths of its currency.
    pub(super) computed_micros: u64,
    /// What the agents' programs said, in millionths of a USD; null where they said nothing.
    pub(super) recorded_usd_micros: Option<u64>,
}

/// A model without a price.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Unpriced {
    /// Its name; null where it is not known.
    pub(super) model: Option<String>,
    /// How many tokens.
    pub(super) tokens: u64,
    /// How many searches of the web.
    pub(super) web_searches: u64,
}

/// To what a report is limited, in addition to times.
#[derive(Debug)]
pub(super) struct Scope {
    of: Option<Uuid>,
    project: Option<String>,
    agent: Option<String>,
}

impl Scope {
    pub(super) fn of(query: &CostQuery) -> Scope {
        Scope {
            of: query.of,
            project: query.project.clone(),
            agent: query.agent.clone(),
        }
    }
}

/// Returns a day for people.
fn day_title(day: &str) -> Option<String> {
    let day: NaiveDate = day.parse().ok()?;
    Some(day.format("%a %-d %b %Y").to_string())
}

impl Costs {
    pub(super) fn of(
        report: &CostReport,
        labels: &ProjectLabels,
        scope: Scope,
        (from, limit): (usize, usize),
    ) -> Costs {
        let most = Largest::of(report);
        let from = from.min(report.rows.len());
        let mut all: Vec<&CostRow> = report.rows.iter().collect();
        // The newest day first, as in lists.
        if report.by.first() == Some(&CostAxis::Day) {
            all.reverse();
        }
        let rows = all.into_iter().skip(from).take(limit);
        let mut rows: Vec<CostLine> = rows.map(|row| CostLine::of(row, &most)).collect();
        for key in rows.iter_mut().flat_map(|row| &mut row.by) {
            if key.axis == CostAxis::Day.as_str() {
                key.title = key.value.as_deref().and_then(day_title);
            }
            if key.axis == CostAxis::Project.as_str() {
                key.title = key.value.as_ref().map(|it| labels.label(it).to_owned());
            }
        }
        let next = from + rows.len();
        Costs {
            by: report.by.iter().map(|axis| axis.as_str()).collect(),
            of: scope.of,
            project: scope.project,
            agent: scope.agent,
            since: report.since.map(|time| time.to_string()),
            until: report.until.map(|time| time.to_string()),
            time_zone: report.time_zone.to_string(),
            currency: report.currency.clone(),
            prices_as_of: report.prices_as_of.to_string(),
            total: CostNumbers::of(&report.total),
            rows,
            rows_total: report.rows.len(),
            from,
            next: Some(next).filter(|next| *next < report.rows.len()),
            unpriced: report
                .unpriced
                .iter()
                .take(UNPRICED)
                .map(Unpriced::of)
                .collect(),
        }
    }
}

/// The longest bar: the most that a row cost, and the most tokens of a row.
struct Largest {
    micros: u128,
    tokens: u128,
}

impl Largest {
    fn of(report: &CostReport) -> Largest {
        let rows = || report.rows.iter().map(|row| &row.sums);
        Largest {
            micros: rows().map(|sums| sums.computed_micros).max().unwrap_or(0),
            tokens: rows()
                .map(|sums| sums.used.tokens.total())
                .max()
                .unwrap_or(0),
        }
    }

    #[allow(clippy::cast_precision_loss, reason = "the length of a bar")]
    fn share(&self, sums: &CostSums) -> f64 {
        let (part, whole) = match self.micros {
            0 => (sums.used.tokens.total(), self.tokens),
            micros => (sums.computed_micros, micros),
        };
        part as f64 / whole.max(1) as f64
    }
}

impl CostLine {
    fn of(row: &CostRow, most: &Largest) -> CostLine {
        CostLine {
            by: row.by.iter().map(CostOf::of).collect(),
            depth: row.depth,
            sums: CostNumbers::of(&row.sums),
            with_sub_agents: row.with_sub_agents.as_ref().map(CostNumbers::of),
            share: most.share(&row.sums),
        }
    }
}

impl CostOf {
    fn of(key: &CostKey) -> CostOf {
        CostOf {
            axis: key.axis.as_str(),
            value: key.value.clone(),
            title: key.title.clone(),
            object: None,
        }
    }

    /// The object that it may be of.
    pub(super) fn id(&self) -> Option<Uuid> {
        let axis: CostAxis = self.axis.parse().ok()?;
        let value = self.value.as_deref().filter(|_| axis.is_of_objects())?;
        value.parse().ok()
    }

    /// The session that it may be of, by its agent's id.
    pub(super) fn session(&self) -> Option<&str> {
        let is_session = self.axis == CostAxis::Session.as_str();
        self.value.as_deref().filter(|_| is_session)
    }

    /// What it is called, on one line.
    pub(super) fn name(&self) -> String {
        let text = self.title.as_ref().or(self.value.as_ref());
        match text {
            Some(text) => text.clone(),
            None => "(unknown)".to_owned(),
        }
    }
}

impl CostNumbers {
    pub(super) fn of(sums: &CostSums) -> CostNumbers {
        let tokens = &sums.used.tokens;
        CostNumbers {
            uncached_input_tokens: fitting(tokens.uncached_input_tokens),
            cache_read_tokens: fitting(tokens.cache_read_tokens),
            cache_write_tokens: fitting(tokens.cache_write_tokens),
            output_tokens: fitting(tokens.output_tokens),
            reasoning_tokens: fitting(tokens.reasoning_tokens),
            total_tokens: fitting(tokens.total()),
            unpriced_tokens: fitting(sums.unpriced_tokens),
            web_searches: fitting(sums.used.web_searches),
            unpriced_web_searches: fitting(sums.unpriced_searches),
            computed_micros: fitting(sums.computed_micros),
            recorded_usd_micros: sums.recorded_micros().map(fitting),
        }
    }

    /// What was computed; with a plus where some of it has no price.
    pub(super) fn cost(&self, currency: &str) -> String {
        let cost = amount(self.computed_micros, currency);
        let unpriced = (self.unpriced_tokens, self.unpriced_web_searches);
        match (unpriced, self.computed_micros) {
            ((0, 0), _) => cost,
            (_, 0) => "unpriced".to_owned(),
            _ => format!("{cost}+"),
        }
    }
}

impl Unpriced {
    fn of(unpriced: &UnpricedModel) -> Unpriced {
        Unpriced {
            model: unpriced.model.clone(),
            tokens: fitting(unpriced.tokens),
            web_searches: fitting(unpriced.web_searches),
        }
    }
}

/// An amount for people, to the cent where it is in USD.
pub(super) fn amount(micros: u64, currency: &str) -> String {
    match currency {
        "USD" => money(micros.into()),
        other => amount_of_money(micros.into(), other),
    }
}

/// A sum as the API has it; no log comes near the end of 64 bits.
fn fitting(sum: u128) -> u64 {
    u64::try_from(sum).unwrap_or(u64::MAX)
}
