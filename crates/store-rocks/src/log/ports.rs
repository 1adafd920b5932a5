//! The three ports on a log.

use std::sync::Arc;

use annals_event_log::store_support::distinct_blobs;
use annals_event_log::{
    Append, AppendError, Appended, BatchId, BatchStatus, Blob, Blobs, CommitError, Digest,
    Direction, EncodedEvent, EventLog, IdSecret, Link, ModelCheckpoint, Page, Position, Query,
    ReadError, ReadModels, Record, RedactError, Redaction, Row, Rows, Source, Stats, StreamHead,
    StreamName, Version,
};
use async_trait::async_trait;
use bytes::Bytes;
use futures::channel::oneshot;
use uuid::Uuid;

use super::{RocksLog, Visibility, follow, is_new, prepare, run, writers};
use crate::error::{StoreFailure, corrupt};
use crate::folder::directory_bytes;
use crate::models::{self, Commit};
use crate::open::Access;
use crate::read::View;
use crate::redaction::{Removal, Waiting};
use crate::writer::{Groups, Work};
use crate::{index, page, secret, streams, tree};

/// So many of the newest records are read by whoever asks for them. They were written a moment ago, and RocksDB has them
/// in memory, or the system has.
const NEWEST: usize = 256;

#[async_trait]
impl EventLog for RocksLog {
    fn log_id(&self) -> Uuid {
        self.inner.log_id
    }

    async fn id_secret(&self) -> Result<Option<IdSecret>, ReadError> {
        let read = |view: &View<'_>| secret::read(view.db, &view.columns);
        run(&self.inner, read).await
    }

    fn watermark(&self) -> Position {
        // A reader that cannot catch up still serves what it has.
        match self.inner.refresh() {
            Ok((_, watermark)) => watermark,
            Err(_) => self.inner.watermark.get(),
        }
    }

