//! Configurations and commands as events store them: what a fold needs in the
//! structure, the rest as content.

use std::collections::BTreeSet;

use super::actions::granted;
use super::{
    AgentCommand, CommandBody, CommandFacts, CommandReceived, Commit, Correlation, PolicyProfile,
    RateLimits, RepoRef, SessionConfig, StoredConfig, StoredLimits, StoredPolicy, StoredRepo,
    StoredWorkItem,
};
use crate::input::plain_path;
use crate::pieces::Pieces;
use crate::{Json, Ordered, Refusal, SessionId};

/// Bytes of a configuration's text that rules compare, at most.
pub(super) const MAX_NAME: usize = 4_096;

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

/// A text that rules compare, if it is not too long for an event's structure. [`SessionConfig::check`] refuses longer
/// ones; other systems may have them.
fn name_of(text: &str) -> Option<String> {
    (text.len() <= MAX_NAME).then(|| text.to_owned())
}

impl StoredConfig {
    /// A configuration, its texts as content.
    pub fn store(config: &SessionConfig, pieces: &mut Pieces) -> StoredConfig {
        StoredConfig {
            parent: config.parent_session_id.map(SessionId),
            plan_node: config.plan_node_id.clone(),
            policy: StoredPolicy::store(&config.policy),
            repo: StoredRepo::store(&config.repo, pieces),
            repo_path: name_of(&plain_path(&config.repo.path)),
            workspace: pieces.text(config.workspace.path.as_str()),
            work_item: config.work_item.as_ref().map(|item| StoredWorkItem {
                id: item.id.clone(),
                provider_hint: pieces.optional_text(item.provider_hint.as_deref()),
            }),
            agent_profile: pieces.text(config.agent_profile.as_str()),
            agent: name_of(&config.agent_profile),
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
                // What is checked out then is another tree than the one before.
                let elsewhere = |from: &String| !matches!(from.trim(), "HEAD" | "@");
                facts.filtered = body.from_ref.as_ref().is_some_and(elsewhere);
            }
            CommandBody::Push(body) => {
                facts.repo = Some(body.repo.path.clone());
                facts.branch = Some(body.branch_name.clone());
            }
            CommandBody::Commit(body) => facts.repo = Some(body.repo.path.clone()),
            CommandBody::ApplyPatch(body) => facts.repo = Some(body.repo.path.clone()),
            CommandBody::RunTests(body) => {
                facts.repo = Some(body.repo.path.clone());
                // A filter that is blank chooses all.
                let chooses = |filter: &String| !filter.trim().is_empty();
                facts.filtered = body.filter.as_ref().is_some_and(chooses);
            }
            CommandBody::GetDiff(body) => facts.repo = Some(body.repo.path.clone()),
            CommandBody::TransitionTicket(body) => {
                facts.work_item = Some(body.item.id.clone());
                facts.state = Some(body.state.clone());
            }
            CommandBody::RequestApproval(body) => facts.actions = granted(&body.required_actions),
            CommandBody::QueryWorkItem(body) => facts.work_item = Some(body.item.id.clone()),
            CommandBody::Comment(_)
            | CommandBody::SetAssignee(_)
            | CommandBody::UploadArtifact(_)
            | CommandBody::QueryBacklog(_)
            | CommandBody::SpawnSession(_)
            | CommandBody::LinkPlanNode(_) => {}
        }
        facts
    }
}

/// Whether a file is listed that is this path or lies below it.
fn is_listed(files: &BTreeSet<String>, path: &str) -> bool {
    let below = format!("{path}/");
    let mut behind = files.range(below.clone()..);
    files.contains(path) || behind.next().is_some_and(|file| file.starts_with(&below))
}

/// A path below a repository's root, where it is written with the root in front.
pub(super) fn in_repository<'p>(path: &'p str, repo: &str) -> &'p str {
    if plain_path(path) == plain_path(repo) {
        return ".";
    }
    let repo = repo.trim_end_matches('/');
    let below = path
        .strip_prefix(repo)
        .and_then(|rest| rest.strip_prefix('/'));
    match below {
        Some(below) if repo.starts_with('/') => below.trim_start_matches('/'),
        _ => path,
    }
}

/// Whether a path can be that of one file: neither a folder nor a pattern, as git reads them.
pub(super) fn can_be_one_file(path: &str) -> bool {
    let last = path.rsplit('/').next().unwrap_or_default();
    let is_folder = matches!(last.trim(), "" | "." | "..");
    !is_folder && !path.starts_with(':') && !path.contains(['*', '?'])
}

/// The files that a commit changes, by the list of its caller and the paths that it includes; nothing,
/// where the list is empty and what it includes is not: any path may be a folder or a pattern.
fn changed(files: &[String], included: &[String], repo: &str) -> Option<BTreeSet<String>> {
    if files.is_empty() && !included.is_empty() {
        return None;
    }
    let plain = |path: &String| plain_path(in_repository(path, repo));
    let mut files: BTreeSet<String> = files.iter().map(plain).collect();
    // Those that it includes by name count, where no file of them is listed.
    let included = included.iter().filter(|path| can_be_one_file(path));
    let left_out = included.map(plain).filter(|path| !is_listed(&files, path));
    let left_out: Vec<String> = left_out.collect();
    files.extend(left_out);
    Some(files)
}

impl Commit {
    /// The files that the commit changes, by the list of its caller; none, where that says too little.
    pub(crate) fn changed(&self, files: &[String]) -> Option<BTreeSet<String>> {
        changed(files, &self.include_paths, &self.repo.path)
    }
}

impl AgentCommand {
    /// What the gate looks at.
    pub fn facts(&self) -> CommandFacts {
        let mut facts = self.body.facts();
        if let Some(branch) = &self.branch {
            facts.branch = Some(branch.clone());
        }
        if let (Some(files), CommandBody::Commit(commit)) = (&self.files, &self.body) {
            let changed = commit.changed(files);
            facts.files = changed.map(|files| u32::try_from(files.len()).unwrap_or(u32::MAX));
        }
        facts
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
