//! VarveDB: one of its typed streams, in which each of ours is a stream id. It writes one
//! stream id in a transaction, and one caller at a time.

use std::path::Path;
use std::sync::Mutex;

use annals_measure::store::{EVENT_TYPE, Event, Store, StoreError};
use varvedb::{GlobalSequence, Stream, StreamId, Varve, VarveConfig};

use super::locked;

/// The largest payload, and what it is stored with.
const EVENT_BYTES: usize = 4_096;

/// Address space for the file, which is as large as what is in it.
const MAP_BYTES: usize = 16 * 1024 * 1024 * 1024;

pub struct VarveStore {
    database: Varve,
    stream: Mutex<Stream<Vec<u8>, EVENT_BYTES>>,
}

pub fn open(folder: &Path) -> Result<VarveStore, StoreError> {
    let config = VarveConfig {
        map_size: MAP_BYTES,
        ..VarveConfig::default()
    };
    let mut database = Varve::with_config(folder, config).map_err(StoreError::failed)?;
    let stream = database.stream(EVENT_TYPE).map_err(StoreError::failed)?;
    Ok(VarveStore {
        database,
        stream: Mutex::new(stream),
    })
}

impl Store for VarveStore {
    fn append(&self, events: Vec<Event>) -> Result<(), StoreError> {
        let Some(stream) = events.first().map(|event| event.stream) else {
            return Ok(());
        };
        if events.iter().any(|event| event.stream != stream) {
            return Err(StoreError::Cannot("append to several streams at once"));
        }
        let id = StreamId(stream as u64);
        let payloads: Vec<Vec<u8>> = events.into_iter().map(|event| event.payload).collect();
        let appended = locked(&self.stream).append_batch_alloc(id, &payloads);
        appended.map(drop).map_err(StoreError::failed)
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let reader = self.database.global_reader();
        let events = reader
            .iter_from(GlobalSequence(0))
            .map_err(StoreError::failed)?;
        let read = events.for_each(|event| each(&event.payload));
        read.map_err(StoreError::failed)
    }

    fn read_stream(&self, stream: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let reader = locked(&self.stream).reader();
        let id = StreamId(stream as u64);
        let events = reader.iter_stream(id, None).map_err(StoreError::failed)?;
        let read = events.for_each(|_, payload| each(payload));
        read.map_err(StoreError::failed)
    }

    fn events(&self) -> Result<u64, StoreError> {
        Ok(self.database.next_global_seq().0)
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}
