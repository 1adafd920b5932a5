//! A new process opens the log after a fault, and the invariants are checked against what
//! was said before it.

mod after;
mod derived;
mod opening;
mod records;
mod rows;

use annals::Annals;
use futures::executor::block_on;

use super::job::{Check, Job};
use super::reading;
use super::said::{Invariant, Said, Violation, say};

/// Says that something does not hold.
fn violation(invariant: Invariant, found: impl Into<String>) {
    say(&Said::Violation(Violation::new(invariant, found)));
}

/// Checks the log, sends again what is not known to be stored, and ends the process.
pub fn check(job: Job, how: Check) -> ! {
    opening::watermark(&job, how);
    if how.reader_first {
        opening::reader_first(&job, how);
    }
    if let Some(annals) = opening::open(&job, how) {
        checked(&annals, &job, how);
        block_on(annals.close());
        after::files(&job);
    }
    after::copies(&job, how);
    std::process::exit(0);
}

fn checked(annals: &Annals, job: &Job, how: Check) {
    let log = annals.log().as_ref();
    if !verified(annals, how) && how.lied {
        // The damage is named.
        return;
    }
    let records = match reading::records(log, log.watermark()) {
        Ok(records) => records,
        Err(error) => return violation(Invariant::Usable, format!("it cannot be read: {error}")),
    };
    records::check(&records, log.watermark(), &job.history, how);
    derived::check(log, &records);
    match how.objects {
        true => rows::catalogue(annals, &records, &job.history, how),
        false => rows::models(log, &records),
    }
    after::repeat(annals, job, &records);
    after::next(annals, job, how);
    let records = log.watermark().0;
    say(&Said::Checked { records });
}

/// Whether the store finds nothing wrong. A log that was damaged may have something.
fn verified(annals: &Annals, how: Check) -> bool {
    let Some(rocks) = annals.rocks() else {
        return true;
    };
    match rocks.verify(&mut |_| {}) {
        Ok(report) if report.is_sound() => true,
        // That names the damage.
        Ok(_) | Err(_) if how.lied => false,
        Ok(report) => {
            let first = report.findings.first().map(ToString::to_string);
            let found = format!(
                "verify: {} findings, first: {first:?}",
                report.total_findings
            );
            violation(Invariant::Usable, found);
            false
        }
        Err(error) => {
            violation(Invariant::Usable, format!("verify: {error}"));
            false
        }
    }
}
