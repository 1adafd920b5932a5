//! The arguments of observations.

use annals::domain::observation::ObservationKind;
use clap::Args;

use super::Who;

#[derive(Debug, Args)]
#[command(after_help = "\
An epiphany is a finding during other work, a reflection a finding about completed work. The first line of the text is its \
title. It is open until an intent names it (`annals intent submit --observation ID`) or `annals intent process` closes it.

Examples:
  annals intent observe epiphany \"The cache is never emptied\" --evidence src/cache.rs:88
  annals intent observe reflection --about 1a2b3c4d --actor agent:reflect - < finding.txt
  annals intent observe reflection \"テストの準備が三か所で重複している\" --evidence tests/login.rs:12")]
pub(crate) struct Observe {
    /// How it was noticed: epiphany or reflection
    #[arg(value_name = "KIND")]
    pub(crate) kind: ObservationKind,
    /// What was noticed; none, or -, is standard input
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// What it rests on: a path, a quote, a URL; give it again for more
    #[arg(long = "evidence", value_name = "TEXT")]
    pub(crate) evidence: Vec<String>,
    /// An object of this log that it is about; give it again for more
    #[arg(long = "about", value_name = "ID")]
    pub(crate) about: Vec<String>,
    /// A name for it
    #[arg(long, value_name = "NAME")]
    pub(crate) alias: Option<String>,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Lists observations, oldest first, with their texts, evidence and the commands that close them.

Examples:
  annals intent observations
  annals intent observations --all --limit 5
  annals intent observations --json | jq -r .object_id")]
pub(crate) struct Observations {
    /// Also list processed observations
    #[arg(long)]
    pub(crate) all: bool,
    /// List at most N observations
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
    /// Only observations after this position, the end of an earlier list
    #[arg(long, value_name = "POSITION")]
    pub(crate) after: Option<u64>,
    #[command(flatten)]
    pub(crate) floor: super::Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
To act on an observation, use `annals intent submit --observation ID`.

Examples:
  annals intent process 1a2b3c4d --reason \"It is meant so\"
  annals intent process 1a2b3c4d 5e6f7a8b")]
pub(crate) struct Process {
    /// Open observations
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// The reason why there is nothing to do
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) who: Who,
}
