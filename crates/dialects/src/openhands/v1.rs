//! One event of OpenHands' SDK, and what it says.

use std::collections::HashMap;

use annals_domain::pipeline::FrameKind;
use serde_json::value::{RawValue, to_raw_value};

use super::event::{Event, item, item_of, joined};
use crate::import::fields::Fate::{Apart, Inferred, Kept};
use crate::import::fields::Table;
use crate::import::members::{Members, json_text, owned, texts};
use crate::transcript::item::{
    COUNTS, Course, Details, Dropped, DroppedLine, Entry, Item, Read, Speaker, Usage, What,
};
use crate::transcript::texts::{beginning, part};

/// What an event has that is kept as it is: counted as one field.
const WHOLE: Table = &[("event", Kept)];

const MESSAGE: Table = &[
    ("id", Kept),
    ("timestamp", Kept),
    ("source", Inferred),
    ("kind", Inferred),
    ("llm_response_id", Kept),
    ("llm_message.role", Inferred),
    ("llm_message.content", Kept),
    ("llm_message.reasoning_content", Kept),
    ("llm_message.thinking_blocks", Apart),
    ("extended_content", Kept),
    ("activated_skills", Apart),
    ("sender", Inferred),
];

const ACTION: Table = &[
    ("id", Kept),
    ("timestamp", Kept),
    ("source", Inferred),
    ("kind", Inferred),
    ("llm_response_id", Kept),
    ("thought", Kept),
    ("reasoning_content", Kept),
    ("thinking_blocks", Apart),
    ("tool_name", Kept),
    ("tool_call_id", Inferred),
    ("tool_call.id", Inferred),
    ("tool_call.name", Inferred),
    ("tool_call.arguments", Apart),
    // It is made from the call's arguments, or stands for them.
    ("action", Inferred),
    // The arguments have it, too.
    ("summary", Inferred),
    ("security_risk", Apart),
];

const ANSWER: Table = &[
    ("id", Kept),
    ("timestamp", Kept),
    ("source", Inferred),
    ("kind", Inferred),
    ("tool_name", Inferred),
    ("tool_call_id", Inferred),
    ("action_id", Inferred),
    ("observation", Apart),
    ("error", Apart),
    ("rejection_reason", Apart),
    ("rejection_source", Apart),
    ("extended_content", Kept),
];

const CONDENSATION: Table = &[
    ("id", Kept),
    ("timestamp", Kept),
    ("source", Inferred),
    ("kind", Inferred),
    ("summary", Kept),
    ("forgotten_event_ids", Kept),
    ("summary_offset", Kept),
    ("llm_response_id", Kept),
];

const SYSTEM: Table = &[
    ("id", Kept),
    ("timestamp", Kept),
    ("source", Inferred),
    ("kind", Inferred),
    ("system_prompt.type", Inferred),
    ("system_prompt.text", Kept),
    ("dynamic_context.type", Inferred),
    ("dynamic_context.text", Kept),
    ("tools", Apart),
];

const ACP: Table = &[
    ("id", Kept),
    ("timestamp", Kept),
    ("source", Inferred),
    ("kind", Inferred),
    ("tool_call_id", Inferred),
    ("title", Kept),
    ("status", Inferred),
    ("is_error", Inferred),
    ("parent_tool_call_id", Kept),
    ("raw_input", Apart),
    ("raw_output", Apart),
    ("content", Apart),
];

/// The metrics of one of the uses that a conversation makes of models.
const STATS: Table = &[
    ("stats.id", Kept),
    ("stats.timestamp", Kept),
    ("stats.kind", Inferred),
    ("stats.metrics", Apart),
];

const METRICS: Table = &[("stats.metrics", Kept)];
const ARGUMENTS: Table = &[("tool_call.arguments", Kept)];
const CONTENT: Table = &[("observation.content", Kept)];
const OUTPUT: Table = &[("observation.output", Kept)];
const OBSERVATION: Table = &[("observation", Kept)];
const ERROR: Table = &[("error", Kept)];
const REASON: Table = &[("rejection_reason", Kept)];
const TOOLS: Table = &[("tools", Kept)];
const RISK: Table = &[("security_risk", Kept)];
const SKILLS: Table = &[("activated_skills", Kept)];
const RAW_INPUT: Table = &[("raw_input", Kept)];
const RAW_OUTPUT: Table = &[("raw_output", Kept)];
const ACP_CONTENT: Table = &[("content", Kept)];

