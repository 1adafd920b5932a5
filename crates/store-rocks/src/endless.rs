//! A damage of a write-ahead log at which RocksDB does not come to an end.
//!
//! Where the type of a record says that the file was used before, and the records before it do not,
//! RocksDB calls it bad and reads the same record again, for ever, in every mode of recovery. One
//! wrong byte is enough. So it is looked for before RocksDB is let at such a file: the log is
//! damaged then as with any other wrong byte. Where a log is only looked at, or a damaged end is
//! removed, the byte is made another wrong one, at which RocksDB goes on as it does at every other.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::error::OpenError;
use crate::folder::files;
use crate::wal::{BLOCK, HEADER, record};

/// Types of records in files that are used again. Ours never are.
const OF_USED_AGAIN: [u8; 6] = [5, 6, 7, 8, 11, 131];
/// A whole record, or the last part of one.
const ENDS: [u8; 2] = [1, 4];
/// Where the type is in a record's header.
const TYPE_AT: u64 = 6;
/// A type that there is not.
const NO_TYPE: u8 = 0x7f;

/// Refuses a log that RocksDB would not come to an end with.
pub(crate) fn check(directory: &Path) -> Result<(), OpenError> {
    let failed = |error| OpenError::io(directory, error);
    for name in files(directory, "log").map_err(failed)? {
        let path = directory.join(&name);
        let Some(file) = open_if_there(&path).map_err(failed)? else {
            continue;
        };
        if let Some(at) = find(file).map_err(|error| OpenError::io(&path, error))? {
            let reason = format!("its write-ahead log {name} is damaged at byte {at}");
            return Err(OpenError::corrupt(directory, reason));
        }
    }
    Ok(())
}

/// Whether there is such a damage.
pub(crate) fn is_in(directory: &Path) -> io::Result<bool> {
    for name in files(directory, "log")? {
        let file = open_if_there(&directory.join(name))?;
        if file.map(find).transpose()?.flatten().is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Opens a write-ahead log; `None` where a writer has deleted it since it was listed.
fn open_if_there(path: &Path) -> io::Result<Option<File>> {
    match annals_files::open_with(path, OpenOptions::new().read(true)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        opened => opened.map(Some),
    }
}

/// Copies the write-ahead logs to another directory, with another wrong byte at each such place.
pub(crate) fn copy_mended(directory: &Path, to: &Path) -> io::Result<()> {
    for name in files(directory, "log")? {
        fs::copy(directory.join(&name), to.join(&name))?;
    }
    mend(to)
}

/// Puts another wrong byte at each such place, durably.
pub(crate) fn mend(directory: &Path) -> io::Result<()> {
    for name in files(directory, "log")? {
        let path = directory.join(name);
        let open = || annals_files::open_with(&path, OpenOptions::new().read(true).write(true));
        while let Some(at) = find(open()?)? {
            let file = open()?;
            file.write_all_at(&[NO_TYPE], at + TYPE_AT)?;
            file.sync_data()?;
        }
    }
    Ok(())
}

/// The first such place, in bytes from the beginning: goes over the file as RocksDB does.
fn find(mut file: File) -> io::Result<Option<u64>> {
    let mut block = Vec::with_capacity(BLOCK);
    let (mut start, mut has_record) = (0, false);
    loop {
        block.clear();
        let read = file.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
        let mut at = 0;
        while let Some(kind) = block
            .get(at..)
            .and_then(|rest| rest.get(..HEADER))
            .map(|it| it[HEADER - 1])
        {
            if OF_USED_AGAIN.contains(&kind) {
                return Ok(has_record.then_some(start + at as u64));
            }
            // RocksDB drops the rest of a block behind a damage.
            let Some((kind, payload)) = block.get(at..).and_then(record) else {
                break;
            };
            has_record |= ENDS.contains(&kind);
            at += HEADER + payload.len();
        }
        if read < BLOCK {
            return Ok(None);
        }
        start += BLOCK as u64;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rocksdb::{DB, WriteOptions};

    use super::*;

    #[test]
    fn a_wrong_type_is_found_before_rocksdb_does_not_come_to_an_end() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("db");
        let db = DB::open_default(&path).unwrap();
        for n in 0..20_u8 {
            let mut synced = WriteOptions::default();
            synced.set_sync(true);
            db.put_opt([n], vec![n; 9_000], &synced).unwrap();
        }
        drop(db);
        assert!(!is_in(&path).unwrap());
        let name = files(&path, "log").unwrap().pop().unwrap();
        let content = fs::read(path.join(&name)).unwrap();
        // Where each record begins.
        let mut starts = Vec::new();
        let mut at = 0;
        while at + HEADER <= content.len() {
            if BLOCK - at % BLOCK < HEADER {
                at = at.next_multiple_of(BLOCK);
                continue;
            }
            let (_, payload) = record(&content[at..]).unwrap();
            starts.push(at);
            at += HEADER + payload.len();
        }
        assert!(starts.len() > 20);
        for (n, at) in starts.into_iter().enumerate() {
            let mut damaged = content.clone();
            damaged[at + HEADER - 1] = OF_USED_AGAIN[n % OF_USED_AGAIN.len()];
            fs::write(path.join(&name), &damaged).unwrap();
            // RocksDB uses the first one of a file.
            assert_eq!(is_in(&path).unwrap(), n > 0, "{at}");
            mend(&path).unwrap();
            assert!(!is_in(&path).unwrap());
            let read = DB::open_for_read_only(&rocksdb::Options::default(), &path, false);
            assert!(n == 0 || read.is_ok(), "it comes to an end");
        }
    }
}
