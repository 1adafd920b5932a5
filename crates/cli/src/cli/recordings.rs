//! `annals import`: recordings of agents, by their format's name or by what they say.

use std::path::PathBuf;

use annals_dialects::import::agents;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

use super::{Import, Redaction, Who};

/// What is imported: something that is named, or a recording that says itself whose it is.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Reads recordings of agents, and detects the agent of each file by its content. Importing again, or after a recording has \
grown, adds only new events. Secrets are removed before anything is stored. The report lists sessions, projects, times, cost \
and secrets, and names each problem by file and line; the exit status is then 1. --report also accounts for every field.

A session becomes a task with a run, a plan and a context pipeline, under the intent of its first prompt; sub-agents become \
sub-tasks. If there is no log yet, your own is created.

Examples:
  annals import                           all sessions of all agents
  annals import ~/.claude                 all sessions of Claude Code
  annals import ~/.codex                  all sessions of Codex
  annals import ~/.cursor/projects        all transcripts of Cursor's agent
  annals import ~/.local/share/opencode   all sessions of OpenCode
  annals import session.jsonl             one recording of any agent
  annals import codex rollout.jsonl       one recording of Codex
  annals import git .                     a repository's history")]
pub(crate) struct ImportAnything {
    #[command(subcommand)]
    pub(crate) what: Option<Import>,
    /// A recording or a folder of recordings [default: the folders of all agents]
    #[arg(value_name = "PATH")]
    pub(crate) path: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: HowToImport,
}

/// How recordings are imported.
#[derive(Debug, Args)]
pub(crate) struct HowToImport {
    /// The sessions have ended: give up tool calls without a result
    #[arg(long)]
    pub(crate) ended: bool,
    /// Report each field as kept, inferred or lost; -v names each
    #[arg(long)]
    pub(crate) report: bool,
    /// Also keep the recordings' text without its secrets, for `annals export raw`
    #[arg(long)]
    pub(crate) keep_raw: bool,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
    #[command(flatten)]
    pub(crate) who: Who,
}

/// Recordings of agents.
#[derive(Debug, Args)]
pub(crate) struct ImportRecordings {
    /// A recording or a folder of recordings
    #[arg(value_name = "PATH")]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) how: HowToImport,
}

/// Recordings of one agent. There is a subcommand for each that can be imported.
#[derive(Debug)]
pub(crate) struct ImportAgent {
    pub(crate) agent: &'static str,
    pub(crate) recordings: ImportRecordings,
}

const AFTER_HELP: &str = "\
A session becomes a task with a run, a plan and a context pipeline, under the intent that its \
first prompt is. Importing again, or after the recording has grown, adds only what is new. \
What cannot be read is named by file and line, the rest is read, and the exit status is then 1. \
So is a line, a call or a result that was recorded before with another content; the first stays.

--report says what became of the fields: kept, inferred or lost, in groups; -v and --json name \
each. With --keep-raw the text is kept, too, so that only secrets are lost. Inferred are a frame's tokens \
(o200k_base over its text: the model's own tokenizer is not public), and that an edit used the \
newest result about its file, which becomes a step of the plan.

A tool's arguments, its result or a part over 16 MiB of JSON is left out, and prompts and texts of \
the model end at 1 MiB; the report names each.";

impl FromArgMatches for ImportAgent {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ImportAgent, Error> {
        let given = matches.subcommand();
        let known = given.and_then(|(name, matches)| {
            let (agent, _) = agents().find(|(agent, _)| *agent == name)?;
            Some((agent, matches))
        });
        let Some((agent, matches)) = known else {
            return Err(Error::new(ErrorKind::InvalidSubcommand));
        };
        Ok(ImportAgent {
            agent,
            recordings: ImportRecordings::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = ImportAgent::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Subcommand for ImportAgent {
    fn augment_subcommands(command: Command) -> Command {
        agents().fold(command, |command, (agent, title)| {
            let examples = format!(
                "{AFTER_HELP}\n\nExamples:\n  annals import {agent} FILE\n  \
                 annals import {agent} DIR              every session in it, in time order\n  \
                 annals import {agent} FILE --json      the whole report, for programs\n  \
                 annals import {agent} FILE --ended     give up calls without a result\n  \
                 annals import {agent} DIR --redact 'acme=ACME-[0-9]{{8}}'\n                        \
                 also remove your own keys"
            );
            let about = format!("Read recorded sessions of {title}");
            let own = ImportRecordings::augment_args(Command::new(agent));
            command.subcommand(own.about(about).after_help(examples))
        })
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        ImportAgent::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        agents().any(|(agent, _)| agent == name)
    }
}
