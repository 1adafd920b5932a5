//! What an analysis of an intent comes to (Forge, the outputs of Analyze):
//! tasks, intents of their own, or questions.

use std::collections::{HashMap, HashSet};

use derive_new::new;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::above;
use super::decide::emit;
use super::dependents::in_order;
use super::intake::{asked, decomposed, open_intent, propose, require_ready, started};
use super::rings::refuse_rings;
use super::{Analyzed, Risk, Source, Stage, SubmitIntent, WorkType};
use crate::pieces::Pieces;
use crate::refusal::not_blank;
use crate::task::{self, Complexity, CreateTask, TaskPlan};
use crate::world::{Decided, Emitted, World};
use crate::{DecideError, IntentId, Json, Kind, Meta, Refusal, StreamKind, TaskId, alias};

/// Records what an analysis of an approved intent came to, which then is executing:
/// tasks, intents that it is split into, or questions. One of these is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RecordAnalysis {
    /// The intent: approved or executing.
    #[setters(skip)]
    pub intent: IntentId,
    /// What the agent answered: JSON with an `outcome`, or a text that has it in
    /// a fence or in prose. `annals service apply` reads the lists below from it, if they
    /// are left out.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysis: Option<Json>,
    /// The tasks, in any order.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<AnalyzedTask>,
    /// The intents that it is split into.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub child_intents: Vec<ChildIntent>,
    /// What a person has to answer first.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clarifications: Vec<String>,
}

impl RecordAnalysis {
    /// Whether there is an answer of which nothing was read.
    pub fn is_unread(&self) -> bool {
        self.analysis.is_some()
            && self.tasks.is_empty()
            && self.child_intents.is_empty()
            && self.clarifications.is_empty()
    }
}

/// A task that an analysis came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct AnalyzedTask {
    /// What the others call it: not blank, and each its own.
    #[new(into)]
    #[setters(skip)]
    pub id: String,
    /// Short summary: not blank, under 100 characters.
    #[new(into)]
    #[setters(skip)]
    pub title: String,
    /// How much work it is: low, med or high.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub complexity: Option<Complexity>,
    /// How it is to be done.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<String>,
    /// The files that matter.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relevant_files: Vec<String>,
    /// What is to be done, one after the other.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub implementation_steps: Vec<String>,
    /// What else there is to know.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Tasks of this analysis that must be done first, by their `id`.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// What else the agent said of it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

/// An intent that an analysis splits another one into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, new, Setters)]
#[setters(prefix = "with_", into)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ChildIntent {
    /// What is wanted, in a line; not blank.
    #[new(into)]
    #[setters(skip)]
    pub title: String,
    /// The rest of it.
    #[new(default)]
    #[serde(default)]
    pub body: String,
    /// What the others of this analysis call it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What kind of work it is.
    #[new(default)]
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub work_type: Option<WorkType>,
    /// How risky it is, as the agent judges.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// Its labels.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
    /// Intents that must be done first: others of this analysis by their `id`, and intents of
    /// the log by id or alias.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// What else the agent said of it.
    #[new(default)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
}

pub(crate) fn record(world: &mut World, command: &RecordAnalysis, meta: &Meta) -> Decided {
    let (id, asks) = (command.intent, "record_analysis");
    let outcome = outcome(command)?;
    let state = open_intent(world, id, asks)?;
    let mut events = Vec::new();
    match state.stage {
        Stage::Approved => {
            require_ready(world, id, &state, asks)?;
            events.push(started(id));
        }
        Stage::Executing => above::require_ready(world, id, &state, asks)?,
        Stage::Proposed | Stage::Rejected => {
            return Err(Refusal::Transition {
                kind: Kind::Intent,
                id: id.0,
                state: "proposed".to_owned(),
                asked: asks,
                allowed: "approved or executing (approve_intent)",
            }
            .into());
        }
    }
    let mut pieces = Pieces::new();
    let content = pieces.text(answer_text(command)?);
    events.push(emit(id, Analyzed { content }, pieces));
    events.extend(match outcome {
        Outcome::Tasks => tasks(world, id, &command.tasks, meta)?,
        Outcome::ChildIntents => children(world, id, &command.child_intents, meta)?,
        Outcome::NeedsClarification => vec![asked(id, &command.clarifications)?],
    });
    Ok(events)
}

/// Which of the three it is.
enum Outcome {
    Tasks,
    ChildIntents,
    NeedsClarification,
}

