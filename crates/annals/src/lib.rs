#![doc = include_str!("../../../README.md")]
//!
//! # The library
//!
//! [`Annals`] opens a log, executes commands and gives views of the objects,
//! now and at any earlier moment. [`Annals::by`] has a helper for each step of
//! git-internal's end-to-end flow.

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
mod lanes;
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

use annals_event_log::{EventLog, Position, ReadError, Stats};
use annals_projections::Catalogue;
use annals_store_rocks::RocksLog;
use futures::lock::Mutex;

pub use adopt::{AdoptRefusal, Adopted, Adoptee};
pub use annals_domain as domain;
pub use annals_event_log as event_log;
pub use annals_projections as projections;
pub use annals_store_rocks as store_rocks;
pub use annals_wire as wire;
pub use bulk::{BulkError, BulkWriter, Decided, DecidedOutcome, KnownKey};
pub use came_from::CameFrom;
pub use environment::environment;
pub use flow::As;
pub use gate::Gated;
pub use intake::InboxDetails;
pub use observations::{Noticed, Observations, ObservationsQuery};
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
    log: Arc<dyn EventLog>,
    rocks: Option<Arc<RocksLog>>,
    catalogue: Arc<Catalogue>,
    floor: catalogue::Floor,
    states: Arc<states::States>,
    windows: Arc<states::Windows>,
    lanes: Arc<lanes::Lanes>,
    recent: Arc<states::Recent>,
    /// Held while an object is sealed, and while content is removed: no seal is made of content
    /// that is just going.
    sealing: Arc<Mutex<()>>,
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
    pub fn over(log: Arc<dyn EventLog>) -> Annals {
        Annals::with_rocks(log, None)
    }

    pub(crate) fn with_rocks(log: Arc<dyn EventLog>, rocks: Option<Arc<RocksLog>>) -> Annals {
        Annals {
            log,
            rocks,
            catalogue: Arc::new(Catalogue::new()),
            floor: catalogue::Floor::default(),
            states: Arc::new(states::States::new()),
            windows: Arc::new(states::Windows::new()),
            lanes: Arc::new(lanes::Lanes::default()),
            recent: Arc::new(states::Recent::new()),
            sealing: Arc::new(Mutex::new(())),
        }
    }

    /// The log itself: records, blobs and read models.
    pub fn log(&self) -> &Arc<dyn EventLog> {
        &self.log
    }

    /// The embedded store, where the log is one: backups, verification.
    pub fn rocks(&self) -> Option<&Arc<RocksLog>> {
        self.rocks.as_ref()
    }

    /// Up to where the log is durable.
    pub fn position(&self) -> Position {
        self.log.watermark()
    }

    /// Waits until everything up to `position` can be read here; a reader
    /// beside another process may be behind it for a moment.
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
