//! Many small batches in order, of which many share one sync.
//!
//! ```text
//! execute(1)  execute(2)  execute(3) ...          decided on what the ones before it leave
//!     │           │           │
//!     └─ append ──┴─ append ──┴─ append ─▶ the log's writer ─▶ one write, one sync
//! ```
//!
//! [`Annals::execute_batch`] answers when its batch is on disk, so that one caller makes as many batches a
//! second as its disk makes syncs. A [`BulkWriter`] decides a batch on the states as the batches on
//! their way leave them (`bulk/ahead.rs`), and hands its append to the log without waiting for the
//! answer (`bulk/line.rs`). Each append expects the versions that it was decided on, and is a link of a chain:
//! if one is not made, none behind it is. So what was decided on something that did not come to be is
//! not appended; it is decided again, in order, as [`Annals::execute_batch`] would. What is out of
//! the ordinary (a refusal, a batch that changes nothing) waits for what is on its way, and then goes the
//! ordinary way.

mod again;
mod ahead;
mod answer;
mod given;
mod line;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, OnceLock};
use std::task::Poll;

use annals_domain::StreamRef;
use annals_event_log::{AppendError, Appended, BatchStatus, Link, Position, ReadError};
use uuid::Uuid;

use crate::batch::{Batch, canonical_request, located};
use crate::{Annals, BatchOutcome, ExecuteError, Request};

pub(crate) use self::ahead::{Ahead, Supplied};
pub use self::answer::{BulkError, Decided, KnownKey};
use self::given::Given;
use self::line::{Answer, HandedOver, Line, OnItsWay, Pending, hand_over};

/// Events after which the catalogue's rows are brought on.
const KEEP_UP_EVENTS: usize = 1_000;

impl Annals {
    /// Executes many batches in order, of which many share one sync.
    ///
    /// ```
    /// use annals::domain::pipeline::{CreatePipeline, FrameKind, PushFrame};
    /// use annals::domain::{ActorRef, PipelineId};
    /// use annals::{Annals, Request};
    /// use uuid::Uuid;
    ///
    /// # futures::executor::block_on(async {
    /// let annals = Annals::open("memory:").await?;
    /// let pipeline = PipelineId(Uuid::now_v7());
    /// let agent = ActorRef::agent("importer");
    /// let create = CreatePipeline::new().with_id(pipeline);
    ///
    /// let mut bulk = annals.bulk();
    /// bulk.execute(None, vec![Request::new(agent.clone(), create)]).await?;
    /// for line in 1..=1_000_u128 {
    ///     let push = PushFrame::new(pipeline, FrameKind::StepSummary, format!("line {line}"));
    ///     // The key makes it safe to begin again where an import was interrupted.
    ///     let key = Uuid::from_u128(line);
    ///     if bulk.knows(key).await?.is_none() {
    ///         let decided = bulk.execute(Some(key), vec![Request::new(agent.clone(), push)]).await?;
    ///         assert!(decided.outcomes[0].frame_id.is_some());
    ///     }
    /// }
    /// // Only now is all of it on disk.
    /// bulk.flush().await?;
    /// assert_eq!(annals.position().0, 1_001);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn bulk(&self) -> BulkWriter<'_> {
        BulkWriter {
            annals: self,
            line: Line::default(),
            ahead: Ahead::default(),
            epoch: self.states.epoch(),
            again: VecDeque::new(),
            unknown: None,
            number: 0,
            link: new_chain(),
            unfolded: 0,
        }
    }
}

