//! The inbox: what waits for a person, why, and the commands that resolve it.

use annals::domain::ActorRef;
use annals::domain::intent::ApprovalStatus;
use annals::projections::{CatalogueRow, InboxEntry, InboxQuery, InboxReason, PendingApprovalView};
use annals::{Addition, InboxDetails, InboxItem};
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use crate::answer::{Asked, Live, Page, Slider};
use crate::figures::{Clock, counted, grouped, time};
use crate::foreign;
use crate::html::{command, more, nothing, place, status};
use crate::inbox_count::waiting_now;
use crate::model::Row;
use crate::moment::Moment;
use crate::pages::list::plain;
use crate::problem::Problem;
use crate::session_entry::agent_name;
use crate::waiting_session::{WaitingRequest, WaitingSession, requests, words};

/// Entries of a page: each is looked into.
const SHOWN: usize = 25;

/// An intent or a session that waits for a person.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Waiting {
    /// The intent or session.
    pub(crate) row: Row,
    /// What it waits for; the first reason is what it waits for most.
    pub(crate) reasons: Vec<&'static str>,
    /// How risky it is, if anything said so.
    pub(crate) risk: Option<&'static str>,
}

impl Waiting {
    pub(crate) fn of(item: &InboxItem) -> Waiting {
        let row = item.row();
        let reasons = match item {
            InboxItem::Intent(entry) => entry.reasons.as_slice(),
            InboxItem::Session(_) => &[InboxReason::Approval],
        };
        Waiting {
            row: Row::of(row),
            reasons: reasons.iter().map(|reason| reason.as_str()).collect(),
            risk: row.risk.map(|risk| risk.as_str()),
        }
    }

    /// How risky an intent is; a session has no risk of its own.
    pub(crate) fn risk_in_words(&self) -> &'static str {
        match self.row.kind {
            "session" => "session",
            _ => self.risk.unwrap_or("not known"),
        }
    }
}

/// Part of the inbox.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Inbox {
    /// The number of all entries: intents, contracts sessions and sessions.
    total: u64,
    /// The sessions with an open permission or question, newest activity first, at most 25; only the first part has them.
    sessions: Vec<WaitingSession>,
    /// The number of these sessions.
    sessions_total: usize,
    /// The intents and contracts sessions, the oldest first.
    entries: Vec<Entry>,
    /// Where it goes on, as `after`; null where this is its end.
    next: Option<u64>,
}

/// What waits, and what a person needs to know of it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Entry {
    /// The intent or session.
    #[serde(flatten)]
    waiting: Waiting,
    /// Why it waits, in words.
    why: String,
    /// Who requested an intent, and who imported it.
    requested_by: Option<String>,
    /// What agents added to an intent since it was requested, with their names.
    added: Vec<String>,
    /// The questions that have no answer, with their numbers.
    questions: Vec<Question>,
    /// Its own tasks that failed.
    failed_tasks: Vec<Row>,
    /// What a session asks for.
    requests: Vec<Request>,
    /// A session's commands that wait for an answer.
    queue: Vec<String>,
    /// The commands that take it out of the inbox, the likeliest first.
    resolve: Vec<String>,
}

/// A question that has no answer.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Question {
    number: usize,
    text: String,
}

/// An approval that a session asks for.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Request {
    /// The command that asks.
    id: String,
    /// What it is to allow.
    actions: Vec<String>,
    /// What for.
    reason: Option<String>,
    /// When it expires.
    expires_at: Option<String>,
}

impl Request {
    fn of(pending: &PendingApprovalView) -> Request {
        Request {
            id: pending.request.to_string(),
            actions: pending.actions.clone(),
            reason: pending.reason.as_ref().map(ToString::to_string),
            expires_at: pending.expires_at.as_ref().map(ToString::to_string),
        }
    }
}

