//! Rights of single users on files, beside those of the owner, the group and all others: POSIX access control lists, as
//! Linux keeps them in extended attributes.
//!
//! ```text
//! u32 version, 2; then for each entry: u16 tag, u16 rights (read 4, write 2, execute 1), u32 user or group
//! ```
//!
//! All numbers are little-endian.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::XattrFlags;
use rustix::io::Errno;

use crate::User;

/// Which list of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// That of the file or folder itself.
    Own,
    /// That which everything made in a folder from then on begins with, regardless of the mask of the process that
    /// makes it.
    OfNew,
}

impl Access {
    fn name(self) -> &'static str {
        match self {
            Access::Own => "system.posix_acl_access",
            Access::OfNew => "system.posix_acl_default",
        }
    }
}

/// To read a file.
pub const READ: u16 = 4;
/// To read a file and write to it, and to connect to a socket.
pub const READ_WRITE: u16 = 6;
/// To list a folder, and to reach what is in it.
pub const LOOK_INTO: u16 = 5;

const VERSION: u32 = 2;
/// Bytes of an entry.
const ENTRY: usize = 8;
/// Longer lists are not read: the kernel's own bound on an attribute.
const LONGEST: usize = 64 * 1024;
/// What an entry has that is nobody's in particular.
const NOBODY: u32 = u32::MAX;

const USER_OBJ: u16 = 0x01;
const USER: u16 = 0x02;
const GROUP_OBJ: u16 = 0x04;
const GROUP: u16 = 0x08;
const MASK: u16 = 0x10;
const OTHER: u16 = 0x20;

/// Lets a user do something with a file or a folder, or with what will be made in a folder. Others keep their rights.
///
/// # Errors
/// Those of the operating system; [`io::ErrorKind::Unsupported`] where the file system has no such lists.
pub fn let_user(path: &Path, access: Access, user: User, rights: u16) -> io::Result<()> {
    let mut list = List::of(path, access)?;
    list.set(user.0, rights);
    list.write(path, access)
}

/// Takes from a user what [`let_user`] gave.
///
/// # Errors
/// Those of the operating system.
pub fn keep_user_out(path: &Path, access: Access, user: User) -> io::Result<()> {
    let Some(bytes) = if_supported(read(path, access))? else {
        return Ok(());
    };
    let mut list = List::parse(&bytes)?;
    list.0.retain(|it| (it.tag, it.id) != (USER, user.0));
    list.mask();
    match (access, list.is_plain()) {
        (Access::OfNew, true) => Ok(rustix::fs::lremovexattr(path, access.name())?),
        _ => list.write(path, access),
    }
}

/// Who has rights of their own on a file: its mode then says no more what its group may do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listed {
    /// The users.
    pub users: Vec<User>,
    /// Whether the file's group, or another one, has any rights.
    pub groups: bool,
}

/// Who has rights of their own on a file; nothing, where its mode says all.
///
/// # Errors
/// Those of the operating system.
pub fn listed(path: &Path) -> io::Result<Option<Listed>> {
    let Some(bytes) = if_supported(read(path, Access::Own))? else {
        return Ok(None);
    };
    let list = List::parse(&bytes)?;
    let users = list.0.iter().filter(|it| it.tag == USER);
    let is_group = |it: &Entry| [GROUP_OBJ, GROUP].contains(&it.tag) && it.rights > 0;
    let listed = Listed {
        users: users.map(|it| User(it.id)).collect(),
        groups: list.0.iter().any(is_group),
    };
    Ok((!list.is_plain()).then_some(listed))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    tag: u16,
    rights: u16,
    id: u32,
}

/// A list, in the order in which the kernel wants it.
#[derive(Debug, PartialEq, Eq)]
struct List(Vec<Entry>);

