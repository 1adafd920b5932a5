//! Where the spool of a log is: beside a log in a folder, and among this user's own files for one on PostgreSQL.

use std::ffi::OsString;
use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use annals::{LogUrl, PostgresUrl};
use uuid::Uuid;

use super::error::SpoolError;

/// A spool's folder, and whether the folders that it is in are made with it.
pub(super) fn of(log: &str) -> Result<(PathBuf, bool), SpoolError> {
    match log.parse()? {
        LogUrl::Rocks(path) => {
            let mut name = path.components().as_path().as_os_str().to_owned();
            name.push(".spool");
            Ok((name.into(), false))
        }
        LogUrl::Postgres(url) => {
            let set = |name: &str| std::env::var_os(name);
            let state = state(set("XDG_STATE_HOME"), set("HOME")).ok_or(SpoolError::NoHome)?;
            Ok((in_state(&state, &url), true))
        }
        LogUrl::Memory => Err(SpoolError::InMemory),
    }
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
    let name = format!("{}.spool", mark.simple());
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
    use super::*;

    #[test]
    fn a_log_in_a_folder_has_it_beside_itself() {
        let (path, makes_parents) = of("rocks:/srv/log/").unwrap();
        assert_eq!(path, Path::new("/srv/log.spool"));
        assert!(!makes_parents);
        assert!(matches!(of("memory:"), Err(SpoolError::InMemory)));
        assert!(matches!(of("mysql://db/a"), Err(SpoolError::Log(_))));
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
