//! A batch that a bulk writer was given.

use std::sync::{Arc, OnceLock};

use crate::BatchOutcome;
use crate::batch::Batch;

/// A batch that was given, and where its outcome is written to.
pub(crate) struct Given {
    pub(crate) batch: Batch,
    pub(crate) appended: Arc<OnceLock<BatchOutcome>>,
}

impl Given {
    pub(crate) fn has_arrived(&self, outcome: impl FnOnce(&Batch) -> BatchOutcome) {
        // It is not needed where its caller has dropped it.
        if Arc::strong_count(&self.appended) > 1 {
            let _ = self.appended.set(outcome(&self.batch));
        }
    }
}
