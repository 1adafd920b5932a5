//! What is recorded together or not at all.

use annals::Request;
use annals_domain::pipeline::PushFrame;
use annals_domain::{Command, Json};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::remark::Remark;
use super::texts;
use crate::report::Fields;
use crate::tokens;

/// A frame to be pushed.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) push: PushFrame,
    /// The text of it that the model saw, if it has any.
    pub(super) seen: Option<String>,
}

/// A batch that is recorded once, however the recording grows.
#[derive(Debug)]
pub(super) struct ImportBatch {
    /// The idempotency key; it follows from what the recording calls it.
    pub(super) key: Uuid,
    /// What the recording calls it: a line, a call, a message, a session.
    pub(super) name: String,
    pub(super) requests: Vec<Request>,
    /// The text of its frame that the model saw. Its tokens are counted when
    /// the batch is recorded: most batches of a second import never are.
    pub(super) seen: Option<String>,
    /// How many they are, if they were counted ahead.
    pub(super) tokens: Option<u64>,
    /// The model that it is due to.
    pub(super) model: Option<String>,
    pub(super) load: Load,
    /// The line that completed it.
    pub(super) line: u64,
}

impl ImportBatch {
    /// A batch without a frame, and of no model.
    pub(super) fn new(
        key: Uuid,
        name: String,
        requests: Vec<Request>,
        load: Load,
        line: u64,
    ) -> ImportBatch {
        ImportBatch {
            key,
            name,
            requests,
            seen: None,
            tokens: None,
            model: None,
            load,
            line,
        }
    }

    /// About how many bytes it holds, if it is a frame.
    pub(super) fn size(&self) -> usize {
        let size = |request: &Request| match &request.command {
            Command::PushFrame(frame) => {
                let free = [&frame.data, &frame.content].into_iter().flatten();
                frame.summary.len() + free.map(|json| json.text().len()).sum::<usize>()
            }
            _ => 0,
        };
        let seen = self.seen.as_ref().map_or(0, String::len);
        seen + self.requests.iter().map(size).sum::<usize>()
    }

    /// Says how many tokens its frame takes.
    pub(super) fn estimate(&mut self) {
        let Some(seen) = self.seen.take() else {
            return;
        };
        for request in &mut self.requests {
            if let Command::PushFrame(push) = &mut request.command {
                let tokens = self.tokens.unwrap_or_else(|| tokens::estimate(&seen));
                push.token_estimate = Some(tokens);
                let tokenizer = tokens::TOKENIZER;
                let field = format!("frame.token_estimate ({tokenizer} over the text)");
                self.load.fields.inferred(&field);
            }
        }
    }
}

/// What is to be reported of a batch, once it is recorded.
#[derive(Debug, Default)]
pub(super) struct Load {
    /// The fields that went into it.
    pub(super) fields: Fields,
    /// How many lines are done with it.
    pub(super) lines: u64,
    pub(super) remarks: Vec<Remark>,
}

impl Load {
    /// What a line brings.
    pub(super) fn line() -> Load {
        Load {
            lines: 1,
            ..Load::default()
        }
    }

    /// Whether its diff compares the texts of the call, as the recording has none.
    pub(super) fn is_diff_made(&self) -> bool {
        self.remarks.contains(&Remark::DiffMade)
    }

    /// What is to be reported, which is then reported no more.
    pub(super) fn take(&mut self) -> Load {
        std::mem::take(self)
    }

    /// Free JSON as it is stored. What is too long to be kept is remarked on.
    pub(super) fn json(&mut self, json: Option<&RawValue>) -> Option<Json> {
        let kept = texts::json(json);
        if kept.is_none() && json.is_some() {
            self.remarks.push(Remark::PartTooLarge);
        }
        kept
    }

    pub(super) fn add(&mut self, other: Load) {
        self.fields.add(&other.fields);
        self.lines += other.lines;
        self.remarks.extend(other.remarks);
    }
}
