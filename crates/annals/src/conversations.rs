//! Sessions: conversations with agents, listed, found and added up with their sub-agent sessions.

mod error;
mod find;
mod list;
mod overview;
mod query;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use annals_domain::Timestamp;
use annals_event_log::{Position, Query, Record};
use annals_projections::{
    CostSums, FileCounts, PastStep, PriceTable, SessionActivity, SessionFile, SessionRow,
    SessionSummary, TokenSums,
};
use uuid::Uuid;

pub use error::SessionError;
pub use overview::{OverviewCost, OverviewDay, OverviewQuery, SessionOverview};
pub use query::{SessionQuery, SessionSort};

use crate::read::Reach;
use crate::{Annals, At, LoadError};

/// Sessions: conversations with agents. [`Annals::conversations`] gives it; `docs/sessions.md` has the rules.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::domain::ActorRef;
/// use annals::domain::run::RecordUsage;
/// use annals::{Annals, Request, SessionQuery};
///
/// let annals = Annals::open("memory:").await?;
/// let agent = ActorRef::agent("coder");
/// let me = annals.by(&agent);
/// let intent = me.submit("Add pagination").await?;
/// me.analyze(intent, "GET /users takes offset and limit").await?;
/// let task = me.task(intent, "Paginate GET /users").await?;
/// let run = me.start_run(task, None, None).await?;
/// let used = RecordUsage::new(run, 1_000, 200).with_model("claude-opus-4-5".to_owned());
/// annals.execute(Request::new(agent.clone(), used)).await?;
///
/// let page = annals.conversations().list(&SessionQuery::default()).await?;
/// assert_eq!(page.total, 1);
/// let session = &page.sessions[0];
/// assert_eq!(session.summary.id, task.0);
/// assert_eq!(session.summary.title.as_deref(), Some("Paginate GET /users"));
/// assert_eq!(session.cost.micros, 1_000 * 5 + 200 * 25);
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Conversations<'a> {
    pub(crate) annals: &'a Annals,
}

/// Sessions that match a query.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionPage {
    /// The sessions of the page, in the query's order.
    pub sessions: Vec<SessionListed>,
    /// Number of sessions that match.
    pub total: usize,
    /// Number of sessions in the log.
    pub all: usize,
}

/// A session with its sub-agent sessions.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionListed {
    /// The session itself.
    pub summary: SessionSummary,
    /// Its activity, sub-agents included.
    pub activity: SessionActivity,
    /// Its last activity, sub-agents included.
    pub last_activity: Option<Timestamp>,
    /// Its cost, sub-agents included.
    pub cost: SessionCost,
    /// The files that it changed, sub-agents included.
    pub files: FileCounts,
    /// Its sub-agent sessions, oldest first.
    pub sub_agents: Vec<SessionListed>,
}

/// The cost of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct SessionCost {
    /// Computed cost in millionths of the currency, sub-agents included.
    pub micros: u128,
    /// The part of it that sub-agents have.
    pub sub_agent_micros: u128,
    /// Tokens that have no price, sub-agents included.
    pub unpriced_tokens: u128,
    /// Cost in millionths of a USD as the agents' programs recorded it; `None` if they did not.
    pub recorded_micros: Option<u128>,
    /// Tokens, sub-agents included.
    pub tokens: TokenSums,
    /// Whether a cost is known: tokens were recorded, and each of them has a price.
    pub is_known: bool,
}

/// A session with its sub-agent sessions at any depth.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionFamily {
    /// The session, with its sub-agent sessions nested below it.
    pub session: SessionListed,
}

impl Annals {
    /// Sessions: conversations with agents.
    pub fn conversations(&self) -> Conversations<'_> {
        Conversations { annals: self }
    }

    /// Lets the rows of sessions follow what is appended, now and then. Nothing fails for it.
    pub(crate) async fn keep_up_sessions(&self) {
        if let Err(error) = self.session_rows.keep_up(self.log.as_ref()).await {
            tracing::debug!(%error, "the rows of sessions do not keep up");
        }
    }
}

