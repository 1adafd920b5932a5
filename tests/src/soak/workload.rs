//! What is done with a log: which processes, and what each of them does.

use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde::Serialize;

use super::batch::{Batch, Kind};
use super::job::Step;
use super::plan::Run;

/// A call of the real program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Program {
    /// `annals apply -`, of intents.
    Apply(Vec<Batch>),
    /// `annals log --json`.
    Log,
    /// `annals list intents --json`.
    List,
    /// `annals show ID --json`, of the last intent that was acknowledged.
    Show,
    /// `annals redact POSITION`.
    Redact,
    /// `annals backup`.
    Backup,
    /// `annals restore`.
    Restore,
    /// `annals rebuild`, with `--indexes`.
    Rebuild,
    /// `annals checkpoint`.
    Checkpoint,
    /// `annals doctor`.
    Doctor,
    /// `annals doctor --truncate-tail`.
    Truncate,
    /// `annals gc --apply`.
    Collect,
    /// `annals verify`.
    Verify,
}

/// A workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Workload {
    /// A few clients append small batches.
    Appends,
    /// 64 clients at the same time, some of which are refused.
    Crowd,
    /// A batch of up to 10,000 events.
    Large,
    /// Short-lived processes one after the other, with and without a close.
    Short,
    /// Objects through the facade.
    Objects,
    /// The program, called again and again.
    Program,
    /// Everything else that the program does to a log.
    Keeping,
    /// Rows of read models, few and many, together with appends.
    Rows,
    /// Redaction through the port, with each of its steps, together with appends and rows.
    Redact,
    /// Redaction of objects through the facade.
    Forget,
    /// Backups and restores together with appends.
    Copies,
    /// Making indexes and catalogue from the records.
    Rebuild,
    /// Truncation of an end that cannot be read.
    Truncate,
    /// Checkpoints that are signed during appends.
    Checkpoints,
    /// Content in blobs, and collecting what nothing refers to.
    Blobs,
    /// Closing and opening in one process.
    Reopen,
}

impl Workload {
    /// All of them.
    pub const ALL: &[Workload] = &[
        Workload::Appends,
        Workload::Crowd,
        Workload::Large,
        Workload::Short,
        Workload::Objects,
        Workload::Program,
        Workload::Keeping,
        Workload::Rows,
        Workload::Redact,
        Workload::Forget,
        Workload::Copies,
        Workload::Rebuild,
        Workload::Truncate,
        Workload::Checkpoints,
        Workload::Blobs,
        Workload::Reopen,
    ];

    /// Its name.
    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// The one of this name.
    pub fn named(name: &str) -> Option<Workload> {
        let all = Workload::ALL.iter().copied();
        all.into_iter().find(|workload| workload.name() == name)
    }

    /// Whether its log is one of objects, with a catalogue.
    pub fn objects(self) -> bool {
        use Workload::{Forget, Keeping, Objects, Program, Rebuild, Short};
        matches!(self, Objects | Program | Keeping | Forget | Rebuild | Short)
    }

    /// Whether content is removed.
    pub fn removes(self) -> bool {
        matches!(
            self,
            Workload::Redact | Workload::Forget | Workload::Keeping
        )
    }

    /// The processes of a round; the first one makes the log.
    pub fn runs(self, rng: &mut StdRng, first: bool) -> Vec<Run> {
        match self {
            Workload::Short => short(rng, self),
            Workload::Program => program(rng, first),
            Workload::Keeping => keeping(rng, first),
            _ => {
                let mut steps = vec![Step::Open];
                if rng.random_range(0..3) == 0 {
                    steps.push(Step::Repeat);
                }
                steps.extend(self.steps(rng));
                steps.push(end(rng));
                vec![Run::Steps(steps)]
            }
        }
    }

