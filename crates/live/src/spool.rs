//! What could not be recorded in time: a file for each event, beside the log.
//!
//! The folder of a log whose real path is `PATH` is `PATH.spool`, with mode 0700, which it gets again where it lost it; that of a log on PostgreSQL is in
//! `~/.local/state/annals/spools` of the user whose agents tell. An event is written under another name, synced,
//! renamed, and the folder is synced; so a file is whole or not there. Its name begins with the time in milliseconds,
//! so that names in their order are events in theirs, and says of which session it is. The secrets are out of it before
//! it is written.
//!
//! ```text
//! PATH.spool/
//!   01795000000123-0192f0c1-....-9f31c2d4.hook   an event: 14 digits, its id, 8 digits of its session
//!   01795000000123-0192f0c1-....-9f31c2d4.bad    one that cannot be read, or that the log cannot have
//!   lost                                         its length: how many events are lost
//!   room                                         how much room there is, as far as it was counted
//!   of-0192f0c1-....                             whose events it has had: the id of a log
//!   bell                                         the socket of a process that takes in what comes, if there is one
//! ```
//!
//! An event has the id of the log that was there when it was told. Another log that has come to that path does not get it. A log
//! that was given another name in its folder does, by the mark `of-ID`, unless a log with its id is still at the old name: then
//! it is a copy of that one.

mod error;
pub(crate) mod forget;
mod former;
mod place;
mod room;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use annals::domain::Timestamp;
use annals_dialects::secrets::Secrets;
use annals_files::{Dir, Kind};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use self::error::SpoolError;
use self::room::Room;
use crate::gate::Ruling;
use crate::hook::{Hook, HookAgent, LARGEST};
use crate::settings::Settings;

/// The most events that wait, and the most bytes of them.
const BOUNDS: (u64, u64) = (20_000, 512 * 1024 * 1024);

/// The most bytes of one event: as JSON, a byte of what was received takes six of them at most.
const MOST_OF_ONE: u64 = 8 * LARGEST as u64;

/// The most entries of the folder that are looked at.
const ENTRIES: usize = 100_000;

/// The folder's mode, among the bits that are compared, and those by which others could put something there.
const OWN_MODE: u32 = 0o700;
const MODE_BITS: u32 = 0o777;
const OTHERS_WRITE: u32 = 0o022;

const ENDING: &str = ".hook";
const BAD: &str = ".bad";
const NEW: &str = ".new";
const LOST: &str = "lost";
const OF: &str = "of-";

/// After so long what was being written will not be finished.
const UNFINISHED: Duration = Duration::from_secs(24 * 60 * 60);

/// The events that wait for a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spool {
    path: PathBuf,
    /// Whether the folders that it is in are made with it.
    makes_parents: bool,
    /// The log's real folder, if it is in one.
    log: Option<PathBuf>,
    /// Folders that programs of before used for a log of that name.
    former: Vec<PathBuf>,
}

/// An event that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spooled {
    name: OsString,
    /// When it was received, in milliseconds since 1970.
    pub received_ms: u64,
    /// What tells its session from others.
    pub session: String,
}

/// How many events wait, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct SpoolState {
    /// How many wait.
    pub waiting: usize,
    /// How many bytes they have.
    pub bytes: u64,
    /// When the oldest was received, in milliseconds since 1970.
    pub oldest_ms: Option<u64>,
    /// How many cannot be read, or cannot be recorded.
    pub bad: usize,
    /// How many are lost: there was no room for them, or they could not be written.
    pub lost: u64,
}

/// A file of the spool.
#[derive(Serialize, Deserialize)]
struct Written<T> {
    version: u8,
    agent: String,
    id: Uuid,
    received: Timestamp,
    left_out: u64,
    text: String,
    /// Since version 2, which only files have that need it: a program that knows no gate would forget its verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ruling: Option<Ruling<T>>,
    /// A program that knows no settings forgets what follows from them, which is inferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    settings: Option<Settings<T>>,
    /// The log that was there when it was told; a program that does not know this takes it for any log's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    log: Option<Uuid>,
}

/// The version of files with a verdict, and of those without.
const VERSIONS: [u8; 2] = [2, 1];

impl Spool {
    /// The spool of a log.
    ///
    /// # Errors
    /// [`SpoolError::InMemory`], [`SpoolError::Log`] and [`SpoolError::NoHome`].
    pub fn of(log: &str) -> Result<Spool, SpoolError> {
        let places = place::of(log)?;
        Ok(Spool {
            path: places.path,
            makes_parents: places.makes_parents,
            log: places.log,
            former: places.former,
        })
    }

