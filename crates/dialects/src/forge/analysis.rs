//! What an analyze agent answers about an intent (Forge, the outputs of
//! Analyze; docs/spec/forge.md): tasks, intents that are its parts, or questions.
//!
//! The answer is JSON, often with prose around it or in a fence of Markdown; the
//! first JSON object counts that reads as an analysis. What is wrong is named by its
//! JSON path (`tasks[1].depends_on`).

use super::answer::{Candidate, Candidates};
use super::data::{Data, Extra, Node, Scalar, Value};
use super::error::{ForgeError, Place, Read, shown};
use super::fields::{Fields, items_of, text_of};
use super::json;
use super::task::{self, Inherited, Placed, TELLING};
use super::text::{check_size, line_at};
use super::words::nearest;
use annals_domain::intent::WorkType;

/// The outcomes that are not tasks, and the lists that they come with.
const OUTCOMES: [(&str, &str); 2] = [
    ("child_intents", "child_intents"),
    ("needs_clarification", "clarifications"),
];

/// What an agent decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Analysis {
    /// It can be done so; at least one task. Whether they can be ordered is for
    /// [`order`](super::order()) to say.
    Tasks(Vec<Placed>),
    /// It is too much for one analysis; at least one part.
    ChildIntents(Vec<ChildIntent>),
    /// Something must be known first; at least one question.
    NeedsClarification(Vec<String>),
}

/// A part of an intent, which is an intent itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildIntent {
    /// What is wanted, in a line; not blank.
    pub title: String,
    /// What is wanted.
    pub body: String,
    /// What the others call it; kept among the keys that are not known, too.
    pub id: Option<String>,
    /// The kind of work.
    pub work_type: Option<WorkType>,
    /// Its labels.
    pub labels: Vec<String>,
    /// What it waits for: others of the answer, or intents by id or alias.
    pub depends_on: Vec<String>,
    /// The keys that are not known, kept.
    pub extra: Extra,
}

/// The intent that was analyzed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Analyzed<'a> {
    /// Its id, which a single task inherits.
    pub id: &'a str,
    /// Its title, which a single task inherits.
    pub title: &'a str,
}

/// Finds the analysis in an answer.
pub fn read(answer: &str, intent: Analyzed<'_>) -> Read<Analysis> {
    check_size(answer.len())?;
    // The best of the errors: what a whole object lacks that is meant as an
    // analysis says more than that another one is cut off, and that more than
    // that there is none.
    let (mut meant, mut broken, mut other) = (None, None, None);
    for candidate in Candidates::of(answer) {
        match candidate {
            Candidate::Whole { start, text, alone } => match one(text, intent, alone) {
                Ok(Some(analysis)) => return Ok(analysis),
                Ok(None) => {
                    other.get_or_insert(start);
                }
                Err(error) => meant = meant.or(Some(error)),
            },
            Candidate::Broken(error) => broken = broken.or(Some(error)),
        }
    }
    let none = || ForgeError::NoAnalysis {
        line: other.map(|start| line_at(answer, start)),
    };
    Err(meant.or(broken).unwrap_or_else(none))
}

/// Reads one JSON text; none if it is not meant as an analysis.
fn one(text: &str, intent: Analyzed<'_>, alone: bool) -> Read<Option<Analysis>> {
    let node = json::read(text)?;
    match &node.value {
        // Forge has `Task[]` for it, without a name.
        Value::List(items) => {
            let telling = alone && items.iter().any(is_task);
            telling
                .then(|| tasks(Place::default(), node, intent))
                .transpose()
        }
        Value::Map(_) => object(node, intent, alone),
        Value::Scalar(_) => Ok(None),
        Value::Wrong(error) => Err((**error).clone()),
    }
}

fn is_task(node: &Node) -> bool {
    match &node.value {
        Value::Map(entries) => {
            let mut keys = entries.iter().map(|entry| entry.key.as_str());
            keys.any(|key| TELLING.contains(&key))
        }
        _ => false,
    }
}

