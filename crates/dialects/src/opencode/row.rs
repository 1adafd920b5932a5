//! Rows of OpenCode's database, and the entries that they are.

use std::collections::HashMap;

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use serde::Deserialize;

use serde_json::value::RawValue;

use super::fields;
use crate::import::bad_line::BadLine;
use crate::import::database::Row;
use crate::import::fields::{NOTHING, Table};
use crate::import::format::at_millis;
use crate::transcript::item::{
    COUNTS, Course, Details, Entry, Evidence, Item, Read, Said, Setting, Source, Speaker, Usage,
    What,
};
use crate::transcript::texts;

/// At most so many parents are followed from a sub-agent's session.
const GENERATIONS: usize = 32;

/// How the title begins that a session has before it is given one.
const NO_TITLE: &str = "New session - ";

/// At most so many bytes of a person's message wait until it is over.
const WAITING: usize = 32 << 20;

/// The title of a session.
fn titled(title: String) -> Item {
    let evidence = Evidence {
        kind: texts::TITLE,
        is_by_person: false,
        tool: "opencode".to_owned(),
        command: None,
        exit_code: None,
        summary: Some(title),
        report: None,
    };
    Item::new(0, "title", Vec::new(), What::Evidence(evidence))
}

/// What was read of a database so far.
#[derive(Default)]
pub(super) struct Sessions {
    sessions: HashMap<String, Session>,
    /// The message whose parts are read.
    message: Option<Message>,
    /// Whether all messages are over.
    is_ended: bool,
}

/// A session as others need it.
struct Session {
    parent: Option<String>,
    setting: Setting,
}

/// A message, as far as its parts were read.
struct Message {
    id: String,
    session: String,
    at: Option<Timestamp>,
    is_user: bool,
    /// Whether nothing comes any more.
    is_over: bool,
    is_summary: bool,
    model: Option<String>,
    parent: Option<String>,
    cwd: Option<String>,
    /// Its tokens, until a step says its own.
    usage: Option<Usage>,
    text: String,
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

/// Times in milliseconds.
#[derive(Default, Deserialize)]
struct Times {
    #[serde(default)]
    created: Option<f64>,
    #[serde(default)]
    completed: Option<f64>,
    #[serde(default)]
    start: Option<f64>,
    #[serde(default)]
    end: Option<f64>,
}

/// The tokens of a step. The input is without the cache. The output is without the reasoning, but in
/// older versions, which the total shows.
#[derive(Deserialize)]
struct Tokens {
    #[serde(default)]
    input: Option<u64>,
    #[serde(default)]
    output: Option<u64>,
    #[serde(default)]
    reasoning: Option<u64>,
    #[serde(default)]
    total: Option<u64>,
    #[serde(default)]
    cache: Option<Cache>,
}

#[derive(Default, Deserialize)]
struct Cache {
    #[serde(default)]
    read: Option<u64>,
    #[serde(default)]
    write: Option<u64>,
}

impl Tokens {
    /// The tokens with what they cost.
    fn usage(self, cost: Option<f64>) -> Usage {
        let tokens = self;
        let cache = tokens.cache.unwrap_or_default();
        let input = tokens.input.unwrap_or_default();
        let read = cache.read.unwrap_or_default();
        let write = cache.write.unwrap_or_default();
        let output = tokens.output.unwrap_or_default();
        let reasoning = tokens.reasoning.unwrap_or_default();
        let without = [read, write, output]
            .into_iter()
            .fold(input, u64::saturating_add);
        let output = match tokens.total == Some(without) {
            true => output,
            false => output.saturating_add(reasoning),
        };
        let has = |count: Option<u64>| u64::from(count.is_some());
        let usage = Usage::of([input, read, write, output].map(Some));
        Usage {
            fields: [
                has(tokens.input),
                has(cache.read),
                has(cache.write),
                has(tokens.output),
                has(tokens.reasoning),
                0,
                u64::from(cost.is_some()),
            ],
            ..usage.with_reasoning(tokens.reasoning).with_cost(cost)
        }
    }
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

impl Sessions {
    /// Nothing was read yet; `is_ended` says that nothing is written any more.
    pub(super) fn new(is_ended: bool) -> Sessions {
        Sessions {
            is_ended,
            ..Sessions::default()
        }
    }

