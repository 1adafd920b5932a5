//! The file WATERMARK: up to where the log is durable, for readers in other
//! processes and for tools that look at a log that does not open.
//!
//! ```text
//! WATERMARK = u64 position, big-endian
//!             8 bytes: the first ones of SHA-256 over those of the position
//!             then, where the log was closed by a writer that had synced all of it:
//!             u64 number of the newest write-ahead log
//!             u64 its length in bytes
//!             8 bytes: the first ones of SHA-256 over the position and these two numbers
//!             then two *rested* positions, each as the first one, a position and its check
//!             then, in a log that content was removed from, a u64 count of removals and its check
//! ```
//!
//! The writer overwrites the position in place after each group, without waiting for a
//! sync: readers on this machine see it at once. A separate thread syncs the file at most
//! [`LAG`] later, and closing the log syncs it before it returns, so that after a power cut
//! it is never older than that. The check bytes let a reader notice a half-written value.
//!
//! A power cut may leave a value half-written on the disk. So each sync takes a copy of the
//! position along, in turns one of the two rested ones: the other was synced before and is
//! not touched. Where the position cannot be read, the greater of them is used.
//!
//! The second half is the *closing mark*. It is valid for exactly this position, newest
//! write-ahead log and length, so each later opening, which begins another write-ahead log,
//! makes it invalid by itself.
//!
//! The count of removals tells readers in other processes to open the log again. RocksDB would go on
//! showing them what they took from a write-ahead log, although a newer form of it has come by a table.
//! Only a difference matters, and only to readers that are open, so the count is not synced.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use annals_event_log::{Digest, Position};

use crate::{directories, mutants};

/// The file's name.
pub(crate) const NAME: &str = "WATERMARK";
const BYTES: usize = 16;
/// Bytes of the position and of the closing mark together.
const MARKED_BYTES: usize = BYTES + 24;
/// Where the two rested positions begin.
const RESTED: [u64; 2] = [MARKED_BYTES as u64, (MARKED_BYTES + BYTES) as u64];
/// Where the count of removals begins.
const REMOVALS: u64 = RESTED[1] + BYTES as u64;
/// How long a position may wait for its sync.
pub(crate) const LAG: Duration = Duration::from_millis(100);
/// A value is half-written for less than a microsecond.
const ATTEMPTS: usize = 100;

/// The file, open for reading or for writing.
#[derive(Debug)]
pub(crate) struct WatermarkFile {
    file: File,
    /// Which rested position is written next; the other one is durable.
    turn: Mutex<usize>,
}

/// The state of a log's write-ahead logs when it was closed: all of them were synced, by
/// the process that wrote them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed {
    /// The number of the newest one.
    pub(crate) number: u64,
    /// Its length.
    pub(crate) bytes: u64,
}

fn check_bytes(numbers: &[u8]) -> [u8; 8] {
    let digest = Digest::of(numbers).0;
    let mut check = [0; 8];
    check.copy_from_slice(&digest[..8]);
    check
}

fn decode(content: &[u8; BYTES]) -> Option<Position> {
    let (position, check) = content.split_first_chunk::<8>()?;
    (check == check_bytes(position)).then(|| Position(u64::from_be_bytes(*position)))
}

impl WatermarkFile {
    /// For a reader, which must find it.
    pub(crate) fn open(directory: &Path) -> io::Result<WatermarkFile> {
        Ok(WatermarkFile::of(annals_files::open_with(
            &directory.join(NAME),
            OpenOptions::new().read(true),
        )?))
    }

    fn of(file: File) -> WatermarkFile {
        WatermarkFile {
            file,
            turn: Mutex::new(0),
        }
    }

