//! Reading recordings on a thread of its own: line by line, without their secrets, and understood as
//! far as a line says by itself what it is. What the lines become is decided beside it.

use std::borrow::Cow;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use annals_event_log::IdSecret;
use annals_files::Root;

use super::error::ClaudeImportError;
use super::files;
use super::line;
use crate::lines::{Line, LineError, Lines};
use crate::others::Others;
use crate::reading;
use crate::secrets::{Hit, Redacted, Secrets};

/// The most bytes of a line. What a line holds must fit into a batch.
pub(super) const LINE_LIMIT: usize = 64 * 1024 * 1024;

/// Bytes and lines that are handed over at once: so many that the two threads seldom wait for each
/// other, and so few that it does not matter how much of a line they hold.
const AT_ONCE: (u64, usize) = (256 * 1024, 64);

/// Such parts that may be ready before they are looked at. A part is as long as [`AT_ONCE`] and one
/// line more, which may have [`LINE_LIMIT`].
const READY: usize = 1;

/// What the reading thread tells.
#[derive(Debug)]
pub(super) enum News {
    /// The files are found: so many bytes will come.
    Found { bytes: u64, others: Others },
    /// A file begins.
    File(PathBuf),
    /// Lines of it, in their order.
    Lines(Vec<ReadLine>),
    /// The file is over.
    FileEnd,
    /// That was all.
    End,
}

/// A line that was read.
#[derive(Debug)]
pub(super) struct ReadLine {
    /// Its number in its file, from 1.
    pub(super) number: u64,
    /// What it says without its secrets, or what is wrong with it.
    pub(super) read: Result<line::Line, String>,
    /// The secrets that it had.
    pub(super) hits: Vec<Hit>,
    /// How far the import is with it.
    pub(super) done: u64,
}

/// By what lines are read.
pub(super) struct Reader {
    pub(super) secrets: Secrets,
    /// What the names follow from of lines that have none.
    pub(super) names: Option<IdSecret>,
    /// Whether tokens are counted before they are asked for: it takes long, and a line that the log
    /// has already needs none.
    pub(super) count_ahead: Arc<AtomicBool>,
}

type Stop = reading::Stop<ClaudeImportError>;
type Outlet = reading::Outlet<News, ClaudeImportError>;

/// Starts reading.
pub(super) fn start(
    path: &Path,
    reader: Reader,
) -> Result<reading::News<News, ClaudeImportError>, ClaudeImportError> {
    let path = path.to_owned();
    reading::start("annals-claude", READY, News::End, move |outlet| {
        reader.read(&path, outlet)
    })
    .map_err(ClaudeImportError::Thread)
}

/// Reads on the thread that calls it, however many lines there are.
#[cfg(test)]
pub(super) fn here(path: &Path, reader: &Reader) -> reading::News<News, ClaudeImportError> {
    reading::here(1_000_000, News::End, |outlet| reader.read(path, outlet))
}

impl Reader {
    fn read(&self, path: &Path, outlet: &mut Outlet) -> Result<(), Stop> {
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
            self.read_file(&root, &file.path, before, outlet)?;
            outlet.send(News::FileEnd)?;
            before += file.bytes;
        }
        Ok(())
    }

    fn read_file(
        &self,
        root: &Root,
        path: &Path,
        before: u64,
        outlet: &mut Outlet,
    ) -> Result<(), Stop> {
        let file = match root.open(path) {
            Ok(file) => file,
            // It was there a moment ago; the others are still read.
            Err(error) => {
                let bytes = Err(LineError::Unreadable(error));
                let line = self.understand(Line { number: 1, bytes }, before);
                return outlet.send(News::Lines(vec![line]));
            }
        };
        let mut lines = Lines::new(BufReader::new(file), LINE_LIMIT);
        let (mut ready, mut since) = (Vec::new(), 0);
        while let Some(line) = lines.next() {
            if line.is_blank() {
                continue;
            }
            ready.push(self.understand(line, before + lines.bytes_read()));
            let bytes = lines.bytes_read() - since;
            if ready.len() >= AT_ONCE.1 || bytes >= AT_ONCE.0 {
                since = lines.bytes_read();
                outlet.send(News::Lines(std::mem::take(&mut ready)))?;
            }
        }
        outlet.send(News::Lines(ready))
    }

    fn understand(&self, line: Line, done: u64) -> ReadLine {
        let number = line.number;
        let (line, hits) = without_secrets(line, &self.secrets);
        let read = match line.bytes {
            Err(error) => Err(error.to_string()),
            Ok(bytes) => {
                let mut read = line::parse(bytes, self.names.as_ref());
                if self.count_ahead.load(Ordering::Relaxed)
                    && let Ok(line) = &mut read
                {
                    line.count_ahead();
                }
                read.map_err(|bad| bad.to_string())
            }
        };
        ReadLine {
            number,
            read,
            hits,
            done,
        }
    }
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
