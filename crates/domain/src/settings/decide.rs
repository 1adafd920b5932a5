//! What is accepted of the settings, and what happens then.

use super::{Set, SetSetting, Setting};
use crate::intent::{ListedType, Risk};
use crate::pieces::Pieces;
use crate::world::{Decided, Emitted, World};
use crate::{AnyEvent, Meta, Refusal};

/// More retries than this nobody means.
const MOST_RETRIES: u32 = 100;

pub(crate) fn set(world: &mut World, command: &SetSetting, _: &Meta) -> Decided {
    let value = read(command.setting, command.value.trim())?;
    if world.settings()?.number(command.setting) == value {
        return Ok(Vec::new());
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
        Setting::TrustClassifier => match value {
            "true" => Ok(1),
            "false" => Ok(0),
            _ => Err(wrong("true or false")),
        },
        Setting::MaxReviewRetries => value
            .parse()
            .ok()
            .filter(|retries| *retries <= MOST_RETRIES)
            .ok_or_else(|| wrong("a number from 0 to 100")),
        Setting::UnknownType => value
            .parse()
            .map(|listed: ListedType| u32::from(listed.code()))
            .map_err(|_| wrong("feature, refactor, fix, test or audit")),
    }
}