    async fn wait_above(&self, seen: Position) -> Result<Position, ReadError> {
        drop(self.inner.db()?);
        if let Access::Follow(follower) = &self.inner.access {
            let inner = Arc::downgrade(&self.inner);
            follower.poll(move || follow(&inner))?;
        }
        match self.inner.watermark.above(seen).await {
            // The thread that follows the writer has ended: here is why, unless it was closed.
            Err(ReadError::Closed) => self.inner.refresh().and(Err(ReadError::Closed)),
            waited => waited,
        }
    }

    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        let Access::Write(writer) = &self.inner.access else {
            return Err(AppendError::ReadOnly);
        };
        let (prepared, request) = prepare(&self.inner, append).await?;
        writer.submit(Work::Append { prepared, request }).await
    }

    async fn append_linked(&self, append: Append, link: Link) -> Result<Appended, AppendError> {
        let Access::Write(writer) = &self.inner.access else {
            return Err(AppendError::ReadOnly);
        };
        let (mut prepared, request) = prepare(&self.inner, append).await?;
        prepared.link = Some(Box::new(link));
        writer.submit(Work::Append { prepared, request }).await
    }

    async fn append_records(
        &self,
        records: Vec<Record>,
        blobs: Vec<Blob>,
    ) -> Result<Appended, AppendError> {
        let Access::Write(writer) = &self.inner.access else {
            return Err(AppendError::ReadOnly);
        };
        let blobs = distinct_blobs(blobs)?;
        writer.submit(Work::Copy { records, blobs }).await
    }

    async fn redact(&self, redaction: Redaction) -> Result<Appended, RedactError> {
        let Access::Write(writer) = &self.inner.access else {
            return Err(AppendError::ReadOnly.into());
        };
        redaction.check()?;
        let removal = Removal::from(&redaction);
        let (prepared, request) = prepare(&self.inner, redaction.append).await?;
        let bytes = prepared.events.iter().map(EncodedEvent::len).sum();
        let turns = Arc::clone(&self.inner.turns);
        let check = move |view: &View<'_>| -> Result<Waiting, RedactError> {
            let removal = removal.check_published(view, &prepared)?;
            Ok(Waiting {
                prepared,
                request,
                removal,
                turns,
            })
        };
        let waiting = run(&self.inner, check).await?;
        let begin = |groups: Result<&mut Groups<'_>, StoreFailure>, answer: oneshot::Sender<_>| {
            waiting.begin(groups, answer);
        };
        writer.hand_over(bytes, begin).await
    }

    async fn batch(&self, batch: BatchId, request: &[u8]) -> Result<BatchStatus, ReadError> {
        if is_new(&self.inner, batch)? {
            return Ok(BatchStatus::Unknown);
        }
        let request = Bytes::copy_from_slice(request);
        let look = move |view: &View<'_>| {
            let row = index::batch_row(view.db, &view.columns, batch)?;
            // What is not durable yet is not known yet.
            let row = row.filter(|row| row.appended.last <= view.watermark);
            Ok(row.map_or(BatchStatus::Unknown, |row| row.status(&request)))
        };
        run(&self.inner, look).await
    }

    async fn head(&self, stream: &StreamName) -> Result<Version, ReadError> {
        let stream = stream.clone();
        let look = move |view: &View<'_>| {
            index::version_up_to(view.db, &view.columns, stream.as_str(), view.watermark)
        };
        run(&self.inner, look).await.map(Version)
    }

    async fn read(&self, query: Query) -> Result<Page, ReadError> {
        if let Some(page) = self.read_here(&query)? {
            return Ok(page);
        }
        run(&self.inner, move |view| page::page(view, &query)).await
    }

    async fn streams(
        &self,
        prefix: &str,
        after: Option<&StreamName>,
        limit: usize,
    ) -> Result<Vec<StreamHead>, ReadError> {
        let (prefix, after) = (prefix.to_owned(), after.cloned());
        run(&self.inner, move |view| {
            streams::list(view, &prefix, after.as_ref(), limit)
        })
        .await
    }

    async fn tree_hashes(
        &self,
        level: u8,
        first: u64,
        limit: usize,
    ) -> Result<Vec<Digest>, ReadError> {
        let hashes = move |view: &View<'_>| tree::hashes(view, level, first, limit);
        run(&self.inner, hashes).await
    }

    async fn stats(&self) -> Result<Stats, ReadError> {
        let visibility = self.inner.visibility();
        let look = move |view: &View<'_>| {
            // The counts are those of the last group in view, and so is the
            // position. A reader waits until that group is published; where its
            // writer is gone, it may not be durable, and is not counted.
            let counts = match &visibility {
                Visibility::Own(_) => index::counts(view.db, &view.columns)?,
                Visibility::Followed(follower) => {
                    let (still, _) = follower.hold()?;
                    index::counts_up_to(&still.db, &still.db.columns()?, still.shown)?
                }
            };
            let position = Position(counts.position);
            let bytes = directory_bytes(&view.db.path);
            Ok(Stats {
                position,
                streams: counts.streams,
                batches: counts.batches,
                blobs: counts.blobs,
                blob_bytes: counts.blob_bytes,
                bytes: bytes.map_err(|error| ReadError::Unavailable {
                    source: error.into(),
                })?,
            })
        };
        run(&self.inner, look).await
    }

    async fn close(&self) {
        self.inner.watermark.close();
        if let Access::Write(writer) = &self.inner.access {
            writer.shut();
            writer.ended().await;
        }
        // Closing RocksDB takes milliseconds, which are not the caller's.
        if let Some(db) = self.inner.db.take() {
            self.inner.readers.spawn(move || drop(db));
        }
        self.inner.db.released().wait().await;
    }
}

#[async_trait]
impl Blobs for RocksLog {
    async fn blob(&self, digest: Digest) -> Result<Option<Bytes>, ReadError> {
        let look = move |view: &View<'_>| {
            let Some(stored) = view.db.get(view.columns.blobs, &digest.0)? else {
                return Ok(None);
            };
            if Digest::of(&stored) != digest {
                return Err(corrupt(format!("the blob {digest} has another digest")));
            }
            Ok(Some(Bytes::copy_from_slice(&stored)))
        };
        run(&self.inner, look).await
    }
}

#[async_trait]
impl ReadModels for RocksLog {
    async fn checkpoint(&self, model: &str) -> Result<ModelCheckpoint, ReadError> {
        if let Some(db) = writers(&self.inner)?
            && let Some(found) = models::checkpoint_from_memory(&db, model)?
        {
            return Ok(found);
        }
        let model = model.to_owned();
        run(&self.inner, move |view| models::checkpoint(view, &model)).await
    }

    async fn commit(
        &self,
        model: &str,
        expected: ModelCheckpoint,
        rows: Rows,
        position: Position,
    ) -> Result<(), CommitError> {
        self.may_commit()?;
        let commit = Commit {
            model: model.to_owned(),
            expected,
            rows,
            position,
        };
        let turns = Arc::clone(&self.inner.turns);
        run(&self.inner, move |view| {
            models::commit(view, &turns, commit)
        })
        .await
    }

    async fn get(&self, model: &str, key: &[u8]) -> Result<Option<Bytes>, ReadError> {
        let (model, key) = (model.to_owned(), Bytes::copy_from_slice(key));
        run(&self.inner, move |view| models::get(view, &model, &key)).await
    }

