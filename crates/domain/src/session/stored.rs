//! Configurations and commands as events store them: what a fold needs in the
//! structure, the rest as content.

use std::collections::{BTreeSet, HashSet};

use super::{
    AgentCommand, CommandBody, CommandFacts, CommandKind, CommandReceived, Correlation,
    PolicyProfile, RateLimits, RepoRef, SessionConfig, StoredConfig, StoredLimits, StoredPolicy,
    StoredRepo, StoredWorkItem,
};
use crate::pieces::Pieces;
use crate::{Json, Ordered, Refusal, SessionId};

impl StoredPolicy {
    /// A policy as an event stores it.
    pub fn store(policy: &PolicyProfile) -> StoredPolicy {
        StoredPolicy {
            name: policy.name.clone(),
            whitelist: policy.command_whitelist.clone(),
            blacklist: policy.command_blacklist.clone(),
            protected_branches: policy.protected_branches.clone(),
            max_files_per_commit: policy.max_files_per_commit,
            require_tests_before_push: policy.require_tests_before_push,
            filtered_tests_count: policy.filtered_tests_count,
            require_approval_for_push: policy.require_approval_for_push,
            transitions: policy.allowed_work_item_transitions.clone(),
            limits: policy.limits.as_ref().map(|limits| StoredLimits {
                calls_per_minute: limits.calls_per_minute,
                burst: limits.burst,
                per_command_caps: limits.per_command_caps.as_ref().map(|caps| caps.0.clone()),
            }),
        }
    }

    /// The policy that was stored.
    pub fn policy(&self) -> PolicyProfile {
        PolicyProfile {
            name: self.name.clone(),
            command_whitelist: self.whitelist.clone(),
            command_blacklist: self.blacklist.clone(),
            protected_branches: self.protected_branches.clone(),
            max_files_per_commit: self.max_files_per_commit,
            require_tests_before_push: self.require_tests_before_push,
            filtered_tests_count: self.filtered_tests_count,
            require_approval_for_push: self.require_approval_for_push,
            allowed_work_item_transitions: self.transitions.clone(),
            limits: self.limits.as_ref().map(|limits| RateLimits {
                calls_per_minute: limits.calls_per_minute,
                burst: limits.burst,
                per_command_caps: limits.per_command_caps.clone().map(Ordered),
            }),
        }
    }
}

impl StoredRepo {
    /// A repository, its name and path as content.
    pub fn store(repo: &RepoRef, pieces: &mut Pieces) -> StoredRepo {
        StoredRepo {
            name: pieces.text(repo.name.as_str()),
            path: pieces.text(repo.path.as_str()),
        }
    }
}

impl StoredConfig {
    /// A configuration, its texts as content.
    pub fn store(config: &SessionConfig, pieces: &mut Pieces) -> StoredConfig {
        StoredConfig {
            parent: config.parent_session_id.map(SessionId),
            plan_node: config.plan_node_id.clone(),
            policy: StoredPolicy::store(&config.policy),
            repo: StoredRepo::store(&config.repo, pieces),
            workspace: pieces.text(config.workspace.path.as_str()),
            work_item: config.work_item.as_ref().map(|item| StoredWorkItem {
                id: item.id.clone(),
                provider_hint: pieces.optional_text(item.provider_hint.as_deref()),
            }),
            agent_profile: pieces.text(config.agent_profile.as_str()),
        }
    }
}

impl CommandBody {
    /// What the gate looks at, as far as the command itself says it.
    pub fn facts(&self) -> CommandFacts {
        let mut facts = CommandFacts {
            kind: self.kind(),
            repo: None,
            branch: None,
            files: None,
            filtered: false,
            work_item: None,
            state: None,
            actions: Vec::new(),
        };
        match self {
            CommandBody::CreateBranch(body) => {
                facts.repo = Some(body.repo.path.clone());
                facts.branch = Some(body.branch_name.clone());
            }
            CommandBody::Push(body) => {
                facts.repo = Some(body.repo.path.clone());
                facts.branch = Some(body.branch_name.clone());
            }
            CommandBody::Commit(body) => facts.repo = Some(body.repo.path.clone()),
            CommandBody::ApplyPatch(body) => facts.repo = Some(body.repo.path.clone()),
            CommandBody::RunTests(body) => {
                facts.repo = Some(body.repo.path.clone());
                facts.filtered = body.filter.is_some();
            }
            CommandBody::GetDiff(body) => facts.repo = Some(body.repo.path.clone()),
            CommandBody::TransitionTicket(body) => {
                facts.work_item = Some(body.item.id.clone());
                facts.state = Some(body.state.clone());
            }
            CommandBody::RequestApproval(body) => facts.actions = body.required_actions.clone(),
            CommandBody::Comment(_)
            | CommandBody::SetAssignee(_)
            | CommandBody::UploadArtifact(_)
            | CommandBody::QueryBacklog(_)
            | CommandBody::QueryWorkItem(_)
            | CommandBody::SpawnSession(_)
            | CommandBody::LinkPlanNode(_) => {}
        }
        facts
    }
}

