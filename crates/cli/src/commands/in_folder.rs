//! Which commands are about a log's files, and what takes their place where the log is on PostgreSQL;
//! `docs/postgres.md` has the same table.

use crate::cli::Command;
use crate::context::Context;
use crate::error::CliError;

/// Refuses a command that is about files which the log does not have.
pub(super) fn demand(command: &Command, context: &Context) -> Result<(), CliError> {
    if !context.is_on_postgres() {
        return Ok(());
    }
    match instead(command) {
        None => Ok(()),
        Some((what, instead)) => Err(CliError::needs_folder(what, instead)),
    }
}

/// What a command does to files, and what to do instead.
fn instead(command: &Command) -> Option<(&'static str, &'static str)> {
    Some(match command {
        Command::Backup(_) => (
            "`backup` copies files",
            "`annals export annals FILE` writes all of the log, `annals log copy` makes another log of it, and a backup of the \
             database has it, too",
        ),
        Command::Restore(_) => (
            "`restore` makes some",
            "`annals log copy BACKUP URL` makes a log on PostgreSQL of what `annals log backup` made",
        ),
        Command::Share(args) if args.session.is_none() => (
            "`share` lets users of this machine at them",
            "make them members of the role annals_reader or annals_writer in the database (docs/postgres.md)",
        ),
        Command::Gc(_) => (
            "`gc` collects blobs in them",
            "an append and its blobs are one transaction there, so that nothing is left of one that failed",
        ),
        Command::Doctor(args) if args.truncate_tail || args.put_back.is_some() => (
            "`doctor --truncate-tail` repairs them",
            "restore the database from a backup or a standby",
        ),
        Command::Doctor(args) if args.deep => (
            "`doctor --deep` looks for blobs in them that no record refers to",
            "leave --deep out; `annals proof verify` checks all content that records refer to",
        ),
        Command::Rebuild(args) if args.indexes => (
            "`rebuild --indexes` writes them again",
            "the server's REINDEX rebuilds its indexes; leave --indexes out to rebuild the catalogue",
        ),
        Command::Redact(args) if args.finish => (
            "`redact --finish` rewrites them",
            "a redaction is whole or not made there; VACUUM FULL gives up the bytes (docs/postgres.md)",
        ),
        Command::Serve(args) if args.own || args.record_only => (
            "`serve --own` and `serve --record-only` own them",
            "each process writes to the database by itself; leave the option out to show the log in a browser, and let \
             `annals service watch` or `annals record` stay for what hooks tell",
        ),
        _ => return None,
    })
}