impl List {
    fn of(path: &Path, access: Access) -> io::Result<List> {
        if let Some(bytes) = read(path, access)? {
            return List::parse(&bytes);
        }
        // What is made in a folder begins with the rights on the folder.
        let base = match access {
            Access::Own => None,
            Access::OfNew => read(path, Access::Own)?,
        };
        let mut list = match base {
            Some(bytes) => List::parse(&bytes)?,
            None => List::plain(&fs::symlink_metadata(path)?),
        };
        list.0.retain(|it| ![USER, GROUP].contains(&it.tag));
        Ok(list)
    }

    /// What a file's mode says.
    fn plain(found: &Metadata) -> List {
        let entry = |tag, shift: u32| Entry {
            tag,
            rights: u16::try_from(found.mode() >> shift & 7).unwrap_or_default(),
            id: NOBODY,
        };
        List(vec![
            entry(USER_OBJ, 6),
            entry(GROUP_OBJ, 3),
            entry(OTHER, 0),
        ])
    }

    fn is_plain(&self) -> bool {
        !self.0.iter().any(|it| [USER, GROUP].contains(&it.tag))
    }

    fn set(&mut self, user: u32, rights: u16) {
        self.0.retain(|it| (it.tag, it.id) != (USER, user));
        let (tag, id) = (USER, user);
        self.0.push(Entry { tag, rights, id });
        self.mask();
    }

    /// Makes the mask what all whom it bounds have together, and puts the entries in order.
    fn mask(&mut self) {
        self.0.retain(|it| it.tag != MASK);
        if !self.is_plain() {
            let bounded = self
                .0
                .iter()
                .filter(|it| [USER, GROUP_OBJ, GROUP].contains(&it.tag));
            let rights = bounded.fold(0, |rights, it| rights | it.rights);
            let (tag, id) = (MASK, NOBODY);
            self.0.push(Entry { tag, rights, id });
        }
        self.0.sort_by_key(|it| (it.tag, it.id));
    }

    fn parse(bytes: &[u8]) -> io::Result<List> {
        let unknown = || {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "an access control list of an unknown form",
            )
        };
        let (version, entries) = bytes.split_first_chunk().ok_or_else(unknown)?;
        let (entries, rest) = entries.as_chunks::<ENTRY>();
        if u32::from_le_bytes(*version) != VERSION || !rest.is_empty() {
            return Err(unknown());
        }
        let entry = |[a, b, c, d, e, f, g, h]: &[u8; ENTRY]| Entry {
            tag: u16::from_le_bytes([*a, *b]),
            rights: u16::from_le_bytes([*c, *d]),
            id: u32::from_le_bytes([*e, *f, *g, *h]),
        };
        Ok(List(entries.iter().map(entry).collect()))
    }

    fn write(&self, path: &Path, access: Access) -> io::Result<()> {
        let mut bytes = VERSION.to_le_bytes().to_vec();
        for entry in &self.0 {
            bytes.extend(entry.tag.to_le_bytes());
            bytes.extend(entry.rights.to_le_bytes());
            bytes.extend(entry.id.to_le_bytes());
        }
        let written = rustix::fs::lsetxattr(path, access.name(), &bytes, XattrFlags::empty());
        written.map_err(explained)
    }
}

/// What was read; nothing, where the file system has no lists.
fn if_supported(read: io::Result<Option<Vec<u8>>>) -> io::Result<Option<Vec<u8>>> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::Unsupported => Ok(None),
        read => read,
    }
}

/// A list's bytes; nothing, where the mode says all.
fn read(path: &Path, access: Access) -> io::Result<Option<Vec<u8>>> {
    // Other systems would keep an attribute of that name, and make nothing of it.
    if cfg!(not(target_os = "linux")) {
        return Err(explained(Errno::NOTSUP));
    }
    let mut bytes = vec![0; LONGEST];
    match rustix::fs::lgetxattr(path, access.name(), &mut bytes[..]) {
        Ok(length) => {
            bytes.truncate(length);
            Ok(Some(bytes))
        }
        Err(Errno::NODATA) => Ok(None),
        Err(error) => Err(explained(error)),
    }
}