    /// For the writer, which makes it where it is missing. The file is never
    /// replaced: readers hold it open.
    pub(crate) fn open_for_writing(directory: &Path) -> io::Result<WatermarkFile> {
        let path = directory.join(NAME);
        let mut how = OpenOptions::new();
        let how = how.read(true).write(true).create(true).truncate(false);
        let how = how.mode(directories::file_mode(directory));
        let file = annals_files::open_with(&path, how)?;
        let mut file = WatermarkFile::of(file);
        let [first, second] = file.rested()?;
        // The older one, or the one that a power cut has torn.
        file.turn = Mutex::new(usize::from(second < first));
        Ok(file)
    }

    /// The position, or `None` where the file holds none.
    pub(crate) fn read(&self) -> io::Result<Option<Position>> {
        for _ in 0..ATTEMPTS {
            if let Some(position) = self.read_at(0)? {
                return Ok(Some(position));
            }
            std::thread::yield_now();
        }
        // No process is writing it: a power cut has torn it.
        Ok(self.rested()?.into_iter().max().flatten())
    }

    /// How often content was removed; 0 where that was not counted.
    pub(crate) fn removals(&self) -> io::Result<u64> {
        for _ in 0..ATTEMPTS {
            if let Some(Position(count)) = self.read_at(REMOVALS)? {
                return Ok(count);
            }
            if self.file.metadata()?.len() <= REMOVALS {
                break;
            }
            std::thread::yield_now();
        }
        Ok(0)
    }

    /// Counts that content was removed.
    pub(crate) fn count_removal(&self) -> io::Result<()> {
        let count = self.removals()?.wrapping_add(1).max(1);
        self.write_at(Position(count), REMOVALS)
    }

    fn rested(&self) -> io::Result<[Option<Position>; 2]> {
        let [first, second] = RESTED;
        Ok([self.read_at(first)?, self.read_at(second)?])
    }

