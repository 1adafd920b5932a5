//! Secrets: what importers take out, and `annals log secrets`.

use std::path::PathBuf;

use annals_dialects::secrets::Secrets as Patterns;
use clap::{Args, Subcommand};

use crate::error::CliError;

/// What an importer takes out before anything is stored.
#[derive(Debug, Args)]
pub(crate) struct Redaction {
    /// Also remove matches of this regular expression; repeat it for more. NAME=PATTERN names it in the report; with a
    /// group `(?<secret>...)` only the group is removed
    #[arg(long = "redact", value_name = "PATTERN")]
    pub(crate) patterns: Vec<String>,
    /// Keep well-known keys (`annals log secrets` lists the formats)
    #[arg(long)]
    pub(crate) keep_secrets: bool,
}

impl Redaction {
    /// The patterns that these options ask for.
    pub(crate) fn secrets(&self) -> Result<Patterns, CliError> {
        let set = match self.keep_secrets {
            true => Patterns::none(),
            false => Patterns::standard(),
        };
        let mut patterns = self.patterns.iter();
        let secrets = patterns.try_fold(set, |set, pattern| set.with(pattern));
        secrets.map_err(|error| CliError::from(error).during("--redact"))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Importers take secrets out before anything is stored, and put a marker such as \
[redacted:github-token] in their place. The report of the import names each by kind and place. \
--redact adds patterns to the formats in this list, --keep-secrets does without the list.

Examples:
  annals log secrets                       the known formats
  annals log secrets scan session.jsonl    the secrets of a file
  annals import claude DIR --redact 'acme=ACME-[0-9]{8}'
  annals import claude DIR --keep-secrets  remove no well-known keys")]
pub(crate) struct Secrets {
    #[command(flatten)]
    pub(crate) redaction: Redaction,
    #[command(subcommand)]
    pub(crate) action: Option<SecretsAction>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SecretsAction {
    /// List the secrets in a file by kind and place
    Scan(Scan),
}

#[derive(Debug, Args)]
#[command(after_help = "\
JSON, and JSON lines, are looked through string by string, as importers do; everything else as one \
text. Nothing is written, and no log is needed.

Examples:
  annals log secrets scan session.jsonl
  git diff | annals log secrets scan -
  annals log secrets scan notes.md --redact 'acme=ACME-[0-9]{8}' --json")]
pub(crate) struct Scan {
    /// The file; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
}
