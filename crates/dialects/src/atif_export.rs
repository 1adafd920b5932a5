//! `export atif`: a run, with those of its sub-agents, as a trajectory in ATIF v1.7.
//!
//! Read from the run's stream and that of its context: a message of the model is a step with its
//! thoughts, texts, calls and their results; a prompt is a user's step; what the program said or added
//! is a system's. The format has no place for failures and for tokens that were written into a cache:
//! both are where other producers put them, in `extra`.

pub mod written;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use annals::projections::{Entry, IntentView, Merged, PlanView, Relation, RunView, TaskView, Text};
use annals::{Annals, LoadError, ObjectRef, ViewError};
use annals_domain::pipeline::{Event as PipelineEvent, FramePushed};
use annals_domain::run::{Event as RunEvent, ToolInvoked, ToolStatus, UsageRecorded};
use annals_domain::{AnyEvent, IntentId, Kind, RunId, Slot, TaskId, Timestamp};
use annals_event_log::{Classification, Classified, ErrorClass, Store};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use uuid::Uuid;

use crate::transcript::commands::NO_PROMPT;
use crate::transcript::texts::NO_RESULT;
use written::{
    ContextManagement, FinalMetrics, Metrics, ResultExtra, SCHEMA_VERSION, StepExtra, Trajectory,
    TrajectoryAgent, TrajectoryStep, WrittenCall, WrittenResult,
};

/// At most so many parts of a task are looked at, and so many within each other.
const SUB_AGENTS: (usize, usize) = (10_000, 16);

/// What stands for a version that is not recorded.
const NO_VERSION: &str = "unknown";

/// Why there is no trajectory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AtifExportError {
    /// Nothing was run for it yet.
    #[error(
        "{object} has no run, and a trajectory is one of a run; `annals object list runs` shows the log's"
    )]
    NoRun {
        /// The task or the intent.
        object: ObjectRef,
    },
    /// The log could not be read, or the object is of a kind without runs.
    #[error(transparent)]
    View(#[from] ViewError),
}

impl From<LoadError> for AtifExportError {
    fn from(error: LoadError) -> AtifExportError {
        AtifExportError::View(error.into())
    }
}

impl Classified for AtifExportError {
    fn classify(&self) -> Classification {
        match self {
            AtifExportError::NoRun { .. } => ErrorClass::NotFound.code("no_run"),
            AtifExportError::View(error) => error.classify(),
        }
    }
}

/// The run that an object is about: the newest one of a task, or of the task of an intent or of what
/// it refines; or the run itself.
///
/// # Errors
/// [`AtifExportError`].
pub async fn run_of(annals: &Annals, object: ObjectRef) -> Result<RunId, AtifExportError> {
    let none = || AtifExportError::NoRun { object };
    let task = match object.kind {
        Kind::Task => object.id,
        Kind::Intent => {
            let chain = annals.index().refinements(IntentId(object.id)).await?;
            let first = chain.last().map_or(object.id, |row| row.id);
            let tasks = annals
                .index()
                .naming(first, Relation::TaskIntent, 1)
                .await?;
            *tasks.first().ok_or_else(none)?
        }
        _ => {
            let run: RunView = annals.get(RunId(object.id)).await?;
            return Ok(RunId(run.header.object_id));
        }
    };
    let task: TaskView = annals.get(TaskId(task)).await?;
    task.runs.last().copied().ok_or_else(none)
}

/// A run as a trajectory, with the runs of the parts of its task.
///
/// # Errors
/// [`ViewError`].
pub async fn export(annals: &Annals, run: RunId) -> Result<Trajectory, ViewError> {
    trajectory(annals, run, 0, &mut HashSet::new()).await
}

fn trajectory<'a>(
    annals: &'a Annals,
    run: RunId,
    depth: usize,
    seen: &'a mut HashSet<Uuid>,
) -> BoxFuture<'a, Result<Trajectory, ViewError>> {
    Box::pin(async move {
        seen.insert(run.0);
        let view: RunView = annals.get(run).await?;
        let task: TaskView = annals.get(view.task).await?;
        let session = task.header.external_ids.ending_with(".session");
        let session = session.map(str::to_owned);
        let story = story(annals, run, &view, &task).await?;
        let mut inner = Vec::new();
        if depth < SUB_AGENTS.1 {
            let parts = annals
                .index()
                .naming(view.task, Relation::TaskParent, SUB_AGENTS.0);
            for part in parts.await? {
                let part: TaskView = annals.get(TaskId(part)).await?;
                for run in part.runs {
                    if !seen.contains(&run.0) {
                        inner.push(trajectory(annals, run, depth + 1, seen).await?);
                    }
                }
            }
        }
        Ok(Trajectory {
            schema_version: SCHEMA_VERSION,
            session_id: (depth == 0).then(|| session.unwrap_or_else(|| view.task.to_string())),
            trajectory_id: run.to_string(),
            agent: TrajectoryAgent {
                name: story
                    .agent
                    .unwrap_or_else(|| view.header.created_by.id.clone()),
                version: version(&view),
                model_name: story.model,
            },
            final_metrics: FinalMetrics::of(&story.steps),
            steps: story.steps,
            subagent_trajectories: inner,
        })
    })
}

