//! An object store that fails, or answers late, while content is written to it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use annals_event_log::{Append, AppendError, Blob, Content, EventLog};
use annals_store_postgres::{AppendFailure, Failure, PostgresLog};
use async_trait::async_trait;
use futures::StreamExt;
use futures::executor::block_on;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

use crate::support::{DATABASE, batch, server, settings};

/// What becomes of the write that is not as the others.
#[derive(Debug, Clone, Copy)]
enum Odd {
    /// It is refused.
    Fails,
    /// It is made, and no answer comes.
    IsSilent,
}

/// A store in memory one of whose writes is odd.
#[derive(Debug)]
struct Store {
    inner: InMemory,
    odd: Odd,
    nth: usize,
    begun: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Store {
    fn new(nth: usize, odd: Odd) -> Arc<Store> {
        Arc::new(Store {
            inner: InMemory::new(),
            odd,
            nth,
            begun: AtomicUsize::new(0),
            now: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        })
    }

    fn objects(&self) -> usize {
        block_on(self.inner.list(None).count())
    }
}

impl fmt::Display for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("odd")
    }
}

#[async_trait]
impl ObjectStore for Store {
    async fn put_opts(&self, at: &Path, put: PutPayload, options: PutOptions) -> Result<PutResult> {
        let nth = self.begun.fetch_add(1, Ordering::SeqCst) + 1;
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(5)).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        match self.odd {
            Odd::Fails if nth == self.nth => Err(Error::NotImplemented {
                operation: "this one".to_owned(),
                implementer: "the test".to_owned(),
            }),
            Odd::IsSilent if nth == self.nth => {
                self.inner.put_opts(at, put, options).await?;
                std::future::pending().await
            }
            _ => self.inner.put_opts(at, put, options).await,
        }
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, options).await
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        self.inner.get_opts(at, options).await
    }

    fn delete_stream(
        &self,
        at: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(at)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}

/// A batch that brings much content.
fn bringing(count: u16) -> Append {
    let blobs = (0..count).map(|n| Blob::new(vec![n as u8; 5_000 + usize::from(n)]));
    let blobs: Vec<Blob> = blobs.collect();
    let mut append = batch("a-1", 1);
    let content = blobs.iter().map(|blob| Content::Blob {
        salt: [3; 16],
        digest: blob.digest(),
        size: blob.bytes().len() as u64,
    });
    append.events[0].content = content.collect();
    append.blobs = blobs;
    append
}

/// Has a batch appended whose twentieth object is odd, without patience; what it failed with.
fn refused(store: &Arc<Store>) -> Option<(PostgresLog, Append, AppendFailure)> {
    // A piece of work may take five seconds more than a statement.
    let more = "&patience=0.001&statement_timeout=0.1";
    let settings = settings(server()?, DATABASE, more).with_objects(Arc::clone(store) as Arc<_>);
    let log = PostgresLog::create(&settings).unwrap();
    let append = bringing(40);
    let error = block_on(log.append(append.clone())).unwrap_err();
    let AppendError::Unavailable { source } = &error else {
        panic!("{error}")
    };
    let failed: &AppendFailure = source.downcast_ref().unwrap();
    let failed = failed.clone();
    Some((log, append, failed))
}

#[test]
fn content_of_an_append_that_the_object_store_refuses_in_part_is_not_left_there() {
    for odd in [Odd::Fails, Odd::IsSilent] {
        let store = Store::new(20, odd);
        let Some((log, append, failed)) = refused(&store) else {
            return;
        };
        // Nothing was sent to the server.
        let is_of_objects = matches!(failed.failure, Failure::Objects { .. });
        assert!(is_of_objects && !failed.is_unknown, "{odd:?}: {failed}");
        assert_eq!(store.objects(), 0, "{odd:?}");
        let most = store.most.load(Ordering::SeqCst);
        assert!((2..=16).contains(&most), "{odd:?}: {most} at once");
        assert!(!block_on(log.append(append)).unwrap().repeated);
        assert_eq!(store.objects(), 40, "{odd:?}");
    }
}
