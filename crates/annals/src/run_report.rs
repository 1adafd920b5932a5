//! The report of a run, read from its stream in one pass.

use annals_domain::{AnyEvent, Kind, RunId, StreamRef};
use annals_event_log::{Query, Record, Version};
use annals_projections::{Entry, RunReport, RunReportFold};
use annals_wire::stream_name;

use crate::{Annals, At, LoadError, ObjectRef, ViewError};

impl Annals {
    /// What a person wants to know of a run: what it used, changed and came to, and what failed.
    ///
    /// # Errors
    /// [`ViewError::WrongKind`] of another object, [`ViewError::NotYet`] before its first event.
    pub async fn run_report(&self, run: RunId, at: At) -> Result<RunReport, ViewError> {
        let stream = self.locate_kind(run.0, Kind::Run).await?;
        let mut fold = RunReportFold::new(run);
        let count = |fold: &mut RunReportFold, event: &AnyEvent, record: &Record| {
            fold.count(event, record.version(), record.occurred_at().into())
        };
        let apply = |fold: &mut RunReportFold, entry: Entry| fold.apply(&entry);
        self.fold_stream(stream, Version(1), at, &mut fold, count, apply)
            .await?;
        let object = ObjectRef {
            kind: Kind::Run,
            id: run.0,
        };
        let mut report = fold.report().ok_or(ViewError::NotYet { object })?;
        self.complete(&mut report, stream).await?;
        Ok(report)
    }

    /// Reads what was called by the calls that failed.
    async fn complete(&self, report: &mut RunReport, stream: StreamRef) -> Result<(), LoadError> {
        let log = self.log.as_ref();
        for call in &mut report.failed_calls {
            let Some(version) = call.requested else {
                continue;
            };
            let page = log.read(Query::stream(stream_name(stream), version).limit(1));
            if let Some(record) = page.await?.records.first() {
                call.complete(&Entry::new(record, &Entry::fetch(log, record).await?)?);
            }
        }
        Ok(())
    }
}
