//! Sessions in the inbox: pending requests and the commands that answer them.

use annals_domain::Timestamp;
use annals_projections::{CatalogueRow, ObjectView, PendingApprovalView, QueuedCommandView};

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
        Ok(details)
    }
}

impl SessionDetails {
    /// Returns one reason for each request. `when` formats a time.
    pub fn reasons(&self, when: impl Fn(Timestamp) -> String) -> Vec<String> {
        if self.requests.is_empty() {
            return vec!["another system recorded that it needs an approval".to_owned()];
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

    /// Returns the commands that answer the requests, oldest first. `name` is the session's name or id.
    pub fn resolve(&self, name: &str) -> Vec<String> {
        let answers = |request: &str| {
            [
                format!("annals approve {name}{request}"),
                format!("annals reject {name}{request} --reason TEXT"),
            ]
        };
        match self.requests.as_slice() {
            [] | [_] => answers("").to_vec(),
            several => several
                .iter()
                .flat_map(|request| answers(&format!(" --request {}", request.request)))
                .collect(),
        }
    }
}
