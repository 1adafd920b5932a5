//! The lists: sessions, what waits for people, and the objects of each kind.

use annals::domain::{Kind, Timestamp};
use annals::event_log::Position;
use annals::projections::{CatalogueRow, InboxQuery, InboxReason, ListQuery, Status};
use annals::{Annals, At, InboxItem, SessionListed, SessionQuery};
use uuid::Uuid;

use crate::cursor::Cursor;
use crate::error::ScreenError;
use crate::past::PastPosition;
use crate::session::{cost, status};
use crate::steps::Steps;
use crate::text::{brief, has, safe, short};

/// Rows that are read at once.
const PAGE: usize = 200;
/// Rows that a search reads before it gives up.
const SEARCHED: usize = 20_000;

/// What a list has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Sessions: conversations with agents.
    Sessions,
    /// Intents and sessions that wait for a person.
    Inbox,
    Kind(Kind),
}

const SOURCES: [(&str, Source); 10] = [
    ("Sessions", Source::Sessions),
    ("Runs", Source::Kind(Kind::Run)),
    ("Tasks", Source::Kind(Kind::Task)),
    ("Intents", Source::Kind(Kind::Intent)),
    ("Waiting", Source::Inbox),
    ("Contracts", Source::Kind(Kind::Session)),
    ("Plans", Source::Kind(Kind::Plan)),
    ("Patch sets", Source::Kind(Kind::PatchSet)),
    ("Decisions", Source::Kind(Kind::Decision)),
    ("Pipelines", Source::Kind(Kind::ContextPipeline)),
];

/// One object in a list.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) id: Uuid,
    /// Its first event, or a session's last activity; `None` if the recording has no times.
    pub(crate) time: Option<Timestamp>,
    pub(crate) status: String,
    pub(crate) what: String,
    /// Whether it is a session, which opens as its conversation.
    pub(crate) is_session: bool,
}

impl Row {
    fn of(row: &CatalogueRow, waits: Option<&[InboxReason]>) -> Row {
        let status = row.status.map_or("-", Status::word).to_owned();
        let status = match (row.approval, waits) {
            (_, Some(reasons)) => reasons
                .iter()
                .map(|reason| reason.as_str())
                .collect::<Vec<_>>()
                .join(", "),
            (Some(approval), _) => format!("{status}, {approval}"),
            (None, _) => status,
        };
        let titles = row.task_title.iter().chain(&row.title);
        let titles: Vec<String> = titles.map(ToString::to_string).collect();
        let what = match titles.is_empty() {
            true => row.sort.clone().unwrap_or_default(),
            false => titles.join(" · "),
        };
        Row {
            id: row.id,
            time: Some(row.created_at),
            status,
            what: safe(&what),
            is_session: false,
        }
    }

    fn session(listed: &SessionListed) -> Row {
        let session = &listed.summary;
        let title = session.title_or_words();
        let project = session.project_name().map(str::to_owned);
        let parts = [Some(title), project, session.agent.clone(), cost(listed)];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Row {
            id: session.id,
            time: session.last_activity,
            status: status(listed).to_owned(),
            what: safe(&parts.join(" · ")),
            is_session: true,
        }
    }

    /// The time, as wide for every row.
    pub(crate) fn when(&self) -> String {
        match self.time {
            Some(time) => brief(time),
            None => format!("{:<16}", "time unknown"),
        }
    }

    /// The row as it is searched.
    pub(crate) fn line(&self) -> String {
        let (id, time) = (short(self.id), self.when());
        format!("{id} {time} {} {}", self.status, self.what)
    }
}

/// Where a list goes on.
#[derive(Debug, Clone, Copy)]
enum Next {
    /// Behind the object that began at a position.
    After(Position),
    /// At the session with this index.
    Offset(usize),
}

/// One list, as far as it was read.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) rows: Vec<Row>,
    pub(crate) cursor: Cursor,
    next: Option<Next>,
    is_read: bool,
}

/// All lists, of which one is shown.
#[derive(Debug, Default)]
pub(crate) struct Lists {
    lists: [List; SOURCES.len()],
    shown: usize,
    /// The past position at which sessions are listed; `None` is the present. The other lists are of the present.
    sessions_at: Option<PastPosition>,
}

impl Lists {
    pub(crate) fn at(past: Option<PastPosition>) -> Lists {
        Lists {
            sessions_at: past,
            ..Lists::default()
        }
    }

    /// The past position at which the shown list is; `None` is the present.
    pub(crate) fn past(&self) -> Option<PastPosition> {
        self.sessions_at.filter(|_| self.is_of_sessions())
    }

    /// Returns `true` if the shown list can be moved through time.
    pub(crate) fn is_of_sessions(&self) -> bool {
        self.source() == Source::Sessions
    }

    /// Lists the sessions as of another position; the cursor stays on its session.
    pub(crate) async fn travel(
        &mut self,
        annals: &Annals,
        past: Option<PastPosition>,
    ) -> Result<(), ScreenError> {
        if past == self.sessions_at {
            return Ok(());
        }
        let before = std::mem::replace(&mut self.sessions_at, past);
        let read = self.read_again(annals).await;
        if read.is_err() {
            self.sessions_at = before;
        }
        read
    }

