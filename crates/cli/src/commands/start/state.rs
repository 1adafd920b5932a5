//! What `annals start` keeps beside the log: which recordings it has imported, and where the viewer runs.
//!
//! Both files are for their user alone. A log in a database has none: there each start reads all recordings.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use annals::{Annals, LogUrl};
use annals_dialects::import::GroupedRecording;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use uuid::Uuid;

use crate::context::Context;

/// What the name of the file of imported recordings has behind the log's.
const IMPORTED: &str = ".imported";
/// What the name of the file of the running viewer has behind the log's.
const VIEWER: &str = ".viewer";
/// How long the running viewer may take to accept a connection.
const CONNECTS: Duration = Duration::from_secs(1);
/// Why the file of imported recordings is of no use.
const UNREADABLE: &str = "it is no list of imported recordings of this user";
/// After how long the file of imported recordings is written again.
const PAUSE: Duration = Duration::from_secs(2);

/// The file beside a log's folder with this ending. `None` for a log that is in no folder.
fn beside(context: &Context, ending: &str) -> Option<PathBuf> {
    let Ok(LogUrl::Rocks(folder)) = context.log.parse() else {
        return None;
    };
    let folder = std::path::absolute(folder).ok()?;
    let mut name = folder.file_name()?.to_owned();
    name.push(ending);
    Some(folder.with_file_name(name))
}

/// Reads a file that is another user's never.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    use std::os::unix::fs::MetadataExt as _;
    let about = fs::symlink_metadata(path).ok()?;
    let is_own = about.is_file() && about.uid() == rustix::process::geteuid().as_raw();
    is_own
        .then(|| serde_json::from_slice(&fs::read(path).ok()?).ok())
        .flatten()
}

/// Writes a file for this user alone, whole or not at all.
fn write<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // Files of this kind are made with the mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(value)?)?;
    file.persist(path)?;
    Ok(())
}

/// A recording that was imported, as it was then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Imported {
    bytes: u64,
    /// When it was changed, in nanoseconds since 1970.
    modified: u128,
    /// The secrets that were taken out.
    secrets: u64,
    /// The records that could not be imported.
    #[serde(default)]
    broken: u64,
}

/// The file of imported recordings.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ImportedFile {
    log: Uuid,
    /// A position that the log had then. A log that ends before it was restored from an older copy, and lacks recordings.
    #[serde(default)]
    position: u64,
    /// The program's version: another one may record more of a recording.
    version: String,
    files: HashMap<String, Imported>,
}

/// The recordings that were imported into a log: one that did not change since is not read again.
#[derive(Debug)]
pub(super) struct ImportedRecordings {
    path: Option<PathBuf>,
    file: ImportedFile,
    written: Instant,
}

impl ImportedRecordings {
    /// Those of the log that is open.
    pub(super) fn of(context: &Context, annals: &Annals) -> ImportedRecordings {
        let log = annals.log().log_id();
        ImportedRecordings::at(beside(context, IMPORTED), log, annals.position().0)
    }

    fn at(path: Option<PathBuf>, log: Uuid, end: u64) -> ImportedRecordings {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let known = path.as_deref().and_then(read::<ImportedFile>);
        let is_of_log = |it: &ImportedFile| it.log == log && it.position <= end;
        let known = known.filter(|it| is_of_log(it) && it.version == version);
        ImportedRecordings {
            path,
            file: known.unwrap_or(ImportedFile {
                log,
                position: end,
                version,
                files: HashMap::new(),
            }),
            written: Instant::now(),
        }
    }

    /// Whether a recording was imported as it is.
    pub(super) fn has(&self, recording: &GroupedRecording) -> bool {
        let (Some(name), Some(modified)) = (recording.path.to_str(), stamp(recording)) else {
            return false;
        };
        let known = self.file.files.get(name);
        known.is_some_and(|it| (it.bytes, it.modified) == (recording.bytes, modified))
    }

