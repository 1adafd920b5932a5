//! A log that many processes have open for writing: one of them owns it, the others are its guests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use annals_event_log::{EventLog, ReadError};
use annals_store_rocks::{OpenError, Options, RocksLog};
use tokio::sync::oneshot;
use tokio::task::unconstrained;
use uuid::Uuid;

use crate::guest::{CallError, ConnectError, Connection};
use crate::holder::holder;
use crate::message::{Answer, Call};
use crate::owner::Serving;
use crate::owner_search::{OwnerSearch, Plan};
use crate::share_error::{ShareError, unusable_owner};
use crate::stranger::Stranger;

/// How long it takes at most to find the owner or to become it. One that is ending may still write.
const PATIENCE: Duration = Duration::from_secs(30);
/// The same where the log is opened: who waits there is not in the middle of something.
const TO_OPEN: Duration = Duration::from_secs(5);
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(5);

/// A log in a folder, open for writing in any number of processes.
///
/// The first one to open it is its *owner*: it has the store's lock, and listens on a socket in the folder. The
/// others are its *guests*: they read by themselves, and send it what they append. When the owner goes, the next
/// guest that writes becomes the owner, and its callers do not notice.
///
/// It is a store as every other one, and keeps the same promises: an append is answered when it is on disk, and is
/// made once, also where it is sent to two owners, one after the other.
#[derive(Clone)]
pub struct SharedLog {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    path: PathBuf,
    options: Options,
    pub(crate) log_id: Uuid,
    role: RwLock<Role>,
    search: Arc<OwnerSearch<FoundRole>>,
    /// When the last search failed, if none has found the owner since.
    failed_at: Mutex<Option<Instant>>,
    closed: AtomicBool,
}

/// The outcome of a search for the owner, for all callers that wait for it.
type FoundRole = Result<Role, SearchFailure>;

/// Why a search found no owner.
#[derive(Clone)]
enum SearchFailure {
    /// The log was closed meanwhile.
    Closed,
    /// Another log than the one that was opened is at the path.
    Moved,
    Failed(Arc<ShareError>),
}

/// A search's failure as the source of an error that each of its callers gets.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct SharedFailure(Arc<ShareError>);

/// What this process is to the log.
#[derive(Clone)]
pub(crate) enum Role {
    Owner(Arc<Owned>),
    Guest(Arc<Visit>),
}

/// The log, and the thread that serves guests.
pub(crate) struct Owned {
    /// Before the log, which goes when nothing serves it any more.
    serving: Mutex<Option<Serving>>,
    pub(crate) log: Arc<RocksLog>,
    /// What was read through as a guest: some may wait on it.
    former: Option<Arc<RocksLog>>,
}

/// A log that another process owns.
pub(crate) struct Visit {
    pub(crate) reader: Arc<RocksLog>,
    connection: Connection,
}

impl Visit {
    pub(crate) async fn call(&self, call: &Call) -> Result<Answer, CallError> {
        unpaused(self.connection.call(call)).await
    }

    async fn ended(&self) {
        unpaused(self.connection.ended()).await;
    }
}

impl Owned {
    fn start(path: &Path, log: RocksLog, former: Option<Arc<RocksLog>>) -> Owned {
        let log = Arc::new(log);
        let serving = Serving::start(path, Arc::clone(&log));
        let serving = serving.inspect_err(|error| {
            tracing::warn!(%error, "the log is not shared: other processes cannot write to it");
        });
        Owned {
            serving: Mutex::new(serving.ok()),
            log,
            former,
        }
    }

    /// The store has failed: it is given up here, and the next process that writes opens it again.
    pub(crate) fn fail(&self, reason: &str) {
        if let Some(serving) = self.serving().as_ref() {
            serving.failed(reason);
        }
    }

    /// Why that was done, for an append of this process or of a guest.
    pub(crate) fn failure(&self) -> Option<Arc<str>> {
        self.serving().as_ref().and_then(Serving::failure)
    }

    fn ended(&self) -> Option<impl Future<Output = ()> + use<>> {
        self.serving().as_ref().map(Serving::ended)
    }

    fn end(&self) {
        let serving = self.serving().take();
        drop(serving);
    }

