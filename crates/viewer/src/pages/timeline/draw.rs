//! Draws a timeline: lanes of blocks as SVG, whose places are shares of the width, and the same as a table.

use maud::{Markup, html};

use super::marks::{Lane, Mark};
use super::model::{Bar, Shown, Timeline, TimelineView};
use super::scale::Scale;
use crate::answer::Asked;
use crate::figures::{grouped, local_time, time};
use crate::html::{duration, more, nothing, place, status};
use crate::moment::Moment;

/// The height of a row of a lane, and of a block in it.
const ROW: usize = 22;
const BLOCK: usize = 17;
/// Where blocks begin below the axis.
const TOP: usize = 22;
/// Rows of calls that went on beside each other.
const DEEPEST: usize = 4;
/// The least width of a block, as a share of the whole.
const LEAST: f64 = 0.004;

pub(crate) fn draw(timeline: &Timeline, asked: &Asked, view: TimelineView) -> Markup {
    if timeline.totals.marks == 0 {
        return html! { section { p.nothing { "Nothing has happened in this " (view.of) " yet." } } };
    }
    html! {
        section { (facts(timeline, view.of)) }
        @if !timeline.strip.is_empty() { (strip(timeline, asked, view.of)) }
        section { (flame(timeline, view.moment)) (legend(timeline, view.of)) }
        section {
            div.head {
                h2 { "In order" }
                @let last = timeline.from + timeline.marks.len();
                span.count { (grouped((timeline.from + 1) as u64)) " to " (grouped(last as u64)) " of " (grouped(timeline.totals.marks as u64)) }
            }
            (table(timeline, view))
            @if let Some(next) = timeline.next { (more(&link(asked, next), "Further on")) }
        }
    }
}

/// A timeline as it stands in a file: without the ways to its other parts.
pub(crate) fn still(timeline: &Timeline, moment: Moment) -> Markup {
    let view = TimelineView {
        moment,
        clock: None,
        of: "run",
    };
    html! {
        section { (facts(timeline, view.of)) }
        section { (flame(timeline, moment)) (legend(timeline, view.of)) }
        section { (table(timeline, view))
            @if timeline.next.is_some() { (nothing("What came later is in the history.")) } }
    }
}

/// The address of a part of the timeline.
fn link(asked: &Asked, from: usize) -> String {
    let at = match asked.moment.is_chosen {
        true => asked.moment.position.to_string(),
        false => String::new(),
    };
    asked.with(&[("from", &from.to_string()), ("at", &at)])
}

