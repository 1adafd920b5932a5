//! Draws frames as a tape: one behind the other, as wide as their tokens.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::figures::grouped;
use crate::html::number;

/// The height of a row of the tape, and of the blocks in it.
const ROW: usize = 30;
const BLOCK: usize = 25;
/// Frames for which there is a row.
const PER_ROW: usize = 40;
/// Rows of a tape, at most.
const ROWS: usize = 8;
/// Colours that kinds are shown in.
const COLOURS: usize = 8;

/// A frame on a tape.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    /// What it captured.
    pub(super) kind: &'a str,
    /// How many tokens it takes.
    pub(super) tokens: u64,
    /// Whether it stands out.
    pub(super) is_marked: bool,
}

/// What tapes have in common that are drawn below each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Scale<'a> {
    /// The kinds in the order of their colours.
    kinds: Vec<&'a str>,
    /// How many tokens fill the rows.
    whole: u64,
    rows: usize,
}

impl<'a> Scale<'a> {
    /// A scale on which these frames fill the rows; the kind with most tokens has the first colour.
    pub(super) fn of(frames: &[Block<'a>]) -> Scale<'a> {
        let mut kinds = sums(frames);
        kinds.sort_by_key(|(kind, tokens)| (std::cmp::Reverse(*tokens), *kind));
        Scale {
            kinds: kinds.into_iter().map(|(kind, _)| kind).collect(),
            whole: frames.iter().map(size).sum(),
            rows: frames.len().div_ceil(PER_ROW).clamp(1, ROWS),
        }
    }

    /// The same with room for other frames, and colours for kinds of theirs.
    pub(super) fn with(mut self, frames: &[Block<'a>]) -> Scale<'a> {
        let other = Scale::of(frames);
        self.whole = self.whole.max(other.whole);
        let more = other.kinds.into_iter();
        let more: Vec<&str> = more.filter(|kind| !self.kinds.contains(kind)).collect();
        self.kinds.extend(more);
        self
    }

    fn colour(&self, kind: &str) -> usize {
        let place = self.kinds.iter().position(|known| *known == kind);
        place.unwrap_or(COLOURS).min(COLOURS - 1)
    }
}

/// The tokens of each kind.
fn sums<'a>(frames: &[Block<'a>]) -> Vec<(&'a str, u64)> {
    let mut tokens: BTreeMap<&str, u64> = BTreeMap::new();
    for frame in frames {
        *tokens.entry(frame.kind).or_default() += frame.tokens;
    }
    tokens.into_iter().collect()
}

/// How wide a frame is, in tokens. One that is not counted is shown as the least there is.
fn size(frame: &Block<'_>) -> u64 {
    frame.tokens.max(1)
}

#[allow(clippy::cast_precision_loss, reason = "places on a screen")]
pub(super) fn share(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64 * 100.0
}

/// A part of a frame that is in one row.
struct Part<'a> {
    row: usize,
    x: u64,
    width: u64,
    frame: Block<'a>,
}

/// The frames in rows of as many tokens. A frame goes on in the next row where its row ends.
fn parts<'a>(frames: &[Block<'a>], per_row: u64) -> Vec<Part<'a>> {
    let (mut parts, mut at) = (Vec::new(), 0);
    for frame in frames {
        let end = at + size(frame);
        while at < end {
            let row = at / per_row;
            let until = end.min((row + 1) * per_row);
            parts.push(Part {
                row: usize::try_from(row).unwrap_or(0),
                x: at % per_row,
                width: until - at,
                frame: *frame,
            });
            at = until;
        }
    }
    parts
}

/// Draws frames; those that stand out do so for this reason.
pub(super) fn tape(frames: &[Block<'_>], scale: &Scale<'_>, marked: &str) -> Markup {
    let class = |frame: &Block<'_>| {
        let colour = scale.colour(frame.kind);
        let marked = if frame.is_marked { " protected" } else { "" };
        format!("frame k{colour}{marked}")
    };
    let per_row = scale.whole.div_ceil(scale.rows as u64).max(1);
    let parts = parts(frames, per_row);
    let rows = parts.last().map_or(1, |part| part.row + 1);
    let mut kinds = sums(frames);
    kinds.sort_by_key(|(kind, _)| scale.colour(kind));
    html! {
        svg.tape width="100%" height=(rows * ROW) role="img" aria-label=(format!("{} frames", frames.len())) {
            @for part in &parts {
                rect class=(class(&part.frame)) x=(format!("{:.3}%", share(part.x, per_row))) width=(format!("{:.3}%", share(part.width, per_row)))
                    y=(part.row * ROW) height=(BLOCK) {
                    title { (part.frame.kind) ", " (grouped(part.frame.tokens)) " tokens" @if part.frame.is_marked { ", " (marked) } }
                }
            }
        }
        ul.legend {
            @for (kind, tokens) in &kinds {
                li { svg width="12" height="12" aria-hidden="true" { rect class=(format!("frame k{}", scale.colour(kind))) width="12" height="12" {} } " " (kind.replace('_', " ")) " " span.second { (number(*tokens)) } }
            }
            li { svg width="12" height="12" aria-hidden="true" { rect.frame.k7.protected width="12" height="12" {} } " " (marked) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(kind: &str, tokens: impl Iterator<Item = u64>) -> Vec<Block<'_>> {
        tokens
            .map(|tokens| Block {
                kind,
                tokens,
                is_marked: false,
            })
            .collect()
    }

    #[test]
    fn frames_fill_the_rows_and_none_is_lost() {
        let frames = frames("step_summary", (0..100).map(|n| n * 13 % 40));
        let whole: u64 = frames.iter().map(|frame| frame.tokens.max(1)).sum();
        let per_row = whole.div_ceil(3);
        let parts = parts(&frames, per_row);
        let drawn: u64 = parts.iter().map(|part| part.width).sum();
        assert_eq!(drawn, whole);
        let fits = |part: &Part<'_>| part.row < 3 && part.x + part.width <= per_row;
        assert!(parts.iter().all(fits));
    }

    #[test]
    fn a_kind_has_one_colour_on_tapes_below_each_other() {
        let (calls, changes) = (
            frames("tool_call", [90].into_iter()),
            frames("code_change", [10].into_iter()),
        );
        let all = [calls.clone(), changes.clone()].concat();
        let scale = Scale::of(&changes).with(&all);
        assert_eq!(
            (scale.colour("code_change"), scale.colour("tool_call")),
            (0, 1)
        );
        assert_eq!(scale.whole, 100);
        assert_eq!(Scale::of(&all).with(&changes).whole, 100);
    }
}
