//! Rules for setting and removing budgets.

use super::{Budget, BudgetRemoved, BudgetSet, Event, OverBudget, RemoveBudget, SetBudget};
use crate::input::shown;
use crate::is_removed_name;
use crate::origin::is_human;
use crate::pieces::Pieces;
use crate::world::{Decided, Emitted, World};
use crate::{ActorRef, AnyEvent, Meta, Refusal};

/// The highest limit in millionths of a USD.
const HIGHEST: u64 = 1_000_000_000_000_000;
/// The most budgets of a log.
const MOST: usize = 100;
/// The most bytes of a project.
const PROJECT_BYTES: usize = 4_096;

pub(crate) fn set(world: &mut World, command: &SetBudget, meta: &Meta) -> Decided {
    by_a_person("set", &meta.actor)?;
    if !(1..=HIGHEST).contains(&command.limit_micros) {
        let reason = format!(
            "{} millionths of a USD are no budget: expected 1 to {HIGHEST}",
            command.limit_micros
        );
        return Err(Refusal::invalid("limit_micros", reason).into());
    }
    if let Some(project) = &command.project {
        check_project(project)?;
    }
    let settings = world.settings()?;
    let before = settings.budget(command.project.as_deref(), command.period);
    let then = command.then.unwrap_or(OverBudget::Ask);
    if before.is_some_and(|it| it.limit_micros == command.limit_micros && it.then == then) {
        return Ok(Vec::new());
    }
    if before.is_none() && settings.budgets.len() >= MOST {
        let reason = format!("a log has at most {MOST} budgets: remove one first");
        return Err(Refusal::invalid("project", reason).into());
    }
    let event = BudgetSet {
        project: command.project.clone(),
        period: command.period,
        limit_micros: command.limit_micros,
        then,
        number: number(before, &settings.budgets),
    };
    Ok(emitted(event.into()))
}

pub(crate) fn remove(world: &mut World, command: &RemoveBudget, meta: &Meta) -> Decided {
    by_a_person("removed", &meta.actor)?;
    let settings = world.settings()?;
    let project = command.project.as_deref();
    let Some(budget) = settings.budget(project, command.period) else {
        let of = project.map_or("all projects".to_owned(), shown);
        let reason = format!(
            "{of} have no budget for each {}; `annals budget` lists the budgets",
            command.period
        );
        return Err(Refusal::invalid("project", reason).into());
    };
    let event = BudgetRemoved {
        project: command.project.clone(),
        period: command.period,
        number: budget.number,
    };
    Ok(emitted(event.into()))
}

/// The number of a budget: that of the one that it replaces, or the first that no budget has.
fn number(before: Option<&Budget>, budgets: &[Budget]) -> u32 {
    let known = before.map(|it| it.number).filter(|number| *number > 0);
    let is_free = |number: &u32| budgets.iter().all(|it| it.number != *number);
    known
        .or_else(|| (1..=u32::MAX).find(is_free))
        .unwrap_or_default()
}

fn emitted(event: Event) -> Vec<Emitted> {
    vec![Emitted {
        stream: super::stream(),
        event: AnyEvent::Settings(event),
        pieces: Pieces::new(),
    }]
}

fn by_a_person(how: &str, actor: &ActorRef) -> Result<(), Refusal> {
    if is_human(actor) {
        return Ok(());
    }
    let reason = format!(
        "a budget is {how} by a person (an actor of the kind human), not by {} {:?}",
        actor.kind, actor.id
    );
    Err(Refusal::NotPermitted { reason })
}

/// Accepts an absolute path, or the last part of one. A name that reads as nothing, or as a path of another form, would hold for no
/// project.
fn check_project(project: &str) -> Result<(), Refusal> {
    let refuse = |cause: &str| {
        let reason = format!(
            "{} {cause}: expected the absolute path of a project, or its last part",
            shown(project)
        );
        Err(Refusal::invalid("project", reason))
    };
    if project.len() > PROJECT_BYTES {
        return refuse("is longer than 4096 bytes");
    }
    if project.trim().is_empty() || project.trim() != project {
        return refuse("is blank, or has white space around it");
    }
    if project.chars().any(crate::input::is_invisible) {
        return refuse("has an invisible character");
    }
    if is_removed_name(project) {
        return refuse("is the mark of a removed name");
    }
    if matches!(project, "." | "..") || project.split(['/', '\\']).any(|part| part == "..") {
        return refuse("is relative");
    }
    let is_path = project.contains(['/', '\\']);
    let has_drive = project.get(1..2) == Some(":");
    if is_path && !project.starts_with(['/', '\\']) && !has_drive {
        return refuse("is a relative path");
    }
    Ok(())
}
