//! A session's page: its conversation, with the header, the tabs and the side column.

mod call;
mod cards;
pub(crate) mod context;
mod costs;
pub(crate) mod draw;
mod event_words;
pub(crate) mod export;
pub(crate) mod files;
pub(crate) mod find;
mod head;
pub(crate) mod history;
mod neighbours;
pub(crate) mod proof;
mod rail;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
mod texts;
pub(crate) mod timeline;
mod turn_link;
mod turn_texts;

use std::collections::{BTreeMap, HashMap};

use annals::domain::{PipelineId, RunId, StreamRef, TaskId};
use annals::event_log::{Digest, Position};
use annals::projections::{Conversation, Turn, TurnBody};
use annals::{Annals, TurnRange};
use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use self::costs::{PromptCost, prompt_costs};
use self::draw::Drawing;
use self::neighbours::{Neighbours, neighbours};
use crate::answer::{Asked, Live, Page, Slider};
use crate::code::Colours;
use crate::diff_view::{self, DiffFile, Layout};
use crate::figures::{Clock, grouped};
use crate::moment::Moment;
use crate::pages::window;
use crate::problem::Problem;
use crate::proof::ProofState;
use crate::searching::SessionLength;
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
    /// The changed files by path, also those of sub-agents.
    #[serde(skip)]
    files: BTreeMap<String, rail::ChangedFile>,
    /// The cost of each prompt, with its sub-agents.
    #[serde(skip)]
    costs: HashMap<u64, PromptCost>,
    #[serde(skip)]
    diffs: HashMap<Digest, Option<Vec<DiffFile>>>,
}

/// A session that an address names, with what its pages show around it.
pub(crate) struct NamedSession {
    pub(crate) session: SessionEntry,
    pub(crate) clock: Clock,
    pub(crate) proof: ProofState,
}

/// The conversation page.
pub(crate) async fn session(
    mut asked: Asked,
    Path(name): Path<String>,
) -> Result<Response, Problem> {
    let NamedSession {
        session,
        clock,
        proof,
    } = find(&mut asked, &name).await?;
    if let Some(position) = asked.params.position("position")? {
        return turn_link::follow(&asked, session.id, position, asked.at()).await;
    }
    let beside = neighbours(&asked, &session, clock).await?;
    if !asked.moment.is_chosen && session.status != "active" {
        let searching = &asked.shared.searching;
        searching.warm(asked.annals(), [SessionLength::of_entry(&session)]);
    }
    let read = read(&asked, session).await?;
    let page = session_page(&read.session, &asked, "").with_data(read);
    let draw = |read: &SessionConversation| conversation(read, &asked, clock, (proof, &beside));
    asked.answer(page, draw).await
}

/// Turns alone: a part that a page loads, a turn in full, or a sub-agent's conversation.
pub(crate) async fn turns(mut asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let NamedSession { session, clock, .. } = find(&mut asked, &name).await?;
    let read = read(&asked, session).await?;
    let page = session_page(&read.session, &asked, "Turns of ").with_data(read);
    let draw = |read: &SessionConversation| {
        html! {
            (head::crumb(&read.session, asked.moment, true))
            h1 { (crate::foreign::text(&read.session.name())) }
            (part(read, &asked, clock))
        }
    };
    asked.answer(page, draw).await
}

/// A page of a session, without data. Its title is `of` and the session's name; it follows the session's streams.
fn session_page(session: &SessionEntry, asked: &Asked, of: &str) -> Page<()> {
    Page {
        title: format!("{of}{}", session.name()),
        section: SESSIONS,
        live: Live::Streams(streams(session)),
        slider: Slider::Positions,
        subject: Some(session.id.to_string()),
        markdown: String::new(),
        command: format!("annals show {} --at {}", session.id, asked.moment.position),
        data: (),
    }
}

/// The streams that the conversation is read from, as far as they are known.
fn streams(session: &SessionEntry) -> Vec<String> {
    let runs = session.runs.iter().map(|run| RunId(*run).stream());
    let all = runs.chain([TaskId(session.id).stream()]);
    all.map(|stream| stream.to_string()).collect()
}

