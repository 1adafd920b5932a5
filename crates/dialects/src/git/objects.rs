//! Objects of a repository, each of which is what its id says.
//!
//! A repository could give another text for an id, and a log would have it as the text of that commit
//! for ever. So every object is hashed before any use.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use annals_files::Dir;
use gix::objs::{Data, Find, FindHeader, Header, Kind};
use gix::odb::pack::cache::Object as _;
use gix::odb::pack::cache::object::MemoryCappedHashmap;
use gix::odb::store::init::{Options, Slots};
use gix::{ObjectId, oid};

use super::loose::Loose;
use super::own_files::{self, Refusal};
use super::stand_in::StandIn;

/// Bytes of objects that are kept: trees are read again and again.
const KEPT: usize = 64 << 20;

/// An object of more bytes is not kept.
const KEPT_EACH: usize = 4 << 20;

/// Bytes of memory for decompressing an object and what it is a change of.
const MEMORY: usize = 256 << 20;

/// Bytes of a buffer that is kept for the next object.
const BUFFER: usize = 8 << 20;

/// Bytes of a commit or a tree, at most; a tree has about 40 for a file.
const COMMIT_OR_TREE: usize = 32 << 20;

/// So many objects may be changes of each other, as in git.
const CHANGES: u32 = 4_095;

/// Packs that may be added while objects are read.
const NEW_PACKS: u16 = 256;

/// Why an object cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum Fault {
    #[error(
        "object {0} is missing; look with `git fsck`; a partial clone gets it with `git fetch --refetch --no-filter`"
    )]
    Missing(ObjectId),
    #[error("object {0} is damaged: it cannot be decompressed")]
    Damaged(ObjectId),
    #[error("object {0} is not what its id says: its content has another digest")]
    Forged(ObjectId),
    #[error("object {id} is malformed: expected {expected}")]
    Malformed {
        id: ObjectId,
        expected: &'static str,
    },
    #[error("object {id} is too large to be read: {what}")]
    TooLarge { id: ObjectId, what: &'static str },
    #[error("object {id} is not read: {reason}")]
    Refused { id: ObjectId, reason: String },
}

/// An object that is there.
struct Found {
    header: Header,
    /// Where it is a file of its own.
    loose: Option<Loose>,
}

/// The objects of a repository.
pub(super) struct Objects {
    stand_in: StandIn,
    hash: gix::hash::Kind,
    /// Asks for what it knows.
    known: gix::odb::HandleArc,
    /// Looks for new packs first.
    fresh: gix::odb::HandleArc,
    kept: RefCell<MemoryCappedHashmap>,
    buffer: RefCell<Vec<u8>>,
    /// The last object that could not be used: what comes back through the library is not ours.
    fault: RefCell<Option<Fault>>,
}

impl Objects {
    /// The objects in a folder `objects`, by way of a folder that stands in for it.
    pub(super) fn of(common: &Dir, hash: gix::hash::Kind) -> Result<Objects, Refusal> {
        let Some(objects) = own_files::folder(common, "objects".as_ref())? else {
            let path = common.path_of("objects".as_ref());
            let source = std::io::ErrorKind::NotFound.into();
            return Err(Refusal::Io { path, source });
        };
        own_files::refuse_alternates(&objects)?;
        let stand_in = StandIn::of(objects)?;
        let packs = u16::try_from(stand_in.packs()).unwrap_or(u16::MAX);
        let options = Options {
            slots: Slots::Given(packs.saturating_add(NEW_PACKS)),
            use_multi_pack_index: false,
            alloc_limit_bytes: Some(MEMORY),
            current_dir: Some(PathBuf::from("/")),
            ..Options::default()
        };
        let path = stand_in.path().to_owned();
        let store = gix::odb::Store::at_opts(path, hash, &mut std::iter::empty(), options);
        let store = Arc::new(store.map_err(Refusal::Private)?);
        let mut known = store.to_cache_arc();
        known.ignore_replacements = true;
        known.refresh_never();
        let mut fresh = store.to_cache_arc();
        fresh.ignore_replacements = true;
        Ok(Objects {
            stand_in,
            hash,
            known,
            fresh,
            kept: RefCell::new(MemoryCappedHashmap::new(KEPT)),
            buffer: RefCell::default(),
            fault: RefCell::default(),
        })
    }

    /// What its ids are made with.
    pub(super) fn hash(&self) -> gix::hash::Kind {
        self.hash
    }

    /// Why the last object that the library asked for could not be used.
    pub(super) fn take_fault(&self) -> Option<Fault> {
        self.fault.borrow_mut().take()
    }

    /// An object's kind and content; none where it is not there.
    pub(super) fn get(&self, id: &oid, out: &mut Vec<u8>) -> Result<Option<Kind>, Fault> {
        self.get_within(id, COMMIT_OR_TREE, out)
    }

    /// The same, also of a commit that is too large to be imported, as long as it fits into memory.
    pub(super) fn get_large(&self, id: &oid, out: &mut Vec<u8>) -> Result<Option<Kind>, Fault> {
        self.get_within(id, MEMORY, out)
    }

