//! An object that is a file of its own: its kind, its size and its content, compressed together.

use std::fs::File;
use std::io::{BufReader, Read};

use gix::objs::{Header, decode};
use gix::zlib::Decompress;
use gix::zlib::stream::inflate;

/// Within so many bytes the header ends: a word and a number.
const HEADER: usize = 64;

/// A loose object whose header was read.
pub(super) struct Loose<R = File> {
    pub(super) header: Header,
    /// What of its content was read with the header.
    begun: Vec<u8>,
    rest: BufReader<R>,
    state: Decompress,
}

impl<R: Read> Loose<R> {
    /// Reads the header; none where it is damaged.
    pub(super) fn of(file: R) -> Option<Loose<R>> {
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
