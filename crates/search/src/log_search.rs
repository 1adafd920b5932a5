//! Searching a log: the index proposes, the log decides.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use annals::{Annals, At, LoadError};
use annals_event_log::{Epoch, Position, Query as Read, Record};
use annals_projections::SessionSummary;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::ask::{Candidate, candidates};
use crate::document::{Document, attachments, is_searched};
use crate::error::SearchError;
use crate::facet::Facet;
use crate::in_sessions::{SessionFinder, SessionHits, turn_of};
use crate::kept::{Fault, Kept};
use crate::place::Place;
use crate::query::{Marked, Query};
use crate::request::{Answer, Count, Filter, Hit, Lag, SearchRequest, Using};
use crate::snippet::Snippet;

/// Records that are read at once.
pub(crate) const PAGE: usize = 1_000;
/// Candidates that the index is asked for at first, at least.
const FIRST: usize = 64;
/// How many times as many it is asked for next.
const MORE: usize = 4;

/// The search over one log. It keeps its index open, so a process that stays has one of them.
///
/// The calls block their thread while they read and write the index.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::Annals;
/// use annals::domain::ActorRef;
/// use annals_search::{LogSearch, Query, SearchRequest, Using};
///
/// let annals = Annals::open("memory:").await?;
/// let ada = ActorRef::human("ada");
/// annals.by(&ada).submit("Paginate GET /users").await?;
///
/// let search = LogSearch::new(&annals, None);
/// let request = SearchRequest::new(Query::parse("paginate")?);
/// let answer = search.ask(&request, Using::Index, &mut |_| {}).await?;
/// assert_eq!(answer.hits[0].snippet.text, "Paginate GET /users");
/// # Ok(())
/// # })
/// # }
/// ```
pub struct LogSearch {
    pub(crate) annals: Annals,
    pub(crate) place: Option<Place>,
    open: Mutex<Option<(Epoch, Arc<Kept>)>>,
    pub(crate) sessions: SessionFinder,
}

impl LogSearch {
    /// Searches a log, whose index lies in its folder; a log without one, such as one in memory, is searched without
    /// an index.
    pub fn new(annals: &Annals, folder: Option<&Path>) -> LogSearch {
        LogSearch {
            annals: annals.clone(),
            place: folder.map(Place::of),
            open: Mutex::default(),
            sessions: SessionFinder::new(),
        }
    }

