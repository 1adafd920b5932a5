//! Seeded bugs: the soak must find each of them, within a number of cycles that is stated
//! with it. One that it does not find is a hole in the soak.

use serde::Serialize;

use super::disk::Disk;
use super::plan::Choice;
use super::process::{MUTANT, Programs};
use super::runner::{Found, Plan, Summary, run};

/// The one bug that is not in the store: the worker says that a batch was acknowledged
/// before it asks for that. It shows that the soak can find something where the store has
/// been built without its own.
pub const ANSWERS_FIRST: &str = "worker-answers-first";

/// A seeded bug.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mutant {
    /// Its name.
    pub name: String,
    /// Within how many cycles it must be found.
    pub within: u64,
}

/// What came of one.
#[derive(Debug, Clone, Serialize)]
pub struct Caught {
    /// The bug.
    pub mutant: Mutant,
    /// In which cycle it was found; none, where it survived.
    pub cycle: Option<u64>,
    /// The seed of that cycle.
    pub seed: Option<u64>,
    /// What did not hold.
    pub by: Option<String>,
    /// What was found in earlier cycles and does not hold without the bug either.
    pub without: Vec<String>,
}

/// Whether a bug is switched on in this process.
pub fn is_on(name: &str) -> bool {
    std::env::var_os(MUTANT).is_some_and(|on| on == name)
}

/// All seeded bugs of this build.
pub fn all() -> Vec<Mutant> {
    let own = Mutant {
        name: ANSWERS_FIRST.to_owned(),
        within: 100,
    };
    let mut all = vec![own];
    all.extend(of_the_store());
    all
}

#[cfg(feature = "mutants")]
fn of_the_store() -> Vec<Mutant> {
    let known = annals_store_rocks::mutants().iter();
    let mutant = |mutant: &annals_store_rocks::Mutant| Mutant {
        name: mutant.name.to_owned(),
        within: u64::from(mutant.cycles),
    };
    known.map(mutant).collect()
}

#[cfg(not(feature = "mutants"))]
fn of_the_store() -> Vec<Mutant> {
    Vec::new()
}

/// Lets the soak find a bug. What also happens without it is not it, and the hunt goes on.
pub fn hunt(mutant: &Mutant, seed: u64, disks: &[Disk], programs: &Programs) -> Caught {
    let with = Programs {
        mutant: Some(mutant.name.clone()),
        ..programs.clone()
    };
    let mut plan = Plan {
        seed,
        cycle_seed: None,
        time: None,
        first: 0,
        cycles: Some(mutant.within),
        lanes: disks.len(),
        choice: Choice::all(disks.iter().all(Disk::can_fail)),
        until_found: true,
        verbose: false,
        progress: false,
    };
    let mut caught = Caught {
        mutant: mutant.clone(),
        cycle: None,
        seed: None,
        by: None,
        without: Vec::new(),
    };
    while let Some(found) = first_of(run(&plan, disks, &with)) {
        let same = Plan {
            cycle_seed: Some(found.seed),
            first: 0,
            cycles: Some(1),
            lanes: 1,
            ..plan.clone()
        };
        match first_of(run(&same, disks, programs)) {
            Some(without) => caught.without.push(said(&without)),
            None => {
                caught.cycle = Some(found.cycle);
                caught.seed = Some(found.seed);
                caught.by = Some(said(&found));
                break;
            }
        }
        plan.first = found.cycle;
    }
    caught
}

fn first_of(summary: Summary) -> Option<Found> {
    let violations = summary.violations.into_iter();
    let of_the_log = violations.filter(Found::is_of_the_log);
    of_the_log.min_by_key(|found| found.cycle)
}

fn said(found: &Found) -> String {
    let violation = &found.violation;
    format!("{:?}: {}", violation.invariant, violation.found)
}
