//! AllSource: its event store, embedded, with the write-ahead log that syncs each event. A
//! stream is an entity.

use std::path::Path;

use allsource_core::store::EventStoreConfig;
use allsource_core::{AllSourceError, EventStore, WALConfig};
use annals_measure::store::{EVENT_TYPE, Event, Store, StoreError, Token, stream_name};

pub struct AllSource(EventStore);

pub fn open(folder: &Path) -> Result<AllSource, StoreError> {
    let wal = WALConfig {
        sync_on_write: true,
        fsync_interval_ms: None,
        ..WALConfig::default()
    };
    let config = EventStoreConfig::with_wal(folder.join("wal"), wal);
    Ok(AllSource(EventStore::with_config(config)))
}

/// A payload is JSON there, so it is written in digits.
fn event(event: &Event) -> Result<allsource_core::Event, StoreError> {
    let made = allsource_core::Event::from_strings(
        EVENT_TYPE.into(),
        stream_name(event.stream),
        "default".into(),
        serde_json::json!({ "payload": hex::encode(&event.payload) }),
        None,
    );
    made.map_err(StoreError::failed)
}

impl Store for AllSource {
    fn append(&self, events: Vec<Event>) -> Result<(), StoreError> {
        if let [single] = events.as_slice() {
            return self.0.ingest(&event(single)?).map_err(StoreError::failed);
        }
        let events: Result<Vec<_>, _> = events.iter().map(event).collect();
        self.0.ingest_batch(events?).map_err(StoreError::failed)
    }

    fn append_if(&self, new: Event, last: Token) -> Result<Token, StoreError> {
        match self
            .0
            .ingest_with_expected_version(&event(&new)?, Some(last))
        {
            Ok(version) => Ok(version),
            Err(AllSourceError::VersionConflict { .. }) => Err(StoreError::Conflict),
            Err(error) => Err(StoreError::failed(error)),
        }
    }

    fn tokens(&self, streams: usize) -> Result<Vec<Token>, StoreError> {
        let token = |stream| self.0.get_entity_version(&stream_name(stream));
        Ok((0..streams).map(token).collect())
    }

    fn events(&self) -> Result<u64, StoreError> {
        Ok(self.0.total_events() as u64)
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }
}
