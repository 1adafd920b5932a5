//! `import openhands`: conversations of OpenHands, as events of its SDK (v1) and of the versions before (v0).
//!
//! Events come one a line, in one list, or in a file each (`events/event-00001-ID.json`, `events/1.json`). No
//! event names its conversation: the folder does where each event has a file of its own, or the conversation's
//! state where the recording begins with it; elsewhere the first event's name stands for it, so that a copy
//! under another file's name is the same conversation.

mod event;
mod tools;
mod v0;
mod v1;

use std::collections::HashMap;

use annals_event_log::IdSecret;

use crate::import::bad_line::BadLine;
use crate::import::format::{Format, Head, Kind, Numbered};
use crate::import::members::{Members, elements};
use crate::import::outline::Outline;
use crate::import::redacted::RedactedText;
use crate::transcript::item::Read;
use event::Event;
use tools::AGENT;

pub use tools::ids;

/// The recordings of OpenHands.
pub(crate) static KIND: Kind = Kind {
    agent: &AGENT,
    title: "OpenHands",
    endings: &["jsonl", "json"],
    unwanted: "its name does not end with .jsonl or .json",
    left: "it is a recording of OpenHands",
    recognizes,
    format: || Box::new(OpenHands::default()),
};

/// An event says who it is from and of what kind it is, or which action or observation.
fn recognizes(head: &Head<'_>) -> bool {
    let is_source = |source: &str| ["agent", "user", "environment", "hook"].contains(&source);
    let first = Outline::of(head.text);
    let is_event = |outline: &Outline| {
        let is_from = outline.text("source").is_some_and(is_source);
        let is_known = ["kind", "action", "observation"]
            .iter()
            .any(|name| outline.text(name).is_some());
        is_from
            && is_known
            && outline.has("id")
            && outline.has("timestamp")
            && !outline.has("sessionId")
    };
    let mut lines = head
        .text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .take(50);
    is_event(&first)
        || (!first.is_list && lines.any(|line| is_event(&Outline::of(line))))
        || head.objects().take(50).any(|object| {
            // Damaged lines have whole events, too.
            let object = serde_json::to_string(&object).unwrap_or_default();
            is_event(&Outline::of(&object))
        })
}

#[derive(Default)]
struct OpenHands {
    /// The conversation that the file's folders name.
    folder: Option<String>,
    folders: Vec<String>,
    /// The conversation of the file, from its first event on.
    session: Option<String>,
    /// The tool calls of conversations of the SDK.
    calls: v1::Calls,
    /// What is remembered of conversations of the versions before the SDK.
    before: HashMap<String, v0::State>,
}

impl Format for OpenHands {
    fn within(&mut self, folders: &[String]) {
        self.folders = folders.to_vec();
    }

    fn begin(&mut self, stem: &str) {
        self.folder = conversation(&self.folders, stem);
        self.session = self.folder.clone();
    }

    fn is_document(&self, head: &Head<'_>) -> bool {
        let is_json = head.name.to_ascii_lowercase().ends_with(".json");
        is_json || head.text.trim_start().starts_with('[')
    }

    fn is_record(&self, record: &Members<'_>) -> bool {
        ["id", "timestamp", "source"]
            .iter()
            .all(|name| record.raw(name).is_some())
    }

    fn line(&mut self, text: RedactedText, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        let text = text.whole_characters();
        self.event(text.as_str(), names)
    }

    fn document(
        &mut self,
        text: RedactedText,
        names: Option<&IdSecret>,
    ) -> Result<Vec<Numbered>, BadLine> {
        let text = text.whole_characters();
        if !text.as_str().trim_start().starts_with('[') {
            let reads = self.event(text.as_str(), names)?;
            return Ok(reads.into_iter().map(|read| (1, Ok(read))).collect());
        }
        let (events, error) = elements(text.as_str());
        let mut messages = Vec::new();
        let mut number = 0;
        for event in events {
            number += 1;
            match self.event(event.get(), names) {
                Ok(reads) => messages.extend(reads.into_iter().map(|read| (number, Ok(read)))),
                Err(bad) => messages.push((number, Err(bad))),
            }
        }
        messages.extend(error.map(|error| (number + 1, Err(error.into()))));
        Ok(messages)
    }
}

impl OpenHands {
    /// What an event says.
    fn event(&mut self, text: &str, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        // serde would read a list as an object's fields in their order.
        if !text.trim_start().starts_with('{') {
            serde_json::from_str::<serde::de::IgnoredAny>(text)?;
            return Err(BadLine::NotAnObject);
        }
        let members = Members::read(text)?;
        let own = |members: &Members<'_>| state_of(members).or_else(|| members.text("id"));
        let is_new = members.text("kind").is_some();
        let named = match is_new {
            true => own(&members),
            // These number their events from 0.
            false => None,
        };
        let first = || named.unwrap_or_else(|| ids().anonymous(text.as_bytes(), names));
        let session = self.session.get_or_insert_with(first).clone();
        let event = Event {
            text,
            members,
            session: &session,
            names,
        };
        if is_new {
            return Ok(v1::read(&event, &mut self.calls));
        }
        let state = self.before.entry(session.clone()).or_default();
        Ok(v0::read(&event, state))
    }
}

/// The conversation whose whole state an event has.
fn state_of(members: &Members<'_>) -> Option<String> {
    let is_state = members.text("key").as_deref() == Some("full_state");
    let id = members.within("value").text("id").filter(|_| is_state)?;
    Some(plain(&id).unwrap_or(id))
}

/// The conversation that a file's folders name.
fn conversation(folders: &[String], stem: &str) -> Option<String> {
    let (outer, inner) = match folders {
        [.., outer, inner] => (Some(outer), inner),
        [inner] => (None, inner),
        [] => return None,
    };
    let is_event = stem.starts_with("event-") || stem.bytes().all(|byte| byte.is_ascii_digit());
    match (outer, inner.as_str()) {
        (Some(outer), "events") if is_event => Some(plain(outer).unwrap_or_else(|| outer.clone())),
        (_, inner) if stem.starts_with("event-") && inner != "events" => {
            Some(plain(inner).unwrap_or_else(|| inner.to_owned()))
        }
        (_, inner) => plain(inner),
    }
}

/// The name of a conversation without hyphens: folders have it so. None for what is not one.
fn plain(name: &str) -> Option<String> {
    let digits: String = name.chars().filter(|c| *c != '-').collect();
    let is_hex = digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| digits.to_ascii_lowercase())
}
