//! Raw RocksDB: what is left when ours has no hashes, no versions and no conditions. An event is
//! a row under its position; an empty row under its stream and position finds it again.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use annals_measure::store::{EVENT_TYPE, Event, Store, StoreError, stream_name};
use rocksdb::{DB, DBCompressionType, Direction, IteratorMode, Options, WriteBatch, WriteOptions};

/// The first byte of keys.
const EVENTS: u8 = b'e';
const STREAMS: u8 = b's';

/// Bytes of a position at the end of a key.
const POSITION: usize = size_of::<u64>();

pub struct Rocks {
    database: DB,
    synced: WriteOptions,
    /// How many events there are, which is also the next position.
    events: AtomicU64,
}

pub fn open(folder: &Path) -> Result<Rocks, StoreError> {
    let mut options = Options::default();
    options.create_if_missing(true);
    options.set_compression_type(DBCompressionType::Lz4);
    let database = DB::open(&options, folder).map_err(StoreError::failed)?;
    let mut synced = WriteOptions::default();
    synced.set_sync(true);
    let mut last = database.iterator(IteratorMode::From(&[EVENTS + 1], Direction::Reverse));
    let events = match last.next() {
        Some(row) => position(&row.map_err(StoreError::failed)?.0)? + 1,
        None => 0,
    };
    drop(last);
    Ok(Rocks {
        database,
        synced,
        events: AtomicU64::new(events),
    })
}

fn position(key: &[u8]) -> Result<u64, StoreError> {
    let (_, position) = key.split_last_chunk::<POSITION>().ok_or_else(unreadable)?;
    Ok(u64::from_be_bytes(*position))
}

fn unreadable() -> StoreError {
    StoreError::failed("a row that was not written here")
}

fn event_key(position: u64) -> Vec<u8> {
    [&[EVENTS], position.to_be_bytes().as_slice()].concat()
}

/// The name of a stream has a fixed length, so no other stream's keys begin so.
fn stream_key(stream: usize) -> Vec<u8> {
    [&[STREAMS], stream_name(stream).as_bytes(), &[0]].concat()
}

/// The stream, the type and the payload, each name behind its length.
fn value(event: &Event) -> Vec<u8> {
    let mut value = Vec::with_capacity(event.payload.len() + 32);
    for name in [stream_name(event.stream).as_str(), EVENT_TYPE] {
        value.extend(u8::try_from(name.len()));
        value.extend(name.as_bytes());
    }
    value.extend(&event.payload);
    value
}

fn payload(value: &[u8]) -> Result<&[u8], StoreError> {
    let mut rest = value;
    for _name in 0..2 {
        let (length, behind) = rest.split_first().ok_or_else(unreadable)?;
        rest = behind.get(usize::from(*length)..).ok_or_else(unreadable)?;
    }
    Ok(rest)
}

impl Store for Rocks {
    fn append(&self, events: Vec<Event>) -> Result<(), StoreError> {
        let first = self
            .events
            .fetch_add(events.len() as u64, Ordering::Relaxed);
        let mut batch = WriteBatch::default();
        for (position, event) in (first..).zip(&events) {
            batch.put(event_key(position), value(event));
            let mut key = stream_key(event.stream);
            key.extend(position.to_be_bytes());
            batch.put(key, []);
        }
        let written = self.database.write_opt(batch, &self.synced);
        written.map_err(StoreError::failed)
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let mode = IteratorMode::From(&[EVENTS], Direction::Forward);
        for row in self.database.iterator(mode) {
            let (key, value) = row.map_err(StoreError::failed)?;
            if !key.starts_with(&[EVENTS]) {
                break;
            }
            each(payload(&value)?);
        }
        Ok(())
    }

    fn read_stream(&self, stream: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let prefix = stream_key(stream);
        let mut keys = Vec::new();
        let mode = IteratorMode::From(&prefix, Direction::Forward);
        for row in self.database.iterator(mode) {
            let (key, _) = row.map_err(StoreError::failed)?;
            if !key.starts_with(&prefix) {
                break;
            }
            keys.push(event_key(position(&key)?));
        }
        for value in self.database.multi_get(keys) {
            let value = value.map_err(StoreError::failed)?.ok_or_else(unreadable)?;
            each(payload(&value)?);
        }
        Ok(())
    }

    fn events(&self) -> Result<u64, StoreError> {
        Ok(self.events.load(Ordering::Relaxed))
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}
