//! Objects of git-internal 0.8 and later: revisions that never change, and events that say what became of them
//! (docs/spec/git-internal.md, Revisions and events).
//!
//! ```text
//! revisions and events ── Revisions::note ──▶ what is known of each object, by all of the source
//! a revision           ── Revisions::fold ──▶ the same object as git-internal 0.6 has it, which is adopted
//! ```
//!
//! The header tells them apart: it has `version`, and neither `header_version` nor `schema_version`.

mod event;
mod fold;

use std::collections::{BTreeMap, HashMap, HashSet};

use annals_domain::Timestamp;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use uuid::Uuid;

pub(super) use self::event::about;

/// The kinds of events, and of what is folded into another object.
const EVENTS: [&str; 5] = [
    "intent_event",
    "task_event",
    "run_event",
    "plan_step_event",
    "run_usage",
];

/// What tells the formats apart.
#[derive(Deserialize)]
struct Form {
    #[serde(default)]
    object_type: String,
    version: Option<IgnoredAny>,
    header_version: Option<IgnoredAny>,
    schema_version: Option<IgnoredAny>,
}

/// What a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// An object that is whole by itself, or no object.
    Whole,
    /// A revision.
    Revision,
    /// An event about one, or its tokens.
    Event,
}

/// Tells in which format an object is.
pub(super) fn format(text: &str) -> Format {
    // Most texts have no such field anywhere.
    if !text.contains("\"version\"") {
        return Format::Whole;
    }
    let Ok(form) = serde_json::from_str::<Form>(text) else {
        return Format::Whole;
    };
    if form.version.is_none() || form.header_version.is_some() || form.schema_version.is_some() {
        return Format::Whole;
    }
    match EVENTS.contains(&form.object_type.as_str()) {
        true => Format::Event,
        false => Format::Revision,
    }
}

/// A status that an event says.
#[derive(Debug, Clone)]
struct Step {
    at: Timestamp,
    status: String,
    reason: Option<String>,
}

/// What all events say of one object.
#[derive(Debug, Default)]
struct Course {
    /// Oldest first, once [`Revisions::close`] was called.
    steps: Vec<Step>,
    /// The newest result, with its time.
    commit: Option<(Timestamp, String)>,
    error: Option<(Timestamp, String)>,
    metrics: Option<(Timestamp, Box<RawValue>)>,
    outputs: Option<(Timestamp, Box<RawValue>)>,
    task: Option<Uuid>,
    /// When the last event happened.
    last: Option<Timestamp>,
}

/// What all revisions and events of a source say of each other.
#[derive(Debug, Default)]
pub(super) struct Revisions {
    /// Revisions by their ids.
    there: HashSet<Uuid>,
    courses: HashMap<Uuid, Course>,
    /// Of plans' steps, by plan and step.
    steps: HashMap<(Uuid, Uuid), Course>,
    /// The newest plan of each intent.
    plans: HashMap<Uuid, (Timestamp, Uuid)>,
    /// The runs of each task, by their times.
    runs: HashMap<Uuid, BTreeMap<(Timestamp, usize), Uuid>>,
    /// The patch sets of each run, by their numbers.
    patch_sets: HashMap<Uuid, BTreeMap<(u32, usize), Uuid>>,
    /// The tasks that steps of plans led to, by the step.
    tasks: HashMap<Uuid, Uuid>,
    /// Steps of plans that the source has.
    plan_steps: HashSet<Uuid>,
    /// The tokens of each run, as its provenance has them.
    usages: HashMap<Uuid, String>,
    /// Patch sets that a decision to commit chose.
    applied: HashSet<Uuid>,
    /// How many revisions and events were noted.
    count: usize,
}

/// The fields that link revisions and events.
#[derive(Deserialize)]
struct Noted {
    object_id: Uuid,
    object_type: String,
    created_at: Timestamp,
    intent: Option<Uuid>,
    task: Option<Uuid>,
    run: Option<Uuid>,
    sequence: Option<u32>,
    origin_step_id: Option<Uuid>,
    intent_id: Option<Uuid>,
    task_id: Option<Uuid>,
    run_id: Option<Uuid>,
    plan_id: Option<Uuid>,
    step_id: Option<Uuid>,
    #[serde(default)]
    steps: Vec<NotedStep>,
    decision_type: Option<String>,
    chosen_patchset_id: Option<Uuid>,
    kind: Option<Box<RawValue>>,
    status: Option<String>,
    reason: Option<String>,
    error: Option<String>,
    metrics: Option<Box<RawValue>>,
    outputs: Option<Box<RawValue>>,
    result_commit: Option<String>,
    spawned_task_id: Option<Uuid>,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    total_tokens: Option<u64>,
    cost_usd: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct NotedStep {
    step_id: Option<Uuid>,
}

impl Revisions {
    /// Notes what a revision or an event says of others. One that cannot be read is named when it is imported.
    pub(super) fn note(&mut self, text: &str) {
        let Ok(noted) = serde_json::from_str::<Noted>(text) else {
            return;
        };
        self.count += 1;
        let (id, at, count) = (noted.object_id, noted.created_at, self.count);
        match noted.object_type.as_str() {
            "intent_event" => self.of_intent(noted),
            "task_event" => self.of_task(noted),
            "run_event" => self.of_run(noted),
            "plan_step_event" => self.of_step(noted),
            "run_usage" => self.usage(&noted),
            kind => {
                self.there.insert(id);
                self.plan_steps
                    .extend(noted.steps.iter().filter_map(|step| step.step_id));
                match (kind, noted.intent, noted.task, noted.run) {
                    ("plan", Some(intent), ..) => {
                        let newest = self.plans.entry(intent).or_insert((at, id));
                        *newest = (*newest).max((at, id));
                    }
                    ("run", _, Some(task), _) => {
                        let runs = self.runs.entry(task).or_default();
                        runs.insert((at, count), id);
                    }
                    ("patch_set", .., Some(run)) => {
                        let number = noted.sequence.unwrap_or(u32::MAX);
                        let patch_sets = self.patch_sets.entry(run).or_default();
                        patch_sets.insert((number, count), id);
                    }
                    _ => {}
                }
                if let Some(step) = noted.origin_step_id {
                    self.tasks.insert(step, id);
                }
                if noted.decision_type.as_deref() == Some("commit") {
                    self.applied.extend(noted.chosen_patchset_id);
                }
            }
        }
    }

