//! Draws a search: the form, and what was found.

use annals_search::Facet;
use maud::{Markup, html};

use super::model::{Found, Search};
use crate::answer::Asked;
use crate::html::{event, grouped, more, nothing, place, time, who};
use crate::moment::Moment;
use crate::pages::list::LISTS;

pub(super) fn draw(search: &Search, asked: &Asked) -> Markup {
    html! {
        section {
            div.head { h1 { "Search" } @if !search.query.is_empty() { span.count { (counted(search)) } } }
            (form(search, asked))
        }
        @if let Some(lag) = &search.lag { section { p.nothing { (lag) "; searched up to event " (grouped(search.searched)) } } }
        @if search.passed_over > 0 { section { p.nothing { (grouped(search.passed_over)) " more events may have it, and were not looked at: name a rarer word, or choose texts or objects." } } }
        @if search.query.is_empty() {
            section { p.second { "Words in any order and either case; \"words in quotes\" next to each other; pagin* begins so; -word is not there." } }
        } @else if search.hits.is_empty() && search.passed_over == 0 {
            section { (nothing("Nothing has these words.")) }
        } @else {
            section.hits {
                @for hit in &search.hits { (found(hit, asked.moment)) }
                @if let Some(next) = search.next { (more(&asked.with(&[("from", &next.to_string()), ("at", &at(asked))]), "Further on")) }
            }
        }
    }
}

/// The moment, as an address says it.
fn at(asked: &Asked) -> String {
    match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    }
}

fn counted(search: &Search) -> String {
    let from = search.from as u64;
    let last = from + search.hits.len() as u64;
    match (search.is_exact, search.hits.is_empty()) {
        (_, true) => "none".to_owned(),
        (true, _) => format!(
            "{} to {} of {} events",
            grouped(from + 1),
            grouped(last),
            grouped(search.count)
        ),
        (false, _) => format!(
            "{} to {}, and perhaps more",
            grouped(from + 1),
            grouped(last)
        ),
    }
}

fn form(search: &Search, asked: &Asked) -> Markup {
    let params = &asked.params;
    let (facet, kind) = (params.get("in"), params.get("kind"));
    html! {
        form.search method="get" action="/search" role="search" {
            @if asked.moment.is_chosen { input type="hidden" name="at" value=(asked.moment.position); }
            input type="search" name="q" value=(search.query) aria-label="Words" placeholder="words, \"a phrase\", begin*, -not" autocomplete="off" maxlength="1000";
            select name="in" aria-label="In which texts" {
                option value="" { "in all texts" }
                @for one in Facet::ALL { option value=(one.as_str()) selected[facet == Some(one.as_str())] { "in " (one.as_str()) } }
            }
            select name="kind" aria-label="On which objects" {
                option value="" { "on anything" }
                @for listed in LISTS { @let word = listed.kind.object_type();
                    option value=(word) selected[kind == Some(word)] { (word.replace('_', " ")) } }
            }
            label { input type="checkbox" name="newest" value="1" checked[params.get("newest").is_some()]; " newest first" }
            button type="submit" { "Search" }
        }
    }
}

/// What was found: the object as it was then, its line, the event.
fn found(hit: &Found, moment: Moment) -> Markup {
    let address = match &hit.object {
        Some(object) => format!("{}?at={}", place(object.id), hit.position),
        None => format!("/events/{}", hit.position),
    };
    let name = hit.name.as_deref().unwrap_or(&hit.event_type);
    // What has no title is called by its kind already.
    let kind = hit
        .object
        .as_ref()
        .map(|object| object.kind.replace('_', " "));
    let kind = kind.filter(|kind| !name.starts_with(kind.as_str()));
    html! {
        article.card data-position=(hit.position) {
            h2 { a href=(address) { @if let Some(kind) = kind { span.kind { (kind) " " } } (name) } }
            p.snippet {
                @if hit.is_cut_before { "…" }
                @for piece in &hit.snippet { @if piece.mark { mark { (piece.text) } } @else { (piece.text) } }
                @if hit.is_cut_behind { "…" }
            }
            div.line {
                span { "event " (event(hit.position, moment)) } (time(&hit.occurred_at)) (who(&hit.actor))
                span { "in " (hit.facet) } span.type { (hit.event_type) }
            }
        }
    }
}
