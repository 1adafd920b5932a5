//! Our log, through the calls of its port, as a thread of a service calls them.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use annals_event_log::{
    Actor, Append, AppendError, EventLog, Expectation, Expected, NewEvent, Position, Query,
    StreamName, Version,
};
use annals_measure::store::{EVENT_TYPE, Event, Store, StoreError, Token, stream_name};
use annals_store_rocks::{Options, RocksLog};
use bytes::Bytes;
use chrono::DateTime;
use futures::executor::block_on;
use uuid::Uuid;

/// Records of a page.
const PAGE: usize = 10_000;

pub struct Annals {
    log: RocksLog,
    /// Of this process alone, since an id must not be used twice in one log.
    ids: u64,
    next: AtomicU64,
}

pub fn open(folder: &Path) -> Result<Annals, StoreError> {
    let log = RocksLog::open_or_create(&folder.join("log"), &Options::default());
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_err(StoreError::failed)?.as_nanos();
    Ok(Annals {
        log: log.map_err(StoreError::failed)?,
        ids: u64::try_from(now).map_err(StoreError::failed)?,
        next: AtomicU64::new(0),
    })
}

fn name(stream: usize) -> Result<StreamName, StoreError> {
    stream_name(stream).parse().map_err(StoreError::failed)
}

impl Annals {
    /// As cheap as can be: making random ids is the caller's business.
    fn id(&self) -> Uuid {
        let mut bytes = [0; 16];
        let (time, number) = bytes.split_at_mut(8);
        time.copy_from_slice(&self.ids.to_be_bytes());
        number.copy_from_slice(&self.next.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }

    fn event(&self, event: Event) -> Result<NewEvent, StoreError> {
        Ok(NewEvent {
            stream: name(event.stream)?,
            id: self.id(),
            event_type: EVENT_TYPE.into(),
            schema_version: 1,
            occurred_at: DateTime::from_timestamp(1_700_000_000, 0).unwrap_or_default(),
            actor: Actor {
                kind: "agent".into(),
                id: "bench".into(),
                display_name: None,
                auth_context: None,
            },
            correlation: None,
            causation: None,
            structure: event.payload.into(),
            content: Vec::new(),
        })
    }

    fn batch(&self, events: Vec<Event>) -> Result<Append, StoreError> {
        let events: Result<_, _> = events.into_iter().map(|event| self.event(event)).collect();
        Ok(Append {
            batch: self.id(),
            request: Bytes::new(),
            events: events?,
            expectations: Vec::new(),
            blobs: Vec::new(),
        })
    }

    fn read(&self, query: Query, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let mut next = Some(query.from);
        while let Some(from) = next {
            let query = query.clone().starting_at(from).limit(PAGE);
            let page = block_on(self.log.read(query)).map_err(StoreError::failed)?;
            for record in &page.records {
                each(&record.structure());
            }
            next = page.next;
        }
        Ok(())
    }
}

impl Store for Annals {
    fn append(&self, events: Vec<Event>) -> Result<(), StoreError> {
        let appended = block_on(self.log.append(self.batch(events)?));
        appended.map(drop).map_err(StoreError::failed)
    }

    fn append_if(&self, event: Event, last: Token) -> Result<Token, StoreError> {
        let expectation = Expectation {
            stream: name(event.stream)?,
            expected: Expected::Exactly(Version(last)),
        };
        let append = Append {
            expectations: vec![expectation],
            ..self.batch(vec![event])?
        };
        match block_on(self.log.append(append)) {
            Ok(_) => Ok(last + 1),
            Err(AppendError::Conflict { .. }) => Err(StoreError::Conflict),
            Err(error) => Err(StoreError::failed(error)),
        }
    }

    fn tokens(&self, streams: usize) -> Result<Vec<Token>, StoreError> {
        let token = |stream| {
            let head = block_on(self.log.head(&name(stream)?));
            Ok(head.map_err(StoreError::failed)?.0)
        };
        (0..streams).map(token).collect()
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        self.read(Query::all(Position::START), each)
    }

    fn read_stream(&self, stream: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        self.read(Query::stream(name(stream)?, Version(1)), each)
    }

    fn events(&self) -> Result<u64, StoreError> {
        Ok(self.log.watermark().0)
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        block_on(self.log.close());
        Ok(())
    }
}
