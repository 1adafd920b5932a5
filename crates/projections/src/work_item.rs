//! Tickets of other systems, as sessions read them (docs/spec/contracts.md, WorkItemSummary
//! and WorkItemDetails).
//!
//! Only what was read is shown. A command that moved or assigned a ticket
//! does not change what was read of it before.

use annals_domain::session::{Event, ItemStatus, WorkItemDetails, WorkItemSummary};
use annals_domain::{AnyEvent, SessionId, Timestamp};
use annals_event_log::Position;
use serde::Serialize;

use crate::{Entry, Removable, Text};

/// A ticket as it was read last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkItemView {
    /// Its id in its own system.
    pub id: String,
    /// Its title.
    pub title: Text,
    /// The state that it was in, in its own system's words.
    pub status: String,
    /// Who works on it; null if it is not assigned.
    pub assignee: Removable<Option<String>>,
    /// The session that read it.
    pub session: SessionId,
    /// The position of the event that says so.
    #[serde(serialize_with = "crate::history::position")]
    pub position: Position,
    /// When it was read, by the reader's clock.
    pub as_of: Timestamp,
    /// What only a query of this very ticket tells; none if there was none. It
    /// may be older than the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<WorkItemDetailsView>,
}

/// What a query of one ticket tells beyond a backlog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkItemDetailsView {
    /// What is to be done.
    pub description: Text,
    /// Its tags.
    pub tags: Removable<Vec<String>>,
    /// The session that read it.
    pub session: SessionId,
    /// The position of the event that says so.
    #[serde(serialize_with = "crate::history::position")]
    pub position: Position,
    /// When it was read, by the reader's clock.
    pub as_of: Timestamp,
}

impl WorkItemView {
    /// The tickets that an entry tells of, in its order.
    pub(crate) fn read(entry: &Entry) -> Vec<WorkItemView> {
        match &entry.event {
            AnyEvent::Session(Event::BacklogQueried(event)) => {
                let rows = entry.shaped::<Vec<WorkItemSummary>>(event.rows);
                let items = event.items.iter().enumerate();
                let row = |index: usize| match &rows {
                    Removable::Present(rows) => rows.get(index).cloned(),
                    Removable::Removed => None,
                };
                items
                    .map(|(index, item)| WorkItemView::listed(item, row(index), entry))
                    .collect()
            }
            AnyEvent::Session(Event::WorkItemQueried(event)) => {
                let details = entry.shaped::<WorkItemDetails>(event.details);
                vec![WorkItemView::queried(&event.item, &details, entry)]
            }
            _ => Vec::new(),
        }
    }

    fn listed(item: &ItemStatus, row: Option<WorkItemSummary>, entry: &Entry) -> WorkItemView {
        let row = row.map_or(Removable::Removed, Removable::Present);
        WorkItemView {
            id: item.id.clone(),
            title: row.map(|row| row.title.clone()).into(),
            status: item.status.clone(),
            assignee: row.map(|row| row.assignee.clone()),
            session: SessionId(entry.stream.id),
            position: entry.position,
            as_of: entry.occurred_at,
            details: None,
        }
    }

    fn queried(
        item: &ItemStatus,
        details: &Removable<WorkItemDetails>,
        entry: &Entry,
    ) -> WorkItemView {
        let summary = details.map(|details| {
            WorkItemSummary::new(
                details.id.clone(),
                details.title.clone(),
                details.status.clone(),
            )
            .with_assignee(details.assignee.clone())
        });
        let of_details = WorkItemDetailsView {
            description: details.map(|details| details.description.clone()).into(),
            tags: details.map(|details| details.tags.clone()),
            session: SessionId(entry.stream.id),
            position: entry.position,
            as_of: entry.occurred_at,
        };
        WorkItemView {
            details: Some(of_details),
            ..WorkItemView::listed(item, summary.present().cloned(), entry)
        }
    }
}
