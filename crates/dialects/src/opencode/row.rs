//! Rows of OpenCode's database, and the entries of the first generation.

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::copies::Copies;
use super::fields;
use super::session::{MessagePlace, Sessions, data, skipped, source, whole};
use super::session_message::SessionMessages;
use super::tools;
use super::usage::{Times, Tokens, duration};
use crate::import::bad_line::BadLine;
use crate::import::database::Row;
use crate::import::fields::NOTHING;
use crate::import::format::at_millis;
use crate::transcript::item::{
    COUNTS, Details, Entry, Item, Read, Said, Source, Speaker, Usage, What,
};

/// At most so many bytes of a person's message wait until it is over.
const WAITING: usize = 32 << 20;

/// What was read of a database so far.
#[derive(Default)]
pub(super) struct Rows {
    sessions: Sessions,
    copies: Copies,
    /// The message of the first generation whose parts are read.
    message: Option<Message>,
    /// The messages of the second generation.
    newer: SessionMessages,
    /// Whether all messages are over.
    is_ended: bool,
}

/// A message, as far as its parts were read.
struct Message {
    place: MessagePlace,
    is_user: bool,
    /// It is a copy from the session's origin.
    is_copy: bool,
    /// Whether nothing comes any more.
    is_over: bool,
    is_summary: bool,
    /// Its tokens, until a step says its own.
    usage: Option<Usage>,
    error: Option<Box<RawValue>>,
    /// What a person typed so far, in one part or several.
    typed: Option<Typed>,
    /// The entries of a person's message behind what was typed.
    behind: Vec<Read>,
    /// How many bytes wait in `typed` and `behind`.
    waiting: usize,
}

