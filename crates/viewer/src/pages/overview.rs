//! The overview: what is running, what failed, what waits for a person, and what came last.

use annals::domain::{Kind, Timestamp};
use annals::projections::{InboxQuery, ListQuery, Status};
use axum::response::Response;
use chrono::DateTime;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Asked, Live, Page, Slider};
use crate::figures::grouped;
use crate::html::{events, nothing, rows};
use crate::model::{EventRow, Row};
use crate::moment::Moment;
use crate::pages::costs::{DayCosts, chart, last_days};
use crate::pages::inbox::Waiting;
use crate::pages::list::markdown;
use crate::problem::Problem;
use crate::reading::Reading;

/// Entries of each list.
const SHOWN: usize = 8;
/// Objects that are looked at for a list, where a moment before now is shown.
const LOOKED_AT: usize = 60;

/// What is going on.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Overview {
    /// Runs that have not ended, the newest first.
    running: Vec<Row>,
    /// Runs and tasks that failed, the newest first.
    failed: Vec<Row>,
    /// The number of entries in the inbox now. Null where another moment is shown.
    waiting_total: Option<u64>,
    /// Intents and sessions that wait for a person now, the oldest first. Empty where another moment is shown.
    waiting: Vec<Waiting>,
    /// What the last days cost now. Null where another moment is shown.
    costs: Option<DayCosts>,
    /// The newest intents.
    intents: Vec<Row>,
    /// The newest sessions.
    sessions: Vec<Row>,
    /// The newest runs.
    runs: Vec<Row>,
    /// The newest events.
    events: Vec<EventRow>,
}

const RUNNING: &[Status] = &[Status::Created, Status::Patching, Status::Validating];
const FAILED: &[Status] = &[Status::Failed];

pub(crate) async fn overview(asked: Asked) -> Result<Response, Problem> {
    let overview = read(&asked).await?;
    let mut text = format!("# Overview as of event {}\n", asked.moment.position);
    for (title, rows) in [
        ("Running", &overview.running),
        ("Failed", &overview.failed),
        ("Newest intents", &overview.intents),
    ] {
        text.push_str(&format!("\n## {title}\n\n{}", markdown(rows)));
    }
    let page = Page {
        title: "Overview".to_owned(),
        section: "Overview",
        live: Live::Log,
        slider: Slider::Positions,
        subject: None,
        markdown: text,
        command: "annals object list run".to_owned(),
        data: overview,
    };
    let moment = asked.moment;
    asked.answer(page, |overview| draw(overview, moment)).await
}

async fn read(asked: &Asked) -> Result<Overview, Problem> {
    let mut reading = asked.reading();
    let is_now = !asked.moment.is_chosen;
    let inbox = match is_now {
        true => {
            let query = InboxQuery::default().with_limit(SHOWN);
            Some(asked.annals().inbox().items(&query).await?)
        }
        false => None,
    };
    let waiting_total = match is_now {
        true => asked.shared.inbox_count.get(asked.annals()).await,
        false => None,
    };
    let items = inbox.iter().flat_map(|inbox| &inbox.items);
    let waiting = items.map(Waiting::of).collect();
    let mut failed = newest(&mut reading, Kind::Run, FAILED).await?;
    failed.extend(newest(&mut reading, Kind::Task, FAILED).await?);
    failed.sort_by_key(|row| std::cmp::Reverse(row.last_position));
    failed.truncate(SHOWN);
    let events = reading.log(None, true, SHOWN).await?.rows;
    let costs = match is_now {
        true => Some(last_days(asked.annals(), newest_time(&events)).await?),
        false => None,
    };
    Ok(Overview {
        running: newest(&mut reading, Kind::Run, RUNNING).await?,
        failed,
        waiting_total,
        waiting,
        intents: newest(&mut reading, Kind::Intent, &[]).await?,
        sessions: newest(&mut reading, Kind::Session, &[]).await?,
        runs: newest(&mut reading, Kind::Run, &[]).await?,
        events,
        costs,
    })
}

/// When the last of these happened; what is imported may be old.
fn newest_time(events: &[EventRow]) -> Timestamp {
    let times = events.iter().map(|event| event.occurred_at.as_str());
    let times = times.filter_map(|time| DateTime::parse_from_rfc3339(time).ok());
    let newest = times.map(|time| time.to_utc()).max();
    newest.map_or(Timestamp::EPOCH, Timestamp::from)
}

