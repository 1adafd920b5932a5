//! A flight recorder for coding agents: what they do becomes immutable events in a durable log.
//!
//! A service opens a log, [`Annals`], and gives it *commands*: submit an intent, start a run, propose a patch set. Each
//! is decided by the rules of the object that it is about. It is refused, or it becomes *events*, which are on disk
//! when the call returns. Objects are *views*, folded from events, as they are now or as they were at any moment.
//!
//! ```toml
//! [dependencies]
//! annals = { path = "annals/crates/annals" }
//! futures = "0.3" # for `block_on`; tokio or any other executor will do
//! ```
//!
//! # Record, and look back
//!
//! [`Annals::by`] has a method for each step of an agent's work, in the name of an actor:
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
//! let run = me.start_run(task, None, None).await?; // of no plan, from no commit
//! let diff = ProposePatchSet::new(run, DiffFormat::Unified);
//! let patch_set = me.propose(diff).await?;
//! let before = annals.position();
//! me.validate(run).await?;
//! me.commit(run, patch_set, None).await?;
//!
//! let now: RunView = annals.get(run).await?;
//! let then: RunView = annals.get_at(run, At::Position(before)).await?;
//! assert_eq!((now.status(), then.status()), (Status::Completed, Status::Patching));
//! for entry in annals.history(run).await? {
//!     println!("{} {}", entry.position, entry.summary);
//! }
//! annals.close().await;
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Where to find what
//!
//! [`Annals`] itself has what every service needs:
//!
//! | To | Use |
//! | --- | --- |
//! | open or create a log | [`Annals::open`]; [`OpenOptions`] has more to choose from; [`Annals::over`] for a store that is open |
//! | record the steps of an agent's work | [`Annals::by`] |
//! | give any other command, or several that belong together | [`Annals::execute`], [`Annals::execute_batch`], with a [`Request`] |
//! | record very many | [`Annals::bulk`]: many batches share a sync |
//! | see an object, now or then | [`Annals::get`] for a known kind, [`Annals::view`] for any; [`Annals::get_at`], [`Annals::view_at`] |
//! | see what happened to it | [`Annals::history`], [`Annals::history_at`]; [`Annals::history_pages`] of what is long |
//! | see what a run used, changed and came to | [`Annals::run_report`] |
//! | find it by an alias or the end of its id | [`Annals::resolve`] |
//! | follow what comes | [`Annals::subscribe`], [`Annals::subscribe_to`]; [`Annals::subscription`] goes on where it ended |
//! | read the newest events | [`Annals::log`] with [`Query::all(position).backward()`](annals_event_log::Query::backward), and [`Contents::entry`] of each record; [`projections::history_entry`] says it in a line |
//! | read what another process wrote | [`Annals::at_least`], with the position of its [`Outcome`] |
//!
//! The rest is in handles. They borrow the log, cost nothing and can be copied:
//!
//! | Handle | It has |
//! | --- | --- |
//! | [`annals.index()`](Index) | lists, look-ups, links and trees of objects; the index rebuilt and verified |
//! | [`annals.inbox()`](Inbox) | what waits for people: approvals, questions, observations; what can be begun |
//! | [`annals.sessions()`](Sessions) | the gate that judges agents' commands, and judges recorded ones again under another policy |
//! | [`annals.pipelines()`](Pipelines) | the window that a model had before it, and other eviction policies tried on it |
//! | [`annals.conversations()`](Conversations) | sessions: conversations with agents, with status, cost and sub-agents |
//! | [`annals.costs()`](Costs) | tokens and money by day, model, actor, run, task, intent, session and sub-agent |
//! | [`annals.proofs()`](Proofs) | checkpoints, proofs, seals; [`proof`] checks them without a log |
//! | [`annals.contents()`](Contents) | records and their content, and its removal for good |
//! | [`annals.imports()`](Imports) | what comes from other systems |
//!
//! And these are beside it:
//!
//! | Module | It has |
//! | --- | --- |
//! | [`domain`] | ids, events, and every [`Command`](domain::Command) with its fields |
//! | [`projections`] | the views, queries and rows that are answered |
//! | [`event_log`] | records and positions, and the ports behind which a store is; [`store_rocks`] is the embedded one, and [`store_shared`] the same for many processes; the feature `postgres` has another, `store_postgres` |
//! | [`wire`] | events to bytes and back |
//! | [`blocking`] | all of this for programs without `async` |
//!
//! # Any command
//!
//! A [`Request`] is a command with the actor who gives it. With a key it is safe to repeat: it is recorded once,
//! however often it is sent, and the answer is the same. This is how a service gets over a lost answer.
//!
//! ```
//! use annals::domain::ActorRef;
//! use annals::domain::task::CreateTask;
//! use annals::{Annals, Classified, Request};
//! use uuid::Uuid;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # futures::executor::block_on(async {
//! # let annals = Annals::open("memory:").await?;
//! let ada = ActorRef::human("ada");
//! let request = Request::new(ada, CreateTask::new("Paginate GET /users")).key(Uuid::now_v7());
//! let outcome = loop {
//!     match annals.execute(request.clone()).await {
//!         Ok(outcome) => break outcome,
//!         Err(error) if error.is_retryable() => continue, // after a pause
//!         Err(error) => return Err(error.into()),
//!     }
//! };
//! let again = annals.execute(request).await?;
//! assert_eq!((again.id, again.position), (outcome.id, outcome.position));
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Agents under a policy
//!
//! A person opens a *session* with a policy. Each command of the agent goes through its *gate* before it is done: the
//! answer is a [`Verdict`](domain::session::Verdict), which is on disk by then. How an accepted command ended is
//! recorded, too, as rules may depend on it (tests before a push).
//!
//! ```
//! use annals::domain::session::*;
//! use annals::domain::{ActorRef, CommandId, SessionId};
//! use annals::{Annals, Request};
//! use uuid::Uuid;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # futures::executor::block_on(async {
//! # let annals = Annals::open("memory:").await?;
//! let session = SessionId(Uuid::now_v7());
//! let policy = PolicyProfile::new("careful")
//!     .with_protected_branches(vec!["main".into()])
//!     .with_require_tests_before_push(true);
//! let (repo, work) = (RepoRef::new("shop", "/src/shop"), WorkspaceRef::new("/work"));
//! let config = SessionConfig::new(session, policy, repo.clone(), work, "coder");
//! let open = CreateSession::new(config);
//! annals.execute(Request::new(ActorRef::human("ada"), open)).await?;
//!
//! let agent = ActorRef::agent("coder");
//! let coder = annals.by(&agent);
//! // The agent chooses the id: the same command under the same id has one verdict, for ever. What was throttled is
//! // given again under another one.
//! let tests = AgentCommand::new(CommandId(Uuid::now_v7()), RunTests::new(repo.clone()));
//! let gated = coder.gate(session, &tests).await?;
//! assert_eq!(gated.verdict, Verdict::Accepted);
//! // ... the tests are run ...
//! coder.complete_command(session, tests.id, CommandResult::Success, None, None).await?;
//!
//! let push = AgentCommand::new(CommandId(Uuid::now_v7()), Push::new(repo, "HEAD:main"));
//! match coder.gate(session, &push).await?.verdict {
//!     Verdict::Accepted => println!("do it, and complete_command says how it ended"),
//!     Verdict::Queued => println!("a person is asked: approve_session, deny_session"),
//!     Verdict::Throttled { retry_after, .. } => println!("not before {retry_after}"),
//!     Verdict::Rejected { reason, rule } => println!("{reason}: {rule:?}"),
//! }
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! [`Sessions`] has the gate, and judges what was recorded again under another policy. `docs/gate.md` has the rules.
//!
//! # Over a network
//!
//! - Commands come as JSON: [`Command::from_json`](domain::Command::from_json) takes a name and fields, and
//!   [`Command::NAMES`](domain::Command::NAMES) has all names. An agent's command is a
//!   [`CommandBody`](domain::session::CommandBody), which is `Deserialize`.
//! - Views, history entries and rows of the index go out as JSON: they are `Serialize`. A removed text is
//!   `{"removed": true}`.
//! - [`Annals::resolve`] finds what a person calls an object, and [`At`] is read from a text: `12`,
//!   `2026-11-03T10:00:00Z`.
//! - The caller's retry is safe with a key, which it sends along ([`Request::key`]).
//! - The actor comes from how the caller was authenticated, never from a body: an agent that could name its actor could
//!   approve its own work.
//! - An [`ErrorClass`] has its status: 400 for `Invalid`, 404 for `NotFound`, 409 for `Refused`, 503 for what
//!   [is retryable](Classified::is_retryable), 500 for the rest.
//!
//! `examples/service.rs` is such a service, with axum.
//!
//! # Tables of your own
//!
//! What no view answers, a *projection* does: it folds events into rows, which the log keeps beside its checkpoint
//! ([`event_log::ReadModels`], by way of [`Annals::log`]), so that each event counts exactly once, and what is
//! removed from the log goes from the rows, too. [`projections::Entry`] is a record with its content.
//! `examples/projection.rs` is one, with the test that kills it at each of its calls; `annals-testkit` has that.
//!
//! # Proof for somebody else
//!
//! [`Annals::proofs`] makes signed checkpoints, and files that prove what was in the log of one; [`proof`] checks
//! them without the log, as `examples/auditor.rs` does.
//!
//! # Errors
//!
//! Each operation has an error of its own, such as [`ExecuteError`] and [`ViewError`], and every one of them is
//! [`Classified`]:
//!
//! - its [`class`](Classified::class) says what helps: [another request](ErrorClass::Invalid),
//!   [the same one again](ErrorClass::Contended), [a restored backup](ErrorClass::Corrupt);
//! - its [`code`](Classified::code) is one word for programs, which keeps its meaning;
//! - [`is_retryable`](Classified::is_retryable) says whether the same call may succeed later.
//!
//! A command that is refused has recorded nothing. What became of one that failed with the class
//! [`Unavailable`](ErrorClass::Unavailable), or whose future was dropped, is unknown: repeat it with its key.
//!
//! # What is promised
//!
//! - **Durable.** When a call that records returns, its events are on disk; readers never see events that
//!   could still be lost.
//! - **All or nothing.** A batch is recorded as a whole, over any number of objects.
//! - **Repeatable.** A request with a key is recorded once, however often it is sent.
//! - **Verifiable.** Every record is a leaf of a Merkle tree: a checkpoint that is kept elsewhere shows any
//!   later change.
//!
//! # Threads and runtimes
//!
//! [`Annals`] is cheap to clone, and can be used from any thread. Its futures run on any executor, as the
//! store has threads of its own. Programs without one write `.wait()` in place of `.await`: see [`blocking`].
//! Any number of processes have one log open: the first to open it for writing owns it, and writes for the others
//! too ([`OpenOptions::exclusive`] keeps it for one process). [`OpenOptions::read_only`] opens it without writing.
//!
//! # On PostgreSQL
//!
//! With the feature `postgres` a log may be in a database, for processes on many machines:
//! `Annals::open("postgres://annals@db/annals?log=team")`. All else stays the same. `docs/postgres.md` has what a URL
//! can say and what an operator sets up; a log with settings that no URL has is opened by
//! `store_postgres::PostgresLog`, and given to [`Annals::over`].
//!
//! # Testing
//!
//! `Annals::open("memory:")` is a log in memory, with the same rules and the same errors as one on disk. Ids and times
//! are made where a request has none, so a test that wants the same ones each time sets the command's `id` and
//! [`Request::at`]. [`domain::testing::Given`] tries commands against given events, without a log. The
//! crate `annals-testkit` has random histories, stores that fail, and checks for projections and stores of your own.