    /// What a row says.
    pub(super) fn row(&mut self, row: Row) -> Result<Vec<Read>, BadLine> {
        let id = row.cell("id").unwrap_or_default().to_owned();
        let at = row.cell("time_created").and_then(|time| time.parse().ok());
        let at = at.and_then(at_millis);
        match row.table {
            "session" => Ok(vec![self.session(id, &row, at)]),
            "message" => {
                let mut message = message(id, &row, at)?;
                message.is_over |= self.is_ended;
                let mut reads = self.end();
                reads.push(self.begun(&message));
                self.message = Some(message);
                Ok(reads)
            }
            _ => self.part(&id, &row, at),
        }
    }

    /// What was held of the newest message.
    pub(super) fn end(&mut self) -> Vec<Read> {
        let Some(mut message) = self.message.take() else {
            return Vec::new();
        };
        let mut reads = self.asked(&mut message);
        // The program writes them again and again until the message is over.
        let usage = message.usage.filter(|_| message.is_over);
        let usage = usage.filter(|usage| usage.totals != [0; COUNTS]);
        if let Some(usage) = usage {
            let name = format!("{}/{}/tokens", message.session, message.id);
            reads.push(self.tokens(&message, name, usage, None));
        }
        if let Some(error) = message.error.take() {
            reads.push(self.failed(&message, &error));
        }
        reads
    }

    /// What a person's message says, as far as its parts were read: what was typed comes first.
    fn asked(&self, message: &mut Message) -> Vec<Read> {
        let behind = std::mem::take(&mut message.behind);
        message.waiting = 0;
        let Some(typed) = message.typed.take() else {
            return behind;
        };
        let is_main = self.root(&message.session) == message.session;
        let said = Said::of(&[Some("text"), Some(&typed.text)], None);
        let entry = self.of_message(message, typed.name, Speaker::User, said);
        let what = What::Prompt {
            // The words that a sub-agent is given are another agent's.
            asked: is_main.then(|| typed.text.clone()),
            text: typed.text,
            is_summary: false,
        };
        let prompt = Read::Entry(Box::new(Entry {
            at: typed.at.or(message.at),
            items: vec![Item::new(1, "part", typed.sources, what)],
            ..entry
        }));
        let mut reads = vec![prompt];
        reads.extend(behind);
        reads
    }

    fn session(&mut self, id: String, row: &Row, at: Option<Timestamp>) -> Read {
        let text = |name: &str| {
            let text = row.cell(name).filter(|text| !text.trim().is_empty());
            text.map(str::to_owned)
        };
        let setting = Setting {
            cwd: text("directory"),
            git_branch: None,
            version: text("version"),
            continues: None,
        };
        let parent = text("parent_id");
        self.sessions
            .insert(id.clone(), Session { parent, setting });
        let cells = row.cells.iter();
        let cells = cells.map(|(name, cell)| ((*name).to_owned(), cell.as_str().into()));
        let all: serde_json::Map<String, serde_json::Value> = cells.collect();
        let all = serde_json::Value::Object(all).to_string();
        let said = Said::of(&[Some("session"), Some(&id)], None);
        let title = text("title").filter(|title| !title.starts_with(NO_TITLE));
        let entry = Entry {
            text: all,
            table: fields::SESSION,
            at,
            items: title.map(titled).into_iter().collect(),
            ..self.entry(&id, format!("{id}/session"), Speaker::Program, said)
        };
        Read::Entry(Box::new(entry))
    }

