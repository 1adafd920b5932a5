//! Reading recordings, line by line, on a thread of its own.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use super::error::ClaudeImportError;
use super::files;
use crate::lines::{Line, LineError, Lines};
use crate::others::Others;
use crate::reading;

/// The most bytes of a line. What a line holds must fit into a batch.
pub(super) const LINE_LIMIT: usize = 64 * 1024 * 1024;

/// Lines that may be ready before they are looked at.
const READY: usize = 2;

/// What the reading thread tells.
#[derive(Debug)]
pub(super) enum News {
    /// The files are found: so many bytes will come.
    Found { bytes: u64, others: Others },
    /// A file begins.
    File(PathBuf),
    /// A line of it, and how far the import is with it.
    Line { line: Line, done: u64 },
    /// The file is over.
    FileEnd,
    /// That was all.
    End,
}

type Stop = reading::Stop<ClaudeImportError>;
type Outlet = reading::Outlet<News, ClaudeImportError>;

/// Starts reading.
pub(super) fn start(
    path: &Path,
) -> Result<reading::News<News, ClaudeImportError>, ClaudeImportError> {
    let path = path.to_owned();
    reading::start("annals-claude", READY, News::End, move |outlet| {
        read(&path, outlet)
    })
    .map_err(ClaudeImportError::Thread)
}

fn read(path: &Path, outlet: &mut Outlet) -> Result<(), Stop> {
    let (files, others) = files::find(path)?;
    let bytes = files.iter().map(|file| file.bytes).sum();
    outlet.send(News::Found { bytes, others })?;
    let mut before = 0;
    for file in files {
        outlet.send(News::File(file.path.clone()))?;
        read_file(&file.path, before, outlet)?;
        outlet.send(News::FileEnd)?;
        before += file.bytes;
    }
    Ok(())
}

fn read_file(path: &Path, before: u64, outlet: &mut Outlet) -> Result<(), Stop> {
    let file = match File::open(path) {
        Ok(file) => file,
        // It was there a moment ago; the others are still read.
        Err(error) => {
            let bytes = Err(LineError::Unreadable(error));
            let line = Line { number: 1, bytes };
            return outlet.send(News::Line { line, done: before });
        }
    };
    let mut lines = Lines::new(BufReader::new(file), LINE_LIMIT);
    while let Some(line) = lines.next() {
        if !line.is_blank() {
            let done = before + lines.bytes_read();
            outlet.send(News::Line { line, done })?;
        }
    }
    Ok(())
}
