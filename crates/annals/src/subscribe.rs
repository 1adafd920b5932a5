//! The log as a stream: all that is there, then all that comes.

use std::sync::Arc;

use annals_domain::{SessionId, StreamRef};
use annals_event_log::{EventLog, Position, Query, ReadError, Record, StreamName, Version};
use annals_wire::stream_name;
use futures::{Stream, StreamExt, TryStreamExt, stream};

use crate::Annals;

/// Records read at once.
const PAGE: usize = 1_000;

struct Tail {
    log: Arc<dyn EventLog>,
    seen: Position,
}

/// How far one stream was read.
struct StreamTail {
    log: Arc<dyn EventLog>,
    stream: StreamName,
    next: Version,
}

impl Annals {
    /// Every record after `after`, in order, each exactly once: first what is
    /// there, then what comes. It never ends by itself; it ends with
    /// [`ReadError::Closed`] when the log is closed.
    ///
    /// Any number of subscribers may read, each at its own pace: they pull
    /// pages, and none of them holds back a writer.
    pub fn subscribe(
        &self,
        after: Position,
    ) -> impl Stream<Item = Result<Record, ReadError>> + Send + use<> {
        let tail = Tail {
            log: Arc::clone(&self.log),
            seen: after,
        };
        let pages = stream::try_unfold(tail, |mut tail| async move {
            tail.log.wait_above(tail.seen).await?;
            let page = tail
                .log
                .read(Query::all(tail.seen.next()).limit(PAGE))
                .await?;
            if let Some(last) = page.records.last() {
                tail.seen = last.position();
            }
            Ok::<_, ReadError>(Some((page.records, tail)))
        });
        pages
            .map_ok(|records| stream::iter(records).map(Ok))
            .try_flatten()
    }

    /// Every record of one stream after `after`, in order, each exactly once:
    /// first what is there, then what comes. It never ends by itself; it ends
    /// with [`ReadError::Closed`] when the log is closed. Like
    /// [`Annals::subscribe`], it holds nobody back.
    pub fn subscribe_to(
        &self,
        stream: StreamRef,
        after: Version,
    ) -> impl Stream<Item = Result<Record, ReadError>> + Send + use<> {
        let tail = StreamTail {
            log: Arc::clone(&self.log),
            stream: stream_name(stream),
            next: after.next(),
        };
        let pages = stream::try_unfold(tail, |mut tail| async move {
            loop {
                // In this order: what comes behind the page is above the mark.
                let mark = tail.log.watermark();
                let query = Query::stream(tail.stream.clone(), tail.next).limit(PAGE);
                let page = tail.log.read(query).await?;
                if let Some(last) = page.records.last() {
                    tail.next = last.version().next();
                    return Ok::<_, ReadError>(Some((page.records, tail)));
                }
                tail.log.wait_above(mark).await?;
            }
        });
        pages
            .map_ok(|records| stream::iter(records).map(Ok))
            .try_flatten()
    }

    /// Every record of a session, first what is there, then what comes: see
    /// [`Annals::subscribe_to`].
    pub fn session_events(
        &self,
        session: SessionId,
    ) -> impl Stream<Item = Result<Record, ReadError>> + Send + use<> {
        self.subscribe_to(session.stream(), Version::NONE)
    }
}
