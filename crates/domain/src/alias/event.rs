//! What happens to an alias.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::event::{Touched, events};
use crate::pieces::Slot;
use crate::redaction::Redacted;

events! {
    /// An event of an alias's stream.
    pub enum Event {
        Reserved = "alias.reserved" v 1,
        Redacted = "alias.redacted" v 1,
    }
}

/// The alias was given to an object, for ever.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reserved {
    /// The object's kind, by its number (8 to 18, 64 for a session, or 65 for an observation).
    pub kind: u8,
    /// The object.
    pub object: Uuid,
    /// The alias.
    pub alias: Slot,
}

/// The object itself stays as it is: an alias is not a field of it.
fn touches(_: &Event, _: Uuid) -> Touched {
    Touched::new()
}
