//! The command line: commands, options and their help.

mod contracts;
mod forge;
mod intake;
mod keeping;
mod observations;
mod proof;
mod redact;
mod secrets;
mod what_if;

use std::path::PathBuf;
use std::str::FromStr;

use annals::At;
use annals::domain::{Kind, Timestamp};
use annals::event_log::Position;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use uuid::Uuid;

pub(crate) use contracts::{ExportContracts, ImportContracts};
pub(crate) use forge::{ExportForge, ImportForge, Watch, WatchForge};
pub(crate) use intake::{
    Analyze, Answer, Approve, Classify, Inbox, Instruct, Judge, Ready, Refinements, Reject, Rerun,
    Settings, Submit, Who,
};
pub(crate) use keeping::{Cat, Doctor, ExportAnnals, ImportAnnals, Restore};
pub(crate) use observations::{Observations, Observe, Process};
pub(crate) use proof::{
    Checkpoint, CheckpointAction, CheckpointSign, Key, KeyGenerate, KeyShow, Prove, Verify,
};
pub(crate) use redact::{Gc, Named, Redact};
pub(crate) use secrets::{Redaction, Scan, Secrets, SecretsAction};
pub(crate) use what_if::{Policies, Replay};

/// The flight recorder for coding agents: every intent, plan, task, run, patch
/// and decision as an immutable event.
#[derive(Debug, Parser)]
#[command(name = "annals", version, propagate_version = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  annals init                      create a log in .annals
  annals import git .              read this repository's history into it
  annals import claude DIR         read recorded sessions of Claude Code
  annals log --limit 10 --backward what happened last
  annals list runs                 the newest runs
  annals show 1a2b3c4d             one object, by the last digits of its id
  annals show 1a2b3c4d --at 17     the same, as it was after event 17
  annals replay 1a2b3c4d --policy lru.toml
                                   another eviction policy on a recorded pipeline
  annals verify                    prove that nothing is damaged
  annals checkpoint --out FILE     what the log is now; `annals verify --checkpoint FILE` later
  annals prove 1a2b3c4d            proof that an object's events are in the log

Exit status: 0 done, 1 refused or failed, 2 wrong usage, 3 corruption or failed verification.";

/// Options that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The log: a directory, rocks:DIR or memory:
    #[arg(
        long,
        global = true,
        env = "ANNALS_LOG",
        default_value = ".annals",
        value_name = "PATH|URL"
    )]
    pub(crate) log: String,
    /// Print JSON: one object, or one object a line; errors too, on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Use colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Say more on standard error; repeat for still more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a log
    Init(Init),
    /// Execute commands, one JSON object a line
    Apply(Apply),
    /// Print the JSON Schema of the commands that `apply` takes
    Commands(Commands),
    /// Print the catalogue of all events
    Events(Events),
    /// Read foreign history into the log
    #[command(subcommand)]
    Import(Import),
    /// Write the log for others
    #[command(subcommand)]
    Export(Export),
    /// Take what others write, as they write it
    #[command(subcommand)]
    Watch(Watch),
    /// Show the events
    Log(Log),
    /// Show an object as it is, or as it was
    Show(Show),
    /// Show what happened to an object
    History(History),
    /// List objects of one kind
    List(List),
    /// Show what an object names, and what names it
    Refs(Refs),
    /// Show an object with everything that belongs to it
    Tree(Tree),
    /// Show what an intent refines and what refines it, the newest first
    Refinements(Refinements),
    /// Try other eviction policies, or policy profiles, on what was recorded
    Replay(Replay),
    /// Describe the eviction policies
    Policies(Policies),
    /// Show what importers take out as secrets
    Secrets(Secrets),
    /// Say what kind of work a text asks for, and how risky it is, by rule
    Classify(Classify),
    /// Propose an intent
    Submit(Submit),
    /// Record what an agent noticed
    Observe(Observe),
    /// Show what agents noticed and nobody has settled
    Observations(Observations),
    /// Put observations aside that there is nothing to do about
    Process(Process),
    /// Show what waits for a person
    Inbox(Inbox),
    /// Record what an analysis of an intent came to
    Analyze(Analyze),
    /// Let proposed intents go on
    Approve(Approve),
    /// Turn intents down
    Reject(Reject),
    /// Answer what is asked about an intent
    Answer(Answer),
    /// Have failed tasks tried anew
    Rerun(Rerun),
    /// Say more about what to do
    Instruct(Instruct),
    /// Judge the type or the risk of intents
    Judge(Judge),
    /// Show the tasks of an intent that can be begun
    Ready(Ready),
    /// Show or set what the log's decisions go by
    Settings(Settings),
    /// Show counts and sizes
    Stats(Stats),
    /// Check everything that is stored, or a proof
    Verify(Verify),
    /// Make a proof that an event is in the log, or that the log has only grown
    Prove(Prove),
    /// Say what the log is now, for whoever is to check it later
    Checkpoint(Checkpoint),
    /// Make keys that sign checkpoints
    #[command(subcommand)]
    Key(Key),
    /// Copy the log, also while it is in use
    Backup(Backup),
    /// Remove content for good, and record who had it removed, and why
    Redact(Redact),
    /// Collect blobs that no event refers to
    Gc(Gc),
    /// Make a log of a backup
    Restore(Restore),
    /// Say what is wrong with the log, and what to do about it
    Doctor(Doctor),
    /// Print content by its digest
    Cat(Cat),
    /// Make the catalogue of objects anew from the log
    Rebuild(Rebuild),
    /// Print a script that completes commands in a shell
    Completions(Completions),
    /// Print or write the manual pages
    Man(Man),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals init                     in .annals
  annals --log /var/lib/x init    somewhere else")]
