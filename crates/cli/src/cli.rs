//! The command line: commands, options and their help.

#[cfg(test)]
mod advised;
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
mod subscriptions;
mod tool_calls;
mod tool_policy;
mod tui;
mod what_if;
mod words;

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use uuid::Uuid;

pub(crate) use contracts::{ExportContracts, ImportContracts};
pub(crate) use copying::CopyLog;
pub(crate) use cost::Cost;
pub(crate) use exchange::{
    Export, ExportAtif, ExportGitInternal, ExportRaw, Import, ImportGit, ImportGitInternal,
};
pub(crate) use forge::{ExportForge, ImportForge, Watch, WatchAgent, WatchForge};
pub(crate) use hook::{
    Hook, HookAgent, HookScope, HookStatus, HowToChange, InstallHooks, RunHook, UninstallHooks,
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
pub(crate) use record::Record;
pub(crate) use recordings::{HowToImport, ImportAgent, ImportAnything, ImportRecordings};
pub(crate) use redact::{Gc, Named, Redact};
pub(crate) use retain::{Retain, RetainAs};
pub(crate) use search::Search;
pub(crate) use secrets::{Redaction, Scan, Secrets, SecretsAction};
pub(crate) use serve::{ExportHtml, Serve};
pub(crate) use sessions::Ls;
pub(crate) use share::Share;
pub(crate) use subscriptions::Subscriptions;
pub(crate) use tool_calls::{Decisions, Why};
pub(crate) use tool_policy::{
    Otherwise, PolicyCheck, PolicyExplain, PolicySuggest, PolicyTest, ToolPolicy,
};
pub(crate) use tui::Tui;
pub(crate) use what_if::{Policies, Replay};
pub(crate) use words::Listable;

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
  annals import ~/.claude          read recorded sessions of an agent
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
#[command(next_help_heading = "Everywhere")]
pub(crate) struct Global {
    /// The log: a directory, rocks:DIR, postgres://USER@HOST/DATABASE?log=NAME or memory:
    #[arg(
        long,
        global = true,
        env = "ANNALS_LOG",
        // It may have a password.
        hide_env_values = true,
        default_value = ".annals",
        value_name = "PATH|URL"
    )]
    pub(crate) log: String,
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
    /// Create a log
    Init(Init),
    /// Execute commands, one JSON object a line
    Apply(Apply),
    /// Print the JSON Schema of the commands that `apply` takes
    Commands(Commands),
    /// Print the documentation of all events, or their JSON Schemas
    Events(Events),
    /// Read foreign history into the log: recordings of agents, repositories, other systems' files
    Import(ImportAnything),
    /// Write the log for others
    #[command(subcommand)]
    Export(Export),
    /// Record agents as they work: what their hooks tell
    #[command(subcommand)]
    Hook(Hook),
    /// Record the telemetry of agents
    Record(Record),
    /// Import the files of a folder as they are written
    #[command(subcommand)]
    Watch(Watch),
    /// Show the log in a browser, or own it and stay, so that other processes write by way of this one
    Serve(Serve),
    /// Show or change which other users may read the log and write to it
    Share(Share),
    /// Look at the log on a terminal: lists, timelines, windows, diffs, through time
    Tui(Tui),
    /// Show the events
    Log(Log),
    /// Show by which names the log is read, and up to where
    Subscriptions(Subscriptions),
    /// Find events by words in prompts, tool calls, results and reasons
    Search(Search),
    /// Show an object as it is, or as it was
    Show(Show),
    /// Show what happened to an object
    History(History),
    /// Show what changed between two moments, and which events changed it
    Diff(Diff),
    /// Find the event after which a condition on an object changed
    Bisect(Bisect),
    /// Show two runs, tasks or sessions side by side, and where they part
    Compare(Compare),
    /// List sessions: conversations with agents
    Ls(Ls),
    /// List objects of one kind
    List(List),
    /// Show what an object names, and what names it
    Refs(Refs),
    /// Show an object with everything that belongs to it
    Tree(Tree),
    /// Show what agents' work cost: tokens and money by day, model, run and more
    Cost(Cost),
    /// Show what was decided on tool calls, and by what
    Decisions(Decisions),
    /// Show why a tool call was allowed or denied, or which events made a field what it is
    Why(Why),
    /// Show what an intent refines and what refines it, the newest first
    Refinements(Refinements),
    /// Try other policies on what was recorded: of eviction, of sessions, of tool calls
    Replay(Replay),
    /// Describe the eviction policies
    Policies(Policies),
    /// Check, test and explain policies over tool calls of agents
    #[command(subcommand)]
    Policy(ToolPolicy),
    /// Show what importers take out as secrets
    Secrets(Secrets),
    /// Say what kind of work a text asks for, and how risky it is, by rule
    Classify(Classify),
    /// Propose an intent
    Submit(Submit),
    /// Record what an agent noticed
    Observe(Observe),
    /// Show what agents noticed and what is still open
    Observations(Observations),
    /// Mark observations that need no action as processed
    Process(Process),
    /// Show what waits for a person
    Inbox(Inbox),
    /// Record the result of an analysis of an intent
    Analyze(Analyze),
    /// Approve proposed intents and requests of sessions
    Approve(Approve),
    /// Reject intents
    Reject(Reject),
    /// Answer what is asked about an intent
    Answer(Answer),
    /// Have failed tasks tried again
    Rerun(Rerun),
    /// Give further instructions for intents
    Instruct(Instruct),
    /// Judge the type or the risk of intents
    Judge(Judge),
    /// Show the tasks of an intent that can be begun
    Ready(Ready),
    /// Show or change the settings that the log's decisions use
    Settings(Settings),
    /// Show counts and sizes
    Stats(Stats),
    /// Check everything that is stored, or a proof
    Verify(Verify),
    /// Make a proof that an event is in the log, or that the log has only grown
    Prove(Prove),
    /// Print the size and the root of the log, signed or not, for later checks
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
    /// Keep the git blobs that the log names in a git repository, or let them go
    Retain(Retain),
    /// Make a log of a backup
    Restore(Restore),
    /// Copy a log into another store: from a folder to PostgreSQL, back, or to another of either
    Copy(CopyLog),
    /// Say what is wrong with the log, and what to do about it
    Doctor(Doctor),
    /// Print content by its digest
    Cat(Cat),
    /// Rebuild the catalogue of objects from the log
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

Any line may have \"at\" (RFC 3339: when it happened), \"key\" (a UUID that makes repeating
the line safe: what it stored is not stored again), \"correlation\" and \"causation\".
`annals commands --list` names the commands.

Each line is answered by one line, in order:

  {\"ok\":true,\"id\":\"...\",\"position\":1}
  {\"ok\":false,\"line\":2,\"error\":{\"code\":\"transition\",\"class\":\"refused\",\"retryable\":false,...}}

A refused line stores nothing, and the next one is read. The exit status is then 1.

A pipe is read as its lines come, and waited for, also one with a name (mkfifo): commands may be fed
that way. Anything else that is not a regular file is refused.

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
