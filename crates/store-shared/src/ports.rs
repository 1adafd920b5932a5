//! The three ports over a shared log.

use std::sync::Arc;

use annals_event_log::{
    Append, AppendError, Appended, BatchId, BatchStatus, Blob, Blobs, CommitError, Digest,
    EventLog, IdSecret, Link, ModelCheckpoint, Page, Position, Query, ReadError, ReadModels,
    Record, RedactError, Redaction, Row, Rows, Stats, StreamHead, StreamName, Version,
};
use annals_store_rocks::PurgeError;
use async_trait::async_trait;
use bytes::Bytes;
use uuid::Uuid;

use crate::frame::LARGEST;
use crate::guest::CallError;
use crate::linked;
use crate::message::{self, Answer, Call, Octets, Told};
use crate::purge::purge;
use crate::shared::{Owned, Role, SharedLog, Visit, off_thread};

/// So many owners are asked, one after the other.
const OWNERS: usize = 20;

/// What a call came to.
enum Asked {
    /// This process owns the log: it does it itself.
    Own(Arc<Owned>),
    /// The owner has answered; the guest's own reader.
    Answered(Answer, Arc<Visit>),
}

/// Why there is no answer.
enum AskError {
    Read(ReadError),
    TooLarge { bytes: usize },
}

impl From<AskError> for ReadError {
    fn from(error: AskError) -> ReadError {
        match error {
            AskError::Read(error) => error,
            AskError::TooLarge { bytes } => told(format!(
                "the call has {bytes} bytes, the limit is {LARGEST}"
            )),
        }
    }
}

impl From<AskError> for AppendError {
    fn from(error: AskError) -> AppendError {
        match error {
            AskError::Read(error) => error.into(),
            AskError::TooLarge { bytes } => AppendError::TooLarge {
                what: "the append".into(),
                limit: LARGEST as u64,
                actual: bytes as u64,
            },
        }
    }
}

impl From<AskError> for CommitError {
    fn from(error: AskError) -> CommitError {
        ReadError::from(error).into()
    }
}

fn told(reason: impl Into<String>) -> ReadError {
    ReadError::Unavailable {
        source: Box::new(Told(reason.into())),
    }
}

/// An answer of another kind than the call's.
fn unexpected(answer: Answer) -> ReadError {
    match answer {
        Answer::Malformed(reason) => told(format!("the owner did not take the call: {reason}")),
        _ => told("the owner answered another call"),
    }
}

impl SharedLog {
    /// Asks the owner, or the next one, if this one goes before it answers. `lost` is told of each that did. The
    /// call is made where there is one to ask.
    async fn ask(
        &self,
        call: impl Fn() -> Call,
        mut lost: impl FnMut(),
    ) -> Result<Asked, AskError> {
        let mut role = self.inner.role();
        for _ in 0..OWNERS {
            let visit = match role {
                Role::Owner(owned) => return Ok(Asked::Own(owned)),
                Role::Guest(visit) => visit,
            };
            if self.inner.is_closed() {
                return Err(AskError::Read(ReadError::Closed));
            }
            match visit.call(&call()).await {
                Ok(answer) if !answer.is_closed() => return Ok(Asked::Answered(answer, visit)),
                Err(CallError::TooLarge { bytes }) => return Err(AskError::TooLarge { bytes }),
                // It is ending, or has gone: the next one knows whether it was done.
                Ok(_) | Err(CallError::Lost) => {
                    lost();
                    role = self.inner.after(&visit).await.map_err(AskError::Read)?;
                }
            }
        }
        Err(AskError::Read(told(format!(
            "{OWNERS} processes that owned the log went before they answered; whether the call was done is unknown"
        ))))
    }

    async fn append_with(
        &self,
        append: Append,
        link: Option<Link>,
    ) -> Result<Appended, AppendError> {
        let call = || Call::Append {
            append: (&append).into(),
            link: link.map(message::link_of),
        };
        match self.ask(call, || {}).await? {
            Asked::Own(owned) => owned.noted(linked::append(&owned.log, append, link).await),
            Asked::Answered(answer, _) => appended(answer),
        }
    }
}

