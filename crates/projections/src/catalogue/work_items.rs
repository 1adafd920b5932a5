//! Tickets of other systems, as sessions read them (docs/spec/contracts.md).
//!
//! A row says where a ticket was read; what was read is asked of the records
//! there, so that content that was removed is gone from here too. The row of a
//! ticket, all numbers big-endian:
//!
//! ```text
//! u64, u32    where it was read first: the position, the number in the event
//! u64, u32    where it was read last
//! u64         the position where its details were read last; 0 if never
//! ```

use std::collections::HashMap;

use annals_event_log::{Direction, Position, Query, Store};
use bytes::Bytes;
use derive_setters::Setters;
use serde::Serialize;

use super::CatalogueError;
use super::keys;
use super::overlay_view::OverlayView;
use crate::{Entry, EntryError, WorkItemView};

/// Characters of an id that an error shows.
const SHOWN: usize = 64;

/// Which tickets to list: the newest first, by when they were read first.
#[derive(Debug, Clone, PartialEq, Eq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct WorkItemsQuery {
    /// Only those behind the ticket with this id; a list's `next` goes on where
    /// it ended.
    #[setters(into)]
    pub after: Option<String>,
    /// At most so many; 0 counts as 1.
    pub limit: usize,
}

impl Default for WorkItemsQuery {
    /// The newest 20.
    fn default() -> WorkItemsQuery {
        WorkItemsQuery {
            after: None,
            limit: 20,
        }
    }
}

/// Part of the list of tickets.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WorkItems {
    /// The tickets, the one first that was read for the first time last. Those of one event are in its
    /// order, from the last to the first.
    pub rows: Vec<WorkItemView>,
    /// Where the list goes on, if there is more of it: behind this ticket.
    #[serde(skip)]
    pub next: Option<String>,
}

/// A ticket in an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) position: u64,
    /// Which of the event's tickets it is, from 0.
    pub(super) number: u32,
}

/// Where a ticket was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) first: Place,
    pub(super) last: Place,
    /// The position where its details were read last.
    pub(super) details: Option<u64>,
}

impl Place {
    fn from_row(row: &[u8]) -> Option<(Place, &[u8])> {
        let (position, row) = row.split_first_chunk::<8>()?;
        let (number, row) = row.split_first_chunk::<4>()?;
        let place = Place {
            position: u64::from_be_bytes(*position),
            number: u32::from_be_bytes(*number),
        };
        Some((place, row))
    }

    fn write(self, row: &mut Vec<u8>) {
        row.extend_from_slice(&self.position.to_be_bytes());
        row.extend_from_slice(&self.number.to_be_bytes());
    }
}

impl Read {
    pub(super) fn from_row(row: &[u8]) -> Option<Read> {
        let (first, row) = Place::from_row(row)?;
        let (last, row) = Place::from_row(row)?;
        let details = u64::from_be_bytes(row.try_into().ok()?);
        Some(Read {
            first,
            last,
            details: (details > 0).then_some(details),
        })
    }

    pub(super) fn to_row(self) -> Vec<u8> {
        let mut row = Vec::with_capacity(32);
        self.first.write(&mut row);
        self.last.write(&mut row);
        row.extend_from_slice(&self.details.unwrap_or(0).to_be_bytes());
        row
    }
}

