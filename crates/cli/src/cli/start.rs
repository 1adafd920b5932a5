//! What `start` and `resume` take.

use std::net::SocketAddr;

use clap::Args;

/// How `annals` and `annals start` work.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct StartOptions {
    /// Import, print the summary and exit
    #[arg(long)]
    pub(crate) once: bool,
    /// Do not open the browser
    #[arg(long)]
    pub(crate) no_browser: bool,
    /// The viewer's address [default: 127.0.0.1:4780, or a free port if that is taken]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: Option<SocketAddr>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Imports the recordings of all agents, newest first, and opens the viewer in the browser. Then it imports new recordings as \
they grow, until Ctrl-C. The next start continues an interrupted import. If the viewer of this log is running, it is opened.

Secrets are removed before anything is stored. The viewer only reads, and only this machine can reach it.

Examples:
  annals                    the same
  annals start --no-browser
  annals start --once       import, print the summary and end")]
pub(crate) struct Start {
    #[command(flatten)]
    pub(crate) options: StartOptions,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Prints the agent's own command that continues the session in its directory. Its events are recorded like all others.

Examples:
  annals resume @last
  annals resume 1a2b3c4d --run")]
pub(crate) struct Resume {
    /// The session: the beginning or end of its id or of the agent's session id, @last, or @2
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    /// Run the command in the session's directory
    #[arg(long)]
    pub(crate) run: bool,
}
