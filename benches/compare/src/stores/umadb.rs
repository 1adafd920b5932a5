//! UmaDB: the library below its server, with the writer's thread that the server starts. A
//! stream is a tag.

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use annals_measure::store::{EVENT_TYPE, Event, Store, StoreError, Token, stream_name};
use tokio::sync::{mpsc, oneshot, watch};
use umadb_core::db::UmaDb;
use umadb_core::mvcc::{Mvcc, StorageOptions};
use umadb_core::writer_thread_blocking::writer_thread_blocking;
use umadb_core::writer_thread_request::WriterThreadRequest;
use umadb_dcb::{
    DcbAppendCondition, DcbError, DcbEvent, DcbEventStoreSync, DcbQuery, DcbQueryItem,
};

/// Requests that may wait, and events of one group.
const QUEUE: usize = 1_024;
const GROUP_EVENTS: usize = 2_048;

/// Events of a page of a scan.
const PAGE: u32 = 1_024;

pub struct Uma {
    database: UmaDb,
    requests: mpsc::Sender<WriterThreadRequest>,
    writer: JoinHandle<()>,
    /// The writer reports every group here; the receiver must exist.
    _head: watch::Receiver<Option<u64>>,
}

pub fn open(folder: &Path) -> Result<Uma, StoreError> {
    let options = StorageOptions::default().db_path(folder);
    let store = Arc::new(Mvcc::new(false, options).map_err(StoreError::failed)?);
    let (requests, receiver) = mpsc::channel(QUEUE);
    let (sender, head) = watch::channel(None);
    let of_writer = Arc::clone(&store);
    let writer =
        thread::spawn(move || writer_thread_blocking(of_writer, receiver, sender, GROUP_EVENTS));
    Ok(Uma {
        database: UmaDb::from_arc(store),
        requests,
        writer,
        _head: head,
    })
}

fn event(event: Event) -> DcbEvent {
    let tags = [stream_name(event.stream)];
    DcbEvent::new()
        .event_type(EVENT_TYPE)
        .tags(tags)
        .data(event.payload)
}

fn of_stream(stream: usize) -> DcbQuery {
    DcbQuery::new().item(DcbQueryItem::new().tags([stream_name(stream)]))
}

impl Uma {
    fn request(
        &self,
        events: Vec<DcbEvent>,
        condition: Option<DcbAppendCondition>,
    ) -> Result<u64, StoreError> {
        let (response_tx, response) = oneshot::channel();
        let request = WriterThreadRequest::Append {
            events,
            condition,
            tracking_info: None,
            response_tx,
            cancel: None,
        };
        let gone = |_| StoreError::failed("the writer has ended");
        self.requests.blocking_send(request).map_err(|_| gone(()))?;
        match response.blocking_recv().map_err(|_| gone(()))? {
            Ok(position) => Ok(position),
            Err(DcbError::IntegrityError(_)) => Err(StoreError::Conflict),
            Err(error) => Err(StoreError::failed(error)),
        }
    }

    /// Reads up to `limit` events from a position on; answers how many, and the next position.
    fn page(
        &self,
        query: Option<DcbQuery>,
        from: Option<u64>,
        limit: Option<u32>,
        each: &mut dyn FnMut(&[u8]),
    ) -> Result<(u32, Option<u64>), StoreError> {
        let events = self.database.read(query, from, false, limit);
        let (mut count, mut next) = (0, from);
        for event in events.map_err(StoreError::failed)? {
            let event = event.map_err(StoreError::failed)?;
            each(&event.event.data);
            count += 1;
            next = Some(event.position + 1);
        }
        Ok((count, next))
    }
}

impl Store for Uma {
    fn append(&self, events: Vec<Event>) -> Result<(), StoreError> {
        let events = events.into_iter().map(event).collect();
        self.request(events, None).map(drop)
    }

    fn append_if(&self, new: Event, last: Token) -> Result<Token, StoreError> {
        let condition = DcbAppendCondition::new(of_stream(new.stream)).after(Some(last));
        self.request(vec![event(new)], Some(condition))
    }

    fn tokens(&self, streams: usize) -> Result<Vec<Token>, StoreError> {
        let token = |stream| {
            let last = self
                .database
                .read(Some(of_stream(stream)), None, true, Some(1));
            let mut last = last.map_err(StoreError::failed)?;
            match last.next() {
                Some(event) => Ok(event.map_err(StoreError::failed)?.position),
                None => Ok(0),
            }
        };
        (0..streams).map(token).collect()
    }

    fn scan(&self, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let mut from = None;
        loop {
            let (count, next) = self.page(None, from, Some(PAGE), each)?;
            if count < PAGE {
                return Ok(());
            }
            from = next;
        }
    }

    fn read_stream(&self, stream: usize, each: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        self.page(Some(of_stream(stream)), None, None, each)
            .map(drop)
    }

    fn events(&self) -> Result<u64, StoreError> {
        let head = self.database.head().map_err(StoreError::failed)?;
        Ok(head.unwrap_or(0))
    }

    fn close(self: Box<Self>) -> Result<(), StoreError> {
        // A writer that is gone needs no telling; joining it says why.
        let _ = self.requests.blocking_send(WriterThreadRequest::Shutdown);
        self.writer
            .join()
            .map_err(|_| StoreError::failed("the writer panicked"))
    }
}
