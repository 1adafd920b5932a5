//! A bare file: what durability costs at least.

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use annals_measure::store::{Event, Store, StoreError};

use super::locked;

/// Bytes of a file that is there beforehand; at its end writing goes on at its beginning.
const PREALLOCATED: u64 = 64 * 1024 * 1024;

pub struct Bare {
    file: Mutex<File>,
    /// Where the writing goes on at the beginning; `None` for a file that grows.
    end: Option<u64>,
    events: AtomicU64,
}

/// A file that grows with each append.
pub fn growing(folder: &Path) -> Result<Bare, StoreError> {
    let file = File::create(folder.join("bare")).map_err(StoreError::failed)?;
    Ok(Bare {
        file: Mutex::new(file),
        end: None,
        events: AtomicU64::new(0),
    })
}

/// A file of zeros, written and synced, so that no append changes what the disk knows of it.
pub fn preallocated(folder: &Path) -> Result<Bare, StoreError> {
    let path = folder.join("bare");
    let zeros = vec![0; 1024 * 1024];
    let mut file = File::create(&path).map_err(StoreError::failed)?;
    for _ in 0..PREALLOCATED / zeros.len() as u64 {
        file.write_all(&zeros).map_err(StoreError::failed)?;
    }
    file.sync_all().map_err(StoreError::failed)?;
    let file = OpenOptions::new().write(true).open(path);
    Ok(Bare {
        file: Mutex::new(file.map_err(StoreError::failed)?),
        end: Some(PREALLOCATED),
        events: AtomicU64::new(0),
    })
}

impl Store for Bare {
    fn append(&self, events: Vec<Event>) -> Result<(), StoreError> {
        let payloads: Vec<&[u8]> = events
            .iter()
            .map(|event| event.payload.as_slice())
            .collect();
        let bytes = payloads.concat();
        let mut file = locked(&self.file);
        if let Some(end) = self.end {
            let position = file.stream_position().map_err(StoreError::failed)?;
            if position + bytes.len() as u64 > end {
                file.seek(SeekFrom::Start(0)).map_err(StoreError::failed)?;
            }
        }
        file.write_all(&bytes).map_err(StoreError::failed)?;
        file.sync_data().map_err(StoreError::failed)?;
        self.events
            .fetch_add(events.len() as u64, Ordering::Relaxed);
        Ok(())
    }

    fn events(&self) -> Result<u64, StoreError> {
        Ok(self.events.load(Ordering::Relaxed))
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}
