//! Messages and updates of a session of Gemini CLI, and the entries that they are.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use annals_event_log::{Digest, IdSecret};
use lru::LruCache;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use super::tools::{asked, is_summary};
use super::{fields, ids};
use crate::import::bad_line::BadLine;
use crate::import::document::Document;
use crate::import::fields::{NOTHING, Table};
use crate::import::format::Numbered;
use crate::import::format::time;
use crate::transcript::item::{
    Course, Details, Entry, Item, Read, Said, Source, Speaker, SubAgent, Usage, What,
};
use crate::transcript::texts;

/// So many messages and calls of a file are remembered, to know what of a message is new.
pub(super) const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(65_535);

/// A session, as far as its file was read.
pub(super) struct Session {
    id: Option<String>,
    /// Whether it is a sub-agent's.
    is_side: bool,
    /// The session that it is a sub-agent of, by the folder of its file.
    above: Option<String>,
    /// The sub-agent that called it.
    caller: Option<String>,
    /// What of its messages was read.
    known: LruCache<String, ()>,
}

impl Default for Session {
    fn default() -> Session {
        Session {
            id: None,
            is_side: false,
            above: None,
            caller: None,
            known: LruCache::new(REMEMBERED),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    #[serde(default)]
    id: Option<String>,
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    /// What the person typed, where the content has more than that.
    #[serde(default)]
    display_content: Option<Box<RawValue>>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    thoughts: Option<Vec<Box<RawValue>>>,
    #[serde(default)]
    tokens: Option<Tokens>,
    #[serde(default)]
    tool_calls: Option<Vec<Box<RawValue>>>,
}

/// The tokens of a message: `input` has those of the cache, and not what tools put into the prompt;
/// `output` does not have the thoughts.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Tokens {
    #[serde(default)]
    input: Option<u64>,
    #[serde(default)]
    cached: Option<u64>,
    #[serde(default)]
    output: Option<u64>,
    #[serde(default)]
    thoughts: Option<u64>,
    #[serde(default)]
    tool: Option<u64>,
}

impl From<Tokens> for Usage {
    fn from(tokens: Tokens) -> Usage {
        let cached = tokens.cached.unwrap_or_default();
        let input = tokens.input.unwrap_or_default();
        let tool = tokens.tool.unwrap_or_default();
        let thoughts = tokens.thoughts.unwrap_or_default();
        let output = tokens.output.unwrap_or_default();
        let uncached = input.saturating_sub(cached).saturating_add(tool);
        let has = |count: Option<u64>| u64::from(count.is_some());
        let [input, read, output_field] = [tokens.input, tokens.cached, tokens.output].map(has);
        let written = output.saturating_add(thoughts);
        let counts = [uncached, cached, 0, written].map(Some);
        Usage {
            fields: [input, read, 0, output_field, has(tokens.thoughts), 0, 0, 0],
            ..Usage::of(counts).with_reasoning(tokens.thoughts)
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolCall {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    args: Option<Box<RawValue>>,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    result_display: Option<Box<RawValue>>,
}

impl ToolCall {
    /// Whether its tool has ended, well or not.
    fn is_over(&self) -> bool {
        let status = self.status.as_deref();
        self.result.is_some() || matches!(status, Some("success" | "error" | "cancelled"))
    }
}

/// A message and its place, as far as that is known.
struct Placed<'a> {
    raw: &'a str,
    /// Its name, the same in all files that have it.
    name: String,
    message: Message,
    at: Option<Timestamp>,
    speaker: Speaker,
}

impl Session {
    /// A session whose file lies in the folder of another one; where that is a sub-agent's, with the sub-agent's session.
    pub(super) fn in_folder(folder: Option<String>, session: Option<String>) -> Session {
        let (above, caller) = match session {
            Some(session) => (Some(session), folder),
            None => (folder, None),
        };
        Session {
            above,
            caller,
            ..Session::default()
        }
    }

    /// The name of the sub-agent that it is, and the session.
    pub(super) fn sub_agent(&self) -> Option<(&str, &str)> {
        let (id, above) = (self.id.as_deref()?, self.above.as_deref()?);
        (self.is_side && id != above).then_some((id, above))
    }

    /// What a line says.
    pub(super) fn line(
        &mut self,
        line: &str,
        names: Option<&IdSecret>,
    ) -> Result<Vec<Read>, BadLine> {
        #[derive(Deserialize)]
        struct Head {
            #[serde(default)]
            id: Option<String>,
            #[serde(default, rename = "type")]
            kind: Option<String>,
            #[serde(default, rename = "sessionId")]
            session_id: Option<String>,
            #[serde(default, rename = "$set")]
            set: Option<Box<RawValue>>,
            #[serde(default, rename = "$rewindTo")]
            rewind_to: Option<String>,
        }
        // serde would read a list as an object's fields in their order.
        if !line.trim_start().starts_with('{') {
            serde_json::from_str::<serde::de::IgnoredAny>(line)?;
            return Err(BadLine::NotAnObject);
        }
        let head: Head = serde_json::from_str(line)?;
        let unknown = || Read::Unknown {
            kind: "(none)".to_owned(),
            text: line.to_owned(),
        };
        Ok(match head {
            Head {
                rewind_to: Some(_), ..
            } => vec![self.kept(line, "rewind", None, names)],
            Head { id: Some(_), .. } | Head { kind: Some(_), .. } => self.message(line, names)?,
            Head { set: Some(set), .. } => self.update(&set, names)?,
            Head {
                session_id: Some(_),
                ..
            } => self.metadata(&Document::read(line, "messages"), names),
            _ => vec![unknown()],
        })
    }

    /// What a document of all messages says.
    pub(super) fn document(
        &mut self,
        text: &str,
        names: Option<&IdSecret>,
    ) -> Result<Vec<Numbered>, BadLine> {
        let document = Document::read(text, "messages");
        // Names follow from the session's, which may come after the messages.
        let is_named = document.field::<String>("sessionId").is_some();
        let bad = match document.bad {
            Some(bad) if !is_named => return Err(bad.into()),
            ref bad => bad,
        };
        let metadata = self.metadata(&document, names);
        let mut reads: Vec<Numbered> = metadata.into_iter().map(|read| (1, Ok(read))).collect();
        let mut number = 0;
        for message in &document.list {
            number += 1;
            match self.message(message.get(), names) {
                Ok(read) => reads.extend(read.into_iter().map(|read| (number, Ok(read)))),
                Err(bad) => reads.push((number, Err(bad))),
            }
        }
        let bad = bad.as_ref().map(|bad| BadLine::Document(bad.to_string()));
        reads.extend(bad.map(|bad| (number + 1, Err(bad))));
        Ok(reads)
    }

    /// An update: what the session says of itself, or all messages of a history that was made shorter.
    fn update(&mut self, set: &RawValue, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        let document = Document::read(set.get(), "messages");
        if let Some(bad) = document.bad {
            return Err(bad.into());
        }
        let mut reads = self.metadata(&document, names);
        if document.has_list {
            reads.push(self.history(&document.list, names));
            for message in &document.list {
                let read = self.message_of_history(message.get(), names)?;
                reads.extend(read);
            }
        }
        Ok(reads)
    }

    /// That the history was replaced.
    fn history(&self, messages: &[&RawValue], names: Option<&IdSecret>) -> Read {
        let all: Vec<&str> = messages.iter().map(|message| message.get()).collect();
        let all = serde_json::json!(["history", self.id, all]).to_string();
        let what = What::Said {
            kind: FrameKind::Checkpoint,
            text: format!("The history was replaced by {} messages", messages.len()),
            compaction: None,
        };
        self.program(
            ids().anonymous(all.as_bytes(), names),
            "history",
            None,
            what,
        )
    }

    /// A message of a replaced history: those that were read before may be cut or masked there, and
    /// are in the log as they were.
    fn message_of_history(
        &mut self,
        raw: &str,
        names: Option<&IdSecret>,
    ) -> Result<Vec<Read>, BadLine> {
        let placed = self.placed(raw, names)?;
        if !self.known.contains(&placed.name) {
            return self.message(raw, names);
        }
        // What a message cost may be in the history alone.
        let usage = placed.message.tokens.map(Usage::from);
        let usage = usage.filter(|_| !self.known.contains(&counted(&placed.name)));
        let Some(usage) = usage else {
            return Ok(Vec::new());
        };
        self.known.put(counted(&placed.name), ());
        Ok(vec![self.tokens_of(&placed, usage)])
    }

    /// What the session says of itself. Each field is kept by itself, as it may change.
    fn metadata(&mut self, document: &Document<'_>, names: Option<&IdSecret>) -> Vec<Read> {
        let has_text = |id: &String| !id.trim().is_empty();
        let id = document.field::<String>("sessionId").filter(has_text);
        let is_first = self.id.is_none();
        self.id = self.id.take().or(id);
        let kind = document.field::<String>("kind");
        let was_side = self.is_side;
        self.is_side |= match kind.as_deref() {
            Some(kind) => kind == "subagent",
            None => is_first && self.above.is_some() && self.above != self.id,
        };
        let (mut first, mut others) = (BTreeMap::new(), Vec::new());
        for (name, value) in &document.fields {
            match name.as_str() {
                "projectHash" | "startTime" | "kind" => {
                    first.insert(name.as_str(), *value);
                }
                "sessionId" | "lastUpdated" => {}
                other => others.push(BTreeMap::from([(other, *value)])),
            }
        }
        let at = document.field::<String>("startTime");
        let at = at.as_deref().and_then(time);
        let mut reads = Vec::new();
        if let (false, Some((id, above)), Some(caller)) = (was_side, self.sub_agent(), &self.caller)
        {
            reads.push(Read::SubAgent(SubAgent {
                session: Some(above.to_owned()),
                name: id.to_owned(),
                call: None,
                parent: Some(caller.clone()),
            }));
        }
        for fields in [first].into_iter().chain(others) {
            let Some((name, _)) = fields.first_key_value() else {
                continue;
            };
            let kind = match fields.len() {
                1 if *name != "projectHash" => (*name).to_owned(),
                _ => "session".to_owned(),
            };
            if let Ok(text) = serde_json::to_string(&fields) {
                reads.push(self.kept(&text, &kind, at, names));
            }
        }
        if !reads.iter().any(|read| matches!(read, Read::Entry(_))) {
            let text = document.fields.iter().map(|(name, value)| (name, value));
            let text = serde_json::to_string(&text.collect::<BTreeMap<_, _>>());
            reads.push(Read::Skipped {
                kind: "update of the time".to_owned(),
                text: text.unwrap_or_default(),
            });
        }
        reads
    }

    /// A part of the session that is kept as it is, under a name that follows from it.
    fn kept(
        &self,
        text: &str,
        kind: &str,
        at: Option<Timestamp>,
        names: Option<&IdSecret>,
    ) -> Read {
        let named = serde_json::json!([kind, self.id, text]).to_string();
        let name = ids().anonymous(named.as_bytes(), names);
        let raw = RawValue::from_string(text.to_owned()).ok();
        let what = What::Whole {
            kind: FrameKind::Other(texts::kind_name(kind)),
            summary: texts::kind_name(kind),
            part: texts::part(raw.as_deref()),
        };
        self.program(name, kind, at, what)
            .counted(text, fields::METADATA)
    }

    /// What the program says that is not a message.
    fn program(&self, name: String, subtype: &str, at: Option<Timestamp>, what: What) -> Read {
        let said = Said::of(&[Some(subtype), Some(&name)], None);
        let item = Item::new(0, "(the session)", Vec::new(), what);
        let entry = Entry {
            subtype: Some(subtype.to_owned()),
            at,
            ..self.entry(name, Speaker::Program, vec![item], said)
        };
        Read::Entry(Box::new(entry))
    }

    fn entry(&self, name: String, speaker: Speaker, items: Vec<Item>, said: Said) -> Entry {
        let course = match &self.id {
            Some(id) if self.is_side => Course::Side(id.clone()),
            _ => Course::Main,
        };
        // Versions that did not look at the folder recorded a sub-agent as a part of itself.
        let (session, older_session) = match self.sub_agent() {
            Some((_, above)) => (Some(above.to_owned()), self.id.clone()),
            None => (self.id.clone(), None),
        };
        Entry {
            session,
            older_session,
            course,
            items,
            ..Entry::new("{}".to_owned(), fields::ELSEWHERE, name, speaker, said)
        }
    }

    /// A name of something that may be called the same in another session.
    fn within(&self, name: &str) -> String {
        match &self.id {
            Some(session) => format!("{session}/{name}"),
            None => name.to_owned(),
        }
    }

    fn placed<'a>(&self, raw: &'a str, names: Option<&IdSecret>) -> Result<Placed<'a>, BadLine> {
        if !raw.trim_start().starts_with('{') {
            return Err(BadLine::NotAnObject);
        }
        let message: Message = serde_json::from_str(raw)?;
        let id = message.id.as_deref().filter(|id| !id.trim().is_empty());
        Ok(Placed {
            raw,
            name: match id {
                Some(id) => self.within(id),
                None => self.within(&ids().anonymous(raw.as_bytes(), names)),
            },
            at: message.timestamp.as_deref().and_then(time),
            speaker: match message.kind.as_deref() {
                Some("user") => Speaker::User,
                Some("gemini") => Speaker::Model,
                _ => Speaker::Program,
            },
            message,
        })
    }

