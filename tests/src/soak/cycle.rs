//! A cycle as it runs: the rounds of its plan on a disk, with a witness next to them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::disk::Disk;
use super::fault::{Fault, FaultKind, Power};
use super::job::{Check, Job, Step, Task};
use super::plan::{Cycle, Round, Run};
use super::process::{Ended, Process, Programs};
use super::program::{self, About};
use super::said::{History, Invariant, Said, Violation};

/// How long a process may take: a disk that fails makes nothing slower.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long a process lives on without power, before it is ended as the machine would.
const WITHOUT_POWER: Duration = Duration::from_millis(20);

/// What came of a cycle.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What does not hold.
    pub violations: Vec<Violation>,
    /// How often each fault came.
    pub faults: BTreeMap<FaultKind, u64>,
    /// How often the power went.
    pub cuts: u64,
    /// How often a log was opened and checked.
    pub checks: u64,
    /// Why `annals doctor --truncate-tail` was needed.
    pub doctor: Vec<String>,
    /// Batches that were acknowledged.
    pub acknowledged: u64,
    /// What happened, for those who look into it.
    pub notes: Vec<String>,
}

/// A disk with the programs that run on it.
pub struct Lane<'a> {
    /// The disk.
    pub disk: &'a Disk,
    /// The programs.
    pub programs: &'a Programs,
    /// Whether what happens is noted.
    pub verbose: bool,
}

struct Course<'a> {
    lane: &'a Lane<'a>,
    cycle: &'a Cycle,
    home: &'a Path,
    history: History,
    outcome: Outcome,
}

impl Lane<'_> {
    /// Runs a cycle.
    pub fn run(&self, cycle: &Cycle) -> Outcome {
        let home = self.disk.home(cycle.seed);
        std::fs::create_dir_all(&home).expect("a folder on the disk");
        // What is there before the first process must not be lost.
        for folder in [&home, self.disk.path()] {
            std::fs::File::open(folder)
                .and_then(|file| file.sync_all())
                .expect("a sync");
        }
        let mut course = Course {
            lane: self,
            cycle,
            home: &home,
            history: History::default(),
            outcome: Outcome::default(),
        };
        for (number, round) in cycle.rounds.iter().enumerate() {
            course.round(number as u64, round);
            if !course.outcome.violations.is_empty() {
                break;
            }
        }
        let mut outcome = course.outcome;
        outcome.acknowledged = course.history.acknowledged();
        self.disk.disarm();
        if outcome.violations.is_empty() || !self.verbose {
            let _ = std::fs::remove_dir_all(&home);
        }
        outcome
    }
}

