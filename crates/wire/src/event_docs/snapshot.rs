//! The events of a context snapshot's stream.

use super::common::{
    ADOPTED_HEADER, METADATA_SET, METADATA_SET_MEANING, REDACTED, REDACTED_MEANING, SEALED,
    SEALED_MEANING,
};
use super::{EventDoc, content, event, group, groups, structure};

pub(super) const EVENTS: &[EventDoc] = &[
    event(
        "snapshot.opened",
        "The collection of items began; the snapshot is open.",
        &[
            structure("strategy", "word", "how the items are selected"),
            content("summary", "text?", "a summary of all items"),
        ],
    ),
    event(
        "snapshot.item_added",
        "An item was added.",
        &[
            structure("index", "u32", "the item's number, from 0"),
            structure("kind", "word", "what it is"),
            content(
                "path",
                "text",
                "the locator for people: a path, a URL, a command line, a label",
            ),
            content(
                "preview",
                "text?",
                "the beginning of the content, for quick display",
            ),
            structure(
                "blob",
                "git id?",
                "the git blob of the full content at the time of capture, where the log does not hold it",
            ),
            content(
                "content",
                "bytes?",
                "the full content itself, where this log holds it; an attachment",
            ),
            content(
                "content_blob",
                "git id?",
                "the git blob of that content; removed with it",
            ),
        ],
    ),
    event(
        "snapshot.blob_attached",
        "An item's full content was stored in git; the last blob wins.",
        &[
            structure("index", "u32", "the item's number"),
            structure("blob", "git id", "the git blob"),
        ],
    ),
    event(
        "snapshot.finalized",
        "Every item has its blob; the snapshot never changes again.",
        &[content(
            "summary",
            "text?",
            "a summary of all items, if it replaces the earlier one",
        )],
    ),
    event("snapshot.metadata_set", METADATA_SET_MEANING, METADATA_SET),
    event("snapshot.sealed", SEALED_MEANING, SEALED),
    event(
        "snapshot.adopted",
        "The snapshot was taken over from another system, as it is; or the items of the one taken \
         over just before go on.",
        &[
            group(
                "object",
                "snapshot?",
                &[
                    ADOPTED_HEADER,
                    structure("strategy", "word", "how the items were selected"),
                    content("summary", "text?", "a summary of all items"),
                ],
                "the snapshot; absent where its items go on",
            ),
            groups(
                "items",
                "list of items",
                &[
                    structure("kind", "word", "what it is"),
                    content("path", "text", "the locator for people"),
                    content("preview", "text?", "the beginning of the content"),
                    structure("blob", "git id?", "the git blob of the full content"),
                ],
                "items, in order",
            ),
        ],
    ),
    event("snapshot.redacted", REDACTED_MEANING, REDACTED),
];
