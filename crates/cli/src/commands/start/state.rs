//! What `annals start` keeps beside the log: which recordings it has imported, and where the viewer runs.
//!
//! Both files are for their user alone. A log in a database has none: there each start reads all recordings.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use annals::LogUrl;
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
}

/// The file of imported recordings.
#[derive(Debug, Default, Serialize, Deserialize)]
struct ImportedFile {
    log: Uuid,
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
    pub(super) fn of(context: &Context, log: Uuid) -> ImportedRecordings {
        ImportedRecordings::at(beside(context, IMPORTED), log)
    }

    fn at(path: Option<PathBuf>, log: Uuid) -> ImportedRecordings {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let known = path.as_deref().and_then(read::<ImportedFile>);
        let known = known.filter(|it| it.log == log && it.version == version);
        ImportedRecordings {
            path,
            file: known.unwrap_or(ImportedFile {
                log,
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
    pub(super) fn add(&mut self, recording: &GroupedRecording, secrets: u64) {
        let (Some(name), Some(modified)) = (recording.path.to_str(), stamp(recording)) else {
            return;
        };
        let imported = Imported {
            bytes: recording.bytes,
            modified,
            secrets,
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

    /// Writes the file. Without it the next start reads all recordings once more, and records nothing twice.
    pub(super) fn write(&mut self) {
        self.written = Instant::now();
        if let Some(path) = &self.path {
            let _ = write(path, &self.file);
        }
    }
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
        let mut imported = ImportedRecordings::at(state.clone(), log);
        let found = recording(home.path());
        assert!(!imported.has(&found));
        imported.add(&found, 3);
        imported.write();
        let mode = fs::metadata(state.as_ref().unwrap())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let again = ImportedRecordings::at(state.clone(), log);
        assert_eq!((again.has(&found), again.secrets()), (true, 3));
        assert!(!ImportedRecordings::at(state, Uuid::from_u128(2)).has(&found));
        fs::write(&path, format!("{line}\n{line}")).unwrap();
        assert!(!again.has(&recording(home.path())));
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
