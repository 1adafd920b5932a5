//! Reading a repository, commit by commit, on a thread of its own: git's
//! objects are read with blocking calls, and comparing trees takes time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use annals::Request;
use annals_domain::GitOid;
use annals_event_log::{BatchStatus, Store};
use derive_setters::Setters;
use futures::executor::block_on;
use gix::ObjectId;
use gix::objs::CommitRef;
use uuid::Uuid;

use super::binary::Binaries;
use super::commit::{self, Facts, Raw};
use super::diff::{Differ, Patch};
use super::error::{GitImportError, Trouble};
use super::head::{self, Head};
use super::map::{self, CommitIds};
use super::objects::{Fault, Objects};
use super::own_files::Refusal;
use super::place::{self, NotFound};
use super::remark::Remark;
use super::tally::Tally;
use super::under_way::{Share, UnderWay};
use super::walk::{self, Baseline, Step};
use crate::reading;
use crate::secrets::Secrets;

/// What to import of a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct GitOptions {
    /// At most so many commits, the newest; all of them by default.
    #[setters(into)]
    pub limit: Option<usize>,
    /// What is taken out of messages, authors, paths and texts; the standard set by
    /// default.
    pub secrets: Secrets,
}

/// Commits that may be ready before they are appended.
const READY: usize = 4;

/// What the reading thread tells.
pub(super) enum ReadEvent {
    /// The walk is done: this is what will come.
    Found { commits: u64, shallow: bool },
    /// A commit that the log has.
    AlreadyThere,
    /// A commit that is left out.
    Broken { commit: ObjectId, reason: String },
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
    /// What of it could not be read.
    pub(super) broken: Option<String>,
    /// Its diff, as long as it is in memory.
    pub(super) share: Share,
    pub(super) tally: Tally,
}

type Stop = reading::Stop<GitImportError>;
type Outlet = reading::Outlet<ReadEvent, GitImportError>;

/// Starts reading.
pub(super) fn start(
    path: &Path,
    options: &GitOptions,
    log: Arc<dyn Store>,
) -> Result<reading::Events<ReadEvent, GitImportError>, GitImportError> {
    let reader = Reader {
        path: path.to_owned(),
        options: options.clone(),
        log,
    };
    reading::start("annals-git", READY, ReadEvent::End, move |outlet| {
        reader.run(outlet)
    })
    .map_err(GitImportError::Thread)
}

struct Reader {
    path: PathBuf,
    options: GitOptions,
    log: Arc<dyn Store>,
}

impl Reader {
    fn run(&self, outlet: &mut Outlet) -> Result<(), Stop> {
        let (head, objects) = open(&self.path)?;
        let history = walk::history(&objects, &head, self.options.limit)
            .map_err(|trouble| trouble.at(&self.path))?;
        let commits = (history.steps.len() + history.broken.len()) as u64;
        outlet.send(ReadEvent::Found {
            commits,
            shallow: history.shallow,
        })?;
        for left_out in history.broken {
            let (commit, fault) = (left_out.commit, left_out.fault);
            let reason = match left_out.is_end {
                true => format!("it was left out, and all history before it: {fault}"),
                false => format!("it was left out: {fault}"),
            };
            outlet.send(ReadEvent::Broken { commit, reason })?;
        }
        let secrets = &self.options.secrets;
        let mut differ = Differ::new(&objects, secrets.clone());
        let under_way = UnderWay::default();
        for step in &history.steps {
            let commit = step.commit;
            under_way.wait();
            let prepared = match git_oid(commit) {
                Ok(oid) if self.is_known(oid)? => Ok(None),
                Ok(oid) => {
                    prepare(&objects, &mut differ, (secrets, &under_way), step, oid).map(Some)
                }
                Err(fault) => Err(fault),
            };
            outlet.send(match prepared {
                Ok(None) => ReadEvent::AlreadyThere,
                Ok(Some(prepared)) => ReadEvent::Commit(Box::new(prepared)),
                Err(fault) => ReadEvent::Broken {
                    commit,
                    reason: format!("it was left out: {fault}"),
                },
            })?;
        }
        Ok(())
    }

    /// Whether the log has a commit.
    fn is_known(&self, oid: GitOid) -> Result<bool, GitImportError> {
        // The request is not known yet; whatever it is, its batch id is the commit's.
        let status = block_on(self.log.batch(CommitIds::of(oid).batch, b""))?;
        Ok(match status {
            BatchStatus::Known(_) | BatchStatus::Mismatch(_) | BatchStatus::Unverifiable(_) => true,
            BatchStatus::Unknown => false,
        })
    }
}

