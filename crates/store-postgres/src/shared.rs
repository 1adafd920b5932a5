//! What the parts of one open log share.

use annals_event_log::{Position, Watermark};
use uuid::Uuid;

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
    pub(crate) signals: Signals,
}

impl Shared {
    /// Makes known up to where the log is committed.
    pub(crate) fn reached(&self, position: u64) {
        self.watermark.advance(Position(position));
    }
}
