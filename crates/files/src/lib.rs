//! Opening files that strangers may have made: a repository, a folder of recordings, a log that
//! was sent by another person.
//!
//! What is opened here is a regular file or a folder, and nothing waits: to open a pipe as the
//! standard library does waits until a process writes to it. A file that a *person* names
//! ([`open`]) may be a link, as they see where it leads. What lies in a *folder*
//! ([`Dir`]) may not: each step goes from an open folder to an entry of it, and no link is
//! followed, so that nothing outside is read, written or removed, regardless of what is put into the
//! folder meanwhile.
//!
//! ```
//! use std::io::Read;
//! # let home = tempfile::tempdir()?;
//! # std::fs::create_dir(home.path().join("intents"))?;
//! # std::fs::write(home.path().join("intents/one.yaml"), "title: one")?;
//! # std::os::unix::fs::symlink("/etc/passwd", home.path().join("intents/two.yaml"))?;
//! let intents = annals_files::Dir::open(home.path())?.dir("intents".as_ref())?;
//! let mut text = String::new();
//! intents.open_file("one.yaml".as_ref())?.read_to_string(&mut text)?;
//! assert_eq!(text, "title: one");
//! assert!(intents.open_file("two.yaml".as_ref()).is_err());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

mod access;
mod dir;
mod forget;
mod output;
mod own;
mod root;
mod scratch;
mod socket;
mod temporary;
mod unfinished;
mod user;

pub use access::{Access, LOOK_INTO, Listed, READ, READ_WRITE, keep_user_out, let_user, listed};
pub use dir::{Dir, Entry, Kind};
pub use forget::{forget_entry, gone};
pub use output::{OutputTo, output_to};
pub use own::{OWN_FILE, OWN_FOLDER, create_own, make_own_folders, open_own};
pub use root::Root;
pub use scratch::Scratch;
pub use socket::{SocketAddress, identity, put_socket};
pub use temporary::{NoTemporary, in_temporary};
pub use unfinished::{Unfinished, is_part, part_name, remove_unfinished};
pub use user::{ROOT, User};

/// Where a process finds the open files that it was given, by number: a pipe among them was made for
/// this process by the one that started it.
const GIVEN: [&str; 2] = ["/dev/fd/", "/proc/self/fd/"];

/// Opens a file for reading that a person named: a regular file, or what they gave this process, as
/// `/dev/stdin` or a shell's `<(command)`; links are followed.
///
/// # Errors
/// Those of the operating system; [`io::ErrorKind::InvalidInput`] where there is something else, as a
/// named pipe or a folder.
pub fn open(path: &Path) -> io::Result<File> {
    if is_given(path) || path == Path::new("/dev/null") {
        return File::open(path);
    }
    let flags = raw(OFlags::NONBLOCK | OFlags::CLOEXEC);
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags)
        .open(path)?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false => Err(other(path, what_is(kind))),
    }
}

/// Opens a file by a path whose last part must not be a link, and refuses what is not a
/// regular file; `how` says for what it is opened, and whether it is created.
///
/// # Errors
/// Those of the operating system; [`io::ErrorKind::InvalidInput`] where there is something else.
pub fn open_with(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    let flags = raw(OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC);
    let opened = how.custom_flags(flags).open(path);
    let file = opened.map_err(|error| match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => other(path, what_is(found.file_type())),
        _ => error,
    })?;
    let kind = file.metadata()?.file_type();
    match kind.is_file() {
        true => Ok(file),
        false => Err(other(path, what_is(kind))),
    }
}

fn is_given(path: &Path) -> bool {
    let Some(path) = path.to_str() else {
        return false;
    };
    let number = GIVEN.iter().find_map(|given| path.strip_prefix(given));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    path == "/dev/stdin" || number.is_some_and(is_number)
}

fn raw(flags: OFlags) -> i32 {
    i32::try_from(flags.bits()).unwrap_or_default()
}

fn what_is(kind: fs::FileType) -> &'static str {
    match kind {
        _ if kind.is_symlink() => "a link",
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

fn other(path: &Path, what: &str) -> io::Error {
    let hint = match what {
        "a pipe" => "; what a program writes is read from standard input",
        _ => "",
    };
    let said = format!("{} is {what}, and not a regular file{hint}", path.display());
    io::Error::new(io::ErrorKind::InvalidInput, said)
}
