//! A patch in git's format: the header of each file, quoting, which files are binary.

use gix::ObjectId;
use gix::bstr::BString;
use gix::objs::tree::EntryKind;

use super::binary::Binaries;
use crate::diff::{
    Lines, Sink, hunks,
    names::{self, quoted},
};
use crate::secrets::Hit;

/// How many digits of an object id an `index` line has.
const ABBREVIATION: usize = 7;

/// Within so many bytes from the beginning, a NUL makes a file binary.
const BINARY_PROBE: usize = 8_000;

/// One side of a file's change.
#[derive(Debug, Clone)]
pub(super) struct Side {
    pub(super) path: BString,
    pub(super) kind: EntryKind,
    pub(super) id: ObjectId,
    pub(super) content: Content,
    /// The secrets that were taken out of its content, or are in it where it is binary.
    pub(super) hits: Vec<Hit>,
    /// Whether it is binary and a private key.
    pub(super) is_key: bool,
}

impl Side {
    /// Whether there is something in its content that is not told.
    fn is_secret(&self) -> bool {
        self.is_key || !self.hits.is_empty()
    }

    /// Its content, unless that was not read.
    fn bytes(&self) -> Option<&[u8]> {
        match &self.content {
            Content::Bytes(bytes) => Some(bytes),
            Content::Huge => None,
        }
    }
}

/// What a file holds, as far as a patch needs it.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// Bytes that may be text.
    Bytes(Vec<u8>),
    /// Too large to be looked at; git calls it binary.
    Huge,
}

impl Content {
    pub(super) fn text(&self) -> Option<&[u8]> {
        match self {
            Content::Bytes(bytes) => {
                let probe = bytes.get(..BINARY_PROBE).unwrap_or(bytes);
                if probe.contains(&0) {
                    None
                } else {
                    Some(bytes)
                }
            }
            Content::Huge => None,
        }
    }
}

/// Two sides that are the same file by another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Similarity {
    pub(super) copy: bool,
    pub(super) percent: u8,
}

/// Writes the patch of one file. At least one side is there; both have the
/// same kind but for the executable bit. Counts the lines, 0 for a binary file.
pub(super) fn write(
    old: Option<&Side>,
    new: Option<&Side>,
    similarity: Option<Similarity>,
    binaries: &mut Binaries,
    sink: &mut Sink,
) -> Lines {
    let Some((from, to)) = old.or(new).zip(new.or(old)) else {
        return Lines::default();
    };
    let (a, b) = (quoted("a/", &from.path), quoted("b/", &to.path));
    for part in [b"diff --git ", a.as_slice(), b" ", b.as_slice(), b"\n"] {
        sink.write(part);
    }
    write_modes(old, new, sink);
    if let Some(Similarity { copy, percent }) = similarity {
        let verb = if copy { "copy" } else { "rename" };
        sink.write(format!("similarity index {percent}%\n{verb} from ").as_bytes());
        sink.write(&quoted("", &from.path));
        sink.write(format!("\n{verb} to ").as_bytes());
        sink.write(&quoted("", &to.path));
        sink.write(b"\n");
    }
    if old.map(|side| side.id) == new.map(|side| side.id) {
        return Lines::default();
    }
    let empty = Content::Bytes(Vec::new());
    let before = old.map_or(&empty, |side| &side.content).text();
    let after = new.map_or(&empty, |side| &side.content).text();
    let texts = before.zip(after);
    let binary = match texts {
        Some(_) => None,
        None => binary(old, new, binaries),
    };
    write_index(old, new, binary.is_some(), sink);
    if let Some(binary) = binary {
        sink.write(&binary);
        return Lines::default();
    }
    let a = if old.is_some() {
        a
    } else {
        names::NOTHING.to_vec()
    };
    let b = if new.is_some() {
        b
    } else {
        names::NOTHING.to_vec()
    };
    let Some((before, after)) = texts else {
        for part in [
            b"Binary files ",
            a.as_slice(),
            b" and ",
            b.as_slice(),
            b" differ\n",
        ] {
            sink.write(part);
        }
        return Lines::default();
    };
    let header = names::header(&a, &b);
    hunks::write(before, after, &header, sink)
}

/// The patch of a file of which one side is not text; none where that is left out, or was not even read.
fn binary(old: Option<&Side>, new: Option<&Side>, binaries: &mut Binaries) -> Option<Vec<u8>> {
    let before = old.map_or(Some(&[][..]), Side::bytes)?;
    let after = new.map_or(Some(&[][..]), Side::bytes)?;
    let is_secret = [old, new].into_iter().flatten().any(Side::is_secret);
    binaries.patch((before, after), is_secret)
}

fn write_modes(old: Option<&Side>, new: Option<&Side>, sink: &mut Sink) {
    let mode = |side: &Side| side.kind.as_octal_str();
    let text = match (old, new) {
        (None, Some(new)) => format!("new file mode {}\n", mode(new)),
        (Some(old), None) => format!("deleted file mode {}\n", mode(old)),
        (Some(old), Some(new)) if old.kind != new.kind => {
            format!("old mode {}\nnew mode {}\n", mode(old), mode(new))
        }
        _ => String::new(),
    };
    sink.write(text.as_bytes());
}

/// The ids of both sides, whole ones where git applies the patch by them.
fn write_index(old: Option<&Side>, new: Option<&Side>, is_whole: bool, sink: &mut Sink) {
    // A part of the digest of a text with its secrets would say something of them.
    if [old, new].iter().flatten().any(|side| side.is_secret()) {
        return;
    }
    let whole = [old, new].into_iter().flatten();
    let whole = whole.map(|side| side.id.kind().len_in_hex()).max();
    let digits = whole.filter(|_| is_whole).unwrap_or(ABBREVIATION);
    let name = |side: Option<&Side>| match side {
        Some(side) => side.id.to_hex_with_len(digits).to_string(),
        None => "0".repeat(digits),
    };
    let mode = match (old, new) {
        (Some(old), Some(new)) if old.kind == new.kind => format!(" {}", new.kind.as_octal_str()),
        _ => String::new(),
    };
    sink.write(format!("index {}..{}{mode}\n", name(old), name(new)).as_bytes());
}
