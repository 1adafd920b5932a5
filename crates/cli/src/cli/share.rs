//! What `share` takes: a session that is written for others, or users who may use the log.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Writes the conversation of a session as one HTML file without external resources. The file is scanned for secrets again, \
and they are removed. The command prints a summary and the file's path. Nothing is uploaded.

Examples:
  annals share @last                       the session with the newest activity
  annals share 1a2b3c4d --out review.html")]
pub(crate) struct Share {
    /// The session: the beginning or end of its id or of the agent's session id, @last, or @2
    #[arg(value_name = "SESSION", conflicts_with_all = ["with", "without"])]
    pub(crate) session: Option<String>,
    /// The file to write [default: a new file in the current folder]
    #[arg(long, value_name = "FILE", requires = "session")]
    pub(crate) out: Option<PathBuf>,
    /// Users are shown if none is named.
    #[arg(skip)]
    pub(crate) is_of_users: bool,
    #[command(flatten)]
    pub(crate) users: Users,
}

#[derive(Debug, Args)]
#[command(after_help = "\
A log is for the user who made it, and for root. Users who are named here can read all of it. They write through a process \
of the log's user that owns the log, such as `annals service serve --record-only`; while no process owns it, their writes \
are refused.

Names stand for the current user numbers, which the file SHARE in the log's folder keeps. Access is granted by access \
control lists of the folder and its files; the users must be able to pass through the folders above. Changes take effect at \
once. Only the log's user and root can make them. A copy of the log is for its maker alone.

Examples:
  annals log share-with                             list users
  annals log share-with --with agent                grant access by name
  annals log share-with --with 1001 --with 1002     by number
  annals log share-with --without agent             revoke it
  sudo -u agent annals --log ~ada/work/.annals intent submit \"Add a cache\"")]
pub(crate) struct Users {
    /// Grant a user access, by name or number; repeat it for more
    #[arg(long, value_name = "USER")]
    pub(crate) with: Vec<String>,
    /// Revoke a user's access; repeat it for more
    #[arg(long, value_name = "USER")]
    pub(crate) without: Vec<String>,
}

impl Users {
    /// Returns `true` if users are named.
    pub(crate) fn are_named(&self) -> bool {
        !self.with.is_empty() || !self.without.is_empty()
    }
}
