//! Forge's questions: what waits for a person and why, which state an intent
//! is in, what can be begun.

use std::collections::HashSet;

use annals_domain::intent::{self, ApprovalStatus, status_in};
use annals_domain::task::{self, TaskText};
use annals_domain::{
    AnyState, DecideError, IntentId, Kind, Loaded, Need, StreamRef, TaskId, World, settings,
};
use annals_event_log::Position;
use annals_projections::{
    ForgeChildView, ForgeIntentView, ForgeTaskView, ForgeView, Inbox, InboxEntry, InboxQuery,
    InboxReason, Text,
};
use uuid::Uuid;

use crate::{Annals, At, LoadError, ViewError};

/// What a person needs to know of an intent in the inbox, beyond its row.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InboxDetails {
    /// Why it waits, in words.
    pub why: String,
    /// The questions that have no answer, with their numbers.
    pub questions: Vec<(usize, Text)>,
    /// Its own tasks that failed, with what reviewers said.
    pub failed_tasks: Vec<ForgeTaskView>,
    /// Their ids, in the same order.
    pub failed_ids: Vec<TaskId>,
    /// Its children that are blocked or in error.
    pub failed_children: Vec<(IntentId, ApprovalStatus)>,
    /// What it depends on and was rejected or cancelled, where it waits for that.
    pub called_off: Vec<(IntentId, ApprovalStatus)>,
}