fn outcome(command: &RecordAnalysis) -> Result<Outcome, Refusal> {
    if command.is_unread() {
        let reason = "nothing was read of it; give tasks, child_intents or clarifications";
        return Err(Refusal::invalid("analysis", reason));
    }
    let given = [
        (!command.tasks.is_empty()).then_some(Outcome::Tasks),
        (!command.child_intents.is_empty()).then_some(Outcome::ChildIntents),
        (!command.clarifications.is_empty()).then_some(Outcome::NeedsClarification),
    ];
    let mut given = given.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Refusal::invalid(
            "tasks, child_intents, clarifications",
            "one of them must be given",
        )),
        (Some(_), Some(_)) => Err(Refusal::invalid(
            "tasks, child_intents, clarifications",
            "only one of them can be given",
        )),
    }
}

/// What the agent answered, or else what was read of it.
fn answer_text(command: &RecordAnalysis) -> Result<String, Refusal> {
    let Some(answer) = &command.analysis else {
        return serde_json::to_string(command)
            .map_err(|error| Refusal::invalid("tasks", error.to_string()));
    };
    let text: Result<String, _> = serde_json::from_str(answer.text());
    Ok(text.unwrap_or_else(|_| answer.text().to_owned()))
}

fn derived(meta: &Meta, what: &str, number: usize) -> Uuid {
    Uuid::new_v5(&meta.new_id, format!("{what} {number}").as_bytes())
}

fn tasks(
    world: &mut World,
    intent: IntentId,
    asked: &[AnalyzedTask],
    meta: &Meta,
) -> Result<Vec<Emitted>, DecideError> {
    let ids = named(asked, meta)?;
    let needs = asked.iter();
    let needs: Vec<(&str, &[String])> = needs
        .map(|task| (task.id.as_str(), task.depends_on.as_slice()))
        .collect();
    refuse_cycles("tasks.depends_on", "tasks", &needs)?;
    world.load_all(ids.values().map(|task| task.stream()))?;
    let mut events = Vec::new();
    let name = |task: &&AnalyzedTask| ids.get(task.id.as_str()).copied();
    let needs = |task: &&AnalyzedTask| {
        let needs = task.depends_on.iter();
        needs.map(|name| ids.get(name.as_str()).copied()).collect()
    };
    for task in in_order(asked.iter().collect(), name, needs) {
        task::decide::check_title(&task.title)?;
        let id_of = |name: &String| ids.get(name.as_str()).copied();
        let mut dependencies: Vec<TaskId> = Vec::new();
        for needed in task.depends_on.iter().filter_map(id_of) {
            if !dependencies.contains(&needed) {
                dependencies.push(needed);
            }
        }
        let create = CreateTask {
            intent: Some(intent),
            dependencies,
            plan: Some(TaskPlan {
                alias: Some(task.id.clone()),
                complexity: task.complexity,
                plan: task.plan.clone(),
                relevant_files: task.relevant_files.clone(),
                implementation_steps: task.implementation_steps.clone(),
                context: task.context.clone(),
                extra: task.extra.clone(),
            }),
            ..CreateTask::new(task.title.as_str())
        };
        if let Some(id) = id_of(&task.id) {
            // The commands after it in the same batch know it.
            world.absent(id.stream())?;
            events.extend(task::decide::created(&create, id, None));
        }
    }
    Ok(events)
}

/// The ids of tasks by what they call each other.
fn named<'a>(asked: &'a [AnalyzedTask], meta: &Meta) -> Result<HashMap<&'a str, TaskId>, Refusal> {
    let mut ids = HashMap::new();
    for (number, task) in asked.iter().enumerate() {
        not_blank("tasks.id", &task.id)?;
        let id = TaskId(derived(meta, "task", number));
        if ids.insert(task.id.as_str(), id).is_some() {
            let reason = format!("two tasks are called {:?}", task.id);
            return Err(Refusal::invalid("tasks.id", reason));
        }
    }
    for task in asked {
        let missing = task
            .depends_on
            .iter()
            .find(|it| !ids.contains_key(it.as_str()));
        if let Some(missing) = missing {
            let reason = format!(
                "{:?} depends on {missing:?}, which is not among them",
                task.id
            );
            return Err(Refusal::invalid("tasks.depends_on", reason));
        }
        if task.depends_on.contains(&task.id) {
            let reason = format!("{:?} depends on itself", task.id);
            return Err(Refusal::invalid("tasks.depends_on", reason));
        }
    }
    Ok(ids)
}

