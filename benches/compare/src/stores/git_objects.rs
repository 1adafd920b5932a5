//! git-internal's objects: a payload is a blob. The library has no store of its own, so single
//! blobs are written as git writes loose objects with `core.fsync=loose-object`, and batches as
//! packs by the library's encoder.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use annals_measure::store::{Event, Store, StoreError};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use git_internal::errors::GitError;
use git_internal::internal::metadata::{EntryMeta, MetaAttached};
use git_internal::internal::object::blob::Blob;
use git_internal::internal::pack::encode::encode_and_output_to_files;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

pub struct Objects {
    folder: PathBuf,
    runtime: Runtime,
    /// For names of files that are not there yet.
    next: AtomicU64,
    objects: AtomicU64,
}

pub fn open(folder: &Path) -> Result<Objects, StoreError> {
    Ok(Objects {
        folder: folder.to_path_buf(),
        runtime: Runtime::new().map_err(StoreError::failed)?,
        next: AtomicU64::new(0),
        objects: AtomicU64::new(0),
    })
}

impl Objects {
    /// A folder of this store, durable when it was made.
    fn subfolder(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.folder.join(name);
        match fs::create_dir(&folder) {
            Ok(()) => File::open(&self.folder)?.sync_all()?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            Err(error) => return Err(error),
        }
        Ok(folder)
    }

    /// Compressed into a new file, which is synced and then gets its name.
    fn loose(&self, blob: &Blob) -> io::Result<()> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let temporary = self.folder.join(format!("tmp_obj_{number}"));
        let mut encoder = ZlibEncoder::new(File::create(&temporary)?, Compression::default());
        write!(encoder, "blob {}\0", blob.data.len())?;
        encoder.write_all(&blob.data)?;
        encoder.finish()?.sync_all()?;
        let id = blob.id.to_string();
        let (first, rest) = id.split_at(2);
        let folder = self.subfolder(first)?;
        fs::rename(temporary, folder.join(rest))?;
        File::open(folder)?.sync_all()
    }

    /// As a pack and its index, without deltas: payloads have nothing in common.
    fn pack(&self, blobs: Vec<Blob>) -> Result<(), StoreError> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = self
            .subfolder(&format!("pack-{number}"))
            .map_err(StoreError::failed)?;
        let encoded = self.runtime.block_on(encode(blobs, folder.clone()));
        encoded.map_err(StoreError::failed)?;
        sync(&folder).map_err(StoreError::failed)
    }
}

async fn encode(blobs: Vec<Blob>, folder: PathBuf) -> Result<(), GitError> {
    let (sender, receiver) = mpsc::channel(blobs.len().max(1));
    let count = blobs.len();
    let encoded = tokio::spawn(encode_and_output_to_files(receiver, count, folder, 0));
    for blob in blobs {
        let entry = MetaAttached {
            inner: blob.into(),
            meta: EntryMeta::new(),
        };
        // An encoder that has ended says why below.
        let _ = sender.send(entry).await;
    }
    drop(sender);
    let ended = encoded.await;
    ended.map_err(|error| GitError::PackEncodeError(error.to_string()))?
}

/// The files of a folder, and their names.
fn sync(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        File::open(entry?.path())?.sync_all()?;
    }
    File::open(folder)?.sync_all()
}

impl Store for Objects {
    fn append(&self, events: Vec<Event>) -> Result<(), StoreError> {
        let count = events.len() as u64;
        let blob = |event: Event| Blob::from_content_bytes(event.payload);
        let mut blobs: Vec<Blob> = events.into_iter().map(blob).collect();
        match (blobs.len(), blobs.pop()) {
            (1, Some(blob)) => self.loose(&blob).map_err(StoreError::failed)?,
            (_, Some(blob)) => {
                blobs.push(blob);
                self.pack(blobs)?;
            }
            (_, None) => (),
        }
        self.objects.fetch_add(count, Ordering::Relaxed);
        Ok(())
    }

    fn events(&self) -> Result<u64, StoreError> {
        Ok(self.objects.load(Ordering::Relaxed))
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}
