//! Blobs of a repository, read alone.

use std::path::Path;

use annals_domain::GitOid;
use bytes::Bytes;

use super::error::RetentionError;
use super::repository::Repository;

/// The blobs of a repository.
pub(crate) struct GitBlobs(Repository);

impl GitBlobs {
    pub(crate) fn open(path: &Path) -> Result<GitBlobs, RetentionError> {
        Repository::open(path).map(GitBlobs)
    }

    /// A blob's content, if the repository has it.
    pub(crate) fn content(&self, blob: GitOid) -> Result<Option<Bytes>, RetentionError> {
        let Some(id) = self.0.own(blob) else {
            return Ok(None);
        };
        let found = self.0.git.try_find_object(id);
        let found = found.map_err(|error| self.0.error(error))?;
        let blob = found.filter(|object| object.kind == gix::objs::Kind::Blob);
        Ok(blob.map(|blob| Bytes::from(blob.detach().data)))
    }
}
