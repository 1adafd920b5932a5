//! The read model of sessions: its rows kept up to date with the log, and read.

use std::collections::{HashMap, HashSet, VecDeque};
use std::marker::PhantomData;

use annals_domain::{StreamKind, StreamRef};
use annals_event_log::{Position, Query, ReadError, Record, Store};
use async_trait::async_trait;
use uuid::Uuid;

use super::fold::SessionRows;
use super::row::{
    self, FACTS, FILE, NAME, NODE, NameRow, Node, SESSION, SessionFacts, SessionFile, SessionRow,
};
use crate::Merged;
use crate::projection::{KeptModel, Lag, ProjectionError, RecordSource, Table, TableQuery};

/// Rows that are read at once.
const PAGE: usize = 4_096;
/// Records that are folded at once.
const RECORDS: usize = 1_000;
/// Sessions of one family that are read.
const FAMILY: usize = 100_000;
/// Tasks that a task can be below.
const DEPTH: usize = 256;

/// Whether a record is a part of a fold of the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PastStep {
    /// It is.
    Fold,
    /// It is not, but a later one may be.
    Skip,
    /// Neither it nor any later one is.
    Stop,
}

/// The read model of sessions. It can be shared by any number of threads.
#[derive(Debug)]
pub struct SessionModel {
    rows: KeptModel<SessionRows>,
}

impl Default for SessionModel {
    fn default() -> SessionModel {
        SessionModel::new()
    }
}

impl SessionModel {
    /// Nothing is read yet.
    pub fn new() -> SessionModel {
        SessionModel {
            rows: KeptModel::new(SessionRows),
        }
    }

    /// Folds the events that the rows lack.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn catch_up(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        self.rows.catch_up(log).await
    }

    /// Folds a part of the events that the rows lack, if they are many and no other caller does. Writers call it after
    /// an append.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn keep_up(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        self.rows.keep_up(log).await
    }

    /// How far the stored rows are behind the log.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn lag(&self, log: &dyn Store) -> Result<Lag, ProjectionError> {
        self.rows.lag(log).await
    }

    /// Drops the rows: they are folded again as they are needed.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn forget(&self, log: &dyn Store) -> Result<(), ProjectionError> {
        self.rows.forget(log).await
    }

    /// Gives each family to `each`: a session at the top with its sub-agent sessions at any depth. Returns what that
    /// makes of an empty `A`; it begins again with another one where rows were written meanwhile.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn families<A: Default + Send>(
        &self,
        log: &dyn Store,
        each: impl Fn(&mut A, Vec<SessionRow>) + Sync,
    ) -> Result<A, ProjectionError> {
        self.rows.ask(log, &Families::new(each, false)).await
    }

    /// Like [`SessionModel::families`], as of the past, and with the files of each session: the log is folded in memory,
    /// record by record, as `step` decides.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn families_of_past<A: Default + Send>(
        &self,
        log: &dyn Store,
        step: impl Fn(&Record) -> PastStep + Send + Sync,
        each: impl Fn(&mut A, Vec<SessionRow>) + Sync,
    ) -> Result<A, ProjectionError> {
        let mut records = WholeLog {
            next: Some(Position(1)),
            step,
        };
        let question = Families::new(each, true);
        self.rows
            .rows()
            .read_folded(log, &mut records, &question)
            .await
    }

    /// The family of a session, the one at the top first, with the files of each. Empty if there is no such session; a contracts session that
    /// was merged into a task's session leads to that one.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn family(
        &self,
        log: &dyn Store,
        session: Uuid,
    ) -> Result<Vec<SessionRow>, ProjectionError> {
        self.rows.ask(log, &OfFamily::with_files(session)).await
    }

    /// Like [`SessionModel::family`], as of the past: the streams of the family are folded in memory.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn family_of_past(
        &self,
        log: &dyn Store,
        session: Uuid,
        step: impl Fn(&Record) -> PastStep + Send + Sync,
    ) -> Result<Vec<SessionRow>, ProjectionError> {
        let streams = self.rows.ask(log, &Streams { session }).await?;
        let mut merged = Merged::new(log);
        for stream in streams {
            merged.add(stream).await?;
        }
        let mut records = OfStreams {
            merged,
            step,
            is_over: false,
        };
        let question = OfFamily::with_files(session);
        self.rows
            .rows()
            .read_folded(log, &mut records, &question)
            .await
    }

    /// The families of several sessions, like [`SessionModel::family`] without the files, read in one go.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn families_of(
        &self,
        log: &dyn Store,
        sessions: &[Uuid],
    ) -> Result<Vec<Vec<SessionRow>>, ProjectionError> {
        self.rows.ask(log, &OfFamilies { sessions }).await
    }

    /// The files that some sessions changed, each with its session.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn files(
        &self,
        log: &dyn Store,
        sessions: &[Uuid],
    ) -> Result<Vec<(Uuid, SessionFile)>, ProjectionError> {
        self.rows.ask(log, &Files { sessions }).await
    }

    /// The sessions that changed a file for which `is_wanted` returns `true`.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn that_touched(
        &self,
        log: &dyn Store,
        is_wanted: &(dyn Fn(&str) -> bool + Sync),
    ) -> Result<HashSet<Uuid>, ProjectionError> {
        self.rows.ask(log, &Touched { is_wanted }).await
    }

    /// The session that a session continues, if that is in the log.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn continued(
        &self,
        log: &dyn Store,
        row: &SessionRow,
    ) -> Result<Option<Uuid>, ProjectionError> {
        match row.continues {
            Some(mark) => self.rows.ask(log, &Named { mark }).await,
            None => Ok(None),
        }
    }

    /// The sessions that some sessions continue, by the ids of these; those that are not in the log are left out.
    ///
    /// # Errors
    /// [`ProjectionError`].
    pub async fn all_continued(
        &self,
        log: &dyn Store,
        rows: &[&SessionRow],
    ) -> Result<HashMap<Uuid, Uuid>, ProjectionError> {
        let marks = rows
            .iter()
            .filter_map(|row| Some((row.summary.id, row.continues?)));
        let marks: Vec<(Uuid, [u8; 16])> = marks.collect();
        match marks.is_empty() {
            true => Ok(HashMap::new()),
            false => self.rows.ask(log, &Continued { marks }).await,
        }
    }
}

