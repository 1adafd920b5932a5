//! Draws a context window: a tape of blocks as wide as their tokens, and the same as tables.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::model::{Frame, Gone, Window};
use crate::answer::Asked;
use crate::html::{event, grouped, more, nothing, number, object};
use crate::moment::Moment;

/// The height of a row of the tape, and of the blocks in it.
const ROW: usize = 30;
const BLOCK: usize = 25;
/// Frames for which there is a row.
const PER_ROW: usize = 40;
/// Rows of a tape, at most.
const ROWS: usize = 8;
/// Colours that kinds are shown in.
const COLOURS: usize = 8;

pub(super) fn draw(window: &Window, asked: &Asked) -> Markup {
    let moment = asked.moment;
    html! {
        section { (facts(window, moment)) }
        section {
            div.head { h2 { "In the window" } span.count { "as wide as their tokens, the oldest first" } }
            @if window.total == 0 { (nothing("Nothing is in the window.")) } @else { (tape(window)) }
        }
        @if !window.frames.is_empty() { section {
            h2 { "Frames" }
            (frames(window, moment))
            @if let Some(next) = window.next { (more(&asked.with(&[("from", &next.to_string())]), "Further on")) }
        } }
        section {
            div.head { h2 { "What went" } span.count { (grouped(window.gone_total as u64)) " frames, " (grouped(window.gone_tokens)) " tokens" } }
            @if window.gone.is_empty() { (nothing("Nothing was evicted or dropped.")) } @else { (gone(window, moment)) }
        }
    }
}

fn facts(window: &Window, moment: Moment) -> Markup {
    html! {
        dl.facts {
            div { dt { "frames" } dd { (grouped(window.total as u64)) } }
            div { dt { "tokens" } dd { (number(window.tokens)) } }
            div { dt { "gone" } dd { (grouped(window.gone_total as u64)) } }
            div { dt { "policy" } dd { (window.policy) } }
            div { dt { "pipeline" } dd { (object(window.pipeline, moment)) } }
            div { dt { "at event" } dd { (grouped(window.position)) } }
            @if let Some(over) = &window.over_limit { div { dt { "limit" } dd { (over) } } }
        }
    }
}

/// The kinds of the frames, each with the number of its colour, the most frequent first.
fn kinds(window: &Window) -> Vec<(&str, usize, u64)> {
    let mut tokens: BTreeMap<&str, u64> = BTreeMap::new();
    for (kind, of, _) in &window.tape {
        *tokens.entry(kind).or_default() += of;
    }
    let mut kinds: Vec<(&str, u64)> = tokens.into_iter().collect();
    kinds.sort_by_key(|(kind, tokens)| (std::cmp::Reverse(*tokens), *kind));
    let numbered = kinds.into_iter().enumerate();
    numbered
        .map(|(number, (kind, tokens))| (kind, number.min(COLOURS - 1), tokens))
        .collect()
}

#[allow(clippy::cast_precision_loss, reason = "places on a screen")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64 * 100.0
}

/// All frames one behind the other, in rows of as many tokens. A frame goes on in the next row where its row ends.
fn tape(window: &Window) -> Markup {
    let kinds = kinds(window);
    let colour = |kind: &str| {
        kinds
            .iter()
            .find(|(known, ..)| *known == kind)
            .map_or(0, |(_, colour, _)| *colour)
    };
    // One that is not counted is shown as the least there is.
    let sizes = window.tape.iter().map(|(_, tokens, _)| (*tokens).max(1));
    let whole: u64 = sizes.clone().sum();
    let rows = window.tape.len().div_ceil(PER_ROW).clamp(1, ROWS);
    let per_row = whole.div_ceil(rows as u64).max(1);
    let mut at = 0;
    let mut pieces = Vec::new();
    for ((kind, tokens, protected), size) in window.tape.iter().zip(sizes) {
        let end = at + size;
        let mut from = at;
        while from < end {
            let row = from / per_row;
            let until = end.min((row + 1) * per_row);
            pieces.push((
                row,
                from % per_row,
                until - from,
                kind.as_str(),
                *tokens,
                *protected,
            ));
            from = until;
        }
        at = end;
    }
    html! {
        svg.tape width="100%" height=(rows * ROW) role="img" aria-label=(format!("{} frames", window.total)) {
            @for (row, x, width, kind, tokens, protected) in &pieces {
                rect class=(format!("frame k{}{}", colour(kind), if *protected { " protected" } else { "" }))
                    x=(format!("{:.3}%", share(*x, per_row))) width=(format!("{:.3}%", share(*width, per_row)))
                    y=(usize::try_from(*row).unwrap_or(0) * ROW) height=(BLOCK) {
                    title { (kind) ", " (grouped(*tokens)) " tokens" @if *protected { ", protected" } }
                }
            }
        }
        ul.legend { @for (kind, colour, tokens) in &kinds {
            li { svg width="12" height="12" aria-hidden="true" { rect class=(format!("frame k{colour}")) width="12" height="12" {} } " " (kind.replace('_', " ")) " " span.second { (number(*tokens)) } }
        } li { svg width="12" height="12" aria-hidden="true" { rect.frame.k7.protected width="12" height="12" {} } " protected" } }
    }
}

fn frames(window: &Window, moment: Moment) -> Markup {
    let most = window
        .frames
        .iter()
        .filter_map(|frame| frame.tokens)
        .max()
        .unwrap_or(1);
    let signs = |frame: &Frame| {
        let signs = [
            (frame.entered, "entered"),
            (frame.protected, "protected"),
            (frame.consumed, "consumed"),
        ];
        let signs: Vec<&str> = signs
            .iter()
            .filter(|(is, _)| *is)
            .map(|(_, word)| *word)
            .collect();
        signs.join(", ")
    };
    html! {
        div.scroll { table.rows {
            thead { tr { th.right { "Frame" } th { "Kind" } th.right { "Tokens" } th.wide {} th.right { "Event" } th { "Summary" } th.wide { "Why it is in" } th { "Marks" } } }
            tbody { @for frame in &window.frames { tr data-position=(frame.position) {
                td.right.num { (frame.frame) }
                td.kind.nowrap { (frame.kind.replace('_', " ")) }
                td.right.num { @if let Some(tokens) = frame.tokens { (grouped(tokens)) } @else { "—" } }
                td.wide { svg.spark width="80" height="8" aria-hidden="true" {
                    rect.block.call width=(format!("{:.1}", share(frame.tokens.unwrap_or(0), most) * 0.8)) height="8" rx="2" {} } }
                td.right { (event(frame.position, moment)) }
                td.what { (frame.summary) }
                td.wide.second { (frame.why) }
                td.second { (signs(frame)) }
            } } }
        } }
    }
}

fn gone(window: &Window, moment: Moment) -> Markup {
    let numbers = |gone: &Gone| {
        let numbers: Vec<String> = gone.numbers.iter().map(ToString::to_string).collect();
        let more = if gone.frames > numbers.len() {
            ", …"
        } else {
            ""
        };
        format!("{}{more}", numbers.join(", "))
    };
    html! {
        div.scroll { table.rows {
            thead { tr { th.right { "Event" } th { "How" } th.right { "Frames" } th.right { "Tokens" } th.wide { "Their numbers" } } }
            tbody { @for gone in &window.gone { tr {
                td.right { (event(gone.position, moment)) }
                td { @if gone.dropped { "dropped by the agent's program" } @else { "evicted to make room" } }
                td.right.num { (grouped(gone.frames as u64)) }
                td.right.num { (grouped(gone.tokens)) }
                td.wide.what.num { (numbers(gone)) }
            } } }
        } }
    }
}
