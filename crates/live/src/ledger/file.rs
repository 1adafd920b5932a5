//! The files of a ledger: read within bounds, and replaced whole.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use annals::domain::Timestamp;
use annals::domain::settings::Budget;
use serde::de::DeserializeOwned;

use super::{Ledger, LedgerError, VERSION};
use crate::spool::{Spool, SpoolError};

/// The names of the two files.
const LEDGER: &str = "LEDGER";
const BUDGETS: &str = "BUDGETS";
/// The most bytes of a file.
const LARGEST: u64 = 8 * 1024 * 1024;
/// How long to wait before both files are read once more.
const AGAIN: Duration = Duration::from_millis(5);
/// The mode of a file in a folder that only its user reads, and what a group may have in addition.
const OWN: u32 = 0o600;
const GROUP_READS: u32 = 0o040;
/// What others must not have.
const OTHERS_WRITE: u32 = 0o002;

/// Where the ledger of a log is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerFile {
    folder: PathBuf,
    /// The spool, if the files are in it and not in the log's own folder.
    spool: Option<Spool>,
}

/// What is known from the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LedgerState {
    /// The ledger.
    Known(Box<Ledger>),
    /// There is none, and no sign of a budget.
    Absent,
    /// It is missing or cannot be used, for this reason. The budgets are those that are known otherwise: none if not even those are.
    Unknown {
        /// The reason.
        reason: String,
        /// The budgets, if they are known.
        budgets: Option<Vec<Budget>>,
    },
}

impl LedgerFile {
    /// The ledger of a log.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn of(log: &str) -> Result<LedgerFile, SpoolError> {
        let spool = Spool::of(log)?;
        Ok(match spool.log_folder() {
            Some(folder) => LedgerFile {
                folder: folder.to_owned(),
                spool: None,
            },
            None => LedgerFile {
                folder: spool.path().to_owned(),
                spool: Some(spool),
            },
        })
    }

    /// Reads the ledger and the budgets. Both files may be replaced meanwhile, one after the other, so it looks again once.
    pub fn read(&self) -> LedgerState {
        match self.read_once() {
            LedgerState::Unknown { .. } => {
                std::thread::sleep(AGAIN);
                self.read_once()
            }
            state => state,
        }
    }

    fn read_once(&self) -> LedgerState {
        let ledger = self.ledger();
        let budgets: Result<Option<Vec<Budget>>, _> = read(&self.folder.join(BUDGETS));
        match (ledger, budgets) {
            (Ok(None), Ok(None)) => LedgerState::Absent,
            (Ok(Some(ledger)), Ok(budgets))
                if ledger.budgets == budgets.clone().unwrap_or_default() =>
            {
                LedgerState::Known(Box::new(ledger))
            }
            (Ok(Some(ledger)), Ok(budgets)) => LedgerState::Unknown {
                reason: format!("{LEDGER} and {BUDGETS} have different budgets"),
                budgets: Some(both(ledger.budgets, budgets.unwrap_or_default())),
            },
            (Ok(Some(ledger)), Err(reason)) => LedgerState::Unknown {
                reason: format!("{BUDGETS} {reason}"),
                budgets: Some(ledger.budgets).filter(|budgets| !budgets.is_empty()),
            },
            (Ok(None), Ok(budgets)) => LedgerState::Unknown {
                reason: format!("{LEDGER} is missing"),
                budgets,
            },
            (Ok(None), Err(reason)) => LedgerState::Unknown {
                reason: format!("{BUDGETS} {reason}"),
                budgets: None,
            },
            (Err(reason), budgets) => LedgerState::Unknown {
                reason: format!("{LEDGER} {reason}"),
                budgets: budgets.ok().flatten(),
            },
        }
    }

    /// The ledger of the log that is there now.
    fn ledger(&self) -> Result<Option<Ledger>, String> {
        let ledger: Option<Ledger> = read(&self.folder.join(LEDGER))?;
        if let Some(ledger) = &ledger {
            if ledger.version != VERSION {
                return Err("was written by another version of this program".to_owned());
            }
            let log = annals::store_rocks::log_id(&self.folder);
            if self.spool.is_none() && log.is_some_and(|log| log != ledger.log) {
                return Err("is of another log".to_owned());
            }
        }
        Ok(ledger)
    }

    /// Returns `true` if there is a ledger that was written just now.
    pub fn is_recent(&self) -> bool {
        let now = Timestamp::from(annals::event_log::now());
        matches!(self.read(), LedgerState::Known(ledger) if ledger.is_recent(now))
    }

    /// Writes both files. The budgets come first: if only they are written, their use is not known.
    ///
    /// # Errors
    /// [`LedgerError`].
    pub fn write(&self, ledger: &Ledger) -> Result<(), LedgerError> {
        if let Some(spool) = &self.spool {
            spool.make()?;
        }
        let budgets = self.folder.join(BUDGETS);
        if !ledger.budgets.is_empty() {
            replace(&budgets, &ledger.budgets)?;
        }
        replace(&self.folder.join(LEDGER), ledger)?;
        match ledger.budgets.is_empty() {
            true => remove(&budgets),
            false => Ok(()),
        }
    }
}

/// The budgets of two lists, each once. Of two of the same project and period both hold.
fn both(mut one: Vec<Budget>, other: Vec<Budget>) -> Vec<Budget> {
    for budget in other {
        if !one.contains(&budget) {
            one.push(budget);
        }
    }
    one
}

/// Reads a file; `None` if there is none.
fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let mut how = OpenOptions::new();
    let file = match annals_files::open_with(path, how.read(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("cannot be read: {error}")),
    };
    let found = file
        .metadata()
        .map_err(|error| format!("cannot be read: {error}"))?;
    if found.mode() & OTHERS_WRITE != 0 {
        return Err("can be written by other users".to_owned());
    }
    if found.len() > LARGEST {
        return Err("is too large".to_owned());
    }
    let mut bytes = Vec::new();
    let read = file.take(LARGEST).read_to_end(&mut bytes);
    read.map_err(|error| format!("cannot be read: {error}"))?;
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|_| "is malformed".to_owned())
}

/// Writes a file under another name, and puts it in the place of the one before. It is as open to the group as its folder is.
fn replace<T: serde::Serialize>(path: &Path, value: &T) -> Result<(), LedgerError> {
    let failed = |source: io::Error| LedgerError::Write {
        path: path.to_owned(),
        source,
    };
    let bytes = serde_json::to_vec(value).map_err(|error| failed(error.into()))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = folder.join(format!(".{name}.{}", annals::event_log::new_id()));
    let written = write(&unfinished, folder, &bytes).and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written.map_err(failed)
}

fn write(path: &Path, folder: &Path, bytes: &[u8]) -> io::Result<()> {
    let open_to_group = fs::metadata(folder)?.mode() & GROUP_READS;
    let mut how = OpenOptions::new();
    how.write(true).create_new(true).mode(OWN);
    let mut file = annals_files::open_with(path, &mut how)?;
    if open_to_group != 0 {
        file.set_permissions(fs::Permissions::from_mode(OWN | open_to_group))?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

fn remove(path: &Path) -> Result<(), LedgerError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(LedgerError::Write {
            path: path.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}
