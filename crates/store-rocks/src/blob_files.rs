//! Looks at the blob files that older programs wrote content of 4 KiB and more to.
//!
//! RocksDB opens them when a value is read, so that a log with a damaged or missing one opens.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::folder::files;

/// Bytes at the end of a blob file, and the number that they begin with.
const FOOTER: u64 = 32;
const MAGIC: u32 = 2_395_959;

/// RocksDB's report of damage in a blob file, with the names of those that are not whole, unless it names one.
pub(crate) fn with_name(folder: &Path, said: String) -> String {
    if !said.contains("blob") || said.contains(".blob") {
        return said;
    }
    match torn(folder).as_slice() {
        [] => said,
        torn => format!("{said} ({})", torn.join(", ")),
    }
}

/// The blob files without their end.
pub(crate) fn torn(folder: &Path) -> Vec<String> {
    let mut found = files(folder, "blob").unwrap_or_default();
    found.retain(|name| !is_whole(&folder.join(name)).unwrap_or(false));
    found
}

/// Returns `true` if a blob file has its end.
fn is_whole(path: &Path) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let Some(footer) = length.checked_sub(FOOTER) else {
        return Ok(false);
    };
    file.seek(SeekFrom::Start(footer))?;
    let mut magic = [0; 4];
    file.read_exact(&mut magic)?;
    Ok(u32::from_le_bytes(magic) == MAGIC)
}
