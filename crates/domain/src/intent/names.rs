//! The names in an intent's events: see [`crate::AnyEvent::each_name`].

use super::{Event, WorkType};

/// Whether an event of this type may have names.
pub(crate) fn may_have_names(event: &Event) -> bool {
    matches!(event, Event::Classified(_))
}

/// Gives each name of an event to `each`: a type that is not listed.
pub(crate) fn each_name(event: &mut Event, each: &mut dyn FnMut(&mut String)) {
    if let Event::Classified(event) = event {
        let own = event.work_type.as_mut().and_then(WorkType::own_word);
        own.into_iter().for_each(each);
    }
}