/// Names a cycle, if some of the requested parts wait for each other.
fn refuse_cycles(
    field: &'static str,
    what: &str,
    asked: &[(&str, &[String])],
) -> Result<(), Refusal> {
    let needs: HashMap<&str, &[String]> = asked.iter().copied().collect();
    let mut settled: HashSet<&str> = HashSet::new();
    for (first, _) in asked {
        // The way down from this task, with what is still to be looked at there.
        let mut way: Vec<(&str, std::slice::Iter<'_, String>)> = Vec::new();
        let below = |name: &str| needs.get(name).copied().unwrap_or_default().iter();
        way.push((*first, below(first)));
        while let Some((name, open)) = way.last_mut() {
            let name = *name;
            let Some(next) = open.next() else {
                settled.insert(name);
                way.pop();
                continue;
            };
            if let Some(start) = way.iter().position(|(name, _)| name == next) {
                let names = way.iter().skip(start).map(|(name, _)| *name);
                let path: Vec<&str> = names.chain([next.as_str()]).collect();
                let reason = format!("{what} wait for each other: {}", path.join(" -> "));
                return Err(Refusal::invalid(field, reason));
            }
            if !settled.contains(next.as_str()) {
                way.push((next.as_str(), below(next)));
            }
        }
    }
    Ok(())
}

/// The intents that it is split into: each goes the whole way by itself.
fn children(
    world: &mut World,
    parent: IntentId,
    asked: &[ChildIntent],
    meta: &Meta,
) -> Result<Vec<Emitted>, DecideError> {
    let source = world.intent(parent)?.source.unwrap_or(Source::Human);
    let names = child_names(asked, meta)?;
    let mut proposed = Vec::new();
    for (number, child) in asked.iter().enumerate() {
        not_blank("child_intents.title", &child.title)?;
        for label in &child.labels {
            not_blank("child_intents.labels", label)?;
        }
        if let Some(work_type) = &child.work_type {
            work_type.check("child_intents.type")?;
        }
        let prompt = match child.body.is_empty() {
            true => child.title.clone(),
            false => format!("{}\n\n{}", child.title, child.body),
        };
        let id = IntentId(derived(meta, "child", number));
        let submit = SubmitIntent {
            work_type: child.work_type.clone(),
            risk: child.risk,
            labels: child.labels.clone(),
            child_of: Some(parent),
            depends_on: waited_for(world, parent, child, &names)?,
            extra: child.extra.clone(),
            ..SubmitIntent::new(prompt, source)
        };
        world.absent(id.stream())?;
        let events = propose(world, id, &submit)?;
        proposed.push(Proposed {
            id,
            needs: submit.depends_on,
            events,
        });
    }
    let ids = proposed.iter().map(|child| child.id).collect();
    // No event names what is not there yet.
    let ordered = in_order(proposed, |child| child.id, |child| child.needs.clone());
    let mut events: Vec<Emitted> = ordered.into_iter().flat_map(|child| child.events).collect();
    // Behind them: what folds it knows them.
    events.push(decomposed(parent, ids));
    Ok(events)
}

/// A child that is made.
struct Proposed {
    id: IntentId,
    needs: Vec<IntentId>,
    events: Vec<Emitted>,
}

/// The ids of children by what they call each other; they must not wait in a circle.
fn child_names<'a>(
    asked: &'a [ChildIntent],
    meta: &Meta,
) -> Result<HashMap<&'a str, IntentId>, Refusal> {
    let mut names = HashMap::new();
    let mut needs: Vec<(&str, &[String])> = Vec::new();
    for (number, child) in asked.iter().enumerate() {
        let Some(name) = &child.id else {
            continue;
        };
        not_blank("child_intents.id", name)?;
        let id = IntentId(derived(meta, "child", number));
        if names.insert(name.as_str(), id).is_some() {
            let reason = format!("two children are called {name:?}");
            return Err(Refusal::invalid("child_intents.id", reason));
        }
        needs.push((name, &child.depends_on));
    }
    refuse_cycles("child_intents.depends_on", "children", &needs)?;
    Ok(names)
}

/// The intents that a child waits for: others of the analysis, or of the log.
fn waited_for(
    world: &mut World,
    parent: IntentId,
    child: &ChildIntent,
    names: &HashMap<&str, IntentId>,
) -> Result<Vec<IntentId>, DecideError> {
    let mut depends_on = Vec::new();
    for name in &child.depends_on {
        let other = match names.get(name.as_str()) {
            Some(other) => *other,
            None => of_the_log(world, name)?,
        };
        if !depends_on.contains(&other) {
            depends_on.push(other);
        }
    }
    refuse_rings(world, parent, "child_intents.depends_on", &depends_on)?;
    Ok(depends_on)
}

/// An intent of the log by its id or its alias.
fn of_the_log(world: &mut World, name: &str) -> Result<IntentId, DecideError> {
    if let Ok(id) = name.parse::<Uuid>() {
        world.require(StreamKind::Intent, id)?;
        return Ok(IntentId(id));
    }
    if alias::check(name).is_ok() {
        let (_, state) = world.alias(name)?;
        if let alias::State::Reserved { object } = *state
            && world.intent_if_any(IntentId(object))?.is_some()
        {
            return Ok(IntentId(object));
        }
    }
    let reason =
        format!("unknown intent {name:?}: expected a child of this analysis, an id or an alias");
    Err(Refusal::invalid("child_intents.depends_on", reason).into())
}
