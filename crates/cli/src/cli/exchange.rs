//! Reading foreign history into a log, and writing the log for others.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    ExportAnnals, ExportContracts, ExportForge, ImportAnnals, ImportContracts, ImportForge,
    Redaction,
};

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
Importing again adds only what is new. A commit that cannot be read, or not wholly, is named, the
rest is imported, and the exit status is then 1.

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
So is a line, a call or a result that was recorded before with another content; the first stays.

The report says what became of every field: kept, inferred or lost. Inferred are a frame's tokens
(o200k_base over its text: the model's own tokenizer is not public), and that an edit used the
newest result about its file, which becomes a step of the plan.

A tool's arguments, its result or a part over 16 MiB of JSON is left out, and prompts and texts of
the model end at 1 MiB; the report names each.

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
