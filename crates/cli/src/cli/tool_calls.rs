//! What was decided on tool calls, and why.

use annals::domain::run::ToolDecider;
use annals::projections::past::FieldName;
use annals::{At, AtName};
use clap::Args;

use super::reading::Floor;
use super::words::{at_least_one, at_since, moment};

#[derive(Debug, Args)]
#[command(after_help = "\
Prints one line for each decision: the tool call, the verdict, the decider and the duration of the grant. A call can have \
several, such as a rule that asks and a person who allows. Decisions that were inferred from the agent's settings or actions are \
marked \"inferred\". All filters must match. `annals object why CALL` explains one call.

With --grants, it lists what was allowed for a session or from then on by a rule in the settings, with the number of later \
decisions that rest on it.

Examples:
  annals policy decisions                      the newest decisions
  annals policy decisions --denied --since 2026-01-31T12:00:00Z
  annals policy decisions --allowed --by mode  calls that nobody looked at
  annals policy decisions --asked --tool bash  calls that a person was asked about
  annals policy decisions --session @last --oldest
  annals policy decisions --grants --json")]
pub(crate) struct Decisions {
    /// Only denials
    #[arg(long)]
    pub(crate) denied: bool,
    /// Only allowed calls
    #[arg(long)]
    pub(crate) allowed: bool,
    /// Only decisions to ask somebody else
    #[arg(long)]
    pub(crate) asked: bool,
    /// Only by a rule, hook, person, classifier or mode; repeat it for more
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: Vec<ToolDecider>,
    /// Only on calls of this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only events from this position or time on (RFC 3339, 2026-01-31, 14:30, yesterday, 2d). Times are the log's;
    /// occurred:TIME uses the callers' clocks
    #[arg(long, value_name = "POSITION|TIME", value_parser = at_since)]
    pub(crate) since: Option<At>,
    /// Only in one session: its id, the agent's id, @last, or the id of a task or intent
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only in one run
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    pub(crate) run: Option<String>,
    /// Only grants for later calls, each with its uses
    #[arg(long, conflicts_with_all = ["denied", "asked"])]
    pub(crate) grants: bool,
    /// Sort by time, oldest first
    #[arg(long)]
    pub(crate) oldest: bool,
    /// Continue behind this position
    #[arg(long, value_name = "POSITION")]
    pub(crate) after: Option<u64>,
    /// List at most N decisions
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = at_least_one)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
For a tool call, prints each decision with its source, the settings and policy files in force, the context window at the \
request, and the events that show them. `annals object cat DIGEST` prints a settings file. If the decisions do not name the \
files, those of the last earlier decision of the run are shown, and marked.

With FIELD, prints the events that set a field of any object, newest first, each with the previous value. FIELD is a JSON \
Pointer into the output of `annals show --json`, or names with dots; an element of a list with an id can be named by it.

Examples:
  annals object why 1a2b3c4d         a tool call: why it was allowed or denied
  annals object why 1a2b3c4d --json
  annals show 1a2b3c4d --window      the whole window
  annals object why 1a2b3c4d status  a run: the events that led to its status
  annals object why 1a2b3c4d /statuses/0/reason
  annals object why 1a2b3c4d 'frames[frame_id=7]' --at 900")]
pub(crate) struct Why {
    /// A tool call, or with FIELD any object: its id, at least the last 8 digits of it, or an alias
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// A field of the object: a JSON Pointer, or names with dots
    #[arg(value_name = "FIELD")]
    pub(crate) field: Option<FieldName>,
    /// With FIELD: at most the newest N changes
    #[arg(short = 'n', long, value_name = "N", requires = "field", value_parser = at_least_one)]
    pub(crate) limit: Option<usize>,
    /// With FIELD: as it was after this position, at this time, after this event, or when a decision led to this git
    /// commit
    #[arg(long, value_name = "POSITION|TIME|EVENT|COMMIT", requires = "field", value_parser = moment)]
    pub(crate) at: Option<AtName>,
    #[command(flatten)]
    pub(crate) floor: Floor,
}
