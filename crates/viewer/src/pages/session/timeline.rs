//! A session as a timeline: the marks of all of its runs, its prompts and its sub-agents.

use std::collections::HashMap;

use annals::TurnRange;
use annals::domain::RunId;
use annals::event_log::Position;
use axum::extract::Path;
use axum::response::Response;
use maud::html;
use schemars::JsonSchema;
use serde::Serialize;

use super::{NamedSession, find, head, is_short, neighbours, session_page};
use crate::answer::Asked;
use crate::foreign;
use crate::pages::timeline::{self, Lane, Mark, Timeline, TimelineView};
use crate::problem::Problem;
use crate::reading::Reading;
use crate::session_entry::SessionEntry;

/// Characters of a prompt that name its mark.
const NAME: usize = 200;

/// A session with a part of its timeline.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionTimeline {
    /// The session.
    session: SessionEntry,
    /// The timeline of its runs.
    timeline: Timeline,
}

/// The timeline page.
pub(crate) async fn timeline(
    mut asked: Asked,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let NamedSession {
        session,
        clock,
        proof,
    } = find(&mut asked, &name).await?;
    let beside = neighbours(&asked, &session, clock).await?;
    let timeline = read(&asked, &session).await?;
    let page = session_page(&session, &asked, "Timeline of ");
    let page = page.with_data(SessionTimeline { session, timeline });
    let view = TimelineView {
        moment: asked.moment,
        clock: Some(clock),
        of: "session",
    };
    let draw = |read: &SessionTimeline| {
        html! {
            (head::draw(&read.session, &asked, (clock, proof, &beside), "Timeline"))
            div.classic.tab { (timeline::draw(&read.timeline, &asked, view)) }
        }
    };
    asked.answer(page, draw).await
}

async fn read(asked: &Asked, session: &SessionEntry) -> Result<Timeline, Problem> {
    let from = asked.params.number("from")?.unwrap_or(0);
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let mut reading = asked.reading();
    let mut marks = Vec::new();
    for run in &session.runs {
        marks.extend(timeline::run_marks(&mut reading, RunId(*run).stream(), false).await?);
    }
    marks.extend(session.sub_agents.iter().filter_map(sub_agent));
    let turns = prompts(asked, &mut reading, session, &mut marks).await?;
    marks.sort_by_key(|mark| (mark.start, mark.position));
    let mut timeline = timeline::of_marks(&mut reading, &marks, from).await?;
    timeline.link(|mark| Some(address(asked, session, mark, &turns)));
    Ok(timeline)
}

/// The mark of a sub-agent; `None` if its times are unknown.
fn sub_agent(entry: &SessionEntry) -> Option<Mark> {
    let start = entry.started?.to_utc().timestamp_millis();
    let end = entry
        .last_activity
        .map_or(start, |at| at.to_utc().timestamp_millis());
    Some(Mark {
        lane: Lane::Agent,
        start,
        end: end.max(start),
        status: Some(entry.status),
        object: Some(entry.id),
        position: Position(entry.first_position),
        name: Some(entry.name()),
    })
}

/// Adds the marks of the prompts, and returns the turns of those that are known. The prompts of a long session are its
/// intents: its turns are not read.
async fn prompts(
    asked: &Asked,
    reading: &mut Reading<'_>,
    session: &SessionEntry,
    marks: &mut Vec<Mark>,
) -> Result<HashMap<Position, u64>, Problem> {
    let mut turns = HashMap::new();
    if !is_short(session) {
        timeline::intents_of(reading, session.id, marks).await?;
        return Ok(turns);
    }
    let at = asked.moment.at();
    let read = asked
        .annals()
        .conversation(session.id, at, TurnRange::all())
        .await?;
    for prompt in &read.prompts {
        let turn = read.turns.iter().find(|turn| turn.number == prompt.turn);
        let Some((turn, at)) = turn.zip(prompt.at) else {
            continue;
        };
        let start = at.to_utc().timestamp_millis();
        turns.insert(turn.position, turn.number);
        marks.push(Mark {
            lane: Lane::Prompt,
            start,
            end: start,
            status: None,
            object: None,
            position: turn.position,
            name: Some(foreign::one_line(&prompt.beginning, NAME)),
        });
    }
    Ok(turns)
}

/// The address of what a mark is of: the turn in the conversation, or the sub-agent's session.
fn address(
    asked: &Asked,
    session: &SessionEntry,
    mark: &Mark,
    turns: &HashMap<Position, u64>,
) -> String {
    let moment = asked.moment;
    if let (Lane::Agent, Some(id)) = (mark.lane, mark.object) {
        return moment.link(&format!("/sessions/{id}"));
    }
    let known = turns
        .get(&mark.position)
        .filter(|_| mark.lane == Lane::Prompt);
    match known {
        Some(turn) => {
            let from = turn.saturating_sub(20).max(1);
            let page = moment.link(&format!("{}?from={from}", session.address()));
            format!("{page}#turn-{turn}")
        }
        None => moment.link(&format!("{}?position={}", session.address(), mark.position)),
    }
}
