//! Draws turns: one card for each prompt with its thoughts, answers, tool calls and notes.

use std::collections::HashMap;

use annals::event_log::{Digest, Position};
use annals::projections::{CallOutcome, PromptSummary, Turn, TurnBody};
use maud::{Markup, html};
use uuid::Uuid;

use super::call::{self, or_redacted};
use super::cards::{Card, Step, cards};
use super::costs::{self, PromptCost};
use super::texts;
use super::turn_texts::holds;
use crate::code::Colours;
use crate::diff_view::{DiffFile, Layout, file_of};
use crate::figures::{Clock, counted, grouped, money, span, took};
use crate::foreign;
use crate::markdown;
use crate::moment::Moment;
use crate::session_entry::SessionEntry;

/// What is needed to draw turns.
pub(crate) struct Drawing<'a> {
    pub(crate) session: &'a SessionEntry,
    pub(crate) prompts: &'a [PromptSummary],
    /// The cost of each prompt by its number, with sub-agents.
    pub(crate) costs: &'a HashMap<u64, PromptCost>,
    /// The text that is searched for, in lower case: folds that hold it are open.
    pub(crate) find: Option<String>,
    pub(crate) clock: Clock,
    pub(crate) moment: Moment,
    pub(crate) layout: Layout,
    /// The files of diffs by digest; `None` for one that is missing or too long.
    pub(crate) diffs: HashMap<Digest, Option<Vec<DiffFile>>>,
    pub(crate) colours: Colours,
    /// Everything is in full, and on a page also open.
    pub(crate) is_whole: bool,
    /// The turns stand alone, in a file: nothing leads elsewhere.
    pub(crate) is_file: bool,
}

impl Drawing<'_> {
    /// Returns `true` if everything is open.
    pub(super) fn is_open(&self) -> bool {
        self.is_whole && !self.is_file
    }

    /// Returns `true` if the session can still get results of calls.
    pub(super) fn is_at_work(&self) -> bool {
        matches!(self.session.status, "active" | "waiting")
    }

    /// Returns `true` if the fold of a text is open because the text is searched for.
    pub(super) fn opens(&self, text: &str) -> bool {
        let words = self.find.as_deref();
        words.is_some_and(|words| text.to_lowercase().contains(words))
    }

    /// Returns `true` if the fold of a turn is open because a text of it is searched for.
    pub(super) fn opens_turn(&self, turn: &Turn) -> bool {
        let words = self.find.as_deref();
        words.is_some_and(|words| holds(turn, words))
    }

    /// The file of a diff that a path names, or why there is none.
    pub(super) fn diff(&self, digest: Digest, path: &str) -> Result<DiffFile, &'static str> {
        match self.diffs.get(&digest) {
            Some(Some(files)) => file_of(files, path)
                .cloned()
                .ok_or("The diff has no such file."),
            Some(None) => Err("The diff was removed, or is too long for this page."),
            None => Err("The diff is not loaded here."),
        }
    }

    /// A link to an event.
    pub(super) fn event(&self, position: Position) -> Markup {
        let words = format!("event {}", grouped(position.0));
        match self.is_file {
            true => html! { span.num.dim { (words) } },
            false => {
                html! { a.num href=(self.moment.link(&format!("/events/{position}"))) { (words) } }
            }
        }
    }

    /// The address of a turn in full.
    pub(super) fn whole(&self, number: u64) -> String {
        self.moment.link(&format!(
            "{}/turns?from={number}&limit=1&whole=1",
            self.session.address()
        ))
    }

    fn sub(&self, id: Uuid) -> Option<&SessionEntry> {
        let all = self.session.all_sub_agents();
        all.into_iter().find(|entry| entry.id == id)
    }

    /// Tool calls and cost of a sub-agent's session, for its line.
    pub(super) fn sub_agent_figures(&self, id: Uuid) -> Markup {
        let Some(entry) = self.sub(id) else {
            return html! {};
        };
        html! {
            span.num.desk { (counted(entry.tool_calls, "tool call", "tool calls")) }
            @if let Some(micros) = entry.micros { span.num { (money(micros)) } }
        }
    }

    /// The way into a sub-agent's session.
    pub(super) fn sub_agent(&self, id: Uuid) -> Markup {
        let title = self.sub(id).map(SessionEntry::name);
        let title = title.unwrap_or_else(|| "Sub-agent session".to_owned());
        if self.is_file {
            return html! { p.dim { "Sub-agent session: " (foreign::text(&title)) } };
        }
        let address = self.moment.link(&format!("/sessions/{id}"));
        let turns = self.moment.link(&format!("/sessions/{id}/turns"));
        html! { p.row {
            a href=(address) { (foreign::text(&title)) }
            a.button.small href=(turns) data-inline="session" { "Show its conversation here" }
        } }
    }
}

