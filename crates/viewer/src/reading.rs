//! Reads objects and histories as the command line does, with a bound on the content that an answer takes.
//!
//! A text may have 64 MiB, and an object any number of texts. So what is too long for a page is named and left out,
//! here, where content is fetched; the command line shows it.

use std::collections::HashMap;
use std::ops::ControlFlow;

use annals::domain::{AnyEvent, Kind, StreamRef};
use annals::event_log::{Content, Position, Query, Record, Version};
use annals::projections::{
    CatalogueRow, Entry, Fold, HistoryEntry, ObjectView, Relation, Teller, is_about,
};
use annals::{Annals, ObjectRef, ViewError, wire};
use axum::body::Bytes;
use uuid::Uuid;

use crate::model::{EventRow, Named, Row, status_of};
use crate::moment::Moment;
use crate::problem::Problem;

/// Bytes of one text that a page shows.
const TEXT: u64 = 256 * 1024;
/// Bytes of all texts above 4 KiB that an answer reads.
const ALL: u64 = 4 * 1024 * 1024;
/// Records that are read at once.
const PAGE: usize = 500;
/// Records that one answer looks at for a page of a history.
const LOOKED_AT: usize = 5_000;
/// Events of an object in a list that are folded to say how it was.
const FOLDED: u64 = 500;

/// What one answer reads.
pub(crate) struct Reading<'a> {
    pub(crate) annals: &'a Annals,
    pub(crate) moment: Moment,
    /// Bytes that may still be fetched.
    left: u64,
    /// Says what events changed, with what others said of the same tool call.
    teller: Teller,
    /// How many texts were left out.
    pub(crate) left_out: usize,
}

/// An object, and where its events are.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) kind: Kind,
    pub(crate) id: Uuid,
    pub(crate) stream: StreamRef,
    pub(crate) row: CatalogueRow,
}

impl Found {
    pub(crate) fn reference(&self) -> ObjectRef {
        ObjectRef {
            kind: self.kind,
            id: self.id,
        }
    }
}

