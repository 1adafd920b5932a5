//! Draws the texts of prompts, answers and notes: what tags of agents' programs mark, in the place of the tags.

use annals::projections::{NoteLine, PromptTurn, Text, TextPart, Turn, is_metadata, text_parts};
use maud::{Markup, html};

use super::call::or_redacted;
use super::draw::Drawing;
use crate::figures::{counted, grouped};
use crate::foreign;
use crate::markdown;

/// Characters of a prompt from which it is folded.
const LONG_PROMPT: usize = 6_000;
/// Characters of a note that are drawn.
const LONG_NOTE: usize = 20_000;
/// Bytes of metadata that are drawn as fields.
const LONG_METADATA: usize = 64 * 1024;

/// Draws the words of a prompt; what the agent's program added is folded.
pub(super) fn prompt(turn: &Turn, prompt: &PromptTurn, drawing: &Drawing<'_>) -> Markup {
    or_redacted(&prompt.text, "The prompt was removed.", |text| {
        let text = foreign::output(text.trim_end());
        let parts = text_parts(&text);
        let most = if drawing.is_whole {
            usize::MAX
        } else {
            LONG_PROMPT
        };
        html! { @for part in &parts { @match part {
            TextPart::Plain(text) => { (beginning(text.trim_end(), most, turn, drawing)) }
            TextPart::Command(command) => { code { (foreign::text(command)) } }
            TextPart::Output(output) => { (beginning(output, most, turn, drawing)) }
            TextPart::Thought(thought) => { (added("Thinking", thought, drawing)) }
            TextPart::Added(name, text) => { (added(name, text, drawing)) }
            _ => {}
        } } }
    })
}

/// The beginning of a text, with the way to the rest.
fn beginning(text: &str, most: usize, turn: &Turn, drawing: &Drawing<'_>) -> Markup {
    let Some((end, _)) = text.char_indices().nth(most) else {
        return foreign::text(text);
    };
    let (shown, rest) = text.split_at(end);
    let count = grouped(rest.chars().count() as u64);
    html! { (foreign::text(shown)) "…\n" a href=(drawing.whole(turn.number)) data-inline="turn" { "Show " (count) " more characters" } }
}

/// A text that the agent's program added to a prompt, folded.
fn added(name: &str, text: &str, drawing: &Drawing<'_>) -> Markup {
    html! {
        details.think.added open[drawing.opens(text)] {
            summary { (name) span.excerpt { (foreign::text(&foreign::one_line(text, 120))) } }
            div.note-text dir="auto" { (foreign::text(&foreign::cut(text, LONG_NOTE))) }
        }
    }
}

/// Draws an answer as Markdown; thoughts inside of it are folded.
pub(super) fn answer(text: &Text, drawing: &mut Drawing<'_>) -> Markup {
    or_redacted(text, "The answer was removed.", |text| {
        let mut drawn = Vec::new();
        for part in text_parts(text) {
            drawn.push(match part {
                TextPart::Plain(text) | TextPart::Output(text) => written(text, drawing),
                TextPart::Command(command) => written(&command, drawing),
                TextPart::Thought(thought) => thinking(None, thought, drawing),
                TextPart::Added(name, text) => added(name, text, drawing),
                _ => html! {},
            });
        }
        html! { @for one in &drawn { (one) } }
    })
}

fn written(text: &str, drawing: &mut Drawing<'_>) -> Markup {
    html! { div.md dir="auto" { (markdown::render(text, &mut drawing.colours)) } }
}

/// Draws a thought, folded. It has an id if it is a turn.
pub(super) fn thinking(number: Option<u64>, text: &str, drawing: &Drawing<'_>) -> Markup {
    let words = text.split_whitespace().count() as u64;
    let is_open = drawing.is_open() || drawing.opens(text);
    html! {
        details.think id=[number.map(|number| format!("call-{number}"))] open[is_open] {
            summary { "Thinking " span.num { "· " (counted(words, "word", "words")) } }
            div.thought dir="auto" { (foreign::text(&foreign::output(text))) }
        }
    }
}

/// Draws a note, folded to its name and its first line. Metadata is drawn as fields.
pub(super) fn note(
    turn: &Turn,
    (name, text): (&str, &Text),
    time: &Markup,
    drawing: &Drawing<'_>,
) -> Markup {
    let whole = or_redacted(text, "The text was removed.", |text| {
        note_text(turn, text, drawing)
    });
    let line = text
        .as_str()
        .map(|text| NoteLine::of(name, &foreign::output(text)));
    let title = line.as_ref().map_or(name, |line| line.title.as_str());
    let excerpt = line.as_ref().and_then(|line| line.excerpt.as_deref());
    let is_open = text.as_str().is_some_and(|text| drawing.opens(text));
    html! { details.think open[is_open] {
        summary {
            (foreign::text(&foreign::cut(&title.replace('_', " "), 80))) (time)
            @if let Some(excerpt) = excerpt { span.excerpt { (foreign::text(&foreign::one_line(excerpt, 120))) } }
        }
        div.note-text dir="auto" { (whole) }
    } }
}

fn note_text(turn: &Turn, text: &str, drawing: &Drawing<'_>) -> Markup {
    let most = if drawing.is_whole {
        usize::MAX
    } else {
        LONG_NOTE
    };
    if is_metadata(text)
        && text.len() <= LONG_METADATA
        && let Ok(json) = serde_json::from_str::<serde_json::Value>(text)
    {
        return html! { pre.out tabindex="0" role="region" aria-label={ "Metadata, event " (grouped(turn.position.0)) } { (foreign::text(&foreign::cut(&indented(&json), most))) } };
    }
    let text = foreign::output(text);
    let parts = text_parts(&text);
    html! { @for part in &parts { @match part {
        TextPart::Plain(text) | TextPart::Output(text) | TextPart::Thought(text) => { (foreign::text(&foreign::cut(text, most))) }
        TextPart::Command(command) => { code { (foreign::text(command)) } }
        TextPart::Added(_, text) => { (foreign::text(&foreign::cut(text, most))) }
        _ => {}
    } } }
}

/// JSON on several lines.
fn indented(json: &serde_json::Value) -> String {
    serde_json::to_string_pretty(json).unwrap_or_else(|_| json.to_string())
}
