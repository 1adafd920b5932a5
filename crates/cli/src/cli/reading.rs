//! Looking at what is in a log.

use annals::domain::Timestamp;
use annals::domain::intent::{ApprovalStatus, Risk, Source, WorkType};
use annals::projections::CostZone;
use annals::{At, AtName};
use clap::{Args, ValueEnum};

use super::words::{Listable, at_least_one, at_since, moment, since, until};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals log --limit 20 --backward         the last twenty events
  annals log --type run.created            all runs
  annals log --actor agent:coder           the events of one agent
  annals log --since 2026-01-31T12:00:00Z  events since a time
  annals log --since yesterday             events since a day
  annals log --follow --json               all events, then new ones
  annals log --follow --subscription mailer --json
  annals log --session 1a2b3c4d --follow   one contracts session, then its new events
  annals log --session 1a2b3c4d --follow --as contracts")]
pub(crate) struct Log {
    /// Print new events as they come, until interrupted
    #[arg(short, long, conflicts_with = "backward")]
    pub(crate) follow: bool,
    /// Continue behind the last event that was printed under this name, and store the new position. An event that was
    /// not printed whole is printed again
    #[arg(long, value_name = "NAME",
          conflicts_with_all = ["backward", "limit", "stream", "session"])]
    pub(crate) subscription: Option<String>,
    /// Only one stream: its name, or the id of the object that it belongs to
    #[arg(long, value_name = "STREAM|ID")]
    pub(crate) stream: Option<String>,
    /// Only one session's stream, by the session's id
    #[arg(long, value_name = "ID", conflicts_with = "stream")]
    pub(crate) session: Option<String>,
    /// With --session: print objects of Contracts v1.1, one on each line, like `annals export contracts`
    #[arg(long = "as", value_enum, value_name = "DIALECT", requires = "session",
          conflicts_with_all = ["backward", "event_type", "actor", "since", "limit"])]
    pub(crate) dialect: Option<LogDialect>,
    /// Only one type of events, such as run.created
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) event_type: Option<String>,
    /// Only one actor: KIND:ID, or an id of any kind
    #[arg(long, value_name = "[KIND:]ID")]
    pub(crate) actor: Option<String>,
    /// Only events from this position or time on (RFC 3339, 2026-01-31, 14:30, yesterday, 2d). Times are the log's;
    /// occurred:TIME uses the callers' clocks
    #[arg(long, value_name = "POSITION|TIME", value_parser = at_since)]
    pub(crate) since: Option<At>,
    /// Print at most N events
    #[arg(short = 'n', long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Newest first
    #[arg(long)]
    pub(crate) backward: bool,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

/// What a command must have seen at least.
#[derive(Debug, Args)]
pub(crate) struct Floor {
    /// Wait up to ten seconds until the log has this position, which an earlier command returned
    #[arg(long, value_name = "POSITION")]
    pub(crate) min_position: Option<u64>,
}

/// A system whose format is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dialect {
    /// The JSON of git-internal 0.6.0, to the byte
    GitInternal,
    /// The JSON of Contracts v1.1: a session's configuration
    Contracts,
    /// Forge's words, as JSON: an intent with its tasks, or a task
    Forge,
}

/// A system whose format a log can be shown in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogDialect {
    /// The JSON of Contracts v1.1
    Contracts,
}

/// The hash that a git repository uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ObjectHash {
    Sha1,
    Sha256,
}

/// The moment that a command looks at.
#[derive(Debug, Args)]
pub(crate) struct Moment {
    /// Show the state at a position, a time (RFC 3339, 2026-01-31, 14:30, yesterday, 2d), an event's id or a git commit
    /// of a decision. Times are the log's; occurred:TIME uses the callers' clocks
    #[arg(long, value_name = "POSITION|TIME|EVENT|COMMIT", value_parser = moment)]
    pub(crate) at: Option<AtName>,
}

/// The time zone of a command's days and times.
#[derive(Debug, Args)]
pub(crate) struct Zone {
    /// The time zone of days and times: utc, local (the variable TZ, else the system's zone), +02:00 or Europe/Berlin
    #[arg(
        long,
        value_name = "ZONE",
        default_value = "local",
        allow_hyphen_values = true
    )]
    pub(crate) time_zone: CostZone,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Prints the conversation of a session: prompts, answers and questions in full, one line for each other turn. A session is \
named by a unique prefix or suffix of its id or of the agent's session id, by @last, or by @2 for the one before.

An object is named by its UUID, the last 8 or more hex digits of it, or its alias. A task that is a session is printed as \
its conversation; `annals object show` prints the task.

