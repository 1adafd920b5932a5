//! Hooks of agents: `annals hook`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Redaction;

/// What agents call, and what puts it into their configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum Hook {
    /// Record an event of Claude Code's hooks
    #[command(after_help = hook_help("claude"))]
    Claude(RunHook),
    /// Record an event of Codex's hooks or of its `notify`
    #[command(after_help = hook_help("codex"))]
    Codex(RunHook),
    /// Record an event of Cursor's hooks
    #[command(after_help = hook_help("cursor"))]
    Cursor(RunHook),
    /// Record an event of Gemini CLI's hooks
    #[command(after_help = hook_help("gemini"))]
    Gemini(RunHook),
    /// Add the hooks to an agent's configuration
    Install(InstallHooks),
    /// Remove the hooks from an agent's configuration
    Uninstall(UninstallHooks),
    /// Show installed hooks, recent and queued events
    Status(HookStatus),
    /// Bring an event into the log: what a hook starts for that
    #[command(hide = true)]
    Deliver {
        /// When it ends at the latest, in milliseconds from now
        #[arg(value_name = "MS")]
        within: u64,
    },
}

fn hook_help(agent: &str) -> String {
    format!(
        "\
Agents call this; `annals record on {agent}` makes them do so. The event's JSON comes on standard \
input. Nothing is written to standard output and the exit status is 0, whatever happens, so that the \
agent goes on as it would: what cannot be recorded in time is kept in LOG.spool (of a log on \
PostgreSQL, below ~/.local/state/annals), synced, and the next command that writes to the log takes \
it in. Secrets are taken out first.

With --gate a policy over tool calls (see `annals policy`) answers what the agent asks for. A verdict \
that is on disk nowhere is not answered: the agent's own settings decide then, and with --fail-closed \
the call is refused.

Examples:
  annals hook {agent} < event.json
  annals hook {agent} --gate policy.cedar --fail-closed < event.json
  annals --log ~/annals hook {agent} < event.json
  annals hook {agent} -v < event.json    says on standard error what became of it"
    )
}

/// One event.
#[derive(Debug, Args)]
pub(crate) struct RunHook {
    /// The event's JSON [default: standard input]
    #[arg(value_name = "JSON")]
    pub(crate) event: Option<String>,
    /// The deadline for the event to be on disk, in milliseconds [default: 5000; 1000 for the end of a session]. Standard
    /// input is awaited for at least a second
    #[arg(long, value_name = "MS")]
    pub(crate) deadline: Option<u64>,
    #[command(flatten)]
    pub(crate) gate: Gate,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
}

/// Whether calls are judged before they are made.
#[derive(Debug, Args)]
pub(crate) struct Gate {
    /// Judge tool calls by this policy, and answer in the agent's form once the verdict is on disk. Several files are one
    /// policy
    #[arg(long, value_name = "FILE")]
    pub(crate) gate: Vec<PathBuf>,
    /// Enforce the log's budgets (`annals budget`) without a policy; --gate enforces them, too
    #[arg(long)]
    pub(crate) budgets: bool,
    /// Refuse a call that cannot be judged or recorded in time
    #[arg(long, requires = "gate")]
    pub(crate) fail_closed: bool,
}

/// An agent that has hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgent {
    Claude,
    Codex,
    Cursor,
    Gemini,
}

/// Whose configuration it is.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct HookScope {
    /// Use the configuration of the project in this folder
    #[arg(long)]
    pub(crate) project: bool,
    /// Use your own configuration, for all projects (the default)
    #[arg(long)]
    pub(crate) user: bool,
}

/// How a configuration is changed.
#[derive(Debug, Args)]
pub(crate) struct HowToChange {
    /// Only show the change
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Apply the change without confirmation
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The change is shown first, and made when you say so. Everything else in the file stays as it is, comments \
too, and a copy of the file as it was is kept beside it (.before-annals). Install again after the log or the \
program has moved: what was installed before is replaced. The hooks record into the log that --log names.

Examples:
  annals --log ~/annals record on claude       ~/.claude/settings.json, for all projects
  annals record on claude --project            .claude/settings.json of this project
  annals record on claude --gate policy.cedar  calls are judged by a policy, too
  annals record on claude --budgets            calls over budget are denied, or a person is asked
  annals record on codex --dry-run             what would be changed
  annals record on cursor --yes                without asking")]
pub(crate) struct InstallHooks {
    /// The agent
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agent: HookAgent,
    #[command(flatten)]
    pub(crate) scope: HookScope,
    #[command(flatten)]
    pub(crate) gate: Gate,
    #[command(flatten)]
    pub(crate) how: HowToChange,
    /// The program that the hooks run [default: this one]
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Where nothing else was changed since, the file becomes what it was before, byte for byte. Otherwise only \
what was installed goes.

Examples:
  annals record off claude
  annals record off claude --project --yes")]
pub(crate) struct UninstallHooks {
    /// The agent
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agent: HookAgent,
    #[command(flatten)]
    pub(crate) scope: HookScope,
    #[command(flatten)]
    pub(crate) how: HowToChange,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  annals record status
  annals record status --json")]
pub(crate) struct HookStatus {
    /// How many of the newest events to show
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) limit: usize,
}
