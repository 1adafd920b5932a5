//! Draws a context window: as a tape, as tables, and another policy beside it.

use maud::{Markup, html};

use super::beside::{OtherFrame, OtherPolicy, POLICIES, PolicyCounts};
use super::model::{Frame, Gone, Window};
use super::tape::{Block, Scale, share, tape};
use crate::answer::Asked;
use crate::figures::grouped;
use crate::html::{event, more, nothing, number, object};
use crate::moment::Moment;

pub(crate) fn draw(window: &Window, asked: &Asked) -> Markup {
    let moment = asked.moment;
    let own = own(window);
    let beside = window.beside.as_ref();
    let others = beside.map_or_else(Vec::new, |beside| blocks(&beside.tape));
    let scale = Scale::of(&own).with(&others);
    html! {
        section { (facts(window, moment)) }
        section {
            div.head { h2 { "In the window" } span.count { "as wide as their tokens, the oldest first" } }
            @if window.total == 0 { (nothing("Nothing is in the window.")) } @else { (tape(&own, &scale, "protected")) }
        }
        section {
            h2 { "Another policy beside it" }
            (form(window, asked))
            @if let Some(beside) = beside { (other(beside, &others, &scale, moment)) }
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
            div { dt { "policy" } dd { (window.policy.replace('_', " ")) } }
            div { dt { "pipeline" } dd { (object(window.pipeline, moment)) } }
            div { dt { "at event" } dd { (grouped(window.position)) } }
            @if let Some(over) = &window.over_limit { div { dt { "limit" } dd { (over) } } }
        }
    }
}

/// The frames of the window as it was recorded.
fn own(window: &Window) -> Vec<Block<'_>> {
    let frames = window.tape.iter();
    frames
        .map(|(kind, tokens, is_protected)| Block {
            kind,
            tokens: *tokens,
            is_marked: *is_protected,
        })
        .collect()
}

/// The frames of the window that another policy would have.
fn blocks(frames: &[OtherFrame]) -> Vec<Block<'_>> {
    let frames = frames.iter();
    frames
        .map(|frame| Block {
            kind: &frame.kind,
            tokens: frame.tokens,
            is_marked: frame.only_here,
        })
        .collect()
}

/// Which policy is tried, and how much it keeps.
fn form(window: &Window, asked: &Asked) -> Markup {
    let params = &asked.params;
    let chosen = params.get("beside").unwrap_or("token_budget");
    let keep = match params.get("keep") {
        Some(keep) => keep.to_owned(),
        // Half of what there is: small enough to differ.
        None => (window.tokens / 2).max(1).to_string(),
    };
    html! {
        form.search method="get" action=(asked.path) {
            @if asked.moment.is_chosen { input type="hidden" name="at" value=(asked.moment.position); }
            @if let Some(run) = params.get("run") { input type="hidden" name="run" value=(run); }
            select name="beside" aria-label="Policy" { @for (name, number) in POLICIES {
                option value=(name) selected[chosen == name] { (name.replace('_', " ")) ": " (number) }
            } }
            input type="text" name="keep" value=(keep) inputmode="numeric" autocomplete="off" maxlength="20" aria-label="How much it keeps";
            button type="submit" { "Try" }
        }
    }
}

/// Another policy: how it would have done, its window, and what steps would have missed.
fn other(beside: &OtherPolicy, frames: &[Block<'_>], scale: &Scale<'_>, moment: Moment) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Policies compared" { table.rows {
            thead { tr { th { "Policy" } th.right.wide { "Most frames" } th.right.wide { "Most tokens" } th.right { "Tokens now" } th.right { "Evicted" } th.right { "Missed" } } }
            tbody { (counts("as recorded", &beside.recorded)) (counts(&beside.policy, &beside.other)) }
        } }
        @if frames.is_empty() { (nothing("It would have nothing in the window.")) } @else { (tape(frames, scale, "gone in the recorded one")) }
        p.second { (grouped(beside.only_recorded as u64)) " frames of the recorded window would not be in this one." }
        @if beside.other.uses == 0 { p.second { "No step of a plan used a frame, so that nothing could be missed." } }
        @if !beside.misses.is_empty() {
            div.scroll tabindex="0" role="region" aria-label="Missed frames" { table.rows {
                thead { tr { th.right { "Event" } th.right { "Step" } th.right { "Missed" } th { "Frames" } } }
                tbody { @for missed in &beside.misses { tr {
                    td.right { (event(missed.position, moment)) }
                    td.right.num { @if let Some(step) = missed.step { (step) } }
                    td.right.num { (grouped(missed.total as u64)) }
                    td.what.num { @for (index, frame) in missed.frames.iter().enumerate() { @if index > 0 { ", " } (frame) } @if missed.total > missed.frames.len() { ", …" } }
                } } }
            } }
        }
    }
}

fn counts(name: &str, counts: &PolicyCounts) -> Markup {
    html! { tr {
        td { (name) }
        td.right.wide.num { (grouped(counts.peak_frames)) }
        td.right.wide { (number(counts.peak_tokens)) }
        td.right { (number(counts.end_tokens)) }
        td.right.num { (grouped(counts.evictions)) }
        td.right.num { (grouped(counts.misses)) @if counts.uses > 0 { " of " (grouped(counts.uses)) } }
    } }
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
        div.scroll tabindex="0" role="region" aria-label="Frames" { table.rows.stacked {
            thead { tr { th.right { "Frame" } th { "Kind" } th.right { "Tokens" } th.wide { span.unseen { "Bar" } } th.right { "Event" } th { "Summary" } th.wide { "Why it is in" } th { "Marks" } } }
            tbody { @for frame in &window.frames { tr data-position=(frame.position) {
                td.right.num data-label="frame" { (frame.frame) }
                td.kind.nowrap { (frame.kind.replace('_', " ")) }
                td.right.num data-label="tokens" { @if let Some(tokens) = frame.tokens { (grouped(tokens)) } @else { "—" } }
                td.wide { svg.spark width="80" height="8" aria-hidden="true" {
                    rect.block.call width=(format!("{:.1}", share(frame.tokens.unwrap_or(0), most) * 0.8)) height="8" rx="2" {} } }
                td.right data-label="event" { (event(frame.position, moment)) }
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
        div.scroll tabindex="0" role="region" aria-label="Frames that went" { table.rows.stacked {
            thead { tr { th.right { "Event" } th { "How" } th.right { "Frames" } th.right { "Tokens" } th.wide { "Their numbers" } } }
            tbody { @for gone in &window.gone { tr {
                td.right data-label="event" { (event(gone.position, moment)) }
                td { @if gone.dropped { "dropped by the agent's program" } @else { "evicted to make room" } }
                td.right.num data-label="frames" { (grouped(gone.frames as u64)) }
                td.right.num data-label="tokens" { (grouped(gone.tokens)) }
                td.wide.what.num { (numbers(gone)) }
            } } }
        } }
    }
}
