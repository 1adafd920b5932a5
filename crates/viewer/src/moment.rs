//! The moment that is shown, and what else an address says.

use std::collections::BTreeMap;

use annals::domain::Timestamp;
use annals::event_log::{Position, now};
use annals::projections::{CostZone, InvalidTimeName};
use annals::{Annals, At};
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};

use crate::problem::Problem;

/// Entries of a list, unless more are asked for.
const PAGE: usize = 50;
/// The most.
const MOST: usize = 200;

/// The parameters of an address. Of one that is there twice the last counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Params(BTreeMap<String, String>);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Params, Problem> {
        Params::read(&parts.uri)
    }
}

impl Params {
    pub(crate) fn read(uri: &Uri) -> Result<Params, Problem> {
        match Query::<BTreeMap<String, String>>::try_from_uri(uri) {
            Ok(Query(params)) => Ok(Params(params)),
            Err(error) => Err(Problem::invalid(format!(
                "the query cannot be read: {error}"
            ))),
        }
    }

    /// All of them but for these.
    pub(crate) fn others(&self, without: &[&str]) -> Vec<(&str, &str)> {
        let pairs = self
            .0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        pairs
            .filter(|(name, value)| !value.is_empty() && !without.contains(name))
            .collect()
    }

    /// The same with the position of a moment as `at`, or without it for now.
    pub(crate) fn at_moment(mut self, moment: Moment) -> Params {
        match moment.is_chosen {
            true => self.0.insert("at".to_owned(), moment.position.to_string()),
            false => self.0.remove("at"),
        };
        self
    }

    #[cfg(test)]
    pub(crate) fn of(pairs: &[(&str, &str)]) -> Params {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Params(pairs.iter().map(own).collect())
    }

    /// A parameter, unless it is empty: forms send empty ones.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let value = self.0.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// A parameter that is a number: a cursor, a position, a version.
    pub(crate) fn number(&self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(text) = self.get(name) else {
            return Ok(None);
        };
        match text.parse() {
            Ok(number) if text.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Some(number)),
            _ => {
                let shown: String = text.chars().take(64).collect();
                Err(Problem::invalid(format!(
                    "invalid {name} {shown:?}: expected a number from 0 to {}",
                    u64::MAX
                )))
            }
        }
    }

    pub(crate) fn position(&self, name: &str) -> Result<Option<Position>, Problem> {
        Ok(self.number(name)?.map(Position))
    }

    /// How many entries are asked for.
    pub(crate) fn limit(&self) -> Result<usize, Problem> {
        match self.number("limit")? {
            None => Ok(PAGE),
            Some(limit @ 1..=200) => Ok(usize::try_from(limit).unwrap_or(MOST)),
            Some(limit) => Err(Problem::invalid(format!(
                "invalid limit {limit}: expected 1 to {MOST}"
            ))),
        }
    }
}

/// The moment that a page shows: the log as it was after this position. That of now is a position, too, so
/// that a page is of one moment, and has an address that goes on showing the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment {
    pub(crate) position: Position,
    /// Where the log ended when the request came.
    pub(crate) end: Position,
    /// Whether the address says the position.
    pub(crate) is_chosen: bool,
}

impl Moment {
    /// Reads `at`: a position, or a time by the log's clock, in this machine's time zone.
    pub(crate) async fn read(params: &Params, annals: &Annals) -> Result<Moment, Problem> {
        Moment::read_in(params, annals, CostZone::Local, now().into()).await
    }

    /// Like [`Moment::read`], in another time zone and at another current time.
    async fn read_in(
        params: &Params,
        annals: &Annals,
        zone: CostZone,
        now: Timestamp,
    ) -> Result<Moment, Problem> {
        let end = annals.position();
        let text = params.get("at").map_or("now", str::trim);
        if text.eq_ignore_ascii_case("now") {
            return Ok(Moment {
                position: end,
                end,
                is_chosen: false,
            });
        }
        let at = At::of_name(text, |name| name.moment(zone, now));
        let at = at.map_err(|error| invalid(text, error))?;
        if let At::Position(position) = at
            && position > end
        {
            return Err(Problem::beyond_end(position, end));
        }
        let position = annals.past().position_of(at).await?;
        let Some(position) = position else {
            let detail = "a page is of a position or of a time by the log's clock: annals show --at takes occurred:TIME";
            return Err(Problem::invalid(detail));
        };
        Ok(Moment {
            // Events may have come since the end was read.
            position: position.min(end),
            end,
            is_chosen: true,
        })
    }

    pub(crate) fn at(self) -> At {
        At::Position(self.position)
    }

    /// An address of ours at this moment.
    pub(crate) fn link(self, path: &str) -> String {
        match (self.is_chosen, path.contains('?')) {
            (false, _) => path.to_owned(),
            (true, false) => format!("{path}?at={}", self.position),
            (true, true) => format!("{path}&at={}", self.position),
        }
    }
}

