//! What `serve` and `export html` take.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Shows the log in a browser: what is running, what failed, what waits for a person, each object with
its history, a run as a timeline, the context window, decisions, diffs, costs, two runs side by
side, a search. Each page is as of any moment, which a slider moves, follows the log by itself, and
has its JSON (/api/v1, described by /api/v1/openapi.json). See docs/viewer.md.

It only reads: there is no address that changes anything, the log is open for reading only, beside
whatever process owns it, and nothing is loaded from elsewhere. Only this machine can reach it,
unless --listen says another address. Then requests need a token: the first line of --token-file, or
one that is made, and printed once. Open the printed address once; the browser keeps the token as a
cookie. Programs send `Authorization: Bearer TOKEN`. It speaks HTTP without TLS: put a proxy before
it where the network is not trusted, and name that with --host.

With --record-only it shows nothing, and owns the log instead, until it is interrupted or
terminated; with --own it does both. Any number of processes may write to a log. The first one owns
it, and the others write by way of it; when it goes, the next one takes its place. So nothing has to
run for that. With a process that stays, commands need not open the log's files for writing
themselves. It listens on the socket `sock` in the log's folder, and takes what the user that it
runs as, root, and who `annals share` names write. Systemd is told when it is ready (Type=notify);
the program's archive has a unit for it, annals@.service. A line says each change; with --json, an
object: {\"state\":\"owner\"}, {\"state\":\"waiting\"} with the owner's process id, {\"state\":\"ended\"}. If
the log's store fails, for example since the disk is full, it ends with 1, and can be started again.

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
  annals export html 1a2b3c4d --out run.html
  annals export html 1a2b3c4d --at 1000 --headers-only > run.html")]
pub(crate) struct ExportHtml {
    /// The object: its UUID, at least its last 8 digits, or an alias
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// As it was after this position
    #[arg(long, value_name = "POSITION")]
    pub(crate) at: Option<u64>,
    /// Only headers in the proof: type, stream, times and actor, and digests of the rest
    #[arg(long)]
    pub(crate) headers_only: bool,
    /// Write it to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}
