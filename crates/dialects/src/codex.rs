//! Recorded sessions of Codex: rollouts, as its program keeps them in `sessions` and `archived_sessions`.
//!
//! A rollout is one thread: a session, or a sub-agent of one, which is a side chain of the session that it names.
//! Its lines have no names of their own, so they are called by their bytes and their thread. What is written
//! twice counts once: a message that the model was given or said has a line (`response_item`), and most have
//! another that the program showed (`event_msg`). The second one counts only where there is no first one, which is
//! known when something else follows.
//!
//! Tokens are running totals of the thread; what was added since the line before counts to the turn. Cached input is
//! part of the input, and reasoning is part of the output.

mod fields;
mod line;
mod nested;
mod tools;

use std::collections::{HashMap, HashSet, VecDeque};
use std::num::NonZeroUsize;

use annals_domain::Timestamp;
use annals_domain::run::{ToolDecider, ToolVerdict};
use annals_event_log::{Digest, IdSecret};
use lru::LruCache;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use uuid::Uuid;

use crate::import::bad_line::BadLine;
use crate::import::format::{Format, Head, Kind};
use crate::import::members::{Members, without};
use crate::import::redacted::RedactedText;
use crate::transcript::item::{
    CallDecision, Course, Dropped, Entry, Item, Origin, Read, Said, Setting, Speaker, SubAgent,
    Usage, What,
};
use line::{CallEnd, ITEM, Line, Role, Spoken};
use nested::NestedCall;
use tools::AGENT;

pub use tools::ids;

/// Codex's recordings.
pub(crate) static KIND: Kind = Kind {
    agent: &AGENT,
    title: "Codex",
    endings: &["jsonl"],
    unwanted: "its name does not end with .jsonl",
    left: "it is a recording of Codex",
    recognizes,
    format: || Box::new(Codex::default()),
};

/// The types of lines, but for those of conversations.
const TYPES: [&str; 12] = [
    "compacted",
    "event_msg",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "realtime_item",
    "response_item",
    "retained_context",
    "security_risk_score",
    "session_meta",
    "token_usage_record",
    "turn_context",
    "world_state",
];

/// Its lines have one of the types and a payload. Old rollouts begin with a session that has instructions.
fn recognizes(head: &Head<'_>) -> bool {
    let is_own = |line: serde_json::Map<String, Value>| {
        let has = |name: &str| line.contains_key(name);
        match line.get("type").and_then(|kind| kind.as_str()) {
            Some(kind) => has("payload") && TYPES.contains(&kind),
            None => has("id") && has("timestamp") && has("instructions"),
        }
    };
    // A session's first line may be longer than what is looked at.
    let first = head.text.lines().next().unwrap_or_default();
    let begins = !head.is_all && first.contains("\"type\":\"session_meta\"");
    head.objects().take(50).any(is_own) || (begins && first.contains("\"payload\":"))
}

/// Tools that run scripts, which call other tools.
const SCRIPTS: [&str; 2] = ["exec", "js_repl"];

/// So many lines, texts and ends of calls are remembered.
const LINES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(65_535);
const TEXTS: usize = 256;
const HELD: usize = 256;

/// What is remembered of the rollout that is read.
struct Codex {
    /// The thread's id, as the file's name has it.
    stem: Option<String>,
    thread: Option<Thread>,
    setting: Setting,
    model: Option<String>,
    /// How requests are served, if that has prices of its own: faster, or when there is room.
    tier: Option<&'static str>,
    /// The turn's id; in rollouts without any, the line of its prompt.
    turn: Option<String>,
    has_turn_ids: bool,
    /// What the newest turn is allowed to do, but for its id.
    context: Option<String>,
    /// The totals that tokens were counted up to, and all totals so far.
    counted: Option<Totals>,
    totals: HashSet<Totals>,
    /// The tokens of each turn.
    tokens: HashMap<String, Totals>,
    /// The names of its lines.
    lines: LruCache<String, ()>,
    /// The newest texts that the model was given or said.
    texts: VecDeque<Digest>,
    /// What the program showed of which there may be another line.
    shown: Vec<Shown>,
    /// How calls ended whose results were not read yet.
    ends: VecDeque<End>,
    /// Whether its lines are those of the session that it was forked from.
    is_inherited: bool,
    /// What is known of where they end.
    copies: Copies,
    /// The calls that the model made.
    calls: LruCache<String, ()>,
    /// The model's newest call of a script.
    script: Option<String>,
    /// The calls that scripts made, by their ids, and what they asked for.
    nested: LruCache<String, Digest>,
}

