//! Content in an object store instead of the database: a local directory, or any other store that the `object_store`
//! crate knows.
//!
//! An object is written before the transaction whose row names it, under a name that is never used again: a row
//! never names what is not there, and what a redaction removes comes back under no name. What is left by an
//! append that was refused is removed; what is left by a process that died lies there unnamed.

use std::path::Path as Folder;
use std::sync::Arc;

use annals_event_log::{Blob, Digest};
use bytes::Bytes;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutPayload};
use uuid::Uuid;

use crate::error::OpenError;
use crate::failure::Failure;

/// The store that a place names: `s3://BUCKET/PREFIX`, or a folder.
pub(crate) fn named(place: &str) -> Result<Arc<dyn ObjectStore>, OpenError> {
    match place.strip_prefix("s3://") {
        Some(place) => s3(place),
        None => folder(Folder::new(place)),
    }
}

#[cfg(feature = "s3")]
use crate::s3::bucket as s3;

#[cfg(not(feature = "s3"))]
fn s3(_: &str) -> Result<Arc<dyn ObjectStore>, OpenError> {
    Err(OpenError::InvalidUrl {
        reason:
            "this build has no S3 for blobs=s3://...: build with the feature `s3`, or name a folder"
                .to_owned(),
    })
}

/// A folder for objects; each is synced, with its name, before it counts as written.
fn folder(path: &Folder) -> Result<Arc<dyn ObjectStore>, OpenError> {
    let unusable = |error: &dyn std::fmt::Display| OpenError::InvalidUrl {
        reason: format!("blobs={} cannot be used: {error}", path.display()),
    };
    let store = LocalFileSystem::new_with_prefix(path).map_err(|error| unusable(&error))?;
    if !path.is_dir() {
        return Err(unusable(&"it is not a folder"));
    }
    Ok(Arc::new(store.with_fsync(true)))
}

/// The objects of one log.
#[derive(Debug, Clone)]
pub(crate) struct Objects {
    store: Arc<dyn ObjectStore>,
    log_id: Uuid,
}

impl Objects {
    pub(crate) fn new(store: Arc<dyn ObjectStore>, log_id: Uuid) -> Objects {
        Objects { store, log_id }
    }

    fn path(&self, name: &str) -> Path {
        Path::from_iter([self.log_id.to_string().as_str(), name])
    }

    /// Writes content; the name that it has from now on.
    pub(crate) async fn put(&self, blob: &Blob) -> Result<String, Failure> {
        let name = format!("{}-{}", blob.digest(), Uuid::new_v4().simple());
        let payload = PutPayload::from(blob.bytes().clone());
        self.store
            .put(&self.path(&name), payload)
            .await
            .map_err(|error| failed(&error))?;
        Ok(name)
    }

    /// Reads content, and compares it with its digest; `None` where there is no such object.
    pub(crate) async fn get(
        &self,
        name: &str,
        (digest, size): (Digest, u64),
    ) -> Result<Option<Bytes>, Failure> {
        let found = match self.store.get(&self.path(name)).await {
            Err(Error::NotFound { .. }) => return Ok(None),
            found => found.map_err(|error| failed(&error))?,
        };
        // Before it is read: what has been put in its place may be of any size.
        if found.meta.size != size {
            return Err(Failure::damaged(format!(
                "the object {name} has {} bytes, and the blob {size}",
                found.meta.size
            )));
        }
        let content = found.bytes().await.map_err(|error| failed(&error))?;
        match Digest::of(&content) == digest {
            true => Ok(Some(content)),
            false => Err(Failure::damaged(format!(
                "the object {name} has another digest"
            ))),
        }
    }

    /// Removes an object; one that is not there is removed.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), Failure> {
        match self.store.delete(&self.path(name)).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(&error)),
        }
    }
}

fn failed(error: &Error) -> Failure {
    Failure::Objects {
        detail: error.to_string(),
    }
}