pub(crate) async fn inbox(asked: Asked) -> Result<Response, Problem> {
    if asked.moment.is_chosen {
        let detail = "the inbox is of now: leave out at; an intent's own page says how it was";
        return Err(Problem::invalid(detail));
    }
    let after = asked.params.position("after")?;
    let query = InboxQuery::default()
        .with_after(after)
        .with_limit(asked.params.limit()?.min(SHOWN));
    let found = asked.annals().inbox().items(&query).await?;
    let mut entries = Vec::with_capacity(found.items.len());
    for item in &found.items {
        entries.push(match item {
            InboxItem::Intent(entry) => self::entry(&asked, item, entry).await?,
            InboxItem::Session(row) => session(&asked, item, row).await?,
        });
    }
    let waiting = waiting_now(asked.annals()).await?;
    let shown = match after {
        None => waiting.get(..SHOWN).unwrap_or(&waiting),
        Some(_) => &[],
    };
    let inbox = Inbox {
        total: found.intents + found.sessions + waiting.len() as u64,
        sessions: requests(&asked, shown).await,
        sessions_total: waiting.len(),
        entries,
        next: found.next.map(|next| next.0),
    };
    let page = Page {
        title: "Inbox".to_owned(),
        section: "Inbox",
        live: Live::Log,
        slider: Slider::None,
        subject: None,
        markdown: markdown(&inbox),
        command: "annals intent inbox".to_owned(),
        data: inbox,
    };
    let clock = Clock::new(annals::event_log::now().into());
    asked.answer(page, |inbox| draw(inbox, &asked, clock)).await
}

async fn entry(asked: &Asked, item: &InboxItem, entry: &InboxEntry) -> Result<Entry, Problem> {
    let details = asked.annals().inbox().details(entry).await?;
    let mut reading = asked.reading();
    let mut failed_tasks = Vec::new();
    for task in &details.failed_ids {
        failed_tasks.extend(reading.row_of(task.0).await?);
    }
    let questions = details.questions.iter();
    let questions = questions.map(|(number, text)| Question {
        number: *number,
        text: text.to_string(),
    });
    Ok(Entry {
        waiting: Waiting::of(item),
        questions: questions.collect(),
        failed_tasks,
        requests: Vec::new(),
        queue: Vec::new(),
        resolve: resolving(entry, &details),
        requested_by: details.requested_by.as_ref().map(actor),
        added: details.additions.iter().map(added).collect(),
        why: details.why,
    })
}

/// An actor, and who imported what it did.
fn actor(actor: &ActorRef) -> String {
    let importer = actor.auth_context.as_deref();
    let importer = importer.filter(|it| it.starts_with("imported by "));
    let importer = importer.map_or_else(String::new, |importer| format!(" ({importer})"));
    format!("{} {}{importer}", actor.kind, actor.id)
}

fn added(added: &Addition) -> String {
    format!("{}: {}", actor(&added.by), added.what)
}

/// A session that needs an approval.
async fn session(asked: &Asked, item: &InboxItem, row: &CatalogueRow) -> Result<Entry, Problem> {
    let details = asked.annals().inbox().session_details(row).await?;
    let queue = details.queue.iter();
    let queue = queue.map(|waiting| match &waiting.branch {
        Some(branch) => format!("{} of {branch}", waiting.kind),
        None => waiting.kind.to_string(),
    });
    Ok(Entry {
        waiting: Waiting::of(item),
        why: details.reasons(|time| time.to_string()).join("; "),
        requested_by: None,
        added: Vec::new(),
        questions: Vec::new(),
        failed_tasks: Vec::new(),
        requests: details.requests.iter().map(Request::of).collect(),
        queue: queue.collect(),
        resolve: details.resolve(&row.id.to_string()),
    })
}

/// The commands that take an intent out of the inbox, the likeliest first. They name it by its whole id, which no shell
/// takes for anything else.
fn resolving(entry: &InboxEntry, details: &InboxDetails) -> Vec<String> {
    let id = entry.id();
    let answer = |(number, _): &(usize, _)| {
        format!("annals intent answer {id} --question {number} --text TEXT")
    };
    let answers = details.questions.iter().map(answer);
    let reject = format!("annals intent reject {id} --reason TEXT");
    match entry.reasons.first() {
        Some(InboxReason::Approval) => vec![format!("annals intent approve {id}"), reject],
        Some(InboxReason::Clarification) => answers.collect(),
        Some(InboxReason::Blocked | InboxReason::Error) => {
            let rerun = format!("annals intent rerun {id} --instruction TEXT");
            let rerun = Some(rerun).filter(|_| !details.failed_tasks.is_empty());
            rerun.into_iter().chain(answers).chain([reject]).collect()
        }
        Some(InboxReason::Dependency) => {
            let is_approved = entry.row.approval == Some(ApprovalStatus::Approved);
            let reject = is_approved.then_some(reject);
            let settling = details.settling(entry).into_iter();
            settling.chain(reject).collect()
        }
        None => Vec::new(),
    }
}