/// The version of the agent's program, as its importer calls it.
fn version(run: &RunView) -> String {
    let environment = run.environment.as_ref();
    let mut extra = environment.into_iter().flat_map(|it| it.extra.iter());
    let is_version = |name: &Text| name.as_str().is_some_and(|name| name.ends_with("_version"));
    let found = extra.find(|(name, _)| is_version(name));
    let found = found.and_then(|(_, json)| serde_json::to_value(json).ok());
    let text = found.and_then(|json| Some(json.as_str()?.to_owned()));
    text.unwrap_or_else(|| NO_VERSION.to_owned())
}

/// The steps of a run, from its stream and that of its context.
async fn story(
    annals: &Annals,
    run: RunId,
    view: &RunView,
    task: &TaskView,
) -> Result<Teller, ViewError> {
    let log: Arc<dyn Store> = Arc::clone(annals.log());
    let mut merged = Merged::new(log.as_ref());
    let read = |error| ViewError::from(LoadError::from(error));
    merged.add(run.stream()).await.map_err(read)?;
    if let Some(plan) = view.plan {
        let plan: PlanView = annals.get(plan).await?;
        if let Some(pipeline) = plan.pipeline {
            merged.add(pipeline.stream()).await.map_err(read)?;
        }
    }
    let mut teller = Teller {
        prompts: prompts(annals, task).await?,
        ..Teller::default()
    };
    while let Some(record) = merged.next().await.map_err(read)? {
        let entry = annals
            .contents()
            .entry(&record)
            .await
            .map_err(ViewError::from)?;
        teller.tell(&entry);
    }
    teller.end(task);
    Ok(teller)
}

/// What was asked at each line of the recording that an intent came from.
async fn prompts(annals: &Annals, task: &TaskView) -> Result<HashMap<String, String>, ViewError> {
    let mut prompts = HashMap::new();
    // A part of a task was asked by an agent.
    let asked = task.intent.filter(|_| task.parent.is_none());
    let Some(intent) = asked else {
        return Ok(prompts);
    };
    for row in annals.index().refinements(intent).await? {
        let intent: IntentView = annals.get(IntentId(row.id)).await?;
        if let Some(line) = intent.header.external_ids.ending_with(".line") {
            prompts.insert(line.to_owned(), intent.prompt.to_string());
        }
    }
    Ok(prompts)
}

/// What importers keep of a frame in addition to its content.
#[derive(Debug, Default, Deserialize)]
struct FrameData {
    #[serde(default)]
    line: Option<String>,
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    tool_use: Option<String>,
    #[serde(default)]
    subtype: Option<String>,
}

/// A call whose frame, if there is one, comes next in its batch.
struct Called {
    batch: Uuid,
    at: Timestamp,
    call: WrittenCall,
    /// None where no result came, which an importer finds out as the first one did.
    result: Option<WrittenResult>,
}

/// From entries to steps.
#[derive(Default)]
struct Teller {
    prompts: HashMap<String, String>,
    model: Option<String>,
    /// The agent's name, if the run was a trajectory before.
    agent: Option<String>,
    steps: Vec<TrajectoryStep>,
    /// The message that the newest step is, if that is an agent's.
    message: Option<String>,
    called: Option<Called>,
}

impl Teller {
    fn tell(&mut self, entry: &Entry) {
        let is_next = |called: &Called| called.batch == entry.batch_id;
        if !self.called.as_ref().is_some_and(is_next) {
            self.flush(None);
        }
        match &entry.event {
            AnyEvent::Pipeline(PipelineEvent::FramePushed(event)) => self.frame(entry, event),
            AnyEvent::Run(RunEvent::ToolInvoked(event)) => {
                self.flush(None);
                self.called = Some(called(entry, event));
            }
            AnyEvent::Run(RunEvent::UsageRecorded(event)) => self.usage(entry, event),
            AnyEvent::Run(RunEvent::ProvenanceRecorded(event)) if self.model.is_none() => {
                self.model = Some(entry.text(event.model).to_string());
            }
            _ => {}
        }
    }

