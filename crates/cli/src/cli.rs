//! The command line: commands, options and their help.

#[cfg(test)]
mod advised;
mod budget;
mod contracts;
mod copying;
mod cost;
mod exchange;
mod forge;
pub(crate) mod groups;
mod hook;
mod intake;
mod keeping;
mod observations;
#[cfg(test)]
mod page;
mod past;
mod proof;
mod reading;
mod record;
mod recordings;
mod redact;
mod retain;
mod search;
mod secrets;
mod serve;
mod sessions;
mod share;
pub(crate) mod spellings;
mod start;
mod subscriptions;
mod tool_calls;
mod tool_policy;
mod tui;
mod what_if;
mod words;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use uuid::Uuid;

pub(crate) use budget::{Budget, BudgetAction, RemoveBudget, Statusline};
pub(crate) use contracts::{ExportContracts, ImportContracts};
pub(crate) use copying::CopyLog;
pub(crate) use cost::Cost;
pub(crate) use exchange::{
    Export, ExportAtif, ExportGitInternal, ExportMarkdown, ExportRaw, Import, ImportGit,
    ImportGitInternal,
};
pub(crate) use forge::{ExportForge, ImportForge, Watch, WatchAgent, WatchForge};
pub(crate) use hook::{
    Gate, Hook, HookAgent, HookScope, HowToChange, InstallHooks, RunHook, UninstallHooks,
};
pub(crate) use intake::{
    Analyze, Answer, Approve, Classify, Inbox, Instruct, Judge, Ready, Refinements, Reject, Rerun,
    Settings, Submit, Who,
};
pub(crate) use keeping::{Cat, Doctor, ExportAnnals, ImportAnnals, Restore};
pub(crate) use observations::{Observations, Observe, Process};
pub(crate) use past::{Bisect, Compare, Diff};
pub(crate) use proof::{
    Checkpoint, CheckpointAction, CheckpointSign, Key, KeyGenerate, KeyShow, Prove, Verify,
};
pub(crate) use reading::{
    Dialect, Floor, History, List, Log, Moment, ObjectHash, Refs, Show, Tree,
};
pub(crate) use record::{Record, RecordOff, RecordOn, RecordStatus};
pub(crate) use recordings::{HowToImport, ImportAgent, ImportAnything, ImportRecordings};
pub(crate) use redact::{Gc, Named, Redact};
pub(crate) use retain::{Retain, RetainAs};
pub(crate) use search::Search;
pub(crate) use secrets::{Redaction, Scan, Secrets, SecretsAction};
pub(crate) use serve::{ExportHtml, Serve};
pub(crate) use sessions::Ls;
pub(crate) use share::{Share, Users};
use spellings::{IntentGroup, ObjectGroup, ProofGroup, ServiceGroup};
pub(crate) use spellings::{LogGroup, PolicyGroup, RecordCommand, RecordGroup};
pub(crate) use start::{Resume, Start, StartOptions};
pub(crate) use subscriptions::Subscriptions;
pub(crate) use tool_calls::{Decisions, Why};
pub(crate) use tool_policy::{
    Otherwise, PolicyCheck, PolicyExplain, PolicySuggest, PolicyTest, ToolPolicy,
};
pub(crate) use tui::Tui;
pub(crate) use what_if::{Policies, Replay};
pub(crate) use words::{Listable, moment as named_moment};

/// The flight recorder for coding agents: every conversation, tool call and decision as an immutable event.
#[derive(Debug, Parser)]
#[command(name = "annals", version, propagate_version = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(flatten)]
    pub(crate) start: StartOptions,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  annals                           import all recordings, and open the viewer
  annals ls                        sessions, newest activity first
  annals show @last                the conversation of the newest session
  annals search connection refused
  annals cost --by model --since 7d
  annals resume @last --run        continue the session in its agent
  annals record on                 record agents from now on
  annals proof verify              check that nothing is damaged

Exit status: 0 done, 1 refused or failed, 2 wrong usage, 3 corruption or failed verification.";