    /// What a message says that was not read before: what was said with its calls and tokens, or
    /// only the calls and tokens that are new, and the results.
    fn message(&mut self, raw: &str, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        let placed = self.placed(raw, names)?;
        let (mut calls, mut results) = (Vec::new(), Vec::new());
        for (index, call) in placed.message.tool_calls.iter().flatten().enumerate() {
            let read: ToolCall = BadLine::within("toolCalls[]", call)?;
            let id = read.id.as_deref().filter(|id| !id.trim().is_empty());
            let id = match (id, &self.id) {
                (Some(id), Some(session)) => format!("{session}/{id}"),
                (Some(id), None) => format!("{}/{id}", placed.name),
                (None, _) => format!("{}/{index}", placed.name),
            };
            let args = read.args.as_deref().map_or("", RawValue::get);
            let version = format!("{id}\u{1f}{}", Digest::of(args.as_bytes()));
            if self.known.put(version.clone(), ()).is_none() {
                calls.push((version, call_item(index, &id, call, &read)));
            }
            if read.is_over() {
                results.push(self.result(&placed, &id, read));
            }
        }
        let usage = placed.message.tokens.map(Usage::from);
        let is_new = self.known.put(placed.name.clone(), ()).is_none();
        let version = usage.map(|usage| format!("{}\u{1f}{:?}", placed.name, usage.tokens()));
        let is_counted = version.is_some_and(|it| self.known.put(it, ()).is_some());
        if usage.is_some() {
            self.known.put(counted(&placed.name), ());
        }
        let mut said = self.said(&placed)?;
        let mut reads = Vec::new();
        if is_new {
            said.items.extend(calls.into_iter().map(|(_, item)| item));
            said.usage = usage;
            reads.push(Read::Entry(Box::new(said)));
        } else {
            reads.push(Read::Entry(Box::new(said)));
            reads.extend(calls.into_iter().map(|(version, item)| {
                let said = Said::of(&[Some("call"), Some(&version)], None);
                self.more(
                    &placed,
                    format!("{version}\u{1f}call"),
                    Some(item),
                    None,
                    said,
                )
            }));
            if let Some(usage) = usage.filter(|_| !is_counted) {
                reads.push(self.tokens_of(&placed, usage));
            }
        }
        reads.extend(results);
        Ok(reads)
    }

