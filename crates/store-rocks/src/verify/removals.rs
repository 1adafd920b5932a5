//! Removed content, compared with the redactions of the log.

use annals_event_log::ReadError;

use super::report::{Fault, Finding};
use super::verifier::Verifier;
use crate::redaction;

impl Verifier<'_> {
    /// Compares the removed pieces with the records that name them. A redaction may be behind the watermark: it is
    /// one write with the removal.
    pub(super) fn removals(&mut self) -> Result<(), ReadError> {
        let mut unnamed = std::mem::take(&mut self.removals);
        let Some(named) = self.view.db.named_removals else {
            return Ok(());
        };
        if !unnamed.is_empty() {
            let (db, last) = (self.view.db, self.view.watermark);
            let read = db.each_behind(last, |record| unnamed.strike_out(&named(record)));
            if let Err(error) = read {
                return self.unreadable(error);
            }
        }
        for of in unnamed.into_records() {
            self.found(Finding {
                position: Some(of.position),
                stream: None,
                fault: Fault::Removed { pieces: of.pieces },
            });
        }
        match redaction::unnamed(self.view.db) {
            Ok(None) => Ok(()),
            Ok(Some(said)) => {
                self.find(None, None, Fault::Pending { said });
                Ok(())
            }
            Err(error) => self.unreadable(error),
        }
    }
}
