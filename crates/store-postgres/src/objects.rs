//! Content in an object store instead of the database: a local directory, or any other store that the `object_store`
//! crate knows.
//!
//! An object is written before the transaction whose row names it, under a name that is never used again: a row
//! never names what is not there, and what a redaction removes comes back under no name. What is left by an
//! append that was refused is removed; what is left by a process that died lies there unnamed.

use std::fs::File;
use std::io;
use std::path::{Path as Folder, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use annals_event_log::{Blob, Digest};
use bytes::Bytes;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{Error, ObjectStore, ObjectStoreExt, PutPayload};
use uuid::Uuid;

use crate::error::OpenError;
use crate::failure::Failure;
use crate::settings::Settings;

/// The store that a place names, `s3://BUCKET/PREFIX` or a folder, and that folder.
pub(crate) fn named(place: &str) -> Result<(Arc<dyn ObjectStore>, Option<PathBuf>), OpenError> {
    match place.strip_prefix("s3://") {
        Some(place) => Ok((s3(place)?, None)),
        None => Ok((folder(Folder::new(place))?, Some(PathBuf::from(place)))),
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
    /// Where the objects of this log are, if that is a folder.
    folder: Option<PathBuf>,
    log_id: Uuid,
    /// How long one object may take.
    limit: Duration,
    /// Whether an object of this log was seen there: then the folder of its objects is there, too.
    was_seen: Arc<AtomicBool>,
}

impl Objects {
    /// The objects of a log, if they are kept in a store.
    pub(crate) fn of(settings: &Settings, log_id: Uuid, limit: Duration) -> Option<Objects> {
        let folder = settings.objects_folder.as_ref();
        Some(Objects {
            store: Arc::clone(settings.objects.as_ref()?),
            folder: folder.map(|folder| folder.join(log_id.to_string())),
            log_id,
            limit,
            was_seen: Arc::default(),
        })
    }

    /// Demands that one of some objects is there, if there are any: otherwise this is another store than theirs, or a folder
    /// whose file system is not mounted.
    pub(crate) async fn demand_one_of(&self, names: &[String]) -> Result<(), Failure> {
        for name in names {
            let path = self.path(name);
            match self.in_time(self.store.head(&path)).await? {
                Ok(_) => {
                    self.was_seen.store(true, Ordering::Relaxed);
                    return Ok(());
                }
                Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(failed(&error)),
            }
        }
        match names.first() {
            None => Ok(()),
            Some(name) => Err(Failure::Objects {
                detail: format!(
                    "content of this log is not there (such as {name}): is it the right one, and mounted?"
                ),
            }),
        }
    }

    /// Demands that the folder which was there is still there. The object store would make it again, where its file
    /// system is not mounted any more.
    async fn demand_folder(&self) -> Result<(), Failure> {
        let Some(folder) = self.folder.clone() else {
            return Ok(());
        };
        if !self.was_seen.load(Ordering::Relaxed) {
            return Ok(());
        }
        let detail = format!("the folder {} is not there any more", folder.display());
        let is_there = tokio::task::spawn_blocking(move || folder.is_dir()).await;
        match is_there {
            Ok(true) => Ok(()),
            _ => Err(Failure::Objects { detail }),
        }
    }

    /// A name for content that no object has had.
    pub(crate) fn name(digest: Digest) -> String {
        Objects::named(digest, Uuid::new_v4())
    }

    fn named(digest: Digest, id: Uuid) -> String {
        format!("{digest}-{}", id.simple())
    }

    /// Whether an object may have this name.
    pub(crate) fn is_name(name: &str) -> bool {
        let like = Objects::named(Digest([0; 32]), Uuid::nil());
        let is_like = |(found, like): (u8, u8)| match like {
            b'-' | b':' => found == like,
            _ => found.is_ascii_alphanumeric(),
        };
        name.len() == like.len() && name.bytes().zip(like.bytes()).all(is_like)
    }

    async fn in_time<T>(
        &self,
        asked: impl Future<Output = Result<T, Error>>,
    ) -> Result<Result<T, Error>, Failure> {
        let asked = tokio::time::timeout(self.limit, asked).await;
        asked.map_err(|_| Failure::Objects {
            detail: format!("no answer within {:?}", self.limit),
        })
    }

    fn path(&self, name: &str) -> Path {
        Path::from_iter([self.log_id.to_string().as_str(), name])
    }

    /// Writes content under a name.
    pub(crate) async fn put(&self, name: &str, blob: &Blob) -> Result<(), Failure> {
        self.demand_folder().await?;
        let payload = PutPayload::from(blob.bytes().clone());
        let path = self.path(name);
        let put = self.in_time(self.store.put(&path, payload)).await?;
        put.map_err(|error| failed(&error))?;
        self.was_seen.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Reads content, and compares it with its digest; `None` where there is no such object.
    pub(crate) async fn get(
        &self,
        name: &str,
        (digest, size): (Digest, u64),
    ) -> Result<Option<Bytes>, Failure> {
        let path = self.path(name);
        let found = match self.in_time(self.store.get(&path)).await? {
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
        let content = self.in_time(found.bytes()).await?;
        let content = content.map_err(|error| failed(&error))?;
        match Digest::of(&content) == digest {
            true => Ok(Some(content)),
            false => Err(Failure::damaged(format!(
                "the object {name} has another digest"
            ))),
        }
    }

    /// Removes an object; one that is not there is removed.
    pub(crate) async fn remove(&self, name: &str) -> Result<(), Failure> {
        let path = self.path(name);
        match self.in_time(self.store.delete(&path)).await? {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Has what was removed stay removed, also after a power cut.
    pub(crate) async fn sync(&self) -> Result<(), Failure> {
        let Some(folder) = self.folder.clone() else {
            return Ok(());
        };
        let synced = tokio::task::spawn_blocking(move || match File::open(&folder) {
            // Nothing was ever in it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            opened => opened.and_then(|folder| folder.sync_all()),
        });
        let synced = synced.await.unwrap_or_else(|error| Err(error.into()));
        synced.map_err(|error| Failure::Objects {
            detail: format!("what was removed cannot be synced: {error}"),
        })
    }
}

fn failed(error: &Error) -> Failure {
    Failure::Objects {
        detail: error.to_string(),
    }
}