fn explained(error: Errno) -> io::Error {
    match error {
        Errno::NOTSUP => io::Error::new(
            io::ErrorKind::Unsupported,
            "its file system has no access control lists",
        ),
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{OpenOptions, Permissions};
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    /// A folder of a file system that has such lists.
    fn folder() -> Option<tempfile::TempDir> {
        let home = tempfile::tempdir().unwrap();
        match let_user(home.path(), Access::Own, User(1), LOOK_INTO) {
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                eprintln!("NOT RUN: {} in {}", error, home.path().display());
                assert!(std::env::var_os("CI").is_none(), "it has to run in CI");
                None
            }
            done => {
                done.unwrap();
                keep_user_out(home.path(), Access::Own, User(1)).unwrap();
                Some(home)
            }
        }
    }

    #[test]
    fn a_user_is_let_in_and_kept_out_and_the_mode_is_what_it_was() {
        let Some(home) = folder() else { return };
        let file = home.path().join("file");
        fs::write(&file, "").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        for user in [7, 5, 7] {
            let_user(&file, Access::Own, User(user), READ).unwrap();
        }
        let list = List::of(&file, Access::Own).unwrap();
        let entries: Vec<_> = list.0.iter().map(|it| (it.tag, it.rights, it.id)).collect();
        let expected = [
            (USER_OBJ, 6, NOBODY),
            (USER, 4, 5),
            (USER, 4, 7),
            (GROUP_OBJ, 0, NOBODY),
            (MASK, 4, NOBODY),
            (OTHER, 0, NOBODY),
        ];
        assert_eq!(entries, expected);
        let of = |users: &[u32]| Listed {
            users: users.iter().copied().map(User).collect(),
            groups: false,
        };
        assert_eq!(listed(&file).unwrap(), Some(of(&[5, 7])));
        // The mask stands in the place of the group's rights.
        assert_eq!(mode(&file), 0o640);
        keep_user_out(&file, Access::Own, User(5)).unwrap();
        assert_eq!(listed(&file).unwrap(), Some(of(&[7])));
        keep_user_out(&file, Access::Own, User(7)).unwrap();
        keep_user_out(&file, Access::Own, User(7)).unwrap();
        assert_eq!((mode(&file), listed(&file).unwrap()), (0o600, None));
    }

    #[test]
    fn what_is_made_in_a_folder_later_is_for_the_user_too() {
        let Some(home) = folder() else { return };
        fs::set_permissions(home.path(), Permissions::from_mode(0o700)).unwrap();
        let_user(home.path(), Access::Own, User(7), LOOK_INTO).unwrap();
        let_user(home.path(), Access::OfNew, User(7), LOOK_INTO).unwrap();
        let make = |name: &str, mode| {
            let path = home.path().join(name);
            let mut how = OpenOptions::new();
            how.write(true)
                .create_new(true)
                .mode(mode)
                .open(&path)
                .unwrap();
            path
        };
        let (open, own) = (make("open", 0o644), make("own", 0o600));
        assert_eq!(
            (mode(&open), mode(&own)),
            (0o640, 0o600),
            "whatever the mask is"
        );
        assert!(listed(&open).unwrap().is_some());
        for access in [Access::OfNew, Access::Own] {
            keep_user_out(home.path(), access, User(7)).unwrap();
        }
        assert_eq!(mode(home.path()), 0o700);
        assert_eq!(listed(&make("later", 0o600)).unwrap(), None);
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for bytes in [&b""[..], &[2, 0, 0], &[3, 0, 0, 0], &[2, 0, 0, 0, 1, 0, 6]] {
            assert!(List::parse(bytes).is_err(), "{bytes:?}");
        }
        assert_eq!(List::parse(&[2, 0, 0, 0]).unwrap(), List(Vec::new()));
    }
}
