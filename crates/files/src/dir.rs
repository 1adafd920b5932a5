//! An open folder, and what is done in it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, Stat};

use crate::other;
use crate::own::{OWN_FILE, OWN_FOLDER};

/// An open folder. Its path is for messages; every operation uses the open folder itself.
#[derive(Debug)]
pub struct Dir {
    path: PathBuf,
    handle: OwnedFd,
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Dir,
    /// A link, regardless of where it leads.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// An entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name in the folder.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
}

impl Dir {
    /// Opens a folder that a person named; links are followed.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn open(path: &Path) -> io::Result<Dir> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())?;
        let path = path.to_owned();
        Ok(Dir { path, handle })
    }

    /// The same folder, opened once more.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn again(&self) -> io::Result<Dir> {
        let handle = self.handle.try_clone()?;
        let path = self.path.clone();
        Ok(Dir { path, handle })
    }

    /// The same folder, with another path for messages: the one that a person named.
    #[must_use]
    pub fn known_as(self, path: &Path) -> Dir {
        Dir {
            path: path.to_owned(),
            ..self
        }
    }

    /// Its path when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of an entry, for messages.
    pub fn path_of(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    /// What tells this folder from every other one, regardless of the path by which it is reached: its
    /// file system, and its number there.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        let found = File::from(self.handle.try_clone()?).metadata()?;
        Ok((found.dev(), found.ino()))
    }

    /// Opens a folder in this one.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::InvalidInput`] where there is something else, a
    /// link too, or the name is not one.
    pub fn dir(&self, name: &OsStr) -> io::Result<Dir> {
        check(name)?;
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let opened = rustix::fs::openat(&self.handle, name, flags, Mode::empty());
        let handle = opened.map_err(|error| self.explained(name, Kind::Dir, error.into()))?;
        let path = self.path_of(name);
        Ok(Dir { path, handle })
    }

    /// Opens a folder in this one, and makes it first where nothing is: for this user alone.
    ///
    /// # Errors
    /// Those of [`Dir::dir`].
    pub fn make_dir(&self, name: &OsStr) -> io::Result<Dir> {
        check(name)?;
        let mode = Mode::from_raw_mode(OWN_FOLDER);
        match rustix::fs::mkdirat(&self.handle, name, mode) {
            Err(error) if error != rustix::io::Errno::EXIST => Err(error.into()),
            _ => self.dir(name),
        }
    }

    /// Opens a regular file in this folder for reading.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::InvalidInput`] where there is something else, a
    /// link too, or the name is not one.
    pub fn open_file(&self, name: &OsStr) -> io::Result<File> {
        check(name)?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let opened = rustix::fs::openat(&self.handle, name, flags, Mode::empty());
        let file = opened.map_err(|error| self.explained(name, Kind::File, error.into()))?;
        let file = File::from(file);
        match file.metadata()?.is_file() {
            true => Ok(file),
            false => Err(other(&self.path_of(name), "something else")),
        }
    }

    /// Makes a file for writing where nothing is, not even a link: for this user alone.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::AlreadyExists`] where something is.
    pub fn create_file(&self, name: &OsStr) -> io::Result<File> {
        check(name)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(OWN_FILE);
        Ok(File::from(rustix::fs::openat(
            &self.handle,
            name,
            flags,
            mode,
        )?))
    }

    /// What an entry is; `None` where it does not exist.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn kind(&self, name: &OsStr) -> io::Result<Option<Kind>> {
        Ok(self.stat(name)?.map(|found| kind_of(found.st_mode)))
    }

    /// When an entry was last written; `None` where it does not exist.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn modified(&self, name: &OsStr) -> io::Result<Option<SystemTime>> {
        let found = self.stat(name)?;
        Ok(found.and_then(|found| {
            let seconds = u64::try_from(found.st_mtime).ok()?;
            let nanos = u32::try_from(found.st_mtime_nsec).ok()?;
            SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanos))
        }))
    }

    /// The length of an entry in bytes; `None` where it does not exist.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn bytes(&self, name: &OsStr) -> io::Result<Option<u64>> {
        let found = self.stat(name)?;
        Ok(found.map(|found| u64::try_from(found.st_size).unwrap_or_default()))
    }

    fn stat(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        check(name)?;
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Its entries, in the order of their names.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        self.entries_up_to(usize::MAX)
    }

    /// Its entries, in the order of their names, where there are not more than `limit`: a list of them all
    /// is in memory.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::FileTooLarge`] where there are more.
    pub fn entries_up_to(&self, limit: usize) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in rustix::fs::Dir::read_from(self.handle.as_fd())? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes()).to_owned();
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Not every file system says it at once.
                FileType::Unknown => match self.kind(&name)? {
                    Some(kind) => kind,
                    None => continue,
                },
                known => kind_of(known.as_raw_mode()),
            };
            if entries.len() == limit {
                let said = format!("{} has more than {limit} entries", self.path.display());
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, said));
            }
            entries.push(Entry { name, kind });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Gives an entry another name in this folder; what has that name is replaced.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        check(from).and(check(to))?;
        Ok(rustix::fs::renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Gives a file a second name in this folder.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::AlreadyExists`] where something has that name.
    pub fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        check(from).and(check(to))?;
        let flags = AtFlags::empty();
        Ok(rustix::fs::linkat(
            &self.handle,
            from,
            &self.handle,
            to,
            flags,
        )?)
    }

    /// Removes a file of this folder, or a link, and not where it leads.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        check(name)?;
        Ok(rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())?)
    }

    /// Why an entry was not opened, where it is that it is something else.
    fn explained(&self, name: &OsStr, wanted: Kind, error: io::Error) -> io::Error {
        let found = self.kind(name).ok().flatten();
        let what = match found {
            Some(Kind::Link) => "a link, which is not followed",
            Some(Kind::File) if wanted == Kind::Dir => "a file, and no folder",
            Some(Kind::Dir) if wanted == Kind::File => "a folder",
            Some(Kind::Other) => "neither a file nor a folder",
            _ => return error,
        };
        let said = format!("{} is {what}", self.path_of(name).display());
        io::Error::new(io::ErrorKind::InvalidInput, said)
    }
}

fn kind_of(mode: RawMode) -> Kind {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Dir,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}

/// Refuses what is not the name of an entry: a path could lead out of the folder.
fn check(name: &OsStr) -> io::Result<()> {
    let is_name = Path::new(name).file_name() == Some(name) && !name.as_bytes().contains(&b'/');
    match is_name {
        true => Ok(()),
        false => {
            let said = format!("{name:?} is not the name of an entry of a folder");
            Err(io::Error::new(io::ErrorKind::InvalidInput, said))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use super::*;

    fn name(name: &str) -> &OsStr {
        name.as_ref()
    }

    #[test]
    fn nothing_outside_of_a_folder_is_reached() {
        let home = tempfile::tempdir().unwrap();
        let (inside, outside) = (home.path().join("inside"), home.path().join("outside"));
        for folder in [&inside, &outside] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("file"), "text").unwrap();
        }
        symlink(&outside, inside.join("folder")).unwrap();
        symlink(outside.join("file"), inside.join("link")).unwrap();
        let dir = Dir::open(&inside).unwrap();
        for refused in [
            dir.dir(name("folder")).err(),
            dir.make_dir(name("folder")).err(),
            dir.open_file(name("link")).err(),
            dir.create_file(name("link")).err(),
            dir.dir(name("..")).err(),
            dir.open_file(name("folder/file")).err(),
            dir.open_file(name("../outside/file")).err(),
            dir.remove_file(name("folder/file")).err(),
            dir.rename(name("file"), name("folder/other")).err(),
            dir.link(name("file"), name("../other")).err(),
            dir.open_file(name("/etc/passwd")).err(),
        ] {
            let error = refused.unwrap();
            let kind = error.kind();
            let expected = [io::ErrorKind::InvalidInput, io::ErrorKind::AlreadyExists];
            assert!(expected.contains(&kind), "{error}");
        }
        dir.remove_file(name("link")).unwrap();
        assert_eq!(fs::read(outside.join("file")).unwrap(), b"text");
        // A folder that becomes a link while it is open is still the same.
        let kept = dir.make_dir(name("kept")).unwrap();
        fs::rename(inside.join("kept"), home.path().join("moved")).unwrap();
        symlink(&outside, inside.join("kept")).unwrap();
        let mut file = kept.create_file(name("new")).unwrap();
        file.write_all(b"new").unwrap();
        assert!(home.path().join("moved/new").exists());
        assert!(!outside.join("new").exists());
    }

    #[test]
    fn a_folder_is_told_from_others_by_any_path_to_it() {
        let home = tempfile::tempdir().unwrap();
        for folder in ["one", "two"] {
            fs::create_dir(home.path().join(folder)).unwrap();
        }
        symlink(home.path().join("one"), home.path().join("link")).unwrap();
        let identity = |name: &str| Dir::open(&home.path().join(name)).unwrap().identity();
        assert_eq!(identity("one").unwrap(), identity("link").unwrap());
        assert_ne!(identity("one").unwrap(), identity("two").unwrap());
    }

    #[test]
    fn more_entries_than_asked_for_are_not_listed() {
        let home = tempfile::tempdir().unwrap();
        for file in ["a", "b", "c"] {
            fs::write(home.path().join(file), "").unwrap();
        }
        let dir = Dir::open(home.path()).unwrap();
        assert_eq!(dir.entries_up_to(3).unwrap().len(), 3);
        let error = dir.entries_up_to(2).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge, "{error}");
    }

    #[test]
    fn nothing_waits_for_a_pipe() {
        let home = tempfile::tempdir().unwrap();
        let pipe = home.path().join("pipe");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let dir = Dir::open(home.path()).unwrap();
        for refused in [
            dir.open_file(name("pipe")).unwrap_err(),
            crate::open(&pipe).unwrap_err(),
            crate::open_with(&pipe, fs::OpenOptions::new().read(true)).unwrap_err(),
        ] {
            assert_eq!(refused.kind(), io::ErrorKind::InvalidInput, "{refused}");
        }
        let entries = dir.entries().unwrap();
        assert_eq!(
            entries,
            [Entry {
                name: "pipe".into(),
                kind: Kind::Other
            }]
        );
    }

    #[test]
    fn what_a_person_names_may_be_a_link() {
        let home = tempfile::tempdir().unwrap();
        let (file, link) = (home.path().join("file"), home.path().join("link"));
        fs::write(&file, "text").unwrap();
        symlink(&file, &link).unwrap();
        let mut text = String::new();
        crate::open(&link)
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "text");
        assert!(crate::open(Path::new("/dev/null")).is_ok());
        assert!(crate::open(home.path()).is_err());
        let error = crate::open_with(&link, fs::OpenOptions::new().read(true)).unwrap_err();
        assert!(error.to_string().contains("is a link"), "{error}");
    }
}