    /// Whether the source has a revision.
    pub(super) fn has(&self, id: Uuid) -> bool {
        self.there.contains(&id)
    }

    /// Puts events into the order of their times.
    pub(super) fn close(&mut self) {
        let courses = self.courses.values_mut().chain(self.steps.values_mut());
        for course in courses {
            course.steps.sort_by_key(|step| step.at);
        }
    }

    fn of_intent(&mut self, noted: Noted) {
        let Some(id) = noted.intent_id else {
            return;
        };
        let course = self.courses.entry(id).or_default();
        // What was analyzed has its content, and work on it may begin.
        let status = match noted.word() {
            Some("analyzed") => Some("active"),
            Some("completed") => Some("completed"),
            Some("cancelled") => Some("cancelled"),
            _ => None,
        };
        course.step(status, noted.created_at, noted.reason);
        newest(&mut course.commit, noted.created_at, noted.result_commit);
    }

    fn of_task(&mut self, noted: Noted) {
        let Some(id) = noted.task_id else {
            return;
        };
        let course = self.courses.entry(id).or_default();
        let status = match noted.word() {
            Some("created") => Some("draft"),
            // It was begun, and no other status says that it waits.
            Some("running" | "blocked") => Some("running"),
            Some("done") => Some("done"),
            Some("failed") => Some("failed"),
            Some("cancelled") => Some("cancelled"),
            _ => None,
        };
        course.step(status, noted.created_at, noted.reason);
    }

    fn of_run(&mut self, noted: Noted) {
        let Some(id) = noted.run_id else {
            return;
        };
        let course = self.courses.entry(id).or_default();
        let status = match noted.word() {
            Some("created") => Some("created"),
            Some("patching") => Some("patching"),
            Some("validating") => Some("validating"),
            Some("completed") => Some("completed"),
            Some("failed") => Some("failed"),
            _ => None,
        };
        course.step(status, noted.created_at, noted.reason);
        newest(&mut course.error, noted.created_at, noted.error);
        newest(&mut course.metrics, noted.created_at, noted.metrics);
    }

    fn of_step(&mut self, noted: Noted) {
        let (Some(plan), Some(step)) = (noted.plan_id, noted.step_id) else {
            return;
        };
        // The plan was changed by it, too.
        let of_plan = self.courses.entry(plan).or_default();
        of_plan.last = of_plan.last.max(Some(noted.created_at));
        let course = self.steps.entry((plan, step)).or_default();
        course.step(noted.status.as_deref(), noted.created_at, noted.reason);
        newest(&mut course.outputs, noted.created_at, noted.outputs);
        course.task = noted.spawned_task_id.or(course.task);
    }

    fn usage(&mut self, noted: &Noted) {
        let (Some(run), Some(input), Some(output), Some(total)) = (
            noted.run_id,
            noted.input_tokens,
            noted.output_tokens,
            noted.total_tokens,
        ) else {
            return;
        };
        let cost = noted.cost_usd.as_ref().map_or("null", |cost| cost.get());
        let tokens = format!(
            "{{\"input_tokens\":{input},\"output_tokens\":{output},\"total_tokens\":{total},\"cost_usd\":{cost}}}"
        );
        self.usages.insert(run, tokens);
    }
}

impl Noted {
    /// What the event says happened.
    fn word(&self) -> Option<&str> {
        let kind = self.kind.as_ref()?.get();
        kind.strip_prefix('"')?.strip_suffix('"')
    }
}

impl Course {
    fn step(&mut self, status: Option<&str>, at: Timestamp, reason: Option<String>) {
        self.last = self.last.max(Some(at));
        if let Some(status) = status {
            self.steps.push(Step {
                at,
                status: status.to_owned(),
                reason,
            });
        }
    }
}

/// Keeps what is newer.
fn newest<T>(known: &mut Option<(Timestamp, T)>, at: Timestamp, value: Option<T>) {
    if let Some(value) = value
        && known.as_ref().is_none_or(|(before, _)| *before <= at)
    {
        *known = Some((at, value));
    }
}
