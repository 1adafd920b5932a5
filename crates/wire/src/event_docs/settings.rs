//! The events of the stream of a log's settings.

use super::common::{REDACTED, REDACTED_MEANING};
use super::{EventDoc, event, structure};

pub(super) const EVENTS: &[EventDoc] = &[
    event(
        "settings.set",
        "A setting was set. It holds for decisions from now on.",
        &[
            structure("setting", "word", "which one"),
            structure(
                "value",
                "u32",
                "its value: of a threshold 0 for none, 1 low, 2 med, 3 high; of a switch 0 or 1; of a \
             count the count",
            ),
        ],
    ),
    event("settings.redacted", REDACTED_MEANING, REDACTED),
];