/// What is known of a result in addition to what the model saw.
const RESULT: Table = &[
    ("observation.kind", Inferred),
    ("observation.is_error", Inferred),
    ("observation.error", Inferred),
    ("observation.exit_code", Inferred),
    ("observation.metadata.exit_code", Inferred),
    // The call has them.
    ("observation.command", Inferred),
    ("observation.path", Inferred),
    ("observation.file_path", Inferred),
];

/// The same of an edit: its diff compares the file before and after.
const EDIT_RESULT: Table = &[
    ("observation.kind", Inferred),
    ("observation.is_error", Inferred),
    ("observation.error", Inferred),
    ("observation.command", Inferred),
    ("observation.path", Inferred),
    ("observation.file_path", Inferred),
    ("observation.prev_exist", Inferred),
    ("observation.is_new_file", Inferred),
    ("observation.old_content", Inferred),
    ("observation.new_content", Inferred),
];

/// The tool calls that events are parts of, by the events' names.
pub(super) type Calls = HashMap<String, String>;

/// What an event says: one entry, but for what the model's tokens are counted by.
pub(super) fn read(event: &Event<'_>, calls: &mut Calls) -> Vec<Read> {
    let members = &event.members;
    let kind = members.text("kind").unwrap_or_default();
    if let Some(call) = members.text("tool_call_id") {
        calls.insert(name(event), event.own(&call));
    }
    let read = match kind.as_str() {
        "SystemPromptEvent" => system(event),
        "MessageEvent" => message(event),
        "ActionEvent" => action(event),
        "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => answer(event, &kind),
        "Condensation" => Some(condensation(event, calls)),
        "ACPToolCallEvent" => acp(event),
        "ConversationStateUpdateEvent" if members.text("key").as_deref() == Some("stats") => {
            let reads = stats(event);
            if !reads.is_empty() {
                return reads;
            }
            None
        }
        _ => None,
    };
    vec![read.unwrap_or_else(|| whole(event, &kind))]
}

/// The name of an event.
fn name(event: &Event<'_>) -> String {
    let id = event.members.text("id");
    id.unwrap_or_else(|| event.anonymous())
}

fn made(event: &Event<'_>, speaker: Speaker, table: Table, items: Vec<Item>) -> Read {
    Read::Entry(Box::new(entry(event, speaker, table, items)))
}

fn entry(event: &Event<'_>, speaker: Speaker, table: Table, items: Vec<Item>) -> Entry {
    let mut entry = event.entry(name(event), speaker, table, items);
    let response = event.members.text("llm_response_id");
    entry.message = response.map(|id| event.own(&id));
    entry
}

/// An event that has no place of its own.
fn whole(event: &Event<'_>, kind: &str) -> Read {
    let members = &event.members;
    let (frame, summary) = match (kind, members.text("key")) {
        ("ConversationStateUpdateEvent", Some(key)) => {
            let value = members.text("value").unwrap_or_default();
            (key.clone(), format!("{key}: {value}"))
        }
        ("ConversationErrorEvent" | "ServerErrorEvent", _) => {
            let detail = members.text("detail").unwrap_or_default();
            (kind.to_owned(), format!("{kind}: {detail}"))
        }
        _ => (kind.to_owned(), kind.to_owned()),
    };
    let raw = RawValue::from_string(event.text.to_owned()).ok();
    let kept = kept("event", frame, summary, raw.as_deref());
    let mut entry = event.entry(name(event), Speaker::Program, WHOLE, vec![kept]);
    entry.text = format!("{{\"event\":{}}}", event.text);
    Read::Entry(Box::new(entry))
}

/// An item that is kept as it is.
pub(super) fn kept(
    path: &'static str,
    kind: String,
    summary: String,
    raw: Option<&RawValue>,
) -> Item {
    let what = What::Whole {
        kind: FrameKind::Other(beginning(&kind, 100).to_owned()),
        summary,
        part: part(raw),
    };
    item(path, what)
}

/// The same, of a value that counts by itself.
pub(super) fn kept_of(table: Table, kind: &str, raw: &RawValue) -> Item {
    let what = kept("", kind.to_owned(), kind.to_owned(), Some(raw)).what;
    item_of(table, Some(raw), what)
}

