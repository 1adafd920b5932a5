//! Rows of the table `session_message`: messages with their parts.
//!
//! A message of the model grows while it is written. An unfinished message and those behind it are left for a later import.
//! If another message of the model follows, the unfinished one was abandoned, and is read.

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use super::copies::{Copies, Newer};
use super::fields;
use super::session::{Failure, MessagePlace, Sessions, data, skipped, source, whole};
use super::tools;
use super::usage::{Times, Tokens, duration};
use crate::import::bad_line::BadLine;
use crate::import::database::Row;
use crate::import::fields::NOTHING;
use crate::import::format::at_millis;
use crate::transcript::item::{COUNTS, Details, Entry, Item, Read, Said, Source, Speaker, What};

/// The limit of waiting messages, in bytes.
const WAITING: usize = 32 << 20;

/// The tool name of commands that a person ran.
const SHELL: &str = "shell";

/// The messages of the session that is read.
#[derive(Default)]
pub(super) struct SessionMessages {
    is_ended: bool,
    session: String,
    /// The directory that the session was moved to.
    cwd: Option<String>,
    /// An unfinished message and those behind it.
    waiting: Vec<Written>,
    /// The bytes of the waiting messages.
    bytes: usize,
}

/// A message as OpenCode stores it.
struct Written {
    place: MessagePlace,
    kind: String,
    raw: Box<RawValue>,
    data: MessageData,
}

