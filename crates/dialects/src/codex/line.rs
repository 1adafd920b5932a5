//! One line of a rollout: what it is, and the items of what the model was given or said.

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use annals_domain::run::{ToolDecider, ToolVerdict};
use serde_json::value::RawValue;

use super::tools::{SUMMARY, asked};
use super::{fields, tools};
use crate::import::bad_line::BadLine;
use crate::import::fields::Table;
use crate::import::format::time;
use crate::import::members::{Members, without};
use crate::import::redacted::RedactedText;
use crate::transcript::item::{CallDecision, Details, Item, Source, Speaker, What};
use crate::transcript::texts;

/// A line as it is written.
#[derive(Debug)]
pub(super) struct Line {
    /// Its JSON; the value of its field `payload` is the payload.
    pub(super) text: String,
    pub(super) at: Option<Timestamp>,
    /// Its number in the history, which newer rollouts have.
    pub(super) ordinal: Option<u64>,
    pub(super) kind: String,
    pub(super) payload: Box<RawValue>,
}

impl Line {
    pub(super) fn read(text: RedactedText) -> Result<Line, BadLine> {
        let text = text.whole_characters().into_string();
        if !text.trim_start().starts_with('{') {
            // A text that is not JSON at all gets the more exact error.
            serde_json::from_str::<serde::de::IgnoredAny>(&text)?;
            return Err(BadLine::NotAnObject);
        }
        let members = Members::read(&text)?;
        let at = members.text("timestamp").as_deref().and_then(time);
        let ordinal = members.count("ordinal");
        let kind = members.text("type");
        if let (Some(kind), Some(payload)) = (&kind, members.raw("payload")) {
            let (kind, payload) = (kind.clone(), payload.to_owned());
            return Ok(Line {
                text,
                at,
                ordinal,
                kind,
                payload,
            });
        }
        // Old rollouts: a session, what the model was given and said, and marks of what the program did.
        let is_session = members.raw("id").is_some() && members.raw("timestamp").is_some();
        let kind = match members.text("record_type") {
            Some(kind) => kind,
            None if kind.is_some() => "response_item".to_owned(),
            None if is_session => "session_meta".to_owned(),
            None => "(none)".to_owned(),
        };
        let payload = RawValue::from_string(text.trim().to_owned())?;
        Ok(Line {
            text: format!("{{\"payload\":{}}}", payload.get()),
            at,
            ordinal,
            kind,
            payload,
        })
    }
}

/// What the model was given or said in a line.
#[derive(Debug)]
pub(super) struct Spoken {
    pub(super) table: Table,
    pub(super) speaker: Speaker,
    pub(super) items: Vec<Item>,
    pub(super) details: Option<Details>,
    /// The texts by which another line may say the same.
    pub(super) texts: Vec<String>,
    /// What is known of who let a call through whose result it has, or did not.
    pub(super) decision: Option<CallDecision>,
    /// The call of the script that made the call which it has.
    pub(super) script: Option<String>,
    /// The frame by which older versions recorded it.
    pub(super) older_frame: Option<usize>,
}

impl Spoken {
    pub(super) fn new(speaker: Speaker, table: Table, items: Vec<Item>) -> Spoken {
        Spoken {
            table,
            speaker,
            items,
            details: None,
            texts: Vec::new(),
            decision: None,
            script: None,
            older_frame: None,
        }
    }

    /// A payload that is kept as it is.
    pub(super) fn whole(kind: &str, payload: &RawValue) -> Spoken {
        let item = whole(0, "payload", payload.to_owned(), kind, fields::WHOLE);
        Spoken::new(Speaker::Program, fields::PAYLOAD, vec![item])
    }
}

