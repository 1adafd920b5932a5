//! Spans of Copilot Chat's databases, and the entries that they are.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use annals_event_log::{Digest, IdSecret};
use lru::LruCache;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use super::{fields, ids, tools};
use crate::import::database::Row;
use crate::import::format::at_millis;
use crate::import::members::{Members, elements, json_text};
use crate::transcript::item::{
    Course, Details, Entry, Evidence, Item, Origin, Read, Said, Setting, Source, Speaker, Usage,
    What,
};
use crate::transcript::texts::{self, Part};

/// So many spans, calls and messages are remembered.
const REMEMBERED: NonZeroUsize = NonZeroUsize::MIN.saturating_add(65_535);

/// At most so many bytes of a span are held.
const HELD: usize = 64 << 20;

/// What a row takes in memory in addition to its texts, in bytes.
const ROW: usize = 200;

/// The operations that are known.
const KNOWN: [&str; 6] = [
    "invoke_agent",
    "chat",
    "generate_content",
    "text_completion",
    "execute_tool",
    "execute_hook",
];

/// The code of a span that failed.
const FAILED: &str = "2";

/// What was read of a database so far.
pub(super) struct Spans {
    /// Where the work of each span belongs, by its id.
    places: LruCache<String, Place>,
    /// The name of the newest call of each id in each chain.
    calls: LruCache<(String, String), String>,
    /// The newest tool that ran for each call's id.
    ran: LruCache<String, Ran>,
    /// What was said to a model, as a digest, by the chain that it was said in.
    said: LruCache<(String, Digest), ()>,
    /// The sessions whose agent began.
    begun: LruCache<String, ()>,
    /// The span whose attributes are read.
    span: Option<Span>,
    /// Spans beside a session whose agent began later, and how many bytes these are.
    beside: BTreeMap<String, Vec<Span>>,
    waiting: usize,
    /// What names of messages follow from, which have none.
    names: Option<IdSecret>,
    /// Whether nothing is written any more.
    is_ended: bool,
}

impl Default for Spans {
    fn default() -> Spans {
        Spans::new(false)
    }
}

/// Where the work of a span belongs.
#[derive(Debug, Clone)]
struct Place {
    session: String,
    course: Course,
    branch: Option<String>,
}

impl Place {
    fn main(session: String) -> Place {
        Place {
            session,
            course: Course::Main,
            branch: None,
        }
    }

    /// The name of the chain, among those of all sessions.
    fn chain(&self) -> String {
        match &self.course {
            Course::Side(name) => format!("{}/{name}", self.session),
            _ => self.session.clone(),
        }
    }

    fn is_main(&self) -> bool {
        self.course == Course::Main
    }
}

/// A tool that ran: others may run within it.
#[derive(Debug, Clone)]
struct Ran {
    place: Place,
    began: Option<Timestamp>,
    ended: Option<Timestamp>,
}

impl Ran {
    fn has_within(&self, span: &Span) -> bool {
        self.began <= span.began() && span.ended() <= self.ended
    }
}

/// A span, as far as it was read.
struct Span {
    /// Its name among those of all databases.
    name: String,
    id: String,
    columns: BTreeMap<&'static str, String>,
    attributes: BTreeMap<String, String>,
    events: Vec<Event>,
    /// How many bytes are held.
    held: usize,
}

/// A message that a model is sent.
struct Sent {
    /// Its texts as one.
    text: String,
    /// Its parts that are no texts.
    others: Vec<Box<RawValue>>,
    source: Source,
}

/// What happened in a span.
struct Event {
    name: String,
    at: Option<Timestamp>,
    attributes: Box<RawValue>,
}

impl Span {
    fn of(row: &Row) -> Span {
        let columns = row.cells.iter();
        let columns: BTreeMap<&str, String> = columns
            .map(|(name, text)| (*name, text.as_str().to_owned()))
            .collect();
        let id = columns.get("span_id").cloned().unwrap_or_default();
        let trace = columns.get("trace_id").map_or("", String::as_str);
        Span {
            name: format!("{trace}/{id}"),
            held: columns.values().map(String::len).sum(),
            id,
            columns,
            attributes: BTreeMap::new(),
            events: Vec::new(),
        }
    }

