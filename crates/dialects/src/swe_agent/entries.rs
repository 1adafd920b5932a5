//! From a run to the entries of its conversation.

use std::collections::{BTreeMap, HashMap, VecDeque};

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use annals_event_log::IdSecret;
use serde_json::value::{RawValue, to_raw_value};

use super::run::{Message, Run, Step};
use super::{ids, tools};
use crate::import::fields::Fate::{Apart, Inferred, Kept};
use crate::import::fields::Table;
use crate::import::members::{Members, json_text};
use crate::transcript::item::{
    COUNTS, Details, Entry, Item, Read, Said, Setting, Speaker, Usage, What,
};
use crate::transcript::response_usage;
use crate::transcript::texts;

const MESSAGE: Table = &[
    ("message.role", Inferred),
    ("message.type", Inferred),
    ("message.message_type", Inferred),
    ("message.agent", Inferred),
    ("message.content", Kept),
    ("message.output", Kept),
    ("message.thought", Inferred),
    ("message.action", Inferred),
    ("message.reasoning_content", Kept),
    ("message.thinking_blocks[].type", Inferred),
    ("message.thinking_blocks[].thinking", Kept),
    ("message.tool_calls", Kept),
    ("message.tool_call_id", Inferred),
    ("message.tool_call_ids", Inferred),
    ("message.call_id", Inferred),
    ("message.extra.actions", Inferred),
    ("message.extra.returncode", Inferred),
    ("message.extra.exception_info", Inferred),
    // The message's content has it, in the form in which the model saw it.
    ("message.extra.raw_output", Inferred),
    ("message.extra.timestamp", Kept),
    ("message.extra.interrupt_type", Inferred),
    ("message.extra.exit_status", Inferred),
    ("message.extra.submission", Inferred),
    ("message.extra.response.id", Kept),
    ("message.extra.response.model", Kept),
    ("message.extra.response.choices", Inferred),
    ("message.extra.response.usage.prompt_tokens", Apart),
    ("message.extra.response.usage.completion_tokens", Apart),
    ("message.extra.response.usage.total_tokens", Inferred),
    (
        "message.extra.response.usage.prompt_tokens_details.cached_tokens",
        Apart,
    ),
    (
        "message.extra.response.usage.cache_read_input_tokens",
        Apart,
    ),
    (
        "message.extra.response.usage.cache_creation_input_tokens",
        Apart,
    ),
];

const WHOLE: Table = &[("message", Kept)];
const CONFIG: Table = &[("config", Kept)];
const STEP: Table = &[("step", Kept)];

/// What is known of a command in addition to what the model saw.
const RESULT: Table = &[
    // The history has them.
    ("step.action", Inferred),
    ("step.thought", Inferred),
    ("step.response", Inferred),
    ("step.observation", Inferred),
    ("step.messages", Apart),
    ("step.query", Apart),
    ("step.execution_time", Kept),
    ("step.state.open_file", Inferred),
    ("step.state.working_dir", Inferred),
    ("step.state", Inferred),
];

const END: Table = &[
    ("info.config", Apart),
    ("info.model_stats.tokens_sent", Apart),
    ("info.model_stats.tokens_received", Apart),
    ("info", Kept),
    ("environment", Inferred),
    ("trajectory_format", Inferred),
];

/// How an observation begins that says that nothing was done, or that it failed.
const FAILED: [&str; 7] = [
    "Your command was cancelled because it took more than",
    "Your bash command contained syntax errors",
    "Your proposed edit has introduced new syntax error(s)",
    "EXECUTION TIMED OUT",
    "COMMAND FAILED TO EXECUTE",
    "Interactive operation ",
    "Exit due to ",
];

/// The entries of a run, in their order.
pub(super) fn of(run: &Run<'_>, names: Option<&IdSecret>) -> Vec<Read> {
    let has_response = run.messages.iter().any(is_response);
    if !has_response && !is_over(run) {
        return vec![Read::Skipped {
            kind: "run without a response".to_owned(),
            text: run.text.to_owned(),
        }];
    }
    let mut writer = Writer::new(run, names);
    if let Some(config) = run.config {
        writer.config(config);
    }
    for message in &run.messages {
        writer.message(message);
    }
    writer.skipped_steps(run.steps.len());
    writer.end();
    let entries = writer.entries.into_iter();
    entries.map(|entry| Read::Entry(Box::new(entry))).collect()
}