    /// The tokens of a message whose text was read before.
    fn tokens_of(&self, placed: &Placed<'_>, usage: Usage) -> Read {
        let totals = format!("{:?}", usage.tokens());
        let said = Said::of(&[Some("tokens"), Some(&totals)], None);
        let name = format!("{}\u{1f}{totals}", placed.name);
        self.more(placed, name, None, Some(usage), said)
    }

    /// What is recorded of a message later than its text.
    fn more(
        &self,
        placed: &Placed<'_>,
        name: String,
        item: Option<Item>,
        usage: Option<Usage>,
        said: Said,
    ) -> Read {
        let items = item.into_iter().collect();
        Read::Entry(Box::new(Entry {
            at: placed.at,
            message: Some(placed.name.clone()),
            model: placed.message.model.clone(),
            usage,
            ..self.entry(name, Speaker::Model, items, said)
        }))
    }

    /// What a message says, without its calls and tokens.
    fn said(&self, placed: &Placed<'_>) -> Result<Entry, BadLine> {
        let message = &placed.message;
        let content = message.content.as_deref();
        let items = match message.kind.as_deref() {
            Some("user") => self.user(message)?,
            Some("gemini") => model(message)?,
            Some("info" | "error" | "warning") => program(message),
            kind => vec![whole(placed.raw, kind.unwrap_or("(none)"))],
        };
        let mut parts = vec![message.kind.as_deref(), content.map(RawValue::get)];
        let thoughts = message.thoughts.iter().flatten();
        parts.extend(thoughts.map(|thought| Some(thought.get())));
        let is_whole = matches!(items.as_slice(), [item] if item.path == fields::WHOLE_PATH);
        if is_whole {
            parts.push(Some(placed.raw));
        }
        let entry = self.entry(
            placed.name.clone(),
            placed.speaker,
            items,
            Said::of(&parts, None),
        );
        let entry = Entry {
            at: placed.at,
            model: message.model.clone(),
            subtype: match placed.speaker {
                Speaker::Program => message.kind.clone(),
                _ => None,
            },
            ..entry
        };
        Ok(match is_whole {
            true => entry,
            false => Entry {
                text: placed.raw.to_owned(),
                table: fields::MESSAGE,
                ..entry
            },
        })
    }