    /// The id of the log that is there now; none where there is none, or it is not in a folder.
    pub(crate) fn log_id(&self) -> Option<Uuid> {
        self.log.as_deref().and_then(annals::store_rocks::log_id)
    }

    /// The log's real folder, if it is in one.
    pub(crate) fn log_folder(&self) -> Option<&Path> {
        self.log.as_deref()
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is another user's, which root may still use by name.
    pub fn is_of_another(&self) -> bool {
        let user = rustix::process::geteuid();
        let found = fs::symlink_metadata(&self.path);
        !user.is_root() && found.is_ok_and(|found| found.uid() != user.as_raw())
    }

    /// Keeps an event. It is on disk when this answers.
    ///
    /// # Errors
    /// [`SpoolError`]; then it is not kept, and is counted as lost where that can be done.
    pub fn put(&self, hook: &Hook) -> Result<(), SpoolError> {
        self.make()?;
        self.try_put(hook).inspect_err(|_| self.count_lost())
    }

    /// Keeps an event in a folder that is there, and counts nothing where it cannot.
    pub(crate) fn try_put(&self, hook: &Hook) -> Result<(), SpoolError> {
        let bytes = kept(hook).map_err(|error| self.io(error.into()))?;
        // The folder is to be this user's own, and there.
        if self.open()?.is_none() {
            return Err(self.io(io::ErrorKind::NotFound.into()));
        }
        let most = Room {
            events: BOUNDS.0,
            bytes: BOUNDS.1,
        };
        room::take(&self.path, most, bytes.len() as u64, || self.room())?;
        if let Some(log) = hook.log {
            self.mark(log);
        }
        let name = file_name(hook);
        self.write(&name, &bytes).map_err(|error| self.io(error))
    }

    /// How much room there is, by the files that wait.
    fn room(&self) -> Result<Room, SpoolError> {
        let state = self.state()?;
        let room = Room {
            events: BOUNDS.0.saturating_sub(state.waiting as u64),
            bytes: BOUNDS.1.saturating_sub(state.bytes),
        };
        match room.events == 0 || room.bytes == 0 {
            false => Ok(room),
            true => Err(SpoolError::Full {
                path: self.path.clone(),
                count: state.waiting,
                bytes: state.bytes,
            }),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let unfinished = self.path.join(format!(".{name}{NEW}"));
        let mut how = OpenOptions::new();
        how.write(true).create_new(true).mode(0o600);
        let kept = annals_files::open_with(&unfinished, &mut how).and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
        let kept = kept.and_then(|()| {
            fs::rename(&unfinished, self.path.join(name))?;
            File::open(&self.path)?.sync_all()
        });
        if kept.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        kept
    }

    /// Removes what hooks left that were killed while they wrote it: what was begun a day before.
    pub(crate) fn sweep(&self, now: SystemTime) -> Result<(), SpoolError> {
        let Some(dir) = self.open()? else {
            return Ok(());
        };
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        let before = now.saturating_sub(UNFINISHED).as_millis();
        for entry in dir.entries_up_to(ENTRIES).map_err(|error| self.io(error))? {
            let name = entry.name.to_str();
            let name = name.and_then(|it| it.strip_prefix('.')?.strip_suffix(NEW));
            let begun = name.and_then(|name| spooled(name.into()));
            if begun.is_some_and(|begun| u128::from(begun.received_ms) < before) {
                let _ = dir.remove_file(&entry.name);
            }
        }
        Ok(())
    }

    /// What waits, the oldest first.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn waiting(&self) -> Result<Vec<Spooled>, SpoolError> {
        let Some(dir) = self.open()? else {
            return Ok(Vec::new());
        };
        let entries = dir.entries_up_to(ENTRIES).map_err(|error| self.io(error))?;
        let files = entries.into_iter().filter(|entry| entry.kind == Kind::File);
        let mut waiting: Vec<Spooled> = files.filter_map(|entry| spooled(entry.name)).collect();
        waiting.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(waiting)
    }

    /// The length of an event that waits, in bytes; nothing, if it is gone.
    pub(crate) fn bytes(&self, spooled: &Spooled) -> Result<Option<u64>, SpoolError> {
        let Some(dir) = self.open()? else {
            return Ok(None);
        };
        Ok(dir.bytes(&spooled.name).ok().flatten())
    }

    /// An event that waits; nothing, if another process has taken it in meanwhile, or it cannot be read or is larger than
    /// any that is kept, and was put aside.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn read(&self, spooled: &Spooled, secrets: &Secrets) -> Result<Option<Hook>, SpoolError> {
        let Some(dir) = self.open()? else {
            return Ok(None);
        };
        let mut text = String::new();
        let read = dir
            .open_file(&spooled.name)
            .and_then(|file| file.take(MOST_OF_ONE + 1).read_to_string(&mut text));
        let known = match read {
            Ok(bytes) if bytes as u64 <= MOST_OF_ONE => from_kept(&text, secrets),
            Ok(_) => None,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => None,
            Err(error) => return Err(self.io(error)),
        };
        if known.is_none() {
            self.put_aside(spooled)?;
        }
        Ok(known)
    }

