//! What every command works with: where the log is, and where output goes.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use annals::blocking::Wait as _;
use annals::event_log::Position;
use annals::{Annals, At, AtName, LogUrl, OpenOptions};
use annals_dialects::secrets::Secrets;
use annals_live::ledger::{Ledger, LedgerDue, LedgerFile};
use annals_live::{Spool, take_in};
use rustix::fs::Mode;

use crate::cli::Floor;
use crate::error::{CliError, ErrorClass};
use crate::log_choice::LogSource;
use crate::output::Output;
use crate::progress;

/// Bytes of the log that a reading command keeps in memory: it runs once, and
/// mostly through the log from one end to the other.
const READER_CACHE: usize = 8 * 1024 * 1024;
/// How many events rows may be behind the log before a reading command has them written. Writers keep them closer; an
/// upgrade that changes the form of rows leaves them behind by the whole log.
const FAR_BEHIND: u64 = 20_000;

pub(crate) struct Context {
    /// The log, as `--log` names it.
    pub(crate) log: String,
    /// How the log was chosen.
    pub(crate) source: LogSource,
    /// Whether more output was requested: `--verbose`.
    pub(crate) is_verbose: bool,
    /// Whether the log is to be open for writing here alone: `--exclusive`.
    pub(crate) is_exclusive: bool,
    pub(crate) output: Output,
}

impl Context {
    /// The log as it may be shown: without a password.
    pub(crate) fn shown_log(&self) -> String {
        match self.log.parse() {
            Ok(LogUrl::Postgres(url)) => url.to_string(),
            _ => self.log.clone(),
        }
    }

    /// Whether the log is in a database, and has no files here.
    pub(crate) fn is_on_postgres(&self) -> bool {
        matches!(self.log.parse(), Ok(LogUrl::Postgres(_)))
    }

    /// Opens the log for reading; another process may write to it.
    pub(crate) fn reader(&self) -> Result<Annals, CliError> {
        let store = reader_options();
        self.open(OpenOptions::new().read_only(true).store(store))
    }

    /// Opens the log for reading, for a command that lists objects, costs or sessions.
    ///
    /// If their rows are far behind the log, as they are after an upgrade, a writer folds them first: otherwise each
    /// command would do so in memory, for as long as nobody writes. A user who may not write the log does so.
    pub(crate) async fn reader_of_rows(&self) -> Result<Annals, CliError> {
        let reader = self.reader()?;
        let lag = match reader.index().lag().await {
            Ok(lag) if lag >= FAR_BEHIND => lag,
            _ => return Ok(reader),
        };
        self.own_files();
        // No owner of the log is waited for: what it would write is folded in memory meanwhile.
        let Ok(writer) = self.open(OpenOptions::new().at_once(true)) else {
            self.output.note(&format!(
                "the lists of sessions, costs and objects are {lag} events behind the log, and cannot be updated now: \
                 each command reads these events until the log's user runs one"
            ));
            return Ok(reader);
        };
        reader.close().await;
        let progress = progress::spinner("updating the lists of sessions, costs and objects");
        let updated = writer.index().catch_up().await;
        progress.finish_and_clear();
        writer.close().await;
        if let (Err(error), true) = (updated, self.is_verbose) {
            self.output.warn(&format!("rows were not updated: {error}"));
        }
        self.reader()
    }

    /// Like [`Context::reader_of_rows`], and waits until the log has what the command must see.
    pub(crate) async fn reader_at(&self, floor: &Floor) -> Result<Annals, CliError> {
        at_floor(self.reader_of_rows().await?, floor).await
    }

    /// Opens the log for writing, and waits until it has what the command must see.
    pub(crate) async fn writer_at(&self, floor: &Floor) -> Result<Annals, CliError> {
        at_floor(self.writer()?, floor).await
    }

    /// Opens the log for writing; other processes may have it open for that too.
    pub(crate) fn writer(&self) -> Result<Annals, CliError> {
        self.own_files();
        let annals = self.open(OpenOptions::new())?;
        self.take_in(&annals);
        Ok(annals)
    }

    /// Like [`Context::writer`], but the user's own log is created if there is none.
    pub(crate) fn importer(&self) -> Result<Annals, CliError> {
        if self.source != LogSource::User {
            return self.writer();
        }
        self.own_files();
        if let Some(above) = Path::new(&self.log).parent() {
            annals_files::make_own_folders(above).map_err(|error| CliError::file(above, error))?;
        }
        let annals = self.open(OpenOptions::new().create(true))?;
        self.take_in(&annals);
        Ok(annals)
    }