#[derive(Debug, Default, Deserialize)]
struct MessageData {
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    time: Option<Times>,
    #[serde(default)]
    model: Option<Model>,
    #[serde(default)]
    location: Option<Location>,
    #[serde(default)]
    content: Vec<Box<RawValue>>,
    #[serde(default)]
    files: Vec<Box<RawValue>>,
    #[serde(default)]
    agents: Vec<Box<RawValue>>,
    #[serde(default)]
    skills: Vec<Box<RawValue>>,
    #[serde(default)]
    tokens: Option<Tokens>,
    /// In USD.
    #[serde(default)]
    cost: Option<f64>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
    /// The reason for which the model stopped.
    #[serde(default)]
    finish: Option<String>,
    /// The state of a compaction or a command: `running`, or its outcome.
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    summary: Option<String>,
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    exit: Option<f64>,
    #[serde(default)]
    output: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Model {
    #[serde(default)]
    id: Option<String>,
    #[serde(default, rename = "providerID")]
    provider_id: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Location {
    #[serde(default)]
    directory: Option<String>,
}

/// A part of a message of the model.
#[derive(Debug, Deserialize)]
struct PartData {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    state: Option<State>,
    #[serde(default)]
    time: Option<Times>,
}

#[derive(Debug, Deserialize)]
struct State {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
    #[serde(default)]
    metadata: Option<Box<RawValue>>,
    /// The metadata in the first versions.
    #[serde(default)]
    structured: Option<Box<RawValue>>,
}

impl Written {
    fn read(id: String, row: &Row, at: Option<Timestamp>) -> Result<Written, BadLine> {
        let raw = data(row)?;
        let data: MessageData = BadLine::within("session_message.data", &raw)?;
        let times = data.time.as_ref();
        let model = data.model.as_ref().and_then(|model| {
            let Model { id, provider_id } = model;
            match (provider_id, id) {
                (Some(provider), Some(id)) => Some(format!("{provider}/{id}")),
                (_, id) => id.clone(),
            }
        });
        let kind = row.cell("type").filter(|kind| !kind.trim().is_empty());
        Ok(Written {
            place: MessagePlace {
                id,
                session: row.cell("session_id").unwrap_or_default().to_owned(),
                at: times.and_then(|it| it.created).and_then(at_millis).or(at),
                model,
                parent: None,
                cwd: None,
            },
            kind: kind.unwrap_or("(none)").to_owned(),
            raw,
            data,
        })
    }

    /// Returns `true` if the message may still grow.
    fn is_open(&self) -> bool {
        let data = &self.data;
        let is_running = data.status.as_deref() == Some("running");
        let is_over = data.time.as_ref().is_some_and(|it| it.completed.is_some());
        match self.kind.as_str() {
            "assistant" => !is_over && data.error.is_none() && data.finish.is_none(),
            "compaction" | "shell" => is_running && !is_over,
            _ => false,
        }
    }
}

impl SessionMessages {
    /// Begins a database. If `is_ended`, no message is unfinished.
    pub(super) fn new(is_ended: bool) -> SessionMessages {
        SessionMessages {
            is_ended,
            ..SessionMessages::default()
        }
    }

    /// Reads a row. Returns its entries, behind those that waited for it.
    pub(super) fn row(
        &mut self,
        id: String,
        row: &Row,
        at: Option<Timestamp>,
        sessions: &Sessions,
        copies: &mut Copies,
    ) -> Result<Vec<Read>, BadLine> {
        let mut written = Written::read(id, row, at)?;
        let parts = parts(&written.data.content);
        let mut reads = Vec::new();
        if self.session != written.place.session {
            reads.extend(self.end());
            self.session.clone_from(&written.place.session);
            self.cwd = None;
        }
        let newer = Newer {
            place: &written.place,
            kind: &written.kind,
            seq: row.cell("seq"),
            data: &written.raw,
            at,
            said: said(&written, &parts),
        };
        if let Some(copy) = copies.of_newer(&newer, sessions) {
            let kind = format!("{} ({})", written.kind, copy.reason());
            reads.push(skipped(&kind, &written.raw));
            return Ok(reads);
        }
        if let Some(place) = &written.data.location {
            self.cwd.clone_from(&place.directory);
        }
        written.place.cwd.clone_from(&self.cwd);
        if written.kind == "assistant" || self.bytes > WAITING {
            reads.extend(self.release(sessions));
        }
        let is_open = written.is_open() && !self.is_ended;
        match is_open || !self.waiting.is_empty() {
            true => {
                self.bytes += written.raw.get().len();
                self.waiting.push(written);
            }
            false => reads.extend(written.reads(sessions)),
        }
        Ok(reads)
    }

    /// Ends the session. Returns a remark for each message that is left for a later import.
    pub(super) fn end(&mut self) -> Vec<Read> {
        self.bytes = 0;
        let waiting = self.waiting.drain(..).map(|written| Read::Waits {
            kind: match written.is_open() {
                true => format!("{} that is still written", written.kind),
                false => format!("{} behind one that is still written", written.kind),
            },
        });
        waiting.collect()
    }

    /// Reads the waiting messages.
    fn release(&mut self, sessions: &Sessions) -> Vec<Read> {
        self.bytes = 0;
        let waiting = self.waiting.drain(..);
        waiting
            .flat_map(|written| written.reads(sessions))
            .collect()
    }
}

/// Reads the parts of a message of the model; `None` for a part of an unexpected form.
fn parts(content: &[Box<RawValue>]) -> Vec<Option<PartData>> {
    let parts = content.iter();
    parts
        .map(|part| serde_json::from_str(part.get()).ok())
        .collect()
}

/// Returns the texts of a message and the ids of its tool calls.
fn said<'a>(written: &'a Written, parts: &'a [Option<PartData>]) -> Vec<&'a str> {
    let of_part = |part: &'a PartData| match part.kind.as_deref() {
        Some("tool") => part.id.as_deref(),
        _ => part.text.as_deref(),
    };
    match written.kind.as_str() {
        "user" => written.data.text.as_deref().into_iter().collect(),
        "assistant" => parts.iter().flatten().filter_map(of_part).collect(),
        _ => Vec::new(),
    }
}

impl Written {
    /// Returns the entries of the message.
    fn reads(self, sessions: &Sessions) -> Vec<Read> {
        match self.kind.as_str() {
            "user" => self.prompt(sessions),
            "assistant" => self.of_model(sessions),
            "compaction" => self.compaction(sessions),
            "shell" => self.shell(sessions),
            // Texts of the program in the role of the user.
            "synthetic" | "skill" => {
                let what = |text| What::Prompt {
                    asked: None,
                    text,
                    is_summary: false,
                };
                vec![self.text(sessions, Speaker::User, what)]
            }
            "system" => {
                let what = |text| What::Said {
                    kind: FrameKind::SystemState,
                    text,
                    compaction: None,
                };
                vec![self.text(sessions, Speaker::Program, what)]
            }
            // The turn is over, which the next prompt shows, too.
            "idle" => vec![skipped("idle", &self.raw)],
            "agent-switched" | "model-switched" | "location-switched" => {
                vec![self.whole(sessions)]
            }
            kind => {
                let unknown = Read::Unknown {
                    kind: kind.to_owned(),
                    text: String::new(),
                };
                // It is kept, and its kind is named.
                vec![self.whole(sessions), unknown]
            }
        }
    }

