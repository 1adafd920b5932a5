//! Lines of revisions: which plan a line goes on from, and of which intents it is.
//!
//! A plan that was drawn up here says its intent and the plan that revised it. One
//! that was adopted, or that an older version drew up, may say neither: its intent
//! is then the one that has it for its plan, or a revision of it, or an earlier one.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::State;
use crate::world::World;
use crate::{AnyState, DecideError, Dependence, IntentId, Naming, PlanId, Refusal, TaskId, intent};

impl World {
    /// The intent of a plan that exists. It never changes, so that nothing else
    /// of the plan's state is depended on, unless it has none yet.
    pub fn plan_intent(&mut self, id: PlanId) -> Result<Option<IntentId>, DecideError> {
        match &self.existing(id.stream(), Dependence::Exists)?.state {
            AnyState::Plan(state) if state.intent.is_some() => Ok(state.intent),
            _ => Ok(self.plan(id)?.intent),
        }
    }
}

/// The intents that a plan is for: its own, or else those of the nearest plans of
/// its line. Of a line of this log's own there is one at most.
pub(crate) fn intents_of(world: &mut World, plan: PlanId) -> Result<Vec<IntentId>, DecideError> {
    let mut found = own_intents(world, plan)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let (mut open, mut seen) = (vec![plan], BTreeSet::from([plan]));
    while let Some(next) = open.pop() {
        for neighbour in neighbours(world, next)? {
            if !seen.insert(neighbour) {
                continue;
            }
            let own = own_intents(world, neighbour)?;
            if own.is_empty() {
                open.push(neighbour);
            }
            for intent in own {
                if !found.contains(&intent) {
                    found.push(intent);
                }
            }
        }
    }
    Ok(found)
}

/// The intent that a plan was made for, or else those that have it for their plan.
fn own_intents(world: &mut World, plan: PlanId) -> Result<Vec<IntentId>, DecideError> {
    if let Some(intent) = world.plan_intent(plan)? {
        return Ok(vec![intent]);
    }
    let mut found = Vec::new();
    for id in world.naming(Naming::IntentPlan, plan.0)? {
        let intent = IntentId(id);
        let state = world.intent_if_any(intent)?;
        if state.is_some_and(|state| state.plan == Some(plan)) {
            found.push(intent);
        }
    }
    Ok(found)
}

/// The plan that one revises and its revisions, as far as they exist.
fn neighbours(world: &mut World, plan: PlanId) -> Result<Vec<PlanId>, DecideError> {
    let mut found = revisions(world, plan)?;
    if let Some(previous) = world.plan_if_any(plan)?.and_then(|state| state.previous)
        && world.plan_if_any(previous)?.is_some()
    {
        found.push(previous);
    }
    Ok(found)
}

/// The plans that revise one, the oldest first. There may be several where an
/// import brought them.
fn revisions(world: &mut World, plan: PlanId) -> Result<Vec<PlanId>, DecideError> {
    let mut found = Vec::new();
    for id in world.naming(Naming::PlanPrevious, plan.0)? {
        let revision = PlanId(id);
        let state = world.plan_if_any(revision)?;
        if state.is_some_and(|state| state.previous == Some(plan)) {
            found.push(revision);
        }
    }
    Ok(found)
}

/// The end of the line of an intent that goes on from a plan: the revision that was
/// made of it here, or else the newest that was adopted, and so on. Plans of other
/// intents are not of the line.
pub(super) fn latest_of(
    world: &mut World,
    plan: PlanId,
    of: Option<IntentId>,
) -> Result<PlanId, DecideError> {
    let (mut latest, mut seen) = (plan, BTreeSet::from([plan]));
    loop {
        let made_here = world.plan_if_any(latest)?.and_then(|it| it.revised_by);
        let mut next = made_here.into_iter().collect();
        if made_here.is_none() {
            next = revisions(world, latest)?;
        }
        let mut going_on = None;
        for revision in next.into_iter().rev() {
            if !seen.contains(&revision) && is_for(world, revision, of)? {
                going_on = Some(revision);
                break;
            }
        }
        match going_on {
            Some(next) => latest = next,
            None => return Ok(latest),
        }
        seen.insert(latest);
    }
}

