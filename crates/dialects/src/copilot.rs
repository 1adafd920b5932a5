//! Recorded sessions of Copilot CLI: the events that it keeps of each in `session-state`.
//!
//! A session is a file of events. A sub-agent's events name the call that began it, and are a side chain. A tool call
//! is in the message that asks for it and again in the event that begins it; it counts once.
//!
//! Messages say how many tokens the model wrote. What it read is said by `assistant.usage`, which most versions do
//! not keep, or else by the end of the session, for all of it: what no message has is counted there. Cached
//! tokens are part of the input tokens, and reasoning is part of the output. The same events have the cost in AI credits;
//! the cost of a killed session is that of its newest checkpoint.

mod credits;
mod fields;
mod line;
mod tools;

use std::collections::HashMap;
use std::num::NonZeroUsize;

use annals_domain::Timestamp;
use annals_event_log::{Digest, IdSecret};
use lru::LruCache;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::import::bad_line::BadLine;
use crate::import::format::{Format, Head, Kind};
use crate::import::members::Members;
use crate::import::redacted::RedactedText;
use crate::transcript::item::{
    COUNTS, Course, Dropped, Entry, Origin, Read, Said, Setting, Speaker, Usage,
};
use credits::{Ledger, parts};
use line::{Event, Spoken};
use tools::AGENT;

pub use tools::ids;

/// Copilot CLI's recordings.
pub(crate) static KIND: Kind = Kind {
    agent: &AGENT,
    title: "Copilot CLI",
    endings: &["jsonl"],
    unwanted: "its name does not end with .jsonl",
    left: "it is a recording of Copilot CLI",
    recognizes,
    format: || Box::new(Copilot::default()),
};

/// What the types of events begin with.
const FAMILIES: [&str; 8] = [
    "assistant.",
    "hook.",
    "permission.",
    "session.",
    "subagent.",
    "system.",
    "tool.",
    "user.",
];

/// Its lines are events with a type of a family, data and an id.
fn recognizes(head: &Head<'_>) -> bool {
    let is_own = |line: serde_json::Map<String, serde_json::Value>| {
        let kind = line.get("type").and_then(|kind| kind.as_str());
        let is_known = kind.is_some_and(|kind| FAMILIES.iter().any(|it| kind.starts_with(it)));
        let has_data = line.get("data").is_some_and(serde_json::Value::is_object);
        is_known && has_data && line.contains_key("id") && line.contains_key("parentId")
    };
    head.objects().take(50).any(is_own)
}

/// Events that repeat what others say, piece by piece, or that the program only shows.
const REPEATING: [&str; 10] = [
    "assistant.intent",
    "assistant.message_delta",
    "assistant.message_start",
    "assistant.reasoning_delta",
    "assistant.streaming_delta",
    "assistant.turn_end",
    "assistant.turn_start",
    "pending_messages.modified",
    "session.idle",
    "tool.execution_partial_result",
];

/// Types of events that are kept as they are.
const KEPT: [&str; 32] = [
    "abort",
    "elicitation.completed",
    "elicitation.requested",
    "exit_plan_mode.completed",
    "exit_plan_mode.requested",
    "hook.end",
    "hook.start",
    "permission.completed",
    "permission.requested",
    "session.compaction_start",
    "session.context_changed",
    "session.handoff",
    "session.mode_changed",
    "session.model_change",
    "session.plan_changed",
    "session.resume",
    "session.shutdown",
    "session.snapshot_rewind",
    "session.start",
    "session.task_complete",
    "session.title_changed",
    "session.truncation",
    "session.usage_checkpoint",
    "session.usage_info",
    "session.workspace_file_changed",
    "skill.invoked",
    "subagent.completed",
    "subagent.deselected",
    "subagent.failed",
    "subagent.selected",
    "user_input.completed",
    "user_input.requested",
];

/// So many calls and thoughts are remembered.
const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(65_535);

