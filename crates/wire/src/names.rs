//! Format 2 of a structure: names are part of the content.
//!
//! ```text
//! 2 | first piece (u16) | how many pieces (u16) | fields as in format 1
//! ```
//!
//! The pieces are JSON lists of texts, one after the other, each small enough to be stored in the record.
//! In the fields, a name is `#p.n`: text n of list p, both from 0; or `#p.n+m`, where it is long:
//! that text and the m behind it, together, which go on in the next list. An event without names
//! is written in format 1, in which older versions wrote names as they are.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::ops::Range;

use annals_domain::{AnyEvent, cut, removed_name};
use annals_event_log::{Content, Digest, Record, limits};
use bytes::Bytes;

use crate::{DecodeError, EncodeError, bincode_format, structure};

/// The byte that a structure begins with whose names are content.
pub(crate) const NAMED: u8 = 2;

/// Bytes of one text of a list, at most, as the name has them: escaped, and with quotes and
/// brackets, it still fits into a piece.
const PART: usize = 512;

/// Bytes of all names of an event, at most, each as often as it occurs in it. Older versions had
/// them in the structure, which was smaller.
const NAMES: usize = 1 << 20;

/// An event without its names, and the pieces that have them.
pub(crate) struct Apart {
    event: AnyEvent,
    pub(crate) pieces: Vec<String>,
}

/// Takes the names out of an event; `None` where it has no names.
pub(crate) fn take(event: &AnyEvent) -> Result<Option<Apart>, EncodeError> {
    if !event.may_have_names() {
        return Ok(None);
    }
    let mut event = event.clone();
    let (mut lists, mut bytes) = (Lists::default(), 0_usize);
    event.each_name(&mut |name| {
        bytes = bytes.saturating_add(name.len());
        if bytes <= NAMES {
            *name = lists.add(std::mem::take(name));
        }
    });
    if bytes > NAMES {
        return Err(EncodeError::NamesTooLarge {
            event_type: event.event_type().to_owned(),
            actual: bytes,
            limit: NAMES,
        });
    }
    let pieces = lists.done();
    Ok((!pieces.is_empty()).then_some(Apart { event, pieces }))
}

impl Apart {
    /// The structure, where the first of the pieces has this number.
    pub(crate) fn structure(&self, first: usize) -> Result<Bytes, EncodeError> {
        let plain = structure::encode_structure(&self.event)?;
        let fields = plain.get(1..).unwrap_or_default();
        let mut out = vec![NAMED];
        // Numbers beyond u16 are never used: so many pieces are refused.
        let number = |number: usize| u16::try_from(number).unwrap_or(u16::MAX);
        let pieces = (number(first), number(self.pieces.len()));
        let written = bincode_format::write(&pieces, &mut out);
        written.map_err(|source| EncodeError::Unencodable {
            event_type: self.event.event_type().to_owned(),
            source,
        })?;
        out.extend_from_slice(fields);
        if out.len() > limits::STRUCTURE {
            return Err(EncodeError::TooLarge {
                event_type: self.event.event_type().to_owned(),
                actual: out.len(),
                limit: limits::STRUCTURE,
            });
        }
        Ok(out.into())
    }
}

/// The lists while names are added; the same name is in them once.
#[derive(Default)]
struct Lists {
    known: HashMap<String, String>,
    done: Vec<String>,
    /// The list that is open, and how many texts it has.
    open: String,
    texts: usize,
}

impl Lists {
    /// Adds a name, and returns its reference, as `#p.n`.
    fn add(&mut self, name: String) -> String {
        if let Some(known) = self.known.get(&name) {
            return known.clone();
        }
        let (first, mut rest) = name.split_at(cut(&name, PART).len());
        let (list, place) = self.push(first);
        let mut more = 0;
        while !rest.is_empty() {
            let (part, behind) = rest.split_at(cut(rest, PART).len());
            self.push(part);
            rest = behind;
            more += 1;
        }
        let reference = match more {
            0 => format!("#{list}.{place}"),
            more => format!("#{list}.{place}+{more}"),
        };
        self.known.insert(name, reference.clone());
        reference
    }

