//! The history of a session: the events of its task, its runs and its context pipelines.

use annals::event_log::Position;
use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use super::event_words::plain as plain_words;
use super::{NamedSession, find, head, neighbours, session_page, session_streams};
use crate::answer::{Asked, Live, Page};
use crate::figures::{Clock, local_time};
use crate::foreign;
use crate::html::{event, who};
use crate::model::EventRow;
use crate::pages::list::plain;
use crate::pages::log::{newest_first, orders};
use crate::problem::Problem;
use crate::session_entry::SessionEntry;

/// Characters of an event's line.
const LINE: usize = 300;

/// A session with a part of its events.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionHistory {
    /// The session.
    session: SessionEntry,
    /// The events, in the order that was asked for.
    events: Vec<EventRow>,
    /// Where it goes on, as `after`; null where this is the end.
    next: Option<u64>,
}

/// The history page.
pub(crate) async fn history(
    mut asked: Asked,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let NamedSession {
        session,
        clock,
        proof,
    } = find(&mut asked, &name).await?;
    let beside = neighbours(&asked, &session, clock).await?;
    let newest_first = newest_first(&asked, true)?;
    let after = asked.params.number("after")?.map(Position);
    let limit = asked.params.limit()?;
    let streams = session_streams(&asked, &session).await?;
    let mut reading = asked.reading();
    let read = reading
        .history_of(&streams, after, newest_first, limit)
        .await?;
    let page = Page {
        live: Live::Streams(streams.iter().map(ToString::to_string).collect()),
        markdown: format!(
            "# History of {}\n\n{}",
            plain(&session.name()),
            markdown(&read.rows)
        ),
        command: format!(
            "annals log history {} --at {}",
            session.id, asked.moment.position
        ),
        ..session_page(&session, &asked, "History of ")
    };
    let page = page.with_data(SessionHistory {
        session,
        events: read.rows,
        next: read.next,
    });
    let draw = |read: &SessionHistory| {
        html! {
            (head::draw(&read.session, &asked, (clock, proof, &beside), "History"))
            div.classic.tab { section {
                div.head { h2 { "Events" } (orders(&asked, newest_first)) }
                (table(read, &asked, clock))
            } }
        }
    };
    asked.answer(page, draw).await
}

/// The events as a list in Markdown.
fn markdown(events: &[EventRow]) -> String {
    let line = |event: &EventRow| {
        let (kind, line) = plain_words(&event.event_type, &event.summary);
        let (position, at) = (event.position, &event.occurred_at);
        format!("- {position} {at} {kind}: {}\n", plain(line))
    };
    events.iter().map(line).collect()
}

/// The events with local times and the kinds of events in plain words.
fn table(read: &SessionHistory, asked: &Asked, clock: Clock) -> Markup {
    if read.events.is_empty() {
        return html! { p.nothing { "There are no events here." } };
    }
    let moment = asked.moment;
    let address = read.session.address();
    let turn = |position: u64| moment.link(&format!("{address}?position={position}"));
    let at = match moment.is_chosen {
        true => moment.position.to_string(),
        false => String::new(),
    };
    let when = |event: &EventRow| {
        html! { @match local_time(&event.occurred_at) { Some(at) => { (clock.exact(at)) } None => { span.none { "time unknown" } } } }
    };
    html! {
        div.scroll tabindex="0" role="region" aria-label="Events of the session" { table.rows.events.stacked {
            thead { tr { th { "When" } th { "What" } th { "Details" } th.wide { "Who" } th.right { "Event" } } }
            tbody { @for row in &read.events { @let (kind, line) = plain_words(&row.event_type, &row.summary); tr data-position=(row.position) {
                td.nowrap { (when(row)) }
                td.kind.nowrap { (kind) }
                td.what { a href=(turn(row.position)) title="Show in the conversation" { (foreign::text(&foreign::cut(line, LINE))) } }
                td.wide { (who(&row.actor)) }
                td.right data-label="event" { (event(row.position, moment)) }
            } } }
        } }
        @if let Some(next) = read.next {
            p.next { a.button rel="next" href=(asked.with(&[("after", &next.to_string()), ("at", &at)])) { "More events" } }
        }
    }
}
