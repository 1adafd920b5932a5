//! Searches, which block their threads: a few at a time, on threads of their own.

use std::collections::VecDeque;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use annals::blocking::Wait as _;
use annals::event_log::Position;
use annals::projections::SessionSummary;
use annals::{Annals, At, TurnRange};
use annals_search::{
    Answer, Hit, Keeping, LogSearch, SearchRequest, SessionHits, Suggestions, Using,
};
use axum::http::StatusCode;
use tokio::sync::Semaphore;
use uuid::Uuid;

use crate::index_upkeep::{IndexUpkeep, UpkeepState};
use crate::problem::Problem;
use crate::session_entry::SessionEntry;

/// Searches at a time.
const AT_ONCE: usize = 4;
/// How long a request waits. The search goes on then, and what it wrote into the index helps the next one.
const PATIENCE: Duration = Duration::from_secs(20);

/// Prompts, answers and tool calls of a conversation that is read by an index.
const LONG: u64 = 1_500;
/// Conversations that are indexed; the library keeps as many.
const KEPT_WARM: usize = 4;

/// Suggestions at a time.
const TYPING_AT_ONCE: usize = 4;
/// The longest wait for another suggestion.
const TYPING_PATIENCE: Duration = Duration::from_secs(2);

/// The search over the log that is shown.
pub(crate) struct Searching {
    search: Arc<LogSearch>,
    upkeep: Arc<IndexUpkeep>,
    has_folder: bool,
    turns: Arc<Semaphore>,
    typing: Arc<Semaphore>,
    warming: Arc<Semaphore>,
    /// The long conversations that were indexed last, each with the position up to which it was.
    warm: Arc<Mutex<VecDeque<(Uuid, u64)>>>,
}

/// The length of a session's conversation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionLength {
    id: Uuid,
    /// Its prompts, answers and tool calls.
    turns: u64,
    last_position: u64,
}

impl SessionLength {
    /// That of a session that was found.
    fn of(session: &SessionSummary) -> SessionLength {
        let counts = &session.counts;
        SessionLength {
            id: session.id,
            turns: counts.prompts + counts.answers + counts.tool_calls,
            last_position: session.last_position,
        }
    }

    /// That of a session that is shown.
    pub(crate) fn of_entry(session: &SessionEntry) -> SessionLength {
        SessionLength {
            id: session.id,
            turns: session.prompts + session.answers + session.tool_calls,
            last_position: session.last_position,
        }
    }
}

/// Suggestions with the state of the index that they come from.
#[derive(Debug)]
pub(crate) struct Suggested {
    /// `None` if there is no index.
    pub(crate) found: Option<Suggestions>,
    /// Whether an index is kept of this log at all.
    pub(crate) is_kept: bool,
    /// The upkeep of the index.
    pub(crate) upkeep: UpkeepState,
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
            upkeep: Arc::default(),
            has_folder: folder.is_some(),
            turns: Arc::new(Semaphore::new(AT_ONCE)),
            typing: Arc::new(Semaphore::new(TYPING_AT_ONCE)),
            warming: Arc::new(Semaphore::new(1)),
            warm: Arc::default(),
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

    /// Groups hits by session as of `at`, with one hit for each turn.
    pub(crate) async fn in_sessions(
        &self,
        hits: Vec<Hit>,
        at: At,
    ) -> Result<Vec<SessionHits>, Problem> {
        let search = Arc::clone(&self.search);
        let grouping = tokio::task::spawn_blocking(move || search.in_sessions(hits, at).wait());
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
        let (search, upkeep) = (Arc::clone(&self.search), Arc::clone(&self.upkeep));
        let asking = tokio::task::spawn_blocking(move || {
            // It is given back when the search is over, not when nobody waits for it any more.
            let _turn = turn;
            // Only one thread writes the index: without waiting, this search would read the whole log.
            upkeep.wait();
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

    /// Suggests at most `sessions` sessions with at most `hits` hits of each, by the index as it is. If it is not up to
    /// date, an update begins in the background.
    pub(crate) async fn suggest(
        &self,
        request: SearchRequest,
        sessions: usize,
        hits: usize,
    ) -> Result<Suggested, Problem> {
        let waiting = Arc::clone(&self.typing).acquire_owned();
        let Ok(Ok(turn)) = tokio::time::timeout(TYPING_PATIENCE, waiting).await else {
            return Err(Problem::busy("too many searches are under way already"));
        };
        let (search, has_folder) = (Arc::clone(&self.search), self.has_folder);
        let asking = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            let is_kept = has_folder && search.keeping() != Keeping::Off;
            let found = match is_kept {
                true => search.suggest(&request, sessions, hits).wait(),
                false => Ok(None),
            };
            (is_kept, found)
        });
        let Ok((is_kept, found)) = asking.await else {
            let status = StatusCode::INTERNAL_SERVER_ERROR;
            return Err(Problem::new(status, "search", "the search failed"));
        };
        let found = found?;
        let is_current = found.as_ref().is_some_and(|it| it.searched >= it.end);
        if is_kept && !is_current {
            self.upkeep.begin(&self.search);
        }
        Ok(Suggested {
            found,
            is_kept,
            upkeep: self.upkeep.state(),
        })
    }

    /// Does the same as [`Searching::warm`] for the sessions of what was found.
    pub(crate) fn warm_found(&self, annals: &Annals, found: &[SessionHits]) {
        let sessions = found.iter().filter_map(|group| group.session.as_ref());
        self.warm(annals, sessions.map(SessionLength::of));
    }

    /// Indexes the newest state of long conversations in the background, so that a link into one opens at once.
    pub(crate) fn warm(&self, annals: &Annals, sessions: impl IntoIterator<Item = SessionLength>) {
        let long = sessions.into_iter().filter(|session| session.turns > LONG);
        let mut cold: Vec<(Uuid, u64)> = long.map(|it| (it.id, it.last_position)).collect();
        {
            let warm = self.warm.lock().unwrap_or_else(PoisonError::into_inner);
            cold.retain(|session| !warm.contains(session));
        }
        cold.truncate(KEPT_WARM);
        let Ok(turn) = Arc::clone(&self.warming).try_acquire_owned() else {
            return;
        };
        if cold.is_empty() {
            return;
        }
        let (annals, warm) = (annals.clone(), Arc::clone(&self.warm));
        tokio::task::spawn_blocking(move || {
            let _turn = turn;
            for session in cold {
                let range = TurnRange::new(LONG, 1);
                if let Err(error) = annals.conversation(session.0, At::Now, range).wait() {
                    tracing::debug!(%error, "a conversation was not indexed");
                }
                let mut warm = warm.lock().unwrap_or_else(PoisonError::into_inner);
                warm.push_front(session);
                warm.truncate(KEPT_WARM);
            }
        });
    }

    /// The turn of a session that the event at a position belongs to.
    pub(crate) async fn turn_of(
        &self,
        session: Uuid,
        position: Position,
        at: At,
    ) -> Result<Option<u64>, Problem> {
        Ok(self.search.turn_of(session, position, at).await?)
    }
}