    /// Notes that a recording was imported. The stamp is that of before it was read.
    pub(super) fn add(&mut self, recording: &GroupedRecording, secrets: u64, broken: u64) {
        let (Some(name), Some(modified)) = (recording.path.to_str(), stamp(recording)) else {
            return;
        };
        let imported = Imported {
            bytes: recording.bytes,
            modified,
            secrets,
            broken,
        };
        self.file.files.insert(name.to_owned(), imported);
        if self.written.elapsed() >= PAUSE {
            self.write();
        }
    }

    /// The secrets that were taken out of all of them.
    pub(super) fn secrets(&self) -> u64 {
        self.file.files.values().map(|it| it.secrets).sum()
    }

    /// The records of a recording that could not be imported.
    pub(super) fn broken(&self, recording: &GroupedRecording) -> u64 {
        let name = recording.path.to_str();
        let known = name.and_then(|name| self.file.files.get(name));
        known.map_or(0, |it| it.broken)
    }

    /// Notes a position up to which all that was imported is on disk.
    pub(super) fn reached(&mut self, position: u64) {
        self.file.position = position;
    }

    /// Writes the file. Without it the next start reads all recordings once more, and records nothing twice.
    pub(super) fn write(&mut self) {
        self.written = Instant::now();
        if let Some(path) = &self.path {
            let _ = write(path, &self.file);
        }
    }
}

/// What a redaction did to the file of imported recordings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct ForgottenImports {
    pub(in crate::commands) path: PathBuf,
    /// The names of recordings in it, and those of them that were taken out.
    pub(in crate::commands) names: usize,
    pub(in crate::commands) removed: usize,
}

/// Takes the names of recordings that are not wanted out of the file beside a log. `None` if there is no such file.
///
/// # Errors
/// The file cannot be read, or not written again.
pub(in crate::commands) fn forget_imports(
    context: &Context,
    is_unwanted: impl Fn(&str) -> bool,
    dry_run: bool,
) -> Result<Option<ForgottenImports>, (PathBuf, String)> {
    let Some(path) = imports_beside(context) else {
        return Ok(None);
    };
    forget_in(path, is_unwanted, dry_run)
}

/// The path of the file of imported recordings, if there is one.
pub(in crate::commands) fn imports_beside(context: &Context) -> Option<PathBuf> {
    beside(context, IMPORTED).filter(|path| fs::symlink_metadata(path).is_ok())
}

fn forget_in(
    path: PathBuf,
    is_unwanted: impl Fn(&str) -> bool,
    dry_run: bool,
) -> Result<Option<ForgottenImports>, (PathBuf, String)> {
    let Some(mut file) = read::<ImportedFile>(&path) else {
        return Err((path, UNREADABLE.to_owned()));
    };
    let names = file.files.len();
    file.files.retain(|name, _| !is_unwanted(name));
    let removed = names - file.files.len();
    if removed > 0
        && !dry_run
        && let Err(error) = write(&path, &file)
    {
        return Err((path, error.to_string()));
    }
    Ok(Some(ForgottenImports {
        path,
        names,
        removed,
    }))
}

/// Checks the file of imported recordings: why it is of no use, or who else can read it.
pub(in crate::commands) fn check_imports(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt as _;
    if read::<ImportedFile>(path).is_none() {
        return Some(UNREADABLE.to_owned());
    }
    let mode = fs::symlink_metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then(|| format!("others can read it (its mode is {mode:04o})"))
}

/// When a recording was changed, in nanoseconds since 1970.
fn stamp(recording: &GroupedRecording) -> Option<u128> {
    let since: fn(SystemTime) -> Option<Duration> = |time| time.duration_since(UNIX_EPOCH).ok();
    Some(since(recording.modified?)?.as_nanos())
}

/// A viewer that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunningViewer {
    pub(super) address: SocketAddr,
    process: i32,
}

impl RunningViewer {
    /// The viewer of the log, if one runs: its process lives, and it accepts a connection.
    pub(super) fn find(context: &Context) -> Option<RunningViewer> {
        RunningViewer::at(&beside(context, VIEWER)?)
    }

