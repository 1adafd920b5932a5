//! Sessions as Contracts v1.1 writes them: `import contracts`, `export contracts`.

use std::path::PathBuf;

use clap::Args;

use super::{Redaction, Who};

#[derive(Debug, Args)]
#[command(after_help = "\
Reads event streams and command logs of Contracts v1.1: JSON lines, a JSON array, or concatenated objects, of any number of \
sessions. Verdicts are recorded as they were and never judged again. Objects of unknown kinds are kept and counted. Unknown \
sessions are created as adopted. Importing again adds only new events. Errors are named by line; the rest is read, and the exit \
status is then 1.

Import a command log before its event stream: `annals policy replay --sessions` judges only commands that were recorded before \
their verdicts.

Examples:
  annals import contracts events.jsonl
  annals import contracts session.json --json")]
pub(crate) struct ImportContracts {
    /// The file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Writes one compact JSON object on each line, in the order of the log: the session's events, the patch sets, evidence and failures \
of its runs as artifacts, and their plan unless it has one. Imported objects are written unchanged, including commands. Commands \
that were given to this log's own gate are written with --commands; an import of such an export can be judged again.

Examples:
  annals export contracts --session 1a2b3c4d > events.jsonl
  annals export contracts --session 1a2b3c4d --commands > session.jsonl
  annals export contracts --session 1a2b3c4d --pretty")]
pub(crate) struct ExportContracts {
    /// The session
    #[arg(long, value_name = "ID")]
    pub(crate) session: String,
    /// Write the commands too, each before its verdict
    #[arg(long)]
    pub(crate) commands: bool,
    /// Indent by two spaces
    #[arg(long)]
    pub(crate) pretty: bool,
}
