//! Blobs of what is new since a checkpoint: altered ones, and ones that are removed
//! meanwhile.

use std::sync::Arc;

use annals_event_log::memory::MemoryLog;
use annals_event_log::{
    Append, AppendError, Appended, BatchId, BatchStatus, Blob, Blobs, CommitError, Content, Digest,
    EventLog, IdSecret, ModelCheckpoint, NewEvent, Page, PiecesOf, Position, Query, ReadError,
    ReadModels, Record, RedactError, Redaction, Row, Rows, Stats, StreamHead, StreamName, Version,
};
use async_trait::async_trait;
use bytes::Bytes;
use futures::executor::block_on;
use uuid::Uuid;

use super::support::{empty_log, event, head};
use crate::Annals;
use crate::proof::since::{Check, Fault};

/// A log one of whose blobs was altered in the store.
struct Damaged {
    log: MemoryLog,
    blob: Digest,
}

#[async_trait]
impl Blobs for Damaged {
    async fn blob(&self, digest: Digest) -> Result<Option<Bytes>, ReadError> {
        if digest == self.blob {
            return Err(ReadError::Corrupt {
                reason: format!("the blob {digest} has another digest"),
            });
        }
        self.log.blob(digest).await
    }
}

#[async_trait]
impl ReadModels for Damaged {
    async fn checkpoint(&self, model: &str) -> Result<ModelCheckpoint, ReadError> {
        self.log.checkpoint(model).await
    }

    async fn commit(
        &self,
        model: &str,
        expected: ModelCheckpoint,
        rows: Rows,
        position: Position,
    ) -> Result<(), CommitError> {
        self.log.commit(model, expected, rows, position).await
    }

    async fn get(&self, model: &str, key: &[u8]) -> Result<Option<Bytes>, ReadError> {
        self.log.get(model, key).await
    }

    async fn get_many(&self, model: &str, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>, ReadError> {
        self.log.get_many(model, keys).await
    }

    async fn scan(
        &self,
        model: &str,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        self.log.scan(model, prefix, after, limit).await
    }

    async fn scan_back(
        &self,
        model: &str,
        prefix: &[u8],
        before: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        self.log.scan_back(model, prefix, before, limit).await
    }

    async fn drop_model(&self, model: &str) -> Result<(), CommitError> {
        self.log.drop_model(model).await
    }
}

#[async_trait]
impl EventLog for Damaged {
    fn log_id(&self) -> Uuid {
        self.log.log_id()
    }

    async fn id_secret(&self) -> Result<Option<IdSecret>, ReadError> {
        self.log.id_secret().await
    }

    fn watermark(&self) -> Position {
        self.log.watermark()
    }

    async fn wait_above(&self, seen: Position) -> Result<Position, ReadError> {
        self.log.wait_above(seen).await
    }

    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        self.log.append(append).await
    }

    async fn append_records(
        &self,
        records: Vec<Record>,
        blobs: Vec<Blob>,
    ) -> Result<Appended, AppendError> {
        self.log.append_records(records, blobs).await
    }

    async fn redact(&self, redaction: Redaction) -> Result<Appended, RedactError> {
        self.log.redact(redaction).await
    }

    async fn batch(&self, batch: BatchId, request: &[u8]) -> Result<BatchStatus, ReadError> {
        self.log.batch(batch, request).await
    }

    async fn head(&self, stream: &StreamName) -> Result<Version, ReadError> {
        self.log.head(stream).await
    }

    async fn read(&self, query: Query) -> Result<Page, ReadError> {
        self.log.read(query).await
    }

    async fn streams(
        &self,
        prefix: &str,
        after: Option<&StreamName>,
        limit: usize,
    ) -> Result<Vec<StreamHead>, ReadError> {
        self.log.streams(prefix, after, limit).await
    }

    async fn tree_hashes(
        &self,
        level: u8,
        first: u64,
        limit: usize,
    ) -> Result<Vec<Digest>, ReadError> {
        self.log.tree_hashes(level, first, limit).await
    }

    async fn stats(&self) -> Result<Stats, ReadError> {
        self.log.stats().await
    }

    async fn close(&self) {
        self.log.close().await;
    }
}

fn blob(n: u64) -> Blob {
    Blob::new(format!("{n} ").repeat(5_000).into_bytes())
}

fn batch(n: u64, content: Vec<Content>, blobs: Vec<Blob>) -> Append {
    Append {
        batch: Uuid::from_u128(0xBA_0000 + u128::from(n)),
        request: Bytes::new(),
        events: vec![NewEvent {
            content,
            ..event(n)
        }],
        expectations: Vec::new(),
        blobs,
    }
}

/// A log of four events, each with its own blob.
fn log_with_blobs() -> MemoryLog {
    let log = empty_log();
    for n in 1..=4 {
        let blob = blob(n);
        let content = vec![Content::Blob {
            salt: [9; 16],
            digest: blob.digest(),
            size: blob.bytes().len() as u64,
        }];
        block_on(log.append(batch(n, content, vec![blob]))).unwrap();
    }
    log
}

#[test]
fn an_altered_blob_is_a_finding_with_its_place() {
    let log = log_with_blobs();
    let digest = blob(3).digest();
    let annals = Annals::over(Arc::new(Damaged { log, blob: digest }));
    let report = block_on(annals.proofs().check_since(&head(&annals, 1), |_| {})).unwrap();
    assert_eq!((report.records, report.total_findings), (3, 1));
    assert_eq!(report.findings[0].position, Some(Position(3)));
    assert_eq!(report.findings[0].fault, Fault::Blob { digest });
}

#[test]
fn a_blob_that_is_removed_meanwhile_is_no_finding() {
    let annals = Annals::over(Arc::new(log_with_blobs()));
    let (from, to) = (head(&annals, 1), head(&annals, 4));
    let log = annals.log().as_ref();
    let report = block_on(async {
        let mut check = Check::start(log, &from, &to).await.unwrap();
        let page = log.read(Query::all(Position(2)).limit(10)).await.unwrap();
        let redaction = Redaction {
            append: batch(5, event(5).content, Vec::new()),
            removed: vec![PiecesOf {
                position: Position(3),
                pieces: vec![0],
            }],
            blobs: vec![blob(3).digest()],
            seen: log.watermark(),
        };
        log.redact(redaction).await.unwrap();
        assert_eq!(log.blob(blob(3).digest()).await.unwrap(), None);
        let records: Vec<&Record> = page.records.iter().collect();
        check.page(Position(2), &records).await.unwrap();
        check.end(from, to)
    });
    assert!(report.is_sound(), "{report:?}");
    assert_eq!(report.records, 3);
}
