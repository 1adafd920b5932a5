//! Steps of a trajectory, and the entries that they are.

use annals_domain::Timestamp;
use annals_domain::pipeline::FrameKind;
use annals_event_log::IdSecret;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{fields, ids};
use crate::import::bad_line::BadLine;
use crate::import::document::Document;
use crate::import::fields::NOTHING;
use crate::import::format::Numbered;
use crate::import::format::time;
use crate::transcript::item::{
    Course, Entry, Item, Read, Said, Setting, Source, Speaker, SubAgent, Usage, What,
};
use crate::transcript::texts;

/// The beginning of a version's name; the number of its additions follows.
const MINOR: &str = "ATIF-v1.";

/// How deep trajectories of sub-agents are within others.
const GENERATIONS: usize = 16;

/// What a step needs of its trajectory.
struct Trajectory {
    /// The session that it belongs to.
    session: Option<String>,
    course: Course,
    /// What the names of its steps begin with.
    scope: Option<String>,
    /// The model of steps that name none.
    model: Option<String>,
    setting: Setting,
}

#[derive(Debug, Default, Deserialize)]
struct Agent {
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    model_name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Step {
    #[serde(default)]
    step_id: Option<u64>,
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default)]
    source: Option<String>,
    #[serde(default)]
    model_name: Option<String>,
    #[serde(default)]
    message: Option<Box<RawValue>>,
    #[serde(default)]
    reasoning_content: Option<String>,
    #[serde(default)]
    tool_calls: Option<Vec<Box<RawValue>>>,
    #[serde(default)]
    observation: Option<Observation>,
    #[serde(default)]
    metrics: Option<Metrics>,
    #[serde(default)]
    is_copied_context: Option<bool>,
    #[serde(default)]
    extra: Option<StepExtra>,
}

/// What producers say of a step in addition to the format.
#[derive(Debug, Deserialize)]
struct StepExtra {
    /// That the step makes the conversation shorter.
    #[serde(default)]
    context_management: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct Observation {
    #[serde(default)]
    results: Option<Vec<Box<RawValue>>>,
}

#[derive(Debug, Deserialize)]
struct ToolCall {
    #[serde(default)]
    tool_call_id: Option<String>,
    #[serde(default)]
    function_name: Option<String>,
    #[serde(default)]
    arguments: Option<Box<RawValue>>,
}

#[derive(Debug, Deserialize)]
struct ToolResult {
    #[serde(default)]
    source_call_id: Option<String>,
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    subagent_trajectory_ref: Option<Box<RawValue>>,
    #[serde(default)]
    extra: Option<ResultExtra>,
}

/// What producers say of a result in addition to the format, which has no place for failures.
#[derive(Debug, Default, Deserialize)]
struct ResultExtra {
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(default)]
    exit_code: Option<i64>,
}

/// The tokens of a step: the prompt has those of the cache, the completion has the reasoning.
#[derive(Debug, Deserialize)]
struct Metrics {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    cached_tokens: Option<u64>,
    #[serde(default)]
    cost_usd: Option<f64>,
    #[serde(default)]
    extra: Option<MetricsExtra>,
}

#[derive(Debug, Deserialize)]
struct MetricsExtra {
    /// The part of the prompt that was written into the cache, as Anthropic counts it.
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    /// The part of that which stays there for an hour.
    #[serde(default)]
    cache_creation_1h_input_tokens: Option<u64>,
    /// The part of the completion that the model thought with.
    #[serde(default)]
    reasoning_tokens: Option<u64>,
}

impl Metrics {
    fn usage(&self) -> Usage {
        let extra = self.extra.as_ref();
        let written = extra.and_then(|extra| extra.cache_creation_input_tokens);
        let hour = extra.and_then(|extra| extra.cache_creation_1h_input_tokens);
        let reasoning = extra.and_then(|extra| extra.reasoning_tokens);
        let prompt = self.prompt_tokens.unwrap_or_default();
        let [read, write] = [self.cached_tokens, written].map(Option::unwrap_or_default);
        let uncached = prompt.saturating_sub(read).saturating_sub(write);
        let counts = [
            Some(uncached),
            Some(read),
            Some(write),
            self.completion_tokens,
        ];
        let usage = Usage::of(counts)
            .with_reasoning(reasoning)
            .with_kept_for_an_hour(hour)
            .with_cost(self.cost_usd);
        let has = |count: Option<u64>| u64::from(count.is_some());
        Usage {
            fields: [
                has(self.prompt_tokens),
                has(self.cached_tokens),
                has(written),
                has(self.completion_tokens),
                has(reasoning),
                has(hour),
                u64::from(self.cost_usd.is_some()),
                0,
            ],
            ..usage
        }
    }
}