/// What is remembered of the session that is read.
struct Copilot {
    session: Option<String>,
    setting: Setting,
    model: Option<String>,
    /// The names of its events.
    events: LruCache<String, ()>,
    /// The calls that were asked for, and what each tells a sub-agent to do.
    calls: LruCache<String, Option<String>>,
    thoughts: LruCache<Digest, ()>,
    /// The calls that began sub-agents, by the names of these.
    agents: HashMap<String, String>,
    /// The newest message of each chain.
    newest: HashMap<String, Message>,
    /// The tokens and credits that were counted.
    ledger: Ledger,
    /// The newest checkpoint since the end of the session.
    checkpoint: Option<Checkpoint>,
    /// No session continues.
    is_ended: bool,
}

/// A checkpoint of the credits.
#[derive(Debug)]
struct Checkpoint {
    name: String,
    parent: Option<String>,
    at: Option<Timestamp>,
    nano: u64,
}

/// A message whose tokens may still be said.
#[derive(Debug, Clone, Default)]
struct Message {
    name: String,
    request: Option<String>,
    output: u64,
    is_counted: bool,
}

impl Default for Copilot {
    fn default() -> Copilot {
        Copilot {
            session: None,
            setting: Setting::default(),
            model: None,
            events: LruCache::new(REMEMBERED),
            calls: LruCache::new(REMEMBERED),
            thoughts: LruCache::new(REMEMBERED),
            agents: HashMap::new(),
            newest: HashMap::new(),
            ledger: Ledger::default(),
            checkpoint: None,
            is_ended: false,
        }
    }
}

impl Format for Copilot {
    fn ended(&mut self) {
        self.is_ended = true;
    }

    fn begin(&mut self, _: &str) {
        *self = Copilot {
            is_ended: self.is_ended,
            ..Copilot::default()
        };
    }

    fn is_record(&self, record: &Members<'_>) -> bool {
        ["type", "data", "id", "timestamp"]
            .iter()
            .all(|name| record.raw(name).is_some())
    }

    fn line(&mut self, text: RedactedText, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        let event = Event::read(text)?;
        let Some(kind) = event.kind.clone() else {
            let (kind, text) = ("(none)".to_owned(), event.text);
            return Ok(vec![Read::Unknown { kind, text }]);
        };
        let raw = event.data.clone();
        let data = Members::of(Some(&raw));
        if self.session.is_none() && matches!(kind.as_str(), "session.start" | "session.resume") {
            self.session = data.text("sessionId");
        }
        let name = self.name(&event, names);
        if self.events.put(name.clone(), ()).is_some() {
            // A copy of an event changes nothing.
            let copy = Spoken::new(Speaker::Program, fields::DATA, Vec::new());
            return Ok(vec![Read::Entry(self.entry(event, &kind, name, copy))]);
        }
        if REPEATING.contains(&kind.as_str()) {
            let text = event.text;
            return Ok(vec![Read::Skipped { kind, text }]);
        }
        Ok(self.reads(event, &kind, &raw, &data, name))
    }

    fn end(&mut self) -> Vec<Read> {
        // The end of a session that continues has the same credits.
        match self.is_ended {
            true => self.killed().into_iter().collect(),
            false => Vec::new(),
        }
    }
}

impl Copilot {
    /// What the event is called in all recordings: by its id, if that is one for all of them.
    fn name(&self, event: &Event, names: Option<&IdSecret>) -> String {
        match &event.id {
            Some(id) if Uuid::try_parse(id).is_ok() => id.clone(),
            Some(id) => self.qualified(id),
            None => ids().anonymous(self.qualified(&event.text).as_bytes(), names),
        }
    }

    /// The name of something that is one within its session only.
    fn qualified(&self, name: &str) -> String {
        format!("{}/{name}", self.session.as_deref().unwrap_or_default())
    }

    /// The call that began the sub-agent that an event is of.
    fn side(&self, event: &Event, data: &Members<'_>) -> Option<String> {
        let by_agent = || {
            let agent = event.agent.as_ref()?;
            Some(self.agents.get(agent).unwrap_or(agent).clone())
        };
        data.text("parentToolCallId").or_else(by_agent)
    }

