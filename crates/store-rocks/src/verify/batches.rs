//! Whether the rows of the batches say where their records are.

use annals_event_log::ReadError;

use super::chunks::Outline;
use super::report::Fault;
use super::verifier::{OpenBatch, Verifier};
use crate::index;

impl Verifier<'_> {
    pub(super) fn batch_of(&mut self, record: &Outline) -> Result<(), ReadError> {
        let (id, position) = (record.batch, record.position);
        if let Some(batch) = self.batch.as_mut().filter(|batch| batch.id == id) {
            batch.last = position;
            return Ok(());
        }
        self.end_batch()?;
        self.batch = Some(OpenBatch {
            id,
            first: Some(position),
            last: position,
        });
        Ok(())
    }

    /// Compares the row of a batch that was read to its end.
    pub(super) fn end_batch(&mut self) -> Result<(), ReadError> {
        let Some(OpenBatch { id, first, last }) = self.batch.take() else {
            return Ok(());
        };
        if last <= self.report.after {
            return Ok(());
        }
        self.report.batches += 1;
        let row = match index::batch_row(self.view.db, &self.view.columns, id) {
            Err(ReadError::Corrupt { .. }) => {
                // It is there, and cannot be read.
                self.entries.batches += 1;
                None
            }
            row => {
                let row = row?;
                self.entries.batches += u64::from(row.is_some());
                row
            }
        };
        // A copy may stop within a batch, and go on while this is read.
        let may_grow = last == self.view.watermark && !self.is_at_end()?;
        let fits = row.is_some_and(|row| {
            let begins = first.is_none_or(|first| row.appended.first == first);
            let grows = may_grow && row.appended.last > last;
            begins && (row.appended.last == last || grows)
        });
        if !fits {
            let at = first.unwrap_or(last);
            self.find(Some(at), None, Fault::Batch { batch: id });
        }
        Ok(())
    }
}
