//! One line of a recording as Claude Code writes it, and the entry that it is.

use std::collections::BTreeMap;

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use annals_domain::run::{GrantScope, ToolDecider, ToolVerdict};
use annals_event_log::IdSecret;
use memchr::memmem;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{fields, ids, written};
use crate::import::bad_line::BadLine;
use crate::import::fields::{NOTHING, Table};
use crate::import::format::time;
use crate::import::members::{Members, elements};
use crate::transcript::item;
use crate::transcript::item::{
    CallDecision, Course, Details, Dropped, Entry, Evidence, Item, ModelUsage, Origin, QUEUED,
    Read, Said, Setting, Source, Speaker, SubAgent, What,
};
use crate::transcript::texts;

/// The fields of a line that belongs to a session. Those that are null or not
/// there have their defaults.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Talk {
    /// The line's own name; made up where it has none.
    #[serde(default)]
    pub(super) uuid: Option<String>,
    /// Who said it.
    #[serde(default, rename = "type")]
    pub(super) kind: Option<String>,
    #[serde(default)]
    pub(super) parent_uuid: Option<String>,
    #[serde(default)]
    pub(super) session_id: Option<String>,
    #[serde(default)]
    pub(super) agent_id: Option<String>,
    #[serde(default)]
    timestamp: Option<String>,
    /// The prompt that the line is of.
    #[serde(default)]
    prompt_id: Option<String>,
    #[serde(default)]
    request_id: Option<Box<RawValue>>,
    /// What older versions say that the message cost.
    #[serde(default, rename = "costUSD")]
    cost: Option<Box<RawValue>>,
    #[serde(default)]
    is_sidechain: Option<bool>,
    #[serde(default)]
    is_meta: Option<bool>,
    #[serde(default)]
    is_compact_summary: Option<bool>,
    #[serde(default)]
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) git_branch: Option<String>,
    #[serde(default)]
    pub(super) version: Option<String>,
    /// The session that it was forked from.
    #[serde(default)]
    forked_from: Option<Box<RawValue>>,
    #[serde(default)]
    message: Option<RawMessage>,
    #[serde(default)]
    pub(super) tool_use_result: Option<Box<RawValue>>,
    /// Who or what let the call through, or did not (newer versions).
    #[serde(default)]
    pub(super) permission_decision: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) tool_denial_kind: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) subtype: Option<String>,
    #[serde(default)]
    pub(super) content: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) compact_metadata: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) attachment: Option<Box<RawValue>>,
    #[serde(default)]
    pub(super) data: Option<Box<RawValue>>,
    /// The call that a sub-agent works for.
    #[serde(default, rename = "parentToolUseID")]
    parent_tool_use: Option<Box<RawValue>>,
    /// Whether it has a name of its own.
    #[serde(skip)]
    is_named: bool,
}

impl Talk {
    /// When it was written, if it says so.
    fn at(&self) -> Option<Timestamp> {
        time(self.timestamp.as_deref()?)
    }

    /// Stands for what a sub-agent says, in the session and at the place of another line.
    pub(super) fn stand_in(&mut self, outer: Talk, agent: Option<String>) {
        if !self.is_named {
            self.uuid = outer.uuid;
        }
        self.session_id = outer.session_id;
        self.agent_id = agent;
        self.is_sidechain = Some(true);
        self.parent_uuid = None;
        self.timestamp = self.timestamp.take().or(outer.timestamp);
        self.request_id = self.request_id.take().or(outer.request_id);
        self.cwd = outer.cwd;
        self.git_branch = outer.git_branch;
        self.version = outer.version;
    }

    fn course(&self) -> Course {
        let agent = self.agent_id.as_deref();
        match agent.filter(|id| !id.trim().is_empty()) {
            _ if self.is_sidechain != Some(true) => Course::Main,
            Some(agent) => Course::Side(agent.to_owned()),
            None => Course::Beside,
        }
    }
}

#[derive(Debug, Deserialize)]
struct RawMessage {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    stop_reason: Option<Box<RawValue>>,
}