    /// Returns an empty entry of the message, or of a part.
    fn entry(&self, sessions: &Sessions, part: &str, speaker: Speaker, said: Said) -> Entry {
        let name = match part {
            "" => self.place.name(),
            part => format!("{}/{part}", self.place.name()),
        };
        sessions.of_message(&self.place, name, speaker, said)
    }

    /// Returns the entry of a message that is one text.
    fn text(&self, sessions: &Sessions, speaker: Speaker, what: impl Fn(String) -> What) -> Read {
        let text = self.data.text.clone().unwrap_or_default();
        let said = Said::of(&[Some(&self.kind), Some(&text)], None);
        let items = match text.trim().is_empty() {
            true => Vec::new(),
            false => vec![Item::new(0, "text", Vec::new(), what(text))],
        };
        Read::Entry(Box::new(Entry {
            text: self.raw.get().to_owned(),
            table: fields::TEXT_MESSAGE,
            model: None,
            items,
            ..self.entry(sessions, "", speaker, said)
        }))
    }

    /// Returns the entry of a message without a form of its own in the log.
    fn whole(&self, sessions: &Sessions) -> Read {
        let said = Said::of(&[Some(&self.kind), Some(self.raw.get())], None);
        let (what, sources) = whole(&self.kind, self.raw.clone());
        Read::Entry(Box::new(Entry {
            model: None,
            items: vec![Item::new(0, "(the whole message)", sources, what)],
            ..self.entry(sessions, "", Speaker::Program, said)
        }))
    }

    /// Returns the entries of a prompt and of its attachments.
    fn prompt(self, sessions: &Sessions) -> Vec<Read> {
        let is_main = sessions.is_main(&self.place.session);
        let mut reads = vec![self.text(sessions, Speaker::User, |text| What::Prompt {
            // The prompt of a sub-agent session is another agent's.
            asked: is_main.then(|| text.clone()),
            text,
            is_summary: false,
        })];
        let data = &self.data;
        for (kind, list) in [
            ("file", &data.files),
            ("agent", &data.agents),
            ("skill", &data.skills),
        ] {
            for (number, attached) in list.iter().enumerate() {
                let said = Said::of(&[Some(kind), Some(attached.get())], None);
                let (what, sources) = whole(kind, attached.clone());
                reads.push(Read::Entry(Box::new(Entry {
                    model: None,
                    items: vec![Item::new(0, "(attached)", sources, what)],
                    ..self.entry(sessions, &format!("{kind}/{number}"), Speaker::User, said)
                })));
            }
        }
        reads
    }

    /// Returns the entries of a message of the model: its parts, its tokens and its error.
    fn of_model(self, sessions: &Sessions) -> Vec<Read> {
        let text = self.raw.get();
        let mut reads = vec![sessions.begun_message(&self.place, text, fields::MODEL_MESSAGE)];
        let parts = parts(&self.data.content);
        for (number, (raw, part)) in self.data.content.iter().zip(parts).enumerate() {
            reads.extend(self.part(sessions, number, raw, part));
        }
        reads.extend(self.tokens(sessions));
        let error = self.data.error.as_ref();
        reads.extend(error.map(|error| sessions.failed(&self.place, error)));
        reads
    }

    fn tokens(&self, sessions: &Sessions) -> Option<Read> {
        let usage = self.data.tokens.as_ref()?.usage(self.data.cost);
        let name = format!("{}/tokens", self.place.name());
        let has_any = usage.totals != [0; COUNTS];
        has_any.then(|| sessions.tokens(&self.place, name, usage, None))
    }

