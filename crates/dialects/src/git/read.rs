//! Reading a repository, commit by commit, on a thread of its own: git's
//! objects are read with blocking calls, and comparing trees takes time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use annals::Request;
use annals_domain::GitOid;
use annals_event_log::{BatchStatus, EventLog};
use futures::executor::block_on;
use gix::discover::upwards;
use gix::{ObjectId, Repository};
use uuid::Uuid;

use super::GitOptions;
use super::commit::{self, Tally};
use super::diff::{Differ, Patch};
use super::error::{GitImportError, Trouble};
use super::map::{self, CommitIds};
use super::odd_files::{self, OddFile};
use super::remark::Remark;
use super::walk::{self, Baseline, Step};
use crate::reading;
use crate::secrets::Secrets;

/// Commits that may be ready before they are appended.
const READY: usize = 4;

/// Bytes of decompressed objects that are kept: trees are read again and again.
const OBJECT_CACHE: usize = 64 * 1024 * 1024;

/// What the reading thread tells.
pub(super) enum News {
    /// The walk is done: this is what will come.
    Found { commits: u64, shallow: bool },
    /// A commit that the log has.
    AlreadyThere,
    /// A commit to be imported.
    Commit(Box<Prepared>),
    /// That was all.
    End,
}

/// A commit with the commands that record it.
pub(super) struct Prepared {
    pub(super) commit: ObjectId,
    pub(super) key: Uuid,
    pub(super) requests: Vec<Request>,
    pub(super) tally: Tally,
}

type Stop = reading::Stop<GitImportError>;
type Outlet = reading::Outlet<News, GitImportError>;

/// Starts reading.
pub(super) fn start(
    path: &Path,
    options: &GitOptions,
    log: Arc<dyn EventLog>,
) -> Result<reading::News<News, GitImportError>, GitImportError> {
    let reader = Reader {
        path: path.to_owned(),
        options: options.clone(),
        log,
    };
    reading::start("annals-git", READY, News::End, move |outlet| {
        reader.run(outlet)
    })
    .map_err(GitImportError::Thread)
}

struct Reader {
    path: PathBuf,
    options: GitOptions,
    log: Arc<dyn EventLog>,
}

impl Reader {
    fn run(&self, outlet: &mut Outlet) -> Result<(), Stop> {
        let mut repo = open(&self.path)?;
        repo.object_cache_size_if_unset(OBJECT_CACHE);
        let history =
            walk::history(&repo, self.options.limit).map_err(|trouble| trouble.at(&self.path))?;
        let commits = history.steps.len() as u64;
        outlet.send(News::Found {
            commits,
            shallow: history.shallow,
        })?;
        let secrets = &self.options.secrets;
        let mut differ = Differ::new(&repo, secrets.clone());
        for step in &history.steps {
            let oid = git_oid(step.commit).map_err(|trouble| trouble.at(&self.path))?;
            let key = CommitIds::of(oid).batch;
            // The request is not known yet; whatever it is, its batch id is the commit's.
            let news = match block_on(self.log.batch(key, b"")).map_err(GitImportError::from)? {
                BatchStatus::Known(_) | BatchStatus::Mismatch(_) | BatchStatus::Unverifiable(_) => {
                    News::AlreadyThere
                }
                BatchStatus::Unknown => {
                    let prepared = prepare(&repo, &mut differ, secrets, step, oid, key);
                    News::Commit(Box::new(
                        prepared.map_err(|trouble| trouble.at(&self.path))?,
                    ))
                }
            };
            outlet.send(news)?;
        }
        Ok(())
    }
}

/// Opens the repository at the path or in the nearest folder above it.
fn open(path: &Path) -> Result<Repository, GitImportError> {
    let unreadable = |source: std::io::Error| GitImportError::Unreadable {
        path: path.to_owned(),
        source: Box::new(source),
    };
    if let Some(OddFile { path, reason }) = odd_files::find(path).map_err(unreadable)? {
        let said = format!("{} {reason}", path.display());
        return Err(unreadable(std::io::Error::new(
            std::io::ErrorKind::InvalidInput,
            said,
        )));
    }
    gix::discover(path).map_err(|error| {
        let path = path.to_owned();
        let no_repository = matches!(
            error.downcast_any_ref::<upwards::Error>(),
            Some(
                upwards::Error::NoGitRepository { .. }
                    | upwards::Error::NoGitRepositoryWithinCeiling { .. }
                    | upwards::Error::NoGitRepositoryWithinFs { .. }
            )
        );
        if no_repository || !path.exists() {
            return GitImportError::NotARepository { path };
        }
        GitImportError::Unreadable {
            path,
            source: Box::new(error),
        }
    })
}

fn git_oid(id: ObjectId) -> Result<GitOid, Trouble> {
    GitOid::from_bytes(id.as_bytes())
        .ok_or_else(|| Trouble::Unreadable(format!("{id} is neither SHA-1 nor SHA-256").into()))
}

fn prepare(
    repo: &Repository,
    differ: &mut Differ<'_>,
    secrets: &Secrets,
    step: &Step,
    oid: GitOid,
    key: Uuid,
) -> Result<Prepared, Trouble> {
    let mut tally = Tally::default();
    let object = repo
        .try_find_object(step.commit)?
        .ok_or(Trouble::Missing(step.commit))?;
    let commit = object.try_into_commit()?;
    let facts = commit::facts(step.commit, oid, &commit.decode()?, secrets, &mut tally);
    let (parent, patch) = match step.baseline {
        Baseline::Root => (
            None,
            Some(differ.patch(step.commit, None, facts.tree, &mut tally)?),
        ),
        Baseline::Present(parent) => {
            let old = tree_of(repo, parent)?;
            let patch = differ.patch(step.commit, Some(old), facts.tree, &mut tally)?;
            (Some(git_oid(parent)?), Some(patch))
        }
        Baseline::CutOff(parent) => (Some(git_oid(parent)?), None),
    };
    let compared = patch.is_some();
    let patch = patch.unwrap_or(Patch {
        diff: None,
        touched: Vec::new(),
    });
    let requests = map::requests(&facts, parent, patch, &mut tally);
    if compared {
        map::note_diff(&facts, &requests, &mut tally);
    } else {
        tally.remarks.add(Remark::CutOff, step.commit);
        tally.fields.lost("diff", 1);
    }
    Ok(Prepared {
        commit: step.commit,
        key,
        requests,
        tally,
    })
}

fn tree_of(repo: &Repository, commit: ObjectId) -> Result<ObjectId, Trouble> {
    let object = repo
        .try_find_object(commit)?
        .ok_or(Trouble::Missing(commit))?;
    let commit = object.try_into_commit()?;
    Ok(commit.decode()?.tree())
}