/// All records of a log, up to some.
struct WholeLog<S> {
    next: Option<Position>,
    step: S,
}

#[async_trait]
impl<S: Fn(&Record) -> PastStep + Send + Sync> RecordSource for WholeLog<S> {
    async fn next_page(&mut self, log: &dyn Store) -> Result<Option<Vec<Record>>, ReadError> {
        let Some(next) = self.next else {
            return Ok(None);
        };
        let page = log.read(Query::all(next).limit(RECORDS)).await?;
        self.next = page.records.last().map(|last| last.position().next());
        let mut records = Vec::with_capacity(page.records.len());
        for record in page.records {
            match (self.step)(&record) {
                PastStep::Fold => records.push(record),
                PastStep::Skip => {}
                PastStep::Stop => {
                    self.next = None;
                    break;
                }
            }
        }
        Ok(Some(records))
    }
}

/// The records of some streams, in the order of the log, up to some.
struct OfStreams<'a, S> {
    merged: Merged<'a>,
    step: S,
    is_over: bool,
}

#[async_trait]
impl<S: Fn(&Record) -> PastStep + Send + Sync> RecordSource for OfStreams<'_, S> {
    async fn next_page(&mut self, _: &dyn Store) -> Result<Option<Vec<Record>>, ReadError> {
        if self.is_over {
            return Ok(None);
        }
        let mut records = Vec::new();
        while records.len() < RECORDS {
            let Some(record) = self.merged.next().await? else {
                self.is_over = true;
                break;
            };
            match (self.step)(&record) {
                PastStep::Fold => records.push(record),
                PastStep::Skip => {}
                PastStep::Stop => {
                    self.is_over = true;
                    break;
                }
            }
        }
        Ok(Some(records))
    }
}

/// All families, and what takes each of them.
struct Families<A, F> {
    each: F,
    with_files: bool,
    made: PhantomData<fn() -> A>,
}

impl<A, F> Families<A, F> {
    fn new(each: F, with_files: bool) -> Families<A, F> {
        Families {
            each,
            with_files,
            made: PhantomData,
        }
    }
}

