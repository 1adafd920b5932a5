//! What an importer is pointed at: a file, or a folder with files in it.

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::dir::Dir;
use crate::{is_given, open, other, what_is};

/// What a person named to be read: a file, or a folder with files in it and below.
#[derive(Debug)]
pub enum Root {
    /// A file.
    File(PathBuf),
    /// A folder.
    Folder(Dir),
}

impl Root {
    /// Looks at what a person named; links are followed.
    ///
    /// # Errors
    /// Those of the operating system; [`io::ErrorKind::InvalidInput`] where it is neither a file nor a folder.
    pub fn of(path: &Path) -> io::Result<Root> {
        let kind = fs::metadata(path)?.file_type();
        if kind.is_dir() {
            return Dir::open(path).map(Root::Folder);
        }
        match kind.is_file() || is_given(path) {
            true => Ok(Root::File(path.to_owned())),
            false => Err(other(path, what_is(kind))),
        }
    }

    /// Opens the file that was named, or one below the folder by its whole path, without following
    /// a link in the folder.
    ///
    /// # Errors
    /// Those of [`open`] and [`Dir::open_file`].
    pub fn open(&self, path: &Path) -> io::Result<File> {
        let Root::Folder(_) = self else {
            return open(path);
        };
        let around = self.folder(path.parent().unwrap_or(path))?;
        around.open_file(path.file_name().unwrap_or_default())
    }

    /// Opens the folder that was named, or one below it by its whole path, without following
    /// a link in it.
    ///
    /// # Errors
    /// Those of [`Dir::dir`]; [`io::ErrorKind::InvalidInput`] where it is not below the folder.
    pub fn folder(&self, path: &Path) -> io::Result<Dir> {
        let (Root::Folder(dir), below) = (self, self.below(path)) else {
            return Err(io::Error::from(io::ErrorKind::NotADirectory));
        };
        let mut found = dir.again()?;
        for part in below?.components() {
            let Component::Normal(name) = part else {
                return Err(outside(path));
            };
            found = found.dir(name)?;
        }
        Ok(found)
    }

    /// Returns the file or folder that was named.
    pub fn path(&self) -> &Path {
        match self {
            Root::File(path) => path,
            Root::Folder(dir) => dir.path(),
        }
    }

    fn below<'p>(&self, path: &'p Path) -> io::Result<&'p Path> {
        path.strip_prefix(self.path()).map_err(|_| outside(path))
    }
}

fn outside(path: &Path) -> io::Error {
    let said = format!("{} is not below the folder that was named", path.display());
    io::Error::new(io::ErrorKind::InvalidInput, said)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_below_a_folder_are_reached_without_links() {
        let home = tempfile::tempdir().unwrap();
        let (root, outside) = (home.path().join("root"), home.path().join("outside"));
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(root.join("a/b/file"), "in").unwrap();
        fs::write(outside.join("file"), "out").unwrap();
        symlink(&outside, root.join("a/link")).unwrap();
        let named = Root::of(&root).unwrap();
        let mut text = String::new();
        named
            .open(&root.join("a/b/file"))
            .unwrap()
            .read_to_string(&mut text)
            .unwrap();
        assert_eq!(text, "in");
        for refused in ["a/link/file", "../outside/file", "a/../../outside/file"] {
            assert!(named.open(&root.join(refused)).is_err(), "{refused}");
        }
        assert!(named.open(&outside.join("file")).is_err());
        assert!(named.folder(&root.join("a/link")).is_err());
        let file = Root::of(&root.join("a/b/file")).unwrap();
        assert!(file.open(&root.join("a/b/file")).is_ok());
        assert!(file.folder(&root).is_err());
    }
}
