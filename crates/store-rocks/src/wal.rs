//! Reading RocksDB's write-ahead logs by ourselves, to see what is whole behind a damage.
//!
//! RocksDB gives up a block of 32 KiB at its first damaged record, regardless of what follows in it. A
//! tool that removes the end of a log must know whether something whole follows: then the
//! damage is not where writing stopped, and what is damaged had been synced.
//!
//! ```text
//! file   = blocks of 32 KiB, each of records; less than 7 bytes at the end of one are unused
//! record = u32 masked CRC-32C of the type and the payload, u16 length, u8 type, payload
//!          (little-endian; type 1 a whole write, 2 its first part, 3 a middle one, 4 the last)
//! write  = u64 sequence number, u32 count, ...
//! ```

use std::fs::OpenOptions;
use std::io::{self, Read};
use std::path::Path;

use crate::folder::files;

pub(crate) const BLOCK: usize = 32 * 1024;
pub(crate) const HEADER: usize = 7;
const WHOLE: u8 = 1;
const FIRST: u8 = 2;
const MIDDLE: u8 = 3;
const LAST: u8 = 4;
/// The highest type that there is, of those that no write consists of.
const OTHERS: [u8; 5] = [9, 10, 11, 130, 131];

/// What the write-ahead logs of a directory hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Scanned {
    /// Whether anything cannot be read, be it only the end of one that is torn.
    pub(crate) damaged: bool,
    /// The last sequence number of the last whole write behind the first damage.
    pub(crate) whole_behind: Option<u64>,
}

/// Reads all write-ahead logs of a directory, the oldest first.
pub(crate) fn scan(directory: &Path) -> io::Result<Scanned> {
    let mut scanned = Scanned::default();
    for name in files(directory, "log")? {
        let mut content = Vec::new();
        annals_files::open_with(&directory.join(name), OpenOptions::new().read(true))?
            .read_to_end(&mut content)?;
        scanned.file(&content);
    }
    Ok(scanned)
}

impl Scanned {
    fn file(&mut self, content: &[u8]) {
        let mut write: Option<Vec<u8>> = None;
        for block in content.chunks(BLOCK) {
            self.block(block, &mut write);
        }
        // A write that was begun and has no end.
        self.damaged |= write.is_some();
    }

    /// Goes over a block. `write` is what is put together of a write in parts.
    fn block(&mut self, block: &[u8], write: &mut Option<Vec<u8>>) {
        let mut at = 0;
        // Zeros at the end are room that was set aside.
        let used = block
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |last| last + 1);
        while at < used && block.len() - at >= HEADER {
            let Some((kind, payload)) = block.get(at..).and_then(record) else {
                // The next record may begin anywhere.
                self.damaged = true;
                *write = None;
                at += 1;
                continue;
            };
            at += HEADER + payload.len();
            match (kind, write.take()) {
                (WHOLE, None) => self.whole(payload),
                (WHOLE, Some(_)) => {
                    self.damaged = true;
                    self.whole(payload);
                }
                (FIRST, before) => {
                    self.damaged |= before.is_some();
                    *write = Some(payload.to_vec());
                }
                (MIDDLE, Some(mut begun)) => {
                    begun.extend_from_slice(payload);
                    *write = Some(begun);
                }
                (LAST, Some(begun)) => self.whole(&begun),
                (MIDDLE | LAST, None) => self.damaged = true,
                (_, before) => *write = before,
            }
        }
        // Less than a header is left, and it is not zeros as between two blocks.
        self.damaged |= at < used;
    }

    fn whole(&mut self, write: &[u8]) {
        if !self.damaged {
            return;
        }
        let numbers = write.split_first_chunk::<8>().and_then(|(number, rest)| {
            let (count, _) = rest.split_first_chunk::<4>()?;
            Some((u64::from_le_bytes(*number), u32::from_le_bytes(*count)))
        });
        if let Some((number, count)) = numbers {
            let last = number.saturating_add(u64::from(count)).saturating_sub(1);
            self.whole_behind = self.whole_behind.max(Some(last));
        }
    }
}