    fn get_within(&self, id: &oid, most: usize, out: &mut Vec<u8>) -> Result<Option<Kind>, Fault> {
        let id = id.to_owned();
        if id.is_empty_tree() {
            out.clear();
            return Ok(Some(Kind::Tree));
        }
        if let Some(kind) = self.kept.borrow_mut().get(&id, out) {
            return Ok(Some(kind));
        }
        let Some(Found { header, loose }) = self.find(&id)? else {
            return Ok(None);
        };
        check_size(id, header, most)?;
        match loose {
            Some(loose) => *out = loose.content().ok_or(Fault::Damaged(id))?,
            None => self.unpack(id, out)?,
        }
        let data = Data::new(out, header.kind, self.hash);
        if data.verify_checksum(&id).is_err() {
            return Err(Fault::Forged(id));
        }
        if out.len() <= KEPT_EACH {
            self.kept.borrow_mut().put(id, header.kind, out);
        }
        Ok(Some(header.kind))
    }

    /// Decompresses an object of a pack. What it takes for that is kept for the next one.
    fn unpack(&self, id: ObjectId, out: &mut Vec<u8>) -> Result<(), Fault> {
        let mut buffer = self.buffer.borrow_mut();
        let read = self.known.try_find(&id, &mut buffer);
        let data = read.ok().flatten().ok_or(Fault::Damaged(id))?;
        out.clear();
        out.extend_from_slice(data.data);
        if buffer.capacity() > BUFFER {
            *buffer = Vec::new();
        }
        Ok(())
    }

    /// An object that must be there and of a kind.
    pub(super) fn get_as(&self, id: ObjectId, kind: Kind) -> Result<Vec<u8>, Fault> {
        let mut out = Vec::new();
        match self.get(&id, &mut out)? {
            None => Err(Fault::Missing(id)),
            Some(found) if found == kind => Ok(out),
            Some(_) => Err(Fault::Malformed {
                id,
                expected: match kind {
                    Kind::Commit => "a commit",
                    Kind::Tree => "a folder",
                    _ => "a file",
                },
            }),
        }
    }

    /// An object's kind and size, as the repository says; none where it is not there.
    pub(super) fn header(&self, id: &oid) -> Result<Option<Header>, Fault> {
        if id.is_empty_tree() {
            // Git knows it without having it.
            let (kind, size) = (Kind::Tree, 0);
            return Ok(Some(Header { kind, size }));
        }
        Ok(self.find(id)?.map(|found| found.header))
    }

    /// Looks for an object in packs, then for one by itself, then in packs that are new.
    fn find(&self, id: &oid) -> Result<Option<Found>, Fault> {
        let refused = |refusal: Refusal| Fault::Refused {
            id: id.to_owned(),
            reason: refusal.to_string(),
        };
        let packed = self.packed(&self.known, id)?;
        if packed.is_some() {
            return Ok(packed);
        }
        if let Some(file) = self.stand_in.loose(id).map_err(refused)? {
            let loose = Loose::of(file).ok_or(Fault::Damaged(id.to_owned()))?;
            return Ok(Some(Found {
                header: loose.header,
                loose: Some(loose),
            }));
        }
        match self.stand_in.take_packs().map_err(refused)? {
            true => self.packed(&self.fresh, id),
            false => Ok(None),
        }
    }

    fn packed(&self, packs: &gix::odb::HandleArc, id: &oid) -> Result<Option<Found>, Fault> {
        let header = gix::odb::Header::try_header(packs, id);
        let Some(header) = header.map_err(|_| Fault::Damaged(id.to_owned()))? else {
            return Ok(None);
        };
        if header.num_deltas().is_some_and(|deltas| deltas > CHANGES) {
            let what = "it is a change of a change, more than 4,095 times";
            let id = id.to_owned();
            return Err(Fault::TooLarge { id, what });
        }
        let (kind, size) = (header.kind(), header.size());
        Ok(Some(Found {
            header: Header { kind, size },
            loose: None,
        }))
    }

    /// Remembers why the library is not given an object.
    fn keep_fault<T>(&self, id: &oid, found: Result<Option<T>, Fault>) -> gix::Result<T> {
        let found = found.and_then(|found| found.ok_or(Fault::Missing(id.to_owned())));
        found.map_err(|fault| {
            *self.fault.borrow_mut() = Some(fault.clone());
            gix::Error::from_error(fault)
        })
    }
}

/// Refuses what does not fit into memory, before it is read: commits and folders of more than `most` bytes, and files of
/// more than [`MEMORY`].
fn check_size(id: ObjectId, header: Header, most: usize) -> Result<(), Fault> {
    let (limit, what) = match header.kind {
        Kind::Commit | Kind::Tree if most < MEMORY => {
            (most, "a commit or a folder of more than 32 MiB")
        }
        _ => (MEMORY, "more than 256 MiB"),
    };
    match header.size > limit as u64 {
        true => Err(Fault::TooLarge { id, what }),
        false => Ok(()),
    }
}

impl Find for Objects {
    fn try_find<'a>(&self, id: &oid, buffer: &'a mut Vec<u8>) -> gix::Result<Option<Data<'a>>> {
        let kind = self.keep_fault(id, self.get(id, buffer))?;
        Ok(Some(Data::new(buffer, kind, self.hash)))
    }
}

impl FindHeader for Objects {
    fn try_header(&self, id: &oid) -> gix::Result<Option<Header>> {
        self.keep_fault(id, self.header(id)).map(Some)
    }
}