fn is_response(message: &Message) -> bool {
    message.role == "assistant" && !message.is_demo
}

fn is_over(run: &Run<'_>) -> bool {
    run.info.text("exit_status").is_some()
}

/// What a message says, for its name: other members of it may change as the run goes on.
fn said_by(message: &Message) -> Vec<String> {
    let members = Members::of(Some(&message.raw));
    let of = |name: &str| members.raw(name).map(|raw| raw.get().to_owned());
    let at = members
        .within("extra")
        .raw("timestamp")
        .map(|raw| raw.get().to_owned());
    let parts = [
        of("action"),
        of("tool_calls"),
        of("tool_call_ids"),
        of("tool_call_id"),
        at,
    ];
    let mut said = vec![message.role.clone(), message.text.clone()];
    said.extend(parts.into_iter().map(Option::unwrap_or_default));
    said
}

/// A call that waits for its result.
struct Pending {
    /// Its id in the recording, where it need not be unique.
    own: Option<String>,
    id: String,
    /// Its number among the steps.
    step: Option<usize>,
}

/// So many calls of a response wait for their results, the newest ones.
const WAITING: usize = 4_096;

/// The numbers of a run's steps by a text of them.
fn numbered<'r>(
    run: &'r Run<'_>,
    text: impl Fn(&'r Step<'r>) -> &'r str,
) -> HashMap<&'r str, Vec<usize>> {
    let mut numbers: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, step) in run.steps.iter().enumerate() {
        numbers.entry(text(step).trim()).or_default().push(at);
    }
    numbers
}

struct Writer<'r, 'a> {
    run: &'r Run<'a>,
    names: Option<&'r IdSecret>,
    session: String,
    entries: Vec<Entry>,
    /// How often something was said before.
    said: HashMap<Vec<String>, usize>,
    pending: VecDeque<Pending>,
    is_prompted: bool,
    /// The steps up to here are written.
    steps: usize,
    /// The numbers of all steps by what was done in them, and by what the model said.
    by_action: HashMap<&'r str, Vec<usize>>,
    by_response: HashMap<&'r str, Vec<usize>>,
}

impl<'r, 'a> Writer<'r, 'a> {
    fn new(run: &'r Run<'a>, names: Option<&'r IdSecret>) -> Writer<'r, 'a> {
        let beginning = run
            .messages
            .iter()
            .take_while(|message| !is_response(message));
        let mut said: Vec<String> = beginning.flat_map(said_by).collect();
        said.extend(
            run.messages
                .iter()
                .find(|message| is_response(message))
                .into_iter()
                .flat_map(said_by),
        );
        said.extend(run.environment.clone());
        let took = run.steps.first().and_then(|step| step.seconds);
        said.extend(took.map(|seconds| seconds.to_string()));
        Writer {
            run,
            names,
            session: ids().anonymous(serde_json::json!(said).to_string().as_bytes(), names),
            entries: Vec::new(),
            said: HashMap::new(),
            pending: VecDeque::new(),
            is_prompted: false,
            steps: 0,
            by_action: numbered(run, |step| &step.action),
            by_response: numbered(run, |step| &step.response),
        }
    }

    /// The name of what is said here: the same words may come several times.
    fn name(&mut self, said: Vec<String>) -> String {
        let times = self.said.entry(said.clone()).or_default();
        *times += 1;
        let all = serde_json::json!([self.session, said, times]).to_string();
        ids().anonymous(all.as_bytes(), self.names)
    }

