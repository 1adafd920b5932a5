//! Policies over tool calls of agents: `policy`.

use std::path::PathBuf;

use annals::At;
use clap::{Args, Subcommand, ValueEnum};

use super::Floor;
use super::words::at_since;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  annals policy check policies/*.cedar
  annals policy test policies/*.tests.json
  annals policy explain policies/read-only.cedar --command 'cat src/main.rs > copy'
  annals policy suggest")]
pub(crate) enum ToolPolicy {
    /// Check policy files against the schema
    Check(PolicyCheck),
    /// Run tests of policies: calls with expected verdicts
    Test(PolicyTest),
    /// Explain how policies judge each part of a call
    Explain(PolicyExplain),
    /// Propose rules for what people always allowed
    Suggest(PolicySuggest),
    /// Print the schema that policies are checked against
    Schema(PolicySchema),
}

/// What becomes of a call that no rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Otherwise {
    Allow,
    Ask,
    Deny,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Checks all files together, so that a rule's @id is unique. Errors are printed with their file, line and rule, and the exit status \
is then 1. docs/tool-policy.md describes policies.

Examples:
  annals policy check policy.cedar
  annals policy check policies/*.cedar --json")]
pub(crate) struct PolicyCheck {
    /// The policy files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A tests file names its policies, and has calls with the verdict (allow, ask or deny) and, where it \
matters, the rule that decides; null is no rule. A call is as --call of `annals policy explain` takes \
it, or the command of a call of Bash. What all calls have in common is in `defaults`:

  {
    \"policies\": [\"no-secrets.cedar\"],
    \"defaults\": {\"cwd\": \"/work/app\"},
    \"tests\": [
      {\"call\": \"cat .env\", \"verdict\": \"deny\", \"rule\": \"no-secrets/files\"},
      {\"call\": {\"tool\": \"Read\", \"args\": {\"file_path\": \"README.md\"}}, \"verdict\": \"ask\"}
    ]
  }

The exit status is 1 if a test fails.

Examples:
  annals policy test policies/no-secrets.tests.json
  annals policy test policies/*.tests.json --json")]
pub(crate) struct PolicyTest {
    /// The tests files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A call is JSON: \"tool\" and \"args\" as the agent gives them, and what is known around it: \"agent\",
\"session\", \"cwd\", \"workspace\" (left out: cwd), \"home\", \"branch\" and \"mode\".

Examples:
  annals policy explain policy.cedar --command 'git push origin +main'
  annals policy explain no-secrets.cedar allow-the-rest.cedar --call \\
    '{\"tool\": \"Read\", \"args\": {\"file_path\": \".env\"}, \"cwd\": \"/work/app\"}'
  annals policy explain policy.cedar --call - < call.json --json")]
pub(crate) struct PolicyExplain {
    /// The policy files
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The call, as JSON; - reads it from standard input
    #[arg(long, value_name = "JSON", required_unless_present = "command")]
    pub(crate) call: Option<String>,
    /// The command of a call of Bash in the current directory, by an agent without a name
    #[arg(long, value_name = "COMMAND", conflicts_with = "call")]
    pub(crate) command: Option<String>,
    /// The verdict for what no rule matches
    #[arg(long, value_enum, default_value_t = Otherwise::Ask, value_name = "VERDICT")]
    pub(crate) otherwise: Otherwise,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Finds common properties of calls that a person was asked about: programs, subcommands, folders, hosts, tools. A rule is proposed \
if a person allowed every such call, and none was ever denied. Read the rules before you use them: they allow such calls \
always.

Examples:
  annals policy suggest
  annals policy suggest --least 10 --since 2026-11-01T00:00:00Z > suggested.cedar
  annals policy suggest --json")]
pub(crate) struct PolicySuggest {
    /// Only rules that at least N allowed calls support
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(crate) least: u64,
    /// Only calls from this position on, or from this time on (RFC 3339, 2026-01-31, yesterday, 2d)
    #[arg(long, value_name = "POSITION|TIME", value_parser = at_since)]
    pub(crate) since: Option<At>,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals policy schema > annals.cedarschema")]
pub(crate) struct PolicySchema {}