pub(crate) struct Init {
    /// The log's id; left out, it gets a new one
    #[arg(long, value_name = "UUID")]
    pub(crate) log_id: Option<Uuid>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A line is an object with the command's name, the actor, and the command's fields:

  {\"command\":\"create_intent\",\"actor\":{\"kind\":\"human\",\"id\":\"ada\"},\"prompt\":\"add a cache\"}

Any line may have \"at\" (RFC 3339: when it happened), \"key\" (a UUID that makes repeating
the line safe: what it stored is not stored again), \"correlation\" and \"causation\".
`annals commands --list` names the commands.

Each line is answered by one line, in order:

  {\"ok\":true,\"id\":\"...\",\"position\":1}
  {\"ok\":false,\"line\":2,\"error\":{\"code\":\"transition\",\"message\":\"...\"}}

A refused line stores nothing, and the next one is read. The exit status is then 1.

Examples:
  annals apply work.jsonl
  agent | annals apply")]
pub(crate) struct Apply {
    /// Where the lines are; - is standard input
    #[arg(default_value = "-", value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals commands --list          names and what they do
  annals commands push_frame      the fields of one
  annals commands > schema.json   a schema that every line for `apply` satisfies")]
pub(crate) struct Commands {
    /// Only this command
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Only the names, each with a sentence
    #[arg(long, conflicts_with = "name")]
    pub(crate) list: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals events > events.md
  annals events --json            one event type a line")]
pub(crate) struct Events {}

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Read a git repository: every commit of HEAD's history, once
    Git(ImportGit),
    /// Read recorded sessions of Claude Code: prompts, tool calls, edits, tokens, context
    Claude(ImportClaude),
    /// Read git-internal's objects: JSON files, or JSON lines
    GitInternal(ImportGitInternal),
    /// Read sessions of Contracts v1.1: commands, verdicts, results
    Contracts(ImportContracts),
    /// Read a .forge folder: intents, tasks, reviews and drafts
    Forge(ImportForge),
    /// Read an exported log, record by record
    Annals(ImportAnnals),
}

#[derive(Debug, Args)]
#[command(after_help = "\
The eleven kinds of objects of git-internal 0.6.0, one JSON object a line or a file. They are
taken over as they are, in whatever state; what speaks against them is listed. Importing again
leaves what is unchanged as it is. What cannot be read is named by file and line, the rest is
read, and the exit status is then 1.

Examples:
  annals import git-internal objects.jsonl
  annals import git-internal exported/
  annals import git-internal objects.jsonl --json")]
pub(crate) struct ImportGitInternal {
    /// A file, or a folder whose .json, .jsonl and .ndjson files are read
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Importing again adds only what is new.

Examples:
  annals import git .
  annals import git ~/src/project --limit 100")]
pub(crate) struct ImportGit {
    /// The repository
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// Only the newest N commits
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A session becomes a task with a run, a plan and a context pipeline, under the intent that its
first prompt is. Importing again, or after the recording has grown, adds only what is new.
What cannot be read is named by file and line, the rest is read, and the exit status is then 1.

The report says what became of every field: kept, inferred or lost. Inferred are a frame's tokens
(o200k_base over its text: the model's own tokenizer is not public), and that an edit used the
newest result about its file, which becomes a step of the plan.

Examples:
  annals import claude session.jsonl
  annals import claude ~/.claude/projects           every session, in time order
  annals import claude session.jsonl --json         the whole report, for programs
  annals import claude session.jsonl --ended        calls without a result too, as errors
  annals import claude DIR --redact 'acme=ACME-[0-9]{8}'
                                                    your own keys are taken out, too")]
pub(crate) struct ImportClaude {
    /// A recording (*.jsonl), or a folder of them
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    /// The sessions are over: record tool calls that have no result, as errors
    #[arg(long)]
    pub(crate) ended: bool,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// Write the log itself: one record a line, with all that verifying it needs
    Annals(ExportAnnals),
    /// Write git-internal's objects, one JSON object a line
    GitInternal(ExportGitInternal),
    /// Write a session as Contracts v1.1, one JSON object a line
    Contracts(ExportContracts),
    /// Write a .forge folder: intents, tasks and reviews as YAML files
    Forge(ExportForge),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without an ID every object is written, oldest first. The JSON is byte for byte what git-internal
0.6.0 writes. It reads commits of 64 hex digits only and demands one of runs and patch sets:
objects that it could not read are refused, by field, and the exit status is then 1. With
--relaxed they are written all the same. The report goes to standard error.

Examples:
  annals export git-internal > objects.jsonl
  annals export git-internal 1a2b3c4d
  annals export git-internal --relaxed --json > objects.jsonl 2> report.json")]
pub(crate) struct ExportGitInternal {
    /// Only these objects
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Write objects that git-internal 0.6.0 cannot read, too
    #[arg(long)]
    pub(crate) relaxed: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals log --limit 20 --backward         the last twenty events
  annals log --type run.created            every run
  annals log --actor agent:coder           what one agent did
  annals log --since 2026-01-31T12:00:00Z  what was recorded since then
  annals log --follow --json               everything, and then what comes
  annals log --session 1a2b3c4d --follow   one session, and then what comes
  annals log --session 1a2b3c4d --follow --as contracts")]
pub(crate) struct Log {
    /// Go on with what comes, until interrupted
    #[arg(short, long, conflicts_with = "backward")]
    pub(crate) follow: bool,
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
    /// Only from this position on, or from this time on (RFC 3339, by the log's clock;
    /// occurred:TIME by the callers' clocks)
    #[arg(long, value_name = "POSITION|TIME")]
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
    /// Document 004's words, as JSON: an intent with its tasks, or a task
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
    /// As it was after this position, or at this time (RFC 3339, by the log's clock;
    /// occurred:TIME by the callers' clocks)
    #[arg(long, value_name = "POSITION|TIME")]
    pub(crate) at: Option<At>,
}

impl Moment {
    pub(crate) fn at(&self) -> At {
        self.at.unwrap_or_default()
    }

    pub(crate) fn position(&self) -> Option<Position> {
        match self.at {
            Some(At::Position(position)) => Some(position),
            _ => None,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
An id is a UUID, its last 8 or more hex digits where no other object's id ends with them, or
an alias.

Examples:
  annals show 1a2b3c4d
  annals show 1a2b3c4d --at 17
  annals show 1a2b3c4d --at occurred:2026-01-31T12:00:00Z
  annals show 1a2b3c4d --json
  annals show 1a2b3c4d --as git-internal
  annals show 1a2b3c4d --as forge
  annals show 1a2b3c4d --as git-internal --hash sha256
  annals show 1a2b3c4d --diff | git apply
  annals show 1a2b3c4d --window               what the model saw when it recorded it
  annals show 1a2b3c4d --window --step 2      when that step of the plan began")]
pub(crate) struct Show {
    /// The object
    #[arg(value_name = "ID")]
    pub(crate) id: String,
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

With --json each object is one line. To go on where a list ended, give the first_position of
its last line to --after.

Examples:
  annals list runs
  annals list task --status running
  annals list run --parent 1a2b3c4d          the runs of a task or of a plan
  annals list tool_invocation --actor agent:coder --status error
  annals list intents --tag team=parser --since 2026-01-31T12:00:00Z
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
    /// Only those that have this tag
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub(crate) tag: Option<String>,
    /// Only those created at this time or later (RFC 3339, by the callers' clocks)
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) since: Option<Timestamp>,
    /// Only those created before this time
    #[arg(long, value_name = "TIME", value_parser = time)]
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

#[derive(Debug, Args)]
#[command(after_help = "\
The catalogue is what lists, short ids and trees are answered from. It follows the log by itself;
making it anew is for a log whose catalogue is damaged. The log itself is not touched.

With --indexes everything else that follows from the records is made anew before: where the
records of a stream, of an event type and of a batch are, the counts, and the hashes of the tree.
It is for a log of which `annals verify` says so, also if it cannot be opened for writing. Records
and blobs are only read. The root stays what it was. If it is interrupted, run it again.

Examples:
  annals rebuild
  annals rebuild --indexes
  annals --log /backups/monday rebuild --json")]
pub(crate) struct Rebuild {
    /// Also make the indexes of the log itself anew, and the hashes of its tree
    #[arg(long)]
    pub(crate) indexes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Content over 4 KiB is stored once, however many events refer to it. --content adds up what the events
refer to, beside what is stored.

Examples:
  annals stats
  annals stats --types
  annals stats --content
  annals stats --json")]
pub(crate) struct Stats {
    /// Also count the events of each type, which reads the whole log
    #[arg(long)]
    pub(crate) types: bool,
    /// Also say how much content is referred to, and how much of it is saved because it is
    /// stored once, which reads the whole log
    #[arg(long)]
    pub(crate) content: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The copy is a log of its own. It has everything that was acknowledged when the command began. Its
root is said, so that it can be noted down elsewhere.

Examples:
  annals backup /backups/monday
  annals --log /backups/monday verify
  annals --log anew restore /backups/monday")]
pub(crate) struct Backup {
    /// A directory that does not exist yet, or is empty
    #[arg(value_name = "DEST")]
    pub(crate) dest: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals completions bash > ~/.local/share/bash-completion/completions/annals
  annals completions zsh > ~/.zfunc/_annals")]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals man | man -l -
  annals man --dir ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// Write a page for each command into this directory, instead of one to standard output
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listable {
    /// Objects of a kind.
    Kind(Kind),
    /// Tickets of other systems.
    WorkItems,
}

impl FromStr for Listable {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Listable, UnknownKind> {
        let plain = word.to_ascii_lowercase().replace(['-', ' '], "_");
        match plain.as_str() {
            "work_item" | "work_items" => Ok(Listable::WorkItems),
            _ => word.parse().map(|KindWord(kind)| Listable::Kind(kind)),
        }
    }
}

/// A kind of objects in one of the ways in which people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KindWord(pub(crate) Kind);

impl FromStr for KindWord {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<KindWord, UnknownKind> {
        let plain = word.to_ascii_lowercase().replace(['-', ' '], "_");
        let singular = plain.strip_suffix('s').unwrap_or(&plain);
        let known = Kind::from_str(&plain).or_else(|_| Kind::from_str(singular));
        known.map(KindWord).map_err(|_| UnknownKind)
    }
}

/// A word that no kind is called by.
#[derive(Debug, thiserror::Error)]
#[error(
    "known are intent, plan, task, run, patch_set, evidence, decision, provenance, tool_invocation, context_snapshot, context_pipeline, session and observation, and work-items"
)]
pub(crate) struct UnknownKind;

/// A text that is no time.
#[derive(Debug, thiserror::Error)]
#[error("an RFC 3339 time such as 2026-01-31T12:00:00Z is expected")]
struct InvalidTime;

fn time(text: &str) -> Result<Timestamp, InvalidTime> {
    let time = chrono::DateTime::parse_from_rfc3339(text).map_err(|_| InvalidTime)?;
    Ok(time.to_utc().into())
}

/// A text that is no number from 1 on.
#[derive(Debug, thiserror::Error)]
#[error("a number from 1 on is expected")]
struct InvalidLimit;

fn at_least_one(text: &str) -> Result<usize, InvalidLimit> {
    let number = text.parse().map_err(|_| InvalidLimit)?;
    if number == 0 {
        return Err(InvalidLimit);
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn kinds_are_known_by_all_their_names() {
        for kind in Kind::ALL {
            for name in [kind.object_type(), kind.identifier()] {
                let plural = format!("{name}s");
                for word in [name, &plural, &name.to_uppercase(), &name.replace('_', "-")] {
                    assert_eq!(
                        word.parse::<KindWord>().ok(),
                        Some(KindWord(*kind)),
                        "{word}"
                    );
                }
            }
        }
        for word in ["", "s", "commit", "runss"] {
            assert!(word.parse::<KindWord>().is_err(), "{word}");
        }
    }

    #[test]
    fn every_command_has_examples() {
        fn check(command: &clap::Command) {
            let group = command.get_subcommands().next().is_some();
            let help = command
                .get_after_help()
                .map(ToString::to_string)
                .unwrap_or_default();
            assert!(
                group || help.contains("Examples:"),
                "{}",
                command.get_name()
            );
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
