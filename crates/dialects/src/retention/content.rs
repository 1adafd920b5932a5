//! An object's content, read once and from its beginning: piece by piece, where it is large.

use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use gix::ObjectId;
use gix::hash::Kind as HashKind;
use gix::objs::{Header, Kind};

use super::error::{RetentionError, Unreadable};
use super::repository::{MEMORY, Repository};
use crate::git::loose::{Loose, Pieces};

/// An object of more bytes is read piece by piece. A log has no larger one itself.
pub(super) const AT_ONCE: u64 = 64 << 20;
/// Bytes of a piece.
const PIECE: usize = 64 << 10;

enum Content {
    Whole(Cursor<Vec<u8>>),
    Pieces(Box<Pieces>),
}

/// An object that was found.
pub(super) struct Opened {
    pub(super) kind: Kind,
    pub(super) size: u64,
    content: Content,
}

impl Read for Opened {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match &mut self.content {
            Content::Whole(whole) => whole.read(out),
            Content::Pieces(pieces) => pieces.read(out),
        }
    }
}

impl Opened {
    /// Reads all of it and gives each piece to `see`. The answer is the id of what was read; none, if SHA-1
    /// finds an attack upon itself in it.
    pub(super) fn read_through(
        mut self,
        hash: HashKind,
        mut see: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<Option<ObjectId>> {
        let mut hasher = gix::hash::hasher(hash);
        hasher.update(&gix::objs::encode::loose_header(self.kind, self.size));
        let mut buffer = vec![0; PIECE];
        loop {
            let read = self.read(&mut buffer)?;
            let Some(piece) = buffer.get(..read).filter(|piece| !piece.is_empty()) else {
                return Ok(hasher.try_finalize().ok());
            };
            hasher.update(piece);
            see(piece)?;
        }
    }
}

impl Repository {
    /// How many bytes an object has, which is there.
    pub(super) fn size_of(&self, id: ObjectId) -> Result<u64, RetentionError> {
        let header = self.git.try_find_header(id).ok().flatten();
        let header = header.ok_or_else(|| Unreadable::Damaged.of(self.path(), id))?;
        Ok(header.size())
    }

    /// Finds an object; nothing where it is not there.
    pub(super) fn find(&self, id: ObjectId) -> Result<Option<Opened>, Unreadable> {
        let header = self.git.try_find_header(id);
        let Some(header) = header.map_err(|_| Unreadable::Damaged)? else {
            return Ok(None);
        };
        let (kind, size) = (header.kind(), header.size());
        let pieces = match size > AT_ONCE {
            true => self.pieces(id),
            false => None,
        };
        let content = match pieces {
            Some(pieces) => Content::Pieces(Box::new(pieces)),
            None if size > MEMORY => return Err(Unreadable::TooLarge(size)),
            None => {
                let object = self.git.find_object(id).map_err(|_| Unreadable::Damaged)?;
                Content::Whole(Cursor::new(object.detach().data))
            }
        };
        Ok(Some(Opened {
            kind,
            size,
            content,
        }))
    }

    /// Opens an object that must be there.
    pub(super) fn opened(&self, id: ObjectId) -> Result<Opened, RetentionError> {
        let found = self.find(id).map_err(|error| error.of(self.path(), id))?;
        found.ok_or_else(|| Unreadable::Damaged.of(self.path(), id))
    }

    /// An object where it lies by itself, in a file of its own or in a pack; nothing, if it is only
    /// stored as a change of another one, or in another repository.
    fn pieces(&self, id: ObjectId) -> Option<Pieces> {
        if let Ok(file) = annals_files::open(&self.loose().object_path(&id)) {
            return Some(Loose::of(file)?.pieces());
        }
        let folder = self.objects_folder().join("pack");
        let packs = fs::read_dir(folder).ok()?.filter_map(Result::ok);
        packs.map(|entry| entry.path()).find_map(|index| {
            let is_index = index.extension().is_some_and(|ending| ending == "idx");
            let opened = is_index.then(|| gix_pack::index::File::at(&index, id.kind()).ok());
            let opened = opened.flatten()?;
            let offset = opened.pack_offset_at_index(opened.lookup(id)?);
            let pack = annals_files::open(&index.with_extension("pack")).ok()?;
            whole_in_pack(pack, offset, id.kind())
        })
    }
}

/// An object of a pack, if it is stored whole and not as a delta.
fn whole_in_pack(mut pack: File, offset: u64, hash: HashKind) -> Option<Pieces> {
    pack.seek(SeekFrom::Start(offset)).ok()?;
    let entry = gix_pack::data::Entry::from_read(&mut pack, offset, hash.len_in_bytes()).ok()?;
    let header = Header {
        kind: entry.header.as_kind()?,
        size: entry.decompressed_size,
    };
    Some(Loose::packed(header, pack).pieces())
}