    /// Takes over an attribute: its value, if that is read. Whether there was room for it.
    fn attribute(&mut self, row: &Row) -> bool {
        let key = row.cell("key").unwrap_or_default();
        let value = row.cell("value").unwrap_or_default();
        // One of a kind that is not known is kept as it is.
        let is_read = fields::READ.contains(&key) || !KNOWN.contains(&self.operation());
        let value = if is_read { value } else { "" };
        let has_room = self.has_room(key.len() + value.len());
        if has_room {
            self.attributes.insert(key.to_owned(), value.to_owned());
        }
        has_room
    }

    /// Takes over an event. Whether there was room for it.
    fn event(&mut self, row: &Row) -> bool {
        let attributes = row.cell("attributes").unwrap_or("{}");
        let name = row.cell("name").unwrap_or_default();
        let has_room = self.has_room(name.len() + attributes.len());
        if has_room {
            self.events.push(Event {
                name: name.to_owned(),
                at: row.cell("timestamp_ms").and_then(time),
                attributes: json(attributes),
            });
        }
        has_room
    }

    /// Whether there is room for so many bytes more, which are then counted.
    fn has_room(&mut self, bytes: usize) -> bool {
        let held = self.held.saturating_add(bytes).saturating_add(ROW);
        if held <= HELD {
            self.held = held;
        }
        held <= HELD
    }

    fn column(&self, name: &str) -> Option<&str> {
        let text = self.columns.get(name).map(String::as_str);
        text.filter(|text| !text.trim().is_empty())
    }

    fn read(&self, name: &str) -> Option<&str> {
        let text = self.attributes.get(name).map(String::as_str);
        text.filter(|text| !text.trim().is_empty())
    }

    fn operation(&self) -> &str {
        self.column("operation_name").unwrap_or("(none)")
    }

    fn began(&self) -> Option<Timestamp> {
        self.column("start_time_ms").and_then(time)
    }

    fn ended(&self) -> Option<Timestamp> {
        let ended = self.column("end_time_ms").and_then(time);
        ended.or_else(|| self.began())
    }

    fn duration_ms(&self) -> Option<u64> {
        let [began, ended] = ["start_time_ms", "end_time_ms"].map(|name| {
            let time: Option<f64> = self.column(name)?.parse().ok();
            time.filter(|time| time.is_finite())
        });
        let took = (ended? - began?).max(0.0).round();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is whole and in range"
        )]
        (took < 1e15).then_some(took as u64)
    }

    fn has_failed(&self) -> bool {
        self.column("status_code") == Some(FAILED)
    }

    /// The session that it says it is of.
    fn session(&self) -> Option<String> {
        let own = self.column("chat_session_id");
        own.or_else(|| self.read(fields::SESSION))
            .map(str::to_owned)
    }

    /// The session that the program made it beside.
    fn beside(&self) -> Option<&str> {
        let is_root = self.column("parent_span_id").is_none() && self.session().is_none();
        self.read(fields::PARENT_SESSION).filter(|_| is_root)
    }

    /// Its columns and attributes as JSON, in which those that are not read are empty.
    fn text(&self) -> String {
        let mut all: BTreeMap<&str, serde_json::Value> = BTreeMap::new();
        for (name, text) in &self.columns {
            all.insert(name, text.as_str().into());
        }
        let attributes = self.attributes.iter();
        let attributes: serde_json::Map<String, serde_json::Value> = attributes
            .map(|(key, value)| (key.clone(), value.as_str().into()))
            .collect();
        all.insert("attributes", attributes.into());
        serde_json::to_string(&all).unwrap_or_default()
    }
}

impl Spans {
    /// Nothing was read yet; `is_ended` says that nothing is written any more.
    pub(super) fn new(is_ended: bool) -> Spans {
        Spans {
            places: LruCache::new(REMEMBERED),
            calls: LruCache::new(REMEMBERED),
            ran: LruCache::new(REMEMBERED),
            said: LruCache::new(REMEMBERED),
            begun: LruCache::new(REMEMBERED),
            span: None,
            beside: BTreeMap::new(),
            waiting: 0,
            names: None,
            is_ended,
        }
    }