/// Draws turns as cards.
pub(crate) fn draw(turns: &[Turn], drawing: &mut Drawing<'_>) -> Markup {
    html! { @for card in cards(turns) { (self::card(&card, drawing)) } }
}

fn card(card: &Card<'_>, drawing: &mut Drawing<'_>) -> Markup {
    let first = card.turns().next().map_or(0, |turn| turn.number);
    let summary = drawing
        .prompts
        .iter()
        .find(|summary| summary.number == card.prompt);
    let all = drawing.prompts.len();
    let id = match card.said {
        Some(_) => format!("p{}", card.prompt),
        None => format!("p{}-{first}", card.prompt),
    };
    let heading = format!("h-{id}");
    let nested: Vec<Markup> = card
        .steps
        .iter()
        .map(|step| self::step(step, drawing))
        .collect();
    html! {
        article.box.turn id=(id) aria-labelledby=(heading) aria-posinset=[(card.prompt > 0).then_some(card.prompt)] aria-setsize=[(card.prompt > 0 && all > 0).then_some(all)] {
            header {
                h2 id=(heading) { @match (card.prompt, card.said) {
                    (0, _) => { "Before the first prompt" }
                    (number, Some(_)) => { span.pn aria-hidden="true" { (number) } span { "Prompt " (number) } }
                    (number, None) => { span.pn aria-hidden="true" { (number) } span { "Prompt " (number) ", continued" } }
                } }
                (figures(card, summary, drawing))
            }
            @if let Some(turn) = card.said { (said(turn, drawing)) }
            @if !nested.is_empty() { div.steps { @for step in &nested { (step) } } }
        }
    }
}

/// Time, duration, tool calls and cost in a card's header.
fn figures(card: &Card<'_>, summary: Option<&PromptSummary>, drawing: &Drawing<'_>) -> Markup {
    let times: Vec<_> = card.turns().filter_map(|turn| turn.at).collect();
    let first = times.first().copied();
    let length = first
        .zip(times.last())
        .map(|(first, last)| (last.to_utc() - first.to_utc()).num_milliseconds());
    let length = length
        .and_then(|ms| u64::try_from(ms).ok())
        .filter(|ms| *ms >= 1_000);
    let (calls, failed, denied) = match summary.filter(|_| card.said.is_some()) {
        Some(summary) => (summary.tool_calls, summary.failed, summary.denied),
        None => (
            card.calls(None),
            card.calls(Some(CallOutcome::Failed)),
            card.calls(Some(CallOutcome::Denied)),
        ),
    };
    let cost = summary
        .filter(|_| card.said.is_some())
        .and_then(|summary| drawing.costs.get(&summary.number).copied())
        .and_then(costs::words);
    html! {
        @match first { Some(at) => { (drawing.clock.day_and_time(at)) } None => { span { "time unknown" } } }
        @if let Some(length) = length { span.num.phonehide { (span(length)) } }
        @if calls > 0 { span.num.desk { (counted(calls, "tool call", "tool calls")) } }
        @if failed > 0 { span.badge.bad { (grouped(failed)) " failed" } }
        @if denied > 0 { span.badge.wait { (grouped(denied)) " denied" } }
        span.spacer {}
        @if let Some(cost) = cost { span.num { (cost) } }
        @if let (Some(turn), false) = (card.said, drawing.is_file) {
            a.button.quiet.small.desk href={ "#turn-" (turn.number) } aria-label={ "Link to prompt " (card.prompt) } { "Link" }
        }
    }
}

fn said(turn: &Turn, drawing: &Drawing<'_>) -> Markup {
    let TurnBody::Prompt(prompt) = &turn.body else {
        return html! {};
    };
    html! { div.said.step id={ "turn-" (turn.number) } data-turn=(turn.number) tabindex="-1" dir="auto" { (texts::prompt(turn, prompt, drawing)) } }
}

fn step(step: &Step<'_>, drawing: &mut Drawing<'_>) -> Markup {
    let turn = match step {
        Step::Turn(turn) => turn,
        Step::Reads(reads) => return self::reads(reads, drawing),
        Step::Notes(notes) => return self::notes(notes, drawing),
    };
    html! { div.step id={ "turn-" (turn.number) } data-turn=(turn.number) tabindex="-1" { (body(turn, drawing)) } }
}