    /// Answers a question. `progress` is told positions of the log that are done, where that takes long.
    ///
    /// # Errors
    /// [`SearchError`]. Where the index cannot be brought up to date, the answer says so ([`Answer::lag`]).
    pub async fn ask(
        &self,
        request: &SearchRequest,
        using: Using,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Answer, SearchError> {
        let filter = self.filter(request).await?;
        let lag = match using {
            Using::Log => return self.scan(request, &filter, None, progress).await,
            Using::IndexAsItIs => Some(Lag::AsItIs),
            Using::Index => match self.catch_up(progress).await {
                Ok(lag) => lag,
                Err(
                    error @ (SearchError::Io { .. }
                    | SearchError::Damaged { .. }
                    | SearchError::Moving { .. }),
                ) => Some(Lag::Failed(error.to_string())),
                Err(error) => return Err(error),
            },
        };
        let Some(kept) = self.kept().await? else {
            return self.scan(request, &filter, lag, progress).await;
        };
        match self.ask_index(&kept, request, &filter).await? {
            Ok(answer) => Ok(Answer {
                lag: lag.filter(|_| answer.searched < answer.end),
                ..answer
            }),
            Err(fault) => {
                tracing::warn!(?fault, "the search index cannot answer");
                let lag = Some(Lag::Failed("the search index is damaged".to_owned()));
                self.scan(request, &filter, lag, progress).await
            }
        }
    }

    /// Groups the hits of an answer by session as of `at`, in the order of each session's best hit, with one hit for each turn.
    ///
    /// # Errors
    /// [`SearchError`].
    pub async fn in_sessions(
        &self,
        hits: Vec<Hit>,
        at: At,
    ) -> Result<Vec<SessionHits>, SearchError> {
        self.sessions.group(&self.annals, hits, at).await
    }

    /// Returns the sessions of hits, in the order of the hits; `None` for events that belong to no session.
    ///
    /// # Errors
    /// [`SearchError`].
    pub async fn sessions_of(
        &self,
        hits: &[Hit],
    ) -> Result<Vec<Option<SessionSummary>>, SearchError> {
        self.sessions.of_hits(&self.annals, hits).await
    }

    /// The number of the turn that the event at a position belongs to, in the conversation of a session as of `at`; `None`
    /// if there is no such event or the session has no turns. Reading ends soon behind that turn.
    ///
    /// # Errors
    /// [`SearchError`].
    pub async fn turn_of(
        &self,
        session: Uuid,
        position: Position,
        at: At,
    ) -> Result<Option<u64>, SearchError> {
        let Some(record) = self.annals.contents().record(position).await? else {
            return Ok(None);
        };
        let object = match self.annals.contents().entry(&record).await {
            Ok(entry) => entry.touches().first().copied(),
            Err(LoadError::Decode(_) | LoadError::Entry(_)) => None,
            Err(error) => return Err(error.into()),
        };
        turn_of(&self.annals, session, (position, object), at).await
    }

    /// For a process that stays: opens the index as it is in the folder now.
    ///
    /// # Errors
    /// [`SearchError`].
    pub async fn refresh(&self) -> Result<(), SearchError> {
        self.kept().await.map(|_| ())
    }

    /// The index that is open, even if the folder has a newer state of it by now; else the index of now.
    pub(crate) async fn open_index(&self) -> Result<Option<Arc<Kept>>, SearchError> {
        let Some(place) = &self.place else {
            return Ok(None);
        };
        let epoch = self.epoch().await?;
        let open = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            let of_epoch = open.as_ref().filter(|(of, _)| *of == epoch);
            of_epoch.map(|(_, kept)| Arc::clone(kept))
        };
        match open.filter(|_| place.has(epoch).unwrap_or(false)) {
            Some(kept) => Ok(Some(kept)),
            None => self.kept().await,
        }
    }

    /// The index of now, if there is one that is whole and of this log.
    async fn kept(&self) -> Result<Option<Arc<Kept>>, SearchError> {
        let Some(place) = &self.place else {
            return Ok(None);
        };
        let epoch = self.epoch().await?;
        if let Some(kept) = self.remembered(epoch)
            && place.has(epoch).unwrap_or(false)
        {
            return Ok(Some(kept));
        }
        let opened = match place.has(epoch) {
            Ok(true) => Kept::open(&place.of_epoch(epoch)),
            Ok(false) => Ok(None),
            Err(error) => Err(Fault::Io(error)),
        };
        // One that cannot be used is made again by the next search that may write.
        let mut kept = opened.ok().flatten().map(Arc::new);
        if let Some(found) = &kept
            && !self.is_ours(found, epoch).await?
        {
            kept = None;
        }
        self.remember(epoch, kept.clone());
        Ok(kept)
    }

