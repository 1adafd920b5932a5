//! Which log a command works with: one rule for all commands.
//!
//! 1. `--log`, or the variable `ANNALS_LOG`.
//! 2. The nearest folder `.annals`: in the current folder, or in one above it.
//! 3. The user's own log: `$XDG_DATA_HOME/annals`, or else `~/.local/share/annals`.
//!
//! A folder that was found (2) has to belong to the user who runs the program: whoever may write to a folder above could
//! otherwise place a log there, and commands would record into it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::error::{CliError, ErrorClass};

/// The name of a log's folder in a project.
pub(crate) const FOLDER: &str = ".annals";

/// A log, and how it was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LogChoice {
    /// The log, as `--log` takes it.
    pub(crate) log: String,
    pub(crate) source: LogSource,
}

/// How a log was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LogSource {
    /// By `--log` or `ANNALS_LOG`, or by the command itself.
    Given,
    /// A folder `.annals` that was found.
    Found,
    /// The user's own log.
    User,
}

impl LogChoice {
    /// Chooses the log of a command.
    ///
    /// # Errors
    /// The folder that was found belongs to another user, or there is no home folder.
    pub(crate) fn of(given: Option<String>) -> Result<LogChoice, CliError> {
        if let Some(log) = given {
            return Ok(LogChoice::given(log));
        }
        let current = std::env::current_dir();
        let found = current.ok().and_then(|current| nearest(&current));
        match found {
            Some(found) => found.checked(rustix::process::geteuid().as_raw()),
            None => Ok(LogChoice {
                log: user_log(&|name| std::env::var_os(name))?,
                source: LogSource::User,
            }),
        }
    }

    /// A log that the user or the command named.
    pub(crate) fn given(log: impl Into<String>) -> LogChoice {
        LogChoice {
            log: log.into(),
            source: LogSource::Given,
        }
    }

    /// The log in the current folder, for commands that make one there.
    pub(crate) fn here() -> LogChoice {
        LogChoice::given(FOLDER)
    }
}

/// A folder `.annals`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FoundLog {
    path: PathBuf,
    /// The path from the current folder.
    relative: PathBuf,
    /// The owners of the folder, and of the link to it.
    owners: [u32; 2],
}

impl FoundLog {
    /// The log, unless another user owns it.
    fn checked(self, user: u32) -> Result<LogChoice, CliError> {
        let owner = self.owners.into_iter().find(|owner| *owner != user);
        if let Some(owner) = owner {
            let message = format!(
                "{} belongs to the user with the id {owner}, and is not used without being named",
                self.path.display()
            );
            let error = CliError::new(ErrorClass::Refused, "log_of_another_user", message);
            return Err(error.hint(format!(
                "if you trust it, give --log {}, or set ANNALS_LOG",
                self.path.display()
            )));
        }
        let is_here = self.relative == Path::new(FOLDER);
        let path = match self.path.to_str() {
            Some(path) if !is_here => path.to_owned(),
            // The names of folders above need not be UTF-8.
            _ => self.relative.display().to_string(),
        };
        Ok(LogChoice {
            log: path,
            source: LogSource::Found,
        })
    }
}

/// The nearest folder `.annals`, from a folder upwards.
fn nearest(current: &Path) -> Option<FoundLog> {
    let mut up = PathBuf::new();
    for folder in current.ancestors() {
        let path = folder.join(FOLDER);
        let link = fs::symlink_metadata(&path);
        let target = fs::metadata(&path);
        if let (Ok(link), Ok(target)) = (link, target)
            && target.is_dir()
        {
            return Some(FoundLog {
                path,
                relative: up.join(FOLDER),
                owners: [target.uid(), link.uid()],
            });
        }
        up.push("..");
    }
    None
}

/// The user's own log.
fn user_log(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<String, CliError> {
    // The XDG Base Directory Specification has relative paths ignored.
    let absolute = |name| {
        variable(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
    };
    let data = absolute("XDG_DATA_HOME")
        .or_else(|| Some(absolute("HOME")?.join(".local/share")))
        .ok_or_else(|| {
            CliError::new(
                ErrorClass::Invalid,
                "no_home",
                "the home folder is not known",
            )
            .hint("set HOME, or name a log with --log")
        })?;
    let log = data.join("annals");
    log.to_str().map(str::to_owned).ok_or_else(|| {
        let message = format!("the path of the log {} is not UTF-8", log.display());
        CliError::new(ErrorClass::Invalid, "path_not_utf8", message).hint("name a log with --log")
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn the_nearest_folder_is_found_from_below() {
        let home = tempfile::tempdir().unwrap();
        let deep = home.path().join("a/b/c");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir(home.path().join("a").join(FOLDER)).unwrap();
        // A file of that name is no log.
        fs::write(home.path().join("a/b").join(FOLDER), "").unwrap();
        let user = rustix::process::geteuid().as_raw();
        let found = nearest(&deep).unwrap();
        assert_eq!(found.relative, Path::new("../../.annals"));
        let choice = found.checked(user).unwrap();
        assert_eq!(choice.source, LogSource::Found);
        assert_eq!(Path::new(&choice.log), home.path().join("a/.annals"));
        let here = nearest(&home.path().join("a"))
            .unwrap()
            .checked(user)
            .unwrap();
        assert_eq!(here.log, FOLDER);
    }

    #[test]
    fn a_folder_of_another_user_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(FOLDER);
        fs::create_dir(&folder).unwrap();
        let user = rustix::process::geteuid().as_raw();
        let found = nearest(home.path()).unwrap();
        let error = found.checked(user + 1).unwrap_err();
        assert_eq!(error.code(), "log_of_another_user");
        assert!(error.message().contains("--log"), "{}", error.message());
        let mut linked = nearest(home.path()).unwrap();
        linked.owners[1] = user + 1;
        assert!(linked.checked(user).is_err());
    }

    #[test]
    fn a_link_to_a_log_counts_as_a_log() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("log")).unwrap();
        symlink("log", home.path().join(FOLDER)).unwrap();
        assert!(nearest(home.path()).is_some());
    }

    #[test]
    fn the_users_log_is_where_data_of_programs_is() {
        let log = |data: Option<&str>, home: Option<&str>| {
            let variable = |name: &str| match name {
                "XDG_DATA_HOME" => data.map(OsString::from),
                _ => home.map(OsString::from),
            };
            user_log(&variable).map_err(|error| error.code())
        };
        assert_eq!(
            log(Some("/data"), Some("/home/a")).as_deref(),
            Ok("/data/annals")
        );
        for ignored in [None, Some(""), Some("data")] {
            let expected = "/home/a/.local/share/annals";
            assert_eq!(log(ignored, Some("/home/a")).as_deref(), Ok(expected));
        }
        assert_eq!(log(None, None), Err("no_home"));
    }
}
