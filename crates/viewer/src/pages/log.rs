//! The log's events, the newest first.

use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Asked, Live, Page, Slider};
use crate::html::{events, more, nothing};
use crate::model::EventRow;
use crate::pages::list::plain;
use crate::problem::Problem;

/// Part of the log, or of an object's history.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventList {
    /// The events.
    pub(crate) events: Vec<EventRow>,
    /// Where it goes on, as `after`; null where this is the end.
    pub(crate) next: Option<u64>,
}

/// Whether an address asks for the newest first.
pub(crate) fn newest_first(asked: &Asked, otherwise: bool) -> Result<bool, Problem> {
    match asked.params.get("order") {
        None => Ok(otherwise),
        Some("newest") => Ok(true),
        Some("oldest") => Ok(false),
        Some(other) => {
            let shown: String = other.chars().take(64).collect();
            let detail = format!("invalid order {shown:?}: expected newest or oldest");
            Err(Problem::invalid(detail))
        }
    }
}

pub(crate) async fn log(asked: Asked) -> Result<Response, Problem> {
    let newest_first = newest_first(&asked, true)?;
    let after = asked.params.number("after")?;
    let limit = asked.params.limit()?;
    let found = asked.reading().log(after, newest_first, limit).await?;
    let list = EventList {
        events: found.rows,
        next: found.next,
    };
    let page = Page {
        title: "Log".to_owned(),
        section: "Log",
        live: Live::Log,
        slider: Slider::Positions,
        subject: None,
        markdown: format!("# Log\n\n{}", markdown(&list.events)),
        command: "annals log".to_owned(),
        data: list,
    };
    asked
        .answer(page, |list| draw(list, &asked, newest_first))
        .await
}

fn draw(list: &EventList, asked: &Asked, newest_first: bool) -> Markup {
    html! {
        section {
            div.head { h1 { "Log" } (orders(asked, newest_first)) }
            (table(list, asked, true))
        }
    }
}

/// A table of events, and the way on.
pub(crate) fn table(list: &EventList, asked: &Asked, with_object: bool) -> Markup {
    let at = match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    };
    html! {
        @if list.events.is_empty() { (nothing("There are no events here.")) }
        @else { (events(&list.events, asked.moment, with_object)) }
        @if let Some(next) = list.next {
            (more(&asked.with(&[("after", &next.to_string()), ("at", &at)]), "More"))
        }
    }
}

/// In which order events are shown.
pub(crate) fn orders(asked: &Asked, newest_first: bool) -> Markup {
    let link = |word: &str| asked.with(&[("order", word), ("after", "")]);
    html! {
        div.filters role="group" aria-label="Order" {
            a href=(link("newest")) aria-current=[newest_first.then_some("true")] { "newest first" }
            a href=(link("oldest")) aria-current=[(!newest_first).then_some("true")] { "oldest first" }
        }
    }
}

/// Events as a list in Markdown.
pub(crate) fn markdown(events: &[EventRow]) -> String {
    let line = |event: &EventRow| {
        let who = event.actor.name.as_deref().unwrap_or(&event.actor.id);
        format!(
            "- {} {} {} `{}` {}\n",
            event.position,
            event.occurred_at,
            plain(who),
            event.event_type,
            plain(&event.summary)
        )
    };
    events.iter().map(line).collect()
}
