//! What `serve` takes.

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Any number of processes may write to a log. The first one owns it, and the others write by way
of it; when it goes, the next one takes its place. So nothing has to run for that. With a process
that stays, commands need not open the log's files for writing themselves. This is such a process:
it owns the log, or waits until the owner goes and takes its place, until it is interrupted or
terminated. It listens on the socket `sock` in the log's folder and on no network, and takes what
the user that it runs as, and root, write. Systemd is told when it is ready (Type=notify); the
program's archive has a unit for it, annals@.service.

A line says each change; with --json, an object: {\"state\":\"owner\"}, {\"state\":\"waiting\"} with the
owner's process id, {\"state\":\"ended\"}. If the log's store fails, for example since the disk is
full, it ends with 1, and can be started again.

Examples:
  annals serve --record-only &
  annals --log ~/work/.annals serve --record-only --json
  systemctl --user enable --now \"annals@$(systemd-escape --path ~/work/.annals)\"")]
pub(crate) struct Serve {
    /// Take what is recorded, and show nothing; there are no pages to show yet, so it has to be given
    #[arg(long, required = true)]
    pub(crate) record_only: bool,
}
