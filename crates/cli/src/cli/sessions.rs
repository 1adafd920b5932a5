//! What `ls` takes.

use std::path::PathBuf;

use annals::projections::{CostTime, CostZone};
use annals::{AtName, SessionSort};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::reading::Floor;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals ls                               the newest sessions
  annals ls --project shop --since 7d     one project, the last week
  annals ls --waiting                     those that wait for you
  annals ls --touched 'src/**/*.rs'       those that changed such a file
  annals ls --sort cost -n 10             the ten that cost most
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
    /// Only sessions with activity since this day, such as 2026-01-31, in the last N days, such as 7d, or since this time
    /// (RFC 3339)
    #[arg(long, value_name = "DAY|Nd|TIME")]
    pub(crate) since: Option<CostTime>,
    /// Only sessions that started before the end of this day, or before this time
    #[arg(long, value_name = "DAY|Nd|TIME")]
    pub(crate) until: Option<CostTime>,
    /// Only sessions that changed a file with this path: a glob, or the file's name
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
    /// The order; numbers and times begin with the largest
    #[arg(long, value_name = "COLUMN", value_parser = sorts(), default_value = "last-activity")]
    pub(crate) sort: SessionSort,
    /// The opposite order
    #[arg(long)]
    pub(crate) reverse: bool,
    /// List the sessions of sub-agents, too, each in a row of its own
    #[arg(long)]
    pub(crate) sub_agents: bool,
    /// At most N sessions; 0 lists all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50)]
    pub(crate) limit: usize,
    /// As of a past moment: a position, a time, or a name
    #[arg(long, value_name = "POSITION|TIME")]
    pub(crate) at: Option<AtName>,
    /// Compute costs by the prices in this file, and by no others
    #[arg(long, value_name = "FILE")]
    pub(crate) prices: Option<PathBuf>,
    /// The time zone of days: utc, local, or an offset such as +02:00
    #[arg(
        long,
        value_name = "ZONE",
        default_value = "local",
        allow_hyphen_values = true
    )]
    pub(crate) time_zone: CostZone,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

/// The names of orders.
fn sorts() -> impl TypedValueParser<Value = SessionSort> {
    let names = SessionSort::ALL.map(|sort| PossibleValue::new(sort.as_str()));
    PossibleValuesParser::new(names).map(|name| {
        let mut all = SessionSort::ALL.into_iter();
        all.find(|sort| sort.as_str() == name).unwrap_or_default()
    })
}