/// A page of a history.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(crate) rows: Vec<EventRow>,
    /// Where it goes on: the version of the last event that was looked at.
    pub(crate) next: Option<u64>,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(annals: &'a Annals, moment: Moment) -> Reading<'a> {
        Reading {
            annals,
            moment,
            left: ALL,
            teller: Teller::new(),
            left_out: 0,
        }
    }

    /// The object that a person names: its id, the last digits of it, or an alias.
    pub(crate) async fn find(&self, name: &str) -> Result<Found, Problem> {
        let ObjectRef { kind, id } = self.annals.resolve(name).await?;
        let place = self.annals.index().place(id).await?;
        let (_, stream) = place.ok_or_else(|| not_there(name))?;
        let row = self.titled(self.annals.index().row(id).await?).await?;
        if row.first_position > self.moment.position {
            let object = ObjectRef { kind, id };
            return Err(ViewError::NotYet { object }.into());
        }
        Ok(Found {
            kind,
            id,
            stream,
            row,
        })
    }

    /// A record with its content, as far as there is room for it.
    pub(crate) async fn entry(&mut self, record: &Record) -> Result<Entry, Problem> {
        let mut blobs: HashMap<_, Bytes> = HashMap::new();
        for piece in record.content() {
            let Content::Blob { digest, size, .. } = piece else {
                continue;
            };
            if blobs.contains_key(&digest) {
                continue;
            }
            let fits = size <= TEXT && size <= self.left;
            let blob = match fits {
                true => self.annals.contents().get(digest).await?,
                false => None,
            };
            match (fits, blob) {
                (true, Some(blob)) => {
                    self.left -= size;
                    blobs.insert(digest, blob);
                }
                // Content may have been removed since the record was read.
                (true, None) => return Ok(self.annals.contents().entry(record).await?),
                (false, _) => {
                    self.left_out += 1;
                    let text =
                        format!("[{size} bytes are left out here; annals object cat {digest}]");
                    blobs.insert(digest, text.into());
                }
            }
        }
        Ok(Entry::new(record, &blobs)?)
    }

    /// An object as it was.
    pub(crate) async fn view(&mut self, found: &Found) -> Result<ObjectView, Problem> {
        let mut fold = Fold::new(found.kind, found.id);
        let mut about = Vec::new();
        if found.kind == Kind::ToolInvocation {
            let index = self.annals.index();
            for position in index.events_of_call(found.id).await? {
                if position <= self.moment.position {
                    about.extend(self.annals.contents().record(position).await?);
                }
            }
            for record in &about {
                fold.apply(&self.entry(record).await?);
            }
        } else {
            let mut from = Some(self.first_version(found).await?);
            while let Some(version) = from {
                from = self.page_about(found, version, &mut about).await?;
                for record in about.drain(..) {
                    fold.apply(&self.entry(&record).await?);
                }
            }
        }
        let object = found.reference();
        fold.view()
            .ok_or_else(|| ViewError::NotYet { object }.into())
    }

    /// The version of the first event on an object in its stream.
    async fn first_version(&self, found: &Found) -> Result<Version, Problem> {
        if found.stream.kind.kind() == Some(found.kind) || found.kind == Kind::Provenance {
            return Ok(Version(1));
        }
        let first = self.annals.contents().record(found.row.first_position);
        Ok(first.await?.map_or(Version(1), |record| record.version()))
    }

    /// The last position of an object's stream that is looked at. What is in a run has none behind its own last event,
    /// but for provenance, to which tokens count that are used later.
    fn last(&self, found: &Found) -> Position {
        let whole = found.stream.kind.kind() == Some(found.kind);
        match whole || found.kind == Kind::Provenance {
            true => self.moment.position,
            false => self.moment.position.min(found.row.last_position),
        }
    }

    /// Reads a page of an object's stream; gives what is about the object, and where to go on.
    async fn page_about(
        &self,
        found: &Found,
        from: Version,
        about: &mut Vec<Record>,
    ) -> Result<Option<Version>, Problem> {
        let end = self.last(found);
        let query = Query::stream(wire::stream_name(found.stream), from).limit(PAGE);
        let page = self.annals.log().read(query).await?;
        let is_more = page
            .records
            .last()
            .is_some_and(|last| last.position() < end);
        for record in page.records {
            if record.position() > end {
                break;
            }
            let (stream, event) = decode(&record)?;
            if is_about(&event, stream, found.kind, found.id) {
                about.push(record);
            }
        }
        Ok(page.next.filter(|_| is_more).map(Version))
    }

    /// A page of what happened to an object, behind a version of its stream.
    pub(crate) async fn history(
        &mut self,
        found: &Found,
        after: Option<u64>,
        newest_first: bool,
        limit: usize,
    ) -> Result<Events, Problem> {
        let whole = found.stream.kind.kind() == Some(found.kind);
        let (name, end) = (wire::stream_name(found.stream), self.last(found));
        let mut next = match (after, newest_first) {
            (Some(after), false) => after.checked_add(1),
            (Some(after), true) => after.checked_sub(1).filter(|version| *version > 0),
            (None, false) => Some(self.first_version(found).await?.0),
            (None, true) => {
                let all = self.last_version(found).await?;
                let newest = self.version_at(found, end, all).await?;
                Some(newest).filter(|version| *version > 0)
            }
        };
        let (mut shown, mut looked_at, mut last) = (Vec::new(), 0, None);
        'pages: while let Some(from) = next {
            let size = if whole { limit + 1 } else { PAGE };
            let query = Query::stream(name.clone(), Version(from)).limit(size);
            let query = if newest_first {
                query.backward()
            } else {
                query
            };
            let page = self.annals.log().read(query).await?;
            next = page.next;
            for record in page.records {
                if record.position() > end {
                    if newest_first {
                        continue;
                    }
                    break 'pages;
                }
                let (stream, event) = decode(&record)?;
                looked_at += 1;
                let is_shown = whole || is_about(&event, stream, found.kind, found.id);
                if is_shown && shown.len() == limit || looked_at > LOOKED_AT {
                    // There is at least this one.
                    return self.told(&shown, last).await;
                }
                last = Some(record.version().0);
                if is_shown {
                    shown.push(record);
                }
            }
        }
        self.told(&shown, None).await
    }

    /// A page of the events of several streams, in the log's order: behind a position, or before it.
    pub(crate) async fn history_of(
        &mut self,
        streams: &[StreamRef],
        after: Option<Position>,
        newest_first: bool,
        limit: usize,
    ) -> Result<Events, Problem> {
        let end = match (after, newest_first) {
            (Some(after), true) => Position(after.0.saturating_sub(1)).min(self.moment.position),
            _ => self.moment.position,
        };
        let start = after.filter(|_| !newest_first).unwrap_or(Position::START);
        let mut records: Vec<Record> = Vec::new();
        for stream in streams {
            let name = wire::stream_name(*stream);
            let edge = if newest_first { end } else { start };
            let before = self.stream_version_at(*stream, edge).await?;
            let from = if newest_first { before } else { before + 1 };
            if from == 0 {
                continue;
            }
            let query = Query::stream(name, Version(from)).limit(limit + 1);
            let query = if newest_first {
                query.backward()
            } else {
                query
            };
            let page = self.annals.log().read(query).await?;
            records.extend(page.records);
        }
        records.retain(|record| record.position() <= end && record.position() > start);
        records.sort_by_key(Record::position);
        if newest_first {
            records.reverse();
        }
        let is_more = records.len() > limit;
        records.truncate(limit);
        let next = records.last().map(|record| record.position().0);
        self.told(&records, next.filter(|_| is_more)).await
    }

    /// The version of the last event of a stream by a position; 0 before its first one.
    async fn stream_version_at(
        &self,
        stream: StreamRef,
        position: Position,
    ) -> Result<u64, Problem> {
        let name = wire::stream_name(stream);
        let all = self.annals.log().head(&name).await?.0;
        let (mut low, mut high) = (0, all);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            let query = Query::stream(wire::stream_name(stream), Version(middle)).limit(1);
            let page = self.annals.log().read(query).await?;
            let is_by_then = |record: &Record| record.position() <= position;
            match page.records.first().is_some_and(is_by_then) {
                true => low = middle,
                false => high = middle - 1,
            }
        }
        Ok(low)
    }

    /// Says what records changed. All of them are read first: a later one may say what an earlier one only names.
    async fn told(&mut self, records: &[Record], next: Option<u64>) -> Result<Events, Problem> {
        let mut entries = Vec::with_capacity(records.len());
        for record in records {
            let entry = self.entry(record).await?;
            self.teller.learn(&entry);
            entries.push(entry);
        }
        let teller = &mut self.teller;
        let row = |entry: &Entry| row_of(&teller.tell(entry), entry.stream);
        let rows = entries.iter().map(row).collect();
        Ok(Events { rows, next })
    }

    /// The last version of an object's stream that counts.
    async fn last_version(&self, found: &Found) -> Result<u64, Problem> {
        let name = wire::stream_name(found.stream);
        Ok(self.annals.log().head(&name).await?.0)
    }

    /// The newest events of the log before a position, or the oldest behind it.
    pub(crate) async fn log(
        &mut self,
        after: Option<u64>,
        newest_first: bool,
        limit: usize,
    ) -> Result<Events, Problem> {
        let from = match (after, newest_first) {
            (Some(after), false) => after.saturating_add(1),
            (Some(after), true) => after.saturating_sub(1).min(self.moment.position.0),
            (None, false) => 1,
            (None, true) => self.moment.position.0,
        };
        if from == 0 {
            return Ok(Events::default());
        }
        let query = Query::all(Position(from)).limit(limit);
        let query = if newest_first {
            query.backward()
        } else {
            query
        };
        let page = self.annals.log().read(query).await?;
        let mut records = page.records;
        records.retain(|record| record.position() <= self.moment.position);
        let last = records.last().map(Record::position);
        let is_more = match newest_first {
            true => last.is_some_and(|last| last.0 > 1),
            false => last.is_some_and(|last| last < self.moment.position),
        };
        let next = last.filter(|_| is_more).map(|last| last.0);
        self.told(&records, next).await
    }

    /// The event at a position.
    pub(crate) async fn event(
        &mut self,
        position: Position,
    ) -> Result<(HistoryEntry, StreamRef, Record), Problem> {
        let record = self.annals.contents().record(position).await?;
        let record = record.filter(|_| position > Position::START);
        let record = record.ok_or_else(|| Problem::beyond_end(position, self.moment.end))?;
        let entry = self.entry(&record).await?;
        Ok((self.teller.tell(&entry), entry.stream, record))
    }

    /// Gives the events of a stream to `each`, decoded and without their content, behind a version and up to the
    /// moment.
    pub(crate) async fn each_event(
        &self,
        stream: StreamRef,
        after: Version,
        mut each: impl FnMut(&Record, &AnyEvent) -> ControlFlow<()>,
    ) -> Result<(), Problem> {
        let name = wire::stream_name(stream);
        let mut next = Some(after.next().0);
        while let Some(from) = next {
            let query = Query::stream(name.clone(), Version(from)).limit(PAGE);
            let page = self.annals.log().read(query).await?;
            for record in &page.records {
                if record.position() > self.moment.position {
                    return Ok(());
                }
                let (_, event) = decode(record)?;
                if each(record, &event).is_break() {
                    return Ok(());
                }
            }
            next = page.next;
        }
        Ok(())
    }

    /// An object of a list as it was; none where it was not there yet.
    pub(crate) async fn row(&mut self, row: &CatalogueRow) -> Result<Option<Row>, Problem> {
        if row.first_position > self.moment.position {
            return Ok(None);
        }
        let shown = Row::of(row);
        if row.last_position <= self.moment.position {
            return Ok(Some(shown));
        }
        if row.events > FOLDED {
            return Ok(Some(shown.earlier(None, true)));
        }
        let place = self.annals.index().place(row.id).await?;
        let Some((kind, stream)) = place else {
            return Ok(None);
        };
        let found = Found {
            kind,
            id: row.id,
            stream,
            row: row.clone(),
        };
        let view = self.view(&found).await?;
        Ok(Some(shown.earlier(status_of(&view), false)))
    }

    /// The row with what a run is called by, which is its task's title. Lists bring it along.
    async fn titled(&self, row: CatalogueRow) -> Result<CatalogueRow, Problem> {
        if row.kind != Kind::Run || row.task_title.is_some() {
            return Ok(row);
        }
        let index = self.annals.index();
        let mut row = row;
        if let Some(task) = index.named(row.id, Relation::RunTask, 1).await?.first() {
            row.task_title = match index.row(*task).await {
                Ok(task) => task.title,
                Err(ViewError::NotFound { .. }) => None,
                Err(error) => return Err(error.into()),
            };
        }
        Ok(row)
    }

    /// The same of an id, which may be no object's.
    pub(crate) async fn row_of(&mut self, id: Uuid) -> Result<Option<Row>, Problem> {
        match self.annals.index().row(id).await {
            Ok(row) => {
                let row = self.titled(row).await?;
                self.row(&row).await
            }
            Err(ViewError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn decode(record: &Record) -> Result<(StreamRef, AnyEvent), Problem> {
    wire::decode_event_of(record).map_err(Problem::from)
}

fn not_there(name: &str) -> Problem {
    let name: String = name.chars().take(64).collect();
    Problem::not_found(format!("there is no object {name:?}"))
}

/// An event's line, with the object that it happened to.
fn row_of(entry: &HistoryEntry, stream: StreamRef) -> EventRow {
    let object = stream.kind.kind().map(|kind| Named {
        kind: kind.object_type(),
        id: stream.id,
    });
    EventRow::of(entry, object)
}

impl Reading<'_> {
    /// An object's events: the position of the one with a version, or of the last that had happened by the moment,
    /// which version that is, and how many there are.
    pub(crate) async fn version(
        &self,
        found: &Found,
        version: Option<u64>,
    ) -> Result<(Position, u64, u64), Problem> {
        let all = self.last_version(found).await?;
        if let Some(version) = version {
            let shown = version.clamp(1, all.max(1));
            let position = self.position_of(found, shown).await?;
            return Ok((position, shown, all));
        }
        let position = self.moment.position;
        Ok((position, self.version_at(found, position, all).await?, all))
    }

    async fn version_at(
        &self,
        found: &Found,
        position: Position,
        all: u64,
    ) -> Result<u64, Problem> {
        let version = self.stream_version_at(found.stream, position).await?;
        Ok(version.min(all))
    }

    async fn position_of(&self, found: &Found, version: u64) -> Result<Position, Problem> {
        let name = wire::stream_name(found.stream);
        let query = Query::stream(name, Version(version)).limit(1);
        let page = self.annals.log().read(query).await?;
        let record = page.records.first();
        Ok(record.map_or(self.moment.end, |record| record.position()))
    }
}
