//! The names in a task's events: see [`crate::AnyEvent::each_name`].

use super::{Event, GoalType};

/// Whether an event of this type may have names.
pub(crate) fn may_have_names(event: &Event) -> bool {
    matches!(event, Event::Created(_) | Event::Adopted(_))
}

/// Gives each name of an event to `each`: a goal that no list has.
pub(crate) fn each_name(event: &mut Event, each: &mut dyn FnMut(&mut String)) {
    let goal = match event {
        Event::Created(event) => event.goal.as_mut(),
        Event::Adopted(event) => event.object.as_mut().and_then(|task| task.goal.as_mut()),
        _ => None,
    };
    goal.and_then(GoalType::own_word).into_iter().for_each(each);
}
