//! A log in memory that counts what is asked of it and can refuse commits:
//! for tests of the directory.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use annals_event_log::memory::MemoryLog;
use annals_event_log::{
    Append, AppendError, Appended, BatchId, BatchStatus, Blob, Blobs, CommitError, Digest,
    EventLog, IdSecret, ModelCheckpoint, Page, Position, Query, ReadError, ReadModels, Record,
    RedactError, Redaction, Row, Rows, Stats, StreamHead, StreamName, Version,
};
use bytes::Bytes;
use uuid::Uuid;

type Answer<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What happens right before a call, the first of which is 1.
pub(super) type OnCall<'l> = &'l (dyn Fn(usize) + Send + Sync);

/// Everything goes to the log inside, but for commits.
pub(super) struct Watched<'l> {
    pub(super) log: &'l MemoryLog,
    pub(super) read_only: AtomicBool,
    /// Whether another process keeps the rows current.
    pub(super) follows: AtomicBool,
    /// How often it was asked for the lead.
    pub(super) asked: AtomicUsize,
    pub(super) commits: AtomicUsize,
    pub(super) reads: AtomicUsize,
    /// Rows that were read by their keys.
    pub(super) gets: AtomicUsize,
    /// Calls of any kind.
    pub(super) calls: AtomicUsize,
    on_call: OnCall<'l>,
}

impl<'l> Watched<'l> {
    pub(super) fn new(log: &'l MemoryLog) -> Watched<'l> {
        Watched::with(log, &|_| {})
    }

    pub(super) fn with(log: &'l MemoryLog, on_call: OnCall<'l>) -> Watched<'l> {
        let (read_only, follows, asked, commits, reads, gets, calls) = Default::default();
        Watched {
            log,
            read_only,
            follows,
            asked,
            commits,
            reads,
            gets,
            calls,
            on_call,
        }
    }

    fn called(&self) {
        let before = self.calls.fetch_add(1, Ordering::Relaxed);
        (self.on_call)(before + 1);
    }
}

/// What `async_trait` makes of an `async fn` that hands its arguments on.
macro_rules! hand_on {
    ($($name:ident(&self $(, $value:ident: $owned:ty)* $(; $borrowed:ident: $life:lifetime $target:ty)*) -> $answer:ty;)+) => {
        $(
            fn $name<'s, $($life,)* 'f>(
                &'s self
                $(, $value: $owned)*
                $(, $borrowed: $target)*
            ) -> Answer<'f, $answer>
            where
                's: 'f,
                $($life: 'f,)*
                Self: 'f,
            {
                self.called();
                self.log.$name($($value,)* $($borrowed,)*)
            }
        )+
    };
}

impl Blobs for Watched<'_> {
    hand_on! {
        blob(&self, digest: Digest) -> Result<Option<Bytes>, ReadError>;
    }
}

impl ReadModels for Watched<'_> {
    hand_on! {
        checkpoint(&self; model: 'm &'m str) -> Result<ModelCheckpoint, ReadError>;
        get(&self; model: 'm &'m str; key: 'k &'k [u8]) -> Result<Option<Bytes>, ReadError>;
        drop_model(&self; model: 'm &'m str) -> Result<(), CommitError>;
    }

    fn leads<'s, 'm, 'f>(&'s self, _: &'m str) -> Answer<'f, bool>
    where
        's: 'f,
        'm: 'f,
        Self: 'f,
    {
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { !self.follows.load(Ordering::Relaxed) })
    }

    fn get_many<'s, 'm, 'k, 'f>(
        &'s self,
        model: &'m str,
        keys: &'k [Bytes],
    ) -> Answer<'f, Result<Vec<Option<Bytes>>, ReadError>>
    where
        's: 'f,
        'm: 'f,
        'k: 'f,
        Self: 'f,
    {
        self.called();
        self.gets.fetch_add(keys.len(), Ordering::Relaxed);
        self.log.get_many(model, keys)
    }

    fn scan<'s, 'm, 'p, 'a, 'f>(
        &'s self,
        model: &'m str,
        prefix: &'p [u8],
        after: Option<&'a [u8]>,
        limit: usize,
    ) -> Answer<'f, Result<Vec<Row>, ReadError>>
    where
        's: 'f,
        'm: 'f,
        'p: 'f,
        'a: 'f,
        Self: 'f,
    {
        self.called();
        self.log.scan(model, prefix, after, limit)
    }

    fn scan_back<'s, 'm, 'p, 'a, 'f>(
        &'s self,
        model: &'m str,
        prefix: &'p [u8],
        before: Option<&'a [u8]>,
        limit: usize,
    ) -> Answer<'f, Result<Vec<Row>, ReadError>>
    where
        's: 'f,
        'm: 'f,
        'p: 'f,
        'a: 'f,
        Self: 'f,
    {
        self.called();
        self.log.scan_back(model, prefix, before, limit)
    }

    fn commit<'s, 'm, 'f>(
        &'s self,
        model: &'m str,
        expected: ModelCheckpoint,
        rows: Rows,
        position: Position,
    ) -> Answer<'f, Result<(), CommitError>>
    where
        's: 'f,
        'm: 'f,
        Self: 'f,
    {
        self.called();
        self.commits.fetch_add(1, Ordering::Relaxed);
        if self.read_only.load(Ordering::Relaxed) {
            return Box::pin(async { Err(CommitError::ReadOnly) });
        }
        self.log.commit(model, expected, rows, position)
    }
}

impl EventLog for Watched<'_> {
    fn log_id(&self) -> Uuid {
        self.log.log_id()
    }

    fn watermark(&self) -> Position {
        self.log.watermark()
    }

    hand_on! {
        id_secret(&self) -> Result<Option<IdSecret>, ReadError>;
        wait_above(&self, seen: Position) -> Result<Position, ReadError>;
        append(&self, append: Append) -> Result<Appended, AppendError>;
        append_records(&self, records: Vec<Record>, blobs: Vec<Blob>) -> Result<Appended, AppendError>;
        redact(&self, redaction: Redaction) -> Result<Appended, RedactError>;
        batch(&self, batch: BatchId; request: 'r &'r [u8]) -> Result<BatchStatus, ReadError>;
        head(&self; stream: 'n &'n StreamName) -> Result<Version, ReadError>;
        stats(&self) -> Result<Stats, ReadError>;
        close(&self) -> ();
    }

    fn read<'s, 'f>(&'s self, query: Query) -> Answer<'f, Result<Page, ReadError>>
    where
        's: 'f,
        Self: 'f,
    {
        self.called();
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.log.read(query)
    }

    fn tree_hashes<'s, 'f>(
        &'s self,
        level: u8,
        first: u64,
        limit: usize,
    ) -> Answer<'f, Result<Vec<Digest>, ReadError>>
    where
        's: 'f,
        Self: 'f,
    {
        self.called();
        self.log.tree_hashes(level, first, limit)
    }

    fn streams<'s, 'p, 'a, 'f>(
        &'s self,
        prefix: &'p str,
        after: Option<&'a StreamName>,
        limit: usize,
    ) -> Answer<'f, Result<Vec<StreamHead>, ReadError>>
    where
        's: 'f,
        'p: 'f,
        'a: 'f,
        Self: 'f,
    {
        self.called();
        self.log.streams(prefix, after, limit)
    }
}
