//! What `ls` takes.

use std::path::PathBuf;

use annals::projections::{CostTime, parse_amount};
use annals::{AtName, SessionSort};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::reading::{Floor, Zone};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals ls                               the newest sessions
  annals ls --project shop --since 7d     one project, the last week
  annals ls --waiting                     sessions that wait for you
  annals ls --touched 'src/**/*.rs'       sessions that changed such a file
  annals ls --sort cost -n 10             the ten most expensive sessions
  annals ls --on yesterday --min-cost 5   yesterday's sessions of $5 or more
  annals ls --json | jq -r '[.project, .title, .cost] | @tsv'")]
pub(crate) struct Ls {
    /// Only sessions of this project: its path, a path above it, or its name
    #[arg(long, value_name = "PATH|NAME")]
    pub(crate) project: Option<String>,
    /// Only sessions of this agent, such as claude or codex
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Only sessions with a model whose name contains this text
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// Only sessions with activity since a day (2026-01-31), in the last N days (7d), or since a time (RFC 3339)
    #[arg(long, value_name = "DAY|Nd|TIME")]
    pub(crate) since: Option<CostTime>,
    /// Only sessions that started before the end of this day, or before this time
    #[arg(long, value_name = "DAY|Nd|TIME")]
    pub(crate) until: Option<CostTime>,
    /// Only sessions with activity on a day: 2026-01-31, today or yesterday
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(crate) on: Option<CostTime>,
    /// Only sessions that cost at least this amount, sub-agents included
    #[arg(long, value_name = "USD", value_parser = amount)]
    pub(crate) min_cost: Option<u64>,
    /// Only sessions whose cost is known and at most this amount
    #[arg(long, value_name = "USD", value_parser = amount)]
    pub(crate) max_cost: Option<u64>,
    /// Only sessions that changed a file: a glob for its path, or its name
    #[arg(long, value_name = "GLOB")]
    pub(crate) touched: Option<String>,
    /// Only sessions that failed
    #[arg(long)]
    pub(crate) failed: bool,
    /// Only sessions that wait for a permission or an answer
    #[arg(long)]
    pub(crate) waiting: bool,
    /// Only sessions with these words in their title, project, branch, agent or id
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Option<String>,
    /// Sort by a column, largest number and newest time first
    #[arg(long, value_name = "COLUMN", value_parser = sorts(), default_value = "last-activity")]
    pub(crate) sort: SessionSort,
    /// Reverse the order
    #[arg(long)]
    pub(crate) reverse: bool,
    /// Also list the sessions of sub-agents, each in its own row
    #[arg(long)]
    pub(crate) sub_agents: bool,
    /// List at most N sessions; 0 lists all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// List the sessions at a past position or time
    #[arg(long, value_name = "POSITION|TIME", value_parser = super::words::moment)]
    pub(crate) at: Option<AtName>,
    /// Compute costs by the prices in this file only
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) zone: Zone,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

/// Reads a day.
fn day(text: &str) -> Result<CostTime, String> {
    let time: Option<CostTime> = text.parse().ok();
    let day = time.filter(|time| time.is_day());
    day.ok_or_else(|| "expected a day such as 2026-01-31, today or yesterday".to_owned())
}

/// Reads an amount in millionths.
fn amount(text: &str) -> Result<u64, String> {
    let amount = parse_amount(text.trim_start_matches('$'));
    amount.ok_or_else(|| "expected an amount such as 5 or 0.50".to_owned())
}

/// The names of orders.
fn sorts() -> impl TypedValueParser<Value = SessionSort> {
    let names = SessionSort::ALL.map(|sort| PossibleValue::new(sort.as_str()));
    PossibleValuesParser::new(names).map(|name| {
        let mut all = SessionSort::ALL.into_iter();
        all.find(|sort| sort.as_str() == name).unwrap_or_default()
    })
}