    fn entry(&self, event: Event, kind: &str, name: String, spoken: Spoken) -> Box<Entry> {
        let data = Members::of(Some(&event.data));
        let is_of_agent = matches!(
            kind,
            "subagent.started" | "subagent.completed" | "subagent.failed"
        );
        let side = match is_of_agent {
            true => data.text("toolCallId"),
            false => self.side(&event, &data),
        };
        let message = data.text("messageId").map(|id| self.qualified(&id));
        let own = || self.model.clone().filter(|_| side.is_none());
        let is_model = spoken.speaker == Speaker::Model;
        let model = data.text("model").or_else(own).filter(|_| is_model);
        let said = Said::of(&[Some(kind), Some(event.data.get())], None);
        Box::new(Entry {
            table: spoken.table,
            older_session: None,
            session: self.session.clone(),
            course: side.map_or(Course::Main, Course::Side),
            name,
            at: event.at,
            setting: Some(self.setting.clone()),
            speaker: spoken.speaker,
            message: message.filter(|_| is_model),
            model,
            prompt: None,
            usage: None,
            priced_as: None,
            beside: Vec::new(),
            subtype: spoken.subtype,
            origin: Origin::default(),
            details: spoken.details,
            items: spoken.items,
            dropped: Dropped::Nothing,
            decisions: Vec::new(),
            older_frame: None,
            said,
            parent: event.parent,
            text: event.text,
        })
    }

    fn reads(
        &mut self,
        event: Event,
        kind: &str,
        raw: &RawValue,
        data: &Members<'_>,
        name: String,
    ) -> Vec<Read> {
        let mut more = Vec::new();
        let spoken = match kind {
            "user.message" => line::user(data, self.side(&event, data).is_some()),
            "assistant.message" => return self.message(event, kind, data, name),
            "assistant.usage" => return self.usage(event, kind, data, name),
            "assistant.reasoning" => self.reasoning(data),
            "tool.user_requested" | "tool.execution_start" => self.begun(data, &name),
            "tool.execution_complete" => {
                line::result(data, self.call(data.text("toolCallId"), &name))
            }
            "session.compaction_complete" => {
                line::compaction(raw).unwrap_or_else(|| Spoken::whole(kind, raw))
            }
            "session.info"
            | "session.warning"
            | "session.error"
            | "system.message"
            | "system.notification" => line::said(data).unwrap_or_else(|| Spoken::whole(kind, raw)),
            "subagent.started" => self.sub_agent(&event, raw, data),
            _ => {
                more = self.follow(kind, data);
                match kind {
                    "session.shutdown" => more = self.rest(&event, data, &name),
                    "session.usage_checkpoint" => self.reach(&event, data, &name),
                    _ => {}
                }
                if !KEPT.contains(&kind) {
                    // It is kept, and its kind is named.
                    more.push(Read::Unknown {
                        kind: kind.to_owned(),
                        text: String::new(),
                    });
                }
                Spoken::whole(kind, raw)
            }
        };
        let mut reads = vec![Read::Entry(self.entry(event, kind, name, spoken))];
        reads.append(&mut more);
        reads
    }

    /// Updates the session's version, folder, branch and model. Returns the cost of a start of the program that was killed.
    fn follow(&mut self, kind: &str, data: &Members<'_>) -> Vec<Read> {
        let mut killed = None;
        match kind {
            "session.start" | "session.resume" => {
                killed = self.killed();
                self.ledger.restart();
                let version = data.text("copilotVersion").or(self.setting.version.take());
                self.setting.version = version;
                self.move_to(&data.within("context"));
                self.model = data.text("selectedModel").or(self.model.take());
            }
            "session.context_changed" => self.move_to(data),
            "session.model_change" => self.model = data.text("newModel").or(self.model.take()),
            _ => {}
        }
        killed.into_iter().collect()
    }

