//! Files of a repository that are no files. Whoever reads a pipe waits for somebody to write to it.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The first of what a repository's own folder must not have: pipes, sockets and devices, also at the
/// end of a link. `path` is what an import is pointed at, in a repository or its own folder.
pub(super) fn find(path: &Path) -> io::Result<Option<PathBuf>> {
    let path = std::path::absolute(path)?;
    for folder in path.ancestors() {
        let inside = folder.join(".git");
        match fs::symlink_metadata(&inside) {
            Ok(_) => return look(inside),
            Err(_) if folder.join("HEAD").symlink_metadata().is_ok() => {
                return look(folder.to_owned());
            }
            Err(_) => {}
        }
    }
    Ok(None)
}

/// Looks at a repository's own folder, and at those that it names as its own.
fn look(own: PathBuf) -> io::Result<Option<PathBuf>> {
    let mut left = vec![own];
    let mut seen = 0;
    while let Some(next) = left.pop() {
        let Ok(found) = fs::metadata(&next) else {
            continue; // Whoever reads it says what is wrong with it.
        };
        let kind = found.file_type();
        if kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device() {
            return Ok(Some(next));
        }
        // A link to a folder could lead round in circles.
        let is_link = fs::symlink_metadata(&next)?.is_symlink() && seen > 0;
        seen += 1;
        if kind.is_dir() && !is_link {
            for entry in fs::read_dir(&next)? {
                let entry = entry?;
                if !entry.file_type()?.is_file() || names_another(&entry.file_name()) {
                    left.push(entry.path());
                }
            }
        } else if kind.is_file() && found.len() < 4096 {
            let text = annals_files::open(&next).and_then(io::read_to_string);
            let text = text.unwrap_or_default();
            let named = text.strip_prefix("gitdir:").unwrap_or(&text).trim();
            let around = next.parent().unwrap_or(&next);
            if seen < 8 && (text.starts_with("gitdir:") || next.ends_with("commondir")) {
                left.push(around.join(named));
            }
        }
    }
    Ok(None)
}

/// Whether a file of this name may name another folder of the repository's.
fn names_another(name: &std::ffi::OsStr) -> bool {
    name == "commondir"
}
