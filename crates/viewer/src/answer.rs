//! What a request asks, and what an answer consists of.

use std::sync::Arc;

use annals::{Annals, At};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use chrono::{DateTime, SecondsFormat, Utc};
use schemars::JsonSchema;
use serde::Serialize;

use crate::moment::{Moment, Params};
use crate::problem::Problem;
use crate::proof::Proof;
use crate::reading::{Found, Reading};
use crate::state::Shared;

/// What begins the addresses of the API, behind which a page's own address comes.
pub(crate) const API: &str = "/api/v1";

/// A request: which page, of which moment, and whether its JSON is asked for.
pub(crate) struct Asked {
    pub(crate) shared: Arc<Shared>,
    pub(crate) params: Params,
    pub(crate) moment: Moment,
    /// The page's own address, without the moment.
    pub(crate) path: String,
    pub(crate) is_api: bool,
}

impl FromRequestParts<Arc<Shared>> for Asked {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Asked, Problem> {
        let params = Params::read(&parts.uri)?;
        let moment = Moment::read(&params, &shared.annals).await?;
        // Links go on showing this position, whatever time the address names.
        let params = params.at_moment(moment);
        let path = parts.uri.path();
        let own = path.strip_prefix(API);
        Ok(Asked {
            shared: Arc::clone(shared),
            params,
            moment,
            path: own.unwrap_or(path).to_owned(),
            is_api: own.is_some(),
        })
    }
}

impl Asked {
    /// The shown position, for queries.
    pub(crate) fn at(&self) -> At {
        match self.moment.is_chosen {
            true => self.moment.at(),
            false => At::Now,
        }
    }

    pub(crate) fn annals(&self) -> &Annals {
        &self.shared.annals
    }

    /// Reads for this request.
    pub(crate) fn reading(&self) -> Reading<'_> {
        Reading::new(&self.shared.annals, self.moment)
    }

    /// This page's address with other parameters, at the same moment.
    pub(crate) fn with(&self, pairs: &[(&str, &str)]) -> String {
        let without: Vec<&str> = pairs.iter().map(|(name, _)| *name).collect();
        let kept = self.params.others(&without);
        let kept = kept.into_iter().filter(|(name, _)| *name != "version");
        let all = kept.chain(pairs.iter().copied());
        let all = all.filter(|(_, value)| !value.is_empty());
        let all: Vec<String> = all
            .map(|(name, value)| format!("{name}={}", escaped(value)))
            .collect();
        match all.is_empty() {
            true => self.path.clone(),
            false => format!("{}?{}", self.path, all.join("&")),
        }
    }

    /// The address that goes on showing what this one shows now; none of a page that is always of now.
    pub(crate) fn lasting(&self) -> Option<String> {
        match self.path.as_str() {
            "/inbox" => None,
            // Costs are kept by the quarter of an hour in which something was used, not by positions.
            "/costs" if self.params.get("until").is_some() => Some(self.with(&[])),
            "/costs" => Some(self.with(&[("until", &next_quarter(annals::event_log::now()))])),
            _ => Some(self.with(&[("at", &self.moment.position.to_string())])),
        }
    }
}

impl Asked {
    /// Returns `true` if the page has data: a comparison has none before both sides are named.
    pub(crate) fn has_json(&self) -> bool {
        let has_both = || {
            ["a", "b"]
                .iter()
                .all(|side| self.params.get(side).is_some())
        };
        self.path != "/compare" || has_both()
    }
}

/// Whether a page is of now alone.
pub(crate) fn is_of_now(path: &str) -> bool {
    matches!(path, "/inbox" | "/costs")
}

/// When the next quarter of an hour begins.
fn next_quarter(now: DateTime<Utc>) -> String {
    const SECONDS: i64 = 15 * 60;
    let next = (now.timestamp().div_euclid(SECONDS) + 1).saturating_mul(SECONDS);
    let next = DateTime::from_timestamp(next, 0).unwrap_or(now);
    next.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// A value as it stands in an address.
pub(crate) fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b':' => {
                text.push(char::from(byte));
            }
            byte => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

/// What makes a page show itself again when an event comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Live {
    /// Any event.
    Log,
    /// One of these streams.
    Streams(Vec<String>),
    /// It shows what never changes.
    Never,
}

/// What the slider moves through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slider {
    /// The log's positions.
    Positions,
    /// An object's own events: which one is shown, of how many.
    Versions { shown: u64, all: u64 },
    /// Nothing: the page is of one event.
    None,
}

/// A page, without what draws it.
pub(crate) struct Page<T> {
    pub(crate) title: String,
    /// The entry of the navigation that it belongs to.
    pub(crate) section: &'static str,
    pub(crate) live: Live,
    pub(crate) slider: Slider,
    /// The object that proofs are of, as commands name it.
    pub(crate) subject: Option<String>,
    /// The page as Markdown.
    pub(crate) markdown: String,
    /// The command that shows the same.
    pub(crate) command: String,
    pub(crate) data: T,
}

impl<T> Page<T> {
    /// The same page with other data.
    pub(crate) fn with_data<U>(self, data: U) -> Page<U> {
        Page {
            title: self.title,
            section: self.section,
            live: self.live,
            slider: self.slider,
            subject: self.subject,
            markdown: self.markdown,
            command: self.command,
            data,
        }
    }
}

/// What the API answers: the data, and of which moment they are.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Envelope<T> {
    /// The position that is shown: the log as it was after this event.
    pub(crate) position: u64,
    /// Where the log ended when the request came.
    pub(crate) log_end: u64,
    /// When the log took the event at that position, by its own clock.
    pub(crate) recorded_at: Option<String>,
    /// The log's id.
    pub(crate) log_id: String,
    /// What shows that this was in the log.
    pub(crate) proof: Proof,
    /// What was asked for.
    pub(crate) data: T,
}

impl Asked {
    /// The object that an address names. Of one that has a stream of its own an address may say the version that is to
    /// be shown, instead of a position.
    pub(crate) async fn find(&mut self, name: &str) -> Result<(Found, Slider), Problem> {
        let version = self.params.number("version")?;
        if version.is_some() {
            let end = self.moment.end;
            self.moment = Moment {
                position: end,
                end,
                is_chosen: true,
            };
        }
        let found = self.reading().find(name).await?;
        if let Some(rest) = self.path.strip_prefix("/objects/") {
            // The address that goes on being right has the whole id.
            let rest = rest.split_once('/').map(|(_, rest)| format!("/{rest}"));
            self.path = format!("/objects/{}{}", found.id, rest.unwrap_or_default());
        }
        if found.stream.kind.kind() != Some(found.kind) {
            return Ok((found, Slider::Positions));
        }
        let (position, shown, all) = self.reading().version(&found, version).await?;
        if version.is_some() {
            self.moment.position = position;
        }
        Ok((found, Slider::Versions { shown, all }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_asked_for_up_to_a_quarter_of_an_hour() {
        let now = DateTime::from_timestamp(1_000_000_000, 0).unwrap_or_default();
        assert_eq!(now.to_rfc3339(), "2001-09-09T01:46:40+00:00");
        assert_eq!(next_quarter(now), "2001-09-09T02:00:00Z");
    }

    #[test]
    fn values_stand_in_addresses_as_they_are() {
        assert_eq!(escaped("2026-01-01T00:00:00Z"), "2026-01-01T00:00:00Z");
        assert_eq!(escaped("a&b=c d\"é"), "a%26b%3Dc%20d%22%C3%A9");
    }
}
