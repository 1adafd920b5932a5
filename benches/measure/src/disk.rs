//! Folders of stores: their size, and their pages out of memory.

use std::fs::{File, read_dir};
use std::io;
use std::path::{Path, PathBuf};

/// All files below a folder.
///
/// # Errors
/// When one cannot be listed.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The lengths of all files below a folder.
///
/// # Errors
/// When one cannot be looked at.
pub fn bytes(folder: &Path) -> io::Result<u64> {
    let lengths = files(folder)?;
    lengths.iter().map(|file| Ok(file.metadata()?.len())).sum()
}

/// Drops the pages of all files below a folder from memory, and says how.
///
/// # Errors
/// When a file cannot be synced.
pub fn make_cold(folder: &Path) -> io::Result<String> {
    let files = files(folder)?;
    for file in &files {
        File::open(file)?.sync_all()?;
    }
    if std::fs::write("/proc/sys/vm/drop_caches", "3").is_ok() {
        return Ok("the page cache was dropped (`/proc/sys/vm/drop_caches`)".into());
    }
    advise(&files)
}

#[cfg(target_os = "linux")]
fn advise(files: &[PathBuf]) -> io::Result<String> {
    for file in files {
        let file = File::open(file)?;
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?;
    }
    Ok(
        "the page cache may not be dropped here; the kernel was asked for each file \
        (`posix_fadvise`, `DONTNEED`)"
            .into(),
    )
}

#[cfg(not(target_os = "linux"))]
fn advise(_files: &[PathBuf]) -> io::Result<String> {
    Ok("the page cache cannot be dropped on this system: the cold rows are warm".into())
}

/// Whether a folder is kept in memory only, where a sync costs nothing.
///
/// # Errors
/// When it cannot be looked at.
#[cfg(target_os = "linux")]
pub fn is_in_memory(folder: &Path) -> io::Result<bool> {
    let kind = rustix::fs::statfs(folder)?.f_type;
    // Those of tmpfs and ramfs; see statfs(2).
    Ok([0x0102_1994, 0x8584_58F6].contains(&kind))
}

/// Whether a folder is kept in memory only; not known here.
///
/// # Errors
/// None.
#[cfg(not(target_os = "linux"))]
pub fn is_in_memory(_folder: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folders_bytes_are_those_of_all_its_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("inner")).unwrap();
        std::fs::write(folder.path().join("a"), [0; 10]).unwrap();
        std::fs::write(folder.path().join("inner/b"), [0; 5]).unwrap();
        assert_eq!(files(folder.path()).unwrap().len(), 2);
        assert_eq!(bytes(folder.path()).unwrap(), 15);
        assert!(bytes(&folder.path().join("none")).is_err());
    }
}
