//! What is measured, in turns: round after round, in each of them one load after another, for each of them one
//! store after another.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use annals_measure::postgres::compared::{COMPARED, ComparedStore};
use annals_measure::postgres::loads::{LOADS, Load};
use annals_measure::postgres::results::{LoadSample, LoadSettings, PostgresResults};
use annals_measure::results::Figure;
use annals_measure::store::StoreError;
use annals_measure::workload::UnknownName;

use crate::appends::{self, Pace};
use crate::error::CompareError;
use crate::server::MeasuredServer;
use crate::target::{self, Place};

/// What is run.
#[derive(Debug)]
pub struct Plan {
    /// How much is measured.
    pub settings: LoadSettings,
    pace: Pace,
    loads: Vec<&'static Load>,
    stores: Vec<&'static ComparedStore>,
}

impl Plan {
    /// The loads and the stores that are named, and all where none is.
    pub fn new(settings: LoadSettings, only: &[String]) -> Result<Plan, CompareError> {
        let names = LOADS.iter().map(|load| load.name);
        let names: Vec<&str> = names
            .chain(COMPARED.iter().map(|store| store.name))
            .collect();
        if let Some(name) = only.iter().find(|name| !names.contains(&name.as_str())) {
            return Err(UnknownName::new(name, names).into());
        }
        let seconds = |seconds: f64| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|source| CompareError::Seconds { seconds, source })
        };
        Ok(Plan {
            pace: Pace {
                warm_up: seconds(settings.warm_up_seconds)?,
                time: seconds(settings.seconds)?,
                payload_bytes: settings.payload_bytes,
            },
            settings,
            loads: named(LOADS, only, |load| load.name),
            stores: named(COMPARED, only, |store| store.name),
        })
    }
}

fn named<T>(
    all: &'static [T],
    only: &[String],
    name: impl Fn(&T) -> &'static str,
) -> Vec<&'static T> {
    let is_named = |it: &&T| only.iter().any(|only| only == name(it));
    match all.iter().any(|it| is_named(&it)) {
        true => all.iter().filter(is_named).collect(),
        false => all.iter().collect(),
    }
}

/// One measurement.
#[derive(Debug, Clone, Copy)]
struct Turn {
    round: usize,
    load: &'static Load,
    store: &'static ComparedStore,
}

/// All of them in their order. The store that begins is another one in each round.
fn turns(plan: &Plan) -> Vec<Turn> {
    let mut turns = Vec::new();
    for round in 0..plan.settings.rounds {
        let mut stores = plan.stores.clone();
        let first = round % stores.len().max(1);
        stores.rotate_left(first);
        for &load in &plan.loads {
            let of_load = stores.iter().map(|&store| Turn { round, load, store });
            turns.extend(of_load);
        }
    }
    turns
}

/// Runs everything and adds what was measured to `results`. What fails is said in it, and the rest goes on.
pub fn run(plan: &Plan, server: &MeasuredServer, folder: &Path, results: &mut PostgresResults) {
    let turns = turns(plan);
    for (number, turn) in turns.iter().enumerate() {
        let Turn { round, load, store } = *turn;
        let what = format!("round {}, {}: {}", round + 1, load.name, store.title);
        say(&format!("{} of {}: {what}", number + 1, turns.len()));
        match one(plan.pace, server, folder, load, store) {
            Ok(figures) => add(results, *turn, figures),
            Err(error) => {
                let failure = format!("failed: {what}: {error}");
                say(&failure);
                results.failures.push(failure);
            }
        }
    }
}

fn add(results: &mut PostgresResults, turn: Turn, figures: Vec<Figure>) {
    let sample = |figure| LoadSample {
        store: turn.store.name.to_owned(),
        load: turn.load.name.to_owned(),
        round: turn.round,
        figure,
    };
    results.samples.extend(figures.into_iter().map(sample));
}

/// One load on one store, which is made for it and asked afterwards how many events it has.
fn one(
    pace: Pace,
    server: &MeasuredServer,
    folder: &Path,
    load: &Load,
    store: &ComparedStore,
) -> Result<Vec<Figure>, CompareError> {
    let folder = tempfile::tempdir_in(folder)?;
    let database = server.database()?;
    let place = Place {
        url: &database.url(),
        folder: folder.path(),
        logs: load.logs,
    };
    let target = target::make(store.name, place)?;
    server.checkpoint()?;
    let timed = appends::run(target.as_ref(), load, pace)?;
    let (expected, found) = (timed.all, target.events()?);
    if found != expected {
        let error = format!("wrong answer: expected {expected} events, found {found}");
        return Err(StoreError::failed(error).into());
    }
    target.close()?;
    Ok(timed.figures(""))
}

/// Says how far it is, on standard error.
pub fn say(line: &str) {
    // There is no one to report to when standard error is closed.
    let _ = writeln!(std::io::stderr(), "compare-postgres: {line}");
}
