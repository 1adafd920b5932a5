//! The names in a snapshot's events: see [`crate::AnyEvent::each_name`].

use super::{ContextItemKind, Event};

/// Whether an event of this type may have names.
pub(crate) fn may_have_names(event: &Event) -> bool {
    matches!(event, Event::ItemAdded(_) | Event::Adopted(_))
}

/// Gives each name of an event to `each`: kinds of items that no list has.
pub(crate) fn each_name(event: &mut Event, each: &mut dyn FnMut(&mut String)) {
    match event {
        Event::ItemAdded(event) => event.kind.own_word().into_iter().for_each(each),
        Event::Adopted(event) => {
            let kinds = event.items.iter_mut().map(|item| &mut item.kind);
            kinds.filter_map(ContextItemKind::own_word).for_each(each);
        }
        _ => {}
    }
}
