//! What the parts of one open log share.

use std::sync::atomic::{AtomicU64, Ordering};

use annals_event_log::{Position, Watermark};
use uuid::Uuid;

use crate::failure::Failure;
use crate::metrics::Metrics;
use crate::objects::Objects;
use crate::sessions::Sessions;
use crate::settings::Settings;
use crate::signals::Signals;
use crate::statements::Statements;

/// One open log.
pub(crate) struct Shared {
    pub(crate) settings: Settings,
    pub(crate) sql: Statements,
    /// The log's number in its schema.
    pub(crate) log: i64,
    pub(crate) log_id: Uuid,
    /// Connections for all but appends.
    pub(crate) sessions: Sessions,
    /// The connection for appends: readers do not keep it from them.
    pub(crate) appends: Sessions,
    /// Where content is kept, if not in the database.
    pub(crate) objects: Option<Objects>,
    pub(crate) watermark: Watermark,
    /// Up to where everything is known to survive: the end of this process's last commit that wrote.
    pub(crate) confirmed: AtomicU64,
    pub(crate) signals: Signals,
    pub(crate) metrics: Metrics,
}

impl Shared {
    /// Demands that the log does not end before where it was seen to end when the statements were sent that found this.
    pub(crate) fn demand_onward(&self, seen: Position, found: u64) -> Result<(), Failure> {
        match found < seen.0 {
            false => Ok(()),
            true => Err(Failure::Rewound {
                seen: seen.0,
                found,
            }),
        }
    }

    /// The row of a log that may be gone.
    pub(crate) fn demand_there<T>(&self, row: Option<T>) -> Result<T, Failure> {
        row.ok_or(Failure::Gone {
            log_id: self.log_id,
        })
    }

    /// A commit of this process that wrote has returned, and all up to here survives.
    pub(crate) fn confirmed(&self, position: u64) {
        self.confirmed.fetch_max(position, Ordering::AcqRel);
    }

    /// Makes known up to where the log is committed.
    pub(crate) fn reached(&self, position: u64) {
        self.watermark.advance(Position(position));
        self.metrics.reached(self.watermark.get());
    }
}