    fn serving(&self) -> MutexGuard<'_, Option<Serving>> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Role {
    /// The log to read from.
    pub(crate) fn log(&self) -> &Arc<RocksLog> {
        match self {
            Role::Owner(owned) => &owned.log,
            Role::Guest(visit) => &visit.reader,
        }
    }

    fn is_visit(&self, other: &Arc<Visit>) -> bool {
        matches!(self, Role::Guest(visit) if Arc::ptr_eq(visit, other))
    }
}

impl SharedLog {
    /// Opens an existing log.
    ///
    /// # Errors
    /// [`ShareError`].
    pub fn open(path: &Path, options: &Options) -> Result<SharedLog, ShareError> {
        SharedLog::of(path, options, find(path, options, None, TO_OPEN)?)
    }

    /// Like [`SharedLog::open`], but fails at once if the log cannot be opened now: another process is about to own it, or this
    /// user writes by way of an owner and there is none.
    ///
    /// # Errors
    /// [`ShareError`].
    pub fn open_now(path: &Path, options: &Options) -> Result<SharedLog, ShareError> {
        SharedLog::of(path, options, find(path, options, None, Duration::ZERO)?)
    }

    /// Creates a log in a folder that is new or empty, and owns it.
    ///
    /// # Errors
    /// [`ShareError`].
    pub fn create(path: &Path, options: &Options) -> Result<SharedLog, ShareError> {
        let log = RocksLog::create(path, options)?;
        let owned = Owned::start(path, log, None);
        SharedLog::of(path, options, Role::Owner(Arc::new(owned)))
    }

    /// Opens a log, and creates it first where there is none.
    ///
    /// # Errors
    /// [`ShareError`].
    pub fn open_or_create(path: &Path, options: &Options) -> Result<SharedLog, ShareError> {
        let deadline = Instant::now() + TO_OPEN;
        loop {
            match SharedLog::open(path, options) {
                Err(ShareError::Open(
                    OpenError::NotFound { .. } | OpenError::CreationInterrupted { .. },
                )) => {}
                opened => return opened,
            }
            match SharedLog::create(path, options) {
                // Another process was faster.
                Err(ShareError::Open(
                    OpenError::AlreadyExists { .. }
                    | OpenError::Locked { .. }
                    | OpenError::NotEmpty { .. },
                )) if Instant::now() < deadline => std::thread::sleep(BETWEEN_ATTEMPTS),
                created => return created,
            }
        }
    }

    fn of(path: &Path, options: &Options, role: Role) -> Result<SharedLog, ShareError> {
        let inner = Inner {
            path: path.to_owned(),
            options: options.clone(),
            log_id: role.log().log_id(),
            role: RwLock::new(role),
            search: OwnerSearch::new(),
            failed_at: Mutex::default(),
            closed: AtomicBool::new(false),
        };
        Ok(SharedLog {
            inner: Arc::new(inner),
        })
    }

    /// Whether this process owns the log now.
    pub fn is_owner(&self) -> bool {
        matches!(self.inner.role(), Role::Owner(_))
    }

    /// The id of the process that owns the log, as far as this one knows.
    pub fn owner(&self) -> u32 {
        match self.inner.role() {
            Role::Owner(_) => std::process::id(),
            Role::Guest(visit) => visit.connection.process(),
        }
    }

    /// Waits until this process owns the log: as long as another one does, it is its guest, and takes its place as soon
    /// as it goes. To be called by a process that stays, so that there is an owner when others come and go.
    ///
    /// # Errors
    /// [`ReadError::Unavailable`], if the owner has gone, or answers nothing any more, and this process could not take
    /// its place; calling it again may help. [`ReadError::Closed`]. Where the log is another user's, at once
    /// [`ReadError::Unavailable`] with [`ShareError::NeverOwner`].
    pub async fn own(&self) -> Result<(), ReadError> {
        let mut role = self.inner.role();
        while let Role::Guest(visit) = role {
            if let Some(stranger) = Stranger::at(&self.inner.path) {
                return Err(stranger.never_owns(&self.inner.path).into());
            }
            visit.ended().await;
            role = self.inner.after(&visit).await?;
        }
        Ok(())
    }