/// The numbers that a person looks at first.
fn facts(timeline: &Timeline, of: &str) -> Markup {
    let totals = &timeline.totals;
    let patch_sets = if of == "session" {
        "file changes"
    } else {
        "patch sets"
    };
    let failed = |all: usize, failed: usize| match failed {
        0 => grouped(all as u64),
        failed => format!(
            "{} ({} failed)",
            grouped(all as u64),
            grouped(failed as u64)
        ),
    };
    let cost = timeline.cost.clone();
    let went_wrong: Vec<String> = [
        (totals.failed_calls, "failed"),
        (totals.denied_calls, "denied"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{} {word}", grouped(count as u64)))
    .collect();
    let calls = match went_wrong.is_empty() {
        true => grouped(totals.calls as u64),
        false => format!(
            "{} ({})",
            grouped(totals.calls as u64),
            went_wrong.join(", ")
        ),
    };
    let facts = [
        ("from first to last", duration(timeline.duration_ms)),
        ("tools at work", duration(timeline.busy_ms)),
        ("critical path", duration(timeline.critical_ms)),
        ("prompts", grouped(totals.prompts as u64)),
        ("tool calls", calls),
        ("sub-agents", grouped(totals.agents as u64)),
        (patch_sets, grouped(totals.patch_sets as u64)),
        ("checks", failed(totals.checks, totals.failed_checks)),
    ];
    html! {
        dl.facts { @for (name, value) in facts.into_iter().chain(cost.map(|cost| ("cost", cost))) { div { dt { (name) } dd { (value) } } } }
    }
}

/// The whole run or session in bars of as many marks each.
fn strip(timeline: &Timeline, asked: &Asked, of: &str) -> Markup {
    let most = timeline.strip.iter().map(|bar| bar.took_ms).max();
    let most = most.unwrap_or(1).max(1);
    let bars = timeline.strip.len();
    let each = timeline.totals.marks.div_ceil(bars.max(1));
    let last = timeline.from + timeline.marks.len();
    let bar = |index: usize, bar: &Bar| {
        let width = 100.0 / ratio(bars as u64);
        let height = (ratio(bar.took_ms) / ratio(most)).sqrt() * 44.0 + 4.0;
        let is_shown = bar.from < last && bar.from + each > timeline.from;
        html! {
            a href=(link(asked, bar.from)) aria-label=(format!("from {}", bar.from + 1)) {
                rect.bar.bad[bar.failed > 0].shown[is_shown]
                    x=(percent(ratio(index as u64) * width / 100.0)) y=(format!("{:.1}", 50.0 - height))
                    width=(percent(width * 0.8 / 100.0)) height=(format!("{height:.1}")) {
                    title { "from " (bar.from + 1) ": " (duration(bar.took_ms)) @if bar.failed > 0 { ", " (bar.failed) " failed" } }
                }
            }
        }
    };
    html! {
        section {
            div.head { h2 { "The whole " (of) } span.count { "bars of as many marks; their height is how long their calls took" } }
            svg.strip width="100%" height="50" role="group" aria-label={ "The whole " (of) } {
                @for (index, one) in timeline.strip.iter().enumerate() { (bar(index, one)) }
            }
        }
    }
}

#[allow(clippy::cast_precision_loss, reason = "places on a screen")]
fn ratio(number: u64) -> f64 {
    number as f64
}

/// A share of the width, as SVG has it.
fn percent(share: f64) -> String {
    format!("{:.3}%", share * 100.0)
}

/// A block, and in which row of its lane it is drawn.
struct Block<'a> {
    shown: &'a Shown,
    mark: &'a Mark,
    row: usize,
}

/// Puts what goes on beside each other into rows of its lane.
fn blocks<'a>(timeline: &'a Timeline, lane: Lane, scale: &Scale) -> Vec<Block<'a>> {
    let mut ends: Vec<f64> = Vec::new();
    let mut blocks = Vec::new();
    for shown in &timeline.marks {
        let Some(mark) = shown.mark.as_ref().filter(|mark| mark.lane == lane) else {
            continue;
        };
        let start = scale.place(mark.start);
        let free = ends.iter().position(|end| *end <= start + 1e-9);
        let row = match free {
            Some(row) => row,
            None if ends.len() < DEEPEST => {
                ends.push(0.0);
                ends.len() - 1
            }
            None => DEEPEST - 1,
        };
        if let Some(end) = ends.get_mut(row) {
            *end = scale.place(mark.end).max(start + LEAST);
        }
        blocks.push(Block { shown, mark, row });
    }
    blocks
}

fn flame(timeline: &Timeline, moment: Moment) -> Markup {
    let spans = timeline
        .marks
        .iter()
        .filter_map(|shown| shown.mark.as_ref());
    let spans: Vec<(i64, i64)> = spans.map(|mark| (mark.start, mark.end)).collect();
    let scale = Scale::of(&spans);
    let mut y = TOP;
    let mut lanes = Vec::new();
    for lane in Lane::ALL {
        let blocks = blocks(timeline, lane, &scale);
        if blocks.is_empty() {
            continue;
        }
        let deepest = blocks.iter().map(|block| block.row).max().unwrap_or(0);
        lanes.push((y, blocks));
        y += (deepest + 1) * ROW + 6;
    }
    html! {
        div.flame tabindex="0" role="region" aria-label="Timeline" {
            svg width="100%" height=(y) {
                @for pause in &scale.pauses {
                    rect.pause x=(percent(pause.place)) y="0" width=(percent(pause.width)) height=(y) {
                        title { (duration(pause.took)) " in which nothing happened" }
                    }
                }
                (axis(timeline, &scale))
                @for (y, blocks) in &lanes { @for block in blocks { (self::block(block, *y, &scale, moment)) } }
            }
        }
    }
}

/// Times along the top.
fn axis(timeline: &Timeline, scale: &Scale) -> Markup {
    let mut labels: Vec<(f64, &Shown)> = Vec::new();
    for shown in &timeline.marks {
        let place = shown
            .mark
            .as_ref()
            .map_or(0.0, |mark| scale.place(mark.start));
        let is_free = labels.last().is_none_or(|(last, _)| place - last > 0.12);
        if is_free && place < 0.92 {
            labels.push((place, shown));
        }
    }
    html! {
        @for (place, shown) in labels {
            line.tick x1=(percent(place)) x2=(percent(place)) y1="0" y2="16" {}
            text.tick x=(percent(place)) y="12" dx="4" { "+" (duration(shown.offset_ms)) }
        }
    }
}