    fn entry(
        &mut self,
        said: Vec<String>,
        speaker: Speaker,
        table: Table,
        items: Vec<Item>,
    ) -> Entry {
        let parts: Vec<Option<&str>> = said.iter().map(|part| Some(part.as_str())).collect();
        let digest = Said::of(&parts, None);
        let mut items = items;
        for (frame, item) in items.iter_mut().enumerate() {
            item.frame = frame;
        }
        Entry {
            session: Some(self.session.clone()),
            setting: Some(Setting {
                cwd: self.run.cwd.clone(),
                git_branch: None,
                version: self.run.version.clone(),
                continues: None,
            }),
            items,
            ..Entry::new(String::new(), table, self.name(said), speaker, digest)
        }
    }

    fn config(&mut self, config: &RawValue) {
        let said = vec!["config".to_owned(), config.get().to_owned()];
        let items = vec![whole("config", "config", "config", Some(config))];
        let mut entry = self.entry(said, Speaker::Program, CONFIG, items);
        entry.text = format!("{{\"config\":{}}}", config.get());
        self.entries.push(entry);
    }

    fn message(&mut self, message: &Message) {
        if message.is_demo {
            return self.push_message(message, Speaker::Program, WHOLE, |_| {
                vec![whole(
                    "message",
                    "demonstration",
                    &message.text,
                    Some(&message.raw),
                )]
            });
        }
        match message.role.as_str() {
            "assistant" => self.response(message),
            "system" => self.program(message),
            "user" if !self.is_prompted => {
                self.is_prompted = true;
                let asked = tools::asked(&message.text, self.run);
                self.prompt(message, asked);
            }
            "user" if interruption(message).is_some() => self.interrupted(message),
            "user" | "tool" if !self.pending.is_empty() => self.answer(message),
            "user" | "tool" => self.program(message),
            "exit" => self.exit(message),
            role => {
                let kind = if role.is_empty() { "(none)" } else { role };
                self.push_message(message, Speaker::Program, WHOLE, |_| {
                    vec![whole("message", kind, &message.text, Some(&message.raw))]
                });
            }
        }
    }

    /// An entry of a message with these items.
    fn push_message(
        &mut self,
        message: &Message,
        speaker: Speaker,
        table: Table,
        items: impl FnOnce(&mut Self) -> Vec<Item>,
    ) {
        let items = items(self);
        let mut entry = self.entry(said_by(message), speaker, table, items);
        let members = Members::of(Some(&message.raw));
        entry.text = format!("{{\"message\":{}}}", message.raw.get());
        entry.at = time(&members.within("extra"));
        self.entries.push(entry);
    }

    fn program(&mut self, message: &Message) {
        let text = message.text.clone();
        self.push_message(message, Speaker::Program, MESSAGE, |_| {
            vec![said(FrameKind::SystemState, text)]
        });
    }

    fn prompt(&mut self, message: &Message, asked: Option<String>) {
        let what = What::Prompt {
            text: message.text.clone(),
            asked,
            is_summary: false,
        };
        self.push_message(message, Speaker::User, MESSAGE, |_| {
            vec![item("message.content", what)]
        });
    }

    /// What a person said to a run that was under way.
    fn interrupted(&mut self, message: &Message) {
        let kind = interruption(message).unwrap_or_default();
        if kind.contains("NewTask") || kind.contains("new_task") {
            let text = message.text.trim_start();
            let asked = text
                .strip_prefix("The user added a new task:")
                .unwrap_or(text)
                .trim();
            return self.prompt(message, Some(asked.to_owned()));
        }
        let is_rejection = kind.to_ascii_lowercase().contains("reject");
        self.push_message(message, Speaker::User, MESSAGE, |writer| {
            let mut items = Vec::new();
            if is_rejection {
                for call in std::mem::take(&mut writer.pending) {
                    items.push(result(call.id, &message.text, true));
                }
            }
            let kind = if is_rejection {
                "rejection"
            } else {
                "interruption"
            };
            items.push(whole("message", kind, &message.text, Some(&message.raw)));
            items
        });
    }