/// What a person typed, under the name of its first part. The program shows the parts as one text.
struct Typed {
    name: String,
    at: Option<Timestamp>,
    text: String,
    sources: Vec<Source>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageData {
    #[serde(default)]
    role: Option<String>,
    #[serde(default)]
    time: Option<Times>,
    #[serde(default, rename = "parentID")]
    parent_id: Option<String>,
    #[serde(default, rename = "modelID")]
    model_id: Option<String>,
    #[serde(default, rename = "providerID")]
    provider_id: Option<String>,
    #[serde(default)]
    path: Option<Place>,
    #[serde(default)]
    tokens: Option<Tokens>,
    /// In USD.
    #[serde(default)]
    cost: Option<f64>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
    /// `true` for what a compaction left; a person's message has an object here.
    #[serde(default)]
    summary: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Place {
    #[serde(default)]
    cwd: Option<String>,
}

#[derive(Deserialize)]
struct PartData {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    synthetic: Option<bool>,
    #[serde(default)]
    ignored: Option<bool>,
    #[serde(default)]
    time: Option<Times>,
    #[serde(default)]
    tool: Option<String>,
    #[serde(default, rename = "callID")]
    call_id: Option<String>,
    #[serde(default)]
    state: Option<State>,
    #[serde(default)]
    tokens: Option<Tokens>,
    /// In USD.
    #[serde(default)]
    cost: Option<f64>,
}

#[derive(Deserialize)]
struct State {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
    #[serde(default)]
    output: Option<Box<RawValue>>,
    #[serde(default)]
    error: Option<Box<RawValue>>,
    #[serde(default)]
    metadata: Option<Box<RawValue>>,
    #[serde(default)]
    time: Option<Times>,
}

/// A part and its place, as far as that is known.
struct Part {
    /// Its name, the same in all copies of the database.
    name: String,
    data: PartData,
    raw: Box<RawValue>,
    at: Option<Timestamp>,
}

impl Rows {
    /// Nothing was read yet; `is_ended` says that nothing is written any more.
    pub(super) fn new(is_ended: bool) -> Rows {
        Rows {
            is_ended,
            newer: SessionMessages::new(is_ended),
            ..Rows::default()
        }
    }

    /// What a row says.
    pub(super) fn row(&mut self, row: &Row) -> Result<Vec<Read>, BadLine> {
        let id = row.cell("id").unwrap_or_default().to_owned();
        let at = row.cell("time_created").and_then(|time| time.parse().ok());
        let at = at.and_then(at_millis);
        match row.table {
            "session" | "session_v2" => Ok(vec![self.sessions.add(id, row, at)]),
            "session_message" => {
                let mut reads = self.end_message();
                let newer = self
                    .newer
                    .row(id, row, at, &self.sessions, &mut self.copies)?;
                reads.extend(newer);
                Ok(reads)
            }
            "message" => self.message(id, row, at),
            _ => self.part(&id, row, at),
        }
    }

    /// Ends the database. Returns the entries that were held.
    pub(super) fn end(&mut self) -> Vec<Read> {
        let mut reads = self.end_message();
        reads.extend(self.newer.end());
        reads
    }

    fn message(
        &mut self,
        id: String,
        row: &Row,
        at: Option<Timestamp>,
    ) -> Result<Vec<Read>, BadLine> {
        let raw = data(row)?;
        let mut message = message(id, row, &raw, at)?;
        message.is_over |= self.is_ended;
        let mut reads = self.end_message();
        reads.extend(self.newer.end());
        let copies = &mut self.copies;
        message.is_copy = copies.is_forked(&message.place, &raw, at, &self.sessions);
        let role = if message.is_user { "user" } else { "assistant" };
        let place = &message.place;
        reads.push(match message.is_copy {
            true => skipped(
                &format!("{role} (of the session that it was forked from)"),
                &raw,
            ),
            false => self
                .sessions
                .begun_message(place, raw.get(), fields::MESSAGE),
        });
        self.message = Some(message);
        Ok(reads)
    }

    /// What was held of the newest message.
    fn end_message(&mut self) -> Vec<Read> {
        let Some(mut message) = self.message.take().filter(|message| !message.is_copy) else {
            return Vec::new();
        };
        let mut reads = self.asked(&mut message);
        // The program writes them again and again until the message is over.
        let usage = message.usage.filter(|_| message.is_over);
        let usage = usage.filter(|usage| usage.totals != [0; COUNTS]);
        if let Some(usage) = usage {
            let name = format!("{}/tokens", message.place.name());
            reads.push(self.sessions.tokens(&message.place, name, usage, None));
        }
        if let Some(error) = message.error.take() {
            reads.push(self.sessions.failed(&message.place, &error));
        }
        reads
    }

    /// What a person's message says, as far as its parts were read: what was typed comes first.
    fn asked(&mut self, message: &mut Message) -> Vec<Read> {
        let behind = std::mem::take(&mut message.behind);
        message.waiting = 0;
        let Some(typed) = message.typed.take() else {
            return behind;
        };
        let place = &message.place;
        self.copies.says(&place.session, &typed.text);
        let is_main = self.sessions.is_main(&place.session);
        let said = Said::of(&[Some("text"), Some(&typed.text)], None);
        let entry = self
            .sessions
            .of_message(place, typed.name, Speaker::User, said);
        let what = What::Prompt {
            // The words that a sub-agent is given are another agent's.
            asked: is_main.then(|| typed.text.clone()),
            text: typed.text,
            is_summary: false,
        };
        let prompt = Read::Entry(Box::new(Entry {
            at: typed.at.or(place.at),
            items: vec![Item::new(1, "part", typed.sources, what)],
            ..entry
        }));
        let mut reads = vec![prompt];
        reads.extend(behind);
        reads
    }

    /// What a part of a message says.
    fn part(&mut self, id: &str, row: &Row, at: Option<Timestamp>) -> Result<Vec<Read>, BadLine> {
        let raw = data(row)?;
        let read: PartData = BadLine::within("part.data", &raw)?;
        let mut reads = Vec::new();
        let of = row.cell("message_id").unwrap_or_default();
        let session = row.cell("session_id").unwrap_or_default();
        let is_of = |message: &Message| message.place.id == of && message.place.session == session;
        if !self.message.as_ref().is_some_and(is_of) {
            reads = self.end_message();
        }
        // Its message may be one that cannot be read, or is not there.
        let message = self.message.take();
        let mut message = message.unwrap_or_else(|| without_message(of, row, at));
        let times = read.time.as_ref();
        let began = times.and_then(|times| times.start).and_then(at_millis);
        let part = Part {
            name: format!("{}/{id}", message.place.session),
            at: began.or(at),
            data: read,
            raw,
        };
        self.copies.was_written(&message.place.session, at);
        match (message.is_copy, message.is_user) {
            (true, _) => reads.push(skipped(
                "part (of the session that it was forked from)",
                &part.raw,
            )),
            (false, true) => reads.extend(self.of_person(&mut message, part)),
            (false, false) => reads.extend(self.of_model(&mut message, part)),
        }
        self.message = Some(message);
        Ok(reads)
    }

    /// A part of what a person wrote, or what the program added to it. They wait until the message is
    /// over, or are too many.
    fn of_person(&mut self, message: &mut Message, part: Part) -> Vec<Read> {
        let kind = part.data.kind.unwrap_or_else(|| "(none)".to_owned());
        let is_added = part.data.synthetic == Some(true) || part.data.ignored == Some(true);
        message.waiting += part.raw.get().len();
        let text = part.data.text.unwrap_or_default();
        if kind == "text" && !is_added && !text.trim().is_empty() {
            let typed = message.typed.get_or_insert_with(|| Typed {
                name: part.name,
                at: part.at,
                text: String::new(),
                sources: Vec::new(),
            });
            typed.text.push_str(&text);
            typed.sources.push(source("", part.raw, fields::TEXT));
        } else {
            let said = Said::of(&[Some(&kind), Some(part.raw.get())], None);
            let (what, sources) = match kind.as_str() {
                "text" => {
                    let what = What::Prompt {
                        asked: None,
                        text,
                        is_summary: false,
                    };
                    (what, vec![source("", part.raw, fields::TEXT)])
                }
                "compaction" => compaction(part.raw),
                kind => whole(kind, part.raw),
            };
            let place = &message.place;
            let entry = self
                .sessions
                .of_message(place, part.name, Speaker::User, said);
            message.behind.push(Read::Entry(Box::new(Entry {
                at: part.at.or(message.place.at),
                items: vec![Item::new(1, "part", sources, what)],
                ..entry
            })));
        }
        match message.waiting > WAITING {
            true => self.asked(message),
            false => Vec::new(),
        }
    }

    /// A part of what the model said or did.
    fn of_model(&mut self, message: &mut Message, part: Part) -> Vec<Read> {
        let kind = part
            .data
            .kind
            .clone()
            .unwrap_or_else(|| "(none)".to_owned());
        let text = part.data.text.clone().unwrap_or_default();
        self.copies.says(&message.place.session, &text);
        let is_open = matches!(&part.data.time, Some(times) if times.end.is_none());
        let (what, sources) = match kind.as_str() {
            // Another import reads it when it is whole.
            "text" | "reasoning" if is_open && !message.is_over => {
                return vec![skipped("text that is still written", &part.raw)];
            }
            "text" => (
                match message.is_summary {
                    true => What::Said {
                        kind: FrameKind::Checkpoint,
                        text,
                        compaction: None,
                    },
                    false => What::Text(text),
                },
                vec![source("", part.raw.clone(), fields::TEXT)],
            ),
            "reasoning" => (
                What::Thinking(text),
                vec![source("", part.raw.clone(), fields::TEXT)],
            ),
            "tool" => return self.call(message, part),
            "step-finish" => {
                message.usage = None;
                let name = part.name.clone();
                let cost = part.data.cost;
                let usage = part.data.tokens.map(|tokens| tokens.usage(cost));
                return match usage {
                    Some(usage) => {
                        let step = Some(part.raw.get());
                        vec![self.sessions.tokens(&message.place, name, usage, step)]
                    }
                    None => vec![skipped(&kind, &part.raw)],
                };
            }
            "step-start" | "snapshot" => return vec![skipped(&kind, &part.raw)],
            "compaction" => compaction(part.raw.clone()),
            kind => whole(kind, part.raw.clone()),
        };
        let said = Said::of(&[Some(&kind), part.data.text.as_deref(), None], None);
        let speaker = match what {
            What::Text(_) | What::Thinking(_) => Speaker::Model,
            _ => Speaker::Program,
        };
        let said = match &what {
            What::Whole { .. } => Said::of(&[Some(&kind), Some(part.raw.get())], None),
            _ => said,
        };
        let place = &message.place;
        let entry = self.sessions.of_message(place, part.name, speaker, said);
        vec![Read::Entry(Box::new(Entry {
            at: part.at.or(message.place.at),
            items: vec![Item::new(1, "part", sources, what)],
            ..entry
        }))]
    }

    /// A tool call, and its result if there is one.
    fn call(&mut self, message: &Message, part: Part) -> Vec<Read> {
        let Part {
            name,
            data,
            raw,
            at,
        } = part;
        let Some(state) = data.state else {
            return vec![skipped("tool without a state", &raw)];
        };
        let status = state.status.as_deref();
        // A pending call may still be incomplete.
        if status == Some("pending") && !message.is_over {
            return vec![skipped("call that is still written", &raw)];
        }
        let call_id = data.call_id.unwrap_or_default();
        let place = &message.place;
        self.copies.says(&place.session, &call_id);
        let id = format!("{name}/{call_id}");
        let times = state.time.unwrap_or_default();
        let tool = data.tool.unwrap_or_default();
        let input = state.input.as_deref().map(RawValue::get);
        let said = Said::of(&[Some("tool"), Some(&tool), input], None);
        let entry = self
            .sessions
            .of_message(place, name.clone(), Speaker::Model, said);
        let what = What::ToolCall {
            id: id.clone(),
            name: tool,
            input: state.input,
            input_path: "state.input",
        };
        let sources = vec![source("", raw, fields::TOOL)];
        let call = Entry {
            at: times.start.and_then(at_millis).or(at).or(place.at),
            items: vec![Item::new(1, "part", sources, what)],
            ..entry
        };
        let is_over = matches!(status, Some("completed" | "error"));
        let mut reads = vec![Read::Entry(Box::new(call))];
        if !is_over {
            return reads;
        }
        let has_failed = status == Some("error");
        let content = state.error.filter(|_| has_failed).or(state.output);
        let is_error = has_failed || tools::has_failed(state.metadata.as_deref());
        let content_said = content.as_deref().map(RawValue::get);
        let said = Said::of(&[Some("result"), status, content_said], None);
        let name = format!("{name}/result");
        let entry = self.sessions.of_message(place, name, Speaker::User, said);
        let what = What::ToolResult {
            call: id,
            content,
            is_error,
            content_path: "state.output",
            error_path: "state.status",
        };
        reads.push(Read::Entry(Box::new(Entry {
            at: times.end.and_then(at_millis).or(at).or(place.at),
            items: vec![Item::new(1, "state.output", Vec::new(), what)],
            details: state.metadata.map(|raw| Details {
                path: "state.metadata",
                raw,
                table: NOTHING,
                edit_table: fields::EDIT,
                duration_ms: duration(times.start, times.end),
            }),
            ..entry
        })));
        reads
    }
}

fn message(
    id: String,
    row: &Row,
    raw: &RawValue,
    at: Option<Timestamp>,
) -> Result<Message, BadLine> {
    let read: MessageData = BadLine::within("message.data", raw)?;
    let times = read.time.unwrap_or_default();
    let is_user = read.role.as_deref() == Some("user");
    // The model of a person's message is the one that is to answer.
    let model = match (read.provider_id, read.model_id) {
        (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
        (_, model) => model,
    };
    let place = MessagePlace {
        session: row.cell("session_id").unwrap_or_default().to_owned(),
        id,
        at: times.created.and_then(at_millis).or(at),
        model: model.filter(|_| !is_user),
        parent: read.parent_id,
        cwd: read.path.and_then(|path| path.cwd),
    };
    Ok(Message {
        place,
        is_copy: false,
        is_over: times.completed.is_some() || read.error.is_some(),
        is_summary: !is_user && read.summary.as_deref().map(RawValue::get) == Some("true"),
        usage: read
            .tokens
            .filter(|_| !is_user)
            .map(|tokens| tokens.usage(read.cost)),
        error: read.error,
        is_user,
        typed: None,
        behind: Vec::new(),
        waiting: 0,
    })
}

/// What stands for a message that cannot be read: that of a model, as nothing says that a person
/// wrote it.
fn without_message(id: &str, row: &Row, at: Option<Timestamp>) -> Message {
    let place = MessagePlace {
        id: id.to_owned(),
        session: row.cell("session_id").unwrap_or_default().to_owned(),
        at,
        model: None,
        parent: None,
        cwd: None,
    };
    Message {
        place,
        is_user: false,
        is_copy: false,
        is_over: true,
        is_summary: false,
        usage: None,
        error: None,
        typed: None,
        behind: Vec::new(),
        waiting: 0,
    }
}

/// A compaction, as a person or the program asked for it.
fn compaction(raw: Box<RawValue>) -> (What, Vec<Source>) {
    let what = What::Said {
        kind: FrameKind::Checkpoint,
        text: "The conversation is made shorter".to_owned(),
        compaction: Some(raw.clone()),
    };
    (what, vec![source(fields::WHOLE_PATH, raw, fields::WHOLE)])
}
