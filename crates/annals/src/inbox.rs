//! What waits for people and why, which state an intent is in, what can be begun.

mod added;
mod forge;
mod session;

use std::collections::HashSet;

use annals_domain::intent::{self, ApprovalStatus, intents_of_task, status_in};
use annals_domain::session::{SessionStatus, State as SessionState};
use annals_domain::{ActorRef, AnyState, IntentId, Kind, SessionId, TaskId, settings, task};
use annals_event_log::Position;
use annals_projections::{
    CatalogueRow, ForgeTaskView, InboxEntry, InboxPage, InboxQuery, InboxReason, ListQuery, Status,
    Text,
};

pub use added::Addition;
pub use session::{RecordedRequest, SessionDetails};

use crate::{Annals, At, LoadError, ViewError};

/// What waits for people: intents to be approved, questions, observations. [`Annals::inbox`] gives it.
///
/// Intents have a second axis here, Forge's (`docs/intake.md`): from proposed to done, by approvals, answers and
/// what becomes of their tasks.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::domain::ActorRef;
/// use annals::domain::intent::{ApprovalStatus, Source, SubmitIntent};
/// use annals::projections::{InboxQuery, InboxReason};
/// use annals::{Annals, Request};
///
/// let annals = Annals::open("memory:").await?;
/// let propose = SubmitIntent::new("Add pagination", Source::Human);
/// annals.execute(Request::new(ActorRef::human("ada"), propose)).await?;
///
/// let inbox = annals.inbox();
/// let page = inbox.entries(&InboxQuery::default()).await?;
/// let first = page.entries.first().ok_or("the inbox is empty")?;
/// assert_eq!(first.reasons, [InboxReason::Approval]);
/// assert_eq!(inbox.status(first.id().into()).await?, ApprovalStatus::Proposed);
/// println!("{}", inbox.details(first).await?.why);
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Inbox<'a> {
    pub(crate) annals: &'a Annals,
}

impl Annals {
    /// What waits for people, and what agents noticed.
    pub fn inbox(&self) -> Inbox<'_> {
        Inbox { annals: self }
    }
}

/// What a person needs to know of an intent in the inbox, beyond its row.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct InboxDetails {
    /// Why it waits, in words.
    pub why: String,
    /// Who requested it; of one that an import brought, the actor of the import.
    pub requested_by: Option<ActorRef>,
    /// What other actors than people added after it was requested, if it waits for its approval.
    pub additions: Vec<Addition>,
    /// The questions that have no answer, with their numbers.
    pub questions: Vec<(usize, Text)>,
    /// Its own tasks that failed, or were called off with what they waited for, with what reviewers
    /// said.
    pub failed_tasks: Vec<ForgeTaskView>,
    /// Their ids, in the same order.
    pub failed_ids: Vec<TaskId>,
    /// Its children that are blocked or in error.
    pub failed_children: Vec<(IntentId, ApprovalStatus)>,
    /// What it depends on and was rejected or cancelled, where it waits for that.
    pub called_off: Vec<(IntentId, ApprovalStatus)>,
    /// What it is a part of and has ended, where it was left over.
    pub ended: Option<(IntentId, ApprovalStatus)>,
    /// Its tasks that were not begun and wait for one that is never done, where the intent waits for that.
    pub in_vain: Vec<InVain>,
}

/// A task that was not begun and waits for another one, which is never done: that failed or was cancelled, or the intent of
/// that was turned down.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InVain {
    /// The task.
    pub task: TaskId,
    /// The other task, or the one that took its place.
    pub waits_for: TaskId,
    /// The other task's status.
    pub status: task::Status,
    /// The intent that the other task is work on, if that was rejected or cancelled.
    pub turned_down: Option<(IntentId, ApprovalStatus)>,
}

/// Something in the inbox.
#[derive(Debug, Clone, PartialEq)]
pub enum InboxItem {
    /// An intent, with why it waits.
    Intent(InboxEntry),
    /// A session that needs an approval.
    Session(CatalogueRow),
}

impl InboxItem {
    /// What waits.
    pub fn row(&self) -> &CatalogueRow {
        match self {
            InboxItem::Intent(entry) => &entry.row,
            InboxItem::Session(row) => row,
        }
    }
}

/// Part of the whole inbox: intents and sessions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct InboxItems {
    /// What waits, the oldest first.
    pub items: Vec<InboxItem>,
    /// How many intents wait in all.
    pub intents: u64,
    /// How many sessions wait in all.
    pub sessions: u64,
    /// Where the inbox goes on, if there is more of it.
    pub next: Option<Position>,
}

