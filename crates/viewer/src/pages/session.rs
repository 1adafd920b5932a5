//! A session's page: its conversation, with the header, the tabs and the side column.

mod call;
mod cards;
pub(crate) mod draw;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod find;
mod head;
mod rail;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use annals::domain::{RunId, TaskId};
use annals::event_log::Digest;
use annals::projections::{Conversation, ModelUse, PriceTable, Turn, TurnBody};
use annals::{Annals, At, TurnRange};
use axum::extract::Path;
use axum::response::Response;
use chrono::{NaiveDate, TimeDelta};
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use self::draw::Drawing;
use crate::answer::{Asked, Live, Page, Slider};
use crate::code::Colours;
use crate::diff_view::{self, DiffFile, Layout};
use crate::figures::Clock;
use crate::html::grouped;
use crate::moment::Moment;
use crate::problem::Problem;
use crate::session_entry::SessionEntry;
use crate::shell::SESSIONS;

/// Turns of one part.
const PART: usize = 200;
/// Turns up to which all of a session is read for its side column.
const WHOLE: u64 = 1_500;
/// Characters of a session's name.
const NAME: usize = 200;
/// Bytes of a diff that a page shows, and of all its diffs.
const DIFF: usize = 1024 * 1024;
pub(crate) const DIFFS: usize = 8 * 1024 * 1024;

/// A session with a part of its conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionConversation {
    /// The session.
    pub(crate) session: SessionEntry,
    /// The prompts that were read.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pub(crate) prompts: Vec<annals::projections::PromptSummary>,
    /// The turns, in order.
    #[schemars(with = "Vec<serde_json::Map<String, serde_json::Value>>")]
    pub(crate) turns: Vec<Turn>,
    /// The number of all turns; null if they were not all read.
    pub(crate) total: Option<u64>,
    /// The number of the first turn of this part.
    pub(crate) from: u64,
    /// The number of the first turn of the next part, as `from`; null at the end.
    pub(crate) next: Option<u64>,
    /// All turns, for the side column, if the session is short.
    #[serde(skip)]
    all: Vec<Turn>,
    #[serde(skip)]
    diffs: HashMap<Digest, Option<Vec<DiffFile>>>,
}

/// The conversation page.
pub(crate) async fn session(
    mut asked: Asked,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let (session, clock) = find(&mut asked, &name).await?;
    let read = read(&asked, session).await?;
    let page = page(&asked, read, "");
    let draw = |read: &SessionConversation| conversation(read, &asked, clock);
    asked.answer(page, draw).await
}

/// Turns alone: a part that a page loads, a turn in full, or a sub-agent's conversation.
pub(crate) async fn turns(mut asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let (session, clock) = find(&mut asked, &name).await?;
    let read = read(&asked, session).await?;
    let page = page(&asked, read, ": turns");
    let draw = |read: &SessionConversation| {
        html! {
            (head::crumb(&read.session, asked.moment, true))
            h1 { (crate::foreign::text(&read.session.name())) }
            (part(read, &asked, clock))
        }
    };
    asked.answer(page, draw).await
}

fn page(asked: &Asked, read: SessionConversation, title: &str) -> Page<SessionConversation> {
    Page {
        title: format!("{}{title}", read.session.name()),
        section: SESSIONS,
        live: Live::Streams(streams(&read.session)),
        slider: Slider::Positions,
        subject: Some(read.session.id.to_string()),
        markdown: String::new(),
        command: format!(
            "annals show {} --at {}",
            read.session.id, asked.moment.position
        ),
        data: read,
    }
}

/// The streams that the conversation is read from, as far as they are known.
fn streams(session: &SessionEntry) -> Vec<String> {
    let runs = session.runs.iter().map(|run| RunId(*run).stream());
    let all = runs.chain([TaskId(session.id).stream()]);
    all.map(|stream| stream.to_string()).collect()
}

/// Finds the session that an address names, as of the shown position.
pub(crate) async fn find(asked: &mut Asked, name: &str) -> Result<(SessionEntry, Clock), Problem> {
    if name.chars().count() > NAME {
        return Err(Problem::invalid(format!(
            "the session's name is too long: expected at most {NAME} characters"
        )));
    }
    let conversations = asked.annals().conversations();
    let found = conversations.find(name).await?;
    let family = conversations.family(found.id, at(asked)).await?;
    let rest = asked
        .path
        .strip_prefix("/sessions/")
        .and_then(|rest| rest.split_once('/'));
    let rest = rest.map_or_else(String::new, |(_, rest)| format!("/{rest}"));
    // The address that always shows this page has the whole id.
    asked.path = format!("/sessions/{}{rest}", found.id);
    let clock = clock(asked).await?;
    Ok((SessionEntry::of(&family.session), clock))
}

/// The shown position, for queries.
pub(crate) fn at(asked: &Asked) -> At {
    match asked.moment.is_chosen {
        true => asked.moment.at(),
        false => At::Now,
    }
}