    /// A process that opens the log after a fault, sends again what is not known to be
    /// stored, and something new.
    pub fn recovery(self, rng: &mut StdRng) -> Run {
        let kind = if self.objects() {
            Kind::Intents
        } else {
            Kind::Plain
        };
        let mut steps = vec![Step::Open, Step::Repeat, append(rng, 1, 2, 3, kind)];
        if rng.random() {
            steps.push(Step::Read);
        }
        steps.push(end(rng));
        Run::Steps(steps)
    }

    fn steps(self, rng: &mut StdRng) -> Vec<Step> {
        match self {
            Workload::Crowd => vec![append(rng, 64, 3, 12, Kind::Plain), Step::Read],
            Workload::Large => {
                let events = *[300, 2_000, 10_000].choose(rng).unwrap_or(&300);
                vec![
                    append(rng, 2, 1, events, Kind::Plain),
                    append(rng, 2, 3, 8, Kind::Plain),
                ]
            }
            Workload::Objects => vec![
                together(
                    vec![append(rng, 4, 4, 40, Kind::Intents)],
                    vec![Step::Read; 2],
                ),
                append(rng, 1, 3, 3, Kind::Intents),
            ],
            Workload::Rows => rows(rng),
            Workload::Redact => redact(rng),
            Workload::Forget => forget(rng),
            Workload::Copies => vec![
                append(rng, 2, 2, 30, Kind::WithContent),
                together(vec![Step::Backup], vec![append(rng, 2, 4, 12, Kind::Plain)]),
                Step::Restore,
                append(rng, 1, 2, 8, Kind::Plain),
            ],
            Workload::Rebuild => vec![
                append(rng, 2, 3, 20, Kind::Intents),
                if rng.random() {
                    Step::RebuildRows
                } else {
                    Step::RebuildIndexes
                },
                append(rng, 2, 2, 5, Kind::Intents),
                Step::Read,
            ],
            Workload::Truncate => vec![
                append(rng, 3, 3, 20, Kind::Plain),
                Step::Truncate,
                append(rng, 2, 2, 5, Kind::Plain),
            ],
            Workload::Checkpoints => vec![together(
                vec![append(rng, 4, 6, 20, Kind::Plain)],
                vec![Step::Sign; 12],
            )],
            Workload::Blobs => vec![
                append(rng, 3, 3, 25, Kind::WithContent),
                Step::Collect,
                append(rng, 2, 2, 5, Kind::WithContent),
            ],
            Workload::Reopen => reopen(rng),
            _ => appends(rng),
        }
    }
}

fn append(rng: &mut StdRng, clients: u16, batches: u16, events: u16, kind: Kind) -> Step {
    Step::Append {
        clients: rng.random_range(1..=clients),
        batches: rng.random_range(1..=batches),
        events: rng.random_range(1..=events).max(events / 2),
        kind,
    }
}

fn together(one: Vec<Step>, other: Vec<Step>) -> Step {
    Step::Together(vec![one, other])
}

/// How a process ends.
fn end(rng: &mut StdRng) -> Step {
    match rng.random_range(0..3) {
        0 => Step::Leave,
        _ => Step::Close,
    }
}

fn rows(rng: &mut StdRng) -> Vec<Step> {
    // From 10,000 on they are written as a table of their own, and where the model goes on, from 50,000.
    let rows = *[3, 40, 10_050, 50_050].choose(rng).unwrap_or(&3);
    vec![
        append(rng, 2, 2, 20, Kind::WithContent),
        together(
            vec![append(rng, 2, 5, 12, Kind::WithContent)],
            vec![
                Step::Rows {
                    rows,
                    commits: if rows > 100 { 2 } else { 6 },
                },
                Step::Fold { commits: 6 },
            ],
        ),
        Step::Rows {
            rows: 3,
            commits: 1,
        },
    ]
}

/// Appends, with some time between them.
fn appends(rng: &mut StdRng) -> Vec<Step> {
    let mut steps = vec![together(
        vec![append(rng, 4, 5, 12, Kind::Plain)],
        vec![Step::Read; 3],
    )];
    if rng.random_range(0..3) == 0 {
        steps.push(Step::Rest);
        steps.push(append(rng, 2, 3, 12, Kind::Plain));
    }
    steps
}

