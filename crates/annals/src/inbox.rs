//! What waits for people and why, which state an intent is in, what can be begun.

mod forge;

use annals_domain::intent::{self, ApprovalStatus, status_in};
use annals_domain::session::SessionStatus;
use annals_domain::{AnyState, IntentId, Kind, TaskId, settings, task};
use annals_event_log::Position;
use annals_projections::{
    CatalogueRow, ForgeTaskView, InboxEntry, InboxPage, InboxQuery, InboxReason, ListQuery, Status,
    Text,
};

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

/// Sessions that wait for an approval.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionInbox {
    /// The sessions, the oldest first.
    pub rows: Vec<CatalogueRow>,
    /// How many there are in all.
    pub total: u64,
    /// Where the list goes on, if there is more of it.
    pub next: Option<Position>,
}

/// Sessions that are counted at once.
const SESSIONS: usize = 1_000;

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

    /// The sessions that wait for an approval, the oldest first, and how many there are in all.
    ///
    /// # Errors
    /// [`LoadError`].
    pub async fn sessions(self, query: &InboxQuery) -> Result<SessionInbox, LoadError> {
        let asking = || {
            ListQuery::new(Kind::Session)
                .with_status(Status::from(SessionStatus::NeedsApproval))
                .with_oldest_first(true)
        };
        let wanted = asking().with_after(query.after);
        let listed = self
            .annals
            .index()
            .list(&wanted.with_limit(query.limit))
            .await?;
        let (mut total, mut after) = (0, None);
        loop {
            let page = asking().with_after(after).with_limit(SESSIONS);
            let page = self.annals.index().list(&page).await?;
            total += page.rows.len() as u64;
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        Ok(SessionInbox {
            rows: listed.rows,
            total,
            next: listed.next,
        })
    }

    /// What a person needs to know of an intent in the inbox: why it waits, the open
    /// questions, and what failed with what reviewers said of it.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn details(self, entry: &InboxEntry) -> Result<InboxDetails, ViewError> {
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
            let status = self.status(*child).await?;
            if matches!(status, ApprovalStatus::Blocked | ApprovalStatus::Error) {
                details.failed_children.push((*child, status));
            }
        }
        Ok(details)
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

    /// Why an intent that depends on others never begins.
    async fn why_never(
        self,
        called_off: &[(IntentId, ApprovalStatus)],
    ) -> Result<String, LoadError> {
        let mut over = Vec::with_capacity(called_off.len());
        for (intent, status) in called_off {
            over.push(format!(
                "{}, which is {status}",
                self.annals.index().called(intent.0).await?
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
            AnyState::Settings(state) => Ok(*state),
            _ => Ok(settings::State::default()),
        }
    }
}