fn draw(inbox: &Inbox, asked: &Asked, clock: Clock) -> Markup {
    let more_sessions = inbox.sessions_total.saturating_sub(inbox.sessions.len());
    html! {
        section {
            div.head { h1 { "Inbox" } span.count { (grouped(inbox.total)) " waiting for you" } }
            @if inbox.total == 0 { (nothing("No open permission, question or approval.")) }
            div.cards {
                @for session in &inbox.sessions { (session_card(session, clock)) }
                @if more_sessions > 0 && !inbox.sessions.is_empty() { p { a href="/?waiting=1" { (counted(more_sessions as u64, "more session", "more sessions")) } } }
                @for entry in &inbox.entries { (card(entry, asked.moment)) }
            }
            @if let Some(next) = inbox.next { (more(&asked.with(&[("after", &next.to_string())]), "More")) }
        }
    }
}

/// A session with an open permission or question, which is answered in the agent's own window.
fn session_card(waiting: &WaitingSession, clock: Clock) -> Markup {
    let session = &waiting.session;
    let reason = match &waiting.request {
        Some(WaitingRequest::Question(_)) => "question",
        Some(WaitingRequest::Permission(_)) | None => session.waits_for.unwrap_or("permission"),
    };
    html! {
        article.card data-position=(session.last_position) {
            div.line {
                span.badge.wait { (reason) }
                @if let Some(project) = &session.project_name { span { (foreign::text(project)) } }
                @if let Some(agent) = &session.agent { span { (foreign::text(agent_name(agent))) } }
                @if let Some(at) = waiting.since { span { "since " (clock.day_and_time(at)) } }
            }
            h2 { a href=(session.address()) dir="auto" { (words(waiting)) } }
            @if waiting.request.is_some() { p dir="auto" { "Session: " (foreign::text(&session.name())) } }
            p.second { "Answer it in the agent's window." @if session.resume.is_some() { " If that is closed, resume the session:" } }
            @if let Some(resume) = &session.resume { (command(resume)) }
        }
    }
}

fn card(entry: &Entry, moment: Moment) -> Markup {
    let row = &entry.waiting.row;
    html! {
        article.card data-position=(row.last_position) {
            div.line {
                @for reason in &entry.waiting.reasons { span.badge.wait { (reason) } }
                span { @if row.kind != "session" { "risk " } (entry.waiting.risk_in_words()) }
                span { "since " (time(&row.created_at)) }
            }
            h2 { a href=(moment.link(&place(row.id))) { (row.name()) } }
            @if let Some(by) = &entry.requested_by { p { "requested by " (by) } }
            p { (entry.why) }
            @for added in &entry.added { p { "added by " (added) } }
            @for question in &entry.questions { p { strong { (question.number) "? " } (question.text) } }
            @for task in &entry.failed_tasks { p { (status("failed")) " " a href=(place(task.id)) { (task.name()) } } }
            @for request in &entry.requests { @if let Some(reason) = &request.reason { p { "reason: " (reason) } } }
            @for waiting in &entry.queue { p { "waits: " (waiting) } }
            @for one in &entry.resolve { (command(one)) }
        }
    }
}

fn markdown(inbox: &Inbox) -> String {
    let mut text = format!("# Inbox\n\n{} waiting for you\n", inbox.total);
    for waiting in &inbox.sessions {
        let session = &waiting.session;
        let reason = session.waits_for.unwrap_or("permission");
        text.push_str(&format!("\n## {}\n\n{reason}\n", plain(&session.name())));
    }
    for entry in &inbox.entries {
        let row = &entry.waiting.row;
        text.push_str(&format!(
            "\n## {}\n\n{}: {}\n",
            plain(&row.name()),
            entry.waiting.reasons.join(", "),
            plain(&entry.why)
        ));
        for added in &entry.added {
            text.push_str(&format!("\nadded by {}\n", plain(added)));
        }
        for command in &entry.resolve {
            text.push_str(&format!("\n    {command}\n"));
        }
    }
    text
}
