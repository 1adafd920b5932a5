//! What is accepted of the settings, and what happens then.

use super::{Set, SetSetting, Setting, State};
use crate::intent::{ListedType, Risk};
use crate::pieces::Pieces;
use crate::world::{Decided, Emitted, World};
use crate::{ActorKind, ActorRef, AnyEvent, Meta, Refusal, approval};

/// The most retries that can be set.
const MOST_RETRIES: u32 = 100;
/// The most seconds of clock skew that can be set: a day.
const MOST_SKEW: u32 = 86_400;

pub(crate) fn set(world: &mut World, command: &SetSetting, meta: &Meta) -> Decided {
    may_set(command.setting, &meta.actor)?;
    let value = read(command.setting, &command.value)?;
    let before = world.settings()?;
    if before.number(command.setting) == value {
        return Ok(Vec::new());
    }
    if weakens(&before, command.setting, value) {
        may_weaken(command, &meta.actor)?;
    }
    let event = Set {
        setting: command.setting,
        value,
    };
    Ok(vec![Emitted {
        stream: super::stream(),
        event: AnyEvent::Settings(event.into()),
        pieces: Pieces::new(),
    }])
}

/// Who waits for approvals does not set how they are given.
fn may_set(setting: Setting, actor: &ActorRef) -> Result<(), Refusal> {
    let is_about_approvals = match setting {
        Setting::AutonomyThreshold
        | Setting::TrustClassifier
        | Setting::OwnRequests
        | Setting::UnknownType
        | Setting::ClockSkew => true,
        Setting::MaxReviewRetries => false,
    };
    if !is_about_approvals || matches!(actor.kind, ActorKind::Human | ActorKind::System) {
        return Ok(());
    }
    let reason = format!(
        "{setting} says how approvals are given, and is set by an actor of the kind human or system, \
         not by {} {:?}",
        actor.kind, actor.id
    );
    Err(Refusal::NotPermitted { reason })
}

/// Whether a setting's value checks less than the one before it.
fn weakens(before: &State, setting: Setting, value: u32) -> bool {
    match setting {
        Setting::AutonomyThreshold
        | Setting::TrustClassifier
        | Setting::OwnRequests
        | Setting::MaxReviewRetries
        | Setting::ClockSkew => value > before.number(setting),
        // Only features and audits wait for an approval by the rules.
        Setting::UnknownType => {
            let waits = [ListedType::Feature, ListedType::Audit];
            !waits
                .map(|listed| u32::from(listed.code()))
                .contains(&value)
        }
    }
}

/// A check is weakened by a person.
fn may_weaken(command: &SetSetting, actor: &ActorRef) -> Result<(), Refusal> {
    let (setting, value) = (command.setting, &command.value);
    let what = format!("{setting} {value} weakens a check, and is set");
    approval::done_by_a_person(&what, actor)
}

/// A number in digits alone, without a sign and without zeros in front: each value has one spelling.
fn number(value: &str) -> Option<u32> {
    let number: u32 = value.parse().ok()?;
    (number.to_string() == value).then_some(number)
}

/// The number of a setting's value.
fn read(setting: Setting, value: &str) -> Result<u32, Refusal> {
    let wrong = |expected: &str| {
        let reason = format!("{setting} is {expected}, not {value:?}");
        Refusal::invalid("value", reason)
    };
    match setting {
        Setting::AutonomyThreshold if value == "none" => Ok(0),
        Setting::AutonomyThreshold => value
            .parse()
            .map(|risk: Risk| u32::from(risk.code()))
            .map_err(|_| wrong("none, low, med or high")),
        Setting::TrustClassifier | Setting::OwnRequests => match value {
            "true" => Ok(1),
            "false" => Ok(0),
            _ => Err(wrong("true or false")),
        },
        Setting::MaxReviewRetries => number(value)
            .filter(|retries| *retries <= MOST_RETRIES)
            .ok_or_else(|| wrong("a number from 0 to 100")),
        Setting::UnknownType => value
            .parse()
            .map(|listed: ListedType| u32::from(listed.code()))
            .map_err(|_| wrong("feature, refactor, fix, test or audit")),
        Setting::ClockSkew => number(value)
            .filter(|seconds| *seconds <= MOST_SKEW)
            .ok_or_else(|| wrong("a number of seconds from 0 to 86400")),
    }
}
