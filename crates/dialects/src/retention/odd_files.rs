//! Files of a repository that must not be read: pipes, which are waited for, and files that a reader
//! takes whole and that are larger than any repository's.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// Bytes of a file that is read whole, at most: `HEAD`, a configuration, a reference.
const WHOLE: u64 = 1 << 20;
/// Bytes of a list with a line for each reference or boundary, at most.
const LISTS: u64 = 1 << 30;

/// A file that is in the way, and what is wrong with it.
pub(super) struct OddFile {
    pub(super) path: PathBuf,
    pub(super) reason: &'static str,
}

/// The first odd file of a repository's own folder, also at the end of a link. `path` is what an import
/// is pointed at, in a repository or its own folder.
pub(super) fn find(path: &Path) -> io::Result<Option<OddFile>> {
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
fn look(own: PathBuf) -> io::Result<Option<OddFile>> {
    let mut left = vec![(own, PathBuf::new())];
    let mut seen = 0;
    while let Some((next, inside)) = left.pop() {
        let Ok(found) = fs::metadata(&next) else {
            continue; // Its reader reports what is wrong with it.
        };
        if let Some(reason) = oddness(&inside, &found) {
            return Ok(Some(OddFile { path: next, reason }));
        }
        // A link to a folder could lead round in circles.
        let is_link = fs::symlink_metadata(&next).is_ok_and(|found| found.is_symlink()) && seen > 0;
        if is_link && found.is_file() && is_read(&inside) && leads_out(&next, &inside)? {
            let reason = "is a link out of the repository: import the one that it leads to";
            return Ok(Some(OddFile { path: next, reason }));
        }
        seen += 1;
        if found.is_dir() && !is_link {
            // Folders and files of refs come and go while other processes work.
            let Ok(entries) = fs::read_dir(&next) else {
                continue;
            };
            for entry in entries {
                let entry = entry?;
                let inside = inside.join(entry.file_name());
                // Objects are many, and read as what they are.
                if !(entry.file_type()?.is_file() && is_of_objects(&inside)) {
                    left.push((entry.path(), inside));
                }
            }
        } else if found.is_file() && seen < 8 {
            left.extend(named_folder(&next).map(|folder| (folder, PathBuf::new())));
        }
    }
    Ok(None)
}

/// What is wrong with a file at a place in a repository's own folder; at none is that folder, or the
/// file that names it.
fn oddness(inside: &Path, found: &Metadata) -> Option<&'static str> {
    let kind = found.file_type();
    let is_odd =
        kind.is_fifo() || kind.is_socket() || kind.is_char_device() || kind.is_block_device();
    // A file that is not read may be anything: git's own monitor has a socket there.
    if is_odd && (is_read(inside) || inside.starts_with("objects")) {
        return Some("is a pipe, a socket or a device");
    }
    if is_odd {
        return None;
    }
    if !kind.is_file() || is_of_objects(inside) {
        return None;
    }
    match found.len() {
        length if length > LISTS && is_list(inside) => Some("has more than 1 GiB"),
        length if length > WHOLE && is_read(inside) && !is_list(inside) => {
            Some("has more than 1 MiB")
        }
        _ => None,
    }
}

fn name(inside: &Path) -> &str {
    let name = inside.file_name().and_then(OsStr::to_str);
    name.unwrap_or_default()
}

/// Whether a file has a line for each of something.
fn is_list(inside: &Path) -> bool {
    matches!(name(inside), "packed-refs" | "shallow")
}

/// Whether a file is read whole, and its content is quoted where it is wrong.
fn is_read(inside: &Path) -> bool {
    let is_named = matches!(
        name(inside),
        "" | "HEAD"
            | "config"
            | "config.worktree"
            | "commondir"
            | "gitdir"
            | "alternates"
            | "attributes"
            | "exclude"
    );
    // `info/refs` is a list for others, of any length.
    is_named || is_list(inside) || inside.starts_with("refs")
}

/// Whether a link at a place in a repository's own folder leads out of that.
fn leads_out(link: &Path, inside: &Path) -> io::Result<bool> {
    let own = link.ancestors().nth(inside.components().count());
    let own = fs::canonicalize(own.unwrap_or(link))?;
    Ok(!fs::canonicalize(link)?.starts_with(own))
}

/// Whether a file lies among the objects, and not in `objects/info`.
fn is_of_objects(inside: &Path) -> bool {
    inside.starts_with("objects") && !inside.starts_with("objects/info")
}

/// The folder that a small file names as the repository's own.
fn named_folder(path: &Path) -> Option<PathBuf> {
    if !(path.ends_with(".git") || path.ends_with("commondir")) {
        return None;
    }
    let text = annals_files::open(path).and_then(io::read_to_string).ok()?;
    let named = text.strip_prefix("gitdir:").unwrap_or(&text).trim();
    Some(path.parent().unwrap_or(path).join(named))
}
