//! Executing commands: load, decide, append; again on a conflict.

use annals_domain::session::Verdict;
use annals_domain::{
    AnyEvent, DecideError, Dependence, Emitted, Loaded, Meta, Need, Origin, StreamKind, StreamRef,
    Timestamp, World, pipeline,
};
use annals_event_log::{
    Append, AppendError, Appended, BatchStatus, Expectation, Expected, Version,
};
use annals_wire::{Envelope, random_salt, stream_name};
use bytes::Bytes;
use chrono::Utc;
use uuid::Uuid;

use crate::{Annals, BatchOutcome, ExecuteError, LoadError, Outcome, Request, gate};

/// How often a command is decided anew when others come first.
const ATTEMPTS: u32 = 16;

/// A batch that was decided: the events of each command, and the world after.
struct DecidedBatch {
    world: World,
    events: Vec<Vec<Emitted>>,
}

/// Why an attempt came to nothing.
enum Setback {
    /// The states were not the newest ones: load them anew. The append said
    /// which stream somebody else wrote to.
    Stale(Option<Uuid>),
    Final(ExecuteError),
}

impl<E: Into<ExecuteError>> From<E> for Setback {
    fn from(error: E) -> Setback {
        Setback::Final(error.into())
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
        batch.outcomes.into_iter().next().ok_or(ExecuteError::Empty)
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
        gate::alone(&requests)?;
        // What the caller knows the request by.
        let known_by = (requests.first().and_then(gate::given), key);
        let requests = match <[Request; 1]>::try_from(requests) {
            Ok([request]) => vec![gate::keyed(Request { key, ..request })],
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
        done.map_err(|error| gate::explained(known_by, error))
    }

    /// The same, made only if further expectations hold. `canonical` is what the
    /// key stands for.
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
        // A key has a lane too: a repeat waits for the first one and then finds it.
        // So has an id that is asked for: of two commands only one finds it free.
        let lanes: Vec<Uuid> = requests
            .iter()
            .flat_map(|request| [request.command.lane(), request.command.asked_id()])
            .flatten()
            .chain(key)
            .collect();
        let mut turn = Some(self.lanes.turn(lanes.clone()).await);
        // Whether the batch of a key is there already, the append finds out. To ask
        // before it would cost each new one a read; a repeat mostly comes soon.
        if let Some(key) = key.filter(|key| self.recent.has(*key))
            && let Some(outcome) = self.known_batch(key, &canonical, requests.len()).await?
        {
            return Ok(outcome);
        }
        let metas = new_metas(&requests);
        let mut batch = Batch {
            id: key.unwrap_or_else(Uuid::now_v7),
            is_keyed: key.is_some(),
            canonical,
            requests,
            metas,
            lanes,
            guards,
        };
        let mut outcome = Err(ExecuteError::Contended { attempts: ATTEMPTS });
        for attempt in 0..ATTEMPTS {
            match self.attempt(&batch).await {
                Ok(done) => {
                    outcome = Ok(done);
                    break;
                }
                Err(Setback::Stale(stream)) => {
                    tracing::debug!(attempt, batch = %batch.id, "decided on old states");
                    // Others write to what this one only finds out that it
                    // needs: from now on it stands in line for that, too.
                    if let Some(stream) = stream.filter(|id| !batch.lanes.contains(id)) {
                        batch.lanes.push(stream);
                        drop(turn.take());
                        turn = Some(self.lanes.turn(batch.lanes.clone()).await);
                    }
                }
                Err(Setback::Final(error)) => {
                    outcome = Err(error);
                    break;
                }
            }
        }
        if let Err(error) = outcome {
            outcome = self.unless_known(&batch, error).await;
        }
        if let (Ok(_), Some(key)) = (&outcome, key) {
            self.recent.note(key);
        }
        drop(turn);
        self.keep_up().await;
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
    async fn known(&self, batch: &Batch) -> Result<Option<BatchOutcome>, ExecuteError> {
        if !batch.is_keyed {
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
        let first = self.record(appended.first).await.map_err(LoadError::from)?;
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

    async fn attempt(&self, batch: &Batch) -> Result<BatchOutcome, Setback> {
        let epoch = self.states.epoch();
        let DecidedBatch { world, events } = self.decide(batch, epoch).await?;
        if events.iter().all(Vec::is_empty) {
            return self.nothing_to_do(batch, world, epoch).await;
        }
        let append = batch.encode(&world, &events)?;
        if self.states.epoch() != epoch {
            // Names that it was decided by were removed.
            return Err(Setback::Stale(None));
        }
        match self.log.append(append).await {
            // It was made before. What was decided here never happened, so
            // nothing of it is kept.
            Ok(appended) if appended.repeated => {
                self.keep(epoch, world.into_unchanged());
                Ok(self.repeated(appended, batch.requests.len()).await?)
            }
            Ok(appended) => {
                self.keep(epoch, world.into_states());
                Ok(BatchOutcome {
                    outcomes: outcomes(batch, &events, appended),
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
                Err(Setback::Stale(lost.map(|stream| stream.id)))
            }
            Err(AppendError::IdempotencyMismatch { batch: key }) => {
                self.keep(epoch, world.into_unchanged());
                Err(Setback::Final(ExecuteError::KeyReused { key }))
            }
            Err(AppendError::RequestUnverifiable {
                batch: key,
                first,
                last,
            }) => {
                self.keep(epoch, world.into_unchanged());
                Err(Setback::Final(ExecuteError::KeyUnverifiable {
                    key,
                    first,
                    last,
                }))
            }
            Err(error) => Err(Setback::Final(ExecuteError::Append(error))),
        }
    }

    /// The answer to a batch that changes nothing, if that is so by the newest
    /// states.
    async fn nothing_to_do(
        &self,
        batch: &Batch,
        world: World,
        epoch: u64,
    ) -> Result<BatchOutcome, Setback> {
        if let Some(known) = self.known(batch).await? {
            return Ok(known);
        }
        let position = self.log.watermark();
        self.settle(world, epoch).await?;
        let unchanged = |request: &Request| Outcome {
            id: request.command.lane(),
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

    fn keep(&self, epoch: u64, states: Vec<(StreamRef, Loaded)>) {
        for (stream, loaded) in states {
            if loaded.version > 0 {
                self.states.keep(epoch, stream, loaded);
            }
        }
    }

    /// Keeps what was loaded, if all of it is what the log has now. An answer
    /// that appends nothing is only good then; no append has checked it.
    async fn settle(&self, world: World, epoch: u64) -> Result<(), Setback> {
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
        Err(Setback::Stale(first))
    }

    async fn decide(&self, batch: &Batch, epoch: u64) -> Result<DecidedBatch, Setback> {
        let mut world = World::new();
        let mut events = Vec::with_capacity(batch.requests.len());
        for (index, (request, meta)) in batch.requests.iter().zip(&batch.metas).enumerate() {
            loop {
                match request.command.decide(&mut world, meta) {
                    Ok(decided) => {
                        world.apply(&decided, &Origin::new(meta.at, &meta.actor));
                        events.push(decided);
                        break;
                    }
                    Err(DecideError::Needs(needs)) => {
                        for need in needs {
                            self.supply(&mut world, need, batch).await?;
                        }
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
        let take = batch.lanes.contains(&stream.id);
        Ok(self.states.load(self.log.as_ref(), stream, take).await?)
    }

    async fn supply(
        &self,
        world: &mut World,
        need: Need,
        batch: &Batch,
    ) -> Result<(), ExecuteError> {
        match need {
            Need::State(stream) => {
                world.insert_state(stream, self.loaded(stream, batch).await?);
            }
            Need::Place(id) => {
                world.insert_place(id, self.place(id).await?);
            }
            Need::Naming { field, target } => {
                // Nothing names what gets its id here.
                let naming = match batch.is_new(target) {
                    true => Vec::new(),
                    false => self.all_naming(field, target).await?,
                };
                world.insert_naming(field, target, naming);
            }
            Need::AliasStream(alias) => {
                let stream = self.alias_stream(&alias).await?;
                world.insert_alias_stream(alias, stream);
            }
            Need::BucketStream(name) => {
                let stream = self.bucket_stream(&name).await?;
                world.insert_bucket_stream(name, stream);
            }
            Need::Window { stream, version } => {
                let log = self.log.as_ref();
                let window = self.windows.load(log, stream, version).await?;
                world.insert_window(stream, window);
            }
            Need::TaskText { stream, version } => {
                let text = self.task_text(stream, version).await?;
                world.insert_task_text(stream, text);
            }
        }
        Ok(())
    }
}

/// A batch of requests with all that must be the same in every attempt.
struct Batch {
    id: Uuid,
    /// Whether its id is a key that was given. Then the events' ids follow from
    /// it, so that the same import makes the same ids.
    is_keyed: bool,
    canonical: Bytes,
    requests: Vec<Request>,
    metas: Vec<Meta>,
    lanes: Vec<Uuid>,
    /// Expectations beyond what the decisions depend on.
    guards: Vec<Expectation>,
}

impl Batch {
    /// Whether an id was made for this batch, so that nothing can have it.
    fn is_new(&self, id: Uuid) -> bool {
        self.metas.iter().any(|meta| meta.new_id == id)
    }

    fn encode(&self, world: &World, decided: &[Vec<Emitted>]) -> Result<Append, ExecuteError> {
        let mut events = Vec::new();
        let mut blobs = Vec::new();
        for ((request, meta), emitted) in self.requests.iter().zip(&self.metas).zip(decided) {
            for event in emitted {
                let envelope = Envelope {
                    event_id: self.event_id(events.len()),
                    occurred_at: meta.at,
                    actor: meta.actor.clone(),
                    correlation: request.correlation,
                    causation: request.causation,
                };
                let encoded = annals_wire::encode(event, &envelope, &mut random_salt)?;
                events.push(encoded.event);
                blobs.extend(encoded.blobs);
            }
        }
        let expectations = world
            .dependences()
            .map(expectation)
            .chain(self.guards.iter().cloned())
            .collect();
        Ok(Append {
            batch: self.id,
            request: self.canonical.clone(),
            events,
            expectations,
            blobs,
        })
    }

    fn event_id(&self, index: usize) -> Uuid {
        if self.is_keyed {
            Uuid::new_v5(&self.id, &index.to_be_bytes())
        } else {
            Uuid::now_v7()
        }
    }
}

fn new_metas(requests: &[Request]) -> Vec<Meta> {
    let now = Timestamp::from(Utc::now());
    let meta = |request: &Request| Meta {
        actor: request.actor.clone(),
        at: request.at.unwrap_or(now),
        new_id: Uuid::now_v7(),
    };
    requests.iter().map(meta).collect()
}

fn expectation((stream, dependence, version): (StreamRef, Dependence, u64)) -> Expectation {
    let expected = match (dependence, version) {
        (_, 0) => Expected::NoStream,
        (Dependence::Exists, _) => Expected::Exists,
        (Dependence::State, version) => Expected::Exactly(Version(version)),
    };
    Expectation {
        stream: stream_name(stream),
        expected,
    }
}

/// The request as the idempotency key stands for it: everything but the time.
pub(crate) fn canonical_request(requests: &[Request]) -> Result<Bytes, ExecuteError> {
    #[derive(serde::Serialize)]
    struct Canonical<'a> {
        command: &'static str,
        actor: Option<&'a annals_domain::ActorRef>,
        correlation: Option<Uuid>,
        causation: Option<Uuid>,
        fields: &'a annals_domain::Command,
    }
    let canonical: Vec<Canonical<'_>> = requests
        .iter()
        .map(|request| {
            // A command has its verdict by its id, whoever repeats it.
            let who = gate::given(request).is_none();
            Canonical {
                command: request.command.name(),
                actor: who.then_some(&request.actor),
                correlation: request.correlation.filter(|_| who),
                causation: request.causation.filter(|_| who),
                fields: &request.command,
            }
        })
        .collect();
    serde_json::to_vec(&canonical)
        .map(Bytes::from)
        .map_err(ExecuteError::Request)
}

/// The object that an event is mostly about, and the frame that it pushed.
fn principal(
    stream: StreamRef,
    event: &AnyEvent,
) -> (Option<Uuid>, Option<annals_domain::FrameId>) {
    let frame_id = match event {
        AnyEvent::Pipeline(pipeline::Event::FramePushed(pushed)) => Some(pushed.frame_id),
        _ => None,
    };
    (
        event.touches(stream.id).first().map(|(_, id)| *id),
        frame_id,
    )
}

fn outcomes(batch: &Batch, events: &[Vec<Emitted>], appended: Appended) -> Vec<Outcome> {
    let mut position = appended.first.0.saturating_sub(1);
    let mut outcomes = Vec::with_capacity(events.len());
    for (request, emitted) in batch.requests.iter().zip(events) {
        position += emitted.len() as u64;
        let (id, frame_id) = match emitted.first() {
            Some(first) => principal(first.stream, &first.event),
            None => (request.command.lane(), None),
        };
        outcomes.push(Outcome {
            id,
            frame_id,
            verdict: Verdict::among(emitted).map(|(command, _, verdict)| (command, verdict)),
            position: annals_event_log::Position(position),
            events: emitted.len(),
        });
    }
    outcomes
}