    fn frame(&mut self, entry: &Entry, event: &FramePushed) {
        let data = event.data.map(|slot| entry.text(slot));
        let data = data.as_ref().and_then(Text::as_str);
        let data: FrameData = data
            .and_then(|data| serde_json::from_str(data).ok())
            .unwrap_or_default();
        if let (Some(called), Some(id)) = (&mut self.called, &data.tool_use) {
            called.call.tool_call_id.clone_from(id);
            if let Some(result) = &mut called.result {
                result.source_call_id.clone_from(id);
                let content = event.content.and_then(|slot| content(&entry.text(slot)));
                result.content = content.unwrap_or(std::mem::take(&mut result.content));
            }
            self.flush(data.message.or(data.line));
            return;
        }
        let at = entry.occurred_at;
        let text = text_of(entry, event);
        if data.subtype.as_deref() == Some("agent")
            && let Some(name) = agent_name(&text)
        {
            self.agent = Some(name);
            return;
        }
        match event.kind.as_str() {
            "intent_analysis" => {
                let line = data.line.as_ref();
                let asked = line.and_then(|line| self.prompts.remove(line));
                self.step("user", at, asked.unwrap_or(text), None);
            }
            "step_summary" => {
                if let Some(step) = self.agent_step(data.message.or(data.line), at) {
                    join(&mut step.message, &text);
                }
            }
            "thinking" => {
                if let Some(step) = self.agent_step(data.message.or(data.line), at) {
                    join(step.reasoning_content.get_or_insert_default(), &text);
                }
            }
            kind => {
                let extra = StepExtra {
                    context_management: (kind == "checkpoint")
                        .then_some(ContextManagement { kind: "compaction" }),
                    frame_kind: Some(kind.to_owned()),
                };
                self.step("system", at, text, Some(extra));
            }
        }
    }

    /// Puts the call that waited for its frame into the step of its message.
    fn flush(&mut self, message: Option<String>) {
        let Some(Called {
            at, call, result, ..
        }) = self.called.take()
        else {
            return;
        };
        let is_late = message.is_none() && result.is_none();
        let step = match is_late {
            true => self.agent_step_at(at),
            false => self.agent_step(message, at),
        };
        if let Some(step) = step {
            step.tool_calls.push(call);
            if let Some(result) = result {
                let observation = step.observation.get_or_insert_default();
                observation.results.push(result);
            }
        }
    }

    /// The agent's step at a time, for a call without a result: it is recorded when it is given up, behind
    /// the prompt and the message that show it, and belongs before them.
    fn agent_step_at(&mut self, at: Timestamp) -> Option<&mut TrajectoryStep> {
        let before = self.steps.iter().rposition(|step| step.timestamp <= at);
        let is_agent = |index: &usize| {
            let step = self.steps.get(*index);
            step.is_some_and(|step| step.source == "agent")
        };
        let place = match before.filter(is_agent) {
            Some(place) => place,
            None => {
                let place = before.map_or(0, |index| index + 1);
                if place == self.steps.len() {
                    self.message = None;
                }
                let step = new_step("agent", at, String::new(), None);
                self.steps.insert(place, step);
                place
            }
        };
        self.steps.get_mut(place)
    }

    /// Tokens are recorded behind what they were spent on.
    fn usage(&mut self, entry: &Entry, event: &UsageRecorded) {
        self.flush(None);
        let spent = self.steps.iter().rposition(|step| step.source == "agent");
        let step = match spent {
            Some(at) => self.steps.get_mut(at),
            None => self.agent_step(None, entry.occurred_at),
        };
        let Some(step) = step else {
            return;
        };
        if let Some(model) = event.model {
            step.model_name = Some(entry.text(model).to_string());
        }
        let [uncached, read, written, output] = event.tokens();
        let metrics = step.metrics.get_or_insert_with(Metrics::default);
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        let prompt = uncached.saturating_add(read).saturating_add(written);
        add(&mut metrics.prompt_tokens, prompt);
        add(&mut metrics.cached_tokens, read);
        add(&mut metrics.completion_tokens, output);
        add(&mut metrics.extra.cache_creation_input_tokens, written);
        add(
            &mut metrics.extra.cache_creation_1h_input_tokens,
            event.cache_write_1h_tokens,
        );
        add(&mut metrics.extra.reasoning_tokens, event.reasoning_tokens);
        if let Some(cost) = event.cost_usd {
            *metrics.cost_usd.get_or_insert_default() += cost;
        }
    }

