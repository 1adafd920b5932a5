//! Keeping the git blobs that the log names in a git repository, where nothing else of git reaches
//! them: as refs, as a commit without a parent, as a kept pack, or as a list for a custom gc.
//!
//! `docs/retention.md` says which to choose. The repository is one that a person names; what is
//! written into it is written as git does: under locks, and by a temporary file and a rename.

pub(crate) mod blobs;
pub(crate) mod content;
mod custom_gc;
pub(crate) mod error;
mod format;
mod keep_file;
mod keep_pack;
mod large_pack;
mod odd_files;
mod orphan;
mod owner;
mod packed_refs;
pub(crate) mod reading;
mod refs;
mod report;
mod repository;
mod scope;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use annals::Annals;
use annals_domain::GitOid;
use annals_event_log::Store;
use derive_new::new;
use derive_setters::Setters;
use futures::channel::oneshot;
use uuid::Uuid;

pub use blobs::{NamedBlob, Place};
pub use error::RetentionError;
pub use report::{MissingBlob, RetentionReport, Strategy};

use owner::Owner;
use repository::{Held, Repository, Unread};

/// What to do.
#[derive(Debug, Clone, new, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct RetentionRequest {
    /// The repository's top folder, or its own folder (`.git`, or a bare one).
    #[new(into)]
    #[setters(skip)]
    pub repository: PathBuf,
    /// How.
    #[setters(skip)]
    pub strategy: Strategy,
    /// The objects whose blobs are meant: intents, tasks, runs, snapshots, ...; all of the log if
    /// there are none.
    #[new(default)]
    pub objects: Vec<Uuid>,
    /// Whether to let them go. What others keep there, such as another log, stays.
    #[new(default)]
    pub release: bool,
    /// With a release: whether entries without a log go, too. Older versions wrote such, and
    /// other tools may.
    #[new(default)]
    pub unowned: bool,
    /// With [`Strategy::CustomGc`]: whether each is stored as an object of its own that is new, so
    /// that no gc removes it unasked.
    #[new(default)]
    pub protect: bool,
}

/// Keeps the blobs that objects of the log name, or lets them go.
///
/// # Errors
/// [`RetentionError`]. Blobs that are nowhere or cannot be read are not an error: they are in the report, and
/// the others are kept.
pub async fn retain(
    annals: &Annals,
    request: RetentionRequest,
) -> Result<RetentionReport, RetentionError> {
    let scope = scope::of(annals, &request.objects).await?;
    let named = blobs::all(annals).await?;
    let log = Arc::clone(annals.log());
    let (sender, receiver) = oneshot::channel();
    let work = move || {
        let done = work(log.as_ref(), &request, scope.as_ref(), named);
        // Not the last to have it: the caller closes the log, and may end the process then.
        drop(log);
        // The caller may have gone.
        let _ = sender.send(done);
    };
    let started = thread::Builder::new().name("retain".to_owned()).spawn(work);
    started.map_err(RetentionError::Thread)?;
    receiver.await.map_err(|_| RetentionError::Interrupted)?
}

fn work(
    log: &dyn Store,
    request: &RetentionRequest,
    scope: Option<&HashSet<Uuid>>,
    named: Vec<NamedBlob>,
) -> Result<RetentionReport, RetentionError> {
    if request.release && request.strategy == Strategy::CustomGc {
        return Err(RetentionError::HoldsNothing);
    }
    let repository = Repository::open(&request.repository)?;
    repository.check_for(request.strategy)?;
    // A mark pass only reads, and may be a part of a gc that another process began.
    let writes = request.strategy != Strategy::CustomGc || request.protect;
    let _lock = writes.then(|| repository.lock()).transpose()?;
    let owner = Owner::new(log.log_id(), request.unowned);
    let is_meant = |blob: &NamedBlob| scope.is_none_or(|scope| blob.is_of(scope));
    let mut meant: Vec<NamedBlob> = named.into_iter().filter(is_meant).collect();
    let mut report = RetentionReport {
        strategy: request.strategy,
        release: request.release,
        named: meant.len(),
        changed: 0,
        unchanged: 0,
        written: 0,
        other_hash: 0,
        shared: Vec::new(),
        held_by_others: 0,
        removed: Vec::new(),
        missing: Vec::new(),
        holder: None,
        ids: Vec::new(),
    };
    if request.release {
        if let Some(scope) = scope {
            let shared = meant.extract_if(.., |blob| blob.is_of_others(scope));
            report.shared = shared.map(|blob| blob.blob).collect();
        }
        return release(log, &repository, &meant, &owner, report);
    }
    let removed = meant.extract_if(.., |blob| blob.removed);
    report.removed = removed.map(|blob| blob.blob).collect();
    if let Some(scope) = scope {
        meant.iter_mut().for_each(|blob| blob.limit_to(scope));
    }
    let mut held = repository.hold(log, meant, &mut report)?;
    let done = match request.strategy {
        Strategy::Refs => refs::retain(&repository, &held, &owner)?,
        Strategy::Orphan => orphan::retain(&repository, &held, &owner)?,
        Strategy::KeepPack => keep_pack::retain(&repository, &held, &owner)?,
        Strategy::CustomGc => custom_gc::mark(&repository, &held, request.protect)?,
    };
    if request.strategy == Strategy::CustomGc {
        report.ids = held.iter().map(|held| held.id).collect();
    }
    for Unread { id, reason } in done.unread {
        let is_it = |held: &mut Held| held.id == id;
        let unread = held.extract_if(.., is_it).next();
        let named_by = unread.and_then(|held| held.places.into_iter().next());
        let named = named_by.zip(GitOid::from_bytes(id.as_slice()));
        report
            .missing
            .extend(named.map(|(named_by, blob)| MissingBlob {
                blob,
                named_by,
                reason: reason.to_string(),
            }));
    }
    repository.check_all_there(held.iter().map(|held| held.id))?;
    report.changed = done.changed;
    report.unchanged = held.len() - done.changed.min(held.len());
    report.holder = done.holder;
    Ok(report)
}

fn release(
    log: &dyn Store,
    repository: &Repository,
    meant: &[NamedBlob],
    owner: &Owner,
    mut report: RetentionReport,
) -> Result<RetentionReport, RetentionError> {
    let going = repository.ids(log, meant)?;
    let done = match report.strategy {
        Strategy::Refs => refs::release(repository, &going, owner)?,
        Strategy::Orphan => orphan::release(repository, &going, owner)?,
        Strategy::KeepPack => keep_pack::release(repository, &going, owner)?,
        Strategy::CustomGc => return Err(RetentionError::HoldsNothing),
    };
    report.changed = done.changed;
    report.unchanged = meant.len().saturating_sub(done.changed);
    report.held_by_others = done.held_by_others;
    report.holder = done.holder;
    Ok(report)
}
