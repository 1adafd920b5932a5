//! One event of a session, and the items of what it says.

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use serde_json::value::RawValue;

use super::{fields, tools};
use crate::import::bad_line::BadLine;
use crate::import::fields::{NOTHING, Table};
use crate::import::format::time;
use crate::import::members::{Members, without};
use crate::import::redacted::RedactedText;
use crate::transcript::item::{Details, Item, Source, Speaker, What};
use crate::transcript::texts;

/// An event as it is written.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) text: String,
    pub(super) kind: Option<String>,
    pub(super) id: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) at: Option<Timestamp>,
    /// The sub-agent that it is of.
    pub(super) agent: Option<String>,
    pub(super) data: Box<RawValue>,
}

impl Event {
    pub(super) fn read(text: RedactedText) -> Result<Event, BadLine> {
        let text = text.whole_characters().into_string();
        if !text.trim_start().starts_with('{') {
            // A text that is not JSON at all gets the more exact error.
            serde_json::from_str::<serde::de::IgnoredAny>(&text)?;
            return Err(BadLine::NotAnObject);
        }
        let members = Members::read(&text)?;
        let data = members.raw("data").unwrap_or(RawValue::NULL).to_owned();
        Ok(Event {
            kind: members.text("type"),
            id: members.text("id"),
            parent: members.text("parentId"),
            at: members.text("timestamp").as_deref().and_then(time),
            agent: members.text("agentId"),
            data,
            text,
        })
    }
}

/// What an event says.
#[derive(Debug)]
pub(super) struct Spoken {
    pub(super) table: Table,
    pub(super) speaker: Speaker,
    pub(super) items: Vec<Item>,
    pub(super) details: Option<Details>,
    pub(super) subtype: Option<String>,
}

impl Spoken {
    pub(super) fn new(speaker: Speaker, table: Table, items: Vec<Item>) -> Spoken {
        Spoken {
            table,
            speaker,
            items,
            details: None,
            subtype: None,
        }
    }

    /// An event that is kept as it is.
    pub(super) fn whole(kind: &str, data: &RawValue) -> Spoken {
        let item = whole(0, "data", data, kind, fields::WHOLE);
        Spoken::new(Speaker::Program, fields::DATA, vec![item])
    }
}

/// Who sends messages that a person wrote; what names another source is the program's.
const BY_PERSON: [&str; 4] = ["cli", "human", "immediate-prompt", "user"];

/// What a person says, or the program in a person's place.
pub(super) fn user(data: &Members<'_>, is_side: bool) -> Spoken {
    let text: String = data.get("content").unwrap_or_default();
    let source = data.text("source");
    let by_person = source.is_none_or(|source| BY_PERSON.contains(&source.as_str()));
    let mut items = Vec::new();
    if !text.trim().is_empty() {
        let asked = (by_person && !is_side).then(|| text.clone());
        let what = What::Prompt {
            text,
            asked,
            is_summary: false,
        };
        items.push(Item::of(0, "data.content", None, NOTHING, what));
    }
    for (index, attachment) in data.list("attachments").into_iter().enumerate() {
        let path = "data.attachments[]";
        items.push(whole(
            index + 1,
            path,
            attachment,
            "attachment",
            fields::ATTACHMENT,
        ));
    }
    Spoken::new(Speaker::User, fields::MESSAGE, items)
}

/// What the model says: its thought, unless another event has it, its text, and the tools that it calls.
pub(super) fn model(data: &Members<'_>, thought: Option<String>, calls: Vec<Call>) -> Spoken {
    let mut items = Vec::new();
    if let Some(thought) = thought {
        let what = What::Thinking(thought);
        items.push(Item::of(1, "data.reasoningText", None, NOTHING, what));
    }
    if let Some(text) = data.text("content") {
        items.push(Item::of(0, "data.content", None, NOTHING, What::Text(text)));
    }
    let call = |(index, call): (usize, Call)| {
        let what = What::ToolCall {
            id: call.id,
            name: call.name,
            input: call.input,
            input_path: "data.toolRequests[].arguments",
        };
        let path = "data.toolRequests[]";
        Item::of(index + 2, path, Some(&call.raw), fields::REQUEST, what)
    };
    items.extend(calls.into_iter().enumerate().map(call));
    Spoken::new(Speaker::Model, fields::MESSAGE, items)
}

/// A tool that the model asks for.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) input: Option<Box<RawValue>>,
    raw: Box<RawValue>,
}

/// The tools that a message asks for, each with the id that it has in its session.
pub(super) fn calls(data: &Members<'_>, id: impl Fn(Option<String>, usize) -> String) -> Vec<Call> {
    let requests = data.list("toolRequests").into_iter().enumerate();
    let call = |(index, raw): (usize, &RawValue)| {
        let request = Members::of(Some(raw));
        Call {
            id: id(request.text("toolCallId"), index),
            name: request.text("name").unwrap_or_default(),
            input: request.raw("arguments").map(arguments),
            raw: raw.to_owned(),
        }
    };
    requests.map(call).collect()
}