impl Course<'_> {
    fn note(&mut self, note: impl FnOnce() -> String) {
        if self.lane.verbose {
            self.outcome.notes.push(note());
        }
    }

    fn round(&mut self, number: u64, round: &Round) {
        self.note(|| format!("round {number}: {:?}, then {:?}", round.fault, round.cut));
        let mut reader = round.reader.then(|| self.worker(Task::Read, number));
        let mut broken = false;
        for (index, run) in round.runs.iter().enumerate() {
            let fault = (index == round.in_run).then_some(&round.fault);
            broken = self.run(run, fault, number * 100 + index as u64);
            if broken {
                break;
            }
        }
        if let Some(power) = round.cut {
            self.lane.disk.power_off();
            self.end_reader(&mut reader);
            self.cut(power);
        }
        self.end_reader(&mut reader);
        self.lane.disk.disarm();
        if let Fault::Damage(seed) = round.fault {
            let what = super::copies::damage(&self.home.join("log"), seed);
            self.note(|| format!("damaged: {what:?}"));
            let truncate = Run::Steps(vec![Step::TruncateDamaged]);
            self.run(&truncate, None, number * 100 + 90);
        }
        self.note(|| format!("round {number}: fault came: {broken}"));
        if round.checked {
            self.check(round, number);
        }
    }

    /// Whether the disk did what it said, up to a round.
    fn kept_its_word(&self, number: u64) -> bool {
        let mut rounds = self.cycle.rounds.iter().take(number as usize + 1);
        rounds.all(|round| round.fault.keeps_its_word())
    }

    fn end_reader(&mut self, reader: &mut Option<Process>) {
        if let Some(mut reader) = reader.take() {
            reader.kill();
            let ended = reader.end(PATIENCE);
            self.heard(&ended);
        }
    }

    fn cut(&mut self, power: Power) {
        let report = self.lane.disk.power_on(power);
        self.outcome.cuts += 1;
        self.note(|| format!("cut: {report}"));
    }

    fn job(&self, task: Task, number: u64) -> Job {
        Job {
            home: self.home.to_owned(),
            seed: self.cycle.seed.wrapping_mul(31).wrapping_add(number),
            compression: self.cycle.compression,
            task,
            history: self.history.clone(),
        }
    }

    fn worker(&self, task: Task, number: u64) -> Process {
        Process::worker(self.lane.programs, &self.job(task, number))
    }

    /// Runs a process; whether a fault ended it.
    fn run(&mut self, run: &Run, fault: Option<&Fault>, number: u64) -> bool {
        if let Some(fault @ (Fault::In { .. } | Fault::Full(_))) = fault {
            self.lane.disk.arm(fault);
        }
        let (mut process, about) = match run {
            Run::Steps(steps) => (self.worker(Task::Work(steps.clone()), number), None),
            Run::Program(program) => {
                let programs = self.lane.programs;
                match program::start(programs, program, self.home, &mut self.history) {
                    Some(call) => {
                        let (process, about) = call.split();
                        (process, Some(about))
                    }
                    None => return false,
                }
            }
        };
        let killed = match fault {
            Some(fault) => self.strike(&mut process, fault),
            None => false,
        };
        let ended = process.end(PATIENCE);
        self.note(|| format!("{run:?}: {} {}", ended.status, ended.errors));
        self.understand(&ended, about.as_ref());
        if ended.hung {
            let errors = &ended.errors;
            self.found(
                Invariant::Ends,
                format!("{run:?} took over {PATIENCE:?}: {errors}"),
            );
        } else if !killed && !ended.in_order() && !self.was_struck(fault) {
            let (status, errors) = (ended.status, &ended.errors);
            self.found(
                Invariant::Usable,
                format!("{run:?} ended with {status}: {errors}"),
            );
        } else if ended.errors.contains("panicked") {
            let errors = &ended.errors;
            self.found(Invariant::Usable, format!("{run:?} panicked: {errors}"));
        }
        killed || !self.lane.disk.is_powered()
    }

    fn was_struck(&self, fault: Option<&Fault>) -> bool {
        fault.is_some() && self.lane.disk.fired()
    }

    /// Lets a fault come to a process; whether it was killed.
    fn strike(&mut self, process: &mut Process, fault: &Fault) -> bool {
        let disk = self.lane.disk;
        disk.aim(process.victim());
        let kind = fault.kind();
        let (ended, after) = match fault {
            Fault::None | Fault::Damage(_) => (true, None),
            Fault::Kill(after) | Fault::Cut(after) => (false, Some(*after)),
            Fault::In { .. } | Fault::Full(_) => (false, None),
        };
        if ended {
            *self.outcome.faults.entry(kind).or_default() += 1;
            return false;
        }
        let ended = process.wait_until(after.or(Some(PATIENCE)), || !disk.is_powered());
        let came = match fault {
            Fault::Kill(_) | Fault::Cut(_) => !ended,
            _ => disk.fired(),
        };
        if came {
            *self.outcome.faults.entry(kind).or_default() += 1;
        }
        if ended {
            return false;
        }
        match fault {
            Fault::Kill(_) => process.kill(),
            Fault::Cut(_) => {
                disk.power_off();
                process.kill();
            }
            // What it says without power it says of what was done before.
            _ => {
                std::thread::sleep(WITHOUT_POWER);
                process.kill();
            }
        }
        true
    }

    fn understand(&mut self, ended: &Ended, about: Option<&About>) {
        match about {
            Some(about) => about.understand(ended, &mut self.history),
            None => self.heard(ended),
        }
    }

    /// Adds what a worker said.
    fn heard(&mut self, ended: &Ended) {
        for said in ended.said() {
            self.history.add(&said);
            match said {
                Said::Violation(violation) => self.outcome.violations.push(violation),
                Said::NeededDoctor(why) => self.outcome.doctor.push(why),
                Said::Failed { step, error } => self.note(|| format!("{step}: {error}")),
                Said::Checked { .. } => self.outcome.checks += 1,
                _ => {}
            }
        }
    }

    fn found(&mut self, invariant: Invariant, found: String) {
        self.outcome
            .violations
            .push(Violation::new(invariant, found));
    }

    fn check(&mut self, round: &Round, number: u64) {
        let how = Check {
            reader_first: round.reader_first,
            lied: round.fault.lies(),
            damaged: round.fault.damages(),
            disk_kept_its_word: self.kept_its_word(number),
            objects: self.cycle.workload.objects(),
        };
        let process = self.worker(Task::Check(how), number * 100 + 99);
        let ended = process.end(PATIENCE);
        self.note(|| format!("check: {} {}", ended.status, ended.errors));
        self.heard(&ended);
        if ended.hung {
            let errors = &ended.errors;
            self.found(
                Invariant::Ends,
                format!("the check took over {PATIENCE:?}: {errors}"),
            );
        } else if !ended.status.success() {
            let (status, errors) = (ended.status, &ended.errors);
            self.found(
                Invariant::Usable,
                format!("the check ended with {status}: {errors}"),
            );
        }
    }
}
