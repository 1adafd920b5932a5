//! An object that is a file of its own: its kind, its size and its content, compressed together.

use std::fs::File;
use std::io::{self, BufReader, Read};

use gix::objs::{Header, decode};
use gix::zlib::Decompress;
use gix::zlib::stream::inflate;

/// Within so many bytes the header ends: a word and a number.
const HEADER: usize = 64;

/// A loose object whose header was read.
pub(crate) struct Loose<R = File> {
    pub(crate) header: Header,
    /// What of its content was read with the header.
    begun: Vec<u8>,
    rest: BufReader<R>,
    state: Decompress,
}

impl<R: Read> Loose<R> {
    /// Reads the header; none where it is damaged.
    pub(crate) fn of(file: R) -> Option<Loose<R>> {
        let (mut rest, mut state) = (BufReader::new(file), Decompress::default());
        let mut begun = vec![0; HEADER];
        let read = inflate::read(&mut rest, &mut state, &mut begun).ok()?;
        begun.truncate(read);
        let (kind, size, length) = decode::loose_header(&begun).ok()?;
        begun.drain(..length);
        Some(Loose {
            header: Header { kind, size },
            begun,
            rest,
            state,
        })
    }

    /// Reads the content; none where it is damaged. Its size was looked at before.
    pub(super) fn content(mut self) -> Option<Vec<u8>> {
        let size = usize::try_from(self.header.size).ok()?;
        let begun = self.begun.len();
        // A byte more shows that it goes on.
        self.begun.resize(size.max(begun).checked_add(1)?, 0);
        let target = self.begun.get_mut(begun..)?;
        let read = inflate::read(&mut self.rest, &mut self.state, target).ok()?;
        self.begun.truncate(begun + read);
        (self.begun.len() == size).then_some(self.begun)
    }

    /// An object of a pack that is stored whole, not as a delta: its compressed content begins here.
    pub(crate) fn packed(header: Header, file: R) -> Loose<R> {
        Loose {
            header,
            begun: Vec::new(),
            rest: BufReader::new(file),
            state: Decompress::default(),
        }
    }

    /// The content, to be read piece by piece: it may be larger than memory.
    pub(crate) fn pieces(self) -> Pieces<R> {
        Pieces {
            left: self.header.size,
            begun: io::Cursor::new(self.begun),
            rest: self.rest,
            state: self.state,
        }
    }
}

/// The content of an object as it is read. It has as many bytes as the header says, or cannot be
/// read.
pub(crate) struct Pieces<R = File> {
    left: u64,
    begun: io::Cursor<Vec<u8>>,
    rest: BufReader<R>,
    state: Decompress,
}

impl<R: Read> Read for Pieces<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        let read = match self.begun.read(out)? {
            0 => inflate::read(&mut self.rest, &mut self.state, out)?,
            begun => begun,
        };
        let left = self.left.checked_sub(read as u64);
        match left.filter(|left| read > 0 || *left == 0) {
            Some(left) => {
                self.left = left;
                Ok(read)
            }
            None => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it does not have the length that its header says",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write as _;

    use gix::objs::Kind;
    use gix::zlib::Compression;
    use gix::zlib::stream::deflate;

    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut writer = deflate::Write::new(Vec::new(), Compression::BEST_SPEED);
        writer.write_all(text).unwrap();
        writer.flush().unwrap();
        writer.into_inner()
    }

    fn read(bytes: &[u8]) -> Option<(Kind, Vec<u8>)> {
        let loose = Loose::of(bytes)?;
        Some((loose.header.kind, loose.content()?))
    }

    #[test]
    fn what_was_written_is_read() {
        let long = "x".repeat(100_000);
        for content in ["", "x", long.as_str()] {
            let text = format!("blob {}\0{content}", content.len());
            let expected = (Kind::Blob, content.as_bytes().to_vec());
            assert_eq!(read(&compressed(text.as_bytes())), Some(expected));
        }
    }

    fn in_pieces(bytes: &[u8]) -> Option<Vec<u8>> {
        let (mut pieces, mut all) = (Loose::of(bytes)?.pieces(), Vec::new());
        let mut buffer = [0; 700];
        loop {
            match pieces.read(&mut buffer).ok()? {
                0 => return Some(all),
                read => all.extend_from_slice(&buffer[..read]),
            }
        }
    }

    #[test]
    fn in_pieces_the_same_is_read_and_the_same_is_damaged() {
        for length in [0, 1, 3, 63, 64, 699, 700, 701, 100_000] {
            let content: Vec<u8> = (0..length).map(|it: u32| (it % 251) as u8).collect();
            let mut text = format!("blob {length}\0").into_bytes();
            text.extend_from_slice(&content);
            assert_eq!(in_pieces(&compressed(&text)), Some(content), "{length}");
        }
        let long = "x".repeat(1_000);
        for said in ["999", "1001", "0"] {
            let text = format!("blob {said}\0{long}");
            assert_eq!(in_pieces(&compressed(text.as_bytes())), None, "{said}");
        }
        let whole = compressed(format!("blob 1000\0{long}").as_bytes());
        for cut in 0..whole.len() - 5 {
            assert_eq!(in_pieces(&whole[..cut]), None, "{cut}");
        }
        // In a pack the header is not compressed.
        let (kind, size) = (Kind::Blob, 1_000);
        let packed = compressed(long.as_bytes());
        let mut read = String::new();
        let loose = Loose::packed(Header { kind, size }, &packed[..]);
        loose.pieces().read_to_string(&mut read).unwrap();
        assert_eq!(read, long);
    }

    #[test]
    fn what_is_longer_or_shorter_than_said_or_cut_off_is_damaged() {
        let long = "x".repeat(1_000);
        for said in ["999", "1001", "0", "-1", "", "99999999999999999999", "x"] {
            let text = format!("blob {said}\0{long}");
            assert_eq!(read(&compressed(text.as_bytes())), None, "{said}");
        }
        let whole = compressed(format!("blob 1000\0{long}").as_bytes());
        for cut in 0..whole.len() - 5 {
            assert_eq!(read(&whole[..cut]), None, "{cut}");
        }
        for damaged in [&b"no zlib"[..], b"", &[0; 100], &compressed(b"blob 3")] {
            assert_eq!(read(damaged), None);
        }
    }
}
