//! The auth context of an actor: how an imported event names who imported it, and what stands for one that was removed.

/// The text that readers have in place of one that was removed.
pub const REMOVED: &str = "[removed]";

/// Stands before the importer in the `auth_context` of an imported event's actor.
pub(crate) const IMPORTED_BY: &str = "imported by ";

/// Begins the name of an importer that is a person.
pub(crate) const PERSON: &str = "human:";

/// Returns the importer that an event's auth context names, as `KIND:ID`.
pub(crate) fn importer_in(context: &str) -> Option<&str> {
    let named = context.strip_prefix(IMPORTED_BY)?;
    Some(named.split("; ").next().unwrap_or(named))
}

/// Returns `true` if an event's auth context says that a person imported the event.
pub(crate) fn names_a_person(context: &str) -> bool {
    importer_in(context).is_some_and(|importer| importer.starts_with(PERSON))
}
