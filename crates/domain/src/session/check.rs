//! What a command of an agent must be like, before its policy is looked at: each text is what its kind of text is
//! ([`crate::input`]).

use super::refspec::is_ref_name;
use super::stored::{MAX_NAME, can_be_one_file, in_repository};
use super::{
    AgentCommand, CommandBody, CommandKind, Commit, CreateBranch, Push, RequestApproval, RunTests,
    SessionConfig, UploadArtifact,
};
use crate::Refusal;
use crate::input::{git_argument, glob, path_in_repository, path_of_repository, plain_path, shown};
use crate::refusal::not_blank;

impl AgentCommand {
    /// Checks that only a commit says what only a commit has, and that texts are names, paths and times.
    ///
    /// # Errors
    /// [`Refusal::Invalid`].
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let said = [
            ("branch", self.branch.is_some()),
            ("files", self.files.is_some()),
        ];
        if self.body.kind() != CommandKind::Commit
            && let Some((field, _)) = said.into_iter().find(|(_, is_said)| *is_said)
        {
            let reason = format!("it is said of a Commit, and this is a {}", self.body.kind());
            return Err(Refusal::invalid(field, reason));
        }
        if let Some(path) = self.body.facts().repo {
            path_of_repository("repo.path", &path)?;
        }
        match &self.body {
            CommandBody::CreateBranch(body) => new_branch(body),
            CommandBody::Push(body) => pushed(body),
            CommandBody::GetDiff(body) => revision("ref", &body.reference),
            CommandBody::RunTests(body) => tests(body),
            CommandBody::Commit(body) => committed(body, self.files.as_deref()),
            CommandBody::RequestApproval(body) => actions(body),
            CommandBody::UploadArtifact(body) => uploaded(body),
            CommandBody::ApplyPatch(_)
            | CommandBody::TransitionTicket(_)
            | CommandBody::Comment(_)
            | CommandBody::SetAssignee(_)
            | CommandBody::QueryBacklog(_)
            | CommandBody::QueryWorkItem(_)
            | CommandBody::SpawnSession(_)
            | CommandBody::LinkPlanNode(_) => Ok(()),
        }
    }
}

impl SessionConfig {
    /// Checks that a session can be set up so: that its policy can do what it says, and that the texts that rules compare
    /// have a length that an event has room for.
    ///
    /// # Errors
    /// [`Refusal::Invalid`], naming the field.
    pub fn check(&self) -> Result<(), Refusal> {
        self.policy.check()?;
        for (field, text) in [
            ("config.repo.path", &self.repo.path),
            ("config.agentProfile", &self.agent_profile),
        ] {
            if text.len() > MAX_NAME {
                let reason = format!("it has {} bytes, and may have {MAX_NAME}", text.len());
                return Err(Refusal::invalid(field, reason));
            }
        }
        path_of_repository("config.repo.path", &self.repo.path)
    }
}

/// A branch that is created has a name that git takes, and not an option, a refspec or several names.
fn new_branch(body: &CreateBranch) -> Result<(), Refusal> {
    let name = body.branch_name.as_str();
    if name.contains(':') || name.starts_with('+') {
        let reason = format!(
            "invalid branch name {}: expected no colon, and no plus in front",
            shown(name)
        );
        return Err(Refusal::invalid("branchName", reason));
    }
    git_argument("branchName", name)?;
    if !is_ref_name(name) {
        let reason = format!(
            "{} is no name of a branch that git takes: expected one such as \"topic/fix\"",
            shown(name)
        );
        return Err(Refusal::invalid("branchName", reason));
    }
    body.from_ref
        .iter()
        .try_for_each(|from| revision("fromRef", from))
}

/// A push names one branch, or one refspec: no options, and not several.
fn pushed(body: &Push) -> Result<(), Refusal> {
    let text = body.branch_name.as_str();
    git_argument("branchName", text)?;
    let spec = text.trim_start_matches('+');
    spec.split(':')
        .try_for_each(|part| git_argument("branchName", part))
}

