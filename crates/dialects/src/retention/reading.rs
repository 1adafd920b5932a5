//! Blobs of a repository, read alone.

use std::path::Path;

use annals_domain::{GitOid, IntegrityHash};
use gix::objs::Kind;
use sha2::{Digest as _, Sha256};

use super::error::{RetentionError, Unreadable};
use super::repository::Repository;

/// The blobs of a repository.
pub(crate) struct GitBlobs(Repository);

/// What was found of a blob.
pub(crate) enum FoundBlob {
    /// The repository has no such blob.
    Missing,
    /// It has one that cannot be read.
    Unreadable(Unreadable),
    /// It was read.
    Read(ReadBlob),
}

/// A blob that was read.
pub(crate) struct ReadBlob {
    /// How many bytes it has.
    pub(crate) size: u64,
    /// Their hash.
    pub(crate) hash: IntegrityHash,
    /// The id that follows from them; none, if SHA-1 finds an attack upon itself in them.
    pub(crate) id: Option<GitOid>,
}

impl GitBlobs {
    pub(crate) fn open(path: &Path) -> Result<GitBlobs, RetentionError> {
        Repository::open(path).map(GitBlobs)
    }

    /// Reads a blob, however large it is. One that is damaged is not an error: the next one may be whole.
    pub(crate) fn read(&self, blob: GitOid) -> FoundBlob {
        let Some(id) = self.0.own(blob) else {
            return FoundBlob::Missing;
        };
        let opened = match self.0.find(id) {
            Ok(Some(opened)) if opened.kind == Kind::Blob => opened,
            Ok(_) => return FoundBlob::Missing,
            Err(error) => return FoundBlob::Unreadable(error),
        };
        let (mut hasher, mut size) = (Sha256::new(), 0);
        let id = opened.read_through(id.kind(), |piece| {
            hasher.update(piece);
            size += piece.len() as u64;
            Ok(())
        });
        match id {
            Ok(id) => FoundBlob::Read(ReadBlob {
                size,
                hash: IntegrityHash(hasher.finalize().into()),
                id: id.and_then(|id| GitOid::from_bytes(id.as_slice())),
            }),
            Err(_) => FoundBlob::Unreadable(Unreadable::Damaged),
        }
    }
}
