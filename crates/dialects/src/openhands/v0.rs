//! One event of OpenHands before its SDK, and what it says. Its events are numbered, actions and observations
//! alike; an observation names the action that it is of as its cause.

use std::collections::{BTreeMap, BTreeSet};

use annals_domain::pipeline::FrameKind;
use serde_json::value::{RawValue, to_raw_value};

use super::event::{Event, item, item_of};
use super::v1::{kept, kept_of, said, usage};
use crate::import::fields::Fate::{Apart, Inferred, Kept};
use crate::import::fields::Table;
use crate::import::members::{Members, json_text, owned};
use crate::transcript::item::{
    Counts, Course, Details, Dropped, DroppedLine, Entry, Item, Read, Speaker, SubAgent, Usage,
    What,
};
use crate::transcript::response_usage;

/// A table with what all events have.
macro_rules! table {
    ($($path:literal => $fate:expr),* $(,)?) => {
        &[
            ("id", Kept),
            ("timestamp", Kept),
            ("source", Inferred),
            ("cause", Inferred),
            ("action", Inferred),
            ("observation", Inferred),
            // It repeats what the event has elsewhere, for people.
            ("message", Inferred),
            ("llm_metrics.accumulated_token_usage", Apart),
            ("llm_metrics.accumulated_cost", Kept),
            $(($path, $fate)),*
        ]
    };
}

const ACTION: Table = table! {
    "args" => Apart,
    "tool_call_metadata.function_name" => Kept,
    "tool_call_metadata.tool_call_id" => Inferred,
    "tool_call_metadata.total_calls_in_response" => Inferred,
    "tool_call_metadata.model_response.id" => Kept,
    "tool_call_metadata.model_response.model" => Kept,
    "tool_call_metadata.model_response.choices[].message.tool_calls" => Apart,
    "tool_call_metadata.model_response.choices[].message.content" => Inferred,
    "tool_call_metadata.model_response.choices[].message.role" => Inferred,
    "tool_call_metadata.model_response.usage.prompt_tokens" => Apart,
    "tool_call_metadata.model_response.usage.completion_tokens" => Apart,
    "tool_call_metadata.model_response.usage.total_tokens" => Inferred,
    "tool_call_metadata.model_response.usage.cache_read_input_tokens" => Apart,
    "tool_call_metadata.model_response.usage.cache_creation_input_tokens" => Apart,
    "tool_call_metadata.model_response.usage.prompt_tokens_details.cached_tokens" => Apart,
};

const MESSAGE: Table = table! {
    "args.content" => Kept,
    "args.image_urls" => Apart,
    "tool_call_metadata" => Inferred,
};

const ANSWER: Table = table! {
    "content" => Apart,
    "extras" => Apart,
    "success" => Inferred,
    // The call has it.
    "tool_call_metadata" => Inferred,
};

const SYSTEM: Table = table! { "args.content" => Kept, "args.tools" => Apart };
const CONDENSATION: Table = table! { "args" => Kept };
const WHOLE: Table = &[("event", Kept)];
const ARGUMENTS: Table = &[("arguments", Kept)];
const CONTENT: Table = &[("content", Kept)];
const TOOLS: Table = &[("args.tools", Kept)];
const IMAGES: Table = &[("args.image_urls", Kept)];

const RESULT: Table = &[
    ("extras.metadata.exit_code", Inferred),
    ("extras.exit_code", Inferred),
    ("extras.error", Inferred),
    // The call has them.
    ("extras.command", Inferred),
    ("extras.path", Inferred),
];

const EDIT_RESULT: Table = &[
    ("extras.path", Inferred),
    ("extras.prev_exist", Inferred),
    ("extras.old_content", Inferred),
    ("extras.new_content", Inferred),
    ("extras.diff", Inferred),
];