/// Options that every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// The log: a directory, rocks:DIR, postgres://USER@HOST/DATABASE?log=NAME or memory: [default: the nearest .annals
    /// above this folder, else ~/.local/share/annals]
    #[arg(
        long,
        global = true,
        env = "ANNALS_LOG",
        // It may have a password.
        hide_env_values = true,
        value_name = "PATH|URL"
    )]
    pub(crate) log: Option<String>,
    /// Fail if another process has the log open for writing, instead of sharing it
    #[arg(long, global = true)]
    pub(crate) exclusive: bool,
    /// Print JSON: one object, or one object on each line; errors go to standard error as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Use colour: auto uses it on a terminal unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Verbose: untruncated tables, diagnostics on standard error; repeat for more diagnostics
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Do not use a pager: $ANNALS_PAGER, $PAGER or less
    #[arg(long, global = true)]
    pub(crate) no_pager: bool,
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
    /// Import all recordings and open the viewer (the default)
    Start(Start),
    /// Continue a session in its agent
    Resume(Resume),
    /// Submit, approve and answer intents
    #[command(subcommand)]
    Intent(IntentGroup),
    /// Make and verify proofs
    #[command(subcommand)]
    Proof(ProofGroup),
    /// List, show and compare objects of any kind
    #[command(subcommand)]
    Object(ObjectGroup),
    /// Execute commands, and serve the log to programs
    #[command(subcommand)]
    Service(ServiceGroup),
    /// Create a log in this folder
    Init(Init),
    /// Execute commands, one JSON object a line
    Apply(Apply),
    /// Print the JSON Schema of the commands of `apply`
    Commands(Commands),
    /// Print the documentation of all events
    Events(Events),
    /// Import recordings of agents, repositories and other files
    Import(ImportAnything),
    /// Export sessions, objects or the whole log
    #[command(subcommand)]
    Export(Export),
    /// Record an event of an agent's hook
    #[command(subcommand)]
    Hook(Hook),
    /// Record agents as they work
    Record(RecordGroup),
    /// Import recordings as they grow
    #[command(subcommand)]
    Watch(Watch),
    /// Serve the viewer, or own the log
    Serve(Serve),
    /// Write a session as one HTML file
    Share(Share),
    /// Browse the log on the terminal
    Tui(Tui),
    /// List events, back up and maintain the log
    Log(LogGroup),
    /// List subscriptions and their positions
    Subscriptions(Subscriptions),
    /// Search prompts, answers, tool calls and results
    Search(Search),
    /// Show a session's conversation, or an object
    Show(Show),
    /// List the events of an object
    History(History),
    /// Show the changes of a session, or of an object
    Diff(Diff),
    /// Find the event after which a condition changed
    Bisect(Bisect),
    /// Compare two runs, tasks or sessions
    Compare(Compare),
    /// List sessions
    Ls(Ls),
    /// List objects of one kind
    List(List),
    /// List the links of an object
    Refs(Refs),
    /// Show an object with everything that belongs to it
    Tree(Tree),
    /// Show tokens and costs by day, project, model and more
    Cost(Cost),
    /// Show, set and remove budgets
    Budget(Budget),
    /// Print the line for Claude Code's status line
    Statusline(Statusline),
    /// List the decisions on tool calls
    Decisions(Decisions),
    /// Explain a tool call's decision, or a field's value
    Why(Why),
    /// List the refinements of an intent, newest first
    Refinements(Refinements),
    /// Try other policies on recorded work
    Replay(Replay),
    /// Describe the eviction policies
    Policies(Policies),
    /// Check, test, explain and replay policies
    #[command(subcommand)]
    Policy(PolicyGroup),
    /// Show the formats of secrets, or scan for secrets
    Secrets(Secrets),
    /// Classify a text by its type of work and its risk
    Classify(Classify),
    /// Propose an intent
    Submit(Submit),
    /// Record an observation of an agent
    Observe(Observe),
    /// List observations
    Observations(Observations),
    /// Mark observations as processed
    Process(Process),
    /// List intents and requests that wait for a person
    Inbox(Inbox),
    /// Record the result of an analysis of an intent
    Analyze(Analyze),
    /// Approve intents and requests of sessions
    Approve(Approve),
    /// Reject intents and requests of sessions
    Reject(Reject),
    /// Answer the questions of an intent
    Answer(Answer),
    /// Retry the failed tasks of intents
    Rerun(Rerun),
    /// Add instructions to intents
    Instruct(Instruct),
    /// Set the type or the risk of intents
    Judge(Judge),
    /// List the tasks of an intent that can begin
    Ready(Ready),
    /// Show or change the log's settings
    Settings(Settings),
    /// Print counts and sizes
    Stats(Stats),
    /// Verify all that is stored, or a proof
    Verify(Verify),
    /// Prove that an event is in the log
    Prove(Prove),
    /// Print the size and the root of the log
    Checkpoint(Checkpoint),
    /// Generate and show keys that sign checkpoints
    #[command(subcommand)]
    Key(Key),
    /// Copy the log, also while it is in use
    Backup(Backup),
    /// Redact content for good
    Redact(Redact),
    /// Delete blobs that no event refers to
    Gc(Gc),
    /// Keep named git blobs in a git repository
    Retain(Retain),
    /// Restore a log from a backup
    Restore(Restore),
    /// Copy the log into another store
    Copy(CopyLog),
    /// Find problems of the log and their remedies
    Doctor(Doctor),
    /// Print content by its digest
    Cat(Cat),
    /// Rebuild the catalogue of objects
    Rebuild(Rebuild),
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print or write the manual pages
    Man(Man),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals log init                   in .annals
  annals --log /var/lib/x log init  somewhere else
  annals --log \"postgres://annals@db/annals?log=team\" log init
                                  in a PostgreSQL database: see docs/postgres.md")]