/// A message of the conversation. In a sub-agent's no person asks.
pub(super) fn message(payload: &Members<'_>, is_side: bool) -> Spoken {
    let role = payload.text("role").unwrap_or_default();
    let (mut texts, mut sources, mut others) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(text) = payload.text("content") {
        texts.push(text);
        sources.push(Source::text("payload.content"));
    }
    for (index, part) in payload.list("content").into_iter().enumerate() {
        match part_text(part) {
            Some(text) if role == "assistant" => {
                let what = What::Text(text.clone());
                texts.push(text);
                others.push(Item::of(index + 1, CONTENT, Some(part), fields::TEXT, what));
            }
            Some(text) => {
                texts.push(text);
                sources.push(Source::of(CONTENT, part, fields::TEXT));
            }
            None => {
                let kind = Members::of(Some(part)).text("type").unwrap_or_default();
                others.push(whole(
                    index + 1,
                    CONTENT,
                    part.to_owned(),
                    &kind,
                    fields::PART,
                ));
            }
        }
    }
    let all = texts.join("\n");
    let own = (!all.trim().is_empty()).then_some(());
    let (speaker, table, what) = match role.as_str() {
        "assistant" => (Speaker::Model, fields::MESSAGE, alone(&sources, &all)),
        "user" => {
            let asked = texts
                .iter()
                .filter(|_| !is_side)
                .filter_map(|text| asked(text));
            let asked = asked.collect::<Vec<_>>().join("\n");
            let what = What::Prompt {
                asked: (!asked.is_empty()).then_some(asked),
                is_summary: all.trim_start().starts_with(SUMMARY),
                text: all.clone(),
            };
            (Speaker::User, fields::MESSAGE, own.map(|()| what))
        }
        _ => {
            let what = What::Said {
                kind: FrameKind::SystemState,
                text: all.clone(),
                compaction: None,
            };
            (Speaker::Program, fields::SAID, own.map(|()| what))
        }
    };
    let mut items = Vec::from_iter(what.map(|what| Item::new(0, "payload.content", sources, what)));
    items.append(&mut others);
    texts.push(all);
    Spoken {
        texts,
        ..Spoken::new(speaker, table, items)
    }
}

/// The task that another agent gives to a sub-agent; `None` for its other messages.
pub(super) fn task(payload: &Members<'_>, raw: &RawValue) -> Option<Spoken> {
    let parts = payload.list("content").into_iter();
    let texts: Vec<String> = parts.filter_map(task_text).collect();
    let text = texts.concat();
    let (head, body) = text.split_once("\nPayload:\n")?;
    if !head.starts_with("Message Type: NEW_TASK\n") {
        return None;
    }
    let name = || {
        let mut lines = head.lines();
        let name = lines.find_map(|line| line.strip_prefix("Task name: "))?;
        name.rsplit('/').next()
    };
    let asked = Some(body).filter(|body| !body.trim().is_empty());
    let what = What::Prompt {
        text: asked.or_else(name)?.to_owned(),
        asked: None,
        is_summary: false,
    };
    let items = vec![
        whole(0, "payload", raw.to_owned(), "agent_message", fields::WHOLE),
        Item::new(1, CONTENT, Vec::new(), what),
    ];
    Some(Spoken::new(Speaker::User, fields::PAYLOAD, items))
}

/// The text of a part of a task. One that is said to be encrypted may be text; what is has no spaces.
fn task_text(part: &RawValue) -> Option<String> {
    let encrypted = || Members::of(Some(part)).text("encrypted_content");
    part_text(part).or_else(|| encrypted().filter(|text| text.contains(char::is_whitespace)))
}

/// The content of a model's message that is one text.
fn alone(sources: &[Source], text: &str) -> Option<What> {
    (!sources.is_empty()).then(|| What::Text(text.to_owned()))
}

/// A thought of the model's: its summary, and its text where that is not encrypted.
pub(super) fn reasoning(payload: &Members<'_>) -> Spoken {
    let (mut items, mut texts) = (Vec::new(), Vec::new());
    for (name, path, table) in [
        ("summary", "payload.summary[]", fields::SUMMARY_TEXT),
        ("content", CONTENT, fields::TEXT),
    ] {
        for part in payload.list(name) {
            let frame = items.len() + 1;
            match part_text(part) {
                Some(text) => {
                    texts.push(text.clone());
                    items.push(Item::of(
                        frame,
                        path,
                        Some(part),
                        table,
                        What::Thinking(text),
                    ));
                }
                None => items.push(whole(
                    frame,
                    path,
                    part.to_owned(),
                    "reasoning",
                    fields::PART,
                )),
            }
        }
    }
    Spoken {
        texts,
        ..Spoken::new(Speaker::Model, fields::MESSAGE, items)
    }
}

