//! Decompression of recordings in Zstandard, such as Codex's older rollouts (`*.jsonl.zst`), in memory and piece by piece.
//!
//! A file may come from a stranger. The window bounds the memory of the decoder, and the file's size bounds the size of
//! the content.

use std::fs::File;
use std::io::{self, BufReader, Chain, Cursor, Read, Seek as _};
use std::path::Path;

use zstd::stream::read::Decoder;

/// The first bytes of a frame of Zstandard, as a number.
const MAGIC: u32 = 0xfd2f_b528;

/// The first bytes of a frame that has no content, without the four bits that programs choose.
const MAGIC_SKIPPABLE: u32 = 0x184d_2a50;

/// The ending that a compressed file has in addition to that of a recording.
const ENDING: &str = ".zst";

/// The logarithm of the largest window of a frame, in bytes: 128 MiB, the default limit of the program `zstd`.
const WINDOW_LOG: u32 = 27;

/// The largest ratio of content to file. Measured recordings have 5 to 40.
const RATIO: u64 = 1_000;

/// The limits of the content of short files and of all files, in bytes.
const MOST: [u64; 2] = [256 << 20, 16 << 30];

/// Content of a file, decompressed if the file is compressed.
pub(super) struct Content<'f> {
    reader: Box<dyn Read + 'f>,
    pub(super) is_compressed: bool,
}

impl<'f> Content<'f> {
    /// Begins at the file's position. The file may be a pipe.
    pub(super) fn of(file: &'f File) -> io::Result<Content<'f>> {
        let mut first = Vec::with_capacity(size_of_val(&MAGIC));
        file.take(size_of_val(&MAGIC) as u64)
            .read_to_end(&mut first)?;
        let is_compressed = begins_a_frame(&first);
        let whole = Cursor::new(first).chain(file);
        let reader: Box<dyn Read + 'f> = match is_compressed {
            true => Box::new(Expanded::of(whole, most(file.metadata()?.len()))?),
            false => Box::new(whole),
        };
        Ok(Content {
            reader,
            is_compressed,
        })
    }

    /// Begins at the file's position, and refuses a compressed file whose content is not what was compressed, which its checksum tells at
    /// the end. Of a file that is cut the beginning is read. A pipe is not checked.
    pub(super) fn checked(file: &'f File) -> io::Result<Content<'f>> {
        let mut content = Content::of(file)?;
        if !content.is_compressed || !file.metadata()?.is_file() {
            return Ok(content);
        }
        match io::copy(&mut content, &mut io::sink()) {
            // The decoder's own errors have this kind; the limit says what it is.
            Err(error) if error.kind() == io::ErrorKind::Other => {
                let message = format!("it is compressed, and damaged ({error}): nothing is read");
                return Err(io::Error::new(error.kind(), message));
            }
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => return Err(error),
            _ => {}
        }
        drop(content);
        let mut again = file;
        again.rewind()?;
        Content::of(file)
    }
}

/// Returns `true` if a file that begins with these bytes is compressed.
fn begins_a_frame(first: &[u8]) -> bool {
    let magic = <[u8; 4]>::try_from(first).map(u32::from_le_bytes);
    magic.is_ok_and(|magic| magic == MAGIC || magic & !0xf == MAGIC_SKIPPABLE)
}

impl Read for Content<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

/// The limit of the content of a file of this length, in bytes.
fn most(bytes: u64) -> u64 {
    let [least, most] = MOST;
    bytes.saturating_mul(RATIO).clamp(least, most)
}

/// A compressed file: its beginning, which was read before, and the rest.
type Compressed<'f> = BufReader<Chain<Cursor<Vec<u8>>, &'f File>>;

/// A decoder with a limit.
struct Expanded<'f> {
    decoder: Decoder<'static, Compressed<'f>>,
    most: u64,
    read: u64,
    /// The first error, which every later read repeats.
    fault: Option<(io::ErrorKind, String)>,
}

impl<'f> Expanded<'f> {
    fn of(file: Chain<Cursor<Vec<u8>>, &'f File>, most: u64) -> io::Result<Expanded<'f>> {
        let mut decoder = Decoder::new(file)?;
        decoder.window_log_max(WINDOW_LOG)?;
        Ok(Expanded {
            decoder,
            most,
            read: 0,
            fault: None,
        })
    }

    fn expand(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.read += read as u64;
        if self.read > self.most {
            let most = self.most;
            let message = format!("it expands to more than {most} bytes, the most that is read");
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        Ok(read)
    }
}

impl Read for Expanded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some((kind, message)) = &self.fault {
            return Err(io::Error::new(*kind, message.clone()));
        }
        let read = self.expand(buffer);
        if let Err(error) = &read {
            self.fault = Some((error.kind(), error.to_string()));
        }
        read
    }
}