    /// The texts of a user's message as one, and its other parts.
    fn user(&self, message: &Message) -> Result<Vec<Item>, BadLine> {
        let (mut texts, mut sources, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for (index, (path, part)) in parts(message.content.as_deref())?.into_iter().enumerate() {
            match part {
                Part::Text(text, raw) => {
                    texts.push(text);
                    sources.push(source(path, raw, fields::TEXT));
                }
                Part::Other(raw) => others.push(other(index, path, raw)),
            }
        }
        let text = texts.join("\n");
        let mut items = Vec::new();
        if !text.trim().is_empty() {
            let shown = parts(message.display_content.as_deref())?.into_iter();
            let shown = shown.filter_map(|(_, part)| match part {
                Part::Text(text, _) => Some(text),
                Part::Other(_) => None,
            });
            let shown = shown.collect::<Vec<_>>().join("\n");
            let typed = match shown.trim().is_empty() || asked(&text).is_none() {
                true => asked(&text),
                false => Some(shown.as_str()),
            };
            let what = What::Prompt {
                asked: typed.filter(|_| !self.is_side).map(str::to_owned),
                is_summary: is_summary(&text),
                text,
            };
            items.push(Item::new(0, "content", sources, what));
        }
        items.append(&mut others);
        Ok(items)
    }

    /// What came back from a tool.
    fn result(&self, placed: &Placed<'_>, id: &str, call: ToolCall) -> Read {
        let answer = call.result.as_deref().and_then(Answer::of);
        let failed = matches!(call.status.as_deref(), Some("error" | "cancelled"));
        let is_of_shell = call.name.as_deref() == Some(SHELL);
        let is_error = failed
            || answer
                .as_ref()
                .is_some_and(|it| it.is_error || is_of_shell && it.exits_badly);
        let (content, table) = match answer {
            Some(answer) => (Some(answer.said), fields::OUTPUT),
            None => (call.result.clone(), fields::RESULT),
        };
        let sources = call.result.map(|result| Source {
            path: "toolCalls[].result",
            raw: Some(result),
            table,
        });
        let said = Said::of(
            &[
                Some("result"),
                call.status.as_deref(),
                content.as_deref().map(RawValue::get),
            ],
            call.result_display.as_deref(),
        );
        let what = What::ToolResult {
            call: id.to_owned(),
            content,
            is_error,
            content_path: "toolCalls[].result",
            error_path: "toolCalls[].status",
        };
        let item = Item::new(1, "toolCalls[].result", sources.into_iter().collect(), what);
        let at = call.timestamp.as_deref().and_then(time);
        Read::Entry(Box::new(Entry {
            at: at.or(placed.at),
            message: Some(placed.name.clone()),
            details: call.result_display.map(|raw| Details {
                path: "toolCalls[].resultDisplay",
                raw,
                table: NOTHING,
                edit_table: fields::EDIT,
                duration_ms: None,
            }),
            ..self.entry(format!("{id}\u{1f}result"), Speaker::User, vec![item], said)
        }))
    }
}

/// What is remembered of a message whose tokens were read.
fn counted(name: &str) -> String {
    format!("{name}\u{1f}tokens")
}

impl Read {
    /// Its fields are counted by a table.
    fn counted(self, text: &str, table: Table) -> Read {
        match self {
            Read::Entry(entry) => Read::Entry(Box::new(Entry {
                text: text.to_owned(),
                table,
                ..*entry
            })),
            other => other,
        }
    }
}

/// What the model saw of a tool's result, if that is one text.
struct Answer {
    said: Box<RawValue>,
    is_error: bool,
    /// Whether the last line that has a command's exit code has another one than 0.
    exits_badly: bool,
}

/// The tool that runs commands.
const SHELL: &str = "run_shell_command";
/// Begins the line of a command's answer that has its exit code.
const EXIT_CODE: &str = "Exit Code: ";

/// What may follow that line.
const BEHIND: [&str; 4] = [
    "Signal: ",
    "Background PIDs: ",
    "Process Group PGID: ",
    "</untrusted_context>",
];

/// Returns `true` if the answer of a command says that it ended with another exit code than 0.
fn exits_badly(output: &str) -> bool {
    // Only what the program adds may follow: what a command printed may look the same.
    let is_added =
        |line: &&str| line.trim().is_empty() || BEHIND.iter().any(|it| line.starts_with(it));
    let mut lines = output.lines().rev().skip_while(is_added);
    let code = lines.next().and_then(|line| line.strip_prefix(EXIT_CODE));
    code.and_then(|code| code.trim().parse().ok())
        .is_some_and(|code: i64| code != 0)
}

impl Answer {
    fn of(result: &RawValue) -> Option<Answer> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct RawPart {
            function_response: Function,
        }
        #[derive(Deserialize)]
        struct Function {
            response: Response,
        }
        #[derive(Deserialize)]
        struct Response {
            #[serde(default)]
            output: Option<String>,
            #[serde(default)]
            error: Option<String>,
        }
        let [part]: [RawPart; 1] = serde_json::from_str(result.get()).ok()?;
        let Response { output, error } = part.function_response.response;
        let is_error = error.is_some();
        let exits_badly = output.as_deref().is_some_and(exits_badly);
        Some(Answer {
            exits_badly,
            said: to_raw_value(&output.or(error)?).ok()?,
            is_error,
        })
    }
}

/// A part of a message's content.
enum Part {
    Text(String, Option<Box<RawValue>>),
    Other(Box<RawValue>),
}

/// The parts of a content, which is a text, a part or a list of them, each with its path.
fn parts(content: Option<&RawValue>) -> Result<Vec<(&'static str, Part)>, BadLine> {
    #[derive(Deserialize)]
    struct RawPart {
        text: String,
        /// A thought is not a text.
        #[serde(default)]
        thought: Option<serde::de::IgnoredAny>,
    }
    let part = |path: &'static str, raw: &RawValue| {
        let text = serde_json::from_str::<String>(raw.get());
        let part = serde_json::from_str::<RawPart>(raw.get());
        let part = match (text, part) {
            (Ok(text), _) => Part::Text(text, None),
            (
                _,
                Ok(RawPart {
                    text,
                    thought: None,
                }),
            ) if raw.get().starts_with('{') => Part::Text(text, Some(raw.to_owned())),
            _ => Part::Other(raw.to_owned()),
        };
        (path, part)
    };
    match content {
        None => Ok(Vec::new()),
        Some(content) if content.get().starts_with('[') => {
            let list: Vec<&RawValue> = BadLine::within("content", content)?;
            Ok(list.into_iter().map(|raw| part("content[]", raw)).collect())
        }
        Some(content) => Ok(vec![part("content", content)]),
    }
}