/// A revision, which git reads as one and not as an option.
fn revision(field: &'static str, text: &str) -> Result<(), Refusal> {
    not_blank(field, text)?;
    if text.trim_start().starts_with('-') {
        let reason = format!("{} is an option of git: expected a revision", shown(text));
        return Err(Refusal::invalid(field, reason));
    }
    git_argument(field, text)
}

fn tests(body: &RunTests) -> Result<(), Refusal> {
    match body.timeout {
        Some(timeout) if timeout.ticks() <= 0 => {
            let reason = format!(
                "{timeout} is no time that tests could take: expected more than 0, such as \"00:05:00\""
            );
            Err(Refusal::invalid("timeout", reason))
        }
        _ => Ok(()),
    }
}

/// What is committed lies in the repository, and what the caller lists lies under the paths that are included.
fn committed(body: &Commit, files: Option<&[String]>) -> Result<(), Refusal> {
    for path in &body.include_paths {
        included(path, &body.repo.path)?;
    }
    let paths: Vec<&str> = body
        .include_paths
        .iter()
        .map(|path| in_repository(path, &body.repo.path))
        .collect();
    for file in files.into_iter().flatten() {
        if !can_be_one_file(file) {
            let reason = format!(
                "{} is a folder or a pattern; list the files that the commit changes",
                shown(file)
            );
            return Err(Refusal::invalid("files", reason));
        }
        let file = in_repository(file, &body.repo.path);
        path_in_repository("files", file)?;
        // Without paths it is what was staged.
        if !paths.is_empty() && !paths.iter().any(|path| covers(path, file)) {
            let reason = format!(
                "{} lies under none of includePaths: expected the files that the commit changes there",
                shown(file)
            );
            return Err(Refusal::invalid("files", reason));
        }
    }
    Ok(())
}

fn included(path: &str, repo: &str) -> Result<(), Refusal> {
    if path.starts_with('-') {
        let reason = format!(
            "{} is an option of git: expected a path, such as \"./-x\"",
            shown(path)
        );
        return Err(Refusal::invalid("includePaths", reason));
    }
    path_in_repository("includePaths", in_repository(path, repo))
}

/// Whether a path that is included, as git reads it, takes in a file.
fn covers(path: &str, file: &str) -> bool {
    // What is behind a colon is for git to understand.
    if path.starts_with(':') {
        return true;
    }
    let (path, file) = (plain_path(path), plain_path(file));
    if path.is_empty() || path == "/" || path == file {
        return true;
    }
    let pattern = without_sets(&path);
    glob(&pattern, &file) || glob(&format!("{pattern}/*"), &file)
}

/// A pattern in which each set of characters (`[ab]`) stands for any one.
fn without_sets(pattern: &str) -> String {
    let mut plain = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((before, set)) = rest.split_once('[') {
        plain.push_str(before);
        match set.split_once(']') {
            Some((_, after)) => {
                plain.push('?');
                rest = after;
            }
            None => {
                plain.push('[');
                rest = set;
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn actions(body: &RequestApproval) -> Result<(), Refusal> {
    let mut actions = body.required_actions.iter();
    actions.try_for_each(|action| not_blank("requiredActions", action))
}

fn uploaded(body: &UploadArtifact) -> Result<(), Refusal> {
    body.path_hint
        .iter()
        .try_for_each(|path| hint("pathHint", path))
}

/// A place in a workspace does not lead out of it by `..`.
pub(super) fn hint(field: &'static str, path: &str) -> Result<(), Refusal> {
    match path.split(['/', '\\']).any(|part| part.trim() == "..") {
        false => Ok(()),
        true => {
            let reason = format!(
                "{} leads out of a folder by \"..\": expected a path in the workspace",
                shown(path)
            );
            Err(Refusal::invalid(field, reason))
        }
    }
}
