//! Counts the instructions of the hot paths and holds them against `benches/guard.json`.
//!
//! Times need a quiet machine; instructions do not. Each case is run in a process of its own
//! under valgrind's callgrind, by this very program: `guard case NAME`. `cases.rs` has those
//! that are counted within a function, `threads.rs` those whose work is done on threads of
//! its own. `annals_benches::guard` counts and compares.
//!
//! `make bench-guard`, with `UPDATE=1` after an intended change; `GUARD_FLAGS=--json` prints
//! JSON, `RUNS=3` counts each case three times and says how much the counts differ, and
//! `ONLY=wire` takes the cases with that in their names.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

mod case;
mod cases;
mod history;
mod run;
mod texts;
mod threads;

use std::path::Path;
use std::process::ExitCode;

use annals_benches::guard::baseline::Baseline;
use annals_benches::guard::report::Report;
use annals_benches::guard::toolchain::Toolchain;

use case::Case;

/// All cases.
fn all() -> Vec<Case> {
    [cases::all(), threads::all()].concat()
}

/// The command-line arguments.
#[derive(Debug, Default)]
struct Asked {
    update: bool,
    json: bool,
    only: String,
    runs: usize,
}

impl Asked {
    fn new(arguments: &[String]) -> Asked {
        let mut asked = Asked {
            runs: 1,
            ..Asked::default()
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let mut value = || rest.next().cloned().unwrap_or_default();
            match argument.as_str() {
                "--update" => asked.update = true,
                "--json" => asked.json = true,
                "--only" => asked.only = value(),
                "--runs" => asked.runs = value().parse().expect("--runs takes a number"),
                other => panic!("unknown argument {other:?}"),
            }
        }
        assert!(
            !asked.update || asked.only.is_empty(),
            "an update counts all cases; leave ONLY out"
        );
        asked
    }
}

fn main() -> ExitCode {
    let arguments = std::env::args().skip(1);
    // cargo's word for a benchmark, not ours.
    let arguments: Vec<String> = arguments.filter(|it| it != "--bench").collect();
    match arguments.split_first() {
        None => {
            println!("guard: counts instructions; `make bench-guard` asks for it");
            ExitCode::SUCCESS
        }
        Some((word, rest)) if word == "case" => {
            case::run_here(&all(), rest);
            ExitCode::SUCCESS
        }
        Some((word, rest)) if word == "count" => count(&Asked::new(rest)),
        Some((word, _)) => panic!("unknown word {word:?}; there are `count` and `case`"),
    }
}

/// Counts, and compares or updates.
fn count(asked: &Asked) -> ExitCode {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("guard.json");
    let here = Toolchain::here().expect("valgrind and rustc are here");
    let known = Baseline::read(&path).expect("benches/guard.json");
    let baseline = known.unwrap_or_else(|| Baseline::new(here.clone()));
    let differences = here.differences(&baseline.toolchain);
    let report = if !asked.update && !differences.is_empty() {
        Report::not_compared(differences)
    } else {
        let cases: Vec<Case> = all()
            .into_iter()
            .filter(|case| case.name.contains(&asked.only))
            .collect();
        let counts = run::counts(&cases, asked.runs);
        if asked.update {
            let updated = baseline.updated(here, &counts);
            updated.write(&path).expect("benches/guard.json");
            eprintln!("benches/guard.json is written; this is what changed:");
        }
        let mut baseline = baseline;
        baseline.cases.retain(|case, _| case.contains(&asked.only));
        Report::new(&baseline, &counts)
    };
    match asked.json {
        true => println!("{}", serde_json::to_string_pretty(&report).expect("JSON")),
        false => println!("{report}"),
    }
    match report.failed && !asked.update {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}
