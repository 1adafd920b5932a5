//! The home page: the list of sessions, with what waits for a person and what the last days cost.

mod chart;
mod filter;
mod table;

use annals::projections::{CostAxis, CostReport, CostTime, CostZone};
use annals::{CostQuery, SessionPage, SessionQuery};
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use self::chart::StackedDays;
use self::filter::{Choices, Filter};
use crate::answer::{Asked, Live, Page, Slider};
use crate::costing;
use crate::figures::{Clock, counted, money, since};
use crate::foreign;
use crate::html::grouped;
use crate::moment::Moment;
use crate::pages::list::plain;
use crate::pages::session::{at, clock};
use crate::problem::Problem;
use crate::session_entry::SessionEntry;
use crate::shell::SESSIONS;

/// Sessions of a page, unless `limit` says otherwise.
const PART: usize = 50;
/// Waiting sessions on the card.
const WAITING: usize = 4;
/// Days of the chart.
const DAYS: u32 = 14;
/// The newest sessions, from which the cards and the choices of the filters are made.
const NEWEST: usize = 300;

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
    #[serde(skip)]
    cards: Option<Cards>,
}

/// What the page shows above the list.
#[derive(Debug)]
struct Cards {
    /// Sessions that wait for a person, of the newest ones.
    waiting: Vec<SessionEntry>,
    /// Sessions that failed; `None` if not all sessions were read.
    failed: Option<usize>,
    /// Whether the newest sessions are all of the log's.
    is_all: bool,
    today: Sums,
    week: Sums,
    before: Sums,
    days: StackedDays,
    choices: Choices,
}

/// Sessions of some days.
#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    micros: u128,
    sessions: usize,
    files: u64,
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
        .with_at(at(asked))
        .with_now(clock.now())
}

async fn read(asked: &Asked, filter: &Filter, clock: Clock) -> Result<SessionList, Problem> {
    let from = usize::try_from(asked.params.number("from")?.unwrap_or(0)).unwrap_or(usize::MAX);
    let limit = match asked.params.get("limit") {
        Some(_) => asked.params.limit()?,
        None => PART,
    };
    let conversations = asked.annals().conversations();
    // A scan of all sessions: the newest ones serve the cards, and the list if nothing is filtered.
    let newest = match asked.is_api {
        true => None,
        false => {
            let newest = query(asked, clock).with_limit(NEWEST);
            Some(conversations.list(&newest).await?)
        }
    };
    let is_first = filter.is_default() && from == 0 && limit <= NEWEST;
    let page = match newest.clone().filter(|_| is_first) {
        Some(newest) => newest,
        None => {
            let wanted = filter.apply(query(asked, clock));
            conversations
                .list(&wanted.with_offset(from).with_limit(limit))
                .await?
        }
    };
    let SessionPage {
        mut sessions,
        total,
        all,
        ..
    } = page;
    sessions.truncate(limit);
    let cards = match newest.filter(|newest| newest.all > 0) {
        None => None,
        Some(newest) => Some(cards(asked, filter, clock, &newest).await?),
    };
    let next = from.saturating_add(sessions.len());
    Ok(SessionList {
        next: (!sessions.is_empty() && next < total).then_some(next),
        sessions: sessions.iter().map(SessionEntry::of).collect(),
        total,
        all,
        from,
        cards,
    })
}

async fn cards(
    asked: &Asked,
    filter: &Filter,
    clock: Clock,
    page: &SessionPage,
) -> Result<Cards, Problem> {
    let newest: Vec<SessionEntry> = page.sessions.iter().map(SessionEntry::of).collect();
    let is_all = newest.len() >= page.all;
    let stacked = match asked.params.get("stack") {
        Some("model") => CostAxis::Model,
        _ => "project".parse().unwrap_or(CostAxis::Model),
    };
    let begins = CostTime::Days(DAYS).begins(CostZone::Local, clock.now());
    let costs = CostQuery::by([CostAxis::Day, stacked])
        .with_zone(CostZone::Local)
        .with_since(begins);
    let report = costing::report(asked.annals(), costs).await?;
    let days = StackedDays::of(&report, CostZone::Local.day_at(clock.now()));
    let sums = |from: i64, to: i64| sums(&newest, &report, clock, from, to);
    Ok(Cards {
        waiting: newest
            .iter()
            .filter(|it| it.status == "waiting")
            .cloned()
            .collect(),
        failed: is_all.then(|| newest.iter().filter(|it| it.status == "failed").count()),
        is_all,
        today: sums(0, 1),
        week: sums(0, 7),
        before: sums(7, 14),
        days,
        choices: Choices::of(&newest, filter),
    })
}