/// Executes batches in order without waiting for each sync: see [`Annals::bulk`].
///
/// What it stores is what [`Annals::execute_batch`] stores of one batch after the other: each batch is whole
/// or not there, and has its own key and its own events. At most 256 batches and about 4 MiB are on
/// their way; beyond that [`BulkWriter::execute`] waits for the oldest.
///
/// **When it is on disk**: what [`BulkWriter::flush`] has answered for, and what [`Decided::appended`] says.
/// Dropping the writer, or a future of it, leaves unknown what became of the batches on their way: give
/// them keys, and repeat them.
///
/// **Order**: batches come into the log in the order in which they were given. Where other callers write to
/// the same objects meanwhile, what was decided on their older states, and all that was given after it, is
/// decided again in that order.
///
/// **Others**: it holds no object between two calls. A command of another task that waits for an object that
/// is written to here goes first; several bulk writers may share objects, but gain nothing then.
///
/// **Reads** see what is on disk. After a [`BulkWriter::flush`], views and the catalogue have all of it.
pub struct BulkWriter<'a> {
    annals: &'a Annals,
    line: Line,
    ahead: Ahead,
    /// The epoch of what is on its way.
    epoch: u64,
    /// Batches that were on their way and did not arrive, to be decided again in this order.
    again: VecDeque<Given>,
    /// The key that was looked up last, if it was not known.
    unknown: Option<Uuid>,
    /// How many batches were sent on their way.
    number: u64,
    /// The place of the next one behind those that are on their way.
    link: Link,
    /// Events that arrived since the catalogue was updated.
    unfolded: usize,
}

/// Why a batch is not on its way.
enum NotAhead {
    /// It must be decided on what is in the log.
    Unusual(Vec<Request>),
    /// The log failed.
    Failed(ExecuteError),
}