    /// The index that is open, if it is what is in the folder still.
    pub(crate) fn remembered(&self, epoch: Epoch) -> Option<Arc<Kept>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, kept) = open
            .as_ref()
            .filter(|(of, kept)| *of == epoch && kept.is_current())?;
        Some(Arc::clone(kept))
    }

    /// Keeps an index open, in the place of the one before.
    pub(crate) fn remember(&self, epoch: Epoch, kept: Option<Arc<Kept>>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        *open = kept.map(|kept| (epoch, kept));
    }

    /// For a process that stays: closes the index that it keeps open if that was removed meanwhile, with what was redacted, so that
    /// the disk has nothing of it any more.
    ///
    /// # Errors
    /// [`SearchError`].
    pub async fn let_go(&self) -> Result<(), SearchError> {
        let Some((place, held)) = self.place.as_ref().zip(self.held()) else {
            return Ok(());
        };
        if self.epoch().await? != held || !place.has(held).unwrap_or(false) {
            self.remember(held, None);
        }
        Ok(())
    }

    /// The epoch of the index that is open.
    fn held(&self) -> Option<Epoch> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.as_ref().map(|(epoch, _)| *epoch)
    }

    /// Whether an index was made of this log's history, and of the content of this epoch.
    pub(crate) async fn is_ours(&self, kept: &Kept, epoch: Epoch) -> Result<bool, SearchError> {
        let mark = kept.mark;
        if mark.log != self.annals.log().log_id() || mark.epoch != epoch.0 {
            return Ok(false);
        }
        let event = self
            .annals
            .contents()
            .record(Position(mark.position))
            .await?;
        Ok(mark.position == 0 || event.map(|it| it.event_id()) == mark.event)
    }

    /// Which content the log has now.
    pub(crate) async fn epoch(&self) -> Result<Epoch, SearchError> {
        // Any name of a model will do: the epoch is the log's.
        Ok(self.annals.log().checkpoint("search").await?.epoch)
    }

    async fn ask_index(
        &self,
        kept: &Kept,
        request: &SearchRequest,
        filter: &Filter,
    ) -> Result<Result<Answer, Fault>, SearchError> {
        let limit = request.limit.max(1);
        let mut answer = Answer {
            hits: Vec::new(),
            count: Count::Exactly(0),
            passed_over: 0,
            searched: Position(kept.mark.position),
            end: self.annals.position(),
            is_of_index: true,
            lag: None,
        };
        let (mut window, mut seen, mut refused) = (FIRST.max(limit), 0, 0);
        loop {
            let found = match candidates(kept, &request.query, filter, window) {
                Ok(found) => found,
                Err(fault) => return Ok(Err(fault)),
            };
            let is_all = found.best.len() < window;
            for candidate in found.best.iter().skip(seen) {
                if refused >= request.most_refused {
                    answer.passed_over = found.count.saturating_sub(seen as u64);
                    answer.count = Count::AtLeast(answer.hits.len() as u64);
                    return Ok(Ok(answer));
                }
                seen += 1;
                match self.hit(*candidate, &request.query, filter).await? {
                    Some(hit) => answer.hits.push(hit),
                    None => refused += 1,
                }
                if answer.hits.len() == limit {
                    break;
                }
            }
            let hits = answer.hits.len() as u64;
            let is_over = is_all && seen == found.best.len();
            if is_over || hits == limit as u64 {
                let is_known = request.query.is_of_words() && filter.is_of_seconds();
                answer.count = match (is_over, is_known) {
                    (true, _) => Count::Exactly(hits),
                    (false, true) => Count::Exactly(found.count.saturating_sub(refused)),
                    (false, false) => Count::AtLeast(hits),
                };
                return Ok(Ok(answer));
            }
            window = window.saturating_mul(MORE);
        }
    }

    /// A candidate as an answer, if the log says that it is one now.
    async fn hit(
        &self,
        candidate: Candidate,
        query: &Query,
        filter: &Filter,
    ) -> Result<Option<Hit>, SearchError> {
        let position = Position(candidate.position);
        let Some(record) = self.annals.contents().record(position).await? else {
            return Ok(None);
        };
        self.hit_of_record(&record, candidate, query, filter).await
    }

    /// A candidate as an answer, if its record is one.
    pub(crate) async fn hit_of_record(
        &self,
        record: &Record,
        candidate: Candidate,
        query: &Query,
        filter: &Filter,
    ) -> Result<Option<Hit>, SearchError> {
        let document = self.document(record).await?;
        let hit = document.and_then(|document| hit_of(&document, query, filter));
        Ok(hit.map(|hit| Hit {
            score: candidate.score,
            ..hit
        }))
    }

    /// What is searched of a record; none of one that has nothing, or that this program cannot read.
    pub(crate) async fn document(&self, record: &Record) -> Result<Option<Document>, SearchError> {
        if !is_searched(record.event_type()) {
            return Ok(None);
        }
        let entry = match self.annals.contents().entry(record).await {
            Ok(entry) => entry,
            Err(error @ (LoadError::Decode(_) | LoadError::Entry(_))) => {
                tracing::debug!(%error, "an event that cannot be read is not searched");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let mut attached = HashMap::new();
        for digest in attachments(&entry) {
            if let Some(bytes) = self.annals.contents().get(digest).await? {
                attached.insert(digest, bytes);
            }
        }
        Ok(Some(Document::of(&entry, &attached)).filter(|document| !document.texts.is_empty()))
    }

    /// Looks through the log, from its end on.
    async fn scan(
        &self,
        request: &SearchRequest,
        filter: &Filter,
        lag: Option<Lag>,
        progress: &mut (dyn FnMut(Position) + Send),
    ) -> Result<Answer, SearchError> {
        let (limit, end) = (request.limit.max(1), self.annals.position());
        let (mut hits, mut next) = (Vec::new(), Some(filter.last.min(end.0)));
        while let Some(from) =
            next.filter(|from| *from >= filter.first.max(1) && hits.len() < limit)
        {
            let read = Read::all(Position(from)).backward().limit(PAGE);
            let page = self.annals.log().read(read).await?;
            for record in &page.records {
                if record.position().0 < filter.first || hits.len() == limit {
                    break;
                }
                let document = self.document(record).await?;
                hits.extend(
                    document.and_then(|document| hit_of(&document, &request.query, filter)),
                );
            }
            let done = page.records.last().map_or(0, |record| record.position().0);
            progress(Position(end.0.saturating_sub(done)));
            next = page.next;
        }
        let found = hits.len() as u64;
        Ok(Answer {
            count: match hits.len() < limit {
                true => Count::Exactly(found),
                false => Count::AtLeast(found),
            },
            hits,
            passed_over: 0,
            searched: end,
            end,
            is_of_index: false,
            lag,
        })
    }

    pub(crate) async fn filter(&self, request: &SearchRequest) -> Result<Filter, SearchError> {
        let mut filter = Filter {
            facets: match request.facets.is_empty() {
                true => Facet::ALL.to_vec(),
                false => request.facets.clone(),
            },
            kind: request.kind.map(|kind| kind.identifier().to_owned()),
            actor: request.actor.clone(),
            first: 1,
            last: u64::MAX,
            occurred_since: None,
            occurred_until: None,
            is_newest_first: request.is_newest_first,
        };
        filter.facets.sort_unstable();
        filter.facets.dedup();
        match request.since {
            None | Some(At::Now) => {}
            Some(At::Position(position)) => filter.first = position.0.max(1),
            Some(At::Recorded(time)) => filter.first = self.recorded_since(time.to_utc()).await?,
            Some(At::Occurred(time)) => filter.occurred_since = Some(time),
        }
        match request.until {
            None | Some(At::Now) => {}
            Some(At::Position(position)) => filter.last = position.0,
            Some(At::Recorded(time)) => filter.last = self.recorded_since(time.to_utc()).await? - 1,
            Some(At::Occurred(time)) => filter.occurred_until = Some(time),
        }
        Ok(filter)
    }

    /// The first position that was recorded at or after a time; the one after the last where none was. Times of
    /// recording never decrease, so halving finds it.
    async fn recorded_since(&self, time: DateTime<Utc>) -> Result<u64, SearchError> {
        let (mut low, mut high) = (1, self.annals.position().0 + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.annals.contents().record(Position(middle)).await? {
                Some(record) if record.recorded_at() < time => low = middle + 1,
                _ => high = middle,
            }
        }
        Ok(low)
    }
}

/// An event as an answer, if it is one.
fn hit_of(document: &Document, query: &Query, filter: &Filter) -> Option<Hit> {
    if !filter.takes_document(document) {
        return None;
    }
    let marked = query.matches(&document.texts, &filter.facets)?;
    let most = |one: &&Marked, other: &&Marked| {
        one.bytes
            .len()
            .cmp(&other.bytes.len())
            .then(other.text.cmp(&one.text))
    };
    let best = marked.iter().max_by(most)?;
    let (facet, text) = document.texts.get(best.text)?;
    Some(Hit {
        position: document.position,
        score: 0.0,
        object: document.object,
        stream: document.stream.to_string(),
        event_type: document.event_type,
        occurred_at: document.occurred_at,
        actor: document.actor.clone(),
        facet: *facet,
        snippet: Snippet::of(text, best),
    })
}
