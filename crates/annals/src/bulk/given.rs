//! A batch that a bulk writer was given.

use std::sync::{Arc, OnceLock};

use crate::BatchOutcome;
use crate::batch::Batch;

/// A batch that was given, and where its outcome is written to.
pub(super) struct Given {
    pub(super) batch: Batch,
    pub(super) appended: Arc<OnceLock<BatchOutcome>>,
}

impl Given {
    pub(super) fn has_arrived(&self, outcome: impl FnOnce(&Batch) -> BatchOutcome) {
        // It is not needed where its caller has dropped it.
        if Arc::strong_count(&self.appended) > 1 {
            let _ = self.appended.set(outcome(&self.batch));
        }
    }
}
