//! An agent's command has one verdict however often it is given: it is known by its id in its session.

use uuid::Uuid;

use super::SubmitCommand;
use crate::{CommandId, OwnKey, SessionId};

impl SubmitCommand {
    /// The key of the batch that it is; none, before it has an id.
    pub(crate) fn own_key(&self) -> Option<OwnKey> {
        let id = self.id?;
        let key = key_of(self.session, id);
        Some(OwnKey { id: id.0, key })
    }

    /// The same with an id: its own, or one that follows from the key that it came with, so that a repeat
    /// gives the same command, or a new one.
    pub(crate) fn named(self, key: Option<Uuid>, new_id: impl FnOnce() -> Uuid) -> SubmitCommand {
        let from_key = |key: Uuid| Uuid::new_v5(&self.session.0, key.as_bytes());
        let id = self
            .id
            .unwrap_or_else(|| CommandId(key.map_or_else(new_id, from_key)));
        SubmitCommand {
            id: Some(id),
            ..self
        }
    }
}

fn key_of(session: SessionId, command: CommandId) -> Uuid {
    let namespace = Uuid::new_v5(&session.0, b"command.annals");
    Uuid::new_v5(&namespace, command.0.as_bytes())
}
