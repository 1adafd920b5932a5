//! `annals cost`: what agents' work cost, by days, models, runs and more.

mod chart;

use std::path::Path;

use annals::domain::Timestamp;
use annals::projections::{
    CostAxis, CostKey, CostReport, CostRow, CostSums, PriceTable, ProjectLabels, amount_of_money,
};
use annals::{Annals, CostQuery};
use annals_live::ledger::LedgerDue;
use uuid::Uuid;

use self::chart::Chart;
use crate::cli::Cost;
use crate::clock;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::{Column, Output, Rows, roughly, short};
use crate::small_text::{self, NoText};

/// Axes of one table.
const MOST_AXES: usize = 3;
/// Characters of the longest bar.
const BAR: u128 = 20;
/// Characters of a title in a row.
const TITLE: usize = 40;
/// Models without a price that are listed.
const UNPRICED: usize = 20;

pub(crate) async fn run(args: &Cost, context: &mut Context) -> Result<(), CliError> {
    if args.print_prices {
        return context.output.raw(PriceTable::standard_text().as_bytes());
    }
    if args.by.len() > MOST_AXES {
        let message = format!("costs are shown by {MOST_AXES} things at most");
        return Err(CliError::new(ErrorClass::Usage, "usage", message));
    }
    let prices = args.prices.as_deref().map(read_prices).transpose()?;
    let annals = context.reader_at(&args.floor).await?;
    clock::in_zone(args.zone.time_zone);
    let query = query(args, prices, &annals).await?;
    let report = annals.costs().report(&query).await?;
    context.keep_ledger(&annals, LedgerDue::Now).await;
    match context.output.is_json() {
        true => context.output.json(&report),
        false => print(&report, &mut context.output),
    }
}

async fn query(
    args: &Cost,
    prices: Option<PriceTable>,
    annals: &Annals,
) -> Result<CostQuery, CliError> {
    let now = Timestamp::from(annals::event_log::now());
    let of = match &args.id {
        Some(id) => Some(super::named::object(annals, id).await?.id),
        None => None,
    };
    let (mut since, mut until) = (None, None);
    if let Some(when) = args.since {
        let begins = when.begins(args.zone.time_zone, now);
        since = Some(
            begins
                .map(|time| when.in_quarters(time))
                .ok_or_else(beyond)?,
        );
    }
    if let Some(when) = args.until {
        let ends = when.ends(args.zone.time_zone, now);
        until = Some(ends.map(|time| when.in_quarters(time)).ok_or_else(beyond)?);
    }
    Ok(CostQuery::by(args.by.as_slice())
        .with_since(since)
        .with_until(until)
        .with_zone(args.zone.time_zone)
        .with_of(of)
        .with_project(args.project.clone())
        .with_agent(args.agent.clone())
        .with_prices(prices)
        .with_explain_prices(args.explain_prices))
}

pub(super) fn beyond() -> CliError {
    CliError::new(ErrorClass::Usage, "usage", "no calendar has that day")
}

/// Reads a table of prices.
pub(super) fn read_prices(path: &Path) -> Result<PriceTable, CliError> {
    let input = |source| CliError::input(path, source);
    let wrong = |reason: &str| {
        let message = format!("{}: {reason}", path.display());
        let error = CliError::new(ErrorClass::Invalid, "invalid_prices", message);
        error.hint("`annals cost --print-prices` prints a table to begin with")
    };
    let file = annals_files::open(path).map_err(input)?;
    let text = small_text::read(file).map_err(|error| match error {
        NoText::Unreadable(source) => input(source),
        NoText::TooLong => wrong("it is longer than 1 MiB, and no table of prices is"),
        NoText::NotUtf8 { .. } => wrong("it is not UTF-8"),
    })?;
    PriceTable::parse(&text).map_err(|error| wrong(&error.to_string()))
}

