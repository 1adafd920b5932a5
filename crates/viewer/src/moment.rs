//! The moment that is shown, and what else an address says.

use std::collections::BTreeMap;

use annals::event_log::{Position, record_at};
use annals::{Annals, At};
use axum::extract::{FromRequestParts, Query};
use axum::http::Uri;
use axum::http::request::Parts;

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
    /// Reads `at`: a position, or a time by the log's clock.
    pub(crate) async fn read(params: &Params, annals: &Annals) -> Result<Moment, Problem> {
        let end = annals.position();
        let position = match params.get("at") {
            None => {
                return Ok(Moment {
                    position: end,
                    end,
                    is_chosen: false,
                });
            }
            Some(text) => match text.parse::<At>()? {
                At::Position(position) if position > end => {
                    return Err(Problem::beyond_end(position, end));
                }
                At::Position(position) => position,
                At::Recorded(time) => recorded_by(annals, end, time.to_utc()).await?,
                At::Occurred(_) | At::Now => {
                    let detail = "a page is of a position or of a time by the log's clock: annals show --at takes occurred:TIME";
                    return Err(Problem::invalid(detail));
                }
            },
        };
        Ok(Moment {
            position,
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

/// The last position that the log had taken by a time. Times of the log never fall, so that it is found by halves.
async fn recorded_by(
    annals: &Annals,
    end: Position,
    time: chrono::DateTime<chrono::Utc>,
) -> Result<Position, Problem> {
    let (mut low, mut high) = (0, end.0);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        let record = record_at(annals.log().as_ref(), Position(middle)).await?;
        match record {
            Some(record) if record.recorded_at() <= time => low = middle,
            _ => high = middle - 1,
        }
    }
    Ok(Position(low))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

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