    /// Waits until this process, which owns the log, does not share it any more: the log was closed, or its store has
    /// failed and was given up. At once where it is no owner, or could not listen.
    pub async fn ended(&self) {
        if let Role::Owner(owned) = self.inner.role()
            && let Some(ended) = owned.ended()
        {
            unpaused(ended).await;
        }
    }

    /// The embedded store through which this process reads now: the log itself where it is the owner, and a reader
    /// beside it where it is a guest.
    pub fn rocks(&self) -> Arc<RocksLog> {
        Arc::clone(self.inner.role().log())
    }
}

impl std::fmt::Debug for SharedLog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedLog")
            .field("log_id", &self.inner.log_id)
            .field("is_owner", &self.is_owner())
            .finish_non_exhaustive()
    }
}

impl Inner {
    pub(crate) fn role(&self) -> Role {
        self.role
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// What this process is after the connection to the owner was lost: the owner, or the guest of another one.
    ///
    /// The role is taken by the thread that finds it: a caller that is dropped, or is not polled any more, delays no
    /// other one.
    pub(crate) async fn after(self: &Arc<Self>, lost: &Arc<Visit>) -> Result<Role, ReadError> {
        let plan = || {
            let role = self.role();
            // Another caller has found it meanwhile.
            if !role.is_visit(lost) {
                return Plan::Known(Ok(role));
            }
            if self.is_closed() {
                return Plan::Known(Err(SearchFailure::Closed));
            }
            let (inner, reader) = (Arc::downgrade(self), Arc::clone(&lost.reader));
            let (path, options) = (self.path.clone(), self.options.clone());
            let patience = self.patience();
            Plan::Search(move || {
                let begun = Instant::now();
                let found = find(&path, &options, Some(reader), patience);
                let Some(inner) = inner.upgrade() else {
                    return Err(SearchFailure::Closed);
                };
                inner.note_search(found.is_ok(), begun.elapsed());
                let role = found.map_err(|error| SearchFailure::Failed(Arc::new(error)))?;
                inner.take_role(role)
            })
        };
        let found = self.search.outcome(plan).await;
        let found = found.map_err(|error| ReadError::Unavailable {
            source: Box::new(error),
        })?;
        // The thread was lost.
        let found = found.unwrap_or(Err(SearchFailure::Closed));
        found.map_err(|failure| match failure {
            SearchFailure::Closed => ReadError::Closed,
            SearchFailure::Moved => ReadError::Moved {
                place: self.path.display().to_string(),
            },
            SearchFailure::Failed(error) => ReadError::Unavailable {
                source: Box::new(SharedFailure(error)),
            },
        })
    }

    /// Notes how a search ended. One that failed without having waited changes nothing.
    fn note_search(&self, has_found: bool, waited: Duration) {
        let mut failed_at = self.failed_at();
        match has_found {
            true => *failed_at = None,
            false if waited >= PATIENCE => *failed_at = Some(Instant::now()),
            false => {}
        }
    }

    /// Returns the time that a search takes at most. After one that failed, each later call of a command would wait as
    /// long again.
    fn patience(&self) -> Duration {
        let waited = self.failed_at().map(|at| at.elapsed());
        match waited.is_some_and(|since| since < PATIENCE) {
            true => Duration::ZERO,
            false => PATIENCE,
        }
    }

    fn failed_at(&self) -> MutexGuard<'_, Option<Instant>> {
        self.failed_at
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a role that was found, if it is one in the same log.
    fn take_role(&self, role: Role) -> FoundRole {
        if role.log().log_id() != self.log_id {
            return Err(SearchFailure::Moved);
        }
        *self.role.write().unwrap_or_else(PoisonError::into_inner) = role.clone();
        Ok(role)
    }

    pub(crate) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // A search that is under way takes its role first, and none starts after it.
        self.search.idle().await;
        match self.role() {
            Role::Owner(owned) => {
                let ending = Arc::clone(&owned);
                // Without a thread it ends with the last handle.
                let _ = off_thread(move || ending.end()).await;
                owned.log.close().await;
                if let Some(former) = &owned.former {
                    former.close().await;
                }
            }
            Role::Guest(visit) => visit.reader.close().await,
        }
    }
}