/// What a trajectory says.
pub(super) fn document(text: &str, names: Option<&IdSecret>) -> Result<Vec<Numbered>, BadLine> {
    let mut reads = Vec::new();
    let mut number = 0;
    trajectory(text, None, 0, &mut number, names, &mut reads)?;
    Ok(reads)
}

/// Reads a trajectory and those of sub-agents in it, which belong to the session of `root`.
fn trajectory(
    text: &str,
    root: Option<&Trajectory>,
    depth: usize,
    number: &mut u64,
    names: Option<&IdSecret>,
    reads: &mut Vec<Numbered>,
) -> Result<(), BadLine> {
    let document = Document::read(text, "steps");
    let own = place(&document, root, names);
    if let (Some(bad), None) = (&document.bad, root)
        && !has_names(&document)
    {
        return Err(BadLine::Document(format!(
            "it ends before what its steps are named after, session_id and trajectory_id: {bad}"
        )));
    }
    let first = *number + 1;
    let called = root.and_then(|root| own.called_by(root));
    reads.extend(called.map(|agent| (first, Ok(Read::SubAgent(agent)))));
    for (name, value) in &document.fields {
        if let Some(read) = own.field(name, value, names) {
            reads.push((first, Ok(read)));
        }
    }
    for step in &document.list {
        *number += 1;
        match own.step(step, names) {
            Ok(read) => reads.extend(read.into_iter().map(|read| (*number, read))),
            Err(bad) => reads.push((*number, Err(bad))),
        }
    }
    // Those of sub-agents come behind all steps, also where the document has them before.
    let is_over = document.bad.is_none() || document.has_whole_list;
    let inner = is_over.then(|| document.field::<Vec<&RawValue>>("subagent_trajectories"));
    let inner = inner.flatten();
    for inner in inner.into_iter().flatten() {
        let read = match depth < GENERATIONS {
            true => trajectory(inner.get(), Some(&own), depth + 1, number, names, reads),
            false => Err(BadLine::Document(format!(
                "it has more than {GENERATIONS} trajectories within each other"
            ))),
        };
        if let Err(bad) = read {
            *number += 1;
            reads.push((*number, Err(bad)));
        }
    }
    if let Some(bad) = &document.bad {
        *number += 1;
        reads.push((*number, Err(BadLine::Document(bad.to_string()))));
    }
    Ok(())
}

/// Whether a document that ends early has said what the names of its steps follow from. Both may come
/// after the steps; versions before 1.7 have no `trajectory_id`.
fn has_names(document: &Document<'_>) -> bool {
    let has = |name: &str| document.field::<String>(name).is_some();
    let version: Option<String> = document.field("schema_version");
    let minor = version.and_then(|version| version.strip_prefix(MINOR)?.parse().ok());
    has("session_id") && (has("trajectory_id") || minor.is_some_and(|minor: u32| minor < 7))
}

fn place(
    document: &Document<'_>,
    root: Option<&Trajectory>,
    names: Option<&IdSecret>,
) -> Trajectory {
    let named = |name: &str| {
        let id = document.field::<String>(name);
        id.filter(|id| !id.trim().is_empty())
    };
    let (session, id) = (named("session_id"), named("trajectory_id"));
    let agent: Agent = document.field("agent").unwrap_or_default();
    let setting = Setting {
        version: agent.version,
        ..Setting::default()
    };
    let model = agent.model_name;
    let Some(root) = root else {
        return Trajectory {
            scope: id.clone().or_else(|| session.clone()),
            session: session.or(id),
            course: Course::Main,
            model,
            setting,
        };
    };
    // One without any name is called by its steps.
    let name = id.or(session).unwrap_or_else(|| {
        let steps: Vec<String> = document.list.iter().map(|step| canonical(step)).collect();
        ids().anonymous(steps.join("\n").as_bytes(), names)
    });
    Trajectory {
        session: root.session.clone(),
        scope: Some(match &root.scope {
            Some(scope) => format!("{scope}/{name}"),
            None => name.clone(),
        }),
        course: Course::Side(name),
        model: model.or_else(|| root.model.clone()),
        setting,
    }
}