    /// What a row says: a span says it when all of its rows were read.
    pub(super) fn row(&mut self, row: &Row, names: Option<&IdSecret>) -> Vec<Read> {
        if self.names.is_none() {
            self.names = names.cloned();
        }
        if row.table == "spans" {
            let reads = self.newest();
            self.span = Some(Span::of(row));
            return reads;
        }
        let id = row.cell("span_id").unwrap_or_default();
        match self.span.as_mut().filter(|span| span.id == id) {
            Some(span) => {
                let has_room = match row.table {
                    "span_attributes" => span.attribute(row),
                    _ => span.event(row),
                };
                match has_room {
                    true => Vec::new(),
                    false => vec![skipped("row of a span that is too long", row_text(row))],
                }
            }
            None => {
                let kind = match row.table {
                    "span_attributes" => "attribute of a span that is not there",
                    _ => "event of a span that is not there",
                };
                vec![skipped(kind, row_text(row))]
            }
        }
    }

    /// What was held until the database ended.
    pub(super) fn end(&mut self) -> Vec<Read> {
        let mut reads = self.newest();
        let beside = std::mem::take(&mut self.beside).into_values();
        for span in beside.flatten() {
            reads.extend(match self.is_ended {
                true => self.reads(&span),
                false => vec![waits("span beside a session that is not there")],
            });
        }
        reads
    }

    /// What was held of the newest span. One beside a session waits until the session has begun.
    fn newest(&mut self) -> Vec<Read> {
        let Some(span) = self.span.take() else {
            return Vec::new();
        };
        let session = span.beside().map(str::to_owned);
        match session.filter(|session| !self.begun.contains(session)) {
            Some(session) if self.waiting + span.held <= HELD => {
                self.waiting += span.held;
                self.beside.entry(session).or_default().push(span);
                return Vec::new();
            }
            _ => {}
        }
        self.reads(&span)
    }

    fn reads(&mut self, span: &Span) -> Vec<Read> {
        let Some(place) = self.place(span) else {
            return vec![waits("span below one that is not there")];
        };
        self.places.put(span.id.clone(), place.clone());
        let mut reads = match span.operation() {
            "invoke_agent" => self.agent(span, &place),
            "chat" | "generate_content" | "text_completion" => self.request(span, &place),
            "execute_tool" => self.tool(span, &place),
            "execute_hook" => vec![self.hook(span, &place)],
            _ => self.other(span, &place),
        };
        reads.extend(self.events(span, &place));
        if span.operation() == "invoke_agent" && place.is_main() {
            reads.extend(self.beside_of(place.session));
        }
        reads
    }

    /// What waited for a session to begin.
    fn beside_of(&mut self, session: String) -> Vec<Read> {
        let own = self.beside.remove(&session).unwrap_or_default();
        self.begun.put(session, ());
        for span in &own {
            self.waiting = self.waiting.saturating_sub(span.held);
        }
        own.iter().flat_map(|span| self.reads(span)).collect()
    }

    /// Where a span belongs; nothing, if that is not known yet.
    fn place(&mut self, span: &Span) -> Option<Place> {
        let branch = span.read(fields::BRANCH).map(str::to_owned);
        let of_own = || {
            let conversation = span.column("conversation_id").map(str::to_owned);
            let trace = || span.column("trace_id").unwrap_or(&span.id).to_owned();
            let session = span.session().or(conversation).unwrap_or_else(trace);
            Place {
                branch: branch.clone(),
                ..Place::main(session)
            }
        };
        let beside = |session: String| Place {
            session,
            course: Course::Side(span.name.clone()),
            branch: branch.clone(),
        };
        let above = span.column("parent_span_id");
        if let Some(parent) = above {
            return match self.places.get(parent) {
                Some(place) if span.operation() == "invoke_agent" => {
                    Some(beside(place.session.clone()))
                }
                Some(place) => Some(place.clone()),
                // What an agent tells another one to do was not typed by a person.
                None if span.operation() == "invoke_agent" => {
                    self.is_ended.then(|| beside(of_own().session))
                }
                None => self.is_ended.then(of_own),
            };
        }
        if let Some(session) = span.session() {
            return Some(Place {
                branch,
                ..Place::main(session)
            });
        }
        if let Some(session) = span.beside() {
            return Some(beside(session.to_owned()));
        }
        if span.operation() != "execute_tool" {
            return Some(of_own());
        }
        // A tool that another one runs names the call of that one.
        let Some(call) = span.read(fields::CALL) else {
            return Some(of_own());
        };
        match self.ran.get(call).filter(|ran| ran.has_within(span)) {
            Some(ran) => Some(ran.place.clone()),
            None => self.is_ended.then(of_own),
        }
    }

