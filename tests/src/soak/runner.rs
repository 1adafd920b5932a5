//! Cycle after cycle, on several disks at the same time, and what they came to.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde::Serialize;

use super::cycle::{Lane, Outcome};
use super::disk::Disk;
use super::fault::FaultKind;
use super::plan::{Choice, Cycle};
use super::process::Programs;
use super::said::{Invariant, Violation};
use super::workload::Workload;

/// Violations after which the run stops.
const ENOUGH: usize = 40;

/// Violations of one cycle that are kept: one is followed by others.
const MOST_OF_ONE: usize = 5;

/// How much is to be run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The seed of the first cycle; the others follow from it.
    pub seed: u64,
    /// Only the cycle of this seed.
    pub cycle_seed: Option<u64>,
    /// For so long.
    pub time: Option<Duration>,
    /// The number of the first cycle; 0, unless earlier ones were run before.
    pub first: u64,
    /// Up to so many cycles, counted from 0.
    pub cycles: Option<u64>,
    /// At the same time.
    pub lanes: usize,
    /// What the cycles are made of.
    pub choice: Choice,
    /// Whether it ends with the first violation.
    pub until_found: bool,
    /// Whether what happens is noted, and logs with violations are left where they are.
    pub verbose: bool,
    /// Whether progress is written to standard error.
    pub progress: bool,
}

/// A violation with what repeats it.
#[derive(Debug, Clone, Serialize)]
pub struct Found {
    /// The number of the cycle.
    pub cycle: u64,
    /// Its seed.
    pub seed: u64,
    /// Its workload.
    pub workload: Workload,
    /// The violation.
    pub violation: Violation,
}

impl Found {
    /// Whether it is of the log, and not of a process that took its time.
    pub fn is_of_the_log(&self) -> bool {
        self.violation.invariant != Invariant::Ends
    }
}

/// What all cycles came to.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// How many there were.
    pub cycles: u64,
    /// Seconds that they took.
    pub seconds: f64,
    /// How often each fault came.
    pub faults: BTreeMap<FaultKind, u64>,
    /// How often the power went.
    pub cuts: u64,
    /// How often a new process opened a log and checked it.
    pub checks: u64,
    /// Positions that were acknowledged.
    pub acknowledged: u64,
    /// How often each workload ran.
    pub workloads: BTreeMap<Workload, u64>,
    /// How often a log needed `annals doctor --truncate-tail`, having lost nothing.
    pub needed_doctor: u64,
    /// What does not hold.
    pub violations: Vec<Found>,
}

impl Summary {
    /// How many faults there were of all kinds.
    pub fn all_faults(&self) -> u64 {
        self.faults.values().sum()
    }

    fn add(&mut self, cycle: u64, plan: &Cycle, outcome: Outcome) {
        self.cycles += 1;
        for (kind, count) in outcome.faults {
            *self.faults.entry(kind).or_default() += count;
        }
        *self.workloads.entry(plan.workload).or_default() += 1;
        self.cuts += outcome.cuts;
        self.checks += outcome.checks;
        self.acknowledged += outcome.acknowledged;
        self.needed_doctor += outcome.doctor.len() as u64;
        let (seed, workload) = (plan.seed, plan.workload);
        let first = outcome.violations.into_iter().take(MOST_OF_ONE);
        self.violations.extend(first.map(|violation| Found {
            cycle,
            seed,
            workload,
            violation,
        }));
    }
}

/// Whether there was enough of it.
fn enough(plan: &Plan, summary: &Summary, begun: u64, began: Instant) -> bool {
    let by_time = plan.time.is_some_and(|time| began.elapsed() >= time);
    let by_count = plan.cycles.is_some_and(|cycles| begun >= cycles);
    let by_findings = match plan.until_found {
        // A process that is slow is not what is looked for.
        true => summary.violations.iter().any(Found::is_of_the_log),
        false => summary.violations.len() >= ENOUGH,
    };
    by_time || by_count || by_findings
}

/// Runs cycles on these disks, one of which each lane has.
pub fn run(plan: &Plan, disks: &[Disk], programs: &Programs) -> Summary {
    let began = Instant::now();
    let summary = Mutex::new(Summary::default());
    let (next, stop) = (AtomicU64::new(plan.first), AtomicBool::new(false));
    let lane = |disk: &Disk| {
        let (verbose, powered) = (plan.verbose, disk.can_fail());
        let lane = Lane {
            disk,
            programs,
            verbose,
        };
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if enough(plan, &lock(&summary), number, began) {
                break;
            }
            let seed = plan
                .cycle_seed
                .unwrap_or_else(|| seed_of(plan.seed, number));
            let cycle = Cycle::new(seed, &plan.choice, powered);
            let mut outcome = lane.run(&cycle);
            if verbose {
                show(&cycle, &mut outcome);
            }
            let mut summary = lock(&summary);
            let before = summary.violations.len();
            summary.add(number + 1, &cycle, outcome);
            if plan.progress {
                for Found {
                    seed, violation, ..
                } in summary.violations.iter().skip(before)
                {
                    eprintln!("  --cycle-seed {seed}: {violation:?}");
                }
                progress(&summary, began);
            }
        }
        stop.store(true, Ordering::Relaxed);
    };
    std::thread::scope(|scope| {
        for disk in disks.iter().take(plan.lanes.max(1)) {
            scope.spawn(|| lane(disk));
        }
    });
    let mut summary = summary.into_inner().unwrap_or_else(PoisonError::into_inner);
    summary.seconds = began.elapsed().as_secs_f64();
    summary
}

fn lock(summary: &Mutex<Summary>) -> std::sync::MutexGuard<'_, Summary> {
    summary.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The seed of a cycle.
fn seed_of(seed: u64, number: u64) -> u64 {
    StdRng::seed_from_u64(seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15)).random()
}

fn show(cycle: &Cycle, outcome: &mut Outcome) {
    eprintln!(
        "{}",
        serde_json::to_string_pretty(cycle).unwrap_or_default()
    );
    for note in outcome.notes.drain(..) {
        eprintln!("  {note}");
    }
}

fn progress(summary: &Summary, began: Instant) {
    if summary.cycles.is_multiple_of(100) {
        eprintln!(
            "{:>5} cycles, {} faults, {} cuts, {} checks, {} violations, {:.0} s",
            summary.cycles,
            summary.all_faults(),
            summary.cuts,
            summary.checks,
            summary.violations.len(),
            began.elapsed().as_secs_f64()
        );
    }
}
