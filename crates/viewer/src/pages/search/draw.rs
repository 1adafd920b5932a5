//! Draws a search: the form, and what was found.

use annals_search::{Facet, Query};
use maud::{Markup, html};

use uuid::Uuid;

use super::model::{Found, FoundSession, Piece, Search};
use crate::answer::Asked;
use crate::figures::{Clock, counted as counted_as, grouped, local_time, or_unknown, time};
use crate::foreign;
use crate::html::{event, more, nothing, place, who};
use crate::moment::Moment;
use crate::pages::list::LISTS;
use crate::session_entry::{agent_name, dot};

pub(super) fn draw(search: &Search, asked: &Asked) -> Markup {
    let clock = Clock::new(annals::event_log::now().into());
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
            section {
                (nothing("Nothing has these words."))
                @if let Some(words) = as_beginning(&search.query) {
                    p { a href=(asked.with(&[("q", &words), ("at", &at(asked))])) { "Search for words that begin so: " (foreign::text(&words)) } }
                }
            }
        } @else {
            section.hits {
                @for session in &search.sessions { (group(session, search, asked.moment, clock)) }
                @if let Some(next) = search.next { (more(&asked.with(&[("from", &next.to_string()), ("at", &at(asked))]), "Further on")) }
            }
        }
    }
}

/// The words with the last one as a beginning; `None` if that asks the same.
fn as_beginning(words: &str) -> Option<String> {
    let open = format!("{}*", words.trim_end());
    let query = Query::parse(&open).ok()?;
    (Query::parse(words) != Ok(query)).then_some(open)
}

/// The moment, as an address says it.
fn at(asked: &Asked) -> String {
    match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    }
}

/// How many turns of how many sessions are shown, and whether there may be more.
fn counted(search: &Search) -> String {
    let turns: u64 = search.sessions.iter().map(|it| it.turns.len() as u64).sum();
    let sessions = search.sessions.iter().filter(|it| it.id.is_some()).count();
    let turns = match turns {
        0 => return "none".to_owned(),
        turns => counted_as(turns, "turn", "turns"),
    };
    let sessions = counted_as(sessions as u64, "session", "sessions");
    match search.next.is_none() && search.is_exact {
        true => format!("{turns} in {sessions}"),
        false => format!("{turns} in {sessions}, and more"),
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
                option value="" { "All texts" }
                @for one in Facet::ALL { option value=(one.as_str()) selected[facet == Some(one.as_str())] { (texts(one)) } }
            }
            select name="kind" aria-label="On which objects" {
                option value="" { "All objects" }
                @for listed in LISTS { @let word = listed.kind.object_type();
                    option value=(word) selected[kind == Some(word)] { (listed.title) } }
            }
            label { input type="checkbox" name="newest" value="1" checked[params.get("newest").is_some()]; " newest first" }
            button type="submit" { "Search" }
        }
    }
}

/// What a facet has, for people.
fn texts(facet: Facet) -> &'static str {
    match facet {
        Facet::Prompts => "Prompts and questions",
        Facet::Tools => "Tool calls",
        Facet::Results => "Results",
        Facet::Rationale => "Answers and reasons",
    }
}

/// The hits of a session, or those that belong to no session.
fn group(session: &FoundSession, search: &Search, moment: Moment, clock: Clock) -> Markup {
    let hit_at = |position| search.hits.iter().find(|hit| hit.position == position);
    let hits = session.turns.iter();
    let hits = hits.filter_map(|turn| Some((turn.turn, hit_at(turn.position)?)));
    let Some(id) = session.id else {
        return html! { @for (_, hit) in hits { (found(hit, moment)) } };
    };
    let title = session.title.as_deref().filter(|it| !it.trim().is_empty());
    let count = session.turns.len() as u64;
    html! {
        section.box.group {
            header {
                h2 {
                    @if let Some(status) = session.status { (dot(status)) }
                    a href=(moment.link(&format!("/sessions/{id}"))) { (foreign::one_line(title.unwrap_or("Session without a prompt"), 120)) }
                }
                span {
                    @if let Some(project) = &session.project { (project) " · " }
                    @if let Some(agent) = &session.agent { (agent_name(agent)) }
                }
                span.spacer {}
                span.num { (counted_as(count, "turn", "turns")) }
                (or_unknown(session.last_activity, |at| clock.ago(at)))
            }
            @for (turn, hit) in hits { (turn_hit(id, turn, hit, (moment, clock))) }
        }
    }
}

/// A turn with its best line, which opens the conversation there.
fn turn_hit(
    session: Uuid,
    turn: Option<u64>,
    hit: &Found,
    (moment, clock): (Moment, Clock),
) -> Markup {
    let address = match turn {
        Some(turn) => {
            let from = turn.saturating_sub(20).max(1);
            let page = moment.link(&format!("/sessions/{session}?from={from}"));
            format!("{page}#turn-{turn}")
        }
        None => moment.link(&format!("/events/{}", hit.position)),
    };
    html! {
        a.hit href=(address) data-position=(hit.position) {
            span.where {
                b { (foreign::text(&label(hit))) }
                @match turn { Some(turn) => { "turn " (turn) }, None => { "event " (hit.position) } }
                @if let Some(at) = local_time(&hit.occurred_at) { " · " (clock.day_and_time(at)) }
            }
            span.ctx.code[hit.tool().is_some()] { (snippet(hit)) }
        }
    }
}

/// What has the words: of a tool call the tool.
fn label(hit: &Found) -> String {
    match (hit.facet, hit.tool()) {
        ("results", Some(tool)) => format!("{tool}, result"),
        (_, Some(tool)) => tool.to_owned(),
        (facet, None) => role(facet).to_owned(),
    }
}

/// The role of a text in a conversation.
pub(super) fn role(facet: &str) -> &str {
    match facet {
        "prompts" => "Prompt",
        "tools" => "Tool call",
        "results" => "Result",
        "rationale" => "Answer",
        other => other,
    }
}

/// The line that has the words.
fn snippet(hit: &Found) -> Markup {
    snippet_of(&hit.snippet, hit.is_cut_before, hit.is_cut_behind)
}

/// A line in pieces, with the words marked.
pub(super) fn snippet_of(pieces: &[Piece], is_cut_before: bool, is_cut_behind: bool) -> Markup {
    html! {
        @if is_cut_before { "…" }
        @for piece in pieces {
            @if piece.mark { mark { (foreign::text(&piece.text)) } } @else { (foreign::text(&piece.text)) }
        }
        @if is_cut_behind { "…" }
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
            p.snippet { (snippet(hit)) }
            div.line {
                span { "event " (event(hit.position, moment)) } (time(&hit.occurred_at)) (who(&hit.actor))
                span { "in " (hit.facet) } span.type { (hit.event_type) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_word_may_be_a_beginning() {
        for (words, open) in [
            ("pagin", Some("pagin*")),
            ("fail pagin ", Some("fail pagin*")),
            ("pagin*", None),
            ("\"the list\"", None),
            ("fail p", None),
        ] {
            assert_eq!(as_beginning(words).as_deref(), open, "{words}");
        }
    }
}
