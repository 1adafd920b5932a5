//! What a fold knows of an event in addition to its structure: when it occurred and who caused it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::auth_context::{REMOVED, names_a_person};
use crate::folding::folded;
use crate::{ActorKind, ActorRef, Timestamp};

/// When an event occurred, and by whom.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// When it occurred, by its author's clock.
    pub at: Timestamp,
    /// What the actor is, as [`ActorKind`] writes it.
    pub kind: &'a str,
    /// The actor's id within its kind.
    pub id: &'a str,
    /// Whether a person caused it or imported it, or may have.
    pub is_persons: bool,
}

impl<'a> Origin<'a> {
    /// An event that an actor caused.
    pub fn new(at: Timestamp, actor: &'a ActorRef) -> Origin<'a> {
        Origin {
            at,
            kind: actor.kind.as_str(),
            id: &actor.id,
            is_persons: is_persons(actor.kind.as_str(), actor.auth_context.as_deref()),
        }
    }

    /// An event of a record, by its actor's kind, id and auth context; of a context that was removed, [`REMOVED`].
    pub fn recorded(
        at: Timestamp,
        kind: &'a str,
        id: &'a str,
        auth_context: Option<&str>,
    ) -> Origin<'a> {
        let is_persons = is_persons(kind, auth_context);
        Origin {
            at,
            kind,
            id,
            is_persons,
        }
    }

    /// Whether a person caused it.
    pub fn is_person(&self) -> bool {
        self.kind == ActorKind::Human.as_str()
    }

    /// Who caused it, to be remembered.
    pub fn by(&self) -> By {
        By(Arc::new((self.kind.to_owned(), self.id.to_owned())))
    }
}

/// An actor that a state remembers: what it is, and its id.
///
/// ```
/// use annals_domain::{ActorRef, By};
/// let alice = ActorRef::human("alice");
/// assert!(By::from(&alice).is(&alice.clone().with_display_name("Alice".to_owned())));
/// assert!(By::from(&alice).is(&ActorRef::human("Alice ")));
/// assert!(!By::from(&alice).is(&ActorRef::agent("alice")));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct By(Arc<(String, String)>);

impl By {
    /// Whether it is this actor. Its display name and how it was authenticated do not count, nor
    /// does how the id is written: in which case or width, with which white space, and with
    /// which characters that nobody sees.
    pub fn is(&self, actor: &ActorRef) -> bool {
        let (kind, id) = &*self.0;
        *kind == actor.kind.as_str() && (*id == actor.id || folded(id) == folded(&actor.id))
    }
}

impl From<&ActorRef> for By {
    fn from(actor: &ActorRef) -> By {
        By(Arc::new((actor.kind.as_str().to_owned(), actor.id.clone())))
    }
}

/// Where the context was removed, it may have named a person.
fn is_persons(kind: &str, auth_context: Option<&str>) -> bool {
    let names_one = |context: &str| context == REMOVED || names_a_person(context);
    kind == ActorKind::Human.as_str() || auth_context.is_some_and(names_one)
}

/// Whether an actor is a person.
pub(crate) fn is_human(actor: &ActorRef) -> bool {
    actor.kind == ActorKind::Human
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_that_read_alike_are_those_of_one_actor() {
        let ada = By::from(&ActorRef::human("Ada Lovelace"));
        for same in [
            "ada lovelace",
            " ADA  LOVELACE ",
            "Ada\u{a0}Lovelace",
            "Ａｄａ Lovelace",
            "Ada\u{200b} Love\u{ad}lace\u{feff}",
            "Ada Lovelace\n",
            "Ada\u{3164} Lovelace\u{115f}",
        ] {
            assert!(ada.is(&ActorRef::human(same)), "{same:?}");
        }
        for other in ["ada", "AdaLovelace", "Ada Byron", "Ada-Lovelace"] {
            assert!(!ada.is(&ActorRef::human(other)), "{other:?}");
        }
        assert!(!ada.is(&ActorRef::agent("Ada Lovelace")));
    }
}