/// Returns the name without the ending of compressed files.
pub(crate) fn plain_name(name: &str) -> &str {
    let split = name.len().checked_sub(ENDING.len());
    let split = split.and_then(|at| name.split_at_checked(at));
    match split {
        Some((plain, ending)) if ending.eq_ignore_ascii_case(ENDING) => plain,
        _ => name,
    }
}

/// Returns `true` if the name has the ending of compressed files.
pub(crate) fn is_compressed(name: &str) -> bool {
    plain_name(name).len() < name.len()
}

/// Returns a file's name without its ending and without that of compressed files.
pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = Path::new(plain_name(&name)).file_stem();
    stem.unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write as _;

    use super::*;

    fn file(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    fn compressed(bytes: &[u8]) -> Vec<u8> {
        zstd::encode_all(bytes, 3).unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<(bool, Vec<u8>)> {
        let file = file(bytes);
        let mut content = Content::of(&file)?;
        let mut all = Vec::new();
        content.read_to_end(&mut all)?;
        Ok((content.is_compressed, all))
    }

    #[test]
    fn files_are_expanded_frame_by_frame_or_are_as_they_were() {
        for plain in [b"".as_slice(), b"a", b"{}\n{}\n"] {
            assert_eq!(read(plain).unwrap(), (false, plain.to_vec()));
            assert_eq!(read(&compressed(plain)).unwrap(), (true, plain.to_vec()));
        }
        let two = [compressed(b"one\n"), compressed(b"two\n")].concat();
        assert_eq!(read(&two).unwrap().1, b"one\ntwo\n");
        // As `pzstd` and seekable files have them.
        let skippable = b"\x5e\x2a\x4d\x18\x03\x00\x00\x00abc".to_vec();
        for frames in [
            [skippable.clone(), two.clone()],
            [two.clone(), skippable.clone()],
        ] {
            let expected = (true, b"one\ntwo\n".to_vec());
            assert_eq!(read(&frames.concat()).unwrap(), expected);
        }
    }

    #[test]
    fn a_file_whose_checksum_is_wrong_is_refused_as_a_whole() {
        let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
        encoder.include_checksum(true).unwrap();
        encoder.write_all(&b"a line\n".repeat(10)).unwrap();
        let whole = encoder.finish().unwrap();
        let mut content = Vec::new();
        let sound = file(&whole);
        let mut reader = Content::checked(&sound).unwrap();
        reader.read_to_end(&mut content).unwrap();
        assert_eq!(content, b"a line\n".repeat(10));
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        let error = Content::checked(&file(&damaged)).map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("damaged"), "{error}");
        // One that is cut has whole lines.
        let cut = file(&whole[..whole.len() - 1]);
        let mut lines = [0; 14];
        let mut reader = Content::checked(&cut).unwrap();
        reader.read_exact(&mut lines).unwrap();
        assert_eq!(&lines, b"a line\na line\n");
    }

    #[test]
    fn a_file_that_is_cut_or_damaged_stays_unreadable() {
        let whole = compressed(&b"a line\n".repeat(10));
        let cut = file(&whole[..whole.len() - 1]);
        let mut content = Content::of(&cut).unwrap();
        let mut buffer = Vec::new();
        assert!(content.read_to_end(&mut buffer).is_err());
        assert!(content.read_to_end(&mut buffer).is_err());
        assert!(read(&[whole, b"garbage".to_vec()].concat()).is_err());
    }

    #[test]
    fn the_expansion_is_bounded() {
        assert_eq!(most(10), 256 << 20);
        assert_eq!(most(1 << 20), 1_000 << 20);
        assert_eq!(most(u64::MAX), 16 << 30);
        let bomb = file(&compressed(&vec![0; 100_000]));
        let whole = Cursor::new(Vec::new()).chain(&bomb);
        let mut expanded = Expanded::of(whole, 99_999).unwrap();
        let error = expanded.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(
            error.to_string().contains("more than 99999 bytes"),
            "{error}"
        );
    }

    #[test]
    fn names_of_compressed_files_have_two_endings() {
        assert_eq!(plain_name("a.jsonl.zst"), "a.jsonl");
        assert_eq!(plain_name("a.jsonl.ZST"), "a.jsonl");
        assert_eq!(plain_name("\u{e9}zst"), "\u{e9}zst");
        assert_eq!(stem(Path::new("f/a.jsonl.zst")), "a");
        assert_eq!(stem(Path::new("f/a.jsonl")), "a");
        assert!(is_compressed("a.zst") && !is_compressed("a.jsonl"));
    }
}
