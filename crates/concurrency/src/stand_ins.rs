//! What the files of annals-store-rocks use of their own crate in addition to what threads
//! share: a database, staging and errors that are just enough for the writer's thread.
//! Where the writer begins to use more of its crate, this is to be extended.

use annals_event_log::{BatchId, Position};

/// A group's write: the batches in it, and the last position after it.
#[derive(Debug, Default)]
pub(crate) struct WriteBatch {
    pub(crate) batches: Vec<BatchId>,
    pub(crate) last: Position,
}

pub(crate) mod disk {
    //! The disk that the writer writes to.

    use std::path::Path;
    use std::sync::Arc;

    use annals_event_log::{BatchId, Position};

    use super::WriteBatch;
    use super::error::StoreFailure;
    use crate::sync::{Mutex, MutexGuard, point, thread};

    /// What a disk does, once.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub(crate) enum Fault {
        /// It refuses the write.
        Refuse,
        /// It writes, and says that it failed.
        WriteAndFail,
        /// It takes the writer's thread with it.
        LoseThread,
    }

    /// What came to the disk.
    #[derive(Debug, Default)]
    pub(crate) struct Disk(Mutex<Written>);

    #[derive(Debug, Default)]
    pub(crate) struct Written {
        pub(crate) batches: Vec<BatchId>,
        /// Up to where a write has returned.
        pub(crate) last: Position,
        pub(crate) failed: bool,
    }

    impl Disk {
        pub(crate) fn lock(&self) -> MutexGuard<'_, Written> {
            self.0.lock().unwrap_or_else(|poison| poison.into_inner())
        }

        pub(crate) fn write(
            &self,
            write: WriteBatch,
            fault: Option<Fault>,
        ) -> Result<(), StoreFailure> {
            point();
            assert!(!self.lock().failed, "a write behind one that failed");
            if fault == Some(Fault::LoseThread) {
                self.lock().failed = true;
                thread::lose();
            }
            if fault != Some(Fault::Refuse) {
                self.lock().batches.extend(&write.batches);
            }
            point();
            let mut written = self.lock();
            if fault.is_some() {
                written.failed = true;
                return Err(StoreFailure::Rocks {
                    path: Arc::from(Path::new("log")),
                    detail: "it is to fail".into(),
                });
            }
            written.last = written.last.max(write.last);
            Ok(())
        }

        /// What is published must have been written, and the write must have returned.
        pub(crate) fn check_published(&self, position: Position) {
            let written = self.lock();
            assert!(
                position <= written.last,
                "{position} is published, and the disk has {}",
                written.last
            );
        }
    }
}

pub(crate) mod db {
    //! The database.

    use std::path::PathBuf;
    use std::sync::Arc;

    use annals_event_log::ReadError;

    use crate::latch::OnDrop;

    /// An open database. Its signal is given when it is dropped.
    #[derive(Default)]
    pub(crate) struct Db {
        pub(crate) path: PathBuf,
        /// Whether its column families cannot be found.
        pub(crate) broken: bool,
        pub(crate) released: Arc<OnDrop>,
    }

    /// Column families.
    pub(crate) struct Columns;

    impl Db {
        pub(crate) fn columns(&self) -> Result<Columns, ReadError> {
            if self.broken {
                let reason = "a column family is missing".into();
                return Err(ReadError::Corrupt { reason });
            }
            Ok(Columns)
        }

        pub(crate) fn unflushed_bytes(&self) -> u64 {
            u64::MAX
        }

        pub(crate) fn wal_files(&self) -> usize {
            0
        }

        pub(crate) fn flush(&self) -> Result<(), ReadError> {
            crate::sync::point();
            Ok(())
        }

        pub(crate) fn merge_small_tables(&self) {}

        pub(crate) fn failed(&self) {}
    }
}

pub(crate) mod error {
    //! The store's failures.

    use std::path::Path;
    use std::sync::Arc;

    use annals_event_log::AppendError;

    #[derive(Debug, Clone, thiserror::Error)]
    pub(crate) enum StoreFailure {
        #[error("{detail}, at {path}", path = .path.display())]
        Rocks { path: Arc<Path>, detail: Arc<str> },
        #[error("the store is corrupt: {reason}")]
        Corrupt { reason: Arc<str> },
        #[error("a thread of the store ended before its work")]
        ThreadLost,
    }

    impl From<StoreFailure> for AppendError {
        fn from(failure: StoreFailure) -> AppendError {
            AppendError::Unavailable {
                source: Box::new(failure),
            }
        }
    }
}

pub(crate) mod staging {
    //! A group while it is staged: an event's type says what becomes of its batch.

