//! `annals record`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::Redaction;

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
    pub(crate) otlp: SocketAddr,
    /// A file whose first line is the token of requests: at least 16 characters
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Another name by which it is reached, such as that of a container's host; give it again for more
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    #[command(flatten)]
    pub(crate) redaction: Redaction,
}