/// Finds the session that an address names, as of the shown position.
pub(crate) async fn find(asked: &mut Asked, name: &str) -> Result<NamedSession, Problem> {
    if name.chars().count() > NAME {
        return Err(Problem::invalid(format!(
            "the session's name is too long: expected at most {NAME} characters"
        )));
    }
    let conversations = asked.annals().conversations();
    let found = conversations.find(name).await?;
    let family = conversations.family(found.id, asked.at()).await?;
    let rest = asked
        .path
        .strip_prefix("/sessions/")
        .and_then(|rest| rest.split_once('/'));
    let rest = rest.map_or_else(String::new, |(_, rest)| format!("/{rest}"));
    // The address that always shows this page has the whole id.
    asked.path = format!("/sessions/{}{rest}", found.id);
    let clock = clock(asked).await?;
    let session = SessionEntry::of(&family.session);
    let newest = Position(session.last_position);
    let (proof, _) = crate::proof::checkpoint(&asked.shared, newest).await;
    Ok(NamedSession {
        session,
        clock,
        proof,
    })
}

/// The streams of a session: of its task, of its runs and of their pipelines.
pub(crate) async fn session_streams(
    asked: &Asked,
    session: &SessionEntry,
) -> Result<Vec<StreamRef>, Problem> {
    let mut streams = Vec::new();
    let place = asked.annals().index().place(session.id).await?;
    streams.extend(place.map(|(_, stream)| stream));
    for run in &session.runs {
        streams.push(RunId(*run).stream());
        let pipeline = window::pipeline_of_run(asked.annals(), *run).await?;
        streams.extend(pipeline.map(|(pipeline, _)| PipelineId(pipeline).stream()));
    }
    let mut seen = Vec::new();
    streams.retain(|stream| {
        let is_new = !seen.contains(stream);
        seen.push(*stream);
        is_new
    });
    Ok(streams)
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
    let is_short = is_short(&session) && !asked.is_api;
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
    let (diffs, files) = match asked.is_api {
        true => Default::default(),
        false => (
            diffs(asked.annals(), &part, DIFFS).await?,
            changed_files(asked, &session).await?,
        ),
    };
    let costs = prompt_costs(&session, &prompts, &turns);
    Ok(SessionConversation {
        session,
        prompts,
        turns: part,
        total,
        from,
        next,
        all: turns,
        files,
        costs,
        diffs,
    })
}

/// Returns `true` if all turns of a session are read for one page.
fn is_short(session: &SessionEntry) -> bool {
    let counted = session.prompts + session.answers + session.tool_calls;
    counted.saturating_mul(2) <= WHOLE
}

/// The files that a session and its sub-agents changed, by path.
async fn changed_files(
    asked: &Asked,
    session: &SessionEntry,
) -> Result<BTreeMap<String, rail::ChangedFile>, Problem> {
    let own: Vec<_> = session.all_sub_agents().iter().map(|it| it.id).collect();
    let conversations = asked.annals().conversations();
    let read = conversations.changed_files(session.id, asked.at()).await?;
    let mut files: BTreeMap<String, rail::ChangedFile> = BTreeMap::new();
    for (of, file) in read {
        if of != session.id && !own.contains(&of) {
            continue;
        }
        let known = files.entry(file.path).or_default();
        known.added = known.added.saturating_add(file.added);
        known.deleted = known.deleted.saturating_add(file.deleted);
    }
    Ok(files)
}

/// Reads the diffs of turns, up to `most` bytes.
pub(crate) async fn diffs(
    annals: &Annals,
    turns: &[Turn],
    most: usize,
) -> Result<HashMap<Digest, Option<Vec<DiffFile>>>, Problem> {
    diffs_of(annals, digests(turns), most).await
}

/// Reads diffs, up to `most` bytes.
pub(crate) async fn diffs_of(
    annals: &Annals,
    digests: impl Iterator<Item = Digest>,
    most: usize,
) -> Result<HashMap<Digest, Option<Vec<DiffFile>>>, Problem> {
    let mut read = HashMap::new();
    let mut left = most;
    for digest in digests {
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

/// Draws the whole page.
fn conversation(
    read: &SessionConversation,
    asked: &Asked,
    clock: Clock,
    (proof, beside): (ProofState, &Neighbours),
) -> Markup {
    let session = &read.session;
    let rail = rail::draw(read, asked, clock);
    html! {
        (head::draw(session, asked, (clock, proof, beside), "Conversation"))
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
            output.num.dim.errors aria-live="polite" {}
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
        costs: &read.costs,
        find: asked.params.get("find").map(str::to_lowercase),
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

/// A word that begins a sentence.
pub(crate) fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
