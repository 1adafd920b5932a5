//! What can be asked of a context snapshot.

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ContextItemKind, SelectionStrategy};
use crate::{GitOid, Payload, SnapshotId};

/// Begins a snapshot of the context that a run starts with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct OpenSnapshot {
    /// The new snapshot's id; left out, it gets one.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<SnapshotId>,
    /// How the items are selected.
    #[setters(skip)]
    pub selection_strategy: SelectionStrategy,
    /// The first items, numbered from 0.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<NewItem>,
    /// A summary of all items.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// One input that the agent sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NewItem {
    /// What it is.
    #[setters(skip)]
    pub kind: ContextItemKind,
    /// The locator for people: a path, a URL, a command line, a label; not
    /// blank.
    #[new(into)]
    #[setters(skip)]
    pub path: String,
    /// The beginning of the content, for quick display.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The git blob of the full content. Left out, it is computed from the `content` where there
    /// is any (SHA-1); otherwise it may follow (`attach_blob`). Where both are given they must
    /// agree.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<GitOid>,
    /// The full content, to be kept in this log.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Payload>,
}

/// Adds an item to an open snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AddItem {
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// The item; it gets the next number.
    pub item: NewItem,
}

/// Names the git blob that holds an item's full content; the last one wins. An item whose content
/// the log has takes no other blob than that of the content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AttachBlob {
    /// The snapshot.
    pub snapshot: SnapshotId,
    /// The item's number, from 0.
    pub item: u32,
    /// The blob.
    pub blob: GitOid,
}

/// Closes a snapshot whose items all have their blobs; it never changes again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FinalizeSnapshot {
    /// The snapshot.
    #[setters(skip)]
    pub snapshot: SnapshotId,
    /// A summary of all items; left out, the earlier one stays.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}
