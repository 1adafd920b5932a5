//! The view of a context snapshot (git-internal).

use annals_domain::snapshot::{Adopted, ContextItemKind, Event, ItemAdded, SelectionStrategy};
use annals_domain::{AnyEvent, GitOid};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::views::Project;
use crate::{Entry, HeaderView, PieceValue, Text};

/// One item of a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextItem {
    /// The item's number; not part of the JSON, where its place says it.
    #[serde(skip)]
    pub index: u32,
    /// What it is.
    pub kind: ContextItemKind,
    /// The locator for people: a path, a URL, a command line, a label.
    pub path: Text,
    /// The beginning of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<Text>,
    /// The git blob of the full content; none, too, where the log had the content and it was removed.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "blob_bytes")]
    pub blob: Option<GitOid>,
    /// The full content, where this log holds it; not part of the JSON.
    #[serde(skip)]
    pub content: Option<PieceValue>,
}

/// git-internal writes a blob's id as its algorithm and a list of numbers.
fn blob_bytes<S: Serializer>(blob: &Option<GitOid>, serializer: S) -> Result<S::Ok, S::Error> {
    let (algorithm, bytes): (_, &[u8]) = match blob {
        None => return serializer.serialize_none(),
        Some(GitOid::Sha1(bytes)) => ("Sha1", bytes),
        Some(GitOid::Sha256(bytes)) => ("Sha256", bytes),
    };
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry(algorithm, bytes)?;
    map.end()
}

impl ContextItem {
    fn read(event: &ItemAdded, entry: &Entry) -> ContextItem {
        ContextItem {
            index: event.index,
            kind: event.kind.clone(),
            path: entry.text(event.path),
            preview: entry.optional_text(event.preview),
            blob: event.blob.or_else(|| {
                let text = entry.optional_text(event.content_blob)?;
                text.as_str()?.parse().ok()
            }),
            content: event.content.map(|slot| entry.piece(slot)),
        }
    }
}

/// Static capture of what an agent observed when a run began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ContextSnapshotView {
    /// The common header.
    #[serde(flatten)]
    pub header: HeaderView,
    /// How the items were selected.
    pub selection_strategy: SelectionStrategy,
    /// The items, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ContextItem>,
    /// A summary of all items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Text>,
    /// Whether it is complete and never changes again; not part of the JSON.
    #[serde(skip)]
    pub finalized: bool,
}

impl ContextSnapshotView {
    /// The item with this number, from 0.
    pub fn item(&self, index: u32) -> Option<&ContextItem> {
        let place = self
            .items
            .binary_search_by_key(&index, |item| item.index)
            .ok()?;
        self.items.get(place)
    }
}

impl ContextSnapshotView {
    fn adopt(header: HeaderView, event: &Adopted, entry: &Entry) -> Option<ContextSnapshotView> {
        let object = event.object.as_ref()?;
        let mut view = ContextSnapshotView {
            header,
            selection_strategy: object.strategy,
            items: Vec::new(),
            summary: entry.optional_text(object.summary),
            finalized: false,
        };
        view.adopt_items(event, entry);
        Some(view)
    }

    fn adopt_items(&mut self, event: &Adopted, entry: &Entry) {
        let next = self.items.last().map_or(0, |last| last.index + 1);
        for (index, item) in (next..).zip(&event.items) {
            self.items.push(ContextItem {
                index,
                kind: item.kind.clone(),
                path: entry.text(item.path),
                preview: entry.optional_text(item.preview),
                blob: item.blob,
                content: None,
            });
        }
    }
}

impl Project for ContextSnapshotView {
    fn create(header: HeaderView, entry: &Entry) -> Option<ContextSnapshotView> {
        let event = match &entry.event {
            AnyEvent::Snapshot(Event::Opened(event)) => event,
            AnyEvent::Snapshot(Event::Adopted(event)) => {
                return ContextSnapshotView::adopt(header, event, entry);
            }
            _ => return None,
        };
        Some(ContextSnapshotView {
            header,
            selection_strategy: event.strategy,
            items: Vec::new(),
            summary: entry.optional_text(event.summary),
            finalized: false,
        })
    }

    fn evolve(&mut self, entry: &Entry) {
        let AnyEvent::Snapshot(event) = &entry.event else {
            return;
        };
        match event {
            Event::Adopted(event) => self.adopt_items(event, entry),
            Event::ItemAdded(event) => {
                // Items are numbered as they come; one that is there already
                // or came too late is not a new item.
                if self
                    .items
                    .last()
                    .is_none_or(|last| last.index < event.index)
                {
                    self.items.push(ContextItem::read(event, entry));
                }
            }
            Event::BlobAttached(event) => {
                let found = self
                    .items
                    .binary_search_by_key(&event.index, |item| item.index);
                if let Some(item) = found.ok().and_then(|place| self.items.get_mut(place)) {
                    item.blob = Some(event.blob);
                }
            }
            Event::Finalized(event) => {
                self.finalized = true;
                if let Some(summary) = event.summary {
                    self.summary = Some(entry.text(summary));
                }
            }
            Event::Opened(_) | Event::MetadataSet(_) | Event::Redacted(_) | Event::Sealed(_) => {}
        }
    }
}