pub(super) fn said(path: &'static str, kind: FrameKind, text: String) -> Item {
    let what = What::Said {
        kind,
        text,
        compaction: None,
    };
    item(path, what)
}

fn system(event: &Event<'_>) -> Option<Read> {
    let members = &event.members;
    let text = |path: &'static str| {
        let text = members.within(path).text("text")?;
        Some(said(path, FrameKind::SystemState, text))
    };
    let mut items = vec![text("system_prompt")?];
    items.extend(text("dynamic_context"));
    items.extend(members.raw("tools").map(|raw| kept_of(TOOLS, "tools", raw)));
    Some(made(event, Speaker::Program, SYSTEM, items))
}

/// What the model thought: as one text, or in blocks, which may say the same.
fn thoughts(members: &Members<'_>) -> Vec<Item> {
    let reasoning = members.text("reasoning_content");
    let blocks = members.list("thinking_blocks");
    let blocks = blocks.into_iter().filter_map(|raw| {
        let text = Members::of(Some(raw)).text("thinking")?;
        let is_known = reasoning
            .as_ref()
            .is_some_and(|known| known.contains(text.trim()));
        (!is_known).then_some(text)
    });
    let thought = |text| item("reasoning_content", What::Thinking(text));
    let mut all: Vec<Item> = blocks.map(thought).collect();
    all.extend(reasoning.clone().map(thought));
    all
}

fn message(event: &Event<'_>) -> Option<Read> {
    let members = &event.members;
    let message = members.within("llm_message");
    let text = joined(texts(message.raw("content")));
    let source = members.text("source").unwrap_or_default();
    let mut items = match source.as_str() {
        "agent" => thoughts(&message),
        _ => Vec::new(),
    };
    items.extend(text.map(|text| match source.as_str() {
        "agent" => item("llm_message.content", What::Text(text)),
        _ => prompt(members, &source, text),
    }));
    let extended = joined(texts(members.raw("extended_content")));
    items.extend(extended.map(|text| said("extended_content", FrameKind::SystemState, text)));
    let images = message
        .list("content")
        .into_iter()
        .filter(|part| Members::of(Some(part)).raw("image_urls").is_some());
    items.extend(images.map(|raw| {
        kept(
            "llm_message.content",
            "image".into(),
            "image".into(),
            Some(raw),
        )
    }));
    let skills = members.list("activated_skills");
    if let Some(raw) = members
        .raw("activated_skills")
        .filter(|_| !skills.is_empty())
    {
        items.push(kept_of(SKILLS, "activated_skills", raw));
    }
    let speaker = match source.as_str() {
        "agent" => Speaker::Model,
        _ => Speaker::User,
    };
    (!items.is_empty()).then(|| made(event, speaker, MESSAGE, items))
}

/// A person's message; other agents and hooks write into the user's messages, too.
fn prompt(members: &Members<'_>, source: &str, text: String) -> Item {
    let is_person = source == "user" && members.text("sender").is_none();
    let what = What::Prompt {
        asked: is_person.then(|| text.clone()),
        text,
        is_summary: false,
    };
    item("llm_message.content", what)
}

fn action(event: &Event<'_>) -> Option<Read> {
    let members = &event.members;
    let (tool, call) = (members.text("tool_name")?, members.text("tool_call_id")?);
    let mut items = thoughts(members);
    let text = joined(texts(members.raw("thought")));
    items.extend(text.map(|text| item("thought", What::Text(text))));
    let arguments = arguments(members);
    let what = What::ToolCall {
        id: event.own(&call),
        name: tool,
        input: arguments.clone(),
        input_path: "tool_call.arguments",
    };
    items.push(item_of(ARGUMENTS, arguments.as_deref(), what));
    let risk = members
        .text("security_risk")
        .filter(|risk| risk != "UNKNOWN");
    if let Some(raw) = members.raw("security_risk").filter(|_| risk.is_some()) {
        let text = risk.unwrap_or_default();
        let what = kept("security_risk", "security_risk".into(), text, Some(raw)).what;
        items.push(item_of(RISK, Some(raw), what));
    }
    Some(made(event, Speaker::Model, ACTION, items))
}

/// The arguments as the model wrote them, or else as the program read them.
fn arguments(members: &Members<'_>) -> Option<Box<RawValue>> {
    let call = members.within("tool_call");
    let written: Option<String> = call.get("arguments");
    let read = written.as_ref().and_then(|text| {
        let is_object = Members::read(text).is_ok();
        RawValue::from_string(text.trim().to_owned())
            .ok()
            .filter(|_| is_object)
    });
    let action = || members.raw("action").map(owned);
    read.or_else(action).or_else(|| json_text(&written?))
}