/// Actions that are not calls of the model's, though they may be in its name.
const PROGRAM: [&str; 9] = [
    "change_agent_state",
    "condensation_request",
    "loop_recovery",
    "pause",
    "push",
    "recall",
    "resume",
    "send_pr",
    "stop",
];

/// What is remembered of a conversation.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The tasks that were handed on and are not over: their actions' names.
    delegates: Vec<Delegate>,
    handed_on: BTreeSet<String>,
    /// The actions that are tool calls.
    calls: BTreeSet<String>,
    /// The action of a call by the id that its response has for it.
    by_id: BTreeMap<String, String>,
    metrics: Metrics,
    /// How many events its condensations forgot.
    forgotten: u64,
}

#[derive(Debug)]
struct Delegate {
    action: String,
    /// What it was asked, until its work begins.
    asked: Option<String>,
}

/// The conversation's running totals.
#[derive(Debug, Default)]
struct Metrics {
    is_used: bool,
    message: String,
    /// The totals before that message.
    before: Counts,
    latest: Counts,
}

impl Metrics {
    /// The tokens of a message: what the totals are above those before it.
    fn of(&mut self, message: &str, totals: Usage) -> Option<Usage> {
        self.is_used = true;
        if self.message != message {
            message.clone_into(&mut self.message);
            self.before = self.latest;
        }
        let grows = totals
            .totals
            .iter()
            .zip(self.latest)
            .any(|(now, latest)| *now > latest);
        if !grows {
            return None;
        }
        self.latest = totals.totals;
        let mut own = totals;
        for (own, before) in own.totals.iter_mut().zip(self.before) {
            *own = own.saturating_sub(before);
        }
        Some(own)
    }
}

/// What an event says.
pub(super) fn read(event: &Event<'_>, state: &mut State) -> Vec<Read> {
    let members = &event.members;
    let name = name(event);
    let course = course(state);
    let delegates = state.delegates.len();
    let mut reads = Vec::new();
    let entry = match (members.text("action"), members.text("observation")) {
        (Some(action), _) => {
            reads.extend(begun(event, state, &action));
            on_action(event, state, &name, &action)
        }
        (None, Some(observation)) => on_observation(event, state, &name, &observation),
        (None, None) => {
            let (kind, text) = ("(none)".to_owned(), event.text.to_owned());
            return vec![Read::Unknown { kind, text }];
        }
    };
    match entry {
        Some(mut entry) => {
            // A delegate's result belongs to who handed the task on.
            let is_end = members.text("observation").as_deref() == Some("delegate");
            entry.course = if is_end { self::course(state) } else { course };
            reads.push(Read::Entry(Box::new(entry)));
        }
        None => reads.push(Read::Skipped {
            kind: "null".to_owned(),
            text: event.text.to_owned(),
        }),
    }
    if state.delegates.len() > delegates {
        reads.extend(handed_on(event, state));
    }
    reads
}

/// Who handed the newest task on, if that is a delegate, too.
fn handed_on(event: &Event<'_>, state: &State) -> Option<Read> {
    let [.., caller, called] = state.delegates.as_slice() else {
        return None;
    };
    Some(Read::SubAgent(SubAgent {
        session: Some(event.session.to_owned()),
        name: called.action.clone(),
        call: None,
        parent: Some(caller.action.clone()),
    }))
}

fn name(event: &Event<'_>) -> String {
    let id = event.members.raw("id").map(RawValue::get);
    let is_number = |id: &&str| id.parse::<u64>().is_ok();
    let id = id.filter(is_number).map(str::to_owned);
    match id.or_else(|| event.members.text("id")) {
        Some(id) => event.own(&id),
        None => event.anonymous(),
    }
}

fn course(state: &State) -> Course {
    match state.delegates.last() {
        Some(delegate) => Course::Side(delegate.action.clone()),
        None => Course::Main,
    }
}

