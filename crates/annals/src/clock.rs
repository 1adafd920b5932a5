//! The clock that decisions go by.

use std::fmt;
use std::sync::Arc;

use annals_domain::Timestamp;

use crate::Annals;

/// A clock: the system's, or one that a test sets.
#[derive(Clone)]
pub(crate) struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Default for Clock {
    fn default() -> Clock {
        Clock(Arc::new(|| annals_event_log::now().into()))
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

impl Annals {
    /// The same log with another clock: for tests and simulations. A session's gate decides by it what its limits of time
    /// allow, and a request without a time happens at it.
    #[must_use]
    pub fn with_clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Annals {
        let clock = Clock(Arc::new(clock));
        Annals { clock, ..self }
    }

    /// The time by the log's clock.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock.0)()
    }
}
