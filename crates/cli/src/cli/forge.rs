//! What the commands about `.forge/` folders take.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Redaction, Who};

#[derive(Debug, Args)]
#[command(after_help = "\
Reads intents/*.yaml, tasks/*.yaml, reviews/*.yaml and intent-drafts/*.md. DIR is the .forge folder or its parent. An intent's \
alias is its file's name. Drafts are proposed like `annals intent submit`, and their files are deleted once they are on disk. \
Importing again adds new content and updates what came from these files. If the log has events of its own about an object, the \
log's state stays, and differences are reported. Errors are named by file and line; the rest is read, and the exit status is \
then 1.

Examples:
  annals import forge .                  the .forge folder of this project
  annals import forge .forge --json      the whole report, for programs
  annals import forge . --keep-drafts    keep the files of drafts")]
pub(crate) struct ImportForge {
    /// The .forge folder, or the folder that it is in
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Leave drafts where they are
    #[arg(long)]
    pub(crate) keep_drafts: bool,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Writes intents/NAME.yaml, tasks/NAME.yaml and reviews/TASK.yaml into DIR, or into the .forge folder in it. Without an ID, all \
intents are written that were proposed, judged, approved or asked about; --all adds those of `create_intent`, sessions and \
repositories, and files of earlier exports that are obsolete are removed. A file that no export wrote, or that was changed since, \
stays; if it differs, it is reported and the exit status is 1.

Examples:
  annals export forge .forge
  annals export forge out/ login-reset 1a2b3c4d
  annals export forge . --json")]
pub(crate) struct ExportForge {
    /// The folder to write, or the folder that a .forge folder is in
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Only these intents
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Intents that were never proposed or judged, too
    #[arg(long, conflicts_with = "ids")]
    pub(crate) all: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Watch {
    /// Import the drafts and intents of a .forge folder
    Forge(WatchForge),
    /// Import the transcripts of Claude Code as they grow
    Claude(WatchAgent),
    /// Import the transcripts of Codex as they grow
    Codex(WatchAgent),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Imports each transcript in DIR and below, and its new lines, until interrupted. Events of hooks and telemetry about the same \
calls and prompts are merged by their ids. This process owns the log meanwhile: other commands write through it, and hooks are \
faster.

Examples:
  annals service watch claude             ~/.claude/projects
  annals service watch codex              ~/.codex/sessions
  annals service watch claude DIR --json  one line for each transcript with new events
  annals service watch claude DIR --once  import once and exit")]
pub(crate) struct WatchAgent {
    /// A folder of transcripts [default: the agent's own]
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// End when everything that is there is imported
    #[arg(long)]
    pub(crate) once: bool,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Takes DIR/intent-drafts/*.md: those that are there, and those that come, until interrupted. A draft is \
taken once it has not changed for half a second. Its file is removed once the intent is on disk; one that \
secrets were taken out of stays, since the log has not all of it. One that \
cannot be read, or whose name is taken, stays and is named, and is looked at again when it changes.

It takes DIR/intents/*.yaml in the same way, by the rules of `annals import forge`: what is new is \
recorded, and what was recorded goes on as its file says. The files stay, and those that an export of \
this log wrote are left out. Tasks and reviews are for the import. The log is open only while something \
is taken, so that other commands can work on it.

Examples:
  annals service watch forge .
  annals service watch forge .forge --json  a line for each draft and each intent
  ANNALS_ACTOR=human:kei annals service watch forge .")]
pub(crate) struct WatchForge {
    /// The .forge folder, or the folder that it is in
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Leave drafts where they are
    #[arg(long)]
    pub(crate) keep_drafts: bool,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
    #[command(flatten)]
    pub(crate) who: Who,
}