    /// Adds a text; its list and its place in that.
    fn push(&mut self, part: &str) -> (usize, usize) {
        let json = serde_json::Value::from(part).to_string();
        // A comma before it, and a bracket behind.
        if self.texts > 0 && self.open.len() + json.len() + 2 > limits::INLINE {
            self.close();
        }
        self.open.push(if self.texts == 0 { '[' } else { ',' });
        self.open.push_str(&json);
        self.texts += 1;
        (self.done.len(), self.texts - 1)
    }

    fn close(&mut self) {
        self.open.push(']');
        self.done.push(std::mem::take(&mut self.open));
        self.texts = 0;
    }

    fn done(mut self) -> Vec<String> {
        if self.texts > 0 {
            self.close();
        }
        self.done
    }
}

/// The fields of a structure in format 2, and the numbers of the pieces with its names.
pub(crate) struct Parted<'a> {
    fields: &'a [u8],
    pub(crate) pieces: Range<u16>,
}

impl Parted<'_> {
    /// The same structure in format 1, with the references of the names.
    pub(crate) fn plain(&self) -> Vec<u8> {
        let mut plain = Vec::with_capacity(self.fields.len() + 1);
        plain.push(bincode_format::FORMAT);
        plain.extend_from_slice(self.fields);
        plain
    }
}

/// Reads the beginning of a structure; `None` where its names, if any, are in it.
pub(crate) fn part<'a>(
    event_type: &str,
    bytes: &'a [u8],
) -> Result<Option<Parted<'a>>, DecodeError> {
    let Some((&NAMED, rest)) = bytes.split_first() else {
        return Ok(None);
    };
    let seed = PhantomData::<(u16, u16)>;
    let ((first, count), left) =
        bincode_format::read(seed, rest).map_err(|source| DecodeError::Malformed {
            event_type: event_type.to_owned(),
            source,
        })?;
    Ok(Some(Parted {
        fields: rest.get(rest.len() - left..).unwrap_or_default(),
        pieces: first..first.saturating_add(count),
    }))
}

/// Puts the names back into an event of a record. What was removed has a stand-in.
pub(crate) fn put(
    event: &mut AnyEvent,
    record: &Record,
    pieces: Range<u16>,
) -> Result<(), DecodeError> {
    let content = record.content();
    let pieces = content.get(usize::from(pieces.start)..usize::from(pieces.end));
    let lists: Option<Vec<List>> = pieces.and_then(|pieces| pieces.iter().map(list).collect());
    let mut fits = lists.is_some();
    let lists = lists.unwrap_or_default();
    let mut room = NAMES;
    event.each_name(&mut |name| {
        if !fits {
            return;
        }
        match whole(name, &lists, room) {
            Some(text) => {
                room = room.saturating_sub(text.len());
                *name = text;
            }
            None => fits = false,
        }
    });
    if fits {
        return Ok(());
    }
    Err(DecodeError::Names {
        event_type: event.event_type().to_owned(),
    })
}

/// One of the lists of a record.
enum List {
    There(Vec<String>),
    /// What is left of it.
    Removed(Digest),
}

fn list(piece: &Content) -> Option<List> {
    match piece {
        Content::Inline { bytes, .. } => serde_json::from_slice(bytes).ok().map(List::There),
        Content::Removed { salted } => Some(List::Removed(*salted)),
        Content::Blob { .. } | Content::Attachment { .. } => None,
    }
}

/// The name that a field refers to as `#p.n` or `#p.n+m`, unless it has more than `room` bytes.
fn whole(reference: &str, lists: &[List], room: usize) -> Option<String> {
    let (place, more) = match reference.strip_prefix('#')?.split_once('+') {
        Some((place, more)) => (place, more.parse().ok()?),
        None => (reference.strip_prefix('#')?, 0),
    };
    let (list, text) = place.split_once('.')?;
    let (mut list, mut text): (usize, usize) = (list.parse().ok()?, text.parse().ok()?);
    let mut whole = String::new();
    for part in 0_usize..=more {
        // A long name goes on in the next list.
        if let Some(List::There(texts)) = lists.get(list)
            && part > 0
            && text == texts.len()
        {
            (list, text) = (list + 1, 0);
        }
        match lists.get(list)? {
            List::There(texts) => whole.push_str(texts.get(text)?),
            List::Removed(Digest(digest)) => return Some(removed_name(digest, text)),
        }
        if whole.len() > room {
            return None;
        }
        text += 1;
    }
    Some(whole)
}
