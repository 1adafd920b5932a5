//! Searches, which block their threads: a few at a time, on threads of their own.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use annals::Annals;
use annals::blocking::Wait as _;
use annals_search::{Answer, Hit, Keeping, LogSearch, SearchRequest, SessionHits, Using};
use axum::http::StatusCode;
use tokio::sync::Semaphore;

use crate::problem::Problem;

/// Searches at a time.
const AT_ONCE: usize = 4;
/// How long a request waits. The search goes on then, and what it wrote into the index helps the next one.
const PATIENCE: Duration = Duration::from_secs(20);

/// The search over the log that is shown.
pub(crate) struct Searching {
    search: Arc<LogSearch>,
    turns: Arc<Semaphore>,
}

impl fmt::Debug for Searching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searching").finish_non_exhaustive()
    }
}

impl Searching {
    /// Searches a log; its index lies in this folder.
    pub(crate) fn new(annals: &Annals, folder: Option<&Path>) -> Searching {
        Searching {
            search: Arc::new(LogSearch::new(annals, folder)),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Closes an index that was removed meanwhile.
    pub(crate) fn let_go(&self) {
        let search = Arc::clone(&self.search);
        tokio::task::spawn_blocking(move || {
            if let Err(error) = search.let_go().wait() {
                tracing::debug!(%error, "whether the search index is there still was not found out");
            }
        });
    }

    /// Groups hits by session, with one hit for each turn.
    pub(crate) async fn in_sessions(&self, hits: Vec<Hit>) -> Result<Vec<SessionHits>, Problem> {
        let search = Arc::clone(&self.search);
        let grouping = tokio::task::spawn_blocking(move || search.in_sessions(hits).wait());
        match grouping.await {
            Ok(groups) => Ok(groups?),
            Err(error) => {
                tracing::warn!(%error, "hits could not be grouped by session");
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                Err(Problem::new(status, "search", "the search failed"))
            }
        }
    }

    pub(crate) async fn ask(&self, request: SearchRequest) -> Result<Answer, Problem> {
        let Ok(turn) = Arc::clone(&self.turns).try_acquire_owned() else {
            return Err(Problem::busy("too many searches are under way already"));
        };
        let search = Arc::clone(&self.search);
        let asking = tokio::task::spawn_blocking(move || {
            // It is given back when the search is over, not when nobody waits for it any more.
            let _turn = turn;
            let using = match search.keeping() {
                Keeping::Off => Using::Log,
                Keeping::Lazy | Keeping::Kept => Using::Index,
            };
            search.ask(&request, using, &mut |_| {}).wait()
        });
        match tokio::time::timeout(PATIENCE, asking).await {
            Ok(Ok(answer)) => Ok(answer?),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a search failed");
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                Err(Problem::new(status, "search", "the search failed"))
            }
            Err(_) => {
                let detail = "the search is not over yet, for example since the index is being made: ask again in a moment";
                Err(Problem::busy(detail))
            }
        }
    }
}
