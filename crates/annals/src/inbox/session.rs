//! Sessions in the inbox: pending requests and the commands that answer them.

use annals_domain::session::{self, SessionStatus};
use annals_domain::{ActorRef, AnyEvent, SessionId, Timestamp};
use annals_projections::{
    CatalogueRow, Entry, ObjectView, PendingApprovalView, QueuedCommandView, Text,
};

use super::Inbox;
use crate::{At, ViewError};

/// Pending requests and queued commands of a session in the inbox.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct SessionDetails {
    /// Requested approvals without an answer, oldest first.
    pub requests: Vec<PendingApprovalView>,
    /// Commands awaiting approval.
    pub queue: Vec<QueuedCommandView>,
    /// The record of another system that the session needs an approval, if there is no other request.
    pub recorded: Option<RecordedRequest>,
}

/// An imported record that a session needs an approval.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// The actor of the record; its `auth_context` names who imported it.
    pub by: ActorRef,
    /// The reason that the other system gave.
    pub reason: Option<Text>,
}

impl Inbox<'_> {
    /// Returns the pending requests and queued commands of a session.
    ///
    /// # Errors
    /// [`ViewError`].
    pub async fn session_details(self, row: &CatalogueRow) -> Result<SessionDetails, ViewError> {
        let mut details = SessionDetails::default();
        if let ObjectView::Session(session) = self.annals.view_at(row.id, At::Now).await? {
            details.requests = session.pending_approvals();
            details.queue = session.queue();
        }
        if details.requests.is_empty() {
            details.recorded = self.recorded_request(SessionId(row.id)).await?;
        }
        Ok(details)
    }

    /// The last record of another system that a session needs an approval.
    async fn recorded_request(
        self,
        session: SessionId,
    ) -> Result<Option<RecordedRequest>, ViewError> {
        let mut last = None;
        let is_status = |event: &AnyEvent| {
            matches!(event, AnyEvent::Session(session::Event::StatusRecorded(_)))
        };
        let apply = |entry: Entry| {
            if let AnyEvent::Session(session::Event::StatusRecorded(event)) = &entry.event
                && event.status == SessionStatus::NeedsApproval
            {
                let reason = event.reason.map(|slot| entry.text(slot));
                let by = entry.actor;
                last = Some(RecordedRequest { by, reason });
            }
        };
        self.annals
            .each_entry(session.stream(), At::Now, is_status, apply)
            .await?;
        Ok(last)
    }
}

impl SessionDetails {
    /// Returns one reason for each request. `when` formats a time.
    pub fn reasons(&self, when: impl Fn(Timestamp) -> String) -> Vec<String> {
        if self.requests.is_empty() {
            return vec![self.recorded_reason()];
        }
        let reason = |request: &PendingApprovalView| {
            let actions = match request.actions.as_slice() {
                [] => String::new(),
                actions => format!(" of {}", actions.join(", ")),
            };
            let expires = request.expires_at.map(&when);
            let expires =
                expires.map_or_else(String::new, |time| format!(", which expires {time}"));
            format!("it asks for an approval{actions}{expires}")
        };
        self.requests.iter().map(reason).collect()
    }

    /// The reason where another system recorded that an approval is needed: who brought the record, and what an approval
    /// grants, which the record does not limit.
    fn recorded_reason(&self) -> String {
        let recorded = self.recorded.as_ref();
        let importer = recorded.and_then(|it| it.by.auth_context.as_deref());
        let importer = importer.map_or_else(String::new, |importer| format!(" ({importer})"));
        let reason = recorded.and_then(|it| it.reason.as_ref());
        let reason = reason.map_or_else(String::new, |reason| format!(": \"{reason}\""));
        let grants = session::PUSH;
        format!(
            "another system recorded that it needs an approval{importer}{reason}; approving grants {grants}"
        )
    }

    /// Returns the commands that answer the requests, oldest first. `name` is the session's name or id. Each names its
    /// request, so that no other one is answered that comes in the meantime.
    pub fn resolve(&self, name: &str) -> Vec<String> {
        let answers = |request: &str| {
            [
                format!("annals intent approve {name}{request}"),
                format!("annals intent reject {name}{request} --reason TEXT"),
            ]
        };
        if self.requests.is_empty() {
            return answers("").to_vec();
        }
        let requests = self.requests.iter();
        requests
            .flat_map(|request| answers(&format!(" --request {}", request.request)))
            .collect()
    }
}
