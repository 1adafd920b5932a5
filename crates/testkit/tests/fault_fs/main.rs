//! The fault file system, mounted for real, with programs on it.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod faults;
mod power;
mod programs;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::Deref;
use std::path::Path;

use annals_testkit::fault_fs::{Effect, Errno, Fault, FaultFs, Operation, PathPattern};
use tempfile::TempDir;

/// A file system on a folder of its own.
struct Mounted {
    fs: FaultFs,
    _folder: TempDir, // dropped second: removed when nothing is mounted there
}

impl Deref for Mounted {
    type Target = FaultFs;

    fn deref(&self) -> &FaultFs {
        &self.fs
    }
}

fn mounted() -> Option<Mounted> {
    let folder = TempDir::new().unwrap();
    let fs = FaultFs::mount_in_test(folder.path())?;
    Some(Mounted {
        fs,
        _folder: folder,
    })
}

fn sync_dir(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes a file whose content and name are synced.
fn synced_file(path: &Path, content: &[u8]) -> File {
    let mut file = OpenOptions::new()
        .create_new(true)
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    file.write_all(content).unwrap();
    file.sync_all().unwrap();
    sync_dir(path.parent().unwrap()).unwrap();
    file
}

fn fault(on: Operation, nth: u64, then: Effect) -> Fault {
    Fault {
        on,
        path: None,
        nth,
        then,
    }
}

fn ends_with(end: &str) -> Option<PathPattern> {
    Some(PathPattern::EndsWith(end.into()))
}

fn errno<T: std::fmt::Debug>(result: io::Result<T>) -> i32 {
    result.unwrap_err().raw_os_error().unwrap()
}

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const ESTALE: i32 = 116;

/// The numbers above are those of the errors that are injected.
#[test]
fn errors_have_the_numbers_that_programs_see() {
    let number = |errno: Errno| errno.code();
    assert_eq!(
        [
            number(Errno::EIO),
            number(Errno::ENOSPC),
            number(Errno::ESTALE)
        ],
        [EIO, ENOSPC, ESTALE]
    );
}
