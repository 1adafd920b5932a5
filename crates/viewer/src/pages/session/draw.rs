//! Draws turns: one card for each prompt with its thoughts, answers, tool calls and notes.

use std::collections::HashMap;

use annals::event_log::{Digest, Position};
use annals::projections::{CallOutcome, PromptSummary, PromptTurn, Turn, TurnBody};
use maud::{Markup, html};
use uuid::Uuid;

use super::call::{self, or_redacted};
use super::cards::{Card, Step, cards};
use crate::code::Colours;
use crate::diff_view::{DiffFile, Layout, file_of};
use crate::figures::{Clock, counted, money, span, took};
use crate::foreign;
use crate::html::grouped;
use crate::markdown;
use crate::moment::Moment;
use crate::pages::session::price;
use crate::session_entry::SessionEntry;

/// Characters of a prompt from which it is folded.
const LONG_PROMPT: usize = 6_000;

/// Characters of a note that are drawn.
const LONG_NOTE: usize = 20_000;

/// What is needed to draw turns.
pub(crate) struct Drawing<'a> {
    pub(crate) session: &'a SessionEntry,
    pub(crate) prompts: &'a [PromptSummary],
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
        .and_then(|summary| price(&summary.models));
    html! {
        @match first { Some(at) => { (drawing.clock.day_and_time(at)) } None => { span { "time unknown" } } }
        @if let Some(length) = length { span.num.phonehide { (span(length)) } }
        @if calls > 0 { span.num.desk { (counted(calls, "tool call", "tool calls")) } }
        @if failed > 0 { span.badge.bad { (grouped(failed)) " failed" } }
        @if denied > 0 { span.badge.wait { (grouped(denied)) " denied" } }
        span.spacer {}
        @if let Some(cost) = cost { span.num { (money(cost)) } }
        @if let (Some(turn), false) = (card.said, drawing.is_file) {
            a.button.quiet.small.desk href={ "#turn-" (turn.number) } aria-label={ "Link to prompt " (card.prompt) } { "Link" }
        }
    }
}

fn said(turn: &Turn, drawing: &Drawing<'_>) -> Markup {
    let TurnBody::Prompt(prompt) = &turn.body else {
        return html! {};
    };
    html! { div.said.step id={ "turn-" (turn.number) } data-turn=(turn.number) tabindex="-1" dir="auto" { (words(turn, prompt, drawing)) } }
}

fn words(turn: &Turn, prompt: &PromptTurn, drawing: &Drawing<'_>) -> Markup {
    or_redacted(&prompt.text, "The prompt was removed.", |text| {
        let text = foreign::output(text.trim_end());
        let rest = text
            .char_indices()
            .nth(LONG_PROMPT)
            .filter(|_| !drawing.is_whole);
        match rest {
            None => foreign::text(&text),
            Some((end, _)) => {
                let (shown, rest) = text.split_at(end);
                html! { (foreign::text(shown)) "…\n" a href=(drawing.whole(turn.number)) data-inline="turn" { "Show " (grouped(rest.chars().count() as u64)) " more characters" } }
            }
        }
    })
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
            html! { div.said dir="auto" { (words(turn, prompt, drawing)) } }
        }
        TurnBody::Thinking { text } => thinking(turn, text.as_str(), drawing),
        TurnBody::Answer { text, .. } => {
            let colours = &mut drawing.colours;
            or_redacted(
                text,
                "The answer was removed.",
                |text| html! { div.md dir="auto" { (markdown::render(text, colours)) } },
            )
        }
        TurnBody::ToolCall(call) => call::draw(turn, call, drawing),
        TurnBody::Compaction { text, dropped } => html! {
            details.drop {
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
        TurnBody::Note { name, text } => {
            let excerpt = text.as_str().map(|text| foreign::one_line(text, 120));
            let most = if drawing.is_whole {
                usize::MAX
            } else {
                LONG_NOTE
            };
            let whole = or_redacted(text, "The text was removed.", |text| {
                html! { (foreign::text(&foreign::cut(&foreign::output(text), most))) }
            });
            html! { details.think {
                summary {
                    (foreign::text(&foreign::cut(&name.replace('_', " "), 80))) (time(drawing))
                    @if let Some(excerpt) = &excerpt { span.excerpt { (foreign::text(excerpt)) } }
                }
                div.note-text dir="auto" { (whole) }
            } }
        }
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

/// A thought, folded.
fn thinking(turn: &Turn, text: Option<&str>, drawing: &Drawing<'_>) -> Markup {
    let Some(text) = text else {
        return call::redacted("The thought was removed.");
    };
    let words = text.split_whitespace().count() as u64;
    html! {
        details.think id={ "call-" (turn.number) } open[drawing.is_whole && !drawing.is_file] {
            summary { "Thinking " span.num { "· " (counted(words, "word", "words")) } }
            div.thought dir="auto" { (foreign::text(&foreign::output(text))) }
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
        details.think id={ "notes-" (first) } open[drawing.is_whole && !drawing.is_file] {
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
        details.call id={ "reads-" (first) } open[drawing.is_whole && !drawing.is_file] {
            summary {
                span.tool { "Read" }
                span.arg { (reads.len()) " reads and searches: " (foreign::text(&names.join(", "))) @if more { ", …" } }
                span.end { @if ms > 0 { span.num.clock { (took(ms)) } } }
            }
            div.in { @for (number, call) in &drawn { div.step id={ "turn-" (number) } data-turn=(number) tabindex="-1" { (call) } } }
        }
    }
}
