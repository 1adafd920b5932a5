//! Looking at what is in a log.

use annals::domain::Timestamp;
use annals::domain::intent::{ApprovalStatus, Risk, Source, WorkType};
use annals::{At, AtName};
use clap::{Args, ValueEnum};

use super::words::{Listable, at_least_one, at_since, moment, since, until};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals log --limit 20 --backward         the last twenty events
  annals log --type run.created            every run
  annals log --actor agent:coder           what one agent did
  annals log --since 2026-01-31T12:00:00Z  what was recorded since then
  annals log --since yesterday             the same, from the beginning of a day
  annals log --follow --json               everything, and then what comes
  annals log --follow --subscription mailer --json
                                           and the next time, from where this one ended
  annals log --session 1a2b3c4d --follow   one session, and then what comes
  annals log --session 1a2b3c4d --follow --as contracts")]
pub(crate) struct Log {
    /// Go on with what comes, until interrupted
    #[arg(short, long, conflicts_with = "backward")]
    pub(crate) follow: bool,
    /// Go on behind what was printed the last time by this name, and keep the place: what was
    /// not printed whole then is printed again
    #[arg(long, value_name = "NAME",
          conflicts_with_all = ["backward", "limit", "stream", "session"])]
    pub(crate) subscription: Option<String>,
    /// Only one stream: its name, or the id of the object that it belongs to
    #[arg(long, value_name = "STREAM|ID")]
    pub(crate) stream: Option<String>,
    /// Only one session's stream, by the session's id
    #[arg(long, value_name = "ID", conflicts_with = "stream")]
    pub(crate) session: Option<String>,
    /// With --session: what the events show as objects of Contracts v1.1, one a line, as
    /// `annals export contracts` writes them
    #[arg(long = "as", value_enum, value_name = "DIALECT", requires = "session",
          conflicts_with_all = ["backward", "event_type", "actor", "since", "limit"])]
    pub(crate) dialect: Option<LogDialect>,
    /// Only one type of events, such as run.created
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) event_type: Option<String>,
    /// Only one actor: KIND:ID, or an id of any kind
    #[arg(long, value_name = "[KIND:]ID")]
    pub(crate) actor: Option<String>,
    /// Only from this position on, or from this time on (RFC 3339, 2026-01-31, 14:30, yesterday, 2d; by the log's
    /// clock, or with occurred: before it by the callers' clocks)
    #[arg(long, value_name = "POSITION|TIME", value_parser = at_since)]
    pub(crate) since: Option<At>,
    /// At most N events
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
    /// Wait, at most ten seconds, until the log has this position: what a command before
    /// this one answered
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
    /// As of this position, this time (RFC 3339, 2026-01-31, 14:30, yesterday, 2d; by the log's clock, or with
    /// occurred: before it by the callers' clocks), this event, or the decision that led to this git commit (its first
    /// 7 digits will do)
    #[arg(long, value_name = "POSITION|TIME|EVENT|COMMIT", value_parser = moment)]
    pub(crate) at: Option<AtName>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A session is named by any unique prefix or suffix of its id or of the agent's session id, by @last, or by
@2 for the one before. Its conversation is printed: prompts, answers, questions, and one line for each other turn.
An object is named by its UUID, the last 8 or more hex digits of it, or its alias. A task that is a session is
printed as its conversation; `annals object show` prints the task.