/// What came back from a tool, or from who refused that it is used.
fn answer(event: &Event<'_>, kind: &str) -> Option<Read> {
    let members = &event.members;
    let call = members.text("tool_call_id").map(|call| event.own(&call));
    let observation = members.within("observation");
    let (table, content) = match kind {
        "AgentErrorEvent" => (ERROR, members.raw("error")?),
        "UserRejectObservation" => (REASON, members.raw("rejection_reason")?),
        _ => result(members, &observation)?,
    };
    let Some(call) = call else {
        let text = joined(texts(Some(content)))?;
        let items = vec![item_of(
            table,
            Some(content),
            said("", FrameKind::ErrorRecovery, text).what,
        )];
        return Some(made(event, Speaker::Program, ANSWER, items));
    };
    let what = What::ToolResult {
        call,
        content: Some(owned(content)),
        is_error: kind != "ObservationEvent" || is_error(&observation),
        content_path: table.first().map_or("", |(path, _)| *path),
        error_path: "observation.is_error",
    };
    let mut items = vec![item_of(table, Some(content), what)];
    if kind == "UserRejectObservation" {
        items.push(rejection(members));
    }
    let extended = joined(texts(members.raw("extended_content")));
    items.extend(extended.map(|text| said("extended_content", FrameKind::SystemState, text)));
    let mut entry = event.entry(name(event), Speaker::User, ANSWER, items);
    // What the model saw of it is the result itself.
    let is_all = table.first() == OBSERVATION.first();
    let others = observation.without(&["content", "output"]);
    entry.details = others
        .filter(|_| !is_all && !observation.is_empty())
        .map(|raw| Details {
            path: "observation",
            raw,
            table: RESULT,
            edit_table: EDIT_RESULT,
            duration_ms: None,
        });
    Some(Read::Entry(Box::new(entry)))
}

/// That a call was refused, by a person or by a hook.
fn rejection(members: &Members<'_>) -> Item {
    let of = |name: &str| members.text(name);
    let source = of("rejection_source").unwrap_or_else(|| "user".to_owned());
    let reason = of("rejection_reason").unwrap_or_default();
    // In the order of their names, which every build of serde_json keeps.
    let part = serde_json::json!({
        "action_id": of("action_id"), "reason": reason, "source": source,
        "tool_call_id": of("tool_call_id"), "tool_name": of("tool_name"),
    });
    let raw = to_raw_value(&part).ok();
    let summary = format!("rejected by {source}: {reason}");
    kept(
        "rejection_source",
        "rejection".to_owned(),
        summary,
        raw.as_deref(),
    )
}

/// What the model saw of an observation.
fn result<'a>(members: &Members<'a>, observation: &Members<'a>) -> Option<(Table, &'a RawValue)> {
    let content = observation.raw("content").map(|raw| (CONTENT, raw));
    let content = content.filter(|(_, raw)| !texts(Some(raw)).is_empty());
    let output = || observation.raw("output").map(|raw| (OUTPUT, raw));
    let all = || members.raw("observation").map(|raw| (OBSERVATION, raw));
    content.or_else(output).or_else(all)
}

/// Whether an observation is of something that failed. A command that still runs has the code -1.
fn is_error(observation: &Members<'_>) -> bool {
    let metadata = observation.within("metadata");
    let code: Option<i64> = observation
        .get("exit_code")
        .or_else(|| metadata.get("exit_code"));
    let says_so = observation.get("is_error") == Some(true) || observation.text("error").is_some();
    says_so || code.is_some_and(|code| ![0, -1].contains(&code))
}

