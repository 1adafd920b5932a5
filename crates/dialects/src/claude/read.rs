//! Reading recordings, line by line, on a thread of its own.
//!
//! Files are read with blocking calls; whoever appends need not wait for them.
//! The two are joined by a short queue, so that only few lines are in memory
//! at once, however long the recordings are.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use futures::SinkExt;
use futures::channel::mpsc;
use futures::executor::block_on;

use super::error::ClaudeImportError;
use super::files;
use crate::lines::{Line, LineError, Lines};

/// The most bytes of a line. What a line holds must fit into a batch.
pub(super) const LINE_LIMIT: usize = 64 * 1024 * 1024;

/// Lines that may be ready before they are looked at.
const READY: usize = 2;

/// What the reading thread tells.
#[derive(Debug)]
pub(super) enum News {
    /// The files are found: so many bytes will come.
    Found { bytes: u64 },
    /// A file begins.
    File(PathBuf),
    /// A line of it, and how far the import is with it.
    Line { line: Line, done: u64 },
    /// The file is over.
    FileEnd,
    /// That was all.
    End,
}

pub(super) type Received = Result<News, ClaudeImportError>;

/// Starts reading. The thread ends by itself when the receiver is dropped.
pub(super) fn start(path: &Path) -> Result<mpsc::Receiver<Received>, ClaudeImportError> {
    let (sender, receiver) = mpsc::channel(READY);
    let mut reader = Reader {
        path: path.to_owned(),
        sender,
    };
    std::thread::Builder::new()
        .name("annals-claude".to_owned())
        .spawn(move || {
            let last = match reader.run() {
                Ok(()) => Ok(News::End),
                Err(Stop::Failed(error)) => Err(error),
                Err(Stop::NobodyListens) => return,
            };
            // Nobody is left to hear that nobody listens.
            let _ = reader.send(last);
        })
        .map_err(ClaudeImportError::Thread)?;
    Ok(receiver)
}

/// Why reading stopped early.
enum Stop {
    Failed(ClaudeImportError),
    NobodyListens,
}

struct Reader {
    path: PathBuf,
    sender: mpsc::Sender<Received>,
}

impl Reader {
    fn send(&mut self, news: Received) -> Result<(), Stop> {
        block_on(self.sender.send(news)).map_err(|_| Stop::NobodyListens)
    }

    fn run(&mut self) -> Result<(), Stop> {
        let files = files::find(&self.path).map_err(Stop::Failed)?;
        let bytes = files.iter().map(|file| file.bytes).sum();
        self.send(Ok(News::Found { bytes }))?;
        let mut before = 0;
        for file in files {
            self.send(Ok(News::File(file.path.clone())))?;
            self.file(&file.path, before)?;
            self.send(Ok(News::FileEnd))?;
            before += file.bytes;
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, before: u64) -> Result<(), Stop> {
        let file = match File::open(path) {
            Ok(file) => file,
            // It was there a moment ago; the others are still read.
            Err(error) => {
                let bytes = Err(LineError::Unreadable(error));
                let line = Line { number: 1, bytes };
                return self.send(Ok(News::Line { line, done: before }));
            }
        };
        let mut lines = Lines::new(BufReader::new(file), LINE_LIMIT);
        while let Some(line) = lines.next() {
            if !line.is_blank() {
                let done = before + lines.bytes_read();
                self.send(Ok(News::Line { line, done }))?;
            }
        }
        Ok(())
    }
}
