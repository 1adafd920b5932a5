//! `snapshot.item_added`, version 2 to 3: the git blob of content that the log holds was in the
//! structure. It stays there, since a stored event is never rewritten.

use annals_domain::snapshot::{ContextItemKind, ItemAdded};
use annals_domain::{GitOid, Slot};
use serde::{Deserialize, Serialize};

use super::Step;

/// The shape of version 2.
#[derive(Serialize, Deserialize)]
pub(super) struct ItemAddedV2 {
    pub(super) index: u32,
    pub(super) kind: ContextItemKind,
    pub(super) path: Slot,
    pub(super) preview: Option<Slot>,
    pub(super) blob: Option<GitOid>,
    pub(super) content: Option<Slot>,
}

pub(super) const STEP: Step<ItemAddedV2, ItemAdded> =
    Step::new("snapshot.item_added", 2, |old| ItemAdded {
        index: old.index,
        kind: old.kind,
        path: old.path,
        preview: old.preview,
        blob: old.blob,
        content: old.content,
        content_blob: None,
    });