impl Inbox<'_> {
    /// The intents that wait for a person, the oldest first (docs/spec/forge.md, Inbox).
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn entries(self, query: &InboxQuery) -> Result<InboxPage, LoadError> {
        self.annals.catch_up().await?;
        Ok(self
            .annals
            .catalogue
            .inbox(self.annals.log.as_ref(), query)
            .await?)
    }

    /// All that waits for a person, the oldest first: intents, and sessions that need an approval, also
    /// if an agent or their failures paused them. A session that a person paused waits for nobody; once resumed it asks again.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn items(self, query: &InboxQuery) -> Result<InboxItems, LoadError> {
        let limit = query.limit.max(1);
        let intents = self.entries(query).await?;
        let asking = Status::from(SessionStatus::NeedsApproval);
        let page = ListQuery::new(Kind::Session)
            .with_status(asking)
            .with_oldest_first(true)
            .with_after(query.after)
            .with_limit(limit);
        let sessions = self.annals.index().list(&page).await?;
        let mut is_more = intents.next.is_some() || sessions.next.is_some();
        let log = self.annals.log.as_ref();
        let count = self.annals.catalogue.count(log, Kind::Session, asking);
        let mut paused = self.paused_asking().await?;
        let count = count.await?.saturating_add(paused.len() as u64);
        paused.retain(|row| query.after.is_none_or(|after| row.first_position > after));
        let sessions = sessions.rows.into_iter().chain(paused);
        let sessions = sessions.map(InboxItem::Session);
        let entries = intents.entries.into_iter().map(InboxItem::Intent);
        let mut items: Vec<InboxItem> = entries.chain(sessions).collect();
        items.sort_by_key(|item| item.row().first_position);
        is_more |= items.len() > limit;
        items.truncate(limit);
        let last = items.last().map(|item| item.row().first_position);
        Ok(InboxItems {
            next: last.filter(|_| is_more),
            intents: intents.total,
            sessions: count,
            items,
        })
    }

    /// Counts all that waits for a person, without reading it: the intents and sessions of [`Inbox::items`].
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn count(self) -> Result<u64, LoadError> {
        self.annals.catch_up().await?;
        let (catalogue, log) = (&self.annals.catalogue, self.annals.log.as_ref());
        let asking = Status::from(SessionStatus::NeedsApproval);
        let intents = catalogue.inbox_count(log).await?;
        let sessions = catalogue.count(log, Kind::Session, asking).await?;
        let paused = self.paused_asking().await?.len() as u64;
        Ok(intents.saturating_add(sessions).saturating_add(paused))
    }

    /// The paused sessions that wait for an approval, the oldest first, but for those that a person paused.
    async fn paused_asking(self) -> Result<Vec<CatalogueRow>, LoadError> {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = ListQuery::new(Kind::Session)
                .with_status(Status::from(SessionStatus::Paused))
                .with_oldest_first(true)
                .with_after(after);
            let page = self.annals.index().list(&page).await?;
            for row in page.rows {
                let stream = SessionId(row.id).stream();
                let AnyState::Session(state) = self.annals.state_at(stream, At::Now).await?.state
                else {
                    continue;
                };
                let SessionState::Known(session) = state.as_ref() else {
                    continue;
                };
                let asks = !session.pending.is_empty() || !session.queue.is_empty();
                if asks && !session.paused_by_person {
                    found.push(row);
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(found);
            }
        }
    }

    /// What a person needs to know of an intent in the inbox: why it waits, the open
    /// questions, and what failed with what reviewers said of it.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn details(self, entry: &InboxEntry) -> Result<InboxDetails, ViewError> {
        let view = self.forge_intent(IntentId(entry.id()), At::Now).await?;
        let needs_approval = entry.reasons.contains(&InboxReason::Approval);
        let origin = self.origin(IntentId(entry.id()), needs_approval);
        let mut origin = origin.await?;
        let mut details = InboxDetails {
            requested_by: origin.requested_by.take(),
            ..InboxDetails::default()
        };
        if needs_approval {
            details.additions = self.named(origin).await?;
        }
        if entry.reasons.contains(&InboxReason::Dependency) {
            details.called_off = self.called_off(&view.dependencies).await?;
            details.in_vain = self.in_vain(&view.tasks).await?;
            details.ended = self.ended_whole(view.child_of).await?;
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
            // Which of its parts is said below.
            Some(InboxReason::Blocked) => String::new(),
            Some(InboxReason::Error) if entry.row.approval != Some(ApprovalStatus::Error) => {
                "all of its parts that have ended failed; others go on".to_owned()
            }
            Some(InboxReason::Error) => "all of its parts failed".to_owned(),
            Some(InboxReason::Dependency) => self.why_never(&details).await?,
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
            let has_failed = seen.status == task::Status::Failed || seen.called_off_with.is_some();
            if has_failed && seen.superseded_by.is_none() {
                details.failed_ids.push(*task);
                details.failed_tasks.push(seen);
            }
        }
        for child in &view.children {
            let status = self.status(*child).await?;
            if matches!(status, ApprovalStatus::Blocked | ApprovalStatus::Error) {
                details.failed_children.push((*child, status));
            }
        }
        if entry.reasons.first() == Some(&InboxReason::Blocked) {
            details.why = why_blocked(&details).to_owned();
        }
        Ok(details)
    }

    /// The nearest of an intent and those that it is a part of that has ended.
    async fn ended_whole(
        self,
        whole: Option<IntentId>,
    ) -> Result<Option<(IntentId, ApprovalStatus)>, LoadError> {
        let (mut next, mut seen) = (whole, HashSet::new());
        while let Some(id) = next.filter(|id| seen.insert(*id)) {
            let AnyState::Intent(state) = self.annals.state_at(id.stream(), At::Now).await?.state
            else {
                break;
            };
            if state.is_absent() {
                break;
            }
            if !state.life.is_open() {
                return Ok(Some((id, self.status(id).await?)));
            }
            next = state.child_of;
        }
        Ok(None)
    }

    /// Those of some tasks that were not begun and wait for what is never done, with that.
    async fn in_vain(self, tasks: &[TaskId]) -> Result<Vec<InVain>, LoadError> {
        let mut found = Vec::new();
        for task in tasks {
            let state = self.annals.task_state(*task, At::Now).await?;
            if state.status != task::Status::Draft || state.superseded_by.is_some() {
                continue;
            }
            for needed in &state.dependencies {
                let (waits_for, status) = self.annals.newest_task(*needed, At::Now).await?;
                let is_over = matches!(status, task::Status::Failed | task::Status::Cancelled);
                let turned_down = match status {
                    task::Status::Draft | task::Status::Running => {
                        self.turned_down(waits_for).await?
                    }
                    _ => None,
                };
                if is_over || turned_down.is_some() {
                    found.push(InVain {
                        task: *task,
                        waits_for,
                        status,
                        turned_down,
                    });
                }
            }
        }
        Ok(found)
    }

    /// The intent that a task is work on, if that was rejected or cancelled.
    async fn turned_down(
        self,
        task: TaskId,
    ) -> Result<Option<(IntentId, ApprovalStatus)>, LoadError> {
        let intents = self
            .annals
            .ask(At::Now, |world| intents_of_task(world, task))
            .await?;
        Ok(self.called_off(&intents.unwrap_or_default()).await?.pop())
    }

    /// Those of some intents that were rejected or cancelled.
    async fn called_off(
        self,
        intents: &[IntentId],
    ) -> Result<Vec<(IntentId, ApprovalStatus)>, LoadError> {
        let mut over = Vec::new();
        for intent in intents {
            let status = self.status(*intent).await?;
            if matches!(status, ApprovalStatus::Rejected | ApprovalStatus::Cancelled) {
                over.push((*intent, status));
            }
        }
        Ok(over)
    }

    /// Why an intent that depends on others never begins, or a task of it.
    async fn why_never(self, details: &InboxDetails) -> Result<String, LoadError> {
        let mut over = Vec::with_capacity(details.called_off.len());
        for (intent, status) in &details.called_off {
            over.push(format!(
                "{}, which is {status}",
                self.annals.index().called(intent.0).await?
            ));
        }
        let mut why = Vec::new();
        if !over.is_empty() {
            let over = over.join(", and on ");
            why.push(format!(
                "it depends on {over}, and begins only when that is done"
            ));
        }
        if let Some((whole, status)) = &details.ended {
            let whole = self.annals.index().called(whole.0).await?;
            why.push(format!("it is a part of {whole}, which is {status}"));
        }
        for it in &details.in_vain {
            let (task, needed, status) = (it.task, it.waits_for, it.status.name());
            let intent = match &it.turned_down {
                Some((intent, how)) => {
                    let intent = self.annals.index().called(intent.0).await?;
                    format!(", and belongs to {intent}, which is {how}")
                }
                None => String::new(),
            };
            why.push(format!(
                "task {task} waits for task {needed}, which is {status}{intent}"
            ));
        }
        Ok(why.join("; "))
    }

    /// The status of an intent on Forge's axis, computed from its tasks and
    /// children as they were. One that is not there is proposed.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn status_at(self, intent: IntentId, at: At) -> Result<ApprovalStatus, LoadError> {
        let status = self
            .annals
            .ask(at, |world| status_in(world, intent))
            .await?;
        // An intent that is not there is only proposed.
        Ok(status.unwrap_or(ApprovalStatus::Proposed))
    }

    /// The status of an intent on Forge's axis as the catalogue has it, which need not look at all
    /// that the intent is made of. One that is not there is proposed.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn status(self, intent: IntentId) -> Result<ApprovalStatus, LoadError> {
        match self
            .annals
            .row_if_any(intent.0)
            .await?
            .and_then(|row| row.approval)
        {
            Some(status) => Ok(status),
            // It is not on that axis yet.
            None => self.status_at(intent, At::Now).await,
        }
    }

    /// The tasks of an intent that can be begun now, in the order in which they
    /// were added: they were never run, and what they depend on is done.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn ready_tasks(self, intent: IntentId, at: At) -> Result<Vec<TaskId>, ViewError> {
        self.annals.locate(intent.0).await?;
        let state = match self.annals.state_at(intent.stream(), at).await?.state {
            AnyState::Intent(state) => state,
            _ => return Ok(Vec::new()),
        };
        let mut ready = Vec::new();
        let may_begin = self
            .annals
            .ask(at, |world| intent::run_begins(world, intent))
            .await?;
        if may_begin.is_none() || !state.life.is_open() {
            return Ok(ready);
        }
        for task in &state.tasks {
            let seen = self.annals.task_state(*task, at).await?;
            if seen.status == task::Status::Draft
                && seen.superseded_by.is_none()
                && self.annals.are_done(&seen.dependencies, at).await?
            {
                ready.push(*task);
            }
        }
        Ok(ready)
    }

    /// The settings of the log, as they are.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn settings(self) -> Result<settings::State, LoadError> {
        self.settings_at(At::Now).await
    }

    /// The settings of the log, as they were.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn settings_at(self, at: At) -> Result<settings::State, LoadError> {
        self.annals.reach().await?;
        match self.annals.state_at(settings::stream(), at).await?.state {
            AnyState::Settings(state) => Ok((*state).clone()),
            _ => Ok(settings::State::default()),
        }
    }
}

