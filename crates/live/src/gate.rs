//! The gate: what becomes of a call is decided by a policy before it is made, and is on disk before it is answered.

use std::fs;
use std::path::Path;

use annals::domain::IntegrityHash;
use annals::domain::run::{ToolDecider, ToolVerdict};
use annals_dialects::import::RedactedText;
use annals_dialects::live::{Around, Decided, FileSays};
use annals_dialects::secrets::Secrets;
use annals_tool_policy::{Call, Policies, Verdict};
use serde::{Deserialize, Serialize};

use crate::hook::HookAgent;

/// The most characters of a reason.
const REASON: usize = 2_000;

/// What a gate that could not do its work is called, where it refuses.
const FAIL_CLOSED: &str = "annals hook --fail-closed";

/// A policy file, as it was when a call was judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PolicyFile {
    /// Where it is.
    pub path: String,
    /// The SHA-256 of its text.
    pub hash: IntegrityHash,
    /// Its text; none, where it has secrets, which are in no log.
    text: Option<String>,
}

impl PolicyFile {
    /// A file by its path and its text.
    pub fn new(path: impl Into<String>, text: &str, secrets: &Secrets) -> PolicyFile {
        PolicyFile {
            path: path.into(),
            hash: IntegrityHash::of(text.as_bytes()),
            text: secrets
                .redact(text)
                .hits
                .is_empty()
                .then(|| text.to_owned()),
        }
    }
}

/// What becomes of a call, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ruling {
    /// What becomes of it.
    pub verdict: Verdict,
    /// The rule that says so; none, where none matches.
    pub rule: Option<String>,
    /// The file that the rule is in.
    pub source: Option<String>,
    /// Why, for the agent and the person who is asked. It names the rule.
    pub reason: String,
    /// Whether the gate could not do its work, and refuses for that.
    pub is_failure: bool,
    /// The policy, of all its files.
    pub files: Vec<PolicyFile>,
}

impl Ruling {
    /// Judges a call by a policy.
    pub fn judge(
        policies: &Policies,
        files: Vec<PolicyFile>,
        call: &Call,
        secrets: &Secrets,
    ) -> Ruling {
        let judgement = policies.judge(call);
        let rule = judgement.rule();
        Ruling {
            verdict: judgement.verdict,
            rule: rule.map(|rule| rule.id.clone()),
            source: rule.map(|rule| rule.file.clone()),
            reason: shown(&judgement.reason, secrets),
            is_failure: false,
            files,
        }
    }

    /// The refusal of a gate that could not judge or record a call.
    pub fn failure(reason: &str, secrets: &Secrets) -> Ruling {
        Ruling {
            verdict: Verdict::Deny,
            rule: None,
            source: None,
            reason: shown(
                &format!("denied, since the gate cannot do its work: {reason}"),
                secrets,
            ),
            is_failure: true,
            files: Vec::new(),
        }
    }

    /// The same for an agent that cannot be made to ask a person: where nothing may be let through unasked, it is denied.
    #[must_use]
    pub fn closed_for(mut self, agent: HookAgent) -> Ruling {
        if self.verdict == Verdict::Ask && !agent.asks() {
            self.verdict = Verdict::Deny;
            let title = agent.title();
            self.reason = format!(
                "denied, since {title} asks nobody for a hook: {}",
                self.reason
            );
        }
        self
    }

    /// The decision that it is.
    pub(crate) fn decided(&self, mode: Option<String>) -> Decided {
        let (by, by_name) = match self.is_failure {
            true => (ToolDecider::Hook, Some(FAIL_CLOSED.to_owned())),
            false => (ToolDecider::Rule, self.rule.clone()),
        };
        let files = self.files.iter().map(|file| {
            let says = match &file.text {
                Some(text) => FileSays::Content(text.clone().into_bytes()),
                None => FileSays::Hash(file.hash),
            };
            (file.path.clone(), says)
        });
        let files: Vec<_> = files.collect();
        Decided {
            verdict: match self.verdict {
                Verdict::Allow => ToolVerdict::Allow,
                Verdict::Ask => ToolVerdict::Ask,
                Verdict::Deny => ToolVerdict::Deny,
            },
            by,
            by_name,
            source: self.source.clone(),
            scope: None,
            reason: Some(self.reason.clone()),
            mode,
            is_inferred: false,
            in_force: (!files.is_empty()).then_some(files),
        }
    }

    /// The same as evidence, of a call that has no name to be known by.
    pub(crate) fn evidence(&self, tool: &str) -> Around {
        let files = self.files.iter();
        let files: Vec<_> = files
            .map(|file| serde_json::json!({ "path": file.path, "sha256": file.hash }))
            .collect();
        let report = serde_json::json!({
            "verdict": self.verdict,
            "rule": self.rule,
            "source": self.source,
            "reason": self.reason,
            "in_force": files,
        });
        Around {
            kind: "gate".to_owned(),
            tool: tool.to_owned(),
            is_by_person: false,
            summary: Some(self.reason.clone()),
            // Nothing in it has secrets, and nothing is taken out of it.
            report: Some(RedactedText::plain(&report.to_string(), &Secrets::standard()).0),
            begins: true,
        }
    }
}

/// A reason without secrets, and no longer than anybody reads.
fn shown(reason: &str, secrets: &Secrets) -> String {
    let redacted = secrets.redact(reason).content;
    match redacted.char_indices().nth(REASON) {
        Some((at, _)) => format!("{}...", redacted.get(..at).unwrap_or_default()),
        None => redacted.into_owned(),
    }
}

/// The branch that is checked out where a folder is; none, if it is none, or cannot be known.
pub(crate) fn branch(folder: &str) -> Option<String> {
    let folder = Path::new(folder);
    let git = folder.ancestors().find_map(|folder| {
        let git = folder.join(".git");
        let found = fs::symlink_metadata(&git).ok()?;
        match found.is_dir() {
            true => Some(git),
            // A working tree beside another one names its folder.
            false => {
                let text = small(&git)?;
                let place = text.trim().strip_prefix("gitdir: ")?;
                Some(folder.join(place))
            }
        }
    })?;
    let head = small(&git.join("HEAD"))?;
    let branch = head.trim().strip_prefix("ref: refs/heads/")?;
    Some(branch.to_owned())
}

/// The text of a file that is small.
fn small(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = annals_files::open(path).ok()?;
    let mut limited = std::io::Read::take(file, 4096);
    std::io::Read::read_to_string(&mut limited, &mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests;
