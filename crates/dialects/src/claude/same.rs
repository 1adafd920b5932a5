//! Whether two lines of one name say the same, within one import.

use annals_event_log::Digest;
use serde_json::value::RawValue;

use super::line::{Part, Talk};

/// What a line says, as digests. Times, parents and folders are no part of it: copies may have others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Said {
    all: Digest,
    /// What the recording has of a tool's result beside what the model saw; not every copy has it.
    result: Option<Digest>,
}

impl Said {
    pub(super) fn of(talk: &Talk) -> Said {
        let raw =
            |json: &Option<Box<RawValue>>| json.as_deref().map(RawValue::get).map(str::to_owned);
        let mut parts = vec![
            talk.kind.clone(),
            talk.subtype.clone(),
            raw(&talk.content),
            raw(&talk.attachment),
        ];
        parts.extend(talk.blocks.iter().map(|block| match &block.part {
            Part::Text(text) if block.raw.is_none() => Some(text.clone()),
            _ => raw(&block.raw),
        }));
        Said {
            // No two lists of texts are one JSON.
            all: Digest::of(serde_json::json!(parts).to_string().as_bytes()),
            result: talk
                .tool_use_result
                .as_deref()
                .map(|result| Digest::of(result.get().as_bytes())),
        }
    }

    pub(super) fn is_same(&self, other: &Said) -> bool {
        let results = self.result.zip(other.result);
        self.all == other.all && results.is_none_or(|(ours, theirs)| ours == theirs)
    }
}