fn object(node: Node, intent: Analyzed<'_>, alone: bool) -> Read<Option<Analysis>> {
    let flat = is_task(&node);
    let mut fields = Fields::of(Place::default(), node)?;
    let outcome = fields
        .take("outcome")
        .and_then(|(at, node)| text_of(at, node).ok());
    let misnamed = OUTCOMES.iter().any(|(_, list)| fields.has(list));
    match outcome.as_deref() {
        Some("child_intents") => child_intents(&mut fields).map(Some),
        Some("needs_clarification") => questions(&mut fields).map(Some),
        _ => match fields.take("tasks") {
            Some((at, node)) => tasks(at, node, intent).map(Some),
            None if misnamed => Err(no_outcome(&fields, outcome)),
            None if flat && alone => single(fields, intent).map(Some),
            None => Ok(None),
        },
    }
}

/// An object lists what only an outcome gives a meaning to. To read it as a task
/// would lose the list.
fn no_outcome(fields: &Fields, outcome: Option<String>) -> ForgeError {
    let at = fields.place("outcome", None);
    let Some(word) = outcome else {
        return ForgeError::Missing { at };
    };
    let known: Vec<&str> = OUTCOMES.iter().map(|(outcome, _)| *outcome).collect();
    ForgeError::Word {
        at,
        nearest: nearest(&word, known.iter().copied()).map(str::to_owned),
        word: shown(&word),
        known,
    }
}

fn single(fields: Fields, intent: Analyzed<'_>) -> Read<Analysis> {
    let inherited = Inherited {
        id: Some(intent.id.to_owned()),
        title: Some(intent.title.to_owned()),
    };
    let at = Place::default();
    let task = task::of_fields(fields, intent.id, &inherited)?;
    Ok(Analysis::Tasks(vec![Placed { at, task }]))
}

/// A list of tasks. One without an id gets the intent's id and its number.
fn tasks(at: Place, node: Node, intent: Analyzed<'_>) -> Read<Analysis> {
    let task = |(number, (at, node)): (usize, (Place, Node))| {
        let inherited = Inherited {
            id: Some(format!("{}-{number}", intent.id)),
            title: None,
        };
        let task = task::task(at.clone(), node, intent.id, &inherited)?;
        Ok(Placed { at, task })
    };
    let items = not_empty(at.clone(), items_of(&at, node)?)?;
    let tasks: Read<Vec<Placed>> = (1..).zip(items).map(task).collect();
    tasks.map(Analysis::Tasks)
}

fn child_intents(fields: &mut Fields) -> Read<Analysis> {
    let child = |(at, node): (Place, Node)| {
        let mut fields = Fields::of(at, node)?;
        let mut child = ChildIntent {
            title: fields.name("title")?,
            body: fields.text("body")?,
            id: fields.optional_name("id")?,
            work_type: fields.optional_type("type")?,
            labels: fields.labels("labels")?,
            depends_on: fields.texts("depends_on")?,
            extra: fields.extra()?,
        };
        if let Some(id) = &child.id {
            let id = (Scalar::Text("id".to_owned()), Data::text(id));
            child.extra.0.insert(0, id);
        }
        Ok(child)
    };
    let items = listed(fields, "child_intents")?.into_iter();
    let children: Read<Vec<ChildIntent>> = items.map(child).collect();
    children.map(Analysis::ChildIntents)
}

fn questions(fields: &mut Fields) -> Read<Analysis> {
    let items = listed(fields, "clarifications")?.into_iter();
    let texts: Read<Vec<String>> = items.map(|(at, node)| text_of(at, node)).collect();
    texts.map(Analysis::NeedsClarification)
}

/// A list that must be there and have something in it: an intent that was split
/// into nothing would never be done.
fn listed(fields: &mut Fields, name: &str) -> Read<Vec<(Place, Node)>> {
    let at = fields.place(name, None);
    match fields.take(name) {
        Some((at, node)) => not_empty(at.clone(), items_of(&at, node)?),
        None => Err(ForgeError::Missing { at }),
    }
}

fn not_empty<T>(at: Place, items: Vec<T>) -> Read<Vec<T>> {
    if items.is_empty() {
        return Err(ForgeError::EmptyList { at });
    }
    Ok(items)
}

#[cfg(test)]
mod tests;
