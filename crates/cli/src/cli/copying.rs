//! What `copy` takes.

use clap::Args;

use super::Who;

#[derive(Debug, Args)]
#[command(after_help = "\
Copies the log into another store, from or to a folder or a PostgreSQL database. Records, ids, positions, times, root \
and proofs stay the same. SRC is only read, also while others write to it. --log and ANNALS_LOG have no effect.

DEST is created if there is no log. Run an interrupted copy again: it continues. If DEST is not the beginning of SRC, by \
its root, it is refused. To move a log that is in use, copy it twice: once meanwhile, and once more when nobody writes.

At the end the roots are compared, and every record is read at DEST and checked. Put a password into PGPASSWORD.

Not copied are the positions of subscriptions, the catalogue, which is rebuilt, and the keys of repeated commands: a \
command that is repeated after the move with its key is refused, and not recorded twice.

Examples:
  annals log copy .annals \"postgres://annals@db/annals?log=team\"
  annals log copy \"postgres://annals@db/annals?log=team\" /backups/team
  annals log copy /backups/monday \"postgres://annals@db/annals?log=team&schema=team\"
  annals log copy postgres://annals@db1/annals postgres://annals@db2/annals --json
  annals log copy .annals /mnt/log --fast  compare the roots only at the end")]
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
