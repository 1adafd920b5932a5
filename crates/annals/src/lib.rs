//! A flight recorder for coding agents: what they do becomes immutable events in a durable log.
//!
//! [`Annals`] is an open log. A service gives it commands; each is decided by the rules of the object
//! that it is about, and becomes events that are on disk when the call returns. Objects are views that
//! are folded from events, as they are now or as they were at any moment.
//!
//! # Record, and look back
//!
//! ```
//! use annals::domain::ActorRef;
//! use annals::domain::run::{DiffFormat, ProposePatchSet, Status};
//! use annals::projections::RunView;
//! use annals::{Annals, At};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # futures::executor::block_on(async {
//! let annals = Annals::open("memory:").await?; // or a directory
//! let agent = ActorRef::agent("coder");
//! let me = annals.by(&agent);
//! let intent = me.submit("Add pagination to the user list").await?;
//! me.analyze(intent, "GET /users takes offset and limit").await?;
//! let task = me.task(intent, "Paginate GET /users").await?;
//! let run = me.start_run(task, None, None).await?;
//! let diff = ProposePatchSet::new(run, DiffFormat::Unified);
//! let patch_set = me.propose(diff).await?;
//! let before = annals.position();
//! me.validate(run).await?;
//! me.commit(run, patch_set, None).await?;
//!
//! let now: RunView = annals.get(run).await?;
//! let then: RunView = annals.get_at(run, At::Position(before)).await?;
//! assert_eq!((now.status, then.status), (Status::Completed, Status::Patching));
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Where to find what
//!
//! | To | Use |
//! | --- | --- |
//! | open or create a log | [`Annals::open`], [`OpenOptions`]; [`Annals::over`] for another store |
//! | record the steps of an agent's work | [`Annals::by`], which has a method for each |
//! | give any other command, or several that belong together | [`Annals::execute`], [`Annals::execute_batch`] with a [`Request`]; [`domain`] has all commands |
//! | record very many | [`Annals::bulk`]: many batches share a sync |
//! | ask a policy first | [`Annals::gate`]: the verdict is on disk when it is answered |
//! | see an object, now or then | [`Annals::get`], [`Annals::get_at`], [`Annals::view`], [`Annals::history`] |
//! | find objects | [`Annals::list`], [`Annals::refs`], [`Annals::tree`], [`Annals::resolve`] |
//! | see what a model had in its window | [`Annals::seen_window`]; [`Annals::replay`] tries other eviction policies |
//! | follow what comes | [`Annals::subscribe`], [`Annals::session_events`] |
//! | prove what is in the log | [`proof`] |
//! | remove content for good | [`Annals::redact`] |
//! | do all this without `async` | [`blocking`] |
//!
//! # What is promised
//!
//! - **Durable.** When a call that records returns, its events are on disk; readers never see events that
//!   could still be lost.
//! - **All or nothing.** A batch is recorded as a whole, over any number of objects. A refused command
//!   records nothing.
//! - **Repeatable.** A request with a key is recorded once, however often it is sent.
//! - **Verifiable.** Every record is a leaf of a Merkle tree: a checkpoint that is kept elsewhere shows any
//!   later change.
//!
//! # Errors
//!
//! Every error of an operation is [`Classified`]: its [`class`](Classified::class) says what helps (another
//! request, the same one later, a restored backup), its [`code`](Classified::code) is one word that keeps
//! its meaning, and [`is_retryable`](Classified::is_retryable) says whether to try again.
//!
//! # Threads and runtimes
//!
//! [`Annals`] is cheap to clone, and can be used from any thread. Its futures run on any executor, as the
//! store has threads of its own. One process at a time opens a log for writing; any number can open it
//! with [`OpenOptions::read_only`] meanwhile.

mod adopt;
mod batch;
pub mod blocking;
mod bulk;
mod came_from;
mod catalogue;
mod deadline;
mod environment;
mod execute;
mod flow;
mod follow;
mod gate;
mod intake;
mod keyed_locks;
mod observations;
mod open;
mod prepared;
pub mod proof;
mod read;
mod ready;
mod recorded;
mod redaction;
mod request;
mod seal;
mod state_snapshots;
mod states;
mod subscribe;
mod sync;
mod window;
mod with_rows;

use std::fmt;
use std::sync::Arc;

use annals_event_log::{Position, ReadError, Stats, Store};
use annals_projections::Catalogue;
use annals_store_rocks::RocksLog;
use annals_store_shared::SharedLog;
use futures::lock::Mutex;