#[async_trait]
impl<A: Default + Send, F: Fn(&mut A, Vec<SessionRow>) + Sync> TableQuery for Families<A, F> {
    type Answer = A;

    async fn answer(&self, table: &Table<'_>) -> Result<A, ProjectionError> {
        let (mut made, mut family, mut after) = (A::default(), Vec::new(), None);
        loop {
            let (rows, next) = table.page(&[SESSION], after.as_deref(), PAGE).await?;
            for (key, value) in &rows {
                let mut row = SessionRow::read(key, value)?;
                if self.with_files {
                    row.files = Some(files_of(table, row.summary.id).await?);
                }
                let root = row.summary.root;
                let is_same = |first: &SessionRow| first.summary.root == root;
                if !family.first().is_none_or(is_same) {
                    (self.each)(&mut made, std::mem::take(&mut family));
                }
                family.push(row);
            }
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        if !family.is_empty() {
            (self.each)(&mut made, family);
        }
        Ok(made)
    }
}

/// The session that an id leads to: itself, or the one that it was merged into.
async fn merged(table: &Table<'_>, id: Uuid) -> Result<(Uuid, Option<Node>), ProjectionError> {
    let mut at = id;
    for _ in 0..DEPTH {
        let node: Option<Node> = row::get(table, &row::key(NODE, at)).await?;
        match node.as_ref().and_then(|node| node.into) {
            Some(into) => at = into,
            None => return Ok((at, node)),
        }
    }
    Ok((at, None))
}

/// The family of a session.
struct OfFamily {
    session: Uuid,
    has_files: bool,
}

impl OfFamily {
    fn with_files(session: Uuid) -> OfFamily {
        OfFamily {
            session,
            has_files: true,
        }
    }

    fn without_files(session: Uuid) -> OfFamily {
        OfFamily {
            session,
            has_files: false,
        }
    }
}

#[async_trait]
impl TableQuery for OfFamily {
    type Answer = Vec<SessionRow>;

    async fn answer(&self, table: &Table<'_>) -> Result<Vec<SessionRow>, ProjectionError> {
        let (_, node) = merged(table, self.session).await?;
        match node.and_then(|node| node.root) {
            Some(root) => of_root(table, root, self.has_files).await,
            None => Ok(Vec::new()),
        }
    }
}

/// The families of several sessions.
struct OfFamilies<'a> {
    sessions: &'a [Uuid],
}

#[async_trait]
impl TableQuery for OfFamilies<'_> {
    type Answer = Vec<Vec<SessionRow>>;

    async fn answer(&self, table: &Table<'_>) -> Result<Vec<Vec<SessionRow>>, ProjectionError> {
        let mut families = Vec::with_capacity(self.sessions.len());
        for session in self.sessions {
            let family = OfFamily::without_files(*session);
            families.push(family.answer(table).await?);
        }
        Ok(families)
    }
}

/// A session at the top and those below it.
async fn of_root(
    table: &Table<'_>,
    root: Uuid,
    has_files: bool,
) -> Result<Vec<SessionRow>, ProjectionError> {
    let prefix = row::key(SESSION, root);
    let (mut family, mut after) = (Vec::new(), None);
    loop {
        let (rows, next) = table.page(&prefix, after.as_deref(), PAGE).await?;
        for (key, value) in &rows {
            let mut row = SessionRow::read(key, value)?;
            if has_files {
                row.files = Some(files_of(table, row.summary.id).await?);
            }
            family.push(row);
        }
        match next {
            Some(next) if family.len() < FAMILY => after = Some(next),
            _ => break,
        }
    }
    family.sort_by_key(|row| (row.summary.id != root, row.summary.first_position));
    Ok(family)
}

/// The streams that a family is folded from.
struct Streams {
    session: Uuid,
}

#[async_trait]
impl TableQuery for Streams {
    type Answer = Vec<StreamRef>;

