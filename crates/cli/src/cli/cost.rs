//! What `cost` takes.

use std::path::PathBuf;

use annals::projections::{CostAxis, CostTime, CostZone};
use clap::Args;

use super::reading::Floor;

#[derive(Debug, Args)]
#[command(after_help = "\
A row has its tokens: prompt tokens that were in no cache, those read from one, those written to
one, completion tokens, and how many of these the model thought with. COST is computed from them
by a table of prices, RECORDED is what the agents' programs said themselves, in USD. By day in the
order of time, otherwise what cost most is first. A bar shows a row's part of the largest. The
last row is the sum, and the rows add up to it to the last millionth. By day, and by day and one
more, a chart of the days follows, stacked by the second.

What a model costs that the table does not have is not guessed: its tokens are listed as unpriced,
and are not in COST. docs/costs.md says what counts, how it is rounded, and what a table of prices
is.

By sub-agent each task has what it cost by itself, and with all sub-agents below it, which follow
it.

Examples:
  annals cost                               a row a day
  annals cost --by project --since 7d
  annals cost --by day,project              with a chart, stacked by project
  annals cost --by model --since 7d
  annals cost --by day --by model --since 2026-01-01 --until 2026-01-31
  annals cost --by session --time-zone local --since 1d
  annals cost --by sub-agent 1a2b3c4d       one task, run, intent or session
  annals cost --by model --prices ours.toml
  annals cost --by run --json | jq '.rows[0].by.run'
  annals cost --print-prices > ours.toml    the table that comes with this version")]
pub(crate) struct Cost {
    /// Only what belongs to this run, task (with its sub-agents), intent or session
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// A row for each project, day, model, agent, session, sub-agent, actor, run, task or intent; give it
    /// again, or several with commas, for each combination of up to three
    #[arg(
        long,
        value_name = "WHAT",
        value_delimiter = ',',
        default_value = "day"
    )]
    pub(crate) by: Vec<CostAxis>,
    /// Only what was used from this day on (2026-01-31, yesterday), in the last N days, today included (7d), or from
    /// this time on (RFC 3339 or 14:30, a quarter of an hour; 3h)
    #[arg(long, value_name = "DAY|Nd|TIME")]
    pub(crate) since: Option<CostTime>,
    /// Only what was used up to the end of this day, or before this time
    #[arg(long, value_name = "DAY|TIME")]
    pub(crate) until: Option<CostTime>,
    /// Whose days count: utc, local (that of the variable TZ, or the system's), an offset such as +02:00, or a name such
    /// as Europe/Berlin
    #[arg(
        long,
        value_name = "ZONE",
        default_value = "utc",
        allow_hyphen_values = true
    )]
    pub(crate) time_zone: CostZone,
    /// Compute by the prices in this file, and by no others
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// Print the table of prices that comes with this version, and nothing else
    #[arg(long, conflicts_with_all = ["id", "since", "until", "prices"])]
    pub(crate) print_prices: bool,
    #[command(flatten)]
    pub(crate) floor: Floor,
}