fn print(report: &CostReport, output: &mut Output) -> Result<(), CliError> {
    if report.rows.is_empty() && report.total.used.usages == 0 {
        return output.line("no cost recorded");
    }
    let table = Table::of(report);
    match (report.by.len(), table.is_tree) {
        (_, true) => table.print::<10>(report, output)?,
        (0 | 1, _) => table.print::<9>(report, output)?,
        (2, _) => table.print::<10>(report, output)?,
        _ => table.print::<11>(report, output)?,
    }
    output.line("")?;
    output.line(&format!(
        "COST is computed by prices as of {}, in {}; days are {}.",
        report.prices_as_of, report.currency, report.time_zone
    ))?;
    let searches = report.total.used.web_searches;
    if searches > report.total.unpriced_searches {
        let priced = searches - report.total.unpriced_searches;
        output.line(&format!("COST includes {}.", web_searches(priced)))?;
    }
    let shown = report.unpriced.iter().take(UNPRICED);
    for unpriced in shown {
        let of_tokens = format!("{} tokens", tokens(unpriced.tokens));
        let what = match (unpriced.tokens, unpriced.web_searches) {
            (_, 0) => of_tokens,
            (0, searches) => web_searches(searches),
            (_, searches) => format!("{of_tokens} and {}", web_searches(searches)),
        };
        let model = unpriced.model.as_deref().unwrap_or("(unknown)");
        output.line(&format!("Not in COST, without a price: {what} of {model}"))?;
    }
    if report.unpriced.len() > UNPRICED {
        let more = report.unpriced.len() - UNPRICED;
        output.line(&format!("and of {more} more models: see --json"))?;
    }
    explain(report, output)?;
    let names = Names::of(report);
    match Chart::of(report, |key| names.name(key, 0)) {
        Some(chart) => chart.print(output),
        None => Ok(()),
    }
}

fn web_searches(count: u128) -> String {
    match count {
        1 => "1 web search".to_owned(),
        count => format!("{} web searches", tokens(count)),
    }
}

/// Prints the prices that were used, if the report has them.
fn explain(report: &CostReport, output: &mut Output) -> Result<(), CliError> {
    if report.prices.is_empty() {
        return Ok(());
    }
    output.line("")?;
    output.line("Prices for a million tokens, and for a thousand web searches:")?;
    let columns = [
        Column::left("MODEL", 10),
        Column::left("FROM", 10),
        Column::right("INPUT", 6),
        Column::right("CACHE READ", 6),
        Column::right("CACHE WRITE", 6),
        Column::right("FOR AN HOUR", 6),
        Column::right("OUTPUT", 6),
        Column::right("WEB SEARCH", 6),
        Column::right("TOKENS", 6),
        Column::right("COST", 8),
        Column::left("SOURCE", 10),
    ];
    let rows = report.prices.iter().map(|used| {
        let price = used.row.price;
        let amount = |micros: Option<u64>| {
            let amount = micros.map(|micros| amount_of_money(micros.into(), &report.currency));
            amount.unwrap_or_else(|| "-".to_owned())
        };
        [
            used.model.clone(),
            used.row.from.to_string(),
            amount(Some(price.input)),
            amount(price.cache_read),
            amount(price.cache_write),
            amount(price.cache_write_1h),
            amount(Some(price.output)),
            amount(price.web_search),
            tokens(used.sums.used.tokens.total()),
            amount_of_money(used.sums.computed_micros, &report.currency),
            used.row.source.clone().unwrap_or_default(),
        ]
    });
    Rows::new(columns).print(output, rows)
}

/// How a report becomes a table.
struct Table<'a> {
    is_tree: bool,
    names: Names,
    currency: &'a str,
    /// The largest amount that has a bar; without any price, the most tokens.
    largest: (u128, u128),
}