/// A tool call, by an id that no other rollout has.
pub(super) fn call(kind: &str, payload: &Members<'_>, id: String) -> Spoken {
    let (tool, path, table) = match kind {
        "custom_tool_call" => (None, "payload.input", fields::INPUT),
        "local_shell_call" => (Some("local_shell"), "payload.action", fields::ACTION),
        "web_search_call" => (Some("web_search"), "payload.action", fields::ACTION),
        "tool_search_call" => (Some("tool_search"), "payload.arguments", fields::ARGUMENTS),
        _ => (None, "payload.arguments", fields::ARGUMENTS),
    };
    let name = path.strip_prefix("payload.").unwrap_or_default();
    let raw = payload.raw(name);
    let what = What::ToolCall {
        id: id.clone(),
        name: match tool {
            Some(tool) => tool.to_owned(),
            None => payload.text("name").unwrap_or_default(),
        },
        input: raw.map(|raw| match name {
            "arguments" => arguments(raw),
            _ => raw.to_owned(),
        }),
        input_path: path,
    };
    let call = Item::of(0, path, raw, table, what);
    let mut items = vec![call];
    if kind == "web_search_call" {
        // The model sees what was found, and the rollout has nothing of it.
        let status = payload.raw("status");
        let failed = payload.text("status").as_deref() == Some("failed");
        items.push(Item::of(
            1,
            path,
            None,
            table,
            answer(id, status, failed, path),
        ));
    }
    Spoken::new(Speaker::Model, fields::CALL, items)
}

/// The arguments of a function are JSON in a text.
fn arguments(raw: &RawValue) -> Box<RawValue> {
    let text: Option<String> = serde_json::from_str(raw.get()).ok();
    let json = text.and_then(|text| RawValue::from_string(text).ok());
    json.unwrap_or_else(|| raw.to_owned())
}

/// How the result of a call begins that a person refused.
const REFUSED: [&str; 3] = [
    "exec command rejected by user",
    "patch rejected by user",
    "rejected by user",
];

/// That a person refused a call, if its result says so.
fn refusal(call: &str, content: Option<&RawValue>) -> Option<CallDecision> {
    let text = texts::text_of(content);
    let is_refused = REFUSED.iter().any(|refused| text.starts_with(refused));
    is_refused.then(|| CallDecision::new(call, ToolVerdict::Deny, ToolDecider::Person))
}

/// How the program says that a call ended.
#[derive(Debug)]
pub(super) struct CallEnd {
    /// Where it is in its line: the payload, or an item of it.
    pub(super) path: &'static str,
    pub(super) raw: Box<RawValue>,
}

impl CallEnd {
    /// What becomes of its fields, for any call and for an edit.
    fn tables(&self) -> (Table, Table) {
        match self.path {
            ITEM => (fields::ITEM_END, fields::ITEM_EDIT_END),
            _ => (fields::END, fields::EDIT_END),
        }
    }
}

/// The path of an item that was completed.
pub(super) const ITEM: &str = "payload.item";

/// The result of a tool call, and how the program says that it ended.
pub(super) fn result(payload: &Members<'_>, id: String, end: Option<CallEnd>) -> Spoken {
    let (path, table) = match payload.raw("tools") {
        Some(_) => ("payload.tools", fields::TOOLS),
        None => ("payload.output", fields::OUTPUT),
    };
    let raw = payload.raw("output").or_else(|| payload.raw("tools"));
    let outcome = tools::outcome(raw);
    let (failed, took) = match &end {
        Some(end) => tools::ended(&end.raw),
        None => (None, None),
    };
    let by_status = payload.text("status").as_deref() == Some("failed");
    let failed = failed.unwrap_or(outcome.failed || by_status);
    let decision = refusal(&id, outcome.content.as_deref());
    let what = answer(id, outcome.content.as_deref(), failed, path);
    let took = took.or(outcome.duration_ms);
    let extra = match (end, outcome.metadata) {
        (Some(end), _) => {
            let (table, edit_table) = end.tables();
            Some((end.path, end.raw, table, edit_table))
        }
        (None, Some(metadata)) => Some(("payload.metadata", metadata, fields::END, fields::END)),
        (None, None) => took.and_then(|took| {
            let took = RawValue::from_string(took.to_string()).ok()?;
            Some((
                fields::WALL_TIME_PATH,
                took,
                fields::WALL_TIME,
                fields::WALL_TIME,
            ))
        }),
    };
    let details = extra.map(|(path, raw, table, edit_table)| Details {
        path,
        raw,
        table,
        edit_table,
        duration_ms: took,
    });
    let result = Item::of(0, path, raw, table, what);
    Spoken {
        details,
        decision,
        ..Spoken::new(Speaker::User, fields::CALL, vec![result])
    }
}

