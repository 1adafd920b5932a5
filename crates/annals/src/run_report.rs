//! The report of a run, read from its stream in one pass.

use annals_domain::RunId;
use annals_event_log::{Query, Version};
use annals_projections::{Entry, RunReport, RunReportFold};
use annals_wire::stream_name;

use crate::read::Reach;
use crate::{Annals, At, LoadError, ObjectRef, ViewError};

/// Records read at once.
const PAGE: usize = 500;

impl Annals {
    /// What a person wants to know of a run: what it used, changed and came to, and what failed.
    ///
    /// # Errors
    /// [`ViewError::WrongKind`] of another object, [`ViewError::NotYet`] before its first event.
    pub async fn run_report(&self, run: RunId, at: At) -> Result<RunReport, ViewError> {
        let (found, stream) = self.locate(run.0).await?;
        let object = ObjectRef {
            kind: found,
            id: run.0,
        };
        let expected = annals_domain::Kind::Run;
        if found != expected {
            return Err(ViewError::WrongKind {
                id: run.0,
                expected,
                found,
            });
        }
        let log = self.log.as_ref();
        let name = stream_name(stream);
        let mut fold = RunReportFold::new(run);
        let mut next = Some(1);
        'pages: while let Some(from) = next {
            let query = Query::stream(name.clone(), Version(from)).limit(PAGE);
            let page = log.read(query).await.map_err(LoadError::from)?;
            for record in &page.records {
                match at.reaches(record) {
                    Reach::Skip => continue,
                    Reach::Stop => break 'pages,
                    Reach::Yes => {}
                }
                let decoded = annals_wire::decode(record).map_err(LoadError::from)?;
                let time = record.occurred_at().into();
                if fold.count(&decoded.event, record.version(), time) {
                    let blobs = Entry::fetch(log, record).await.map_err(LoadError::from)?;
                    fold.apply(&Entry::of(decoded, &blobs).map_err(LoadError::from)?);
                }
            }
            next = page.next;
        }
        let mut report = fold.report().ok_or(ViewError::NotYet { object })?;
        self.complete(&mut report, stream).await?;
        Ok(report)
    }

    /// Reads what was called by the calls that failed.
    async fn complete(
        &self,
        report: &mut RunReport,
        stream: annals_domain::StreamRef,
    ) -> Result<(), LoadError> {
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
