//! The ports over an open log. Each call is handed to the log's own threads, and may be dropped at any time.

use std::sync::Arc;

use annals_event_log::store_support::{
    BatchRow, RequestDigest, check_model_name, distinct_blobs, random_salt,
};
use annals_event_log::{
    Append, AppendError, Appended, BatchId, BatchStatus, Blob, Blobs, CommitError, Digest,
    EventLog, IdSecret, Link, ModelCheckpoint, Page, Position, Prepared, Query, ReadError,
    ReadModels, Record, RedactError, Redaction, Row, Rows, Stats, StreamHead, StreamName, Version,
    tree,
};
use async_trait::async_trait;
use bytes::Bytes;
use futures::future::BoxFuture;
use tokio::task::unconstrained;
use uuid::Uuid;

use crate::check::Checked;
use crate::failure::Failure;
use crate::log::PostgresLog;
use crate::models::{Commit, Scan};
use crate::outcome::Failed;
use crate::queue::{Removal, Work};
use crate::sessions::Session;
use crate::shared::Shared;
use crate::{blobs, check, head, lookup, models, pages, tail, uploads};

/// What a call does on a connection, as often as it is tried.
type Asked<T> =
    Box<dyn for<'a> Fn(Arc<Shared>, &'a Session) -> BoxFuture<'a, Result<T, Failed>> + Send + Sync>;

impl PostgresLog {
    /// Has something asked on the log's threads, again where the connection was lost.
    async fn ask<T: Send + 'static>(&self, asked: Asked<T>) -> Result<T, ReadError> {
        Ok(self.try_ask(1, asked).await??)
    }

    /// The same in some steps, with what the server failed with.
    async fn try_ask<T: Send + 'static>(
        &self,
        steps: u32,
        asked: Asked<T>,
    ) -> Result<Result<T, Failure>, ReadError> {
        let shared = Arc::clone(self.opened()?);
        let answer = self.handle.spawn(async move {
            let of_call = Arc::clone(&shared);
            let run = shared
                .sessions
                .run_steps(steps, move |session| asked(Arc::clone(&of_call), session));
            run.await
        });
        ended(unconstrained(answer).await)
    }

    /// Checks and encodes an append: where it is called if it is small, so that it is in the queue when its future was
    /// polled once.
    async fn prepare(&self, append: Append) -> Result<(Prepared, RequestDigest), AppendError> {
        self.opened()?;
        if self.is_read_only() {
            return Err(AppendError::ReadOnly);
        }
        let make = |append| -> Result<_, AppendError> {
            let prepared = Prepared::new(append)?;
            let request = RequestDigest::new(random_salt(), &prepared.request);
            Ok((prepared, request))
        };
        match append.is_small() {
            true => make(append),
            false => {
                let made = self.handle.spawn_blocking(move || make(append));
                ended(unconstrained(made).await)?
            }
        }
    }
}

/// What a task gave; one that the log's end has stopped gave nothing.
fn ended<T>(task: Result<T, tokio::task::JoinError>) -> Result<T, ReadError> {
    task.map_err(|error| match error.is_cancelled() {
        true => ReadError::Closed,
        false => ReadError::Unavailable {
            source: Box::new(error),
        },
    })
}

#[async_trait]
impl EventLog for PostgresLog {
    fn log_id(&self) -> Uuid {
        self.id()
    }

    async fn id_secret(&self) -> Result<Option<IdSecret>, ReadError> {
        let secret = self.ask(Box::new(|shared, session| {
            Box::pin(async move { lookup::id_secret(&shared, session).await })
        }));
        Ok(Some(secret.await?))
    }

    fn watermark(&self) -> Position {
        self.shared.watermark.get()
    }

