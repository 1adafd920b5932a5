//! What `copy` takes.

use clap::Args;

use super::Who;

#[derive(Debug, Args)]
#[command(after_help = "\
Makes the same log in another place and another kind of store: from a folder into a PostgreSQL database, out of one, from
one folder or database to another. The records, their ids, positions and times, the log's id, its root and all proofs stay
what they are, and so does content, and what was removed of it. SRC is only read, also while others write to it. The
options --log and ANNALS_LOG mean nothing here.

DEST is made where there is no log. A copy that was interrupted is gone on with: run it again. What is there must be the
beginning of SRC, by its root; it is compared record by record, and a log with another history is refused. So a log that
is in use is moved by copying it twice: once while it is written to, and once more, for the rest, when nobody writes to
it. From then on write to one of the two only: they have the same id.

In the end the roots are compared, and every record and all content is read at DEST and checked. A password belongs into
PGPASSWORD.

What is not in the records stays behind: where subscriptions are, what the catalogue has (it is made again), and the
digests by which a repeated command is known. A command that is repeated after the move, with the key that it had before,
is refused and not recorded twice.

Examples:
  annals copy .annals \"postgres://annals@db/annals?log=team\"
  annals copy \"postgres://annals@db/annals?log=team\" /backups/team
  annals copy /backups/monday \"postgres://annals@db/annals?log=team&schema=team\"
  annals copy postgres://annals@db1/annals postgres://annals@db2/annals --json
  annals copy .annals /mnt/log --fast            compare the roots only at the end")]
pub(crate) struct CopyLog {
    /// The log to copy: a directory, a backup, rocks:DIR or postgres://USER@HOST/DATABASE?log=NAME
    #[arg(value_name = "SRC")]
    pub(crate) source: String,
    /// Where the copy is made, or gone on with
    #[arg(value_name = "DEST")]
    pub(crate) dest: String,
    /// Compare the roots at the end, without reading everything at DEST again
    #[arg(long)]
    pub(crate) fast: bool,
    #[command(flatten)]
    pub(crate) who: Who,
}