impl Table<'_> {
    fn of(report: &CostReport) -> Table<'_> {
        let own = |row: &CostRow| (row.sums.computed_micros, row.sums.used.tokens.total());
        let rows = report.rows.iter().map(own);
        let largest = rows.fold((0, 0), |most: (u128, u128), row| {
            (most.0.max(row.0), most.1.max(row.1))
        });
        Table {
            is_tree: report.by.contains(&CostAxis::SubAgent),
            names: Names::of(report),
            currency: &report.currency,
            largest,
        }
    }

    /// Prints it with so many columns, which it must have.
    fn print<const N: usize>(
        &self,
        report: &CostReport,
        output: &mut Output,
    ) -> Result<(), CliError> {
        let titles = report.by.iter().map(|axis| Column::left(title(*axis), 10));
        let mut columns: Vec<Column> = titles.collect();
        if columns.is_empty() {
            columns.push(Column::left("WHAT", 10));
        }
        columns.extend([
            Column::right("INPUT", 6),
            Column::right("CACHE READ", 6),
            Column::right("CACHE WRITE", 6),
            Column::right("OUTPUT", 6),
            Column::right("THOUGHTS", 6),
            Column::right("RECORDED", 8),
            Column::right("COST", 8),
        ]);
        if self.is_tree {
            columns.push(Column::right("WITH SUB-AGENTS", 8));
        }
        columns.push(Column::left("", 1));
        let mut cells: Vec<Vec<String>> = report.rows.iter().map(|row| self.row(row)).collect();
        cells.push(self.total(report));
        let fill = || [const { String::new() }; N];
        let mut shown = [Column::left("", 1); N];
        shown
            .iter_mut()
            .zip(columns)
            .for_each(|(to, from)| *to = from);
        let rows = cells.into_iter().map(|row| {
            let mut cells = fill();
            cells.iter_mut().zip(row).for_each(|(to, from)| *to = from);
            cells
        });
        Rows::new(shown).print(output, rows)
    }

    fn row(&self, row: &CostRow) -> Vec<String> {
        let mut cells: Vec<String> = row
            .by
            .iter()
            .map(|key| self.names.name(key, row.depth))
            .collect();
        cells.extend(self.sums(&row.sums));
        if let Some(with) = &row.with_sub_agents {
            cells.push(self.cost(with));
        }
        cells.push(self.bar(&row.sums));
        cells
    }

    fn total(&self, report: &CostReport) -> Vec<String> {
        let mut cells = vec![String::new(); report.by.len().max(1)];
        if let Some(first) = cells.first_mut() {
            "TOTAL".clone_into(first);
        }
        cells.extend(self.sums(&report.total));
        cells
    }

    fn sums(&self, sums: &CostSums) -> [String; 7] {
        let used = &sums.used.tokens;
        let recorded = sums.recorded_micros();
        [
            tokens(used.uncached_input_tokens),
            tokens(used.cache_read_tokens),
            tokens(used.cache_write_tokens),
            tokens(used.output_tokens),
            tokens(used.reasoning_tokens),
            recorded.map_or("-".to_owned(), |micros| amount_of_money(micros, "USD")),
            self.cost(sums),
        ]
    }

    /// What was computed; with a plus where some of it has no price.
    fn cost(&self, sums: &CostSums) -> String {
        let cost = amount_of_money(sums.computed_micros, self.currency);
        match (sums.is_partly_unpriced(), sums.computed_micros) {
            (false, _) => cost,
            (_, 0) => "unpriced".to_owned(),
            _ => format!("{cost}+"),
        }
    }

    fn bar(&self, sums: &CostSums) -> String {
        let (micros, tokens) = self.largest;
        let (part, whole) = match micros {
            0 => (sums.used.tokens.total(), tokens),
            micros => (sums.computed_micros, micros),
        };
        // Both are divided first where the product would be too large.
        let length = match part.checked_mul(BAR) {
            Some(product) => product.div_ceil(whole.max(1)),
            None => part / (whole / BAR).max(1),
        };
        "█".repeat(usize::try_from(length.min(BAR)).unwrap_or_default())
    }
}

fn title(axis: CostAxis) -> &'static str {
    match axis {
        CostAxis::Day => "DAY",
        CostAxis::Model => "MODEL",
        CostAxis::Actor => "ACTOR",
        CostAxis::Run => "RUN",
        CostAxis::Task => "TASK",
        CostAxis::Intent => "INTENT",
        CostAxis::Project => "PROJECT",
        CostAxis::Agent => "AGENT",
        CostAxis::Session => "SESSION",
        CostAxis::SubAgent => "TASK",
    }
}

/// The names of a report's rows: an object by its short id and its title, a project by its label.
struct Names {
    labels: ProjectLabels,
}

impl Names {
    fn of(report: &CostReport) -> Names {
        let keys = report.rows.iter().flat_map(|row| &row.by);
        let projects = keys.filter(|key| key.axis == CostAxis::Project);
        Names {
            labels: ProjectLabels::of(projects.filter_map(|key| key.value.as_deref())),
        }
    }

    fn name(&self, key: &CostKey, depth: usize) -> String {
        let indent = "  ".repeat(depth.min(TITLE));
        let Some(value) = &key.value else {
            return match key.axis {
                CostAxis::Model | CostAxis::Project | CostAxis::Agent => "(unknown)".to_owned(),
                _ => "(none)".to_owned(),
            };
        };
        if key.axis == CostAxis::Project {
            return self.labels.label(value).to_owned();
        }
        let id: Option<Uuid> = value.parse().ok().filter(|_| key.axis.is_of_objects());
        let Some(id) = id else {
            return format!("{indent}{value}");
        };
        let title = key.title.as_deref().unwrap_or_default();
        let mut shown: String = title.chars().take(TITLE).collect();
        if shown.len() < title.len() {
            shown.push('…');
        }
        format!("{indent}{} {shown}", short(id))
            .trim_end()
            .to_owned()
    }
}

fn tokens(count: u128) -> String {
    match u64::try_from(count) {
        Ok(count) => roughly(count),
        Err(_) => count.to_string(),
    }
}
