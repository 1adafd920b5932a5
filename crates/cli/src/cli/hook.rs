//! Hooks of agents: `annals hook`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::Redaction;

/// What agents call, and what puts it into their configuration.
#[derive(Debug, Subcommand)]
pub(crate) enum Hook {
    /// Record what Claude Code tells by a hook
    #[command(after_help = hook_help("claude"))]
    Claude(RunHook),
    /// Record what Codex tells by a hook, or by `notify`
    #[command(after_help = hook_help("codex"))]
    Codex(RunHook),
    /// Record what Cursor tells by a hook
    #[command(after_help = hook_help("cursor"))]
    Cursor(RunHook),
    /// Record what Gemini CLI tells by a hook
    #[command(after_help = hook_help("gemini"))]
    Gemini(RunHook),
    /// Put the hooks into an agent's own configuration
    Install(InstallHooks),
    /// Take the hooks out of an agent's configuration
    Uninstall(UninstallHooks),
    /// Show installed hooks, newest events and the spool
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
Agents call this; `annals hook install {agent}` makes them do so. The event's JSON comes on standard
input. Nothing is written to standard output and the exit status is 0, whatever happens, so that the
agent goes on as it would: what cannot be recorded in time is kept in LOG.spool (of a log on
PostgreSQL, below ~/.local/state/annals), synced, and the next command that writes to the log takes
it in. Secrets are taken out first.

With --gate a policy over tool calls (see `annals policy`) answers what the agent asks for. A verdict
that is on disk nowhere is not answered: the agent's own settings decide then, and with --fail-closed
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
    /// The event's JSON; left out, it is read from standard input
    #[arg(value_name = "JSON")]
    pub(crate) event: Option<String>,
    /// When the event must be on disk, in the log or in the spool, in milliseconds from now; left out, 5000,
    /// and 1000 for the end of a session. Standard input is waited for at least a second, whatever it is
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
    /// Judge calls before they are made by this policy, and answer in the agent's own form once the verdict is on disk.
    /// Several files are one policy
    #[arg(long, value_name = "FILE")]
    pub(crate) gate: Vec<PathBuf>,
    /// Hold the log's budgets (`annals budget`), without a policy; with --gate they are held anyway
    #[arg(long)]
    pub(crate) budgets: bool,
    /// Refuse a call that cannot be judged, or whose verdict the log does not have in time
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
    /// The configuration of the project in this folder
    #[arg(long)]
    pub(crate) project: bool,
    /// Your own configuration, for all projects; this is the default
    #[arg(long)]
    pub(crate) user: bool,
}

/// How a configuration is changed.
#[derive(Debug, Args)]
pub(crate) struct HowToChange {
    /// Show the change, and make none
    #[arg(long, conflicts_with = "yes")]
    pub(crate) dry_run: bool,
    /// Make the change without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The change is shown first, and made when you say so. Everything else in the file stays as it is, comments
too, and a copy of the file as it was is kept beside it (.before-annals). Install again after the log or the
program has moved: what was installed before is replaced. The hooks record into the log that --log names.

Examples:
  annals --log ~/annals hook install claude    ~/.claude/settings.json, for all projects
  annals hook install claude --project         .claude/settings.json of this project
  annals hook install claude --gate policy.cedar    calls are judged by a policy, too
  annals hook install claude --budgets         calls over budget are denied, or a person is asked
  annals hook install codex --dry-run          what would be changed
  annals hook install cursor --yes             without asking")]
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
    /// The program that the hooks run; left out, this one
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Where nothing else was changed since, the file becomes what it was before, byte for byte. Otherwise only
what was installed goes.

Examples:
  annals hook uninstall claude
  annals hook uninstall claude --project --yes")]
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
  annals hook status
  annals hook status --json")]
pub(crate) struct HookStatus {
    /// How many of the newest events to show
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) limit: usize,
}
