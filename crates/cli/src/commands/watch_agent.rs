//! `annals service watch claude` and `codex`: transcripts are imported as they grow.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use annals::{Annals, Classified};
use annals_dialects::import::{self, GrowingRecordings, ImportOptions};
use annals_dialects::watch::RecordingWatch;
use annals_dialects::{BrokenRecord, ImportReport};
use annals_live::hook::HookAgent;
use annals_live::install::{self, Scope};
use annals_live::ledger::LedgerDue;
use annals_live::{Listener, Spool};
use serde_json::json;

use super::import::none_broken;
use crate::cli::WatchAgent;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};
use crate::output::counted;
use crate::signals::Signals;

/// Nothing is about to be ready where the next look is so far away.
const ONCE_MORE: Duration = Duration::from_secs(1);

/// After how long it is looked once more whether everything is imported, where that is to end it.
const SOON: Duration = Duration::from_millis(50);

/// After how long a log is tried again that could not be written to.
const LATER: Duration = Duration::from_secs(5);

/// Transcripts that are followed.
struct Followed<'a> {
    agent: HookAgent,
    folder: &'a Path,
    options: &'a ImportOptions,
    /// Whether to end when everything is imported.
    once: bool,
    watch: RecordingWatch,
    signals: Signals,
    /// Records that could not be read so far.
    broken: u64,
}

/// Why the log is closed.
enum Over {
    /// It was interrupted, or all is imported.
    Done,
    /// The log does not take what is there: it is opened again.
    Again,
}

/// Follows the transcripts of an agent until interrupted.
pub(crate) async fn run(
    agent: HookAgent,
    args: &WatchAgent,
    context: &mut Context,
) -> Result<(), CliError> {
    let importer = args.who.importer(&context.output)?;
    let options = ImportOptions::default().with_secrets(args.redaction.secrets()?);
    // Better now than with the first transcript.
    let reader = context.reader()?;
    let log_id = reader.log().log_id();
    reader.close().await;
    let folder = match &args.dir {
        Some(folder) => folder.clone(),
        None => own_folder(agent)?,
    };
    let watch = RecordingWatch::start(&folder, import::endings(agent.key())?);
    let watch = watch.map_err(|error| CliError::input(&folder, error))?;
    let how = match watch.is_told() {
        true => "",
        false => ", every 5 seconds: the system does not say what changes there",
    };
    context
        .output
        .note(&format!("watching {}{how}; Ctrl-C ends", folder.display()));
    let mut followed = Followed {
        agent,
        folder: &folder,
        options: &options,
        once: args.once,
        watch,
        signals: Signals::new()?,
        broken: 0,
    };
    for (path, reason) in import::unread_in(&folder, agent.key())? {
        followed.broken += 1;
        let path = path.display();
        context
            .output
            .warn(&format!("{path} is not imported: {reason}"));
    }
    let mut was_said = false;
    loop {
        match context.writer() {
            // What was imported into the first one is not in this one.
            Ok(annals) if annals.log().log_id() != log_id => {
                annals.close().await;
                return Err(another_log(context));
            }
            Ok(annals) => {
                was_said = false;
                let annals = annals.imported_by(&importer);
                let over = followed.follow(&annals, context).await;
                annals.close().await;
                if let Over::Done = over? {
                    return match args.once {
                        true => none_broken(followed.broken),
                        false => Ok(()),
                    };
                }
            }
            // Another process has the log for itself.
            Err(error) if error.is_retryable() => {
                if !std::mem::replace(&mut was_said, true) {
                    context.output.warn(&error.to_string());
                }
            }
            Err(error) => return Err(error),
        }
        tokio::select! {
            () = tokio::time::sleep(LATER) => {}
            () = followed.signals.next() => return Ok(()),
        }
    }
}