    fn response(&mut self, message: &Message) {
        let members = Members::of(Some(&message.raw));
        let step = self.step_of(&members, message);
        let calls = calls(&members, &message.text);
        let mut items = thoughts(&members);
        let text = Some(message.text.clone()).filter(|text| !text.trim().is_empty());
        let text = text.or_else(|| members.text("thought"));
        items.extend(text.map(|text| item("message.content", What::Text(text))));
        let before = step
            .and_then(|at| at.checked_sub(1))
            .and_then(|at| self.run.steps.get(at));
        let cwd = before.and_then(|step| step.cwd.clone());
        let file = step.and_then(|at| self.run.steps.get(at)?.open_file.clone());
        let mut entry = self.entry(said_by(message), Speaker::Model, MESSAGE, Vec::new());
        self.pending.clear();
        for (index, call) in calls.into_iter().enumerate() {
            let id = format!("{}/{index}", entry.name);
            self.pending.push_back(Pending {
                own: call.id,
                id: id.clone(),
                step,
            });
            let input = tools::with_open_file(&call.name, call.input, file.as_deref());
            items.push(item(
                "message.tool_calls",
                What::ToolCall {
                    id,
                    name: call.name,
                    input,
                    input_path: "message.tool_calls",
                },
            ));
        }
        let most = self.pending.len().saturating_sub(WAITING);
        self.pending.drain(..most);
        for (frame, item) in items.iter_mut().enumerate() {
            item.frame = frame;
        }
        let response = members.within("extra").within("response");
        let response = if response.is_empty() {
            members.clone()
        } else {
            response
        };
        entry.text = format!("{{\"message\":{}}}", message.raw.get());
        entry.at = time(&members.within("extra"));
        entry.items = items;
        if let Some(setting) = &mut entry.setting {
            setting.cwd = cwd.or(setting.cwd.take());
        }
        entry.message = response
            .text("id")
            .map(|id| format!("{}/{id}", self.session));
        entry.usage = response_usage::of(&response.within("usage"));
        entry.model = response.text("model").or_else(|| self.run.model.clone());
        self.entries.push(entry);
    }

    /// The step that a response is of. Those before it that no message mentions are written here.
    fn step_of(&mut self, members: &Members<'_>, message: &Message) -> Option<usize> {
        let action: Option<String> = members.get("action");
        let found = match &action {
            Some(action) => self.by_action.get(action.trim())?,
            None => self.by_response.get(message.text.trim())?,
        };
        let first = found.partition_point(|at| *at < self.steps);
        let at = *found.get(first)?;
        self.skipped_steps(at);
        self.steps = at + 1;
        Some(at)
    }

    /// The steps before one that the history does not have: the model was asked once more.
    fn skipped_steps(&mut self, end: usize) {
        let skipped = self.run.steps.get(self.steps..end).unwrap_or_default();
        self.steps = self.steps.max(end);
        for step in skipped {
            let said = vec![
                "step".to_owned(),
                step.action.clone(),
                step.response.clone(),
            ];
            let kept = Members::of(Some(step.raw)).without(&["messages", "query"]);
            let items = vec![whole("step", "step", &step.response, kept.as_deref())];
            let mut entry = self.entry(said, Speaker::Program, STEP, items);
            entry.text = r#"{"step":null}"#.to_owned();
            self.entries.push(entry);
        }
    }

    fn answer(&mut self, message: &Message) {
        let members = Members::of(Some(&message.raw));
        let mut named: Vec<String> = members.get("tool_call_ids").unwrap_or_default();
        named.extend(
            members
                .text("tool_call_id")
                .or_else(|| members.text("call_id")),
        );
        let mut calls = Vec::new();
        for name in &named {
            let own = |call: &Pending| call.own.as_deref() == Some(name.as_str());
            let at = self.pending.iter().position(own);
            calls.extend(at.and_then(|at| self.pending.remove(at)));
        }
        if calls.is_empty() {
            calls.extend(self.pending.pop_front());
        }
        let failed = is_error(&members.within("extra"), &message.text);
        let step = calls
            .first()
            .and_then(|call| self.run.steps.get(call.step?));
        let results = calls
            .iter()
            .map(|call| result(call.id.clone(), &message.text, failed));
        let results: Vec<Item> = results.collect();
        self.push_message(message, Speaker::User, MESSAGE, |_| results);
        if let (Some(entry), Some(step)) = (self.entries.last_mut(), step) {
            entry.details = Some(details(step));
        }
    }