    /// Remembers a call; its name among all calls, as some models use an id again and again.
    fn called(&mut self, span: &Span, place: &Place, id: &str) -> String {
        let name = format!("{}/{id}", span.name);
        let own = (place.chain(), id.to_owned());
        self.calls.put(own, name.clone());
        name
    }

    /// An entry of a span.
    fn entry(&self, place: &Place, name: String, speaker: Speaker, items: Vec<Item>) -> Entry {
        Entry {
            session: Some(place.session.clone()),
            course: place.course.clone(),
            setting: Some(Setting {
                git_branch: place.branch.clone(),
                ..Setting::default()
            }),
            items,
            ..Entry::new(
                "{}".to_owned(),
                fields::ELSEWHERE,
                name,
                speaker,
                Said::of(&[], None),
            )
        }
    }

    /// What a person, or the agent above, asked an agent to do.
    fn agent(&mut self, span: &Span, place: &Place) -> Vec<Read> {
        let mut reads = vec![self.agent_itself(span, place)];
        let typed = span.events.iter().filter(|event| is_typed(event));
        let typed = typed.filter_map(|event| {
            let text = Members::of(Some(&event.attributes)).text("content")?;
            Some((text, event.at, Some(&event.attributes)))
        });
        let mut typed: Vec<_> = typed.collect();
        if typed.is_empty() {
            let request = span.read(fields::PROMPT).map(str::to_owned);
            let request = request.or_else(|| last_prompt(span.read(fields::INPUT)?));
            typed.extend(request.map(|text| (text, span.began(), None)));
        }
        for (number, (text, at, raw)) in typed.into_iter().enumerate() {
            self.said
                .put((place.chain(), Digest::of(text.as_bytes())), ());
            let name = match number {
                0 => format!("{}/prompt", span.name),
                number => format!("{}/prompt/{number}", span.name),
            };
            let said = Said::of(&[Some("prompt"), Some(&text)], None);
            let what = What::Prompt {
                asked: place.is_main().then(|| text.clone()),
                text,
                is_summary: false,
            };
            let item = Item::of(
                0,
                fields::EVENT_PATH,
                raw.map(AsRef::as_ref),
                fields::EVENT,
                what,
            );
            reads.push(Read::Entry(Box::new(Entry {
                at: at.or_else(|| span.began()),
                said,
                ..self.entry(place, name, Speaker::User, vec![item])
            })));
        }
        reads
    }

    /// That an agent began, in which repository, and that it failed.
    fn agent_itself(&self, span: &Span, place: &Place) -> Read {
        let mut items = Vec::new();
        let of = [fields::REMOTE, fields::BRANCH, fields::COMMIT];
        let known: BTreeMap<&str, &str> = of
            .into_iter()
            .filter_map(|name| Some((name.rsplit('.').next()?, span.read(name)?)))
            .collect();
        if !known.is_empty() {
            items.push(evidence(Evidence {
                kind: "repository",
                is_by_person: false,
                tool: tools::AGENT.actor.to_owned(),
                command: None,
                exit_code: None,
                summary: span.read(fields::COMMIT).map(str::to_owned),
                report: report_of(&known),
            }));
        }
        items.extend(failure(span));
        let said = Said::of(&[Some("invoke_agent"), span.read(fields::COMMIT)], None);
        Read::Entry(Box::new(Entry {
            text: span.text(),
            table: fields::AGENT,
            at: span.began(),
            said,
            ..self.entry(place, span.name.clone(), Speaker::Program, items)
        }))
    }

