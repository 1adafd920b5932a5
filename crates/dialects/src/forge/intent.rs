//! An intent: `.forge/intents/{id}.yaml` (docs/spec/forge.md, Intent).
//!
//! The id is the file's stem and not in the file.

use super::data::{Extra, Node};
use super::error::{ForgeError, Place, Read};
use super::fields::Fields;
use super::sieve::Sieve;
use super::words::IntentStatus;
use super::yaml;
use crate::secrets::Secrets;
use annals_domain::intent::{Risk, Source, WorkType};

/// An intent as its file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeIntent {
    /// What is wanted, in a line; not blank.
    pub title: String,
    /// What is wanted.
    pub body: String,
    /// Where it comes from.
    pub source: Source,
    /// The kind of work, where a person or a program has said it; `type` in the
    /// file.
    pub work_type: Option<WorkType>,
    /// How much can go wrong, where a person or a program has judged it.
    pub risk: Option<Risk>,
    /// Where it is; proposed if the file says nothing.
    pub status: IntentStatus,
    /// The id of the intent that it is a part of.
    pub parent: Option<String>,
    /// When it was written down, as it is in the file.
    pub created_at: Option<String>,
    /// Its labels.
    pub labels: Vec<String>,
    /// What was asked about it.
    pub clarifications: Vec<Clarification>,
    /// The ids of the intents that it waits for.
    pub depends_on: Vec<String>,
    /// The keys that are not known, kept.
    pub extra: Extra,
}

/// A question about an intent, and perhaps its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clarification {
    /// The question.
    pub question: String,
    /// The answer.
    pub answer: Option<String>,
    /// The keys that are not known, kept.
    pub extra: Extra,
}

impl Clarification {
    /// Whether it was answered; a blank text is not an answer.
    pub fn is_answered(&self) -> bool {
        self.answer
            .as_ref()
            .is_some_and(|answer| !answer.trim().is_empty())
    }
}

impl ForgeIntent {
    /// Whether some question has no answer (docs/spec/forge.md, needs_clarification).
    pub fn needs_clarification(&self) -> bool {
        self.clarifications.iter().any(|asked| !asked.is_answered())
    }
}

/// Reads an intent's file.
pub fn read(text: &str) -> Read<ForgeIntent> {
    read_through(text, &mut Sieve::new(&Secrets::none()))
}

/// The same without its secrets.
pub(super) fn read_through(text: &str, sieve: &mut Sieve<'_>) -> Read<ForgeIntent> {
    let mut node = yaml::read(text)?.ok_or(ForgeError::Empty {
        expected: "an intent",
        remedy: "write its title, body and source",
    })?;
    sieve.node(&mut node);
    let place = Place {
        line: node.line,
        path: String::new(),
    };
    let mut fields = Fields::of(place, node)?;
    Ok(ForgeIntent {
        title: fields.name("title")?,
        body: fields.text("body")?,
        source: fields.word("source")?,
        work_type: fields.optional_type("type")?,
        risk: fields.optional_word("risk")?,
        status: fields.optional_word("status")?.unwrap_or_default(),
        parent: fields.optional_name("parent")?,
        created_at: fields.optional_text("created_at")?,
        labels: fields.labels("labels")?,
        clarifications: clarifications(&mut fields)?,
        depends_on: fields.texts("depends_on")?,
        extra: fields.extra()?,
    })
}

fn clarifications(fields: &mut Fields) -> Read<Vec<Clarification>> {
    let items = fields.items("clarifications")?.into_iter();
    items.map(|(at, node)| clarification(at, node)).collect()
}

fn clarification(at: Place, node: Node) -> Read<Clarification> {
    let mut fields = Fields::of(at, node)?;
    Ok(Clarification {
        question: fields.name("question")?,
        answer: fields.optional_text("answer")?,
        extra: fields.extra()?,
    })
}

#[cfg(test)]
mod tests;
