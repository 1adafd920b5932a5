//! Files outside the log: replaced as a whole, and never put into a log's directory.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use futures::channel::oneshot;
use uuid::Uuid;

/// The files by which a log's directory is recognized.
const OF_A_LOG: [&str; 2] = ["ANNALS", "WATERMARK"];

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The log's directory that a path leads into, if it does. What is kept there is lost
/// with the log, and proves nothing.
///
/// # Errors
/// What the operating system says of the folder that the path is in.
pub fn log_around(path: &Path) -> io::Result<Option<PathBuf>> {
    let folder = fs::canonicalize(folder_of(path))?;
    let is_log = |folder: &&Path| OF_A_LOG.iter().all(|name| folder.join(name).is_file());
    Ok(folder.ancestors().find(is_log).map(Path::to_path_buf))
}

/// The name of a file; a path that ends with a folder has none.
fn name_of(path: &Path) -> io::Result<&OsStr> {
    path.file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))
}

/// Puts `bytes` at `path`, for good: a reader sees what was there, or all of
/// this, whenever the machine stops. Several may do so at once: the last one's is there
/// then. The file is for this user alone (mode 0600), regardless of the umask and of the file that it
/// replaces.
///
/// The bytes are first in a file `.annals-<random>.new` next to it. Where the machine
/// stops meanwhile such a file stays; it is never read, and it can be removed.
///
/// # Errors
/// What the operating system says; what was there is there still.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    name_of(path)?;
    let new = path.with_file_name(format!(".annals-{}.new", Uuid::new_v4().simple()));
    // It belongs to this call alone: creating it fails where it is there already.
    let mut file = annals_files::create_own(&new)?;
    let mut put = || {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        File::open(folder_of(path))?.sync_all()
    };
    put().inspect_err(|_| {
        // Half of it is of no use; if it cannot be removed, the error says enough.
        let _ = fs::remove_file(&new);
    })
}

/// Waits until no other caller, in this process or another, holds the lock, and takes it.
/// The lock ends when the returned file is dropped, or with the process.
///
/// What is locked is an empty file `.<name>.lock` next to `path`. It stays there: if it
/// were removed, another could hold a lock on the file that is no longer there.
pub(super) fn lock_beside(path: &Path) -> io::Result<File> {
    let mut name = OsString::from(".");
    name.push(name_of(path)?);
    name.push(".lock");
    // Open for writing, which network file systems demand for a lock.
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true).truncate(false);
    let file = annals_files::open_own(&path.with_file_name(name), options)?;
    file.lock()?;
    Ok(file)
}

/// Runs work that waits for a disk on a separate thread, so that a future that waits for
/// it blocks no other one. It is for work that hardly ever happens.
pub(super) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (answer, answered) = oneshot::channel();
    std::thread::Builder::new()
        .name("annals-files".into())
        .spawn(move || {
            // The caller may have gone.
            let _ = answer.send(work());
        })?;
    let lost = |_| io::Error::other("the thread that used the file was lost");
    answered.await.map_err(lost)?
}
