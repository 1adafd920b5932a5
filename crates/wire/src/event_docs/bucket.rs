//! The events of the stream of a bucket that sessions share.

use super::common::{REDACTED, REDACTED_MEANING};
use super::{EventDoc, content, event, structure};

pub(super) const EVENTS: &[EventDoc] = &[
    event(
        "bucket.taken",
        "A command took a token, when the event occurred.",
        &[
            structure(
                "session",
                "uuid",
                "the session that the command was given in",
            ),
            structure("command", "uuid", "the command"),
            structure("kind", "word", "what the command is"),
            content("profile", "text", "the name of the policy profile"),
            structure("capacity", "u32", "how many tokens the bucket holds"),
            structure("per_minute", "u32", "how many it gets a minute"),
        ],
    ),
    event("bucket.redacted", REDACTED_MEANING, REDACTED),
];
