//! Examples of the events of an alias.

use annals_domain::alias::{self, Reserved};
use annals_domain::{AnyEvent, Emitted, Kind};

use super::values::{emitted, id};

pub(super) fn samples() -> Vec<Emitted> {
    vec![emitted(|pieces| {
        let event = Reserved {
            kind: Kind::Intent.number(),
            object: id(2),
            alias: pieces.text("json-ausgabe-für-alle"),
        };
        AnyEvent::Alias(alias::Event::from(event))
    })]
}