    async fn get_many(&self, model: &str, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>, ReadError> {
        if let Some(db) = writers(&self.inner)?
            && models::has_none_of(&db, model, keys)?
        {
            return Ok(vec![None; keys.len()]);
        }
        let (model, keys) = (model.to_owned(), keys.to_vec());
        run(&self.inner, move |view| {
            models::get_many(view, &model, &keys)
        })
        .await
    }

    async fn scan(
        &self,
        model: &str,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        let (model, prefix) = (model.to_owned(), Bytes::copy_from_slice(prefix));
        let after = after.map(Bytes::copy_from_slice);
        let look =
            move |view: &View<'_>| models::scan(view, &model, &prefix, after.as_deref(), limit);
        run(&self.inner, look).await
    }

    async fn scan_back(
        &self,
        model: &str,
        prefix: &[u8],
        before: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        let (model, prefix) = (model.to_owned(), Bytes::copy_from_slice(prefix));
        let before = before.map(Bytes::copy_from_slice);
        let look = move |view: &View<'_>| {
            models::scan_back(view, &model, &prefix, before.as_deref(), limit)
        };
        run(&self.inner, look).await
    }

    async fn drop_model(&self, model: &str) -> Result<(), CommitError> {
        self.may_commit()?;
        let model = model.to_owned();
        let turns = Arc::clone(&self.inner.turns);
        run(&self.inner, move |view| {
            models::drop_model(view, &turns, &model)
        })
        .await
    }
}

impl RocksLog {
    /// A page that memory has, of a log that is open for writing here: of the newest records, or of a stream without any.
    /// Whoever appends asks for these again and again, and to ask another thread would take longer than the answer.
    fn read_here(&self, query: &Query) -> Result<Option<Page>, ReadError> {
        let Some(db) = writers(&self.inner)? else {
            return Ok(None);
        };
        match &query.source {
            Source::All if query.direction == Direction::Forward => {
                let end = self.inner.watermark.get().0;
                if query.from.saturating_add(NEWEST as u64) <= end {
                    return Ok(None);
                }
                let query = query.clone().limit(query.limit.min(NEWEST));
                self.look(|view| page::page(view, &query)).map(Some)
            }
            Source::Stream(stream) => {
                let has_none = index::has_none_in_memory(&db, &db.columns()?, stream.as_str())?;
                Ok(has_none.then(Page::default))
            }
            Source::All | Source::EventType(_) => Ok(None),
        }
    }

    /// Whether rows may be written: not by a reader, and not after a failure.
    fn may_commit(&self) -> Result<(), CommitError> {
        match &self.inner.access {
            Access::Follow(_) => Err(CommitError::ReadOnly),
            Access::Write(writer) => match writer.failure() {
                Some(failure) => Err(failure.clone().into()),
                None => Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::mpsc::channel;

    use annals_event_log::{EventLog as _, Position, Query, Version};
    use futures::FutureExt as _;
    use futures::executor::block_on;

    use super::NEWEST;
    use crate::fixtures::{append_of, event};
    use crate::{Options, RocksLog};

    /// Nobody who reads what was just written waits for the readers, all of which are busy here.
    #[test]
    fn the_newest_records_are_read_without_another_thread() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let log = RocksLog::create(&path, &Options::default()).unwrap();
        let count = NEWEST + 10;
        let events = (0..count).map(|_| event("run-1")).collect();
        block_on(log.append(append_of(events))).unwrap();
        let (release, busy) = channel::<()>();
        let busy = std::sync::Arc::new(std::sync::Mutex::new(busy));
        for _ in 0..Options::default().read_threads {
            let busy = std::sync::Arc::clone(&busy);
            log.inner.readers.spawn(move || {
                let _ = busy.lock().unwrap().recv();
            });
        }
        let now = |query: Query| log.read(query).now_or_never();
        let newest = now(Query::all(Position(11))).unwrap().unwrap();
        let positions: Vec<u64> = newest.records.iter().map(|it| it.position().0).collect();
        assert!(positions.iter().copied().eq(11..=count as u64));
        assert_eq!(newest.next, None);
        let few = now(Query::all(Position(20)).limit(2)).unwrap().unwrap();
        assert_eq!((few.records.len(), few.next), (2, Some(22)));
        let none = now(Query::stream("run-2".parse().unwrap(), Version(1)));
        assert_eq!(none.unwrap().unwrap().records.len(), 0);
        // What may be on the disk alone, and what has to be looked for, is for the readers.
        assert!(now(Query::all(Position(10))).is_none());
        assert!(now(Query::stream("run-1".parse().unwrap(), Version(1))).is_none());
        drop(release);
        let all = block_on(log.read(Query::all(Position(1)))).unwrap();
        assert_eq!(all.records.len(), count);
    }
}
