//! The side column: prompts, changed files, and a small timeline.

use std::collections::BTreeMap;

use annals::projections::{CallOutcome, Turn, TurnBody};
use maud::{Markup, html};

use super::{SessionConversation, costs};
use crate::answer::Asked;
use crate::figures::{Clock, counted, grouped, lines};
use crate::foreign;

/// Prompts and files that are listed.
const LISTED: usize = 200;
/// Files whose diffs one page of files has.
pub(super) const FILES_PART: usize = 50;
/// The width of the timeline, and so its number of buckets.
const WIDTH: u32 = 272;

/// A file that the session changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ChangedFile {
    pub(super) added: u64,
    pub(super) deleted: u64,
}

/// Draws the side column.
pub(super) fn draw(read: &SessionConversation, asked: &Asked, clock: Clock) -> Markup {
    html! {
        (lists(read, asked, clock))
        (timeline(&read.all))
    }
}

/// What the folded column of a phone contains, in words.
pub(super) fn words(read: &SessionConversation) -> String {
    format!(
        "{}, {}",
        counted(read.prompts.len() as u64, "prompt", "prompts"),
        counted(read.session.files, "changed file", "changed files")
    )
}

/// The prompts and the changed files.
pub(super) fn lists(read: &SessionConversation, asked: &Asked, clock: Clock) -> Markup {
    let changed = &read.files;
    let session = &read.session;
    let last = read.from.saturating_add(read.turns.len() as u64);
    let prompt_address = |turn: u64| match (read.from..last).contains(&turn) {
        true => format!("#turn-{turn}"),
        false => {
            let from = (turn - 1) / 200 * 200 + 1;
            format!(
                "{}#turn-{turn}",
                asked
                    .moment
                    .link(&format!("{}?from={from}", session.address()))
            )
        }
    };
    let more = session
        .prompts
        .saturating_sub(read.prompts.len().min(LISTED) as u64);
    let file_address = |index: usize| {
        let from = index / FILES_PART * FILES_PART;
        let query = if from > 0 {
            format!("?from={from}")
        } else {
            String::new()
        };
        let page = format!("{}/files{query}", session.address());
        format!("{}#f{index}", asked.moment.link(&page))
    };
    html! {
        nav aria-label="Prompts" {
            h2 { "Prompts " span.num { (grouped(session.prompts.max(read.prompts.len() as u64))) } }
            @if read.prompts.is_empty() { p.dim { "No prompts yet" } }
            ol { @for prompt in read.prompts.iter().take(LISTED) { li {
                a href=(prompt_address(prompt.turn)) {
                    span.pn { (prompt.number) }
                    span dir="auto" { (foreign::text(&foreign::one_line(&prompt.beginning, 160))) }
                    span.sub.num {
                        @if let Some(at) = prompt.at { (clock.clock(at)) } @else { "time unknown" }
                        @if let Some(cost) = read.costs.get(&prompt.number).copied().and_then(costs::words) { " · " (cost) }
                        @if prompt.failed > 0 { " · " span.rem { (grouped(prompt.failed)) " failed" } }
                        @if prompt.denied > 0 { " · " span.waitc { (grouped(prompt.denied)) " denied" } }
                    }
                }
            } } }
            @if more > 0 { p.dim { (counted(more, "more prompt", "more prompts")) " below" } }
        }
        nav aria-label="Changed files" {
            h2 { "Changed files " span.num { (grouped(session.files.max(changed.len() as u64))) } }
            @if changed.is_empty() { p.dim { "This session changed no files" } }
            ul { @for (index, (path, file)) in changed.iter().take(LISTED).enumerate() { li {
                a.file href=(file_address(index)) title=(path) {
                    span { bdi { (foreign::text(short(path))) } }
                    (lines(file.added, file.deleted))
                }
            } } }
        }
    }
}

/// The last two components of a path.
pub(super) fn short(path: &str) -> &str {
    let at = path.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    path.get(at..).unwrap_or(path)
}

/// A kind of mark in the timeline.
#[derive(Clone, Copy)]
struct Lane {
    class: &'static str,
    y: u32,
    height: u32,
}

/// Turns by time, one bucket a pixel.
fn timeline(turns: &[Turn]) -> Markup {
    let times = || turns.iter().filter_map(|turn| Some((turn, turn.at?)));
    let (Some(first), Some(last)) = (
        times().map(|(_, at)| at).min(),
        times().map(|(_, at)| at).max(),
    ) else {
        return html! {};
    };
    let whole = (last.to_utc() - first.to_utc()).num_milliseconds();
    if whole <= 0 {
        return html! {};
    }
    let mut marks: BTreeMap<(u32, u32), (&'static str, u32)> = BTreeMap::new();
    for (turn, at) in times() {
        let Some(lane) = lane(turn) else {
            continue;
        };
        let passed = i128::from((at.to_utc() - first.to_utc()).num_milliseconds());
        let x = u32::try_from(passed * i128::from(WIDTH - 4) / i128::from(whole)).unwrap_or(0);
        // A failure covers what else happened in its pixel.
        let mark = marks
            .entry((lane.y, x / 2 * 2))
            .or_insert((lane.class, lane.height));
        if matches!(lane.class, "lf" | "lw") {
            *mark = (lane.class, lane.height);
        }
    }
    let calls = turns
        .iter()
        .filter(|turn| matches!(turn.body, TurnBody::ToolCall(_)))
        .count() as u64;
    let prompts = turns
        .iter()
        .filter(|turn| matches!(turn.body, TurnBody::Prompt(_)))
        .count() as u64;
    let is_bottom = |y: u32| y == 58;
    html! {
        section aria-label="Mini timeline" {
            h2 { "Timeline" }
            svg viewBox={ "0 0 " (WIDTH) " 92" } role="img" aria-labelledby="mini-timeline" {
                title id="mini-timeline" { "Timeline: " (counted(prompts, "prompt", "prompts")) ", " (counted(calls, "tool call", "tool calls")) }
                @for y in [16, 40, 64] { line.grid x1="0" x2=(WIDTH) y1=(y) y2=(y) {} }
                @for ((y, x), (class, height)) in &marks {
                    @let y = if *class == "lf" || *class == "lw" { 32 } else { *y };
                    rect class=(class) x=(x) y=(y) width=(if is_bottom(y) { 4 } else { 3 }) height=(height) rx="1" {}
                }
                text x="0" y="90" { (text_of(first)) }
                text x=(WIDTH) y="90" text-anchor="end" { (text_of(last)) }
            }
            ul.legend {
                @for (class, word) in [("lp", "prompt"), ("lt", "tool call"), ("la", "sub-agent"), ("lf", "failed"), ("lw", "denied")] {
                    @if marks.values().any(|(shown, _)| *shown == class) { li { i class=(class) {} (word) } }
                }
            }
        }
    }
}

fn text_of(at: annals::domain::Timestamp) -> String {
    crate::figures::local(at).format("%-d %b %H:%M").to_string()
}

fn lane(turn: &Turn) -> Option<Lane> {
    let lane = |class, y, height| Some(Lane { class, y, height });
    match &turn.body {
        TurnBody::Prompt(_) => lane("lp", 8, 16),
        TurnBody::SubAgent { .. } => lane("la", 58, 12),
        TurnBody::ToolCall(call) => match call.outcome {
            CallOutcome::Failed => lane("lf", 34, 16),
            CallOutcome::Denied => lane("lw", 34, 16),
            _ if call.sub_agent.is_some() => lane("la", 58, 12),
            _ => lane("lt", 34, 12),
        },
        TurnBody::Error { .. } => lane("lf", 34, 16),
        _ => None,
    }
}