/// The time that counts as now: that of the shown position, if one is chosen.
pub(crate) async fn clock(asked: &Asked) -> Result<Clock, Problem> {
    clock_at(asked.annals(), asked.moment).await
}

/// The time that counts as now at a position.
pub(crate) async fn clock_at(annals: &Annals, moment: Moment) -> Result<Clock, Problem> {
    let now = annals::event_log::now();
    if !moment.is_chosen {
        return Ok(Clock::new(now.into()));
    }
    let record = annals.contents().record(moment.position).await?;
    Ok(Clock::new(
        record.map_or(now, |record| record.recorded_at()).into(),
    ))
}

/// Reads the part that an address asks for.
async fn read(asked: &Asked, session: SessionEntry) -> Result<SessionConversation, Problem> {
    let params = &asked.params;
    let from = params.number("from")?.unwrap_or(1).max(1);
    let limit = match params.number("limit")? {
        None => PART,
        Some(limit @ 1..=1_000) => usize::try_from(limit).unwrap_or(PART),
        Some(limit) => {
            return Err(Problem::invalid(format!(
                "invalid limit {limit}: expected 1 to 1000"
            )));
        }
    };
    let counted = session.prompts + session.answers + session.tool_calls;
    let is_short = counted.saturating_mul(2) <= WHOLE && !asked.is_api;
    let range = match is_short {
        true => TurnRange::all(),
        false => TurnRange::new(from, limit.saturating_add(1)),
    };
    let Conversation {
        turns,
        total,
        prompts,
        ..
    } = asked
        .annals()
        .conversation(session.id, asked.moment.at(), range)
        .await?;
    let last = from.saturating_add(limit as u64);
    let next = turns.iter().any(|turn| turn.number >= last).then_some(last);
    let is_in = |turn: &&Turn| (from..last).contains(&turn.number);
    let part: Vec<Turn> = turns.iter().filter(is_in).cloned().collect();
    let diffs = match asked.is_api {
        true => HashMap::new(),
        false => diffs(asked.annals(), &part, DIFFS).await?,
    };
    Ok(SessionConversation {
        session,
        prompts,
        turns: part,
        total,
        from,
        next,
        all: turns,
        diffs,
    })
}

/// Reads the diffs of turns, up to `most` bytes.
pub(crate) async fn diffs(
    annals: &Annals,
    turns: &[Turn],
    most: usize,
) -> Result<HashMap<Digest, Option<Vec<DiffFile>>>, Problem> {
    let mut read = HashMap::new();
    let mut left = most;
    for digest in digests(turns) {
        if left == 0 || read.contains_key(&digest) {
            continue;
        }
        let bytes = annals.contents().get(digest).await?;
        let bytes = bytes.filter(|bytes| bytes.len() <= DIFF.min(left));
        left -= bytes.as_ref().map_or(0, |bytes| bytes.len());
        let files = bytes.map(|bytes| diff_view::parse(&String::from_utf8_lossy(&bytes)));
        read.insert(digest, files);
    }
    Ok(read)
}

/// The diffs that turns name.
pub(crate) fn digests(turns: &[Turn]) -> impl Iterator<Item = Digest> {
    let edits = turns.iter().filter_map(|turn| match &turn.body {
        TurnBody::ToolCall(call) => Some(&call.edits),
        _ => None,
    });
    edits.flatten().filter_map(|edit| edit.diff)
}

/// The layout that an address asks for.
pub(crate) fn layout(asked: &Asked) -> Layout {
    match asked.params.get("layout") {
        Some("split") => Layout::Split,
        _ => Layout::Unified,
    }
}

/// The cost of tokens, where their models have a price.
pub(crate) fn price(models: &[ModelUse]) -> Option<u128> {
    let epoch = NaiveDate::default();
    let table = PriceTable::standard();
    let mut sum = None;
    for one in models {
        let day = epoch
            .checked_add_signed(TimeDelta::days(one.day.into()))
            .unwrap_or(epoch);
        let price = one
            .model
            .as_deref()
            .and_then(|model| table.price(model, day));
        if let Some(price) = price {
            let (micros, _) = price.cost(&one.used.tokens);
            sum = Some(micros.saturating_add(sum.unwrap_or(0)));
        }
    }
    sum
}

/// Draws the whole page.
fn conversation(read: &SessionConversation, asked: &Asked, clock: Clock) -> Markup {
    let session = &read.session;
    let rail = rail::draw(read, asked, clock);
    html! {
        (head::draw(session, asked, clock, "Conversation"))
        div.split {
            aside.rail aria-label="Session contents" { (rail) }
            div {
                (bar(read, asked))
                details.box.railfold.phone { summary { (rail::words(read)) } (rail::lists(read, asked, clock)) }
                (part(read, asked, clock))
                (ending(read, clock))
            }
        }
    }
}