    /// Takes in what agents told while no log could be written to. What cannot be taken in waits on.
    pub(crate) fn take_in(&self, annals: &Annals) {
        let Ok(spool) = Spool::of(&self.log) else {
            return;
        };
        if spool.is_of_another() || spool.is_idle(annals.log().log_id()).unwrap_or(false) {
            return;
        }
        // On a thread of its own: this one may run a future.
        let taking = || take_in(annals, &spool, &Secrets::standard()).wait();
        let taken = std::thread::scope(|scope| scope.spawn(taking).join());
        if let Ok(Err(error)) = taken {
            self.output.warn(&format!(
                "what waits in {}: {error}",
                spool.path().display()
            ));
        }
    }

    /// The small file with the costs of today and the budgets, which hooks and status lines read.
    pub(crate) fn ledger_file(&self) -> Result<LedgerFile, CliError> {
        Ok(LedgerFile::of(&self.log)?)
    }

    /// Writes that file, if that is due. Nothing fails for it: a gate asks where it is missing or old.
    pub(crate) async fn keep_ledger(&self, annals: &Annals, due: LedgerDue) -> Option<Ledger> {
        let file = self.ledger_file().ok()?;
        let kept = Ledger::keep(annals, &file, due).await;
        kept.unwrap_or_else(|error| {
            if self.is_verbose {
                self.output.warn(&error.to_string());
            }
            None
        })
    }

    /// Opens the log for writing by this process alone: to work on its files.
    pub(crate) fn alone(&self) -> Result<Annals, CliError> {
        self.own_files();
        self.open(OpenOptions::new().exclusive(true))
    }

    /// From here on this process creates files that are as open as the log's folder is, and those of
    /// a new log for their owner alone: the database creates its files by itself.
    pub(crate) fn own_files(&self) {
        let others = Mode::RWXG | Mode::RWXO;
        let open = match self.log.parse() {
            Ok(LogUrl::Rocks(folder)) => openness(&folder),
            _ => Mode::empty(),
        };
        let _ = rustix::process::umask(others.difference(open));
    }

    pub(crate) fn open(&self, options: OpenOptions) -> Result<Annals, CliError> {
        let options = match self.is_exclusive {
            true => options.exclusive(true),
            false => options,
        };
        options.open(&self.log).map_err(|error| match self.source {
            LogSource::User => CliError::open_users(&self.log, error),
            _ => CliError::open(&self.log, error),
        })
    }
}

/// What others may do with a folder. Where single users have rights on it, its mode has theirs in the place of the
/// group's, which files that are made when they have been taken back must not have.
fn openness(folder: &Path) -> Mode {
    let Ok(found) = std::fs::metadata(folder) else {
        return Mode::empty();
    };
    let open = Mode::from_raw_mode(found.mode());
    match annals_files::listed(folder) {
        Ok(None) => open,
        Ok(Some(listed)) if listed.groups => open,
        _ => open.difference(Mode::RWXG),
    }
}

/// Waits until the log has what the command must see.
async fn at_floor(annals: Annals, floor: &Floor) -> Result<Annals, CliError> {
    let Some(position) = floor.min_position else {
        return Ok(annals);
    };
    let annals = annals.at_least(Position(position));
    annals.reach().await?;
    Ok(annals)
}

/// How a reading command opens the embedded store.
pub(crate) fn reader_options() -> annals::store_rocks::Options {
    annals::store_rocks::Options::default()
        .with_cache_bytes(READER_CACHE)
        .with_named_removals(annals::named_removals)
}

/// The moment that was named; now, if none was. It is one that the log has reached.
pub(crate) async fn moment(annals: &Annals, name: Option<&AtName>) -> Result<At, CliError> {
    let at = match name {
        Some(name) => annals.past().at(name).await?,
        None => At::Now,
    };
    reached(annals, at)?;
    Ok(at)
}

/// The position that a moment which was named is behind; none, if none was.
pub(crate) async fn through(
    annals: &Annals,
    name: Option<&AtName>,
) -> Result<Option<Position>, CliError> {
    let Some(name) = name else {
        return Ok(None);
    };
    let at = moment(annals, Some(name)).await?;
    let position = annals.past().position_of(at).await?;
    position.map(Some).ok_or_else(|| {
        let message = format!(
            "invalid --at {name}: expected a position, a time by the log's clock, an event or a commit"
        );
        CliError::new(ErrorClass::Usage, "usage", message)
    })
}

/// Refuses a position that the log has not reached: what is there now would not
/// be what the caller wants.
pub(crate) fn reached(annals: &Annals, at: At) -> Result<(), CliError> {
    let end = annals.position();
    match at {
        At::Position(position) if position > end => Err(CliError::beyond_end(position, end)),
        _ => Ok(()),
    }
}