mod adopt;
mod batch;
pub mod blocking;
mod bulk;
mod came_from;
mod catalogue;
mod clock;
mod contents;
mod conversation;
mod conversations;
mod costs;
mod deadline;
mod environment;
mod execute;
mod flow;
mod follow;
mod gate;
mod history_pages;
mod importer;
mod imports;
mod inbox;
mod index;
mod keyed_locks;
mod observations;
mod open;
mod own_key;
mod past;
mod pipelines;
mod postgres_url;
mod prepared;
mod projects;
pub mod proof;
mod proofs;
mod read;
mod ready;
mod recorded;
mod redaction;
mod request;
mod run_report;
mod seal;
mod sessions;
mod state_at;
mod state_snapshots;
mod states;
mod stream_events;
mod subscribe;
mod subscription;
mod sync;
mod tool_calls;
mod window;
mod with_rows;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use annals_event_log::{AppendError, Appended, Position, ReadError, Stats, Store};
use annals_projections::{Catalogue, CostModel, SessionModel};
use annals_store_rocks::RocksLog;
use annals_store_shared::SharedLog;
use futures::lock::Mutex;

pub use adopt::{AdoptRefusal, Adopted, ImportedObject};
pub use annals_domain as domain;
pub use annals_event_log as event_log;
pub use annals_event_log::{Classification, Classified, ErrorClass};
pub use annals_projections as projections;
#[cfg(feature = "postgres")]
pub use annals_store_postgres as store_postgres;
pub use annals_store_rocks as store_rocks;
pub use annals_store_shared as store_shared;
pub use annals_wire as wire;
pub use bulk::{BulkError, BulkWriter, Decided, KnownKey};
pub use came_from::CameFrom;
pub use contents::Contents;
pub use conversation::TurnRange;
pub use conversations::{
    Conversations, OverviewCost, OverviewDay, OverviewQuery, SessionCost, SessionError,
    SessionFamily, SessionListed, SessionOverview, SessionPage, SessionQuery, SessionSort,
};
pub use costs::{CostError, CostQuery, Costs};
pub use environment::environment;
pub use flow::As;
pub use gate::Gated;
pub use history_pages::HistoryPages;
pub use imports::Imports;
pub use inbox::{
    Addition, Inbox, InboxDetails, InboxItem, InboxItems, RecordedRequest, SessionDetails,
};
pub use index::Index;
pub use observations::{ObservationEntry, Observations, ObservationsQuery};
pub use open::{LogUrl, OpenError, OpenOptions};
pub use past::{
    AtName, BisectOutcome, Bisected, CausedChange, CompareSide, ComparedCall, Comparison,
    FieldChange, FieldHistory, FileBeside, FileLines, InvalidAtName, MomentError, ObjectDiff, Past,
    PastError, Probe, Probed, SideCheck, TestAnswer,
};
pub use pipelines::Pipelines;
pub use postgres_url::PostgresUrl;
pub use proofs::Proofs;
pub use read::{At, InvalidAt, ObjectRef, ViewError};
pub use recorded::RecordedEvent;
pub use redaction::{
    Found, RedactReport, RedactRequest, RedactionError, RedactionNote, SealOf, Stays, Target,
    named_removals,
};
pub use request::{BatchOutcome, DecidedOutcome, ExecuteError, LoadError, Outcome, Request};
pub use seal::SealError;
pub use sessions::Sessions;
pub use state_snapshots::{StateFault, StatesReport};
pub use subscription::{Subscription, SubscriptionError, SubscriptionPlace};
pub use tool_calls::{DecidedCall, DecidedCalls, InForce, ToldBy, ToolCalls, WhyDecided};
pub use window::{FrameWas, SeenWindow, StepFrame};

