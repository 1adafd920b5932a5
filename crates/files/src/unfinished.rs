//! What a command is making, which a signal that ends it must not leave.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How the name of a file ends that is not whole yet, behind an id of 32 digits.
const PART: &str = ".part";
const ID_DIGITS: usize = 32;

/// How often something is removed that is still written to, how long it takes in between, and how often it must be gone
/// in a row: another thread may make a folder again that it is about to fill.
const ATTEMPTS: u32 = 50;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(10);
const GONE: u32 = 5;

static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A file or folder that is being made. It is not known as such any more once this is dropped.
///
/// ```
/// let home = tempfile::tempdir()?;
/// let path = home.path().join("half");
/// let make = || std::fs::write(&path, "half of it");
/// let ((), unfinished) = annals_files::Unfinished::making(make, |()| path.clone())?;
/// annals_files::remove_unfinished();
/// assert!(!path.exists());
/// # drop(unfinished);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Makes something, of which `path` tells where it is. No signal comes between its making and its being known.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn making<T>(
        make: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> PathBuf,
    ) -> io::Result<(T, Unfinished)> {
        let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let made = make()?;
        let path = path(&made);
        let path = std::path::absolute(&path).unwrap_or(path);
        all.push(path.clone());
        Ok((made, Unfinished { path }))
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.iter().position(|it| *it == self.path) {
            all.swap_remove(at);
        }
    }
}

/// Removes everything that is being made in this process. It is for one that ends next.
pub fn remove_unfinished() {
    let mut all = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut gone = 0;
    for _ in 0..ATTEMPTS {
        let mut is_any_left = false;
        for path in all.iter().filter(|path| fs::symlink_metadata(path).is_ok()) {
            is_any_left = true;
            // No link is followed.
            let _ = fs::remove_dir_all(path).or_else(|_| fs::remove_file(path));
        }
        gone = if is_any_left { 0 } else { gone + 1 };
        if all.is_empty() || gone >= GONE {
            break;
        }
        std::thread::sleep(BETWEEN_ATTEMPTS);
    }
    all.clear();
}

/// The name of a file that is moved to its place when it is whole. `id` is new for each, in 32 digits.
pub fn part_name(name: &OsStr, id: &str) -> OsString {
    let mut part = OsString::from(".");
    part.push(name);
    part.push(format!(".{id}{PART}"));
    part
}

/// Returns `true` for a name as [`part_name`] gives it.
pub fn is_part(name: &OsStr) -> bool {
    let name = name.as_encoded_bytes();
    let stem = name.strip_prefix(b".");
    let stem = stem.and_then(|stem| stem.strip_suffix(PART.as_bytes()));
    let Some((before, id)) = stem.and_then(|stem| stem.split_last_chunk::<ID_DIGITS>()) else {
        return false;
    };
    before.ends_with(b".") && id.iter().all(u8::is_ascii_hexdigit)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn what_is_being_made_goes_and_what_was_made_stays() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::create_dir_all(at("folder/inner")).unwrap();
        fs::write(at("folder/inner/file"), "x").unwrap();
        for name in ["file", "made", "target"] {
            fs::write(at(name), "x").unwrap();
        }
        std::os::unix::fs::symlink(at("target"), at("link")).unwrap();
        let making = |name: &str| Unfinished::making(|| Ok(()), |()| at(name)).unwrap();
        let made = making("made");
        let going = ["folder", "file", "link", "gone"].map(making);
        let failed = || Err::<(), _>(io::Error::other("no"));
        assert!(Unfinished::making(failed, |()| at("target")).is_err());
        drop(made);
        remove_unfinished();
        let left = |name: &str| fs::symlink_metadata(at(name)).is_ok();
        assert!(!left("folder") && !left("file") && !left("link"));
        assert!(left("made") && left("target"));
        drop(going);
    }

    #[test]
    fn parts_are_known_by_their_names() {
        let id = "0192f0c1a1b2c3d4e5f60192f0c1a1b2";
        assert!(is_part(&part_name("export".as_ref(), id)));
        assert!(is_part(&part_name(".a.part".as_ref(), id)));
        for other in [
            ".part",
            "x.part",
            ".x.part",
            &format!("x.{id}.part"),
            &format!(".x{id}.part"),
        ] {
            assert!(!is_part(other.as_ref()), "{other}");
        }
    }
}