/// The row of controls above the turns.
fn bar(read: &SessionConversation, asked: &Asked) -> Markup {
    let address = read.session.address();
    let at = asked
        .moment
        .is_chosen
        .then(|| asked.moment.position.to_string());
    html! {
        div.bar {
            form.find role="search" method="get" action={ (address) "/find" } aria-label="Find in this session" {
                label.unseen for="find-here" { "Find in this session" }
                @if let Some(at) = &at { input type="hidden" name="at" value=(at); }
                input #find-here name="q" value=[asked.params.get("find")] placeholder="Find in this session" maxlength="200" autocomplete="off";
                output.num aria-live="polite" {}
                button.button.quiet.small type="button" data-do="find-previous" aria-label="Previous match" hidden { "↑" }
                button.button.quiet.small type="button" data-do="find-next" aria-label="Next match" hidden { "↓" }
            }
            button.button.desk type="button" data-do="answers" aria-pressed="false" hidden title="Key: a" { "Answers only" }
            button.button.desk type="button" data-do="unfold" hidden title="Key: Shift O" { "Unfold all" }
            a.button data-do="error" href=(asked.moment.link(&format!("{address}/find?failed=1"))) title="Key: e" { "Next error" }
            span.spacer.desk {}
            (layouts(asked))
        }
    }
}

/// The links that choose the layout of diffs.
pub(crate) fn layouts(asked: &Asked) -> Markup {
    let at = match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    };
    let link = |value: &str| asked.with(&[("layout", value), ("at", &at)]);
    let chosen = layout(asked);
    html! {
        span.seg.desk role="group" aria-label="Diff layout" {
            @for (layout, value, word) in [(Layout::Unified, "", "Unified"), (Layout::Split, "split", "Split")] {
                a.button data-layout=(word) href=(link(value)) aria-current=[(chosen == layout).then_some("true")] title="Key: u" { (word) }
            }
        }
    }
}

/// Draws a part of the turns, with the ways to those before and behind it.
fn part(read: &SessionConversation, asked: &Asked, clock: Clock) -> Markup {
    let session = &read.session;
    let mut drawing = Drawing {
        session,
        prompts: &read.prompts,
        clock,
        moment: asked.moment,
        layout: layout(asked),
        diffs: read.diffs.clone(),
        colours: Colours::new(),
        is_whole: asked.params.get("whole").is_some(),
        is_file: false,
    };
    let cards = draw::draw(&read.turns, &mut drawing);
    let base = |path: &str| {
        let address = asked.moment.link(&format!("{}{path}", session.address()));
        match (drawing.layout, address.contains('?')) {
            (Layout::Unified, _) => address,
            (Layout::Split, false) => format!("{address}?layout=split"),
            (Layout::Split, true) => format!("{address}&layout=split"),
        }
    };
    let from = |path: &str, from: u64| {
        let address = base(path);
        let join = if address.contains('?') { '&' } else { '?' };
        format!("{address}{join}from={from}")
    };
    let before = read.from.saturating_sub(PART as u64).max(1);
    let find = asked
        .moment
        .link(&format!("/api/v1{}/find", session.address()));
    html! {
        @if read.from > 1 { p.next { a.button rel="prev" href=(from("", before)) { "Previous turns" } } }
        div #turns data-page=(base("")) data-turns=(base("/turns")) data-find=(find) data-export=(asked.moment.link(&format!("{}/export", session.address()))) {
            @if read.turns.is_empty() { div.box.empty { h2 { "No turns" } p { "The recording has no prompts, answers and tool calls up to here." } } }
            @else { div.chunk data-from=(read.from) { (cards) } }
            @if let Some(next) = read.next {
                p.next data-address=(from("/turns", next)) { a.button rel="next" href=(from("", next)) { "Next " (PART) " turns" } }
            }
        }
    }
}

/// The line below the last turn.
fn ending(read: &SessionConversation, clock: Clock) -> Markup {
    let session = &read.session;
    if read.next.is_some() {
        return html! {};
    }
    html! {
        p.dim.row {
            span.dot.(session.status) aria-hidden="true" {}
            @match (session.status, session.last_activity) {
                ("active", Some(at)) => { "Active, last activity " (clock.clock(at)) ". New turns appear here." }
                ("waiting", _) => { "Waiting for a " (session.waits_for.unwrap_or("permission")) "." }
                (status, Some(at)) => { (capitalized(status)) ", last activity " (clock.day_and_time(at)) }
                (status, None) => { (capitalized(status)) ", time unknown" }
            }
            @if let Some(total) = read.total { span { "· " (grouped(total)) " turns" } }
        }
        p.dim.desk {
            @for (key, does) in [("j k", "turn"), ("n p", "prompt"), ("o", "fold"), ("e", "next error"), ("a", "answers only"), ("/", "find"), ("?", "all keys")] {
                kbd { (key) } " " (does) " \u{2002} "
            }
        }
    }
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
