//! What `record` takes: which agents are recorded by their hooks, and how telemetry comes in.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::{Gate, HookAgent, HookScope, HowToChange, Redaction};

/// Events that the status shows.
const NEWEST: usize = 5;

#[derive(Debug, Args)]
#[command(after_help = "\
Adds hooks to the agents' configuration: they report each event to Annals. The change is shown first, and applied when you \
confirm it. The rest of the file is kept, with a copy beside it (.before-annals).

With --service a systemd user service owns the log, so that hooks are faster. It starts now and at each login.

Examples:
  annals record on
  annals record on claude --project          this project only
  annals record on --budgets                 enforce budgets
  annals record on claude --gate policy.cedar
  annals record on --service --yes")]
pub(crate) struct RecordOn {
    /// The agents [default: all that are installed]
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agents: Vec<HookAgent>,
    #[command(flatten)]
    pub(crate) scope: HookScope,
    #[command(flatten)]
    pub(crate) gate: Gate,
    #[command(flatten)]
    pub(crate) how: HowToChange,
    /// The program that the hooks run [default: this one]
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
    /// Also install and start a systemd user service that owns the log
    #[arg(long)]
    pub(crate) service: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Removes the hooks from the agents' configuration. A file without other changes becomes what it was before, byte for byte.

Examples:
  annals record off
  annals record off claude --yes
  annals record off --service                also remove the service")]
pub(crate) struct RecordOff {
    /// The agents [default: all that are recorded]
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agents: Vec<HookAgent>,
    #[command(flatten)]
    pub(crate) scope: HookScope,
    #[command(flatten)]
    pub(crate) how: HowToChange,
    /// Also stop and remove the systemd user service
    #[arg(long)]
    pub(crate) service: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Prints a line for each agent (on or off, and the file of its hooks), recent events of hooks, and queued events.

Examples:
  annals record                 the same
  annals record status claude
  annals record status --json")]
pub(crate) struct RecordStatus {
    /// Only these agents
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agents: Vec<HookAgent>,
    /// The number of recent events to show
    #[arg(long, default_value_t = NEWEST, value_name = "N")]
    pub(crate) limit: usize,
}

impl Default for RecordStatus {
    fn default() -> RecordStatus {
        RecordStatus {
            agents: Vec::new(),
            limit: NEWEST,
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Receives OTLP over HTTP: POST /v1/logs and /v1/traces, as JSON or protobuf. A request is answered when its content is on \
disk. Decisions on tool calls and their results are merged with those of hooks and recordings; all other records become \
evidence of the session's run. Metrics are not accepted. Queued events of hooks are recorded, too. It runs until interrupted.

Without a token only the user of the process and root can write. With --token-file, requests with `Authorization: Bearer \
TOKEN` can, also from other machines. A request must name the address that it listens on, or a --host; pages of web sites \
are refused. Decisions are marked as reported by telemetry.

Examples:
  annals service record --otlp 127.0.0.1:4318
  annals service record --otlp 0.0.0.0:4318 --token-file token
  CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_LOGS_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=http/json \\
    OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 claude")]
pub(crate) struct Record {
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) otlp: Option<SocketAddr>,
    /// A file whose first line is the bearer token, of at least 16 characters
    #[arg(long, value_name = "FILE", requires = "otlp")]
    pub(crate) token_file: Option<PathBuf>,
    /// A further host name of this address, such as that of a container's host; repeat it for more
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
}