#[async_trait]
impl EventLog for SharedLog {
    fn log_id(&self) -> Uuid {
        self.inner.log_id
    }

    async fn id_secret(&self) -> Result<Option<IdSecret>, ReadError> {
        let role = self.inner.role();
        role.explained(role.log().id_secret().await)
    }

    fn watermark(&self) -> Position {
        self.rocks().watermark()
    }

    async fn wait_above(&self, seen: Position) -> Result<Position, ReadError> {
        let role = self.inner.role();
        role.explained(role.log().wait_above(seen).await)
    }

    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        self.append_with(append, None).await
    }

    async fn append_linked(&self, append: Append, link: Link) -> Result<Appended, AppendError> {
        self.append_with(append, Some(link)).await
    }

    async fn append_records(
        &self,
        records: Vec<Record>,
        blobs: Vec<Blob>,
    ) -> Result<Appended, AppendError> {
        let octets = |record: &Record| Octets(record.as_bytes().clone());
        let call = || Call::Copy {
            records: records.iter().map(octets).collect(),
            blobs: message::octets(&blobs),
        };
        let mut unknown = false;
        let asked = self.ask(call, || unknown = true).await?;
        let done = match asked {
            Asked::Own(owned) if !unknown => {
                return owned.noted(owned.log.append_records(records, blobs).await);
            }
            Asked::Own(owned) => {
                owned.noted(owned.log.append_records(records.clone(), blobs).await)
            }
            Asked::Answered(answer, _) => appended(answer),
        };
        match done {
            // The owner that went had done it.
            Err(AppendError::NotContiguous { .. }) if unknown => match self.has(&records).await? {
                Some(appended) => Ok(appended),
                None => done,
            },
            done => done,
        }
    }

    async fn redact(&self, redaction: Redaction) -> Result<Appended, RedactError> {
        let call = || Call::Redact((&redaction).into());
        match self.ask(call, || {}).await.map_err(AppendError::from)? {
            Asked::Own(owned) => match owned.log.redact(redaction).await {
                Err(RedactError::Append(error)) => Ok(owned.noted(Err(error))?),
                done => done,
            },
            Asked::Answered(Answer::Redacted(done), visit) => {
                let done = done.map_err(message::RedactFailure::into_error)?;
                // Its last step moves no watermark, which is what a reader follows.
                visit.reader.catch_up().await?;
                Ok(message::appended(done))
            }
            Asked::Answered(other, _) => Err(unexpected(other).into()),
        }
    }

    async fn batch(&self, batch: BatchId, request: &[u8]) -> Result<BatchStatus, ReadError> {
        let role = self.inner.role();
        role.explained(role.log().batch(batch, request).await)
    }

    async fn head(&self, stream: &StreamName) -> Result<Version, ReadError> {
        let role = self.inner.role();
        role.explained(role.log().head(stream).await)
    }

    async fn read(&self, query: Query) -> Result<Page, ReadError> {
        let role = self.inner.role();
        role.explained(role.log().read(query).await)
    }

    async fn streams(
        &self,
        prefix: &str,
        after: Option<&StreamName>,
        limit: usize,
    ) -> Result<Vec<StreamHead>, ReadError> {
        let role = self.inner.role();
        role.explained(role.log().streams(prefix, after, limit).await)
    }

    async fn tree_hashes(
        &self,
        level: u8,
        first: u64,
        limit: usize,
    ) -> Result<Vec<Digest>, ReadError> {
        let role = self.inner.role();
        role.explained(role.log().tree_hashes(level, first, limit).await)
    }

    async fn stats(&self) -> Result<Stats, ReadError> {
        let role = self.inner.role();
        role.explained(role.log().stats().await)
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

impl Owned {
    /// Takes notice of a store that has failed.
    fn noted(&self, done: Result<Appended, AppendError>) -> Result<Appended, AppendError> {
        match done {
            Err(AppendError::Unavailable { source }) => {
                self.fail(&source.to_string());
                Err(AppendError::Unavailable { source })
            }
            Err(AppendError::Closed) => Err(self.closed().into()),
            done => done,
        }
    }

    /// A read's result, with the reason in the place of "closed" where the store has failed.
    fn explained<T>(&self, done: Result<T, ReadError>) -> Result<T, ReadError> {
        match done {
            Err(ReadError::Closed) => Err(self.closed()),
            done => done,
        }
    }

    fn committed(&self, done: Result<(), CommitError>) -> Result<(), CommitError> {
        match done {
            Err(CommitError::Closed) => Err(self.closed().into()),
            done => done,
        }
    }

    /// Why this owner's log is closed: it was closed, or its store has failed before, for a guest's append or for an
    /// own one.
    fn closed(&self) -> ReadError {
        match self.failure() {
            Some(reason) => told(format!("it failed before, and was given up: {reason}")),
            None => ReadError::Closed,
        }
    }
}

impl Role {
    fn explained<T>(&self, done: Result<T, ReadError>) -> Result<T, ReadError> {
        match self {
            Role::Owner(owned) => owned.explained(done),
            Role::Guest(_) => done,
        }
    }
}

fn appended(answer: Answer) -> Result<Appended, AppendError> {
    match answer {
        Answer::Appended(done) => done
            .map(message::appended)
            .map_err(message::AppendFailure::into_error),
        other => Err(unexpected(other).into()),
    }
}

impl SharedLog {
    /// Whether the log has these very records; what their copying is answered with.
    async fn has(&self, records: &[Record]) -> Result<Option<Appended>, ReadError> {
        let (Some(first), Some(last)) = (records.first(), records.last()) else {
            return Ok(None);
        };
        let log = self.rocks();
        for record in records {
            let there = annals_event_log::record_at(&*log, record.position()).await?;
            if there.is_none_or(|there| there.as_bytes() != record.as_bytes()) {
                return Ok(None);
            }
        }
        Ok(Some(Appended::new(first.position(), last.position())))
    }
}

#[async_trait]
impl Blobs for SharedLog {
    async fn blob(&self, digest: Digest) -> Result<Option<Bytes>, ReadError> {
        let role = self.inner.role();
        role.explained(role.log().blob(digest).await)
    }
}

/// Rows are those of the owner: they change without the watermark, which is what a reader follows.
#[async_trait]
impl ReadModels for SharedLog {
    async fn checkpoint(&self, model: &str) -> Result<ModelCheckpoint, ReadError> {
        let call = || Call::Checkpoint {
            model: model.to_owned(),
        };
        match self.ask(call, || {}).await? {
            Asked::Own(owned) => owned.explained(owned.log.checkpoint(model).await),
            Asked::Answered(Answer::Checkpoint(found), _) => found
                .map(message::checkpoint)
                .map_err(message::ReadFailure::into_error),
            Asked::Answered(other, _) => Err(unexpected(other)),
        }
    }

    async fn commit(
        &self,
        model: &str,
        expected: ModelCheckpoint,
        rows: Rows,
        position: Position,
    ) -> Result<(), CommitError> {
        let row = |(key, value): &(Bytes, Option<Bytes>)| {
            (Octets(key.clone()), value.clone().map(Octets))
        };
        let call = || Call::Commit {
            model: model.to_owned(),
            expected: message::checkpoint_of(expected),
            rows: rows.iter().map(row).collect(),
            position: position.0,
        };
        match self.ask(call, || {}).await? {
            Asked::Own(owned) => {
                owned.committed(owned.log.commit(model, expected, rows, position).await)
            }
            Asked::Answered(answer, _) => committed(answer),
        }
    }

    async fn get(&self, model: &str, key: &[u8]) -> Result<Option<Bytes>, ReadError> {
        let keys = [Bytes::copy_from_slice(key)];
        let rows = self.get_many(model, &keys).await?;
        Ok(rows.into_iter().next().flatten())
    }

    async fn get_many(&self, model: &str, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>, ReadError> {
        let call = || Call::Rows {
            model: model.to_owned(),
            keys: keys.iter().cloned().map(Octets).collect(),
        };
        match self.ask(call, || {}).await? {
            Asked::Own(owned) => owned.explained(owned.log.get_many(model, keys).await),
            Asked::Answered(Answer::Rows(rows), _) => match rows {
                Ok(rows) => Ok(rows.into_iter().map(|row| row.map(|it| it.0)).collect()),
                Err(failure) => Err(failure.into_error()),
            },
            Asked::Answered(other, _) => Err(unexpected(other)),
        }
    }

    async fn scan(
        &self,
        model: &str,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        let call = || scan(model, prefix, after, limit, false);
        match self.ask(call, || {}).await? {
            Asked::Own(owned) => owned.explained(owned.log.scan(model, prefix, after, limit).await),
            Asked::Answered(answer, _) => scanned(answer),
        }
    }

    async fn scan_back(
        &self,
        model: &str,
        prefix: &[u8],
        before: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<Row>, ReadError> {
        let call = || scan(model, prefix, before, limit, true);
        match self.ask(call, || {}).await? {
            Asked::Own(owned) => {
                owned.explained(owned.log.scan_back(model, prefix, before, limit).await)
            }
            Asked::Answered(answer, _) => scanned(answer),
        }
    }

    async fn drop_model(&self, model: &str) -> Result<(), CommitError> {
        let call = || Call::DropModel {
            model: model.to_owned(),
        };
        match self.ask(call, || {}).await? {
            Asked::Own(owned) => owned.committed(owned.log.drop_model(model).await),
            Asked::Answered(answer, _) => committed(answer),
        }
    }
}

fn scan(model: &str, prefix: &[u8], beside: Option<&[u8]>, limit: usize, backward: bool) -> Call {
    let octets = |bytes: &[u8]| Octets(Bytes::copy_from_slice(bytes));
    Call::Scan {
        model: model.to_owned(),
        prefix: octets(prefix),
        beside: beside.map(octets),
        limit: limit as u64,
        backward,
    }
}

fn scanned(answer: Answer) -> Result<Vec<Row>, ReadError> {
    match answer {
        Answer::Scanned(Ok(rows)) => {
            Ok(rows.into_iter().map(|(key, row)| (key.0, row.0)).collect())
        }
        Answer::Scanned(Err(failure)) => Err(failure.into_error()),
        other => Err(unexpected(other)),
    }
}

fn committed(answer: Answer) -> Result<(), CommitError> {
    match answer {
        Answer::Committed(done) => done.map_err(message::CommitFailure::into_error),
        other => Err(unexpected(other).into()),
    }
}

impl SharedLog {
    /// Gives up the bytes of everything that was removed, in whichever process owns the log; whether there were
    /// some. Others append and read meanwhile.
    ///
    /// # Errors
    /// [`PurgeError`].
    pub async fn purge(&self) -> Result<bool, PurgeError> {
        self.purge_or_put_off(None).await
    }

    /// Leaves the bytes of the redaction whose last event has this position in the files, until [`SharedLog::purge`]
    /// is called.
    ///
    /// # Errors
    /// [`PurgeError`].
    pub async fn put_off_purge(&self, said: Position) -> Result<(), PurgeError> {
        self.purge_or_put_off(Some(said)).await.map(|_| ())
    }

    async fn purge_or_put_off(&self, put_off: Option<Position>) -> Result<bool, PurgeError> {
        let call = || Call::Purge {
            put_off: put_off.map(|said| said.0),
        };
        match self.ask(call, || {}).await.map_err(ReadError::from)? {
            Asked::Own(owned) => off_thread(move || purge(&owned.log, put_off)).await?,
            Asked::Answered(Answer::Purged(done), visit) => {
                let done = done.map_err(|failure| failure.into_error())?;
                visit.reader.catch_up().await?;
                Ok(done)
            }
            Asked::Answered(other, _) => Err(unexpected(other).into()),
        }
    }
}