/// An open log. Cloning it is cheap and gives the same log; it can be used
/// from any thread and any async runtime, and a process can have many.
///
/// Here is what every service needs. The rest is in handles that borrow it: [`Index`], [`Inbox`], [`Sessions`],
/// [`Pipelines`], [`Past`], [`Proofs`], [`Contents`] and [`Imports`].
#[derive(Clone)]
pub struct Annals {
    log: Arc<dyn Store>,
    files: Files,
    catalogue: Arc<Catalogue>,
    costs: Arc<CostModel>,
    session_rows: Arc<SessionModel>,
    indexes: Arc<conversation::ConversationIndexes>,
    floor: catalogue::Floor,
    states: Arc<states::States>,
    windows: Arc<states::Windows>,
    locks: Arc<keyed_locks::KeyedLocks>,
    recent: Arc<states::Recent>,
    /// Held while an object is sealed, and while content is removed: no seal is made of content
    /// that is just going.
    sealing: Arc<Mutex<()>>,
    /// Whether the store could not be reached by the last append.
    is_away: Arc<AtomicBool>,
    /// Who imports by this handle.
    importer: Option<Arc<annals_domain::ActorRef>>,
    clock: clock::Clock,
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
            costs: Arc::new(CostModel::new()),
            session_rows: Arc::new(SessionModel::new()),
            indexes: Arc::default(),
            floor: catalogue::Floor::default(),
            states: Arc::new(states::States::new()),
            windows: Arc::new(states::Windows::new()),
            locks: Arc::new(keyed_locks::KeyedLocks::default()),
            recent: Arc::new(states::Recent::new()),
            sealing: Arc::new(Mutex::new(())),
            is_away: Arc::default(),
            importer: None,
            clock: clock::Clock::default(),
        }
    }

    /// The same log with another clock: for tests and simulations. A session's gate decides by it what its limits of time
    /// allow, and a request without a time happens at it.
    #[must_use]
    pub fn with_clock(
        self,
        clock: impl Fn() -> annals_domain::Timestamp + Send + Sync + 'static,
    ) -> Annals {
        let clock = clock::Clock::of(clock);
        Annals { clock, ..self }
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

    /// Returns `true` if this process owns the log, and others that share it write by way of it.
    pub fn is_owner(&self) -> bool {
        matches!(&self.files, Files::Shared(shared) if shared.is_owner())
    }

    /// Waits until this process owns the log, where processes share it: as long as another one does, this one is
    /// its guest, and takes its place when it goes. Otherwise it is done at once. For a process that stays, so that
    /// others need not take turns in owning the log.
    ///
    /// # Errors
    /// [`ReadError::Unavailable`], if the owner has gone, or answers nothing any more, and its place could not be
    /// taken; calling it again may help. [`ReadError::Closed`].
    pub async fn own(&self) -> Result<(), ReadError> {
        match &self.files {
            Files::None | Files::Alone(_) => Ok(()),
            Files::Shared(shared) => shared.own().await,
        }
    }

    /// Waits until other processes cannot write by way of this one any more: the log was closed, or its store has
    /// failed and was given up, so that another process can open it. At once where this process does not share the log.
    pub async fn unshared(&self) {
        if let Files::Shared(shared) = &self.files {
            shared.ended().await;
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

    /// What became of an append.
    pub(crate) fn note_append(&self, appended: &Result<Appended, AppendError>) {
        let is_away = matches!(appended, Err(AppendError::Unavailable { .. }));
        self.is_away.store(is_away, Ordering::Relaxed);
    }

    /// Brings the catalogue of objects up to date on disk, unless the last append could not reach the store, waits for
    /// what was accepted, and releases the log. Repeating it is harmless.
    pub async fn close(&self) {
        let log = self.log.as_ref();
        if self.is_away.load(Ordering::Relaxed) {
            // It would be waited for once more, with all patience.
            return log.close().await;
        }
        // The catalogue catches up with the log wherever it is behind: failing
        // to bring it up to date costs time at the next opening and nothing else.
        let kept = async {
            self.catalogue.catch_up(log).await?;
            self.catalogue.flush(log).await
        };
        if let Err(error) = kept.await {
            tracing::debug!(%error, "the catalogue was not brought up to date");
        }
        self.keep_up_costs().await;
        self.keep_up_sessions().await;
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