fn redact(rng: &mut StdRng) -> Vec<Step> {
    let mut steps = vec![
        append(rng, 2, 3, 80, Kind::WithContent),
        Step::Fold { commits: 2 },
    ];
    if rng.random() {
        // What is in tables has to go from there, too.
        steps.push(Step::Compact);
    }
    steps.push(Step::Together(vec![
        vec![Step::Redact {
            events: rng.random_range(1..5),
        }],
        vec![Step::Fold { commits: 12 }],
        vec![append(rng, 1, 3, 5, Kind::WithContent)],
    ]));
    if rng.random_range(0..3) > 0 {
        steps.push(Step::Purge);
    }
    steps.push(Step::Fold { commits: 2 });
    steps
}

fn forget(rng: &mut StdRng) -> Vec<Step> {
    let mut steps = vec![append(rng, 2, 3, 8, Kind::Intents), Step::Read];
    if rng.random() {
        steps.push(Step::RebuildRows);
        steps.push(Step::Compact);
    }
    steps.push(together(
        vec![Step::Redact {
            events: rng.random_range(1..4),
        }],
        vec![append(rng, 1, 3, 4, Kind::Intents), Step::Read],
    ));
    if rng.random_range(0..3) > 0 {
        steps.push(Step::Purge);
    }
    steps
}

fn reopen(rng: &mut StdRng) -> Vec<Step> {
    let mut steps = Vec::new();
    for _ in 0..rng.random_range(1..4) {
        steps.push(append(rng, 2, 2, 8, Kind::Plain));
        steps.push(Step::Close);
        steps.push(Step::Open);
        if rng.random_range(0..3) == 0 {
            steps.push(Step::Repeat);
        }
    }
    steps.push(append(rng, 2, 2, 8, Kind::Plain));
    steps
}

fn short(rng: &mut StdRng, workload: Workload) -> Vec<Run> {
    let mut runs = Vec::new();
    for _ in 0..rng.random_range(2..5) {
        let mut steps = vec![Step::Open];
        if rng.random_range(0..4) == 0 {
            steps.push(Step::Repeat);
        }
        let kind = if workload.objects() {
            Kind::Intents
        } else {
            Kind::Plain
        };
        // Each batch by itself, as a command line gives them.
        for _ in 0..rng.random_range(1..5) {
            steps.push(append(rng, 1, 1, 1, kind));
        }
        steps.push(end(rng));
        runs.push(Run::Steps(steps));
    }
    runs
}

fn apply(rng: &mut StdRng) -> Run {
    let count = rng.random_range(1..6);
    let batches = (0..count).map(|_| Batch::new(rng, Kind::Intents, 1));
    Run::Program(Program::Apply(batches.collect()))
}

fn program(rng: &mut StdRng, first: bool) -> Vec<Run> {
    let mut runs = Vec::new();
    if first {
        // The program does not make a log by itself but with `annals init`.
        runs.push(Run::Steps(vec![Step::Open, Step::Close]));
    }
    for _ in 0..rng.random_range(1..4) {
        runs.push(apply(rng));
        if rng.random_range(0..3) == 0 {
            let look = [Program::Log, Program::List, Program::Show];
            runs.push(Run::Program(
                look.choose(rng).cloned().unwrap_or(Program::Log),
            ));
        }
    }
    runs
}

fn keeping(rng: &mut StdRng, first: bool) -> Vec<Run> {
    let mut runs = program(rng, first);
    let all = [
        Program::Redact,
        Program::Backup,
        Program::Restore,
        Program::Rebuild,
        Program::Checkpoint,
        Program::Doctor,
        Program::Truncate,
        Program::Collect,
        Program::Verify,
    ];
    for _ in 0..rng.random_range(1..3) {
        runs.push(Run::Program(
            all.choose(rng).cloned().unwrap_or(Program::Redact),
        ));
    }
    if rng.random() {
        runs.push(apply(rng));
    }
    runs
}