    fn move_to(&mut self, place: &Members<'_>) {
        self.setting.cwd = place.text("cwd").or(self.setting.cwd.take());
        self.setting.git_branch = place.text("branch").or(self.setting.git_branch.take());
    }

    fn call(&self, id: Option<String>, name: &str) -> String {
        match id {
            Some(id) => self.qualified(&id),
            None => format!("{name}/0"),
        }
    }

    /// A call that begins; it counts where no message asked for it.
    fn begun(&mut self, data: &Members<'_>, name: &str) -> Spoken {
        let id = self.call(data.text("toolCallId"), name);
        let task = data.within("arguments").text("prompt");
        match self.calls.put(id.clone(), task) {
            Some(_) => Spoken::new(Speaker::Program, fields::BEGUN, Vec::new()),
            None => line::call(data, id),
        }
    }

    fn reasoning(&mut self, data: &Members<'_>) -> Spoken {
        match data.text("content").and_then(|text| self.thought(text)) {
            Some(_) => line::reasoning(data),
            None => Spoken::new(Speaker::Program, fields::MESSAGE, Vec::new()),
        }
    }

    /// A thought, unless another event has the same one.
    fn thought(&mut self, text: String) -> Option<String> {
        let digest = Digest::of(text.trim().as_bytes());
        self.thoughts.put(digest, ()).is_none().then_some(text)
    }

    fn sub_agent(&mut self, event: &Event, raw: &RawValue, data: &Members<'_>) -> Spoken {
        let call = data.text("toolCallId");
        if let (Some(agent), Some(call)) = (&event.agent, &call) {
            self.agents.insert(agent.clone(), call.clone());
        }
        let asked = call.map(|call| self.qualified(&call));
        let task = asked.and_then(|call| self.calls.get(&call).cloned().flatten());
        line::sub_agent(raw, task)
    }

    fn message(&mut self, event: Event, kind: &str, data: &Members<'_>, name: String) -> Vec<Read> {
        let thought = data
            .text("reasoningText")
            .and_then(|text| self.thought(text));
        let id = |id: Option<String>, index: usize| match id {
            Some(id) => self.qualified(&id),
            None => format!("{name}/{index}"),
        };
        let calls = line::calls(data, id);
        for call in &calls {
            let task = Members::of(call.input.as_deref()).text("prompt");
            self.calls.put(call.id.clone(), task);
        }
        let chain = self.side(&event, data).unwrap_or_default();
        let mut entry = self.entry(event, kind, name, line::model(data, thought, calls));
        let output = data.count("outputTokens");
        let before = self.newest.get(&chain).cloned().unwrap_or_default();
        // The tokens of a message may be said before it.
        let is_counted = before.name.is_empty()
            && before.is_counted
            && before.output == output.unwrap_or_default();
        let is_new = before.name != entry.message();
        if let Some(output) = output.filter(|_| is_new && !is_counted) {
            entry.usage = Some(Usage {
                fields: [0, 0, 0, 1, 0, 0, 0, 0],
                ..Usage::of([Some(0), Some(0), Some(0), Some(output)])
            });
            let model = entry.model.as_deref();
            self.ledger.count(model, [0, 0, 0, output], 0);
        }
        if is_new {
            let message = Message {
                name: entry.message().to_owned(),
                request: data.text("requestId"),
                output: output.unwrap_or_default(),
                is_counted,
            };
            self.newest.insert(chain, message);
        }
        vec![Read::Entry(entry)]
    }

