//! The names in events of the settings: see [`crate::AnyEvent::each_name`].

use super::Event;

/// Returns `true` if events of this type may have names.
pub(crate) fn may_have_names(event: &Event) -> bool {
    matches!(event, Event::BudgetSet(_) | Event::BudgetRemoved(_))
}

/// Gives each name of an event to `each`.
pub(crate) fn each_name(event: &mut Event, each: &mut dyn FnMut(&mut String)) {
    match event {
        Event::BudgetSet(event) => event.project.iter_mut().for_each(each),
        Event::BudgetRemoved(event) => event.project.iter_mut().for_each(each),
        Event::Set(_) | Event::Redacted(_) => {}
    }
}
