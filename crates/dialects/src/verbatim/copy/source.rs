//! The log that is copied, read as parts.

use std::collections::VecDeque;

use annals_event_log::{
    Blob, Content, Digest, Position, Query, ReadError, Record, Store, record_at,
};
use lru::LruCache;

use super::super::export::check_headers;
use super::super::parts::{Part, Parts};
use super::error::LogCopyError;

/// Blobs that are remembered as sent. One that is named again only after so many others is sent again.
const REMEMBERED: usize = 250_000;

/// What is left to be read of a log.
pub(super) struct Source<'a> {
    log: &'a dyn Store,
    end: Position,
    /// Where the next page begins.
    next: Option<u64>,
    page: VecDeque<Record>,
    parts: Parts,
    sent: LruCache<Digest, ()>,
    is_read: bool,
}

impl<'a> Source<'a> {
    /// The records behind one position, up to another.
    pub(super) fn new(log: &'a dyn Store, after: Position, end: Position) -> Source<'a> {
        Source {
            log,
            end,
            next: Some(after.next().0).filter(|from| *from <= end.0),
            page: VecDeque::new(),
            parts: Parts::default(),
            sent: LruCache::unbounded(),
            is_read: false,
        }
    }

    /// The next records, which end where a batch does, with the content that was not sent yet.
    pub(super) async fn part(&mut self) -> Result<Option<Part>, LogCopyError> {
        loop {
            if let Some(part) = self.parts.pop() {
                return Ok(Some(part));
            }
            if self.is_read {
                return Ok(None);
            }
            match self.record().await.map_err(LogCopyError::ReadSource)? {
                Some((record, blobs)) => self.parts.push(record, blobs),
                None => {
                    self.is_read = true;
                    self.parts.end();
                }
            }
        }
    }

    async fn record(&mut self) -> Result<Option<(Record, Vec<Blob>)>, ReadError> {
        while self.page.is_empty() {
            let Some(from) = self.next else {
                return Ok(None);
            };
            let page = self.log.read(Query::all(Position(from))).await?;
            let mut records = page.records;
            records.retain(|record| record.position() <= self.end);
            check_headers(self.log, &records).await?;
            self.page = records.into();
            self.next = page.next.filter(|next| *next <= self.end.0);
        }
        let Some(record) = self.page.pop_front() else {
            return Ok(None);
        };
        let (record, blobs) = self.with_content(record).await?;
        for blob in &blobs {
            self.sent.put(blob.digest(), ());
            if self.sent.len() > REMEMBERED {
                self.sent.pop_lru();
            }
        }
        Ok(Some((record, blobs)))
    }

    /// A record with its content. Where some is missing it may have been removed since the record was read.
    async fn with_content(&mut self, record: Record) -> Result<(Record, Vec<Blob>), ReadError> {
        // The destination would refuse it, and nobody would look for the fault here.
        if record.verify().is_err() {
            let position = record.position();
            let reason = format!("the payload of record {position} is not what its header says");
            return Err(ReadError::Corrupt { reason });
        }
        let missing = match self.content(&record).await? {
            Ok(blobs) => return Ok((record, blobs)),
            Err(missing) => missing,
        };
        let position = record.position();
        if let Some(record) = record_at(self.log, position).await?
            && let Ok(blobs) = self.content(&record).await?
        {
            return Ok((record, blobs));
        }
        let reason = format!("record {position} needs the blob {missing}, which is missing");
        Err(ReadError::Corrupt { reason })
    }

    /// The content that a record refers to and that was not sent yet; or the digest of what is not there.
    async fn content(&mut self, record: &Record) -> Result<Result<Vec<Blob>, Digest>, ReadError> {
        let mut blobs: Vec<Blob> = Vec::new();
        for digest in record.content().iter().filter_map(Content::blob) {
            // Asking moves it to the ones that were named last.
            let is_sent = self.sent.get(&digest).is_some();
            if is_sent || blobs.iter().any(|blob| blob.digest() == digest) {
                continue;
            }
            let Some(bytes) = self.log.blob(digest).await? else {
                return Ok(Err(digest));
            };
            let blob = Blob::new(bytes);
            if blob.digest() != digest {
                let reason = format!("the content {digest} has the digest {}", blob.digest());
                return Err(ReadError::Corrupt { reason });
            }
            blobs.push(blob);
        }
        Ok(Ok(blobs))
    }
}
