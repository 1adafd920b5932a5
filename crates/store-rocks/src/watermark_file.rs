//! The file WATERMARK: up to where the log is durable, for readers in other
//! processes.
//!
//! ```text
//! WATERMARK = u64 position, big-endian
//!             8 bytes: the first ones of SHA-256 over those of the position
//! ```
//!
//! The writer overwrites it in place after each group, without a sync: it says
//! nothing that the synced records do not say, and a writer that opens the log
//! writes it anew. The check bytes let a reader notice a half-written value.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use annals_event_log::{Digest, Position};

/// The file's name.
pub(crate) const NAME: &str = "WATERMARK";
const BYTES: usize = 16;
/// A value is half-written for less than a microsecond.
const ATTEMPTS: usize = 100;

/// The file, open for reading or for writing.
#[derive(Debug)]
pub(crate) struct WatermarkFile(File);

fn check_bytes(position: [u8; 8]) -> [u8; 8] {
    let digest = Digest::of(&position).0;
    let mut check = [0; 8];
    check.copy_from_slice(&digest[..8]);
    check
}

fn decode(content: &[u8; BYTES]) -> Option<Position> {
    let (position, check) = content.split_first_chunk::<8>()?;
    (check == check_bytes(*position)).then(|| Position(u64::from_be_bytes(*position)))
}

impl WatermarkFile {
    /// For a reader, which must find it.
    pub(crate) fn open(directory: &Path) -> io::Result<WatermarkFile> {
        Ok(WatermarkFile(File::open(directory.join(NAME))?))
    }

    /// For the writer, which makes it where it is missing. The file is never
    /// replaced: readers hold it open.
    pub(crate) fn open_for_writing(directory: &Path) -> io::Result<WatermarkFile> {
        let path = directory.join(NAME);
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)?;
        Ok(WatermarkFile(file))
    }

    /// The position, or `None` where the file holds none.
    pub(crate) fn read(&self) -> io::Result<Option<Position>> {
        let mut content = [0; BYTES];
        for _ in 0..ATTEMPTS {
            match self.0.read_exact_at(&mut content, 0) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
                Err(error) => return Err(error),
            }
            if let Some(position) = decode(&content) {
                return Ok(Some(position));
            }
            std::thread::yield_now();
        }
        Ok(None)
    }

    /// Writes the position.
    pub(crate) fn write(&self, position: Position) -> io::Result<()> {
        let position = position.0.to_be_bytes();
        let mut content = [0; BYTES];
        content[..8].copy_from_slice(&position);
        content[8..].copy_from_slice(&check_bytes(position));
        self.0.write_all_at(&content, 0)
    }

    /// Brings it to the disk; only for a log that is being created or copied.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
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
        writer.0.write_all_at(&[1; 4], 0).unwrap();
        assert_eq!(reader.read().unwrap(), None, "half of another value");
    }
}
