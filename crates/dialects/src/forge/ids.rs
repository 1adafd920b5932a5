//! The ids of what a folder names. They follow from the names, so that a folder
//! that is imported again is known again, and one that is mended fills the gaps; and from
//! a secret of the log, so that a name that was removed cannot be found out by trying names.

use annals::domain::{IntegrityHash, IntentId, TaskId};
use annals::{Annals, LoadError};
use annals_event_log::IdSecret;
use uuid::Uuid;

fn namespace() -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_DNS, b"forge.annals")
}

/// A name that is an id, as an export writes what has no other name.
pub(super) fn spelled(name: &str) -> Option<Uuid> {
    let id = Uuid::parse_str(name).ok()?;
    (id.to_string() == name).then_some(id)
}

/// How a log makes ids of names.
#[derive(Debug, Clone)]
pub(super) struct Ids(Option<IdSecret>);

impl Ids {
    /// Those of a log.
    pub(super) async fn of(annals: &Annals) -> Result<Ids, LoadError> {
        Ok(Ids(annals.log().id_secret().await?))
    }

    fn id(&self, within: Uuid, text: &str) -> Uuid {
        match &self.0 {
            Some(secret) => secret.id("forge", &[within.as_bytes(), text.as_bytes()].concat()),
            None => Uuid::new_v5(&within, text.as_bytes()),
        }
    }

    /// The id of an intent of this name that has none yet.
    pub(super) fn intent(&self, name: &str) -> IntentId {
        let made = || self.id(namespace(), &format!("intent {name}"));
        IntentId(spelled(name).unwrap_or_else(made))
    }

    /// The ids that an intent of this name may have in the log: logs of older versions have ids that
    /// follow from the name alone.
    pub(super) fn intents(&self, name: &str) -> [IntentId; 2] {
        [self.intent(name), Ids(None).intent(name)]
    }

    /// The id that follows from the name of a task within its intent.
    pub(super) fn task(&self, intent: IntentId, name: &str) -> TaskId {
        TaskId(self.id(intent.0, &format!("task {name}")))
    }

    /// The key of the batch that proposes what a draft says.
    pub(super) fn draft(&self, intent: IntentId, said: &IntegrityHash) -> Uuid {
        self.id(intent.0, &format!("draft {said}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_id_follows_from_a_name_and_one_that_is_an_id_stays() {
        let secret = || Some(IdSecret::from_bytes(&[1; 32]).unwrap());
        for ids in [Ids(None), Ids(secret())] {
            let (intent, task) = (
                |name: &str| ids.intent(name),
                |i, name: &str| ids.task(i, name),
            );
            assert_eq!(intent("a"), intent("a"));
            assert_ne!(intent("a"), intent("b"));
            let id = "0192f0c1-2b3c-7d4e-8f50-617283940a1b";
            assert_eq!(intent(id).to_string(), id);
            assert_ne!(task(intent("a"), id).to_string(), id);
            // Upper case is another name.
            assert_ne!(intent(&id.to_uppercase()).to_string(), id);
            assert_ne!(task(intent("a"), "t"), task(intent("b"), "t"));
        }
        assert_ne!(Ids(None).intent("a"), Ids(secret()).intent("a"));
        assert_eq!(
            Ids(secret()).intents("a"),
            [Ids(secret()).intent("a"), Ids(None).intent("a")]
        );
    }
}
