//! The log's directory, held open, its small files, and which files are in it.
//!
//! A folder that is moved away, or another one that is put in its place, must not make a writer
//! add or delete files in a log that is not its own. So RocksDB works in the directory that was
//! opened, regardless of where its name leads by then, and nothing is acknowledged any more once the
//! name leads elsewhere: a process that opens the log by its name would not find it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Nothing that is read whole here is longer, in bytes.
const MOST: u64 = 4096;
/// How the path begins that leads to what a process has open.
const HELD: &str = "/proc/self/fd/";

/// An open directory.
#[derive(Debug)]
pub(crate) struct Folder {
    /// Its name when it was opened, from the root.
    place: PathBuf,
    handle: File,
}

impl Folder {
    pub(crate) fn open(path: &Path) -> io::Result<Arc<Folder>> {
        let place = std::path::absolute(path)?;
        let handle = File::open(path)?;
        Ok(Arc::new(Folder { place, handle }))
    }

    /// A path that leads to it under any name that it has.
    pub(crate) fn held(&self) -> PathBuf {
        let held = PathBuf::from(format!("{HELD}{}", self.handle.as_raw_fd()));
        // Not every container shows it.
        match (fs::metadata(&held), self.handle.metadata()) {
            (Ok(by_path), Ok(own)) if same(&by_path, &own) => held,
            _ => self.place.clone(),
        }
    }

    /// Whether its name still leads to it. Where that cannot be known, it does.
    pub(crate) fn is_in_place(&self) -> bool {
        match (fs::metadata(&self.place), self.handle.metadata()) {
            (Ok(there), Ok(own)) => same(&there, &own),
            (Err(error), _) => !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ),
            _ => true,
        }
    }
}

fn same(one: &fs::Metadata, other: &fs::Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// RocksDB's words, with the name that people know the directory by.
pub(crate) fn named(path: &Path, said: &str) -> String {
    let mut parts = said.split(HELD);
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        named.push_str(&path.to_string_lossy());
        named.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    named
}

/// The content of a small file.
pub(crate) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let file = annals_files::open_with(path, OpenOptions::new().read(true))?;
    file.take(MOST + 1).read_to_end(&mut content)?;
    match content.len() as u64 > MOST {
        true => Err(too_long(path)),
        false => Ok(content),
    }
}

/// Refuses a directory in which something else has the name of one of RocksDB's files, or in
/// which one that is read whole is long: RocksDB would wait for a pipe, and follow a link.
pub(crate) fn check_files(path: &Path) -> io::Result<()> {
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| is_of_rocksdb(name)) else {
            continue;
        };
        if !entry.file_type()?.is_file() {
            return Err(not_a_file(&entry.path()));
        }
        if matches!(name, "CURRENT" | "IDENTITY") && entry.metadata()?.len() > MOST {
            return Err(too_long(&entry.path()));
        }
    }
    Ok(())
}

/// Whether RocksDB takes a file of this name for its own.
pub(crate) fn is_of_rocksdb(name: &str) -> bool {
    let numbered = |ending: &str| {
        name.strip_suffix(ending)
            .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    ["CURRENT", "IDENTITY", "LOCK", "LOG"].contains(&name)
        || ["LOG.old.", "MANIFEST-", "OPTIONS-"]
            .iter()
            .any(|beginning| name.starts_with(beginning))
        || [".log", ".sst", ".blob", ".dbtmp"]
            .into_iter()
            .any(numbered)
}

fn too_long(path: &Path) -> io::Error {
    let said = format!("{} is too long to be what it is called", path.display());
    io::Error::new(io::ErrorKind::FileTooLarge, said)
}

fn not_a_file(path: &Path) -> io::Error {
    io::Error::other(format!(
        "{} is not a regular file: a link, a pipe or a folder is in its place",
        path.display()
    ))
}

/// RocksDB's files of a directory with such an ending, and copies of its logs with that one, by the number in their
/// names, which is by age.
pub(crate) fn files(directory: &Path, ending: &str) -> io::Result<Vec<String>> {
    let unfinished = format!("log.{ending}");
    let is_one = |name: &str| {
        let parts = name.split_once('.');
        parts.is_some_and(|(_, rest)| rest == ending || rest == unfinished)
            && number(name).is_some()
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        if let Ok(name) = entry?.file_name().into_string()
            && is_one(&name)
        {
            found.push(name);
        }
    }
    // Not by name: RocksDB writes more than six digits where a number has them.
    found.sort_by_cached_key(|name| (number(name), name.clone()));
    Ok(found)
}

/// The number in the name of one of RocksDB's files.
pub(crate) fn number(name: &str) -> Option<u64> {
    name.split('.').next()?.parse().ok()
}

/// Bytes of all files in a directory and below.
pub(crate) fn directory_bytes(directory: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(directory)? {
        // The writer deletes files while we count: what is gone counts nothing.
        let Ok(found) = entry.and_then(|entry| Ok((entry.metadata()?, entry.path()))) else {
            continue;
        };
        total += match found {
            (metadata, path) if metadata.is_dir() => directory_bytes(&path)?,
            (metadata, _) => metadata.len(),
        };
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_folder_is_reached_by_any_name_that_it_has() {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (home.path().join("one"), home.path().join("other"));
        fs::create_dir(&one).unwrap();
        let folder = Folder::open(&one).unwrap();
        assert!(folder.is_in_place());
        fs::rename(&one, &other).unwrap();
        assert!(!folder.is_in_place(), "nothing is there");
        fs::create_dir(&one).unwrap();
        assert!(!folder.is_in_place(), "another one is there");
        fs::write(folder.held().join("file"), "x").unwrap();
        assert!(other.join("file").exists() && !one.join("file").exists());
        let said = format!("no {}/file and {}", folder.held().display(), "/x");
        assert_eq!(named(Path::new("log"), &said), "no log/file and /x");
    }

    #[test]
    fn names_are_rocksdbs_or_not() {
        for name in [
            "CURRENT",
            "000012.sst",
            "1000000.log",
            "MANIFEST-000004",
            "LOG.old.17",
        ] {
            assert!(is_of_rocksdb(name), "{name}");
        }
        for name in [
            "ANNALS",
            "notes.log",
            ".log",
            "000012.log.settling",
            "thesis.txt",
        ] {
            assert!(!is_of_rocksdb(name), "{name}");
        }
    }
}
