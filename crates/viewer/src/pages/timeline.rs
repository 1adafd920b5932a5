//! A run as a timeline: prompts, calls, sub-agents, patch sets, checks and the decision, by time and with durations.
//!
//! A page draws two hundred marks. A run with more has a strip of bars above, each of as many marks, which lead to
//! theirs.

mod critical;
mod draw;
mod marks;
mod model;
mod scale;

use annals::domain::run::Event;
use annals::domain::{AnyEvent, Kind};
use annals::event_log::Position;
use annals::projections::{CallLine, JsonText};
use axum::extract::Path;
use axum::response::Response;
use maud::html;

pub(crate) use self::draw::{draw, still};
pub(crate) use self::marks::{Lane, Mark, intents_of, run_marks};
use self::model::{Shown, timeline_of};
pub(crate) use self::model::{Timeline, TimelineView};
use crate::answer::{Asked, Page};
use crate::costing;
use crate::html::duration;
use crate::model::Row;
use crate::pages::list::plain;
use crate::pages::object::{self, streams};
use crate::problem::Problem;
use crate::reading::{Found, Reading};

pub(crate) async fn timeline(
    mut asked: Asked,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let (found, slider) = asked.find(&name).await?;
    if found.kind != Kind::Run {
        let detail = format!("a {} has no timeline: expected a run", found.kind);
        return Err(Problem::invalid(detail));
    }
    let from = asked.params.number("from")?.unwrap_or(0);
    let mut reading = asked.reading();
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let mut timeline = read(&mut reading, &found, from).await?;
    if !asked.moment.is_chosen {
        timeline.cost = costing::of(asked.annals(), found.id).await?;
    }
    let row = reading.row(&found.row).await?;
    let row = row.unwrap_or_else(|| Row::of(&found.row));
    let session = object::session_of(&asked, &found).await?;
    let page = Page {
        title: format!("Timeline of {}", row.name()),
        section: "Runs",
        live: streams(&found),
        slider,
        subject: Some(found.id.to_string()),
        markdown: markdown(&row, &timeline),
        command: format!(
            "annals log history {} --at {}",
            found.id, asked.moment.position
        ),
        data: timeline,
    };
    let page_of = |timeline: &Timeline| {
        html! {
            (object::head(&row, found.kind, session.as_ref(), asked.moment))
            (object::tabs(found.kind, found.id, "Timeline", asked.moment))
            (draw(timeline, &asked, TimelineView { moment: asked.moment, clock: None, of: "run" }))
        }
    };
    asked.answer(page, page_of).await
}

/// Reads a run's timeline, from a mark on.
pub(crate) async fn read(
    reading: &mut Reading<'_>,
    run: &Found,
    from: usize,
) -> Result<Timeline, Problem> {
    let marks = marks::marks(reading, run).await?;
    of_marks(reading, &marks, from).await
}

/// A part of the timeline of marks that are in order.
pub(crate) async fn of_marks(
    reading: &mut Reading<'_>,
    marks: &[Mark],
    from: usize,
) -> Result<Timeline, Problem> {
    let mut timeline = timeline_of(marks, from);
    for shown in &mut timeline.marks {
        if let Some(line) = line(reading, shown).await? {
            shown.name = Some(line);
        }
    }
    Ok(timeline)
}

/// What was called, in a line; none of anything but a call.
async fn line(reading: &mut Reading<'_>, shown: &Shown) -> Result<Option<String>, Problem> {
    let is_call = shown
        .mark
        .as_ref()
        .is_some_and(|mark| mark.lane == Lane::Call);
    if !is_call {
        return Ok(None);
    }
    let record = reading
        .annals
        .contents()
        .record(Position(shown.position))
        .await?;
    let Some(record) = record else {
        return Ok(None);
    };
    let entry = reading.entry(&record).await?;
    let (tool, args) = match &entry.event {
        AnyEvent::Run(Event::ToolInvoked(call)) => (call.tool_name, call.args),
        AnyEvent::Run(Event::ToolRequested(call)) => (call.tool_name, call.args),
        _ => return Ok(None),
    };
    let (tool, args) = (entry.text(tool), args.map(|args| entry.json(args)));
    let args = args
        .as_ref()
        .and_then(JsonText::json)
        .map(|json| json.text());
    let line = CallLine::new(tool.as_str().unwrap_or("removed"), args);
    Ok(Some(line.to_string()))
}

fn markdown(row: &Row, timeline: &Timeline) -> String {
    let mut text = format!("# Timeline of {}\n\n", plain(&row.name()));
    for mark in &timeline.marks {
        text.push_str(&format!(
            "- {} {} {} {} ({})\n",
            mark.started_at,
            mark.lane,
            plain(mark.name.as_deref().unwrap_or("")),
            mark.status.unwrap_or(""),
            duration(mark.duration_ms)
        ));
    }
    text
}
