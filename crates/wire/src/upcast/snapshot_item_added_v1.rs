//! `snapshot.item_added`, version 1 to 2: the content of an item was never in the log.

use annals_domain::snapshot::ContextItemKind;
use annals_domain::{GitOid, Slot};
use serde::Deserialize;

use super::Step;
use super::snapshot_item_added_v2::ItemAddedV2;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct ItemAddedV1 {
    index: u32,
    kind: ContextItemKind,
    path: Slot,
    preview: Option<Slot>,
    blob: Option<GitOid>,
}

pub(super) const STEP: Step<ItemAddedV1, ItemAddedV2> =
    Step::new("snapshot.item_added", 1, |old| ItemAddedV2 {
        index: old.index,
        kind: old.kind,
        path: old.path,
        preview: old.preview,
        blob: old.blob,
        content: None,
    });
