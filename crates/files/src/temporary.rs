//! Folders for what does not last, where `TMPDIR` may be missing or may not be written.

use std::fmt;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The folder of this program in the user's cache.
const OWN: &str = "annals";
/// The folder for what does not last, where the environment names none.
const USUAL: &str = "/tmp";

/// Why nothing that does not last can be made: no folder takes it.
#[derive(Debug)]
pub struct NoTemporary {
    /// The first of the folders that were tried.
    pub path: PathBuf,
    /// Why that one does not take it.
    pub source: io::Error,
    /// The other ones, and why they do not.
    others: Vec<(PathBuf, io::Error)>,
}

impl fmt::Display for NoTemporary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, source) = (self.path.display(), &self.source);
        write!(f, "no temporary files can be made in {path}: {source}")?;
        for (path, error) in &self.others {
            write!(f, "; nor in {}: {error}", path.display())?;
        }
        write!(f, "; set TMPDIR to a folder that can be written")
    }
}

impl std::error::Error for NoTemporary {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl From<NoTemporary> for io::Error {
    fn from(error: NoTemporary) -> io::Error {
        io::Error::other(error)
    }
}

/// Makes something in the first folder that takes it: the one that `TMPDIR` names, the user's cache, or the last one that
/// is given.
///
/// # Errors
/// [`NoTemporary`], with what each folder failed with.
///
/// ```
/// # let home = tempfile::tempdir()?;
/// let made = annals_files::in_temporary(Some(home.path()), |folder| {
///     std::fs::create_dir(folder.join("annals-example")).map(|()| folder.join("annals-example"))
/// })?;
/// assert!(made.is_dir());
/// # std::fs::remove_dir(made)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn in_temporary<T>(
    last: Option<&Path>,
    make: impl FnMut(&Path) -> io::Result<T>,
) -> Result<T, NoTemporary> {
    let named = std::env::var_os("TMPDIR").filter(|named| !named.is_empty());
    let first = named.map_or_else(|| PathBuf::from(USUAL), PathBuf::from);
    in_first(first, cache().as_deref(), last, make)
}

fn in_first<T>(
    first: PathBuf,
    cache: Option<&Path>,
    last: Option<&Path>,
    mut make: impl FnMut(&Path) -> io::Result<T>,
) -> Result<T, NoTemporary> {
    let source = match make(&first) {
        Ok(made) => return Ok(made),
        Err(error) => error,
    };
    let mut others = Vec::new();
    if let Some(cache) = cache {
        match own_folder(cache).and_then(|()| make(cache)) {
            Ok(made) => return Ok(made),
            Err(error) => others.push((cache.to_owned(), error)),
        }
    }
    if let Some(last) = last {
        match make(last) {
            Ok(made) => return Ok(made),
            Err(error) => others.push((last.to_owned(), error)),
        }
    }
    Err(NoTemporary {
        path: first,
        source,
        others,
    })
}

/// This program's folder in the user's cache; none where the environment does not say where that is.
fn cache() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(std::env::var_os(name)?);
        path.is_absolute().then_some(path)
    };
    let cache = absolute("XDG_CACHE_HOME");
    let cache = cache.or_else(|| Some(absolute("HOME")?.join(".cache")));
    cache.map(|cache| cache.join(OWN))
}

/// Makes a folder that only its owner may look into, with those above it; one that is there stays as it is.
fn own_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_first_folder_that_takes_it_is_used() {
        let home = tempfile::tempdir().unwrap();
        let (cache, last) = (home.path().join("a/cache"), home.path().join("log"));
        fs::create_dir(&last).unwrap();
        fs::write(home.path().join("file"), "x").unwrap();
        let make = |folder: &Path| fs::create_dir(folder.join("made")).map(|()| folder.to_owned());
        let first = |first: &str, cache: &Path, last: &Path| {
            in_first(home.path().join(first), Some(cache), Some(last), make)
        };
        assert_eq!(first("", &cache, &last).unwrap(), home.path());
        assert_eq!(first("none", &cache, &last).unwrap(), cache);
        let file = home.path().join("file");
        assert_eq!(first("none", &file.join("cache"), &last).unwrap(), last);
        let error = first("none", &file.join("cache"), &file).unwrap_err();
        let error = error.to_string();
        for part in ["none: No such file", "file/cache: ", "nor in", "set TMPDIR"] {
            assert!(error.contains(part), "{error}");
        }
    }
}
