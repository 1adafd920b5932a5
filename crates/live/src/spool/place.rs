//! Where the spool of a log is: beside the log's real folder, and among this user's own files for a log on PostgreSQL.
//!
//! However a log is named, by links, by dots or relative to the working directory, it has one spool. Programs of before named
//! the spool after the path as it was written, so that a log had several: `Places::former` and `siblings` find them.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use annals::{LogUrl, PostgresUrl};
use uuid::Uuid;

use super::error::SpoolError;

/// What the name of a spool ends with.
const ENDING: &str = ".spool";

/// The spool of `--log .` as programs of before named it.
const OF_DOT: &str = "..spool";

/// The longest name of a file that Linux has.
const LONGEST_NAME: usize = 255;

/// The most links that are followed one after the other, as in the kernel.
const LINKS: usize = 40;

/// The most entries of the folder beside a log that are looked at.
const ENTRIES: usize = 10_000;

/// Where the spool of a log is, and where it may have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Places {
    /// The folder.
    pub(super) path: PathBuf,
    /// Whether the folders that it is in are made with it.
    pub(super) makes_parents: bool,
    /// The log's real folder, if it is in one.
    pub(super) log: Option<PathBuf>,
    /// Folders that programs of before used for a log of that name.
    pub(super) former: Vec<PathBuf>,
}

/// Finds the spool of a log.
pub(super) fn of(log: &str) -> Result<Places, SpoolError> {
    match log.parse()? {
        LogUrl::Rocks(written) => of_folder(&written),
        LogUrl::Postgres(url) => {
            let set = |name: &str| std::env::var_os(name);
            let state = state(set("XDG_STATE_HOME"), set("HOME")).ok_or(SpoolError::NoHome)?;
            Ok(Places {
                path: in_state(&state, &url),
                makes_parents: true,
                log: None,
                former: Vec::new(),
            })
        }
        LogUrl::Memory => Err(SpoolError::InMemory),
    }
}

fn of_folder(written: &Path) -> Result<Places, SpoolError> {
    let log = real(written);
    // A file or a device is no log, and will not become one.
    if fs::metadata(&log).is_ok_and(|found| !found.is_dir()) {
        return Err(SpoolError::NotAFolder { path: log });
    }
    let path = beside(&log);
    // As it was written, and in the log's own folder where it was written as a dot.
    let mut former = vec![as_written(written), log.join(OF_DOT)];
    former.retain(|it| !is_same(it, &path));
    former.dedup();
    Ok(Places {
        path,
        makes_parents: false,
        log: Some(log),
        former,
    })
}

/// The spool beside a folder.
fn beside(log: &Path) -> PathBuf {
    let name = log.file_name().unwrap_or(OsStr::new(""));
    let mut spool = name.to_owned();
    spool.push(ENDING);
    // One that is too long for a file is named by a digest.
    if spool.len() > LONGEST_NAME {
        let digest = Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes());
        spool = format!("{}{ENDING}", digest.simple()).into();
    }
    log.parent().unwrap_or(log).join(spool)
}

/// The spool of a path as programs of before named it.
fn as_written(path: &Path) -> PathBuf {
    let mut name = path.components().as_path().as_os_str().to_owned();
    name.push(ENDING);
    std::path::absolute(&name).unwrap_or_else(|_| name.into())
}

/// Returns `true` if two paths are of the same folder, or are the same.
pub(super) fn is_same(one: &Path, other: &Path) -> bool {
    let identity = |path: &Path| fs::metadata(path).ok().map(|it| (it.dev(), it.ino()));
    one == other || identity(one).is_some_and(|it| identity(other) == Some(it))
}

/// The real path of a folder, without links and dots. What is not there yet is where it will be, also behind links whose target
/// is not there.
fn real(path: &Path) -> PathBuf {
    let mut path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    for _ in 0..LINKS {
        if let Ok(real) = fs::canonicalize(&path) {
            return real;
        }
        let Ok(target) = fs::read_link(&path) else {
            break;
        };
        path = path.parent().map_or(target.clone(), |it| it.join(target));
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        _ => path,
    }
}

/// A folder beside a log in which something of it may wait.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Sibling {
    pub(super) path: PathBuf,
    /// Whether it was found by its mark, and not by a link to the log.
    pub(super) is_marked: bool,
}

/// Returns the logs, and links to logs, whose spool a folder is by its name.
pub(super) fn logs_of(spool: &Path) -> Vec<PathBuf> {
    let entries = spool.parent().and_then(|parent| fs::read_dir(parent).ok());
    let entries = entries.into_iter().flatten().take(ENTRIES).flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| beside(path) == spool).collect()
}

/// Folders beside a log in which something of it may wait: the spools of links to it, and those of names that it had before.
/// The latter have a mark of the log.
pub(super) fn siblings(log: &Path, is_marked: impl Fn(&Path) -> bool) -> Vec<Sibling> {
    let own = beside(log);
    let entries = log.parent().and_then(|parent| fs::read_dir(parent).ok());
    let mut found = Vec::new();
    for entry in entries.into_iter().flatten().take(ENTRIES).flatten() {
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        let path = entry.path();
        if kind.is_symlink() && is_same(&path, log) {
            found.push(Sibling {
                path: as_written(&path),
                is_marked: false,
            });
        } else if kind.is_dir() && log_of(&path).is_some() && path != own && is_marked(&path) {
            found.push(Sibling {
                path,
                is_marked: true,
            });
        }
    }
    found
}

/// The folder of the log whose spool this is by its name.
pub(super) fn log_of(spool: &Path) -> Option<PathBuf> {
    let name = spool
        .file_name()?
        .as_bytes()
        .strip_suffix(ENDING.as_bytes())?;
    Some(spool.with_file_name(OsStr::from_bytes(name)))
}