impl InboxDetails {
    /// The commands that settle what waits for something that is never done, by `annals service apply`:
    /// tasks fail, and what was left over and cannot be rejected is cancelled. `NAME` stands for
    /// the person.
    pub fn settling(&self, entry: &InboxEntry) -> Vec<String> {
        let apply = |command: &str, field: &str, id: &dyn std::fmt::Display| {
            let actor = r#"{"kind":"human","id":"NAME"}"#;
            format!(
                r#"echo '{{"command":"{command}","actor":{actor},"{field}":"{id}"}}' | annals service apply"#
            )
        };
        let tasks = self.in_vain.iter().map(|it| it.task);
        let mut commands: Vec<String> = tasks
            .map(|task| apply("fail_task", "task", &task))
            .collect();
        commands.dedup();
        let is_left_over = self.ended.is_some();
        if is_left_over && entry.row.approval == Some(ApprovalStatus::Executing) {
            commands.push(apply("cancel_intent", "intent", &entry.id()));
        }
        commands
    }
}

/// Why an intent is blocked, by what is found of its parts.
fn why_blocked(details: &InboxDetails) -> &'static str {
    let called_off = |task: &ForgeTaskView| task.called_off_with.is_some();
    match (
        details.failed_tasks.as_slice(),
        details.failed_children.as_slice(),
    ) {
        ([], []) => "all of its parts were cancelled or rejected, so that nothing of it goes on",
        (tasks @ [_, ..], []) if tasks.iter().all(called_off) => {
            "a task of it waited for one that was cancelled, and was called off with it"
        }
        _ => "some of its parts failed, or were called off with what they waited for",
    }
}