impl Trajectory {
    /// The sub-agent that it is of, if another sub-agent's trajectory has it.
    fn called_by(&self, root: &Trajectory) -> Option<SubAgent> {
        let (Course::Side(name), Course::Side(caller)) = (&self.course, &root.course) else {
            return None;
        };
        Some(SubAgent {
            session: self.session.clone(),
            name: name.clone(),
            call: None,
            parent: Some(caller.clone()),
        })
    }

    /// A field of the trajectory that is kept as it is; none for those that are known otherwise, and
    /// for sums.
    fn field(&self, name: &str, value: &RawValue, names: Option<&IdSecret>) -> Option<Read> {
        match name {
            "schema_version" | "session_id" | "trajectory_id" | "subagent_trajectories" => {
                return None;
            }
            "final_metrics" => {
                return Some(Read::Skipped {
                    kind: "final_metrics".to_owned(),
                    text: value.get().to_owned(),
                });
            }
            _ if value.get() == "null" => return None,
            _ => {}
        }
        let kind = texts::kind_name(name);
        let text = canonical(value);
        let named = serde_json::json!([kind, self.scope, text]).to_string();
        let part = texts::part(Some(value));
        let table = match part {
            Some(_) => fields::WHOLE,
            None => NOTHING,
        };
        let what = What::Whole {
            kind: FrameKind::Other(kind.clone()),
            summary: kind.clone(),
            part,
        };
        let sources = vec![Source::of(fields::WHOLE_PATH, value, table)];
        let name = ids().anonymous(named.as_bytes(), names);
        let said = Said::of(&[Some(&kind), Some(&text)], None);
        let entry = self.entry(name, Speaker::Program, None, said);
        Some(Read::Entry(Box::new(Entry {
            items: vec![Item::new(0, fields::WHOLE_PATH, sources, what)],
            subtype: Some(kind),
            ..entry
        })))
    }

    fn entry(&self, name: String, speaker: Speaker, at: Option<Timestamp>, said: Said) -> Entry {
        Entry {
            session: self.session.clone(),
            course: self.course.clone(),
            at,
            setting: Some(self.setting.clone()),
            ..Entry::new("{}".to_owned(), fields::ELSEWHERE, name, speaker, said)
        }
    }

    /// What a step says: its texts and calls, and each of its results, or what is wrong with it.
    fn step(
        &self,
        raw: &RawValue,
        names: Option<&IdSecret>,
    ) -> Result<Vec<Result<Read, BadLine>>, BadLine> {
        if !raw.get().starts_with('{') {
            return Err(BadLine::NotAnObject);
        }
        let step: Step = BadLine::within("steps[]", raw)?;
        if step.is_copied_context == Some(true) {
            return Ok(vec![Ok(Read::Skipped {
                kind: "copied context".to_owned(),
                text: raw.get().to_owned(),
            })]);
        }
        let unnamed = || ids().anonymous(canonical(raw).as_bytes(), names);
        let name = match (&self.scope, step.step_id) {
            (Some(scope), Some(id)) => format!("{scope}/{id}"),
            (Some(scope), None) => format!("{scope}/{}", unnamed()),
            // Numbers of steps say nothing without the trajectory's name.
            (None, _) => unnamed(),
        };
        let at = step.timestamp.as_deref().and_then(moment);
        let (speaker, items) = match step.source.as_deref() {
            Some("user") => (Speaker::User, self.user(&step)?),
            Some("agent") => (Speaker::Model, agent(&name, &step)?),
            Some("system") => (Speaker::Program, system(&step)?),
            other => (Speaker::Program, vec![unknown(raw, other)]),
        };
        let entry = self.entry(name.clone(), speaker, at, said(&step));
        let usage = step.metrics.as_ref().map(Metrics::usage);
        let mut reads = vec![Ok(Read::Entry(Box::new(Entry {
            text: raw.get().to_owned(),
            table: fields::STEP,
            model: match speaker {
                Speaker::Model => step.model_name.clone().or_else(|| self.model.clone()),
                _ => None,
            },
            usage,
            items,
            ..entry
        })))];
        let results = step.observation.iter().flat_map(|it| it.results.iter());
        for (index, result) in results.flatten().enumerate() {
            reads.push(self.result(&name, index, result, at));
        }
        Ok(reads)
    }

