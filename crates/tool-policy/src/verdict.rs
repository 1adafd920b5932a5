//! What becomes of a call, and why.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::part::Part;

/// What becomes of a call, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It may be done.
    Allow,
    /// A person decides.
    Ask,
    /// It may not be done.
    Deny,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Verdict; 3] = [Verdict::Allow, Verdict::Ask, Verdict::Deny];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Ask => "ask",
            Verdict::Deny => "deny",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is no verdict.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected allow, ask or deny, found {found:?}")]
pub struct NoVerdict {
    /// The text.
    pub found: String,
}

impl FromStr for Verdict {
    type Err = NoVerdict;

    fn from_str(text: &str) -> Result<Verdict, NoVerdict> {
        let named = Verdict::ALL.into_iter().find(|it| it.name() == text);
        named.ok_or_else(|| NoVerdict {
            found: text.to_owned(),
        })
    }
}

/// A policy, as reports name it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// Its `@id`, or `policyN`.
    pub id: String,
    /// What it says when it matches.
    pub verdict: Verdict,
    /// Whether it is only asked where no other one matches (`@default`).
    pub is_default: bool,
    /// Its `@reason`, or the text of its `@ask`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its file.
    pub file: String,
    /// The line that it begins on.
    pub line: usize,
}

/// What becomes of one part of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct JudgedPart {
    /// The part.
    pub part: Part,
    /// What becomes of it.
    pub verdict: Verdict,
    /// The rules that say so. None: nothing matches.
    pub rules: Vec<Arc<Rule>>,
    /// Why a person is asked although no rule says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// What becomes of a call: the strongest verdict of its parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Judgement {
    /// What becomes of it.
    pub verdict: Verdict,
    /// The rules that decided, in the order of the parts.
    pub rules: Vec<Arc<Rule>>,
    /// Why, in words for the agent and the person who is asked.
    pub reason: String,
    /// Each part.
    pub parts: Vec<JudgedPart>,
    /// What of the call could not be read, for which a person is asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<String>,
}

impl Judgement {
    /// The rule that decided, or the first of several; none where none matched, or the call could
    /// not be read.
    pub fn rule(&self) -> Option<&Rule> {
        self.rules.first().map(Arc::as_ref)
    }
}
