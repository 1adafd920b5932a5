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
  annals serve
  annals serve --listen 127.0.0.1:8080 --checkpoint /mnt/elsewhere/checkpoint
  annals serve --listen 0.0.0.0:4780 --token-file token --host annals.example.org
  annals serve --record-only &
  annals --log ~/work/.annals serve --record-only --json
  systemctl --user enable --now \"annals@$(systemd-escape --path ~/work/.annals)\"")]
pub(crate) struct Serve {
    /// Where to listen
    #[arg(long, value_name = "ADDRESS:PORT", default_value_t = listen())]
    pub(crate) listen: SocketAddr,
    /// A file whose first line is the token of requests: at least 16 characters
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Another name by which it is reached, such as that of a proxy; give it again for more
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// Hold what is shown against this checkpoint, which is kept outside of the log
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Own the log, too, so that other processes write by way of this one
    #[arg(long)]
    pub(crate) own: bool,
    /// Own the log, and show nothing
    #[arg(long, conflicts_with_all = ["listen", "token_file", "hosts", "checkpoint", "own"])]
    pub(crate) record_only: bool,
}

/// This machine alone.
fn listen() -> SocketAddr {
    annals_viewer::ViewerOptions::default().address
}

#[derive(Debug, Args)]
#[command(after_help = "\
One file that needs nothing else, for a ticket or a review: the object's page as `annals serve`
shows it, of a run with its timeline and diffs, of an intent, a task, a plan or a session with its
tree, and its history. It has no script and leads nowhere. Inside is the proof of all events on the
object, and a checkpoint, to be saved and checked without the log: the commands stand there.

The proof holds the whole records: anyone who gets the file can read them, also what a page does not
show. --headers-only leaves their content out of the proof, not out of the page.

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
