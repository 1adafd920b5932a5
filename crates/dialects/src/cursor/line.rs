//! Lines of a transcript, and the entries that they are.

use std::num::NonZeroUsize;

use annals_event_log::{Digest, IdSecret};
use lru::LruCache;
use serde_json::value::RawValue;

use super::ids;
use super::tools::{asked, typed_at};
use crate::import::bad_line::BadLine;
use crate::import::fields::Fate::{Apart, Inferred, Kept};
use crate::import::fields::Table;
use crate::import::members::{Members, elements};
use crate::transcript::item::{Course, Entry, Item, Read, Said, Source, Speaker, What};
use crate::transcript::texts;

/// A message.
const MESSAGE: Table = &[("role", Kept), ("message.content", Apart)];

/// A part of a message that the log has.
const PART_PATH: &str = "message.content[]";
const PART: Table = &[
    ("message.content[].type", Inferred),
    ("message.content[].text", Kept),
    ("message.content[].thinking", Kept),
    ("message.content[].id", Kept),
    ("message.content[].name", Kept),
    ("message.content[].input", Kept),
    ("message.content[].tool_use_id", Kept),
    ("message.content[].content", Kept),
    ("message.content[].is_error", Kept),
];

/// A part, or a line, that is kept as it is.
const WHOLE_PART: Table = &[(PART_PATH, Kept)];
const WHOLE_PATH: &str = "(the whole line)";
const WHOLE: Table = &[(WHOLE_PATH, Kept)];

/// What is counted with another entry of the same line.
const ELSEWHERE: Table = &[("", Apart)];

/// A line that says that a turn is over.
const TURN_ENDED: &str = "turn_ended";

/// So many different lines of a transcript are remembered.
const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(262_143);

/// A transcript, as far as it was read.
pub(super) struct Transcript {
    session: String,
    course: Course,
    /// How often a line was there before, by its words.
    said: LruCache<Digest, u64>,
    /// The newest call of each id: some models use one again and again.
    calls: LruCache<String, String>,
}

impl Default for Transcript {
    fn default() -> Transcript {
        Transcript::of("")
    }
}

impl Transcript {
    /// That of a session.
    pub(super) fn of(session: &str) -> Transcript {
        Transcript {
            session: format!("transcript/{session}"),
            course: Course::Main,
            said: LruCache::new(REMEMBERED),
            calls: LruCache::new(REMEMBERED),
        }
    }

    /// That of a session's sub-agent.
    pub(super) fn of_sub_agent(session: &str, name: &str) -> Transcript {
        Transcript {
            course: Course::Side(name.to_owned()),
            ..Transcript::of(session)
        }
    }
}

impl Transcript {
    /// What a line says.
    pub(super) fn line(
        &mut self,
        line: &str,
        names: Option<&IdSecret>,
    ) -> Result<Vec<Read>, BadLine> {
        let line = line.trim();
        if !line.starts_with('{') {
            serde_json::from_str::<serde::de::IgnoredAny>(line)?;
            return Err(BadLine::NotAnObject);
        }
        let members = Members::read(line)?;
        let name = self.name(line, names);
        let role = members.text("role");
        let message = members.within("message");
        let parts = parts(message.raw("content"));
        let (speaker, items) = match role.as_deref() {
            Some("user") => (Speaker::User, self.user(parts)),
            Some("assistant") => (Speaker::Model, self.model(&name, parts)),
            _ => return Ok(self.other(line, name, &members)),
        };
        let at = items.iter().find_map(|item| match &item.what {
            What::Prompt { text, .. } => typed_at(text),
            _ => None,
        });
        Ok(vec![Read::Entry(Box::new(Entry {
            text: line.to_owned(),
            table: MESSAGE,
            at,
            ..self.entry(name, speaker, items, line)
        }))])
    }

    /// The name of a line: the same words may come several times.
    fn name(&mut self, line: &str, names: Option<&IdSecret>) -> String {
        let times = self
            .said
            .get_or_insert_mut(Digest::of(line.as_bytes()), || 0);
        *times += 1;
        let side = match &self.course {
            Course::Side(name) => Some(name),
            _ => None,
        };
        let named = serde_json::json!([self.session, side, line, times]).to_string();
        ids().anonymous(named.as_bytes(), names)
    }

    fn entry(&self, name: String, speaker: Speaker, items: Vec<Item>, line: &str) -> Entry {
        Entry {
            session: Some(self.session.clone()),
            course: self.course.clone(),
            items,
            ..Entry::new(
                "{}".to_owned(),
                ELSEWHERE,
                name,
                speaker,
                Said::of(&[Some(line)], None),
            )
        }
    }