pub use adopt::{AdoptRefusal, Adopted, ImportedObject};
pub use annals_domain as domain;
pub use annals_event_log as event_log;
pub use annals_event_log::{Classification, Classified, ErrorClass};
pub use annals_projections as projections;
pub use annals_store_rocks as store_rocks;
pub use annals_wire as wire;
pub use bulk::{BulkError, BulkWriter, Decided, DecidedOutcome, KnownKey};
pub use came_from::CameFrom;
pub use environment::environment;
pub use flow::As;
pub use gate::Gated;
pub use intake::InboxDetails;
pub use observations::{ObservationEntry, Observations, ObservationsQuery};
pub use open::{LogUrl, OpenError, OpenOptions};
pub use read::{At, InvalidAt, ObjectRef, ViewError};
pub use recorded::RecordedEvent;
pub use redaction::{
    Found, RedactReport, RedactRequest, RedactionError, RedactionNote, SealOf, Stays, Target,
};
pub use request::{BatchOutcome, ExecuteError, LoadError, Outcome, Request};
pub use seal::SealError;
pub use state_snapshots::{StateFault, StatesReport};
pub use window::{FrameWas, SeenWindow, StepFrame};

/// An open log. Cloning it is cheap and gives the same log; it can be used
/// from any thread and any async runtime, and a process can have many.
#[derive(Clone)]
pub struct Annals {
    log: Arc<dyn Store>,
    files: Files,
    catalogue: Arc<Catalogue>,
    floor: catalogue::Floor,
    states: Arc<states::States>,
    windows: Arc<states::Windows>,
    locks: Arc<keyed_locks::KeyedLocks>,
    recent: Arc<states::Recent>,
    /// Held while an object is sealed, and while content is removed: no seal is made of content
    /// that is just going.
    sealing: Arc<Mutex<()>>,
}

/// The files of a log that is in a folder.
#[derive(Clone)]
pub(crate) enum Files {
    None,
    /// For this process alone, or for reading only.
    Alone(Arc<RocksLog>),
    Shared(SharedLog),
}

impl Annals {
    /// Opens the log at a URL for reading and writing, and creates it if it
    /// does not exist. [`OpenOptions`] has more to choose from.
    ///
    /// # Errors
    /// [`OpenError`]; nothing is altered then.
    pub async fn open(url: &str) -> Result<Annals, OpenError> {
        OpenOptions::new().create(true).open(url)
    }

    /// Works on a log that is open already: another store, or a test's.
    pub fn over(log: Arc<dyn Store>) -> Annals {
        Annals::with_files(log, Files::None)
    }

    pub(crate) fn with_files(log: Arc<dyn Store>, files: Files) -> Annals {
        Annals {
            log,
            files,
            catalogue: Arc::new(Catalogue::new()),
            floor: catalogue::Floor::default(),
            states: Arc::new(states::States::new()),
            windows: Arc::new(states::Windows::new()),
            locks: Arc::new(keyed_locks::KeyedLocks::default()),
            recent: Arc::new(states::Recent::new()),
            sealing: Arc::new(Mutex::new(())),
        }
    }

    /// The log itself: records, blobs and read models.
    pub fn log(&self) -> &Arc<dyn Store> {
        &self.log
    }

    /// The embedded store, where the log is one: backups, verification. Where another process owns the log, it
    /// is a reader beside it.
    pub fn rocks(&self) -> Option<Arc<RocksLog>> {
        match &self.files {
            Files::None => None,
            Files::Alone(rocks) => Some(Arc::clone(rocks)),
            Files::Shared(shared) => Some(shared.rocks()),
        }
    }

    /// The id of the process that owns the log, where processes share it: it writes for all of them.
    pub fn owner(&self) -> Option<u32> {
        match &self.files {
            Files::None | Files::Alone(_) => None,
            Files::Shared(shared) => Some(shared.owner()),
        }
    }

    /// Up to where the log is durable.
    pub fn position(&self) -> Position {
        self.log.watermark()
    }

    /// Waits until everything up to `position` can be read here; a reader
    /// may be behind the process that writes for a moment.
    ///
    /// # Errors
    /// [`ReadError::Closed`].
    pub async fn wait_for(&self, position: Position) -> Result<(), ReadError> {
        match position.0.checked_sub(1) {
            None => Ok(()),
            Some(before) => self.log.wait_above(Position(before)).await.map(|_| ()),
        }
    }

    /// Counts and sizes.
    ///
    /// # Errors
    /// [`ReadError`].
    pub async fn stats(&self) -> Result<Stats, ReadError> {
        self.log.stats().await
    }

    /// Brings the catalogue of objects up to date on disk, waits for what was
    /// accepted, and releases the log. Repeating it is harmless.
    pub async fn close(&self) {
        let log = self.log.as_ref();
        // The catalogue catches up with the log wherever it is behind: failing
        // to bring it up to date costs time at the next opening and nothing else.
        let kept = async {
            self.catalogue.catch_up(log).await?;
            self.catalogue.flush(log).await
        };
        if let Err(error) = kept.await {
            tracing::debug!(%error, "the catalogue was not brought up to date");
        }
        self.log.close().await;
    }
}

impl fmt::Debug for Annals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Annals")
            .field("log_id", &self.log.log_id())
            .field("position", &self.log.watermark())
            .finish_non_exhaustive()
    }
}

/// The README's example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