impl BulkWriter<'_> {
    /// Decides a batch and sends it on its way, behind all that were given before. `key` makes it safe to repeat.
    ///
    /// Ids and frame ids in the answer are those that the log will have. Should others write to the same
    /// objects meanwhile, so that they would be different ones, the batch is not appended, and the next call says so.
    ///
    /// # Errors
    /// [`BulkError::Batch`] for this batch, [`BulkError::NotAcknowledged`] for those before it.
    pub async fn execute(
        &mut self,
        key: Option<Uuid>,
        requests: Vec<Request>,
    ) -> Result<Decided, BulkError> {
        self.make_room().await?;
        let is_asked = key.is_some() && self.unknown.take() == key;
        let is_alone = |request: &Request| request.command.must_be_alone().is_some();
        // What is a batch by itself is decided on what is in the log, and answered when it is there.
        if requests.is_empty() || requests.iter().any(is_alone) {
            return self.ordinarily(key, requests).await;
        }
        let canonical = canonical_request(&requests)?;
        let batch = Batch::new(
            key,
            canonical,
            requests,
            Vec::new(),
            self.annals.clock.now(),
        );
        if self.must_wait(&batch) {
            self.drain().await?;
            pause().await;
            return self.ordinarily(key, batch.requests).await;
        }
        let annals = self.annals;
        let turn = annals.locks.turn(batch.locks.clone());
        let turn = self.line.beside(turn).await;
        if !is_asked && let Some(outcome) = self.line.beside(annals.known(&batch)).await? {
            return Ok(Decided::done(outcome));
        }
        match self.ahead_of_the_log(batch).await {
            Ok(decided) => Ok(decided),
            Err(NotAhead::Failed(error)) => Err(error.into()),
            Err(NotAhead::Unusual(requests)) => {
                drop(turn);
                self.ordinarily(key, requests).await
            }
        }
    }

    /// Waits until all that was given is on disk, and answers with the log's end. What is read after it,
    /// of views and of the catalogue, has all of it.
    ///
    /// # Errors
    /// [`BulkError::NotAcknowledged`] says which batches are not there, and why.
    pub async fn flush(&mut self) -> Result<Position, BulkError> {
        self.drain().await?;
        self.keep_up().await;
        Ok(self.annals.position())
    }

    /// What is known of a key, on its way or in the log; `None` where nothing is.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn knows(&mut self, key: Uuid) -> Result<Option<KnownKey>, ReadError> {
        if self.is_on_its_way(key) {
            return Ok(Some(KnownKey::OnItsWay));
        }
        let looked_up = self.line.beside(self.annals.log.batch(key, &[])).await;
        let Appended { first, last, .. } = match looked_up? {
            BatchStatus::Unknown => {
                self.unknown = Some(key);
                return Ok(None);
            }
            BatchStatus::Known(there)
            | BatchStatus::Mismatch(there)
            | BatchStatus::Unverifiable(there) => there,
        };
        Ok(Some(KnownKey::InLog { first, last }))
    }

    /// Whether a batch on its way makes or changes an object. Where none does, what is read of it is all that there is
    /// without a [`BulkWriter::flush`].
    pub fn writes_to(&self, object: impl Into<Uuid>) -> bool {
        !self.again.is_empty() || self.ahead.has(object.into())
    }

    fn is_on_its_way(&self, key: Uuid) -> bool {
        let mut again = self.again.iter();
        self.line.has(key) || again.any(|given| given.batch.key() == Some(key))
    }

    /// Whether a batch cannot be decided before all that is on its way has arrived: its key is on its way,
    /// names were removed, or another caller waits for one of its objects.
    fn must_wait(&self, batch: &Batch) -> bool {
        let annals = self.annals;
        batch.key().is_some_and(|key| self.is_on_its_way(key))
            || (annals.states.epoch() != self.epoch && !self.line.is_empty())
            || annals.locks.are_wanted(batch.locks.iter().copied())
    }

    /// Executes a batch as [`Annals::execute_batch`] does, behind all that is on its way.
    async fn ordinarily(
        &mut self,
        key: Option<Uuid>,
        requests: Vec<Request>,
    ) -> Result<Decided, BulkError> {
        self.drain().await?;
        let outcome = self.annals.execute_batch(key, requests).await?;
        Ok(Decided::done(outcome))
    }

    /// Decides a batch on what is on its way and sends it behind that.
    async fn ahead_of_the_log(&mut self, mut batch: Batch) -> Result<Decided, NotAhead> {
        let annals = self.annals;
        let epoch = annals.states.epoch();
        // Since the batch was looked at, names may have been removed.
        if epoch != self.epoch && !self.line.is_empty() {
            return Err(NotAhead::Unusual(batch.requests));
        }
        let deciding = annals.decide(&batch, epoch, Some(&mut self.ahead));
        let Ok(decided) = self.line.beside(deciding).await else {
            return Err(NotAhead::Unusual(batch.requests));
        };
        let (world, events) = (decided.world, decided.events);
        let written = events.iter().flatten().map(|emitted| emitted.stream.id);
        let others = written.filter(|id| !batch.locks.contains(id));
        if events.iter().all(Vec::is_empty) || annals.locks.are_wanted(others) {
            return Err(NotAhead::Unusual(batch.requests));
        }
        let Ok(append) = batch.encode(annals, &world, &events) else {
            return Err(NotAhead::Unusual(batch.requests));
        };
        // Names that it was decided by may have been removed.
        if annals.states.epoch() != epoch {
            return Err(NotAhead::Unusual(batch.requests));
        }
        let (bytes, is_small) = (append.bytes(), append.is_small());
        let (log, link) = (Arc::clone(&annals.log), self.link);
        let append: Pending = Box::pin(async move { log.append_linked(append, link).await });
        let pending = match self.line.beside(hand_over(append, is_small)).await {
            HandedOver::Waits(append) => append,
            HandedOver::Answered(Ok(appended)) if !appended.repeated => {
                Box::pin(std::future::ready(Ok(appended)))
            }
            // Whether it is there is unknown: given once more under another id, it could be there twice.
            HandedOver::Answered(Err(
                error @ (AppendError::Unavailable { .. } | AppendError::Corrupt { .. }),
            )) => {
                return Err(NotAhead::Failed(ExecuteError::Append(error)));
            }
            // Nothing of it is there, and the ordinary way has the right words for why.
            HandedOver::Answered(_) => return Err(NotAhead::Unusual(batch.requests)),
        };
        let outcomes = batch.decided(&events);
        batch.told = Some(outcomes.clone());
        let number = self.number;
        let (touched, unchanged) = self.ahead.advance(number, world, &events);
        annals.keep(epoch, unchanged);
        let appended = Arc::new(OnceLock::new());
        let decided = Decided {
            outcomes,
            appended: Arc::clone(&appended),
        };
        self.number += 1;
        self.link.number += 1;
        self.epoch = epoch;
        let next = OnItsWay {
            given: Given { batch, appended },
            number,
            epoch,
            touched,
            bytes,
        };
        self.line.push(next, pending);
        Ok(decided)
    }

    /// Takes what was answered, and waits for the oldest batch while too much is on its way.
    async fn make_room(&mut self) -> Result<(), BulkError> {
        while let Some((batch, answer)) = self.line.answered() {
            self.take(batch, answer);
        }
        while self.again.is_empty() && self.line.is_full() {
            if let Some((batch, answer)) = self.line.oldest().await {
                self.take(batch, answer);
            }
        }
        if !self.again.is_empty() {
            return self.drain().await;
        }
        if self.unfolded >= KEEP_UP_EVENTS {
            self.keep_up().await;
        }
        Ok(())
    }

    /// Waits for all that is on its way, and decides again what did not arrive.
    async fn drain(&mut self) -> Result<(), BulkError> {
        while let Some((batch, answer)) = self.line.oldest().await {
            self.take(batch, answer);
        }
        self.ahead.forget();
        self.link = new_chain();
        while let Some(given) = self.again.front_mut() {
            let annals = self.annals;
            let turn = annals.locks.turn(given.batch.locks.clone()).await;
            match annals.execute_as_told(&mut given.batch, turn).await {
                Ok(outcome) => {
                    given.has_arrived(|_| outcome);
                    self.again.pop_front();
                }
                Err(source) => {
                    let keys = self.again.drain(..).map(|given| given.batch.key());
                    return Err(BulkError::NotAcknowledged {
                        keys: keys.collect(),
                        source: Box::new(source),
                    });
                }
            }
        }
        Ok(())
    }

    /// Takes the answer to the oldest batch.
    fn take(&mut self, batch: OnItsWay, answer: Answer) {
        let annals = self.annals;
        match answer {
            Ok(appended) if !appended.repeated => {
                for (stream, state) in self.ahead.arrived(batch.number, &batch.touched) {
                    match state {
                        Some(loaded) => annals.keep(batch.epoch, [(stream, loaded)]),
                        None => annals.states.forget([stream]),
                    }
                }
                if let Some(key) = batch.given.batch.key() {
                    annals.recent.note(key);
                }
                let events = appended.last.0 - appended.first.0 + 1;
                self.unfolded += usize::try_from(events).unwrap_or(usize::MAX);
                batch.given.has_arrived(|given| BatchOutcome {
                    outcomes: located(given.told.clone().unwrap_or_default(), appended).collect(),
                    position: appended.last,
                    repeated: false,
                });
            }
            // What was decided for it did not come to be, nor is anything there that was decided on
            // that: the rest of its chain is refused.
            answer => {
                if let Err(AppendError::Conflict { stream, .. }) = answer {
                    annals
                        .states
                        .forget(stream.as_str().parse::<StreamRef>().ok());
                }
                self.again.push_back(batch.given);
            }
        }
    }

    async fn keep_up(&mut self) {
        self.unfolded = 0;
        self.line.beside(self.annals.keep_up()).await;
    }
}

fn new_chain() -> Link {
    Link {
        chain: annals_event_log::new_id(),
        number: 0,
    }
}

/// Lets other tasks of the same thread go first.
async fn pause() {
    let mut has_paused = false;
    poll_fn(|context| {
        if has_paused {
            return Poll::Ready(());
        }
        has_paused = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