/// What a delegate was asked, where its work begins without a message that says so.
fn begun(event: &Event<'_>, state: &mut State, action: &str) -> Option<Read> {
    let course = course(state);
    let asked = state.delegates.last_mut()?.asked.take()?;
    let source = event.members.text("source");
    if action == "message" && source.as_deref() == Some("user") {
        return None;
    }
    let what = What::Prompt {
        text: asked,
        asked: None,
        is_summary: false,
    };
    let Course::Side(name) = &course else {
        return None;
    };
    let items = vec![item("args.inputs", what)];
    let mut entry = event.entry(
        format!("{name}/inputs"),
        Speaker::User,
        &[("inputs", Kept)],
        items,
    );
    entry.text = r#"{"inputs":null}"#.to_owned();
    entry.course = course;
    Some(Read::Entry(Box::new(entry)))
}

fn whole(event: &Event<'_>, name: &str, kind: String, summary: String) -> Entry {
    let raw = RawValue::from_string(event.text.to_owned()).ok();
    let kept = kept("event", kind, summary, raw.as_deref());
    let mut entry = event.entry(name.to_owned(), Speaker::Program, WHOLE, vec![kept]);
    entry.text = format!("{{\"event\":{}}}", event.text);
    entry
}

fn on_action(event: &Event<'_>, state: &mut State, name: &str, action: &str) -> Option<Entry> {
    let members = &event.members;
    let args = members.within("args");
    let source = members.text("source").unwrap_or_default();
    let entry = |speaker, table, items| event.entry(name.to_owned(), speaker, table, items);
    match action {
        "null" => return None,
        "message" => return Some(message(event, state, name, &source)),
        "system" => {
            let text = args.text("content").unwrap_or_default();
            let mut items = vec![said("args.content", FrameKind::SystemState, text)];
            items.extend(args.raw("tools").map(|raw| kept_of(TOOLS, "tools", raw)));
            return Some(entry(Speaker::Program, SYSTEM, items));
        }
        "condensation" => {
            let summary = args.text("summary");
            let what = What::Said {
                kind: FrameKind::Checkpoint,
                text: summary.unwrap_or_else(|| "condensation: events forgotten".to_owned()),
                compaction: members.raw("args").map(owned),
            };
            let mut entry = entry(
                Speaker::Program,
                CONDENSATION,
                vec![item("args.summary", what)],
            );
            entry.dropped = forgotten(event, &args, &mut state.forgotten);
            return Some(entry);
        }
        _ if PROGRAM.contains(&action) => {
            let state = args.text("agent_state").or_else(|| args.text("query"));
            let summary = format!("{action}: {}", state.unwrap_or_default());
            return Some(whole(event, name, action.to_owned(), summary));
        }
        // What a person did themselves, without the agent.
        _ if source != "agent" => {
            return Some(whole(
                event,
                name,
                format!("{source}_{action}"),
                action.to_owned(),
            ));
        }
        _ => {}
    }
    Some(call(event, state, name, action))
}

fn message(event: &Event<'_>, state: &mut State, name: &str, source: &str) -> Entry {
    let args = event.members.within("args");
    let text = args.text("content").unwrap_or_default();
    let is_person = source == "user" && state.delegates.is_empty();
    let (speaker, what) = match source {
        "agent" => (Speaker::Model, What::Text(text)),
        _ => {
            let asked = Some(text.clone()).filter(|text| is_person && !text.trim().is_empty());
            let is_summary = false;
            (
                Speaker::User,
                What::Prompt {
                    text,
                    asked,
                    is_summary,
                },
            )
        }
    };
    let mut items = vec![item("args.content", what)];
    if let Some(raw) = args
        .raw("image_urls")
        .filter(|_| !args.list("image_urls").is_empty())
    {
        items.push(kept_of(IMAGES, "images", raw));
    }
    let mut entry = event.entry(name.to_owned(), speaker, MESSAGE, items);
    if speaker == Speaker::Model {
        tokens(event, state, &mut entry);
    }
    entry
}

