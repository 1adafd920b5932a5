//! A pack of one blob that is too large to be read at once, with its index.
//!
//! ```text
//! pack    "PACK", version 2, number of objects 1; kind and size; the content, compressed; checksum
//! index   ff "tOc", version 2; 256 numbers of ids whose first byte is at most that; the id;
//!         CRC-32 of what the pack has of the object; where it begins there; both checksums
//! ```

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use gix::hash::io::Write as Hashed;
use gix::zlib::Compression;
use gix::zlib::stream::deflate;
use gix_pack::data::entry::Header;

use super::error::{RetentionError, Unreadable};
use super::repository::Repository;

/// Where the first object of a pack begins.
const FIRST: u32 = 12;

/// Writes both into a folder; the answer is where the pack and its index are.
pub(super) fn write(
    repository: &Repository,
    id: ObjectId,
    folder: &Path,
) -> Result<(PathBuf, PathBuf), RetentionError> {
    let begun = folder.join("large");
    let io_error = |error: io::Error| repository.io_error(&begun, &error);
    let checksum = write_pack(repository, id, &begun)?;
    let pack = folder.join(format!("pack-{checksum}.pack"));
    std::fs::rename(&begun, &pack).map_err(io_error)?;
    let data = gix_pack::data::File::at(&pack, id.kind());
    let data = data.map_err(|error| repository.error(error))?;
    let length = data.pack_end().saturating_sub(FIRST as usize);
    let crc32 = data.entry_crc32(FIRST.into(), length);
    let index = pack.with_extension("idx");
    let written = write_index(&index, id, crc32, checksum);
    written.map_err(|error| repository.io_error(&index, &error))?;
    Ok((pack, index))
}

/// The answer is the pack's checksum.
fn write_pack(
    repository: &Repository,
    id: ObjectId,
    path: &Path,
) -> Result<ObjectId, RetentionError> {
    let blob = repository.opened(id)?;
    let io_error = |error: io::Error| repository.io_error(path, &error);
    let file = BufWriter::new(File::create_new(path).map_err(io_error)?);
    let mut pack = Hashed::new(file, id.kind());
    let begin = gix_pack::data::header::encode(gix_pack::data::Version::V2, 1);
    pack.write_all(&begin).map_err(io_error)?;
    Header::Blob
        .write_to(blob.size, &mut pack)
        .map_err(io_error)?;
    let mut compressed = deflate::Write::new(pack, Compression::DEFAULT);
    let mut unwritten = None;
    let found = blob.read_through(id.kind(), |piece| {
        compressed.write_all(piece).map_err(|error| {
            let kind = error.kind();
            unwritten = Some(error);
            kind.into()
        })
    });
    if let Some(error) = unwritten {
        return Err(io_error(error));
    }
    // Ids follow from the content: a damaged object has another one.
    if !matches!(found, Ok(Some(found)) if found == id) {
        return Err(Unreadable::Damaged.of(repository.path(), id));
    }
    compressed.flush().map_err(io_error)?;
    let Hashed { hash, mut inner } = compressed.into_inner();
    let checksum = hash.try_finalize();
    let checksum = checksum.map_err(|error| repository.error(error))?;
    inner.write_all(checksum.as_slice()).map_err(io_error)?;
    inner.flush().map_err(io_error)?;
    Ok(checksum)
}

fn write_index(path: &Path, id: ObjectId, crc32: u32, pack: ObjectId) -> io::Result<()> {
    let first = id.as_slice().first().copied().unwrap_or_default();
    let mut index = Hashed::new(BufWriter::new(File::create_new(path)?), id.kind());
    index.write_all(b"\xfftOc")?;
    index.write_all(&2_u32.to_be_bytes())?;
    for byte in 0..=u8::MAX {
        index.write_all(&u32::from(byte >= first).to_be_bytes())?;
    }
    index.write_all(id.as_slice())?;
    index.write_all(&crc32.to_be_bytes())?;
    index.write_all(&FIRST.to_be_bytes())?;
    index.write_all(pack.as_slice())?;
    let Hashed { hash, mut inner } = index;
    let checksum = hash.try_finalize().map_err(io::Error::other)?;
    inner.write_all(checksum.as_slice())?;
    inner.flush()
}