    /// What a request says that no span has said, and what the model answered.
    fn request(&mut self, span: &Span, place: &Place) -> Vec<Read> {
        let mut reads = self.sent(span, place);
        let mut items = Vec::new();
        let messages = span.read(fields::OUTPUT).unwrap_or("[]");
        let (answers, cut) = elements(messages);
        for message in answers {
            for part in Members::of(Some(message)).list("parts") {
                items.push(self.part(span, place, items.len(), part));
            }
        }
        if let Some(raw) = cut.and_then(|_| json_text(messages)) {
            let what = What::whole("answer that cannot be read", &raw);
            items.push(Item::new(
                items.len(),
                fields::OUTPUT_PATH,
                Vec::new(),
                what,
            ));
        }
        items.extend(failure(span).map(|item| Item {
            frame: items.len(),
            ..item
        }));
        let said = Said::of(&[Some("chat"), span.read(fields::OUTPUT)], None);
        let finished = span.read(fields::FINISHED).map(|text| {
            let reasons: Option<Vec<String>> = serde_json::from_str(text).ok();
            reasons.map_or_else(|| text.to_owned(), |reasons| reasons.join(", "))
        });
        let model = span.column("response_model");
        let model = model.or_else(|| span.column("request_model"));
        reads.push(Read::Entry(Box::new(Entry {
            text: span.text(),
            table: fields::REQUEST,
            at: span.ended(),
            model: model.map(str::to_owned),
            usage: usage(span),
            subtype: span.column("agent_name").map(str::to_owned),
            origin: Origin {
                request: span.read(fields::RESPONSE).map(str::to_owned),
                stop_reason: finished.filter(|reason| !reason.is_empty()),
                ..Origin::default()
            },
            said,
            ..self.entry(place, span.name.clone(), Speaker::Model, items)
        })));
        reads
    }

    /// The messages that a request sends which the chain does not have: instructions, and what the program puts
    /// around a prompt. What the model and its tools said has spans of its own.
    fn sent(&mut self, span: &Span, place: &Place) -> Vec<Read> {
        let mut reads = Vec::new();
        let mut has_instructions = false;
        for message in elements(span.read(fields::INPUT).unwrap_or("[]")).0 {
            let members = Members::of(Some(message));
            let role = members.text("role").unwrap_or_default();
            has_instructions |= role == "system";
            if matches!(role.as_str(), "assistant" | "tool") {
                continue;
            }
            let said = Sent {
                text: text_of(&members.list("parts")),
                others: others_of(&members.list("parts")),
                source: Source::of(fields::INPUT_PATH, message, fields::INPUT_MESSAGE),
            };
            reads.extend(self.heard(span, place, &role, said));
        }
        if let Some(instructions) = span
            .read(fields::INSTRUCTIONS)
            .filter(|_| !has_instructions)
        {
            let raw = json(instructions);
            let said = Sent {
                text: text_of(&elements(instructions).0),
                others: others_of(&elements(instructions).0),
                source: Source::of(fields::INSTRUCTIONS_PATH, &raw, fields::INSTRUCTED),
            };
            reads.extend(self.heard(span, place, "system", said));
        }
        reads
    }

    /// A message that a model is sent, unless its chain has it.
    fn heard(&mut self, span: &Span, place: &Place, role: &str, sent: Sent) -> Option<Read> {
        let Sent {
            text,
            others,
            source,
        } = sent;
        let whole_of = others.iter().map(|raw| raw.get());
        let words: Vec<&str> = [text.as_str()].into_iter().chain(whole_of).collect();
        let key = Digest::of(words.join("\n").as_bytes());
        let is_known = self.said.put((place.chain(), key), ()).is_some();
        if (text.trim().is_empty() && others.is_empty()) || is_known {
            return None;
        }
        // The same words are the same message, whichever request repeats them.
        let name = serde_json::json!([place.chain(), role, words]).to_string();
        let name = ids().anonymous(name.as_bytes(), self.names.as_ref());
        let said = Said::of(&[Some(role), Some(&name)], None);
        let (speaker, what) = match role {
            "user" => (
                Speaker::User,
                What::Prompt {
                    text,
                    asked: None,
                    is_summary: false,
                },
            ),
            _ => (
                Speaker::Program,
                What::Said {
                    kind: FrameKind::SystemState,
                    text,
                    compaction: None,
                },
            ),
        };
        let mut items = vec![Item::new(0, fields::INPUT_PATH, vec![source], what)];
        items.extend(others.iter().enumerate().map(|(index, raw)| {
            let kind = Members::of(Some(raw)).text("type").unwrap_or_default();
            let what = What::whole(&kind, raw);
            Item::new(index + 1, fields::INPUT_PATH, Vec::new(), what)
        }));
        Some(Read::Entry(Box::new(Entry {
            at: span.began(),
            subtype: (role != "user").then(|| role.to_owned()),
            said,
            ..self.entry(place, name, speaker, items)
        })))
    }

