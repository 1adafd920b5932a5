//! What the commands about `.forge/` folders take.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Redaction, Who};

#[derive(Debug, Args)]
#[command(after_help = "\
Reads intents/*.yaml, tasks/*.yaml, reviews/*.yaml and intent-drafts/*.md. DIR is the .forge folder,
or the folder that it is in. An intent's alias is its file's name. What the files say is recorded as
it is; a draft is proposed like a text given to `annals submit`, and its file goes once that is on
disk. Import again after the files have changed: what is new is added, and what is there goes on as
its file says. What this log has events of its own about stays as it is here, and is named where the
file says something else. One bad file, or one bad task of a file, is named by file and line; the
rest is read, and the exit status is then 1.

Examples:
  annals import forge .                  the .forge folder of this project
  annals import forge .forge --json      the whole report, for programs
  annals import forge . --keep-drafts    drafts are proposed, and stay where they are")]
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
Writes intents/NAME.yaml, tasks/NAME.yaml and reviews/TASK.yaml into DIR, or into the .forge folder
in it. Without an ID every intent is written that was ever proposed, judged, approved or asked about;
--all adds those of `create_intent`, sessions and repositories. A file that was not written by an
export, or was changed since, is never touched: it is named if it says something else, and the exit
status is then 1. Without an ID, files of earlier exports that this one does not write are removed.

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
Each transcript in DIR and below is imported, and what comes to it when it has grown, until interrupted. What
hooks and telemetry told of the same session meets it by the ids of its calls and prompts, and nothing is
recorded twice. The log stays open meanwhile: other commands write by way of this process, and hooks take less
time with it.

Examples:
  annals watch claude                    ~/.claude/projects
  annals watch codex                     ~/.codex/sessions
  annals watch claude DIR --json         a line for each transcript that brought something
  annals watch claude DIR --once         what is there now, and then it ends")]
pub(crate) struct WatchAgent {
    /// A folder of transcripts; left out, the agent's own
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
Takes DIR/intent-drafts/*.md: those that are there, and those that come, until interrupted. A draft is
taken once it has not changed for half a second. Its file is removed once the intent is on disk; one that
secrets were taken out of stays, since the log has not all of it. One that
cannot be read, or whose name is taken, stays and is named, and is looked at again when it changes.

It takes DIR/intents/*.yaml in the same way, by the rules of `annals import forge`: what is new is
recorded, and what was recorded goes on as its file says. The files stay, and those that an export of
this log wrote are left out. Tasks and reviews are for the import. The log is open only while something
is taken, so that other commands can work on it.

Examples:
  annals watch forge .
  annals watch forge .forge --json       a line for each draft and each intent
  ANNALS_ACTOR=human:kei annals watch forge .")]
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
