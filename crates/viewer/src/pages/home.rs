//! The home page: the list of sessions, with what waits for a person and what the last days cost.

mod budget;
mod cards;
mod chart;
mod filter;
mod heat;
mod summary;
mod table;

#[cfg(test)]
mod tests;

use annals::domain::Timestamp;
use annals::{SessionPage, SessionQuery};
use axum::response::Response;
use chrono::Datelike as _;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use self::filter::{Choices, Filter};
use self::summary::HomeSummary;
use crate::answer::{Asked, Live, Page, Slider};
use crate::figures::{Clock, counted, grouped, local, money};
use crate::pages::list::plain;
use crate::pages::session::clock;
use crate::problem::Problem;
use crate::session_entry::{SessionEntry, label_projects};
use crate::shell::SESSIONS;

/// Sessions of a page, unless `limit` says otherwise.
const PART: usize = 50;

/// Part of the list of sessions.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionList {
    /// The sessions, newest activity first unless `sort` says otherwise.
    pub(crate) sessions: Vec<SessionEntry>,
    /// Sessions that match the filter.
    pub(crate) total: usize,
    /// Sessions of the log.
    pub(crate) all: usize,
    /// The first session of this part, from 0.
    pub(crate) from: usize,
    /// The first session of the next part, as `from`; null at the end.
    pub(crate) next: Option<usize>,
    /// Facts about all sessions; only a page has them, unless the log has no session.
    #[serde(skip)]
    summary: Option<HomeSummary>,
}

/// The home page and the list of sessions.
pub(crate) async fn sessions(asked: Asked) -> Result<Response, Problem> {
    let clock = clock(&asked).await?;
    let filter = Filter::read(&asked.params, clock.now())?;
    let list = read(&asked, &filter, clock).await?;
    let page = Page {
        title: "Sessions".to_owned(),
        section: SESSIONS,
        live: Live::Log,
        slider: Slider::Positions,
        subject: None,
        markdown: markdown(&list),
        command: filter.command(),
        data: list,
    };
    asked
        .answer(page, |list| draw(list, &filter, &asked, clock))
        .await
}

/// A query for the sessions of the shown position.
fn query(asked: &Asked, clock: Clock) -> SessionQuery {
    SessionQuery::default()
        .with_at(asked.at())
        .with_now(clock.now())
}

async fn read(asked: &Asked, filter: &Filter, clock: Clock) -> Result<SessionList, Problem> {
    let from = usize::try_from(asked.params.number("from")?.unwrap_or(0)).unwrap_or(usize::MAX);
    let limit = match asked.params.get("limit") {
        Some(_) => asked.params.limit()?,
        None => PART,
    };
    let wanted = filter.apply(query(asked, clock));
    let wanted = wanted.with_offset(from).with_limit(limit);
    let (page, summary) = match asked.is_api {
        true => (asked.annals().conversations().list(&wanted).await?, None),
        false => {
            let (page, summary) = summary::read(asked, wanted, clock).await?;
            (page, Some(summary))
        }
    };
    let SessionPage {
        sessions,
        total,
        all,
        ..
    } = page;
    let next = from.saturating_add(sessions.len());
    let mut sessions: Vec<SessionEntry> = sessions.iter().map(SessionEntry::of).collect();
    let projects = summary.iter().flat_map(|summary| summary.projects.iter());
    label_projects(&mut sessions, projects.map(String::as_str));
    Ok(SessionList {
        next: (!sessions.is_empty() && next < total).then_some(next),
        sessions,
        total,
        all,
        from,
        summary: summary.filter(|_| all > 0),
    })
}

fn draw(list: &SessionList, filter: &Filter, asked: &Asked, clock: Clock) -> Markup {
    let moment = asked.moment;
    let Some(summary) = &list.summary else {
        return empty();
    };
    let choices = Choices::of(summary, filter, clock);
    let at = match moment.is_chosen {
        true => moment.position.to_string(),
        false => String::new(),
    };
    let stack = |by: &str| asked.with(&[("stack", by), ("at", &at)]);
    let stack = [stack(""), stack("model")];
    html! {
        (head(list.all, summary, clock))
        (cards::draw(summary, moment, clock))
        section.charts aria-label="Charts" {
            (chart::draw(&summary.costs, moment, &stack))
            (heat::draw(&summary.days, filter.day(), moment))
        }
        (filter::draw(filter, &choices, (summary.waiting_sessions, summary.failed), list, (&asked.params, moment)))
        @if list.sessions.is_empty() { (filter::no_match(filter, moment)) }
        @else { (table::draw(list, filter, asked, clock)) }
        @if list.from > 0 || list.next.is_some() { (pager(list, asked)) }
    }
}

/// The heading with the number of sessions, their projects, and the day of the first one.
fn head(all: usize, summary: &HomeSummary, clock: Clock) -> Markup {
    let projects = summary.projects.len() as u64;
    html! {
        div.head {
            h1 { "Sessions" }
            span.dim {
                (grouped(all as u64))
                @if projects > 0 { " in " (counted(projects, "project", "projects")) }
                @if let Some(since) = summary.since { ", since " (day(since, clock)) }
            }
        }
    }
}

/// A day, such as "2 June"; with the year if that is another one.
fn day(at: Timestamp, clock: Clock) -> String {
    let at = local(at);
    match at.year() == local(clock.now()).year() {
        true => at.format("%-d %B").to_string(),
        false => at.format("%-d %B %Y").to_string(),
    }
}

/// The page of a log without sessions.
fn empty() -> Markup {
    html! {
        div.head { h1 { "Sessions" } }
        div.box.empty {
            h2 { "No sessions yet" }
            p { "Annals found no recordings of agents in this log." }
            p { "Import the recordings of this machine: " code { "annals start" } }
            p { "Import another folder: " code { "annals import DIR" } }
        }
    }
}

fn pager(list: &SessionList, asked: &Asked) -> Markup {
    let at = match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    };
    let link = |from: usize| {
        asked.with(&[
            (
                "from",
                &if from == 0 {
                    String::new()
                } else {
                    from.to_string()
                },
            ),
            ("at", &at),
        ])
    };
    let last = list.from.saturating_add(list.sessions.len());
    html! {
        nav.pager aria-label="Pages" {
            span { (grouped((list.from as u64).saturating_add(1))) " to " (grouped(last as u64)) " of " (grouped(list.total as u64)) }
            @if list.from > 0 { a.button rel="prev" href=(link(list.from.saturating_sub(PART))) { "Newer" } }
            @if let Some(next) = list.next { a.button rel="next" href=(link(next)) { "Next " (PART) } }
            span { "Costs include sub-agents." }
        }
    }
}

fn markdown(list: &SessionList) -> String {
    let line = |session: &SessionEntry| {
        format!(
            "- {} ({}, {}, {})\n",
            plain(&session.name()),
            plain(session.project_name.as_deref().unwrap_or("no project")),
            session.status,
            session
                .micros
                .map_or_else(|| "cost unknown".to_owned(), money),
        )
    };
    let lines: String = list.sessions.iter().map(line).collect();
    format!("# Sessions\n\n{lines}")
}