    /// The first session of a line of parents.
    fn root(&self, id: &str) -> String {
        let mut root = id;
        for _ in 0..GENERATIONS {
            let found = self.sessions.get(root);
            match found.and_then(|session| session.parent.as_deref()) {
                Some(parent) if parent != id => root = parent,
                _ => break,
            }
        }
        root.to_owned()
    }

    /// An entry of a session without anything in it.
    fn entry(&self, session: &str, name: String, speaker: Speaker, said: Said) -> Entry {
        let root = self.root(session);
        let setting = self.sessions.get(session).map(|found| &found.setting);
        Entry {
            course: match root == session {
                true => Course::Main,
                false => Course::Side(session.to_owned()),
            },
            session: Some(root).filter(|root| !root.trim().is_empty()),
            setting: Some(setting.cloned().unwrap_or_default()),
            ..Entry::new("{}".to_owned(), fields::ELSEWHERE, name, speaker, said)
        }
    }

    /// The entry of a part of a message.
    fn of_message(&self, message: &Message, name: String, speaker: Speaker, said: Said) -> Entry {
        let entry = self.entry(&message.session, name, speaker, said);
        let setting = entry.setting.unwrap_or_default();
        let setting = Setting {
            cwd: message.cwd.clone().or(setting.cwd),
            ..setting
        };
        Entry {
            at: message.at,
            message: Some(format!("{}/{}", message.session, message.id)),
            model: message.model.clone(),
            parent: message
                .parent
                .as_ref()
                .map(|parent| format!("{}/{parent}", message.session)),
            setting: Some(setting),
            ..entry
        }
    }

    /// The fields of a message, which are counted once. Its parts have what it says.
    fn begun(&self, message: &Message) -> Read {
        let name = format!("{}/{}", message.session, message.id);
        let said = Said::of(&[Some("message"), Some(&name)], None);
        let entry = Entry {
            text: message.text.clone(),
            table: fields::MESSAGE,
            ..self.of_message(message, name, Speaker::Program, said)
        };
        Read::Entry(Box::new(entry))
    }

    /// The tokens of a step, or of a message without steps, whose fields are counted already.
    fn tokens(&self, message: &Message, name: String, usage: Usage, step: Option<&str>) -> Read {
        let totals = format!("{:?}", usage.tokens());
        let said = Said::of(&[Some("tokens"), Some(&totals)], None);
        // The tokens of a message without steps may be others in a later copy.
        let entry = self.of_message(message, format!("{name}/{totals}"), Speaker::Model, said);
        Read::Entry(Box::new(Entry {
            message: Some(name),
            usage: Some(usage),
            text: step.unwrap_or("{}").to_owned(),
            table: match step {
                Some(_) => fields::USAGE,
                None => fields::ELSEWHERE,
            },
            ..entry
        }))
    }

    /// Why a message ended early.
    fn failed(&self, message: &Message, error: &RawValue) -> Read {
        #[derive(Deserialize)]
        struct Failure {
            #[serde(default)]
            name: Option<String>,
            #[serde(default)]
            data: Option<FailureData>,
        }
        #[derive(Deserialize)]
        struct FailureData {
            #[serde(default)]
            message: Option<String>,
        }
        let read: Option<Failure> = serde_json::from_str(error.get()).ok();
        let name = read.as_ref().and_then(|failure| failure.name.clone());
        let detail = read.and_then(|failure| failure.data?.message);
        let texts: Vec<String> = [name.clone(), detail].into_iter().flatten().collect();
        let text = match texts.is_empty() {
            true => error.get().to_owned(),
            false => texts.join(": "),
        };
        let said = Said::of(&[Some("error"), Some(error.get())], None);
        let what = What::Said {
            kind: FrameKind::SystemState,
            text,
            compaction: None,
        };
        let entry = self.of_message(
            message,
            format!("{}/{}/error", message.session, message.id),
            Speaker::Program,
            said,
        );
        Read::Entry(Box::new(Entry {
            subtype: name.or_else(|| Some("error".to_owned())),
            items: vec![Item::new(0, "error", Vec::new(), what)],
            ..entry
        }))
    }

