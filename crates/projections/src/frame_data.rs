//! The data that importers keep with a frame of a context pipeline.

use annals_domain::{Slot, Timestamp};
use serde::Deserialize;

use crate::{Entry, Text};

/// The beginnings of a text that Claude Code shows in place of an answer.
const API_ERRORS: [&str; 2] = ["API Error: ", "API Error ("];
/// The subtypes of such a text, by other agents.
const ERRORS: [&str; 4] = ["error", "api_error", "stream_error", "session.error"];

/// The members of a frame's data that the library reads. Each is absent where the recording has nothing for it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FrameData {
    /// The name of the frame's line in the recording.
    pub(crate) line: Option<String>,
    /// The line that it follows.
    pub(crate) parent_line: Option<String>,
    /// The recording's name of the tool call whose result the frame holds.
    pub(crate) tool_use: Option<String>,
    /// The line of that call.
    pub(crate) tool_use_line: Option<String>,
    /// The time of that call.
    pub(crate) tool_use_at: Option<Timestamp>,
    /// The place of that call.
    pub(crate) tool_use_after: Option<CallPlace>,
    /// What the format calls this kind of line in addition to its type.
    pub(crate) subtype: Option<String>,
    /// What was too long to be kept.
    pub(crate) left_out: Option<String>,
    /// The git branch of the line.
    pub(crate) git_branch: Option<String>,
}

impl FrameData {
    /// Returns `true` if the frame of an answer with this text is an error that stands in place of the answer.
    pub(crate) fn is_error(&self, text: &str) -> bool {
        let is_named = self
            .subtype
            .as_deref()
            .is_some_and(|it| ERRORS.contains(&it));
        is_named || API_ERRORS.iter().any(|begin| text.starts_with(begin))
    }

    /// Reads the data of a frame. Data that was removed, or that is of another shape, has no member.
    pub(crate) fn read(entry: &Entry, data: Option<Slot>) -> FrameData {
        match data.map(|slot| entry.text(slot)) {
            Some(Text::Present(json)) => serde_json::from_str(&json).unwrap_or_default(),
            Some(Text::Removed) | None => FrameData::default(),
        }
    }
}

/// A place in a recording: behind a text of a line or behind a call, and behind so many calls since.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct CallPlace {
    pub(crate) line: Option<String>,
    #[serde(default)]
    pub(crate) texts: usize,
    pub(crate) call: Option<String>,
    pub(crate) calls: usize,
}

impl CallPlace {
    /// Returns `true` if it is behind the same text or call as the other place, with fewer calls since.
    pub(crate) fn is_before(&self, other: &CallPlace) -> bool {
        let is_same =
            self.line == other.line && self.texts == other.texts && self.call == other.call;
        is_same && self.calls < other.calls
    }
}