With --json a session is {\"session\":...,\"turns\":[...]}. docs/conversation.md describes the turns.

Examples:
  annals show @last                           the newest session
  annals show @last --full | less             everything open
  annals show 1a2b3c --turn 12                one turn, open
  annals show 1a2b3c --files                  changed files with their prompts
  annals show 1a2b3c --at 17
  annals show 1a2b3c4d --at occurred:2026-01-31T12:00:00Z
  annals show 1a2b3c4d --at 3f2a9c1           when a decision led to that git commit
  annals show 1a2b3c4d --json
  annals show 1a2b3c4d --as git-internal
  annals show 1a2b3c4d --as forge
  annals show 1a2b3c4d --as git-internal --hash sha256
  annals show 1a2b3c4d --diff | git apply
  annals show 1a2b3c4d --window               what the model saw when it recorded it
  annals show 1a2b3c4d --window --step 2      when that step of the plan began")]
pub(crate) struct Show {
    /// The session or the object
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// A task is shown as the object, and not as its conversation.
    #[arg(skip)]
    pub(crate) is_object: bool,
    /// Open every turn of a session; of an object, print all fields
    #[arg(long, conflicts_with_all = ["diff", "window", "ready", "dialect"])]
    pub(crate) full: bool,
    /// Print only this turn of a session, open
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..),
          conflicts_with_all = ["diff", "window", "ready", "dialect"])]
    pub(crate) turn: Option<u64>,
    /// Print the files that a session changed, each with its prompts
    #[arg(long, conflicts_with_all = ["diff", "window", "ready", "dialect", "turn", "full"])]
    pub(crate) files: bool,
    /// Print a patch set's diff, and nothing else
    #[arg(long)]
    pub(crate) diff: bool,
    /// Print the context window in force when it was recorded: each frame with why it was in,
    /// and the frames evicted by then. For a run and what is in it, a plan, or a pipeline
    #[arg(long, conflicts_with_all = ["diff", "dialect"])]
    pub(crate) window: bool,
    /// With --window: this step of the plan, from 0, as it began, or else at --at
    #[arg(long, value_name = "N", requires = "window")]
    pub(crate) step: Option<u32>,
    /// Print the nodes of a session's plan that can be begun, and nothing else
    #[arg(long, conflicts_with_all = ["diff", "window", "dialect"])]
    pub(crate) ready: bool,
    /// Print it as this system writes it, and nothing else
    #[arg(
        long = "as",
        value_enum,
        value_name = "DIALECT",
        conflicts_with = "diff"
    )]
    pub(crate) dialect: Option<Dialect>,
    /// With --as: print its hash instead
    #[arg(long, value_enum, value_name = "HASH", requires = "dialect",
          num_args = 0..=1, default_missing_value = "sha1")]
    pub(crate) hash: Option<ObjectHash>,
    #[command(flatten)]
    pub(crate) moment: Moment,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A run's history has all that happened in it: tool calls, patch sets, evidence, the decision.

Examples:
  annals history 1a2b3c4d
  annals history 1a2b3c4d --at 17 --json")]
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
KIND is intent, plan, task, run, patch_set, evidence, decision, provenance, tool_invocation,
context_snapshot, context_pipeline, session or observation; plurals and short forms such as
patchset, snapshot, pipeline or invocation will do. work-items are the tickets that sessions read, each as it was read
last, those first that were first read last; --limit and --after go with them.

Filters combine: what is listed passes all of them. A run is listed with its task's title, and then
with counts; with --json each object is one line, and numbers are exact. To go on where a list ended, give the first_position of
its last line to --after.

Examples:
  annals list runs
  annals list task --status running
  annals list run --parent 1a2b3c4d          the runs of a task or of a plan
  annals list tool_invocation --actor agent:coder --status error
  annals list tasks --external-id jira=ANN-7
  annals list intents --tag team=parser --since 2026-01-31T12:00:00Z
  annals list intents --approval proposed --risk high
  annals list intents --type fix --source audit --label ui --label login
  annals list patch_sets --limit 100 --json
  annals list sessions --status needs_approval
  annals list observations --status open
  annals list work-items")]
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
  annals refs 1a2b3c4d
  annals refs 1a2b3c4d --limit 1000 --json")]
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
Each object is shown once. What is left out, because there is too much of it or because objects
belong to each other in a circle, is said.

Examples:
  annals tree 1a2b3c4d
  annals tree 1a2b3c4d --depth 2 --limit 5
  annals tree 1a2b3c4d --json")]
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
