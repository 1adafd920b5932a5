//! The events of an alias's stream.

use super::common::{KIND, REDACTED, REDACTED_MEANING};
use super::{EventDoc, content, event, structure};

pub(super) const EVENTS: &[EventDoc] = &[
    event(
        "alias.reserved",
        "The alias was given to an object, for ever.",
        &[
            structure("kind", "u8", KIND),
            structure("object", "uuid", "the object"),
            content("alias", "text", "the alias"),
        ],
    ),
    event("alias.redacted", REDACTED_MEANING, REDACTED),
];
