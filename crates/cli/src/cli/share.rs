//! What `share` takes: a session that is written for others, or users who may use the log.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Writes the conversation of a session as one HTML file that needs nothing else. Secrets are looked for once more in \
all that it holds, and taken out. A summary of its content and the file's path are printed. Nothing is uploaded.

Without a session it is the older spelling of `annals log share-with`.

Examples:
  annals share @last                       the session with the newest activity
  annals share 1a2b3c4d --out review.html")]
pub(crate) struct Share {
    /// The session: the beginning or end of its id or of the agent's session id, @last, or @2
    #[arg(value_name = "SESSION", conflicts_with_all = ["with", "without"])]
    pub(crate) session: Option<String>,
    /// Write it to this file instead of a new one in the current folder
    #[arg(long, value_name = "FILE", requires = "session")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) users: Users,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A log is for the user who made it, and for root. Another user who is named here can read all of it,
and write to it by way of a process of the log's user that owns it, such as
`annals serve --record-only`: the other user's processes never write to its files, and never own it.
While no process owns the log, what they would write is refused.

Names stand for the numbers that users have now, which the file SHARE in the log's folder keeps.
They are let in by access control lists of the folder and its files, and have to be able to pass
through the folders above. It holds at once, also for an owner that runs. Only the log's user and
root can change it. A copy of the log is for who made it alone.

Examples:
  annals log share-with                             who may
  annals log share-with --with agent                let the user `agent` in
  annals log share-with --with 1001 --with 1002     the same by number
  annals log share-with --without agent             no longer
  sudo -u agent annals --log ~ada/work/.annals submit \"Add a cache\"")]
pub(crate) struct Users {
    /// Let a user in, by name or number; may be given several times
    #[arg(long, value_name = "USER")]
    pub(crate) with: Vec<String>,
    /// Let a user in no longer; may be given several times
    #[arg(long, value_name = "USER")]
    pub(crate) without: Vec<String>,
}
