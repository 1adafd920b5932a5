//! What `share` takes.

use clap::Args;

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
  annals share                             who may
  annals share --with agent                let the user `agent` in
  annals share --with 1001 --with 1002     the same by number
  annals share --without agent             no longer
  sudo -u agent annals --log ~ada/work/.annals submit \"Add a cache\"")]
pub(crate) struct Share {
    /// Let a user in, by name or number; may be given several times
    #[arg(long, value_name = "USER")]
    pub(crate) with: Vec<String>,
    /// Let a user in no longer; may be given several times
    #[arg(long, value_name = "USER")]
    pub(crate) without: Vec<String>,
}
