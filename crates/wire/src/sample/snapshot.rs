//! Examples of the events of a context snapshot.

use annals_domain::snapshot::{
    Adopted, AdoptedItem, AdoptedSnapshot, BlobAttached, ContextItemKind, Event, Finalized,
    ItemAdded, Opened, SelectionStrategy,
};
use annals_domain::{AnyEvent, Emitted, Kind, Pieces, StreamKind};

use super::values::{adopted, emitted, metadata_set, sealed, sha1, sha256};

pub(super) fn samples() -> Vec<Emitted> {
    vec![
        sample(|pieces| Opened {
            strategy: SelectionStrategy::Heuristic,
            summary: Some(pieces.text("files near the change — дерево исходников")),
        }),
        sample(|pieces| ItemAdded {
            index: 300,
            kind: ContextItemKind::File,
            path: pieces.text("src/größe.rs"),
            preview: Some(pieces.text("//! Sizes.\n")),
            blob: Some(sha1()),
            content: Some(pieces.attachment(b"//! Sizes.\nfn main() {}\n".to_vec())),
            content_blob: Some(pieces.text("5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a")),
        }),
        sample(|_| BlobAttached {
            index: 1,
            blob: sha256(),
        }),
        sample(|pieces| Finalized {
            summary: Some(pieces.text("3 files, 1 page ✓")),
        }),
        sample(|pieces| metadata_set(StreamKind::Snapshot, pieces)),
        sample(|pieces| sealed(Kind::ContextSnapshot, pieces)),
        sample(|pieces| Adopted {
            object: Some(AdoptedSnapshot {
                header: adopted(pieces),
                strategy: SelectionStrategy::Explicit,
                summary: Some(pieces.text("исходники")),
            }),
            items: vec![AdoptedItem {
                kind: ContextItemKind::Url,
                path: pieces.text("https://example.org/größe"),
                preview: Some(pieces.text("Größen")),
                blob: Some(sha256()),
            }],
        }),
    ]
}

fn sample<E: Into<Event>>(event: impl FnOnce(&mut Pieces) -> E) -> Emitted {
    emitted(|pieces| AnyEvent::Snapshot(event(pieces).into()))
}
