//! A context window as pages and the API have it.

use std::collections::BTreeSet;

use annals::event_log::Position;
use annals::projections::{EvictedFrame, SeenFrame, Why, WindowView};
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::beside::OtherPolicy;

/// Frames of a page's table.
const SHOWN: usize = 200;
/// Times at which frames went that are shown, the newest.
const GONE: usize = 50;
/// Characters of a frame's summary that are shown.
const SUMMARY: usize = 200;

/// A context window at a moment.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Window {
    /// The pipeline that it is of.
    pub(super) pipeline: Uuid,
    /// The position at which it is shown.
    pub(super) position: u64,
    /// The policy that evicts.
    pub(super) policy: String,
    /// The sum of the tokens of the frames that are in it.
    pub(super) tokens: u64,
    /// Whether it is over its limit, in words.
    pub(super) over_limit: Option<String>,
    /// How many frames are in it.
    pub(super) total: usize,
    /// All frames that are in it, in order, with their tokens: kind and tokens.
    pub(super) tape: Vec<(String, u64, bool)>,
    /// The frames that are shown, from `from` on.
    pub(super) frames: Vec<Frame>,
    /// The first frame that is shown, from 0.
    pub(super) from: usize,
    /// Where it goes on, as `from`; null where this is the end.
    pub(super) next: Option<usize>,
    /// How many frames went.
    pub(super) gone_total: usize,
    /// How many tokens they had.
    pub(super) gone_tokens: u64,
    /// When frames went, the newest first.
    pub(super) gone: Vec<Gone>,
    /// Another policy beside the recorded one, where the address asks for it.
    pub(super) beside: Option<OtherPolicy>,
}

/// A frame in the window.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Frame {
    /// Its number.
    pub(super) frame: u64,
    /// What it captured.
    pub(super) kind: String,
    /// How many tokens it takes.
    pub(super) tokens: Option<u64>,
    /// The event that pushed it.
    pub(super) position: u64,
    /// Why it is in.
    pub(super) why: String,
    /// Whether the policy never evicts it.
    pub(super) protected: bool,
    /// Whether a step of a plan consumed it.
    pub(super) consumed: bool,
    /// Whether it came with the pipeline's last event.
    pub(super) entered: bool,
    /// The first line of its summary that is not blank.
    pub(super) summary: String,
}

/// Frames that went at one moment.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Gone {
    /// The event at which they went.
    pub(super) position: u64,
    /// Whether the agent's program dropped them, as in a compaction; otherwise the policy evicted them.
    pub(super) dropped: bool,
    /// How many.
    pub(super) frames: usize,
    /// How many tokens they had.
    pub(super) tokens: u64,
    /// Their numbers, at most the first hundred.
    pub(super) numbers: Vec<u64>,
}

pub(super) fn window_of(
    seen: &WindowView,
    position: Position,
    consumed: &BTreeSet<u64>,
    from: usize,
) -> Window {
    let from = from.min(seen.frames.len());
    let newest = seen.frames.iter().map(|frame| frame.position).max();
    let shown = seen.frames.iter().skip(from).take(SHOWN);
    let shown: Vec<Frame> = shown
        .map(|frame| Frame::of(frame, consumed, newest))
        .collect();
    let next = from + shown.len();
    let tape = seen.frames.iter().map(|one| {
        let tokens = one.frame.token_estimate.unwrap_or(0);
        (one.frame.kind.label(), tokens, one.why == Why::Protected)
    });
    let gone_tokens = seen
        .evicted
        .iter()
        .filter_map(|gone| gone.token_estimate)
        .sum();
    Window {
        pipeline: seen.pipeline.0,
        position: position.0,
        policy: seen.policy.to_string(),
        tokens: seen.total_token_estimate,
        over_limit: seen
            .over_limit
            .map(|over| match (over.frames, over.tokens) {
                (Some(frames), _) => format!("{frames} frames over its limit"),
                (None, Some(tokens)) => format!("{tokens} tokens over its limit"),
                (None, None) => "over its limit".to_owned(),
            }),
        total: seen.frames.len(),
        tape: tape.collect(),
        frames: shown,
        from,
        next: Some(next).filter(|next| *next < seen.frames.len()),
        gone_total: seen.evicted.len(),
        gone_tokens,
        gone: gone(&seen.evicted),
        beside: None,
    }
}

impl Frame {
    fn of(seen: &SeenFrame, consumed: &BTreeSet<u64>, newest: Option<Position>) -> Frame {
        Frame {
            frame: seen.frame.frame_id.0,
            kind: seen.frame.kind.label(),
            tokens: seen.frame.token_estimate,
            position: seen.position.0,
            why: why(&seen.why),
            protected: seen.why == Why::Protected,
            consumed: consumed.contains(&seen.frame.frame_id.0),
            entered: newest == Some(seen.position),
            summary: first_line(&seen.frame.summary.to_string()),
        }
    }
}

/// The first line of a text that is not blank, as much of it as is shown.
fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim);
    let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(SUMMARY) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

fn why(why: &Why) -> String {
    let order = |before: u64, others: &str| match before {
        0 => "goes next".to_owned(),
        before => format!("{before} {others}"),
    };
    match why {
        Why::Protected => "its kind is protected".to_owned(),
        Why::Unlimited => "no limit".to_owned(),
        Why::Room { before_it } => order(*before_it, "older go first"),
        Why::Recent { before_it, .. } => order(*before_it, "used longer ago go first"),
        Why::Quota { keep, before_it } => {
            format!(
                "quota {keep}: {}",
                order(*before_it, "older of its kind go first")
            )
        }
    }
}

/// What went, by when it went, the newest first.
fn gone(evicted: &[EvictedFrame]) -> Vec<Gone> {
    let mut all: Vec<Gone> = Vec::new();
    for one in evicted.iter().rev() {
        let tokens = one.token_estimate.unwrap_or(0);
        let is_with_the_last = all
            .last()
            .is_some_and(|last| last.position == one.position.0);
        if !is_with_the_last {
            if all.len() == GONE {
                break;
            }
            all.push(Gone {
                position: one.position.0,
                dropped: one.pushed.is_none(),
                frames: 0,
                tokens: 0,
                numbers: Vec::new(),
            });
        }
        if let Some(last) = all.last_mut() {
            last.frames += 1;
            last.tokens += tokens;
            if last.numbers.len() < 100 {
                last.numbers.push(one.frame.0);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_begins_where_its_words_do() {
        assert_eq!(first_line("\n  \nRead it\nthen"), "Read it");
        assert_eq!(first_line(""), "");
        assert_eq!(first_line(&"é".repeat(200)), "é".repeat(200));
        let long = "é".repeat(201);
        assert_eq!(first_line(&long), format!("{}…", "é".repeat(200)));
    }
}