/// The events that a condensation forgets: by their numbers, or from one to another. All condensations of a
/// conversation forget so many: an event is forgotten once.
fn forgotten(event: &Event<'_>, args: &Members<'_>, before: &mut u64) -> Dropped {
    /// More than a conversation has.
    const MOST: u64 = 100_000;
    let ids = args.list("forgotten_event_ids");
    let ids = ids.iter().filter_map(|id| id.get().parse::<u64>().ok());
    let mut ids: Vec<u64> = ids.collect();
    let of = |name: &str| args.get::<u64>(name);
    if let (Some(first), Some(last)) = (
        of("forgotten_events_start_id"),
        of("forgotten_events_end_id"),
    ) && last.saturating_sub(first) < MOST
    {
        ids.extend(first..=last);
    }
    *before = before.saturating_add(ids.len() as u64);
    if *before > MOST {
        return Dropped::Nothing;
    }
    let line = |id: u64| {
        let name = event.own(&id.to_string());
        DroppedLine {
            // A call has the name of its action.
            call: Some(name.clone()),
            name,
        }
    };
    Dropped::Lines(ids.into_iter().map(line).collect())
}

/// A call of a tool. The end of the work is one, too, and gets no answer.
fn call(event: &Event<'_>, state: &mut State, name: &str, action: &str) -> Entry {
    let members = &event.members;
    let args = members.within("args");
    let metadata = members.within("tool_call_metadata");
    let id = metadata.text("tool_call_id");
    let arguments = id.as_deref().and_then(|id| arguments(&metadata, id));
    let input = arguments.or_else(|| members.raw("args").map(owned));
    let thought = args.text("thought").filter(|_| action != "think");
    let mut items: Vec<Item> = thought
        .map(|text| item("args.thought", What::Text(text)))
        .into_iter()
        .collect();
    let asked = What::ToolCall {
        id: name.to_owned(),
        name: metadata
            .text("function_name")
            .unwrap_or_else(|| action.to_owned()),
        input: input.clone(),
        input_path: "arguments",
    };
    items.push(item_of(ARGUMENTS, input.as_deref(), asked));
    match action {
        "finish" | "reject" => items.push(item("action", ended(name))),
        "delegate" => hand_on(state, name, &args),
        _ => {}
    }
    state.calls.insert(name.to_owned());
    if let Some(id) = id {
        state.by_id.entry(id).or_insert_with(|| name.to_owned());
    }
    let mut entry = event.entry(name.to_owned(), Speaker::Model, ACTION, items);
    tokens(event, state, &mut entry);
    entry
}

/// What stands for the answer to a call that ends the work.
fn ended(call: &str) -> What {
    What::ToolResult {
        call: call.to_owned(),
        content: None,
        is_error: false,
        content_path: "content",
        error_path: "observation",
    }
}

fn hand_on(state: &mut State, name: &str, args: &Members<'_>) {
    if !state.handed_on.insert(name.to_owned()) {
        return;
    }
    let inputs = args.within("inputs");
    let all = || args.raw("inputs").map(|raw| raw.get().to_owned());
    state.delegates.push(Delegate {
        action: name.to_owned(),
        asked: inputs.text("task").or_else(all),
    });
}

/// The arguments of a call as the model wrote them.
fn arguments(metadata: &Members<'_>, id: &str) -> Option<Box<RawValue>> {
    let response = metadata.within("model_response");
    let choices = response.list("choices").into_iter();
    let calls = choices.flat_map(|choice| {
        Members::of(Some(choice))
            .within("message")
            .list("tool_calls")
    });
    let mut calls = calls.map(|call| Members::of(Some(call)));
    let call = calls.find(|call| call.text("id").as_deref() == Some(id))?;
    let written: String = call.within("function").get("arguments")?;
    Members::read(&written).ok()?;
    RawValue::from_string(written.trim().to_owned()).ok()
}