/// Where programs keep what is neither configuration nor cache.
fn state(state: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute = |it: OsString| Some(PathBuf::from(it)).filter(|path| path.is_absolute());
    let of_home = || home.and_then(absolute).map(|it| it.join(".local/state"));
    state.and_then(absolute).or_else(of_home)
}

/// One for each log, whoever writes to it and however.
fn in_state(state: &Path, url: &PostgresUrl) -> PathBuf {
    let mark = Uuid::new_v5(&Uuid::NAMESPACE_URL, url.place().as_bytes());
    let name = format!("{}{ENDING}", mark.simple());
    state.join("annals").join("spools").join(name)
}

/// Makes a folder and those that it is in, for this user alone. They are on disk when this answers.
pub(super) fn make_all(folder: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = folder.ancestors().take_while(|it| !it.exists()).collect();
    for folder in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => sync_parent(folder)?,
        }
    }
    Ok(())
}

/// Has the name of a folder on disk.
pub(super) fn sync_parent(folder: &Path) -> io::Result<()> {
    let parent = folder.parent().filter(|it| !it.as_os_str().is_empty());
    File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn spool(log: &Path) -> PathBuf {
        of(log.to_str().unwrap()).unwrap().path
    }

    #[test]
    fn a_log_in_a_folder_has_it_beside_itself() {
        let places = of("rocks:/srv/log/").unwrap();
        assert_eq!(places.path, Path::new("/srv/log.spool"));
        assert!(!places.makes_parents);
        assert!(matches!(of("memory:"), Err(SpoolError::InMemory)));
        assert!(matches!(of("mysql://db/a"), Err(SpoolError::Log(_))));
    }

    #[test]
    fn a_log_has_one_however_it_is_named() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (log, link) = (home.join("log"), home.join("link"));
        let expected = home.join("log.spool");
        // Before the log is there, and behind links whose target is not there.
        symlink("log", &link).unwrap();
        symlink("link", home.join("second")).unwrap();
        symlink(&home, home.join("home")).unwrap();
        let named = [
            "log",
            "log/",
            "./log",
            "link",
            "second",
            "home/link",
            "home/home/log",
        ];
        for is_there in [false, true] {
            if is_there {
                fs::create_dir(&log).unwrap();
            }
            for name in named {
                assert_eq!(spool(&home.join(name)), expected, "{name}, {is_there}");
            }
        }
        fs::create_dir(log.join("search")).unwrap();
        for name in ["log/.", "log/search/..", "link/.", "home/log/../log"] {
            assert_eq!(spool(&home.join(name)), expected, "{name}");
        }
        // Of a ring of links nothing is there, and nothing is followed without end.
        symlink("round", home.join("ring")).unwrap();
        symlink("ring", home.join("round")).unwrap();
        let ring = spool(&home.join("ring"));
        assert!(ring.starts_with(&home), "{ring:?}");
    }

    #[test]
    fn what_a_log_had_before_is_known() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (log, link) = (home.join("log"), home.join("link"));
        fs::create_dir(&log).unwrap();
        symlink(&log, &link).unwrap();
        let places = of(link.to_str().unwrap()).unwrap();
        for former in [home.join("link.spool"), log.join("..spool")] {
            assert!(places.former.contains(&former), "{former:?}: {places:?}");
        }
        for folder in ["log.spool", "other.spool", "old.spool", "no-spool"] {
            fs::create_dir(home.join(folder)).unwrap();
        }
        let mut found = siblings(&log, |path| path.ends_with("old.spool"));
        found.sort();
        let sibling = |name: &str, is_marked| Sibling {
            path: home.join(name),
            is_marked,
        };
        let expected = [sibling("link.spool", false), sibling("old.spool", true)];
        assert_eq!(found, expected);
        assert_eq!(log_of(&home.join("old.spool")), Some(home.join("old")));
    }

    #[test]
    fn a_name_that_has_no_room_for_more_is_replaced() {
        let name = "n".repeat(250);
        let path = of(&format!("/srv/{name}")).unwrap().path;
        assert_eq!(path.parent(), Some(Path::new("/srv")));
        assert!(path.file_name().unwrap().len() < 100);
        let other = of(&format!("/srv/{name}n")).unwrap().path;
        assert_ne!(path, other);
        let shorter = of(&format!("/srv/{}", "n".repeat(249))).unwrap().path;
        assert!(shorter.ends_with(format!("{}.spool", "n".repeat(249))));
    }

    #[test]
    fn a_log_on_postgres_has_one_whoever_writes() {
        let spool = |url: &str| match url.parse() {
            Ok(LogUrl::Postgres(url)) => in_state(Path::new("/state"), &url),
            other => panic!("{other:?}"),
        };
        let first = spool("postgres://ada:secret@db/a?log=team");
        assert_eq!(
            first.parent(),
            Some(Path::new("/state/annals/spools")),
            "{first:?}"
        );
        assert_eq!(first, spool("postgresql://bob@db/a?notify=true&log=team"));
        for other in [
            "postgres://ada@db/a",
            "postgres://ada@db/b?log=team",
            "postgres://ada@db2/a?log=team",
            "postgres://ada@db/a?log=team&schema=other",
        ] {
            assert_ne!(first, spool(other), "{other}");
        }
    }

    #[test]
    fn state_is_where_the_environment_says() {
        let some = |text: &str| Some(OsString::from(text));
        assert_eq!(state(some("/s"), some("/h")), Some(PathBuf::from("/s")));
        let of_home = Some(PathBuf::from("/h/.local/state"));
        assert_eq!(state(None, some("/h")), of_home);
        assert_eq!(state(some("relative"), some("/h")), of_home);
        assert_eq!(state(None, None), None);
        assert_eq!(state(None, some("")), None);
    }
}
