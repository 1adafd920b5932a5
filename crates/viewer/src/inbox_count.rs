//! The number of entries in the inbox: intents, contracts sessions and sessions that wait for a person now. The header of each
//! page, the home page and the inbox show the same number.

use std::sync::{Mutex, PoisonError};

use annals::event_log::Position;
use annals::projections::SessionWait;
use annals::{Annals, SessionListed, SessionQuery};

use crate::problem::Problem;

/// Waiting sessions that are counted.
const COUNTED: usize = 10_000;

/// The number of entries as of a position of the log. It is counted again once the log has grown.
#[derive(Debug, Default)]
pub(crate) struct InboxCount {
    counted: Mutex<Option<(Position, u64)>>,
}

impl InboxCount {
    /// Returns the number as of now. `None` if it cannot be counted: no page fails for it.
    pub(crate) async fn get(&self, annals: &Annals) -> Option<u64> {
        let end = annals.position();
        if let Some((at, count)) = self.counted()
            && at == end
        {
            return Some(count);
        }
        match count(annals).await {
            Ok(count) => {
                self.keep(end, count);
                Some(count)
            }
            Err(problem) => {
                tracing::debug!(problem = problem.detail, "the inbox was not counted");
                None
            }
        }
    }

    fn counted(&self) -> Option<(Position, u64)> {
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, at: Position, count: u64) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        *counted = Some((at, count));
    }
}

async fn count(annals: &Annals) -> Result<u64, Problem> {
    let entries = annals.inbox().count().await?;
    let sessions = waiting_now(annals).await?.len() as u64;
    Ok(entries.saturating_add(sessions))
}

/// The sessions that wait now, newest activity first, without those that are entries of the inbox themselves: contracts
/// sessions.
pub(crate) async fn waiting_now(annals: &Annals) -> Result<Vec<SessionListed>, Problem> {
    let query = SessionQuery::default().with_only_waiting(true);
    let query = query.with_limit(COUNTED);
    let listed = annals.conversations().list(&query).await?.sessions;
    let mut waiting = Vec::with_capacity(listed.len());
    for session in listed {
        if waits_for_call(annals, &session).await? {
            waiting.push(session);
        }
    }
    Ok(waiting)
}

/// Returns `true` if a session waits for a decision on a tool call. A contracts session waits for one on a command.
pub(crate) async fn waits_for_call(
    annals: &Annals,
    session: &SessionListed,
) -> Result<bool, Problem> {
    for wait in waits(session) {
        if annals.index().place(wait.call).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The open permissions and questions of a session and of its sub-agent sessions.
pub(crate) fn waits(session: &SessionListed) -> Vec<&SessionWait> {
    let mut waits = Vec::new();
    let mut next = vec![session];
    while let Some(session) = next.pop() {
        waits.extend(&session.summary.waiting);
        next.extend(session.sub_agents.iter().rev());
    }
    waits
}
