//! The store's parsers of bytes, for the fuzzers in `crates/fuzzing`.

use std::path::Path;

use bytes::Bytes;

use crate::chunk;
use crate::watermark_file::WatermarkFile;

/// Reads a chunk; its records are written as the same chunk.
pub fn chunk(bytes: &[u8]) {
    let read = chunk::records_from(1, &Bytes::copy_from_slice(bytes));
    let Ok(records) = read else {
        return;
    };
    let Ok(form) = chunk::form(bytes) else {
        return;
    };
    assert_eq!(
        chunk::rewrite(form, &records),
        bytes,
        "a chunk is written as it was read"
    );
}

/// Reads the file WATERMARK in a folder.
pub fn watermark(folder: &Path) {
    if let Ok(file) = WatermarkFile::open(folder) {
        let _ = file.read();
        let _ = file.closed();
    }
}