    async fn answer(&self, table: &Table<'_>) -> Result<Vec<StreamRef>, ProjectionError> {
        let of = |kind, id| StreamRef { kind, id };
        let mut streams: VecDeque<StreamRef> = VecDeque::new();
        let family = OfFamily::without_files(self.session);
        for row in family.answer(table).await? {
            let summary = row.summary;
            let runs = summary.runs.iter();
            streams.extend(runs.map(|run| of(StreamKind::Run, *run)));
            // A run whose task is not known is a session by itself.
            streams.push_back(of(StreamKind::Run, summary.id));
            let key = row::key(FACTS, summary.id);
            let facts: Option<SessionFacts> = row::get(table, &key).await?;
            for (kind, id) in facts.unwrap_or_default().streams {
                let mut kinds = StreamKind::ALL.iter();
                let kind = kinds.find(|it| it.as_str() == kind);
                streams.extend(kind.map(|kind| of(*kind, id)));
            }
            // Tasks between two sessions say which one is below which.
            let mut next = Some(summary.id);
            for _ in 0..DEPTH {
                let Some(task) = next else { break };
                let stream = of(StreamKind::Task, task);
                if !streams.contains(&stream) {
                    streams.push_back(stream);
                }
                let node: Option<Node> = row::get(table, &row::key(NODE, task)).await?;
                next = node.and_then(|node| node.parent);
                if next == Some(summary.root) {
                    break;
                }
            }
        }
        Ok(streams.into())
    }
}

/// The files of some sessions.
struct Files<'a> {
    sessions: &'a [Uuid],
}

#[async_trait]
impl TableQuery for Files<'_> {
    type Answer = Vec<(Uuid, SessionFile)>;

    async fn answer(&self, table: &Table<'_>) -> Result<Self::Answer, ProjectionError> {
        let mut files = Vec::new();
        for session in self.sessions {
            let own = files_of(table, *session).await?;
            files.extend(own.into_iter().map(|file| (*session, file)));
        }
        Ok(files)
    }
}

/// The files of a session.
async fn files_of(table: &Table<'_>, session: Uuid) -> Result<Vec<SessionFile>, ProjectionError> {
    let (prefix, mut after) = (row::key(FILE, session), None);
    let mut files = Vec::new();
    loop {
        let (rows, next) = table.page(&prefix, after.as_deref(), PAGE).await?;
        for (key, value) in &rows {
            files.push(row::read(key, value)?);
        }
        match next {
            Some(next) => after = Some(next),
            None => return Ok(files),
        }
    }
}

/// The sessions that changed certain files.
struct Touched<'a> {
    is_wanted: &'a (dyn Fn(&str) -> bool + Sync),
}

#[async_trait]
impl TableQuery for Touched<'_> {
    type Answer = HashSet<Uuid>;

    async fn answer(&self, table: &Table<'_>) -> Result<HashSet<Uuid>, ProjectionError> {
        let (mut found, mut after) = (HashSet::new(), None);
        loop {
            let (rows, next) = table.page(&[FILE], after.as_deref(), PAGE).await?;
            for (key, value) in &rows {
                let Some(session) = row::first_id(key).filter(|it| !found.contains(it)) else {
                    continue;
                };
                let file: SessionFile = row::read(key, value)?;
                if (self.is_wanted)(&file.path) {
                    found.insert(session);
                }
            }
            match next {
                Some(next) => after = Some(next),
                None => return Ok(found),
            }
        }
    }
}

/// The session with a name.
struct Named {
    mark: [u8; 16],
}

#[async_trait]
impl TableQuery for Named {
    type Answer = Option<Uuid>;

    async fn answer(&self, table: &Table<'_>) -> Result<Option<Uuid>, ProjectionError> {
        let key = row::by_mark(NAME, &self.mark);
        let row: Option<NameRow> = row::get(table, &key).await?;
        Ok(row.and_then(|row| row.session))
    }
}

/// The sessions that some sessions continue: each with the mark of the name.
struct Continued {
    marks: Vec<(Uuid, [u8; 16])>,
}

#[async_trait]
impl TableQuery for Continued {
    type Answer = HashMap<Uuid, Uuid>;

    async fn answer(&self, table: &Table<'_>) -> Result<HashMap<Uuid, Uuid>, ProjectionError> {
        let mut continued = HashMap::new();
        for (session, mark) in &self.marks {
            let other = Named { mark: *mark }.answer(table).await?;
            continued.extend(other.map(|other| (*session, other)));
        }
        Ok(continued)
    }
}
