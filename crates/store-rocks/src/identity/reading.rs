//! What the file ANNALS says, and what a directory without it is.

use std::fs;
use std::io;
use std::path::Path;

use uuid::Uuid;

use super::{FIRST_WORDS, FORMAT, NAME, NEW_NAME};
use crate::directories::is_empty;
use crate::error::OpenError;
use crate::{creation, folder, watermark_file};

/// How often a directory is looked at once more that changed meanwhile. A creation changes twice what is looked at.
const LOOKS: u32 = 8;

/// Reads the file and answers with the log's id; alters nothing. A log that another process creates meanwhile is there,
/// or its creation is not finished: it never looks like damage, or like something else.
pub(crate) fn read(directory: &Path) -> Result<Uuid, OpenError> {
    let is_there = |name: &str| fs::symlink_metadata(directory.join(name)).is_ok();
    let mut look = 1;
    loop {
        let is_begun = is_there(NEW_NAME);
        if let Some(log_id) = read_once(directory)? {
            return Ok(log_id);
        }
        let error = absent(directory);
        let has_changed = is_there(NAME) || is_there(NEW_NAME) != is_begun;
        if look == LOOKS || !has_changed {
            return Err(error);
        }
        look += 1;
    }
}

/// The log's id, or none where there is no file ANNALS.
fn read_once(directory: &Path) -> Result<Option<Uuid>, OpenError> {
    let path = directory.join(NAME);
    let content = match folder::read_file(&path) {
        Ok(content) => content,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(not_a_log(directory, "it is not a directory"));
        }
        // Nothing that we wrote is longer.
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(not_ours(directory));
        }
        Err(error) => return Err(OpenError::io(&path, error)),
    };
    parse(directory, &String::from_utf8_lossy(&content)).map(Some)
}

/// What a directory without the file ANNALS is.
fn absent(directory: &Path) -> OpenError {
    if fs::symlink_metadata(directory.join(NEW_NAME)).is_ok() {
        return creation::interrupted(directory);
    }
    match is_empty(directory) {
        Ok(true) => OpenError::NotFound {
            path: directory.to_owned(),
        },
        Ok(false) if is_log_otherwise(directory) => damaged(directory, "missing"),
        Ok(false) if directory.join("CURRENT").exists() => {
            not_a_log(directory, "it holds a RocksDB of another program")
        }
        Ok(false) => not_a_log(directory, "it has no file ANNALS"),
        Err(error) => OpenError::io(directory, error),
    }
}

pub(super) fn parse(directory: &Path, content: &str) -> Result<Uuid, OpenError> {
    let not_ours = || not_ours(directory);
    let mut lines = content.lines();
    let found = lines
        .next()
        .and_then(|line| line.strip_prefix(FIRST_WORDS))
        .ok_or_else(not_ours)?;
    let found: u32 = found.parse().map_err(|_| not_ours())?;
    if found > FORMAT {
        return Err(OpenError::NewerFormat {
            path: directory.to_owned(),
            found,
            known: FORMAT,
        });
    }
    if found == 0 {
        return Err(not_ours());
    }
    lines
        .next()
        .and_then(|id| id.parse().ok())
        .ok_or_else(not_ours)
}

/// Whether a directory has the other files that every log has.
fn is_log_otherwise(directory: &Path) -> bool {
    directory.join("CURRENT").exists() && directory.join(watermark_file::NAME).exists()
}

/// What a directory is whose file ANNALS says something else.
fn not_ours(directory: &Path) -> OpenError {
    if is_log_otherwise(directory) {
        return damaged(directory, "damaged");
    }
    not_a_log(directory, "its file ANNALS is not ours")
}

fn damaged(directory: &Path, how: &str) -> OpenError {
    let reason = format!("its file {NAME} is {how}");
    OpenError::corrupt_but(directory, reason, "restore that file from a backup")
}

fn not_a_log(path: &Path, reason: &str) -> OpenError {
    OpenError::NotALog {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;
    use crate::{Options, RocksLog};

    /// How many logs are created while another thread looks on.
    const CREATED: usize = 100;

    #[test]
    fn a_log_that_is_being_created_looks_like_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let options = Options {
            sync: false,
            ..Options::default()
        };
        for number in 0..CREATED {
            let path = home.path().join(number.to_string());
            let is_created = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    while !is_created.load(Ordering::Acquire) {
                        match read(&path) {
                            Ok(_)
                            | Err(
                                OpenError::NotFound { .. } | OpenError::CreationInterrupted { .. },
                            ) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                });
                let created = RocksLog::create(&path, &options);
                is_created.store(true, Ordering::Release);
                created.unwrap();
            });
        }
    }
}