    /// The step of a message of the model's: the newest, or another one.
    fn agent_step(
        &mut self,
        message: Option<String>,
        at: Timestamp,
    ) -> Option<&mut TrajectoryStep> {
        if message.is_none() || self.message != message {
            self.step("agent", at, String::new(), None);
            self.message = message;
        }
        self.steps.last_mut()
    }

    fn step(
        &mut self,
        source: &'static str,
        at: Timestamp,
        message: String,
        extra: Option<StepExtra>,
    ) {
        self.message = None;
        self.steps.push(new_step(source, at, message, extra));
    }

    /// A run without the frame of a prompt has that of its task.
    fn end(&mut self, task: &TaskView) {
        self.flush(None);
        if !self.steps.iter().any(|step| step.source == "user") {
            let asked = task.description.as_ref().unwrap_or(&task.title);
            let asked = asked.to_string();
            if asked != NO_PROMPT {
                self.step("user", task.header.created_at, asked, None);
                self.steps.rotate_right(1);
            }
        }
        for (index, step) in self.steps.iter_mut().enumerate() {
            step.step_id = index + 1;
        }
    }
}

/// A step that gets its number when all are there.
fn new_step(
    source: &'static str,
    timestamp: Timestamp,
    message: String,
    extra: Option<StepExtra>,
) -> TrajectoryStep {
    TrajectoryStep {
        step_id: 0,
        timestamp,
        source,
        model_name: None,
        message,
        reasoning_content: None,
        tool_calls: Vec::new(),
        observation: None,
        metrics: None,
        extra,
    }
}

/// The name of the agent of an imported trajectory.
fn agent_name(json: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Agent {
        name: String,
    }
    let agent: Agent = serde_json::from_str(json).ok()?;
    Some(agent.name)
}

/// A call as its event has it: by the invocation's id, with the beginning of its result.
fn called(entry: &Entry, event: &ToolInvoked) -> Called {
    let id = event.tool_invocation.to_string();
    let text = |slot: Slot| entry.text(slot);
    let args = event.args.map(text);
    let args = args.as_ref().and_then(Text::as_str);
    let summary = event.result_summary.map(|slot| text(slot).to_string());
    let summary = summary.unwrap_or_default();
    let result = WrittenResult {
        source_call_id: id.clone(),
        content: string(&summary),
        extra: (event.status == ToolStatus::Error).then_some(ResultExtra { is_error: true }),
    };
    Called {
        batch: entry.batch_id,
        at: entry.occurred_at,
        call: WrittenCall {
            tool_call_id: id,
            function_name: text(event.tool_name).to_string(),
            arguments: arguments(args),
        },
        result: (summary != NO_RESULT).then_some(result),
    }
}

/// Arguments are an object; another value becomes the only member of one.
fn arguments(json: Option<&str>) -> Box<RawValue> {
    let json = json.unwrap_or("{}");
    let object = match json.trim_start().starts_with('{') {
        true => json.to_owned(),
        false => format!("{{\"arguments\":{json}}}"),
    };
    RawValue::from_string(object).unwrap_or_default()
}

/// A result as the format has it: a text, or a list of texts; what is neither is a text of JSON.
fn content(json: &Text) -> Option<Box<RawValue>> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only their form is checked")]
    struct TextPart {
        #[serde(rename = "type")]
        kind: TextKind,
        text: String,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum TextKind {
        Text,
    }
    let json = json.as_str()?;
    let is_text = serde_json::from_str::<String>(json).is_ok();
    let is_list = json.starts_with('[') && serde_json::from_str::<Vec<TextPart>>(json).is_ok();
    match is_text || is_list {
        true => RawValue::from_string(json.to_owned()).ok(),
        false => Some(string(json)),
    }
}

fn string(text: &str) -> Box<RawValue> {
    to_raw_value(text).unwrap_or_default()
}

/// All of a frame's text, of which the summary may only be the beginning.
fn text_of(entry: &Entry, event: &FramePushed) -> String {
    let content = event.content.map(|slot| entry.text(slot));
    match content {
        Some(Text::Present(json)) => serde_json::from_str(&json).unwrap_or(json),
        Some(Text::Removed) => Text::Removed.to_string(),
        None => entry.text(event.summary).to_string(),
    }
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(more);
}
