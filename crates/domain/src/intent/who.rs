//! Which commands on an intent need a person (docs/spec/forge.md, Who decides).
//!
//! An agent proposes, works and asks. It does not take the part of the person whom its work waits
//! for: the one who answers, decides on what failed, turns a request down, or changes what was approved.

use super::conditions::waits_for_approval;
use super::rejections::has_rejected;
use super::status::has_failed;
use super::{ApprovalStatus, Risk, Stage, State};
use crate::approval::{by_another, done_by_a_person};
use crate::origin::is_human;
use crate::world::World;
use crate::{ActorRef, DecideError, IntentId, Refusal};

/// Demands of who turns an intent down that it is a person, or the one who asked for it where
/// nothing of it failed and no person rejected work on it. The status is the intent's without what is open; `how` is what
/// becomes of it: rejected or cancelled.
pub(super) fn turned_down_by(
    world: &mut World,
    id: IntentId,
    state: &State,
    (status, how): (ApprovalStatus, &str),
    actor: &ActorRef,
) -> Result<(), DecideError> {
    if is_human(actor) {
        return Ok(());
    }
    let is_own = state.asked_by.as_ref().is_some_and(|by| by.is(actor));
    let what = if has_failed(status) {
        format!("intent {id}, of which something failed or was called off, is {how}")
    } else if !is_own {
        format!("intent {id}, which somebody else requested, is {how}")
    } else if has_rejected(world, id, state)? {
        format!("intent {id}, on which a person rejected work, is {how}")
    } else {
        return Ok(());
    };
    Ok(done_by_a_person(&what, actor)?)
}

/// Demands of who completes an intent of which something failed, whose questions it closes, or of which it calls off a
/// task of a person, that it is a person. `status` is the intent's without what is open.
pub(super) fn completed_by(
    state: &State,
    status: ApprovalStatus,
    calls_off_a_persons: bool,
    actor: &ActorRef,
) -> Result<(), Refusal> {
    if has_failed(status) {
        let what = "an intent of which something failed or was called off is completed";
        return done_by_a_person(what, actor);
    }
    if calls_off_a_persons {
        let what = "an intent with an open task that a person created, or whose work a person rejected, is completed";
        return done_by_a_person(what, actor);
    }
    if state.needs_clarification() {
        return done_by_a_person("an intent with an open question is completed", actor);
    }
    Ok(())
}

/// Demands of who instructs an intent that waits for its approval, and that somebody else requested, that it
/// is a person: what is approved is what was requested. Of who instructs one whose risk a person approved, that it
/// is a person, and none who asked for it. `status` is the intent's without what is open.
pub(super) fn instructed_by(
    world: &mut World,
    state: &State,
    status: ApprovalStatus,
    actor: &ActorRef,
) -> Result<(), DecideError> {
    if has_failed(status) {
        let what = "an intent of which something failed or was called off is instructed";
        return Ok(done_by_a_person(what, actor)?);
    }
    if waits_for_approval(state) {
        let is_own = state.asked_by.as_ref().is_some_and(|by| by.is(actor));
        let what = "an intent that waits for its approval, and that somebody else requested, is instructed";
        return match is_own {
            true => Ok(()),
            false => Ok(done_by_a_person(what, actor)?),
        };
    }
    if !matches!(state.stage, Stage::Approved | Stage::Executing) {
        return Ok(());
    }
    let settings = world.settings()?;
    let known = state.risk.zip(state.risk_basis);
    if known.is_some_and(|(risk, basis)| settings.approves(risk, basis)) {
        return Ok(());
    }
    let risk = state.risk.map_or("unknown", Risk::as_str);
    let what = format!("an approved intent of {risk} risk is instructed");
    done_by_a_person(&what, actor)?;
    Ok(by_another(&state.asked_by, actor, settings.own_requests)?)
}
