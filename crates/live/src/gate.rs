//! The gate: what becomes of a call is decided by a policy before it is made, and is on disk before it is answered.

use std::fs;
use std::path::{Path, PathBuf};

use annals::domain::IntegrityHash;
use annals::domain::run::{ToolDecider, ToolVerdict};
use annals_dialects::import::RedactedText;
use annals_dialects::live::{Around, Decided, FileSays};
use annals_dialects::secrets::Secrets;
use annals_tool_policy::{Call, Policies, Verdict};
use serde::{Deserialize, Serialize};

use crate::hook::HookAgent;
use crate::ledger::BudgetVerdict;

/// The most characters of a reason.
const REASON: usize = 2_000;

/// What a gate that could not do its work is called, where it refuses.
const FAIL_CLOSED: &str = "annals hook --fail-closed";

/// A policy file, as it was when a call was judged. What is read of one that was kept has yet to be looked through
/// (`Ruling::redacted`): its texts are others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PolicyFile<T = RedactedText> {
    /// Where it is.
    pub path: T,
    /// The SHA-256 of its text.
    pub hash: IntegrityHash,
    /// Its text; none, where it has secrets, which are in no log.
    text: Option<T>,
}

impl PolicyFile {
    /// A file by its path and its text.
    pub fn new(path: &str, text: &str, secrets: &Secrets) -> PolicyFile {
        PolicyFile {
            path: RedactedText::plain(path, secrets).0,
            hash: IntegrityHash::of(text.as_bytes()),
            text: whole(text, secrets),
        }
    }

    /// The file, as a decision has it that it was in force for.
    pub(crate) fn says(&self) -> (RedactedText, FileSays) {
        let says = match &self.text {
            Some(text) => FileSays::Content(text.clone()),
            None => FileSays::Hash(self.hash),
        };
        (self.path.clone(), says)
    }
}

impl PolicyFile<String> {
    /// One that was kept, without the secrets that somebody may have put there.
    pub(crate) fn redacted(self, secrets: &Secrets) -> PolicyFile {
        PolicyFile {
            path: RedactedText::plain(&self.path, secrets).0,
            hash: self.hash,
            text: self.text.and_then(|text| whole(&text, secrets)),
        }
    }
}

/// A text that has no secrets.
fn whole(text: &str, secrets: &Secrets) -> Option<RedactedText> {
    let (text, hits) = RedactedText::plain(text, secrets);
    hits.is_empty().then_some(text)
}

/// What becomes of a call, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Ruling<T = RedactedText> {
    /// What becomes of it.
    pub verdict: Verdict,
    /// The rule that says so; none, where none matches.
    pub rule: Option<T>,
    /// The file that the rule is in.
    pub source: Option<T>,
    /// Why, for the agent and the person who is asked. It names the rule.
    pub reason: T,
    /// Whether the gate could not do its work, and refuses for that.
    pub is_failure: bool,
    /// The policy, of all its files.
    pub files: Vec<PolicyFile<T>>,
}

