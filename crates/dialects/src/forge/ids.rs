//! The ids of what a folder names. They follow from the names, so that a folder
//! that is imported again is known again, and one that is mended fills the gaps.

use annals::domain::{IntentId, TaskId};
use uuid::Uuid;

fn namespace() -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"forge.annals")
}

/// A name that is an id, as an export writes what has no other name.
pub(super) fn spelled(name: &str) -> Option<Uuid> {
    let id = Uuid::parse_str(name).ok()?;
    (id.to_string() == name).then_some(id)
}

/// The id of an intent of this name that has none yet.
pub(super) fn intent(name: &str) -> IntentId {
    let made = || Uuid::new_v5(&namespace(), format!("intent {name}").as_bytes());
    IntentId(spelled(name).unwrap_or_else(made))
}

/// The id that follows from the name of a task within its intent.
pub(super) fn task(intent: IntentId, name: &str) -> TaskId {
    TaskId(Uuid::new_v5(&intent.0, format!("task {name}").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_follows_from_a_name_and_one_that_is_an_id_stays() {
        assert_eq!(intent("a"), intent("a"));
        assert_ne!(intent("a"), intent("b"));
        let id = "0192f0c1-2b3c-7d4e-8f50-617283940a1b";
        assert_eq!(intent(id).to_string(), id);
        assert_ne!(task(intent("a"), id).to_string(), id);
        // Upper case is another name.
        assert_ne!(intent(&id.to_uppercase()).to_string(), id);
        assert_ne!(task(intent("a"), "t"), task(intent("b"), "t"));
    }
}