/// Lists tickets.
pub(super) async fn work_items(
    view: &OverlayView<'_>,
    query: &WorkItemsQuery,
) -> Result<WorkItems, CatalogueError> {
    let limit = query.limit.max(1);
    let after = match &query.after {
        Some(id) => Some(place_of(view, id).await?),
        None => None,
    };
    let (prefix, back) = (keys::work_items(), Direction::Backward);
    let wanted = limit.saturating_add(1);
    let mut marks = view.scan(&prefix, after.as_deref(), back, wanted).await?;
    let more = marks.len() > limit;
    marks.truncate(limit);
    let keys: Vec<Bytes> = marks
        .iter()
        .map(|(_, mark)| keys::work_item(mark))
        .collect();
    let mut told = Told::of(view.log);
    let mut rows = Vec::with_capacity(keys.len());
    for (key, row) in keys.iter().zip(view.rows(&keys).await?) {
        let item = match row.and_then(|row| Read::from_row(&row)) {
            Some(read) => told.item(read).await?,
            None => None,
        };
        rows.push(item.ok_or_else(|| CatalogueError::malformed(key))?);
    }
    let last = rows.last().filter(|_| more);
    let next = last.map(|item| item.id.clone());
    Ok(WorkItems { rows, next })
}

/// The key of a ticket in the list.
async fn place_of(view: &OverlayView<'_>, id: &str) -> Result<Bytes, CatalogueError> {
    let key = keys::work_item(&keys::work_item_mark(id));
    let row = view.rows(std::slice::from_ref(&key)).await?;
    let Some(row) = row.into_iter().next().flatten() else {
        return Err(CatalogueError::NoWorkItem {
            id: id.chars().take(SHOWN).collect(),
        });
    };
    let read = Read::from_row(&row).ok_or_else(|| CatalogueError::malformed(&key))?;
    let Place { position, number } = read.first;
    Ok(keys::work_item_place(position, number))
}

/// What records tell of tickets. A backlog tells of many, and is read once.
struct Told<'a> {
    log: &'a dyn Store,
    read: HashMap<u64, Vec<WorkItemView>>,
}

impl Told<'_> {
    fn of(log: &dyn Store) -> Told<'_> {
        Told {
            log,
            read: HashMap::new(),
        }
    }

    /// A ticket as it was read last; what only its details say, from where
    /// those were read. `None` if the records do not tell of it.
    async fn item(&mut self, read: Read) -> Result<Option<WorkItemView>, CatalogueError> {
        let Some(mut item) = self.at(read.last).await? else {
            return Ok(None);
        };
        if let Some(position) = read.details {
            let place = Place {
                position,
                number: 0,
            };
            item.details = self.at(place).await?.and_then(|item| item.details);
        }
        Ok(Some(item))
    }

    async fn at(&mut self, place: Place) -> Result<Option<WorkItemView>, CatalogueError> {
        let Place { position, number } = place;
        if !self.read.contains_key(&position) {
            let items = read(self.log, Position(position)).await?;
            self.read.insert(position, items);
        }
        let items = self.read.get(&position);
        let number = usize::try_from(number).unwrap_or(usize::MAX);
        Ok(items.and_then(|items| items.get(number)).cloned())
    }
}

/// The tickets that the record at a position tells of.
async fn read(log: &dyn Store, position: Position) -> Result<Vec<WorkItemView>, CatalogueError> {
    let page = log.read(Query::all(position).limit(1)).await?;
    let found = page.records.first();
    let Some(record) = found.filter(|record| record.position() == position) else {
        return Ok(Vec::new());
    };
    let blobs = Entry::fetch(log, record).await?;
    let entry = Entry::new(record, &blobs).map_err(unreadable)?;
    Ok(WorkItemView::read(&entry))
}

fn unreadable(error: EntryError) -> CatalogueError {
    match error {
        EntryError::Decode { position, source } => CatalogueError::Decode { position, source },
        EntryError::MissingBlob { position, digest } => {
            CatalogueError::MissingBlob { position, digest }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_ticket_was_read_comes_back_from_its_row() {
        let place = |position, number| Place { position, number };
        for details in [None, Some(7)] {
            let read = Read {
                first: place(5, 2),
                last: place(u64::MAX, 0),
                details,
            };
            assert_eq!(Read::from_row(&read.to_row()), Some(read));
        }
        assert_eq!(Read::from_row(&[0; 31]), None);
        assert_eq!(Read::from_row(&[0; 33]), None);
    }
}