    /// The run ends by a message: what it submits is the last command's result.
    fn exit(&mut self, message: &Message) {
        let members = Members::of(Some(&message.raw));
        let status = members
            .within("extra")
            .text("exit_status")
            .unwrap_or_default();
        let failed = status != "Submitted";
        self.push_message(message, Speaker::Program, WHOLE, |writer| {
            let pending = std::mem::take(&mut writer.pending).into_iter();
            let mut items: Vec<Item> = pending
                .map(|call| result(call.id, &message.text, failed))
                .collect();
            items.push(whole("message", "exit", &status, Some(&message.raw)));
            items
        });
    }

    /// What is known of a run when it ends, and the tokens of all of it so far.
    fn end(&mut self) {
        let info = &self.run.info;
        let stats = info.within("model_stats");
        let sent = [
            stats.get("tokens_sent"),
            None,
            None,
            stats.get("tokens_received"),
        ];
        // Messages that have tokens of their own have all of them.
        let is_counted = self.entries.iter().any(|entry| entry.usage.is_some());
        // The totals grow with the run, and each document has only its own: they count when it is over.
        let is_over = is_over(self.run);
        if !is_over {
            return;
        }
        let sent = if is_counted { [None; 4] } else { sent };
        let usage = Some(Usage::of(sent).with_cost(stats.get("instance_cost")));
        let usage = usage.filter(|usage| usage.totals != [0; COUNTS]);
        let mut items = Vec::new();
        let mut said = vec!["end".to_owned()];
        let status = info.text("exit_status").unwrap_or_default();
        let submission = info.text("submission");
        items.extend(
            submission.map(|diff| self::said(FrameKind::Other("submission".to_owned()), diff)),
        );
        let kept = info.without(&["config", "submission"]);
        said.extend(kept.as_ref().map(|raw| raw.get().to_owned()));
        items.push(whole("info", "exit", &status, kept.as_deref()));
        let mut entry = self.entry(said, Speaker::Model, END, items);
        entry.text = ended(self.run);
        entry.message = Some(format!("{}/usage", self.session));
        entry.model = usage.and(self.run.model.clone());
        entry.usage = usage;
        self.entries.push(entry);
    }
}

/// What the end of a run is read from, for the report.
fn ended(run: &Run<'_>) -> String {
    let mut members: BTreeMap<&str, &RawValue> = BTreeMap::new();
    let info: BTreeMap<&str, &RawValue> = run.info.iter().collect();
    let info = to_raw_value(&info).ok();
    members.extend(info.as_deref().map(|info| ("info", info)));
    let rest: BTreeMap<&str, Option<()>> =
        run.rest.iter().map(|name| (name.as_str(), None)).collect();
    let rest = to_raw_value(&rest).ok();
    if !run.rest.is_empty() {
        members.extend(rest.as_deref().map(|rest| ("document", rest)));
    }
    serde_json::to_string(&members).unwrap_or_else(|_| "{}".to_owned())
}

/// A call as a response has it.
struct Call {
    id: Option<String>,
    name: String,
    input: Option<Box<RawValue>>,
}

/// The calls of a response: by the model's own means, as the agent read them, or in a block of its text.
fn calls(members: &Members<'_>, text: &str) -> Vec<Call> {
    let listed: Vec<Call> = members
        .list("tool_calls")
        .into_iter()
        .filter_map(listed)
        .collect();
    if !listed.is_empty() {
        return listed;
    }
    let command = |command: String, id: Option<String>| Call {
        id,
        name: tools::of_command(&command),
        input: to_raw_value(&serde_json::json!({ "command": command })).ok(),
    };
    let actions = members.within("extra").list("actions").into_iter();
    let actions: Vec<Call> = actions
        .filter_map(|raw| {
            let action = Members::of(Some(raw));
            let text = serde_json::from_str(raw.get()).ok();
            Some(command(
                text.or_else(|| action.text("command"))?,
                action.text("tool_call_id"),
            ))
        })
        .collect();
    if !actions.is_empty() {
        return actions;
    }
    let written = match members.raw("action") {
        Some(_) => members.text("action"),
        None => tools::in_block(text).map(str::to_owned),
    };
    written
        .into_iter()
        .map(|text| command(text, None))
        .collect()
}

