//! Output to a path that a person named: a file is replaced as a whole, a pipe or a device is written to.

use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::{other, what_is};

/// The way in which output gets to a path.
#[derive(Debug)]
pub enum OutputTo {
    /// Nothing is there, or a regular file, which a new one replaces.
    NewFile,
    /// A named pipe or a character device is there, which is written to, as a shell's `>` does.
    Stream(File),
}

/// Looks at a path that a person named for output. To open a pipe waits for a process that reads it.
///
/// # Errors
/// Those of the operating system; [`io::ErrorKind::InvalidInput`] for what is neither written to nor replaced: a
/// folder, a socket, a block device, and a link, unless it leads to a pipe or a character device, as `/dev/stdout` may.
pub fn output_to(path: &Path) -> io::Result<OutputTo> {
    let found = match fs::symlink_metadata(path) {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(OutputTo::NewFile),
        Err(error) => return Err(error),
    };
    if found.is_file() {
        return Ok(OutputTo::NewFile);
    }
    // Where a link leads. One that leads nowhere is a link.
    let leads_to = fs::metadata(path).map_or(found, |there| there.file_type());
    if !is_stream(leads_to) {
        return Err(other(path, what_is(found)));
    }
    let file = OpenOptions::new().write(true).open(path)?;
    match is_stream(file.metadata()?.file_type()) {
        true => Ok(OutputTo::Stream(file)),
        false => Err(other(path, what_is(found))),
    }
}

fn is_stream(found: FileType) -> bool {
    found.is_fifo() || found.is_char_device()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write as _;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::*;

    #[test]
    fn files_are_replaced_streams_are_written_to_and_the_rest_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        fs::write(at("file"), "x").unwrap();
        for name in ["nothing", "file"] {
            assert!(matches!(output_to(&at(name)), Ok(OutputTo::NewFile)));
        }
        let _socket = UnixListener::bind(at("socket")).unwrap();
        symlink("file", at("link")).unwrap();
        symlink("gone", at("dangling")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        for name in ["socket", "link", "dangling", "folder"] {
            let error = output_to(&at(name)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{name}: {error}");
        }
        assert!(!at("gone").exists());
        mkfifoat(CWD, at("pipe"), Mode::from_raw_mode(0o600)).unwrap();
        symlink("pipe", at("link to a pipe")).unwrap();
        for name in ["pipe", "link to a pipe"] {
            let pipe = at("pipe");
            let reader = std::thread::spawn(move || fs::read(pipe).unwrap());
            match output_to(&at(name)).unwrap() {
                OutputTo::Stream(mut file) => file.write_all(b"text").unwrap(),
                OutputTo::NewFile => panic!("{name} is a pipe"),
            }
            assert_eq!(reader.join().unwrap(), b"text");
        }
        assert!(
            fs::symlink_metadata(at("pipe"))
                .unwrap()
                .file_type()
                .is_fifo()
        );
    }
}