/// Whether a file is listed that is this path or lies below it.
fn is_listed(files: &BTreeSet<&str>, path: &str) -> bool {
    let below = format!("{path}/");
    let mut behind = files.range(below.as_str()..);
    files.contains(path) || behind.next().is_some_and(|file| file.starts_with(&below))
}

/// Whether a path can be that of one file: neither a folder nor a pattern, as git reads them.
fn can_be_one_file(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_folder = matches!(last.trim(), "" | "." | "..");
    !is_folder && !path.starts_with(':') && !path.contains(['*', '?'])
}

/// How many files a commit changes, by the list of its caller and the paths that it includes; nothing,
/// where the list is empty and what it includes is not: any path may be a folder or a pattern.
fn count(files: &[String], included: &[String]) -> Option<u32> {
    if files.is_empty() && !included.is_empty() {
        return None;
    }
    let files: BTreeSet<&str> = files.iter().map(String::as_str).collect();
    // Those that it includes by name count, where no file of them is listed.
    let included = included.iter().map(String::as_str);
    let counts = |path: &&str| can_be_one_file(path) && !is_listed(&files, path);
    let left_out: HashSet<&str> = included.filter(counts).collect();
    Some(u32::try_from(files.len() + left_out.len()).unwrap_or(u32::MAX))
}

fn check_file(path: &str) -> Result<(), Refusal> {
    if can_be_one_file(path) {
        return Ok(());
    }
    let reason =
        format!("{path:?} is a folder or a pattern; list the files that the commit changes");
    Err(Refusal::invalid("files", reason))
}

/// Refuses a branch's name with characters that only a push may have.
fn check_new_branch(name: &str) -> Result<(), Refusal> {
    if !name.contains(':') && !name.starts_with('+') {
        return Ok(());
    }
    let reason = format!("invalid branch name {name:?}: expected no colon, and no plus in front");
    Err(Refusal::invalid("branchName", reason))
}

impl AgentCommand {
    /// What the gate looks at.
    pub fn facts(&self) -> CommandFacts {
        let mut facts = self.body.facts();
        if let Some(branch) = &self.branch {
            facts.branch = Some(branch.clone());
        }
        facts.files = self.files.as_ref().and_then(|files| match &self.body {
            CommandBody::Commit(commit) => count(files, &commit.include_paths),
            _ => count(files, &[]),
        });
        facts
    }

    /// Checks that only a commit says what only a commit has, that its files are files, and that a branch
    /// that is created has a name.
    ///
    /// # Errors
    /// [`Refusal::Invalid`].
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let said = [
            ("branch", self.branch.is_some()),
            ("files", self.files.is_some()),
        ];
        if let CommandBody::CreateBranch(body) = &self.body {
            check_new_branch(&body.branch_name)?;
        }
        match said.into_iter().find(|(_, is_said)| *is_said) {
            Some((field, _)) if self.body.kind() != CommandKind::Commit => {
                let reason = format!("it is said of a Commit, and this is a {}", self.body.kind());
                Err(Refusal::invalid(field, reason))
            }
            _ => self
                .files
                .iter()
                .flatten()
                .try_for_each(|file| check_file(file)),
        }
    }

    /// What the command belongs to.
    pub fn correlation(&self) -> Correlation {
        Correlation {
            command: Some(self.id),
            parent: self.parent,
            plan_node: self.plan_node.clone(),
        }
    }

    /// The event that the command was given. A file's content is stored by
    /// itself, as it is and once.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], if it cannot be written as JSON.
    pub fn received(
        &self,
        correlation: Correlation,
        pieces: &mut Pieces,
    ) -> Result<CommandReceived, Refusal> {
        let mut file = None;
        let json = match &self.body {
            CommandBody::UploadArtifact(upload) => {
                let mut upload = upload.clone();
                file = Some(std::mem::take(&mut upload.content).0);
                Json::from_value(&CommandBody::UploadArtifact(upload))
            }
            body => Json::from_value(body),
        };
        let json = json.map_err(|error| Refusal::invalid("submit", error.to_string()))?;
        let files = self.files.as_ref().map(Json::from_value).transpose();
        let files = files.map_err(|error| Refusal::invalid("files", error.to_string()))?;
        Ok(CommandReceived {
            command: self.id,
            facts: self.facts(),
            correlation,
            body: pieces.json(&json),
            files: files.map(|files| pieces.json(&files)),
            file: file.map(|bytes| pieces.attachment(bytes)),
        })
    }
}