fn body(turn: &Turn, drawing: &mut Drawing<'_>) -> Markup {
    let time = |drawing: &Drawing<'_>| html! { @if let Some(at) = turn.at { " " span.dim { (drawing.clock.clock(at)) } } };
    match &turn.body {
        TurnBody::Prompt(prompt) => {
            html! { div.said dir="auto" { (texts::prompt(turn, prompt, drawing)) } }
        }
        TurnBody::Thinking { text } => match text.as_str() {
            Some(text) => texts::thinking(Some(turn.number), text, drawing),
            None => call::redacted("The thought was removed."),
        },
        TurnBody::Answer { text, .. } => texts::answer(text, drawing),
        TurnBody::ToolCall(call) => call::draw(turn, call, drawing),
        TurnBody::Compaction { text, dropped } => html! {
            details.drop open[drawing.opens_turn(turn)] {
                summary { strong { "Context compacted" } (time(drawing)) span.spacer {}
                    @if let Some(dropped) = dropped { span { (counted(*dropped, "context frame", "context frames")) " dropped" } } }
                div.in { (or_redacted(text, "The summary was removed.", |text| html! { div.md dir="auto" { (markdown::render(text, &mut drawing.colours)) } })) }
            }
        },
        TurnBody::SubAgent { session, title, .. } => html! {
            details.call.agent id={ "call-" (turn.number) } {
                summary { span.badge.agent { "sub-agent" } span.arg { bdi { (foreign::text(&foreign::one_line(&title.to_string(), 200))) } } span.end { (drawing.sub_agent_figures(*session)) } }
                div.in { (drawing.sub_agent(*session)) }
            }
        },
        TurnBody::Interruption { text } => note("", "Interrupted", text, &time(drawing)),
        TurnBody::Error { text } => note("error", "Error", text, &time(drawing)),
        TurnBody::Note { name, text } => texts::note(turn, (name, text), &time(drawing), drawing),
        _ => html! { p.notice { "A turn of another kind: " (drawing.event(turn.position)) } },
    }
}

fn note(class: &str, title: &str, text: &annals::projections::Text, time: &Markup) -> Markup {
    html! {
        div.note.(class) role="note" {
            strong { (title) }
            span dir="auto" { (or_redacted(text, "The text was removed.", |text| foreign::text(&foreign::cut(&foreign::output(text), 4_000)))) }
            (time)
        }
    }
}

/// Notes in a row, as one line.
fn notes(notes: &[&Turn], drawing: &mut Drawing<'_>) -> Markup {
    let first = notes.first().map_or(0, |turn| turn.number);
    let mut drawn: Vec<(u64, Markup)> = Vec::new();
    for turn in notes {
        drawn.push((turn.number, body(turn, drawing)));
    }
    html! {
        details.think id={ "notes-" (first) } open[drawing.is_open() || notes.iter().any(|turn| drawing.opens_turn(turn))] {
            summary { (counted(notes.len() as u64, "note", "notes")) " of the agent's program" }
            div.notes { @for (number, note) in &drawn { div.step id={ "turn-" (number) } data-turn=(number) tabindex="-1" { (note) } } }
        }
    }
}

/// Reads in a row, as one line.
fn reads(reads: &[&Turn], drawing: &mut Drawing<'_>) -> Markup {
    let first = reads.first().map_or(0, |turn| turn.number);
    let calls = || {
        reads.iter().filter_map(|turn| match &turn.body {
            TurnBody::ToolCall(call) => Some((*turn, call.as_ref())),
            _ => None,
        })
    };
    let short = |what: &str| {
        let what = what.split(" in ").next().unwrap_or(what);
        foreign::cut(what.rsplit('/').next().unwrap_or(what), 40)
    };
    let names: Vec<String> = calls()
        .map(|(_, call)| short(call.line.what()))
        .filter(|name| !name.is_empty())
        .take(6)
        .collect();
    let more = reads.len() > names.len();
    let ms: u64 = calls()
        .filter_map(|(_, call)| call.duration_ms)
        .fold(0, u64::saturating_add);
    let drawn: Vec<(u64, Markup)> = calls()
        .map(|(turn, call)| (turn.number, call::draw(turn, call, drawing)))
        .collect();
    html! {
        details.call id={ "reads-" (first) } open[drawing.is_open() || reads.iter().any(|turn| drawing.opens_turn(turn))] {
            summary {
                span.tool { "Read" }
                span.arg { (reads.len()) " reads and searches: " (foreign::text(&names.join(", "))) @if more { ", …" } }
                span.end { @if ms > 0 { span.num.clock { (took(ms)) } } }
            }
            div.in { @for (number, call) in &drawn { div.step id={ "turn-" (number) } data-turn=(number) tabindex="-1" { (call) } } }
        }
    }
}