/// The tokens of a message so far. What is null is there, and counts nothing.
#[derive(Debug, Default, Deserialize)]
struct Usage {
    #[serde(default, deserialize_with = "present")]
    input_tokens: Option<Option<u64>>,
    #[serde(default, deserialize_with = "present")]
    cache_read_input_tokens: Option<Option<u64>>,
    #[serde(default, deserialize_with = "present")]
    cache_creation_input_tokens: Option<Option<u64>>,
    #[serde(default, deserialize_with = "present")]
    output_tokens: Option<Option<u64>>,
    #[serde(default)]
    cache_creation: Option<Box<RawValue>>,
    /// What the vendor's own tools did, of which searches have a price.
    #[serde(default)]
    server_tool_use: Option<Box<RawValue>>,
    /// The steps of the request. What other models did in it is only here.
    #[serde(default)]
    iterations: Option<Box<RawValue>>,
    /// How the request was served, which has prices of its own.
    #[serde(default)]
    speed: Option<Box<RawValue>>,
    #[serde(default)]
    service_tier: Option<Box<RawValue>>,
    #[serde(default)]
    inference_geo: Option<Box<RawValue>>,
}

/// The tokens written to a cache, by how long they stay.
#[derive(Debug, Default, Deserialize)]
struct CacheCreation {
    #[serde(default)]
    ephemeral_1h_input_tokens: Option<u64>,
}

