//! The files of a session's last commits, which one that amends them changes, too. Their names are content, so that a
//! session's state does not have them: a second fold of its stream does ([`crate::SecondFold`]).

use std::collections::BTreeSet;

use super::{CommandBody, CommandKind, CommandReceived, CommandResult, Commit, Event};
use crate::input::plain_path;
use crate::pieces::{Pieces, Slot};
use crate::world::not_found;
use crate::{CommandId, DecideError, SecondFold, SessionId, Timestamp, World, is_removed_name};

/// The files of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommittedFiles {
    names: BTreeSet<String>,
    /// How many there are whose names were removed, at most.
    nameless: u32,
}

impl CommittedFiles {
    /// How many files there are, at most.
    pub fn count(&self) -> u32 {
        let named = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        named.saturating_add(self.nameless)
    }

    fn add(&mut self, other: &CommittedFiles) {
        self.names.extend(other.names.iter().cloned());
        self.nameless = self.nameless.saturating_add(other.nameless);
    }
}

impl From<BTreeSet<String>> for CommittedFiles {
    fn from(names: BTreeSet<String>) -> CommittedFiles {
        CommittedFiles { names, nameless: 0 }
    }
}

/// A commit that was given, and not rejected.
#[derive(Debug, Clone, PartialEq)]
struct One {
    command: CommandId,
    repo: String,
    /// Whether it amends the one before; not known where that was removed.
    amends: Option<bool>,
    files: CommittedFiles,
    /// When it was given.
    at: Timestamp,
}

/// The commits of a session, as far as they did not fail: the oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Commits {
    given: Option<One>,
    accepted: Vec<One>,
}

impl Commits {
    /// Whether an event may say something of a commit.
    pub fn is_about(event: &Event) -> bool {
        match event {
            Event::CommandReceived(event) => event.facts.kind == CommandKind::Commit,
            Event::CommandAccepted(_) | Event::CommandCompleted(_) => true,
            _ => false,
        }
    }

    /// Folds one event in, which occurred at a time. `text` gives a piece of its content; none, if it was removed.
    pub fn apply(&mut self, event: &Event, at: Timestamp, text: &dyn Fn(Slot) -> Option<String>) {
        match event {
            Event::CommandReceived(event) => self.given = given(event, at, text),
            Event::CommandAccepted(event) => {
                let is_it = |given: &mut One| given.command == event.command;
                let accepted = self.given.take_if(is_it);
                if let Some(one) = &accepted
                    && one.amends == Some(false)
                {
                    self.forget_ended(&one.repo);
                }
                self.accepted.extend(accepted);
            }
            Event::CommandCompleted(event) if event.outcome == CommandResult::Failure => {
                self.accepted.retain(|one| one.command != event.command);
            }
            _ => {}
        }
    }

    /// Commits that no later one can amend go: all but the last ones, which may still fail.
    fn forget_ended(&mut self, repo: &str) {
        const KEPT: usize = 64;
        let of_it = self.accepted.iter().filter(|one| one.repo == repo).count();
        let mut excess = of_it.saturating_sub(KEPT);
        self.accepted.retain(|one| {
            let goes = excess > 0 && one.repo == repo;
            excess -= usize::from(goes);
            !goes
        });
    }

    /// The last commit in a repository and those that it amends. A commit whose repository was removed may have been in
    /// this one, and one of which it was removed whether it amends may have amended.
    fn making_last(&self, repo: &str) -> Last<'_> {
        let is_any = is_removed_name(repo);
        let mut last = Last::default();
        for one in &self.accepted {
            let is_lost = is_any || is_removed_name(&one.repo);
            if one.repo == repo && !is_lost && one.amends == Some(false) {
                last.commits.clear();
                last.begun = last.begun.max(Some(one.at));
            }
            if one.repo == repo || is_lost {
                last.commits.push((one, is_lost));
            }
        }
        last
    }

    /// The files of the last commit in a repository, with those of the commits that it amends.
    pub fn last(&self, repo: &str) -> CommittedFiles {
        last_of_all([self], repo)
    }

    /// Like [`Commits::apply`], with the content of an event that was only decided.
    pub(crate) fn apply_decided(&mut self, event: &Event, at: Timestamp, pieces: &Pieces) {
        self.apply(event, at, &|slot| pieces.text_of(slot));
    }
}

