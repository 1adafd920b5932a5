//! After the log was opened and read: repeats, the next command, the files and the copies.

use std::collections::BTreeMap;

use annals::Annals;
use annals_event_log::{EventLog, Record};
use annals_store_rocks::{OpenError, RocksLog};
use futures::executor::block_on;
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::violation;
use crate::soak::batch::{Batch, Kind};
use crate::soak::copies;
use crate::soak::job::{Check, Job};
use crate::soak::reading;
use crate::soak::said::{Fate, Invariant, Said, say};
use crate::soak::work::{Sent, plain, propose};

/// Batches that are sent again, at most.
const REPEATS: usize = 20;

fn send(annals: &Annals, job: &Job, batch: Batch) -> Option<(u64, u64)> {
    say(&Said::Sent(batch));
    let sent = match batch.kind() {
        Kind::Intents => propose(annals, batch),
        _ => plain(annals.log().as_ref(), batch),
    };
    match sent {
        Sent::Stored(first, last) => {
            say(&Said::Acknowledged { batch, first, last });
            Some((first, last))
        }
        Sent::Refused(error) => {
            say(&Said::Refused(batch));
            if batch.kind() != Kind::Refused {
                violation(Invariant::Usable, format!("{batch} is refused: {error}"));
            }
            None
        }
        // Only where content of it was removed, which its request would let be guessed.
        Sent::Unverifiable(first, last) => {
            if job.history.removed.range(first..=last).next().is_none() {
                let found = format!("the request of {batch} is not stored any more");
                violation(Invariant::Once, found);
            }
            None
        }
        Sent::Unknown(error) => {
            violation(Invariant::Usable, format!("{batch} fails: {error}"));
            None
        }
    }
}

/// Invariant 6: what was not acknowledged is sent again, as are a few that were, and each
/// is there once.
pub(super) fn repeat(annals: &Annals, job: &Job, before: &[Record]) {
    let log = annals.log().as_ref();
    let fates = &job.history.batches;
    let unknown = fates
        .iter()
        .filter(|(batch, fate)| **fate == Fate::Unknown && batch.kind() != Kind::Redaction);
    let known = fates
        .iter()
        .filter(|(_, fate)| matches!(fate, Fate::Acknowledged(_)));
    let again: Vec<Batch> = unknown
        .take(REPEATS)
        .chain(known.take(2))
        .map(|(b, _)| *b)
        .collect();
    for batch in &again {
        if batch.kind() != Kind::Refused {
            send(annals, job, *batch);
        }
    }
    let Ok(records) = reading::records(log, log.watermark()) else {
        return violation(Invariant::Usable, "it cannot be read after repeats");
    };
    if records.get(..before.len()) != Some(before) {
        violation(Invariant::Once, "a repeat changed records that were there");
    }
    let mut counts: BTreeMap<_, usize> = BTreeMap::new();
    for record in &records {
        *counts.entry(record.batch_id()).or_default() += 1;
    }
    for batch in again.iter().filter(|batch| batch.kind() != Kind::Refused) {
        let count = counts.get(&batch.0).copied().unwrap_or(0);
        if count != usize::from(batch.count()) {
            let found = format!("{batch} was sent again, and has {count} records");
            violation(Invariant::Once, found);
        }
    }
}

/// Invariant 9: the log takes the next command, and shows it.
pub(super) fn next(annals: &Annals, job: &Job, how: Check) {
    let mut rng = StdRng::seed_from_u64(job.seed ^ 0x6e65_7874);
    let kind = match how.objects {
        true => Kind::Intents,
        false => Kind::WithContent,
    };
    let batch = Batch::new(&mut rng, kind, 2);
    let before = annals.position();
    let Some((_, last)) = send(annals, job, batch) else {
        return;
    };
    if last != before.0 + 2 {
        let found = format!("the next command ends at {last}, and the log ended at {before}");
        violation(Invariant::Usable, found);
    }
    if how.objects && block_on(annals.index().row(batch.id_of(1))).is_err() {
        violation(Invariant::Usable, "the next command's object is not there");
    }
}

/// What was removed is in no file of a log that was opened for writing since, unless its
/// bytes were put off.
pub(super) fn files(job: &Job) {
    if job.compression || job.history.removed.is_empty() {
        return;
    }
    let purged = job
        .history
        .removed
        .values()
        .filter(|removal| removal.purged);
    let texts: Vec<&str> = purged.map(|removal| removal.text.as_str()).collect();
    if let Some((text, path)) = copies::find(&job.log(), &texts) {
        let found = format!("{text} is in {}, and was purged", path.display());
        violation(Invariant::Removed, found);
    }
}

/// A copy that was finished has everything; one that was not is whole or not there.
pub(super) fn copies(job: &Job, how: Check) {
    for (name, least) in &job.history.copies {
        let path = job.home.join(name);
        let log = match RocksLog::open(&path, &job.options()) {
            Ok(log) => log,
            Err(OpenError::NotFound { .. }) if least.is_none() => continue,
            Err(_) if how.lied => continue,
            Err(error) => {
                let done = if least.is_some() { "finished" } else { "begun" };
                violation(
                    Invariant::Copied,
                    format!("{name}, which was {done}: {error}"),
                );
                continue;
            }
        };
        let end = log.watermark().0;
        if let Some(least) = least.filter(|least| *least > end) {
            let found = format!("{name} ends at {end}, and has to have {least}");
            violation(Invariant::Copied, found);
        }
        let sound = log
            .verify(&mut |_| {})
            .is_ok_and(|report| report.is_sound());
        if !sound && !how.lied {
            violation(Invariant::Copied, format!("{name} is damaged"));
        }
        block_on(log.close());
        // Each is looked at once. A power cut must not bring a part of it back.
        let removed = std::fs::remove_dir_all(&path)
            .and_then(|()| std::fs::File::open(&job.home)?.sync_all());
        if removed.is_ok() {
            say(&Said::Discarded { to: name.clone() });
        }
    }
}