/// The sums of the days from `from` days ago up to `to` days ago.
fn sums(newest: &[SessionEntry], report: &CostReport, clock: Clock, from: i64, to: i64) -> Sums {
    let today = CostZone::Local.day_at(clock.now());
    let is_in = |day: chrono::NaiveDate| (from..to).contains(&(today - day).num_days());
    let of_days = report.rows.iter().filter(|row| {
        let day = row.by.first().and_then(|key| key.value.as_deref());
        day.and_then(|day| day.parse().ok()).is_some_and(is_in)
    });
    let micros = of_days
        .map(|row| row.sums.computed_micros)
        .fold(0, u128::saturating_add);
    let active = newest.iter().filter(|entry| {
        entry
            .last_activity
            .is_some_and(|at| is_in(crate::figures::local(at).date_naive()))
    });
    active.fold(
        Sums {
            micros,
            ..Sums::default()
        },
        |sums, entry| Sums {
            sessions: sums.sessions + 1,
            files: sums.files.saturating_add(entry.files),
            ..sums
        },
    )
}

fn draw(list: &SessionList, filter: &Filter, asked: &Asked, clock: Clock) -> Markup {
    let moment = asked.moment;
    let Some(cards) = &list.cards else {
        return empty();
    };
    html! {
        div.head {
            h1 { "Sessions" }
            span.dim { (counted(list.all as u64, "session", "sessions")) @if let Some(projects) = cards.choices.projects().filter(|_| cards.is_all) { " in " (projects) } }
        }
        section.cards aria-label="Summary" {
            (waiting(cards, moment, clock))
            (today("Today", cards.today, &asked.moment.link("/?date=1d")))
            (week(cards, &asked.moment.link("/?date=7d")))
        }
        section.charts.one aria-label="Charts" { (chart::draw(&cards.days, asked)) }
        (filter::draw(filter, &cards.choices, (cards.waiting.len(), cards.failed), list, asked))
        @if list.sessions.is_empty() { (filter::no_match(filter, moment)) }
        @else { (table::draw(list, filter, asked, clock)) }
        @if list.from > 0 || list.next.is_some() { (pager(list, asked)) }
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

fn waiting(cards: &Cards, moment: Moment, clock: Clock) -> Markup {
    if cards.waiting.is_empty() {
        return html! { div.box.card { h2 { "Waiting for you" } div.big { "0" } p { "No open permission or question" } } };
    }
    html! {
        div.box.card.waits {
            div { h2 { "Waiting for you" } div.big { (grouped(cards.waiting.len() as u64)) } }
            ul { @for session in cards.waiting.iter().take(WAITING) { li {
                a href=(moment.link(&session.address())) dir="auto" { (foreign::text(&session.name())) }
                span.dim.num { @if let Some(at) = session.waiting_since { (since(clock.now(), at)) } }
            } } }
        }
    }
}

fn today(title: &str, sums: Sums, address: &str) -> Markup {
    html! {
        div.box.card { h2 { (title) }
            div.big { (money(sums.micros)) }
            p { a href=(address) { (counted(sums.sessions as u64, "session", "sessions")) } span.desk { ", " (counted(sums.files, "file changed", "files changed")) } }
        }
    }
}

fn week(cards: &Cards, address: &str) -> Markup {
    let (now, before) = (cards.week.micros, cards.before.micros);
    let change = (before > 0).then(|| {
        let percent = now.saturating_mul(100) / before;
        match percent {
            100 => "as much as the week before".to_owned(),
            more @ 101..=1_000 => format!("+{} % week on week", more - 100),
            1_001.. => "over 10 times the week before".to_owned(),
            less => format!("−{} % week on week", 100 - less),
        }
    });
    html! {
        div.box.card { h2 { "Last 7 days" }
            div.big { (money(now)) }
            p { a href=(address) { (counted(cards.week.sessions as u64, "session", "sessions")) } @if let Some(change) = change { ", " (change) } }
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