/// Thoughts first, then the texts.
fn model(message: &Message) -> Result<Vec<Item>, BadLine> {
    #[derive(Deserialize)]
    struct Thought {
        #[serde(default)]
        subject: Option<String>,
        #[serde(default)]
        description: Option<String>,
    }
    let mut items = Vec::new();
    for (index, raw) in message.thoughts.iter().flatten().enumerate() {
        let thought: Thought = BadLine::within("thoughts[]", raw)?;
        let texts = [thought.subject, thought.description].into_iter().flatten();
        let has_text = |text: &String| !text.trim().is_empty();
        let text = texts.filter(has_text).collect::<Vec<_>>().join("\n");
        let sources = vec![source("thoughts[]", Some(raw.clone()), fields::THOUGHT)];
        // Thoughts have the odd frames of a message, parts of its content the even ones.
        items.push(Item::new(
            2 * index + 1,
            "thoughts[]",
            sources,
            What::Thinking(text),
        ));
    }
    for (index, (path, part)) in parts(message.content.as_deref())?.into_iter().enumerate() {
        items.push(match part {
            Part::Text(text, raw) => {
                let sources = vec![source(path, raw, fields::TEXT)];
                Item::new(2 * index, path, sources, What::Text(text))
            }
            Part::Other(raw) => Item {
                frame: 2 * index,
                ..other(index, path, raw)
            },
        });
    }
    Ok(items)
}