impl CacheCreation {
    fn kept_for_an_hour(raw: Option<&RawValue>) -> Option<u64> {
        let written: Option<CacheCreation> =
            raw.and_then(|raw| serde_json::from_str(raw.get()).ok());
        written?.ephemeral_1h_input_tokens
    }
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl Usage {
    /// The same with what the line says that the message cost. What is not a number there is none.
    fn with_cost(self, cost: Option<&RawValue>) -> item::Usage {
        let usd: Option<f64> = cost.and_then(|cost| serde_json::from_str(cost.get()).ok());
        let hour = CacheCreation::kept_for_an_hour(self.cache_creation.as_deref());
        let tools = Members::of(self.server_tool_use.as_deref());
        let all = [
            self.input_tokens,
            self.cache_read_input_tokens,
            self.cache_creation_input_tokens,
            self.output_tokens,
        ];
        // What is null is there, and counts nothing.
        let [input, read, write, output] = all.map(|count| u64::from(count.is_some()));
        item::Usage {
            fields: [input, read, write, output, 0, 0, 0, 0],
            ..item::Usage::of(all.map(Option::flatten))
        }
        .with_kept_for_an_hour(hour)
        .with_cost(usd)
        .with_fields(false, hour.is_some(), usd.is_some())
        .with_web_searches(tools.count("web_search_requests"))
    }

    /// The name by which a model's tokens are priced that were served faster, together with those of other requests, or in one
    /// country alone.
    fn priced_as(&self, model: &str) -> Option<String> {
        let is =
            |raw: Option<&RawValue>, word: &str| own_text(raw).is_some_and(|text| text == word);
        let endings = [
            (is(self.speed.as_deref(), "fast"), "-fast"),
            (is(self.service_tier.as_deref(), "batch"), "-batch"),
            (is(self.inference_geo.as_deref(), "us"), "-us"),
        ];
        let mut name = model.to_owned();
        for (_, ending) in endings.iter().filter(|(is_so, _)| *is_so) {
            if !name.ends_with(ending) {
                name.push_str(ending);
            }
        }
        (name != model).then_some(name)
    }

    /// What the request used that its totals do not have, by model: of an advisor, and to compact the context.
    fn beside(&self, model: Option<&str>) -> Vec<ModelUsage> {
        let steps = self.iterations.as_deref().map(RawValue::get);
        let (steps, _) = elements(steps.unwrap_or("[]"));
        let mut models: BTreeMap<String, [u64; 5]> = BTreeMap::new();
        for step in steps {
            let step = Members::of(Some(step));
            let named = step.text("model").filter(|name| !name.trim().is_empty());
            let is_apart = match step.text("type").as_deref() {
                // The totals are the sums of these; what a model declined to answer costs nothing.
                None | Some("message" | "fallback_message") => false,
                Some("advisor_message" | "compaction") => true,
                Some(_) => named.is_some() && named.as_deref() != model,
            };
            let Some(name) = named.or_else(|| model.map(str::to_owned)) else {
                continue;
            };
            if !is_apart {
                continue;
            }
            let hour = CacheCreation::kept_for_an_hour(step.raw("cache_creation"));
            let [input, read, write, output] = [
                "input_tokens",
                "cache_read_input_tokens",
                "cache_creation_input_tokens",
                "output_tokens",
            ]
            .map(|field| step.count(field).unwrap_or_default());
            let counts = [input, read, write, output, hour.unwrap_or_default()];
            let sums = models.entry(name).or_default().iter_mut();
            sums.zip(counts)
                .for_each(|(sum, more)| *sum = sum.saturating_add(more));
        }
        let usage = |(model, sums): (String, [u64; 5])| {
            let [input, read, write, output, hour] = sums;
            let usage = item::Usage {
                fields: [0; item::COUNTS],
                ..item::Usage::of([input, read, write, output].map(Some))
            };
            ModelUsage {
                model,
                usage: usage.with_kept_for_an_hour(Some(hour)),
            }
        };
        models.into_iter().map(usage).collect()
    }
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct Block {
    /// Its JSON; none for a message that is one text.
    raw: Option<Box<RawValue>>,
    part: Part,
}

/// What a part of a message is.
#[derive(Debug)]
enum Part {
    Text(String),
    Thinking(String),
    ToolUse {
        id: Option<String>,
        name: String,
        input: Option<Box<RawValue>>,
    },
    ToolResult {
        tool_use: Option<String>,
        content: Option<Box<RawValue>>,
        is_error: bool,
    },
    /// A part of another type, by its name: an image, a search's result.
    Other(String),
}

#[derive(Debug, Deserialize)]
struct RawBlock {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    thinking: Option<String>,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    input: Option<Box<RawValue>>,
    #[serde(default)]
    tool_use_id: Option<String>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    is_error: Option<bool>,
}

/// A line that belongs to a session, and the parts of its message.
pub(super) fn talk(
    text: &str,
    secret: Option<&IdSecret>,
) -> Result<(Box<Talk>, Vec<Block>), BadLine> {
    named(serde_json::from_str(text)?, text, secret)
}

/// The same of a line that was read.
pub(super) fn named(
    mut talk: Box<Talk>,
    text: &str,
    secret: Option<&IdSecret>,
) -> Result<(Box<Talk>, Vec<Block>), BadLine> {
    let is_named = |uuid: &String| !uuid.trim().is_empty();
    talk.is_named = talk.uuid.as_ref().is_some_and(is_named);
    talk.uuid = match talk.uuid.take().filter(is_named) {
        Some(uuid) => Some(uuid),
        None => Some(ids().anonymous(text.as_bytes(), secret)),
    };
    let content = talk
        .message
        .as_mut()
        .and_then(|message| message.content.take());
    let blocks = content.map_or_else(|| Ok(Vec::new()), |content| blocks(&content))?;
    Ok((talk, blocks))
}

/// The entry of a line, or that it has nothing for a log.
pub(super) fn entry(text: String, mut talk: Talk, blocks: Vec<Block>, speaker: Speaker) -> Read {
    let said = said(&talk, &blocks);
    let name = talk.uuid.clone().unwrap_or_default();
    let mut items = match (speaker, talk.kind.as_deref()) {
        (Speaker::User, _) => user(&talk, blocks),
        (Speaker::Model, _) => model(&name, blocks),
        (Speaker::Program, Some("attachment")) => attachment(&talk),
        (Speaker::Program, _) => system(&talk, &text),
    };
    if speaker == Speaker::Program && items.is_empty() {
        let kind = match talk.kind.as_deref() {
            Some("attachment") => "attachment".to_owned(),
            _ => format!("system/{}", talk.subtype.as_deref().unwrap_or_default()),
        };
        return Read::Skipped { kind, text };
    }
    let dropped = dropped(&talk);
    let course = talk.course();
    let at = talk.at();
    let usage = talk
        .message
        .as_mut()
        .and_then(|message| message.usage.take());
    let message = talk.message.as_ref();
    let model = message.and_then(|message| message.model.clone());
    let named = usage.as_ref().zip(model.as_deref());
    let priced_as = named.and_then(|(usage, model)| usage.priced_as(model));
    let beside = usage.as_ref().map(|usage| usage.beside(model.as_deref()));
    let usage = usage.map(|usage| usage.with_cost(talk.cost.as_deref()));
    let has_text = |text: &String| !text.trim().is_empty();
    let origin = Origin {
        request: own_text(talk.request_id.as_deref()),
        stop_reason: own_text(message.and_then(|message| message.stop_reason.as_deref())),
        git_branch: talk.git_branch.clone().filter(has_text),
        script: None,
    };
    let decisions = decisions(&talk, &mut items);
    Read::Entry(Box::new(Entry {
        text,
        table: fields::TALK,
        older_session: None,
        session: talk.session_id.clone().filter(has_text),
        course,
        name,
        parent: talk.parent_uuid,
        at,
        setting: Some(Setting {
            cwd: talk.cwd,
            git_branch: talk.git_branch,
            version: talk.version,
            continues: talk.forked_from.as_deref().and_then(forked_from),
        }),
        speaker,
        message: message
            .and_then(|message| message.id.clone())
            .filter(has_text),
        model,
        prompt: talk.prompt_id.filter(has_text),
        usage,
        priced_as,
        beside: beside.unwrap_or_default(),
        subtype: talk.subtype,
        origin,
        details: talk.tool_use_result.map(details),
        items,
        dropped,
        decisions,
        older_frame: None,
        said,
    }))
}

/// What is known of decisions on the calls whose results a line has.
fn decisions(talk: &Talk, items: &mut Vec<Item>) -> Vec<CallDecision> {
    let stated = Members::of(talk.permission_decision.as_deref());
    if stated.is_empty() && talk.tool_denial_kind.is_some() {
        // A version that states each decision states none of a call that was interrupted while it ran.
        items.retain(|item| !is_refusal(item));
        return Vec::new();
    }
    let decided = items.iter().filter_map(|item| decided(item, &stated));
    decided.collect()
}

/// A prompt that was queued while the agent worked, as an attachment has it.
pub(super) struct AttachedPrompt {
    pub(super) text: String,
    /// The name that the program gives it.
    pub(super) source: Option<String>,
    blocks: Vec<Block>,
}

impl AttachedPrompt {
    /// Reads an attachment. `None` if it is no prompt of a person: what ends a task in the background is queued, and what
    /// other agents say.
    pub(super) fn read(talk: &Talk) -> Option<AttachedPrompt> {
        let attachment = Members::of(talk.attachment.as_deref());
        if attachment.text("type").as_deref() != Some(QUEUED) || talk.course() != Course::Main {
            return None;
        }
        let mode = attachment.text("commandMode");
        let origin = attachment.within("origin").text("kind");
        let is_by_program =
            talk.is_meta == Some(true) || attachment.get("isMeta").unwrap_or_default();
        let is_prompt = mode.is_none_or(|mode| mode == "prompt");
        if is_by_program || !is_prompt || origin.is_some_and(|origin| origin != "human") {
            return None;
        }
        let blocks = blocks(attachment.raw("prompt")?).ok()?;
        let texts = blocks.iter().filter_map(|block| match &block.part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let text = texts.collect::<Vec<_>>().join("\n");
        written::asked(&text)?;
        Some(AttachedPrompt {
            text,
            source: attachment.text("source_uuid"),
            blocks,
        })
    }

    /// The entry of an attachment as the prompt that it has.
    pub(super) fn entry(self, text: String, talk: Talk) -> Read {
        // A copy of the line may repeat the prompt.
        let said = said(&talk, &[]);
        let mut read = entry(text, talk, self.blocks, Speaker::User);
        if let Read::Entry(entry) = &mut read {
            entry.said = said;
            entry.subtype = Some(QUEUED.to_owned());
            entry.table = fields::ATTACHED;
            for item in &mut entry.items {
                // All of it is counted as a part of the line.
                item.sources.clear();
                item.path = "attachment.prompt";
            }
        }
        read
    }
}

/// A compaction takes all that was before out of the context. One that says which messages it kept
/// drops a part that it does not name.
fn dropped(talk: &Talk) -> Dropped {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        #[serde(default)]
        preserved_segment: Option<serde::de::IgnoredAny>,
    }
    let is_boundary = talk.kind.as_deref() == Some("system")
        && talk.subtype.as_deref() == Some("compact_boundary");
    let metadata = talk.compact_metadata.as_deref();
    let metadata = metadata.and_then(|raw| serde_json::from_str::<Metadata>(raw.get()).ok());
    let keeps = metadata.is_some_and(|metadata| metadata.preserved_segment.is_some());
    match is_boundary && !keeps {
        true => Dropped::All,
        false => Dropped::Nothing,
    }
}

/// The name of the session that a line says it was forked from.
fn forked_from(raw: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ForkedFrom {
        #[serde(default)]
        session_id: Option<String>,
    }
    let forked: ForkedFrom = serde_json::from_str(raw.get()).ok()?;
    forked.session_id.filter(|id| !id.trim().is_empty())
}

/// A text that is not blank. What is none must not make its line unreadable.
fn own_text(raw: Option<&RawValue>) -> Option<String> {
    let text: Option<String> = serde_json::from_str(raw?.get()).ok()?;
    text.filter(|text| !text.trim().is_empty())
}

fn said(talk: &Talk, blocks: &[Block]) -> Said {
    fn raw(json: &Option<Box<RawValue>>) -> Option<&str> {
        json.as_deref().map(RawValue::get)
    }
    let mut parts = vec![
        talk.kind.as_deref(),
        talk.subtype.as_deref(),
        raw(&talk.content),
        raw(&talk.attachment),
    ];
    parts.extend(blocks.iter().map(|block| match &block.part {
        Part::Text(text) if block.raw.is_none() => Some(text.as_str()),
        _ => raw(&block.raw),
    }));
    Said::of(&parts, talk.tool_use_result.as_deref())
}

fn details(raw: Box<RawValue>) -> Details {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Timed {
        #[serde(default)]
        duration_ms: Option<f64>,
        #[serde(default)]
        total_duration_ms: Option<f64>,
    }
    let timed: Timed = serde_json::from_str(raw.get()).unwrap_or_default();
    let took = timed.duration_ms.or(timed.total_duration_ms);
    Details {
        path: "toolUseResult",
        raw,
        table: fields::RESULT,
        edit_table: fields::EDIT_RESULT,
        // Some versions write fractions of milliseconds.
        duration_ms: took
            .filter(|took| *took >= 0.0)
            .map(|took| took.round() as u64),
    }
}

/// The path of a part of a message.
const PART: &str = "message.content[]";

fn source(raw: Option<Box<RawValue>>, table: Table) -> Source {
    Source {
        path: match raw {
            Some(_) => PART,
            None => "message.content",
        },
        raw,
        table,
    }
}

/// The sub-agent that the result of a call names.
pub(super) fn sub_agent_of_result(talk: &Talk, blocks: &[Block]) -> Option<SubAgent> {
    let call = blocks.iter().find_map(|block| match &block.part {
        Part::ToolResult { tool_use, .. } => tool_use.clone(),
        _ => None,
    })?;
    let result = talk.tool_use_result.as_deref()?;
    // Results are many, and few are of sub-agents.
    memmem::find(result.get().as_bytes(), b"\"agentId\"")?;
    Some(SubAgent {
        session: talk.session_id.clone(),
        name: Members::of(Some(result)).text("agentId")?,
        call: Some(call),
        parent: None,
    })
}

/// The sub-agent whose work a line of the program shows.
pub(super) fn sub_agent_at_work(talk: &Talk, agent: Option<&str>) -> Option<SubAgent> {
    Some(SubAgent {
        session: talk.session_id.clone(),
        name: agent?.to_owned(),
        call: own_text(talk.parent_tool_use.as_deref()),
        parent: match talk.course() {
            Course::Side(agent) => Some(agent),
            Course::Main | Course::Beside => None,
        },
    })
}

/// Results first, then the text, then what else there is.
fn user(talk: &Talk, blocks: Vec<Block>) -> Vec<Item> {
    let (mut results, mut others) = (Vec::new(), Vec::new());
    let parts = blocks.len();
    let (mut texts, mut sources) = (Vec::new(), Vec::new());
    for (index, block) in blocks.into_iter().enumerate() {
        match block.part {
            Part::ToolResult {
                tool_use,
                content,
                is_error,
            } => {
                if is_error && refuses(content.as_deref()) {
                    let call = tool_use.clone().unwrap_or_default();
                    others.push(refusal(parts + 1 + index, call, content.as_deref()));
                }
                let what = result(tool_use, content, is_error);
                results.push(part(index, block.raw, fields::TOOL_RESULT, what));
            }
            Part::Text(text) => {
                texts.push(text);
                sources.push(source(block.raw, fields::TEXT));
            }
            Part::Thinking(text) => {
                let what = What::Thinking(text);
                others.push(part(index, block.raw, fields::THINKING, what));
            }
            Part::ToolUse { .. } => others.push(whole(index, block.raw, "tool_use")),
            Part::Other(kind) => others.push(whole(index, block.raw, &kind)),
        }
    }
    let text = texts.join("\n");
    let answers = !results.is_empty();
    let mut items = results;
    if !text.trim().is_empty() {
        let is_own = talk.is_sidechain == Some(true) || talk.is_meta == Some(true) || answers;
        let asked = written::asked(&text).filter(|_| !is_own).map(str::to_owned);
        items.push(Item::new(
            0,
            "message.content",
            sources,
            What::Prompt {
                asked,
                text,
                is_summary: talk.is_compact_summary == Some(true),
            },
        ));
    }
    items.append(&mut others);
    items
}

fn model(name: &str, blocks: Vec<Block>) -> Vec<Item> {
    let item = |(index, block): (usize, Block)| match block.part {
        Part::Text(text) => part(index, block.raw, fields::TEXT, What::Text(text)),
        Part::Thinking(text) => {
            let what = What::Thinking(text);
            part(index, block.raw, fields::THINKING, what)
        }
        Part::ToolUse {
            id,
            name: tool,
            input,
        } => {
            let is_named = |id: &String| !id.trim().is_empty();
            let what = What::ToolCall {
                id: id
                    .filter(is_named)
                    .unwrap_or_else(|| format!("{name}/{index}")),
                name: tool,
                input,
                input_path: "message.content[].input",
            };
            part(index, block.raw, fields::TOOL_USE, what)
        }
        Part::ToolResult { .. } => whole(index, block.raw, "tool_result"),
        Part::Other(kind) => whole(index, block.raw, &kind),
    };
    blocks.into_iter().enumerate().map(item).collect()
}

/// What the program says; nothing, if it says nothing.
fn system(talk: &Talk, line: &str) -> Vec<Item> {
    let text = texts::text_of(talk.content.as_deref());
    let kind = match talk.subtype.as_deref() {
        Some("stop_hook_summary") => "hook",
        Some("api_error") => "api_error",
        Some("turn_duration") => "turn_duration",
        _ => "",
    };
    if text.trim().is_empty() && !kind.is_empty() {
        return kept(kind, line).into_iter().collect();
    }
    let is_boundary = talk.subtype.as_deref() == Some("compact_boundary");
    if text.trim().is_empty() && !is_boundary {
        return Vec::new();
    }
    let kind = match is_boundary {
        true => FrameKind::Checkpoint,
        false => FrameKind::SystemState,
    };
    vec![Item::new(
        0,
        "content",
        Vec::new(),
        What::Said {
            kind,
            text,
            compaction: talk.compact_metadata.clone(),
        },
    )]
}

fn attachment(talk: &Talk) -> Vec<Item> {
    let part = texts::part(talk.attachment.as_deref());
    let item = |part| {
        Item::new(
            0,
            "attachment",
            Vec::new(),
            What::Whole {
                kind: FrameKind::SystemState,
                summary: "attachment".to_owned(),
                part: Some(part),
            },
        )
    };
    part.map(item).into_iter().collect()
}

/// How the result of a call begins that a person did not allow.
const REFUSED: &str = "The user doesn't want to proceed with this tool use.";

fn refuses(content: Option<&RawValue>) -> bool {
    texts::text_of(content).starts_with(REFUSED)
}

/// How the result of a call begins that nobody allowed, in a session that could not ask, or that a rule denied; and
/// what it says where a mode denied it.
const NOT_GRANTED: &str = "Claude requested permissions to ";
const NOT_GRANTED_END: &str = "you haven't granted it yet.";
const DENIED: &str = "Permission to use ";
const DENIED_END: &str = "has been denied";
const NOT_ASKING: &str = "because Claude Code is running in don't ask mode";
/// What comes before a person's own words in the result of a call that was refused.
const SAID: &str = "the user said:";

/// What is known of a decision on the call whose result an item is: what the line states, or else what the text of a result
/// that is an error says.
fn decided(item: &Item, stated: &Members<'_>) -> Option<CallDecision> {
    let What::ToolResult {
        call,
        content,
        is_error,
        ..
    } = &item.what
    else {
        return None;
    };
    let by_text = || {
        is_error
            .then(|| decision(call, content.as_deref()))
            .flatten()
    };
    let Some((verdict, by)) = verdict(stated) else {
        return by_text();
    };
    let code = stated.text("reasonCode").filter(|code| code != "unknown");
    let said = by_text().and_then(|it| it.reason);
    Some(CallDecision {
        by_name: code.filter(|_| by != ToolDecider::Person),
        source: stated.text("ruleSource"),
        scope: match (by, stated.text("grantScope").as_deref()) {
            (ToolDecider::Person, Some("once")) => Some(GrantScope::Once),
            (ToolDecider::Person, Some("session")) => Some(GrantScope::Session),
            (ToolDecider::Person, Some(_)) => Some(GrantScope::Settings),
            _ => None,
        },
        reason: said,
        ..CallDecision::new(call, verdict, by)
    })
}

/// Returns what a line states of a decision, if it states who or what decided.
fn verdict(stated: &Members<'_>) -> Option<(ToolVerdict, ToolDecider)> {
    let verdict = match stated.text("decision")?.as_str() {
        "accept" => ToolVerdict::Allow,
        "reject" => ToolVerdict::Deny,
        _ => return None,
    };
    let source = stated.text("source").unwrap_or_default();
    if source.starts_with("user") {
        return Some((verdict, ToolDecider::Person));
    }
    let code = stated.text("reasonCode").unwrap_or_default();
    let by_code = code.split(':').next().filter(|it| *it != "unknown");
    let kind = stated.text("reasonType");
    let by = match kind.as_deref().or(by_code)? {
        "classifier" => ToolDecider::Classifier,
        "mode" => ToolDecider::Mode,
        "hook" => ToolDecider::Hook,
        // The parts of a command, each by a rule.
        "rule" | "subcommandResults" => ToolDecider::Rule,
        _ if source == "hook" => ToolDecider::Hook,
        _ => return None,
    };
    Some((verdict, by))
}

/// Returns `true` for the evidence that a person refused a call.
fn is_refusal(item: &Item) -> bool {
    matches!(&item.what, What::Evidence(evidence) if evidence.kind == REFUSAL)
}

/// The kind of that evidence.
const REFUSAL: &str = "decision";

/// What the result of a call that failed says of who did not let it through.
fn decision(call: &str, content: Option<&RawValue>) -> Option<CallDecision> {
    let text = texts::text_of(content);
    let decided = |verdict, by| CallDecision::new(call, verdict, by);
    if text.starts_with(REFUSED) {
        let said = text
            .split_once(SAID)
            .map(|(_, said)| said.trim().to_owned());
        return Some(CallDecision {
            reason: said.filter(|said| !said.is_empty()),
            ..decided(ToolVerdict::Deny, ToolDecider::Person)
        });
    }
    if text.starts_with(NOT_GRANTED) && text.contains(NOT_GRANTED_END) {
        return Some(CallDecision {
            reason: Some(text),
            ..decided(ToolVerdict::Ask, ToolDecider::Mode)
        });
    }
    if !text.starts_with(DENIED) || !text.contains(DENIED_END) {
        return None;
    }
    let is_by_mode = text.contains(NOT_ASKING);
    let by = match is_by_mode {
        true => ToolDecider::Mode,
        false => ToolDecider::Rule,
    };
    Some(CallDecision {
        by_name: is_by_mode.then(|| "dontAsk".to_owned()),
        reason: Some(text),
        ..decided(ToolVerdict::Deny, by)
    })
}

/// That a person refused a call. Its result is an error as well, which says nothing of who.
fn refusal(frame: usize, call: String, content: Option<&RawValue>) -> Item {
    Item::new(
        frame,
        PART,
        Vec::new(),
        What::Evidence(Evidence {
            kind: REFUSAL,
            is_by_person: true,
            tool: call,
            command: None,
            exit_code: None,
            summary: Some(format!("denied: {}", texts::text_of(content))),
            report: None,
        }),
    )
}

fn result(tool_use: Option<String>, content: Option<Box<RawValue>>, is_error: bool) -> What {
    What::ToolResult {
        call: tool_use.unwrap_or_default(),
        content,
        is_error,
        content_path: "message.content[].content",
        error_path: "message.content[].is_error",
    }
}

/// A part of a message. Frame 0 is of the line, and those above are of its parts.
fn part(index: usize, raw: Option<Box<RawValue>>, table: Table, what: What) -> Item {
    Item::new(index + 1, PART, vec![source(raw, table)], what)
}

/// A part that has no place of its own.
fn whole(index: usize, raw: Option<Box<RawValue>>, kind: &str) -> Item {
    let kept = texts::part(raw.as_deref());
    let table = match kept {
        Some(_) => fields::WHOLE,
        None => NOTHING,
    };
    let kind = match kind.trim() {
        "" => "(none)",
        kind => texts::beginning(kind, 100),
    };
    let what = What::Whole {
        kind: FrameKind::Other(kind.to_owned()),
        summary: kind.to_owned(),
        part: kept,
    };
    part(index, raw, table, what)
}

fn blocks(content: &RawValue) -> Result<Vec<Block>, BadLine> {
    if content.get().starts_with('"') {
        let part = Part::Text(BadLine::within("message.content", content)?);
        return Ok(vec![Block { raw: None, part }]);
    }
    let list: Vec<Box<RawValue>> = BadLine::within("message.content", content)?;
    list.into_iter().map(block).collect()
}

fn block(raw: Box<RawValue>) -> Result<Block, BadLine> {
    let read: RawBlock = BadLine::within("message.content[]", &raw)?;
    let part = match read.kind.as_deref() {
        Some("text") => Part::Text(read.text.unwrap_or_default()),
        Some("thinking") => Part::Thinking(read.thinking.unwrap_or_default()),
        Some("tool_use") => Part::ToolUse {
            id: read.id,
            name: read.name.unwrap_or_default(),
            input: read.input,
        },
        Some("tool_result") => Part::ToolResult {
            tool_use: read.tool_use_id,
            content: read.content,
            is_error: read.is_error.unwrap_or(false),
        },
        Some(kind) => Part::Other(kind.to_owned()),
        None => Part::Other("(none)".to_owned()),
    };
    let raw = Some(raw);
    Ok(Block { raw, part })
}

/// A line of the program that is kept as it is; nothing, if it cannot be read.
pub(super) fn kept(kind: &'static str, line: &str) -> Option<Item> {
    /// What some of them say in short.
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Brief {
        #[serde(default)]
        permission_mode: Option<String>,
        #[serde(default)]
        pr_url: Option<String>,
        #[serde(default)]
        duration_ms: Option<u64>,
        #[serde(default)]
        hook_errors: Vec<serde::de::IgnoredAny>,
    }
    let raw: &RawValue = serde_json::from_str(line).ok()?;
    let brief: Option<Brief> = serde_json::from_str(line).ok();
    let summary = brief.and_then(|brief| {
        let took = brief.duration_ms.map(|took| format!("{took} ms"));
        let errors = match brief.hook_errors.len() {
            0 => None,
            count => Some(format!("{count} failed")),
        };
        brief.permission_mode.or(brief.pr_url).or(took).or(errors)
    });
    Some(evidence(Evidence {
        kind,
        is_by_person: false,
        tool: "claude-code".to_owned(),
        command: None,
        exit_code: None,
        summary,
        report: texts::part(Some(raw)),
    }))
}

/// A line of the program as evidence.
pub(super) fn evidence(evidence: Evidence) -> Item {
    Item::new(0, "(the whole line)", Vec::new(), What::Evidence(evidence))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::super::parse;
    use super::super::program::Program;
    use super::*;
    use crate::import::redacted::RedactedText;
    use crate::secrets::Secrets;

    fn read(line: &[u8]) -> Result<Read, String> {
        let secrets = Secrets::none();
        let text = RedactedText::json(line.to_vec(), &secrets).map_err(|bad| bad.to_string())?;
        parse(text.0, None, &mut Program::default()).map_err(|bad| bad.to_string())
    }

    fn refused(line: &[u8]) -> String {
        read(line).unwrap_err()
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        assert_eq!(
            refused(b"{\"type\":\"user\""),
            "EOF while parsing an object at column 14"
        );
        assert_eq!(refused(b"[1]"), "it is not a JSON object");
        assert_eq!(refused(b"nonsense"), "expected ident at column 2");
        assert_eq!(
            refused(b"{\"type\":\"\xff\"}"),
            "it is not UTF-8 from byte 10 on"
        );
        let wrong = refused(br#"{"type":"user","uuid":5}"#);
        assert_eq!(
            wrong,
            "invalid type: integer `5`, expected a string at column 23"
        );
        let wrong = refused(br#"{"type":"user","message":{"content":[{"type":7}]}}"#);
        let expected =
            "in message.content[]: invalid type: integer `7`, expected a string at column 9";
        assert_eq!(wrong, expected);
        let wrong = refused(br#"{"type":"assistant","message":{"usage":{"input_tokens":-1}}}"#);
        assert!(wrong.starts_with("invalid value: integer `-1`"), "{wrong}");
    }

    #[test]
    fn a_line_of_an_unknown_type_may_have_any_fields() {
        let line = read(br#"{"type":"novelty","uuid":5,"message":[]}"#).unwrap();
        assert!(matches!(line, Read::Unknown { kind, .. } if kind == "novelty"));
        let line = read(b"{}").unwrap();
        assert!(matches!(line, Read::Unknown { kind, .. } if kind == "(none)"));
    }

    #[test]
    fn nulls_are_as_good_as_nothing() {
        let line =
            br#"{"type":"user","uuid":null,"isMeta":null,"message":{"content":null,"usage":null}}"#;
        let Read::Entry(entry) = read(line).unwrap() else {
            panic!("a user's line is expected");
        };
        assert!(entry.items.is_empty() && entry.usage.is_none() && !entry.name.is_empty());
    }

    #[test]
    fn depth_is_no_obstacle() {
        let deep = format!("{}1{}", "[".repeat(1_000), "]".repeat(1_000));
        let line = format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","input":{deep}}}]}}}}"#
        );
        assert!(read(line.as_bytes()).is_ok());
    }
}
