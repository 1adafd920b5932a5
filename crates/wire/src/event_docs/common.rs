//! Fields that several events have.

use super::{FieldDoc, content, group, groups, structure};

/// The meaning of the mark of what was inferred.
pub(super) const INFERRED: &str = "whether it was not stated, but inferred from something else";

/// The meaning of an object's kind.
pub(super) const KIND: &str =
    "the object's kind, by its number (8 to 18, 64 for a session, or 65 for an observation)";

/// Visibility, tags or external ids of an object.
pub(super) const METADATA_SET: &[FieldDoc] = &[
    structure("kind", "u8", KIND),
    structure("object", "uuid", "the object; a run's stream holds several"),
    structure(
        "visibility",
        "word?",
        "who may see it; absent leaves it as it was",
    ),
    content(
        "tags",
        "list of (text, text)?",
        "search tags, keys and values in the order given; they replace all earlier ones",
    ),
    content(
        "external_ids",
        "list of (text, text)?",
        "ids in other systems, names and values in the order given; they replace all earlier ones",
    ),
];

/// The common header of an object that was taken over.
pub(super) const ADOPTED: &[FieldDoc] = &[
    structure("dialect", "word", "the format that it came in"),
    structure(
        "header_version",
        "u32",
        "the version of its header's format",
    ),
    structure("schema_version", "u32", "the version of its type's format"),
    structure("created_at", "time", "when it was created"),
    structure("updated_at", "time", "when it was changed last"),
    group("created_by", "actor", ACTOR, "who created it"),
    structure("visibility", "word", "who may see it"),
    content(
        "tags",
        "list of (text, text)",
        "search tags, keys and values in the order given",
    ),
    content(
        "external_ids",
        "list of (text, text)",
        "ids in other systems, names and values in the order given",
    ),
    structure("checksum", "SHA-256?", "its seal"),
    structure(
        "digest",
        "SHA-256",
        "the hash of its JSON as it came, in the dialect's canonical form",
    ),
    content(
        "violations",
        "list of text",
        "what our rules say against it, a sentence each",
    ),
];

/// What the header of an adopted object is.
pub(super) const ADOPTED_HEADER: FieldDoc =
    group("header", "adopted header", ADOPTED, "its common header");

/// An object's seal.
pub(super) const SEALED: &[FieldDoc] = &[
    structure("kind", "u8", "the object's kind, by its number (8 to 18)"),
    structure("object", "uuid", "the object; a run's stream holds several"),
    content(
        "checksum",
        "text?",
        "the canonical hash of the object as it was at this event, 64 hex digits; a redaction of \
         what it was made of removes it, too",
    ),
    structure(
        "old_checksum",
        "SHA-256?",
        "the same, in a seal that was stored as version 1",
    ),
];

/// What every `metadata_set` means.
pub(super) const METADATA_SET_MEANING: &str =
    "Visibility, tags or external ids of an object of this stream were set.";

/// What every `sealed` means.
pub(super) const SEALED_MEANING: &str =
    "An object of this stream was sealed. Any later event on it breaks the seal.";

/// What every `redacted` means.
pub(super) const REDACTED_MEANING: &str = "Content of events in this stream was removed for good, by the event's actor. It changes no \
     state; the objects show what is left.";

/// What was removed from a stream, and why.
pub(super) const REDACTED: &[FieldDoc] = &[
    groups(
        "removed",
        "list of events",
        &[
            structure("position", "u64", "an event's position in the log"),
            structure(
                "pieces",
                "list of u16",
                "the pieces that it lost, by its numbers for them",
            ),
        ],
        "the events that lost content",
    ),
    structure(
        "objects",
        "list of (u8, uuid)",
        "the objects that these events are about, each with its kind's number",
    ),
    content("reason", "text", "why"),
];

/// Who acted, inside an event.
pub(super) const ACTOR: &[FieldDoc] = &[
    structure("kind", "word", "what the actor is"),
    structure("id", "text", "the actor's id within its kind"),
    content("display_name", "text?", "a name to show to people"),
    content("auth_context", "text?", "how the actor was authenticated"),
];

/// Where external content is.
pub(super) const ARTIFACT: &[FieldDoc] = &[
    content("store", "text", "the storage backend; `annals` is this log"),
    content(
        "key",
        "text",
        "the key in that store; of content in this log, the number of the content itself, whose SHA-256 the key is (older events: that SHA-256)",
    ),
    content("content_type", "text?", "the MIME type"),
    structure(
        "size_bytes",
        "u64?",
        "the size in bytes; absent for content in this log, which has its own size (except in older events)",
    ),
    structure(
        "hash",
        "SHA-256?",
        "the hash of the content; absent for content in this log, which has its own hash (except in older events)",
    ),
    structure("expires_at", "time?", "when the store may forget it"),
    content(
        "content",
        "bytes?",
        "the content itself, where this log holds it; an attachment",
    ),
];

/// A machine.
pub(super) const ENVIRONMENT: &[FieldDoc] = &[
    content("os", "text", "the operating system"),
    content("arch", "text", "the processor architecture"),
    content("cwd", "text", "the working directory"),
    content(
        "extra",
        "list of (text, JSON)",
        "more, by name, in the order given",
    ),
];
