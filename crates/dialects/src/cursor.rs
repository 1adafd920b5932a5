//! Transcripts of Cursor's agent: a line for each message.
//!
//! A line has no name, time or model, and no transcript has what tools answered. So the name of a line follows from its
//! session and its words, and from how often they were there before; a call that names no result is over where it
//! stands. A session is called as its file, and a sub-agent's file lies in `subagents` below the folder of its session.
//!
//! What hooks tell of a session (`annals hook cursor`) has names of its own, which no transcript repeats. So a
//! transcript is a session beside it, called `transcript/` and its name, and no call counts twice in one run.

mod line;
mod tools;

use annals_event_log::IdSecret;

use crate::import::bad_line::BadLine;
use crate::import::format::{Format, Head, Kind};
use crate::import::members::Members;
use crate::import::redacted::RedactedText;
use crate::transcript::item::Read;
use line::Transcript;

pub(crate) use tools::AGENT;
pub use tools::ids;

/// Cursor's transcripts.
pub(crate) static KIND: Kind = Kind {
    agent: &AGENT,
    title: "Cursor",
    endings: &["jsonl"],
    unwanted: "its name does not end with .jsonl",
    left: "it is a transcript of Cursor",
    recognizes,
    format: || Box::new(Cursor::default()),
};

/// The folder of a session's sub-agents.
const SUB_AGENTS: &str = "subagents";

/// Its lines are messages that have a role, and nothing that would name them.
fn recognizes(head: &Head<'_>) -> bool {
    let is_own = |line: serde_json::Map<String, serde_json::Value>| {
        let role = line.get("role").and_then(serde_json::Value::as_str);
        let message = line.get("message").and_then(serde_json::Value::as_object);
        let has_content = message.is_some_and(|message| message.contains_key("content"));
        let is_named = ["type", "uuid", "id", "sessionId"];
        let is_named = is_named.iter().any(|name| line.contains_key(*name));
        matches!(role, Some("user" | "assistant")) && has_content && !is_named
    };
    head.objects().take(50).any(is_own)
}

#[derive(Default)]
struct Cursor {
    transcript: Transcript,
    folders: Vec<String>,
}

impl Format for Cursor {
    fn within(&mut self, folders: &[String]) {
        self.folders = folders.to_vec();
    }

    fn begin(&mut self, stem: &str) {
        self.transcript = match self.folders.as_slice() {
            [.., session, inner] if inner == SUB_AGENTS => Transcript::of_sub_agent(session, stem),
            _ => Transcript::of(stem),
        };
    }

    fn is_record(&self, record: &Members<'_>) -> bool {
        record.raw("role").is_some() && record.within("message").raw("content").is_some()
    }

    fn line(&mut self, text: RedactedText, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        self.transcript
            .line(text.whole_characters().as_str(), names)
    }
}