    /// The tokens of a call of the model: those of the message before, if its tokens were not said.
    fn usage(&mut self, event: Event, kind: &str, data: &Members<'_>, name: String) -> Vec<Read> {
        let chain = self.side(&event, data).unwrap_or_default();
        let spoken = Spoken::new(Speaker::Model, fields::USAGE, Vec::new());
        let mut entry = self.entry(event, kind, name, spoken);
        let has = fields::TOKENS.map(|path| path.trim_start_matches("data."));
        let [input, read, write, output, reasoning, ..] = has.map(|name| data.count(name));
        let tokens = parts([input, read, write, output]);
        let nano = credits::nano(&data.within("copilotUsage"));
        let request = data.text("providerCallId");
        let newest = self.newest.entry(chain).or_default();
        let is_other = newest.request.is_some() && request.is_some() && newest.request != request;
        let is_its = !newest.name.is_empty() && !newest.is_counted && !is_other;
        let (mut added, [.., written]) = (tokens, tokens);
        match is_its {
            true => {
                entry.message = Some(newest.name.clone());
                // The message's own count is part of it.
                let [.., output] = &mut added;
                *output = output.saturating_sub(newest.output);
                newest.is_counted = true;
            }
            false => {
                *newest = Message {
                    output: written,
                    is_counted: true,
                    ..Message::default()
                };
            }
        }
        let mut fields = has.map(|name| u64::from(data.raw(name).is_some()));
        let [.., cost, _] = &mut fields;
        *cost = u64::from(nano.is_some());
        let nano = nano.unwrap_or_default();
        let usage = Usage::of(tokens.map(Some)).with_reasoning(reasoning);
        entry.usage = Some(Usage {
            fields,
            ..usage.with_cost(credits::usd(nano))
        });
        self.ledger.count(entry.model.as_deref(), added, nano);
        vec![Read::Entry(entry)]
    }

    /// Counts the end of the session. Returns its uncounted tokens and credits, a message for each model.
    fn rest(&mut self, event: &Event, data: &Members<'_>, name: &str) -> Vec<Read> {
        self.checkpoint = None;
        let rest = self.ledger.end(data);
        let said = Said::of(&[Some("modelMetrics"), Some(event.data.get())], None);
        let mut reads = Vec::new();
        for (model, [input, read, written, output, nano]) in rest.models {
            let tokens = [input, read, written, output].map(Some);
            let usage = Usage::of(tokens).with_cost(credits::usd(nano));
            let place = (format!("{name}/{model}"), event.parent.clone(), event.at);
            reads.push(self.used(place, Some(model), usage, said));
        }
        if rest.nano > 0 {
            let usage = Usage::default().with_cost(credits::usd(rest.nano));
            let place = (format!("{name}/credits"), event.parent.clone(), event.at);
            reads.push(self.used(place, self.model.clone(), usage, said));
        }
        reads
    }

    /// Stores a checkpoint, which counts if the session is killed.
    fn reach(&mut self, event: &Event, data: &Members<'_>, name: &str) {
        let checkpoint = credits::nano(data).map(|nano| Checkpoint {
            name: name.to_owned(),
            parent: event.parent.clone(),
            at: event.at,
            nano,
        });
        self.checkpoint = checkpoint.or(self.checkpoint.take());
    }

    /// Counts the newest checkpoint of a killed session. Returns its cost.
    fn killed(&mut self) -> Option<Read> {
        let checkpoint = self.checkpoint.take()?;
        let nano = self.ledger.checkpoint(checkpoint.nano);
        let usage = Usage::default().with_cost(credits::usd(nano));
        let said = Said::of(&[Some("checkpoint"), Some(&checkpoint.name)], None);
        let name = format!("{}/credits", checkpoint.name);
        let place = (name, checkpoint.parent, checkpoint.at);
        (nano > 0).then(|| self.used(place, self.model.clone(), usage, said))
    }

    /// Returns usage as a message of its own, by its name, its parent line and its time.
    fn used(
        &self,
        (name, parent, at): (String, Option<String>, Option<Timestamp>),
        model: Option<String>,
        usage: Usage,
        said: Said,
    ) -> Read {
        Read::Entry(Box::new(Entry {
            // The event's own entry has its fields.
            session: self.session.clone(),
            parent,
            at,
            setting: Some(self.setting.clone()),
            model,
            usage: Some(Usage {
                fields: [0; COUNTS],
                ..usage
            }),
            ..Entry::new(String::new(), fields::DATA, name, Speaker::Model, said)
        }))
    }
}
