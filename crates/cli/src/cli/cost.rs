//! What `cost` takes.

use std::path::PathBuf;

use annals::projections::{CostAxis, CostTime};
use clap::Args;

use super::reading::{Floor, Zone};

#[derive(Debug, Args)]
#[command(after_help = "\
Prints tokens and costs: uncached prompt tokens, cache reads and writes, completion tokens, and the thinking tokens among \
them. COST is computed by a table of prices; RECORDED is the agents' own figure in USD. Days are in the order of time, all \
other rows begin with the highest cost. The rows add up to the total exactly. By day, a chart follows.

Tokens of a model without a price are listed as unpriced and are not in COST. docs/costs.md describes counts, rounding and \
tables of prices. By sub-agent, each task also has the cost with all sub-agents below it.

Examples:
  annals cost                               a row for each day
  annals cost @last                         one session
  annals cost --by project --since 7d
  annals cost --by day,project              with a chart, stacked by project
  annals cost --by model --project shop --agent claude
  annals cost --by day --by model --since 2026-01-01 --until 2026-01-31
  annals cost --by session --time-zone utc --since 1d
  annals cost --by sub-agent 1a2b3c4d       one task, run, intent or session
  annals cost --by run --json | jq '.rows[0].by.run'
  annals cost --print-prices > ours.toml
  annals cost --by model --prices ours.toml
  annals cost --by model --explain-prices   which price each model has, and its source")]
pub(crate) struct Cost {
    /// Only this session, run, task (with its sub-agents) or intent
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Only the work in this project: its path, a path above it, or its name
    #[arg(long, value_name = "PATH|NAME")]
    pub(crate) project: Option<String>,
    /// Only the work of this agent, such as claude or codex
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Group by project, day, model, agent, session, sub-agent, actor, run, task or intent; repeat it, or separate up to
    /// three by commas
    #[arg(
        long,
        value_name = "WHAT",
        value_delimiter = ',',
        default_value = "day"
    )]
    pub(crate) by: Vec<CostAxis>,
    /// Only use from a day (2026-01-31, yesterday), in the last N days including today (7d), or from a time on (RFC 3339,
    /// 14:30 or 3h, in quarters of an hour)
    #[arg(long, value_name = "DAY|Nd|TIME")]
    pub(crate) since: Option<CostTime>,
    /// Only use up to the end of a day, or before a time
    #[arg(long, value_name = "DAY|TIME")]
    pub(crate) until: Option<CostTime>,
    #[command(flatten)]
    pub(crate) zone: Zone,
    /// Compute costs by the prices in this file only
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// List the prices that the costs are computed by, and how much each of them accounts for
    #[arg(long)]
    pub(crate) explain_prices: bool,
    /// Print only the table of prices of this version
    #[arg(long, conflicts_with_all = ["id", "since", "until", "prices", "explain_prices"])]
    pub(crate) print_prices: bool,
    #[command(flatten)]
    pub(crate) floor: Floor,
}
