//! Other histories: `replay`, and the policies and profiles that it tries.

use std::path::PathBuf;

use annals::{At, AtName};
use clap::Args;

use super::Floor;
use super::words::{at_since, moment};

#[derive(Debug, Args)]
#[command(after_help = "\
Folds the recorded frames of a pipeline under each eviction policy, and compares the frames and tokens in the window, \
the evicted frames, and the misses: uses of a frame that the policy had dropped by then. Nothing is written to the log. \
--optimum adds the fewest misses that are possible at the same budget; for tokens it is an estimate, marked with ~.

--sessions judges recorded commands again under the session profile in a JSON file (Contracts v1.1's PolicyProfile), \
and counts the verdicts that flip, by rule. What cannot be judged is counted as unknown.

--tools judges recorded tool calls again under tool policies (docs/tool-policy.md). A call that ran counts as allowed, \
unless it is recorded that a person was asked. Calls without a directory count as made in --workspace.

A policy file is TOML or JSON; `annals policy evictions` describes them.

Examples:
  annals policy replay 1a2b3c4d --policy lru.toml --policy tokens.json
  annals policy replay 1a2b3c4d --policy lru.toml --optimum
  annals policy replay 1a2b3c4d --policy lru.toml --windows
  annals policy replay --all --policy lru.toml --json
  annals policy replay --sessions --profile strict.json
  annals policy replay --sessions 5e6f7a8b 9c0d1e2f --profile strict.json --json
  annals policy replay --tools --policy no-secrets.cedar --policy allow-the-rest.cedar
  annals policy replay --tools --policy new.cedar --since 2026-11-01T00:00:00Z --json")]
pub(crate) struct Replay {
    /// The pipeline
    #[arg(value_name = "PIPELINE", required_unless_present_any = ["all", "sessions", "profile", "tools"])]
    pub(crate) pipeline: Option<String>,
    /// Every pipeline of the log: the largest windows, the sum of what was evicted and missed
    #[arg(long, conflicts_with = "pipeline")]
    pub(crate) all: bool,
    /// A policy to try: a TOML or JSON file, with --tools a Cedar file; give it again for more
    #[arg(long = "policy", value_name = "FILE")]
    pub(crate) policies: Vec<PathBuf>,
    /// Also compute the fewest misses that each budget allows
    #[arg(long)]
    pub(crate) optimum: bool,
    /// Also list each policy's window at each use by a step, and at the end
    #[arg(long)]
    pub(crate) windows: bool,
    /// Judge the commands of these sessions again, or of all sessions
    #[arg(long, value_name = "SESSION", num_args = 0.., requires = "profile",
          conflicts_with_all = ["pipeline", "all", "policies", "optimum", "windows"])]
    pub(crate) sessions: Option<Vec<String>>,
    /// With --sessions: the policy profile, a JSON file
    #[arg(long, value_name = "FILE", requires = "sessions", conflicts_with_all = ["pipeline", "all"])]
    pub(crate) profile: Option<PathBuf>,
    /// Judge the recorded tool calls again, under policies over tool calls
    #[arg(long, requires = "policies",
          conflicts_with_all = ["pipeline", "all", "optimum", "windows", "sessions", "profile"])]
    pub(crate) tools: bool,
    /// With --tools: only calls from this position on, or from this time on (RFC 3339, 2026-01-31, 14:30, yesterday, 2d). Times
    /// are the log's; occurred:TIME uses the callers' clocks
    #[arg(long, value_name = "POSITION|TIME", requires = "tools", value_parser = at_since)]
    pub(crate) since: Option<At>,
    /// With --tools: the directory that agents worked on [default: that of each call's run]
    #[arg(long, value_name = "DIR", requires = "tools")]
    pub(crate) workspace: Option<String>,
    /// With --sessions or --tools: list at most N verdicts that flip
    #[arg(
        short = 'n',
        long,
        value_name = "N",
        default_value_t = 20,
        conflicts_with_all = ["pipeline", "all"]
    )]
    pub(crate) limit: usize,
    /// Only events up to this position or time (RFC 3339, 2026-01-31, 14:30, yesterday, 2d), this event, or
    /// the decision that led to this git commit
    #[arg(long, value_name = "POSITION|TIME|EVENT|COMMIT", value_parser = moment)]
    pub(crate) at: Option<AtName>,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A policy is an object with one field, the policy's name. `create_pipeline` and \
`set_eviction_policy` record one, `annals policy replay` tries one. As a file it is TOML or JSON:

  [token_budget]
  max_tokens = 8000
  protected = [\"intent_analysis\", \"checkpoint\"]

  {\"kind_quotas\": {\"quotas\": [{\"kind\": \"tool_call\", \"keep\": 20}], \"others\": 50}}

Kinds are intent_analysis, step_summary, code_change, system_state, error_recovery, checkpoint \
and tool_call; any other one is {\"other\": \"its name\"}, in TOML { other = \"its name\" }.

Examples:
  annals policy evictions                    names, what they do and what they take
  annals policy evictions --schema > p.json  the JSON Schema of policy files
  annals policy evictions --check lru.toml   whether a file is a policy")]
pub(crate) struct Policies {
    /// Print the JSON Schema of policy files
    #[arg(long, conflicts_with = "check")]
    pub(crate) schema: bool,
    /// Read a policy file and print the policy
    #[arg(long, value_name = "FILE")]
    pub(crate) check: Option<PathBuf>,
}
