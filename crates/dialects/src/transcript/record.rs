//! Recording batches: each once, after what it depends on. The log knows what was recorded before.

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use annals::projections::{IntentView, Relation, TaskView};
use annals::{BulkError, Decided, ExecuteError, KnownKey, Request, ViewError};
use annals_domain::{FrameId, IntentId, StreamKind, StreamRef, Timestamp};
use annals_event_log::{AppendError, Position, Version};
use annals_wire::stream_name;
use uuid::Uuid;

use super::batch::{ImportBatch, Load};
use super::commands::{self, Beginning, By};
use super::ids::ChainIds;
use super::importer::Importer;
use super::remark::Remark;
use super::session::{MAIN, PendingToolCall};
use crate::import::error::ImportError;

/// At most so many frames wait for a chain to begin, and so many bytes of them.
const HELD: (usize, usize) = (1_000, 16 * 1024 * 1024);

/// So many links to an intent are looked at for the one that refines it.
const REFINING: usize = 1_000;

type Done = Result<(), ImportError>;

/// What became of a batch, and its frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Recorded {
    /// It was recorded now, with this frame.
    Now(Option<FrameId>),
    /// The log had it already.
    Before,
    /// It cannot be recorded.
    Not,
}

/// Where the log has a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LoggedBatch {
    pub(super) first: Position,
    pub(super) last: Position,
}

/// What became of a batch.
#[derive(Debug)]
pub(super) enum Appended {
    /// It is on its way.
    Now(Decided),
    /// The log has it already.
    Before,
    /// It cannot be appended, now or later.
    Not(Box<ExecuteError>),
}

