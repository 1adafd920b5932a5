//! Where a log may be created: where nothing is, or only what an interrupted creation left. What
//! another program put there is not ours to remove, and a log that lost its file ANNALS still is one.
//! The folder of another log is no place either: its backups leave the inner log out, and who removes it removes both.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use annals_event_log::Position;

use crate::columns::Role;
use crate::error::OpenError;
use crate::folder::is_of_rocksdb;
use crate::identity;
use crate::open_still::open_still;
use crate::watermark_file::{self, WatermarkFile};

/// Bytes of write-ahead logs that a creation leaves at most.
const MOST_LEFT: u64 = 4096;

/// What an interrupted creation left, if that is what is in a directory.
enum Found {
    /// Nothing.
    Nothing,
    /// Only what a creation makes; it holds nothing.
    Begun,
    /// A log whose file ANNALS has the name that it has during a creation.
    Log,
    /// Something else.
    Other,
}

/// Refuses a place in which no log may be created.
pub(crate) fn check_place(path: &Path) -> Result<(), OpenError> {
    if fs::symlink_metadata(path.join(identity::NAME)).is_ok() {
        return Err(OpenError::AlreadyExists {
            path: path.to_owned(),
        });
    }
    if let Some(log) = enclosing_log(path) {
        return Err(OpenError::InsideLog {
            path: path.to_owned(),
            log,
        });
    }
    match look(path) {
        Ok(Found::Nothing | Found::Begun) => Ok(()),
        Ok(Found::Log) => Err(lost_name(path)),
        Ok(Found::Other) => Err(OpenError::NotEmpty {
            path: path.to_owned(),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::read_link(path) {
            Ok(target) => Err(dangling(path, &target)),
            Err(_) => Ok(()),
        },
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Err(OpenError::NotEmpty {
            path: path.to_owned(),
        }),
        Err(error) => Err(OpenError::io(path, error)),
    }
}

/// What a link is whose target is not there: no folder can be made in its place.
fn dangling(path: &Path, target: &Path) -> OpenError {
    let reason = format!(
        "it is a link to {}, which is not there; create that folder, or remove the link",
        target.display()
    );
    OpenError::Io {
        path: path.to_owned(),
        source: io::Error::new(io::ErrorKind::NotFound, reason),
    }
}

/// The log in whose folder, or in one of whose folders, a place lies that need not exist; none where it is the log's own
/// folder.
pub(crate) fn enclosing_log(place: &Path) -> Option<PathBuf> {
    let place = std::path::absolute(place).ok()?;
    let (nearest, real) = place
        .ancestors()
        .find_map(|at| Some((at, at.canonicalize().ok()?)))?;
    let own = usize::from(nearest == place);
    let mut above = real.ancestors().skip(own);
    above.find(|at| is_log(at)).map(Path::to_owned)
}

/// Returns `true` if a directory has the file of a log, also one whose creation was interrupted, or of a newer version.
fn is_log(directory: &Path) -> bool {
    [identity::NAME, identity::NEW_NAME]
        .iter()
        .any(|name| identity::is_named(&directory.join(name)))
}

/// What a directory is that has `ANNALS.new` and no ANNALS.
pub(crate) fn interrupted(path: &Path) -> OpenError {
    match look(path) {
        Ok(Found::Nothing | Found::Begun) => OpenError::CreationInterrupted {
            path: path.to_owned(),
        },
        Ok(Found::Log) => lost_name(path),
        Ok(Found::Other) => OpenError::NotALog {
            path: path.to_owned(),
            reason: format!(
                "it has a file {} and other files that no creation makes",
                identity::NEW_NAME
            ),
        },
        Err(error) => OpenError::io(path, error),
    }
}

fn lost_name(path: &Path) -> OpenError {
    let reason = format!(
        "its file {} is missing, and it holds records, so that it is not what an interrupted creation left",
        identity::NAME
    );
    let remedy = format!(
        "give {} that name again, or restore the file from a backup",
        identity::NEW_NAME
    );
    OpenError::corrupt_but(path, reason, remedy)
}

/// Removes what an interrupted creation left of its database, which a power cut may have torn.
/// The caller has looked at the place, and holds the lock.
pub(crate) fn clear(path: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::io(path, error);
    match look(path).map_err(failed)? {
        Found::Nothing | Found::Begun => {}
        // Another process has finished a creation meanwhile.
        Found::Log | Found::Other => {
            return Err(OpenError::NotEmpty {
                path: path.to_owned(),
            });
        }
    }
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_name() != identity::NEW_NAME {
            let file = entry.path();
            fs::remove_file(&file).map_err(|error| OpenError::io(&file, error))?;
        }
    }
    Ok(())
}

fn look(path: &Path) -> io::Result<Found> {
    let (mut is_begun, mut is_empty, mut logs) = (false, true, 0);
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        is_empty = false;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_ours = name == watermark_file::NAME || is_of_rocksdb(&name);
        let is_new = name == identity::NEW_NAME;
        if !entry.file_type()?.is_file() || !(is_ours || is_new) {
            return Ok(Found::Other);
        }
        is_begun |= is_new;
        let bytes = match entry.metadata() {
            Ok(metadata) => metadata.len(),
            // The process that creates the log has given it another name meanwhile, as RocksDB does.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        if name.ends_with(".log") {
            logs += bytes;
        } else if bytes > 0 && (name.ends_with(".sst") || name.ends_with(".blob")) {
            return Ok(Found::Log);
        }
    }
    if is_empty {
        return Ok(Found::Nothing);
    }
    if !is_begun {
        return Ok(Found::Other);
    }
    let is_used = logs > MOST_LEFT || promises(path) || has_records(path);
    Ok(if is_used { Found::Log } else { Found::Begun })
}

/// Whether WATERMARK says that records were acknowledged.
fn promises(path: &Path) -> bool {
    let promised = WatermarkFile::open(path).and_then(|file| file.read());
    promised.is_ok_and(|promised| promised.is_some_and(|position| position > Position::START))
}

/// Whether there are records, as far as the database opens.
fn has_records(path: &Path) -> bool {
    let opened = open_still(path, Role::Reader);
    opened.is_ok_and(|db| db.last_position().is_ok_and(|last| last > Position::START))
}