    /// A part of what the model answered.
    fn part(&mut self, span: &Span, place: &Place, frame: usize, raw: &RawValue) -> Item {
        let part = Members::of(Some(raw));
        let kind = part.text("type").unwrap_or_default();
        let content = part.get::<String>("content");
        let what = match (kind.as_str(), content) {
            ("text", Some(text)) => What::Text(text),
            ("reasoning" | "thinking", Some(text)) => What::Thinking(text),
            ("tool_call", _) => What::ToolCall {
                id: match part.text("id") {
                    Some(id) => self.called(span, place, &id),
                    None => format!("{}/{frame}", span.name),
                },
                name: part.text("name").unwrap_or_default(),
                input: part.raw("arguments").map(arguments),
                input_path: fields::OUTPUT_PATH,
            },
            _ => What::whole(&kind, raw),
        };
        Item::of(
            frame,
            fields::OUTPUT_PATH,
            Some(raw),
            fields::OUTPUT_PART,
            what,
        )
    }

    /// The result of a call. A tool that no model called, the program ran by itself.
    fn tool(&mut self, span: &Span, place: &Place) -> Vec<Read> {
        let name = span.column("tool_name").unwrap_or("(none)");
        let called = span.read(fields::CALL);
        let is_within = span.column("parent_span_id").is_none() && span.session().is_none();
        let Some(id) = called.filter(|_| !is_within) else {
            return vec![self.by_program(span, place, name)];
        };
        let ran = Ran {
            place: place.clone(),
            began: span.began(),
            ended: span.ended(),
        };
        self.ran.put(id.to_owned(), ran);
        let own = (place.chain(), id.to_owned());
        let known = self.calls.get(&own).cloned();
        let is_known = known.is_some();
        let call = known.unwrap_or_else(|| self.called(span, place, id));
        let mut reads = Vec::new();
        if !is_known {
            let what = What::ToolCall {
                id: call.clone(),
                name: name.to_owned(),
                input: span.read(fields::ARGUMENTS).map(json),
                input_path: "attributes.gen_ai.tool.call.arguments",
            };
            let path = "attributes.gen_ai.tool.call.arguments";
            let item = Item::new(0, path, Vec::new(), what);
            reads.push(Read::Entry(Box::new(Entry {
                at: span.began(),
                said: Said::of(
                    &[Some("call"), Some(name), span.read(fields::ARGUMENTS)],
                    None,
                ),
                ..self.entry(place, span.name.clone(), Speaker::Model, vec![item])
            })));
        }
        reads.push(self.result(span, place, call));
        reads
    }

    fn result(&self, span: &Span, place: &Place, call: String) -> Read {
        let result = span.read(fields::RESULT);
        let text = result.map(|text| tools::rendered(text).unwrap_or_else(|| text.to_owned()));
        // Why it failed is its result, or is said beside it.
        let (text, beside) = match text {
            Some(text) => (Some(text), failure(span)),
            None => (why_failed(span), None),
        };
        let what = What::ToolResult {
            call,
            content: text.as_deref().and_then(json_text),
            is_error: span.has_failed(),
            content_path: "attributes.gen_ai.tool.call.result",
            error_path: "status_code",
        };
        let path = "attributes.gen_ai.tool.call.result";
        let said = Said::of(
            &[Some("result"), span.column("status_code"), text.as_deref()],
            None,
        );
        Read::Entry(Box::new(Entry {
            text: span.text(),
            table: fields::TOOL,
            at: span.ended(),
            details: Some(Details {
                path: "",
                raw: json("{}"),
                table: fields::ELSEWHERE,
                edit_table: fields::ELSEWHERE,
                duration_ms: span.duration_ms(),
            }),
            said,
            ..self.entry(
                place,
                format!("{}/result", span.name),
                Speaker::User,
                [Item::new(0, path, Vec::new(), what)]
                    .into_iter()
                    .chain(beside)
                    .collect(),
            )
        }))
    }