impl Importer<'_> {
    /// Whether a batch is in the log already, or on its way.
    pub(super) async fn is_known(&mut self, key: Uuid) -> Result<bool, ImportError> {
        Ok(self.bulk.knows(key).await?.is_some())
    }

    /// A batch that the log has already. Its requests depend on what had been read when it was recorded, so
    /// the log's own answer whether it was the same request says nothing.
    pub(super) async fn known(&mut self, key: Uuid) -> Result<Option<LoggedBatch>, ImportError> {
        let mut known = self.bulk.knows(key).await?;
        if known == Some(KnownKey::OnItsWay) {
            self.settle().await?;
            known = self.bulk.knows(key).await?;
        }
        Ok(match known {
            Some(KnownKey::InLog { first, last }) => Some(LoggedBatch { first, last }),
            Some(KnownKey::OnItsWay) | None => None,
        })
    }

    /// Waits until all that was recorded is on disk, so that what is read of the log has it.
    pub(super) async fn settle(&mut self) -> Done {
        match self.bulk.flush().await {
            Ok(_) => Ok(()),
            Err(error) => Err(self.failed(error, 0)),
        }
    }

    /// Waits until all that was recorded of an object is on disk. Most often nothing of it is on its way, and then
    /// nothing waits: a wait is a sync, and a catalogue that is brought up to date.
    pub(super) async fn settle_for(&mut self, object: impl Into<Uuid>) -> Done {
        match self.bulk.writes_to(object) {
            true => self.settle().await,
            false => Ok(()),
        }
    }

    fn failed(&self, error: BulkError, line: u64) -> ImportError {
        ImportError::Record {
            file: self.file.clone(),
            line,
            source: Box::new(error),
        }
    }

    /// Counts a batch that the log has already, or names it as a conflict if it says something else.
    async fn again(&mut self, batch: &ImportBatch, logged: LoggedBatch) -> Done {
        // Most likely the log has what comes next, too.
        self.count_ahead.store(false, Ordering::Relaxed);
        if self.holds(&batch.claims(), logged).await? {
            self.report.already_there += batch.load.lines;
        } else {
            self.conflict(&batch.name, batch.line);
        }
        Ok(())
    }

    /// Names what says something else than what was recorded under its name, a line once.
    pub(super) fn conflict(&mut self, name: &str, line: u64) {
        if self.conflicting.replace(line) != Some(line) {
            let reason = format!(
                "{name:?} was recorded before with another content; the log keeps the first"
            );
            self.report.add_broken(&self.file, line, reason);
        }
    }

    /// The intent that a new prompt refines. What the log has of later prompts does not come before
    /// it, regardless of the order in which they were imported.
    pub(super) async fn refined(
        &mut self,
        name: &str,
        intent: IntentId,
        (at, line): (Timestamp, u64),
    ) -> Result<Option<IntentId>, ImportError> {
        let session = self.session(name);
        if session.last_intent.is_some() {
            return Ok(session.last_intent);
        }
        // The session may have begun in a file that was imported before.
        let ids = session.chain(MAIN).ids;
        if !self.is_known(ids.batch).await? {
            return Ok(None);
        }
        self.settle().await?;
        let first = match self.annals.get::<TaskView>(ids.task).await {
            Ok(task) => task.intent.filter(|first| *first != intent),
            Err(ViewError::NotFound { .. }) => None,
            Err(error) => return Err(ImportError::View(Box::new(error))),
        };
        let Some(first) = first else {
            return Ok(None);
        };
        let refined = self.newest(first, intent, at).await?;
        if refined.is_none() {
            self.remarks
                .add(Remark::EarlierThanLogged, &self.file, line);
        }
        Ok(refined)
    }

    /// The newest intent up to a time of the chain that begins with `first` and does not
    /// have `new` yet: each refines the one before.
    async fn newest(
        &self,
        first: IntentId,
        new: IntentId,
        at: Timestamp,
    ) -> Result<Option<IntentId>, ImportError> {
        let failed = |error: ViewError| ImportError::View(Box::new(error));
        let mut newest = None;
        let mut next = Some(first);
        let mut seen = HashSet::from([first.0]);
        while let Some(intent) = next {
            let created = match self.annals.get::<IntentView>(intent).await {
                Ok(view) => view.header.created_at,
                Err(ViewError::NotFound { .. }) => break,
                Err(error) => return Err(failed(error)),
            };
            if created > at {
                break;
            }
            newest = Some(intent);
            let links = self
                .annals
                .index()
                .refs(intent.0, REFINING)
                .await
                .map_err(failed)?;
            let refining = links.backward.into_iter().rev();
            next = refining
                .filter(|link| link.relation == Relation::IntentParent && link.id != new.0)
                .find(|link| seen.insert(link.id))
                .map(|link| IntentId(link.id));
        }
        Ok(newest)
    }

    /// Records what belongs to a chain's course; the chain begins with it.
    pub(super) async fn work(&mut self, session: &str, chain: &str, batch: ImportBatch) -> Done {
        self.recorded(session, chain, batch).await.map(|_| ())
    }

    /// The same, and what became of it.
    pub(super) async fn recorded(
        &mut self,
        session: &str,
        chain: &str,
        batch: ImportBatch,
    ) -> Result<Recorded, ImportError> {
        if let Some(logged) = self.known(batch.key).await? {
            self.again(&batch, logged).await?;
            self.has_work(session, chain, logged).await?;
            return Ok(Recorded::Before);
        }
        self.open_for(session, chain, &batch).await?;
        let recorded = self.new_batch(batch).await?;
        self.release(session, chain).await?;
        Ok(recorded)
    }

    /// Lets a chain begin for a batch of its course.
    pub(super) async fn open_for(
        &mut self,
        session: &str,
        chain: &str,
        batch: &ImportBatch,
    ) -> Done {
        let at = batch.requests.first().and_then(|request| request.at);
        let at = at.unwrap_or(Timestamp::EPOCH);
        self.open(session, chain, batch.model.as_deref(), at, batch.line)
            .await
    }

    /// Uses work that the log has: what comes after it in the recording does not wait for a chain
    /// that began before it.
    pub(super) async fn has_work(&mut self, session: &str, chain: &str, work: LoggedBatch) -> Done {
        for name in [MAIN, chain] {
            let own = self.session(session).chain(name);
            let (is_ready, begun) = (own.is_ready, own.ids.batch);
            if !is_ready && let Some(begun) = self.known(begun).await? {
                self.session(session).chain(name).is_ready = begun.first < work.first;
            }
        }
        Ok(())
    }

    /// Lets a chain begin, and its session before, and records its first model.
    pub(super) async fn open(
        &mut self,
        session: &str,
        chain: &str,
        model: Option<&str>,
        at: Timestamp,
        line: u64,
    ) -> Done {
        if chain != MAIN {
            self.begin(session, MAIN, at, line).await?;
            self.release(session, MAIN).await?;
            self.open_callers(session, chain, at, line).await?;
        }
        self.begin(session, chain, at, line).await?;
        self.provenance(session, chain, model, at, line).await
    }

    /// Lets a chain begin with a call, unless the call is recorded already. It
    /// must not matter whether its result has been read.
    pub(super) async fn open_with(&mut self, session: &str, call: &PendingToolCall) -> Done {
        let chain = self.session(session).chain(&call.chain);
        let is_open = chain.is_ready && chain.has_provenance;
        if is_open || self.is_known(self.ids.tool(&call.id).batch).await? {
            return Ok(());
        }
        let at = self.session(session).at;
        self.open(session, &call.chain, call.model.as_deref(), at, call.line)
            .await?;
        self.release(session, &call.chain).await
    }

    /// Records what is only context. It does not begin a chain; until
    /// something does, it is held.
    pub(super) async fn context(&mut self, session: &str, chain: &str, batch: ImportBatch) -> Done {
        if let Some(logged) = self.known(batch.key).await? {
            return self.again(&batch, logged).await;
        }
        let own = self.session(session).chain(chain);
        let (is_ready, ids) = (own.is_ready, own.ids);
        if is_ready || self.has_frames(&ids).await? {
            self.session(session).chain(chain).is_ready = true;
            self.release(session, chain).await?;
            return self.new_batch(batch).await.map(|_| ());
        }
        let own = self.session(session).chain(chain);
        let bytes = || own.held.iter().map(ImportBatch::size).sum::<usize>();
        if own.held.len() < HELD.0 && bytes() + batch.size() <= HELD.1 {
            own.held.push(batch);
        } else {
            self.left_out("context without work", &batch.load, batch.line);
        }
        Ok(())
    }

    /// Whether the log has an intent.
    pub(super) async fn is_there(&mut self, intent: IntentId) -> Result<bool, ImportError> {
        self.settle_for(intent).await?;
        let stream = StreamRef {
            kind: StreamKind::Intent,
            id: intent.0,
        };
        Ok(self.annals.log().head(&stream_name(stream)).await? > Version(0))
    }

    /// Whether the log has a chain with frames. Without any, its beginning may be all that an import could record
    /// before it was interrupted, and what is held comes behind the work that it began with.
    async fn has_frames(&mut self, ids: &ChainIds) -> Result<bool, ImportError> {
        /// The version of a pipeline that was only created.
        const CREATED: Version = Version(1);
        if !self.is_known(ids.batch).await? {
            return Ok(false);
        }
        self.settle_for(ids.pipeline).await?;
        let pipeline = StreamRef {
            kind: StreamKind::Pipeline,
            id: ids.pipeline.0,
        };
        let head = self.annals.log().head(&stream_name(pipeline)).await?;
        Ok(head > CREATED)
    }

    /// Records what was held until the chain began.
    pub(super) async fn release(&mut self, session: &str, chain: &str) -> Done {
        let held = std::mem::take(&mut self.session(session).chain(chain).held);
        for batch in held {
            self.once(batch).await?;
        }
        Ok(())
    }

    /// Makes sure that a chain's task, run, plan and pipeline are there.
    pub(super) async fn begin(
        &mut self,
        session: &str,
        name: &str,
        at: Timestamp,
        line: u64,
    ) -> Done {
        let agent = self.agent;
        let own = self.session(session);
        let intent = own.first_intent;
        let chain = own.chain(name);
        if chain.is_ready {
            return Ok(());
        }
        chain.is_ready = true;
        let above = chain.above.clone();
        let key = chain.ids.batch;
        let directory = chain.setting.as_ref().and_then(|it| it.cwd.clone());
        let project = directory.and_then(|directory| self.project(&directory));
        let own = self.session(session);
        let task = own.chain(&above).ids.task;
        let chain = own.chain(name);
        let begun = Beginning {
            agent,
            ids: chain.ids,
            session,
            side: (name != MAIN).then_some((name, task)),
            intent,
            title: chain.title.as_deref(),
            setting: chain.setting.as_ref(),
            project: project.as_deref(),
        };
        let requests = commands::begin(&begun, at);
        // It is not needed any more, and may be long.
        chain.title.as_mut().map(std::mem::take);
        let mut load = Load::default();
        load.fields.inferred("task.title (the text's first line)");
        load.fields
            .inferred("run.environment.os and arch (unknown)");
        if project.is_some() {
            load.fields
                .inferred("run.environment.project (the working directory's git repository)");
        }
        if intent.is_none() {
            load.remarks.push(Remark::WorkBeforePrompt);
        }
        let begun = ImportBatch::new(key, session.to_owned(), requests, load, line);
        if let Recorded::Now(_) = self.recorded_once(begun).await? {
            // A new plan has none, and the log need not be asked.
            self.session(session).chain(name).steps = Some(0);
        }
        Ok(())
    }

    async fn provenance(
        &mut self,
        session: &str,
        name: &str,
        model: Option<&str>,
        at: Timestamp,
        line: u64,
    ) -> Done {
        let agent = self.agent;
        let chain = self.session(session).chain(name);
        let Some(model) =
            model.filter(|model| !model.trim().is_empty() && *model != agent.no_model)
        else {
            return Ok(());
        };
        if chain.has_provenance {
            return Ok(());
        }
        chain.has_provenance = true;
        let ids = chain.ids;
        let by = By {
            actor: self.agent.agent(),
            at,
        };
        let key = ids.provenance();
        let requests = vec![by.request(commands::provenance(&ids, self.agent.provider, model))];
        let mut load = Load::default();
        let provider = self.agent.provider;
        load.fields
            .inferred(&format!("provenance.provider ({provider})"));
        self.once(ImportBatch::new(
            key,
            session.to_owned(),
            requests,
            load,
            line,
        ))
        .await
    }

    /// Records a batch unless the log has it.
    pub(super) async fn once(&mut self, batch: ImportBatch) -> Done {
        self.recorded_once(batch).await.map(|_| ())
    }

    pub(super) async fn recorded_once(
        &mut self,
        batch: ImportBatch,
    ) -> Result<Recorded, ImportError> {
        if let Some(logged) = self.known(batch.key).await? {
            self.again(&batch, logged).await?;
            return Ok(Recorded::Before);
        }
        self.new_batch(batch).await
    }

    pub(super) async fn new_batch(
        &mut self,
        mut batch: ImportBatch,
    ) -> Result<Recorded, ImportError> {
        batch.estimate();
        let ImportBatch {
            key,
            requests,
            load,
            line,
            ..
        } = batch;
        match self.append(key, requests, line).await? {
            Appended::Now(outcome) => {
                self.count_ahead.store(true, Ordering::Relaxed);
                self.tally(&outcome, load, line);
                let mut outcomes = outcome.outcomes.iter();
                let frame = outcomes.find_map(|outcome| outcome.frame_id);
                Ok(Recorded::Now(frame))
            }
            Appended::Before => {
                self.report.already_there += load.lines;
                Ok(Recorded::Before)
            }
            // What cannot be recorded keeps nothing else out.
            Appended::Not(error) => {
                self.report.add_broken(&self.file, line, error.to_string());
                self.fields.add_as_lost(&load.fields);
                Ok(Recorded::Not)
            }
        }
    }

    /// Appends a batch that the log does not have, as far as it is known. Many are on their way at once.
    pub(super) async fn append(
        &mut self,
        key: Uuid,
        requests: Vec<Request>,
        line: u64,
    ) -> Result<Appended, ImportError> {
        match self.bulk.execute(Some(key), requests).await {
            Ok(decided) if decided.appended().is_none_or(|done| !done.repeated) => {
                Ok(Appended::Now(decided))
            }
            // Another import of the same recording recorded it first.
            Ok(_)
            | Err(BulkError::Batch(
                ExecuteError::KeyReused { .. } | ExecuteError::KeyUnverifiable { .. },
            )) => Ok(Appended::Before),
            Err(BulkError::Batch(
                error @ (ExecuteError::Refused { .. }
                | ExecuteError::Request(_)
                | ExecuteError::Encode(_)
                | ExecuteError::Append(AppendError::TooLarge { .. })),
            )) => Ok(Appended::Not(Box::new(error))),
            Err(error) => Err(self.failed(error, line)),
        }
    }

    pub(super) fn tally(&mut self, outcome: &Decided, load: Load, line: u64) {
        let events = outcome.outcomes.iter().map(|outcome| outcome.events as u64);
        self.report.events_made += events.sum::<u64>();
        self.report.imported += load.lines;
        self.fields.add(&load.fields);
        for remark in load.remarks {
            self.remarks.add(remark, &self.file, line);
        }
    }
}