    fn user(&self, step: &Step) -> Result<Vec<Item>, BadLine> {
        let (text, sources, mut others) = message(step)?;
        let mut items = Vec::new();
        if !text.trim().is_empty() {
            let what = What::Prompt {
                asked: (self.course == Course::Main).then(|| text.clone()),
                text,
                is_summary: false,
            };
            items.push(Item::new(0, "message", sources, what));
        }
        items.append(&mut others);
        Ok(items)
    }

    /// What came back from a tool, or what the environment says without having been asked.
    fn result(
        &self,
        step: &str,
        index: usize,
        raw: &RawValue,
        at: Option<Timestamp>,
    ) -> Result<Read, BadLine> {
        let result: ToolResult = BadLine::within("observation.results[]", raw)?;
        let extra = result.extra.unwrap_or_default();
        let failed = extra.exit_code.is_some_and(|code| code != 0);
        let sources = vec![Source::of("observation.results[]", raw, fields::RESULT)];
        let path = "observation.results[].content";
        let content = result.content.filter(|content| content.get() != "null");
        let call = result.source_call_id.filter(|id| !id.trim().is_empty());
        let (name, speaker, what) = match &call {
            Some(call) => (
                format!("{step}/result {index}"),
                Speaker::User,
                What::ToolResult {
                    call: format!("{step}/{call}"),
                    content,
                    is_error: extra.is_error.unwrap_or(failed),
                    content_path: path,
                    error_path: "observation.results[].extra.is_error",
                },
            ),
            None => (
                format!("{step}/result {index}"),
                Speaker::Program,
                What::Said {
                    kind: FrameKind::SystemState,
                    text: texts::text_of(content.as_deref()),
                    compaction: None,
                },
            ),
        };
        let mut items = vec![Item::new(1, path, sources, what)];
        if let Some(reference) = result.subagent_trajectory_ref {
            let path = "observation.results[].subagent_trajectory_ref";
            let what = What::Whole {
                kind: FrameKind::Other("subagent_trajectory_ref".to_owned()),
                summary: "subagent_trajectory_ref".to_owned(),
                part: texts::part(Some(&reference)),
            };
            let sources = vec![Source::of(path, &reference, fields::REFERENCE)];
            items.push(Item::new(2, path, sources, what));
        }
        let said = Said::of(&[Some("result"), Some(&canonical(raw))], None);
        let entry = self.entry(name, speaker, at, said);
        Ok(Read::Entry(Box::new(Entry {
            message: Some(step.to_owned()),
            items,
            ..entry
        })))
    }
}

/// What a step says, to tell a copy of it: its results have their own.
fn said(step: &Step) -> Said {
    let message = step.message.as_deref().map(canonical);
    let calls = step.tool_calls.iter().flatten();
    let calls: Vec<String> = calls.map(|call| canonical(call)).collect();
    let mut said = vec![
        step.source.as_deref(),
        message.as_deref(),
        step.reasoning_content.as_deref(),
    ];
    said.extend(calls.iter().map(|call| Some(call.as_str())));
    Said::of(&said, None)
}

/// A value without the white space between its parts: copies of a trajectory are written on one line or many.
fn canonical(value: &RawValue) -> String {
    let read: Result<serde_json::Value, _> = serde_json::from_str(value.get());
    read.map_or_else(|_| value.get().to_owned(), |value| value.to_string())
}