    /// The address of its pages.
    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    fn at(path: &Path) -> Option<RunningViewer> {
        let found: RunningViewer = read(path)?;
        test_kill_process(Pid::from_raw(found.process)?).ok()?;
        TcpStream::connect_timeout(&found.address, CONNECTS).ok()?;
        Some(found)
    }
}

/// The note about this process's viewer, which goes with it.
#[derive(Debug)]
pub(super) struct ViewerNote(Option<PathBuf>);

impl ViewerNote {
    /// Notes where this process's viewer is.
    pub(super) fn write(context: &Context, address: SocketAddr) -> ViewerNote {
        let path = beside(context, VIEWER);
        let running = RunningViewer {
            address,
            process: rustix::process::getpid().as_raw_nonzero().get(),
        };
        // Without it a second start shows the log at another address.
        ViewerNote(path.filter(|path| write(path, &running).is_ok()))
    }
}

impl Drop for ViewerNote {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt as _;

    use annals_dialects::import::recording_groups;

    use super::*;

    fn recording(folder: &Path) -> GroupedRecording {
        let groups = recording_groups(folder, "claude").unwrap();
        groups[0].files[0].clone()
    }

    #[test]
    fn a_recording_is_known_until_it_changes() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("s.jsonl");
        let line = r#"{"type":"user","sessionId":"s","uuid":"u","timestamp":"2026-01-02T00:00:00Z","message":{}}"#;
        fs::write(&path, line).unwrap();
        let (log, state) = (Uuid::from_u128(1), Some(home.path().join("log.imported")));
        let mut imported = ImportedRecordings::at(state.clone(), log, 7);
        let found = recording(home.path());
        assert!(!imported.has(&found));
        imported.add(&found, 3, 2);
        imported.write();
        let mode = fs::metadata(state.as_ref().unwrap())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = ImportedRecordings::at(state.clone(), log, 7);
        assert_eq!(
            (again.has(&found), again.secrets(), again.broken(&found)),
            (true, 3, 2)
        );
        assert!(!ImportedRecordings::at(state.clone(), Uuid::from_u128(2), 7).has(&found));
        assert!(
            !ImportedRecordings::at(state, log, 6).has(&found),
            "restored"
        );
        fs::write(&path, format!("{line}\n{line}")).unwrap();
        assert!(!again.has(&recording(home.path())));
    }

    #[test]
    fn names_that_are_not_wanted_are_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log.imported");
        let mut file = ImportedFile::default();
        for name in ["/r/ACME-1/a.jsonl", "/r/shop/b.jsonl"] {
            let imported = Imported {
                bytes: 1,
                modified: 1,
                secrets: 0,
                broken: 0,
            };
            file.files.insert(name.to_owned(), imported);
        }
        write(&path, &file).unwrap();
        assert_eq!(check_imports(&path), None);
        let forget = |dry_run| {
            let found = forget_in(path.clone(), |name| name.contains("ACME"), dry_run);
            found.unwrap().unwrap().removed
        };
        assert_eq!((forget(true), forget(false), forget(false)), (1, 1, 0));
        let left = fs::read_to_string(&path).unwrap();
        assert!(left.contains("shop") && !left.contains("ACME"), "{left}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(check_imports(&path).is_some_and(|found| found.contains("0644")));
        fs::write(&path, "{").unwrap();
        assert!(forget_in(path.clone(), |_| false, false).is_err());
        assert!(check_imports(&path).is_some());
    }

    #[test]
    fn a_viewer_that_is_gone_is_none() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("log.viewer");
        assert_eq!(RunningViewer::at(&path), None);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let running = RunningViewer {
            address: listener.local_addr().unwrap(),
            process: rustix::process::getpid().as_raw_nonzero().get(),
        };
        write(&path, &running).unwrap();
        assert_eq!(RunningViewer::at(&path), Some(running.clone()));
        // A process that lives, and an address at which nobody listens.
        drop(listener);
        assert_eq!(RunningViewer::at(&path), None);
        fs::write(&path, "{").unwrap();
        assert_eq!(RunningViewer::at(&path), None);
    }
}
