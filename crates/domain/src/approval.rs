//! Who may say yes: a person, and another one than who asks.
//!
//! Actors are what the caller says they are: these rules keep an agent's own work from being
//! approved in its own name, and leave authentication to the service around the log.

use crate::origin::is_human;
use crate::settings::Setting;
use crate::{ActorRef, By, Refusal};

/// Demands that a person approves. `what` is what is to be approved.
pub(crate) fn by_a_person(what: &str, actor: &ActorRef) -> Result<(), Refusal> {
    if is_human(actor) {
        return Ok(());
    }
    let reason = format!(
        "{what} is approved by a person (an actor of the kind human), not by {} {:?}",
        actor.kind, actor.id
    );
    Err(Refusal::NotPermitted { reason })
}

/// Demands that a person does what needs one. `what` says it, as in "a question is answered".
pub(crate) fn done_by_a_person(what: &str, actor: &ActorRef) -> Result<(), Refusal> {
    if is_human(actor) {
        return Ok(());
    }
    let reason = format!(
        "{what} by a person (an actor of the kind human), not by {} {:?}; `annals intent inbox` lists \
         what waits for one",
        actor.kind, actor.id
    );
    Err(Refusal::NotPermitted { reason })
}

/// Demands that the approver of an intent did not request it, unless the log's settings allow that.
/// Who requested one that an import brought is not known: an agent that imports its own file may have.
pub(crate) fn of_an_intent(
    asked_by: Option<&By>,
    actor: &ActorRef,
    own_requests: bool,
) -> Result<(), Refusal> {
    if asked_by.is_none() && !own_requests {
        by_a_person("an intent that an import brought", actor)?;
    }
    by_another(asked_by, actor, own_requests)
}

/// Demands that who approves is none of those who asked, unless the log's settings allow it.
pub(crate) fn by_another<'b>(
    asked: impl IntoIterator<Item = &'b By>,
    actor: &ActorRef,
    own_requests: bool,
) -> Result<(), Refusal> {
    if own_requests || !asked.into_iter().any(|by| by.is(actor)) {
        return Ok(());
    }
    let reason = format!(
        "{} {:?} requested this and must not approve it; let another person do so, or allow it \
         in this log with the setting {}",
        actor.kind,
        actor.id,
        Setting::OwnRequests
    );
    Err(Refusal::NotPermitted { reason })
}