    /// Forgets an event that was recorded.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn remove(&self, spooled: &Spooled) -> Result<(), SpoolError> {
        let Some(dir) = self.open()? else {
            return Ok(());
        };
        match dir.remove_file(&spooled.name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.io(error)),
            _ => Ok(()),
        }
    }

    /// Puts an event aside that cannot be recorded, now or later.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn put_aside(&self, spooled: &Spooled) -> Result<(), SpoolError> {
        let Some(dir) = self.open()? else {
            return Ok(());
        };
        let name = spooled.name.to_string_lossy();
        let bad = format!("{}{BAD}", name.strip_suffix(ENDING).unwrap_or(&name));
        match dir.rename(&spooled.name, bad.as_ref()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.io(error)),
            _ => Ok(()),
        }
    }

    /// How many events wait, and since when.
    ///
    /// # Errors
    /// [`SpoolError`].
    pub fn state(&self) -> Result<SpoolState, SpoolError> {
        let mut state = SpoolState::default();
        let Some(dir) = self.open()? else {
            return Ok(state);
        };
        let entries = dir.entries_up_to(ENTRIES).map_err(|error| self.io(error))?;
        for entry in entries.iter().filter(|entry| entry.kind == Kind::File) {
            let name = entry.name.to_string_lossy();
            let bytes = || dir.bytes(&entry.name).ok().flatten().unwrap_or_default();
            if name.ends_with(BAD) {
                state.bad += 1;
            } else if name == LOST {
                state.lost = bytes();
            } else if let Some(waits) = spooled(entry.name.clone()) {
                state.waiting += 1;
                state.bytes += bytes();
                let oldest = state.oldest_ms.unwrap_or(u64::MAX);
                state.oldest_ms = Some(oldest.min(waits.received_ms));
            }
        }
        Ok(state)
    }

    /// The folder, if it is there; it must be this user's own.
    pub(crate) fn open(&self) -> Result<Option<Dir>, SpoolError> {
        let found = match fs::symlink_metadata(&self.path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.io(error)),
        };
        let is_own = found.uid() == rustix::process::geteuid().as_raw();
        if !found.is_dir() || !is_own {
            return Err(self.not_own());
        }
        if found.mode() & MODE_BITS != OWN_MODE {
            self.close_to_others(&found)?;
        }
        Dir::open(&self.path)
            .map(Some)
            .map_err(|error| self.io(error))
    }

    fn not_own(&self) -> SpoolError {
        SpoolError::NotOwn {
            path: self.path.clone(),
        }
    }

    /// Gives an own folder the mode that it was made with: a copy or a `chmod` took it, and every event would be lost. Where
    /// others could write to it, what they put there is not taken for events.
    fn close_to_others(&self, found: &fs::Metadata) -> Result<(), SpoolError> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let mut how = OpenOptions::new();
        let folder = how.read(true).custom_flags(flags).open(&self.path);
        // One that its own user may not read is not reached otherwise.
        let folder = folder.map_err(|_| self.not_own())?;
        let held = folder.metadata().map_err(|error| self.io(error))?;
        if (held.dev(), held.ino()) != (found.dev(), found.ino()) {
            return Err(self.not_own());
        }
        let mode = fs::Permissions::from_mode(OWN_MODE);
        folder
            .set_permissions(mode)
            .map_err(|error| self.io(error))?;
        if found.mode() & OTHERS_WRITE != 0 && self.has_of_others(found.uid())? {
            // As it was: it is not used.
            let mode = fs::Permissions::from_mode(found.mode() & MODE_BITS);
            folder
                .set_permissions(mode)
                .map_err(|error| self.io(error))?;
            return Err(self.not_own());
        }
        tracing::info!(path = %self.path.display(), "the spool was open to others, and has mode 0700 again");
        Ok(())
    }

    /// Returns `true` if something in the folder is another user's.
    fn has_of_others(&self, own: u32) -> Result<bool, SpoolError> {
        let entries = fs::read_dir(&self.path).map_err(|error| self.io(error))?;
        for entry in entries {
            let found = entry.and_then(|entry| entry.metadata());
            if found.map_err(|error| self.io(error))?.uid() != own {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(crate) fn make(&self) -> Result<(), SpoolError> {
        if let (true, Some(parent)) = (self.makes_parents, self.path.parent()) {
            place::make_all(parent).map_err(|error| self.io(error))?;
        }
        let made = fs::DirBuilder::new().mode(OWN_MODE).create(&self.path);
        match made {
            Ok(()) => place::sync_parent(&self.path).map_err(|error| self.io(error)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.open().map(|_| ()),
            Err(error) => Err(self.io(error)),
        }
    }

    /// Counts an event that is lost, in the length of a file: that grows on a full disk, too.
    fn count_lost(&self) {
        let mut how = OpenOptions::new();
        how.write(true).create(true).truncate(false).mode(0o600);
        let file = annals_files::open_with(&self.path.join(LOST), &mut how);
        // What cannot be counted is said to the one who called, at least.
        let _ = file.and_then(|file| {
            room::alone(&file)?;
            file.set_len(file.metadata()?.len() + 1)
        });
    }

    pub(crate) fn io(&self, source: io::Error) -> SpoolError {
        SpoolError::Io {
            path: self.path.clone(),
            source,
        }
    }
}

/// An event as the spool keeps it, and as it is handed to the process that brings it into the log.
pub(crate) fn kept(hook: &Hook) -> serde_json::Result<Vec<u8>> {
    let [with_ruling, without] = VERSIONS;
    let written = Written {
        version: match hook.ruling {
            Some(_) => with_ruling,
            None => without,
        },
        agent: hook.agent.key().to_owned(),
        id: hook.id,
        received: hook.received,
        left_out: hook.left_out,
        text: hook.text().to_owned(),
        ruling: hook.ruling.clone(),
        settings: hook.settings.clone(),
        log: hook.log,
    };
    serde_json::to_vec(&written)
}

/// The event that was kept; none, where it cannot be read.
pub(crate) fn from_kept(text: &str, secrets: &Secrets) -> Option<Hook> {
    let written: Written<String> = serde_json::from_str(text).ok()?;
    let agent = HookAgent::by_key(&written.agent)?;
    let named = (written.id, written.received);
    let text = written.text.into_bytes();
    let is_known = VERSIONS.contains(&written.version);
    let hook = is_known.then(|| Hook::new(agent, named, text, written.left_out, secrets));
    let ruling = written.ruling.map(|ruling| ruling.redacted(secrets));
    let settings = written.settings.map(|settings| settings.redacted(secrets));
    let hook = hook.map(|hook| hook.with_ruling(ruling).with_settings(settings));
    hook.map(|hook| hook.with_log(written.log))
}

/// What tells a session from others in the names of files, which need not say what it is called.
pub(crate) fn session_mark(hook: &Hook) -> String {
    let (session, _) = hook.names();
    let named = format!("{}\u{1f}{}", hook.agent.key(), session.unwrap_or_default());
    let mark = Uuid::new_v5(&Uuid::NAMESPACE_OID, named.as_bytes());
    mark.simple().to_string().chars().take(8).collect()
}

fn file_name(hook: &Hook) -> String {
    let received = hook.received.to_utc().timestamp_millis().max(0);
    format!("{received:014}-{}-{}{ENDING}", hook.id, session_mark(hook))
}

/// The event that a file has by its name.
fn spooled(name: OsString) -> Option<Spooled> {
    let text = name.to_str()?.strip_suffix(ENDING)?;
    let (received, rest) = text.split_once('-')?;
    let (_, session) = rest.rsplit_once('-')?;
    Some(Spooled {
        received_ms: received.parse().ok()?,
        session: session.to_owned(),
        name,
    })
}

#[cfg(test)]
mod tests;