    /// Returns the entries of a part of a message of the model.
    fn part(
        &self,
        sessions: &Sessions,
        number: usize,
        raw: &RawValue,
        part: Option<PartData>,
    ) -> Vec<Read> {
        let kind = part.as_ref().and_then(|part| part.kind.as_deref());
        let kind = kind.unwrap_or("(none)").to_owned();
        let name = number.to_string();
        let (what, sources, at) = match (kind.as_str(), part) {
            ("tool", Some(part)) if part.state.is_some() => {
                return self.call(sessions, &name, raw, part);
            }
            ("text", Some(part)) => {
                let text = part.text.unwrap_or_default();
                let source = source("content[]", raw.to_owned(), fields::TEXT_PART);
                (What::Text(text), vec![source], None)
            }
            ("reasoning", Some(part)) => {
                let text = part.text.unwrap_or_default();
                let source = source("content[]", raw.to_owned(), fields::TEXT_PART);
                let begun = part.time.and_then(|times| times.created);
                (
                    What::Thinking(text),
                    vec![source],
                    begun.and_then(at_millis),
                )
            }
            _ => {
                let (what, sources) = whole(&kind, raw.to_owned());
                (what, sources, None)
            }
        };
        let (speaker, said) = match &what {
            What::Text(text) | What::Thinking(text) => (
                Speaker::Model,
                Said::of(&[Some(&kind), Some(text), None], None),
            ),
            _ => (
                Speaker::Program,
                Said::of(&[Some(&kind), Some(raw.get())], None),
            ),
        };
        vec![Read::Entry(Box::new(Entry {
            at: at.or(self.place.at),
            items: vec![Item::new(1, "content[]", sources, what)],
            ..self.entry(sessions, &name, speaker, said)
        }))]
    }

    /// Returns the entries of a tool call and of its result.
    fn call(&self, sessions: &Sessions, name: &str, raw: &RawValue, part: PartData) -> Vec<Read> {
        let Some(state) = part.state else {
            return Vec::new();
        };
        let times = part.time.unwrap_or_default();
        let began = times.ran.or(times.created);
        let call = Call {
            id: format!(
                "{}/{name}/{}",
                self.place.name(),
                part.id.unwrap_or_default()
            ),
            tool: part.name.unwrap_or_default(),
            input_path: "content[].state.input",
            sources: vec![source("content[]", raw.to_owned(), fields::TOOL_PART)],
            at: began.and_then(at_millis),
            until: times.completed.and_then(at_millis),
        };
        let is_error = state.status.as_deref() == Some("error");
        let is_over = is_error || state.status.as_deref() == Some("completed");
        let content = is_over.then(|| state.said());
        let details = match (state.metadata, state.structured) {
            (Some(raw), _) => Some(("content[].state.metadata", raw)),
            (None, Some(raw)) => Some(("content[].state.structured", raw)),
            (None, None) => None,
        };
        let details = details.map(|(path, raw)| Details {
            path,
            raw,
            table: NOTHING,
            edit_table: fields::EDIT_PART,
            duration_ms: duration(began, times.completed),
        });
        let result = content.map(|content| (content, is_error, details));
        self.called(sessions, name, call, state.input, result)
    }

    /// Returns the entries of a call and of its result: content, error flag and details.
    fn called(
        &self,
        sessions: &Sessions,
        name: &str,
        call: Call,
        input: Option<Box<RawValue>>,
        result: Option<(Option<Box<RawValue>>, bool, Option<Details>)>,
    ) -> Vec<Read> {
        let Call { id, tool, .. } = call;
        let asked = input.as_deref().map(RawValue::get);
        let said = Said::of(&[Some("tool"), Some(&tool), asked], None);
        let what = What::ToolCall {
            id: id.clone(),
            name: tool,
            input,
            input_path: call.input_path,
        };
        let mut reads = vec![Read::Entry(Box::new(Entry {
            at: call.at.or(self.place.at),
            items: vec![Item::new(1, "content[]", call.sources, what)],
            ..self.entry(sessions, name, Speaker::Model, said)
        }))];
        let Some((content, is_error, details)) = result else {
            return reads;
        };
        let status = if is_error { "error" } else { "completed" };
        let answer = content.as_deref().map(RawValue::get);
        let said = Said::of(&[Some("result"), Some(status), answer], None);
        let raw = details.as_ref().map(|details| &*details.raw);
        let is_error = is_error || tools::has_failed(raw);
        let what = What::ToolResult {
            call: id,
            content,
            is_error,
            content_path: "content[].state.content",
            error_path: "content[].state.status",
        };
        reads.push(Read::Entry(Box::new(Entry {
            at: call.until.or(call.at).or(self.place.at),
            items: vec![Item::new(1, "content[].state.content", Vec::new(), what)],
            details,
            ..self.entry(sessions, &format!("{name}/result"), Speaker::User, said)
        })));
        reads
    }

