//! Making the folders and files of a log: who may look into them, and bringing their names to
//! the disk.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::Path;

use tempfile::TempDir;

/// Who may do what with a folder of ours, regardless of the user's mask: its owner alone.
const OWN_FOLDER: u32 = 0o700;

/// What an owner may do with a file.
const OWN_FILE: u32 = 0o600;

/// What others may do with one, where they may look into its folder.
const OTHERS: u32 = 0o066;

/// Whether a directory has nothing in it.
pub(crate) fn is_empty(directory: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(directory)?.next().is_none())
}

/// Brings the names in a directory to the disk, and its own name.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()?;
    sync_parent(directory)
}

/// Brings the name of a directory to the disk.
fn sync_parent(directory: &Path) -> io::Result<()> {
    // The parent of "log" or of "." is not in the path itself.
    let directory = directory.canonicalize()?;
    let Some(parent) = directory.parent() else {
        return Ok(());
    };
    sync_names(parent)
}

/// Brings the names in a directory to the disk.
pub(crate) fn sync_names(directory: &Path) -> io::Result<()> {
    match File::open(directory) {
        Ok(directory) => directory.sync_all(),
        // Where it may not be read by this user, its entry has to wait for the operating
        // system. It was not made by us then.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

/// Creates the folder of a log, which only its owner may look into, and what is missing above
/// it. One that is there keeps its permissions: a user chose them.
pub(crate) fn create_log_folder(folder: &Path) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    match create_own_folder(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        made => made?,
    }
    create_directory(folder)
}

/// Creates a folder that only its owner may look into.
pub(crate) fn create_own_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().mode(OWN_FOLDER).create(folder)
}

/// The mode of a new file in a folder: it is as open as the folder is, so that a log whose owner lets
/// a group read it stays one that the group can read.
pub(crate) fn file_mode(folder: &Path) -> u32 {
    let found = fs::metadata(folder).map(|found| found.permissions().mode());
    OWN_FILE | (found.unwrap_or_default() & OTHERS)
}

/// Makes a folder that is there one that only its owner may look into.
pub(crate) fn make_own(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, fs::Permissions::from_mode(OWN_FOLDER))
}

/// A folder for what does not last; only its owner may look into it.
pub(crate) fn temporary_folder(prefix: &str, within: &Path) -> io::Result<TempDir> {
    let mut made = tempfile::Builder::new();
    made.prefix(prefix);
    made.permissions(fs::Permissions::from_mode(OWN_FOLDER));
    made.tempdir_in(within)
}

/// Creates a directory, with those above it that are missing, and brings the name of each
/// to the disk. Those that are there may be from a creation that was interrupted: their names
/// are brought there too, up to where the file system begins.
pub(crate) fn create_directory(directory: &Path) -> io::Result<()> {
    fs::create_dir_all(directory)?;
    let directory = directory.canonicalize()?;
    let device = fs::metadata(&directory)?.dev();
    let is_here = |at: &&Path| fs::metadata(at).is_ok_and(|found| found.dev() == device);
    let above: Vec<&Path> = directory.ancestors().skip(1).take_while(is_here).collect();
    above.into_iter().rev().try_for_each(sync_names)
}