impl Ruling<String> {
    /// One that was kept, without the secrets that somebody may have put there.
    pub(crate) fn redacted(self, secrets: &Secrets) -> Ruling {
        let redacted = |text: &String| RedactedText::plain(text, secrets).0;
        Ruling {
            verdict: self.verdict,
            rule: self.rule.as_ref().map(redacted),
            source: self.source.as_ref().map(redacted),
            reason: redacted(&self.reason),
            is_failure: self.is_failure,
            files: self
                .files
                .into_iter()
                .map(|file| file.redacted(secrets))
                .collect(),
        }
    }
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
            rule: rule.map(|rule| RedactedText::plain(&rule.id, secrets).0),
            source: rule.map(|rule| RedactedText::plain(&rule.file, secrets).0),
            reason: shown(&judgement.reason, secrets),
            is_failure: false,
            files,
        }
    }

    /// The verdict of a budget. Of the verdicts of a policy and of a budget the stronger counts: deny, then ask, then allow. Of two that
    /// are the same, the budget's does, with the policy's reason.
    ///
    /// An agent that cannot be made to ask a person is denied: a budget holds.
    pub fn with_budget(
        policy: Option<Ruling>,
        budget: BudgetVerdict,
        agent: HookAgent,
        secrets: &Secrets,
    ) -> Ruling {
        let strength = |verdict: Verdict| match verdict {
            Verdict::Allow => 0,
            Verdict::Ask => 1,
            Verdict::Deny => 2,
        };
        let (files, before) = match policy {
            Some(policy) if strength(policy.verdict) > strength(budget.verdict) => return policy,
            Some(policy) => {
                let reason = (policy.verdict == budget.verdict).then_some(policy.reason);
                (policy.files, reason)
            }
            None => (Vec::new(), None),
        };
        let reason = shown(&budget.reason, secrets);
        Ruling {
            verdict: budget.verdict,
            rule: Some(RedactedText::plain(&budget.name, secrets).0),
            source: Some("annals budget".into()),
            reason: match before {
                Some(before) => RedactedText::joined(&[reason, before], "; "),
                None => reason,
            },
            is_failure: false,
            files,
        }
        .closed_for(agent)
    }

    /// Why a gate refuses that cannot do its work.
    pub fn cannot(reason: &str) -> String {
        format!("denied, since the gate cannot do its work: {reason}")
    }

    /// The refusal of a gate that could not judge or record a call.
    pub fn failure(reason: &str, secrets: &Secrets) -> Ruling {
        Ruling {
            verdict: Verdict::Deny,
            rule: None,
            source: None,
            reason: shown(&Ruling::cannot(reason), secrets),
            is_failure: true,
            files: Vec::new(),
        }
    }

    /// The same for an agent that cannot be made to ask a person: where nothing may be let through unasked, it is
    /// denied.
    #[must_use]
    pub fn closed_for(mut self, agent: HookAgent) -> Ruling {
        if self.verdict == Verdict::Ask && !agent.asks() {
            self.verdict = Verdict::Deny;
            let why = [
                "denied, since ".into(),
                agent.title().into(),
                " asks nobody for a hook: ".into(),
                self.reason,
            ];
            self.reason = RedactedText::joined(&why, "");
        }
        self
    }

    /// The decision that it is.
    pub(crate) fn decided(&self, mode: Option<RedactedText>) -> Decided {
        let (by, by_name) = match self.is_failure {
            true => (ToolDecider::Hook, Some(FAIL_CLOSED.into())),
            false => (ToolDecider::Rule, self.rule.clone()),
        };
        let files: Vec<_> = self.files.iter().map(PolicyFile::says).collect();
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
            grant: None,
            reason: Some(self.reason.clone()),
            mode,
            is_inferred: false,
            in_force: (!files.is_empty()).then_some(files),
        }
    }

    /// The same as evidence, of a call that has no name to be known by.
    pub(crate) fn evidence(&self, tool: &RedactedText) -> Around {
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
            kind: "gate",
            tool: tool.clone(),
            is_by_person: false,
            summary: Some(self.reason.clone()),
            // Nothing in it has secrets, and nothing is taken out of it.
            report: Some(RedactedText::plain(&report.to_string(), &Secrets::standard()).0),
            begins: true,
        }
    }
}

/// A reason without secrets, and no longer than anybody reads.
fn shown(reason: &str, secrets: &Secrets) -> RedactedText {
    let (redacted, _) = RedactedText::plain(reason, secrets);
    match redacted.char_indices().nth(REASON) {
        Some((at, _)) => {
            let begins = redacted.part(|text| text.get(..at).unwrap_or_default());
            RedactedText::joined(&[begins, "...".into()], "")
        }
        None => redacted,
    }
}

/// The branch that is checked out where a folder is; none, if it is none, or cannot be known.
pub(crate) fn branch(folder: &str) -> Option<String> {
    let folder = Path::new(folder);
    let git = folder.ancestors().find_map(git_folder)?;
    let head = small(&git.join("HEAD"))?;
    let branch = head.trim().strip_prefix("ref: refs/heads/")?;
    Some(branch.to_owned())
}

/// The folder of git's own files of the repository that a folder is the top level of; `None` if it is not one.
pub(crate) fn git_folder(folder: &Path) -> Option<PathBuf> {
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
