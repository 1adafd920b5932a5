//! Reading foreign history into a log, and writing the log for others.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::reading::Zone;
use super::{
    ExportAnnals, ExportContracts, ExportForge, ExportHtml, ImportAgent, ImportAnnals,
    ImportContracts, ImportForge, Redaction, Who,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Import {
    /// Read a git repository: every commit of HEAD's history, once
    Git(ImportGit),
    #[command(flatten)]
    Agent(ImportAgent),
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
The eleven kinds of objects of git-internal 0.6.0, one JSON object a line or a file. They are \
taken over as they are, in any state; the rules that they break are listed. Importing again \
leaves what is unchanged as it is. What cannot be read is named by file and line, the rest is \
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
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A commit becomes an intent, a task, a run with its patch set, and a decision. What its header says \
beyond that (other parents, time zones, the committer, a signature) is evidence of its run, of kind \
commit_header: `annals object list evidence --parent RUN` and `annals object cat EVIDENCE` show it.

Importing again adds only what is new. A commit that cannot be read, or not wholly, is named, the \
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
    #[command(flatten)]
    pub(crate) who: Who,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// Write the log itself, one record a line
    Annals(ExportAnnals),
    /// Write git-internal's objects, one JSON object a line
    GitInternal(ExportGitInternal),
    /// Write a session as Contracts v1.1, one JSON object a line
    Contracts(ExportContracts),
    /// Write a .forge folder of YAML files
    Forge(ExportForge),
    /// Write a run as a trajectory in ATIF
    Atif(ExportAtif),
    /// Write a session or an object as one HTML file
    Html(ExportHtml),
    /// Write a session's conversation as Markdown
    Markdown(ExportMarkdown),
    /// Write the text of imported recordings that --keep-raw kept
    Raw(ExportRaw),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Every prompt, thought, answer, tool call and result, decision and diff, in order, with the sessions of \
sub-agents below the calls that started them. Texts are written as they were recorded, each once: \
answers as Markdown, the rest in code blocks.

Examples:
  annals export markdown @last > session.md
  annals export markdown 1a2b3c -o session.md")]
pub(crate) struct ExportMarkdown {
    /// The session
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// Export the state after this position
    #[arg(long, value_name = "POSITION")]
    pub(crate) at: Option<u64>,
    #[command(flatten)]
    pub(crate) zone: Zone,
    /// Write it to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
What `annals import --keep-raw` kept: the recordings as they were, but for their secrets. Into a \
folder each is written as AGENT/FILE; a file that is there and says something else is left alone. \
Of several texts under one name the newest has it; one that it begins with is not written, any \
other has digits of its SHA-256 in its name. Without a folder the recordings are listed.

Examples:
  annals import ~/.claude --keep-raw
  annals export raw                        which recordings there are
  annals export raw recordings/            all of them
  annals export raw --print 1f3c > session.jsonl")]
pub(crate) struct ExportRaw {
    /// The folder to write to
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Only recordings of this agent: claude, codex, ...
    #[arg(long, value_name = "AGENT")]
    pub(crate) agent: Option<String>,
    /// Print the recording whose SHA-256 begins so
    #[arg(long, value_name = "SHA256", conflicts_with = "dir")]
    pub(crate) print: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
One JSON document of ATIF v1.7: prompts, the model's messages with their thoughts, tool calls, results \
and tokens, what the program said, and the runs of sub-agents within it. Of a task its newest run is \
written, of an intent that of its task. `annals import` reads it, with the same prompts, calls, results \
and tokens.

Examples:
  annals export atif 1a2b3c4d > trajectory.json
  annals export atif 1a2b3c4d --pretty")]
pub(crate) struct ExportAtif {
    /// A run, a task or an intent
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Indent by two spaces
    #[arg(long)]
    pub(crate) pretty: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without an ID every object is written, oldest first. The JSON is byte for byte what git-internal \
0.6.0 writes. It reads commits of 64 hex digits only and demands one of runs and patch sets: \
objects that it could not read are refused, by field, and the exit status is then 1. With \
--relaxed they are written all the same. The report goes to standard error.

Examples:
  annals export git-internal > objects.jsonl
  annals export git-internal 1a2b3c4d
  annals export git-internal --relaxed --json > objects.jsonl 2> report.json")]
pub(crate) struct ExportGitInternal {
    /// Only these objects
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Also write objects that git-internal 0.6.0 cannot read
    #[arg(long)]
    pub(crate) relaxed: bool,
}
