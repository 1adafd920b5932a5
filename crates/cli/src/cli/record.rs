//! What `record` takes: which agents are recorded by their hooks, and how telemetry comes in.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::{Gate, HookAgent, HookScope, HowToChange, Redaction};

#[derive(Debug, Args)]
#[command(after_help = "\
Puts hooks into the agents' own configuration: from then on they report each event to Annals. Without AGENT these are \
all agents that have a configuration folder. The change is shown first, and made when you confirm it. The rest of the \
file stays as it is, and a copy is kept beside it (.before-annals).

With --service a systemd service of your own owns the log, so that hooks take less time. It is started now and at each \
login.

Examples:
  annals record on
  annals record on claude --project          this project only
  annals record on claude --gate policy.cedar
  annals record on --service --yes")]
pub(crate) struct RecordOn {
    /// An agent; without one, all that are there
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agents: Vec<HookAgent>,
    #[command(flatten)]
    pub(crate) scope: HookScope,
    #[command(flatten)]
    pub(crate) gate: Gate,
    #[command(flatten)]
    pub(crate) how: HowToChange,
    /// The program that the hooks run; left out, this one
    #[arg(long, value_name = "FILE")]
    pub(crate) program: Option<PathBuf>,
    /// Also install and start a systemd user service that owns the log
    #[arg(long)]
    pub(crate) service: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Takes the hooks out of the agents' configuration. A file that nobody changed since becomes what it was before, byte \
for byte.

Examples:
  annals record off
  annals record off claude --yes
  annals record off --service                the service, too")]
pub(crate) struct RecordOff {
    /// An agent; without one, all that are recorded
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
Examples:
  annals record status
  annals record status claude
  annals record status --json")]
pub(crate) struct RecordStatus {
    /// Only this agent; give more for more
    #[arg(value_enum, value_name = "AGENT")]
    pub(crate) agents: Vec<HookAgent>,
    /// How many of the newest events to show
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Takes OTLP over HTTP: POST /v1/logs and /v1/traces, as JSON and as protobuf. A request is answered
when what it has is on disk. Decisions on tool calls, with who made them, and results meet what
hooks and transcripts tell of the same calls; the rest is evidence of the session's run. Metrics are
not taken. It also takes in what hooks had to leave in the spool. It runs until interrupted.

Only the user that it runs as can write, and root. With a token, which a request has as
`Authorization: Bearer TOKEN`, others can, and so can other machines. A request must name the
address that it listens on, or a --host; pages of web sites are refused. Decisions on tool calls
are marked as reported by telemetry.

Examples:
  annals record --otlp 127.0.0.1:4318
  annals record --otlp 0.0.0.0:4318 --token-file token
  CLAUDE_CODE_ENABLE_TELEMETRY=1 OTEL_LOGS_EXPORTER=otlp OTEL_EXPORTER_OTLP_PROTOCOL=http/json \\
    OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 claude")]
pub(crate) struct Record {
    /// Where to listen for telemetry
    #[arg(long, value_name = "ADDRESS:PORT", required = true)]
    pub(crate) otlp: Option<SocketAddr>,
    /// A file whose first line is the token of requests: at least 16 characters
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Another name by which it is reached, such as that of a container's host; give it again for more
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
}
