//! One event: its line, its header, and all that it says.

use annals::event_log::Position;
use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Asked, Live, Page, Slider};
use crate::fields::pretty;
use crate::figures::{grouped, time};
use crate::html::{object, who};
use crate::model::{EventRow, Named};
use crate::moment::Moment;
use crate::pages::log::markdown;
use crate::problem::Problem;

/// An event with its content in its place.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct EventPage {
    /// The event in a line.
    #[serde(flatten)]
    row: EventRow,
    /// The event's own id.
    event_id: String,
    /// The batch that it was appended with.
    batch_id: String,
    /// The id of the event that led to it.
    causation: Option<String>,
    /// What it belongs to, beyond its batch.
    correlation: Option<String>,
    /// The stream that it is in.
    stream: String,
    /// The objects that it creates or changes, the principal one first.
    about: Vec<Named>,
    /// The event itself.
    event: serde_json::Value,
    /// How many texts are too long for this answer, and named in their places.
    left_out: usize,
}

pub(crate) async fn event(
    mut asked: Asked,
    Path(position): Path<String>,
) -> Result<Response, Problem> {
    let position = place(&position)?;
    // What it shows never changes, and is of the moment right after it.
    asked.moment = Moment {
        position,
        ..asked.moment
    };
    let mut reading = asked.reading();
    let (entry, stream, record) = reading.event(position).await?;
    let (_, decoded) = annals::wire::decode_event_of(&record)?;
    let about = decoded.touches(stream.id);
    let about = about.iter().map(|(kind, id)| Named {
        kind: kind.object_type(),
        id: *id,
    });
    let named = stream.kind.kind().map(|kind| Named {
        kind: kind.object_type(),
        id: stream.id,
    });
    let page = EventPage {
        row: EventRow::of(&entry, named),
        event_id: record.event_id().to_string(),
        batch_id: record.batch_id().to_string(),
        causation: record.causation().map(|id| id.to_string()),
        correlation: record.correlation().map(|id| id.to_string()),
        stream: stream.to_string(),
        about: about.collect(),
        event: entry.event,
        left_out: reading.left_out,
    };
    let page = Page {
        title: format!("Event {position}"),
        section: "Log",
        live: Live::Never,
        slider: Slider::None,
        subject: Some(position.to_string()),
        markdown: markdown(std::slice::from_ref(&page.row)),
        command: format!("annals log --since {position} -n 1 --json"),
        data: page,
    };
    let moment = asked.moment;
    asked.answer(page, |page| draw(page, moment)).await
}

fn place(text: &str) -> Result<Position, Problem> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(position) if is_number => Ok(Position(position)),
        _ => {
            let shown: String = text.chars().take(64).collect();
            let detail = format!("invalid position {shown:?}: expected a number from 1 on");
            Err(Problem::invalid(detail))
        }
    }
}

fn draw(page: &EventPage, moment: Moment) -> Markup {
    let position = page.row.position;
    let then = Moment {
        position: Position(position),
        is_chosen: true,
        ..moment
    };
    html! {
        div.object-head {
            div.eyebrow { "Event " (grouped(position)) " · " code { (page.row.event_type) } }
            h1 { (page.row.summary) }
            div.line { (time(&page.row.occurred_at)) (who(&page.row.actor)) }
        }
        div.columns {
            div {
                section { h2 { "What it says" } div.panel { (pretty(&page.event)) }
                    @if page.left_out > 0 { p.nothing { (page.left_out) " texts are too long to be shown here." } } }
            }
            div {
                section { h2 { "About" } aside.panel { dl.fields {
                    @for one in &page.about { div { dt { (one.kind.replace('_', " ")) } dd { (object(one.id, then)) } } }
                    div { dt { "stream" } dd { code { (page.stream) } } }
                    div { dt { "version" } dd.num { (page.row.version) } }
                    div { dt { "recorded" } dd { (time(&page.row.recorded_at)) } }
                    div { dt { "event id" } dd { code { (page.event_id) } } }
                    div { dt { "batch" } dd { code { (page.batch_id) } } }
                    @if let Some(id) = &page.causation { div { dt { "caused by" } dd { code { (id) } } } }
                    @if let Some(id) = &page.correlation { div { dt { "belongs to" } dd { code { (id) } } } }
                } } }
                section { h2 { "Beside it" } div.filters {
                    @if position > 1 { a href=(format!("/events/{}", position - 1)) rel="prev" { "← event " (grouped(position - 1)) } }
                    @if position < moment.end.0 { a href=(format!("/events/{}", position + 1)) rel="next" { "event " (grouped(position + 1)) " →" } }
                } }
            }
        }
    }
}
