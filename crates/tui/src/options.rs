//! What the terminal view begins with.

use annals::event_log::Position;
use annals::projections::CostZone;

/// What is shown first, and how.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The object, as commands take one; otherwise the lists.
    pub object: Option<String>,
    /// The past position at which it and the sessions are shown; `None` is the present.
    pub at: Option<Position>,
    /// How the log is called at the top.
    pub log: String,
    /// Whether colours are wanted.
    pub is_coloured: bool,
    /// The time zone of times.
    pub zone: CostZone,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            object: None,
            at: None,
            log: String::new(),
            is_coloured: false,
            zone: CostZone::Local,
        }
    }
}