/// Opens the repository at the path or in the nearest folder above it.
fn open(path: &Path) -> Result<(Head, Objects), GitImportError> {
    let refused = |refusal: Refusal| Trouble::from(refusal).at(path);
    let place = place::find(path).map_err(|error| match error {
        NotFound::Nowhere => GitImportError::NotARepository {
            path: path.to_owned(),
        },
        NotFound::Refused(refusal) => refused(refusal),
    })?;
    let head = head::read(&place).map_err(refused)?;
    let objects = Objects::of(&place.common, head.hash).map_err(refused)?;
    Ok((head, objects))
}

fn git_oid(id: ObjectId) -> Result<GitOid, Fault> {
    let expected = "an id of SHA-1 or SHA-256";
    GitOid::from_bytes(id.as_bytes()).ok_or(Fault::Malformed { id, expected })
}

/// The commands that record a commit. What of its files cannot be read is left out, and said.
fn prepare(
    objects: &Objects,
    differ: &mut Differ<'_>,
    (secrets, under_way): (&Secrets, &UnderWay),
    step: &Step,
    oid: GitOid,
) -> Result<Prepared, Fault> {
    let id = step.commit;
    let mut tally = Tally::default();
    let raw = Raw::of(objects, id)?.ok_or(Fault::Missing(id))?;
    let decoded = decoded(&raw, id)?;
    let facts = commit::facts(id, oid, (&raw, &decoded), secrets, &mut tally);
    let mut reasons: Vec<String> = raw.broken().map(str::to_owned).into_iter().collect();
    let parent = match step.baseline {
        Baseline::Root => None,
        Baseline::Present(parent) | Baseline::CutOff(parent) => Some(git_oid(parent)?),
    };
    let mut noted = tally.clone();
    let mut compared = compare(objects, differ, step, &facts, Binaries::kept(), &mut noted);
    let had_binaries = compared.patch.has_binaries;
    let bytes = |compared: &Compared| compared.patch.diff.as_ref().map_or(0, Vec::len);
    let mut share = under_way.share(bytes(&compared));
    let mut requests = map::requests(&facts, parent, compared.patch, &mut noted);
    if had_binaries && !map::has_diff(&requests) {
        // It may be small enough without their content.
        noted = tally;
        compared = compare(
            objects,
            differ,
            step,
            &facts,
            Binaries::left_out(),
            &mut noted,
        );
        share = under_way.share(bytes(&compared));
        requests = map::requests(&facts, parent, compared.patch, &mut noted);
    }
    let mut tally = noted;
    match compared.remark {
        None => map::note_diff(&facts, &requests, &mut tally),
        Some(remark) => {
            tally.remarks.add(remark, id);
            tally.fields.lost("diff", 1);
        }
    }
    reasons.extend(compared.reason);
    Ok(Prepared {
        commit: id,
        key: CommitIds::of(oid).batch,
        requests,
        share,
        broken: (!reasons.is_empty()).then(|| reasons.join("; ")),
        tally,
    })
}

/// What a commit changed, and what is to be said where that is not known.
struct Compared {
    patch: Patch,
    remark: Option<Remark>,
    reason: Option<String>,
}

fn compare(
    objects: &Objects,
    differ: &mut Differ<'_>,
    step: &Step,
    facts: &Facts,
    binaries: Binaries,
    tally: &mut Tally,
) -> Compared {
    let before = match step.baseline {
        Baseline::Root => Ok(None),
        Baseline::Present(parent) => tree_of(objects, parent).map(Some),
        Baseline::CutOff(_) => return Compared::nothing(Remark::CutOff),
    };
    let patch = before.and_then(|before| {
        let trees = (before, facts.tree);
        differ.patch(step.commit, trees, binaries, tally)
    });
    match patch {
        Ok(Some(patch)) => Compared {
            patch,
            remark: None,
            reason: None,
        },
        Ok(None) => Compared::nothing(Remark::TooManyChanges),
        Err(fault) => Compared {
            reason: Some(format!("its diff and touched files were left out: {fault}")),
            ..Compared::nothing(Remark::DiffUnreadable)
        },
    }
}

impl Compared {
    fn nothing(remark: Remark) -> Compared {
        Compared {
            patch: Patch::default(),
            remark: Some(remark),
            reason: None,
        }
    }
}

fn decoded(raw: &Raw, id: ObjectId) -> Result<CommitRef<'_>, Fault> {
    let expected = "a commit";
    raw.commit().map_err(|_| Fault::Malformed { id, expected })
}

fn tree_of(objects: &Objects, commit: ObjectId) -> Result<ObjectId, Fault> {
    let raw = match Raw::of(objects, commit) {
        // What is too large to be imported is still what its children are compared with.
        Err(Fault::TooLarge { .. }) => Raw::beginning(objects, commit),
        read => read,
    };
    let raw = raw?.ok_or(Fault::Missing(commit))?;
    Ok(decoded(&raw, commit)?.tree())
}