    use annals_event_log::store_support::RequestDigest;
    use annals_event_log::{AppendError, Appended, Blob, Position, Prepared, ReadError, Record};
    use chrono::{DateTime, Utc};

    use super::WriteBatch;
    use super::db::{Columns, Db};
    use super::tree::OpenTree;

    /// A batch that is refused.
    pub(crate) const REFUSED: &str = "test.refused";
    /// A batch that finds the store unreadable.
    pub(crate) const UNREADABLE: &str = "test.unreadable";
    /// A batch that fills its group.
    pub(crate) const LARGE: &str = "test.large";

    #[derive(Debug)]
    pub(crate) enum Refusal {
        Batch(AppendError),
        Store(ReadError),
    }

    /// The end of the log.
    #[derive(Clone, Copy)]
    pub(crate) struct Tail {
        pub(crate) last: Position,
    }

    /// The group that is being staged.
    pub(crate) struct Staging<'a> {
        _db: &'a Db,
        last: Position,
        write: WriteBatch,
        bytes: usize,
    }

    impl<'a> Staging<'a> {
        pub(crate) fn new(
            db: &'a Db,
            _columns: Columns,
            tail: Tail,
            _tree: Option<OpenTree>,
        ) -> Staging<'a> {
            Staging {
                _db: db,
                last: tail.last,
                write: WriteBatch::default(),
                bytes: 0,
            }
        }

        pub(crate) fn begin(&mut self, _now: DateTime<Utc>) {}

        pub(crate) fn rewind(&mut self, _tail: Tail) {}

        pub(crate) fn tail(&self) -> Tail {
            Tail { last: self.last }
        }

        pub(crate) fn is_empty(&self) -> bool {
            self.write.batches.is_empty()
        }

        pub(crate) fn last(&self) -> Position {
            self.last
        }

        pub(crate) fn bytes(&self) -> usize {
            self.bytes
        }

        pub(crate) fn append(
            &mut self,
            prepared: &mut Prepared,
            _request: RequestDigest,
        ) -> Result<Appended, Refusal> {
            crate::sync::point();
            match prepared.events.first().map(|event| &*event.event_type) {
                Some(REFUSED) => {
                    let reason = "it is to be refused".into();
                    return Err(Refusal::Batch(AppendError::Invalid { reason }));
                }
                Some(UNREADABLE) => {
                    let reason = "it is to be unreadable".into();
                    return Err(Refusal::Store(ReadError::Corrupt { reason }));
                }
                Some(LARGE) => self.bytes = usize::MAX,
                _ => {}
            }
            let first = self.last.next();
            self.last = Position(self.last.0 + prepared.events.len() as u64);
            self.write.batches.push(prepared.batch);
            Ok(Appended::new(first, self.last))
        }

        pub(crate) fn copy(
            &mut self,
            _records: &[Record],
            _blobs: &[Blob],
        ) -> Result<Appended, Refusal> {
            let reason = "the models copy nothing".into();
            Err(Refusal::Batch(AppendError::Invalid { reason }))
        }

        pub(crate) fn finish(&mut self) -> Result<Option<(WriteBatch, Position)>, ReadError> {
            self.bytes = 0;
            if self.is_empty() {
                return Ok(None);
            }
            let mut write = std::mem::take(&mut self.write);
            write.last = self.last;
            Ok(Some((write, self.last)))
        }
    }
}

pub(crate) mod tree {
    //! The tree: none is kept.

    pub(crate) use annals_event_log::tree::*;

    pub(crate) struct OpenTree;
}

pub(crate) mod mutants {
    //! Seeded bugs: none is on.

    pub(crate) const ACK_BEFORE_SYNC: &str = "";
    pub(crate) const WATERMARK_BEFORE_WRITE: &str = "";
    pub(crate) const POSITION_REUSED: &str = "";
    pub(crate) const CHECKPOINT_EARLY: &str = "";

    pub(crate) const fn is(_name: &str) -> bool {
        false
    }
}

pub(crate) mod watermark_file {
    //! The file WATERMARK.

    use std::io;
    use std::sync::Arc;

    use annals_event_log::Position;

    use super::disk::Disk;
    use crate::sync::point;

    /// The file. It may be written when the disk has what it says.
    pub(crate) struct WatermarkFile(pub(crate) Arc<Disk>);

    impl WatermarkFile {
        pub(crate) fn write(&self, position: Position) -> io::Result<()> {
            point();
            self.0.check_published(position);
            point();
            Ok(())
        }
    }

    /// What syncs the file.
    pub(crate) struct Syncer;

    impl Syncer {
        pub(crate) fn written(&self) {}
    }
}
