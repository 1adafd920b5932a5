//! Runs the programs in turns: round after round, in each of them one measurement after another,
//! for each of them one store after another.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::measurement::Measurement;
use crate::program::Arguments;
use crate::results::{Line, MARK, Results, Sample, Settings};
use crate::stores::{Program, Role, STORES, StoreKind};
use crate::workload::{Layout, UnknownName};

/// Seconds of appends that do not count, before those that do: of a full run, and of a quick one.
const WARM_UP: f64 = 0.3;
const QUICK_WARM_UP: f64 = 0.05;

/// What is run.
#[derive(Debug)]
pub struct Plan {
    /// How much is measured.
    pub settings: Settings,
    /// Names of stores and of measurements; none for all. Ours is always among the stores.
    pub only: Vec<String>,
    /// The program with our store.
    pub ours: PathBuf,
    /// The program with the peers.
    pub peers: PathBuf,
    /// A folder on a real disk; folders of stores are made in it and removed.
    pub data: PathBuf,
}

/// One table's conditions.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Section {
    payload_bytes: usize,
    layout: Layout,
}

/// One start of a program.
#[derive(Debug, Clone, Copy)]
struct Job {
    store: &'static StoreKind,
    measurement: Measurement,
    section: Section,
    round: usize,
}

/// Checks the names of `--only`.
///
/// # Errors
/// When one is neither a store's nor a measurement's.
pub fn check_names(only: &[String]) -> Result<(), UnknownName> {
    let stores = STORES.iter().map(|store| store.name.to_owned());
    let measurements = Measurement::ALL.iter().map(Measurement::to_string);
    let names: Vec<String> = stores.chain(measurements).collect();
    match only.iter().find(|name| !names.contains(name)) {
        Some(name) => Err(UnknownName::new(name, names)),
        None => Ok(()),
    }
}

/// Runs everything and adds what was measured to `results`. What fails is said in it, and the
/// rest goes on.
///
/// # Errors
/// When the folder for the data cannot be used.
pub fn run(plan: &Plan, results: &mut Results) -> io::Result<()> {
    let jobs = jobs(plan);
    for (number, &job) in jobs.iter().enumerate() {
        say(&format!(
            "{} of {}: round {}, {} bytes, {}: {} of {}",
            number + 1,
            jobs.len(),
            job.round + 1,
            job.section.payload_bytes,
            job.section.layout,
            job.measurement,
            job.store.title
        ));
        let folder = plan.data.join(job.store.name);
        let keeps = matches!(job.measurement, Measurement::Read | Measurement::Grown);
        if !keeps {
            remove(&folder)?;
            fs::create_dir_all(&folder)?;
        }
        match one(plan, job, folder.clone()) {
            Ok(lines) => add(results, job, lines),
            Err(failure) => {
                say(&failure);
                results.failures.push(failure);
            }
        }
        let last = jobs
            .get(number + 1)
            .is_none_or(|next| !continues(job, *next));
        if last {
            remove(&folder)?;
        }
    }
    Ok(())
}

/// Whether a job works on the large log of the one before it.
fn continues(job: Job, next: Job) -> bool {
    let follows = matches!(next.measurement, Measurement::Read | Measurement::Grown);
    follows && job.store.name == next.store.name
}

/// All jobs in their order. The store that begins is another one in each round.
fn jobs(plan: &Plan) -> Vec<Job> {
    let mut jobs = Vec::new();
    for round in 0..plan.settings.rounds {
        let mut stores = stores(plan);
        let turn = round % stores.len().max(1);
        stores.rotate_left(turn);
        for section in sections(round, &plan.settings.payloads) {
            let job = |store, measurement| Job {
                store,
                measurement,
                section,
                round,
            };
            let is_wanted = |job: &Job| is_wanted(plan, *job);
            let (of_filled, others): (Vec<_>, Vec<_>) = Measurement::ALL
                .into_iter()
                .partition(|measurement| measurement.is_of_the_filled_log());
            for measurement in others {
                let turns = stores.iter().map(|store| job(*store, measurement));
                jobs.extend(turns.filter(is_wanted));
            }
            // A large log is made, read and grown before the next store's, which needs the room.
            for &store in &stores {
                let all = of_filled.iter().map(|measurement| job(store, *measurement));
                jobs.extend(all.filter(is_wanted));
            }
        }
    }
    jobs
}

