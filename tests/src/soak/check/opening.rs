//! Opening after a fault: for reading first, and for writing.

use annals::{Annals, OpenError, OpenOptions};
use annals_store_rocks::{OpenError as Rocks, RocksLog};
use futures::executor::block_on;

use super::violation;
use crate::soak::job::{Check, Job, url};
use crate::soak::reading;
use crate::soak::said::{Invariant, Said, say};

/// A reader before any writer: it shows no more than what it has of the log, and does
/// not call a log sound that has lost its end.
pub(super) fn reader_first(job: &Job, how: Check) {
    let options = OpenOptions::new().read_only(true).store(job.options());
    let annals = match options.open(&url(&job.log())) {
        Ok(annals) => annals,
        Err(error) => {
            // That says that the log cannot be served, which is not a wrong answer.
            let step = "a reader opens first".to_owned();
            let error = error.to_string();
            return say(&Said::Failed { step, error });
        }
    };
    let log = annals.log().as_ref();
    match reading::read_all(log) {
        Ok(records) if how.objects => {
            let _ = reading::list(&annals);
            let created = records
                .iter()
                .filter(|r| r.event_type() == "intent.submitted");
            for record in created.take(50) {
                let id: uuid::Uuid = record.stream_name().id().parse().unwrap_or_default();
                if let Err(error @ annals::ViewError::NotFound { .. }) =
                    block_on(annals.index().row(id))
                {
                    let at = record.position();
                    let found = format!("a reader shows the event {at} of {id}, and: {error}");
                    violation(Invariant::Shown, found);
                }
            }
        }
        Ok(_) => {}
        Err(error) => {
            let (step, error) = ("a reader reads first".to_owned(), error.to_string());
            say(&Said::Failed { step, error });
        }
    }
    shortened(&annals, job, how);
    block_on(annals.close());
}

/// What `verify` says of a log that is shorter than what was acknowledged.
fn shortened(annals: &Annals, job: &Job, how: Check) {
    let acknowledged = job.history.acknowledged();
    let end = annals.position();
    if end.0 >= acknowledged || how.lied {
        return;
    }
    let sound = annals.rocks().and_then(|rocks| {
        // It says that there is more, and that it is not known whether that lasts.
        if rocks.unpublished().is_some() {
            return None;
        }
        let report = rocks.verify(&mut |_| {}).ok()?;
        report.is_sound().then_some(report.records)
    });
    if let Some(records) = sound {
        let found = format!(
            "a reader calls a log of {records} records sound, and {acknowledged} were acknowledged"
        );
        violation(Invariant::Shown, found);
    }
}

/// What the file WATERMARK says is what was acknowledged a while ago, or more.
pub(super) fn watermark(job: &Job, how: Check) {
    let rested = job.history.rested;
    if !how.disk_kept_its_word || rested == 0 {
        return;
    }
    let said = RocksLog::examine(&job.log()).acknowledged;
    if said.is_none_or(|said| said.0 < rested) {
        let found = format!("WATERMARK says {said:?}, and {rested} was said long before the fault");
        violation(Invariant::Usable, found);
    }
}

/// Opens the log for writing, after `annals doctor` where it has to be.
pub(super) fn open(job: &Job, how: Check) -> Option<Annals> {
    let error = match open_as_it_is(job) {
        Ok(annals) => return Some(annals),
        Err(error) => error,
    };
    let acknowledged = job.history.acknowledged();
    let incomplete = matches!(
        error,
        OpenError::Rocks(Rocks::NotFound { .. } | Rocks::CreationInterrupted { .. })
    );
    if incomplete && acknowledged == 0 {
        return created(job);
    }
    if let OpenError::Rocks(Rocks::RebuildInterrupted { .. }) = error {
        return rebuilt(job);
    }
    if how.lied || how.damaged {
        // The damage is named, and nothing more can be asked.
        if !matches!(error, OpenError::Rocks(Rocks::Corrupt { .. })) && how.damaged {
            violation(Invariant::Usable, format!("it is damaged, and: {error}"));
        }
        return None;
    }
    match RocksLog::truncate_tail(&job.log(), &job.options()) {
        Ok(report) if report.removed.is_some() => {
            say(&Said::NeededDoctor(error.to_string()));
            open_as_it_is(job).ok()
        }
        Ok(_) => refused(&error, acknowledged, "doctor finds nothing to remove"),
        Err(doctor) => refused(&error, acknowledged, &format!("doctor: {doctor}")),
    }
}

fn refused(error: &OpenError, acknowledged: u64, doctor: &str) -> Option<Annals> {
    let found = format!("it does not open ({acknowledged} acknowledged): {error}; {doctor}");
    violation(Invariant::Usable, found);
    None
}

fn open_as_it_is(job: &Job) -> Result<Annals, OpenError> {
    OpenOptions::new()
        .store(job.options())
        .open(&url(&job.log()))
}

fn created(job: &Job) -> Option<Annals> {
    let options = OpenOptions::new().create(true).store(job.options());
    match options.open(&url(&job.log())) {
        Ok(annals) => Some(annals),
        Err(error) => {
            violation(Invariant::Usable, format!("it cannot be created: {error}"));
            None
        }
    }
}

/// A rebuild that was interrupted is done again, as its error says.
fn rebuilt(job: &Job) -> Option<Annals> {
    let done = RocksLog::rebuild_indexes(&job.log(), &job.options(), &mut |_, _| {});
    if let Err(error) = done {
        violation(
            Invariant::Usable,
            format!("the rebuild is not completed: {error}"),
        );
        return None;
    }
    match open_as_it_is(job) {
        Ok(annals) => Some(annals),
        Err(error) => {
            violation(Invariant::Usable, format!("after the rebuild: {error}"));
            None
        }
    }
}
