//! What `serve` and `export html` take.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Serves the viewer: sessions, conversations, costs, search and every object, at any earlier time. It only reads, and \
loads nothing from elsewhere. Each page has its JSON (/api/v1/openapi.json). See docs/viewer.md.

Only this machine can reach it, unless --listen names another address. Then requests need a token: the first line of \
--token-file, or a new one, which is printed once. Open the printed address once; programs send `Authorization: Bearer \
TOKEN`. It speaks HTTP without TLS: where the network is not trusted, put a proxy before it, and name that with --host.

--record-only serves nothing and owns the log, until it is interrupted; --own does both. Other processes then write by \
way of this one, through the socket `sock` in the log's folder, so that hooks take less time. Systemd is notified when \
it is ready. Each change of the owner is a line; with --json an object with the state `owner`, `waiting` or `ended`. If \
the log's store fails, the exit status is 1, and it can be started again. See docs/sharing.md.

Examples:
  annals service serve
  annals service serve --listen 127.0.0.1:8080 --checkpoint /mnt/elsewhere/checkpoint
  annals service serve --listen 0.0.0.0:4780 --token-file token --host annals.example.org
  annals service serve --record-only &
  annals --log ~/work/.annals service serve --record-only --json
  systemctl --user enable --now \"annals@$(systemd-escape --path ~/work/.annals)\"")]
pub(crate) struct Serve {
    /// The address to listen on
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = listen())]
    pub(crate) listen: SocketAddr,
    /// A file whose first line is the bearer token, of at least 16 characters
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// A further host name of this address, such as that of a proxy; repeat it for more
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// Check the log against this checkpoint, which is stored elsewhere
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Also own the log: accept writes from other processes
    #[arg(long)]
    pub(crate) own: bool,
    /// Own the log without a viewer
    #[arg(long, conflicts_with_all = ["listen", "token_file", "hosts", "checkpoint", "own"])]
    pub(crate) record_only: bool,
}

/// This machine alone.
fn listen() -> SocketAddr {
    annals_viewer::ViewerOptions::default().address
}

#[derive(Debug, Args)]
#[command(after_help = "\
Writes one HTML file without scripts and external resources: an object's page as the viewer shows it, with its timeline, diffs \
or tree, and its history. The file contains the proof of all events on the object, a checkpoint, and the commands that check \
them without the log.

The file is scanned for secrets again, and they are removed. The proof holds whole records, and its reader can read them, also \
content that no page shows; if they have secrets, it holds their headers. --headers-only omits content from the proof, not \
from the page.

Examples:
  annals export html @last -o session.html
  annals export html 1a2b3c4d --out run.html
  annals export html 1a2b3c4d --at 1000 --headers-only > run.html")]
pub(crate) struct ExportHtml {
    /// The session, by its id or @last, or the object: its UUID, at least its last 8 digits, or an alias
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// As it was after this position
    #[arg(long, value_name = "POSITION")]
    pub(crate) at: Option<u64>,
    /// Only headers in the proof: type, stream, times and actor, and digests of the rest
    #[arg(long)]
    pub(crate) headers_only: bool,
    /// Write it to this file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
