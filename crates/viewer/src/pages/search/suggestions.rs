//! Suggestions while a person types in the header's box: few turns of few sessions, as a part of a page and as JSON.

use annals::At;
use annals_search::{Query, SearchRequest};
use axum::response::Response;

use super::suggestion_list;
use super::suggestion_model::{SuggestedSession, SuggestionList, sentence};
use crate::answer::{Asked, escaped};
use crate::pages::session::clock;
use crate::problem::Problem;
use crate::shown;

/// The most sessions, and the most turns of each.
const SESSIONS: usize = 6;
const TURNS: usize = 3;

/// Answers with the list of suggestions: a part of a page, or its JSON.
pub(crate) async fn suggestions(asked: Asked) -> Result<Response, Problem> {
    let list = read(&asked).await?;
    if asked.is_api {
        return shown::json(&asked.envelope(list).await?);
    }
    let clock = clock(&asked).await?;
    Ok(shown::page(suggestion_list::draw(&list, clock)))
}

async fn read(asked: &Asked) -> Result<SuggestionList, Problem> {
    let words = asked.params.get("q").unwrap_or_default();
    let mut list = SuggestionList {
        query: words.to_owned(),
        all: asked.moment.link(&format!("/search?q={}", escaped(words))),
        ..SuggestionList::default()
    };
    if words.trim().is_empty() {
        return Ok(list);
    }
    let query = match Query::parse_typed(words) {
        Ok(query) => query,
        // The words are not complete yet.
        Err(error) => {
            list.note = Some(sentence(&error.to_string()));
            return Ok(list);
        }
    };
    let until = Some(At::Position(asked.moment.position)).filter(|_| asked.moment.is_chosen);
    let request = SearchRequest::new(query).with_until(until);
    let searching = &asked.shared.searching;
    let suggested = searching.suggest(request, SESSIONS, TURNS).await?;
    let now = clock(asked).await?.now();
    let found = suggested.found.as_ref();
    let groups = found.map_or(&[][..], |found| found.sessions.as_slice());
    if !asked.moment.is_chosen {
        searching.warm_found(asked.annals(), groups);
    }
    list.sessions = groups
        .iter()
        .map(|group| SuggestedSession::of(group, asked.moment, now))
        .collect();
    let searched = found.map(|found| found.searched.0);
    let end = match found.filter(|_| !asked.moment.is_chosen) {
        Some(found) => found.end.0,
        None => asked.moment.position.0,
    };
    list.describe(searched, end, suggested.is_kept, &suggested.upkeep);
    Ok(list)
}
