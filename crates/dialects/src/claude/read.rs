//! Reading recordings, line by line, on a thread of its own.

use std::borrow::Cow;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use annals_files::Root;

use super::error::ClaudeImportError;
use super::files;
use crate::lines::{Line, LineError, Lines};
use crate::others::Others;
use crate::reading;
use crate::secrets::{Hit, Redacted, Secrets};

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
    /// A line of it without its secrets, what they were, and how far the import is
    /// with it.
    Line {
        line: Line,
        hits: Vec<Hit>,
        done: u64,
    },
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
    secrets: &Secrets,
) -> Result<reading::News<News, ClaudeImportError>, ClaudeImportError> {
    let (path, secrets) = (path.to_owned(), secrets.clone());
    reading::start("annals-claude", READY, News::End, move |outlet| {
        read(&path, &secrets, outlet)
    })
    .map_err(ClaudeImportError::Thread)
}

fn read(path: &Path, secrets: &Secrets, outlet: &mut Outlet) -> Result<(), Stop> {
    let root = Root::of(path).map_err(|source| ClaudeImportError::Unreadable {
        path: path.to_owned(),
        source,
    })?;
    let (files, others) = files::find(&root, path)?;
    let bytes = files.iter().map(|file| file.bytes).sum();
    outlet.send(News::Found { bytes, others })?;
    let mut before = 0;
    for file in files {
        outlet.send(News::File(file.path.clone()))?;
        read_file(&root, &file.path, secrets, before, outlet)?;
        outlet.send(News::FileEnd)?;
        before += file.bytes;
    }
    Ok(())
}

fn read_file(
    root: &Root,
    path: &Path,
    secrets: &Secrets,
    before: u64,
    outlet: &mut Outlet,
) -> Result<(), Stop> {
    let file = match root.open(path) {
        Ok(file) => file,
        // It was there a moment ago; the others are still read.
        Err(error) => {
            let bytes = Err(LineError::Unreadable(error));
            let line = Line { number: 1, bytes };
            let hits = Vec::new();
            let done = before;
            return outlet.send(News::Line { line, hits, done });
        }
    };
    let mut lines = Lines::new(BufReader::new(file), LINE_LIMIT);
    while let Some(line) = lines.next() {
        if !line.is_blank() {
            let done = before + lines.bytes_read();
            let (line, hits) = without_secrets(line, secrets);
            outlet.send(News::Line { line, hits, done })?;
        }
    }
    Ok(())
}

/// A line without its secrets. What is not UTF-8 is refused when it is read.
fn without_secrets(mut line: Line, secrets: &Secrets) -> (Line, Vec<Hit>) {
    let text = line.bytes.as_deref().ok().map(std::str::from_utf8);
    let Some(Ok(text)) = text else {
        return (line, Vec::new());
    };
    let Redacted { content, hits } = secrets.redact_json(text);
    if let Cow::Owned(content) = content {
        line.bytes = Ok(content.into_bytes());
    }
    (line, hits)
}