impl Annals {
    /// The settings of the log, as they are.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn settings(&self) -> Result<settings::State, LoadError> {
        self.settings_at(At::Now).await
    }

    /// The settings of the log, as they were.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn settings_at(&self, at: At) -> Result<settings::State, LoadError> {
        self.reach().await?;
        match self.state_at(settings::stream(), at).await?.state {
            AnyState::Settings(state) => Ok(*state),
            _ => Ok(settings::State::default()),
        }
    }

    /// The intents that wait for a person, the oldest first (docs/spec/forge.md,
    /// Inbox): behind the one that began at a position, at most `limit`.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn inbox(&self, after: Option<Position>, limit: usize) -> Result<Inbox, LoadError> {
        self.catch_up().await?;
        let query = InboxQuery::default().with_after(after).with_limit(limit);
        Ok(self.catalogue.inbox(self.log.as_ref(), &query).await?)
    }

    /// What a person needs to know of an intent in the inbox: why it waits, the open
    /// questions, and what failed with what reviewers said of it.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn inbox_details(&self, entry: &InboxEntry) -> Result<InboxDetails, ViewError> {
        let view = self.forge_intent(IntentId(entry.id()), At::Now).await?;
        let mut details = InboxDetails::default();
        if entry.reasons.contains(&InboxReason::Dependency) {
            details.called_off = self.called_off(&view.dependencies).await?;
        }
        let why = match entry.reasons.first() {
            Some(InboxReason::Approval) => {
                let settings = self.settings().await?;
                let why = settings.why_waits(view.risk, view.risk_basis);
                match view.risk_in_words() {
                    Some(risk) => format!("{risk}; {why}"),
                    None => why,
                }
            }
            Some(InboxReason::Clarification) => "a question has no answer".to_owned(),
            Some(InboxReason::Blocked) => {
                "some of its parts failed, or all were turned down".to_owned()
            }
            Some(InboxReason::Error) => "all of its parts failed".to_owned(),
            Some(InboxReason::Dependency) => self.why_never(&details.called_off).await?,
            None => String::new(),
        };
        details.why = why;
        if entry.reasons == [InboxReason::Approval] {
            return Ok(details);
        }
        let questions = view.open_questions();
        details.questions = questions
            .map(|(number, text)| (number, text.clone()))
            .collect();
        for task in &view.tasks {
            let Some(seen) = self.forge_task_if_any(*task, At::Now).await? else {
                continue;
            };
            if seen.status == task::Status::Failed && seen.superseded_by.is_none() {
                details.failed_ids.push(*task);
                details.failed_tasks.push(seen);
            }
        }
        for child in &view.children {
            let status = self.current_status(*child).await?;
            if matches!(status, ApprovalStatus::Blocked | ApprovalStatus::Error) {
                details.failed_children.push((*child, status));
            }
        }
        Ok(details)
    }

    /// Those of some intents that were rejected or cancelled.
    async fn called_off(
        &self,
        intents: &[IntentId],
    ) -> Result<Vec<(IntentId, ApprovalStatus)>, LoadError> {
        let mut over = Vec::new();
        for intent in intents {
            let status = self.current_status(*intent).await?;
            if matches!(status, ApprovalStatus::Rejected | ApprovalStatus::Cancelled) {
                over.push((*intent, status));
            }
        }
        Ok(over)
    }

    /// Why an intent that depends on others never begins.
    async fn why_never(
        &self,
        called_off: &[(IntentId, ApprovalStatus)],
    ) -> Result<String, LoadError> {
        let mut over = Vec::with_capacity(called_off.len());
        for (intent, status) in called_off {
            over.push(format!(
                "{}, which is {status}",
                self.called(intent.0).await?
            ));
        }
        let over = over.join(", and on ");
        Ok(format!(
            "it depends on {over}, and begins only when that is done"
        ))
    }

    /// The status of an intent on Forge's axis, computed from its tasks and
    /// children as they were. One that is not there is proposed.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn approval_status(
        &self,
        intent: IntentId,
        at: At,
    ) -> Result<ApprovalStatus, LoadError> {
        let status = self.ask(at, |world| status_in(world, intent)).await?;
        // An intent that is not there is only proposed.
        Ok(status.unwrap_or(ApprovalStatus::Proposed))
    }

    /// The status of an intent on Forge's axis as the catalogue has it, which need not look at all
    /// that the intent is made of. One that is not there is proposed.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn current_status(&self, intent: IntentId) -> Result<ApprovalStatus, LoadError> {
        match self
            .row_if_any(intent.0)
            .await?
            .and_then(|row| row.approval)
        {
            Some(status) => Ok(status),
            // It is not on that axis yet.
            None => self.approval_status(intent, At::Now).await,
        }
    }

    /// What a decision would look at, as it was; `None` where it would be refused.
    async fn ask<T>(
        &self,
        at: At,
        decide: impl Fn(&mut World) -> Result<T, DecideError>,
    ) -> Result<Option<T>, LoadError> {
        let mut world = World::new();
        loop {
            match decide(&mut world) {
                Ok(answer) => return Ok(Some(answer)),
                Err(DecideError::Refused(_)) => return Ok(None),
                Err(DecideError::Needs(needs)) => {
                    for need in needs {
                        self.supply_at(&mut world, need, at).await?;
                    }
                }
            }
        }
    }

    async fn supply_at(&self, world: &mut World, need: Need, at: At) -> Result<(), LoadError> {
        match need {
            Need::State(stream) => world.insert_state(stream, self.state_at(stream, at).await?),
            Need::Place(id) => world.insert_place(id, self.place(id).await?),
            Need::Naming { field, target } => {
                let naming = self.all_naming(field, target).await?;
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
            Need::Window { stream, .. } => world.insert_window(stream, None),
            Need::TaskText { stream, .. } => world.insert_task_text(stream, TaskText::default()),
        }
        Ok(())
    }

    /// What an aggregate's decider knew of it at a moment.
    async fn state_at(&self, stream: StreamRef, at: At) -> Result<Loaded, LoadError> {
        let mut loaded = Loaded::absent(stream.kind);
        let state = &mut loaded.state;
        let last = self
            .each_entry(
                stream,
                at,
                |_| true,
                |entry| {
                    state.evolve(&entry.event, &entry.origin());
                },
            )
            .await?;
        loaded.version = last.0;
        Ok(loaded)
    }

    /// An intent in Forge's words, as it was, with its tasks and children.
    ///
    /// # Errors
    /// [`ViewError::NotYet`] before its first event.
    pub async fn forge_view(&self, intent: IntentId, at: At) -> Result<ForgeView, ViewError> {
        let view = self.forge_intent(intent, at).await?;
        let mut tasks = Vec::new();
        for task in &view.tasks {
            tasks.extend(self.forge_task_if_any(*task, at).await?);
        }
        let tasks = tasks
            .into_iter()
            .filter(|task| task.superseded_by.is_none());
        let tasks = tasks.collect();
        let mut children = Vec::new();
        for child in &view.children {
            match self.forge_intent(*child, at).await {
                Ok(child) => children.push(ForgeChildView::from(child)),
                // A folder may name a part that is not imported yet.
                Err(ViewError::NotFound { .. } | ViewError::NotYet { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(ForgeView::new(view, tasks, children))
    }

    /// An intent in Forge's words, as it was.
    ///
    /// # Errors
    /// [`ViewError::NotYet`] before its first event.
    pub async fn forge_intent(
        &self,
        intent: IntentId,
        at: At,
    ) -> Result<ForgeIntentView, ViewError> {
        let (kind, stream) = self.locate(intent.0).await?;
        if kind != Kind::Intent {
            let (id, expected) = (intent.0, Kind::Intent);
            return Err(ViewError::WrongKind {
                id,
                expected,
                found: kind,
            });
        }
        let mut view = None;
        let apply = |entry| ForgeIntentView::apply(&mut view, intent, &entry);
        self.each_entry(stream, at, |_| true, apply).await?;
        let object = crate::ObjectRef { kind, id: intent.0 };
        let mut view = view.ok_or(ViewError::NotYet { object })?;
        view.status = match at {
            At::Now => self.current_status(intent).await?,
            at => self.approval_status(intent, at).await?,
        };
        view.id = self.called(intent.0).await?;
        if let Some(parent) = view.child_of {
            view.parent = Some(self.called(parent.0).await?);
        }
        for other in view.dependencies.clone() {
            let name = self.called(other.0).await?;
            view.depends_on.push(name);
        }
        Ok(view)
    }

    /// A task in Forge's words, as it was.
    ///
    /// # Errors
    /// [`ViewError::NotYet`] before its first event.
    pub async fn forge_task(&self, task: TaskId, at: At) -> Result<ForgeTaskView, ViewError> {
        let (found, _) = self.locate(task.0).await?;
        let object = crate::ObjectRef {
            kind: Kind::Task,
            id: task.0,
        };
        if found != Kind::Task {
            return Err(ViewError::WrongKind {
                id: task.0,
                expected: Kind::Task,
                found,
            });
        }
        let view = self.forge_task_if_any(task, at).await?;
        view.ok_or(ViewError::NotYet { object })
    }

    async fn forge_task_if_any(
        &self,
        task: TaskId,
        at: At,
    ) -> Result<Option<ForgeTaskView>, LoadError> {
        let mut view = self.bare_forge_task(task, at).await?;
        if let Some(view) = &mut view {
            if let Some(intent) = view.intent {
                view.intent_id = Some(self.called(intent.0).await?);
            }
            for other in view.dependencies.clone() {
                let named = self.bare_forge_task(other, at).await?;
                view.depends_on
                    .push(named.map_or_else(|| other.to_string(), |named| named.id));
            }
        }
        Ok(view)
    }

    /// The same, without what other objects are called.
    async fn bare_forge_task(
        &self,
        task: TaskId,
        at: At,
    ) -> Result<Option<ForgeTaskView>, LoadError> {
        let mut view = None;
        let apply = |entry| ForgeTaskView::apply(&mut view, task, &entry);
        self.each_entry(task.stream(), at, |_| true, apply).await?;
        Ok(view)
    }

    /// What an object is called: its first alias, or else its id, which need not be
    /// an object's.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn called(&self, id: Uuid) -> Result<String, LoadError> {
        self.catch_up().await?;
        let row = self.catalogue.row(self.log.as_ref(), id).await?;
        let alias = row.and_then(|row| row.aliases.into_iter().next());
        Ok(alias.unwrap_or_else(|| id.to_string()))
    }

    /// The tasks of an intent that can be begun now, in the order in which they
    /// were added: they were never run, and what they depend on is done.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn ready_tasks(&self, intent: IntentId, at: At) -> Result<Vec<TaskId>, ViewError> {
        self.locate(intent.0).await?;
        let state = match self.state_at(intent.stream(), at).await?.state {
            AnyState::Intent(state) => state,
            _ => return Ok(Vec::new()),
        };
        let mut ready = Vec::new();
        let may_begin = self
            .ask(at, |world| intent::run_begins(world, intent))
            .await?;
        if may_begin.is_none() || !state.life.is_open() {
            return Ok(ready);
        }
        for task in &state.tasks {
            let seen = self.task_state(*task, at).await?;
            if seen.status == task::Status::Draft
                && seen.superseded_by.is_none()
                && self.are_done(&seen.dependencies, at).await?
            {
                ready.push(*task);
            }
        }
        Ok(ready)
    }

    async fn task_state(&self, task: TaskId, at: At) -> Result<task::State, LoadError> {
        match self.state_at(task.stream(), at).await?.state {
            AnyState::Task(state) => Ok(task::State::clone(&state)),
            _ => Ok(task::State::default()),
        }
    }

    /// Whether all of these tasks are done, or those that took their place.
    async fn are_done(&self, tasks: &[TaskId], at: At) -> Result<bool, LoadError> {
        for task in tasks {
            let (mut newest, mut seen) = (*task, HashSet::new());
            let mut state = self.task_state(newest, at).await?;
            while let Some(next) = state.superseded_by.filter(|next| seen.insert(*next)) {
                newest = next;
                state = self.task_state(newest, at).await?;
            }
            if state.status != task::Status::Done {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What a task says, as the events up to a version left it.
    pub(crate) async fn task_text(
        &self,
        stream: StreamRef,
        version: u64,
    ) -> Result<TaskText, LoadError> {
        let mut text = TaskText::default();
        let mut seen = 0;
        self.each_entry(
            stream,
            At::Now,
            |_| true,
            |entry| {
                seen += 1;
                if seen <= version
                    && let annals_domain::AnyEvent::Task(event) = &entry.event
                {
                    text.apply(event, &|slot| match entry.text(slot) {
                        Text::Present(text) => Some(text),
                        Text::Removed => None,
                    });
                }
            },
        )
        .await?;
        Ok(text)
    }
}
