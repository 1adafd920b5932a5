//! Tephra: its engine, embedded. A stream is a tag.

use std::path::Path;

use annals_measure::store::{EVENT_TYPE, Event, Store, StoreError, Token, stream_name};
use tephra::{
    AppendCondition, AppendError, EventType, Position, Query, QueryItem, SegmentConfig, SegmentSet,
    Tag, Tags, WriteCoordinator, WriteHandle, WriterConfig,
};

/// The size of a segment that its documentation takes.
const SEGMENT_BYTES: usize = 256 * 1024 * 1024;

pub struct Tephra {
    handle: WriteHandle,
    coordinator: WriteCoordinator,
    event_type: EventType,
}

pub fn open(folder: &Path) -> Result<Tephra, StoreError> {
    let segments = SegmentSet::open(folder, SegmentConfig::new(SEGMENT_BYTES));
    let segments = segments.map_err(StoreError::failed)?;
    let started = WriteCoordinator::start(segments, WriterConfig::default());
    let (coordinator, handle) = started.map_err(StoreError::failed)?;
    Ok(Tephra {
        handle,
        coordinator,
        event_type: EventType::new(EVENT_TYPE).map_err(StoreError::failed)?,
    })
}

/// The tags of a stream's events, made of its name each time, as a caller does.
fn tags(stream: usize) -> Result<Tags, StoreError> {
    let tag = Tag::new(stream_name(stream)).map_err(StoreError::failed)?;
    Tags::new([tag]).map_err(StoreError::failed)
}

fn of_stream(stream: usize) -> Result<Query, StoreError> {
    Ok(Query::item(QueryItem::with_tags(tags(stream)?)))
}

impl Tephra {
    fn event(&self, event: &Event) -> Result<tephra::Event, StoreError> {
        let tags = tags(event.stream)?;
        tephra::Event::new(&self.event_type, &tags, &event.payload).map_err(StoreError::failed)
    }

    fn read(&self, query: &Query, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let mut events = self.handle.read(query, Position::ZERO, None);
        while let Some(event) = events.next() {
            each(event.map_err(StoreError::failed)?.event.data());
        }
        Ok(())
    }

    fn token(&self, stream: usize) -> Result<Token, StoreError> {
        let query = of_stream(stream)?;
        let mut last = self.handle.read_back(&query, Position::MAX, Some(1));
        match last.next() {
            Some(event) => Ok(event.map_err(StoreError::failed)?.position.get()),
            None => Ok(0),
        }
    }
}

impl Store for Tephra {
    fn append(&self, events: Vec<Event>) -> Result<(), StoreError> {
        let events: Result<Vec<_>, _> = events.iter().map(|event| self.event(event)).collect();
        let appended = self.handle.append(events?, None);
        appended.map(drop).map_err(StoreError::failed)
    }

    fn append_if(&self, event: Event, last: Token) -> Result<Token, StoreError> {
        let condition = AppendCondition::new(of_stream(event.stream)?).after(Position::new(last));
        let event = self.event(&event)?;
        match self.handle.append(vec![event], Some(condition)) {
            Ok(range) => Ok(range.last.get()),
            Err(AppendError::Conflict { .. }) => Err(StoreError::Conflict),
            Err(error) => Err(StoreError::failed(error)),
        }
    }

    fn tokens(&self, streams: usize) -> Result<Vec<Token>, StoreError> {
        (0..streams).map(|stream| self.token(stream)).collect()
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        self.read(&Query::all(), each)
    }

    fn read_stream(&self, stream: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        self.read(&of_stream(stream)?, each)
    }

    fn events(&self) -> Result<u64, StoreError> {
        Ok(self.handle.head().get())
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        self.coordinator.shutdown();
        Ok(())
    }
}