    /// The position that begins at this byte of the file, unless there is none or a torn one.
    fn read_at(&self, start: u64) -> io::Result<Option<Position>> {
        let mut content = [0; BYTES];
        match self.file.read_exact_at(&mut content, start) {
            Ok(()) => Ok(decode(&content)),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes the position.
    pub(crate) fn write(&self, position: Position) -> io::Result<()> {
        self.write_at(position, 0)
    }

    fn write_at(&self, position: Position, start: u64) -> io::Result<()> {
        let position = position.0.to_be_bytes();
        let mut content = [0; BYTES];
        content[..8].copy_from_slice(&position);
        content[8..].copy_from_slice(&check_bytes(&position));
        self.file.write_all_at(&content, start)
    }

    /// The closing mark, where there is a valid one.
    pub(crate) fn closed(&self) -> io::Result<Option<Closed>> {
        let mut content = [0; MARKED_BYTES];
        match self.file.read_exact_at(&mut content, 0) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        }
        let (position, mark) = content.split_at(BYTES);
        let (position, _) = position.split_at(8);
        let (numbers, check) = mark.split_at(16);
        let covered = [position, numbers].concat();
        let (numbers, _) = numbers.as_chunks::<8>();
        let [number, bytes] = numbers else {
            return Ok(None);
        };
        let closed = Closed {
            number: u64::from_be_bytes(*number),
            bytes: u64::from_be_bytes(*bytes),
        };
        Ok((check == check_bytes(&covered)).then_some(closed))
    }

    /// Writes the closing mark behind the position, which stays as it is.
    pub(crate) fn close(&self, position: Position, closed: Closed) -> io::Result<()> {
        let position = position.0.to_be_bytes();
        let numbers = [closed.number.to_be_bytes(), closed.bytes.to_be_bytes()].concat();
        let covered = [position.as_slice(), &numbers].concat();
        let mark = [numbers.as_slice(), &check_bytes(&covered)].concat();
        self.file.write_all_at(&mark, BYTES as u64)
    }

    /// Brings its content to the disk, with a copy of the position.
    pub(crate) fn sync(&self) -> io::Result<()> {
        if mutants::is(mutants::WATERMARK_UNSYNCED) {
            return Ok(());
        }
        let mut turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(position) = self.read()? {
            self.write_at(position, RESTED[*turn])?;
        }
        self.file.sync_data()?;
        // Not after a failure: which of the two is on the disk is then unknown.
        *turn = 1 - *turn;
        Ok(())
    }

    /// Brings its content and its size to the disk, for a file that was just created.
    pub(crate) fn sync_new(&self) -> io::Result<()> {
        if let Some(position) = self.read()? {
            self.write_at(position, RESTED[0])?;
            self.write_at(position, RESTED[1])?;
        }
        self.file.sync_all()
    }
}

/// Syncs the file a moment after it was written, on a separate thread, so that no append
/// waits for that.
#[derive(Debug)]
pub(crate) struct Syncer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Something was written since the last sync began.
    written: bool,
    ended: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Syncer {
    /// Starts the thread.
    pub(crate) fn start(file: Arc<WatermarkFile>) -> io::Result<Syncer> {
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("annals-watermark".into());
        let thread = thread.spawn(move || sync_until_ended(&file, &theirs))?;
        Ok(Syncer {
            shared,
            thread: Some(thread),
        })
    }

    /// Says that the file was written.
    pub(crate) fn written(&self) {
        let mut state = self.shared.lock();
        // It is awake, or will look before it sleeps, where this was said before.
        if !std::mem::replace(&mut state.written, true) {
            drop(state);
            self.shared.changed.notify_one();
        }
    }
}

impl Drop for Syncer {
    /// Ends the thread. What was written last is for the closing of the log to sync.
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn sync_until_ended(file: &WatermarkFile, shared: &Shared) {
    let mut state = shared.lock();
    loop {
        let waiting = shared
            .changed
            .wait_while(state, |state| !state.written && !state.ended);
        state = waiting.unwrap_or_else(PoisonError::into_inner);
        if state.ended {
            return;
        }
        // What is written meanwhile goes with the same sync.
        let waiting = shared
            .changed
            .wait_timeout_while(state, LAG, |state| !state.ended);
        state = waiting.unwrap_or_else(PoisonError::into_inner).0;
        if state.ended {
            return;
        }
        state.written = false;
        drop(state);
        let synced = file.sync();
        state = shared.lock();
        if let Err(error) = synced {
            tracing::warn!(%error, "WATERMARK cannot be synced; after a power cut it may be old");
            // Each sync writes first, so the next one says something about the disk.
            state.written = true;
        }
    }
}

/// What to say of a log that ends before what was acknowledged.
pub(crate) fn lost(acknowledged: Position, last: Position) -> String {
    format!(
        "{acknowledged} records were acknowledged, but it ends at {last} (to go on without them, remove the \
         file {} and run `annals service apply /dev/null`)",
        NAME
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_value_is_read_as_written_and_a_torn_one_is_none() {
        let directory = tempfile::tempdir().unwrap();
        assert!(WatermarkFile::open(directory.path()).is_err());
        let writer = WatermarkFile::open_for_writing(directory.path()).unwrap();
        let reader = WatermarkFile::open(directory.path()).unwrap();
        assert_eq!(reader.read().unwrap(), None, "an empty file");
        for position in [Position(0), Position(1), Position(u64::MAX)] {
            writer.write(position).unwrap();
            assert_eq!(reader.read().unwrap(), Some(position));
        }
        writer.file.write_all_at(&[1; 4], 0).unwrap();
        assert_eq!(reader.read().unwrap(), None, "half of another value");
    }

    #[test]
    fn the_closing_mark_holds_for_its_own_position_alone() {
        let directory = tempfile::tempdir().unwrap();
        let file = WatermarkFile::open_for_writing(directory.path()).unwrap();
        assert_eq!(file.closed().unwrap(), None, "an empty file");
        file.write(Position(7)).unwrap();
        assert_eq!(file.closed().unwrap(), None, "no mark yet");
        let closed = Closed {
            number: 12,
            bytes: 345,
        };
        file.close(Position(7), closed).unwrap();
        assert_eq!(file.closed().unwrap(), Some(closed));
        assert_eq!(file.read().unwrap(), Some(Position(7)));
        file.write(Position(8)).unwrap();
        assert_eq!(file.closed().unwrap(), None, "written to since");
        file.close(Position(8), closed).unwrap();
        for at in 0..MARKED_BYTES as u64 {
            let mut byte = [0];
            file.file.read_exact_at(&mut byte, at).unwrap();
            file.file.write_all_at(&[byte[0] ^ 1], at).unwrap();
            // Check bytes of the position are for its readers; the mark has its own.
            if !(8..16).contains(&at) {
                assert_eq!(file.closed().unwrap(), None, "byte {at} is wrong");
            }
            file.file.write_all_at(&byte, at).unwrap();
        }
        assert_eq!(file.closed().unwrap(), Some(closed));
    }

    #[test]
    fn a_torn_position_is_the_greatest_that_was_synced() {
        let directory = tempfile::tempdir().unwrap();
        let tear = |start: u64| {
            let file = WatermarkFile::open_for_writing(directory.path()).unwrap();
            file.file.write_all_at(&[0xee; 7], start).unwrap();
        };
        let file = WatermarkFile::open_for_writing(directory.path()).unwrap();
        file.write(Position(0)).unwrap();
        file.sync_new().unwrap();
        tear(0);
        assert_eq!(file.read().unwrap(), Some(Position(0)), "a new file");
        for position in 1..=5 {
            // Each process begins with the one that is older.
            let file = WatermarkFile::open_for_writing(directory.path()).unwrap();
            file.write(Position(position)).unwrap();
            file.sync().unwrap();
            tear(0);
            assert_eq!(file.read().unwrap(), Some(Position(position)));
            // Torn while the next is written: the other one is still there.
            let turn = *file.turn.lock().unwrap();
            tear(RESTED[turn]);
            assert_eq!(file.read().unwrap(), Some(Position(position)));
        }
        tear(RESTED[0]);
        tear(RESTED[1]);
        assert_eq!(file.read().unwrap(), None, "nothing is left");
    }

    #[test]
    fn removals_are_counted_behind_what_older_programs_wrote() {
        let directory = tempfile::tempdir().unwrap();
        let file = WatermarkFile::open_for_writing(directory.path()).unwrap();
        file.write(Position(7)).unwrap();
        let reader = WatermarkFile::open(directory.path()).unwrap();
        assert_eq!(reader.removals().unwrap(), 0, "16 bytes");
        file.count_removal().unwrap();
        assert_eq!(reader.removals().unwrap(), 1);
        assert_eq!(file.closed().unwrap(), None, "a hole is no mark");
        assert_eq!(file.rested().unwrap(), [None, None]);
        file.sync_new().unwrap();
        file.count_removal().unwrap();
        assert_eq!(reader.removals().unwrap(), 2);
        assert_eq!(reader.read().unwrap(), Some(Position(7)));
        file.file.write_all_at(&[0xee; 7], REMOVALS).unwrap();
        assert_eq!(reader.removals().unwrap(), 0, "a torn one is none");
        file.count_removal().unwrap();
        assert_eq!(reader.removals().unwrap(), 1);
    }

    #[test]
    fn what_was_written_is_synced_a_moment_later_and_the_thread_ends() {
        let directory = tempfile::tempdir().unwrap();
        let file = Arc::new(WatermarkFile::open_for_writing(directory.path()).unwrap());
        let syncer = Syncer::start(Arc::clone(&file)).unwrap();
        file.write(Position(1)).unwrap();
        syncer.written();
        while syncer.shared.lock().written {
            std::thread::sleep(Duration::from_millis(1));
        }
        drop(syncer);
        assert_eq!(Arc::strong_count(&file), 1, "the thread is gone");
    }
}
