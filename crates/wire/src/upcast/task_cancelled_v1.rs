//! `task.cancelled`, version 1 to 2: no task was called off with one that it waited for.

use annals_domain::Slot;
use annals_domain::task::Cancelled;
use serde::Deserialize;

use super::Step;

/// The shape of version 1.
#[derive(Deserialize)]
pub(super) struct CancelledV1 {
    reason: Option<Slot>,
}

pub(super) const STEP: Step<CancelledV1, Cancelled> =
    Step::new("task.cancelled", 1, |old| Cancelled::new(old.reason));