/// Lines that a fork or a sub-agent has of the session that it was begun from, with the time stamps of that session or
/// with new ones.
#[derive(Debug, Default)]
struct Copies {
    /// Whether the thread's own first line was read.
    has_begun: bool,
    /// Whether a line may be one: no turn of its own was begun.
    may_follow: bool,
    /// The number of the first line that is none, if the rollout says it.
    end: Option<u64>,
    /// Whether a turn among them says when it was begun. Then only turns tell where they end.
    has_turns: bool,
    /// When the newest of them was written, or the thread's own first line.
    written: Option<Timestamp>,
}

/// Copies are written one behind the other. What comes so many milliseconds later is no copy.
const PAUSE: i64 = 2_000;

impl Copies {
    /// Whether a line was written with the others, or before the thread began.
    fn has_line_at(&mut self, at: Option<Timestamp>) -> bool {
        let (Some(at), Some(written)) = (at, self.written) else {
            return true;
        };
        let since = at.to_utc() - written.to_utc();
        let is_copy = since.num_milliseconds() <= PAUSE;
        if is_copy {
            self.written = Some(at.max(written));
        }
        is_copy
    }
}

/// What a turn may do without asking.
#[derive(Debug, Default, Deserialize)]
struct Policy {
    /// A word, or an object where kinds of calls have policies of their own.
    #[serde(default)]
    approval_policy: Option<Value>,
    /// What commands may reach: an object with a type, in old rollouts with a mode.
    #[serde(default)]
    sandbox_policy: Option<Value>,
}