    async fn wait_above(&self, seen: Position) -> Result<Position, ReadError> {
        tail::wait_above(self.opened()?, seen).await
    }

    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        let (prepared, request) = self.prepare(append).await?;
        self.queue.append(Work::Append { prepared, request }).await
    }

    async fn append_linked(&self, append: Append, link: Link) -> Result<Appended, AppendError> {
        let (mut prepared, request) = self.prepare(append).await?;
        prepared.link = Some(Box::new(link));
        self.queue.append(Work::Append { prepared, request }).await
    }

    async fn append_records(
        &self,
        records: Vec<Record>,
        blobs: Vec<Blob>,
    ) -> Result<Appended, AppendError> {
        self.opened()?;
        if self.is_read_only() {
            return Err(AppendError::ReadOnly);
        }
        let blobs = distinct_blobs(blobs)?;
        self.queue.append(Work::Copy { records, blobs }).await
    }

    async fn redact(&self, redaction: Redaction) -> Result<Appended, RedactError> {
        redaction.check()?;
        let (prepared, request) = self.prepare(redaction.append.clone()).await?;
        let removal = Removal {
            redaction,
            prepared,
            request,
        };
        self.queue.redact(removal).await
    }

    async fn batch(&self, batch: BatchId, request: &[u8]) -> Result<BatchStatus, ReadError> {
        let row: Option<BatchRow> = self
            .ask(Box::new(move |shared, session| {
                Box::pin(async move { lookup::batch(&shared, session, batch).await })
            }))
            .await?;
        Ok(row.map_or(BatchStatus::Unknown, |row| row.status(request)))
    }

    async fn head(&self, stream: &StreamName) -> Result<Version, ReadError> {
        let stream = stream.clone();
        let ask: Asked<Version> = Box::new(move |shared, session| {
            let stream = stream.clone();
            Box::pin(async move { lookup::version(&shared, session, stream.as_str()).await })
        });
        self.ask(ask).await
    }

    async fn read(&self, query: Query) -> Result<Page, ReadError> {
        let ask: Asked<Page> = Box::new(move |shared, session| {
            let query = query.clone();
            Box::pin(async move { pages::read(&shared, session, &query).await })
        });
        self.ask(ask).await
    }

    async fn streams(
        &self,
        prefix: &str,
        after: Option<&StreamName>,
        limit: usize,
    ) -> Result<Vec<StreamHead>, ReadError> {
        let (prefix, after) = (prefix.to_owned(), after.cloned());
        let ask: Asked<Vec<StreamHead>> = Box::new(move |shared, session| {
            let (prefix, after) = (prefix.clone(), after.clone());
            Box::pin(async move {
                let after = after.as_ref().map(StreamName::as_str);
                lookup::streams(&shared, session, &prefix, after, limit).await
            })
        });
        self.ask(ask).await
    }

    async fn tree_hashes(
        &self,
        level: u8,
        first: u64,
        limit: usize,
    ) -> Result<Vec<Digest>, ReadError> {
        let ask: Asked<Vec<Digest>> = Box::new(move |shared, session| {
            Box::pin(async move { lookup::hashes(&shared, session, level, first, limit).await })
        });
        self.ask(ask).await
    }

    async fn stats(&self) -> Result<Stats, ReadError> {
        self.ask(Box::new(|shared, session| {
            Box::pin(async move { lookup::stats(&shared, session).await })
        }))
        .await
    }

    async fn check_tables(&self) -> Result<Vec<String>, ReadError> {
        let ask: Asked<Checked> = Box::new(|shared, session| {
            Box::pin(async move { check::tables(&shared, session).await })
        });
        let checked = self.try_ask(check::STEPS, ask);
        let Checked {
            position,
            root,
            mut faults,
        } = checked.await??;
        if tree::root(self, position).await? != root {
            faults.push("the frontier of the head is not that of the records".to_owned());
        }
        Ok(faults)
    }

    async fn confirm(&self) -> Result<(), ReadError> {
        if self.is_read_only() {
            return Ok(());
        }
        let ask: Asked<()> = Box::new(|shared, session| {
            Box::pin(async move {
                uploads::sweep(&shared, session).await?;
                head::confirm_up_to(&shared, session, shared.watermark.get()).await
            })
        });
        self.ask(ask).await
    }

    async fn close(&self) {
        self.leading.end().await;
        self.shut();
        self.ended().await;
    }
}