    /// Returns the entries of a command that a person ran.
    fn shell(self, sessions: &Sessions) -> Vec<Read> {
        let text = self.raw.get();
        let mut reads = vec![sessions.begun_message(&self.place, text, fields::SHELL_MESSAGE)];
        let times = self.data.time.as_ref();
        let until = times.and_then(|it| it.completed);
        let command = self.data.command.clone().unwrap_or_default();
        let call = Call {
            id: format!("{}/{SHELL}", self.place.name()),
            tool: SHELL.to_owned(),
            input_path: "command",
            sources: Vec::new(),
            at: self.place.at,
            until: until.and_then(at_millis),
        };
        let input = to_raw_value(&serde_json::json!({ "command": command })).ok();
        let status = self.data.status.as_deref();
        let is_over = until.is_some() || status.is_some_and(|it| it != "running");
        let result = is_over.then(|| {
            let failed = self.data.exit.is_some_and(|exit| exit != 0.0);
            let is_error = failed || matches!(status, Some("timeout" | "killed"));
            (self.output(), is_error, None)
        });
        reads.extend(self.called(sessions, SHELL, call, input, result));
        reads
    }

    /// Returns the output of a command.
    fn output(&self) -> Option<Box<RawValue>> {
        #[derive(Deserialize)]
        struct Output {
            output: String,
        }
        let raw = self.data.output.as_ref()?;
        match serde_json::from_str::<Output>(raw.get()) {
            Ok(printed) => to_raw_value(&printed.output).ok(),
            Err(_) => Some(raw.clone()),
        }
    }

    /// Returns the entries of a compaction: its tokens, and its summary or its error.
    fn compaction(self, sessions: &Sessions) -> Vec<Read> {
        let text = self.raw.get();
        let table = fields::COMPACTION_MESSAGE;
        let mut reads = vec![sessions.begun_message(&self.place, text, table)];
        reads.extend(self.tokens(sessions));
        if let Some(error) = &self.data.error {
            reads.push(sessions.failed(&self.place, error));
            return reads;
        }
        let summary = self.data.summary.clone();
        let summary = summary.filter(|summary| !summary.trim().is_empty());
        let text = summary.unwrap_or_else(|| "The conversation is made shorter".to_owned());
        let said = Said::of(&[Some("summary"), Some(&text)], None);
        let what = What::Said {
            kind: FrameKind::Checkpoint,
            text,
            compaction: None,
        };
        reads.push(Read::Entry(Box::new(Entry {
            model: None,
            items: vec![Item::new(0, "summary", Vec::new(), what)],
            ..self.entry(sessions, "summary", Speaker::Program, said)
        })));
        reads
    }
}

/// A tool call in the form that its entries share.
struct Call {
    id: String,
    tool: String,
    input_path: &'static str,
    sources: Vec<Source>,
    at: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl State {
    /// Returns the result of a finished call: its content, followed by its error.
    fn said(&self) -> Option<Box<RawValue>> {
        let is_any = |content: &&RawValue| !matches!(content.get(), "[]" | "null" | "\"\"");
        let content = self.content.as_deref().filter(is_any);
        let error = self.error.as_ref().map(|error| {
            let message = Failure::of(error).message;
            message.unwrap_or_else(|| error.get().to_owned())
        });
        match (content, error) {
            (Some(content), None) => Some(content.to_owned()),
            (None, Some(error)) => to_raw_value(&error).ok(),
            (Some(content), Some(error)) => with_text(content, &error),
            (None, None) => self.result.as_ref().map(|result| value(result)),
        }
    }
}

/// Appends a text to a list of parts.
fn with_text(content: &RawValue, text: &str) -> Option<Box<RawValue>> {
    let last = to_raw_value(&serde_json::json!({ "type": "text", "text": text })).ok()?;
    let mut parts: Vec<Box<RawValue>> = match serde_json::from_str(content.get()) {
        Ok(parts) => parts,
        Err(_) => vec![content.to_owned()],
    };
    parts.push(last);
    to_raw_value(&parts).ok()
}

/// Returns the value of a result of the first versions.
fn value(result: &RawValue) -> Box<RawValue> {
    #[derive(Deserialize)]
    struct Valued {
        value: Box<RawValue>,
    }
    let valued: Option<Valued> = serde_json::from_str(result.get()).ok();
    valued.map_or_else(|| result.to_owned(), |valued| valued.value)
}
