//! What happens to a context snapshot.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smallvec::smallvec;
use uuid::Uuid;

use crate::codes::{coded_enum, open_enum};
use crate::event::{Touched, events};
use crate::metadata::{MetadataSet, Sealed, subject};
use crate::pieces::{BytesPiece, Slot};
use crate::redaction::Redacted;
use crate::{AdoptedHeader, GitOid, Kind};

coded_enum! {
    /// How the items were selected (docs/spec/git-internal.md, SelectionStrategy).
    pub enum SelectionStrategy {
        /// By the user.
        Explicit = 1 => "explicit",
        /// Automatically.
        Heuristic = 2 => "heuristic",
    }
}

open_enum! {
    /// What an item is (docs/spec/git-internal.md, ContextItemKind).
    pub enum ContextItemKind as tagged {
        /// A file of the repository.
        File = 1 => "file",
        /// A fetched page.
        Url = 2 => "url",
        /// A piece of text.
        Snippet = 3 => "snippet",
        /// A command's output.
        Command = 4 => "command",
        /// An image.
        Image = 5 => "image",
    }
}

events! {
    /// An event of a snapshot's stream.
    pub enum Event {
        Opened = "snapshot.opened" v 1,
        ItemAdded = "snapshot.item_added" v 3,
        BlobAttached = "snapshot.blob_attached" v 1,
        Finalized = "snapshot.finalized" v 1,
        MetadataSet = "snapshot.metadata_set" v 1,
        Sealed = "snapshot.sealed" v 2,
        Adopted = "snapshot.adopted" v 1,
        Redacted = "snapshot.redacted" v 1,
    }
}

/// The collection of items began; the snapshot is open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Opened {
    /// How the items are selected.
    pub strategy: SelectionStrategy,
    /// A summary of all items.
    pub summary: Option<Slot>,
}

/// An item was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ItemAdded {
    /// The item's number, from 0.
    pub index: u32,
    /// What it is.
    pub kind: ContextItemKind,
    /// The locator for people: a path, a URL, a command line, a label.
    pub path: Slot,
    /// The beginning of the content, for quick display.
    pub preview: Option<Slot>,
    /// The git blob of the full content at the time of capture, where the log does not hold it
    /// (versions 1 and 2: in any case).
    pub blob: Option<GitOid>,
    /// The full content itself, where this log holds it; an attachment.
    #[schemars(with = "Option<BytesPiece>")]
    pub content: Option<Slot>,
    /// The git blob of that content, in hex digits; it follows from the content and is removed with
    /// it.
    pub content_blob: Option<Slot>,
}

/// An item's full content was stored in git; the last blob wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BlobAttached {
    /// The item's number.
    pub index: u32,
    /// The git blob.
    pub blob: GitOid,
}

/// Every item has its blob; the snapshot never changes again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finalized {
    /// A summary of all items, if it replaces the earlier one.
    pub summary: Option<Slot>,
}

/// The snapshot was taken over from another system, as it is; or the items of the one taken over
/// just before go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Adopted {
    /// The snapshot; absent where its items go on.
    pub object: Option<AdoptedSnapshot>,
    /// Items, in order.
    pub items: Vec<AdoptedItem>,
}

/// What an adopted snapshot has once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "snapshot")]
pub struct AdoptedSnapshot {
    /// Its common header.
    pub header: Box<AdoptedHeader>,
    /// How the items were selected.
    pub strategy: SelectionStrategy,
    /// A summary of all items.
    pub summary: Option<Slot>,
}

/// An item of an adopted snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "item")]
pub struct AdoptedItem {
    /// What it is.
    pub kind: ContextItemKind,
    /// The locator for people.
    pub path: Slot,
    /// The beginning of the content.
    pub preview: Option<Slot>,
    /// The git blob of the full content.
    pub blob: Option<GitOid>,
}

fn touches(event: &Event, id: Uuid) -> Touched {
    match event {
        Event::MetadataSet(event) => subject(event.kind, event.object),
        Event::Redacted(event) => event.touched().into(),
        Event::Sealed(event) => subject(event.kind, event.object),
        Event::Opened(_)
        | Event::ItemAdded(_)
        | Event::BlobAttached(_)
        | Event::Finalized(_)
        | Event::Adopted(_) => {
            smallvec![(Kind::ContextSnapshot, id)]
        }
    }
}
