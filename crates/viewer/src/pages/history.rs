//! What happened to an object, page by page.

use axum::extract::Path;
use axum::response::Response;
use maud::html;

use crate::answer::{Asked, Page};
use crate::model::Row;
use crate::pages::log::{EventList, markdown, newest_first, orders, table};
use crate::pages::object::{self, streams};
use crate::problem::Problem;

pub(crate) async fn history(
    mut asked: Asked,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let (found, slider) = asked.find(&name).await?;
    let newest_first = newest_first(&asked, false)?;
    let after = asked.params.number("after")?;
    let limit = asked.params.limit()?;
    let mut reading = asked.reading();
    let events = reading.history(&found, after, newest_first, limit).await?;
    let row = reading.row(&found.row).await?;
    let row = row.unwrap_or_else(|| Row::of(&found.row));
    let session = object::session_of(&asked, &found).await?;
    let list = EventList {
        events: events.rows,
        next: events.next,
    };
    let page = Page {
        title: format!("History of {}", row.name()),
        section: object::section(found.kind),
        live: streams(&found),
        slider,
        subject: Some(found.id.to_string()),
        markdown: format!("# History of {}\n\n{}", row.name(), markdown(&list.events)),
        command: format!(
            "annals log history {} --at {}",
            found.id, asked.moment.position
        ),
        data: list,
    };
    let draw = |list: &EventList| {
        html! {
            (object::head(&row, found.kind, session.as_ref(), asked.moment))
            (object::tabs(found.kind, found.id, "History", asked.moment))
            section {
                div.head { h2 { "What happened" } (orders(&asked, newest_first)) }
                (table(list, &asked, false))
            }
        }
    };
    asked.answer(page, draw).await
}