/// The thought, the text and the calls of an agent's step.
fn agent(name: &str, step: &Step) -> Result<Vec<Item>, BadLine> {
    let mut items = Vec::new();
    if let Some(thought) = step
        .reasoning_content
        .as_ref()
        .filter(|it| !it.trim().is_empty())
    {
        let sources = vec![Source::text("reasoning_content")];
        let what = What::Thinking(thought.clone());
        items.push(Item::new(1, "reasoning_content", sources, what));
    }
    let (text, sources, mut others) = message(step)?;
    if !text.trim().is_empty() {
        items.push(Item::new(0, "message", sources, What::Text(text)));
    }
    items.append(&mut others);
    for (index, raw) in step.tool_calls.iter().flatten().enumerate() {
        let call: ToolCall = BadLine::within("tool_calls[]", raw)?;
        let id = call.tool_call_id.filter(|id| !id.trim().is_empty());
        let what = What::ToolCall {
            id: format!("{name}/{}", id.unwrap_or_else(|| index.to_string())),
            name: call.function_name.unwrap_or_default(),
            input: call.arguments,
            input_path: "tool_calls[].arguments",
        };
        let sources = vec![Source::of("tool_calls[]", raw, fields::CALL)];
        items.push(Item::new(index + 2, "tool_calls[]", sources, what));
    }
    Ok(items)
}

/// The system prompt, or what the program did to the conversation.
fn system(step: &Step) -> Result<Vec<Item>, BadLine> {
    let (text, sources, mut others) = message(step)?;
    let managed = step.extra.as_ref();
    let managed = managed.and_then(|extra| extra.context_management.clone());
    let mut items = Vec::new();
    if !text.trim().is_empty() || managed.is_some() {
        let what = What::Said {
            kind: match managed {
                Some(_) => FrameKind::Checkpoint,
                None => FrameKind::SystemState,
            },
            text,
            compaction: managed,
        };
        items.push(Item::new(0, "message", sources, what));
    }
    items.append(&mut others);
    Ok(items)
}

/// The text of a step's message, where it was read from, and its other parts.
fn message(step: &Step) -> Result<(String, Vec<Source>, Vec<Item>), BadLine> {
    #[derive(Deserialize)]
    struct RawPart {
        #[serde(default, rename = "type")]
        kind: Option<String>,
        #[serde(default)]
        text: Option<String>,
    }
    let Some(message) = step.message.as_deref().filter(|it| it.get() != "null") else {
        return Ok((String::new(), Vec::new(), Vec::new()));
    };
    if message.get().starts_with('"') {
        let text = BadLine::within("message", message)?;
        return Ok((text, vec![Source::text("message")], Vec::new()));
    }
    let list: Vec<&RawValue> = BadLine::within("message", message)?;
    let (mut texts, mut sources, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for (index, raw) in list.into_iter().enumerate() {
        let part: RawPart = BadLine::within("message[]", raw)?;
        match part.text {
            Some(text) if part.kind.as_deref() == Some("text") => {
                texts.push(text);
                sources.push(Source::of("message[]", raw, fields::TEXT));
            }
            _ => {
                let kind = texts::kind_name(part.kind.as_deref().unwrap_or_default());
                let kept = texts::part(Some(raw));
                let table = match kept {
                    Some(_) => fields::PART,
                    None => NOTHING,
                };
                let what = What::Whole {
                    kind: FrameKind::Other(kind.clone()),
                    summary: kind,
                    part: kept,
                };
                let sources = vec![Source::of("message[]", raw, table)];
                others.push(Item::new(1_000_000 + index, "message[]", sources, what));
            }
        }
    }
    Ok((texts.join("\n"), sources, others))
}

/// A step of a source that is not known.
fn unknown(raw: &RawValue, of: Option<&str>) -> Item {
    let kind = texts::kind_name(of.unwrap_or_default());
    let what = What::Whole {
        kind: FrameKind::Other(kind.clone()),
        summary: kind,
        part: texts::part(Some(raw)),
    };
    Item::new(0, fields::WHOLE_PATH, Vec::new(), what)
}

/// A time as ISO 8601 has it; one without a zone is in UTC.
fn moment(text: &str) -> Option<Timestamp> {
    time(text).or_else(|| time(&format!("{}Z", text.replacen(' ', "T", 1))))
}
