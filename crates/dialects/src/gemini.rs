//! Recordings of Gemini CLI: documents of messages, as older versions write them, and the lines of
//! messages and updates of newer ones.
//!
//! A newer version writes a message once more whenever it knows more of it: first what was said, then
//! its tokens, its tool calls and their results. Each of these is imported once, when it is read first.

mod fields;
mod line;
mod tools;

use annals_event_log::IdSecret;
use lru::LruCache;

use crate::import::bad_line::BadLine;
use crate::import::document::Document;
use crate::import::format::{Format, Head, Kind, Numbered};
use crate::import::members::Members;
use crate::import::redacted::RedactedText;
use crate::transcript::item::Read;
use line::Session;
use tools::AGENT;

pub use tools::ids;

/// Gemini CLI's recordings.
pub(crate) static KIND: Kind = Kind {
    agent: &AGENT,
    title: "Gemini CLI",
    endings: &["json", "jsonl"],
    unwanted: "its name does not end with .json or .jsonl",
    left: "it is a recording of Gemini CLI",
    recognizes,
    format: || Box::new(Gemini::default()),
};

/// The types of its messages.
const TYPES: [&str; 5] = ["user", "gemini", "info", "error", "warning"];

/// The fields of a message that is not the model's.
const FIELDS: [&str; 5] = ["id", "timestamp", "type", "content", "displayContent"];

/// Its sessions name a project by its hash, and its model by the type `gemini`.
fn recognizes(head: &Head<'_>) -> bool {
    if is_document(head) {
        let document = Document::read(head.text, "messages");
        let has_project = document.field::<String>("projectHash").is_some();
        let mut messages = document.list.iter();
        let is_own = |message: &&serde_json::value::RawValue| {
            serde_json::from_str(message.get()).is_ok_and(|message| is_message(&message))
        };
        return document.has_list && (has_project || messages.next().is_some_and(is_own));
    }
    let is_own = |line: serde_json::Map<String, serde_json::Value>| {
        let has = |name: &str| line.contains_key(name);
        has("$rewindTo") || (has("sessionId") && has("projectHash")) || is_message(&line)
    };
    head.objects().take(50).any(is_own)
}

fn is_message(message: &serde_json::Map<String, serde_json::Value>) -> bool {
    let kind = message.get("type").and_then(serde_json::Value::as_str);
    let has = |name: &str| message.contains_key(name);
    let is_plain = || message.keys().all(|key| FIELDS.contains(&key.as_str()));
    let is_known = kind.is_some_and(|kind| TYPES.contains(&kind));
    is_known && has("id") && has("content") && (kind == Some("gemini") || is_plain())
}

/// Whether a file is one document: its first line is not a value by itself, or has all messages.
fn is_document(head: &Head<'_>) -> bool {
    let text = head.text.trim_start();
    let first = text.lines().next().unwrap_or_default();
    let line = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(first);
    let has_all = match line {
        Ok(line) => line.contains_key("messages"),
        Err(_) => !head.name.ends_with(".jsonl"),
    };
    text.starts_with('{') && has_all
}

/// The folder of sessions. That of a session's sub-agents lies in it.
const CHATS: &str = "chats";

struct Gemini {
    session: Session,
    /// The session, or the sub-agent, in whose folder the file lies.
    folder: Option<String>,
    /// The sub-agents that were read, and their sessions.
    sub_agents: LruCache<String, String>,
}

impl Default for Gemini {
    fn default() -> Gemini {
        Gemini {
            session: Session::default(),
            folder: None,
            sub_agents: LruCache::new(line::REMEMBERED),
        }
    }
}

impl Gemini {
    /// Remembers the session of a sub-agent, for those that it calls.
    fn remember(&mut self) {
        if let Some((name, session)) = self.session.sub_agent() {
            self.sub_agents.put(name.to_owned(), session.to_owned());
        }
    }
}

impl Format for Gemini {
    fn within(&mut self, folders: &[String]) {
        self.folder = match folders {
            [.., chats, session] if chats == CHATS => Some(session.clone()),
            _ => None,
        };
    }

    fn begin(&mut self, _: &str) {
        self.remember();
        let folder = self.folder.clone();
        let session = folder.as_ref().and_then(|it| self.sub_agents.get(it));
        self.session = Session::in_folder(folder.clone(), session.cloned());
    }

    fn is_document(&self, head: &Head<'_>) -> bool {
        is_document(head)
    }

    fn is_record(&self, record: &Members<'_>) -> bool {
        let has = |name: &str| record.raw(name).is_some();
        has("$set")
            || has("$rewindTo")
            || (has("sessionId") && has("projectHash"))
            || (has("id") && has("type") && has("timestamp"))
    }

    fn line(&mut self, text: RedactedText, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        self.session.line(text.whole_characters().as_str(), names)
    }

    fn document(
        &mut self,
        text: RedactedText,
        names: Option<&IdSecret>,
    ) -> Result<Vec<Numbered>, BadLine> {
        self.session
            .document(text.whole_characters().as_str(), names)
    }
}
