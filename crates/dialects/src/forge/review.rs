//! A review: `.forge/reviews/{task-id}.yaml`, what a review agent answered
//! (docs/spec/forge.md, Review Result).

use super::data::{Extra, Node};
use super::error::{ForgeError, Place, Read};
use super::fields::Fields;
use super::sieve::Sieve;
use super::text::without_mark;
use super::{json, yaml};
use crate::secrets::Secrets;
use annals_domain::task::ReviewVerdict;

/// A review as its file has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgeReview {
    /// The id of the task that was judged.
    pub task_id: String,
    /// What it comes to.
    pub verdict: ReviewVerdict,
    /// What is wrong with the work.
    pub issues: Vec<String>,
    /// What could be better.
    pub suggestions: Vec<String>,
    /// The keys that are not known, kept.
    pub extra: Extra,
}

/// Reads the review of this task, which is YAML or JSON.
pub fn read(text: &str, task_id: &str) -> Read<ForgeReview> {
    read_through(text, task_id, &mut Sieve::new(&Secrets::none()))
}

/// The same without its secrets.
pub(super) fn read_through(text: &str, task_id: &str, sieve: &mut Sieve<'_>) -> Read<ForgeReview> {
    let mut node = document(text)?.ok_or(ForgeError::Empty {
        expected: "a review",
        remedy: "write its verdict",
    })?;
    sieve.node(&mut node);
    let place = Place {
        line: node.line,
        path: String::new(),
    };
    let mut fields = Fields::of(place, node)?;
    Ok(ForgeReview {
        task_id: fields.known_id("task_id", task_id)?,
        verdict: verdict(&mut fields)?,
        issues: fields.texts("issues")?,
        suggestions: fields.texts("suggestions")?,
        extra: fields.extra()?,
    })
}

/// JSON is nearly YAML, whose reader names the lines; what it does not take, such as
/// a character as two halves of a surrogate pair, may still be JSON.
fn document(text: &str) -> Read<Option<Node>> {
    yaml::read(text).or_else(|error| {
        let text = without_mark(text);
        let node = text.trim_start().starts_with('{').then(|| json::read(text));
        node.and_then(Result::ok).map(Some).ok_or(error)
    })
}

/// The verdict, which may also be said as `approved: true` or `false`.
fn verdict(fields: &mut Fields) -> Read<ReviewVerdict> {
    let flag = fields.optional_flag("approved")?;
    let Some((at, approved)) = flag else {
        return fields.word("verdict");
    };
    let by_flag = if approved {
        ReviewVerdict::Approved
    } else {
        ReviewVerdict::Rejected
    };
    match fields.optional_word::<ReviewVerdict>("verdict")? {
        Some(verdict) if verdict != by_flag => Err(ForgeError::Contradiction { at }),
        Some(_) | None => Ok(by_flag),
    }
}

#[cfg(test)]
mod tests;
