//! Files outside the log: replaced as a whole, and never put into a log's directory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use futures::channel::oneshot;

/// The files by which a log's directory is known.
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

/// Puts `bytes` at `path`, for good: whoever reads it sees what was there, or all of
/// this, whenever the machine stops.
///
/// # Errors
/// What the operating system says; what was there is there still.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it names no file"))?;
    let mut new = name.to_owned();
    new.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(new);
    let put = || {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        File::open(folder_of(path))?.sync_all()
    };
    put().inspect_err(|_| {
        // Nobody is helped by half of it; if it does not go, the error says enough.
        let _ = fs::remove_file(&new);
    })
}

/// Runs work that waits for a disk on a thread of its own, so that whoever waits for
/// it holds up nobody. It is for work that hardly ever happens.
pub(super) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let (answer, answered) = oneshot::channel();
    std::thread::Builder::new()
        .name("annals-files".into())
        .spawn(move || {
            // Who asked may have gone.
            let _ = answer.send(work());
        })?;
    let lost = |_| io::Error::other("the thread that used the file was lost");
    answered.await.map_err(lost)?
}