fn block(block: &Block<'_>, y: usize, scale: &Scale, moment: Moment) -> Markup {
    let (shown, mark) = (block.shown, block.mark);
    let start = scale.place(mark.start);
    let width = (scale.place(mark.end) - start).max(LEAST);
    let start = start.min(1.0 - width);
    let y = y + block.row * ROW;
    let name = shown.name.as_deref().unwrap_or(shown.lane);
    let name: String = name.chars().take(80).collect();
    // Only blocks that are wide enough have their names inside.
    let is_wide = width > 0.025;
    let address = shown.link.clone();
    let address = address.unwrap_or_else(|| moment.link(&default_address(mark)));
    html! {
        a href=(address) {
            svg x=(percent(start)) y=(y) width=(percent(width)) height=(BLOCK) {
                rect class=(format!("block {}{}", mark.lane.class(), if mark.has_failed() { " bad" } else { "" }))
                    width="100%" height="100%" rx="2" {}
                @if shown.is_critical { rect.critical width="100%" height="3" y=(BLOCK - 3) {} }
                @if is_wide { foreignObject width="100%" height=(BLOCK) { div.name { @if mark.has_failed() { "✕ " } (name) } } }
                title { (shown.lane) ": " (name) @if let Some(status) = shown.status { ", " (status) }
                    @if shown.duration_ms > 0 { ", " (duration(shown.duration_ms)) } @if shown.is_critical { ", on the critical path" } ", event " (shown.position) }
            }
        }
    }
}

/// The word for a lane: on a session's timeline, the words of its conversation.
fn word<'a>(lane: &'a str, of: &str) -> &'a str {
    match (of, lane) {
        ("session", "call") => "tool call",
        ("session", "agent") => "sub-agent",
        ("session", "patch set") => "file change",
        (_, lane) => lane,
    }
}

/// The address of what a mark is of.
fn default_address(mark: &Mark) -> String {
    match mark.object {
        Some(object) => place(object),
        None => format!("/events/{}", mark.position),
    }
}

/// The signs of the marks that are shown.
fn legend(timeline: &Timeline, of: &str) -> Markup {
    let marks = || {
        let shown = timeline.marks.iter();
        shown.filter_map(|shown| shown.mark.as_ref())
    };
    let lanes = Lane::ALL.into_iter();
    let lanes = lanes.filter(|lane| marks().any(|mark| mark.lane == *lane));
    html! {
        ul.legend { @for lane in lanes {
            li { svg width="12" height="12" aria-hidden="true" { rect class=(format!("block {}", lane.class())) width="12" height="12" rx="2" {} } " " (word(lane.word(), of)) }
        } li { svg width="12" height="12" aria-hidden="true" { rect.critical width="12" height="3" y="9" {} } " critical path" }
        @if marks().any(Mark::has_failed) { li { svg width="12" height="12" aria-hidden="true" { rect.block.call.bad width="12" height="12" rx="2" {} } " failed" } }
        li { svg width="12" height="12" aria-hidden="true" { rect.pause width="12" height="12" {} } " a pause, drawn shorter" } }
    }
}

fn table(timeline: &Timeline, view: TimelineView) -> Markup {
    let moment = view.moment;
    let began = |shown: &Shown| {
        let at = view.clock.zip(local_time(&shown.started_at));
        html! { @match at { Some((clock, at)) => { (clock.exact(at)) } None => { (time(&shown.started_at)) } } }
    };
    let address = |shown: &Shown| {
        let object = || shown.object.map(|id| moment.link(&place(id)));
        shown.link.clone().or_else(object)
    };
    let longest = timeline.marks.iter().map(|mark| mark.duration_ms).max();
    let longest = longest.unwrap_or(1).max(1);
    html! {
        div.scroll tabindex="0" role="region" aria-label="Marks in order" { table.rows.events.stacked {
            thead { tr { th.right { "Event" } th { "Began" } th.wide.right { "After" } th { "Lane" } th { "What" } th { "Status" } th.right { "Took" } th.wide { span.unseen { "Bar" } } } }
            tbody { @for mark in &timeline.marks { tr data-position=(mark.position) {
                td.right data-label="event" { (crate::html::event(mark.position, moment)) }
                td.nowrap { (began(mark)) }
                td.wide.right.num { (duration(mark.offset_ms)) }
                td.kind.nowrap { (word(mark.lane, view.of)) }
                td.what { @let name = mark.name.as_deref().unwrap_or("(no name)");
                    @match address(mark) { Some(address) => { a href=(address) { (name) } } None => { (name) } } }
                td.nowrap { @if let Some(word) = mark.status.filter(|it| view.of != "session" || *it != "proposed") { (status(word)) }
                    @if mark.is_critical { " " span.second title="on the critical path" { "critical" } } }
                td.right.num.nowrap { @if mark.duration_ms > 0 { (duration(mark.duration_ms)) } }
                td.wide { @if mark.duration_ms > 0 { svg.spark width="80" height="8" aria-hidden="true" {
                    rect.block.call width=(format!("{:.1}", (ratio(mark.duration_ms) / ratio(longest) * 80.0).max(1.0))) height="8" rx="2" {} } } }
            } } }
        } }
    }
}