/// The type and the payload of the record that bytes begin with, if there is one.
pub(crate) fn record(bytes: &[u8]) -> Option<(u8, &[u8])> {
    let (crc, rest) = bytes.split_first_chunk::<4>()?;
    let (len, rest) = rest.split_first_chunk::<2>()?;
    let (kind, _) = rest.split_first()?;
    let len = usize::from(u16::from_le_bytes(*len));
    let covered = rest.get(..=len)?;
    let is_known = (WHOLE..=LAST).contains(kind) || OTHERS.contains(kind);
    (is_known && u32::from_le_bytes(*crc) == masked(crc32c::crc32c(covered)))
        .then(|| (*kind, covered.get(1..).unwrap_or_default()))
}

/// RocksDB stores a checksum so, as a checksum over bytes that hold checksums is weak.
fn masked(crc: u32) -> u32 {
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rocksdb::{DB, WriteBatch};

    use std::fs;

    use super::*;

    /// A write-ahead log of writes with values of these lengths, as RocksDB writes it.
    fn written(lengths: &[usize]) -> (tempfile::TempDir, Vec<u8>, Vec<usize>) {
        let home = tempfile::tempdir().unwrap();
        let db = DB::open_default(home.path().join("db")).unwrap();
        let mut ends = Vec::new();
        for length in lengths {
            let mut write = WriteBatch::default();
            write.put([7], vec![1; *length]);
            write.put([8], [2]);
            db.write(write).unwrap();
            ends.push(content(&home).len());
        }
        drop(db);
        let content = content(&home);
        (home, content, ends)
    }

    fn content(home: &tempfile::TempDir) -> Vec<u8> {
        let directory = home.path().join("db");
        let name = files(&directory, "log").unwrap().pop().unwrap();
        fs::read(directory.join(name)).unwrap()
    }

    fn scanned(content: &[u8]) -> Scanned {
        let mut scanned = Scanned::default();
        scanned.file(content);
        scanned
    }

    #[test]
    fn a_whole_file_is_not_damaged_and_a_torn_end_has_nothing_behind_it() {
        let (_home, content, ends) = written(&[10, 100_000, 300]);
        assert_eq!(scanned(&content), Scanned::default());
        for cut in [ends[1] - 1, ends[1] - 40_000, ends[2] - 1, ends[0] + 3] {
            let torn = scanned(&content[..cut]);
            assert_eq!(torn.whole_behind, None, "cut at {cut}");
            assert!(torn.damaged, "cut at {cut}");
        }
        for end in ends {
            assert_eq!(scanned(&content[..end]), Scanned::default());
        }
        assert_eq!(scanned(&[]), Scanned::default());
    }

    #[test]
    fn a_whole_write_behind_a_damage_is_seen_also_in_the_same_block() {
        let (_home, content, ends) = written(&[100, 200, 300, 100_000, 50]);
        // In the payload, in the length, in the checksum; in a small write and a large one.
        for (at, whole) in [
            (20, true),
            (4, true),
            (0, true),
            (ends[0] + 50, true),
            (ends[2] + 50_000, true),
            (ends[3] + 20, false),
        ] {
            let mut damaged = content.clone();
            damaged[at] ^= 0x55;
            let found = scanned(&damaged);
            assert!(found.damaged, "{at}");
            assert_eq!(found.whole_behind, whole.then_some(10), "{at}");
        }
    }

    #[test]
    fn a_page_of_zeros_is_damage_where_something_follows() {
        let (_home, mut content, ends) = written(&[3_000, 3_000, 3_000]);
        content[ends[0]..ends[1]].fill(0);
        let found = scanned(&content);
        assert_eq!(found.whole_behind, Some(6));
        content[ends[0]..].fill(0);
        assert_eq!(scanned(&content), Scanned::default(), "it just ends there");
    }
}
