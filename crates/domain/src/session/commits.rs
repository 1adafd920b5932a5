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

/// A commit, or a branch from elsewhere that was created, which was given and not rejected.
#[derive(Debug, Clone, PartialEq)]
struct One {
    command: CommandId,
    repo: String,
    effect: Effect,
    files: CommittedFiles,
    /// When it was given.
    at: Timestamp,
    /// When it succeeded.
    ended: Option<Timestamp>,
    /// Whether all before it had ended when it was accepted.
    is_alone: bool,
}

/// What a command does to the commit that the repository is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// The repository is on another commit than before.
    Elsewhere,
    /// A new commit.
    Commits,
    /// The commit is replaced; or a new one is made, where the command's content was removed.
    Amends,
}

/// The commits of a session, and its branches from elsewhere, as far as they did not fail: the oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Commits {
    given: Option<One>,
    accepted: Vec<One>,
    /// Whether some are not here any more.
    has_forgotten: bool,
}

impl Commits {
    /// Whether an event may say something of a commit.
    pub fn is_about(event: &Event) -> bool {
        match event {
            Event::CommandReceived(event) => is_one(event),
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
                if let Some(mut one) = self.given.take_if(is_it) {
                    let mut before = self.accepted.iter().filter(|it| it.may_be_in(&one.repo));
                    one.is_alone = before.all(|it| it.ended.is_some());
                    if one.effect != Effect::Amends {
                        self.forget(&one.repo);
                    }
                    self.accepted.push(one);
                }
            }
            Event::CommandCompleted(event) if event.outcome == CommandResult::Failure => {
                self.accepted.retain(|one| one.command != event.command);
            }
            Event::CommandCompleted(event) => {
                let of_it = |one: &&mut One| one.command == event.command;
                if let Some(one) = self.accepted.iter_mut().find(of_it) {
                    one.ended = Some(at);
                }
            }
            _ => {}
        }
    }

    /// All but the last ones go: a later commit amends one of those, and where it may amend another one, any number
    /// of files is counted.
    fn forget(&mut self, repo: &str) {
        const KEPT: usize = 64;
        let of_it = self.accepted.iter().filter(|one| one.repo == repo).count();
        let mut excess = of_it.saturating_sub(KEPT);
        self.has_forgotten |= excess > 0;
        self.accepted.retain(|one| {
            let goes = excess > 0 && one.repo == repo;
            excess -= usize::from(goes);
            !goes
        });
    }

    /// The files of the last commit in a repository, with those of the commits that amend it.
    pub fn last(&self, repo: &str) -> CommittedFiles {
        last_of_all(std::slice::from_ref(self), repo)
    }

    /// Like [`Commits::apply`], with the content of an event that was only decided.
    pub(crate) fn apply_decided(&mut self, event: &Event, at: Timestamp, pieces: &Pieces) {
        self.apply(event, at, &|slot| pieces.text_of(slot));
    }
}

impl One {
    /// Whether it is in a repository as far as is known: where its path was removed, it may be any one.
    fn may_be_in(&self, repo: &str) -> bool {
        self.repo == repo || is_removed_name(&self.repo) || is_removed_name(repo)
    }
}

/// The files of the commit that one which amends replaces, with those of the commits that amended it before, where
/// several sessions work in a repository. Where it is not certain which commit that is, those of all.
fn last_of_all(all: &[Commits], repo: &str) -> CommittedFiles {
    let repo = plain_path(repo);
    let mut sessions = Vec::with_capacity(all.len());
    for commits in all {
        let of_it = commits.accepted.iter().filter(|one| one.may_be_in(&repo));
        sessions.push(of_it.collect::<Vec<&One>>());
    }
    let mut files = CommittedFiles::default();
    if let Some(making) = making_last(&sessions, &repo) {
        making.iter().for_each(|one| files.add(&one.files));
        return files;
    }
    let every = sessions.iter().flatten();
    every.for_each(|one| files.add(&one.files));
    if all.iter().any(|commits| commits.has_forgotten) {
        files.nameless = u32::MAX;
    }
    files
}

/// The last commit that amends none, and those that amend it, of sessions that work in a repository; `None` where that
/// is not certain: another one went on when that commit was given, or another tree was checked out since.
fn making_last<'c>(sessions: &[Vec<&'c One>], repo: &str) -> Option<Vec<&'c One>> {
    let is_base = |one: &One| one.effect == Effect::Commits && one.is_alone && one.repo == repo;
    let mut bases = Vec::new();
    for (session, ones) in sessions.iter().enumerate() {
        let last = ones
            .iter()
            .copied()
            .enumerate()
            .rev()
            .find(|(_, one)| is_base(one));
        bases.extend(last.map(|(place, base)| (session, place, base)));
    }
    let (session, place, base) = bases.into_iter().max_by_key(|(.., base)| base.at)?;
    let mut making = vec![base];
    for (other, ones) in sessions.iter().enumerate() {
        for (number, one) in ones.iter().copied().enumerate() {
            // Of one session the order is known; those of others are compared by the log's clock.
            let (is_over, is_later) = match other == session {
                true => (number <= place, number > place),
                false => (one.ended.is_some_and(|at| at < base.at), one.at > base.at),
            };
            match one.effect {
                _ if is_over => {}
                Effect::Amends if is_later => making.push(one),
                _ => return None,
            }
        }
    }
    Some(making)
}

/// Whether a command that was given is a commit, or creates a branch from elsewhere.
fn is_one(event: &CommandReceived) -> bool {
    match event.facts.kind {
        CommandKind::Commit => true,
        CommandKind::CreateBranch => event.facts.filtered,
        _ => false,
    }
}

/// A commit or a branch from elsewhere as it was given; nothing, for another command.
fn given(
    event: &CommandReceived,
    at: Timestamp,
    text: &dyn Fn(Slot) -> Option<String>,
) -> Option<One> {
    if !is_one(event) {
        return None;
    }
    let (effect, files) = match event.facts.kind {
        CommandKind::Commit => committed(event, text),
        _ => (Effect::Elsewhere, CommittedFiles::default()),
    };
    Some(One {
        command: event.command,
        repo: plain_path(event.facts.repo.as_deref().unwrap_or_default()),
        effect,
        files,
        at,
        ended: None,
        is_alone: false,
    })
}

/// The effect and the files of a commit as it was given.
fn committed(
    event: &CommandReceived,
    text: &dyn Fn(Slot) -> Option<String>,
) -> (Effect, CommittedFiles) {
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
    let effect = match commit.is_some_and(|commit| !commit.amend) {
        true => Effect::Commits,
        false => Effect::Amends,
    };
    (effect, names.map_or_else(nameless, CommittedFiles::from))
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
