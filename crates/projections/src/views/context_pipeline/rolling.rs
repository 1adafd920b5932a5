//! What a rolling summary says: the beginnings of the newest frames that it
//! stands for, as far as its tokens reach.

use std::collections::VecDeque;

use annals_domain::pipeline::{EvictionPolicy, FrameKind, FrameRanges};
use annals_domain::{FrameId, Timestamp, cut};
use serde::Serialize;

use crate::{JsonText, Text};

/// Bytes of text that are taken for a token. English has more, digits and many
/// other scripts have about as many.
const BYTES_PER_TOKEN: u64 = 3;
/// The most bytes of one frame's line.
const LINE: usize = 240;
/// No line is much shorter than this.
const SHORTEST: u64 = 16;
/// The most bytes of a summary's text, however many tokens it may take.
const TEXT: u64 = 64 * 1024;

/// One frame (docs/spec/git-internal.md, ContextFrame).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ContextFrame {
    /// The frame's number, never used twice.
    pub frame_id: FrameId,
    /// What it captures.
    pub kind: FrameKind,
    /// A few sentences for people.
    pub summary: Text,
    /// The payload for machines, with the content that is stored apart from it
    /// as its member `content`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<JsonText>,
    /// When it was pushed.
    pub created_at: Timestamp,
    /// How many tokens it takes in a model's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_estimate: Option<u64>,
}

/// The newest frames that went under a policy with a rolling summary, as many
/// as can find room in it. How many are kept does not depend on what they say,
/// so that content can be removed without changing any fold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Newest {
    frames: VecDeque<(FrameId, FrameKind, Text)>,
    /// Bytes of the text.
    limit: u64,
}

impl Newest {
    /// Another policy is in force. Under two with a rolling summary one after the
    /// other it goes on.
    pub(super) fn under(&mut self, policy: &EvictionPolicy) {
        self.limit = match policy {
            EvictionPolicy::RollingSummary(policy) => {
                let bytes = policy.summary_tokens.saturating_mul(BYTES_PER_TOKEN);
                bytes.min(TEXT)
            }
            EvictionPolicy::MaxFrames(_)
            | EvictionPolicy::TokenBudget(_)
            | EvictionPolicy::LeastRecentlyUsed(_)
            | EvictionPolicy::KindQuotas(_)
            | EvictionPolicy::Unlimited(_) => 0,
        };
        self.trim();
    }

    /// No more frames are kept than can find room.
    fn trim(&mut self) {
        while self.frames.len() as u64 > self.limit / SHORTEST {
            self.frames.pop_front();
        }
    }

    /// A frame went.
    pub(super) fn add(&mut self, frame: &ContextFrame) {
        if self.limit == 0 {
            return;
        }
        let beginning = match &frame.summary {
            Text::Present(text) => {
                let first = text.lines().next().unwrap_or_default();
                Text::Present(cut(first, LINE).to_owned())
            }
            Text::Removed => Text::Removed,
        };
        self.frames
            .push_back((frame.frame_id, frame.kind.clone(), beginning));
        self.trim();
    }

    /// The text: the numbers of the frames that it stands for, then a line for
    /// each of the newest of them, the newest one last, as far as they find room.
    /// Where there is no room for all numbers it says how many they are; never
    /// does it name a frame that did not go.
    pub(super) fn text(&self, frames: &FrameRanges) -> String {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let head = head(frames, limit);
        let mut room = limit.saturating_sub(head.len());
        let mut lines = Vec::new();
        for (id, kind, beginning) in self.frames.iter().rev() {
            let line = format!("\n{id} {kind}: {beginning}");
            let line = cut(&line, LINE).to_owned();
            let Some(left) = room.checked_sub(line.len()) else {
                break;
            };
            room = left;
            lines.push(line);
        }
        lines.reverse();
        format!("{head}{}", lines.concat())
    }
}

/// The first line: as much of what went as fits.
fn head(frames: &FrameRanges, limit: usize) -> String {
    let count = |(first, last): &(FrameId, FrameId)| last.0.saturating_sub(first.0) + 1;
    let all: u64 = frames.as_slice().iter().map(count).sum();
    let long = format!("Earlier frames, of which only this is left: {frames}");
    if long.len() <= limit / 2 {
        return long;
    }
    let short = format!("Earlier frames: {frames}");
    let fewest = [short, format!("{all} earlier frames"), all.to_string()];
    let fits = fewest.into_iter().find(|head| head.len() <= limit);
    fits.unwrap_or_default()
}