With --json a session is {\"session\":...,\"turns\":[...]}. docs/conversation.md describes the turns.

Examples:
  annals show @last                     the newest session
  annals show @last --full | less       everything open
  annals show 1a2b3c --turn 12          one turn, open
  annals show 1a2b3c --files            changed files with their prompts
  annals show 1a2b3c --diff             their diffs
  annals show 1a2b3c --at 17
  annals show 1a2b3c4d --at occurred:2026-01-31T12:00:00Z
  annals show 1a2b3c4d --json
  annals show 1a2b3c4d --as git-internal --hash sha256
  annals show 1a2b3c4d --as forge
  annals show 1a2b3c4d --diff | git apply
  annals show 1a2b3c4d --window --step 2")]
pub(crate) struct Show {
    /// The session or the object
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// A task is shown as the object, and not as its conversation.
    #[arg(skip)]
    pub(crate) is_object: bool,
    /// Open all turns of a session; print all fields of an object
    #[arg(long, conflicts_with_all = ["diff", "window", "ready", "dialect"])]
    pub(crate) full: bool,
    /// Print one turn of a session, open
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
          conflicts_with_all = ["diff", "window", "ready", "dialect"])]
    pub(crate) turn: Option<u64>,
    /// List the files that a session changed, with the prompts that led to it
    #[arg(long, conflicts_with_all = ["diff", "window", "ready", "dialect", "turn", "full"])]
    pub(crate) files: bool,
    /// Print the diffs of a session's files, or the diff of a patch set
    #[arg(long)]
    pub(crate) diff: bool,
    /// Print the context window in force: its frames with their reasons, and evicted frames. For a run and its
    /// objects, a plan, or a pipeline
    #[arg(long, conflicts_with_all = ["diff", "dialect"])]
    pub(crate) window: bool,
    /// With --window: the start of this step of the plan, from 0 [default: the time of --at]
    #[arg(long, value_name = "N", requires = "window")]
    pub(crate) step: Option<u32>,
    /// Print only the nodes of a session's plan that are ready
    #[arg(long, conflicts_with_all = ["diff", "window", "dialect"])]
    pub(crate) ready: bool,
    /// Print only the JSON of another system
    #[arg(
        long = "as",
        value_enum,
        value_name = "DIALECT",
        conflicts_with = "diff"
    )]
    pub(crate) dialect: Option<Dialect>,
    /// With --as: print the hash of that JSON
    #[arg(long, value_enum, value_name = "HASH", requires = "dialect",
          num_args = 0..=1, default_missing_value = "sha1")]
    pub(crate) hash: Option<ObjectHash>,
    #[command(flatten)]
    pub(crate) moment: Moment,
    #[command(flatten)]
    pub(crate) zone: Zone,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The history of a run has all events in it: tool calls, patch sets, evidence, the decision.

Examples:
  annals log history 1a2b3c4d
  annals log history @last --at 17 --json")]
pub(crate) struct History {
    /// The object
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) moment: Moment,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
KIND is intent, plan, task, run, patch_set, evidence, decision, provenance, tool_invocation, context_snapshot, \
context_pipeline, session or observation, also in the plural, or short: patchset, snapshot, pipeline, invocation. work-items \
are the tickets that sessions read, in their newest version, ordered by first read, newest first; only --limit and --after \
apply to them.

All filters must match. A run is listed with its task's title and its counts. With --json each object is one line with exact \
numbers. To continue a list, give the first_position of its last line to --after.

Examples:
  annals object list runs
  annals object list task --status running
  annals object list run --parent 1a2b3c4d  the runs of a task or of a plan
  annals object list tool_invocation --actor agent:coder --status error
  annals object list tasks --external-id jira=ANN-7
  annals object list intents --tag team=parser --since 2026-01-31T12:00:00Z
  annals object list intents --approval proposed --risk high
  annals object list intents --type fix --source audit --label ui --label login
  annals object list patch_sets --limit 100 --json
  annals object list sessions --status needs_approval
  annals object list observations --status open
  annals object list work-items")]
pub(crate) struct List {
    /// What to list
    #[arg(value_name = "KIND")]
    pub(crate) kind: Listable,
    /// Only those in this status
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Option<String>,
    /// Only those that this actor created: an id, or human:ID, agent:ID, system:ID or
    /// mcp_client:ID
    #[arg(long, value_name = "[KIND:]ID")]
    pub(crate) actor: Option<String>,
    /// Only those that belong to this object
    #[arg(long, value_name = "ID")]
    pub(crate) parent: Option<String>,
    /// Intents: only those that are proposed, approved, executing, done, blocked, error,
    /// rejected or cancelled
    #[arg(long, value_name = "STATUS")]
    pub(crate) approval: Option<ApprovalStatus>,
    /// Intents: only those of this type: feature, refactor, fix, test, audit or any other word
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) work_type: Option<WorkType>,
    /// Intents: only those of this risk: low, med or high
    #[arg(long, value_name = "RISK")]
    pub(crate) risk: Option<Risk>,
    /// Intents: only those that come from there: human, audit, epiphany or reflection
    #[arg(long, value_name = "SOURCE")]
    pub(crate) source: Option<Source>,
    /// Intents: only those that have this label; give it again for more, and they have all
    #[arg(long = "label", value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    /// Only those that have this tag
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) tag: Option<String>,
    /// Only those that have this id in another system
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) external_id: Option<String>,
    /// Only those created at this time or later (RFC 3339, 2026-01-31, 14:30, yesterday, 2d; by the callers' clocks)
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<Timestamp>,
    /// Only those created before this time
    #[arg(long, value_name = "TIME", value_parser = until)]
    pub(crate) until: Option<Timestamp>,
    /// At most N objects
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub(crate) limit: usize,
    /// Go on behind the object that began at this position, or behind this ticket
    #[arg(long, value_name = "POSITION|TICKET")]
    pub(crate) after: Option<String>,
    /// Oldest first
    #[arg(long)]
    pub(crate) oldest: bool,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals log refs 1a2b3c4d
  annals log refs 1a2b3c4d --limit 1000 --json")]
pub(crate) struct Refs {
    /// The object
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// At most N links in each direction
    #[arg(short = 'n', long, value_name = "N", default_value_t = 100, value_parser = at_least_one)]
    pub(crate) limit: usize,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Each object is shown once. Omitted objects, because of --limit or a circle of links, are counted.

Examples:
  annals log tree 1a2b3c4d
  annals log tree 1a2b3c4d --depth 2 --limit 5
  annals log tree @last --json")]
pub(crate) struct Tree {
    /// The object
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Levels below it
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub(crate) depth: usize,
    /// At most N objects of one sort below each
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub(crate) limit: usize,
    /// At most N objects in all
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = at_least_one)]
    pub(crate) objects: usize,
    #[command(flatten)]
    pub(crate) floor: Floor,
}
