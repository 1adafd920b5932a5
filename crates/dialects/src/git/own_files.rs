//! The files of a repository's own folder, read whole and within bounds, and why one is not read.
//!
//! What is said of a file never repeats what is in it: it may be a second name of another user's file.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::PathBuf;

use annals_files::{Dir, Kind};
use gix::config::File as Config;

/// Bytes of `HEAD`, of a reference, and of a file that names a folder, at most.
pub(super) const NAME: u64 = 4 << 10;

/// Bytes of a configuration, at most.
pub(super) const CONFIG: u64 = 1 << 20;

/// Bytes of a list with a line for each of something, at most.
pub(super) const LIST: u64 = 64 << 20;

/// Why a part of a repository is not read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("{} cannot be read: {source}", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{} is a pipe, a socket or a device; a regular file or a folder was expected", path.display())]
    Odd { path: PathBuf },
    #[error("{} is a link, which is not followed; import the repository that it leads to", path.display())]
    Link { path: PathBuf },
    #[error("{} has more than {limit} bytes", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("{} is malformed: expected {expected}", path.display())]
    Malformed {
        path: PathBuf,
        expected: &'static str,
    },
    #[error(
        "{} names objects of another repository; run `git repack -a -d` and delete that file, or import the other repository",
        path.display()
    )]
    Alternates { path: PathBuf },
    #[error("{} names another folder as the repository; import that repository, or name the work tree", path.display())]
    Elsewhere { path: PathBuf },
    #[error(
        "{} names a repository that does not name this folder as its work tree; import that repository itself, or, if it \
         should, run `git worktree repair` or `git submodule update --init` first",
        path.display()
    )]
    Unconfirmed { path: PathBuf },
    #[error("{} asks for {what}, which is not supported; expected a repository of format 0 or 1 with references in files", path.display())]
    Unsupported { path: PathBuf, what: &'static str },
    #[error("{} has {what}; repack it with `git gc`", path.display())]
    TooMany { path: PathBuf, what: &'static str },
    #[error("no private folder could be created among the temporary files: {0}")]
    Private(#[source] io::Error),
}

/// Reads a file of a folder whole; none where there is none.
pub(super) fn whole(dir: &Dir, name: &str, limit: u64) -> Result<Option<Vec<u8>>, Refusal> {
    let Some(file) = open(dir, name.as_ref())? else {
        return Ok(None);
    };
    let path = || dir.path_of(name.as_ref());
    let mut bytes = Vec::new();
    let read = file.take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|source| Refusal::Io {
        path: path(),
        source,
    })?;
    if bytes.len() as u64 > limit {
        return Err(Refusal::TooLarge {
            path: path(),
            limit,
        });
    }
    Ok(Some(bytes))
}

/// Opens a regular file of a folder; none where there is none.
pub(super) fn open(dir: &Dir, name: &OsStr) -> Result<Option<std::fs::File>, Refusal> {
    match dir.open_file(name) {
        Ok(file) => Ok(Some(file)),
        Err(source) => explained(dir, name, source),
    }
}

/// Opens a folder of a folder; none where there is none.
pub(super) fn folder(dir: &Dir, name: &OsStr) -> Result<Option<Dir>, Refusal> {
    match dir.dir(name) {
        Ok(found) => Ok(Some(found)),
        Err(source) => explained(dir, name, source),
    }
}

/// What an entry is; none where there is none.
pub(super) fn kind(dir: &Dir, name: &str) -> Result<Option<Kind>, Refusal> {
    dir.kind(name.as_ref()).map_err(|source| Refusal::Io {
        path: dir.path_of(name.as_ref()),
        source,
    })
}

fn explained<T>(dir: &Dir, name: &OsStr, source: io::Error) -> Result<Option<T>, Refusal> {
    if source.kind() == io::ErrorKind::NotFound {
        return Ok(None);
    }
    let path = dir.path_of(name);
    Err(match dir.kind(name) {
        Ok(Some(Kind::Link)) => Refusal::Link { path },
        Ok(Some(Kind::Other)) => Refusal::Odd { path },
        _ => Refusal::Io { path, source },
    })
}

/// Whether a list of folders of other repositories' objects names one.
pub(super) fn refuse_alternates(objects: &Dir) -> Result<(), Refusal> {
    let Some(info) = folder(objects, "info".as_ref())? else {
        return Ok(());
    };
    let path = || info.path_of("alternates".as_ref());
    let list = match whole(&info, "alternates", NAME) {
        Err(Refusal::TooLarge { .. }) => return Err(Refusal::Alternates { path: path() }),
        other => other?.unwrap_or_default(),
    };
    let mut lines = list.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    match lines.any(|line| !line.is_empty() && !line.starts_with(b"#")) {
        true => Err(Refusal::Alternates { path: path() }),
        false => Ok(()),
    }
}

/// A configuration, without the files that it includes; none where there is none.
pub(super) fn configuration(dir: &Dir, name: &str) -> Result<Option<Config>, Refusal> {
    let Some(text) = whole(dir, name, CONFIG)? else {
        return Ok(None);
    };
    let meta = gix::config::file::Metadata::api();
    let parsed = Config::from_bytes_no_includes(&text, meta, Default::default());
    // The parser's own words have the text that it did not expect.
    parsed.map(Some).map_err(|_| Refusal::Malformed {
        path: dir.path_of(name.as_ref()),
        expected: "git's configuration syntax",
    })
}
