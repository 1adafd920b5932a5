//! Executing commands: load, decide, append; again on a conflict.

use annals_domain::run::ToolCall;
use annals_domain::{
    AnyEvent, DecideError, Dependence, Loaded, Need, SecondFold, StreamKind, StreamRef,
    ToolInvocationId, World,
};
use annals_event_log::{AppendError, Appended, BatchStatus, Expectation};
use annals_wire::stream_name;
use bytes::Bytes;
use uuid::Uuid;

use crate::batch::{Batch, DecidedBatch, canonical_request, locks_of, principal};
use crate::bulk::{Ahead, Supplied};
use crate::keyed_locks::Turn;
use crate::own_key::{KnownBy, demand_alone, with_own_key};
use crate::{Annals, At, BatchOutcome, ExecuteError, LoadError, Outcome, Request};

/// How often a command is decided again when others come first.
const ATTEMPTS: u32 = 16;

/// Why an attempt came to nothing.
pub(crate) enum AttemptError {
    /// The states were not the newest ones: load them again. The append said
    /// which stream another writer wrote to.
    Stale(Option<Uuid>),
    /// It was decided on what is on its way to the log, and only what is there can say.
    Ahead,
    Final(ExecuteError),
}

impl<E: Into<ExecuteError>> From<E> for AttemptError {
    fn from(error: E) -> AttemptError {
        AttemptError::Final(error.into())
    }
}

impl Annals {
    /// Executes one command.
    ///
    /// When it answers, the events are on disk. Dropping the future leaves it
    /// unknown whether the command was executed: give the request a key and
    /// repeat it.
    ///
    /// # Errors
    /// [`ExecuteError`].
    pub async fn execute(&self, request: Request) -> Result<Outcome, ExecuteError> {
        let key = request.key;
        let batch = self.execute_batch(key, vec![request]).await?;
        batch.only()
    }

    /// Executes several commands as one: all of them or none. Each is decided
    /// as if those before it had happened. `key` makes the batch safe to
    /// repeat; the keys of the requests are not used.
    ///
    /// # Errors
    /// [`ExecuteError`].
    #[tracing::instrument(level = "debug", skip_all, fields(key, commands = requests.len()))]
    pub async fn execute_batch(
        &self,
        key: Option<Uuid>,
        requests: Vec<Request>,
    ) -> Result<BatchOutcome, ExecuteError> {
        demand_alone(&requests)?;
        let known_by = KnownBy::of(key, &requests);
        let requests = match <[Request; 1]>::try_from(requests) {
            Ok([request]) => vec![with_own_key(Request { key, ..request })],
            Err(requests) => requests,
        };
        let key = match requests.as_slice() {
            [only] => only.key,
            _ => key,
        };
        let canonical = canonical_request(&requests)?;
        let done = self
            .execute_guarded(key, canonical, requests, Vec::new())
            .await;
        done.map_err(|error| known_by.explain(error))
    }

    /// The same, made only if further expectations hold. `canonical` is the request that the
    /// key identifies.
    pub(crate) async fn execute_guarded(
        &self,
        key: Option<Uuid>,
        canonical: Bytes,
        requests: Vec<Request>,
        guards: Vec<Expectation>,
    ) -> Result<BatchOutcome, ExecuteError> {
        if requests.is_empty() {
            return Err(ExecuteError::Empty);
        }
        let turn = self.locks.turn(locks_of(key, &requests)).await;
        // Whether the batch of a key is there already, the append finds out. To ask
        // before it would cost each new one a read; a repeat mostly comes soon.
        if let Some(key) = key.filter(|key| self.recent.has(*key))
            && let Some(outcome) = self.known_batch(key, &canonical, requests.len()).await?
        {
            return Ok(outcome);
        }
        let mut batch = Batch::new(key, canonical, requests, guards, self.clock.now());
        let outcome = self.attempts(&mut batch, turn).await;
        self.keep_up().await;
        outcome
    }

