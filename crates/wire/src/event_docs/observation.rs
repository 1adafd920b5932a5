//! The events of observations.

use super::common::{KIND, METADATA_SET, METADATA_SET_MEANING, REDACTED, REDACTED_MEANING};
use super::{EventDoc, content, event, groups, structure};

pub(super) const EVENTS: &[EventDoc] = &[
    event(
        "observation.recorded",
        "Something was noticed; it is open.",
        &[
            structure("kind", "word", "how"),
            content("text", "text", "what"),
            content(
                "evidence",
                "list of text",
                "what it rests on: paths, quotes, URLs",
            ),
            groups(
                "about",
                "list",
                &[
                    structure("kind", "u8", KIND),
                    structure("object", "uuid", "the object"),
                ],
                "the objects of this log that it is about",
            ),
        ],
    ),
    event(
        "observation.processed",
        "It is settled: it led to an intent, which names it, or there is nothing to do about it.",
        &[
            structure(
                "intent",
                "uuid?",
                "the intent that it led to; absent where there was nothing to do",
            ),
            content("reason", "text?", "why"),
        ],
    ),
    event(
        "observation.metadata_set",
        METADATA_SET_MEANING,
        METADATA_SET,
    ),
    event("observation.redacted", REDACTED_MEANING, REDACTED),
];
