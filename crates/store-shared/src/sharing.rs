//! Who else may write to a log: the file SHARE in its folder, and the rights on the log's files.
//!
//! ```text
//! annals share, format 1
//! 1001
//! 1002
//! ```
//!
//! Each line is the number of a user. Only who may write to the folder can change it, which no guest of another user
//! can.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use annals_event_log::{Classification, Classified, ErrorClass};
use annals_files::{Access, LOOK_INTO, READ, READ_WRITE, ROOT, User, keep_user_out, let_user};

use crate::frame;

/// The file's name.
const NAME: &str = "SHARE";
/// Its name until it is whole.
const NEW_NAME: &str = "SHARE.new";
const FIRST_LINE: &str = "annals share, format 1";
/// What makes a folder one of a log.
pub(crate) const LOG: &str = "ANNALS";
/// The most users that are named, and bytes that they take in the file.
const MOST: usize = 1_000;
const LONGEST: u64 = 16 * 1024;

/// Who may write to a log besides the user whose process owns it, and root.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sharing {
    /// The users who are named.
    pub users: BTreeSet<User>,
}

/// Why it was not changed who may write to a log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharingError {
    /// There is no log in the folder.
    #[error("there is no log at {path}; `annals log init` creates one", path = .path.display())]
    NotFound {
        /// The folder.
        path: PathBuf,
    },
    /// They may write to it in any case.
    #[error("{user} may write to the log at {path} in any case", path = .path.display())]
    Always {
        /// The folder.
        path: PathBuf,
        /// Who.
        user: User,
    },
    /// So many are not named.
    #[error("no more than {MOST} users are named")]
    TooMany,
    /// A file could not be read or written.
    #[error("cannot change who may use {path}: {source}", path = .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
}

impl Classified for SharingError {
    fn classify(&self) -> Classification {
        match self {
            SharingError::NotFound { .. } => ErrorClass::NotFound.code("no_log"),
            SharingError::Always { .. } => ErrorClass::Refused.code("not_another_user"),
            SharingError::TooMany => ErrorClass::Refused.code("too_many_users"),
            SharingError::Io { source, .. } => match source.kind() {
                ErrorKind::Unsupported => ErrorClass::Failed.code("no_access_lists"),
                ErrorKind::PermissionDenied => ErrorClass::Failed.code("no_permission"),
                _ => ErrorClass::of_file(source).code("share_failed"),
            },
        }
    }
}