impl Followed<'_> {
    /// Imports what is ready, until interrupted. Meanwhile hooks need not open the log themselves.
    async fn follow(&mut self, annals: &Annals, context: &mut Context) -> Result<Over, CliError> {
        let mut growing = GrowingRecordings::new(annals, self.agent.key(), self.options)?;
        let mut bell = Listener::new(Spool::of(&context.log)?);
        loop {
            let ready = self.watch.ready(Instant::now());
            let ready = ready.map_err(|error| CliError::input(self.folder, error))?;
            let is_nothing = ready.paths.is_empty();
            if let Over::Again = self.take(ready.paths, &mut growing, context).await? {
                return Ok(Over::Again);
            }
            context.keep_ledger(annals, LedgerDue::IfBehind).await;
            match self.once {
                true if is_nothing && ready.again >= ONCE_MORE => return Ok(Over::Done),
                true => {}
                // Without it hooks cost more, and what they leave is taken in by others.
                false => _ = bell.hang(),
            }
            let again = tokio::time::sleep(pause(self.once, ready.again));
            tokio::pin!(again);
            loop {
                tokio::select! {
                    () = &mut again => break,
                    () = self.watch.changed() => break,
                    () = bell.rung() => context.take_in(annals),
                    () = failed(annals) => return Ok(Over::Again),
                    () = self.signals.next() => return Ok(Over::Done),
                }
            }
        }
    }

    /// Imports what came to some transcripts, those that begin first before the others.
    async fn take(
        &mut self,
        paths: Vec<PathBuf>,
        growing: &mut GrowingRecordings<'_>,
        context: &mut Context,
    ) -> Result<Over, CliError> {
        let mut over = Over::Done;
        for path in import::in_time_order(paths) {
            if let Over::Again = over {
                self.watch.forget(&path);
                continue;
            }
            match growing.grown(&path, &mut |_| {}).await {
                Ok(report) => {
                    self.broken += report.broken_count;
                    tell(&path, &report, context)?;
                }
                Err(error) => {
                    context.output.warn(&format!("{}: {error}", path.display()));
                    // What is wrong with the file is so until it changes.
                    if error.is_retryable() || error.is_of_log() {
                        self.watch.forget(&path);
                    } else if !error.is_no_recording() {
                        self.broken += 1;
                    }
                    if error.is_of_log() {
                        over = Over::Again;
                    }
                }
            }
        }
        context.output.flush()?;
        Ok(over)
    }
}

/// For how long nothing is looked at, if nothing changes.
fn pause(once: bool, again: Duration) -> Duration {
    match once {
        true if again >= ONCE_MORE => SOON,
        _ => again,
    }
}

fn another_log(context: &Context) -> CliError {
    let message = format!(
        "another log is at {} now, and nothing is recorded into it",
        context.shown_log()
    );
    CliError::new(ErrorClass::Failed, "log_gone", message)
        .hint("start the command again if that is the right one")
}

/// Waits until the log takes nothing any more, where others write by way of its owner.
async fn failed(annals: &Annals) {
    match annals.is_owner() {
        true => annals.unshared().await,
        // A client finds the next owner with its next call.
        false => std::future::pending().await,
    }
}

/// Says what was imported of a transcript.
fn tell(path: &Path, report: &ImportReport, context: &mut Context) -> Result<(), CliError> {
    if report.events_made == 0 && report.broken_count == 0 {
        return Ok(());
    }
    let output = &mut context.output;
    if output.is_json() {
        return output.json(&json!({
            "file": path,
            "events": report.events_made,
            "broken": report.broken_count,
            "broken_records": report.broken,
            "waiting": report.waiting,
        }));
    }
    let events = counted(report.events_made, "event", "events");
    let broken = match report.broken_count {
        0 => String::new(),
        broken => format!(
            ", {} could not be read",
            counted(broken, "record", "records")
        ),
    };
    output.line(&format!("{}: {events}{broken}", path.display()))?;
    for record in &report.broken {
        let BrokenRecord { file, line, reason } = record;
        output.line(&format!("broken         {file}:{line}: {reason}"))?;
    }
    Ok(())
}

/// Where an agent keeps its transcripts.
fn own_folder(agent: HookAgent) -> Result<PathBuf, CliError> {
    let settings = install::place(agent, Scope::User)?;
    let own = settings.parent().unwrap_or(Path::new("."));
    Ok(own.join(match agent {
        HookAgent::Codex => "sessions",
        _ => "projects",
    }))
}

#[cfg(test)]
mod tests {
    use annals::OpenOptions;
    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn who_ends_when_all_is_imported_does_not_wait_for_more() {
        let (short, long) = (Duration::from_millis(300), Duration::from_secs(5));
        assert_eq!([pause(true, short), pause(true, long)], [short, SOON]);
        assert_eq!([pause(false, short), pause(false, long)], [short, long]);
    }

    #[tokio::test]
    async fn a_log_that_another_handle_owns_takes_what_is_there() {
        let home = tempfile::tempdir().expect("a folder");
        let log = home.path().join("log");
        let log = log.to_str().expect("a path");
        let owner = OpenOptions::new().create(true).open(log).expect("a log");
        let client = OpenOptions::new().open(log).expect("its client");
        assert_eq!((owner.is_owner(), client.is_owner()), (true, false));
        assert_eq!(failed(&owner).now_or_never(), None);
        assert_eq!(failed(&client).now_or_never(), None);
        client.close().await;
        owner.close().await;
    }
}