pub(crate) struct Init {
    /// The log's id [default: a new one]
    #[arg(long, value_name = "UUID")]
    pub(crate) log_id: Option<Uuid>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A line is an object with the command's name, the actor, and the command's fields:

  {\"command\":\"create_intent\",\"actor\":{\"kind\":\"human\",\"id\":\"ada\"},\"prompt\":\"add a cache\"}

It may have \"at\" (RFC 3339: when it happened), \"key\" (a UUID: a repeated line stores nothing), \"correlation\" and \
\"causation\". `annals service commands --list` names the commands. Each line is answered by one line, in order:

  {\"ok\":true,\"id\":\"...\",\"position\":1}
  {\"ok\":false,\"line\":2,\"error\":{\"code\":\"transition\",\"class\":\"refused\",\"retryable\":false,...}}

A refused line stores nothing, and the next one is read; the exit status is then 1. A pipe is read as its lines come. \
Anything else that is not a regular file is refused.

Examples:
  annals service apply work.jsonl
  agent | annals service apply")]
pub(crate) struct Apply {
    /// Where the lines are; - is standard input
    #[arg(default_value = "-", value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals service commands --list         names and what they do
  annals service commands push_frame     the fields of one
  annals service commands > schema.json  a schema that every line for `apply` satisfies")]
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
  annals service events > events.md
  annals service events --json        one event type a line
  annals service events task.created  the JSON Schema of one, as `annals log history --json` shows it
  annals service events --schema      the JSON Schemas of all")]
pub(crate) struct Events {
    /// The JSON Schema of this event type alone
    #[arg(value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The JSON Schemas of all event types, in one document
    #[arg(long, conflicts_with = "name")]
    pub(crate) schema: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The catalogue answers lists, short ids and trees, and follows the log. Rebuild it if it is damaged. The log is not changed.

--indexes first rebuilds the log's own indexes: the places of records by stream, event type and batch, the counts, and the hashes \
of the tree. Use it if `annals proof verify` recommends it, also if the log cannot be opened for writing. Records and blobs are \
only read, and the root stays the same. Repeat an interrupted rebuild.

Examples:
  annals log rebuild
  annals log rebuild --indexes
  annals --log /backups/monday log rebuild --json")]
pub(crate) struct Rebuild {
    /// Also rebuild the indexes of the log itself, and the hashes of its tree
    #[arg(long)]
    pub(crate) indexes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Content over 4 KiB is stored once, however many events refer to it. --content also adds up the referenced content.

Examples:
  annals log stats
  annals log stats --types
  annals log stats --content
  annals log stats --json")]
pub(crate) struct Stats {
    /// Also count the events of each type; reads the whole log
    #[arg(long)]
    pub(crate) types: bool,
    /// Also count referenced content and the bytes saved by storing it once; reads the whole log
    #[arg(long)]
    pub(crate) content: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The copy is an independent log with all events that were acknowledged at the start. Its root is printed; note it elsewhere.

If no other process writes to the log, the backup opens it for writing and refuses writers meanwhile; the copy then shares \
immutable files. Otherwise all files are copied. Damaged files are copied, too: `annals proof verify` checks the copy.

Examples:
  annals log backup /backups/monday
  annals --log /backups/monday proof verify
  annals --log restored log restore /backups/monday")]
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
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
                group || command.is_hide_set() || help.contains("Examples:"),
                "{}",
                command.get_name()
            );
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
