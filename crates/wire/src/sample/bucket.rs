//! Examples of the events of a bucket that sessions share.

use annals_domain::bucket::{self, Taken};
use annals_domain::session::CommandKind;
use annals_domain::{AnyEvent, CommandId, Emitted, SessionId};

use super::values::{emitted, id};

pub(super) fn samples() -> Vec<Emitted> {
    vec![emitted(|pieces| {
        let event = Taken {
            session: SessionId(id(20)),
            command: CommandId(id(21)),
            kind: CommandKind::Push,
            profile: pieces.text("équipe-noire"),
            capacity: 300,
            per_minute: 70_000,
        };
        AnyEvent::Bucket(bucket::Event::from(event))
    })]
}