fn condensation(event: &Event<'_>, calls: &Calls) -> Read {
    let members = &event.members;
    let ids = members.list("forgotten_event_ids");
    let forgotten = ids.len();
    let summary = members.text("summary");
    // What was forgotten is the point of it: all but the summary.
    let own = ["forgotten_event_ids", "summary_offset", "llm_response_id"];
    let part: std::collections::BTreeMap<&str, &RawValue> = own
        .into_iter()
        .filter_map(|name| Some((name, members.raw(name)?)))
        .collect();
    let what = What::Said {
        kind: FrameKind::Checkpoint,
        text: summary.unwrap_or_else(|| format!("condensation: {forgotten} events forgotten")),
        compaction: to_raw_value(&part).ok(),
    };
    let items = vec![item("summary", what)];
    let mut entry = entry(event, Speaker::Program, CONDENSATION, items);
    let lines = ids.into_iter().filter_map(|id| {
        let name: String = serde_json::from_str(id.get()).ok()?;
        let call = calls.get(&name).cloned();
        Some(DroppedLine { name, call })
    });
    entry.dropped = Dropped::Lines(lines.collect());
    Read::Entry(Box::new(entry))
}

/// A call of an agent behind OpenHands, once it has ended: each event of it has all that is known.
fn acp(event: &Event<'_>) -> Option<Read> {
    let members = &event.members;
    let call = event.own(&members.text("tool_call_id")?);
    let status = members.text("status").unwrap_or_default();
    let failed = status == "failed" || members.get("is_error") == Some(true);
    if !failed && status != "completed" {
        return None;
    }
    let input = members.raw("raw_input");
    let asked = What::ToolCall {
        id: call.clone(),
        name: members
            .text("title")
            .or_else(|| members.text("tool_kind"))?,
        input: input.map(owned),
        input_path: "raw_input",
    };
    let output = members.raw("raw_output").map(|raw| (RAW_OUTPUT, raw));
    let output = output.or_else(|| members.raw("content").map(|raw| (ACP_CONTENT, raw)));
    let (table, output) = output.map_or((RAW_OUTPUT, None), |(table, raw)| (table, Some(raw)));
    let answered = What::ToolResult {
        call,
        content: output.map(owned),
        is_error: failed,
        content_path: table.first().map_or("", |(path, _)| *path),
        error_path: "is_error",
    };
    let items = vec![
        item_of(RAW_INPUT, input, asked),
        item_of(table, output, answered),
    ];
    let mut entry = event.entry(name(event), Speaker::Model, ACP, items);
    if let Some(parent) = members.text("parent_tool_call_id") {
        entry.course = Course::Side(parent);
    }
    Some(Read::Entry(Box::new(entry)))
}

/// The tokens of a conversation so far, of each use that it makes of models. They are totals: a use's
/// message has one name in all of the conversation, and only what is more than before is recorded.
fn stats(event: &Event<'_>) -> Vec<Read> {
    let uses = event.members.within("value").within("usage_to_metrics");
    let mut reads = Vec::new();
    for (use_name, raw) in uses.iter() {
        let metrics = Members::of(Some(raw));
        let usage = usage(&metrics.within("accumulated_token_usage"))
            .with_cost(metrics.get("accumulated_cost"));
        if usage.totals == [0; COUNTS] {
            continue;
        }
        let own = format!("{}/{use_name}", name(event));
        let items = vec![kept_of(METRICS, "stats", raw)];
        let mut entry = event.entry(own, Speaker::Model, STATS, items);
        entry.text = counted(event, raw);
        entry.message = Some(event.own(&format!("usage/{use_name}")));
        entry.model = metrics.text("model_name");
        entry.usage = Some(usage);
        reads.push(Read::Entry(Box::new(entry)));
    }
    reads
}

/// The fields of one use's metrics: the names of the uses are not paths.
fn counted(event: &Event<'_>, metrics: &RawValue) -> String {
    let members = &event.members;
    let own = |name: &str| members.raw(name).map_or("null", RawValue::get);
    let (id, at, kind) = (own("id"), own("timestamp"), own("kind"));
    let metrics = metrics.get();
    format!(r#"{{"stats":{{"id":{id},"timestamp":{at},"kind":{kind},"metrics":{metrics}}}}}"#)
}

/// Tokens in total. What was read from a cache or written into it is a part of the prompt's tokens, and
/// the model's reasoning a part of the completion's.
pub(super) fn usage(tokens: &Members<'_>) -> Usage {
    let of = |name: &str| tokens.get::<u64>(name);
    let prompt = of("prompt_tokens");
    let (read, write) = (of("cache_read_tokens"), of("cache_write_tokens"));
    let cached = read.unwrap_or(0).saturating_add(write.unwrap_or(0));
    let uncached = prompt.map(|prompt| prompt.saturating_sub(cached));
    Usage::of([uncached, read, write, of("completion_tokens")])
        .with_reasoning(of("reasoning_tokens"))
}
