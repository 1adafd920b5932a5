//! Values of arguments: kinds of objects, times, numbers.

use std::str::FromStr;

use annals::domain::{Kind, Timestamp};

/// What can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listable {
    /// Objects of a kind.
    Kind(Kind),
    /// Tickets of other systems.
    WorkItems,
}

impl FromStr for Listable {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<Listable, UnknownKind> {
        let plain = word.to_ascii_lowercase().replace(['-', ' '], "_");
        match plain.as_str() {
            "work_item" | "work_items" => Ok(Listable::WorkItems),
            _ => word.parse().map(|KindWord(kind)| Listable::Kind(kind)),
        }
    }
}

/// A kind of objects in one of the ways in which people write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KindWord(pub(crate) Kind);

impl FromStr for KindWord {
    type Err = UnknownKind;

    fn from_str(word: &str) -> Result<KindWord, UnknownKind> {
        let plain = word.to_ascii_lowercase().replace(['-', ' '], "_");
        let singular = plain.strip_suffix('s').unwrap_or(&plain);
        let known = Kind::from_str(&plain).or_else(|_| Kind::from_str(singular));
        known.map(KindWord).map_err(|_| UnknownKind)
    }
}

/// A word that is not the name of a kind.
#[derive(Debug, thiserror::Error)]
#[error(
    "expected one of intent, plan, task, run, patch_set, evidence, decision, provenance, tool_invocation, context_snapshot, context_pipeline, session, observation or work-items"
)]
pub(crate) struct UnknownKind;

/// A text that is not a time.
#[derive(Debug, thiserror::Error)]
#[error("expected an RFC 3339 time such as 2026-01-31T12:00:00Z")]
pub(crate) struct InvalidTime;

pub(crate) fn time(text: &str) -> Result<Timestamp, InvalidTime> {
    let time = chrono::DateTime::parse_from_rfc3339(text).map_err(|_| InvalidTime)?;
    Ok(time.to_utc().into())
}

/// A text that is not a number from 1 on.
#[derive(Debug, thiserror::Error)]
#[error("expected a number from 1 on")]
pub(crate) struct InvalidLimit;

pub(crate) fn at_least_one(text: &str) -> Result<usize, InvalidLimit> {
    let number = text.parse().map_err(|_| InvalidLimit)?;
    if number == 0 {
        return Err(InvalidLimit);
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_known_by_all_their_names() {
        for kind in Kind::ALL {
            for name in [kind.object_type(), kind.identifier()] {
                let plural = format!("{name}s");
                for word in [name, &plural, &name.to_uppercase(), &name.replace('_', "-")] {
                    assert_eq!(
                        word.parse::<KindWord>().ok(),
                        Some(KindWord(*kind)),
                        "{word}"
                    );
                }
            }
        }
        for word in ["", "s", "commit", "runss"] {
            assert!(word.parse::<KindWord>().is_err(), "{word}");
        }
    }
}