#[async_trait]
impl Blobs for PostgresLog {
    async fn blob(&self, digest: Digest) -> Result<Option<Bytes>, ReadError> {
        let ask: Asked<Option<Bytes>> = Box::new(move |shared, session| {
            Box::pin(async move { blobs::read(&shared, session, digest).await })
        });
        self.ask(ask).await
    }
}

#[async_trait]
impl ReadModels for PostgresLog {
    async fn checkpoint(&self, model: &str) -> Result<ModelCheckpoint, ReadError> {
        let model = model.to_owned();
        let ask: Asked<ModelCheckpoint> = Box::new(move |shared, session| {
            let model = model.clone();
            Box::pin(async move { models::checkpoint(&shared, session, &model).await })
        });
        self.ask(ask).await
    }

    async fn commit(
        &self,
        model: &str,
        expected: ModelCheckpoint,
        rows: Rows,
        position: Position,
    ) -> Result<(), CommitError> {
        self.opened()?;
        check_model_name(model)?;
        if self.is_read_only() {
            return Err(CommitError::ReadOnly);
        }
        let commit = Arc::new(Commit::new(model, expected, rows, position));
        let ask: Asked<Result<(), CommitError>> = Box::new(move |shared, session| {
            let commit = Arc::clone(&commit);
            Box::pin(async move { models::commit(&shared, session, &commit).await })
        });
        self.try_ask(1, ask).await?.map_err(CommitError::from)?
    }

    async fn leads(&self, model: &str) -> bool {
        !self.is_read_only() && self.opened().is_ok() && self.leading.leads(model).await
    }

    async fn get(&self, model: &str, key: &[u8]) -> Result<Option<Bytes>, ReadError> {
        let keys = [Bytes::copy_from_slice(key)];
        Ok(self.get_many(model, &keys).await?.pop().flatten())
    }

    async fn get_many(&self, model: &str, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>, ReadError> {
        self.opened()?;
        if check_model_name(model).is_err() || keys.is_empty() {
            return Ok(vec![None; keys.len()]);
        }
        let (model, keys) = (model.to_owned(), keys.to_vec());
        let ask: Asked<Vec<Option<Bytes>>> = Box::new(move |shared, session| {
            let (model, keys) = (model.clone(), keys.clone());
            Box::pin(async move { models::get_many(&shared, session, &model, &keys).await })
        });
        self.ask(ask).await
    }

    async fn scan(
        &self,
        model: &str,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        self.scan_rows(model, prefix, after, limit, false).await
    }

    async fn scan_back(
        &self,
        model: &str,
        prefix: &[u8],
        before: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        self.scan_rows(model, prefix, before, limit, true).await
    }

    async fn drop_model(&self, model: &str) -> Result<(), CommitError> {
        self.opened()?;
        check_model_name(model)?;
        if self.is_read_only() {
            return Err(CommitError::ReadOnly);
        }
        let model = model.to_owned();
        let ask: Asked<()> = Box::new(move |shared, session| {
            let model = model.clone();
            Box::pin(async move { models::remove(&shared, session, &model).await })
        });
        self.try_ask(1, ask).await?.map_err(CommitError::from)
    }
}

impl PostgresLog {
    async fn scan_rows(
        &self,
        model: &str,
        prefix: &[u8],
        place: Option<&[u8]>,
        limit: usize,
        is_backward: bool,
    ) -> Result<Vec<Row>, ReadError> {
        self.opened()?;
        if check_model_name(model).is_err() {
            return Ok(Vec::new());
        }
        let scan = Scan {
            model: model.to_owned(),
            prefix: prefix.to_vec(),
            place: place.map(<[u8]>::to_vec),
            limit,
            is_backward,
        };
        let ask: Asked<Vec<Row>> = Box::new(move |shared, session| {
            let scan = scan.clone();
            Box::pin(async move { models::scan(&shared, session, &scan).await })
        });
        self.ask(ask).await
    }
}