/// What the program says; nothing, if it says nothing.
fn program(message: &Message) -> Vec<Item> {
    let content = message.content.clone();
    let text = texts::text_of(content.as_deref());
    if text.trim().is_empty() {
        return Vec::new();
    }
    let what = What::Said {
        kind: FrameKind::SystemState,
        text,
        compaction: None,
    };
    let sources = vec![source("content", content, fields::PART)];
    vec![Item::new(0, "content", sources, what)]
}

/// A tool call.
fn call_item(index: usize, id: &str, raw: &RawValue, call: &ToolCall) -> Item {
    let sources = vec![source("toolCalls[]", Some(raw.to_owned()), fields::CALL)];
    let what = What::ToolCall {
        id: id.to_owned(),
        name: call.name.clone().unwrap_or_default(),
        input: call.args.clone(),
        input_path: "toolCalls[].args",
    };
    Item::new(index + 1, "toolCalls[]", sources, what)
}

/// A part of a message that has no place of its own, under the name of its first field.
fn other(index: usize, path: &'static str, raw: Box<RawValue>) -> Item {
    type Fields = serde_json::Map<String, serde_json::Value>;
    let read = serde_json::from_str::<Fields>(raw.get()).ok();
    let kind = read.and_then(|fields| fields.keys().next().cloned());
    let kind = texts::kind_name(kind.as_deref().unwrap_or_default());
    let part = texts::part(Some(&raw));
    let table = match part {
        Some(_) => fields::PART,
        None => NOTHING,
    };
    let what = What::Whole {
        kind: FrameKind::Other(kind.clone()),
        summary: kind,
        part,
    };
    let sources = vec![source(path, Some(raw), table)];
    Item::new(index + 1, path, sources, what)
}