/// Arguments are an object, or one in a text.
fn arguments(raw: &RawValue) -> Box<RawValue> {
    let text: Option<String> = serde_json::from_str(raw.get()).ok();
    let is_object = |text: &String| text.trim_start().starts_with('{');
    let json = text
        .filter(is_object)
        .and_then(|text| RawValue::from_string(text).ok());
    json.unwrap_or_else(|| raw.to_owned())
}

/// A call that no message asked for: a person did, or the message was not read.
pub(super) fn call(data: &Members<'_>, id: String) -> Spoken {
    let raw = data.raw("arguments");
    let what = What::ToolCall {
        id,
        name: data.text("toolName").unwrap_or_default(),
        input: raw.map(arguments),
        input_path: "data.arguments",
    };
    let call = Item::of(0, "data.arguments", raw, fields::ARGUMENTS, what);
    Spoken::new(Speaker::Program, fields::CALL, vec![call])
}

/// The result of a call.
pub(super) fn result(data: &Members<'_>, id: String) -> Spoken {
    let (content, is_error) = tools::outcome(data);
    let result = data.raw("result");
    let mut sources = Vec::new();
    for (path, raw, table) in [
        ("data.result", result, fields::SEEN),
        ("data.error", data.raw("error"), fields::ERROR),
    ] {
        let is_text = raw.is_some_and(|raw| !raw.get().starts_with('{'));
        let table = if is_text { fields::SEEN_WHOLE } else { table };
        sources.extend(raw.map(|raw| Source::of(path, raw, table)));
    }
    let what = What::ToolResult {
        call: id,
        content,
        is_error,
        content_path: "data.result",
        error_path: "data.success",
    };
    let answer = Item::new(0, "data.result", sources, what);
    let seen = [
        "content",
        "result_type",
        "resultType",
        "text_result_for_llm",
        "textResultForLlm",
    ];
    let extra = result.filter(|raw| {
        let result = Members::of(Some(raw));
        result.raw("detailedContent").is_some() || result.raw("contents").is_some()
    });
    let details = extra.map(|raw| Details {
        path: "data.result",
        raw: without(raw, &seen),
        table: fields::DETAILS,
        edit_table: fields::EDIT_DETAILS,
        duration_ms: None,
    });
    Spoken {
        details,
        ..Spoken::new(Speaker::User, fields::RESULT, vec![answer])
    }
}

/// A thought of the model's.
pub(super) fn reasoning(data: &Members<'_>) -> Spoken {
    let text: String = data.get("content").unwrap_or_default();
    let thought = Item::of(0, "data.content", None, NOTHING, What::Thinking(text));
    Spoken::new(Speaker::Model, fields::MESSAGE, vec![thought])
}

/// What the program says.
pub(super) fn said(data: &Members<'_>) -> Option<Spoken> {
    let text = data.text("message").or_else(|| data.text("content"))?;
    let kinds = ["infoType", "warningType", "errorType"];
    let subtype = kinds.into_iter().find_map(|kind| data.text(kind));
    let said = frame(FrameKind::SystemState, text, None);
    Some(Spoken {
        subtype,
        ..Spoken::new(Speaker::Program, fields::SAID, vec![said])
    })
}

/// What a compaction left.
pub(super) fn compaction(data: &RawValue) -> Option<Spoken> {
    let text = Members::of(Some(data)).text("summaryContent")?;
    let rest = without(data, &["summaryContent"]);
    let said = frame(FrameKind::Checkpoint, text, Some(rest));
    Some(Spoken::new(
        Speaker::Program,
        fields::COMPACTION,
        vec![said],
    ))
}

/// What a sub-agent is to do, where it begins.
pub(super) fn sub_agent(data: &RawValue, task: Option<String>) -> Spoken {
    let members = Members::of(Some(data));
    let names = ["agentDescription", "agentDisplayName", "agentName"];
    let named = || names.into_iter().find_map(|name| members.text(name));
    let text = task.or_else(named).unwrap_or_default();
    let asked = What::Prompt {
        text,
        asked: None,
        is_summary: false,
    };
    let kept = whole(1, "data", data, "subagent.started", fields::WHOLE);
    let asked = Item::of(0, "data", None, NOTHING, asked);
    Spoken::new(Speaker::User, fields::DATA, vec![asked, kept])
}

fn frame(kind: FrameKind, text: String, compaction: Option<Box<RawValue>>) -> Item {
    let what = What::Said {
        kind,
        text,
        compaction,
    };
    Item::of(0, "data", None, NOTHING, what)
}

/// A value that has no place of its own.
fn whole(frame: usize, path: &'static str, raw: &RawValue, kind: &str, table: Table) -> Item {
    let what = What::Whole {
        kind: FrameKind::Other(texts::beginning(kind.trim(), 100).to_owned()),
        summary: texts::beginning(kind.trim(), 100).to_owned(),
        part: texts::part(Some(raw)),
    };
    Item::of(frame, path, Some(raw), table, what)
}