    /// The texts of a user's message as one, and its other parts.
    fn user(&mut self, parts: Vec<Part>) -> Vec<Item> {
        let (mut said, mut sources, mut items) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        for (index, part) in parts.into_iter().enumerate() {
            match part {
                Part::Text(text, source) => {
                    if said.is_empty() {
                        first = items.len();
                    }
                    said.push(text);
                    sources.push(source);
                }
                Part::Other(raw) => items.push(self.part(index + 1, &raw)),
            }
        }
        let text = said.join("\n");
        if !text.trim().is_empty() {
            let asked = asked(&text).filter(|_| self.course == Course::Main);
            let what = What::Prompt {
                asked: asked.map(str::to_owned),
                text,
                is_summary: false,
            };
            items.insert(first, Item::new(0, PART_PATH, sources, what));
        }
        items
    }

    /// What the model says, and the tools that it calls.
    fn model(&mut self, line: &str, parts: Vec<Part>) -> Vec<Item> {
        let mut items = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            match part {
                Part::Text(text, source) => {
                    items.push(Item::new(index, PART_PATH, vec![source], What::Text(text)));
                }
                Part::Other(raw) => match Members::of(Some(&raw)).text("type").as_deref() {
                    Some("tool_use") => items.extend(self.call(index, line, &raw)),
                    _ => items.push(self.part(index, &raw)),
                },
            }
        }
        items
    }

    /// A call. One without an id gets no result, here or later: it is over, and how it ended is not said.
    fn call(&mut self, index: usize, line: &str, raw: &RawValue) -> Vec<Item> {
        let call = Members::of(Some(raw));
        let own = call.text("id");
        let id = format!("{line}/{index}");
        if let Some(own) = &own {
            self.calls.put(own.clone(), id.clone());
        }
        let called = What::ToolCall {
            id: id.clone(),
            name: call.text("name").unwrap_or_default(),
            input: call.raw("input").map(ToOwned::to_owned),
            input_path: "message.content[].input",
        };
        let mut items = vec![Item::of(index, PART_PATH, Some(raw), PART, called)];
        if own.is_none() {
            let over = What::ToolResult {
                call: id,
                content: None,
                is_error: false,
                content_path: "(the result)",
                error_path: "(whether it failed)",
            };
            items.push(Item::new(index, "(the result)", Vec::new(), over));
        }
        items
    }

    /// A part that is neither a text nor a call.
    fn part(&mut self, frame: usize, raw: &RawValue) -> Item {
        let part = Members::of(Some(raw));
        let kind = part.text("type").unwrap_or_default();
        let what = match kind.as_str() {
            "thinking" => part.get("thinking").map(What::Thinking),
            "tool_result" => part.text("tool_use_id").map(|call| What::ToolResult {
                call: self.calls.get(&call).cloned().unwrap_or(call),
                content: part.raw("content").map(ToOwned::to_owned),
                is_error: part.get("is_error").unwrap_or(false),
                content_path: "message.content[].content",
                error_path: "message.content[].is_error",
            }),
            _ => None,
        };
        match what {
            Some(what) => Item::of(frame, PART_PATH, Some(raw), PART, what),
            None => Item::of(
                frame,
                PART_PATH,
                Some(raw),
                WHOLE_PART,
                What::whole(&kind, raw),
            ),
        }
    }

    /// A line that is not a message: it is kept, and its kind is named unless it is known.
    fn other(&self, line: &str, name: String, members: &Members<'_>) -> Vec<Read> {
        let kind = members.text("type").or_else(|| members.text("role"));
        let kind = texts::kind_name(kind.as_deref().unwrap_or_default());
        let raw = RawValue::from_string(line.to_owned()).ok();
        let mut reads = Vec::new();
        if let Some(raw) = raw {
            let item = Item::of(0, WHOLE_PATH, Some(&raw), WHOLE, What::whole(&kind, &raw));
            let entry = self.entry(name, Speaker::Program, vec![item], line);
            reads.push(Read::Entry(Box::new(entry)));
        }
        if kind != TURN_ENDED {
            reads.push(Read::Unknown {
                kind,
                text: String::new(),
            });
        }
        reads
    }
}

/// A part of a message's content.
enum Part {
    Text(String, Source),
    Other(Box<RawValue>),
}

/// The parts of a content, which is a text or a list of parts.
fn parts(content: Option<&RawValue>) -> Vec<Part> {
    let Some(content) = content else {
        return Vec::new();
    };
    if let Ok(text) = serde_json::from_str::<String>(content.get()) {
        return vec![Part::Text(text, Source::text("message.content"))];
    }
    let part = |raw: &RawValue| {
        let part = Members::of(Some(raw));
        let is_text = part.text("type").as_deref() == Some("text");
        match part.get::<String>("text").filter(|_| is_text) {
            Some(text) => Part::Text(text, Source::of(PART_PATH, raw, PART)),
            None => Part::Other(raw.to_owned()),
        }
    };
    elements(content.get()).0.into_iter().map(part).collect()
}