/// Whether a plan is for an intent, or for no intent yet. Without one, any will do.
fn is_for(world: &mut World, plan: PlanId, of: Option<IntentId>) -> Result<bool, DecideError> {
    let Some(intent) = of else {
        return Ok(true);
    };
    if world.plan_if_any(plan)?.is_none() {
        return Ok(true);
    }
    let own = own_intents(world, plan)?;
    Ok(own.is_empty() || own.contains(&intent))
}

/// The first plan of the line that one is in.
fn first_of(world: &mut World, plan: PlanId) -> Result<PlanId, DecideError> {
    let (mut first, mut seen) = (plan, BTreeSet::from([plan]));
    while let Some(previous) = world.plan_if_any(first)?.and_then(|it| it.previous) {
        if !seen.insert(previous) {
            break;
        }
        first = previous;
    }
    Ok(first)
}

/// Demands that a plan is the end of its line of revisions: of the one that its
/// intent has, or of its own.
pub(super) fn require_latest(
    world: &mut World,
    plan: PlanId,
    latest: Option<PlanId>,
    field: &'static str,
) -> Result<(), DecideError> {
    match world.plan(plan) {
        // An adopted intent may name a plan that does not exist.
        Err(DecideError::Refused(Refusal::NotFound { .. })) if latest == Some(plan) => {
            return Ok(());
        }
        found => drop(found?),
    }
    let latest = match latest {
        Some(latest) => latest,
        None => {
            let first = first_of(world, plan)?;
            latest_of(world, first, None)?
        }
    };
    if latest == plan {
        return Ok(());
    }
    let reason = format!(
        "plan {plan} is not the latest revision, which is {latest}; \
         to go back to it, create a plan with previous {latest} and restores {plan}"
    );
    Err(Refusal::invalid(field, reason).into())
}

/// All plans of an intent: those of its line, and those that were made for it.
pub(crate) fn plans_of(
    world: &mut World,
    id: IntentId,
    state: &intent::State,
) -> Result<Vec<PlanId>, DecideError> {
    let made_for = world.naming(Naming::PlanIntent, id.0)?;
    let mut open: Vec<PlanId> = made_for.into_iter().map(PlanId).collect();
    open.extend(state.plan);
    let (mut plans, mut seen) = (Vec::new(), BTreeSet::new());
    while let Some(next) = open.pop() {
        if !seen.insert(next) || !is_for(world, next, Some(id))? {
            continue;
        }
        open.extend(neighbours(world, next)?);
        if world.plan_if_any(next)?.is_some() {
            plans.push(next);
        }
    }
    plans.sort_unstable();
    Ok(plans)
}

/// The tasks of a plan's steps, and of those of the plans before it that are for the
/// intent, or for no intent yet.
pub(super) fn tasks_before(
    world: &mut World,
    plan: Option<PlanId>,
    of: IntentId,
) -> Result<Vec<TaskId>, DecideError> {
    let plans = plans_before(world, plan, of)?;
    Ok(plans.iter().flat_map(|plan| tasks_in(plan)).collect())
}

/// A plan and those before it that are for the intent, or for no intent yet.
pub(super) fn plans_before(
    world: &mut World,
    plan: Option<PlanId>,
    of: IntentId,
) -> Result<Vec<Arc<State>>, DecideError> {
    let (mut next, mut seen, mut plans) = (plan, BTreeSet::new(), Vec::new());
    while let Some(plan) = next.filter(|plan| seen.insert(*plan)) {
        let Some(state) = world.plan_if_any(plan)? else {
            break;
        };
        if !is_for(world, plan, Some(of))? {
            break;
        }
        // What came before a plan of the intent was brought with that plan.
        next = state.previous.filter(|_| state.intent.is_none());
        plans.push(state);
    }
    Ok(plans)
}

/// The tasks of a plan's steps.
pub(crate) fn tasks_in(state: &State) -> impl Iterator<Item = TaskId> + '_ {
    state.steps.iter().filter_map(|step| step.task)
}
