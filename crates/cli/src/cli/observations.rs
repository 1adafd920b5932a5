//! The arguments of observations.

use annals::domain::observation::ObservationKind;
use clap::Args;

use super::Who;

#[derive(Debug, Args)]
#[command(after_help = "\
An epiphany is what an agent noticed while it did something else, a reflection what it found when
it looked back at what was done. The first line of the text is its title. It is open until an
intent names it (`annals submit --observation ID`), or `annals process` marks it as processed.

Examples:
  annals observe epiphany \"The cache is never emptied\" --evidence src/cache.rs:88
  annals observe reflection --about 1a2b3c4d --actor agent:reflect - < finding.txt
  annals observe reflection \"テストの準備が三か所で重複している\" --evidence tests/login.rs:12")]
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
The oldest comes first, with what it says, what it rests on, and the commands that settle it.

Examples:
  annals observations
  annals observations --all --limit 5
  annals observations --json | jq -r .object_id")]
pub(crate) struct Observations {
    /// Those that are processed, too
    #[arg(long)]
    pub(crate) all: bool,
    /// At most N observations
    #[arg(short = 'n', long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: usize,
    /// Only what comes after this position: where an earlier list ended
    #[arg(long, value_name = "POSITION")]
    pub(crate) after: Option<u64>,
    #[command(flatten)]
    pub(crate) floor: super::Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
For what should be done about an observation there is `annals submit --observation ID`.

Examples:
  annals process 1a2b3c4d --reason \"It is meant so\"
  annals process 1a2b3c4d 5e6f7a8b")]
pub(crate) struct Process {
    /// Open observations
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,
    /// Why there is nothing to do
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    #[command(flatten)]
    pub(crate) who: Who,
}