fn listed(raw: &RawValue) -> Option<Call> {
    let call = Members::of(Some(raw));
    let function = call.within("function");
    let written: Option<String> = function.get("arguments");
    let read = written.as_ref().and_then(|text| {
        Members::read(text).ok()?;
        RawValue::from_string(text.trim().to_owned()).ok()
    });
    let as_it_is = || function.raw("arguments").map(RawValue::to_owned);
    Some(Call {
        id: call.text("id"),
        name: function.text("name").or_else(|| call.text("name"))?,
        input: read.or_else(as_it_is),
    })
}

fn thoughts(members: &Members<'_>) -> Vec<Item> {
    let reasoning = members.text("reasoning_content");
    let blocks = members.list("thinking_blocks").into_iter();
    let mut thoughts: Vec<String> = blocks
        .filter_map(|raw| Members::of(Some(raw)).text("thinking"))
        .collect();
    if thoughts.is_empty() {
        thoughts.extend(reasoning);
    }
    let thought = |text| item("message.reasoning_content", What::Thinking(text));
    thoughts.into_iter().map(thought).collect()
}

/// How a person interrupted the run, if a message says so.
fn interruption(message: &Message) -> Option<String> {
    Members::of(Some(&message.raw))
        .within("extra")
        .text("interrupt_type")
}

/// Whether a command failed, as far as the recording says so: by its exit code, or because the agent says
/// that it was not run to its end.
fn is_error(extra: &Members<'_>, text: &str) -> bool {
    let written = || {
        let (code, _) = text
            .trim_start()
            .strip_prefix("<returncode>")?
            .split_once("</returncode>")?;
        code.trim().parse::<i64>().ok()
    };
    let code = extra.get::<i64>("returncode").or_else(written);
    let beginning = text.trim_start();
    let says_so = FAILED.iter().any(|start| beginning.starts_with(start));
    says_so || extra.text("exception_info").is_some() || code.is_some_and(|code| code != 0)
}

fn details(step: &Step<'_>) -> Details {
    let seconds = step.seconds.filter(|seconds| *seconds >= 0.0);
    Details {
        path: "step",
        raw: step.raw.to_owned(),
        table: RESULT,
        edit_table: RESULT,
        duration_ms: seconds.map(|seconds| (seconds * 1000.0).round() as u64),
    }
}

/// When a message was written: in seconds since 1970, if it says so.
fn time(extra: &Members<'_>) -> Option<Timestamp> {
    let seconds: f64 = extra.get("timestamp")?;
    let micros = (seconds * 1_000_000.0).round();
    let is_time = (0.0..1e17).contains(&micros);
    let time = chrono::DateTime::from_timestamp_micros(micros as i64).filter(|_| is_time);
    time.map(Timestamp::from)
}

fn item(path: &'static str, what: What) -> Item {
    Item::new(0, path, Vec::new(), what)
}

fn said(kind: FrameKind, text: String) -> Item {
    item(
        "message.content",
        What::Said {
            kind,
            text,
            compaction: None,
        },
    )
}

fn result(call: String, text: &str, is_error: bool) -> Item {
    item(
        "message.content",
        What::ToolResult {
            call,
            content: json_text(text),
            is_error,
            content_path: "message.content",
            error_path: "message.extra.returncode",
        },
    )
}

/// An item that is kept as it is.
fn whole(path: &'static str, kind: &str, summary: &str, raw: Option<&RawValue>) -> Item {
    item(
        path,
        What::Whole {
            kind: FrameKind::Other(texts::beginning(kind, 100).to_owned()),
            summary: match summary.trim().is_empty() {
                true => kind.to_owned(),
                false => format!("{kind}: {summary}"),
            },
            part: texts::part(raw),
        },
    )
}