/// The newest objects of a kind that are in one of these statuses at the moment, or in any.
async fn newest(
    reading: &mut Reading<'_>,
    kind: Kind,
    statuses: &[Status],
) -> Result<Vec<Row>, Problem> {
    let after = reading.moment.position.next();
    let query = ListQuery::new(kind).with_after(after);
    let is_now = !reading.moment.is_chosen;
    let mut found = Vec::new();
    if is_now && !statuses.is_empty() {
        for status in statuses {
            let query = query.clone().with_status(*status).with_limit(SHOWN);
            found.extend(reading.annals.index().list(&query).await?.rows);
        }
        found.sort_by_key(|row| std::cmp::Reverse(row.first_position));
    } else {
        let limit = if statuses.is_empty() {
            SHOWN
        } else {
            LOOKED_AT
        };
        found = reading
            .annals
            .index()
            .list(&query.with_limit(limit))
            .await?
            .rows;
    }
    let mut rows = Vec::new();
    for row in &found {
        if rows.len() == SHOWN {
            break;
        }
        let row = reading.row(row).await?;
        let is_wanted = |row: &Row| {
            let mut words = statuses.iter().map(|status| status.word());
            statuses.is_empty() || words.any(|word| Some(word) == row.status)
        };
        rows.extend(row.filter(is_wanted));
    }
    Ok(rows)
}

fn draw(overview: &Overview, moment: Moment) -> Markup {
    html! {
        (tiles(overview, moment))
        div.grid {
            (list("Running", &overview.running, "/runs?status=patching", "Nothing is running.", moment))
            (list("Failed", &overview.failed, "/runs?status=failed", "Nothing has failed.", moment))
        }
        @if !overview.waiting.is_empty() {
            section {
                div.head { h2 { "Intents and contracts sessions waiting for you" } a href="/inbox" { "Inbox" } }
                (waiting(&overview.waiting, moment))
            }
        }
        @if let Some(costs) = overview.costs.as_ref().filter(|costs| costs.is_worth_drawing()) {
            section { div.head { h2 { "Costs by day" } a href="/costs" { "All" } } (chart(costs, &[])) }
        }
        (list("Newest intents", &overview.intents, "/intents", "There are no intents.", moment))
        (list("Newest runs", &overview.runs, "/runs", "There are no runs.", moment))
        @if !overview.sessions.is_empty() {
            (list("Newest contracts sessions", &overview.sessions, "/contracts-sessions", "", moment))
        }
        section {
            div.head { h2 { "Newest events" } a href=(moment.link("/log")) { "Log" } }
            @if overview.events.is_empty() { (nothing("The log is empty.")) }
            @else { (events(&overview.events, moment, true)) }
        }
    }
}

/// The numbers that a person looks at first.
fn tiles(overview: &Overview, moment: Moment) -> Markup {
    let many = |rows: &Vec<Row>| match rows.len() {
        all @ SHOWN.. => format!("{all}+"),
        few => few.to_string(),
    };
    let waiting = overview
        .waiting_total
        .map_or_else(|| "—".to_owned(), grouped);
    let tiles = [
        (many(&overview.running), "running", "/runs?status=patching"),
        (many(&overview.failed), "failed", "/runs?status=failed"),
        (waiting, "waiting for you", "/inbox"),
        (grouped(moment.position.0), "events", "/log"),
    ];
    html! {
        h1.unseen { "Overview" }
        div.tiles { @for (number, word, path) in tiles {
            a.tile href=(address(path, moment)) { b { (number) } span { (word) } }
        } }
    }
}

/// Where an entry leads. The inbox is of now.
fn address(path: &str, moment: Moment) -> String {
    match path {
        "/inbox" => path.to_owned(),
        path => moment.link(path),
    }
}

fn list(title: &str, found: &[Row], path: &str, empty: &str, moment: Moment) -> Markup {
    html! {
        section {
            div.head { h2 { (title) } @if !found.is_empty() { a href=(address(path, moment)) { "All" } } }
            @if found.is_empty() { (nothing(empty)) } @else { (rows(found, moment, title == "Failed")) }
        }
    }
}

/// What waits, each with why.
fn waiting(waiting: &[Waiting], moment: Moment) -> Markup {
    html! {
        div.scroll { table.rows.stacked {
            thead { tr { th { "Waits for" } th { "What" } th.wide { "Risk" } th { "Since" } } }
            tbody { @for one in waiting { tr data-position=(one.row.last_position) {
                td { span.badge.wait { (one.reasons.join(", ")) } }
                td.what { a href=(moment.link(&crate::html::place(one.row.id))) { (one.row.name()) } }
                td.wide { (one.risk_in_words()) }
                td { (crate::figures::time(&one.row.created_at)) }
            } } }
        } }
    }
}