    /// What a part of a message says.
    fn part(&mut self, id: &str, row: &Row, at: Option<Timestamp>) -> Result<Vec<Read>, BadLine> {
        let raw = data(row)?;
        let read: PartData = BadLine::within("part.data", &raw)?;
        let mut reads = Vec::new();
        let of = row.cell("message_id").unwrap_or_default();
        let session = row.cell("session_id").unwrap_or_default();
        let is_of = |message: &Message| message.id == of && message.session == session;
        if !self.message.as_ref().is_some_and(is_of) {
            reads = self.end();
        }
        // Its message may be one that cannot be read, or is not there.
        let message = self.message.take();
        let mut message = message.unwrap_or_else(|| without_message(of, row, at));
        let times = read.time.as_ref();
        let began = times.and_then(|times| times.start).and_then(at_millis);
        let part = Part {
            name: format!("{}/{id}", message.session),
            at: began.or(at),
            data: read,
            raw,
        };
        match message.is_user {
            true => reads.extend(self.of_person(&mut message, part)),
            false => reads.extend(self.of_model(&mut message, part)),
        }
        self.message = Some(message);
        Ok(reads)
    }

    /// A part of what a person wrote, or what the program added to it. They wait until the message is
    /// over, or are too many.
    fn of_person(&self, message: &mut Message, part: Part) -> Vec<Read> {
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
            let entry = self.of_message(message, part.name, Speaker::User, said);
            message.behind.push(Read::Entry(Box::new(Entry {
                at: part.at.or(message.at),
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
    fn of_model(&self, message: &mut Message, part: Part) -> Vec<Read> {
        let kind = part
            .data
            .kind
            .clone()
            .unwrap_or_else(|| "(none)".to_owned());
        let text = part.data.text.clone().unwrap_or_default();
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
                    Some(usage) => vec![self.tokens(message, name, usage, Some(part.raw.get()))],
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
        let entry = self.of_message(message, part.name, speaker, said);
        vec![Read::Entry(Box::new(Entry {
            at: part.at.or(message.at),
            items: vec![Item::new(1, "part", sources, what)],
            ..entry
        }))]
    }

    /// A tool call, and its result if there is one.
    fn call(&self, message: &Message, part: Part) -> Vec<Read> {
        let Part {
            name,
            data,
            raw,
            at,
            ..
        } = part;
        let Some(state) = data.state else {
            return vec![skipped("tool without a state", &raw)];
        };
        let status = state.status.as_deref();
        // A pending call may still be incomplete.
        if status == Some("pending") && !message.is_over {
            return vec![skipped("call that is still written", &raw)];
        }
        let id = format!("{name}/{}", data.call_id.unwrap_or_default());
        let times = state.time.unwrap_or_default();
        let tool = data.tool.unwrap_or_default();
        let input = state.input.as_deref().map(RawValue::get);
        let said = Said::of(&[Some("tool"), Some(&tool), input], None);
        let entry = self.of_message(message, name.clone(), Speaker::Model, said);
        let what = What::ToolCall {
            id: id.clone(),
            name: tool,
            input: state.input,
            input_path: "state.input",
        };
        let sources = vec![source("", raw, fields::TOOL)];
        let call = Entry {
            at: times.start.and_then(at_millis).or(at).or(message.at),
            items: vec![Item::new(1, "part", sources, what)],
            ..entry
        };
        let is_over = matches!(status, Some("completed" | "error"));
        let mut reads = vec![Read::Entry(Box::new(call))];
        if !is_over {
            return reads;
        }
        let is_error = status == Some("error");
        let content = match is_error {
            true => state.error.or(state.output),
            false => state.output,
        };
        let content_said = content.as_deref().map(RawValue::get);
        let said = Said::of(&[Some("result"), status, content_said], None);
        let entry = self.of_message(message, format!("{name}/result"), Speaker::User, said);
        let what = What::ToolResult {
            call: id,
            content,
            is_error,
            content_path: "state.output",
            error_path: "state.status",
        };
        let duration = times.start.zip(times.end);
        let duration = duration.map(|(start, end)| (end - start).max(0.0).round() as u64);
        reads.push(Read::Entry(Box::new(Entry {
            at: times.end.and_then(at_millis).or(at).or(message.at),
            items: vec![Item::new(1, "state.output", Vec::new(), what)],
            details: state.metadata.map(|raw| Details {
                path: "state.metadata",
                raw,
                table: NOTHING,
                edit_table: fields::EDIT,
                duration_ms: duration,
            }),
            ..entry
        })));
        reads
    }
}

fn message(id: String, row: &Row, at: Option<Timestamp>) -> Result<Message, BadLine> {
    let raw = data(row)?;
    let read: MessageData = BadLine::within("message.data", &raw)?;
    let times = read.time.unwrap_or_default();
    let is_user = read.role.as_deref() == Some("user");
    // The model of a person's message is the one that is to answer.
    let model = match (read.provider_id, read.model_id) {
        (Some(provider), Some(model)) => Some(format!("{provider}/{model}")),
        (_, model) => model,
    };
    Ok(Message {
        session: row.cell("session_id").unwrap_or_default().to_owned(),
        id,
        at: times.created.and_then(at_millis).or(at),
        is_over: times.completed.is_some() || read.error.is_some(),
        is_summary: !is_user && read.summary.as_deref().map(RawValue::get) == Some("true"),
        model: model.filter(|_| !is_user),
        parent: read.parent_id,
        cwd: read.path.and_then(|path| path.cwd),
        usage: read
            .tokens
            .filter(|_| !is_user)
            .map(|tokens| tokens.usage(read.cost)),
        error: read.error,
        text: raw.get().to_owned(),
        is_user,
        typed: None,
        behind: Vec::new(),
        waiting: 0,
    })
}

/// What stands for a message that cannot be read: that of a model, as nothing says that a person
/// wrote it.
fn without_message(id: &str, row: &Row, at: Option<Timestamp>) -> Message {
    Message {
        id: id.to_owned(),
        session: row.cell("session_id").unwrap_or_default().to_owned(),
        at,
        is_user: false,
        is_over: true,
        is_summary: false,
        model: None,
        parent: None,
        cwd: None,
        usage: None,
        text: "{}".to_owned(),
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

/// A part that has no place of its own.
fn whole(kind: &str, raw: Box<RawValue>) -> (What, Vec<Source>) {
    let kind = match kind.trim() {
        "" => "(none)",
        kind => texts::beginning(kind, 100),
    };
    let part = texts::part(Some(&raw));
    let table = match part {
        Some(_) => fields::WHOLE,
        None => NOTHING,
    };
    let what = What::Whole {
        kind: FrameKind::Other(kind.to_owned()),
        summary: kind.to_owned(),
        part,
    };
    (what, vec![source(fields::WHOLE_PATH, raw, table)])
}

fn skipped(kind: &str, raw: &RawValue) -> Read {
    Read::Skipped {
        kind: kind.to_owned(),
        text: raw.get().to_owned(),
    }
}

fn source(path: &'static str, raw: Box<RawValue>, table: Table) -> Source {
    let raw = Some(raw);
    Source { path, raw, table }
}

/// The JSON of a row.
fn data(row: &Row) -> Result<Box<RawValue>, BadLine> {
    let text = row.cell("data").unwrap_or("null");
    if !text.trim_start().starts_with('{') {
        serde_json::from_str::<serde::de::IgnoredAny>(text)?;
        return Err(BadLine::NotAnObject);
    }
    Ok(serde_json::from_str(text)?)
}
