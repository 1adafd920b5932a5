//! Reading on: all that a log holds, then all that comes.

use std::sync::Arc;

use annals_event_log::{Position, Query, ReadError, Record, Store, StreamName, Version};
use futures::{Stream, StreamExt, TryStreamExt, stream};

/// Records read at once.
const PAGE: usize = 1_000;

struct Tail {
    log: Arc<dyn Store>,
    seen: Position,
}

/// How far one stream was read.
struct StreamTail {
    log: Arc<dyn Store>,
    stream: StreamName,
    next: Version,
}

/// Every record after `after`, in order, each exactly once.
pub(crate) fn log(
    log: Arc<dyn Store>,
    after: Position,
) -> impl Stream<Item = Result<Record, ReadError>> + Send {
    let tail = Tail { log, seen: after };
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

/// Every record of one stream after `after`, in order, each exactly once.
pub(crate) fn stream(
    log: Arc<dyn Store>,
    stream: StreamName,
    after: Version,
) -> impl Stream<Item = Result<Record, ReadError>> + Send {
    let tail = StreamTail {
        log,
        stream,
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