impl Policy {
    /// Both policies, for people.
    fn mode(&self) -> Option<String> {
        let sandbox = self.sandbox_policy.as_ref().and_then(|it| {
            let kind = it.get("type").or_else(|| it.get("mode")).unwrap_or(it);
            kind.as_str()
        });
        let approval = self.approval_policy.as_ref().map(|policy| match policy {
            Value::String(word) => word.clone(),
            other => annals_wire::sorted(other.clone()).to_string(),
        });
        let approval = approval.map(|policy| format!("approval {policy}"));
        let sandbox = sandbox.map(|kind| format!("sandbox {kind}"));
        let said: Vec<String> = approval.into_iter().chain(sandbox).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

/// Total tokens: input, cached input, cache writes, output.
type Totals = [u64; 5];

/// Whose rollout it is.
#[derive(Debug, Clone)]
struct Thread {
    id: String,
    /// The session that it is a sub-agent of.
    parent: Option<String>,
    /// The thread that began it, if it is a sub-agent.
    caller: Option<String>,
    begun: Option<Timestamp>,
}

impl Thread {
    /// The sub-agent that it is, if another sub-agent of its session began it.
    fn called(&self) -> Option<SubAgent> {
        let session = self.parent.clone()?;
        let caller = self.caller.clone().filter(|caller| *caller != session)?;
        Some(SubAgent {
            session: Some(session),
            name: self.id.clone(),
            call: None,
            parent: Some(caller),
        })
    }
}

/// A message that the program showed.
struct Shown {
    text: Digest,
    kind: &'static str,
    entry: Box<Entry>,
    is_prompt: bool,
}

/// How a call ended.
struct End {
    call: String,
    end: CallEnd,
    entry: Box<Entry>,
}

impl Default for Codex {
    fn default() -> Codex {
        Codex {
            stem: None,
            thread: None,
            setting: Setting::default(),
            model: None,
            tier: None,
            turn: None,
            has_turn_ids: false,
            context: None,
            counted: None,
            totals: HashSet::new(),
            tokens: HashMap::new(),
            lines: LruCache::new(LINES),
            texts: VecDeque::new(),
            shown: Vec::new(),
            ends: VecDeque::new(),
            is_inherited: false,
            copies: Copies::default(),
            calls: LruCache::new(LINES),
            script: None,
            nested: LruCache::new(LINES),
        }
    }
}

impl Format for Codex {
    fn begin(&mut self, stem: &str) {
        // rollout-2026-01-02T03-04-05-<the thread's id>
        let id = stem
            .len()
            .checked_sub(36)
            .and_then(|at| stem.get(at..))
            .filter(|id| stem.starts_with("rollout-") && Uuid::try_parse(id).is_ok());
        *self = Codex {
            stem: id.map(str::to_owned),
            ..Codex::default()
        };
    }

    fn is_record(&self, record: &Members<'_>) -> bool {
        let has = |name: &str| record.raw(name).is_some();
        has("timestamp") && has("type") && has("payload")
    }

    fn line(&mut self, text: RedactedText, names: Option<&IdSecret>) -> Result<Vec<Read>, BadLine> {
        let line = Line::read(text)?;
        if line.kind == "(none)" {
            let (kind, text) = (line.kind, line.text);
            return Ok(vec![Read::Unknown { kind, text }]);
        }
        let mut called = None;
        if self.thread.is_none() && line.kind == "session_meta" {
            self.thread = thread(&line);
            called = self.thread.as_ref().and_then(Thread::called);
        }
        // The same bytes may be in two rollouts that were begun at once.
        let bytes = format!("{}\u{1f}{}", self.name(), line.text);
        let name = ids().anonymous(bytes.as_bytes(), names);
        if self.lines.put(name.clone(), ()).is_some() {
            // A copy of a line changes nothing, and must not come before the line where that waits.
            let shown = self.shown.iter().map(|shown| &shown.entry);
            let mut waiting = shown.chain(self.ends.iter().map(|end| &end.entry));
            if waiting.any(|entry| entry.name == name) {
                let kind = format!("{} (a copy)", line.kind);
                let text = line.text;
                return Ok(vec![Read::Skipped { kind, text }]);
            }
            let copy = Spoken::new(Speaker::Program, fields::PAYLOAD, Vec::new());
            return Ok(vec![Read::Entry(self.entry(line, name, copy))]);
        }
        let called = called.map(Read::SubAgent).into_iter();
        Ok(called.chain(self.reads(line, name)).collect())
    }

    fn end(&mut self) -> Vec<Read> {
        let shown = self.shown.drain(..).map(|it| (it.kind, it.entry));
        let ends = self.ends.drain(..).map(|it| ("tool call's end", it.entry));
        let waits = |(kind, entry): (&str, Box<Entry>)| Read::Skipped {
            kind: format!("{kind} (its other line may follow)"),
            text: entry.text,
        };
        shown.chain(ends).map(waits).collect()
    }
}

/// The thread that a rollout's first line is of.
fn thread(line: &Line) -> Option<Thread> {
    let meta = Members::of(Some(&line.payload));
    let id = meta.text("id").or_else(|| meta.text("session_id"))?;
    let spawned = meta
        .within("source")
        .within("subagent")
        .within("thread_spawn");
    let is_side = meta.within("source").raw("subagent").is_some();
    // Newer versions say which session it is all for, independent of which of its agents began it.
    let root = meta
        .text("session_id")
        .filter(|root| is_side && *root != id);
    let own = || meta.text("parent_thread_id").filter(|_| is_side);
    let caller = spawned.text("parent_thread_id").or_else(own);
    let caller = caller.filter(|caller| *caller != id);
    let parent = root.or_else(|| caller.clone());
    let begun = meta.text("timestamp");
    Some(Thread {
        parent: parent.filter(|parent| *parent != id),
        caller,
        id,
        begun: begun
            .as_deref()
            .and_then(crate::import::format::time)
            .or(line.at),
    })
}

impl Codex {
    /// The thread's name.
    fn name(&self) -> &str {
        let thread = self.thread.as_ref().map(|thread| thread.id.as_str());
        thread.or(self.stem.as_deref()).unwrap_or_default()
    }

    fn is_side(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| thread.parent.is_some())
    }

    fn turn(&self) -> String {
        format!(
            "{}/{}",
            self.name(),
            self.turn.as_deref().unwrap_or("start")
        )
    }

    /// A call's id, which is one within its thread only.
    fn call(&self, payload: &Members<'_>, name: &str) -> String {
        let id = payload.text("call_id").or_else(|| payload.text("id"));
        format!("{}/{}", self.name(), id.as_deref().unwrap_or(name))
    }

    fn entry(&self, line: Line, name: String, spoken: Spoken) -> Box<Entry> {
        let (session, course) = match &self.thread {
            Some(Thread { id, parent, .. }) => match parent {
                Some(parent) => (Some(parent.clone()), Course::Side(id.clone())),
                None => (Some(id.clone()), Course::Main),
            },
            None => (self.stem.clone(), Course::Main),
        };
        let is_model = spoken.speaker == Speaker::Model;
        // A history of its own takes the place of what was before.
        let dropped = match line.kind.as_str() {
            "compacted" => Dropped::All,
            _ => Dropped::Nothing,
        };
        let said = Said::of(&[Some(&line.kind), Some(line.payload.get())], None);
        Box::new(Entry {
            text: line.text,
            table: spoken.table,
            older_session: None,
            session,
            course,
            name,
            parent: None,
            at: line.at,
            setting: Some(self.setting.clone()),
            speaker: spoken.speaker,
            message: is_model.then(|| self.turn()),
            model: self.model.clone().filter(|_| is_model),
            prompt: (!is_model && self.has_turn_ids).then(|| self.turn()),
            usage: None,
            priced_as: None,
            beside: Vec::new(),
            subtype: None,
            origin: Origin {
                script: spoken.script,
                ..Origin::default()
            },
            details: spoken.details,
            items: spoken.items,
            dropped,
            decisions: spoken.decision.into_iter().collect(),
            older_frame: spoken.older_frame,
            said,
        })
    }

    fn reads(&mut self, line: Line, name: String) -> Vec<Read> {
        let payload = line.payload.clone();
        let members = Members::of(Some(&payload));
        let kind = members.text("type").unwrap_or_else(|| "(none)".to_owned());
        self.follow_turn(&line, &members, &kind);
        let mut unknown = None;
        let spoken = match line.kind.as_str() {
            "session_meta" => self.session(&payload, &members, line.at),
            _ if self.is_inherited => return self.inherited(line, &members, &kind),
            "event_msg" => return self.event(line, &members, &kind, name),
            "turn_context" => self.context(&payload, &members),
            "response_item" => {
                let spoken = self.item((&members, &payload), &kind, &name);
                spoken.unwrap_or_else(|| Spoken::whole(&kind, &payload))
            }
            "compacted" => line::compacted(&payload),
            // A mark of old rollouts that says nothing.
            "state" => {
                let (kind, text) = (line.kind, line.text);
                return vec![Read::Skipped { kind, text }];
            }
            other => {
                unknown = (!TYPES.contains(&other)).then(|| other.to_owned());
                Spoken::whole(other, &payload)
            }
        };
        self.recorded(line, name, spoken, unknown)
    }

    /// A line of the session that this one was forked from: that has it.
    fn inherited(&mut self, line: Line, payload: &Members<'_>, kind: &str) -> Vec<Read> {
        if kind == "token_count" {
            let totals = totals(&payload.within("info"), "total_token_usage");
            self.counted = totals.or(self.counted);
        }
        let kind = format!("{} (of the session that it was forked from)", line.kind);
        let text = line.text;
        vec![Read::Skipped { kind, text }]
    }

    /// What the program showed or did.
    fn event(&mut self, line: Line, payload: &Members<'_>, kind: &str, name: String) -> Vec<Read> {
        let mut unknown = None;
        let spoken = match kind {
            "token_count" => return self.token_count(line, payload, name),
            "user_message"
            | "agent_message"
            | "agent_reasoning"
            | "agent_reasoning_raw_content" => {
                return self.shown(line, payload, kind, name);
            }
            _ if kind.ends_with("_end") && payload.text("call_id").is_some() => {
                let end = CallEnd {
                    path: "payload",
                    raw: line.payload.clone(),
                };
                let call = self.call(payload, &name);
                let nested = self
                    .script
                    .as_ref()
                    .and_then(|_| NestedCall::of(kind, &end));
                return match nested {
                    Some(nested) => self.did(line, name, (call, nested), end),
                    None => self.ended(line, name, call, end),
                };
            }
            "item_completed" => return self.completed(line, payload, name),
            "thread_settings_applied" => {
                // It has all settings: what it leaves out is as usual.
                self.tier = tier(&payload.within("thread_settings"));
                Spoken::whole(kind, &line.payload)
            }
            "context_compacted" => Spoken::new(Speaker::Program, fields::SAME, Vec::new()),
            "task_complete" | "turn_complete" | "turn_aborted" => {
                // Its last message has a line of its own.
                let whole = Spoken::whole(kind, &without(&line.payload, &["last_agent_message"]));
                let mut reads = self.release();
                reads.extend(self.ends.drain(..).map(|end| Read::Entry(end.entry)));
                reads.push(Read::Entry(self.entry(line, name, whole)));
                return reads;
            }
            _ => {
                unknown = (!EVENTS.contains(&kind)).then(|| kind.to_owned());
                Spoken::whole(kind, &line.payload)
            }
        };
        self.recorded(line, name, spoken, unknown)
    }

    /// A line's entry, behind those that wait no longer.
    fn recorded(
        &mut self,
        line: Line,
        name: String,
        spoken: Spoken,
        unknown: Option<String>,
    ) -> Vec<Read> {
        self.hear(&spoken);
        let mut reads = Vec::new();
        // What was shown of a thought may come before it, with that of the message that follows; but a prompt
        // comes before what answers it.
        let calls = |item: &Item| matches!(item.what, What::ToolCall { .. });
        let is_said = spoken.speaker == Speaker::Model && !spoken.items.iter().any(calls);
        if !is_said || self.shown.iter().any(|shown| shown.is_prompt) {
            reads.extend(self.release());
        }
        let asks =
            |item: &Item| matches!(&item.what, What::Prompt { asked, .. } if asked.is_some());
        if !self.has_turn_ids && spoken.items.iter().any(asks) {
            self.turn = Some(name.clone());
        }
        reads.push(Read::Entry(self.entry(line, name, spoken)));
        // It is kept, and its kind is named.
        reads.extend(unknown.map(|kind| Read::Unknown {
            kind,
            text: String::new(),
        }));
        reads
    }

    /// Remembers the turn that a line begins, and whether the line is of the session that this one was forked from.
    fn follow_turn(&mut self, line: &Line, payload: &Members<'_>, kind: &str) {
        let begins = match line.kind.as_str() {
            "turn_context" => true,
            "event_msg" => matches!(kind, "task_started" | "turn_started"),
            _ => false,
        };
        let turn = payload.text("turn_id").filter(|_| begins);
        self.follow_copies(line, turn.as_deref());
        if let Some(turn) = turn.filter(|_| !self.is_inherited) {
            self.has_turn_ids = true;
            self.turn = Some(turn);
        }
    }

    /// Decides whether a line is a copy: by its number, by when its turn was begun, or by when it was written.
    fn follow_copies(&mut self, line: &Line, turn: Option<&str>) {
        if let (Some(end), Some(ordinal)) = (self.copies.end, line.ordinal) {
            self.is_inherited = ordinal < end;
            return;
        }
        if !self.copies.may_follow {
            return;
        }
        let begun = self.thread.as_ref().and_then(|thread| thread.begun);
        let Some(turn) = turn else {
            let is_copy = self.copies.has_turns || self.copies.has_line_at(line.at);
            self.is_inherited = self.is_inherited && is_copy;
            return;
        };
        let times = time_of(turn).zip(begun);
        self.is_inherited = times.is_some_and(|(turn, thread)| turn < thread);
        self.copies.may_follow = self.is_inherited;
        self.copies.has_turns = self.is_inherited;
    }

    fn session(&mut self, payload: &RawValue, meta: &Members<'_>, at: Option<Timestamp>) -> Spoken {
        let id = meta.text("id");
        if id.as_deref().is_some_and(|id| id != self.name()) {
            // What the session was forked from follows, until a turn of its own begins.
            self.is_inherited = true;
            self.copies.may_follow = true;
            return line::session(payload);
        }
        let base = meta.within("history_base");
        let origin = meta.text("forked_from_id");
        let is_side = self.is_side();
        // A thread that is resumed may say once more what it is.
        if !self.copies.has_begun {
            self.copies = Copies {
                has_begun: true,
                may_follow: is_side || origin.is_some(),
                end: meta
                    .count("subagent_history_start_ordinal")
                    .or_else(|| base.count("end_ordinal_exclusive")),
                has_turns: false,
                written: at,
            };
            // A fork begins with copies, unless it names what they would be copies of. A sub-agent may have none.
            self.is_inherited = origin.is_some() && !is_side && base.is_empty();
        }
        self.setting = Setting {
            cwd: meta.text("cwd"),
            git_branch: meta.within("git").text("branch"),
            version: meta.text("cli_version"),
            continues: origin.or_else(|| base.text("thread_id")),
        };
        line::session(payload)
    }

    /// What a turn is allowed to do, if that is not what the turn before was.
    fn context(&mut self, payload: &RawValue, context: &Members<'_>) -> Spoken {
        if let Some(cwd) = context.text("cwd") {
            self.setting.cwd = Some(cwd);
        }
        if let Some(model) = context.text("model") {
            self.model = Some(model);
        }
        if context.raw("service_tier").is_some() {
            self.tier = tier(context);
        }
        let own = without(payload, &["turn_id", "trace_id", "root_turn_id"]);
        let before = self.context.replace(own.get().to_owned());
        match before.as_deref() == Some(own.get()) {
            true => Spoken::new(Speaker::Program, fields::SAME, Vec::new()),
            false => Spoken::whole("turn_context", payload),
        }
    }

    /// What is known of a decision on a call whose result comes, which may say that a person refused it. Where the turn
    /// never asks, its policy let every call through that could be made.
    fn decision(&self, call: &str, refused: Option<CallDecision>) -> Option<CallDecision> {
        let context = self.context.as_deref().unwrap_or("{}");
        let policy: Policy = serde_json::from_str(context).unwrap_or_default();
        let mode = policy.mode();
        match refused {
            Some(refused) => Some(CallDecision { mode, ..refused }),
            None if policy.approval_policy.as_ref().and_then(Value::as_str) == Some("never") => {
                Some(CallDecision {
                    by_name: Some("approval_policy never".to_owned()),
                    mode,
                    inferred: true,
                    ..CallDecision::new(call, ToolVerdict::Allow, ToolDecider::Mode)
                })
            }
            None => None,
        }
    }

    fn item(
        &mut self,
        (payload, raw): (&Members<'_>, &RawValue),
        kind: &str,
        name: &str,
    ) -> Option<Spoken> {
        Some(match kind {
            "message" => line::message(payload, self.is_side()),
            "reasoning" => line::reasoning(payload),
            "agent_message" if self.is_side() => line::task(payload, raw)?,
            "function_call" | "custom_tool_call" | "local_shell_call" | "web_search_call"
            | "tool_search_call" => {
                let id = self.call(payload, name);
                self.calls.put(id.clone(), ());
                if payload
                    .text("name")
                    .is_some_and(|tool| SCRIPTS.contains(&tool.as_str()))
                {
                    self.script = Some(id.clone());
                }
                line::call(kind, payload, id)
            }
            "function_call_output" | "custom_tool_call_output" | "tool_search_output" => {
                let id = self.call(payload, name);
                let end = self.ends.iter().position(|end| end.call == id);
                let end = end.and_then(|at| self.ends.remove(at));
                let mut spoken = line::result(payload, id.clone(), end.map(|end| end.end));
                spoken.decision = self.decision(&id, spoken.decision);
                spoken
            }
            _ => return None,
        })
    }

    /// Remembers what the model was given or said, and forgets what was shown of it.
    fn hear(&mut self, spoken: &Spoken) {
        for text in &spoken.texts {
            let text = digest(text);
            self.shown.retain(|shown| shown.text != text);
            self.texts.push_back(text);
        }
        while self.texts.len() > TEXTS {
            self.texts.pop_front();
        }
    }

    /// What was shown and has no other line.
    fn release(&mut self) -> Vec<Read> {
        let shown: Vec<Shown> = self.shown.drain(..).collect();
        if let Some(prompt) = shown.iter().rev().find(|shown| shown.is_prompt)
            && !self.has_turn_ids
        {
            self.turn = Some(prompt.entry.name.clone());
        }
        shown
            .into_iter()
            .map(|shown| Read::Entry(shown.entry))
            .collect()
    }

    /// A message that the program showed: the model has another line of it, before or behind.
    fn shown(&mut self, line: Line, payload: &Members<'_>, kind: &str, name: String) -> Vec<Read> {
        let (role, kind, path) = match kind {
            "user_message" => (Role::User, "event_msg/user_message", "payload.message"),
            "agent_message" => (Role::Agent, "event_msg/agent_message", "payload.message"),
            _ => (Role::Thought, "event_msg/agent_reasoning", "payload.text"),
        };
        let member = path.strip_prefix("payload.").unwrap_or_default();
        let text: String = payload.get(member).unwrap_or_default();
        let key = digest(&text);
        let is_known = text.trim().is_empty() || self.texts.contains(&key);
        let mut reads = match role == Role::User && !is_known {
            true => self.release(),
            false => Vec::new(),
        };
        if is_known {
            let again = Spoken::new(Speaker::Program, fields::SHOWN, Vec::new());
            reads.push(Read::Entry(self.entry(line, name, again)));
            return reads;
        }
        let spoken = line::shown(role, text, path, self.is_side());
        let is_prompt = role == Role::User && !self.is_side();
        let entry = self.entry(line, name, spoken);
        self.shown.push(Shown {
            text: key,
            kind,
            entry,
            is_prompt,
        });
        if self.shown.len() > HELD {
            reads.extend(self.release());
        }
        reads
    }

    /// An item that was completed: how a call ended, a call of a script, or what has other lines, too.
    fn completed(&mut self, line: Line, payload: &Members<'_>, name: String) -> Vec<Read> {
        let item = payload.within("item");
        let end = payload.raw("item").map(|raw| CallEnd {
            path: ITEM,
            raw: raw.to_owned(),
        });
        let kind = item.text("type").unwrap_or_default();
        let nested = end.as_ref().and_then(|end| NestedCall::of(&kind, end));
        match (end, nested) {
            (Some(end), Some(nested)) => {
                let id = item.text("id");
                let call = format!("{}/{}", self.name(), id.as_deref().unwrap_or(&name));
                self.did(line, name, (call, nested), end)
            }
            _ => {
                let whole = Spoken::whole("item_completed", &line.payload);
                self.recorded(line, name, whole, None)
            }
        }
    }

    /// How a call of the model's ended, or a call that a script made.
    fn did(
        &mut self,
        line: Line,
        name: String,
        (mut call, nested): (String, NestedCall),
        end: CallEnd,
    ) -> Vec<Read> {
        if self.calls.contains(&call) {
            return self.ended(line, name, call, end);
        }
        let input = nested.input.as_deref().map_or("", RawValue::get);
        let asked = [self.turn().as_str(), nested.tool.as_str(), input].join("\u{1f}");
        let asked = Digest::of(asked.as_bytes());
        match self.nested.put(call.clone(), asked) {
            None => {}
            Some(before) if before == asked => {
                // An item and an event may be of the same call.
                let again = Spoken::new(Speaker::Program, fields::SAME, Vec::new());
                return self.recorded(line, name, again, None);
            }
            // Ids may begin again.
            Some(_) => call = format!("{call}/{name}"),
        }
        let refused = nested
            .is_declined
            .then(|| CallDecision::new(&call, ToolVerdict::Deny, ToolDecider::Person));
        let mut spoken = nested.spoken(&call, end);
        spoken.decision = self.decision(&call, refused);
        spoken.script.clone_from(&self.script);
        self.recorded(line, name, spoken, None)
    }

    /// How a call ended. Its result follows, or else it is kept as it is.
    fn ended(&mut self, line: Line, name: String, call: String, end: CallEnd) -> Vec<Read> {
        let payload = line.payload.clone();
        let kind = Members::of(Some(&payload)).text("type");
        let whole = Spoken::whole(kind.as_deref().unwrap_or("(none)"), &payload);
        let entry = self.entry(line, name, whole);
        self.ends.push_back(End { call, end, entry });
        let oldest = (self.ends.len() > HELD).then(|| self.ends.pop_front());
        let oldest = oldest.flatten().map(|end| Read::Entry(end.entry));
        oldest.into_iter().collect()
    }

    /// The tokens that were added since they were counted last.
    fn token_count(&mut self, line: Line, payload: &Members<'_>, name: String) -> Vec<Read> {
        let info = payload.within("info");
        let totals = totals(&info, "total_token_usage");
        let last = self::totals(&info, "last_token_usage");
        let added = match totals {
            Some(totals) if !self.totals.insert(totals) => None,
            Some(totals) => added(totals, self.counted.replace(totals), last),
            None => last,
        };
        let table = match added {
            Some(_) => fields::TOKEN_COUNT,
            None => fields::TOKENS_AGAIN,
        };
        let turn = self.turn();
        let speaker = match added {
            Some(_) => Speaker::Model,
            None => Speaker::Program,
        };
        let mut entry = self.entry(line, name, Spoken::new(speaker, table, Vec::new()));
        if let Some([input, cached, written, output, reasoning]) = added {
            let cached = cached.min(input);
            let written = written.min(input.saturating_sub(cached));
            let uncached = input.saturating_sub(cached).saturating_sub(written);
            let turn = self.tokens.entry(turn).or_default();
            for (sum, more) in turn
                .iter_mut()
                .zip([uncached, cached, written, output, reasoning])
            {
                *sum = sum.saturating_add(more);
            }
            let [uncached, cached, written, output, reasoning] = *turn;
            let named = self.tier.zip(self.model.as_deref());
            entry.priced_as = named.map(|(tier, model)| format!("{model}-{tier}"));
            let sums = [uncached, cached, written, output].map(Some);
            let usage = Usage::of(sums).with_reasoning(Some(reasoning));
            let has = info.within("total_token_usage");
            let [input, cached, written, output, reasoning] =
                NAMES.map(|name| u64::from(has.raw(name).is_some()));
            entry.usage = Some(Usage {
                fields: [input, cached, written, output, reasoning, 0, 0, 0],
                ..usage
            });
        }
        vec![Read::Entry(entry)]
    }
}

/// How requests are served by these settings, if that has prices of its own.
fn tier(settings: &Members<'_>) -> Option<&'static str> {
    match settings.text("service_tier")?.as_str() {
        "fast" | "priority" => Some("fast"),
        "flex" => Some("flex"),
        _ => None,
    }
}

/// The names of tokens, in the order of [`Totals`].
const NAMES: [&str; 5] = [
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
];

fn totals(info: &Members<'_>, name: &str) -> Option<Totals> {
    info.raw(name)?;
    let counts = info.within(name);
    Some(NAMES.map(|name| counts.count(name).unwrap_or_default()))
}

/// What was added from the totals before to these. Totals that fall begin again, from what the last
/// message took.
fn added(totals: Totals, before: Option<Totals>, last: Option<Totals>) -> Option<Totals> {
    let Some(before) = before else {
        // A rollout may begin with what another one had counted.
        return last.or(Some(totals));
    };
    let pairs = || totals.into_iter().zip(before);
    if pairs().all(|(now, before)| now >= before) {
        let mut added = totals;
        for (added, before) in added.iter_mut().zip(before) {
            *added = added.saturating_sub(before);
        }
        return Some(added);
    }
    let begins_again = pairs().all(|(now, before)| now <= before);
    last.or(begins_again.then_some(totals))
}

/// Types of events that are kept as they are.
const EVENTS: [&str; 22] = [
    "background_event",
    "collab_agent_interaction_end",
    "collab_agent_spawn_end",
    "collab_close_end",
    "collab_resume_end",
    "collab_waiting_end",
    "entered_review_mode",
    "error",
    "exited_review_mode",
    "item_completed",
    "plan_update",
    "stream_error",
    "sub_agent_activity",
    "task_started",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_rolled_back",
    "thread_settings_applied",
    "turn_aborted",
    "turn_diff",
    "turn_started",
    "warning",
];

fn digest(text: &str) -> Digest {
    Digest::of(text.trim().as_bytes())
}

/// When a turn was begun whose id says it.
fn time_of(id: &str) -> Option<Timestamp> {
    let (seconds, nanos) = Uuid::try_parse(id).ok()?.get_timestamp()?.to_unix();
    let time = chrono::DateTime::from_timestamp(i64::try_from(seconds).ok()?, nanos)?;
    Timestamp::in_range(time)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::tools::asked;
    use super::*;

    #[test]
    fn what_a_person_asked_is_distinguished_from_what_the_program_put_there() {
        for text in [
            "<environment_context>\n<cwd>/w</cwd>\n</environment_context>",
            " <user_instructions>x</user_instructions>",
            "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>x</INSTRUCTIONS>",
            "<codex_internal_context source=\"goal\">x</codex_internal_context>",
            "<image name=[Image #1]>",
            "</image>",
            "Another language model started to solve this problem and left this",
            "# Context from my IDE setup:\n\n## Open tabs:\n- a",
            " \n",
        ] {
            assert_eq!(asked(text), None, "{text:?}");
        }
        for (text, expected) in [
            (" Fix it\n", " Fix it\n"),
            ("<skill> is odd, why?", "<skill> is odd, why?"),
            ("<skills>x</skill>", "<skills>x</skill>"),
            ("<image> is not shown", "<image> is not shown"),
            ("<div>x</div>", "<div>x</div>"),
            (
                "# Context from my IDE setup:\n- a\n\n## My request for Codex:\nFix it",
                "Fix it",
            ),
        ] {
            assert_eq!(asked(text), Some(expected), "{text:?}");
        }
    }

    #[test]
    fn what_totals_add_is_their_difference_until_they_begin_again() {
        let of = |totals, before, last| added(totals, before, last);
        let (one, two) = ([10, 4, 0, 1, 1], [15, 4, 0, 3, 2]);
        assert_eq!(of(one, None, None), Some(one));
        let last = [5, 0, 0, 1, 0];
        assert_eq!(of(one, None, Some(last)), Some(last));
        assert_eq!(of(two, Some(one), Some([9; 5])), Some([5, 0, 0, 2, 1]));
        assert_eq!(of(one, Some(two), Some([1; 5])), Some([1; 5]));
        assert_eq!(of(one, Some(two), None), Some(one));
        // Some fall and others rise, and nothing says what was added.
        assert_eq!(of([9, 9, 0, 9, 9], Some(two), None), None);
    }

    #[test]
    fn ids_of_turns_say_when_they_were_begun() {
        let time = time_of("019b7ca0-0000-7000-8000-000000000001").unwrap();
        assert!(
            time.to_utc()
                .to_rfc3339()
                .starts_with("2026-01-02T02:53:39")
        );
        for id in ["turn-1", "", "00000000-0000-4000-8000-000000000001"] {
            assert!(time_of(id).is_none(), "{id}");
        }
    }
}