    /// A tool that the program ran by itself, or within another one.
    fn by_program(&self, span: &Span, place: &Place, name: &str) -> Read {
        let [arguments, result] =
            [fields::ARGUMENTS, fields::RESULT].map(|name| span.read(name).map(json));
        let report: BTreeMap<&str, Box<RawValue>> = [("arguments", arguments), ("result", result)]
            .into_iter()
            .filter_map(|(name, raw)| Some((name, raw?)))
            .collect();
        let item = evidence(Evidence {
            kind: "tool",
            is_by_person: false,
            tool: name.to_owned(),
            command: None,
            exit_code: None,
            summary: Some(outcome(span, None)),
            report: report_of(&report),
        });
        let said = [fields::ARGUMENTS, fields::RESULT].map(|name| span.read(name));
        Read::Entry(Box::new(Entry {
            text: span.text(),
            table: fields::TOOL,
            at: span.ended(),
            said: Said::of(&said, None),
            ..self.entry(place, span.name.clone(), Speaker::Program, vec![item])
        }))
    }

    /// A hook that ran.
    fn hook(&self, span: &Span, place: &Place) -> Read {
        let names = [fields::HOOK_INPUT, fields::HOOK_OUTPUT, fields::HOOK_RESULT];
        let report: BTreeMap<&str, Box<RawValue>> = names
            .into_iter()
            .filter_map(|name| Some((name.rsplit('.').next()?, json(span.read(name)?))))
            .collect();
        let item = evidence(Evidence {
            kind: "hook",
            is_by_person: false,
            tool: span.read(fields::HOOK).unwrap_or("(none)").to_owned(),
            command: span.read(fields::HOOK_COMMAND).map(str::to_owned),
            exit_code: None,
            summary: Some(outcome(span, span.read(fields::HOOK_RESULT))),
            report: report_of(&report),
        });
        let said = [
            fields::HOOK,
            fields::HOOK_COMMAND,
            fields::HOOK_INPUT,
            fields::HOOK_OUTPUT,
        ];
        Read::Entry(Box::new(Entry {
            text: span.text(),
            table: fields::HOOKED,
            at: span.ended(),
            said: Said::of(&said.map(|name| span.read(name)), None),
            ..self.entry(place, span.name.clone(), Speaker::Program, vec![item])
        }))
    }

    /// A span of a kind that is not known: it is kept, and its kind is named.
    fn other(&self, span: &Span, place: &Place) -> Vec<Read> {
        let kind = texts::kind_name(span.operation());
        let text = span.text();
        let raw = json(&text);
        let item = Item::of(
            0,
            fields::WHOLE_PATH,
            Some(&raw),
            fields::WHOLE,
            What::whole(&kind, &raw),
        );
        let entry = Entry {
            at: span.began(),
            said: Said::of(&[Some(&kind), Some(&text)], None),
            ..self.entry(place, span.name.clone(), Speaker::Program, vec![item])
        };
        let unknown = Read::Unknown {
            kind,
            text: String::new(),
        };
        vec![Read::Entry(Box::new(entry)), unknown]
    }

    /// The events of a span but for what was typed: kept as they are, unless others say the same.
    fn events(&self, span: &Span, place: &Place) -> Vec<Read> {
        let mut reads = Vec::new();
        let is_agent = span.operation() == "invoke_agent";
        let events = span.events.iter().enumerate();
        for (number, event) in events.filter(|(_, event)| !(is_agent && is_typed(event))) {
            let kind = texts::kind_name(&event.name);
            if matches!(kind.as_str(), "turn_start" | "turn_end" | "tools_available") {
                let text = format!("{{\"events\":{}}}", event.attributes.get());
                reads.push(skipped(&kind, text));
                continue;
            }
            let what = What::whole(&kind, &event.attributes);
            let raw = Some(event.attributes.as_ref());
            let item = Item::of(0, fields::EVENT_PATH, raw, fields::EVENT, what);
            let name = format!("{}/event/{number}", span.name);
            reads.push(Read::Entry(Box::new(Entry {
                at: event.at.or_else(|| span.began()),
                said: Said::of(&[Some(&kind), Some(event.attributes.get())], None),
                ..self.entry(place, name, Speaker::Program, vec![item])
            })));
        }
        reads
    }
}

/// A row that waits for another one.
fn waits(kind: &str) -> Read {
    Read::Waits {
        kind: kind.to_owned(),
    }
}

/// A row's cells as JSON, in which they are empty: it is counted that they are there.
fn row_text(row: &Row) -> String {
    let cells = row.cells.iter();
    let cells: BTreeMap<&str, &str> = cells.map(|(name, _)| (*name, "")).collect();
    let cells = BTreeMap::from([(row.table, cells)]);
    serde_json::to_string(&cells).unwrap_or_default()
}

