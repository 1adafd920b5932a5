//! What happens to a bucket that sessions share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::event::{Touched, events};
use crate::pieces::Slot;
use crate::redaction::Redacted;
use crate::session::CommandKind;
use crate::{CommandId, SessionId};

events! {
    /// An event of a bucket's stream.
    pub enum Event {
        Taken = "bucket.taken" v 1,
        Redacted = "bucket.redacted" v 1,
    }
}

/// A command took a token, when the event occurred.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Taken {
    /// The session that the command was given in.
    pub session: SessionId,
    /// The command.
    pub command: CommandId,
    /// What the command is. The bucket is that of a cap on its kind, or else that of an agent's calls.
    pub kind: CommandKind,
    /// The name of the policy profile.
    pub profile: Slot,
    /// How many tokens the bucket holds.
    pub capacity: u32,
    /// How many it gets a minute.
    pub per_minute: u32,
}

/// A bucket is not an object.
fn touches(_: &Event, _: Uuid) -> Touched {
    Touched::new()
}
