//! The tasks of an intent: `.forge/tasks/{intent-id}.yaml`, a list (docs/spec/forge.md,
//! Task; docs/spec/forge.md).

use super::data::{Extra, Node};
use super::error::{ForgeError, Place, Read};
use super::fields::{Fields, items_of};
use super::sieve::Sieve;
use super::words::TaskStatus;
use super::yaml;
use crate::secrets::Secrets;
use annals_domain::task::Complexity;

/// A task as its file, or an agent's answer, has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeTask {
    /// Its id; not blank.
    pub id: String,
    /// What is to be done, in a line; not blank.
    pub title: String,
    /// The id of the intent that it belongs to.
    pub intent_id: String,
    /// Where it is; pending if nothing is said.
    pub status: TaskStatus,
    /// How much work it is.
    pub complexity: Option<Complexity>,
    /// How it is to be done.
    pub plan: Option<String>,
    /// The files that it is about.
    pub relevant_files: Vec<String>,
    /// How it is to be done, step by step.
    pub implementation_steps: Vec<String>,
    /// What else is good to know.
    pub context: Option<String>,
    /// The ids of the tasks of the same intent that it waits for.
    pub depends_on: Vec<String>,
    /// The keys that are not known, kept.
    pub extra: Extra,
}

/// A task and where it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// Where it begins: its line, and its index in the list.
    pub at: Place,
    /// The task.
    pub task: ForgeTask,
}

/// A file of tasks. One that is bad does not lose the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskFile {
    /// The tasks that could be read.
    pub tasks: Vec<Placed>,
    /// What is wrong with the others, one error for each.
    pub errors: Vec<ForgeError>,
    /// The ids of the others, of those that have any.
    pub bad_ids: Vec<String>,
}

/// Reads the file of the tasks of this intent. It fails as a whole if it is not
/// YAML or not a list.
pub fn read(text: &str, intent_id: &str) -> Read<TaskFile> {
    read_through(text, intent_id, &mut Sieve::new(&Secrets::none()))
}

/// The same without its secrets.
pub(super) fn read_through(text: &str, intent_id: &str, sieve: &mut Sieve<'_>) -> Read<TaskFile> {
    let mut node = yaml::read(text)?.ok_or(ForgeError::Empty {
        expected: "a list of tasks",
        remedy: "write `[]` if there are none",
    })?;
    sieve.node(&mut node);
    let place = Place {
        line: node.line,
        path: String::new(),
    };
    let mut file = TaskFile::default();
    for (at, node) in items_of(&place, node)? {
        let id = node.text_at("id").map(str::to_owned);
        match task(at.clone(), node, intent_id, &Inherited::default()) {
            Ok(task) => file.tasks.push(Placed { at, task }),
            Err(error) => {
                file.errors.push(error);
                file.bad_ids.extend(id);
            }
        }
    }
    Ok(file)
}

/// What a task has that does not say it itself.
#[derive(Debug, Clone, Default)]
pub(super) struct Inherited {
    pub(super) id: Option<String>,
    pub(super) title: Option<String>,
}

/// The fields of a task, those that may be inherited and its status apart: what
/// has one of them is meant to be a task.
pub(super) const TELLING: [&str; 6] = [
    "plan",
    "implementation_steps",
    "relevant_files",
    "context",
    "complexity",
    "depends_on",
];

/// Reads one task of this intent.
pub(super) fn task(
    at: Place,
    node: Node,
    intent_id: &str,
    inherited: &Inherited,
) -> Read<ForgeTask> {
    of_fields(Fields::of(at, node)?, intent_id, inherited)
}

/// Reads one task of this intent from its fields.
pub(super) fn of_fields(
    mut fields: Fields,
    intent_id: &str,
    inherited: &Inherited,
) -> Read<ForgeTask> {
    Ok(ForgeTask {
        id: own_or(&mut fields, "id", &inherited.id)?,
        title: own_or(&mut fields, "title", &inherited.title)?,
        intent_id: fields.known_id("intent_id", intent_id)?,
        status: fields.optional_word("status")?.unwrap_or_default(),
        complexity: fields.optional_word("complexity")?,
        plan: fields.optional_text("plan")?,
        relevant_files: fields.texts("relevant_files")?,
        implementation_steps: fields.texts("implementation_steps")?,
        context: fields.optional_text("context")?,
        depends_on: fields.texts("depends_on")?,
        extra: fields.extra()?,
    })
}

fn own_or(fields: &mut Fields, name: &str, inherited: &Option<String>) -> Read<String> {
    match inherited {
        Some(text) => Ok(fields.optional_name(name)?.unwrap_or_else(|| text.clone())),
        None => fields.name(name),
    }
}

#[cfg(test)]
mod tests;