/// A message of a type that is not known.
fn whole(raw: &str, kind: &str) -> Item {
    let raw = RawValue::from_string(raw.to_owned()).ok();
    let part = texts::part(raw.as_deref());
    let table = match part {
        Some(_) => fields::WHOLE,
        None => NOTHING,
    };
    let what = What::Whole {
        kind: FrameKind::Other(texts::kind_name(kind)),
        summary: texts::kind_name(kind),
        part,
    };
    let sources = vec![source(fields::WHOLE_PATH, raw, table)];
    Item::new(0, fields::WHOLE_PATH, sources, what)
}

fn source(path: &'static str, raw: Option<Box<RawValue>>, table: Table) -> Source {
    Source { path, raw, table }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_exit_code_of_a_commands_answer_counts() {
        for (output, expected) in [
            ("Output: x\nExit Code: 3\nProcess Group PGID: 7\n", true),
            ("Output: Exit Code: 3\nExit Code: 0\n", false),
            ("Exit Code: 0\nExit Code: 1", true),
            ("Exit Code: none", false),
            (
                "<untrusted_context>\nOutput: x\nExit Code: 3\nProcess Group PGID: 7\n</untrusted_context>",
                true,
            ),
            // A command printed it.
            (
                "Output: a\nExit Code: 3\nlast\nProcess Group PGID: 7",
                false,
            ),
            (
                "Output: a\nExit Code: 3\nSignal: 9\nBackground PIDs: 1, 2\nProcess Group PGID: 7",
                true,
            ),
            ("no code", false),
        ] {
            assert_eq!(exits_badly(output), expected, "{output}");
        }
    }
}