fn is_typed(event: &Event) -> bool {
    event.name == "user_message"
}

fn skipped(kind: &str, text: String) -> Read {
    Read::Skipped {
        kind: kind.to_owned(),
        text,
    }
}

fn evidence(evidence: Evidence) -> Item {
    Item::new(0, "(the span)", Vec::new(), What::Evidence(evidence))
}

/// All that a span has of something, by its names.
fn report_of(report: &impl Serialize) -> Option<Part> {
    let raw = to_raw_value(report).ok()?;
    texts::part(Some(&raw))
}

/// How a span ended, in words, and how long it took.
fn outcome(span: &Span, said: Option<&str>) -> String {
    let failed = span.column("status_message").unwrap_or("it failed");
    let ended = match (span.has_failed(), said) {
        (true, _) => failed,
        (false, Some(said)) => said,
        (false, None) => "it ended",
    };
    match span.duration_ms() {
        Some(took) => format!("{ended}, {took} ms"),
        None => ended.to_owned(),
    }
}

/// Why a span failed, if it did.
fn why_failed(span: &Span) -> Option<String> {
    if !span.has_failed() {
        return None;
    }
    let said = [span.column("status_message"), span.read(fields::ERROR)];
    let said: Vec<&str> = said.into_iter().flatten().collect();
    Some(match said.is_empty() {
        true => "it failed".to_owned(),
        false => said.join(": "),
    })
}

/// The same as what the program says.
fn failure(span: &Span) -> Option<Item> {
    let what = What::Said {
        kind: FrameKind::SystemState,
        text: why_failed(span)?,
        compaction: None,
    };
    Some(Item::new(1, "status_message", Vec::new(), what))
}

/// The tokens of a request: the cache's are a part of its input, and the reasoning of its output.
fn usage(span: &Span) -> Option<Usage> {
    let count = |name: &str| span.column(name)?.parse::<u64>().ok();
    let [input, output, read] = ["input_tokens", "output_tokens", "cached_tokens"].map(count);
    let written = span.read(fields::CACHE_WRITES);
    let written: Option<u64> = written.and_then(|count| count.parse().ok());
    if [input, output, read, written].iter().all(Option::is_none) {
        return None;
    }
    let cached = read
        .unwrap_or_default()
        .saturating_add(written.unwrap_or_default());
    let uncached = input.map(|input| input.saturating_sub(cached));
    let reasoning = count("reasoning_tokens");
    let usage = Usage::of([uncached, read, written, output]).with_reasoning(reasoning);
    Some(usage.with_fields(reasoning.is_some(), false, false))
}

/// The texts of a message's parts as one.
fn text_of(parts: &[&RawValue]) -> String {
    let text = |part: &&RawValue| Members::of(Some(part)).get::<String>("content");
    let texts: Vec<String> = parts.iter().filter_map(text).collect();
    texts.join("\n")
}

/// The parts of a message that are no texts.
fn others_of(parts: &[&RawValue]) -> Vec<Box<RawValue>> {
    let is_text = |part: &RawValue| Members::of(Some(part)).get::<String>("content").is_some();
    let others = parts.iter().filter(|part| !is_text(part));
    others.map(|part| (*part).to_owned()).collect()
}

/// The last thing that was said to an agent.
fn last_prompt(messages: &str) -> Option<String> {
    let messages = elements(messages).0.into_iter().rev();
    let mut of_user = messages.map(|raw| Members::of(Some(raw)));
    let last = of_user.find(|message| message.text("role").as_deref() == Some("user"))?;
    Some(text_of(&last.list("parts"))).filter(|text| !text.trim().is_empty())
}

/// Arguments are an object, or one in a text.
fn arguments(raw: &RawValue) -> Box<RawValue> {
    let text: Option<String> = serde_json::from_str(raw.get()).ok();
    text.map_or_else(|| raw.to_owned(), |text| json(&text))
}

/// A text as the JSON that it has, or else as a text.
fn json(text: &str) -> Box<RawValue> {
    let read = RawValue::from_string(text.to_owned()).ok();
    let read = read.or_else(|| json_text(text));
    read.unwrap_or_else(|| RawValue::NULL.to_owned())
}

/// A time in milliseconds.
fn time(text: &str) -> Option<Timestamp> {
    at_millis(text.trim().parse().ok()?)
}