/// The commits of a session that make the last one in a repository.
#[derive(Default)]
struct Last<'c> {
    /// Each, and whether its repository is not known any more.
    commits: Vec<(&'c One, bool)>,
    /// When the last one was given that amends none.
    begun: Option<Timestamp>,
}

/// The files of the last commit in a repository, where several sessions work in it. What was given before the last commit
/// that amends none is not amended any more.
fn last_of_all<'c>(all: impl IntoIterator<Item = &'c Commits>, repo: &str) -> CommittedFiles {
    let repo = plain_path(repo);
    let all: Vec<Last<'_>> = all
        .into_iter()
        .map(|commits| commits.making_last(&repo))
        .collect();
    let begun = all.iter().filter_map(|last| last.begun).max();
    let mut files = CommittedFiles::default();
    for (one, is_lost) in all.iter().flat_map(|last| &last.commits) {
        if *is_lost || Some(one.at) >= begun {
            files.add(&one.files);
        }
    }
    files
}

/// A commit as it was given; nothing, for another command.
fn given(
    event: &CommandReceived,
    at: Timestamp,
    text: &dyn Fn(Slot) -> Option<String>,
) -> Option<One> {
    if event.facts.kind != CommandKind::Commit {
        return None;
    }
    let body = text(event.body).and_then(|json| serde_json::from_str(&json).ok());
    let files = event.files.and_then(text);
    let files: Option<Vec<String>> = files.and_then(|json| serde_json::from_str(&json).ok());
    let commit: Option<Commit> = match body {
        Some(CommandBody::Commit(commit)) => Some(commit),
        _ => None,
    };
    let names = match (&commit, &files) {
        (Some(commit), Some(files)) => commit.changed(files),
        _ => None,
    };
    // Where they are not known, their number may be. That of a commit that amends has the others in it. Where content was
    // removed and nothing counted them, they are any number.
    let is_removed = commit.is_none() || (event.files.is_some() && files.is_none());
    let uncounted = if is_removed { u32::MAX } else { 0 };
    let nameless = || CommittedFiles {
        names: BTreeSet::new(),
        nameless: event.facts.files.unwrap_or(uncounted),
    };
    Some(One {
        command: event.command,
        repo: plain_path(event.facts.repo.as_deref().unwrap_or_default()),
        amends: commit.as_ref().map(|commit| commit.amend),
        files: names.map_or_else(nameless, CommittedFiles::from),
        at,
    })
}

impl World {
    /// The files that a commit changes if it amends the last one of some sessions that work in one repository, by what
    /// its caller says; none, where that says too little.
    ///
    /// # Errors
    /// [`DecideError::Needs`] the sessions' commits, and [`crate::Refusal::NotFound`].
    pub(crate) fn amended_files(
        &mut self,
        sessions: &[SessionId],
        commit: &Commit,
        files: &[String],
    ) -> Result<Option<u32>, DecideError> {
        let Some(own) = commit.changed(files) else {
            return Ok(None);
        };
        self.load_second_folds(sessions.iter().map(|session| session.stream()))?;
        let mut all = Vec::with_capacity(sessions.len());
        for session in sessions {
            let stream = session.stream();
            match self.second_fold(stream)? {
                SecondFold::Commits(commits) => all.push(commits.clone()),
                SecondFold::Window(_) | SecondFold::TaskText(_) => return Err(not_found(stream)),
            }
        }
        let mut files = last_of_all(&all, &commit.repo.path);
        files.add(&CommittedFiles::from(own));
        Ok(Some(files.count()))
    }
}