fn answer(call: String, content: Option<&RawValue>, is_error: bool, path: &'static str) -> What {
    What::ToolResult {
        call,
        content: content.map(ToOwned::to_owned),
        is_error,
        content_path: path,
        error_path: "payload.status",
    }
}

/// What a compaction left: its summary, and the history that stands for what was before. That is a part
/// of its own, so that a log has one that is repeated once.
pub(super) fn compacted(payload: &RawValue) -> Spoken {
    let members = Members::of(Some(payload));
    let said = Item::new(
        0,
        "payload.message",
        Vec::new(),
        What::Said {
            kind: FrameKind::Checkpoint,
            text: members.text("message").unwrap_or_default(),
            compaction: Some(without(payload, &["message", "replacement_history"])),
        },
    );
    let history = members.raw("replacement_history").map(|history| {
        let path = "payload.replacement_history";
        whole(
            1,
            path,
            history.to_owned(),
            "replacement_history",
            fields::HISTORY,
        )
    });
    let items = [said].into_iter().chain(history).collect();
    Spoken::new(Speaker::Program, fields::COMPACTED, items)
}

/// What a session begins with: the instructions as a part of their own, as many sessions have the same.
pub(super) fn session(payload: &RawValue) -> Spoken {
    let members = Members::of(Some(payload));
    let instructions = members.within("base_instructions").text("text");
    let instructions = instructions.or_else(|| members.text("base_instructions"));
    let mut items = Vec::new();
    let rest = match &instructions {
        Some(_) => without(payload, &["base_instructions"]),
        None => payload.to_owned(),
    };
    items.push(whole(0, "payload", rest, "session_meta", fields::WHOLE));
    items.extend(instructions.map(|text| {
        Item::new(
            1,
            "payload.base_instructions",
            vec![Source::text("payload.base_instructions")],
            What::Said {
                kind: FrameKind::SystemState,
                text,
                compaction: None,
            },
        )
    }));
    Spoken::new(Speaker::Program, fields::PAYLOAD, items)
}

/// A message as the program showed it, where the rollout has no other line of it.
pub(super) fn shown(role: Role, text: String, path: &'static str, is_side: bool) -> Spoken {
    let (speaker, what) = match role {
        Role::User => {
            let asked = asked(&text).filter(|_| !is_side).map(str::to_owned);
            let what = What::Prompt {
                asked,
                text,
                is_summary: false,
            };
            (Speaker::User, what)
        }
        Role::Agent => (Speaker::Model, What::Text(text)),
        Role::Thought => (Speaker::Model, What::Thinking(text)),
    };
    let item = Item::new(0, path, vec![Source::text(path)], what);
    Spoken::new(speaker, fields::SHOWN_ALONE, vec![item])
}

/// Whose text two lines may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Agent,
    Thought,
}

/// The path of a part of a message.
const CONTENT: &str = "payload.content[]";

/// The text of a part, if it is one.
fn part_text(part: &RawValue) -> Option<String> {
    let part = Members::of(Some(part));
    let kind = part.text("type")?;
    let is_text = matches!(
        kind.as_str(),
        "input_text" | "output_text" | "summary_text" | "reasoning_text" | "text"
    );
    is_text.then(|| part.get("text").unwrap_or_default())
}

/// A value that has no place of its own.
pub(super) fn whole(
    frame: usize,
    path: &'static str,
    raw: Box<RawValue>,
    kind: &str,
    table: Table,
) -> Item {
    let part = texts::part(Some(&raw));
    let kind = texts::kind_name(kind);
    let what = What::Whole {
        kind: FrameKind::Other(kind.clone()),
        summary: kind,
        part,
    };
    Item::new(
        frame,
        path,
        vec![Source {
            path,
            raw: Some(raw),
            table,
        }],
        what,
    )
}