    pub(crate) fn titles() -> impl Iterator<Item = &'static str> {
        SOURCES.iter().map(|(title, _)| *title)
    }

    pub(crate) fn shown(&self) -> usize {
        self.shown
    }

    pub(crate) fn list(&mut self) -> &mut List {
        // `show` keeps it within.
        let shown = self.shown.min(SOURCES.len() - 1);
        &mut self.lists[shown]
    }

    pub(crate) async fn show(&mut self, annals: &Annals, tab: usize) -> Result<(), ScreenError> {
        if tab < SOURCES.len() {
            self.shown = tab;
        }
        match self.list().is_read {
            true => Ok(()),
            false => self.read(annals, PAGE).await,
        }
    }

    /// Reads the list that is shown again, as far as it was read; the cursor stays on its object, or on the newest.
    pub(crate) async fn refresh(&mut self, annals: &Annals) -> Result<(), ScreenError> {
        // A past list stays as it is.
        if self.past().is_none() {
            self.read_again(annals).await?;
        }
        // What other lists have is old as well.
        let shown = self.shown;
        for (at, list) in self.lists.iter_mut().enumerate() {
            list.is_read &= at == shown;
        }
        Ok(())
    }

    async fn read_again(&mut self, annals: &Annals) -> Result<(), ScreenError> {
        let list = self.list();
        let at = list.cursor.at;
        let held = list.rows.get(at).filter(|_| at > 0).map(|row| row.id);
        let limit = list.rows.len().max(PAGE);
        self.read(annals, limit).await?;
        let list = self.list();
        let found = held.and_then(|id| list.rows.iter().position(|row| row.id == id));
        list.cursor.put(found.unwrap_or(0), list.rows.len());
        Ok(())
    }

    /// Reads on, if the cursor comes close to the end of what was read.
    pub(crate) async fn read_on(&mut self, annals: &Annals) -> Result<(), ScreenError> {
        let list = self.list();
        let is_close = list.cursor.at + PAGE / 2 >= list.rows.len();
        match list.next {
            Some(next) if is_close => self.more(annals, next).await,
            _ => Ok(()),
        }
    }

    /// Moves to the next row, or the one before, that has the words, and reads on for it.
    pub(crate) async fn find(
        &mut self,
        annals: &Annals,
        needle: &str,
        steps: Steps,
    ) -> Result<bool, ScreenError> {
        loop {
            let list = self.list();
            if let Some(at) = steps.find(list.cursor.at, list.rows.len(), |at| {
                list.rows
                    .get(at)
                    .is_some_and(|row| has(&row.line(), needle))
            }) {
                list.cursor.put(at, list.rows.len());
                return Ok(true);
            }
            match list.next {
                Some(next) if steps.is_forward() && list.rows.len() < SEARCHED => {
                    self.more(annals, next).await?;
                }
                _ => return Ok(false),
            }
        }
    }

    async fn read(&mut self, annals: &Annals, limit: usize) -> Result<(), ScreenError> {
        let (rows, next) = self.page(annals, None, limit).await?;
        let list = self.list();
        (list.rows, list.next, list.is_read) = (rows, next, true);
        Ok(())
    }

    async fn more(&mut self, annals: &Annals, next: Next) -> Result<(), ScreenError> {
        let (rows, next) = self.page(annals, Some(next), PAGE).await?;
        let list = self.list();
        list.rows.extend(rows);
        list.next = next;
        Ok(())
    }

    fn source(&self) -> Source {
        SOURCES
            .get(self.shown)
            .map_or(Source::Inbox, |(_, source)| *source)
    }

    async fn page(
        &self,
        annals: &Annals,
        next: Option<Next>,
        limit: usize,
    ) -> Result<(Vec<Row>, Option<Next>), ScreenError> {
        let (after, offset) = match next {
            Some(Next::After(position)) => (Some(position), 0),
            Some(Next::Offset(offset)) => (None, offset),
            None => (None, 0),
        };
        match self.source() {
            Source::Sessions => sessions(annals, self.sessions_at, offset, limit).await,
            Source::Inbox => inbox(annals, after, limit).await,
            Source::Kind(kind) => {
                let query = ListQuery::new(kind).with_after(after).with_limit(limit);
                let listed = annals.index().list(&query).await?;
                let rows = listed.rows.iter().map(|row| Row::of(row, None)).collect();
                Ok((rows, listed.next.map(Next::After)))
            }
        }
    }
}

async fn sessions(
    annals: &Annals,
    past: Option<PastPosition>,
    offset: usize,
    limit: usize,
) -> Result<(Vec<Row>, Option<Next>), ScreenError> {
    let at = past.map_or(At::Now, |past| At::Position(past.position));
    let query = SessionQuery::default()
        .with_at(at)
        .with_offset(offset)
        .with_limit(limit);
    let page = annals.conversations().list(&query).await?;
    let rows: Vec<Row> = page.sessions.iter().map(Row::session).collect();
    let end = offset + rows.len();
    let is_over = rows.is_empty() || end >= page.total;
    Ok((rows, (!is_over).then_some(Next::Offset(end))))
}

async fn inbox(
    annals: &Annals,
    after: Option<Position>,
    limit: usize,
) -> Result<(Vec<Row>, Option<Next>), ScreenError> {
    let mut query = InboxQuery::default();
    (query.after, query.limit) = (after, limit);
    let page = annals.inbox().items(&query).await?;
    let row = |item: &InboxItem| match item {
        InboxItem::Intent(entry) => Row::of(&entry.row, Some(&entry.reasons)),
        InboxItem::Session(row) => Row::of(row, Some(&[InboxReason::Approval])),
    };
    let rows = page.items.iter().map(row).collect();
    Ok((rows, page.next.map(Next::After)))
}
