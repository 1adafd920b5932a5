//! Values of arguments: kinds of objects, times and moments, numbers.

use std::str::FromStr;

use annals::domain::{Kind, Timestamp};
use annals::event_log::now;
use annals::projections::{CostZone, InvalidTimeName, TimeName};
use annals::{At, AtName, Classification, Classified, ErrorClass};

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

/// Forms of a moment besides those of a time.
const MOMENTS: &str = "or a position; occurred: before a time means the callers' clocks";

/// Forms of a named moment besides those of a time.
const NAMES: &str = "or a position, an event's id (a UUID) or the id of a git commit (at least its first 7 digits); \
                     occurred: before a time means the callers' clocks";

/// A text that names no moment.
#[derive(Debug, thiserror::Error)]
#[error("invalid time {text:?}: {source}, {others}")]
pub(crate) struct InvalidMoment {
    text: String,
    others: &'static str,
    source: InvalidTimeName,
}

impl Classified for InvalidMoment {
    fn classify(&self) -> Classification {
        ErrorClass::Invalid.code("invalid_time")
    }
}

/// Which instant of a day, or of another span of time, is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    /// The first one: a range begins there.
    Begins,
    /// The one behind the last one: a range ends there.
    Ends,
    /// The last one: past state is read there.
    Moment,
}

impl Edge {
    fn of(self, text: &str) -> Result<Timestamp, InvalidTimeName> {
        self.instant(text.parse()?).ok_or(InvalidTimeName)
    }

    /// The instant of a time in the user's time zone.
    fn instant(self, name: TimeName) -> Option<Timestamp> {
        let (zone, now) = (CostZone::Local, Timestamp::from(now()));
        match self {
            Edge::Begins => name.begins(zone, now),
            Edge::Ends => name.ends(zone, now),
            Edge::Moment => name.moment(zone, now),
        }
    }

    fn at(self, text: &str) -> Result<At, InvalidMoment> {
        let at = At::of_name(text, |name| self.instant(name));
        at.map_err(|source| InvalidMoment {
            text: text.to_owned(),
            others: MOMENTS,
            source,
        })
    }
}

/// The time at which a range begins, in the user's time zone.
pub(crate) fn since(text: &str) -> Result<Timestamp, InvalidTimeName> {
    Edge::Begins.of(text)
}

/// The time at which a range ends, in the user's time zone.
pub(crate) fn until(text: &str) -> Result<Timestamp, InvalidTimeName> {
    Edge::Ends.of(text)
}

/// The position or time at which a range begins, in the user's time zone.
pub(crate) fn at_since(text: &str) -> Result<At, InvalidMoment> {
    Edge::Begins.at(text)
}

/// The position or time at which a range ends, in the user's time zone.
pub(crate) fn at_until(text: &str) -> Result<At, InvalidMoment> {
    Edge::Ends.at(text)
}

/// The moment at which past state is read: a position, a time in the user's time zone, an event or a commit.
pub(crate) fn moment(text: &str) -> Result<AtName, InvalidMoment> {
    let name = AtName::of_name(text, |name| Edge::Moment.instant(name));
    name.map_err(|source| InvalidMoment {
        text: text.to_owned(),
        others: NAMES,
        source,
    })
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
    #![allow(clippy::unwrap_used, clippy::panic)]

    use annals::event_log::Position;

    use super::*;

    #[test]
    fn a_moment_is_a_position_a_time_an_event_or_a_commit() {
        assert_eq!(
            moment("17").unwrap(),
            AtName::At(At::Position(Position(17)))
        );
        assert_eq!(moment("now").unwrap(), AtName::At(At::Now));
        assert!(matches!(moment("1234567d").unwrap(), AtName::Commit(_)));
        assert!(matches!(
            moment("occurred:yesterday").unwrap(),
            AtName::At(At::Occurred(_))
        ));
        let AtName::At(At::Recorded(yesterday)) = moment("yesterday").unwrap() else {
            panic!("yesterday is a time");
        };
        assert!(yesterday < Timestamp::from(now()) && since("yesterday").unwrap() < yesterday);
        assert!(yesterday < until("yesterday").unwrap());
        let error = moment("the other day").unwrap_err().to_string();
        for says in ["RFC 3339", "yesterday", "git commit", "position"] {
            assert!(error.contains(says), "{error}");
        }
        assert!(at_since("-1").is_err() && at_until("").is_err() && since("17").is_err());
    }

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