impl Conversations<'_> {
    /// A session as of `at`.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn summary(self, id: Uuid, at: At) -> Result<SessionSummary, SessionError> {
        let (own, rows) = self.rows_of(id, at).await?;
        let mut rows = rows.into_iter();
        let row = rows.find(|row| row.summary.id == own);
        let row = row.ok_or(SessionError::NotFound {
            name: id.to_string(),
        })?;
        self.linked(row).await
    }

    /// The sessions that have these ids, of several at once; ids of other objects are left out.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn summaries(
        self,
        ids: &[Uuid],
    ) -> Result<HashMap<Uuid, SessionSummary>, SessionError> {
        self.annals.reach().await?;
        let (log, model) = (self.annals.log.as_ref(), &self.annals.session_rows);
        let families = model.families_of(log, ids).await.map_err(LoadError::from)?;
        let mut found = HashMap::new();
        for (id, family) in ids.iter().zip(families) {
            let root = family.first().map(|row| row.summary.id);
            let has = family.iter().any(|row| row.summary.id == *id);
            let own = if has { Some(*id) } else { root };
            let mut rows = family.into_iter();
            let row = rows.find(|row| Some(row.summary.id) == own);
            found.extend(row.map(|row| (*id, row.summary)));
        }
        Ok(found)
    }

    /// Like [`Conversations::summaries`], as of `at`: sessions that begin later are left out. Only those that had later events
    /// are folded again.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn summaries_at(
        self,
        ids: &[Uuid],
        at: At,
    ) -> Result<HashMap<Uuid, SessionSummary>, SessionError> {
        let mut found = self.summaries(ids).await?;
        let is_as_then = |summary: &SessionSummary| match at {
            At::Now => true,
            At::Position(end) => summary.last_position <= end.0,
            _ => false,
        };
        let later = found.iter().filter(|(_, summary)| !is_as_then(summary));
        let later: Vec<Uuid> = later.map(|(id, _)| *id).collect();
        for id in later {
            match self.summary(id, at).await {
                Ok(summary) => _ = found.insert(id, summary),
                Err(SessionError::NotYet { .. } | SessionError::NotFound { .. }) => {
                    found.remove(&id);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// A session with its sub-agent sessions at any depth, priced by the table that comes with this version. A
    /// sub-agent's session has its own sub-agents only.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn family(self, id: Uuid, at: At) -> Result<SessionFamily, SessionError> {
        self.priced_family(id, at, PriceTable::standard()).await
    }

    /// Like [`Conversations::family`], by another table of prices.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn priced_family(
        self,
        id: Uuid,
        at: At,
        prices: &PriceTable,
    ) -> Result<SessionFamily, SessionError> {
        let (own, rows) = self.rows_of(id, at).await?;
        let now = self.now_at(at, None).await?;
        let listed = self.listed(vec![(rows, own)], now, prices).await?;
        let session = listed.into_iter().next();
        let session = session.ok_or(SessionError::NotFound {
            name: id.to_string(),
        })?;
        Ok(SessionFamily { session })
    }

    /// The files that a session and its sub-agent sessions changed as of `at`, each with the session that changed it.
    ///
    /// # Errors
    /// [`SessionError`].
    pub async fn changed_files(
        self,
        id: Uuid,
        at: At,
    ) -> Result<Vec<(Uuid, SessionFile)>, SessionError> {
        let (_, rows) = self.rows_of(id, at).await?;
        let (mut files, mut unread) = (Vec::new(), Vec::new());
        for row in rows {
            let id = row.summary.id;
            match row.files {
                Some(known) => files.extend(known.into_iter().map(|file| (id, file))),
                None => unread.push(id),
            }
        }
        if !unread.is_empty() {
            let (log, model) = (self.annals.log.as_ref(), &self.annals.session_rows);
            files.extend(model.files(log, &unread).await.map_err(LoadError::from)?);
        }
        Ok(files)
    }

    /// The rows of a session's family as of `at`, and the id of the session among them: another one if a contracts
    /// session is the session of its run's task.
    async fn rows_of(self, id: Uuid, at: At) -> Result<(Uuid, Vec<SessionRow>), SessionError> {
        self.annals.reach().await?;
        let (log, model) = (self.annals.log.as_ref(), &self.annals.session_rows);
        let now = model.family(log, id).await.map_err(LoadError::from)?;
        let own = |rows: &[SessionRow]| {
            let has = |row: &SessionRow| row.summary.id == id;
            let root = rows.first().map(|row| row.summary.id);
            match rows.iter().any(has) {
                true => Some(id),
                false => root,
            }
        };
        let Some(current) = own(&now) else {
            return Err(SessionError::NotFound {
                name: id.to_string(),
            });
        };
        if at == At::Now {
            return Ok((current, now));
        }
        let past = model.family_of_past(log, id, |record| step(at, record));
        let past = past.await.map_err(LoadError::from)?;
        match own(&past) {
            Some(own) => Ok((own, past)),
            None => Err(SessionError::NotYet { id, at }),
        }
    }

    /// The time by which sessions are active or idle: that of the newest event as of `at`.
    pub(crate) async fn now_at(
        self,
        at: At,
        now: Option<Timestamp>,
    ) -> Result<Timestamp, SessionError> {
        let position = match at {
            At::Now => return Ok(now.unwrap_or_else(|| self.annals.clock.now())),
            At::Recorded(time) | At::Occurred(time) => return Ok(time),
            At::Position(position) => position.min(self.annals.position()),
        };
        let query = Query::all(position.max(Position(1))).limit(1);
        let page = self.annals.log.read(query).await.map_err(LoadError::from)?;
        let time = page.records.first().map(|record| {
            let occurred = Timestamp::from(record.occurred_at());
            match occurred == Timestamp::EPOCH {
                true => record.recorded_at().into(),
                false => occurred,
            }
        });
        Ok(time.unwrap_or(Timestamp::EPOCH))
    }

    /// A session with the one that it continues.
    async fn linked(self, row: SessionRow) -> Result<SessionSummary, SessionError> {
        let (log, model) = (self.annals.log.as_ref(), &self.annals.session_rows);
        let continued = model.continued(log, &row).await;
        let continued = continued.map_err(LoadError::from)?;
        let mut summary = row.summary;
        summary.continues = continued.filter(|other| *other != summary.id);
        Ok(summary)
    }

    /// Sessions with their sub-agent sessions below them: each the rows of its family, and its id among them. What is
    /// beside the rows is read once for all of them.
    async fn listed(
        self,
        families: Vec<(Vec<SessionRow>, Uuid)>,
        now: Timestamp,
        prices: &PriceTable,
    ) -> Result<Vec<SessionListed>, SessionError> {
        let files = self.files(&families).await?;
        let rows: Vec<&SessionRow> = families.iter().flat_map(|(rows, _)| rows).collect();
        let (log, model) = (self.annals.log.as_ref(), &self.annals.session_rows);
        let continued = model.all_continued(log, &rows).await;
        let continued = continued.map_err(LoadError::from)?;
        let listed = families.into_iter().filter_map(|(mut rows, own)| {
            for row in &mut rows {
                let id = row.summary.id;
                let other = continued.get(&id).filter(|other| **other != id);
                row.summary.continues = other.copied();
            }
            nested(rows, own, now, prices, &files)
        });
        Ok(listed.collect())
    }

    /// The paths of the files that sessions changed, of families that have more than one session.
    async fn files(
        self,
        families: &[(Vec<SessionRow>, Uuid)],
    ) -> Result<FamilyFiles, SessionError> {
        let mut of_sessions = FamilyFiles::default();
        let mut unread = Vec::new();
        let families = families.iter().filter(|(rows, _)| rows.len() > 1);
        for row in families.flat_map(|(rows, _)| rows) {
            let id = row.summary.id;
            match &row.files {
                Some(files) => {
                    let paths = files.iter().map(|file| file.path.clone());
                    of_sessions.insert(id, paths.collect());
                }
                None => unread.push(id),
            }
        }
        if !unread.is_empty() {
            let (log, model) = (self.annals.log.as_ref(), &self.annals.session_rows);
            let files = model.files(log, &unread).await.map_err(LoadError::from)?;
            for (session, file) in files {
                of_sessions.entry(session).or_default().insert(file.path);
            }
        }
        Ok(of_sessions)
    }
}

/// A session of a family with its sub-agent sessions below it; `None` if the family does not have it.
fn nested(
    rows: Vec<SessionRow>,
    own: Uuid,
    now: Timestamp,
    prices: &PriceTable,
    files: &FamilyFiles,
) -> Option<SessionListed> {
    let mut made: HashMap<Uuid, SessionListed> = HashMap::new();
    let mut below: BTreeMap<Uuid, Vec<Uuid>> = BTreeMap::new();
    for row in rows {
        let id = row.summary.id;
        if let Some(parent) = row.summary.parent {
            below.entry(parent).or_default().push(id);
        }
        let cost = SessionCost::of(&row.cost(prices));
        let summary = row.summary;
        let listed = SessionListed {
            activity: summary.activity(now),
            last_activity: summary.last_activity,
            files: summary.files,
            cost,
            sub_agents: Vec::new(),
            summary,
        };
        made.insert(id, listed);
    }
    // Each behind those above it, so that backward each is whole before it is put below another one.
    let mut depth_first = vec![own];
    let mut at = 0;
    let mut seen = BTreeSet::from([own]);
    while let Some(id) = depth_first.get(at).copied() {
        let children = below.get(&id).into_iter().flatten();
        depth_first.extend(children.filter(|child| seen.insert(**child)));
        at += 1;
    }
    for id in depth_first.iter().rev() {
        let Some(mut listed) = made.remove(id) else {
            continue;
        };
        listed.add_up(now, files);
        match listed.summary.parent.filter(|_| *id != own) {
            None => return Some(listed),
            Some(parent) => {
                if let Some(parent) = made.get_mut(&parent) {
                    parent.sub_agents.push(listed);
                }
            }
        }
    }
    None
}

/// The paths of changed files by session.
type FamilyFiles = HashMap<Uuid, BTreeSet<String>>;

/// Whether a record is a part of the past.
pub(crate) fn step(at: At, record: &Record) -> PastStep {
    match at.reaches(record) {
        Reach::Yes => PastStep::Fold,
        Reach::Skip => PastStep::Skip,
        Reach::Stop => PastStep::Stop,
    }
}

impl SessionListed {
    /// Adds its sub-agents' activity, cost and files to its own.
    fn add_up(&mut self, now: Timestamp, files: &FamilyFiles) {
        self.sub_agents.sort_by_key(|it| it.summary.first_position);
        if self.sub_agents.is_empty() {
            return;
        }
        for sub_agent in &self.sub_agents {
            self.last_activity = self.last_activity.max(sub_agent.last_activity);
            self.cost.add_sub_agent(&sub_agent.cost);
            self.files.added = self.files.added.saturating_add(sub_agent.files.added);
            self.files.deleted = self.files.deleted.saturating_add(sub_agent.files.deleted);
        }
        let mut paths = BTreeSet::new();
        let mut next = vec![&*self];
        while let Some(session) = next.pop() {
            paths.extend(files.get(&session.summary.id).into_iter().flatten());
            next.extend(&session.sub_agents);
        }
        self.files.files = paths.len() as u64;
        self.activity = family_activity(
            &self.summary,
            self.sub_agents.iter().map(|it| it.activity),
            self.last_activity,
            now,
        );
    }
}

/// The activity of a session with sub-agents: it waits if one of them does, and is active as long as one of them is.
pub(crate) fn family_activity(
    own: &SessionSummary,
    sub_agents: impl Iterator<Item = SessionActivity>,
    last_activity: Option<Timestamp>,
    now: Timestamp,
) -> SessionActivity {
    let own_activity = own.activity(now);
    match own_activity {
        SessionActivity::Failed | SessionActivity::Ended | SessionActivity::Waiting => own_activity,
        SessionActivity::Active | SessionActivity::Idle => {
            let mut sub_agents = sub_agents;
            if sub_agents.any(|it| it == SessionActivity::Waiting) {
                return SessionActivity::Waiting;
            }
            own.activity_with(last_activity, now)
        }
    }
}

impl SessionCost {
    /// The cost of a session by itself.
    pub(crate) fn of(sums: &CostSums) -> SessionCost {
        SessionCost {
            micros: sums.computed_micros,
            sub_agent_micros: 0,
            unpriced_tokens: sums.unpriced_tokens,
            recorded_micros: sums.recorded_micros(),
            tokens: sums.used.tokens,
            is_known: sums.used.tokens.total() > 0 && !sums.is_partly_unpriced(),
        }
    }

    /// Adds the cost of a sub-agent with its own ones.
    fn add_sub_agent(&mut self, other: &SessionCost) {
        let (had, more) = (self.tokens.total() > 0, other.tokens.total() > 0);
        self.is_known = match (had, more) {
            (true, true) => self.is_known && other.is_known,
            (false, true) => other.is_known,
            _ => self.is_known,
        };
        self.micros = self.micros.saturating_add(other.micros);
        self.sub_agent_micros = self.sub_agent_micros.saturating_add(other.micros);
        self.unpriced_tokens = self.unpriced_tokens.saturating_add(other.unpriced_tokens);
        self.recorded_micros = match (self.recorded_micros, other.recorded_micros) {
            (Some(ours), Some(theirs)) => Some(ours.saturating_add(theirs)),
            (ours, theirs) => ours.or(theirs),
        };
        self.tokens.add(&other.tokens);
    }
}
