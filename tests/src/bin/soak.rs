//! `soak`: faults, cycle after cycle. `make soak` runs it; `docs/reliability.md` has what it
//! came to.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program says what it found"
)]

use std::process::ExitCode;
use std::time::Duration;

use annals_tests::soak::disk::{Disk, DiskError};
use annals_tests::soak::mutants;
use annals_tests::soak::plan::Choice;
use annals_tests::soak::process::Programs;
use annals_tests::soak::runner::{Plan, Summary, run};
use clap::Parser;

/// Runs the program and the library under faults, and checks that nothing is lost
#[derive(Debug, Parser)]
#[command(name = "soak")]
struct Arguments {
    /// For how long
    #[arg(long, value_name = "S", conflicts_with = "cycles")]
    seconds: Option<u64>,
    /// So many cycles
    #[arg(long, value_name = "N")]
    cycles: Option<u64>,
    /// What everything that is drawn from chance follows from; left out, the time
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Only the cycle of this seed, as a violation names it
    #[arg(long, value_name = "S")]
    cycle_seed: Option<u64>,
    /// Only this workload, or this fault; repeat for more
    #[arg(long, value_name = "FAULT|WORKLOAD")]
    only: Vec<String>,
    /// Cycles at the same time
    #[arg(long, value_name = "N", default_value_t = 2)]
    lanes: usize,
    /// Only kill processes, on a plain folder: what runs where FUSE does not
    #[arg(long)]
    plain: bool,
    /// Say what happens in each cycle, and leave the log of one with a violation
    #[arg(short, long)]
    verbose: bool,
    /// Let it find seeded bugs, all of them or those that --only names: each must be found
    #[arg(long)]
    mutants: bool,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    match soak(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("soak: {error}");
            ExitCode::from(2)
        }
    }
}

fn soak(arguments: &Arguments) -> Result<bool, Box<dyn std::error::Error>> {
    let programs = Programs::find()?;
    let disks = disks(arguments)?;
    if arguments.mutants {
        return hunts(arguments, &disks, &programs);
    }
    let powered = disks.iter().all(Disk::can_fail);
    let choice = Choice::of(&arguments.only, powered)
        .ok_or_else(|| format!("{:?}: no such workload or fault", arguments.only))?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    let one = arguments.cycle_seed.is_some();
    let bounded = arguments.seconds.is_some() || arguments.cycles.is_some();
    let plan = Plan {
        seed: arguments.seed.unwrap_or(now.as_secs()),
        cycle_seed: arguments.cycle_seed,
        time: arguments.seconds.map(Duration::from_secs),
        first: 0,
        cycles: match (arguments.cycles, one || bounded) {
            (None, true) if one && !bounded => Some(1),
            (None, false) => Some(1_000),
            (cycles, _) => cycles,
        },
        lanes: arguments.lanes,
        choice,
        until_found: false,
        verbose: arguments.verbose,
        progress: !arguments.json,
    };
    eprintln!("seed {}", plan.seed);
    let summary = run(&plan, &disks, &programs);
    print(arguments, &summary)?;
    Ok(summary.violations.is_empty())
}

/// Whether every seeded bug was found.
fn hunts(
    arguments: &Arguments,
    disks: &[Disk],
    programs: &Programs,
) -> Result<bool, Box<dyn std::error::Error>> {
    let wanted = |name: &String| arguments.only.is_empty() || arguments.only.contains(name);
    let mut survivors = 0;
    for mutant in mutants::all().iter().filter(|mutant| wanted(&mutant.name)) {
        let caught = mutants::hunt(mutant, arguments.seed.unwrap_or(1), disks, programs);
        survivors += u64::from(caught.cycle.is_none());
        for without in &caught.without {
            eprintln!("it happens without the seeded bug, too: {without}");
        }
        match (arguments.json, caught.cycle) {
            (true, _) => println!("{}", serde_json::to_string(&caught)?),
            (false, Some(cycle)) => println!(
                "{:<34} found in cycle {cycle:>4} of {}: {}",
                mutant.name,
                mutant.within,
                caught.by.unwrap_or_default()
            ),
            (false, None) => println!("{:<34} SURVIVED {} cycles", mutant.name, mutant.within),
        }
    }
    Ok(survivors == 0)
}

/// A disk for each lane.
fn disks(arguments: &Arguments) -> Result<Vec<Disk>, DiskError> {
    let one = arguments.cycle_seed.is_some();
    let lanes = if one { 1 } else { arguments.lanes.max(1) };
    let disk = || match arguments.plain {
        true => Disk::plain(),
        false => Disk::faulty(),
    };
    (0..lanes).map(|_| disk()).collect()
}

fn print(arguments: &Arguments, summary: &Summary) -> Result<(), serde_json::Error> {
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(summary)?);
        return Ok(());
    }
    println!(
        "{} cycles in {:.0} s: {} faults, {} power cuts, {} checks by new processes, {} positions \
         acknowledged",
        summary.cycles,
        summary.seconds,
        summary.all_faults(),
        summary.cuts,
        summary.checks,
        summary.acknowledged
    );
    for (kind, count) in &summary.faults {
        println!("  {:<9} {count}", kind.name());
    }
    println!(
        "needed `annals doctor --truncate-tail`: {}",
        summary.needed_doctor
    );
    println!("violations: {}", summary.violations.len());
    for found in &summary.violations {
        println!(
            "  cycle {}: {:?}: {}\n    soak --cycle-seed {} {}",
            found.cycle,
            found.violation.invariant,
            found.violation.found,
            found.seed,
            repeats(arguments)
        );
    }
    Ok(())
}

/// The arguments that a cycle depends on in addition to its seed.
fn repeats(arguments: &Arguments) -> String {
    let mut words: Vec<String> = Vec::new();
    for only in &arguments.only {
        words.extend(["--only".to_owned(), only.clone()]);
    }
    if arguments.plain {
        words.push("--plain".to_owned());
    }
    words.join(" ")
}
