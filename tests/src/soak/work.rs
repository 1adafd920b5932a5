//! The worker: does steps on a log, one after the other or together, and says everything.

mod append;
mod keep;

pub(in crate::soak) use append::{Sent, plain, propose};

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use annals::{Annals, OpenOptions};
use annals_store_rocks::{Options, RocksLog, TruncateError};
use futures::executor::block_on;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::batch::Batch;
use super::job::{Job, Step, url};
use super::projection;
use super::reading;
use super::said::{Invariant, Said, Violation, say};

/// The store syncs WATERMARK at most 100 ms after it was written.
const REST: Duration = Duration::from_millis(160);

/// Why a step failed.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What steps have in common that are done at the same time.
pub(super) struct Shared {
    pub(super) home: PathBuf,
    pub(super) path: PathBuf,
    pub(super) options: Options,
    pub(super) compression: bool,
    /// Batches that were sent and not acknowledged.
    pub(super) unknown: Mutex<Vec<Batch>>,
    /// Texts that were removed, by the event's position.
    pub(super) removed: Mutex<Vec<(u64, String)>>,
    /// Copies that were finished, and all that were begun.
    pub(super) copies: Mutex<(Vec<String>, usize)>,
}

/// Does the steps of a job.
pub fn work(job: Job, steps: &[Step]) {
    let removed = job
        .history
        .removed
        .iter()
        .filter(|(_, removal)| removal.done);
    let copies = &job.history.copies;
    let whole = copies.iter().filter(|(_, least)| least.is_some());
    let shared = Shared {
        home: job.home.clone(),
        path: job.log(),
        options: job.options(),
        compression: job.compression,
        unknown: Mutex::new(job.history.unknown()),
        removed: Mutex::new(removed.map(|(at, r)| (*at, r.text.clone())).collect()),
        copies: Mutex::new((whole.map(|(to, _)| to.clone()).collect(), copies.len())),
    };
    let mut annals = None;
    let mut rng = StdRng::seed_from_u64(job.seed);
    for step in steps {
        if let Err(error) = one(step, &mut annals, &shared, &mut rng) {
            failed(step, error.as_ref());
        }
    }
    // What ends without a close ends here, too: dropping a handle would close it.
    std::process::exit(0);
}

pub(super) fn failed(step: &Step, error: &(dyn std::error::Error + Send + Sync)) {
    let mut step = format!("{step:?}");
    step.truncate(40);
    let error = error.to_string();
    say(&Said::Failed { step, error });
}

/// Opens the log as a program does.
fn open(shared: &Shared) -> Result<Annals, Failure> {
    let options = OpenOptions::new().create(true);
    let options = options.store(shared.options.clone());
    Ok(options.open(&url(&shared.path))?)
}

fn one(
    step: &Step,
    annals: &mut Option<Annals>,
    shared: &Shared,
    rng: &mut StdRng,
) -> Result<(), Failure> {
    let closed = |annals: &mut Option<Annals>| {
        if let Some(annals) = annals.take() {
            let end = annals.position().0;
            block_on(annals.close());
            rested(shared, end);
        }
    };
    match step {
        Step::Open => {
            closed(annals);
            *annals = Some(open(shared)?);
        }
        Step::Close => closed(annals),
        Step::Leave => std::process::exit(0),
        Step::RebuildIndexes => {
            closed(annals);
            RocksLog::rebuild_indexes(&shared.path, &shared.options, &mut |_, _| {})?;
        }
        Step::Truncate => {
            closed(annals);
            RocksLog::truncate_tail(&shared.path, &shared.options)?;
        }
        Step::TruncateDamaged => {
            let truncated = RocksLog::truncate_tail(&shared.path, &shared.options);
            if let Err(error @ TruncateError::Interrupted { .. }) = truncated {
                let found = format!("doctor: {error}");
                say(&Said::Violation(Violation::new(Invariant::Usable, found)));
            }
        }
        Step::Together(lists) => {
            let annals = handle(annals, shared)?;
            together(lists, annals, shared, rng);
        }
        step => doing(step, handle(annals, shared)?, shared, rng)?,
    }
    Ok(())
}

/// Says that WATERMARK must be durable up to here, unless the power is off by now: then it
/// may have gone before that.
fn rested(shared: &Shared, end: u64) {
    if std::fs::read_dir(&shared.path).is_ok() {
        say(&Said::Rested(end));
    }
}

/// The open log; one that is not open is opened.
fn handle<'a>(annals: &'a mut Option<Annals>, shared: &Shared) -> Result<&'a Annals, Failure> {
    if annals.is_none() {
        *annals = Some(open(shared)?);
    }
    annals.as_ref().ok_or_else(|| "the log is not open".into())
}

fn together(lists: &[Vec<Step>], annals: &Annals, shared: &Shared, rng: &mut StdRng) {
    std::thread::scope(|scope| {
        for list in lists {
            let mut rng = StdRng::seed_from_u64(rng.random());
            scope.spawn(move || {
                for step in list {
                    if let Err(error) = doing(step, annals, shared, &mut rng) {
                        failed(step, error.as_ref());
                    }
                }
            });
        }
    });
}

/// A step on an open log.
fn doing(step: &Step, annals: &Annals, shared: &Shared, rng: &mut StdRng) -> Result<(), Failure> {
    let log = annals.log().as_ref();
    match step {
        Step::Append {
            clients,
            batches,
            events,
            kind,
        } => {
            let most = (*batches, *events);
            append::append(annals, shared, rng, (*clients, *kind), most);
        }
        Step::Repeat => append::repeat(annals, shared),
        Step::Read => {
            reading::read_all(log)?;
            // A log without objects has no list.
            let _ = reading::list(annals);
        }
        Step::Rows { rows, commits } => keep::rows(log, *rows, *commits)?,
        Step::Fold { commits } => {
            for _ in 0..*commits {
                projection::fold(log, true)?;
            }
        }
        Step::Redact { events } => keep::redact(annals, shared, rng, *events)?,
        Step::Purge => keep::purge(annals, shared)?,
        Step::RebuildRows => {
            block_on(annals.index().rebuild(&mut |_| {}))?;
        }
        Step::Backup => keep::backup(annals, shared)?,
        Step::Restore => keep::restore(shared)?,
        Step::Sign => keep::sign(annals)?,
        Step::Rest => {
            let end = annals.position().0;
            std::thread::sleep(REST);
            rested(shared, end);
        }
        Step::Collect => {
            block_on(rocks(annals)?.collect(&mut |_| {}))?;
        }
        Step::Compact => rocks(annals)?.compact(),
        step => return Err(format!("{step:?} needs a closed log").into()),
    }
    Ok(())
}

pub(super) fn rocks(annals: &Annals) -> Result<Arc<RocksLog>, Failure> {
    Ok(annals.rocks().ok_or("the log is not in a folder")?)
}

/// Reads next to a writer until this process is ended, or the log cannot be read.
pub fn read_beside(job: &Job) {
    let options = OpenOptions::new().read_only(true);
    let options = options.store(job.options());
    // The log may be being made.
    for _ in 0..200 {
        let Ok(annals) = options.clone().open(&url(&job.log())) else {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        for _ in 0..50 {
            let read = reading::read_all(annals.log().as_ref());
            if read.is_err() {
                break;
            }
            let _ = reading::list(&annals);
            std::thread::sleep(Duration::from_micros(500));
        }
        block_on(annals.close());
    }
    std::process::exit(0);
}