impl Sharing {
    /// What a log's folder says.
    ///
    /// # Errors
    /// Those of the operating system; [`ErrorKind::InvalidData`] for a file that says something else.
    pub fn of(folder: &Path) -> io::Result<Sharing> {
        let opened = annals_files::open_with(&folder.join(NAME), OpenOptions::new().read(true));
        let file = match opened {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Sharing::default()),
            opened => opened?,
        };
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text)?;
        Sharing::parse(&text).ok_or_else(|| {
            let said = format!("{NAME} is not a list of users in format 1");
            io::Error::new(ErrorKind::InvalidData, said)
        })
    }

    fn parse(text: &str) -> Option<Sharing> {
        let users = text.strip_prefix(FIRST_LINE)?.strip_prefix('\n')?.lines();
        let users = users.map(|line| line.parse().ok().map(User));
        let users: BTreeSet<User> = users.collect::<Option<_>>()?;
        (users.len() <= MOST).then_some(Sharing { users })
    }

    /// The user whose log it is.
    ///
    /// # Errors
    /// [`SharingError`].
    pub fn owner(folder: &Path) -> Result<User, SharingError> {
        known(folder)?;
        failed(folder, fs::metadata(folder)).map(|found| User(found.uid()))
    }

    /// Whether a user may write by way of a process of this one.
    pub fn admits(&self, user: User) -> bool {
        user == ROOT || user == User::current() || self.users.contains(&user)
    }

    /// Lets a user read a log's files, and write to it by way of the process that owns it; whether they could not
    /// before. It holds from then on, also for an owner that runs.
    ///
    /// # Errors
    /// [`SharingError`]. Doing it again completes what was done in part.
    pub fn let_in(folder: &Path, user: User) -> Result<bool, SharingError> {
        let mut sharing = known(folder)?;
        if user == ROOT || Sharing::owner(folder)? == user {
            let path = folder.to_owned();
            return Err(SharingError::Always { path, user });
        }
        if sharing.users.len() >= MOST {
            return Err(SharingError::TooMany);
        }
        each(folder, &|path, is_folder, access| {
            let rights = if is_folder { LOOK_INTO } else { READ };
            let_user(path, access, user, rights)
        })?;
        let is_new = sharing.users.insert(user);
        sharing.write(folder)?;
        socket(folder, |at| let_user(at, Access::Own, user, READ_WRITE))?;
        Ok(is_new)
    }

    /// Takes that back; whether the user was named. Who is connected is disconnected within a second or two; files that
    /// a process of theirs has open stay readable for it.
    ///
    /// # Errors
    /// [`SharingError`]. Doing it again completes what was done in part.
    pub fn keep_out(folder: &Path, user: User) -> Result<bool, SharingError> {
        let mut sharing = known(folder)?;
        let was = sharing.users.remove(&user);
        if was {
            sharing.write(folder)?;
        }
        socket(folder, |at| keep_user_out(at, Access::Own, user))?;
        each(folder, &|path, _, access| keep_user_out(path, access, user))?;
        Ok(was)
    }

    /// Puts the file in its place, whole and synced.
    fn write(&self, folder: &Path) -> Result<(), SharingError> {
        let mut text = format!("{FIRST_LINE}\n");
        for User(number) in &self.users {
            text.push_str(&format!("{number}\n"));
        }
        let new = folder.join(NEW_NAME);
        let write = || {
            let owner = fs::metadata(folder)?;
            let mut how = OpenOptions::new();
            // As open as RocksDB makes files: who may read the log may know who writes to it.
            let how = how.write(true).create(true).truncate(true).mode(0o644);
            let mut file = annals_files::open_with(&new, how)?;
            // Root may do it for the user whose log it is.
            if owner.uid() != file.metadata()?.uid() {
                std::os::unix::fs::fchown(&file, Some(owner.uid()), None)?;
            }
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&new, folder.join(NAME))?;
            File::open(folder)?.sync_all()
        };
        failed(&new, write())
    }
}

fn failed<T>(path: &Path, done: io::Result<T>) -> Result<T, SharingError> {
    done.map_err(|source| SharingError::Io {
        path: path.to_owned(),
        source,
    })
}

/// What the folder of a log says.
fn known(folder: &Path) -> Result<Sharing, SharingError> {
    match fs::symlink_metadata(folder.join(LOG)) {
        Err(error) if [ErrorKind::NotFound, ErrorKind::NotADirectory].contains(&error.kind()) => {
            Err(SharingError::NotFound {
                path: folder.to_owned(),
            })
        }
        found => {
            failed(&folder.join(LOG), found)?;
            failed(&folder.join(NAME), Sharing::of(folder))
        }
    }
}

/// Does something with the lists of a folder and of all files and folders in it, of which each says whether it is a
/// folder. What goes meanwhile is left out.
fn each(
    folder: &Path,
    change: &impl Fn(&Path, bool, Access) -> io::Result<()>,
) -> Result<(), SharingError> {
    let changed = |path: &Path, is_folder, access| match change(path, is_folder, access) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        changed => failed(path, changed),
    };
    // What is made from here on first: none is missed that is made meanwhile.
    changed(folder, true, Access::OfNew)?;
    changed(folder, true, Access::Own)?;
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => failed(folder, entries)?,
    };
    for entry in entries {
        let entry = failed(folder, entry)?;
        match entry.file_type() {
            Ok(kind) if kind.is_file() => changed(&entry.path(), false, Access::Own)?,
            Ok(kind) if kind.is_dir() => each(&entry.path(), change)?,
            // A socket, or a link, which leads elsewhere; or it has gone.
            _ => {}
        }
    }
    Ok(())
}

/// Does something with the socket of an owner, where there is one.
fn socket(folder: &Path, change: impl FnOnce(&Path) -> io::Result<()>) -> Result<(), SharingError> {
    let at = folder.join(frame::NAME);
    match change(&at) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        changed => failed(&at, changed),
    }
}
