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
    /// The log: a directory, rocks:DIR, postgres://USER@HOST/DATABASE?log=NAME or memory:; left out, the nearest .annals
    /// from this folder upwards, or else your own log, ~/.local/share/annals
    #[arg(
        long,
        global = true,
        env = "ANNALS_LOG",
        // It may have a password.
        hide_env_values = true,
        value_name = "PATH|URL"
    )]
    pub(crate) log: Option<String>,
    /// Write only if no other process has the log open for writing; left out, processes share it
    #[arg(long, global = true)]
    pub(crate) exclusive: bool,
    /// Print JSON: one object, or one object a line; errors too, on standard error
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Use colour; auto: on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Say more: in tables all that was cut away, on standard error what happens; repeat for still more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Print to the terminal itself; left out, long output goes through $ANNALS_PAGER, $PAGER or less
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
    /// Record events of agents' hooks
    #[command(subcommand)]
    Hook(Hook),
    /// Record agents as they work
    Record(RecordGroup),
    /// Import recordings as they grow
    #[command(subcommand)]
    Watch(Watch),
    /// Serve the viewer, or own the log
    Serve(Serve),
    /// Write a session as one HTML file for others
    Share(Share),
    /// Browse the log on the terminal
    Tui(Tui),
    /// List events, back up and maintain the log
    Log(LogGroup),
    /// List subscriptions and their positions
    Subscriptions(Subscriptions),
    /// Search prompts, answers, tool calls and results
    Search(Search),
    /// Show a conversation, or an object, at any time
    Show(Show),
    /// List the events of an object
    History(History),
    /// Compare an object at two times
    Diff(Diff),
    /// Find the event after which a condition changed
    Bisect(Bisect),
    /// Compare two runs, tasks or sessions
    Compare(Compare),
    /// List sessions: conversations with agents
    Ls(Ls),
    /// List objects of one kind
    List(List),
    /// List the links of an object
    Refs(Refs),
    /// Show an object with everything that belongs to it
    Tree(Tree),
    /// Show tokens and money by day, model, session and more
    Cost(Cost),
    /// Show, set or remove budgets of agents' work
    Budget(Budget),
    /// Print a line for the status line of Claude Code
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
    /// List what waits for a person
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
    /// Find problems of the log, and how to repair them
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
  annals init                     in .annals
  annals --log /var/lib/x init    somewhere else
  annals --log \"postgres://annals@db/annals?log=team\" init
                                  in a PostgreSQL database: see docs/postgres.md")]
pub(crate) struct Init {
    /// The log's id; left out, it gets a new one
    #[arg(long, value_name = "UUID")]
    pub(crate) log_id: Option<Uuid>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A line is an object with the command's name, the actor, and the command's fields:

  {\"command\":\"create_intent\",\"actor\":{\"kind\":\"human\",\"id\":\"ada\"},\"prompt\":\"add a cache\"}

It may have \"at\" (RFC 3339: when it happened), \"key\" (a UUID: a repeated line stores nothing), \"correlation\" and \
\"causation\". `annals commands --list` names the commands. Each line is answered by one line, in order:

  {\"ok\":true,\"id\":\"...\",\"position\":1}
  {\"ok\":false,\"line\":2,\"error\":{\"code\":\"transition\",\"class\":\"refused\",\"retryable\":false,...}}

A refused line stores nothing, and the next one is read; the exit status is then 1. A pipe is read as its lines come. \
Anything else that is not a regular file is refused.

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
  annals events --json            one event type a line
  annals events task.created      the JSON Schema of one, as `annals history --json` shows it
  annals events --schema          the JSON Schemas of all")]
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
Lists, short ids and trees are answered from the catalogue. It follows the log by itself; rebuild
it if it is damaged. The log itself is not touched.

With --indexes everything else that follows from the records is rebuilt first: where the records
of a stream, of an event type and of a batch are, the counts, and the hashes of the tree. Use it
where `annals verify` says so, also if the log cannot be opened for writing. Records and blobs are
only read. The root stays what it was. If it is interrupted, run it again.

Examples:
  annals rebuild
  annals rebuild --indexes
  annals --log /backups/monday rebuild --json")]
pub(crate) struct Rebuild {
    /// Also rebuild the indexes of the log itself, and the hashes of its tree
    #[arg(long)]
    pub(crate) indexes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Content over 4 KiB is stored once, however many events refer to it. --content adds up what the events
refer to, in addition to what is stored.

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
The copy is an independent log. It has everything that was acknowledged when the command began. Its
root is printed, so that it can be noted down elsewhere.

If no other process writes to the log, the backup opens it for writing, and a writer that comes
meanwhile is refused: the copy then shares the files that never change. While another process
writes, they are copied.

Files are copied as they are, damaged ones too: `annals verify` on the copy says whether it is sound.

Examples:
  annals backup /backups/monday
  annals --log /backups/monday verify
  annals --log restored restore /backups/monday")]
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