fn stores(plan: &Plan) -> Vec<&'static StoreKind> {
    let named = |store: &&StoreKind| plan.only.iter().any(|name| name == store.name);
    let some = STORES.iter().any(|store| named(&store));
    let wanted = |store: &&'static StoreKind| !some || store.role == Role::Ours || named(store);
    STORES.iter().filter(wanted).collect()
}

/// The main table's; the other payloads'; the main payload's in runs. Only the main table is
/// measured in each round: what the others say shows in one, and all of it would take hours.
fn sections(round: usize, payloads: &[usize]) -> Vec<Section> {
    let section = |layout| {
        move |&payload_bytes: &usize| Section {
            payload_bytes,
            layout,
        }
    };
    let main = payloads.iter().take(1).map(section(Layout::Interleaved));
    if round > 0 {
        return main.collect();
    }
    let others = payloads.iter().skip(1).map(section(Layout::Interleaved));
    let runs = payloads.iter().take(1).map(section(Layout::Runs));
    main.chain(others).chain(runs).collect()
}

fn is_wanted(plan: &Plan, job: Job) -> bool {
    use Measurement::{Append, Batch, Conditional, Fill, Grown, Read};
    let Section { layout, .. } = job.section;
    let can = |measurement| (job.store.can)(measurement, layout);
    // For single events both layouts are one.
    let differs = match (job.measurement, layout) {
        (Append(_) | Conditional(_) | Grown, Layout::Runs) => false,
        (Append(_) | Batch(_) | Conditional(_) | Fill | Read | Grown, _) => true,
    };
    let named: Vec<Measurement> = plan.only.iter().flat_map(|name| name.parse()).collect();
    // Reading and growing need the large log.
    let needed = job.measurement == Fill && (named.contains(&Read) || named.contains(&Grown));
    let is_named = named.is_empty() || named.contains(&job.measurement) || needed;
    can(job.measurement) && differs && is_named
}

/// Runs one job. What goes wrong is said as it is to be printed.
fn one(plan: &Plan, job: Job, folder: PathBuf) -> Result<Vec<Line>, String> {
    let program = match job.store.program {
        Program::Ours => &plan.ours,
        Program::Peers => &plan.peers,
    };
    let settings = &plan.settings;
    let arguments = Arguments {
        store: job.store.name.into(),
        measurement: job.measurement,
        payload: job.section.payload_bytes,
        layout: job.section.layout,
        warm_up: if settings.quick {
            QUICK_WARM_UP
        } else {
            WARM_UP
        },
        seconds: settings.seconds,
        events: settings.events,
        folder,
    };
    let words = arguments.words();
    let failed = |why: String| format!("failed: {} {}: {why}", program.display(), words.join(" "));
    let mut command = Command::new(program);
    command.args(&words).stderr(Stdio::inherit());
    let output = command
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter_map(|line| line.strip_prefix(MARK));
    let lines: Result<Vec<Line>, _> = lines.map(serde_json::from_str).collect();
    let lines = lines.map_err(|error| failed(format!("its answer cannot be read: {error}")))?;
    match lines.is_empty() {
        true => Err(failed("it measured nothing".into())),
        false => Ok(lines),
    }
}

fn add(results: &mut Results, job: Job, lines: Vec<Line>) {
    for line in lines {
        match line {
            Line::Cold(cold) if results.cold.contains(&cold) => (),
            Line::Cold(cold) => results.cold.push(cold),
            Line::Figure(figure) => results.samples.push(Sample {
                store: job.store.name.into(),
                measurement: job.measurement.to_string(),
                payload_bytes: job.section.payload_bytes,
                layout: job.section.layout.name().into(),
                round: job.round,
                figure,
            }),
        }
    }
}

fn remove(folder: &std::path::Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Says how far it is, on standard error.
pub fn say(line: &str) {
    // There is no one to report to when standard error is closed.
    let _ = writeln!(io::stderr(), "compare: {line}");
}

#[cfg(test)]
mod tests;
