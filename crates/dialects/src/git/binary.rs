//! Binary files in a diff, as `git diff --binary` writes them and `git apply` takes them: the whole content of
//! both sides, compressed, in letters. So a change can be applied and be taken back.

use std::io::{self, Write as _};

use gix::zlib::Compression;
use gix::zlib::stream::deflate;

/// Bytes of a file before and after, together, that are kept.
pub(super) const CONTENT: usize = 16 << 20;

/// Bytes of a commit's diff that binary files may take.
const TEXT: usize = 24 << 20;

/// Bytes of content on a line.
const LINE: usize = 52;

/// Why a binary file's content is not in a diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeftOut {
    /// It is too large, or there is no room left for it.
    Large,
    /// It has a secret, or is a private key.
    Secret,
}

/// How much room a commit's diff has for binary files, and what became of the latest ones.
#[derive(Debug)]
pub(super) struct Binaries {
    room: usize,
    left_out: Option<LeftOut>,
    is_any: bool,
}

impl Binaries {
    /// Room for binary files.
    pub(super) fn kept() -> Binaries {
        Binaries {
            room: TEXT,
            left_out: None,
            is_any: false,
        }
    }

    /// No room: the diff is large without them.
    pub(super) fn left_out() -> Binaries {
        Binaries {
            room: 0,
            ..Binaries::kept()
        }
    }

    /// Whether one was kept.
    pub(super) fn is_any(&self) -> bool {
        self.is_any
    }

    /// Why something was left out since this was asked last.
    pub(super) fn take_left_out(&mut self) -> Option<LeftOut> {
        self.left_out.take()
    }

    /// What leads from one content to another, and back; none where it is left out.
    pub(super) fn patch(
        &mut self,
        (before, after): (&[u8], &[u8]),
        is_secret: bool,
    ) -> Option<Vec<u8>> {
        let written = if is_secret {
            Err(LeftOut::Secret)
        } else if before.len().saturating_add(after.len()) > CONTENT || self.room == 0 {
            Err(LeftOut::Large)
        } else {
            match written(before, after) {
                Ok(patch) if patch.len() <= self.room => Ok(patch),
                _ => Err(LeftOut::Large),
            }
        };
        match written {
            Ok(patch) => {
                self.room -= patch.len();
                self.is_any = true;
                Some(patch)
            }
            Err(why) => {
                self.left_out = Some(why);
                None
            }
        }
    }
}

/// The patch itself.
fn written(before: &[u8], after: &[u8]) -> io::Result<Vec<u8>> {
    let mut patch = b"GIT binary patch\n".to_vec();
    for content in [after, before] {
        patch.extend_from_slice(format!("literal {}\n", content.len()).as_bytes());
        for line in compressed(content)?.chunks(LINE) {
            write_line(line, &mut patch);
        }
        patch.push(b'\n');
    }
    Ok(patch)
}

fn compressed(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut writer = deflate::Write::new(Vec::new(), Compression::DEFAULT);
    writer.write_all(content)?;
    // This ends the stream.
    writer.flush()?;
    Ok(writer.into_inner())
}

/// A line: how many bytes it has as a letter, and five letters for each four bytes.
fn write_line(bytes: &[u8], out: &mut Vec<u8>) {
    const LETTERS: &[u8; 85] =
        b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
    const LENGTHS: &[u8; LINE] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let length = bytes.len().checked_sub(1).and_then(|at| LENGTHS.get(at));
    out.extend(length);
    for group in bytes.chunks(4) {
        let mut four = [0; 4];
        four.iter_mut()
            .zip(group)
            .for_each(|(to, from)| *to = *from);
        let mut number = u32::from_be_bytes(four);
        let mut five = [b'0'; 5];
        for letter in five.iter_mut().rev() {
            // The remainder is below 85.
            let at = usize::try_from(number % 85).unwrap_or_default();
            *letter = LETTERS.get(at).copied().unwrap_or(b'0');
            number /= 85;
        }
        out.extend_from_slice(&five);
    }
    out.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_git() {
        let line = |bytes: &[u8]| {
            let mut out = Vec::new();
            write_line(bytes, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        // What git 2.47 prints for an empty file.
        let nothing = [0x78, 0x01, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01];
        assert_eq!(line(&nothing), "HcmV?d00001\n");
        assert_eq!(line(&[0]), "A00000\n");
        assert_eq!(line(&[255; 4]), "D|NsC0\n");
        assert_eq!(line(&[0; 26]).get(..1), Some("Z"));
        assert_eq!(line(&[0; 27]).get(..1), Some("a"));
        assert_eq!(line(&[0; LINE]).len(), 1 + 65 + 1);
        assert!(line(&[0; LINE]).starts_with('z'));
    }
}
