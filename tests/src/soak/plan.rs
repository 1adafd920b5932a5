//! A cycle as a plan: what runs, which faults come and when. It follows from a seed.

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde::Serialize;

use super::fault::{Fault, FaultKind, Power};
use super::job::Step;
use super::workload::{Program, Workload};

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Run {
    /// A worker that does these steps.
    Steps(Vec<Step>),
    /// The real program.
    Program(Program),
}

/// Processes one after the other, with a fault in one of them, and what comes after it.
#[derive(Debug, Clone, Serialize)]
pub struct Round {
    /// The processes.
    pub runs: Vec<Run>,
    /// Whether a reader runs at the same time.
    pub reader: bool,
    /// The fault.
    pub fault: Fault,
    /// In which of the processes it comes.
    pub in_run: usize,
    /// What becomes of what was not synced; where there is none, the power stays on.
    pub cut: Option<Power>,
    /// Whether the log is checked then; where not, the next round opens it.
    pub checked: bool,
    /// Whether a reader looks before the check opens the log for writing.
    pub reader_first: bool,
}

/// A cycle: one log from its creation on, and a few rounds of faults.
#[derive(Debug, Clone, Serialize)]
pub struct Cycle {
    /// What it follows from.
    pub seed: u64,
    /// What is done with the log.
    pub workload: Workload,
    /// Whether its files are compressed.
    pub compression: bool,
    /// The rounds.
    pub rounds: Vec<Round>,
}

/// What cycles may be made of.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The workloads.
    pub workloads: Vec<Workload>,
    /// The faults.
    pub faults: Vec<FaultKind>,
}

impl Choice {
    /// Everything. `powered` is whether the disk can lose what was not synced.
    pub fn all(powered: bool) -> Choice {
        let faults = FaultKind::ALL.iter().copied();
        Choice {
            workloads: Workload::ALL.to_vec(),
            faults: faults
                .filter(|kind| powered || !kind.needs_fault_fs())
                .collect(),
        }
    }

    /// Everything, or what names say: those of workloads and of faults. `None` where there
    /// is no such thing.
    pub fn of(only: &[String], powered: bool) -> Option<Choice> {
        let mut choice = Choice::all(powered);
        let mut named = (Vec::new(), Vec::new());
        for name in only {
            match (Workload::named(name), FaultKind::named(name)) {
                (Some(workload), _) => named.0.push(workload),
                (None, Some(fault)) if choice.faults.contains(&fault) => named.1.push(fault),
                _ => return None,
            }
        }
        if !named.0.is_empty() {
            choice.workloads = named.0;
        }
        if !named.1.is_empty() {
            choice.faults = named.1;
        }
        Some(choice)
    }
}

impl Cycle {
    /// The cycle of a seed.
    pub fn new(seed: u64, choice: &Choice, powered: bool) -> Cycle {
        let mut rng = StdRng::seed_from_u64(seed);
        let workload = *choice
            .workloads
            .choose(&mut rng)
            .unwrap_or(&Workload::Appends);
        let mut rounds = Vec::new();
        let count = [1, 1, 1, 2, 2, 3].choose(&mut rng).copied().unwrap_or(1);
        for number in 0..count {
            let runs = workload.runs(&mut rng, number == 0);
            rounds.push(round(runs, &mut rng, choice, powered));
            // What a process left that was killed, or whose sync failed, is in the operating
            // system's memory: the next one builds on it, and then the power goes.
            let last = rounds.last_mut();
            if let Some(last) = last.filter(|last| powered && last.fault.leaves_unsynced())
                && rng.random()
            {
                (last.cut, last.checked) = (None, false);
                let runs = vec![workload.recovery(&mut rng)];
                let mut next = round(runs, &mut rng, choice, powered);
                (next.fault, next.in_run) = (Fault::None, 0);
                (next.cut, next.checked) = (Some(Power::DropAll), true);
                rounds.push(next);
            }
            // A fault while what the one before it left is put right.
            if rng.random_range(0..4) == 0 {
                let runs = vec![workload.recovery(&mut rng)];
                rounds.push(round(runs, &mut rng, choice, powered));
            }
        }
        if let Some(last) = rounds.last_mut() {
            last.checked = true;
        }
        // What a lying disk lost cannot be asked of later rounds.
        let last = |round: &Round| round.fault.lies() || round.fault.damages();
        if let Some(lied) = rounds.iter().position(last) {
            rounds.truncate(lied + 1);
            rounds[lied].checked = true;
        }
        Cycle {
            seed,
            workload,
            compression: !workload.removes() && rng.random_range(0..3) == 0,
            rounds,
        }
    }
}

fn round(runs: Vec<Run>, rng: &mut StdRng, choice: &Choice, powered: bool) -> Round {
    let kind = *choice.faults.choose(rng).unwrap_or(&FaultKind::Kill);
    let fault = Fault::new(kind, rng);
    let may_cut = powered && !fault.damages() && (fault.cuts() || rng.random_bool(0.6));
    let in_run = rng.random_range(0..runs.len());
    Round {
        reader: rng.random_range(0..5) == 0,
        in_run: if fault == Fault::None || fault.damages() {
            runs.len() - 1
        } else {
            in_run
        },
        runs,
        cut: may_cut.then(|| Power::new(rng)),
        checked: rng.random_bool(0.5),
        reader_first: rng.random_range(0..4) == 0,
        fault,
    }
}

/// How long after its start a process is ended.
pub fn moment(rng: &mut StdRng) -> Duration {
    let most: u64 = *[3_000, 15_000, 40_000, 120_000]
        .choose(rng)
        .unwrap_or(&15_000);
    Duration::from_micros(rng.random_range(500..most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_follows_from_its_seed() {
        let choice = Choice::all(true);
        for seed in 0..200 {
            let text = |cycle: &Cycle| serde_json::to_string(cycle).unwrap();
            let one = Cycle::new(seed, &choice, true);
            assert_eq!(text(&one), text(&Cycle::new(seed, &choice, true)));
            let last = one.rounds.last().unwrap();
            assert!(last.checked, "seed {seed}: nothing looks at the end");
            assert!(
                one.rounds
                    .iter()
                    .all(|round| round.in_run < round.runs.len())
            );
        }
    }

    #[test]
    fn names_choose_workloads_and_faults() {
        let only = |names: &[&str], powered| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            Choice::of(&names, powered)
        };
        let choice = only(&["redact", "cut-in"], true).unwrap();
        assert_eq!(choice.workloads, [Workload::Redact]);
        assert_eq!(choice.faults, [FaultKind::CutIn]);
        assert!(
            only(&["cut-in"], false).is_none(),
            "a plain folder has no power"
        );
        assert!(only(&["nothing"], true).is_none());
    }
}