/// Does what blocks on a thread of its own, so that the caller's executor goes on.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ReadError> {
    let (done, waiting) = oneshot::channel();
    let thread = std::thread::Builder::new().name("annals-find-owner".into());
    let thread = thread.spawn(move || {
        let _ = done.send(work());
    });
    thread.map_err(|error| ReadError::Unavailable {
        source: Box::new(error),
    })?;
    let done = unpaused(waiting).await;
    done.map_err(|_| ReadError::Closed)
}

/// Waits without the pauses that tokio has its tasks make. After so many steps of a task it says "not yet" and wakes
/// the task when its runtime goes on, which never happens where a caller blocks the runtime's thread, as by
/// `futures::executor::block_on`: it would wait for ever for what is there.
fn unpaused<F: Future>(waiting: F) -> impl Future<Output = F::Output> {
    unconstrained(waiting)
}

/// Finds the owner of a log, or becomes it. It blocks.
fn find(
    path: &Path,
    options: &Options,
    reader: Option<Arc<RocksLog>>,
    patience: Duration,
) -> Result<Role, ShareError> {
    let deadline = Instant::now() + patience;
    let stranger = Stranger::at(path);
    loop {
        let error = match (Connection::open(path), stranger) {
            (Ok(connection), _) => {
                match visit_unlinked(path, options, reader.as_ref(), connection)? {
                    Some(visit) => return Ok(Role::Guest(Arc::new(visit))),
                    None => unusable_owner(path, "another log is open there", true),
                }
            }
            (Err(unreached), Some(stranger)) => stranger.unreached(path, unreached)?,
            (Err(error @ ConnectError::Version { .. }), None) => {
                return Err(unusable_owner(path, error, false));
            }
            // No process listens; or something else is in the socket's place.
            (Err(unreached), None) => match RocksLog::open(path, options) {
                Ok(log) => {
                    let owned = Owned::start(path, log, reader);
                    return Ok(Role::Owner(Arc::new(owned)));
                }
                Err(error) => match (unreached, error) {
                    // By one that does not listen yet, not any more, or never does.
                    (ConnectError::Absent, error @ OpenError::Locked { .. }) => error.into(),
                    (ConnectError::Absent, error) => return Err(error.into()),
                    (unreached, _) => unusable_owner(path, unreached, true),
                },
            },
        };
        if Instant::now() >= deadline {
            return Err(error.with_process(holder(path)));
        }
        std::thread::sleep(BETWEEN_ATTEMPTS);
    }
}

/// A visit to an owner, unless the folder shares its files with another one: the owner of either has both, and the socket
/// is linked, too.
fn visit_unlinked(
    path: &Path,
    options: &Options,
    reader: Option<&Arc<RocksLog>>,
    connection: Connection,
) -> Result<Option<Visit>, ShareError> {
    RocksLog::check_links(path)?;
    visit(path, options, reader, connection)
}

/// A visit to an owner; nothing, if it has another log open than is at the path.
fn visit(
    path: &Path,
    options: &Options,
    reader: Option<&Arc<RocksLog>>,
    connection: Connection,
) -> Result<Option<Visit>, ShareError> {
    let reader = match reader {
        Some(reader) => Arc::clone(reader),
        None => Arc::new(RocksLog::open_reader(path, options)?),
    };
    let fits = reader.log_id() == connection.log_id();
    Ok(fits.then_some(Visit { reader, connection }))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use futures::executor::block_on;

    use super::*;

    /// A command that lost the owner would wait for each thing that it still does.
    #[test]
    fn after_a_search_that_failed_the_next_one_does_not_wait() {
        let home = tempfile::tempdir().unwrap();
        let log = SharedLog::create(&home.path().join("log"), &Options::default()).unwrap();
        assert_eq!(log.inner.patience(), PATIENCE);
        log.inner.note_search(false, Duration::ZERO);
        assert_eq!(log.inner.patience(), PATIENCE);
        log.inner.note_search(false, PATIENCE);
        log.inner.note_search(false, Duration::ZERO);
        assert_eq!(log.inner.patience(), Duration::ZERO);
        log.inner.note_search(true, Duration::ZERO);
        assert_eq!(log.inner.patience(), PATIENCE);
        block_on(log.close());
    }
}