/// The problem of a text that names no moment.
fn invalid(text: &str, error: InvalidTimeName) -> Problem {
    let shown: String = text.chars().take(64).collect();
    let detail = format!("invalid at {shown:?}: {error}, or a position such as 1234");
    Problem::new(StatusCode::BAD_REQUEST, "invalid_time", detail)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use annals::blocking::Wait as _;
    use annals::domain::ActorRef;
    use chrono::{FixedOffset, TimeDelta, Timelike as _};

    use super::*;

    /// A log, and the time at which it took its only event.
    fn log() -> (Annals, Timestamp) {
        let annals = Annals::open("memory:").wait().unwrap();
        let me = ActorRef::human("ada");
        annals.by(&me).submit("Add a cache").wait().unwrap();
        let end = annals.position();
        let record = annals.contents().record(end).wait().unwrap().unwrap();
        (annals, record.recorded_at().into())
    }

    fn later(time: Timestamp, hours: i64) -> Timestamp {
        (time.to_utc() + TimeDelta::hours(hours)).into()
    }

    /// The zone in which it is then this hour of the day.
    fn zone_of(time: Timestamp, hour: i32) -> CostZone {
        let seconds = i32::try_from(time.to_utc().num_seconds_from_midnight()).unwrap();
        // From 12 hours before UTC to 12 hours after it.
        let east = (hour * 3_600 - seconds + 36 * 3_600).rem_euclid(24 * 3_600) - 12 * 3_600;
        CostZone::Fixed(FixedOffset::east_opt(east).unwrap())
    }

    /// The day of a time in a zone.
    fn day(time: Timestamp, zone: CostZone) -> String {
        zone.day_at(time).to_string()
    }

    fn read(
        annals: &Annals,
        text: &str,
        zone: CostZone,
        now: Timestamp,
    ) -> Result<Moment, Problem> {
        let params = Params::of(&[("at", text)]);
        Moment::read_in(&params, annals, zone, now).wait()
    }

    #[test]
    fn times_are_names_in_a_time_zone() {
        let (annals, time) = log();
        let end = annals.position().0;
        let (noon, night) = (zone_of(time, 12), zone_of(time, 1));
        let now = later(time, 13);
        let before = later(time, -24);
        for (text, zone, now, expected) in [
            // It was taken on the day before now, or on the same day.
            ("yesterday", noon, now, end),
            (" Yesterday ", noon, now, end),
            ("yesterday", night, now, 0),
            ("today", night, now, end),
            (&day(time, noon), noon, now, end),
            (&day(before, noon), noon, now, 0),
            (&day(before, night), night, now, 0),
            ("2d", noon, later(time, 49), end),
            ("2d", noon, later(time, 47), 0),
            ("14h", night, now, 0),
            ("90m", night, now, end),
            ("13:30", noon, later(time, 5), end),
            ("11:30", noon, later(time, 5), 0),
            ("11:30:15", night, now, end),
            ("11:30", CostZone::Utc, before, 0),
            (&later(time, 1).to_string(), noon, now, end),
            (&before.to_string(), noon, now, 0),
        ] {
            let found = read(&annals, text, zone, now).unwrap();
            assert_eq!(found.position.0, expected, "{text:?} in {zone}");
            assert!(found.is_chosen && found.end.0 == end, "{text:?}");
        }
    }

    #[test]
    fn digits_are_a_position_and_now_is_none() {
        let (annals, time) = log();
        let end = annals.position();
        let read = |text: &str| read(&annals, text, CostZone::Utc, later(time, 1));
        for position in 0..=end.0 {
            let found = read(&position.to_string()).unwrap();
            assert_eq!((found.position.0, found.is_chosen), (position, true));
        }
        let beyond = read("14").unwrap_err();
        assert_eq!((beyond.status.as_u16(), beyond.code), (404, "beyond_end"));
        for now in ["", "now", "NOW"] {
            let found = read(now).unwrap();
            assert_eq!((found.position, found.is_chosen), (end, false), "{now}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_forms_that_are_taken() {
        let (annals, time) = log();
        let read = |text: &str| read(&annals, text, CostZone::Utc, time);
        for bad in ["soon", "2026-13-01", "0d", "25:00", "-1", "4294967295d"] {
            let problem = read(bad).unwrap_err();
            assert_eq!(
                (problem.status.as_u16(), problem.code),
                (400, "invalid_time")
            );
            for form in [
                "2026-01-31",
                "RFC 3339",
                "yesterday",
                "14:30",
                "2d",
                "position",
                bad,
            ] {
                assert!(problem.detail.contains(form), "{bad}: {}", problem.detail);
            }
        }
        let long = read(&"x".repeat(10_000)).unwrap_err();
        assert!(long.detail.len() < 400, "{}", long.detail);
        for occurred in ["occurred:yesterday", "occurred:2026-01-31T12:00:00Z"] {
            let problem = read(occurred).unwrap_err();
            assert_eq!(problem.status.as_u16(), 400, "{occurred}");
            assert!(problem.detail.contains("occurred:"), "{}", problem.detail);
        }
    }

    #[test]
    fn a_moment_replaces_the_time_in_the_parameters() {
        let chosen = Moment {
            position: Position(7),
            end: Position(9),
            is_chosen: true,
        };
        let now = Moment {
            is_chosen: false,
            ..chosen
        };
        let params = || Params::of(&[("at", "yesterday"), ("q", "x")]);
        let read = |moment| params().at_moment(moment).get("at").map(str::to_owned);
        assert_eq!(read(chosen).as_deref(), Some("7"));
        assert_eq!(read(now), None);
        assert_eq!(params().at_moment(now).get("q"), Some("x"));
    }

    #[test]
    fn numbers_are_numbers() {
        let params = |value| Params::of(&[("after", value), ("limit", value)]);
        assert_eq!(params("17").number("after").unwrap(), Some(17));
        assert_eq!(params("").number("after").unwrap(), None);
        for bad in ["+1", "-1", "1.5", "x", "18446744073709551616", "1 ", "٣"] {
            let problem = params(bad).number("after").unwrap_err();
            assert_eq!(problem.status.as_u16(), 400, "{bad}");
        }
        assert_eq!(params("").limit().unwrap(), PAGE);
        assert_eq!(params("200").limit().unwrap(), 200);
        for bad in ["0", "201", "18446744073709551615"] {
            assert!(params(bad).limit().is_err(), "{bad}");
        }
    }
}
