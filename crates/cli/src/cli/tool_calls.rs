//! What was decided on tool calls, and why.

use annals::domain::run::ToolDecider;
use annals::projections::past::FieldName;
use annals::{At, AtName};
use clap::Args;

use super::reading::Floor;
use super::words::{at_least_one, at_since, moment};

#[derive(Debug, Args)]
#[command(after_help = "\
A line is one decision: on which call, what was decided, by what, and for how long. A call may have several: a rule
that asks, and then a person who allows it. What was not stated by the agent, but inferred from its settings or from what
it did, has \"inferred\" behind it. Filters combine. `annals why CALL` says all that is known of one.

With --grants, what was allowed for a session, or from then on by a rule in the settings, and how many later decisions
rest on it, as far as that is known.

Examples:
  annals decisions                          the newest decisions
  annals decisions --denied --since 2026-01-31T12:00:00Z
  annals decisions --allowed --by mode      what was let through without being looked at
  annals decisions --asked --tool bash      what a person had to look at
  annals decisions --session 1a2b3c4d --oldest
  annals decisions --grants --json")]
pub(crate) struct Decisions {
    /// Only where the call was denied
    #[arg(long)]
    pub(crate) denied: bool,
    /// Only where the call was allowed
    #[arg(long)]
    pub(crate) allowed: bool,
    /// Only where somebody else was to be asked
    #[arg(long)]
    pub(crate) asked: bool,
    /// Only by this: rule, hook, person, classifier or mode; give it again for more
    #[arg(long, value_name = "WHAT")]
    pub(crate) by: Vec<ToolDecider>,
    /// Only on calls of this tool
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Only from this position on, or from this time on (RFC 3339, 2026-01-31, 14:30, yesterday, 2d; by the log's
    /// clock, or with occurred: before it by the callers' clocks)
    #[arg(long, value_name = "POSITION|TIME", value_parser = at_since)]
    pub(crate) since: Option<At>,
    /// Only in one session: the id of a session, task or intent, or the name that an agent gave its session
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only in one run
    #[arg(long, value_name = "ID", conflicts_with = "session")]
    pub(crate) run: Option<String>,
    /// Only what later calls can rest on, each with its uses
    #[arg(long, conflicts_with_all = ["denied", "asked"])]
    pub(crate) grants: bool,
    /// The oldest first
    #[arg(long)]
    pub(crate) oldest: bool,
    /// Go on behind this position
    #[arg(long, value_name = "POSITION")]
    pub(crate) after: Option<u64>,
    /// At most N decisions
    #[arg(short = 'n', long, value_name = "N", default_value = "20", value_parser = at_least_one)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Of a tool call it shows the call, each decision with what gave it, the settings and policy files that were in force, what
the model had in its window when the call came up, and which events say so.

Settings files that the log keeps are read by `annals cat DIGEST`, as shown. Where the decisions on the call do not
state them, those of the last decision of its run before that are shown, which says so.

With FIELD it shows the events that made a field of any object what it is, the newest first, each with what the field
was before. FIELD is a JSON Pointer into what `annals show --json` prints, or names with dots; an element of a list that
has an id can be named by it.

Examples:
  annals why 1a2b3c4d                      a tool call: why it was allowed or denied
  annals why 1a2b3c4d --json
  annals show 1a2b3c4d --window            all of the window
  annals why 1a2b3c4d status               a run: the events that led to its status
  annals why 1a2b3c4d /statuses/0/reason
  annals why 1a2b3c4d 'frames[frame_id=7]' --at 900")]
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