/// The tokens of the response that an action is of. Several actions may be of one response, which then has
/// them once. The conversation's running totals have all of them, also where an action has no response.
fn tokens(event: &Event<'_>, state: &mut State, entry: &mut Entry) {
    let members = &event.members;
    let response = members
        .within("tool_call_metadata")
        .within("model_response");
    let id = response.text("id").map(|id| event.own(&id));
    let message = id.clone().unwrap_or_else(|| entry.name.clone());
    entry.model = response.text("model");
    entry.message = id;
    let metrics = members.within("llm_metrics");
    let totals = metrics.within("accumulated_token_usage");
    entry.usage = if !totals.is_empty() {
        entry.model = entry.model.take().or_else(|| totals.text("model"));
        let usage = usage(&totals).with_cost(metrics.get("accumulated_cost"));
        state.metrics.of(&message, usage)
    } else if state.metrics.is_used {
        None
    } else {
        response_usage::of(&response.within("usage"))
    };
}

fn on_observation(event: &Event<'_>, state: &mut State, name: &str, kind: &str) -> Option<Entry> {
    let members = &event.members;
    let call = match kind {
        "delegate" => state.delegates.pop().map(|delegate| delegate.action),
        _ => None,
    };
    let call = call.or_else(|| called(event, state));
    let text = members.get::<String>("content").unwrap_or_default();
    let Some(call) = call else {
        return match kind {
            "null" => None,
            "error" => {
                let items = vec![item_of(
                    CONTENT,
                    members.raw("content"),
                    said("", FrameKind::ErrorRecovery, text).what,
                )];
                Some(event.entry(name.to_owned(), Speaker::Program, ANSWER, items))
            }
            _ => {
                let extras = members.within("extras");
                let state = extras.text("agent_state").unwrap_or(text);
                Some(whole(
                    event,
                    name,
                    kind.to_owned(),
                    format!("{kind}: {state}"),
                ))
            }
        };
    };
    let content = members.raw("content");
    let what = What::ToolResult {
        call,
        content: content.map(owned).or_else(|| json_text("")),
        is_error: is_error(members, kind),
        content_path: "content",
        error_path: "observation",
    };
    let mut items = vec![item_of(CONTENT, content, what)];
    if kind == "user_rejected" {
        let part = serde_json::json!({ "reason": text, "source": "user" });
        let summary = format!("rejected by user: {text}");
        items.push(kept(
            "content",
            "rejection".to_owned(),
            summary,
            to_raw_value(&part).ok().as_deref(),
        ));
    }
    let mut entry = event.entry(name.to_owned(), Speaker::User, ANSWER, items);
    entry.details = members.raw("extras").map(|raw| Details {
        path: "extras",
        raw: owned(raw),
        table: RESULT,
        edit_table: EDIT_RESULT,
        duration_ms: None,
    });
    Some(entry)
}

/// The call that an observation is of: its cause, or the one that has its id.
fn called(event: &Event<'_>, state: &State) -> Option<String> {
    let members = &event.members;
    let cause = members.raw("cause").map(|raw| event.own(raw.get()));
    let by_cause = cause.filter(|cause| state.calls.contains(cause));
    let id = || members.within("tool_call_metadata").text("tool_call_id");
    by_cause.or_else(|| state.by_id.get(&id()?).cloned())
}

/// Whether an observation is of something that failed. A command that still runs has the code -1.
fn is_error(members: &Members<'_>, kind: &str) -> bool {
    let extras = members.within("extras");
    let code = extras.within("metadata").get::<i64>("exit_code");
    let code = code.or_else(|| extras.get("exit_code"));
    let says_so = extras.get("error") == Some(true) || extras.get("is_error") == Some(true);
    let failed = match code {
        Some(code) => ![0, -1].contains(&code),
        None => members.get("success") == Some(false),
    };
    failed || says_so || matches!(kind, "error" | "user_rejected")
}