    /// Decides a batch and appends it, again where others come first. `turn` is the one on its locks.
    pub(crate) async fn attempts(
        &self,
        batch: &mut Batch,
        turn: Turn<'_>,
    ) -> Result<BatchOutcome, ExecuteError> {
        let mut turn = Some(turn);
        let mut outcome = Err(ExecuteError::Contended { attempts: ATTEMPTS });
        for attempt in 0..ATTEMPTS {
            match self.attempt(batch).await {
                Ok(done) => {
                    outcome = Ok(done);
                    break;
                }
                Err(AttemptError::Ahead) => {}
                Err(AttemptError::Stale(stream)) => {
                    tracing::debug!(attempt, batch = %batch.id, "decided on old states");
                    // Others write to what this one only finds out that it
                    // needs: from now on it waits for its turn on that, too.
                    if let Some(stream) = stream.filter(|id| !batch.locks.contains(id)) {
                        batch.locks.push(stream);
                        drop(turn.take());
                        turn = Some(self.locks.turn(batch.locks.clone()).await);
                    }
                }
                Err(AttemptError::Final(error)) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        if let Err(error) = outcome {
            outcome = self.unless_known(batch, error).await;
        }
        if let (Ok(_), Some(key)) = (&outcome, batch.key()) {
            self.recent.note(key);
        }
        drop(turn);
        outcome
    }

    /// A batch that cannot be made now may have been made before: most commands
    /// are refused for what they did the first time.
    async fn unless_known(
        &self,
        batch: &Batch,
        error: ExecuteError,
    ) -> Result<BatchOutcome, ExecuteError> {
        if error.is_of_the_key() {
            return Err(error);
        }
        match self.known(batch).await {
            Ok(Some(known)) => Ok(known),
            Err(used) if used.is_of_the_key() => Err(used),
            Ok(None) | Err(_) => Err(error),
        }
    }

    /// The answer to a batch with a key, if it is in the log already.
    pub(crate) async fn known(&self, batch: &Batch) -> Result<Option<BatchOutcome>, ExecuteError> {
        // One that was on its way before may have come there.
        if !batch.is_keyed && batch.told.is_none() {
            return Ok(None);
        }
        self.known_batch(batch.id, &batch.canonical, batch.requests.len())
            .await
    }

    async fn known_batch(
        &self,
        key: Uuid,
        canonical: &[u8],
        requests: usize,
    ) -> Result<Option<BatchOutcome>, ExecuteError> {
        match self
            .log
            .batch(key, canonical)
            .await
            .map_err(LoadError::from)?
        {
            BatchStatus::Unknown => Ok(None),
            BatchStatus::Mismatch(_) => Err(ExecuteError::KeyReused { key }),
            BatchStatus::Unverifiable(Appended { first, last, .. }) => {
                Err(ExecuteError::KeyUnverifiable { key, first, last })
            }
            BatchStatus::Known(appended) => Ok(Some(self.repeated(appended, requests).await?)),
        }
    }

    /// The answer to a batch that is in the log already.
    async fn repeated(
        &self,
        appended: Appended,
        requests: usize,
    ) -> Result<BatchOutcome, ExecuteError> {
        let outcomes = match requests {
            1 => vec![self.first_outcome(appended).await?],
            _ => Vec::new(),
        };
        Ok(BatchOutcome {
            outcomes,
            position: appended.last,
            repeated: true,
        })
    }

    /// The outcome of a batch of one command, from its first event.
    async fn first_outcome(&self, appended: Appended) -> Result<Outcome, ExecuteError> {
        let first = self
            .contents()
            .record(appended.first)
            .await
            .map_err(LoadError::from)?;
        let events = usize::try_from(appended.last.0 - appended.first.0 + 1).unwrap_or(usize::MAX);
        let mut outcome = Outcome {
            id: None,
            frame_id: None,
            verdict: None,
            position: appended.last,
            events,
        };
        if let Some(record) = first {
            let decoded = annals_wire::decode(&record).map_err(LoadError::from)?;
            (outcome.id, outcome.frame_id) = principal(decoded.stream, &decoded.event);
            if let StreamKind::Session = decoded.stream.kind {
                outcome.verdict = self.verdict_in(appended).await?;
            }
        }
        Ok(outcome)
    }

    async fn attempt(&self, batch: &Batch) -> Result<BatchOutcome, AttemptError> {
        let epoch = self.states.epoch();
        let decided = self.decide(batch, epoch, None).await?;
        let written_blindly = decided.written_blindly();
        let DecidedBatch { world, events } = decided;
        if let Some(told) = &batch.told
            && *told != batch.decided(&events)
        {
            return Err(ExecuteError::Contended { attempts: 1 }.into());
        }
        if events.iter().all(Vec::is_empty) {
            return self.nothing_to_do(batch, world, epoch).await;
        }
        let append = batch.encode(self, &world, &events)?;
        if self.states.epoch() != epoch {
            // Names that it was decided by were removed.
            return Err(AttemptError::Stale(None));
        }
        let appended = self.log.append(append).await;
        self.note_append(&appended);
        match appended {
            // It was made before. What was decided here never happened, so
            // nothing of it is kept.
            Ok(appended) if appended.repeated => {
                self.keep(epoch, world.into_unchanged());
                Ok(self.repeated(appended, batch.requests.len()).await?)
            }
            Ok(appended) => {
                self.keep(epoch, world.into_states());
                self.states.forget(written_blindly);
                Ok(BatchOutcome {
                    outcomes: batch.outcomes(&events, appended),
                    position: appended.last,
                    repeated: false,
                })
            }
            Err(AppendError::Conflict { stream, .. }) => {
                // The others may be as they were; where they are not, the next
                // attempt says so.
                self.keep(epoch, world.into_unchanged());
                let lost = stream.as_str().parse::<StreamRef>().ok();
                self.states.forget(lost);
                if batch.guards.iter().any(|guard| guard.stream == stream) {
                    return Err(ExecuteError::Contended { attempts: 1 }.into());
                }
                Err(AttemptError::Stale(lost.map(|stream| stream.id)))
            }
            Err(AppendError::IdempotencyMismatch { batch: key }) => {
                self.keep(epoch, world.into_unchanged());
                Err(AttemptError::Final(ExecuteError::KeyReused { key }))
            }
            Err(AppendError::RequestUnverifiable {
                batch: key,
                first,
                last,
            }) => {
                self.keep(epoch, world.into_unchanged());
                Err(AttemptError::Final(ExecuteError::KeyUnverifiable {
                    key,
                    first,
                    last,
                }))
            }
            Err(error) => Err(AttemptError::Final(ExecuteError::Append(error))),
        }
    }

    /// The answer to a batch that changes nothing, if that is so by the newest
    /// states.
    async fn nothing_to_do(
        &self,
        batch: &Batch,
        world: World,
        epoch: u64,
    ) -> Result<BatchOutcome, AttemptError> {
        if let Some(known) = self.known(batch).await? {
            return Ok(known);
        }
        let position = self.log.watermark();
        self.settle(world, epoch).await?;
        self.log.confirm().await.map_err(LoadError::from)?;
        let unchanged = |request: &Request| Outcome {
            id: request.command.lock_id(),
            frame_id: None,
            verdict: None,
            position,
            events: 0,
        };
        Ok(BatchOutcome {
            outcomes: batch.requests.iter().map(unchanged).collect(),
            position,
            repeated: false,
        })
    }

    pub(crate) fn keep(&self, epoch: u64, states: impl IntoIterator<Item = (StreamRef, Loaded)>) {
        for (stream, loaded) in states {
            if loaded.version > 0 {
                self.states.keep(epoch, stream, loaded);
            }
        }
    }

    /// Keeps what was loaded, if all of it is what the log has now. An answer
    /// that appends nothing is only good then; no append has checked it.
    async fn settle(&self, world: World, epoch: u64) -> Result<(), AttemptError> {
        let mut old = Vec::new();
        for (stream, dependence, version) in world.dependences() {
            let head = self
                .log
                .head(&stream_name(stream))
                .await
                .map_err(LoadError::from)?;
            let current = match dependence {
                Dependence::Exists => (head.0 > 0) == (version > 0),
                Dependence::State => head.0 == version,
            };
            if !current {
                old.push(stream);
            }
        }
        self.keep(epoch, world.into_unchanged());
        if old.is_empty() {
            return Ok(());
        }
        let first = old.first().map(|stream| stream.id);
        self.states.forget(old);
        Err(AttemptError::Stale(first))
    }

    /// Decides a batch on what the log has and, where they are given, on the states that it will have
    /// once it has what is on its way there.
    pub(crate) async fn decide(
        &self,
        batch: &Batch,
        epoch: u64,
        mut ahead: Option<&mut Ahead>,
    ) -> Result<DecidedBatch, AttemptError> {
        let mut world = World::new();
        let mut events = Vec::with_capacity(batch.requests.len());
        for (index, (request, meta)) in batch.requests.iter().zip(&batch.metas).enumerate() {
            loop {
                match request.command.decide(&mut world, meta) {
                    Ok(decided) => {
                        world.apply(&decided, meta);
                        events.push(decided);
                        break;
                    }
                    Err(DecideError::Needs(needs)) => {
                        for need in needs {
                            let ahead = ahead.as_deref_mut();
                            self.supply(&mut world, need, batch, ahead).await?;
                        }
                    }
                    Err(DecideError::Refused(_)) if ahead.is_some() => {
                        return Err(AttemptError::Ahead);
                    }
                    Err(DecideError::Refused(refusal)) => {
                        self.settle(world, epoch).await?;
                        let command = request.command.name();
                        let refused = ExecuteError::Refused {
                            index,
                            command,
                            refusal,
                        };
                        return Err(refused.into());
                    }
                }
            }
        }
        Ok(DecidedBatch { world, events })
    }

    async fn loaded(&self, stream: StreamRef, batch: &Batch) -> Result<Loaded, ExecuteError> {
        if batch.is_new(stream.id) {
            return Ok(Loaded::absent(stream.kind));
        }
        let take = batch.locks.contains(&stream.id);
        Ok(self.states.load(self.log.as_ref(), stream, take).await?)
    }

    async fn supply(
        &self,
        world: &mut World,
        need: Need,
        batch: &Batch,
        mut ahead: Option<&mut Ahead>,
    ) -> Result<(), AttemptError> {
        match ahead
            .as_deref_mut()
            .map(|ahead| ahead.supply(world, &need, batch))
        {
            Some(Supplied::Yes) => return Ok(()),
            Some(Supplied::Unsure) => return Err(AttemptError::Ahead),
            Some(Supplied::NotHere) | None => {}
        }
        match need {
            Need::State(stream) => {
                world.insert_state(stream, self.loaded(stream, batch).await?);
            }
            Need::Place(id) => {
                world.insert_place(id, self.index().place(id).await?);
            }
            Need::Naming { field, target } => {
                // Nothing names what gets its id here.
                let mut naming = match batch.is_new(target) {
                    true => Vec::new(),
                    false => self.all_naming(field, target).await?,
                };
                if let Some(ahead) = ahead {
                    ahead.add_naming(field, target, &mut naming);
                }
                world.insert_naming(field, target, naming);
            }
            Need::NamedStream { kind, name } => {
                let stream = self.named_stream(kind, &name).await?;
                world.insert_named_stream(kind, name, stream);
            }
            Need::ToolCall { stream, call } => {
                world.insert_tool_call(call, self.tool_call(stream, call, At::Now).await?);
            }
            Need::SecondFold { stream, version } => {
                if let Some(fold) = self.second_fold(stream, version).await? {
                    world.insert_second_fold(stream, fold);
                }
            }
        }
        Ok(())
    }

    /// The stream that a name is of.
    pub(crate) async fn named_stream(
        &self,
        kind: StreamKind,
        name: &str,
    ) -> Result<StreamRef, LoadError> {
        match kind {
            StreamKind::Alias => self.index().alias_stream(name).await,
            _ => self.bucket_stream(name).await,
        }
    }

    /// What the log said of a tool call of a run at a moment.
    pub(crate) async fn tool_call(
        &self,
        stream: StreamRef,
        call: ToolInvocationId,
        at: At,
    ) -> Result<ToolCall, LoadError> {
        let mut known = ToolCall::default();
        for position in self.index().events_of_call(call).await? {
            let record = self.contents().record(position).await?;
            let record = record.filter(|record| at.has_happened(record));
            let decoded = record.as_ref().map(annals_wire::decode).transpose()?;
            if let Some(decoded) = decoded
                && decoded.stream == stream
                && let AnyEvent::Run(event) = &decoded.event
            {
                known.evolve(event);
            }
        }
        Ok(known)
    }

    /// The second fold of a stream that has one, as the events up to a version left it.
    async fn second_fold(
        &self,
        stream: StreamRef,
        version: u64,
    ) -> Result<Option<SecondFold>, LoadError> {
        Ok(match SecondFold::empty(stream.kind) {
            None => None,
            Some(SecondFold::Window(_)) => {
                let window = self.windows.load(self.log.as_ref(), stream, version);
                Some(SecondFold::Window(window.await?))
            }
            Some(SecondFold::TaskText(_)) => {
                Some(SecondFold::TaskText(self.task_text(stream, version).await?))
            }
            Some(SecondFold::Commits(_)) => {
                Some(SecondFold::Commits(self.commits(stream, version).await?))
            }
        })
    }
}
